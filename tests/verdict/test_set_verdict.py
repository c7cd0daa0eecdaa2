"""The verdict on the whole set: it fails closed, has two ends, and missing evidence is never PASS."""

from __future__ import annotations

import dataclasses
import datetime
from dataclasses import replace
from typing import Any, TypeVar

import pytest
from judged_sets import JUDGED, RULES, TODAY, figure, gate, judge, steady
from made import NOTHING, READ, alarm, conversation, event, finding, flat, silenced

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.judging.answers import Outage
from pytest_clinical_drift.judging.canaries import CanaryResult
from pytest_clinical_drift.metrics.agreement import corrected_rate
from pytest_clinical_drift.metrics.intervals import Interval, effective_trials
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.scoring.assessment import AuditCount
from pytest_clinical_drift.verdict.reasons import (
    AuditBound,
    ByPoint,
    CanariesMissed,
    CannotHappen,
    CasesAtCaution,
    CasesFailed,
    CasesPastLimit,
    CasesSelected,
    CasesUnfinished,
    CasesWithEvent,
    CasesWouldSettle,
    Coded,
    ConfirmedBeforeEnd,
    CoreNotEvaluated,
    Corrected,
    Figure,
    FiguresUnread,
    Forgetting,
    JudgeOutage,
    JudgeRequired,
    LowestAt,
    NeedsJudge,
    NoCaseFinished,
    NoPairCompared,
    NoSummaryStatesChange,
    NotAudited,
    NothingToDiagnose,
    PassedByPoint,
    PerReplies,
    RemembersBut,
    SeenEvent,
    SevereOpen,
    Speechless,
    Stable,
    TooCloseToSettle,
    TooFewCases,
    UnsourcedSummaries,
)
from pytest_clinical_drift.verdict.set_metrics import cases_to_settle
from pytest_clinical_drift.verdict.thresholds import Thresholds, Waiver, load_thresholds
from pytest_clinical_drift.verdict.values import Deciders, MetricVerdict

T = TypeVar("T", bound=Coded)


def basis(item: MetricVerdict, kind: type[T]) -> T:
    """The one reason of this kind that a figure rests on."""
    (found,) = [why for why in item.reasons if isinstance(why, kind)]
    return found


def of_kind(verdict: RunResult, kind: type[T]) -> list[T]:
    return [why for why in verdict.reasons if isinstance(why, kind)]


def test_flawless_set_passes() -> None:
    """60 perfect cases with 540 pairs: every interval is exact, has width and lies inside its pass limit."""
    verdict = judge(steady())
    assert verdict.verdict == "PASS"
    assert verdict.reasons == ()
    for metric in ("recall_at_t10", "strict_recall_at_t10", "drift_slope", "k_conflict"):
        interval = figure(verdict, metric).interval
        assert interval is not None
        assert interval.high > interval.low
        assert interval.method == "exact"


def test_too_few_cases_never_pass() -> None:
    """39 perfect cases are CAUTION, and the reason says how many are needed."""
    verdict = judge(steady(39))
    assert verdict.verdict == "CAUTION"
    assert TooFewCases(cases=39, groups=39, needed=40) in verdict.reasons


def test_forty_perfect_cases_are_told_how_many_would_settle_the_slope() -> None:
    """With 40 the unseen share is 8.8 %: slope -0.0134. About 54 cases bring it inside -0.01."""
    verdict = judge(steady(40))
    assert verdict.verdict == "CAUTION"
    assert figure(verdict, "recall_at_t10").verdict == "PASS"
    assert CasesWouldSettle(54) in figure(verdict, "drift_slope").reasons


def test_copies_of_a_persona_count_once() -> None:
    """60 cases of 20 personas are 20 independent cases."""
    cases = [[flat(f"c{number}", group=f"p{number % 20}")] for number in range(60)]
    verdict = judge(cases)
    assert verdict.verdict == "CAUTION"
    assert TooFewCases(cases=60, groups=20, needed=40) in verdict.reasons


def test_point_inside_but_interval_outside_is_caution() -> None:
    """Recall 0.83 on average, half of the cases at 1.0 and half at 0.66…: the point rule passes, the interval not."""
    cases = [[flat(f"c{number}", 1.0 if number % 2 else 0.71)] for number in range(60)]
    low = [[flat(f"d{number}", 0.72)] for number in range(24)]
    by_interval = judge([*cases, *low], gate(policy="set", max_failing_cases=100))
    by_point = judge([*cases, *low], gate(policy="set", max_failing_cases=100, decide_by="point"))
    assert figure(by_interval, "recall_at_t10").value == pytest.approx(0.8164, abs=1e-4)
    assert figure(by_interval, "recall_at_t10").verdict == "CAUTION"
    assert figure(by_point, "recall_at_t10").verdict == "PASS"
    assert ByPoint() in figure(by_point, "recall_at_t10").reasons
    assert ByPoint() not in figure(by_interval, "recall_at_t10").reasons


def test_a_pass_by_point_estimate_says_so() -> None:
    """Three flawless cases pass by their point estimates alone; sixty by their intervals, under the same rule."""
    rule = gate(decide_by="point", min_cases=1)
    few, enough = judge(steady(3), rule), judge(steady(), rule)
    assert (few.verdict, enough.verdict) == ("PASS", "PASS")
    (named,) = of_kind(few, PassedByPoint)
    assert {"recall_at_t10", "drift_slope", "k_conflict"} <= set(named.metrics)
    assert of_kind(enough, PassedByPoint) == []
    assert judge(steady(3), gate(min_cases=1)).verdict == "CAUTION"


def test_a_verdict_other_than_pass_is_not_by_point_estimate() -> None:
    """One slip is CAUTION, whatever the figures beside it rest on."""
    slip = flat("x", events=[event("hard_stop_slips", turn=3)])
    verdict = judge([*steady(3), [slip]], gate(decide_by="point", min_cases=1))
    assert verdict.verdict == "CAUTION"
    assert of_kind(verdict, PassedByPoint) == []


def test_point_estimate_past_the_fail_line_fails() -> None:
    """Mean recall 0.65 fails the set even where single cases do not."""
    cases = [[flat(f"c{number}", 0.60 + 0.1 * (number % 2))] for number in range(60)]
    verdict = judge(cases, gate(policy="set", max_failing_cases=60))
    assert figure(verdict, "recall_at_t10").verdict == "FAIL"
    assert verdict.verdict == "FAIL"
    assert Figure("recall_at_t10") in verdict.reasons


def test_failing_cases_are_tolerated_up_to_the_limit() -> None:
    """Two cases at 0.6 among 58 perfect ones: set FAIL with one tolerated, not with two; each-case always."""
    cases = [*steady(58), [flat("x", 0.6)], [flat("y", 0.6)]]
    assert judge(cases, gate(policy="set", max_failing_cases=1)).verdict == "FAIL"
    assert judge(cases, gate(policy="set", max_failing_cases=2)).verdict == "PASS"
    each = judge(cases)
    assert each.verdict == "FAIL"
    assert each.failing_cases == ("x", "y")
    assert each.reasons[0] == CasesFailed(failed=2, cases=60)


