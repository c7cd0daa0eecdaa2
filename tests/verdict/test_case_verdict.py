"""The verdict on one case: the worst metric, two ends, severe events, what is open."""

from __future__ import annotations

import dataclasses
import datetime

import pytest
from made import NOTHING, READ, alarm, conversation, event, finding, flat, silenced

from pytest_clinical_drift.scoring.assessment import OPEN, AlarmState, CaseAssessment, NoConflictRate
from pytest_clinical_drift.verdict import case as judging
from pytest_clinical_drift.verdict.case import count_findings
from pytest_clinical_drift.verdict.measures import Repeats, events_of
from pytest_clinical_drift.verdict.metric_table import EVENT_METRICS, SEVERE, case_value
from pytest_clinical_drift.verdict.reasons import (
    ActiveContradiction,
    AllRepliesCut,
    AllRepliesEmpty,
    CannotHappen,
    ContradictsFacts,
    ConversationUnfinished,
    Forgetting,
    NoAdvicePair,
    NoFactEvaluated,
    NoPairCompared,
    NoScorer,
    NoSummaryStatesChange,
    NoSummaryStatesFact,
    NothingToDiagnose,
    Pairs,
    PerReplies,
    Reason,
    RecallNotEvaluated,
    RecallZeroThroughout,
    RemembersBut,
    RepliesNotRecorded,
    Speechless,
    Stable,
)
from pytest_clinical_drift.verdict.thresholds import Thresholds, Waiver, load_thresholds
from pytest_clinical_drift.verdict.values import CaseResult, MetricVerdict, fails_run

TODAY = datetime.date(2026, 5, 1)
GATE = load_thresholds()
DENIED = event("hard_stops", kind="contradicted")
WAIVER = Waiver(case="a", reason="known", signed_by="officer", expires=TODAY)


def gate(**changes: object) -> Thresholds:
    return GATE.model_copy(update=changes)


def judge_case(
    repeats: Repeats, thresholds: Thresholds, today: datetime.date, deciding: tuple[str, ...] = READ
) -> CaseResult:
    """A case whose texts were read by a judge that decides every kind."""
    return judging.judge_case(repeats, thresholds, today, deciding)


def verdict(case: CaseAssessment, thresholds: Thresholds = GATE) -> str:
    return judge_case([case], thresholds, TODAY).verdict


def judgement(case: CaseAssessment, metric: str) -> MetricVerdict:
    return next(item for item in judge_case([case], GATE, TODAY).judgements if item.metric == metric)


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (flat("a"), "PASS"),
        (flat("a", 0.8), "CAUTION"),
        (flat("a", 0.6), "FAIL"),
        (conversation("a", [1.0 - 0.02 * turn for turn in range(10)]), "CAUTION"),
        (flat("a", pairs=0), "PASS"),
        (flat("a", events=[event("hard_stop_slips")]), "CAUTION"),
        (flat("a", events=[event("contradicted_facts", kind="contradicted")]), "CAUTION"),
        (flat("a", events=[event("stale_facts", kind="stale")]), "FAIL"),
        (flat("a", incomplete="out of memory"), "INCOMPLETE"),
        (conversation("a", [None] * 10), "INCOMPLETE"),
        (conversation("a", [1.0] * 10, strict=[0.1] * 10), "CAUTION"),
    ],
)
def test_case_is_its_worst_metric(case: CaseAssessment, expected: str) -> None:
    """The worst evaluated metric decides; strict recall alone never fails; an unfinished run is INCOMPLETE."""
    assert verdict(case) == expected


@pytest.mark.parametrize("metric", SEVERE)
def test_one_confirmed_severe_event_fails_its_case(metric: str) -> None:
    """Under every policy, and no waiver covers it."""
    case = flat("a", events=[event(metric)])
    for thresholds in (GATE, gate(policy="set"), gate(waivers=(WAIVER,))):
        judged = judge_case([case], thresholds, TODAY)
        assert judged.verdict == "FAIL"
        assert fails_run(judged, thresholds)


@pytest.mark.parametrize("metric", SEVERE)
def test_an_open_severe_event_leaves_its_case_unsettled(metric: str) -> None:
    """No release verdict while it is open; CAUTION for those who want it so; never PASS, never FAIL."""
    case = flat("a", events=[event(metric, "open")])
    assert verdict(case) == "UNSETTLED"
    assert verdict(case, gate(open="caution")) == "CAUTION"


def test_what_fails_beats_what_is_open() -> None:
    """A case that fails by recall fails, and remembers that something severe is open in it."""
    judged = judge_case([flat("a", 0.5, events=[event(state="open")])], GATE, TODAY)
    assert (judged.verdict, judged.unsettled) == ("FAIL", True)


