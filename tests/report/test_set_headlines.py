"""What is said of a set: its headline, the command to run next, and its reasons in words."""

from __future__ import annotations

import dataclasses
from dataclasses import replace

import pytest
from judged_sets import JUDGED, RULES, figure, gate, judge, steady
from made import alarm, conversation, event, flat

from pytest_clinical_drift.judging.answers import Outage
from pytest_clinical_drift.judging.canaries import CanaryResult
from pytest_clinical_drift.report.headlines import next_step
from pytest_clinical_drift.report.headlines import run_headline as headline
from pytest_clinical_drift.report.reasons import figure_sentence, reason_texts, rests_on
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.verdict.reasons import JudgeBelowFloor, JudgeRequired, QuestionsUnanswered, Verdict
from pytest_clinical_drift.verdict.values import Deciders


def reasons_of(verdict: RunResult) -> tuple[str, ...]:
    """The reasons in words."""
    return tuple(reason_texts(verdict.reasons, verdict.judgements))


def test_a_headline_names_the_rule_that_passed_a_set() -> None:
    """By point estimate: said of a PASS, and of nothing else."""
    rule = gate(decide_by="point", min_cases=1)
    assert (
        headline(judge(steady(3), rule)) == "PASS (judge server:strong; no canaries; by point estimate, not interval)"
    )
    assert headline(judge(steady(), rule)) == "PASS (judge server:strong; no canaries)"
    slip = flat("x", events=[event("hard_stop_slips", turn=3)])
    assert headline(judge([*steady(3), [slip]], rule)) == "CAUTION (judge server:strong; no canaries)"


def test_a_headline_counts_what_is_open() -> None:
    """Findings to read; by rules alone there may be none, and nothing is settled all the same."""
    waiting = [flat("x", events=[event(state="open")], alarms=[alarm(state="open", fact="allergy")])]
    said = headline(judge([*steady(59), waiting]))
    assert said == "UNSETTLED (judge server:strong; no canaries): 1 open finding, 1 severe"
    by_rules = judge([[flat(f"c{number}", asked=())] for number in range(60)], deciders=RULES)
    assert headline(by_rules) == "UNSETTLED (rules only): 0 open findings, 0 severe"
    assert headline(judge(steady(3), total=60)) == "PARTIAL (3 of 60): no release verdict"


def test_a_headline_says_that_the_judge_is_gone() -> None:
    """And not that no canary was tried, where none could be asked about."""
    canaries = tuple(CanaryResult("changed", 2, "unanswered") for _ in range(24))
    outage = Outage(70, 900, "no server answers", stopped=True)
    verdict = judge([[flat("c0", canaries=canaries)], *steady()[1:]], deciders=replace(JUDGED, outage=outage))
    assert "it stopped answering" in headline(verdict)
    assert "no canaries" not in headline(verdict)
    said = "the judge stopped answering: no answer to 70 of 900 requests, the last error: no server answers"
    assert reasons_of(verdict)[0] == said


def test_a_figure_that_decides_is_told_with_both_ends_and_its_interval() -> None:
    """A rate with its interval, of more than one case; what rules found is "at least"; events in how many cases."""
    falling = [1 - 0.05 * turn for turn in range(10)]
    alone = judge([[conversation("a", falling, contradictions=1)]])
    two = judge([[conversation(name, falling, contradictions=1)] for name in "ab"])
    assert "[" not in figure_sentence(figure(alone, "drift_slope"))
    assert "slope β -0.050 [" in figure_sentence(figure(two, "drift_slope"))
    bare = [[flat(f"c{number}", asked=())] for number in range(59)]
    found = judge([*bare, [flat("x", asked=(), contradictions=1)]], deciders=RULES)
    assert figure_sentence(figure(found, "k_conflict")).startswith("K_Conflict at least 0.002 [")
    read = judge([*steady(59), [flat("x", contradictions=1)]])
    assert figure_sentence(figure(read, "k_conflict")).startswith("K_Conflict 0.002 [")
    open_ones = judge([[conversation(f"c{number}", [1.0] * 10, worst=[0.75] * 10)] for number in range(60)])
    assert any("0.75 with open alarms" in reason for reason in reasons_of(open_ones))
    states = ("confirmed", "open", "open")
    stopped = [[flat(f"x{number}", events=[event(state=state)])] for number, state in enumerate(states)]
    said = figure_sentence(figure(judge([*steady(57), *stopped]), "hard_stops"))
    assert said == "hard stops in 1 of 60 finished cases, 3 with open alarms"


def test_a_figure_past_its_fail_line_is_told_with_its_limit() -> None:
    """Mean recall 0.65, its interval, the limit, and how many cases it rests on."""
    cases = [[flat(f"c{number}", 0.60 + 0.1 * (number % 2))] for number in range(60)]
    verdict = judge(cases, gate(policy="set", max_failing_cases=60))
    (told,) = [reason for reason in reasons_of(verdict) if reason.startswith("Recall@T10 0.65 [")]
    assert "(PASS > 0.8; n = " in told


def test_a_figure_without_a_value_is_told_with_the_reason() -> None:
    """Without a pair of advice there is neither a rate of contradictions nor a number of them."""
    verdict = judge([[flat(f"c{number}", pairs=0)] for number in range(60)])
    assert any("K_Conflict not evaluated" in reason for reason in reasons_of(verdict))
    assert "severe contradictions not evaluated: no pair of advice was compared" in reasons_of(verdict)


