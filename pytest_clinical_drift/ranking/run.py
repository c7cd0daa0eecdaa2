"""One gated slate: the tests it gets, the judgements as they come in, and `slate_results.json`."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.ranking.figures import Figure, SlateCode, SlateReason
from pytest_clinical_drift.ranking.freezing import verify
from pytest_clinical_drift.ranking.gate import INTEGRITY, SlateJudgement, SlateVerdict, judge, judge_prospective
from pytest_clinical_drift.ranking.prospective import ALL, Cell, ViewFigures, evaluate
from pytest_clinical_drift.ranking.ranker import Ranker, RankerFigures, load_ranker, measure_ranker
from pytest_clinical_drift.ranking.slate import read_slate
from pytest_clinical_drift.ranking.view import View, all_outcomes, prospective
from pytest_clinical_drift.report.page import page_source
from pytest_clinical_drift.results.files import write_atomically, write_json
from pytest_clinical_drift.results.versions import package_versions
from pytest_clinical_drift.verdict.slate_limits import PRIMARY, RANKER_METRICS, TIERS, SlateRules
from pytest_clinical_drift.verdict.states import FigureState
from pytest_clinical_drift.verdict.thresholds import load_thresholds, project_thresholds

SCHEMA = 1
_MEANING = (
    "The gate looks at pairs that were open when the slate was frozen, and at high-signal outcomes dated after it. "
    "Figures over all outcomes follow the published formulas; outcomes older than the slate are in them, so they show "
    "agreement with history, not foresight. A score is an order, not a probability."
)


@dataclass
class SlateRun:
    """What the user asked for, as the options say it, and what follows from it, each computed when first asked for."""

    folder: Path
    root: Path
    """Results and the project's thresholds are looked up from here."""
    model: str | None = None
    """`python:module:factory` of the ranker, for the retrospective metrics."""
    thresholds: Path | None = None
    results: Path = Path("results")
    strict: bool = False
    judged: dict[str, SlateJudgement] = field(default_factory=dict)
    """The results so far."""

    def __post_init__(self) -> None:
        self.thresholds = self.thresholds or project_thresholds(self.root)
        rules = load_thresholds(self.thresholds).slate or load_thresholds().slate
        if rules is None:
            raise InputError("the bundled thresholds.yaml has no section 'slate'")
        self.rules: SlateRules = rules
        self.slate = read_slate(self.folder)
        self.slug = self.slate.manifest.slug
        self._ranked: dict[str, RankerFigures] = {}

    @cached_property
    def ranker(self) -> Ranker:
        return load_ranker(self.model or "")

    @cached_property
    def tests(self) -> tuple[str, ...]:
        """Names of the tests: metrics of the tiers it has, the primary one, and the ranker's if there is one."""
        present = {TIERS[tier] for tier in self.slate.predictions["tier"].unique()}
        absent = tuple(f"_{tier}" for tier in TIERS if tier not in present)
        gated = [name for name in self.rules.metrics if name == PRIMARY or not name.endswith(absent or " ")]
        return (INTEGRITY, *(name for name in gated if self.model is not None or name not in RANKER_METRICS))

    @cached_property
    def integrity(self) -> SlateJudgement:
        if problems := verify(self.folder).problems:
            changed = SlateReason(SlateCode.CHANGED, {"difference": "; ".join(problems)})
            return SlateJudgement(INTEGRITY, FigureState.FAIL, Figure(0.0, 1), detail=changed)
        return SlateJudgement(INTEGRITY, FigureState.PASS, Figure(1.0, 1))

    @cached_property
    def view(self) -> View:
        return prospective(self.slate)

    @cached_property
    def prospective(self) -> ViewFigures:
        return evaluate(self.view, confidence=self.rules.confidence)

    def run_test(self, metric: str) -> SlateJudgement:
        """Judge one metric. SubjectError when the ranker could not be run."""
        if metric == INTEGRITY:
            return self.integrity
        if self.integrity.verdict == FigureState.FAIL:
            return SlateJudgement.not_evaluated(metric, SlateCode.CHANGED_BEFORE)
        limits = self.rules.metrics[metric]
        if metric not in RANKER_METRICS:
            followed = self.view.baseline is not None and self.view.baseline.followed
            return judge_prospective(self.prospective, metric, limits, followed=followed)
        name = metric.removesuffix("_lift")
        if name not in self._ranked:
            self._ranked.update(measure_ranker(self.ranker, self.slate, name))
        ranked = self._ranked[name]
        figure = ranked.lift if metric.endswith("_lift") else ranked.value
        per_year = {str(year): item.value for year, item in ranked.per_year.items()}
        return replace(judge(metric, figure, limits, needs_interval=False), per_year=per_year)

    def fails(self, verdict: str | None) -> bool:
        return verdict == FigureState.FAIL or (self.strict and verdict == FigureState.CAUTION)

    def record(self, verdict: SlateVerdict) -> dict[str, Any]:
        """The results file: every figure with its count, its interval or the reason why there is none."""
        slate, judged = self.slate, [self.judged[name] for name in self.tests if name in self.judged]
        everything = evaluate(all_outcomes(slate), confidence=self.rules.confidence)
        return {
            "schema": SCHEMA,
            "slate_id": slate.manifest.slate_id,
            "created_at": slate.manifest.created_at.isoformat(),
            "verdict": str(verdict.verdict),
            "reasons": [str(reason) for reason in verdict.reasons],
            "observed": _observed(self.prospective),
            "predictions": len(slate.predictions),
            "diseases": len(slate.diseases),
            "candidates": None if slate.candidates is None else len(slate.candidates),
            "outcomes": len(slate.outcomes),
            "notes": list(slate.notes),
            "judgements": [_judgement(item) for item in judged],
            "prospective": _view(self.prospective),
            "all_outcomes": _view(everything),
            "temporal_auc_by_year": {year: value for item in judged for year, value in item.per_year.items()},
            "what_this_means": _MEANING,
            "manifest": {
                "versions": package_versions(),
                "slate": slate.manifest.as_json(),
                "ranker": self.model,
                "thresholds": self.rules.fingerprint(),
            },
        }

    def write(self, record: dict[str, Any]) -> list[Path]:
        folder = self.root / self.results / self.slug
        page = page_source("slate_report.html.j2", styles=("page.css",), record=record)
        written = write_json(record, folder / "slate_results.json")
        return [written, write_atomically(folder / "slate_report.html", page)]


def _observed(figures: ViewFigures) -> str:
    """What the reader must know first: whether anything prospective was seen at all."""
    cell = figures.tiers[ALL]
    left_out = f" {figures.left_out} pairs were known at freeze and take no part." if figures.left_out else ""
    if not figures.observed:
        nothing = str(SlateReason(SlateCode.NOTHING_OBSERVED))
        return f"{nothing[0].upper()}{nothing[1:]}.{left_out}"
    came_true = f"{cell.hits} of {cell.predictions} open predictions"
    return f"{came_true} have a high-signal outcome dated after the freeze.{left_out}"


def _view(figures: ViewFigures) -> dict[str, Any]:
    tiers = {name: _cell(cell) for name, cell in figures.tiers.items()}
    return {"tiers": tiers, "pairs_known_at_freeze": figures.left_out}


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
    if figure.reason is not None:
        plain |= {"reason": str(figure.reason), "reason_code": figure.reason.code}
    return plain