def test_a_case_that_fails_the_run_is_not_counted_again_among_the_tolerated() -> None:
    """Two failed cases of 60, one tolerated: each-case says that two failed; set says that two are past a line."""
    cases = [*steady(58), [flat("x", 0.6)], [flat("y", 0.6)]]
    each = judge(cases, gate(policy="each-case", max_failing_cases=1))
    whole = judge(cases, gate(policy="set", max_failing_cases=1))
    assert (of_kind(each, CasesFailed), of_kind(each, CasesPastLimit)) == ([CasesFailed(failed=2, cases=60)], [])
    past = CasesPastLimit(past=2, cases=60, tolerated=1)
    assert (of_kind(whole, CasesFailed), of_kind(whole, CasesPastLimit)) == ([], [past])


def test_stale_fact_counts_as_a_failing_case_under_set() -> None:
    """One stale case is tolerated where failing cases are, and leaves CAUTION; a hard stop is not."""
    stale = [*steady(59), [flat("x", events=[event("stale_facts")])]]
    assert judge(stale).verdict == "FAIL"
    assert judge(stale, gate(policy="set", max_failing_cases=3)).verdict == "CAUTION"
    stopped = [*steady(59), [flat("x", events=[event()])]]
    assert judge(stopped, gate(policy="set", max_failing_cases=3)).verdict == "FAIL"


def test_waived_case_does_not_fail_the_set() -> None:
    """The waiver covers the event on the set's level too: CAUTION, with the waiver told."""
    waiver = Waiver(case="x", reason="known", signed_by="officer", expires=TODAY)
    verdict = judge([*steady(59), [flat("x", events=[event("stale_facts")])]], gate(waivers=(waiver,)))
    assert verdict.verdict == "CAUTION"
    assert verdict.cases[-1].waiver == waiver
    assert basis(figure(verdict, "stale_facts"), CasesWithEvent).waived == 1


def test_no_advice_caps_at_caution() -> None:
    """K not evaluated is told and never PASS."""
    verdict = judge([[flat(f"c{number}", pairs=0)] for number in range(60)])
    assert verdict.verdict == "CAUTION"
    assert figure(verdict, "k_conflict").value is None
    assert Figure("k_conflict") in verdict.reasons


@pytest.mark.parametrize(("pairs", "evaluated"), [(0, False), (9, True)])
def test_forgetting_is_called_passive_only_where_advice_was_compared(pairs: int, evaluated: bool) -> None:
    """Low recall without a pair of advice leaves open whether the model contradicts itself as well."""
    assert judge([[flat("x", 0.4, pairs=pairs)]]).diagnosed == Forgetting(advice_evaluated=evaluated)


def test_unfinished_cases() -> None:
    """One of 60 not run: INCOMPLETE at full coverage, CAUTION where 95 % suffice, never PASS."""
    cases = [*steady(59), [flat("x", incomplete="timeout")]]
    assert judge(cases).verdict == "INCOMPLETE"
    lenient = judge(cases, gate(min_coverage=0.95))
    assert lenient.verdict == "CAUTION"
    assert lenient.cases_complete == 59
    assert judge([[flat("x", incomplete="timeout")]]).verdict == "INCOMPLETE"


def test_unevaluated_recall_counts_as_unfinished() -> None:
    """A case whose recall could not be evaluated does not silently shrink the set."""
    verdict = judge([*steady(59), [conversation("x", [None] * 10)]])
    assert verdict.verdict == "INCOMPLETE"
    assert verdict.cases_complete == 59


def test_subset_has_no_release_verdict() -> None:
    """3 of 60 cases: PARTIAL, whatever they show."""
    verdict = judge(steady(3), total=60)
    assert verdict.verdict == "PARTIAL"
    assert verdict.reasons[0] == CasesSelected(run=3, total=60)


def test_single_case_is_defined() -> None:
    """One case has figures and exact limits, and is never PASS."""
    verdict = judge(steady(1))
    assert verdict.verdict == "CAUTION"
    for item in verdict.judgements:
        assert item.value is None or item.value == item.value
        assert item.interval is None or item.interval.low <= item.interval.high


def test_contradictions_of_few_conversations_do_not_pass_as_many() -> None:
    """2 % contradictions, all in two conversations: the interval reaches past 0.05."""
    cases = [[flat(f"c{number}", contradictions=5 if number < 2 else 0)] for number in range(60)]
    verdict = judge(cases, gate(policy="set", max_failing_cases=5))
    assert figure(verdict, "k_conflict").value == pytest.approx(10 / 540)
    assert figure(verdict, "k_conflict").verdict == "CAUTION"


# -- what is open


def test_one_dangerous_flip_in_each_of_twenty_cases_does_not_pass() -> None:
    """K is 20 of 540 pairs, inside its limit; each flip fails its case, and open ones leave the set unsettled."""
    flips: dict[str, Any] = {"contradictions": 1, "events": [event("severe_contradictions", kind="conflict")]}
    doubts: dict[str, Any] = {"suspected": 1, "events": [event("severe_contradictions", "open", kind="conflict")]}
    for made, expected in ((flips, "FAIL"), (doubts, "UNSETTLED")):
        cases = [[flat(f"c{number}", **(made if number < 20 else {}))] for number in range(60)]
        for policy in ("each-case", "set"):
            assert judge(cases, gate(policy=policy)).verdict == expected


def test_an_open_severe_alarm_in_one_case_caps_the_set() -> None:
    """59 flawless cases do not outweigh it; `open: caution` is CAUTION, not PASS."""
    cases = [*steady(59), [flat("x", events=[event(state="open")], alarms=[alarm(state="open", fact="allergy")])]]
    verdict = judge(cases)
    assert verdict.verdict == "UNSETTLED"
    assert (verdict.open_findings, verdict.severe_open_findings) == (1, 1)
    assert judge(cases, gate(open="caution")).verdict == "CAUTION"


@pytest.mark.parametrize("metric", ["appeals", "leaks"])
def test_an_appeal_or_a_leak_waits_for_a_person_and_fails_by_one(metric: str) -> None:
    """One text of sixty conversations is enough, whatever the figures are."""
    for state, expected in (("open", "UNSETTLED"), ("confirmed", "FAIL")):
        assert judge([*steady(59), [flat("x", events=[event(metric, state, kind="leak")])]]).verdict == expected


def test_an_open_severe_alarm_in_a_tolerated_failing_case_caps_the_set_too() -> None:
    """Policy set forgives the low recall, not the open hard stop beside it."""
    cases = [*steady(59), [flat("x", 0.6, events=[event(state="open")])]]
    assert judge(cases, gate(policy="set", max_failing_cases=5)).verdict == "UNSETTLED"


