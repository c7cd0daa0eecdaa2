"""One gated slate folder: its slates, the tests each gets, and the judgements as they come in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.ranking.figures import Figure
from pytest_clinical_drift.ranking.freezing import verify
from pytest_clinical_drift.ranking.gate import SlateJudgement, SlateVerdict, judge, judge_prospective, judge_slate
from pytest_clinical_drift.ranking.manifest import FILE_NAME
from pytest_clinical_drift.ranking.prospective import ViewFigures, evaluate
from pytest_clinical_drift.ranking.ranker import Ranker, RankerFigures, load_ranker, measure_ranker
from pytest_clinical_drift.ranking.report_html import render_slate
from pytest_clinical_drift.ranking.report_json import MEANING, judgement_record, observed_sentence, view_record
from pytest_clinical_drift.ranking.slate import Slate, read_slates
from pytest_clinical_drift.ranking.view import View, all_outcomes, prospective
from pytest_clinical_drift.report.json_file import package_versions, write_atomically
from pytest_clinical_drift.verdict.slate_limits import PRIMARY, RANKER_METRICS, TIERS, SlateRules
from pytest_clinical_drift.verdict.thresholds import load_thresholds, project_thresholds
from pytest_clinical_drift.verdict.values import FAIL, PARTIAL, PASS

SCHEMA = 1
INTEGRITY = "integrity"
"""The test that compares a slate with what was frozen."""


@dataclass(frozen=True, slots=True)
class TestResult:
    """One test of one slate: what travels from a worker to the controller."""

    slate: str
    judgement: SlateJudgement
    per_year: Mapping[str, float | None]
    """Figures by year, of the temporal metric."""

    __test__ = False


@dataclass
class SlateRun:
    """What the user asked for, as the options say it, and what follows from it; the ranker is loaded at first use."""

    folder: Path
    root: Path
    """Results and the project's thresholds are looked up from here."""
    model: str | None = None
    """`python:module:factory` of the ranker, for the retrospective metrics."""
    thresholds: Path | None = None
    results: Path = Path("results")
    strict: bool = False

    def __post_init__(self) -> None:
        self.thresholds = self.thresholds or project_thresholds(self.root)
        rules = load_thresholds(self.thresholds).slate or load_thresholds().slate
        if rules is None:
            raise InputError("the bundled thresholds.yaml has no section 'slate'")
        self.rules: SlateRules = rules
        self.slates = {slate.slug: GatedSlate(slate, self) for slate in read_slates(self.folder)}

    @cached_property
    def ranker(self) -> Ranker:
        """The ranking model."""
        return load_ranker(self.model or "")

    def write(self, slug: str, record: dict[str, Any]) -> list[Path]:
        """Write a slate's results and page."""
        folder = self.root / self.results / slug
        plain = json.dumps(record, indent=1, ensure_ascii=True, allow_nan=False) + "\n"
        texts = {"slate_results.json": plain, "slate_report.html": render_slate(record)}
        return [write_atomically(folder / name, text) for name, text in texts.items()]


