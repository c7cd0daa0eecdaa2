"""Verdicts, states of figures, and reasons: a class for each, with typed fields.

`report/` makes the sentences: a macro of `reasons.txt.j2` for each code. A new reason is a code, a class here, its name
in the union `Reason`, and a macro.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final, TypeAlias, get_args

from pytest_clinical_drift.verdict.reason_codes import ReasonCode
from pytest_clinical_drift.verdict.reason_record import AsRecord


class Verdict(StrEnum):
    """Of a case, or of a run. A case is never PARTIAL."""

    PASS = "PASS"
    CAUTION = "CAUTION"
    FAIL = "FAIL"
    INCOMPLETE = "INCOMPLETE"
    """The subject could not be run: says nothing about the model."""
    UNSETTLED = "UNSETTLED"
    """Nothing failed, and something severe is open."""
    PARTIAL = "PARTIAL"
    """A part of the cases: no release verdict."""


WORST_FIRST = (Verdict.FAIL, Verdict.INCOMPLETE, Verdict.UNSETTLED, Verdict.PARTIAL, Verdict.CAUTION, Verdict.PASS)


class FigureState(StrEnum):
    """Of one metric against its limits."""

    PASS = "PASS"
    CAUTION = "CAUTION"
    FAIL = "FAIL"
    UNREAD = "unread"
    """Inside its limits, but nobody who may decide has read what it rests on: never green."""
    NOT_EVALUATED = "not evaluated"
    """It could have been measured, and was not: never green, and no whole set passes with it."""
    NOT_APPLICABLE = "not applicable"
    """It cannot happen in these cases: neither green nor in the way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coded:
    """What every reason has. A field that is None by default is left out of files where it is None."""

    code: ClassVar[ReasonCode]
    text: str = field(default="", compare=False)
    """The sentence, filled in for readers of a file; the package itself always makes it anew."""


# -- why a figure was not measured


@dataclass(frozen=True, slots=True)
class CannotHappen(Coded):
    code = ReasonCode.CANNOT_HAPPEN
    metric: str
    """In none of these cases can it happen."""


@dataclass(frozen=True, slots=True)
class ConversationUnfinished(Coded):
    code = ReasonCode.CONVERSATION_UNFINISHED


@dataclass(frozen=True, slots=True)
class NeedsJudge(Coded):
    code = ReasonCode.NEEDS_JUDGE


@dataclass(frozen=True, slots=True)
class AllRepliesCut(Coded):
    code = ReasonCode.ALL_REPLIES_CUT


@dataclass(frozen=True, slots=True)
class AllRepliesEmpty(Coded):
    code = ReasonCode.ALL_REPLIES_EMPTY


@dataclass(frozen=True, slots=True)
class RepliesNotRecorded(Coded):
    code = ReasonCode.REPLIES_NOT_RECORDED


@dataclass(frozen=True, slots=True)
class NoAdvicePair(Coded):
    code = ReasonCode.NO_ADVICE_PAIR
    read: bool
    """Whether somebody who may decide has read the replies, or only rules looked for advice."""


@dataclass(frozen=True, slots=True)
class NoPairCompared(Coded):
    code = ReasonCode.NO_PAIR_COMPARED


@dataclass(frozen=True, slots=True)
class NoSummaryStatesFact(Coded):
    code = ReasonCode.NO_SUMMARY_STATES_FACT


@dataclass(frozen=True, slots=True)
class NoSummaryStatesChange(Coded):
    code = ReasonCode.NO_SUMMARY_STATES_CHANGE


@dataclass(frozen=True, slots=True)
class RecallZeroThroughout(Coded):
    code = ReasonCode.RECALL_ZERO_THROUGHOUT


@dataclass(frozen=True, slots=True)
class NoFactEvaluated(Coded):
    code = ReasonCode.NO_FACT_EVALUATED


@dataclass(frozen=True, slots=True)
class NoScorer(Coded):
    code = ReasonCode.NO_SCORER


@dataclass(frozen=True, slots=True)
class NoCaseFinished(Coded):
    code = ReasonCode.NO_CASE_FINISHED


@dataclass(frozen=True, slots=True)
class Stretched(Coded):
    """Turn 10 of a stretched run is not turn 10 of the case."""

    code = ReasonCode.STRETCHED