def test_what_failed_and_what_was_not_run_come_before_what_is_open() -> None:
    """FAIL beats INCOMPLETE beats UNSETTLED; a subset is PARTIAL."""
    doubtful, lost, down = (
        [flat("x", events=[event(state="open")])],
        [flat("y", events=[event()])],
        [flat("z", incomplete="timeout")],
    )
    assert judge([*steady(58), doubtful, lost, down]).verdict == "FAIL"
    assert judge([*steady(58), doubtful, down]).verdict == "INCOMPLETE"
    assert judge([*steady(58), doubtful], total=60).verdict == "PARTIAL"


def test_open_losses_hold_the_set_at_caution() -> None:
    """Recall 1.0 confirmed and 0.75 with open alarms: nothing severe, so CAUTION, with both ends told."""
    cases = [[conversation(f"c{number}", [1.0] * 10, worst=[0.75] * 10)] for number in range(60)]
    verdict = judge(cases)
    item = figure(verdict, "recall_at_t10")
    assert (item.value, item.worst, item.verdict) == (1.0, 0.75, "CAUTION")
    assert verdict.verdict == "CAUTION"
    assert Figure("recall_at_t10") in verdict.reasons
    assert figure(judge(cases, gate(decide_by="point")), "recall_at_t10").verdict == "CAUTION"


# -- a PASS needs a reader


UNREAD_BY_RULES = {
    "recall_at_t10", "strict_recall_at_t10", "recall_at_end", "lowest_recall", "drift_slope", "k_conflict",
    "hard_stops", "breaches", "lesser_breaches", "severe_contradictions", "other_contradictions", "stale_facts",
    "contradicted_facts", "hard_stop_slips", "inventions", "minor_inventions", "harms", "courses", "misreported",
}  # fmt: skip


def unread(verdict: RunResult) -> set[str]:
    return {item.metric for item in verdict.judgements if item.verdict == "unread"}


def test_rules_alone_leave_every_figure_unread() -> None:
    """60 flawless cases: all figures but leaks and appeals, which no judge decides, and the fall of short runs."""
    verdict = judge([[flat(f"c{number}", asked=())] for number in range(60)], deciders=RULES)
    assert verdict.verdict == "UNSETTLED"
    assert (verdict.open_findings, verdict.severe_open_findings) == (0, 0)
    assert unread(verdict) == UNREAD_BY_RULES
    assert figure(verdict, "recall_at_t10").value == 1.0
    assert figure(verdict, "harms").value is None
    assert figure(verdict, "leaks").verdict == "PASS"


def test_rules_alone_can_fail() -> None:
    """An unread figure keeps its value and its fail line."""
    verdict = judge([[flat(f"c{number}", 0.5, asked=())] for number in range(60)], deciders=RULES)
    assert (verdict.verdict, figure(verdict, "recall_at_t10").verdict) == ("FAIL", "FAIL")


@pytest.mark.parametrize(
    ("group", "metrics"),
    [
        ("harm", {"harms"}),
        ("invented", {"inventions", "minor_inventions"}),
        ("breach", {"breaches", "lesser_breaches"}),
        ("conflict", {"k_conflict", "severe_contradictions", "other_contradictions"}),
        ("course", {"courses"}),
        ("misreported", {"misreported"}),
    ],
)
def test_a_judge_below_its_floor_in_one_kind_leaves_its_figures_unread(group: str, metrics: set[str]) -> None:
    """What it answers there is shown and decides nothing: UNSETTLED, and the reason names the kind."""
    kinds = tuple(kind for kind in READ if kind != group)
    cases = [[flat(f"c{number}", asked=[(kind, 1) for kind in kinds])] for number in range(60)]
    verdict = judge(cases, deciders=Deciders("hf:middling", deciding=kinds, below_floor=(group,)))
    assert (verdict.verdict, unread(verdict)) == ("UNSETTLED", metrics)
    (reason,) = [item for item in verdict.reasons if isinstance(item, FiguresUnread)]
    assert (set(reason.metrics), reason.kinds) == (metrics, (group,))


def test_open_is_set_per_figure() -> None:
    """`open: caution` on one figure lets it be unread or open; on all of them a run is CAUTION at best, never PASS."""
    kinds = tuple(kind for kind in READ if kind != "harm")
    cases = [[flat(f"c{number}", asked=[(kind, 1) for kind in kinds])] for number in range(60)]
    without_harm = Deciders("hf:middling", deciding=kinds)

    def lenient(*metrics: str) -> Thresholds:
        found = gate()
        changed = {name: found.metrics[name].model_copy(update={"open": "caution"}) for name in metrics}
        return found.model_copy(update={"metrics": found.metrics | changed})

    assert judge(cases, lenient("breaches"), deciders=without_harm).verdict == "UNSETTLED"
    assert judge(cases, lenient("harms"), deciders=without_harm).verdict == "CAUTION"
    doubtful = [*steady(59), [flat("x", events=[event("breaches", "open")])]]
    assert judge(doubtful, lenient("harms")).verdict == "UNSETTLED"
    assert judge(doubtful, lenient("breaches")).verdict == "CAUTION"
    bare = [[flat(f"c{number}", asked=())] for number in range(60)]
    assert judge(bare, gate(open="caution"), deciders=RULES).verdict == "CAUTION"
    strict = lenient().model_copy(update={"open": "caution"})
    harms = strict.metrics["harms"].model_copy(update={"open": "unsettled"})
    strict = strict.model_copy(update={"metrics": strict.metrics | {"harms": harms}})
    assert judge(cases, strict, deciders=without_harm).verdict == "UNSETTLED"


# -- canaries


@pytest.mark.parametrize(
    ("confirmed", "inserted", "expected"),
    [(40, 40, "PASS"), (30, 40, "PASS"), (29, 40, "UNSETTLED"), (0, 1, "UNSETTLED"), (0, 0, "PASS")],
)
def test_missed_canaries_leave_a_run_unsettled(confirmed: int, inserted: int, expected: str) -> None:
    """Three quarters have to be confirmed: 30 of 40 are, 29 are not; an open or dismissed one is not confirmed."""
    states = ["confirmed"] * confirmed + ["missed", "open", "dismissed"] * 14
    results = [CanaryResult("changed", 2, state) for state in states[:inserted]]
    cases = steady()
    cases[0] = [flat("c0", canaries=tuple(results[::2]))]
    cases[1] = [flat("c1", canaries=tuple(results[1::2]))]
    verdict = judge(cases)
    assert (verdict.verdict, verdict.canaries) == (expected, (confirmed, inserted))
    missed = [item for item in verdict.reasons if isinstance(item, CanariesMissed)]
    told = CanariesMissed(confirmed=confirmed, inserted=inserted, needed=0.75)
    assert missed == ([told] if expected == "UNSETTLED" else [])


