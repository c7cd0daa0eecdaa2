"""Verdicts, states of figures, and reasons as codes with their values.

`report/` makes the sentences: one macro of `reasons.txt.j2` per code. FIGURE alone has none: `figure_sentence` in
`report/reasons.py` tells the figure that it names.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum, auto
from typing import Any


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


class ReasonCode(StrEnum):
    """Why a figure or a verdict is what it is; each names the values that come with it."""

    # -- why a figure was not measured
    CANNOT_HAPPEN = auto()  # metric: in none of these cases can it happen
    CONVERSATION_UNFINISHED = auto()
    NEEDS_JUDGE = auto()
    ALL_REPLIES_CUT = auto()
    ALL_REPLIES_EMPTY = auto()
    REPLIES_NOT_RECORDED = auto()
    # read: whether somebody who may decide has read the replies, or only rules looked for advice
    NO_ADVICE_PAIR = auto()
    NO_PAIR_COMPARED = auto()
    NO_SUMMARY_STATES_FACT = auto()
    NO_SUMMARY_STATES_CHANGE = auto()
    RECALL_ZERO_THROUGHOUT = auto()
    NO_FACT_EVALUATED = auto()
    NO_SCORER = auto()
    NO_CASE_FINISHED = auto()
    STRETCHED = auto()  # Turn 10 of a stretched run is not turn 10 of the case
    SHORT_RUN = auto()  # turns: the slope covers runs of so many
    UNREAD = auto()  # kinds: groups of kinds that no judge at its floor has read

    # -- what a figure rests on
    # events, replies, missing (cases in which nobody could look). Reports add read and raised: whether somebody has
    # read for the figure, and whether alarms are open
    PER_REPLIES = auto()
    LOWEST_AT = auto()  # turn, cases
    PAIRS = auto()  # contradictions, pairs
    CASES_MEASURED = auto()  # cases
    # happened, cases, restricted (not every case can show it), upper (limit of the true rate), open, waived, missing
    # (cases in which it could have happened and nobody could look). Reports add read and raised, as above
    CASES_WITH_EVENT = auto()
    CASES_WOULD_SETTLE = auto()  # cases: so many independent ones would bring the interval inside the limit
    TOO_CLOSE_TO_SETTLE = auto()  # times: the set would have to grow by more than this factor
    BY_POINT = auto()  # Its point estimate is inside the limit, its interval is not
    CORRECTED = auto()  # value, low, high: without the judge's error. Reports add limits, those of the figure

    # -- why the set has its verdict
    CASES_SELECTED = auto()  # run, total
    SHARD = auto()  # index, count: one shard has no verdict of its own
    SHARDS_MISSING = auto()  # shards: what is missing of each, or why a folder cannot be used
    # metrics: their point estimates decided, as the thresholds ask for; no interval shows the PASS
    PASSED_BY_POINT = auto()
    CASES_FAILED = auto()  # failed, cases
    CASES_PAST_LIMIT = auto()  # past, cases, tolerated
    CASES_UNFINISHED = auto()  # unfinished, cases
    CASES_AT_CAUTION = auto()  # cases
    CAUTION_FAILS = auto()  # cases: at CAUTION in a strict run
    CONFIRMED_BEFORE_END = auto()  # metric, count, events: the first of them, each with text, turn and case_id
    FIGURE = auto()  # metric: its figure, one of the judgements, decided or has no value
    CORE_NOT_EVALUATED = auto()
    FIGURES_UNREAD = auto()  # metrics, kinds
    REPLIES_UNPROVEN = auto()  # replies, since: reused from an earlier run of a model whose identity is not proven
    CANARIES_MISSED = auto()  # confirmed, inserted, needed
    CANARIES_UNANSWERED = auto()  # unanswered, inserted: too few answers to tell whether the judge is fit
    # requests, asked, error, stopped, offline; sent, lost: requests sent, and those of them without an answer;
    # canaries: inserted faults among what was not answered
    JUDGE_OUTAGE = auto()
    SEVERE_OPEN = auto()  # cases
    TOO_FEW_CASES = auto()  # cases, groups, needed
    CASES_UNSIGNED = auto()  # unsigned, cases: of the whole set
    AUDIT_BOUND = auto()  # upper, asked, bound
    NOT_AUDITED = auto()
    UNSOURCED_SUMMARIES = auto()  # cases
    SPEECHLESS = auto()  # cases: how many, of a set; most of the replies say nothing
    JUDGE_REQUIRED = auto()
    JUDGE_BELOW_FLOOR = auto()  # kinds
    QUESTIONS_UNANSWERED = auto()  # questions

    # -- comparisons
    BASELINE_WORSE = auto()  # metrics, new_severe: the cases in which something severe is new
    BASELINE_UNDECIDED = auto()  # metrics
    BASELINE_VERSION = auto()  # before, now: versions of this package
    TOO_FEW_PAIRS = auto()  # pairs, needed
    NOT_PAIRED = auto()  # what: cases or prompts
    NEW_SEVERE = auto()  # cases
    RECALL_UNREAD = auto()  # runs: each with name, recall and worst, its value with open alarms

    # -- diagnoses
    NOTHING_TO_DIAGNOSE = auto()
    RECALL_NOT_EVALUATED = auto()  # metric: what else is wrong
    FORGETTING = auto()  # advice_evaluated
    CONTRADICTS_FACTS = auto()  # advice_evaluated
    ACTIVE_CONTRADICTION = auto()
    REMEMBERS_BUT = auto()  # metric: the gravest thing that is wrong
    STABLE = auto()  # open: whether alarms are; advice_evaluated


@dataclass(frozen=True, slots=True)
class Reason:
    """A code with its values; plain values only, so that it travels as JSON."""

    code: ReasonCode
    values: Mapping[str, Any] = field(default_factory=dict)
    text: str = field(default="", compare=False)
    """The sentence, for readers of the file; the package itself always makes it from code and values."""


def reason(code: ReasonCode, **values: Any) -> Reason:
    return Reason(code, values)
