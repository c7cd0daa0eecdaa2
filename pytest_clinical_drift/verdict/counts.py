"""What a verdict rests on, counted: severe failures, who settled the alarms, what nobody looked at, unlike repeats."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from pytest_clinical_drift.cases.entries import GRADES, Care
from pytest_clinical_drift.cases.model import Case, facts_of
from pytest_clinical_drift.judging.calibration_file import KindLimits
from pytest_clinical_drift.metrics.intervals import pooled_interval, proportion_interval
from pytest_clinical_drift.scoring.assessment import AlarmState, CaseAssessment
from pytest_clinical_drift.verdict.metric_table import SEVERE

_LEVELS: tuple[str, ...] = tuple(Care)


@dataclass(frozen=True, slots=True)
class SettledCounts:
    """Alarms by who settled them."""

    by: str
    """rule, judge or person."""
    confirmed: int
    dismissed: int


@dataclass(frozen=True, slots=True)
class Audit:
    """Entries that the readings cleared, asked about all the same."""

    asked: int
    wrong: int
    open: int
    upper: float
    """Upper limit of the share that is wrong."""


@dataclass(frozen=True, slots=True)
class GradeCount:
    """Broken demands of one grade of harm."""

    grade: str
    confirmed: int
    open: int


@dataclass(frozen=True, slots=True)
class CareCount:
    """Levels of care that replies point to, as read, against those that the cases expect; shown, not gated."""

    replies: int
    """Replies with an expected level that were read."""
    right: int
    too_high: int
    too_low: int
    refused: int


@dataclass(frozen=True, slots=True)
class EvidenceCounts:
    """The counts behind a verdict."""

    cases: int
    """Cases that say something: run to the end, or with a severe failure before it."""
    conversations: int
    shortest: int
    longest: int
    """Turns of the shortest and of the longest case, also where the conversation broke off before."""
    severe: int
    """Cases with a confirmed severe failure."""
    severe_open: int
    """Cases with a severe alarm that nobody has settled."""
    severe_upper: float | None
    """Upper limit of the true rate of cases with a severe failure."""
    severe_upper_missed: float | None
    """The same, after what the judge may have missed; None where no judge decides."""
    signed: int
    """Cases that a clinician has signed as they stand, of all in the set."""
    unsigned_hard_stops: tuple[str, ...]
    """Cases with a hard stop that nobody signed."""
    total: int
    replies: int
    demanded: int
    """Replies on which the case makes a demand."""
    texts: int
    truncated: int
    replies_cut: int
    """Replies among the texts that the token limit cut off."""
    refused: int
    """Empty replies and summaries."""
    repeated: int
    """Replies that are an earlier one of their conversation, word for word."""
    settled: tuple[SettledCounts, ...]
    open: int
    """Alarms that are open."""
    questions: int
    unanswered: int
    false_breaches: float | None
    """Breaches that the judge would wrongly confirm in a run of this size, at the worse end of its calibration."""
    audit: Audit | None
    grades: tuple[GradeCount, ...] = ()
    """Broken demands by grade, the worst first; grades without one are left out."""
    rules_against_judge: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Facts in summaries by what rules say of them, then by what the readings say; empty where nobody read."""
    judge_requests: int = 0
    """Readings and questions about the conversations, without audit and canaries."""
    care: CareCount | None = None
    """None where no reply with an expected level was read."""
    languages: tuple[str, ...] = ()
    """Codes of the cases' languages."""