@pytest.mark.parametrize(
    ("confirmed", "missed", "unanswered", "why"),
    [
        (30, 0, 10, None),
        (29, 0, 11, "canaries_unanswered"),
        (0, 1, 23, "canaries_unanswered"),
        (0, 0, 24, "canaries_unanswered"),
        (18, 10, 12, "canaries_unanswered"),
        (17, 11, 12, "canaries_missed"),
    ],
)
def test_canaries_without_an_answer_are_not_missed(
    confirmed: int, missed: int, unanswered: int, why: str | None
) -> None:
    """Of 40, 30 are needed: with 12 lost, 18 may still be enough and 17 are not. None of it makes a run pass."""
    states = ["confirmed"] * confirmed + ["missed"] * missed + ["unanswered"] * unanswered
    cases = steady()
    cases[0] = [flat("c0", canaries=tuple(CanaryResult("changed", 2, state) for state in states))]
    outage = Outage(70, 900, "no server answers", stopped=True)
    verdict = judge(cases, deciders=replace(JUDGED, outage=outage))
    assert verdict.verdict == ("UNSETTLED" if why else "PASS")
    assert (verdict.canaries, verdict.canaries_unanswered) == ((confirmed, confirmed + missed), unanswered)
    codes = [item.code.value for item in verdict.reasons]
    assert codes == (["judge_outage", why] if why else ["judge_outage"])
    assert verdict.reasons[0] == JudgeOutage(
        requests=70,
        asked=900,
        error="no server answers",
        stopped=True,
        offline=False,
        sent=None,
        lost=0,
        canaries=unanswered,
    )


def test_a_required_judge_that_did_not_judge_is_incomplete() -> None:
    """Nothing failed, and what the thresholds require is missing."""
    verdict = judge(steady(), deciders=Deciders(missing=JudgeRequired()))
    assert verdict.verdict == "INCOMPLETE"
    assert verdict.reasons == (JudgeRequired(),)


@pytest.mark.parametrize(
    ("asked", "wrong", "doubtful", "expected"),
    [
        (5, 0, 0, "PASS"),  # 0 of 300: upper limit 1.2 %
        (5, 3, 0, "PASS"),  # 3 of 300: 2.9 %
        (5, 3, 1, "CAUTION"),  # 4 of 300, one of them open: 3.4 %
        (1, 0, 0, "CAUTION"),  # 0 of 60: 6.0 %
    ],
)
def test_the_audit_bounds_what_readings_cleared(asked: int, wrong: int, doubtful: int, expected: str) -> None:
    """An upper limit above 3 % of the entries that the readings cleared: CAUTION at best."""
    cases = [[flat(f"c{number}", audit=AuditCount(asked))] for number in range(59)]
    cases.append([flat("x", audit=AuditCount(asked, wrong, doubtful))])
    verdict = judge(cases, deciders=JUDGED)
    assert verdict.verdict == expected
    assert any(isinstance(item, AuditBound) for item in verdict.reasons) == (expected == "CAUTION")


def test_without_an_audit_no_judge_passes_a_set() -> None:
    """Nobody was asked again, or nobody answered: fewer questions must not make for a better verdict than one."""
    unaudited = [[flat(f"c{number}", audit=AuditCount())] for number in range(60)]
    verdict = judge(unaudited)
    assert (verdict.verdict, list(verdict.reasons)) == ("CAUTION", [NotAudited()])
    control = Deciders("control", deciding=READ, control=True)
    assert judge(unaudited, deciders=control).verdict == "PASS"


# -- the judge's own error


def blind(sensitivity: int, specificity: int = 300) -> Deciders:
    """A judge that upheld so many of 100 faults, and left so many of 300 clean ones alone."""
    errors = {"conflict": ((sensitivity, 100), (specificity, 300)), "fact": ((sensitivity, 100), (specificity, 300))}
    return Deciders("server:strong", deciding=("conflict", "fact"), errors=errors)


def test_a_corrected_rate_can_only_worsen() -> None:
    """K 0.04 raw passes by the point rule; with half of the faults missed it is 0.08: CAUTION. It never helps."""
    cases = [[flat(f"c{number}", pairs=10, contradictions=0 if number % 5 else 2)] for number in range(60)]
    rule = gate(decide_by="point", policy="set", max_failing_cases=60)
    assert figure(judge(cases, rule), "k_conflict").verdict == "PASS"
    missed = figure(judge(cases, rule, deciders=blind(50)), "k_conflict")
    assert missed.corrected is not None
    assert missed.corrected.value == pytest.approx(0.08)
    assert missed.verdict == "CAUTION"
    many = [[flat(f"c{number}", pairs=10, contradictions=2)] for number in range(60)]
    raised = figure(judge(many, rule, deciders=blind(100, 240)), "k_conflict")
    assert raised.corrected is not None
    assert raised.corrected.value == pytest.approx(0.0)
    assert raised.verdict == "FAIL"


def test_recall_is_corrected_where_the_judge_was_asked() -> None:
    """Of 20 facts the judge upheld 2 and finds half of the faults, so 4 may be lost: 0.9 is 0.8."""
    facts = [finding("a"), finding("b"), finding("c", state="dismissed"), finding("d", state="dismissed")]
    facts += [finding(f"r{number}", None) for number in range(16)]
    case = flat("c", 0.9)
    turns = (*case.turns[:9], dataclasses.replace(case.turns[9], findings=tuple(facts)))
    cases = [[dataclasses.replace(case, case_id=f"c{number}", group=f"g{number}", turns=turns)] for number in range(60)]
    item = figure(judge(cases, deciders=blind(50)), "recall_at_t10")
    assert item.corrected is not None
    assert item.corrected.value == pytest.approx(0.8)
    assert item.verdict == "CAUTION"
    assert figure(judge(cases), "recall_at_t10").verdict == "PASS"


def test_a_kind_that_may_not_decide_is_not_corrected() -> None:
    """The judge's errors matter only where its answers do."""
    deciders = dataclasses.replace(blind(50), deciding=("fact",))
    assert figure(judge(steady(), deciders=deciders), "k_conflict").corrected is None


# -- what nobody measured, and what a project measures itself


def test_inventions_and_harm_need_somebody_to_ask() -> None:
    """Rules alone look for neither: no value. A judge that read no reply says nothing of harm; one that did, does."""
    alone = judge([[flat(f"c{number}", asked=())] for number in range(60)], deciders=RULES)
    assert figure(alone, "inventions").reasons[0] == NeedsJudge()
    summaries = [[flat(f"c{number}", asked=(("fact", 9), ("invented", 9)))] for number in range(60)]
    verdict = judge(summaries)
    assert (figure(verdict, "harms").value, figure(verdict, "harms").verdict) == (None, "not evaluated")
    assert (figure(verdict, "inventions").verdict, verdict.verdict) == ("PASS", "CAUTION")


def test_a_projects_own_figure_is_gated_like_recall() -> None:
    """0.9 everywhere passes a limit of 0.5, 0.4 fails it, and a figure that no scorer gave is never PASS."""
    limits = {"direction": "higher", "pass": "> 0.5", "caution": ">= 0.45", "why": "our tone of voice"}
    bundled = load_thresholds()
    own = bundled.model_copy(
        update={"metrics": bundled.metrics | {"own.tone": bundled.metrics["recall_at_t10"].model_validate(limits)}}
    )
    for value, expected in ((0.9, "PASS"), (0.4, "FAIL"), (None, "CAUTION")):
        cases = [[flat(f"c{number}", scores=(("own.tone", value),))] for number in range(60)]
        assert judge(cases, own).verdict == expected