def test_a_waiver_does_not_settle_what_is_open() -> None:
    """Low recall is waived, the open hard stop beside it is not."""
    case = flat("a", 0.5, events=[event(state="open")])
    assert verdict(case, gate(waivers=(WAIVER,))) == "UNSETTLED"


# -- two ends


def test_pass_needs_the_worse_end_and_fail_the_better_one() -> None:
    """Recall 0.9 confirmed: with open alarms still 0.85, PASS; down to 0.5, CAUTION; confirmed at 0.5, FAIL."""
    assert verdict(conversation("a", [0.9] * 10, worst=[0.85] * 10)) == "PASS"
    assert verdict(conversation("a", [0.9] * 10, worst=[0.5] * 10)) == "CAUTION"
    assert verdict(conversation("a", [0.5] * 10, worst=[0.4] * 10)) == "FAIL"


def test_the_slope_has_two_ends() -> None:
    """Open losses at the end would make it fall by 0.054 a turn: CAUTION. Early ones flatten it and do not help."""
    late = judgement(conversation("a", [1.0] * 10, worst=[1.0] * 5 + [0.64] * 5), "drift_slope")
    assert late.value == 0.0
    assert late.worst == pytest.approx(-0.36 * 12.5 / 82.5)
    assert late.verdict == "CAUTION"
    falling = [1.0 - 0.02 * turn for turn in range(10)]
    early = judgement(conversation("a", falling, worst=[0.5, 0.5, *falling[2:]]), "drift_slope")
    assert early.worst == pytest.approx(-0.02)


def test_an_early_doubt_does_not_level_a_late_one() -> None:
    """One fact open on turns 1 to 5, another on 6 to 10: the first dismissed and the second not, it falls by 0.015."""
    item = judgement(conversation("a", [1.0] * 10, worst=[0.9] * 10), "drift_slope")
    assert item.worst == pytest.approx(-0.1 * 12.5 / 82.5)
    assert (item.value, item.verdict) == (0.0, "CAUTION")


def test_open_losses_at_the_first_probes_do_not_make_the_fall_smaller() -> None:
    """0.2 by what is confirmed; with open losses at the start it would be -0.1, which is no worse end."""
    early = judgement(conversation("a", [1.0] * 20 + [0.8] * 2, worst=[0.7] * 2 + [1.0] * 18 + [0.8] * 2), "fall")
    assert (early.value, early.worst, early.verdict) == (pytest.approx(0.2), pytest.approx(0.2), "CAUTION")
    late = judgement(conversation("a", [1.0] * 22, worst=[0.7] * 2 + [1.0] * 18 + [0.8] * 2), "fall")
    assert (late.value, late.worst, late.verdict) == (0.0, pytest.approx(0.2), "CAUTION")


def test_open_contradictions_count_at_the_worse_end_only() -> None:
    """None confirmed of 9 pairs, one suspected: K 0 to 0.11 is CAUTION, not FAIL."""
    item = judgement(flat("a", suspected=1), "k_conflict")
    assert (item.value, item.verdict) == (0.0, "CAUTION")
    assert item.worst == pytest.approx(1 / 9)


def test_a_rate_fails_a_case_only_by_two_confirmed_events() -> None:
    """One contradiction in nine pairs is past 0.10 and may be chance; two are not."""
    assert verdict(flat("a", contradictions=1)) == "CAUTION"
    assert verdict(flat("a", contradictions=2)) == "FAIL"
    one, two = flat("a", 0.95), flat("a", 0.9)
    strict_gate = gate(
        metrics=GATE.metrics
        | {
            "recall_at_t10": GATE.metrics["recall_at_t10"].model_validate(
                {**RECALL, "pass": "> 0.99", "caution": "> 0.98"}
            )
        }
    )
    assert verdict(one, strict_gate) == "CAUTION"
    assert verdict(two, strict_gate) == "FAIL"


RECALL = {"direction": "higher", "why": "a very strict gate"}


def test_a_fact_that_stays_lost_is_one_event_of_the_slope() -> None:
    """One of the facts, lost from turn 6 on, is one lapse however many turns it lasts; lost twice over it is two."""
    steep = {**RECALL, "pass": ">= 0", "caution": ">= -0.001"}
    limits = GATE.metrics["drift_slope"].model_validate(steep)
    thresholds = gate(metrics=GATE.metrics | {"drift_slope": limits})
    assert verdict(conversation("a", [1.0] * 5 + [0.95] * 5), thresholds) == "CAUTION"
    assert verdict(conversation("a", [1.0] * 5 + [0.95, 1.0, 0.95, 0.95, 0.95]), thresholds) == "FAIL"


