"""One gated slate folder: its slates, the tests each gets, their verdicts from figures and limits, and the record.

What was not observed never passes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_clinical_drift.core.text import rounded
from pytest_clinical_drift.metrics.intervals import Interval
from pytest_clinical_drift.ranking.figure_types import Figure, SlateCode, SlateReason, ViewFigures, plain
from pytest_clinical_drift.ranking.files import MANIFEST
from pytest_clinical_drift.ranking.freezing import verify
from pytest_clinical_drift.ranking.prospective import ALL, all_outcomes, evaluate, prospective
from pytest_clinical_drift.ranking.ranker import Ranker, load_ranker, measure_ranker
from pytest_clinical_drift.ranking.slate import Slate, read_slates
from pytest_clinical_drift.report.words import limit_numbers
from pytest_clinical_drift.verdict.bands import PRIMARY, RANKER_METRICS, TIERS, MetricLimits, SlateRules
from pytest_clinical_drift.verdict.reasons import FigureState, Verdict
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


@dataclass(frozen=True, slots=True)
class SlateJudgement:
    metric: str
    verdict: FigureState
    figure: Figure
    limit: str = ""
    detail: SlateReason | None = None
    """Why it is not evaluated, or why a good value is not enough."""

    def __str__(self) -> str:
        if self.figure.value is None:
            return f"{self.metric} {FigureState.NOT_EVALUATED}: {self.detail}"
        limits = limit_numbers(self.limit)
        text = f"{self.metric} {rounded(self.figure.value, '.3f', limits)}"
        interval = self.figure.interval
        if interval is not None:
            text += f" [{rounded(interval.low, '.3f', limits)}, {rounded(interval.high, '.3f', limits)}]"
        if self.limit:
            text += f" against {self.limit}"
        if self.detail:
            text += f": {self.detail}"
        return text


def slate_figure(figures: ViewFigures, metric: str) -> Figure:
    """A figure by its name: a tier at the end means that tier, none the whole slate."""
    name, _, tier = metric.rpartition("_")
    if tier not in TIERS:
        name = metric
        tier = ALL
    cell = figures.tiers.get(tier)
    if cell is None:
        return Figure.undefined(SlateCode.NO_TIER, tier=tier)
    return cell.figures.get(name, Figure.undefined(SlateCode.TIER_ONLY, metric=name))


def judge(metric: str, figure: Figure, limits: MetricLimits) -> SlateJudgement:
    """By the value; a PASS of outcomes is held back where the interval reaches past the limit, or there is none."""
    if figure.value is None:
        return SlateJudgement(metric, FigureState.NOT_EVALUATED, figure, str(limits.pass_limit), figure.reason)
    band = limits.band(figure.value)
    doubt = None
    if band == FigureState.PASS and metric not in RANKER_METRICS:
        doubt = _doubt(figure.interval, limits)
    limit = str(limits.caution_limit if band == FigureState.FAIL else limits.pass_limit)
    return SlateJudgement(metric, FigureState.CAUTION if doubt else band, figure, limit, doubt)


def _doubt(interval: Interval | None, limits: MetricLimits) -> SlateReason | None:
    """Why a good value is not enough for a PASS; None if its interval is good too."""
    if interval is None:
        return SlateReason(SlateCode.NO_INTERVAL)
    bad_end = interval.low if limits.direction == "higher" else interval.high
    if not limits.pass_limit.holds(bad_end):
        return SlateReason(SlateCode.INTERVAL_REACHES, {"limit": str(limits.pass_limit)})
    if not interval.high > interval.low:
        return SlateReason(SlateCode.ZERO_WIDTH)
    return None


@dataclass
class SlateRun:
    """What the user asked for, as the options say it, and what follows from it; the ranker is loaded at first use."""

    folder: Path
    root: Path
    """The project's thresholds are looked up from here."""
    model: str | None = None
    """`python:module:factory` of the ranker, for the retrospective metrics."""
    thresholds: Path | None = None

    def __post_init__(self) -> None:
        self.thresholds = self.thresholds or project_thresholds(self.root)
        found = (load_thresholds(file).slate for file in (self.thresholds, None))  # the bundled ones have limits
        self.rules: SlateRules = next(rules for rules in found if rules is not None)
        self.slates = {slate.slug: GatedSlate(slate, self) for slate in read_slates(self.folder)}

    @cached_property
    def ranker(self) -> Ranker:
        return load_ranker(self.model or "")


