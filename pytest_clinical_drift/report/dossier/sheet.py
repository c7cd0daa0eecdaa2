"""The pages to sign: what a person who accepts or rejects a release has to know, and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from pytest_clinical_drift.report.alarm_groups import AlarmGroup
from pytest_clinical_drift.report.dossier.checks import ChecksView, checks_view
from pytest_clinical_drift.report.dossier.hazards import HazardLimits, HazardsView, hazards_view
from pytest_clinical_drift.report.dossier.judge import external_of, kinds_of
from pytest_clinical_drift.report.dossier.severe import SevereGroups, SevereList, severe_groups, severe_list
from pytest_clinical_drift.report.headlines import headline_rest, review_sentence
from pytest_clinical_drift.report.judge_text import external_rows, role
from pytest_clinical_drift.report.meaning import INSTRUMENT_CHECK, evidence_of, measured_text, scope_text
from pytest_clinical_drift.report.memory import horizon_lines
from pytest_clinical_drift.report.memory_charts import memory_chart, recall_chart
from pytest_clinical_drift.report.reasons import reason_texts
from pytest_clinical_drift.report.words import judged_text, kind_name, label, rounded, words, worse_text
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.results.releases import LastRelease, LimitsState, Sheet, Standing, made_of
from pytest_clinical_drift.scoring.assessment import AlarmKind, AlarmState
from pytest_clinical_drift.verdict.counts import EvidenceCounts
from pytest_clinical_drift.verdict.memory import Memory
from pytest_clinical_drift.verdict.metric_table import SEVERE
from pytest_clinical_drift.verdict.reasons import FigureState, Verdict
from pytest_clinical_drift.verdict.values import MetricVerdict

_MOST_ATTRIBUTES = 2
"""Rows of a public set that are shown."""
_MOST_FINDINGS = 6
_MOST_DISMISSALS = 3
_MOST_REASONS = 4
_MOST_HAZARDS = HazardLimits(hazards=12, charged=2, named=3)
"""Entries of the lists on the pages to sign; all are in the annex."""
_RELEASABLE = (Verdict.PASS, Verdict.CAUTION, Verdict.FAIL)

_UNVERIFIED = "no signature of an allowed signer could be verified"
_NO_SIGNERS = "dossier.yaml names no allowed_signers to verify signatures with"


@dataclass(frozen=True, slots=True)
class FindingCounts:
    """Groups of alarms by state."""

    name: str
    cells: Sequence[tuple[AlarmState, int]]


@dataclass(frozen=True, slots=True)
class SevereFigure:
    """A kind of severe failure; in how many cases."""

    label: str
    unread: bool
    """Nobody who may decide has read for it."""
    value: str
    """Empty where there is none, because nobody has read for it."""
    with_open: str
    """With open ones; empty where that is the same."""
    defined: bool


@dataclass(frozen=True, slots=True)
class TestedPart:
    """A part of what was tested, now and in the last signed release."""

    name: str
    value: str
    changed: bool
    before: str


@dataclass(frozen=True, slots=True)
class JudgeKind:
    """The judge on one kind of question: lower limits, empty where they are not known."""

    kind: str
    shares: Sequence[str]
    role: str


@dataclass(frozen=True, slots=True)
class ExternalLine:
    """The judge against a public set."""

    name: str
    rows: Sequence[tuple[str, str, str]]
    """Items, wrong or missing found, right cleared."""


@dataclass(frozen=True, slots=True)
class MemoryFigure:
    """The chart of recall at the probes, and what its legend has to say."""

    chart: Markup
    doubtful: bool
    """Whether open findings make a difference."""
    banded: bool
    cases: int
    fewer_from: int
    """The turn from which on not all cases are there; 0 where all are to the end."""
    fewer: int
    """Cases at the last probe."""
    hard_stops: bool
    horizons: Sequence[str]


@dataclass(frozen=True, slots=True)
class SheetView:
    record: str
    """SHA-256 of the results file."""
    model: str
    replay: bool
    proven: bool
    """Whether the model is the one that it is called."""
    sheet: Sheet
    verdict: Verdict
    headline: str
    """What follows the verdict's word."""
    control: bool
    instrument_check: str
    judged: bool
    """Whether a judge has read."""
    scope: str
    """The cases; empty where none was run to its end."""
    limits: LimitsState
    reasons: Sequence[str]
    more_reasons: int
    reviewed: str
    counts: EvidenceCounts
    measured: str
    cases_total: int
    cases_selected: int
    cases_complete: int
    failing: int
    findings: Sequence[FindingCounts]
    severe: int
    severe_read: int
    confirmed: SevereList
    open: SevereList
    hazards: HazardsView
    severe_figures: Sequence[SevereFigure]
    tested: Sequence[TestedPart]
    last: LastRelease | None
    ignored: int
    """Release files that do not count."""
    ignored_because: str
    checks: ChecksView
    breaches_confirmed: bool
    labelled_by: str
    kinds_measured: bool
    """Whether a calibration says how good the judge is."""
    kinds: Sequence[JudgeKind]
    external: Sequence[ExternalLine]
    recall: Markup
    recall_doubtful: bool
    memory: MemoryFigure | None

    @property
    def decidable(self) -> bool:
        """Whether there is a release verdict to accept."""
        return self.verdict in _RELEASABLE