# -- repeats, waivers, what there is to read


def test_repeats_are_averaged_and_events_collected() -> None:
    """Recall 1.0 and 0.5 make 0.75; a hard stop in one of two repeats is a hard stop."""
    judged = judge_case([flat("a"), flat("a", 0.5, repeat=1, events=[event()])], GATE, TODAY)
    values = {item.metric: item.value for item in judged.judgements}
    assert values["recall_at_t10"] == 0.75
    assert values["hard_stops"] == 1
    assert judged.failed_severely


def test_what_one_repeat_confirms_is_confirmed() -> None:
    """The same event, open in one repeat and confirmed in the other, is one confirmed event."""
    runs = [flat("a", events=[event(state="open")]), flat("a", repeat=1, events=[event()])]
    for repeats in (runs, runs[::-1]):
        stops = next(item for item in judge_case(repeats, GATE, TODAY).judgements if item.metric == "hard_stops")
        assert (stops.value, stops.worst) == (1, 1)


def test_waiver_softens_but_not_after_its_day() -> None:
    """A signed waiver makes CAUTION of a FAIL until it expires."""
    later = TODAY + datetime.timedelta(days=1)
    waived = gate(waivers=(WAIVER,))
    assert judge_case([flat("a", 0.5)], waived, TODAY).verdict == "CAUTION"
    assert judge_case([flat("a", 0.5)], waived, later).verdict == "FAIL"


def test_policy_decides_whether_a_case_fails_the_run() -> None:
    """Under set only severe events do."""
    low = judge_case([flat("a", 0.5)], GATE, TODAY)
    assert fails_run(low, GATE)
    assert not fails_run(low, gate(policy="set"))


def test_groups_to_read_are_facts_over_runs_of_turns() -> None:
    """Fact a open on turns 2, 3 and 7 is two groups, fact b one, a breach one; what is settled is not counted."""
    found = [alarm("lost", "open", turn=turn, severe=False, fact="a") for turn in (2, 3, 7)]
    found += [alarm("lost", "open", turn=3, fact="b"), alarm("recommends", "open", turn=3, rule="no aspirin")]
    found += [alarm("lost", "dismissed", turn=5, fact="c"), alarm("omits", "confirmed", turn=5, rule="call 999")]
    assert count_findings([flat("x", alarms=found)])[AlarmState.OPEN] == (4, 2)


def diagnosis(case: CaseAssessment) -> Reason:
    return judge_case([case], GATE, TODAY).diagnosed


@pytest.mark.parametrize("metric", EVENT_METRICS)
def test_nothing_confirmed_is_called_stable(metric: str) -> None:
    """Whatever is confirmed stands in the diagnosis; what is open is said to be open."""
    assert diagnosis(flat("a", events=[event(metric)])) == RemembersBut(metric)
    assert diagnosis(flat("a", events=[event(metric, OPEN)])) == Stable(open=True, advice_evaluated=True)


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (flat("a"), Stable(open=False, advice_evaluated=True)),
        (flat("a", pairs=0), Stable(open=False, advice_evaluated=False)),
        (flat("a", 0.5), Forgetting(advice_evaluated=True)),
        (flat("a", 0.5, contradictions=5), ActiveContradiction()),
        (flat("a", 0.5, pairs=0), Forgetting(advice_evaluated=False)),
        (flat("a", 0.5, events=[DENIED]), ContradictsFacts(advice_evaluated=True)),
        (
            flat("a", 0.5, events=[event("contradicted_facts", kind="contradicted")], pairs=0),
            ContradictsFacts(advice_evaluated=False),
        ),
        (flat("a", 0.5, events=[DENIED], contradictions=5), ActiveContradiction()),
        (flat("a", 0.5, events=[DENIED, event()]), Forgetting(advice_evaluated=True)),
        (flat("a", 0.5, events=[event("hard_stops", OPEN, kind="contradicted")]), Forgetting(advice_evaluated=True)),
        (flat("a", contradictions=5), RemembersBut("k_conflict")),
        (flat("a", contradictions=5, events=[event("breaches")]), RemembersBut("breaches")),
        (flat("a", events=[event("stale_facts"), event("hard_stops")]), RemembersBut("hard_stops")),
        (conversation("a", [1.0 - 0.018 * turn for turn in range(10)]), RemembersBut("drift_slope")),
        (conversation("a", [1.0] * 10, strict=[0.5] * 10), RemembersBut("strict_recall_at_t10")),
        (conversation("a", [1.0] * 10, worst=[0.5] * 10), Stable(open=True, advice_evaluated=True)),
        (conversation("a", [None] * 10), NothingToDiagnose()),
        (conversation("a", [None] * 10, events=[event("breaches")]), RecallNotEvaluated("breaches")),
    ],
)
def test_diagnosis_names_the_gravest(case: CaseAssessment, expected: Reason) -> None:
    """Low recall is forgetting or contradiction; else what was confirmed, the gravest first."""
    assert diagnosis(case) == expected


