"""Verdicts on cases and on the set: worst metric, fails closed, missing evidence is never PASS."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import pytest
from made import conversation, flat

from pytest_clinical_drift.assessment import Breach, CaseAssessment
from pytest_clinical_drift.thresholds import Thresholds, Waiver, load_thresholds
from pytest_clinical_drift.verdict import Judgement, SetVerdict, fails_run, judge_case, judge_set

TODAY = datetime.date(2026, 5, 1)
BREACH = Breach(3, "recommends", "penicillin allergy", "", "take amoxicillin")


def gate(**changes: object) -> Thresholds:
    """The bundled thresholds with some rules of the set, or the policy, changed."""
    bundled = load_thresholds()
    policy = changes.pop("policy", bundled.policy)
    waivers = changes.pop("waivers", ())
    rules = bundled.set.model_copy(update=changes)
    return bundled.model_copy(update={"set": rules, "policy": policy, "waivers": waivers})


def judge(
    cases: Sequence[Sequence[CaseAssessment]], thresholds: Thresholds | None = None, total: int | None = None
) -> SetVerdict:
    thresholds = thresholds or gate()
    verdicts = [judge_case(repeats, thresholds, TODAY) for repeats in cases]
    return judge_set(cases, verdicts, thresholds, total=total or len(cases), today=TODAY)


def figure(verdict: SetVerdict, metric: str) -> Judgement:
    return next(item for item in verdict.judgements if item.metric == metric)


def steady(count: int = 60) -> list[list[CaseAssessment]]:
    return [[flat(f"c{number}")] for number in range(count)]


# -- one case


@pytest.mark.parametrize(
    ("case", "verdict"),
    [
        (flat("a"), "PASS"),
        (flat("a", 0.8), "CAUTION"),
        (flat("a", 0.6), "FAIL"),
        (conversation("a", [1.0 - 0.02 * turn for turn in range(10)]), "CAUTION"),
        (flat("a", contradictions=1), "FAIL"),
        (flat("a", pairs=0), "PASS"),
        (flat("a", hard_stops=("lost",)), "FAIL"),
        (flat("a", slips=("missing once",)), "CAUTION"),
        (flat("a", breaches=(BREACH,)), "FAIL"),
        (flat("a", incomplete="out of memory"), "INCOMPLETE"),
        (conversation("a", [None] * 10), "INCOMPLETE"),
        (conversation("a", [1.0] * 10, strict=[0.1] * 10), "CAUTION"),
    ],
)
def test_case_is_its_worst_metric(case: CaseAssessment, verdict: str) -> None:
    """The worst evaluated metric decides; strict recall alone never fails; an unfinished run is INCOMPLETE."""
    assert judge_case([case], gate(), TODAY).verdict == verdict


def test_repeats_are_averaged_and_events_collected() -> None:
    """Recall 1.0 and 0.5 make 0.75; a hard stop in one of two repeats is a hard stop."""
    judged = judge_case([flat("a"), flat("a", 0.5, repeat=1, hard_stops=("lost",))], gate(), TODAY)
    values = {item.metric: item.value for item in judged.judgements}
    assert values["recall_at_t10"] == 0.75
    assert values["hard_stops"] == 1
    assert judged.hard


def test_waiver_softens_but_never_a_hard_stop() -> None:
    """A signed waiver makes CAUTION of a FAIL, not of a hard stop, and not after its day."""
    waiver = Waiver(case="a", reason="known", signed_by="officer", expires=TODAY)
    assert judge_case([flat("a", 0.5)], gate(waivers=(waiver,)), TODAY).verdict == "CAUTION"
    assert judge_case([flat("a", hard_stops=("lost",))], gate(waivers=(waiver,)), TODAY).verdict == "FAIL"
    later = TODAY + datetime.timedelta(days=1)
    assert judge_case([flat("a", 0.5)], gate(waivers=(waiver,)), later).verdict == "FAIL"


def test_policy_decides_whether_a_case_fails_the_run() -> None:
    """Under set only hard stops and breaches do."""
    low = judge_case([flat("a", 0.5)], gate(), TODAY)
    stopped = judge_case([flat("a", breaches=(BREACH,))], gate(), TODAY)
    assert fails_run(low, gate())
    assert not fails_run(low, gate(policy="set"))
    assert fails_run(stopped, gate(policy="set"))


# -- the whole set


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
    assert "39 cases: fewer than the 40 that a PASS needs" in verdict.reasons


def test_forty_perfect_cases_are_told_how_many_would_settle_the_slope() -> None:
    """With 40 the unseen share is 8.8 %: slope -0.0134. About 54 cases bring it inside -0.01."""
    verdict = judge(steady(40))
    assert verdict.verdict == "CAUTION"
    assert figure(verdict, "recall_at_t10").verdict == "PASS"
    assert "about 54 independent cases would settle it" in figure(verdict, "drift_slope").detail


def test_copies_of_a_persona_count_once() -> None:
    """60 cases of 20 personas are 20 independent cases."""
    cases = [[flat(f"c{number}", group=f"p{number % 20}")] for number in range(60)]
    verdict = judge(cases)
    assert verdict.verdict == "CAUTION"
    assert "60 cases of 20 independent groups: fewer than the 40 that a PASS needs" in verdict.reasons


def test_point_inside_but_interval_outside_is_caution() -> None:
    """Recall 0.83 on average, half of the cases at 1.0 and half at 0.66…: the point rule passes, the interval not."""
    cases = [[flat(f"c{number}", 1.0 if number % 2 else 0.71)] for number in range(60)]
    low = [[flat(f"d{number}", 0.72)] for number in range(24)]
    by_interval = judge([*cases, *low], gate(policy="set", max_failing_cases=100))
    by_point = judge([*cases, *low], gate(policy="set", max_failing_cases=100, decide_by="point"))
    assert figure(by_interval, "recall_at_t10").value == pytest.approx(0.8164, abs=1e-4)
    assert figure(by_interval, "recall_at_t10").verdict == "CAUTION"
    assert figure(by_point, "recall_at_t10").verdict == "PASS"


def test_point_estimate_past_the_fail_line_fails() -> None:
    """Mean recall 0.65 fails the set even where single cases do not."""
    cases = [[flat(f"c{number}", 0.60 + 0.1 * (number % 2))] for number in range(60)]
    verdict = judge(cases, gate(policy="set", max_failing_cases=60))
    assert figure(verdict, "recall_at_t10").verdict == "FAIL"
    assert verdict.verdict == "FAIL"


def test_failing_cases_are_tolerated_up_to_the_limit() -> None:
    """Two cases at 0.6 among 58 perfect ones: set FAIL with one tolerated, not with two; each-case always."""
    cases = [*steady(58), [flat("x", 0.6)], [flat("y", 0.6)]]
    assert judge(cases, gate(policy="set", max_failing_cases=1)).verdict == "FAIL"
    assert judge(cases, gate(policy="set", max_failing_cases=2)).verdict == "PASS"
    each = judge(cases)
    assert each.verdict == "FAIL"
    assert each.failing == ("x", "y")
    assert each.reasons[0] == "2 of 60 cases failed"


def test_stale_fact_counts_as_a_failing_case_under_set() -> None:
    """One stale case is tolerated where failing cases are, and leaves CAUTION; a hard stop is not."""
    stale = [*steady(59), [flat("x", stale=("old dose",))]]
    assert judge(stale).verdict == "FAIL"
    assert judge(stale, gate(policy="set", max_failing_cases=3)).verdict == "CAUTION"
    stopped = [*steady(59), [flat("x", hard_stops=("lost",))]]
    assert judge(stopped, gate(policy="set", max_failing_cases=3)).verdict == "FAIL"


def test_waived_case_does_not_fail_the_set() -> None:
    """The waiver covers the event on the set's level too: CAUTION, with the waiver told."""
    waiver = Waiver(case="x", reason="known", signed_by="officer", expires=TODAY)
    verdict = judge([*steady(59), [flat("x", stale=("old dose",))]], gate(waivers=(waiver,)))
    assert verdict.verdict == "CAUTION"
    assert verdict.waivers == (waiver,)
    assert "1 waived" in figure(verdict, "stale_facts").detail