def sheet_view(result: RunResult, standing: Standing, groups: Sequence[AlarmGroup]) -> SheetView:
    severe = severe_groups(result, groups)
    counts = evidence_of(result)
    made = result.manifest
    reasons = reason_texts(result.reasons, result.judgements)
    return SheetView(
        record=standing.sha256,
        model=made.model,
        replay=made.model.startswith("replay:"),
        proven=made.identity_proven,
        sheet=standing.sheet,
        verdict=result.verdict,
        headline=headline_rest(result),
        control=result.deciders.control,
        instrument_check=INSTRUMENT_CHECK,
        judged=bool(result.deciders.judge),
        scope=scope_text(counts, result.cases_complete) if counts.cases else "",
        limits=standing.limits,
        reasons=reasons[:_MOST_REASONS],
        more_reasons=max(0, len(reasons) - _MOST_REASONS),
        reviewed=review_sentence(result.reviewed) if result.reviewed else "",
        counts=counts,
        measured=measured_text(counts, result.cases_complete),
        cases_total=result.cases_total,
        cases_selected=result.cases_selected,
        cases_complete=result.cases_complete,
        failing=len(result.failing_cases),
        findings=[_finding_counts(result, name, place) for place, name in enumerate(("all", "severe"))],
        severe=len(severe.all),
        severe_read=sum(group.read for group in severe.all),
        confirmed=_list(severe, AlarmState.CONFIRMED, standing),
        open=_list(severe, AlarmState.OPEN, standing),
        hazards=hazards_view(standing, severe, _MOST_HAZARDS),
        severe_figures=[_severe_figure(item) for item in result.judgements if item.metric in SEVERE],
        tested=_tested(result, standing.last),
        last=standing.last,
        ignored=standing.ignored,
        ignored_because=_UNVERIFIED if standing.sheet.allowed_signers else _NO_SIGNERS,
        checks=checks_view(result, standing, severe, most=_MOST_DISMISSALS),
        breaches_confirmed=_breaches_confirmed(severe),
        labelled_by=made.judged.calibration.labelled_by if made.judged and made.judged.calibration else "",
        kinds_measured=bool(kinds_of(made.judged)),
        kinds=_kinds(result),
        external=_external(result),
        recall=recall_chart(result),
        recall_doubtful=result.average_worst_recall_curve_critical != result.average_recall_curve_critical,
        memory=_memory(result, result.memory) if result.memory else None,
    )


def _list(severe: SevereGroups, state: AlarmState, standing: Standing) -> SevereList:
    named = _MOST_HAZARDS.named
    return severe_list(severe, state, most=_MOST_FINDINGS, named=named, any_hazards=bool(standing.hazards))


def _finding_counts(result: RunResult, name: str, place: int) -> FindingCounts:
    """All groups of alarms (place 0), or the severe ones (1)."""
    states = (AlarmState.CONFIRMED, AlarmState.OPEN, AlarmState.DISMISSED)
    return FindingCounts(name, [(state, result.findings.get(state, (0, 0))[place]) for state in states])


def _severe_figure(item: MetricVerdict) -> SevereFigure:
    unread = item.verdict == FigureState.UNREAD
    nothing = unread and not item.value
    return SevereFigure(
        label=label(item.metric),
        unread=unread,
        value="" if nothing else judged_text(item, of_set=True),
        with_open=worse_text(item, of_set=True),
        defined=item.value is not None and not nothing,
    )


def _tested(result: RunResult, last: LastRelease | None) -> list[TestedPart]:
    changed = last.changed if last else {}
    return [
        TestedPart(name=part, value=value, changed=part in changed, before=changed.get(part, ""))
        for part, value in made_of(result.manifest).items()
    ]


def _breaches_confirmed(severe: SevereGroups) -> bool:
    kinds = {group.first.kind for group in severe.by_state[AlarmState.CONFIRMED]}
    return bool(kinds & {AlarmKind.RECOMMENDS, AlarmKind.OMITS})


def _kinds(result: RunResult) -> list[JudgeKind]:
    judge = result.manifest.judged
    deciding = judge.deciding if judge else ()
    rows = []
    for kind, limits in kinds_of(judge).items():
        if kind in words("groups"):
            shares = (limits.sensitivity, limits.subtle, limits.specificity)
            lows = [rounded(share.low, ".1%") if share.of else "" for share in shares]
            rows.append(JudgeKind(kind=kind_name(kind), shares=lows, role=role(kind, deciding)))
    return rows


def _external(result: RunResult) -> list[ExternalLine]:
    lines = []
    for table in external_of(result.manifest.judged):
        rows = [(str(row[0]), row[1], row[2]) for row in external_rows(table)[:_MOST_ATTRIBUTES]]
        lines.append(ExternalLine(table.name, rows))
    return lines


def _memory(result: RunResult, memory: Memory) -> MemoryFigure:
    probes = memory.probes
    first = probes[0].cases if probes else 0
    fewer = [probe for probe in probes if probe.cases != first]
    return MemoryFigure(
        chart=memory_chart(result),
        doubtful=any(probe.recall != probe.recall_worst for probe in probes),
        banded=any(probe.low is not None for probe in probes),
        cases=first,
        fewer_from=fewer[0].turn if fewer else 0,
        fewer=fewer[-1].cases if fewer else 0,
        hard_stops=any(probe.hard_stops is not None for probe in probes),
        horizons=horizon_lines(result, memory),
    )