@pytest.mark.parametrize("metric", ["severe_contradictions", "other_contradictions"])
def test_contradictions_of_no_pair_are_not_evaluated(metric: str) -> None:
    """No pair of advice was compared: nobody could have seen a contradiction, and 0 would be green."""
    unheard = judgement(flat("a", pairs=0), metric)
    assert (unheard.value, unheard.verdict, unheard.reasons) == (None, "not evaluated", (NoPairCompared(),))
    assert judgement(flat("a", pairs=1), metric).value == 0.0
    # what was found counts, also between turns that K does not pair
    assert judgement(flat("a", pairs=0, events=[event(metric)]), metric).value == 1.0


def test_no_figure_of_an_unfinished_case_is_green() -> None:
    """Two turns of ten make no slope; what was seen before the outage was seen."""
    down = conversation("a", [1.0, 1.0, None], incomplete="timeout", events=[event()])
    judged = judge_case([down], GATE, TODAY)
    assert judged.verdict == "INCOMPLETE"
    assert {item.metric for item in judged.judgements if item.verdict != "not evaluated"} == {"hard_stops"}
    assert judgement(down, "drift_slope").reasons == (ConversationUnfinished(),)


# -- at the horizon, and beyond it


def test_what_comes_after_the_horizon_counts_at_the_end() -> None:
    """Twelve turns, recall lost after the tenth: Recall@T10 does not know of it, recall at the end does."""
    long = conversation("a", [1.0] * 9 + [0.9, 0.0, 0.0])
    assert judgement(long, "recall_at_t10").value == 0.9
    assert (judgement(long, "recall_at_end").value, verdict(long)) == (0.0, "FAIL")
    early = conversation("a", [0.0] * 9 + [1.0, 0.0])
    assert judgement(early, "recall_at_t10").value == 1.0
    assert case_value("recall_at_t10", [long]).confirmed == 2  # of 20 facts, on turn 10
    assert case_value("recall_at_t10", [conversation("a", [1.0] * 8 + [0.5, 1.0])]).confirmed == 0


def test_a_fact_is_lost_at_the_end_only_if_the_last_two_summaries_lack_it() -> None:
    """Five of twenty missing from the last summary alone: nothing lost; from both: 0.75; of one probe: as it is."""
    assert case_value("recall_at_end", [conversation("a", [1.0] * 11 + [0.75])]).best == 1.0
    assert case_value("recall_at_end", [conversation("a", [1.0] * 10 + [0.75, 0.75])]).best == 0.75
    assert case_value("recall_at_end", [conversation("a", [1.0] * 10 + [0.5, 0.75])]).best == 0.75
    assert case_value("recall_at_end", [conversation("a", [0.75])]).best == 0.75
    assert case_value("recall_at_end", [conversation("a", [1.0] * 9 + [0.75, None, 0.75])]).best == 0.75
    assert case_value("recall_at_end", [conversation("a", [None] * 12)]).best is None


def test_new_facts_that_the_last_summary_lacks_are_lapses() -> None:
    """Seven facts stated on the last turn, all lost: 13 of 20 are left, by seven lapses, so the case fails."""
    case = flat("a")
    old = tuple(finding(f"f{number}", None) for number in range(13))
    turns = tuple(dataclasses.replace(turn, findings=old) for turn in case.turns)
    last = dataclasses.replace(turns[-1], findings=(*old, *(finding(f"new{number}") for number in range(7))))
    value = case_value("recall_at_end", [dataclasses.replace(case, turns=(*turns[:-1], last))])
    assert (value.best, value.confirmed) == (0.65, 7)


def test_recall_at_the_end_has_two_ends_and_needs_two_lapses() -> None:
    """Five lost and three more open at both probes: 0.75 to 0.6, CAUTION; one lost fact of one fails no case."""
    item = judgement(conversation("a", [1.0] * 10 + [0.75] * 2, worst=[1.0] * 10 + [0.6] * 2), "recall_at_end")
    assert (item.value, item.worst, item.verdict) == (0.75, pytest.approx(0.6), "CAUTION")
    assert case_value("recall_at_end", [conversation("a", [1.0] * 10 + [0.95] * 2)]).confirmed == 1


