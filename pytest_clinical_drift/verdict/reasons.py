"""Reasons as codes with their values. `report/` makes the sentences: one macro of `reasons.txt.j2` per code.

FIGURE alone has none: `figure_sentence` in `report/reasons.py` tells the figure that it names.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class ReasonCode(StrEnum):
    """Why a figure or a verdict is what it is; each names the values that come with it."""

    # -- why a figure was not measured
    CANNOT_HAPPEN = "cannot_happen"
    """metric: in none of these cases can it happen."""
    CONVERSATION_UNFINISHED = "conversation_unfinished"
    NEEDS_JUDGE = "needs_judge"
    ALL_REPLIES_CUT = "all_replies_cut"
    ALL_REPLIES_EMPTY = "all_replies_empty"
    REPLIES_NOT_RECORDED = "replies_not_recorded"
    NO_ADVICE_PAIR = "no_advice_pair"
    """read: whether somebody who may decide has read the replies, or only rules looked for advice."""
    NO_PAIR_COMPARED = "no_pair_compared"
    NO_SUMMARY_STATES_FACT = "no_summary_states_fact"
    NO_SUMMARY_STATES_CHANGE = "no_summary_states_change"
    RECALL_ZERO_THROUGHOUT = "recall_zero_throughout"
    NO_FACT_EVALUATED = "no_fact_evaluated"
    NO_SCORER = "no_scorer"
    NO_CASE_FINISHED = "no_case_finished"
    STRETCHED = "stretched"
    """Turn 10 of a stretched run is not turn 10 of the case."""
    SHORT_RUN = "short_run"
    """turns: the slope covers runs of so many."""
    UNREAD = "unread"
    """kinds: groups of kinds that no judge at its floor has read."""

    # -- what a figure rests on
    PER_REPLIES = "per_replies"
    """events, replies, missing (cases in which nobody could look). Reports add read and raised: whether somebody has
    read for the figure, and whether alarms are open."""
    LOWEST_AT = "lowest_at"
    """turn, cases."""
    PAIRS = "pairs"
    """contradictions, pairs."""
    CASES_MEASURED = "cases_measured"
    """cases."""
    CASES_WITH_EVENT = "cases_with_event"
    """happened, cases, restricted (not every case can show it), upper (limit of the true rate), open, waived,
    missing (cases in which it could have happened and nobody could look). Reports add read and raised, as above."""
    CASES_WOULD_SETTLE = "cases_would_settle"
    """cases: so many independent ones would bring the interval inside the limit."""
    TOO_CLOSE_TO_SETTLE = "too_close_to_settle"
    """times: the set would have to grow by more than this factor."""
    BY_POINT = "by_point"
    """Its point estimate is inside the limit, its interval is not."""
    CORRECTED = "corrected"
    """value, low, high: without the judge's error. Reports add limits, those of the figure."""

    # -- why the set has its verdict
    CASES_SELECTED = "cases_selected"
    """run, total."""
    SHARD = "shard"
    """index, count: one shard has no verdict of its own."""
    SHARDS_MISSING = "shards_missing"
    """shards: what is missing of each, or why a folder cannot be used."""
    PASSED_BY_POINT = "passed_by_point"
    """metrics: their point estimates decided, as the thresholds ask for; no interval shows the PASS."""
    CASES_FAILED = "cases_failed"
    """failed, cases."""
    CASES_PAST_LIMIT = "cases_past_limit"
    """past, cases, tolerated."""
    CASES_UNFINISHED = "cases_unfinished"
    """unfinished, cases."""
    CASES_AT_CAUTION = "cases_at_caution"
    """cases."""
    CAUTION_FAILS = "caution_fails"
    """cases: at CAUTION in a strict run."""
    CONFIRMED_BEFORE_END = "confirmed_before_end"
    """metric, count, events: the first of them, each with text, turn and case_id."""
    FIGURE = "figure"
    """metric: its figure, one of the judgements, decided or has no value."""
    CORE_NOT_EVALUATED = "core_not_evaluated"
    FIGURES_UNREAD = "figures_unread"
    """metrics, kinds."""
    CANARIES_MISSED = "canaries_missed"
    """confirmed, inserted, needed."""
    CANARIES_UNANSWERED = "canaries_unanswered"
    """unanswered, inserted: too few answers to tell whether the judge is fit."""
    JUDGE_OUTAGE = "judge_outage"
    """requests, asked, error, stopped, offline; sent, lost: requests sent, and those of them without an answer;
    canaries: inserted faults among what was not answered."""
    SEVERE_OPEN = "severe_open"
    """cases."""
    TOO_FEW_CASES = "too_few_cases"
    """cases, groups, needed."""
    CASES_UNSIGNED = "cases_unsigned"
    """unsigned, cases: of the whole set."""
    AUDIT_BOUND = "audit_bound"
    """upper, asked, bound."""
    NOT_AUDITED = "not_audited"
    UNSOURCED_SUMMARIES = "unsourced_summaries"
    """cases."""
    SPEECHLESS = "speechless"
    """cases: how many, of a set; most of the replies say nothing."""
    JUDGE_REQUIRED = "judge_required"
    JUDGE_BELOW_FLOOR = "judge_below_floor"
    """kinds."""
    QUESTIONS_UNANSWERED = "questions_unanswered"
    """questions."""

    # -- comparisons
    BASELINE_WORSE = "baseline_worse"
    """metrics, new_severe: the cases in which something severe is new."""
    BASELINE_UNDECIDED = "baseline_undecided"
    """metrics."""
    BASELINE_VERSION = "baseline_version"
    """before, now: versions of this package."""
    TOO_FEW_PAIRS = "too_few_pairs"
    """pairs, needed."""
    NOT_PAIRED = "not_paired"
    """what: cases or prompts."""
    NEW_SEVERE = "new_severe"
    """cases."""
    RECALL_UNREAD = "recall_unread"
    """runs: each with name, recall and worst, its value with open alarms."""

    # -- diagnoses
    NOTHING_TO_DIAGNOSE = "nothing_to_diagnose"
    RECALL_NOT_EVALUATED = "recall_not_evaluated"
    """metric: what else is wrong."""
    FORGETTING = "forgetting"
    """advice_evaluated."""
    CONTRADICTS_FACTS = "contradicts_facts"
    """advice_evaluated."""
    ACTIVE_CONTRADICTION = "active_contradiction"
    REMEMBERS_BUT = "remembers_but"
    """metric: the gravest thing that is wrong."""
    STABLE = "stable"
    """open: whether alarms are; advice_evaluated."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A code with its values; plain values only, so that it travels as JSON."""

    code: ReasonCode
    values: Mapping[str, Any] = field(default_factory=dict)
    text: str = field(default="", compare=False)
    """The sentence, for readers of the file; the package itself always makes it from code and values."""


def reason(code: ReasonCode, **values: Any) -> Reason:
    return Reason(code, values)