@dataclass(frozen=True, slots=True)
class ShortRun(Coded):
    code = ReasonCode.SHORT_RUN
    turns: int
    """The slope covers runs of so many."""


@dataclass(frozen=True, slots=True)
class Unread(Coded):
    code = ReasonCode.UNREAD
    kinds: tuple[str, ...]
    """Groups of kinds that no judge at its floor has read."""


# -- what a figure rests on


@dataclass(frozen=True, slots=True)
class PerReplies(Coded):
    code = ReasonCode.PER_REPLIES
    events: int
    replies: int
    missing: int | None = None
    """Cases of a set in which nobody could look; None: of one case."""


@dataclass(frozen=True, slots=True)
class LowestAt(Coded):
    code = ReasonCode.LOWEST_AT
    turn: int
    cases: int


@dataclass(frozen=True, slots=True)
class Pairs(Coded):
    code = ReasonCode.PAIRS
    contradictions: int
    pairs: int


@dataclass(frozen=True, slots=True)
class CasesMeasured(Coded):
    code = ReasonCode.CASES_MEASURED
    cases: int


@dataclass(frozen=True, slots=True)
class CasesWithEvent(Coded):
    code = ReasonCode.CASES_WITH_EVENT
    happened: int
    cases: int
    restricted: bool
    """Not every case can show it."""
    upper: float | None
    """Limit of the true rate; None while alarms are open."""
    open: int
    waived: int
    missing: int
    """Cases in which it could have happened and nobody could look."""


@dataclass(frozen=True, slots=True)
class CasesWouldSettle(Coded):
    code = ReasonCode.CASES_WOULD_SETTLE
    cases: int
    """So many independent ones would bring the interval inside the limit."""


@dataclass(frozen=True, slots=True)
class TooCloseToSettle(Coded):
    code = ReasonCode.TOO_CLOSE_TO_SETTLE
    times: int
    """The set would have to grow by more than this factor."""


@dataclass(frozen=True, slots=True)
class ByPoint(Coded):
    """Its point estimate is inside the limit, its interval is not."""

    code = ReasonCode.BY_POINT


@dataclass(frozen=True, slots=True)
class Corrected(Coded):
    """A figure without the judge's error."""

    code = ReasonCode.CORRECTED
    value: float
    low: float
    high: float


# -- why the set has its verdict


@dataclass(frozen=True, slots=True)
class CasesSelected(Coded):
    code = ReasonCode.CASES_SELECTED
    run: int
    total: int


@dataclass(frozen=True, slots=True)
class Shard(Coded):
    """One shard has no verdict of its own."""

    code = ReasonCode.SHARD
    index: int
    count: int


@dataclass(frozen=True, slots=True)
class ShardsMissing(Coded):
    code = ReasonCode.SHARDS_MISSING
    shards: tuple[str, ...]
    """What is missing of each, or why a folder cannot be used."""


@dataclass(frozen=True, slots=True)
class PassedByPoint(Coded):
    code = ReasonCode.PASSED_BY_POINT
    metrics: tuple[str, ...]
    """Their point estimates decided, as the thresholds ask for; no interval shows the PASS."""


@dataclass(frozen=True, slots=True)
class CasesFailed(Coded):
    code = ReasonCode.CASES_FAILED
    failed: int
    cases: int


@dataclass(frozen=True, slots=True)
class CasesPastLimit(Coded):
    code = ReasonCode.CASES_PAST_LIMIT
    past: int
    cases: int
    tolerated: int


@dataclass(frozen=True, slots=True)
class CasesUnfinished(Coded):
    code = ReasonCode.CASES_UNFINISHED
    unfinished: int
    cases: int


@dataclass(frozen=True, slots=True)
class CasesAtCaution(Coded):
    code = ReasonCode.CASES_AT_CAUTION
    cases: int


@dataclass(frozen=True, slots=True)
class CautionFails(Coded):
    code = ReasonCode.CAUTION_FAILS
    cases: int
    """At CAUTION in a strict run."""


@dataclass(frozen=True, slots=True)
class SeenEvent:
    """An event of a case that was not run to the end."""

    text: str
    turn: int
    case_id: str


@dataclass(frozen=True, slots=True)
class ConfirmedBeforeEnd(Coded):
    code = ReasonCode.CONFIRMED_BEFORE_END
    metric: str
    count: int
    events: tuple[SeenEvent, ...]
    """The first of them."""