@pytest.mark.parametrize(
    ("curve", "expected", "state"),
    [
        ([1.0] * 20, None, "not applicable"),
        ([1.0] * 21, 0.0, "PASS"),
        ([1.0, 0.9, *[0.5] * 17, 0.9, 0.8], 0.95 - 0.85, "PASS"),
        ([1.0] * 19 + [0.8, 0.7], 0.25, "CAUTION"),
        ([1.0] * 19 + [0.7, 0.6], 0.35, "FAIL"),
        ([0.5] * 19 + [1.0, 1.0], -0.5, "PASS"),
        ([1.0, 1.0, *[None] * 18, 0.9], None, "not evaluated"),
    ],
)
def test_the_fall_is_the_first_two_probes_less_the_last_two(
    curve: list[float | None], expected: float | None, state: str
) -> None:
    """Of runs of more than 20 turns, between probes that do not overlap."""
    item = judgement(conversation("a", curve), "fall")
    assert (item.value, item.verdict) == (None if expected is None else pytest.approx(expected), state)


def test_extra_probes_enter_no_fall() -> None:
    """The summaries of turns 21 and 22, asked for after an update, lack half of the facts; the scheduled ones none."""
    case = conversation("a", [1.0] * 20 + [0.5, 0.5, 1.0, 1.0])
    turns = tuple(dataclasses.replace(t, scheduled=t.turn not in (21, 22)) for t in case.turns)
    assert case_value("fall", [dataclasses.replace(case, turns=turns)]).best == 0.0
    swapped = tuple(dataclasses.replace(t, scheduled=t.turn not in (23, 24)) for t in case.turns)
    assert case_value("fall", [dataclasses.replace(case, turns=swapped)]).best == 0.5


def test_turn_ten_of_a_stretched_run_is_not_the_cases_turn_ten() -> None:
    """Not gated there, and not in the way."""
    case = conversation("a", [1.0] * 30)
    turns = tuple(dataclasses.replace(turn, own=turn.turn % 3 == 1) for turn in case.turns)
    item = judgement(dataclasses.replace(case, turns=turns), "recall_at_t10")
    assert (item.value, item.verdict) == (None, "not applicable")
    assert verdict(dataclasses.replace(case, turns=turns)) == "PASS"


def test_lesser_breaches_are_a_rate_per_hundred_replies() -> None:
    """One in ten replies is 10 per hundred, past the line of 6; ten replies are too few to fail a case by."""
    one, two = ([event("lesser_breaches", turn=turn, kind="omits") for turn in range(1, n + 1)] for n in (1, 2))
    item = judgement(flat("a", events=one), "lesser_breaches")
    assert (item.value, item.worst, item.verdict) == (10.0, 10.0, "CAUTION")
    assert judgement(flat("a", events=two), "lesser_breaches").verdict == "CAUTION"
    doubtful = judgement(flat("a", events=[event("lesser_breaches", "open", kind="omits")]), "lesser_breaches")
    assert (doubtful.value, doubtful.worst, doubtful.verdict) == (0.0, 10.0, "CAUTION")
    assert verdict(flat("a", events=[event("lesser_breaches", "open", kind="omits")])) == "CAUTION"
    repeats = [flat("a", events=one), flat("a", repeat=1)]
    assert case_value("lesser_breaches", repeats).best == 5.0
    assert judgement(flat("a", events=one), "lesser_breaches").reasons == (PerReplies(1, 10),)


def test_interludes_do_not_thin_out_lesser_breaches() -> None:
    """Two broken demands in ten own turns and twenty interludes are 20 per hundred, not 7."""
    broken = [event("lesser_breaches", turn=turn, kind="omits") for turn in (1, 4)]
    case = conversation("a", [1.0] * 30, events=broken)
    turns = tuple(dataclasses.replace(turn, own=turn.turn % 3 == 1) for turn in case.turns)
    assert case_value("lesser_breaches", [dataclasses.replace(case, turns=turns)]).best == 20.0


# -- a PASS needs a reader


def test_rules_alone_give_no_rate_of_contradictions_but_what_they_found() -> None:
    """Nothing found is not 0; one of nine pairs is at least that."""
    nothing, found = flat("a", asked=()), flat("a", asked=(), contradictions=1)
    states = [
        next(item for item in judge_case([case], GATE, TODAY, ()).judgements if item.metric == "k_conflict")
        for case in (nothing, found)
    ]
    assert [(item.value, item.verdict) for item in states] == [(None, "unread"), (pytest.approx(1 / 9), "unread")]