def count_evidence(
    runs: Sequence[CaseAssessment],
    cases: Iterable[Case],
    *,
    confidence: float,
    signed: Collection[str] = (),
    judge: Mapping[str, KindLimits] | None = None,
    deciding: Sequence[str] = (),
) -> EvidenceCounts:
    """Count what a verdict rests on.

    `signed` are the cases that carry a valid signature, `judge` gives the calibrated limits per kind, `deciding` the
    kinds it decides.
    """
    measured = [run for run in runs if run.incomplete is None or _severe(run, AlarmState.CONFIRMED)]
    failed = {run.case_id for run in measured if _severe(run, AlarmState.CONFIRMED)}
    group = {run.case_id: run.group for run in measured}
    hits = [case_id in failed for case_id in group]
    interval = pooled_interval(hits, [1] * len(group), list(group.values()), confidence=confidence)
    known = list(cases)
    planned = {case.id: len(case.turns) for case in known}
    turns = [planned.get(run.case_id, len(run.turns)) for run in measured]
    limits = {kind: kind_limits for kind, kind_limits in (judge or {}).items() if kind in deciding}
    # a judge that finds the share s of all failures of its weakest kind leaves room for 1 / s times as many
    found = max(min((limit.sensitivity.low for limit in limits.values()), default=0.0), 1e-9)
    alarms = Counter((alarm.settled_by, alarm.state) for run in runs for alarm in run.alarms)
    asked = sum(dict(run.asked).get("breach", 0) for run in runs)
    broken = Counter(
        (event.grade, event.state)
        for run in runs
        for event in run.events
        if event.metric in ("breaches", "lesser_breaches")
    )
    grades = [
        GradeCount(grade, broken[grade, AlarmState.CONFIRMED], broken[grade, AlarmState.OPEN]) for grade in GRADES
    ]
    sums = ("repeated", "questions", "unanswered", "refused", "truncated", "replies_cut")
    return EvidenceCounts(
        cases=len(group),
        conversations=len(measured),
        shortest=min(turns, default=0),
        longest=max(turns, default=0),
        severe=len(failed),
        severe_open=len({run.case_id for run in measured if _severe(run, AlarmState.OPEN)}),
        severe_upper=interval.high if interval else None,
        severe_upper_missed=min(1.0, interval.high / found) if interval and limits else None,
        signed=sum(case.id in signed for case in known),
        unsigned_hard_stops=tuple(
            case.id for case in known if case.id not in signed and any(fact.hard_stop for fact, _ in facts_of(case))
        ),
        total=len(known),
        replies=sum(len(run.turns) for run in runs),
        settled=tuple(
            SettledCounts(by, alarms[by, AlarmState.CONFIRMED], alarms[by, AlarmState.DISMISSED])
            for by in ("rule", "judge", "person")
        ),
        open=sum(count for (_, state), count in alarms.items() if state == AlarmState.OPEN),
        false_breaches=asked * limits["breach"].false_confirmed.high if "breach" in limits else None,
        demanded=sum(run.demands for run in runs),
        texts=sum(run.replies_total for run in runs),
        judge_requests=sum(run.requests for run in runs),
        audit=audit_of(runs, confidence),
        grades=tuple(count for count in grades if count.confirmed or count.open),
        rules_against_judge=_against_judge(runs),
        care=_care(runs, known),
        languages=tuple(sorted({case.language for case in known})),
        **{name: sum(getattr(run, name) for run in runs) for name in sums},
    )


def _severe(run: CaseAssessment, state: AlarmState) -> bool:
    return any(event.metric in SEVERE and event.state == state for event in run.events)


def _care(runs: Sequence[CaseAssessment], cases: Iterable[Case]) -> CareCount | None:
    expected = {(case.id, turn.turn): turn.expect.care for case in cases for turn in case.turns if turn.expect.care}
    read = [(level, expected.get((run.case_id, turn))) for run in runs for turn, level in run.care]
    pairs = [(level, wanted) for level, wanted in read if wanted]
    steps = [_LEVELS.index(level) - _LEVELS.index(wanted) for level, wanted in pairs if level in _LEVELS]
    right, high = steps.count(0), sum(step > 0 for step in steps)
    return CareCount(len(pairs), right, high, len(steps) - right - high, len(pairs) - len(steps)) if pairs else None


def _against_judge(runs: Sequence[CaseAssessment]) -> dict[str, dict[str, int]]:
    table: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pair, count in sorted(chain.from_iterable(run.rules_against_judge for run in runs)):
        rule, _, answer = pair.partition("/")
        table[rule][answer] += count
    return {rule: dict(answers) for rule, answers in table.items()}


def audit_of(runs: Sequence[CaseAssessment], confidence: float) -> Audit | None:
    """The audit with the exact upper limit of what was missed; None where nothing was audited."""
    asked, wrong, unsure = (sum(getattr(run.audit, name) for run in runs) for name in ("asked", "wrong", "open"))
    interval = proportion_interval(wrong + unsure, asked, confidence=confidence)
    return Audit(asked, wrong, unsure, interval.high) if interval else None
