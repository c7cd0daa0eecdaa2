"""One gated slate folder: its slates, the tests each gets, the judgements as they come in, and `slate_results.json`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_clinical_drift.cases.files import write_atomically
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.options import RESULTS
from pytest_clinical_drift.ranking.figure_types import Figure, SlateCode, SlateReason
from pytest_clinical_drift.ranking.freezing import verify
from pytest_clinical_drift.ranking.gate import (
    SlateJudgement,
    SlateVerdict,
    judge,
    judge_prospective,
    judge_slate,
)
from pytest_clinical_drift.ranking.manifest import FILE_NAME
from pytest_clinical_drift.ranking.prospective import Cell, ViewFigures, evaluate
from pytest_clinical_drift.ranking.ranker import Ranker, RankerFigures, load_ranker, measure_ranker
from pytest_clinical_drift.ranking.report_html import render_slate
from pytest_clinical_drift.ranking.slate import Slate, read_slates
from pytest_clinical_drift.ranking.view import View, all_outcomes, prospective
from pytest_clinical_drift.results.files import write_json
from pytest_clinical_drift.verdict.slate_limits import PRIMARY, RANKER_METRICS, TIERS, SlateRules
from pytest_clinical_drift.verdict.states import FigureState, Verdict
from pytest_clinical_drift.verdict.thresholds import load_thresholds, project_thresholds
from pytest_clinical_drift.versions import package_versions

SCHEMA = 1
INTEGRITY = "integrity"
"""The test that compares a slate with what was frozen."""
_MEANING = (
    "The gate looks at pairs that were open when the slate was frozen, and at high-signal outcomes dated after it. "
    "Figures over all outcomes follow the published formulas; outcomes older than the slate are in them, so they show "
    "agreement with history, not foresight. A score is an order, not a probability."
)


@dataclass
class SlateRun:
    """What the user asked for, as the options say it, and what follows from it; the ranker is loaded at first use."""

    folder: Path
    root: Path
    """Results and the project's thresholds are looked up from here."""
    model: str | None = None
    """`python:module:factory` of the ranker, for the retrospective metrics."""
    thresholds: Path | None = None
    results: Path = Path(RESULTS)
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
        return load_ranker(self.model or "")

    def write(self, slug: str, record: dict[str, Any]) -> list[Path]:
        folder = self.root / self.results / slug
        page = render_slate(record)
        return [
            write_json(record, folder / "slate_results.json"),
            write_atomically(folder / "slate_report.html", page),
        ]