def test_without_a_judge_a_case_is_unsettled_at_best() -> None:
    """Every figure that a judge has to read is unread, keeps its value, and can fail."""
    judged = judge_case([flat("a", asked=())], GATE, TODAY, ())
    assert judged.verdict == "UNSETTLED"
    states = {item.metric: (item.value, item.verdict) for item in judged.judgements}
    assert states["recall_at_t10"] == (1.0, "unread")
    assert states["harms"] == (None, "unread")
    assert states["leaks"] == (0.0, "PASS")
    assert judge_case([flat("a", 0.5, asked=())], GATE, TODAY, ()).verdict == "FAIL"
    assert judge_case([flat("a", asked=())], gate(open="caution"), TODAY, ()).verdict == "CAUTION"


def test_the_lapses_of_all_repeats_add_up() -> None:
    """One fact lost in each of two repeats is two lapses, and enough to fail by a rate."""
    runs = [flat("a", 0.95), flat("a", 0.95, repeat=1)]
    assert case_value("recall_at_t10", runs).confirmed == 2
    assert case_value("recall_at_t10", runs[:1]).confirmed == 1


def test_what_is_stated_in_part_counts_for_strict_recall_only() -> None:
    """Ten facts stated in part and one lost on turn 10: eleven lapses of strict recall, one of recall."""
    case = flat("a")
    half = [dataclasses.replace(finding(f"p{number}", None), status="partial") for number in range(10)]
    last = dataclasses.replace(case.turns[9], findings=(*half, finding("x"), finding("y", state="open")))
    case = dataclasses.replace(case, turns=(*case.turns[:9], last))
    found = [case_value(name, [case]).confirmed for name in ("strict_recall_at_t10", "recall_at_t10", "drift_slope")]
    assert found == [11, 1, 1]


def test_no_fact_at_all_is_no_recall_and_no_slope() -> None:
    """Not evaluated is not 0; recall of 0 on every turn has no slope: nothing stated, nothing to lose."""
    unheard, silent = conversation("a", [None] * 10), conversation("a", [0.0] * 10)
    assert (case_value("recall_at_t10", [unheard]).best, verdict(unheard)) == (None, "INCOMPLETE")
    for metric in ("recall_at_t10", "drift_slope"):
        assert case_value(metric, [unheard]).reasons == (NoFactEvaluated(),)
    assert (case_value("recall_at_t10", [silent]).best, verdict(silent)) == (0.0, "FAIL")
    assert case_value("drift_slope", [silent]).best is None
    assert case_value("drift_slope", [silent]).reasons == (RecallZeroThroughout(),)
    once = conversation("a", [0.0] * 9 + [0.1])
    assert case_value("drift_slope", [once]).best == pytest.approx(0.1 * 4.5 / 82.5)


# -- what cannot happen, and what nobody could see


def test_what_cannot_happen_is_neither_green_nor_in_the_way() -> None:
    """No fact changes in this case: not applicable, with the reason; an event that was seen all the same counts."""
    case = flat("a", cannot=("stale_facts",))
    assert (judgement(case, "stale_facts").verdict, judgement(case, "stale_facts").value) == ("not applicable", None)
    assert judgement(case, "stale_facts").reasons == (CannotHappen("stale_facts"),)
    assert verdict(case) == "PASS"
    seen = flat("a", cannot=("stale_facts",), events=[event("stale_facts")])
    assert judgement(seen, "stale_facts").verdict == "FAIL"
    mixed = [case, flat("a", repeat=1)]
    assert case_value("stale_facts", mixed).best == 0.0


@pytest.mark.parametrize("metric", ["stale_facts", "contradicted_facts", "hard_stop_slips"])
def test_summaries_that_state_nothing_show_no_wrong_statement(metric: str) -> None:
    """Nobody could have seen one; a summary that states one fact, be it wrong, is enough to look at."""
    silent = conversation("a", [0.0] * 10)
    assert isinstance(judgement(silent, metric).reasons[0], NoSummaryStatesFact | NoSummaryStatesChange)
    assert judgement(conversation("a", [0.0] * 9 + [0.05]), metric).value == 0.0
    wrong = dataclasses.replace(silent.turns[0], findings=(finding("x", "contradicted"),))
    assert judgement(dataclasses.replace(silent, turns=(wrong, *silent.turns[1:])), metric).value == 0.0


@pytest.mark.parametrize(("replies", "reasons"), [(10, (AllRepliesEmpty(),)), (9, ()), (0, ())])
def test_empty_replies_show_no_breach(replies: int, reasons: tuple[Reason, ...]) -> None:
    """All of them, in all repeats, whatever the summaries say."""
    case = silenced(flat("a", replies_total=20), replies)
    assert case_value("breaches", [case]).reasons == reasons
    assert case_value("breaches", [case]).best == (None if reasons else 0.0)
    assert case_value("breaches", [case, flat("a", repeat=1)]).best == 0.0