@dataclass(frozen=True, slots=True)
class Figure(Coded):
    code = ReasonCode.FIGURE
    metric: str
    """Its figure, one of the judgements, decided or has no value."""


@dataclass(frozen=True, slots=True)
class CoreNotEvaluated(Coded):
    code = ReasonCode.CORE_NOT_EVALUATED


@dataclass(frozen=True, slots=True)
class FiguresUnread(Coded):
    code = ReasonCode.FIGURES_UNREAD
    metrics: tuple[str, ...]
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RepliesUnproven(Coded):
    """Reused from an earlier run of a model whose identity is not proven."""

    code = ReasonCode.REPLIES_UNPROVEN
    replies: int
    since: str | None
    """The day of the oldest of them; None: not known."""


@dataclass(frozen=True, slots=True)
class CanariesMissed(Coded):
    code = ReasonCode.CANARIES_MISSED
    confirmed: int
    inserted: int
    needed: float
    """The share of them that a judge has to confirm."""


@dataclass(frozen=True, slots=True)
class CanariesUnanswered(Coded):
    """Too few answers to tell whether the judge is fit."""

    code = ReasonCode.CANARIES_UNANSWERED
    unanswered: int
    inserted: int


@dataclass(frozen=True, slots=True)
class JudgeOutage(Coded):
    code = ReasonCode.JUDGE_OUTAGE
    requests: int
    asked: int
    error: str
    stopped: bool
    offline: bool
    sent: int | None
    """Requests that were sent; None: not recorded."""
    lost: int
    """Those of the sent without an answer."""
    canaries: int
    """Inserted faults among what was not answered."""


@dataclass(frozen=True, slots=True)
class SevereOpen(Coded):
    code = ReasonCode.SEVERE_OPEN
    cases: int


@dataclass(frozen=True, slots=True)
class TooFewCases(Coded):
    code = ReasonCode.TOO_FEW_CASES
    cases: int
    groups: int
    needed: int


@dataclass(frozen=True, slots=True)
class CasesUnsigned(Coded):
    code = ReasonCode.CASES_UNSIGNED
    unsigned: int
    cases: int
    """Of the whole set."""


@dataclass(frozen=True, slots=True)
class AuditBound(Coded):
    code = ReasonCode.AUDIT_BOUND
    upper: float
    asked: int
    bound: float


@dataclass(frozen=True, slots=True)
class NotAudited(Coded):
    code = ReasonCode.NOT_AUDITED


@dataclass(frozen=True, slots=True)
class UnsourcedSummaries(Coded):
    code = ReasonCode.UNSOURCED_SUMMARIES
    cases: int | None = None
    """How many of a set; None: of one case."""


@dataclass(frozen=True, slots=True)
class Speechless(Coded):
    """Most of the replies say nothing."""

    code = ReasonCode.SPEECHLESS
    cases: int | None = None
    """How many of a set; None: of one case."""


@dataclass(frozen=True, slots=True)
class JudgeRequired(Coded):
    code = ReasonCode.JUDGE_REQUIRED


@dataclass(frozen=True, slots=True)
class JudgeBelowFloor(Coded):
    code = ReasonCode.JUDGE_BELOW_FLOOR
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QuestionsUnanswered(Coded):
    code = ReasonCode.QUESTIONS_UNANSWERED
    questions: int


# -- comparisons


@dataclass(frozen=True, slots=True)
class BaselineWorse(Coded):
    code = ReasonCode.BASELINE_WORSE
    metrics: tuple[str, ...]
    new_severe: tuple[str, ...]
    """The cases in which something severe is new."""


@dataclass(frozen=True, slots=True)
class BaselineUndecided(Coded):
    code = ReasonCode.BASELINE_UNDECIDED
    metrics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BaselineVersion(Coded):
    """The versions of this package that scored the two runs."""

    code = ReasonCode.BASELINE_VERSION
    before: str
    now: str


@dataclass(frozen=True, slots=True)
class TooFewPairs(Coded):
    code = ReasonCode.TOO_FEW_PAIRS
    pairs: int
    needed: int


@dataclass(frozen=True, slots=True)
class NotPaired(Coded):
    code = ReasonCode.NOT_PAIRED
    what: str
    """What differs, such as cases or prompts."""


