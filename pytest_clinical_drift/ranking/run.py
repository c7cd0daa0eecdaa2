"""One gated slate folder: its slates, the tests each gets, and the judgements as they come in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.ranking.figure import Figure, Range
from pytest_clinical_drift.ranking.gate import (
    FAIL,
    NOT_EVALUATED,
    PASS,
    SlateJudgement,
    SlateVerdict,
    judge,
    judge_prospective,
    judge_slate,
)
from pytest_clinical_drift.ranking.manifest import FILE_NAME
from pytest_clinical_drift.ranking.prospective import ViewFigures, evaluate
from pytest_clinical_drift.ranking.ranker import (
    NO_LABELS,
    Ranker,
    RankerFigures,
    held_out,
    leave_one_out,
    load_ranker,
    temporal_auc,
)
from pytest_clinical_drift.ranking.reading import Slate, read_slates
from pytest_clinical_drift.ranking.report_html import FILE_NAME as PAGE_NAME
from pytest_clinical_drift.ranking.report_html import render_slate
from pytest_clinical_drift.ranking.report_json import FILE_NAME as RESULTS_NAME
from pytest_clinical_drift.ranking.report_json import slate_results
from pytest_clinical_drift.ranking.slate import verify
from pytest_clinical_drift.ranking.view import View, all_outcomes, prospective
from pytest_clinical_drift.report.json_file import package_versions, write_atomically
from pytest_clinical_drift.verdict.slate_limits import PRIMARY, RANKER_METRICS, TIERS, SlateRules
from pytest_clinical_drift.verdict.thresholds import load_thresholds, project_thresholds

INTEGRITY = "integrity"
"""The test that compares a slate with what was frozen."""
PARTIAL = "PARTIAL"


@dataclass(frozen=True, slots=True)
class SlateSettings:
    """What the user asked for, as the options say it."""

    folder: Path
    root: Path
    """Results and the project's thresholds are looked up from here."""
    model: str | None = None
    """`python:module:factory` of the ranker, for the retrospective metrics."""
    thresholds: Path | None = None
    results: Path = Path("results")
    strict: bool = False


@dataclass(frozen=True, slots=True)
class TestResult:
    """One test of one slate: what travels from a worker to the controller."""

    slate: str
    judgement: SlateJudgement
    per_year: Mapping[str, float | None]
    """Figures by year, of the temporal metric."""

    __test__ = False


class SlateRun:
    """Everything one run needs; built before collection, without loading the ranker."""

    def __init__(self, settings: SlateSettings) -> None:
        self.settings = settings
        self.thresholds_file = settings.thresholds or project_thresholds(settings.root)
        thresholds = load_thresholds(self.thresholds_file)
        self.rules: SlateRules = thresholds.slate or bundled_rules()
        self.slates: dict[str, Slate] = {slate.slug: slate for slate in read_slates(settings.folder)}
        self.results: dict[str, dict[str, TestResult]] = {slug: {} for slug in self.slates}
        self._evaluated: dict[str, EvaluatedSlate] = {}
        self._ranker: Ranker | None = None
        self._ranked: dict[tuple[str, str], RankerFigures] = {}

    def tests(self, slug: str) -> tuple[str, ...]:
        """Names of a slate's tests: metrics of the tiers it has, the primary one, and the ranker's if there is one."""
        present = {TIERS[tier] for tier in np.unique(self.slates[slug].predictions.tier)}
        absent = tuple(f"_{tier}" for tier in TIERS if tier not in present)
        gated = [name for name in self.rules.metrics if name == PRIMARY or not (absent and name.endswith(absent))]
        return (INTEGRITY, *(name for name in gated if name not in RANKER_METRICS or self.settings.model is not None))

    @property
    def ranker(self) -> Ranker:
        """The ranking model, loaded at first use."""
        if self._ranker is None:
            if self.settings.model is None:
                raise InputError("retrospective metrics need --drift-model python:module:factory")
            self._ranker = load_ranker(self.settings.model)
        return self._ranker

    def evaluated(self, slug: str) -> EvaluatedSlate:
        """A slate's figures, computed once."""
        if slug not in self._evaluated:
            self._evaluated[slug] = EvaluatedSlate(self.slates[slug], self.rules.confidence)
        return self._evaluated[slug]

    def run_test(self, slug: str, metric: str) -> TestResult:
        """Judge one metric of one slate. SubjectError when the ranker could not be run."""
        evaluated = self.evaluated(slug)
        if metric == INTEGRITY:
            return TestResult(slug, evaluated.integrity, {})
        if evaluated.integrity.verdict == FAIL:
            reason = "the slate was changed after freezing, so its figures mean nothing"
            return TestResult(slug, SlateJudgement(metric, NOT_EVALUATED, Figure.undefined(reason), "", reason), {})
        limits = self.rules.metrics[metric]
        if metric not in RANKER_METRICS:
            baseline = evaluated.prospective_view.baseline
            followed = baseline is not None and baseline.followed
            return TestResult(slug, judge_prospective(evaluated.prospective, metric, limits, followed=followed), {})
        found = self._ranker_figures(self.slates[slug], metric)
        figure = found.lift if metric.endswith("_lift") else found.value
        per_year = {str(year): item.value for year, item in found.per_year.items()}
        return TestResult(slug, judge(metric, figure, limits, needs_interval=False), per_year)

    def _ranker_figures(self, slate: Slate, metric: str) -> RankerFigures:
        name = metric.removesuffix("_lift")
        if (slate.slug, name) not in self._ranked:
            if not slate.labels:
                nothing = Figure.undefined(NO_LABELS)
                found = {name: RankerFigures(nothing, nothing, {})}
            elif name == "hit_at_50":
                found = {name: leave_one_out(self.ranker, slate.labels, [drug.lower() for drug in slate.drugs])}
            elif name == "temporal_auc":
                found = {name: temporal_auc(self.ranker, slate.labels)}
            else:
                found = held_out(self.ranker, slate.labels)
            self._ranked.update({(slate.slug, each): figures for each, figures in found.items()})
        return self._ranked[slate.slug, name]

    def take(self, result: TestResult) -> None:
        """Keep one test's result."""
        self.results[result.slate][result.judgement.metric] = result

    def verdict(self, slug: str) -> SlateVerdict | None:
        """The verdict on one slate from the tests that ran; None when none did."""
        taken = self.results[slug]
        if not taken:
            return None
        integrity = taken.get(INTEGRITY)
        changed = [integrity.judgement.detail] if integrity and integrity.judgement.verdict == FAIL else []
        judgements = [item.judgement for name, item in taken.items() if name != INTEGRITY]
        proven = integrity is not None and integrity.judgement.verdict == PASS
        verdict = judge_slate(judgements, changed, proven=proven, expected=self.rules.metrics)
        if verdict.verdict != FAIL and len(taken) < len(self.tests(slug)):
            missing = f"{len(taken)} of {len(self.tests(slug))} tests were run"
            return SlateVerdict(PARTIAL, (missing, *verdict.reasons))
        return verdict

    def write(self, slug: str, verdict: SlateVerdict) -> list[Path]:
        """Write a slate's results and page."""
        evaluated = self.evaluated(slug)
        in_order = [self.results[slug][name] for name in self.tests(slug) if name in self.results[slug]]
        record = slate_results(
            self.slates[slug],
            verdict,
            [item.judgement for item in in_order],
            prospective=evaluated.prospective,
            everything=evaluated.everything,
            temporal={year: value for item in in_order for year, value in item.per_year.items()},
            manifest=self._manifest(slug),
        )
        folder = self.settings.root / self.settings.results / slug
        text = json.dumps(record, indent=1, ensure_ascii=True, allow_nan=False) + "\n"
        return [
            write_atomically(folder / RESULTS_NAME, text),
            write_atomically(folder / PAGE_NAME, render_slate(record)),
        ]

    def _manifest(self, slug: str) -> dict[str, Any]:
        frozen = self.slates[slug].manifest
        return {
            "versions": package_versions(),
            "slate": frozen.as_json() if frozen is not None else None,
            "ranker": self.settings.model,
            "thresholds": self.rules.fingerprint(),
        }


