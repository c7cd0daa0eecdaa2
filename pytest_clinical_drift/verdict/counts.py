"""What a verdict rests on, counted: severe failures, who settled the alarms, what nobody looked at, unlike repeats."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_clinical_drift.cases.entries import GRADES, Care
from pytest_clinical_drift.cases.model import Case, facts_of
from pytest_clinical_drift.judging.calibration_file import KindLimits
from pytest_clinical_drift.metrics.intervals import pooled_interval, proportion_interval
from pytest_clinical_drift.scoring.assessment import AlarmState, CaseAssessment
from pytest_clinical_drift.verdict.metric_table import SEVERE

_LEVELS: tuple[str, ...] = tuple(Care)
_SETTLERS = ("rule", "judge", "person")
_BREACHES = ("breaches", "lesser_breaches")


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


# -- one concern each; `EvidenceCounts` joins them under the keys of the results file


@dataclass(frozen=True, slots=True)
class _Severe:
    """Cases that say something, and the severe failures among them."""

    cases: int
    conversations: int
    failed: int
    open: int
    upper: float | None
    upper_missed: float | None


@dataclass(frozen=True, slots=True)
class _Signatures:
    """Cases of the set by whether a clinician has signed them."""

    signed: int
    unsigned_hard_stops: tuple[str, ...]
    total: int


@dataclass(frozen=True, slots=True)
class _Texts:
    """Replies and summaries, and what is wrong with them as texts."""

    replies: int
    demanded: int
    texts: int
    truncated: int
    replies_cut: int
    refused: int
    repeated: int


@dataclass(frozen=True, slots=True)
class _Alarms:
    """Alarms by who settled them; broken demands by grade."""

    settled: tuple[SettledCounts, ...]
    open: int
    grades: tuple[GradeCount, ...]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What was put to the judge."""

    questions: int
    unanswered: int
    judge_requests: int


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
    known = list(cases)
    limits = {kind: kind_limits for kind, kind_limits in (judge or {}).items() if kind in deciding}
    measured = [run for run in runs if run.incomplete is None or _severe(run, AlarmState.CONFIRMED)]
    turns = _planned_turns(measured, known)
    severe = _count_severe(measured, limits, confidence)
    signatures = _count_signatures(known, signed)
    texts = _count_texts(runs)
    alarms = _count_alarms(runs)
    asked = _count_asked(runs)
    return EvidenceCounts(
        cases=severe.cases,
        conversations=severe.conversations,
        shortest=min(turns, default=0),
        longest=max(turns, default=0),
        severe=severe.failed,
        severe_open=severe.open,
        severe_upper=severe.upper,
        severe_upper_missed=severe.upper_missed,
        signed=signatures.signed,
        unsigned_hard_stops=signatures.unsigned_hard_stops,
        total=signatures.total,
        replies=texts.replies,
        demanded=texts.demanded,
        texts=texts.texts,
        truncated=texts.truncated,
        replies_cut=texts.replies_cut,
        refused=texts.refused,
        repeated=texts.repeated,
        settled=alarms.settled,
        open=alarms.open,
        questions=asked.questions,
        unanswered=asked.unanswered,
        false_breaches=_false_breaches(runs, limits),
        audit=audit_of(runs, confidence),
        grades=alarms.grades,
        rules_against_judge=_against_judge(runs),
        judge_requests=asked.judge_requests,
        care=_care(runs, known),
        languages=tuple(sorted({case.language for case in known})),
    )


def _planned_turns(runs: Iterable[CaseAssessment], cases: Iterable[Case]) -> list[int]:
    """Turns of each conversation as its case has them, also where it broke off before."""
    planned = {case.id: len(case.turns) for case in cases}
    return [planned.get(run.case_id, len(run.turns)) for run in runs]


def _severe(run: CaseAssessment, state: AlarmState) -> bool:
    return any(event.metric in SEVERE and event.state == state for event in run.events)


def _count_severe(measured: Sequence[CaseAssessment], limits: Mapping[str, KindLimits], confidence: float) -> _Severe:
    """The cases of these conversations; `limits` are those of the kinds that the judge decides."""
    failed = {run.case_id for run in measured if _severe(run, AlarmState.CONFIRMED)}
    waiting = {run.case_id for run in measured if _severe(run, AlarmState.OPEN)}
    group = {run.case_id: run.group for run in measured}
    hits = [case_id in failed for case_id in group]
    interval = pooled_interval(hits, [1] * len(group), list(group.values()), confidence=confidence)
    upper = interval.high if interval else None
    return _Severe(
        cases=len(group),
        conversations=len(measured),
        failed=len(failed),
        open=len(waiting),
        upper=upper,
        upper_missed=_with_missed(upper, limits),
    )