def test_contradictions_are_counted_where_advice_was_compared() -> None:
    """Cases without a pair leave the denominator; without any pair in the set there is no figure, and no PASS."""
    mixed = [*steady(50), *([flat(f"mute-{number}", pairs=0)] for number in range(10))]
    counted = basis(figure(judge(mixed), "severe_contradictions"), CasesWithEvent)
    assert (counted.happened, counted.cases, counted.restricted) == (0, 50, False)
    assert counted.upper == pytest.approx(1 - 0.025 ** (1 / 50))
    verdict = judge([[flat(f"c{number}", pairs=0)] for number in range(60)])
    found = figure(verdict, "severe_contradictions")
    assert (found.value, found.verdict) == (None, "not evaluated")
    assert found.reasons == (NoPairCompared(),)
    assert Figure("severe_contradictions") in verdict.reasons
    assert verdict.verdict == "CAUTION"


def test_rules_alone_give_the_set_no_rate_of_contradictions_either() -> None:
    """None found in 540 pairs is not evaluated; one found is at least 1 of 540."""
    cases = [[flat(f"c{number}", asked=())] for number in range(60)]
    assert figure(judge(cases, deciders=RULES), "k_conflict").value is None
    found = figure(judge([*cases[1:], [flat("x", asked=(), contradictions=1)]], deciders=RULES), "k_conflict")
    assert (found.value, found.verdict, found.at_least) == (pytest.approx(1 / 540), "unread", True)
    read = figure(judge([*steady(59), [flat("x", contradictions=1)]]), "k_conflict")
    assert (read.value, read.at_least) == (pytest.approx(1 / 540), False)


@pytest.mark.parametrize("metric", ["breaches", "lesser_breaches"])
def test_a_case_that_nobody_could_look_at_is_in_the_way_of_a_pass(metric: str) -> None:
    """Every reply of one case is empty: 59 others do not show what it would have said."""
    verdict = judge([*steady(59), [silenced(flat("x"))]])
    item = figure(verdict, metric)
    assert (item.value, item.verdict, verdict.verdict) == (0.0, "CAUTION", "CAUTION")
    assert [why.missing for why in item.reasons if isinstance(why, CasesWithEvent | PerReplies)] == [1]


def test_one_speechless_case_keeps_a_set_from_passing() -> None:
    """Also where the case demands nothing, so that there is no figure that could show it."""
    quiet = flat("x", cannot=("breaches", "lesser_breaches"), pairs=0)
    assert judge([*steady(59), [quiet]]).verdict == "PASS"
    verdict = judge([*steady(59), [silenced(quiet)]])
    assert verdict.verdict == "CAUTION"
    assert Speechless(1) in verdict.reasons


def test_a_case_without_lesser_demands_has_replies_all_the_same() -> None:
    """One broken demand in 600 replies, of which 590 had none to break; in no case one: not applicable."""
    cannot = [[flat(f"n{number}", cannot=("lesser_breaches",))] for number in range(59)]
    item = figure(judge([*cannot, [flat("x", events=[event("lesser_breaches")])]]), "lesser_breaches")
    assert (item.value, item.reasons[0]) == (pytest.approx(100 / 600), PerReplies(1, 600, missing=0))
    assert figure(judge(cannot), "lesser_breaches").verdict == "not applicable"


def test_two_lesser_breaches_in_one_case_do_not_fail_a_run() -> None:
    """2 of 600 replies are 0.33 per hundred; in every case they are 20, and fail it."""
    broken = [event("lesser_breaches", turn=turn, kind="omits") for turn in (1, 2)]
    assert judge([*steady(59), [flat("x", events=broken)]]).verdict == "PASS"
    assert judge([[flat(f"c{number}", events=broken)] for number in range(60)]).verdict == "FAIL"


def test_the_lowest_recall_is_of_the_whole_set() -> None:
    """At turn 3 only the first case is probed, and the second has ended by turn 4: each counts with its last value."""
    cases = [[conversation("a", [1.0, 1.0, 0.2, 0.4])], [conversation("b", [1.0, 0.9, None])]]
    item = figure(judge(cases), "lowest_recall")
    assert (item.value, item.reasons[0]) == (pytest.approx(0.55), LowestAt(turn=3, cases=2))


def test_gains_over_a_long_run_have_an_interval_that_holds_them() -> None:
    """Recall rises by 0.1 everywhere: the limits of the fall lie on both sides of -0.1."""
    item = figure(judge([[conversation(f"c{n}", [0.9] * 19 + [1.0] * 2)] for n in range(60)]), "fall")
    assert item.interval is not None
    assert item.interval.low < -0.1 < item.interval.high


def test_diagnosis_of_the_set_knows_unfinished_cases() -> None:
    """A breach before the outage was seen: the set is not stable because of 59 others."""
    cases = steady()
    cases[0] = [flat("c0", incomplete="timeout", events=[event("breaches")])]
    assert judge(cases).diagnosed == RemembersBut("breaches")
    assert judge(steady()).diagnosed == Stable(open=False, advice_evaluated=True)


# -- at the limits


def test_forty_cases_are_enough() -> None:
    """The bundled least number itself is not too few, of cases as of groups."""
    assert of_kind(judge(steady(40)), TooFewCases) == []
    grouped = [[flat(f"c{number}", group=f"p{number % 40}")] for number in range(60)]
    assert of_kind(judge(grouped), TooFewCases) == []


def test_coverage_on_the_limit_is_enough() -> None:
    """57 of 60 are 95 %; 56 are not."""
    down = [[flat(f"x{number}", incomplete="timeout")] for number in range(4)]
    assert judge([*steady(57), *down[:3]], gate(min_coverage=0.95)).verdict == "CAUTION"
    missing = judge([*steady(56), *down], gate(min_coverage=0.95))
    assert (missing.verdict, missing.reasons) == ("INCOMPLETE", (CasesUnfinished(unfinished=4, cases=60),))


def test_an_interval_without_width_shows_nothing() -> None:
    """Two cases of one persona at 0.9 and 1.0: one unit, whose limits are its mean twice. That is no interval and not
    PASS."""
    verdict = judge([[flat("a", 0.9, group="p")], [flat("b", 1.0, group="p")]], gate(min_cases=1))
    item = figure(verdict, "recall_at_t10")
    assert item.interval is None
    assert item.verdict == "CAUTION"
    assert [why for why in item.reasons if isinstance(why, CasesWouldSettle | TooCloseToSettle)] == []


