"""One gated slate folder: its slates, the tests each gets, and PASS, CAUTION, FAIL or not evaluated from figures and
limits. What was not observed never passes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_clinical_drift.cases.files import write_atomically
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.options import RESULTS
from pytest_clinical_drift.ranking.figure_types import Figure, SlateCode, SlateJudgement, SlateReason, SlateVerdict
from pytest_clinical_drift.ranking.files import MANIFEST
from pytest_clinical_drift.ranking.freezing import verify
from pytest_clinical_drift.ranking.prospective import ALL, ViewFigures, evaluate
from pytest_clinical_drift.ranking.ranker import Ranker, RankerFigures, load_ranker, measure_ranker
from pytest_clinical_drift.ranking.report import render_slate, slate_record
from pytest_clinical_drift.ranking.slate import Slate, read_slates
from pytest_clinical_drift.ranking.view import View, all_outcomes, prospective
from pytest_clinical_drift.results.files import write_json
from pytest_clinical_drift.verdict.bands import PRIMARY, RANKER_METRICS, TIERS, MetricLimits, SlateRules
from pytest_clinical_drift.verdict.reasons import FigureState, Verdict
from pytest_clinical_drift.verdict.thresholds import load_thresholds, project_thresholds

INTEGRITY = "integrity"
"""The test that compares a slate with what was frozen."""


def slate_figure(figures: ViewFigures, metric: str) -> Figure:
    """A figure by its name: a tier at the end means that tier, none the whole slate."""
    name, _, tier = metric.rpartition("_")
    if tier not in TIERS:
        name, tier = metric, ALL
    cell = figures.tiers.get(tier)
    if cell is None:
        return Figure.undefined(SlateCode.NO_TIER, tier=tier)
    return cell.figures.get(name, Figure.undefined(SlateCode.TIER_ONLY, metric=name))


def judge_prospective(figures: ViewFigures, metric: str, limits: MetricLimits, *, followed: bool) -> SlateJudgement:
    """Judge one prospective metric; as long as nothing prospective was observed anywhere, there is nothing to judge."""
    if not figures.observed:
        return judge(metric, Figure.undefined(SlateCode.NOTHING_OBSERVED), limits, needs_interval=True)
    judged = judge(metric, slate_figure(figures, metric), limits, needs_interval=True)
    if judged.verdict == FigureState.PASS and metric.startswith("enrichment_vs_popularity") and not followed:
        return replace(judged, verdict=FigureState.CAUTION, detail=SlateReason(SlateCode.INFLATED))
    return judged


def judge(metric: str, figure: Figure, limits: MetricLimits, *, needs_interval: bool) -> SlateJudgement:
    """By the value; a PASS is held back where the interval reaches past the pass limit, or where there is none."""
    if figure.value is None:
        return SlateJudgement(metric, FigureState.NOT_EVALUATED, figure, str(limits.pass_limit), figure.reason)
    band = limits.band(figure.value)
    limit = str(limits.caution_limit if band == FigureState.FAIL else limits.pass_limit)
    doubt = _doubt(figure, limits) if band == FigureState.PASS and needs_interval else None
    return SlateJudgement(metric, FigureState.CAUTION if doubt else band, figure, limit, doubt)


def _doubt(figure: Figure, limits: MetricLimits) -> SlateReason | None:
    interval = figure.interval
    if interval is None:
        return SlateReason(SlateCode.NO_INTERVAL)
    if not limits.pass_limit.holds(interval.low if limits.direction == "higher" else interval.high):
        return SlateReason(SlateCode.INTERVAL_REACHES, {"limit": str(limits.pass_limit)})
    return None if interval.high > interval.low else SlateReason(SlateCode.ZERO_WIDTH)


def judge_slate(
    judgements: Sequence[SlateJudgement],
    integrity: Sequence[SlateReason],
    *,
    proven: bool,
    expected: Mapping[str, object],
) -> SlateVerdict:
    """The worst of what was evaluated. FAIL for a changed slate; not evaluated without the primary figure.

    `integrity` holds the differences from what was frozen; `proven` tells whether there was a hash to compare with.
    """
    if integrity:
        return SlateVerdict(FigureState.FAIL, tuple(integrity))
    failed, doubtful, missing = (
        [item for item in judgements if item.verdict == state]
        for state in (FigureState.FAIL, FigureState.CAUTION, FigureState.NOT_EVALUATED)
    )
    if failed:
        return SlateVerdict(FigureState.FAIL, (*failed, *doubtful))
    primary = next((item for item in judgements if item.metric == PRIMARY), None)
    if PRIMARY in expected and (primary is None or primary in missing):
        reason = (primary and primary.detail) or SlateReason(SlateCode.NOT_RUN, {"metric": PRIMARY})
        return SlateVerdict(FigureState.NOT_EVALUATED, (reason, *doubtful))
    reasons = (*doubtful, *missing, *(() if proven else (SlateReason(SlateCode.UNPROVEN),)))
    return SlateVerdict(FigureState.CAUTION if reasons else FigureState.PASS, reasons)


def exit_code(verdicts: Iterable[str], *, failed: bool, incomplete: bool) -> int:
    """0 PASS or CAUTION, 1 FAIL, 6 no FAIL but something could not be evaluated, 7 neither but a part of the tests."""
    present = set(verdicts)
    if failed or FigureState.FAIL in present:
        return 1
    if incomplete or FigureState.NOT_EVALUATED in present:
        return 6
    return 7 if Verdict.PARTIAL in present else 0


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
        folder, page = self.root / self.results / slug, render_slate(record)
        results = write_json(record, folder / "slate_results.json")
        return [results, write_atomically(folder / "slate_report.html", page)]


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
        return (INTEGRITY, *(name for name in gated if self._run.model is not None or name not in RANKER_METRICS))

    @cached_property
    def integrity(self) -> SlateJudgement:
        manifest, there = self.slate.manifest, len(self.slate.predictions)
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
    def view(self) -> View:
        return prospective(self.slate)

    @cached_property
    def prospective(self) -> ViewFigures:
        return evaluate(self.view, confidence=self._run.rules.confidence)

    def run_test(self, metric: str) -> SlateJudgement:
        """Judge one metric. SubjectError when the ranker could not be run."""
        if metric == INTEGRITY:
            return self.integrity
        if self.integrity.verdict == FigureState.FAIL:
            return _not_evaluated(metric, SlateCode.CHANGED_BEFORE)
        limits = self._run.rules.metrics[metric]
        if metric not in RANKER_METRICS:
            return judge_prospective(self.prospective, metric, limits, followed=self.view.followed)
        name = metric.removesuffix("_lift")
        if name not in self._ranked:
            self._ranked.update(measure_ranker(self._run.ranker, self.slate, name))
        ranked = self._ranked[name]
        figure = ranked.lift if metric.endswith("_lift") else ranked.value
        per_year = {str(year): item.value for year, item in ranked.per_year.items()}
        return replace(judge(metric, figure, limits, needs_interval=False), per_year=per_year)

    def verdict(self) -> SlateVerdict | None:
        """The verdict from the tests that ran; None when none did."""
        if not self.judged:
            return None
        integrity = self.judged.get(INTEGRITY)
        state = integrity.verdict if integrity else None
        verdict = judge_slate(
            [item for item in self.judged.values() if item is not integrity],
            [integrity.detail] if integrity and integrity.detail and state == FigureState.FAIL else [],
            proven=state == FigureState.PASS,
            expected=self._run.rules.metrics,
        )
        if verdict.verdict != FigureState.FAIL and len(self.judged) < len(self.tests):
            missing = SlateReason(SlateCode.TESTS_RUN, {"run": len(self.judged), "tests": len(self.tests)})
            return SlateVerdict(Verdict.PARTIAL, (missing, *verdict.reasons))
        return verdict

    def record(self, verdict: SlateVerdict) -> dict[str, Any]:
        """What the results file says of the slate."""
        judged = [self.judged[name] for name in self.tests if name in self.judged]
        everything = evaluate(all_outcomes(self.slate), confidence=self._run.rules.confidence)
        made_of = {"ranker": self._run.model, "thresholds": self._run.rules.fingerprint()}
        return slate_record(self.slate, verdict, judged, self.prospective, everything, made_of)


def _not_evaluated(metric: str, code: SlateCode) -> SlateJudgement:
    figure = Figure.undefined(code)
    return SlateJudgement(metric, FigureState.NOT_EVALUATED, figure, detail=figure.reason)