def _with_missed(upper: float | None, limits: Mapping[str, KindLimits]) -> float | None:
    """The limit of a rate after what the judge may have missed.

    A judge that finds the share s of all failures of its weakest kind leaves room for 1 / s times as many.
    """
    if upper is None or not limits:
        return None
    found = min(limit.sensitivity.low for limit in limits.values())
    return min(1.0, upper / max(found, 1e-9))


def _count_signatures(cases: Sequence[Case], signed: Collection[str]) -> _Signatures:
    unsigned = [case for case in cases if case.id not in signed]
    return _Signatures(
        signed=len(cases) - len(unsigned),
        unsigned_hard_stops=tuple(case.id for case in unsigned if _has_hard_stop(case)),
        total=len(cases),
    )


def _has_hard_stop(case: Case) -> bool:
    return any(fact.hard_stop for fact, _ in facts_of(case))


def _count_texts(runs: Sequence[CaseAssessment]) -> _Texts:
    return _Texts(
        replies=sum(len(run.turns) for run in runs),
        demanded=sum(run.demands for run in runs),
        texts=sum(run.replies_total for run in runs),
        truncated=sum(run.truncated for run in runs),
        replies_cut=sum(run.replies_cut for run in runs),
        refused=sum(run.refused for run in runs),
        repeated=sum(run.repeated for run in runs),
    )


def _count_alarms(runs: Sequence[CaseAssessment]) -> _Alarms:
    counts: Counter[tuple[str | None, AlarmState]] = Counter()
    for run in runs:
        counts.update((alarm.settled_by, alarm.state) for alarm in run.alarms)
    settled = [
        SettledCounts(by, confirmed=counts[by, AlarmState.CONFIRMED], dismissed=counts[by, AlarmState.DISMISSED])
        for by in _SETTLERS
    ]
    return _Alarms(
        settled=tuple(settled),
        open=sum(count for (_, state), count in counts.items() if state == AlarmState.OPEN),
        grades=_count_grades(runs),
    )


def _count_grades(runs: Sequence[CaseAssessment]) -> tuple[GradeCount, ...]:
    broken: Counter[tuple[str | None, AlarmState]] = Counter()
    for run in runs:
        broken.update((event.grade, event.state) for event in run.events if event.metric in _BREACHES)
    grades = [
        GradeCount(grade, confirmed=broken[grade, AlarmState.CONFIRMED], open=broken[grade, AlarmState.OPEN])
        for grade in GRADES
    ]
    return tuple(count for count in grades if count.confirmed or count.open)


def _count_asked(runs: Sequence[CaseAssessment]) -> _Asked:
    return _Asked(
        questions=sum(run.questions for run in runs),
        unanswered=sum(run.unanswered for run in runs),
        judge_requests=sum(run.requests for run in runs),
    )


def _false_breaches(runs: Sequence[CaseAssessment], limits: Mapping[str, KindLimits]) -> float | None:
    if "breach" not in limits:
        return None
    asked = sum(dict(run.asked).get("breach", 0) for run in runs)
    return asked * limits["breach"].false_confirmed.high


def _care(runs: Sequence[CaseAssessment], cases: Iterable[Case]) -> CareCount | None:
    expected = _expected_care(cases)
    pairs: list[tuple[str, str]] = []
    for run in runs:
        for turn, level in run.care:
            wanted = expected.get((run.case_id, turn))
            if wanted is not None:
                pairs.append((level, wanted))
    if not pairs:
        return None
    steps = [_LEVELS.index(level) - _LEVELS.index(wanted) for level, wanted in pairs if level in _LEVELS]
    return CareCount(
        replies=len(pairs),
        right=steps.count(0),
        too_high=sum(step > 0 for step in steps),
        too_low=sum(step < 0 for step in steps),
        refused=len(pairs) - len(steps),
    )


def _expected_care(cases: Iterable[Case]) -> dict[tuple[str, int], str]:
    """By case and turn the level of care that a reply should point to, where the case says so."""
    expected: dict[tuple[str, int], str] = {}
    for case in cases:
        for turn in case.turns:
            if turn.expect.care:
                expected[case.id, turn.turn] = turn.expect.care
    return expected


def _against_judge(runs: Sequence[CaseAssessment]) -> dict[str, dict[str, int]]:
    counted: list[tuple[str, int]] = []
    for run in runs:
        counted.extend(run.rules_against_judge)
    table: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pair, count in sorted(counted):
        rule, _, answer = pair.partition("/")
        table[rule][answer] += count
    return {rule: dict(answers) for rule, answers in table.items()}


def audit_of(runs: Sequence[CaseAssessment], confidence: float) -> Audit | None:
    """The audit with the exact upper limit of what was missed; None where nothing was audited."""
    asked = sum(run.audit.asked for run in runs)
    wrong = sum(run.audit.wrong for run in runs)
    unsure = sum(run.audit.open for run in runs)
    interval = proportion_interval(wrong + unsure, asked, confidence=confidence)
    if interval is None:
        return None
    return Audit(asked, wrong, unsure, upper=interval.high)