class EvaluatedSlate:
    """A slate with its figures, each computed when first asked for."""

    def __init__(self, slate: Slate, confidence: float) -> None:
        self.slate = slate
        self._confidence = confidence

    @cached_property
    def integrity(self) -> SlateJudgement:
        """Whether the slate is what was frozen."""
        problems = list(_count_problem(self.slate))
        proven = (self.slate.folder / FILE_NAME).is_file()
        if proven:
            problems = [*verify(self.slate.folder).problems, *problems]
        if problems:
            return SlateJudgement(INTEGRITY, FAIL, Figure(0.0, 1), "", "; ".join(problems))
        if proven:
            return SlateJudgement(INTEGRITY, PASS, Figure(1.0, 1), "")
        reason = "no manifest with a hash to compare with"
        return SlateJudgement(INTEGRITY, NOT_EVALUATED, Figure.undefined(reason), "", reason)

    @cached_property
    def prospective_view(self) -> View:
        """What the gate looks at."""
        return prospective(self.slate)

    @cached_property
    def prospective(self) -> ViewFigures:
        """The gate's figures."""
        return evaluate(self.prospective_view, confidence=self._confidence)

    @cached_property
    def everything(self) -> ViewFigures:
        """The published formulas over all outcomes."""
        return evaluate(all_outcomes(self.slate), confidence=self._confidence)


def bundled_rules() -> SlateRules:
    """The limits that ship with the package, for a project whose own file says nothing about slates."""
    rules = load_thresholds().slate
    if rules is None:
        raise InputError("the bundled thresholds.yaml has no section 'slate'")
    return rules


def result_to_json(result: TestResult) -> dict[str, Any]:
    """Plain values, for the way from a worker to the controller."""
    return asdict(result)


def result_from_json(data: Mapping[str, Any]) -> TestResult:
    """The reverse."""
    judged = data["judgement"]
    figure = judged["figure"]
    interval = Range(**figure["interval"]) if figure["interval"] else None
    rebuilt = Figure(figure["value"], figure["n"], figure["reason"], interval)
    return TestResult(data["slate"], SlateJudgement(**{**judged, "figure": rebuilt}), data["per_year"])


def exit_code(verdicts: Sequence[SlateVerdict], *, failed: bool, incomplete: bool) -> int:
    """0 PASS or CAUTION, 1 FAIL, 6 no FAIL but something could not be evaluated, 7 neither but a part of the tests."""
    found = {verdict.verdict for verdict in verdicts}
    if failed or FAIL in found:
        return 1
    if incomplete or NOT_EVALUATED in found:
        return 6
    return 7 if PARTIAL in found else 0


def _count_problem(slate: Slate) -> list[str]:
    told, there = slate.manifest.predictions if slate.manifest else None, len(slate.predictions.disease)
    if told is None or told == there or slate.manifest is None:
        return []
    return [f"{slate.manifest.file.name} tells of {told} predictions, the slate holds {there}"]