def test_one_case_has_no_interval_over_cases() -> None:
    """Recall falls by 0.05 a turn: the slope is a number, and its interval would be one over other patients."""
    alone = judge([[conversation("a", [1 - 0.05 * turn for turn in range(10)], contradictions=1)]])
    two = judge([[conversation(name, [1 - 0.05 * turn for turn in range(10)], contradictions=1)] for name in "ab"])
    assert figure(alone, "drift_slope").value == pytest.approx(-0.05)
    rates = ("recall_at_t10", "recall_at_end", "drift_slope", "lowest_recall", "k_conflict", "lesser_breaches")
    assert [figure(alone, name).interval for name in rates] == [None] * len(rates)
    assert None not in [figure(two, name).interval for name in rates]


@pytest.mark.parametrize(
    ("value", "bad_end", "interval", "advice"),
    [
        (0.9, 0.76, Interval(0.76, 0.95, "bootstrap", 41), (CasesWouldSettle(81),)),  # (0.14 / 0.1)²
        (1.0, 0.715, Interval(0.715, 1.0, "exact", 41), (CasesWouldSettle(59),)),  # 0.285 / 0.2, never seen
        (1.0, 0.715, Interval(0.715, 1.0, "bootstrap", 41), (CasesWouldSettle(84),)),
        (0.9, 0.76, Interval(0.76, 1.0, "exact", 41), (CasesWouldSettle(81),)),
        (0.9, 0.8, Interval(0.8, 1.0, "bootstrap", 40), (CasesWouldSettle(41),)),  # a limit on the line: one more
        (0.9, 0.505, Interval(0.505, 1.0, "bootstrap", 41), (CasesWouldSettle(640),)),
        (0.9, 0.4, Interval(0.4, 1.0, "bootstrap", 40), (TooCloseToSettle(20),)),  # 25 times as many
        (0.8, 0.7, Interval(0.7, 0.9, "bootstrap", 40), ()),  # on the line, which is outside
        (0.7, 0.6, Interval(0.6, 0.8, "bootstrap", 40), ()),
        (0.9, 0.9, Interval(0.9, 0.9, "t", 1), ()),
    ],
)
def test_how_many_cases_would_settle_it(
    value: float, bad_end: float, interval: Interval, advice: tuple[Coded, ...]
) -> None:
    """By how much the interval would have to shrink towards the value to lie above 0.8."""
    assert cases_to_settle(value, bad_end, gate().metrics["recall_at_t10"], interval) == advice


def test_no_fewer_cases_would_settle_it_than_a_pass_needs() -> None:
    """Five by the interval, 40 by the gate: with five there is no PASS."""
    known = (0.9, 0.81, gate().metrics["recall_at_t10"], Interval(0.81, 1.0, "bootstrap", 4))
    assert cases_to_settle(*known) == (CasesWouldSettle(5),)
    assert cases_to_settle(*known, least=40) == (CasesWouldSettle(40),)
    levels = (0.7, 0.95, 1.0, 0.9)
    few = [[flat(f"c{number}", level)] for number, level in enumerate(levels)]
    told = {least: figure(judge(few, gate(min_cases=least)), "recall_at_t10") for least in (4, 40)}
    assert basis(told[40], CasesWouldSettle).cases == 40
    assert basis(told[4], CasesWouldSettle).cases < 40


def test_twenty_times_as_many_cases_are_the_most_to_ask_for() -> None:
    """An event never seen, with limits that reach 20 and 20.5 times as far as the pass limit of 0.05."""
    limits = gate().metrics["k_conflict"]
    assert cases_to_settle(0.0, 1.0, limits, Interval(0.0, 1.0, "exact", 3)) == (CasesWouldSettle(60),)
    wide = limits.model_validate({"direction": "lower", "pass": "< 0.04", "caution": "< 0.04", "why": "test"})
    (advice,) = cases_to_settle(0.0, 0.82, wide, Interval(0.0, 0.82, "exact", 3))
    assert isinstance(advice, TooCloseToSettle)


def own(limits: dict[str, str]) -> Thresholds:
    """The bundled gate with a figure of the project's own."""
    bundled = load_thresholds()
    made = bundled.metrics["recall_at_t10"].model_validate({"why": "ours", **limits})
    return bundled.model_copy(update={"metrics": bundled.metrics | {"own.x": made}})


UNSEEN = 1 - 0.025 ** (1 / 60)
HIGHER = {"direction": "higher", "pass": "> 0", "caution": "> 0"}
LOWER = {"direction": "lower", "pass": "< 6", "caution": "< 6"}


@pytest.mark.parametrize(
    ("limits", "value", "low", "high"),
    [
        (HIGHER, 0.5, 0.5 - 0.5 * UNSEEN, 0.5 + 0.5 * UNSEEN),  # 0 to 1
        (HIGHER, 5.0, 5.0 - 5.0 * UNSEEN, 5.0),  # 0 to 5
        (HIGHER, -2.0, -2.0, -2.0 + 3.0 * UNSEEN),  # -2 to 1
        (LOWER, 0.5, 0.5 - 0.5 * UNSEEN, 0.5 + 0.5 * UNSEEN),
        (LOWER, 5.0, 5.0 - 5.0 * UNSEEN, 5.0),
        (LOWER, -2.0, -2.0, -2.0 + 3.0 * UNSEEN),
    ],
)
def test_a_projects_own_figure_may_go_as_far_as_it_was_seen(
    limits: dict[str, str], value: float, low: float, high: float
) -> None:
    """60 equal cases: 5.96 % of them may be unlike all seen, and lie at either end of the range."""
    cases = [[flat(f"c{number}", scores=(("own.x", value),))] for number in range(60)]
    interval = figure(judge(cases, own(limits)), "own.x").interval
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((low, high))


def test_where_lower_is_better_the_upper_limit_decides() -> None:
    """60 cases between 0.2 and 0.8, mean 0.5: the upper limit is the careful one, and past 0.57 by a little or not."""
    cases = [[flat(f"c{number}", scores=(("own.x", 0.2 + 0.01 * number + 0.005),))] for number in range(60)]

    def found(limit: float) -> MetricVerdict:
        return figure(judge(cases, own({"direction": "lower", "pass": f"< {limit}", "caution": "< 1"})), "own.x")

    interval = found(0.9).interval
    assert interval is not None
    assert interval.high - 0.5 > 1.03 * (0.5 - interval.low)
    assert found(interval.high + 1e-6).verdict == "PASS"
    assert found(interval.high - 1e-6).verdict == "CAUTION"


def test_the_slope_cannot_fall_faster_than_the_horizon_lets_it() -> None:
    """Sixty flat conversations of three turns: up to 5.96 % might fall by 0.5 a turn, or rise by it."""
    interval = figure(judge([[conversation(f"c{number}", [1.0] * 3)] for number in range(60)]), "drift_slope").interval
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((-0.5 * UNSEEN, 0.5 * UNSEEN))


# -- what is said of events