def test_a_case_in_which_most_replies_say_nothing_does_not_pass() -> None:
    """Half of them may; one repeat is enough. Replies to interludes say nothing about it."""
    assert verdict(silenced(flat("a"), 5)) == "PASS"
    assert verdict(silenced(flat("a"), 6)) == "CAUTION"
    judged = judge_case([flat("a"), silenced(flat("a", repeat=1))], GATE, TODAY, READ)
    assert (judged.verdict, judged.doubts) == ("CAUTION", (Speechless(),))
    quiet = silenced(flat("a"), 6)
    turns = [dataclasses.replace(turn, own=not turn.silent) for turn in quiet.turns]
    assert judge_case([dataclasses.replace(quiet, turns=tuple(turns))], GATE, TODAY, READ).doubts == ()


def cut(case: CaseAssessment, replies: int = 10) -> CaseAssessment:
    """The first replies were cut off by the token limit, every summary is whole."""
    turns = [dataclasses.replace(turn, truncated=("dialogue",) * (turn.turn <= replies)) for turn in case.turns]
    return dataclasses.replace(case, turns=tuple(turns))


@pytest.mark.parametrize("metric", ["breaches", "severe_contradictions", "k_conflict"])
def test_replies_that_are_all_cut_off_clear_of_nothing(metric: str) -> None:
    """All of them, in all repeats: what would have followed nobody knows."""
    every = cut(flat("a"))
    assert (judgement(every, metric).value, judgement(every, metric).reasons) == (None, (AllRepliesCut(),))
    assert judgement(cut(flat("a"), 9), metric).value == 0.0
    assert case_value(metric, [every, flat("a", repeat=1)]).best == 0.0
    assert judgement(every, "recall_at_t10").value == 1.0


def test_what_replies_show_before_they_are_cut_off_counts() -> None:
    """A breach, and contradictions in 3 of 9 pairs; these do not make the breaches green."""
    assert judgement(cut(flat("a", events=[event("breaches")])), "breaches").verdict == "FAIL"
    contradicting = cut(flat("a", contradictions=3))
    assert judgement(contradicting, "k_conflict").value == pytest.approx(1 / 3)
    assert judgement(contradicting, "breaches").value is None


def test_a_recording_without_replies_shows_no_breach() -> None:
    """Not even in one of the repeats: then nobody knows."""
    unheard = flat("a", pairs=0)
    unheard = dataclasses.replace(
        unheard, conflict=dataclasses.replace(unheard.conflict, reason=NoConflictRate.NO_REPLIES)
    )
    for repeats in ([unheard], [flat("a"), unheard]):
        value = case_value("breaches", repeats)
        assert (value.best, value.reasons) == (None, (RepliesNotRecorded(),))
    assert case_value("breaches", [flat("a", pairs=0)]).best == 0.0


# -- boundaries


@pytest.mark.parametrize(("turns", "groups"), [((2, 3), 1), ((2, 4), 2), ((4, 3, 2), 1), ((2, 2), 1)])
def test_turns_in_a_row_are_one_group(turns: tuple[int, ...], groups: int) -> None:
    """Neighbours are; with one turn between them they are not; their order in the record does not matter."""
    found = [alarm("lost", "open", turn=turn, fact="a") for turn in turns]
    assert count_findings([flat("x", alarms=found)])[AlarmState.OPEN][0] == groups


def test_groups_are_those_of_one_thing_in_one_repeat() -> None:
    """Other rules, other earlier turns and other words are other things; so is another repeat."""
    found = [
        alarm("conflict", "open", earlier_turn=1),
        alarm("conflict", "open", earlier_turn=2),
        alarm("recommends", "open", rule="no aspirin"),
        alarm("omits", "open", rule="no aspirin"),
    ]
    case = flat("x", alarms=found)
    assert count_findings([case])[AlarmState.OPEN][0] == 4
    assert count_findings([case, case])[AlarmState.OPEN][0] == 8


@pytest.mark.parametrize(("rate", "expected"), [(None, "PASS"), (0.80, "PASS"), (0.801, "CAUTION")])
def test_more_than_four_fifths_never_told_is_no_pass(rate: float | None, expected: str) -> None:
    """The mean over all summaries of all repeats."""
    case = flat("a")
    scores = dataclasses.replace(NOTHING, hallucinated_rate=rate)
    turns = tuple(dataclasses.replace(turn, extended=scores) for turn in case.turns)
    assert verdict(dataclasses.replace(case, turns=turns)) == expected


