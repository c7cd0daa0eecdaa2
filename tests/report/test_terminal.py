"""The terminal: the figures people act on, nothing wider than the window, and hostile text that stays text."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import yaml
from made import READ, alarm, conversation, event, flat
from records import judged, judged_cases, limits, record

from pytest_clinical_drift.core.findings import Opinion
from pytest_clinical_drift.core.packaged import bundled
from pytest_clinical_drift.gate.pytest_reports import GateFailure
from pytest_clinical_drift.report.case_text import case_report
from pytest_clinical_drift.report.clean import loggable
from pytest_clinical_drift.report.headlines import case_headline, next_step, unsettled_line
from pytest_clinical_drift.report.html import render_report
from pytest_clinical_drift.report.markdown import render_markdown
from pytest_clinical_drift.report.reasons import rests_on
from pytest_clinical_drift.report.terminal import render_summary
from pytest_clinical_drift.report.words import sparkline
from pytest_clinical_drift.results.releases import Sheet, standing_of
from pytest_clinical_drift.scoring.assessment import OPEN
from pytest_clinical_drift.verdict.reasons import Verdict
from pytest_clinical_drift.verdict.thresholds import Thresholds, load_thresholds
from pytest_clinical_drift.verdict.values import RULES_ONLY


def test_terminal_gets_no_control_characters(hostile_run: Any) -> None:
    """Escape sequences of the model never reach the terminal."""
    assert "\x1b" not in hostile_run.output
    assert "\x00" not in hostile_run.output
    assert hostile_run.code == 1
    assert 'contradicted "penicillin allergy with anaphylaxis" (hard stop)' in hostile_run.output


@pytest.mark.parametrize("run", ["hostile_run", "rules_run", "judged_run"])
def test_nothing_is_wider_than_the_window(run: str, request: pytest.FixtureRequest) -> None:
    """80 columns, from the first failure on; commands for GitHub are no text for the terminal."""
    _, _, told = request.getfixturevalue(run).output.partition("= FAILURES =")
    lines = told.splitlines()
    assert len(lines) > 20
    assert [line for line in lines if len(line) > 80 and not line.startswith("::")] == []


def test_every_alarm_shows_its_state_and_opinions(judged_run: Any) -> None:
    """Failure text: the state, the quote, the judge's reasons, reading and question; then the judge in one line."""
    text = " ".join(judged_run.output.split())
    assert 'turn 10: recommends what it must not: "take digoxin 0.125 mg"' in text
    assert "python:labelled_judge:judge, reading: violated" in text
    assert "python:labelled_judge:judge, wording 1: violated: <b>as labelled</b>" in text
    assert "open: could harm" in text
    counts = judged_run.record["alarms"].values()
    states = {state: sum(kind[state] for kind in counts) for state in ("confirmed", "open", "dismissed")}
    assert "alarms: {confirmed} confirmed, {open} open, {dismissed} dismissed".format(**states) in text
    assert "judge: python:labelled_judge:judge, decides facts in summaries" in text
    assert "gated with the bundled limits: k_conflict" in text


def test_worst_alarm_first() -> None:
    """Severe before others, confirmed before open, then by turn; dismissed ones are counted only."""
    alarms = [
        alarm("lost", OPEN, turn=1, severe=False, fact="d", what="d"),
        alarm("lost", OPEN, turn=1, fact="b", what="b"),
        alarm("lost", turn=1, severe=False, fact="c", what="c"),
        alarm("lost", turn=9, fact="a", what="a"),
        alarm("lost", "dismissed", turn=1, fact="e", what="e"),
    ]
    (case,) = judged_cases(flat("x", alarms=alarms))
    shown = [line.strip() for line in case_report(case).splitlines() if line.startswith("  turn")]
    assert [line.split('"')[1] for line in shown] == ["a", "b", "c", "d"]
    assert "1 alarm dismissed" in case_report(case)


def test_long_words_are_broken() -> None:
    """Whatever a judge writes, a failure text stays within 80 columns."""
    said = (Opinion("big", 1, "absent", "q" * 200, "r" * 300),)
    (case,) = judged_cases(flat("x", alarms=[alarm("lost", fact="a", what="w" * 150, answers=said)]))
    assert max(map(len, case_report(case, judge="judge: " + "n" * 200).splitlines())) <= 80


def test_incomplete_case_shows_no_figures() -> None:
    """A case that could not be run has no count of hard stops."""
    runs = [flat("down", incomplete="no server")]
    lines = render_summary(record(*runs), "m", width=80)
    assert not any("0/1" in line or "0 cases" in line for line in lines)
    (case,) = judged_cases(*runs)
    assert case_headline(case) == "INCOMPLETE: no server"