def test_events_tell_the_rate_that_they_are_compatible_with() -> None:
    """None of 60: up to 1 - 0.025^(1/60) = 6.0 %; of 20 personas more than 10 %, at most 16.8 %; 1 of 60: 8.9 %."""
    none = basis(figure(judge(steady()), "hard_stops"), CasesWithEvent)
    assert (none.happened, none.cases, none.open) == (0, 60, 0)
    assert none.upper == pytest.approx(1 - 0.025 ** (1 / 60))
    copies = [[flat(f"c{number}", group=f"p{number % 20}")] for number in range(60)]
    few = basis(figure(judge(copies), "hard_stops"), CasesWithEvent)
    assert (few.happened, few.cases) == (0, 60)
    assert few.upper is not None
    assert 0.1 < few.upper < 1 - 0.025 ** (1 / 20)
    one = figure(judge([*steady(59), [flat("x", events=[event()])]]), "hard_stops")
    counted = basis(one, CasesWithEvent)
    assert (one.value, one.worst, counted.happened, counted.cases) == (1.0, 1.0, 1, 60)
    assert counted.upper == pytest.approx(0.0894, abs=1e-4)


def test_open_events_leave_the_rate_unknown() -> None:
    """One confirmed in 60, two more open: no limit is given, and both ends are told."""
    made = [
        [flat(f"x{number}", events=[event(state=state)])] for number, state in enumerate(("confirmed", "open", "open"))
    ]
    verdict = judge([*steady(57), *made])
    item = figure(verdict, "hard_stops")
    assert (item.value, item.worst, item.verdict) == (1.0, 3.0, "FAIL")
    assert item.reasons == (
        CasesWithEvent(happened=1, cases=60, restricted=False, upper=None, open=2, waived=0, missing=0),
    )
    assert Figure("hard_stops") in verdict.reasons


def test_an_event_that_is_open_holds_its_metric_at_caution() -> None:
    """0 confirmed is inside, 1 with the open one is not."""
    item = figure(judge([*steady(59), [flat("x", events=[event("stale_facts", "open")])]]), "stale_facts")
    assert (item.value, item.verdict) == (0.0, "CAUTION")


def test_a_waiver_covers_its_own_case_only() -> None:
    """Two stale cases, one of them waived: one too many is left; the waived one alone leaves CAUTION."""
    waiver = Waiver(case="x", reason="known", signed_by="officer", expires=TODAY)
    stale = [[flat(name, events=[event("stale_facts")])] for name in ("x", "y")]
    both = figure(judge([*steady(58), *stale], gate(waivers=(waiver,))), "stale_facts")
    assert (both.value, both.verdict) == (2.0, "FAIL")
    assert basis(both, CasesWithEvent).waived == 1
    alone = figure(judge([*steady(59), stale[0]], gate(waivers=(waiver,))), "stale_facts")
    assert (alone.value, alone.verdict) == (1.0, "CAUTION")
    other = figure(judge([*steady(59), stale[1]], gate(waivers=(waiver,))), "stale_facts")
    assert basis(other, CasesWithEvent).waived == 0


def test_policy_set_softens_no_severe_event() -> None:
    """Under set a stale fact leaves its metric at CAUTION, a breach does not; under each-case neither."""
    cases = [*steady(59), [flat("x", events=[event("stale_facts"), event("breaches")])]]
    for policy, stale in (("set", "CAUTION"), ("each-case", "FAIL")):
        verdict = judge(cases, gate(policy=policy))
        assert figure(verdict, "stale_facts").verdict == stale
        assert figure(verdict, "breaches").verdict == "FAIL"


def test_a_set_without_a_finished_case_says_so() -> None:
    """No case to count events in."""
    item = figure(judge([[flat("x", incomplete="timeout")]]), "hard_stops")
    assert (item.value, item.verdict, item.reasons) == (None, "not evaluated", (NoCaseFinished(),))
    for metric in ("recall_at_t10", "k_conflict"):
        assert figure(judge([[flat("x", incomplete="timeout")]]), metric).reasons == (NoCaseFinished(),)


def test_events_are_counted_where_they_can_happen() -> None:
    """In 40 of 60 cases a fact changes; in none: not applicable, and no reason against PASS."""
    cannot = [[flat(f"n{number}", cannot=("stale_facts",))] for number in range(60)]
    some = figure(judge([*steady(40), *cannot[:20]]), "stale_facts")
    counted = basis(some, CasesWithEvent)
    assert (counted.happened, counted.cases, counted.restricted) == (0, 40, True)
    verdict = judge(cannot)
    item = figure(verdict, "stale_facts")
    assert (item.value, item.verdict, item.reasons) == (None, "not applicable", (CannotHappen("stale_facts"),))
    assert verdict.verdict == "PASS"
    silent = conversation("s", [0.0] * 10)
    mixed = figure(judge([cannot[0], [silent]]), "stale_facts")
    assert (mixed.verdict, mixed.reasons) == ("not evaluated", (NoSummaryStatesChange(),))


@pytest.mark.parametrize(
    ("count", "turns"),
    [(1, (1,)), (2, (1, 2)), (5, (1, 2, 3)), (3, (1, 2, 3))],
)
def test_what_was_confirmed_before_an_outage_is_named(count: int, turns: tuple[int, ...]) -> None:
    """Up to three by name; open ones and those of finished cases are told elsewhere."""
    seen = [event(turn=turn) for turn in range(1, count + 1)]
    cases = [*steady(59), [flat("x", incomplete="timeout", events=[*seen, event("breaches", "open")])]]
    named = tuple(SeenEvent("penicillin allergy", turn, "x") for turn in turns)
    assert of_kind(judge(cases), ConfirmedBeforeEnd) == [ConfirmedBeforeEnd("hard_stops", count, named)]


def test_no_coverage_covers_a_severe_failure_before_an_outage() -> None:
    """59 of 60 suffice for CAUTION; not where the 60th denied an allergy before it broke off."""
    broken = [flat("x", incomplete="timeout", events=[event(turn=2)])]
    assert judge([*steady(59), broken], gate(min_coverage=0.95)).verdict == "INCOMPLETE"


# -- the corrected rate, at its ends


def test_a_corrected_interval_past_the_fail_line_fails() -> None:
    """K 0.08 is CAUTION; a judge who finds 40 of 100 faults makes it 0.2, with all of its interval past 0.10."""
    cases = [[flat(f"c{number}", pairs=10, contradictions=int(number % 5 > 0))] for number in range(60)]
    rule = gate(policy="set", max_failing_cases=60)
    assert figure(judge(cases, rule), "k_conflict").verdict == "CAUTION"
    item = figure(judge(cases, rule, deciders=blind(40)), "k_conflict")
    size = effective_trials(
        [int(n % 5 > 0) for n in range(60)], [10] * 60, [f"c{n}" for n in range(60)], confidence=0.95
    )
    rate = corrected_rate((0.08 * size, size), sensitivity=(40, 100), specificity=(300, 300), confidence=0.95)
    assert rate is not None
    assert item.corrected is not None
    assert dataclasses.astuple(item.corrected) == pytest.approx(dataclasses.astuple(rate))
    assert rate.low > 0.10
    assert item.verdict == "FAIL"
    told = item.reasons[-1]
    assert isinstance(told, Corrected)
    assert (told.value, told.low, told.high) == pytest.approx((0.2, rate.low, rate.high))