TRIED = (CanaryResult("removed", 3, "confirmed"),)


def test_the_headline_says_who_decided() -> None:
    """A judge by name, whether canaries were tried, and failures that no person has read."""
    assert headline(judge(steady())) == "PASS (judge server:strong; no canaries)"
    tried = [[flat(f"c{number}", canaries=TRIED)] for number in range(59)]
    assert headline(judge([*tried, [flat("x")]])) == "PASS (judge server:strong)"
    one, two = (dataclasses.replace(JUDGED, judges=count) for count in (1, 2))
    breached = [flat("x", events=[event("breaches")], alarms=[alarm("recommends", settled_by="judge")])]
    assert headline(judge([*tried, breached], deciders=one)) == "FAIL (judge server:strong; one judge, unread)"
    assert headline(judge([*tried, breached], deciders=two)) == "FAIL (judge server:strong; unread)"
    read = [flat("x", events=[event("breaches")], alarms=[alarm("recommends", settled_by="person")])]
    reviewed = dataclasses.replace(one, reviewers=("Dr Lund",))
    assert headline(judge([*tried, read], deciders=reviewed)) == "FAIL (judge server:strong; reviewed by Dr Lund)"


def test_a_judge_that_decides_nothing_is_no_judge() -> None:
    """Below every floor: the headline says that rules alone decided."""
    weak = Deciders("hf:tiny", below_floor=("fact",))
    assert headline(judge(steady(), deciders=weak)).startswith("UNSETTLED (rules only; judge hf:tiny decides nothing;")


@pytest.mark.parametrize(
    ("outage", "step"),
    [
        (None, "the same pytest command with a stronger judge: --drift-judge SPEC"),
        (
            Outage(3, 900, "no server answers", stopped=True),
            "the same command again once the judge is back; answers already stored are not asked for again",
        ),
        (
            Outage(3, 900, "not stored", offline=True),
            "the same command without offline=true; answers already stored are not asked for again",
        ),
    ],
)
def test_what_to_do_after_an_outage(outage: Outage | None, step: str) -> None:
    """A judge that was there and missed every fault is too weak; one that was away is asked again."""
    state = "missed" if outage is None else "unanswered"
    cases = [[flat("c0", canaries=(CanaryResult("changed", 2, state),))], *steady()[1:]]
    verdict = judge(cases, deciders=replace(JUDGED, outage=outage))
    assert verdict.verdict == "UNSETTLED"
    assert next_step(verdict) == f"next: {step}"


@pytest.mark.parametrize(("stopped", "step"), [(True, "the same command again once"), (False, "clinical-drift")])
def test_a_request_lost_on_the_way_to_a_fail_is_no_reason_to_run_it_again(stopped: bool, step: str) -> None:
    """Only a judge that is gone is waited for; after a FAIL with a request lost somewhere, people read."""
    verdict = judge(steady(), deciders=replace(JUDGED, outage=Outage(1, 900, "no answer within 9 s", stopped)))
    failed = verdict.model_copy(update={"verdict": Verdict.FAIL})
    assert next_step(failed).startswith(f"next: {step}")


@pytest.mark.parametrize(
    ("deciders", "model", "step"),
    [
        (Deciders(missing=JudgeRequired()), "m", "the same command with a judge"),
        (
            Deciders("weak", missing=JudgeBelowFloor(("fact",))),
            "m",
            "clinical-drift calibrate with a stronger judge",
        ),
        (
            replace(JUDGED, missing=QuestionsUnanswered(2)),
            "replay:some",
            "the same command again; only what the judge left unanswered",
        ),
        (Deciders(), "m", "the same pytest command with --drift-judge SPEC"),
        (Deciders(reviewers=("Ada",)), "m", "the same pytest command with --drift-judge SPEC"),
    ],
)
def test_what_to_do_next_is_what_can_help(deciders: Deciders, model: str, step: str) -> None:
    """The same command again only where another run may end otherwise; people cannot read for a judge."""
    verdict = judge(steady(), deciders=deciders)
    result = verdict.model_copy(update={"manifest": verdict.manifest.model_copy(update={"model": model})})
    assert next_step(result).startswith(f"next: {step}")


def test_one_case_is_not_one_cases() -> None:
    """Every reason and basis of a set of one case."""
    failing = judge([[flat("a", 0.5, pairs=1, events=[event()])]])
    broken = judge([[flat("a", incomplete="timeout")]])
    said = [*reasons_of(failing), *reasons_of(broken), *(rests_on(item) for item in failing.judgements)]
    assert "1 of 1 case run failed" in said
    assert "1 of 1 case could not be run to the end" in said
    assert "0 of 1 pair" in " ".join(said)
    assert [text for text in said if "1 cases" in text or "1 pairs" in text] == []


def test_a_subset_says_what_came_of_it() -> None:
    """How many failed and how many were not run to the end, each with its number."""
    cases = [[flat("a", 0.5)], [flat("b", incomplete="timeout")], [flat("c", incomplete="timeout")]]
    assert headline(judge(cases, total=60)) == (
        "PARTIAL (3 of 60): no release verdict; 1 case at FAIL and 2 cases not run to the end"
    )
    assert headline(judge(cases[:1], total=60)).endswith("no release verdict; 1 case at FAIL")
    assert reasons_of(judge(cases[:1], total=60))[0] == "1 of 60 cases was run"
    assert reasons_of(judge(steady(2), total=60))[0] == "2 of 60 cases were run"