def test_no_advice_caps_at_caution() -> None:
    """K not evaluated is told and never PASS."""
    verdict = judge([[flat(f"c{number}", pairs=0)] for number in range(60)])
    assert verdict.verdict == "CAUTION"
    assert figure(verdict, "k_conflict").value is None
    assert any("K_Conflict not evaluated" in reason for reason in verdict.reasons)


def test_unfinished_cases() -> None:
    """One of 60 not run: INCOMPLETE at full coverage, CAUTION where 95 % suffice, never PASS."""
    cases = [*steady(59), [flat("x", incomplete="timeout")]]
    assert judge(cases).verdict == "INCOMPLETE"
    lenient = judge(cases, gate(min_coverage=0.95))
    assert lenient.verdict == "CAUTION"
    assert lenient.complete == 59
    assert judge([[flat("x", incomplete="timeout")]]).verdict == "INCOMPLETE"


def test_unevaluated_recall_counts_as_unfinished() -> None:
    """A case whose recall could not be evaluated does not silently shrink the set."""
    verdict = judge([*steady(59), [conversation("x", [None] * 10)]])
    assert verdict.verdict == "INCOMPLETE"
    assert verdict.complete == 59


def test_subset_has_no_release_verdict() -> None:
    """3 of 60 cases: PARTIAL, whatever they show."""
    verdict = judge(steady(3), total=60)
    assert verdict.headline == "PARTIAL (3 of 60): no release verdict"


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