class GatedSlate:
    """A slate under test, with its figures, each computed when first asked for, and the results so far."""

    def __init__(self, slate: Slate, run: SlateRun) -> None:
        self.slate = slate
        self.judged: dict[str, SlateJudgement] = {}
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
        manifest, there = self.slate.manifest, len(self.slate.predictions)
        frozen = (self.slate.folder / FILE_NAME).is_file()
        problems = list(verify(self.slate.folder).problems) if frozen else []
        if manifest is not None and manifest.n_predictions not in (None, there):
            counts = {"file": manifest.file.name, "recorded": manifest.n_predictions, "there": there}
            problems.append(str(SlateReason(SlateCode.OTHER_COUNT, counts)))
        if problems:
            changed = SlateReason(SlateCode.CHANGED, {"difference": "; ".join(problems)})
            return SlateJudgement(INTEGRITY, FigureState.FAIL, Figure(0.0, 1), detail=changed)
        if frozen:
            return SlateJudgement(INTEGRITY, FigureState.PASS, Figure(1.0, 1))
        return SlateJudgement.not_evaluated(INTEGRITY, SlateCode.NO_HASH)

    @cached_property
    def view(self) -> View:
        return prospective(self.slate)

    @cached_property
    def prospective(self) -> ViewFigures:
        return evaluate(self.view, confidence=self._run.rules.confidence)

    @cached_property
    def everything(self) -> ViewFigures:
        """The published formulas over all outcomes."""
        return evaluate(all_outcomes(self.slate), confidence=self._run.rules.confidence)

    def run_test(self, metric: str) -> SlateJudgement:
        """Judge one metric. SubjectError when the ranker could not be run."""
        if metric == INTEGRITY:
            return self.integrity
        if self.integrity.verdict == FigureState.FAIL:
            return SlateJudgement.not_evaluated(metric, SlateCode.CHANGED_BEFORE)
        limits = self._run.rules.metrics[metric]
        if metric not in RANKER_METRICS:
            followed = self.view.baseline is not None and self.view.baseline.followed
            return judge_prospective(self.prospective, metric, limits, followed=followed)
        name = metric.removesuffix("_lift")
        if name not in self._ranked:
            self._ranked.update(measure_ranker(self._run.ranker, self.slate, name))
        ranked = self._ranked[name]
        figure = ranked.lift if metric.endswith("_lift") else ranked.value
        per_year = {str(year): item.value for year, item in ranked.per_year.items()}
        return replace(judge(metric, figure, limits, needs_interval=False), per_year=per_year)

    @property
    def results(self) -> list[SlateJudgement]:
        return [self.judged[name] for name in self.tests if name in self.judged]

    def verdict(self) -> SlateVerdict | None:
        """The verdict from the tests that ran; None when none did."""
        if not self.judged:
            return None
        integrity = [item for item in self.judged.values() if item.metric == INTEGRITY]
        verdict = judge_slate(
            [item for item in self.judged.values() if item.metric != INTEGRITY],
            [item.detail for item in integrity if item.verdict == FigureState.FAIL and item.detail is not None],
            proven=any(item.verdict == FigureState.PASS for item in integrity),
            expected=self._run.rules.metrics,
        )
        if verdict.verdict != FigureState.FAIL and len(self.judged) < len(self.tests):
            missing = SlateReason(SlateCode.TESTS_RUN, {"run": len(self.judged), "tests": len(self.tests)})
            return SlateVerdict(Verdict.PARTIAL, (missing, *verdict.reasons))
        return verdict

    def record(self, verdict: SlateVerdict) -> dict[str, Any]:
        slate, frozen = self.slate, self.slate.manifest
        return {
            "schema": SCHEMA,
            "slate_id": slate.id,
            "created_at": slate.created_at.isoformat(),
            "verdict": str(verdict.verdict),
            "reasons": [str(reason) for reason in verdict.reasons],
            "observed": _observed(self.prospective),
            "predictions": len(slate.predictions),
            "distinct_pairs": int((~slate.predictions["repeated"]).sum()),
            "diseases": len(slate.diseases),
            "candidates": None if slate.candidates is None else len(slate.candidates),
            "outcomes": len(slate.outcomes),
            "notes": list(slate.notes),
            "judgements": [_judgement(item) for item in self.results],
            "prospective": _view(slate, self.prospective),
            "all_outcomes": _view(slate, self.everything),
            "temporal_auc_by_year": {year: value for item in self.results for year, value in item.per_year.items()},
            "what_this_means": _MEANING,
            "manifest": {
                "versions": package_versions(),
                "slate": frozen.as_json() if frozen is not None else None,
                "ranker": self._run.model,
                "thresholds": self._run.rules.fingerprint(),
            },
        }


# ---- the results file: every figure with its count, its interval or the reason why there is none


def _observed(figures: ViewFigures) -> str:
    """What the reader must know first: whether anything prospective was seen at all."""
    cell = figures.tiers["all"]
    left_out = f" {figures.left_out} pairs were known at freeze and take no part." if figures.left_out else ""
    if not figures.observed:
        nothing = str(SlateReason(SlateCode.NOTHING_OBSERVED))
        return f"{nothing[0].upper()}{nothing[1:]}.{left_out}"
    came_true = f"{cell.hits} of {cell.predictions} open predictions"
    return f"{came_true} have a high-signal outcome dated after the freeze.{left_out}"


def _view(slate: Slate, figures: ViewFigures) -> dict[str, Any]:
    return {
        "tiers": {name: _cell(cell) for name, cell in figures.tiers.items()},
        "by_disease": [
            {"disease": disease, "tiers": {name: _cell(cell) for name, cell in cells.items()}}
            for disease, cells in zip(slate.diseases, figures.diseases, strict=True)
        ],
        "calibration_bins": list(figures.calibration),
        "days_to_event": [{"tier": TIERS[tier], "days": days} for tier, days in figures.days],
        "pairs_known_at_freeze": figures.left_out,
    }


def _cell(cell: Cell) -> dict[str, Any]:
    figures = {name: _figure(figure) for name, figure in cell.figures.items()}
    return {"predictions": cell.predictions, "hits": cell.hits, **figures}


def _judgement(item: SlateJudgement) -> dict[str, Any]:
    limit = {"limit": item.limit, "detail": str(item.detail or "")}
    return {"metric": item.metric, "verdict": str(item.verdict), **_figure(item.figure), **limit}


def _figure(figure: Figure) -> dict[str, Any]:
    plain: dict[str, Any] = {"value": figure.value, "n": figure.n}
    if figure.interval is not None:
        plain["interval"] = [figure.interval.low, figure.interval.high]
    if figure.value is None:
        plain["reason"] = str(figure.reason)
        plain["reason_code"] = figure.reason.code if figure.reason else None
    return plain