def test_an_outage_in_one_repeat_is_an_outage() -> None:
    """Whichever of them it was."""
    runs = [flat("a"), flat("a", repeat=1, incomplete="timeout")]
    for repeats in (runs, runs[::-1]):
        assert judge_case(repeats, GATE, TODAY).verdict == "INCOMPLETE"


def test_an_open_event_of_a_metric_that_is_not_severe_is_caution() -> None:
    """An invention that would change treatment leaves the case unsettled, a minor one does not."""
    assert verdict(flat("a", events=[event("inventions", "open")])) == "UNSETTLED"
    assert verdict(flat("a", events=[event("minor_inventions", "open")])) == "CAUTION"


def test_a_waiver_of_another_case_or_of_a_pass_is_not_used() -> None:
    """Only a FAIL of its own case is turned."""
    waived = gate(waivers=(WAIVER,))
    assert judge_case([flat("b", 0.5)], waived, TODAY).verdict == "FAIL"
    assert judge_case([flat("a")], waived, TODAY).waiver is None
    assert judge_case([flat("a", 0.5)], waived, TODAY).waiver == WAIVER
    assert judge_case([flat("a", 0.75)], waived, TODAY).waiver is None


def test_each_event_is_collected_once() -> None:
    """The same one in two repeats is one; another turn, fact, kind or text makes it another."""
    first = event("stale_facts", kind="stale")
    others = [
        dataclasses.replace(first, **change)
        for change in ({"turn": 4}, {"fact": "b"}, {"kind": "lost"}, {"text": "y"}, {"earlier_turn": 1})
    ]
    runs = [flat("a", events=[first, *others]), flat("a", repeat=1, events=[first, event("breaches")])]
    assert len(events_of("stale_facts", runs)) == 6
    assert [item.metric for item in events_of("breaches", runs)] == ["breaches"]


def test_conflict_tells_its_pairs_or_why_there_is_none() -> None:
    """Over all repeats."""
    two = [flat("a", contradictions=1, suspected=2), flat("a", repeat=1, pairs=8, contradictions=1)]
    value = case_value("k_conflict", two)
    assert (value.best, value.worst) == (pytest.approx(2 / 17), pytest.approx(4 / 17))
    assert value.reasons == (Pairs(contradictions=2, pairs=17),)
    assert case_value("k_conflict", [flat("a", pairs=0)]).reasons == (NoAdvicePair(read=True),)
    assert case_value("k_conflict", [flat("a", pairs=1)]).reasons == (Pairs(contradictions=0, pairs=1),)


def test_a_projects_own_figure_is_averaged_and_fails_by_itself() -> None:
    """0.2 and 0.4 make 0.3; what no scorer gave is not evaluated."""
    runs = [flat("a", scores=(("own.tone", 0.2),)), flat("a", repeat=1, scores=(("own.tone", 0.4),))]
    value = case_value("own.tone", runs)
    assert (value.best, value.worst, value.reasons) == (pytest.approx(0.3), pytest.approx(0.3), ())
    assert case_value("own.tone", [flat("a")]).reasons == (NoScorer(),)
    limits = GATE.metrics["recall_at_t10"].model_validate({**RECALL, "pass": "> 0.5", "caution": "> 0.4"})
    own = gate(metrics=GATE.metrics | {"own.tone": limits})
    assert judge_case(runs, own, TODAY).verdict == "FAIL"
    assert judge_case(runs, own, TODAY).diagnosed == RemembersBut("own.tone")


@pytest.mark.parametrize(
    ("text", "status", "evaluated"),
    [
        ("sertraline 100 mg", "absent", False),  # the new dose is never stated: nobody can say that it is not stale
        ("sertraline 100 mg", "retained", True),
        ("sertraline 100 mg", "contradicted", True),
        ("sertraline 50 mg", "absent", True),  # it has ended, and the summary speaks of something else
    ],
)
def test_a_changed_fact_must_be_stated_to_be_current(text: str, status: str, evaluated: bool) -> None:
    """Of a fact that changed something has to be said; of one that ended nothing need be."""
    case = flat("a")
    changed = dataclasses.replace(finding("s", None), text=text, status=status, replaced=("sertraline 50 mg",))
    case = dataclasses.replace(case, turns=tuple(dataclasses.replace(t, findings=(changed,)) for t in case.turns))
    assert case_value("stale_facts", [case]).best == (0.0 if evaluated else None)
    assert case_value("contradicted_facts", [case]).best == 0.0