class GatedSlate:
    """A slate under test, with its figures, each computed when first asked for, and the results so far."""

    def __init__(self, slate: Slate, run: SlateRun) -> None:
        self.slate = slate
        self.judged: dict[str, SlateJudgement] = {}
        self._run = run
        self._ranked: dict[str, Figure] = {}

    @cached_property
    def tests(self) -> tuple[str, ...]:
        """Names of the tests: metrics of the tiers it has, the primary one, and the ranker's if there is one."""
        absent = {tier for place, tier in enumerate(TIERS) if place not in self.slate.predictions["tier"]}
        gated = [name for name in self._run.rules.metrics if name == PRIMARY or name.rpartition("_")[2] not in absent]
        if self._run.model is None:
            gated = [name for name in gated if name not in RANKER_METRICS]
        return (INTEGRITY, *gated)

    @cached_property
    def integrity(self) -> SlateJudgement:
        manifest = self.slate.manifest
        there = len(self.slate.predictions)
        frozen = (self.slate.folder / MANIFEST).is_file()
        problems = list(verify(self.slate.folder).problems) if frozen else []
        if manifest is not None and manifest.n_predictions not in (None, there):
            counts = {"file": manifest.file.name, "recorded": manifest.n_predictions, "there": there}
            problems.append(str(SlateReason(SlateCode.OTHER_COUNT, counts)))
        if problems:
            changed = SlateReason(SlateCode.CHANGED, {"difference": "; ".join(problems)})
            return SlateJudgement(INTEGRITY, FigureState.FAIL, Figure(0.0, 1), detail=changed)
        if frozen:
            return SlateJudgement(INTEGRITY, FigureState.PASS, Figure(1.0, 1))
        return _not_evaluated(INTEGRITY, SlateCode.NO_HASH)

    @cached_property
    def prospective(self) -> ViewFigures:
        return evaluate(prospective(self.slate), confidence=self._run.rules.confidence)

    def run_test(self, metric: str) -> SlateJudgement:
        """Judge one metric. SubjectError when the ranker could not be run."""
        if metric == INTEGRITY:
            return self.integrity
        if self.integrity.verdict == FigureState.FAIL:
            return _not_evaluated(metric, SlateCode.CHANGED_BEFORE)
        limits = self._run.rules.metrics[metric]
        if metric in RANKER_METRICS:
            if metric not in self._ranked:
                self._ranked |= measure_ranker(self._run.ranker, self.slate, metric)
            return judge(metric, self._ranked[metric], limits)
        if not self.prospective.observed:  # anywhere: there is nothing to judge
            return judge(metric, Figure.undefined(SlateCode.NOTHING_OBSERVED), limits)
        judged = judge(metric, slate_figure(self.prospective, metric), limits)
        by_popularity = metric.startswith("enrichment_vs_popularity")
        if judged.verdict == FigureState.PASS and by_popularity and not self.prospective.followed:
            return replace(judged, verdict=FigureState.CAUTION, detail=SlateReason(SlateCode.INFLATED))
        return judged

    def verdict(self) -> tuple[str, list[SlateReason | SlateJudgement]]:
        """The worst of the tests that ran, and why, the decisive first: FAIL for a changed slate; not evaluated without
        the primary figure; nothing passes that no hash proves."""
        integrity = self.judged.get(INTEGRITY)
        if integrity is not None and integrity.verdict == FigureState.FAIL and integrity.detail:
            return FigureState.FAIL, [integrity.detail]
        failed = self._figures_in(FigureState.FAIL)
        if failed:
            return FigureState.FAIL, [*failed, *self._figures_in(FigureState.CAUTION)]
        verdict, reasons = self._verdict_without_failure()
        if len(self.judged) < len(self.tests):
            ran = SlateReason(SlateCode.TESTS_RUN, {"run": len(self.judged), "tests": len(self.tests)})
            return Verdict.PARTIAL, [ran, *reasons]
        return verdict, reasons

    def _figures_in(self, state: FigureState) -> list[SlateJudgement]:
        """The judgements in a state, without that of the integrity."""
        return [item for name, item in self.judged.items() if item.verdict == state and name != INTEGRITY]

    def _verdict_without_failure(self) -> tuple[FigureState, list[SlateReason | SlateJudgement]]:
        doubtful = self._figures_in(FigureState.CAUTION)
        missing = self._figures_in(FigureState.NOT_EVALUATED)
        primary = self.judged.get(PRIMARY)
        if primary is None or primary in missing:
            unknown = (primary and primary.detail) or SlateReason(SlateCode.NOT_RUN, {"metric": PRIMARY})
            return FigureState.NOT_EVALUATED, [unknown, *doubtful]
        reasons: list[SlateReason | SlateJudgement] = [*doubtful, *missing]
        integrity = self.judged.get(INTEGRITY)
        if integrity is None or integrity.verdict != FigureState.PASS:
            reasons.append(SlateReason(SlateCode.UNPROVEN))
        return (FigureState.CAUTION if reasons else FigureState.PASS), reasons

    def record(self) -> dict[str, Any]:
        """`slate_results.json`: every figure with its count, its interval or the reason why there is none."""
        slate = self.slate
        verdict, reasons = self.verdict()
        judged = [self.judged[name] for name in self.tests if name in self.judged]
        by_year: dict[str, float | None] = {}
        for item in judged:
            by_year |= item.figure.per_year
        return {
            "schema": SCHEMA,
            "slate_id": slate.id,
            "created_at": slate.created_at.isoformat(),
            "verdict": str(verdict),
            "reasons": [str(reason) for reason in reasons],
            "observed": _observed(self.prospective),
            "predictions": len(slate.predictions),
            "distinct_pairs": int((~slate.predictions["repeated"]).sum()),
            "diseases": len(slate.diseases),
            "candidates": None if slate.candidates is None else len(slate.candidates),
            "outcomes": len(slate.outcomes),
            "notes": list(slate.notes),
            "judgements": [
                {"metric": item.metric, "verdict": str(item.verdict), **plain(item.figure), "limit": item.limit}
                | {"detail": str(item.detail or "")}
                for item in judged
            ],
            "prospective": plain(self.prospective),
            "all_outcomes": plain(evaluate(all_outcomes(slate), confidence=self._run.rules.confidence)),
            "temporal_auc_by_year": by_year,
            "what_this_means": _MEANING,
            "manifest": {
                "versions": package_versions(),
                "slate": slate.manifest.as_json() if slate.manifest is not None else None,
                "ranker": self._run.model,
                "thresholds": self._run.rules.fingerprint(),
            },
        }


def _observed(figures: ViewFigures) -> str:
    """How many open predictions came true, in sentences."""
    if figures.observed:
        cell = figures.tiers[ALL]
        hits = f"{cell.hits} of {cell.predictions} open predictions"
        observed = f"{hits} have a high-signal outcome dated after the freeze."
    else:
        nothing = str(SlateReason(SlateCode.NOTHING_OBSERVED))
        observed = f"{nothing[0].upper()}{nothing[1:]}."
    if figures.pairs_known_at_freeze:
        observed += f" {figures.pairs_known_at_freeze} pairs were known at freeze and take no part."
    return observed


def _not_evaluated(metric: str, code: SlateCode) -> SlateJudgement:
    figure = Figure.undefined(code)
    return SlateJudgement(metric, FigureState.NOT_EVALUATED, figure, detail=figure.reason)