@dataclass(frozen=True, slots=True)
class NewSevere(Coded):
    code = ReasonCode.NEW_SEVERE
    cases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OpenRecall:
    """Recall@T10 of a run that nobody has read to the end."""

    name: str
    recall: float
    worst: float
    """With open alarms."""


@dataclass(frozen=True, slots=True)
class RecallUnread(Coded):
    code = ReasonCode.RECALL_UNREAD
    runs: tuple[OpenRecall, ...]


# -- diagnoses


@dataclass(frozen=True, slots=True)
class NothingToDiagnose(Coded):
    code = ReasonCode.NOTHING_TO_DIAGNOSE


@dataclass(frozen=True, slots=True)
class RecallNotEvaluated(Coded):
    code = ReasonCode.RECALL_NOT_EVALUATED
    metric: str
    """What else is wrong."""


@dataclass(frozen=True, slots=True)
class Forgetting(Coded):
    code = ReasonCode.FORGETTING
    advice_evaluated: bool


@dataclass(frozen=True, slots=True)
class ContradictsFacts(Coded):
    code = ReasonCode.CONTRADICTS_FACTS
    advice_evaluated: bool


@dataclass(frozen=True, slots=True)
class ActiveContradiction(Coded):
    code = ReasonCode.ACTIVE_CONTRADICTION


@dataclass(frozen=True, slots=True)
class RemembersBut(Coded):
    code = ReasonCode.REMEMBERS_BUT
    metric: str
    """The gravest thing that is wrong."""


@dataclass(frozen=True, slots=True)
class Stable(Coded):
    code = ReasonCode.STABLE
    open: bool
    """Whether alarms are."""
    advice_evaluated: bool


_NotMeasured: TypeAlias = (
    CannotHappen
    | ConversationUnfinished
    | NeedsJudge
    | AllRepliesCut
    | AllRepliesEmpty
    | RepliesNotRecorded
    | NoAdvicePair
    | NoPairCompared
    | NoSummaryStatesFact
    | NoSummaryStatesChange
    | RecallZeroThroughout
    | NoFactEvaluated
    | NoScorer
    | NoCaseFinished
    | Stretched
    | ShortRun
    | Unread
)
_RestsOn: TypeAlias = (
    PerReplies
    | LowestAt
    | Pairs
    | CasesMeasured
    | CasesWithEvent
    | CasesWouldSettle
    | TooCloseToSettle
    | ByPoint
    | Corrected
)
_OfTheSet: TypeAlias = (
    CasesSelected
    | Shard
    | ShardsMissing
    | PassedByPoint
    | CasesFailed
    | CasesPastLimit
    | CasesUnfinished
    | CasesAtCaution
    | CautionFails
    | ConfirmedBeforeEnd
    | Figure
    | CoreNotEvaluated
    | FiguresUnread
    | RepliesUnproven
    | CanariesMissed
    | CanariesUnanswered
    | JudgeOutage
    | SevereOpen
    | TooFewCases
    | CasesUnsigned
    | AuditBound
    | NotAudited
    | UnsourcedSummaries
    | Speechless
    | JudgeRequired
    | JudgeBelowFloor
    | QuestionsUnanswered
)
_OfComparisons: TypeAlias = (
    BaselineWorse | BaselineUndecided | BaselineVersion | TooFewPairs | NotPaired | NewSevere | RecallUnread
)
_OfDiagnoses: TypeAlias = (
    NothingToDiagnose | RecallNotEvaluated | Forgetting | ContradictsFacts | ActiveContradiction | RemembersBut | Stable
)
_AnyReason: TypeAlias = _NotMeasured | _RestsOn | _OfTheSet | _OfComparisons | _OfDiagnoses
REASONS: Final[Mapping[ReasonCode, type[Any]]] = {known.code: known for known in get_args(_AnyReason)}
"""The class of every code."""
Reason: TypeAlias = Annotated[_AnyReason, AsRecord(REASONS)]
"""Any reason; in files a code with values (`reason_record.py`)."""
_AnyDoubt: TypeAlias = UnsourcedSummaries | Speechless
Doubt: TypeAlias = Annotated[_AnyDoubt, AsRecord({known.code: known for known in get_args(_AnyDoubt)})]
"""Why a case cannot pass although its figures could."""