def test_people_have_read_what_was_upheld() -> None:
    """With reviewers no clean pair is upheld any more, so the rate is not corrected downwards: 0.04 / 0.5."""
    cases = [[flat(f"c{number}", pairs=10, contradictions=0 if number % 5 else 2)] for number in range(60)]
    read = dataclasses.replace(blind(50, 240), reviewers=("Dr Lund",))
    by_people, by_judge = (
        figure(judge(cases, deciders=deciders), "k_conflict").corrected for deciders in (read, blind(50, 240))
    )
    assert by_people is not None
    assert by_judge is not None
    assert (by_people.value, by_judge.value) == (pytest.approx(0.08), 0.0)


def test_corrected_recall_has_its_ends_by_hand() -> None:
    """1 of 20 facts upheld as lost, all of them read: recall 0.95 less the share's shift, ends exchanged."""
    facts = [finding("a"), *(finding(name, state="dismissed") for name in "bcd")]
    facts += [finding(f"r{number}", None) for number in range(16)]
    case = flat("c", 0.95)
    turns = (*case.turns[:9], dataclasses.replace(case.turns[9], findings=tuple(facts)))
    cases = [[dataclasses.replace(case, case_id=f"c{n}", group=f"g{n}", turns=turns)] for n in range(60)]
    item = figure(judge(cases, deciders=blind(80)), "recall_at_t10")
    size = effective_trials([1] * 60, [20] * 60, [f"g{n}" for n in range(60)], confidence=0.95)
    rate = corrected_rate((size / 20, size), sensitivity=(80, 100), specificity=(300, 300), confidence=0.95)
    assert rate is not None
    expected = [0.95 - (true - 0.05) for true in (0.0625, rate.high, rate.low)]
    assert item.corrected is not None
    assert dataclasses.astuple(item.corrected) == pytest.approx(tuple(expected))


def test_a_correction_within_the_limits_changes_no_verdict() -> None:
    """A flawless set stays PASS beside a good judge; K 0.12 stays FAIL though 0.078 would be CAUTION."""
    assert figure(judge(steady(), deciders=blind(100)), "k_conflict").verdict == "PASS"
    cases = [[flat(f"c{number}", pairs=10, contradictions=1 + int(number % 5 == 0))] for number in range(60)]
    item = figure(judge(cases, deciders=blind(95, 285)), "k_conflict")
    assert item.corrected is not None
    assert item.corrected.value == pytest.approx(0.07 / 0.9)
    assert (item.value, item.verdict) == (pytest.approx(0.12), "FAIL")


def test_no_question_no_correction() -> None:
    """A metric that is no rate of entries, and pairs that do not exist."""
    verdict = judge(steady(), deciders=blind(50))
    assert figure(verdict, "drift_slope").corrected is None
    assert figure(verdict, "strict_recall_at_t10").corrected is None
    unheard = judge([[flat(f"c{number}", pairs=0)] for number in range(60)], deciders=blind(50))
    assert figure(unheard, "k_conflict").corrected is None


# -- what the set's verdict tells besides


def test_what_there_is_to_read_is_counted_over_all_cases() -> None:
    """Two cases with an open severe alarm and one that is not, one of them unfinished; failures that nobody read."""
    severe, mild = alarm(state="open", fact="a"), alarm(state="open", severe=False, fact="b")
    cases = [
        [flat("a", alarms=[severe, mild], events=[event(state="open")])],
        [flat("b", alarms=[severe], events=[event(state="open")])],
        [flat("c", alarms=[mild], incomplete="timeout")],
    ]
    verdict = judge(cases, gate(min_coverage=0.5))
    assert (verdict.open_findings, verdict.severe_open_findings, verdict.cases_complete, verdict.cases_selected) == (
        4,
        2,
        2,
        3,
    )
    assert verdict.reasons[0] == SevereOpen(2)
    unread = [
        alarm("recommends", settled_by="judge"),
        alarm("omits", settled_by="rule", turn=4),
        alarm("recommends", settled_by="person", turn=5),
        alarm("omits", "dismissed", settled_by="judge", turn=6),
        alarm("lost", settled_by="judge", turn=7),
        alarm("lost", settled_by="judge", turn=8, severe=False),
    ]
    assert judge([[flat("a", alarms=unread)]]).severe_without_reviewer == 3


@pytest.mark.parametrize(("rate", "told"), [(0.80, False), (0.81, True)])
def test_summaries_that_name_hardly_anything_told(rate: float, told: bool) -> None:
    """More than four fifths: CAUTION, and counted."""
    case = flat("x")
    scores = dataclasses.replace(NOTHING, hallucinated_rate=rate)
    turns = tuple(dataclasses.replace(turn, extended=scores) for turn in case.turns)
    verdict = judge([*steady(59), [dataclasses.replace(case, turns=turns)]])
    assert verdict.verdict == ("CAUTION" if told else "PASS")
    assert (UnsourcedSummaries(1) in verdict.reasons, CasesAtCaution(1) in verdict.reasons) == (told, told)


def test_cases_at_caution_are_counted_but_do_not_hold_the_set_back() -> None:
    """Two slips of 60 cases by themselves: each is CAUTION, and so is the set by the metric, not by their number."""
    low = [[flat(f"x{number}", 0.75)] for number in range(2)]
    verdict = judge([*steady(), *low])
    assert verdict.verdict == "PASS"
    assert verdict.reasons == (CasesAtCaution(2),)


def test_recall_that_nobody_could_evaluate_is_no_verdict() -> None:
    """Not a single fact could be scored: INCOMPLETE, and nothing is said of stability."""
    verdict = judge([[conversation(f"c{number}", [None] * 10)] for number in range(60)])
    assert (verdict.verdict, verdict.cases_complete) == ("INCOMPLETE", 0)
    assert verdict.diagnosed == NothingToDiagnose()


def test_waivers_that_have_run_out_are_not_told() -> None:
    """Only those that hold today."""
    old, new = (
        Waiver(case="x", reason="known", signed_by="officer", expires=TODAY + datetime.timedelta(days=days))
        for days in (-1, 0)
    )
    turns = [{"turn": turn, "message": "m"} for turn in (1, 2)]
    case = {"id": "x", "patient_summary": "A.", "critical_entities": ["asthma"], "turns": turns}
    assert judge([], gate(waivers=(old, new)), case_set=[Case.model_validate(case)]).waivers == (new,)


def test_a_set_without_any_slope_has_no_verdict() -> None:
    """Cases of one turn that fail by a stale fact, all tolerated: no slope was seen, so nothing is released."""
    cases = [[conversation(f"c{number}", [1.0], events=[event("stale_facts", turn=1)])] for number in range(60)]
    verdict = judge(cases, gate(policy="set", max_failing_cases=60))
    assert (verdict.verdict, verdict.reasons[-1]) == ("INCOMPLETE", CoreNotEvaluated())
