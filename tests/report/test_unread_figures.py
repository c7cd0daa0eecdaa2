"""What nobody has read for is not shown as 0; denominators say what they count."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import pytest
from made import READ, alarm, conversation, event, flat
from records import record

from pytest_clinical_drift.report.compare import render_html
from pytest_clinical_drift.report.evidence_text import alarm_lines
from pytest_clinical_drift.report.figure_table import figure_table
from pytest_clinical_drift.report.html import render_report
from pytest_clinical_drift.report.markdown import render_markdown
from pytest_clinical_drift.report.memory import memory_lines
from pytest_clinical_drift.report.reasons import figure_sentence, reason_texts, rests_on
from pytest_clinical_drift.report.terminal import render_summary
from pytest_clinical_drift.report.words import interval_text, judged_text, worse_text
from pytest_clinical_drift.results.comparing import NamedRun
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.results.releases import Sheet, standing_of
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.verdict.thresholds import load_thresholds
from pytest_clinical_drift.verdict.values import RULES_ONLY, Deciders, MetricVerdict

JUDGE = Deciders("server:big", deciding=READ)


def suspected(case_id: str, metric: str = "breaches") -> CaseAssessment:
    """A reply that rules suspect of breaking a demand."""
    grade = "catastrophic" if metric == "breaches" else "minor"
    found = alarm("omits", "open", turn=3, severe=metric == "breaches", rule="call 999", grade=grade)
    broken = replace(event(metric, "open", kind="omits"), grade=grade)
    return flat(case_id, alarms=[found], events=[broken])


def figure(result: RunResult, metric: str) -> MetricVerdict:
    found = result.judgement(metric)
    assert found is not None
    return found


def sheet_of(result: RunResult) -> str:
    """The page to sign as a reader sees it."""
    page = render_report(result, {}, load_thresholds(), standing_of(result, "f" * 64, Sheet()))
    sheet = re.sub(r"<svg.*?</svg>", "", page.partition('<section class="sheet"')[2].partition("</section>")[0])
    return " ".join(html.unescape(re.sub(r"</?(?!a\b)[^>]+>", " ", re.sub(r"</?a\b[^>]*>", "", sheet))).split())


def test_a_count_that_nobody_read_for_is_unread_and_not_0() -> None:
    """Rules suspect one breach and no contradiction; neither figure is a measured 0, in no report."""
    result = record(suspected("a"), flat("b"))
    breaches, contradictions = figure(result, "breaches"), figure(result, "severe_contradictions")
    assert (breaches.value, breaches.verdict) == (0.0, "unread")  # as the record has it
    assert (judged_text(breaches, of_set=True), worse_text(breaches, of_set=True)) == ("unread", "1 case")
    assert rests_on(breaches).startswith("1 of 2 finished cases with open alarms; not read by")
    assert rests_on(contradictions).startswith("nothing found by rules in 2 finished cases; not read by")
    assert figure_sentence(breaches).startswith("breaches unread: 1 of 2 finished cases with open alarms;")
    assert "breaches nobody has read for it 1 case severe contradictions nobody has read for it –" in sheet_of(result)
    printed = "\n".join(render_summary(result, "made-up", width=160))
    assert re.search(r"^cases with breach +unread$", printed, re.MULTILINE)
    assert re.search(r"^  breaches +unread +1 case ", printed, re.MULTILINE)
    assert "| breaches | unread | 1 case |  | &lt;= 0 |" in render_markdown(result, "made-up")
    [row] = [line for line in figure_table(result.cases[0].judgements, 120) if line.startswith("breaches")]
    assert row.split()[:4] == ["breaches", "unread", "1", "finding"]


def test_a_rate_of_events_that_nobody_read_for_has_no_interval() -> None:
    """No lesser breach is confirmed in 20 replies: 0 per hundred [0, …] would look measured."""
    lesser = figure(record(suspected("a", "lesser_breaches"), flat("b")), "lesser_breaches")
    assert lesser.interval is not None
    assert (judged_text(lesser), worse_text(lesser), interval_text(lesser)) == ("unread", "5.00", "")
    assert rests_on(lesser).startswith("only open alarms in 20 replies; not read by")
    none = figure(record(flat("a"), flat("b")), "lesser_breaches")
    assert rests_on(none).startswith("nothing found by rules in 20 replies; not read by")


def test_a_count_that_was_read_or_found_stays_a_number() -> None:
    """A judge read for it: 0. Rules confirmed one: 1, without a rate that it would be compatible with."""
    read = figure(record(flat("a"), flat("b"), deciders=JUDGE), "breaches")
    assert judged_text(read, of_set=True) == "0 cases"
    assert rests_on(read) == "0 of 2 finished cases; compatible with a true rate up to 84.2%"
    wrong = flat("a", events=[event("contradicted_facts", kind="contradicted")])
    found = figure(record(wrong, flat("b")), "contradicted_facts")
    assert (found.verdict, judged_text(found, of_set=True)) == ("unread", "1 case")
    assert rests_on(found) == "1 of 2 finished cases; not read by a qualified judge or a reviewer"


def test_recall_keeps_its_value_unread() -> None:
    """Rules measure it; only numbers of events that somebody has to find are no figures without a reader."""
    recall = figure(record(flat("a", 0.0)), "recall_at_t10")
    assert (recall.value, judged_text(recall)) == (0.0, "0.00")


@pytest.mark.parametrize(
    ("deciders", "told"), [(RULES_ONLY, "catastrophic 1 open"), (JUDGE, "catastrophic 0 (and 1 open)")]
)
def test_broken_demands_by_grade_are_not_0_where_nobody_read(deciders: Deciders, told: str) -> None:
    """Rules alone confirm no broken demand."""
    [line] = [line for line in alarm_lines(record(suspected("a"), deciders=deciders)) if "by grade" in line]
    assert line == f"broken demands by grade: {told}"


@pytest.mark.parametrize(("deciders", "told"), [(RULES_ONLY, "unread"), (JUDGE, "0 severe, 0 lesser")])
def test_broken_demands_by_turn_are_not_0_where_nobody_read(deciders: Deciders, told: str) -> None:
    """In the terminal and in the dossier's table."""
    long = conversation("a", [1.0] * 25, events=[event("breaches", "open", kind="omits")])
    result = record(long, deciders=deciders)
    lines = [line.strip() for line in memory_lines(result) if "breaches, turns" in line]
    assert lines[0].startswith("breaches, turns 1 to ")
    assert f": {told}, 1 open in " in lines[0]
    page = render_report(result, {}, load_thresholds(), standing_of(result, "f" * 64, Sheet()))
    cells = page.partition("Broken demands by turn")[2].partition("</tr></thead>")[2].partition("</tr>")[0]
    shown = re.findall(r"<td>(\w+)</td>", cells)
    assert shown[:3] == (["unread", "unread", "1"] if deciders is RULES_ONLY else ["0", "0", "1"])