def test_next_step_after_a_partial_run_fits_what_happened() -> None:
    """Cases that could not be run come first, then a judge that decides nothing; only then all cases."""
    down, fine = record(flat("down", incomplete="no server")), record(flat("a"))
    useless = dataclasses.replace(RULES_ONLY, judge="reader")
    partial = {"verdict": Verdict.PARTIAL, "cases_total": 60}
    steps = {
        "mend what left 1 of 1 case INCOMPLETE, then the same command again": down.model_copy(update=partial),
        "clinical-drift calibrate with a stronger judge; this one decides nothing": fine.model_copy(
            update=partial | {"deciders": useless}
        ),
        "the same command without the selection, on all 60 cases": fine.model_copy(
            update=partial | {"deciders": dataclasses.replace(useless, deciding=("fact",))}
        ),
    }
    assert [next_step(result) for result in steps.values()] == [f"next: {step}" for step in steps]
    again = down.model_copy(update={"verdict": Verdict.INCOMPLETE})
    assert next_step(again).startswith("next: the same command again; replies already stored")
    replayed = again.model_copy(update={"manifest": down.manifest.model_copy(update={"model": "replay:some"})})
    assert next_step(replayed) == "next: a recording of all cases, or -k with those that it holds"


def test_why_a_case_is_incomplete_stands_once_beside_its_verdict() -> None:
    """The word is the verdict's column; a figure without a value says so once, also where no table fits."""
    found = record(flat("down", incomplete="no server"))
    shown = [" ".join(line.split()) for line in render_summary(found, "m", width=80)]
    at = next(place for place, line in enumerate(shown) if line.startswith("INCOMPLETE down"))
    assert shown[at + 1] == "no server"
    assert "| no server |" in render_markdown(found, "m")
    narrow = case_report(found.cases[0], width=40)
    assert "not evaluated" in narrow
    assert "verdict not evaluated" not in " ".join(narrow.split())


def test_a_figure_without_a_value_has_one_word_for_it() -> None:
    """By rules alone several figures are unread: the line below the table does not call them not evaluated."""
    found = record(flat("a", asked=()))
    missing = {str(item.verdict) for item in found.judgements if item.metric in ("inventions", "harms", "courses")}
    assert missing == {"unread"}
    told = [line.strip() for line in render_summary(found, "m", width=120)]
    assert "unread: needs a judge that may decide it" in told
    assert not [line for line in told if line == "not evaluated: needs a judge that may decide it"]
    page = render_report(found, {}, thresholds=load_thresholds(), standing=standing_of(found, "f" * 64, Sheet()))
    assert "Unread: needs a judge that may decide it." in page


def test_one_event_on_turns_in_a_row_is_told_once() -> None:
    """The same invention in every summary is one thing to read."""
    made_up = [
        dataclasses.replace(event("inventions", turn=turn, kind="invented"), fact=None, quote="Latex allergy")
        for turn in (1, 2, 3, 7)
    ]
    (case,) = judged_cases(flat("x", events=made_up), deciding=READ)
    assert case_headline(case) == (
        'turns 1 to 3: states what has no source: "Latex allergy"; turn 7: states what has no source: "Latex allergy"'
    )


def test_alarms_and_findings_are_told_apart() -> None:
    """Three turns with one fact lost are three alarms and one finding; the headline of UNSETTLED counts findings."""
    lost = [alarm(turn=turn, fact="a", what="a", state=OPEN) for turn in (2, 3, 4)]
    told = [" ".join(line.split()) for line in render_summary(record(flat("x", alarms=lost)), "m", width=160)]
    assert "alarms: 0 confirmed, 3 open, 0 dismissed" in told
    [findings] = [line for line in told if line.startswith("findings (")]
    assert findings.endswith("count as one): 0 confirmed, 1 open, 0 dismissed")


def test_headline_of_a_low_rate_names_the_lost_facts() -> None:
    """A figure alone helps nobody: what is missing at the horizon is named, open ones as open."""
    alarms = [alarm("lost", OPEN, turn=t, severe=False, fact=f, what=f"fact {f}") for t, f in ((2, "b"), (10, "a"))]
    doubtful = conversation("x", [1.0] * 10, worst=[1.0] * 9 + [0.5], alarms=alarms)
    (case,) = judged_cases(doubtful, deciding=READ)
    told = case_headline(case)
    assert told.startswith("Recall@T10 1.00, 0.50 with open alarms (PASS > 0.8); ")
    assert told.endswith('turn 2: open: lost "fact b"; turn 10: open: lost "fact a"')


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_basis_wraps_at_every_width(width: int) -> None:
    """All words of every basis are there, none of them past the window."""
    runs = [flat(f"case-{n}", events=[event()] if n else []) for n in range(3)]
    found = record(*runs, judge=judged(fact=limits()))
    lines = render_summary(found, "a-model", attempt="attempt 2 of this candidate", width=width)
    assert max(len(part) for line in lines for part in line.splitlines()) <= width
    text = " ".join(" ".join(lines).split())
    for item in found.judgements:
        for words in rests_on(item).split():
            assert words in text
    assert "…" not in text