class GatedSlate:
    """A slate under test, with its figures, each computed when first asked for, and the results so far."""

    def __init__(self, slate: Slate, run: SlateRun) -> None:
        self.slate = slate
        self.taken: dict[str, TestResult] = {}
        self._run = run
        self._ranked: dict[str, RankerFigures] = {}

    @cached_property
    def tests(self) -> tuple[str, ...]:
        """Names of the tests: metrics of the tiers it has, the primary one, and the ranker's if there is one."""
        present = {TIERS[tier] for tier in self.slate.predictions["tier"].unique()}
        absent = tuple(f"_{tier}" for tier in TIERS if tier not in present)
        gated = [name for name in self._run.rules.metrics if name == PRIMARY or not name.endswith(absent or " ")]
        ranked = self._run.model is not None
        return (INTEGRITY, *(name for name in gated if ranked or name not in RANKER_METRICS))

    @cached_property
    def integrity(self) -> SlateJudgement:
        """Whether the slate is what was frozen."""
        manifest, there = self.slate.manifest, len(self.slate.predictions)
        frozen = (self.slate.folder / FILE_NAME).is_file()
        problems = list(verify(self.slate.folder).problems) if frozen else []
        if manifest is not None and manifest.n_predictions not in (None, there):
            problems.append(
                f"{manifest.file.name} tells of {manifest.n_predictions} predictions, the slate holds {there}"
            )
        if problems:
            return SlateJudgement(INTEGRITY, FAIL, Figure(0.0, 1), detail="; ".join(problems))
        if frozen:
            return SlateJudgement(INTEGRITY, PASS, Figure(1.0, 1))
        return SlateJudgement.not_evaluated(INTEGRITY, "no manifest with a hash to compare with")

    @cached_property
    def view(self) -> View:
        """What the gate looks at."""
        return prospective(self.slate)

    @cached_property
    def prospective(self) -> ViewFigures:
        """The gate's figures."""
        return evaluate(self.view, confidence=self._run.rules.confidence)

    @cached_property
    def everything(self) -> ViewFigures:
        """The published formulas over all outcomes."""
        return evaluate(all_outcomes(self.slate), confidence=self._run.rules.confidence)

    def run_test(self, metric: str) -> TestResult:
        """Judge one metric. SubjectError when the ranker could not be run."""
        if metric == INTEGRITY:
            return self._result(self.integrity)
        if self.integrity.verdict == FAIL:
            reason = "the slate was changed after freezing, so its figures mean nothing"
            return self._result(SlateJudgement.not_evaluated(metric, reason))
        limits = self._run.rules.metrics[metric]
        if metric not in RANKER_METRICS:
            followed = self.view.baseline is not None and self.view.baseline.followed
            return self._result(judge_prospective(self.prospective, metric, limits, followed=followed))
        name = metric.removesuffix("_lift")
        if name not in self._ranked:
            self._ranked.update(measure_ranker(self._run.ranker, self.slate, name))
        found = self._ranked[name]
        figure = found.lift if metric.endswith("_lift") else found.value
        per_year = {str(year): item.value for year, item in found.per_year.items()}
        return self._result(judge(metric, figure, limits, needs_interval=False), per_year)

    def _result(self, judgement: SlateJudgement, per_year: Mapping[str, float | None] | None = None) -> TestResult:
        return TestResult(self.slate.slug, judgement, per_year or {})

    @property
    def results(self) -> list[TestResult]:
        """What has come in, in the order of the tests."""
        return [self.taken[name] for name in self.tests if name in self.taken]

    def verdict(self) -> SlateVerdict | None:
        """The verdict from the tests that ran; None when none did."""
        if not self.taken:
            return None
        judgements = [item.judgement for item in self.taken.values()]
        integrity = next((item for item in judgements if item.metric == INTEGRITY), None)
        changed = [integrity.detail] if integrity is not None and integrity.verdict == FAIL else []
        verdict = judge_slate(
            [item for item in judgements if item is not integrity],
            changed,
            proven=integrity is not None and integrity.verdict == PASS,
            expected=self._run.rules.metrics,
        )
        if verdict.verdict != FAIL and len(self.taken) < len(self.tests):
            missing = f"{len(self.taken)} of {len(self.tests)} tests were run"
            return SlateVerdict(PARTIAL, (missing, *verdict.reasons))
        return verdict

    def record(self, verdict: SlateVerdict) -> dict[str, Any]:
        """The content of the results file."""
        slate, frozen = self.slate, self.slate.manifest
        return {
            "schema": SCHEMA,
            "slate_id": slate.id,
            "created_at": slate.created_at.isoformat(),
            "verdict": verdict.verdict,
            "reasons": list(verdict.reasons),
            "observed": observed_sentence(self.prospective),
            "predictions": len(slate.predictions),
            "distinct_pairs": int((~slate.predictions["repeated"]).sum()),
            "diseases": len(slate.diseases),
            "candidates": None if slate.candidates is None else len(slate.candidates),
            "outcomes": len(slate.outcomes),
            "notes": list(slate.notes),
            "judgements": [judgement_record(item.judgement) for item in self.results],
            "prospective": view_record(slate, self.prospective),
            "all_outcomes": view_record(slate, self.everything),
            "temporal_auc_by_year": {year: value for item in self.results for year, value in item.per_year.items()},
            "what_this_means": MEANING,
            "manifest": {
                "versions": package_versions(),
                "slate": frozen.as_json() if frozen is not None else None,
                "ranker": self._run.model,
                "thresholds": self._run.rules.fingerprint(),
            },
        }