# ---- advice that only rules looked for


def test_rules_that_recognised_no_advice_do_not_say_that_there_was_none() -> None:
    """Somebody who read the replies may say so."""
    unread = figure(record(flat("a", pairs=0, asked=())), "k_conflict")
    told = "the rules recognised no pair of advice to compare, and nobody has read the replies"
    assert rests_on(unread) == told
    read = figure(record(flat("a", pairs=0), deciders=JUDGE), "k_conflict")
    assert rests_on(read) == "no two turns gave advice, so nothing could contradict"
    assert {unread.verdict, read.verdict} == {"not evaluated"}


# ---- what the lines of the charts count


def test_the_legend_says_what_becomes_of_open_findings() -> None:
    """The solid line counts them as stated; without any there is nothing to say."""
    doubtful = record(*(conversation(name, [1.0] * 10, worst=[0.5] * 10) for name in "ab"))
    text = sheet_of(doubtful)
    assert "recall: facts stated at least in part; open findings count as stated (solid)" in text
    assert "recall with open findings counted as lost (dot-dash)" in text
    assert "all facts; open findings count as stated (solid, with the 95 % band)" in text
    assert "all facts with open findings counted as lost (dot-dash)" in text
    settled = record(flat("a")).model_copy(update={"average_recall_curve_critical": (1.0,) * 10})
    plain = sheet_of(settled)
    assert "recall: facts stated at least in part (solid)" in plain
    assert "all facts (solid)" in plain  # of one case there is no band
    assert "count as stated" not in plain
    told = "Open findings count as stated"
    assert told in render_html([NamedRun("a", doubtful)], ())
    assert told not in render_html([NamedRun("a", settled)], ())


# ---- of how many


def test_every_number_of_cases_says_of_which() -> None:
    """Run, finished, where it can happen, in the set; and those that failed severely before their end."""
    lost = {"alarms": [alarm(fact="allergy", what="penicillin allergy")], "events": [event()]}
    down = flat("c", incomplete="no answer", **lost)
    safe = flat("d", cannot=("hard_stops",))
    result = record(flat("a", **lost), flat("b"), down, safe)
    reasons = reason_texts(result.reasons, result.judgements)
    assert reasons[:2] == ["1 of 4 cases run failed", "hard stops in 1 of 2 finished cases where it can happen"]
    text = sheet_of(result)
    assert "In the set Run Finished At FAIL, of those run 4 4 3 1" in text
    severe = "A severe failure is confirmed in 2 of 4 cases (3 finished, 1 failed severely before the end): true rate"
    assert severe in text
    assert rests_on(figure(result, "recall_at_t10")).startswith("n = 3 finished cases")