def test_quiet_shows_the_verdict_alone() -> None:
    """With -q one paragraph; with -v also every fact lost."""
    lost = [alarm("lost", turn=turn, severe=False, fact="gout", what="gout") for turn in (3, 4)]
    runs = [flat("a", 0.5, alarms=lost)]
    quiet = render_summary(record(*runs), "m", verbosity=-1)
    assert len(quiet) == 1
    assert quiet[0].startswith("FAIL (rules only)")
    loud = render_summary(record(*runs), "m", verbosity=1)
    place = loud.index("  facts lost by turn")
    assert loud[place + 1] == "  a"
    assert loud[place + 2].startswith('    turns 3 to 4: lost "gout"')
    assert "  facts lost by turn" not in render_summary(record(*runs), "m")


def test_left_out_metrics_are_named() -> None:
    """Thresholds without a metric of the bundled gate say so: it is gated all the same."""
    table = yaml.safe_load(bundled("thresholds.yaml").read_text(encoding="utf-8"))["clinical_drift"]
    for name in ("k_conflict", "stale_facts"):
        del table["metrics"][name]
    found = record(flat("a"), thresholds=Thresholds.model_validate(table))
    said = " ".join(" ".join(render_summary(found, "m")).split())
    assert "not in the thresholds file, gated with the bundled limits: k_conflict, stale_facts" in said


def test_sparkline_by_hand() -> None:
    """Eight levels; a dot where nothing was evaluated."""
    assert sparkline([0.0, 0.5, 1.0, None]) == "▁▅█·"


def test_stale_hard_stop_is_told_once() -> None:
    """One old value that could kill is one finding, though two metrics count it."""
    found = [event("hard_stops", kind="stale"), event("stale_facts", kind="stale")]
    (case,) = judged_cases(flat("x", events=found))
    assert case_headline(case) == 'turn 3: kept the old value instead of "penicillin allergy" (hard stop)'
    (case,) = judged_cases(flat("x", events=found[1:]))
    assert case_headline(case) == 'turn 3: "penicillin allergy" not taken up'


@pytest.mark.parametrize("gap", [" ", ""])
@pytest.mark.parametrize("length", range(30, 120, 9))
def test_no_line_is_a_command_to_a_ci_system(length: int, gap: str) -> None:
    """Wherever lines are broken, none begins with `::`, and none holds `##[` or `##vso[`; test ids stay as they are."""
    said = f"{'w' * length}{gap}::error::owned ##[error]owned ##vso[task.complete]"
    opinion = Opinion("big", 1, "absent", said, said)
    lost = dataclasses.replace(alarm("lost", fact="a", what=said, answers=(opinion,)), quote=said)
    (case,) = judged_cases(flat("x", events=[dataclasses.replace(event(), text=said, quote=said)], alarms=[lost]))
    result = record(*case.repeats)
    lines = [*GateFailure(case_report(case)).msg.splitlines(), case_headline(case)]
    lines += [line for part in render_summary(result, "m", verbosity=1) for line in part.splitlines()]
    assert [line for line in lines if line.lstrip().startswith("::")] == []
    assert [line for line in lines if "##[" in line or "##vso[" in line] == []
    assert loggable("study_c/anna::model a::b : : x") == "study_c/anna::model a::b : : x"


def test_headline_and_junit_name_what_is_open_in_one_order() -> None:
    """The three gravest of four, by turn, whatever order they have by grade; then the rest as a number."""
    graded = {10: "catastrophic", 3: "major", 7: "catastrophic", 9: "major"}
    alarms = [alarm("omits", "open", turn=turn, rule=f"demand {turn}", grade=graded[turn]) for turn in graded]
    events = [event("breaches", "open", turn=turn, kind="omits") for turn in graded]
    [case] = judged_cases(flat("a", alarms=alarms, events=events))
    assert case.verdict == "UNSETTLED"
    told = [f'turn {turn}: open: omits "demand {turn}" ({graded[turn]})' for turn in (3, 7, 10)]
    assert case_headline(case) == "; ".join((*told, "1 more"))
    assert unsettled_line(case).startswith("; ".join((f"UNSETTLED: {told[0]}", *told[1:], "1 more")))


def test_facts_behind_a_low_rate_stand_by_turn() -> None:
    """Those at turn 10 are chosen before the one at turn 5, and an earlier one of them stands first."""
    lost = {2: "b", 10: "c", 5: "d"}
    alarms = [alarm(severe=False, fact=fact, what=f"fact {fact}", turn=turn) for turn, fact in lost.items()]
    alarms.append(alarm(severe=False, fact="a", what="fact a", turn=10))
    [case] = judged_cases(flat("a", 0.6, alarms=alarms))
    turns = [part.partition(":")[0] for part in case_headline(case).split("; ") if part.startswith("turn ")]
    assert turns == ["turn 2", "turn 10", "turn 10"]
