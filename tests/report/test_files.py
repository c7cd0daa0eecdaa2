"""Files that other tools read: results, junit, markdown, and the comparison of several results."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from made import flat
from records import record
from results_check import check_results_below

from pytest_clinical_drift.cli import main
from pytest_clinical_drift.report.clean import inert
from pytest_clinical_drift.report.compare import render_html, render_markdown
from pytest_clinical_drift.report.json_file import write_results
from pytest_clinical_drift.report.markdown import workflow_commands
from pytest_clinical_drift.results.comparing import NamedRun, paired_differences
from pytest_clinical_drift.results.files import read_results
from pytest_clinical_drift.verdict.thresholds import BaselineRules

ALARM = ("kind", "turn", "fact", "rule", "earlier_turn", "severe", "state", "quote", "reason", "answers")
OPINION = ("judge", "wording", "answer", "quote", "reason")


def test_results_hold_every_alarm_with_its_answers(judged_run: Any) -> None:
    """Fields as documented; verdict words without suffix, the headline with it; reading and question on severe ones."""
    found = judged_run.record
    alarms = [alarm for case in found["cases"] for run in case["repeats"] for alarm in run["alarms"]]
    assert alarms
    assert all(set(ALARM) <= alarm.keys() for alarm in alarms)
    answers = [answer for alarm in alarms for answer in alarm["answers"]]
    assert all(set(OPINION) <= answer.keys() for answer in answers)
    assert {alarm["state"] for alarm in alarms} == {"confirmed", "open", "dismissed"}
    assert all(len(a["answers"]) == 2 for a in alarms if a["kind"] in ("recommends", "omits"))
    assert found["verdict"] == "FAIL"
    assert found["headline"].startswith("FAIL (judge python:labelled_judge:judge; ")
    assert found["limits"]["recall_at_t10"]["pass"] == "> 0.93"
    assert "k_conflict" in found["gated_by_default"]


def test_results_are_read_back(judged_run: Any) -> None:
    """The one reader of results files takes what the writer wrote."""
    found = read_results(judged_run.results)
    assert [case.case_id for case in found.cases] == [case["case_id"] for case in judged_run.record["cases"]]
    assert sum(len(run.alarms) for case in found.cases for run in case.repeats) > 0


def test_same_run_same_file(tmp_path: Path) -> None:
    """Nothing in the file depends on when it was written."""
    texts = [write_results(record(flat("a", 0.9)), tmp_path / name).read_text() for name in ("one", "two")]
    assert texts[0] == texts[1]
    assert json.loads(texts[0])["what_this_means"].startswith("This configuration, on 1 synthetic English case of")


def test_one_case_has_no_interval_in_the_file(tmp_path: Path) -> None:
    """It is null and left out of `confidence_intervals`, as where none could be had; the file keeps to the schema."""
    for name, runs in {"one": [flat("a", 0.9)], "two": [flat("a", 0.9), flat("b", 0.8)]}.items():
        write_results(record(*runs), tmp_path / name)
    assert check_results_below(tmp_path) == 2
    one, two = (json.loads((tmp_path / name / "study_c_results.json").read_text()) for name in ("one", "two"))
    alone, pair = ({item["metric"]: item["interval"] for item in found["judgements"]} for found in (one, two))
    assert alone["drift_slope"] is None
    assert pair["drift_slope"] is not None
    assert one["confidence_intervals"] == {}
    assert "drift_slope" in two["confidence_intervals"]
    assert [(probe["low"], probe["high"]) for probe in one["memory"]["probes"]] == [(None, None)] * 10


def test_junit_is_read_elsewhere(rules_run: Any) -> None:
    """junitparser finds each case and the set; failures carry one line, open alarms stand in what CI pages show."""
    junitparser = pytest.importorskip("junitparser")
    parsed = junitparser.JUnitXml.fromfile(str(rules_run.folder / "j.xml"))
    found = {case.classname: case for suite in parsed for case in suite}
    verdicts = {case["case_id"]: case["verdict"] for case in rules_run.record["cases"]}
    assert set(found) == {f"study_c.{name}" for name in (*verdicts, "whole-set")}
    for name, verdict in verdicts.items():
        failed = [result for result in found[f"study_c.{name}"].result if isinstance(result, junitparser.Failure)]
        assert bool(failed) is (verdict == "FAIL")
        assert all("\n" not in result.message for result in failed)
        shown = found[f"study_c.{name}"].system_out
        told = next(case for case in rules_run.record["cases"] if case["case_id"] == name)
        assert f"alarms_open={sum(a['state'] == 'open' for a in told['repeats'][0]['alarms'])}" in shown
        assert ("open: " in shown) is (verdict != "PASS")
    whole = found["study_c.whole-set"].system_out
    assert "judge_limits=judge: none" in whole
    unread = {item["metric"] for item in rules_run.record["judgements"] if item["verdict"] == "unread"}
    assert "breaches" in unread  # nobody has read for them
    assert "breaches=unread" in whole
    assert not [metric for metric in unread if f"{metric}=0.0" in whole.split()]


def test_junit_keeps_to_the_schema(hostile_run: Any) -> None:
    """The suite carries the model's name; without per-test properties the file is valid by the common schema."""
    etree = pytest.importorskip("lxml.etree")
    tree = etree.parse(str(hostile_run.folder / "j.xml"))
    assert tree.getroot()[0].get("name") == "clinical-drift python-model-make"
    schema = etree.XMLSchema(etree.parse(str(Path(__file__).with_name("junit.xsd"))))
    assert not schema.validate(tree), "per-test properties are outside the schema, so that they can be switched off"
    for properties in tree.iter("properties"):
        properties.getparent().remove(properties)
    assert schema.validate(tree), schema.error_log


@pytest.mark.parametrize("run", ["hostile_run", "judged_run"])
def test_markdown_renders_hostile_text_as_text(run: str, request: pytest.FixtureRequest) -> None:
    """On GitHub the summary goes to the step page; nothing of anybody's text becomes markup."""
    found = request.getfixturevalue(run)
    text = found.markdown
    assert text.startswith("## 🔴 Clinical drift: ")
    assert "FAIL" in text.splitlines()[0]
    assert not re.search(r"<(?!/?sub>)", text)
    assert not re.search(r"(?<!\\)\[link\]", text)
    assert "@everyone" not in text.replace("\\@", "")
    assert "::error title=clinical drift::" in found.output


def test_markdown_states_alarms_judge_and_gaps(judged_run: Any) -> None:
    """State of each severe alarm, the judge's limits in one line, the waiver, what the thresholds leave out."""
    text = judged_run.markdown
    assert "- **confirmed** " in text
    assert "- **open** " in text
    assert text.index("- **confirmed** ") < text.index("- **open** ")
    assert "clears at least" in text
    assert "gated with the bundled limits: k\\_conflict" in text
    assert "waived: bee-venom-betablocker-beekeeper until 2099-01-01" in text


def test_inert_escapes_markdown() -> None:
    """Every character with a meaning in markdown is escaped."""
    assert inert("**a** [b](c) <d> | `e` @f & g") == "\\*\\*a\\*\\* \\[b\\](c) &lt;d\\> \\| \\`e\\` \\@f &amp; g"


def test_workflow_commands_stay_on_their_line() -> None:
    """A line break or a percent sign of the model cannot begin another command."""
    found = record(flat("down", incomplete="100 %\n::error::owned"))
    (command,) = workflow_commands(found)
    assert command.startswith("::warning title=clinical drift::down: ")
    assert "\n" not in command
    assert "100 %25" in command


def test_comparison_shows_states_judges_and_own_limits(rules_run: Any, judged_run: Any) -> None:
    """Findings by state, each judge in a line, the limits of each run drawn once, paired differences."""
    runs = [
        NamedRun("rules", read_results(rules_run.results)),
        NamedRun("judged", read_results(judged_run.results)),
    ]
    differences = paired_differences(runs, BaselineRules())
    text, page = render_markdown(runs, differences), render_html(runs, differences)
    for run in (rules_run, judged_run):
        groups = {state: run.record["findings"].get(state, [0])[0] for state in ("confirmed", "open", "dismissed")}
        assert " / ".join(map(str, groups.values())) in text
    assert "judge: none" in text
    assert "python:labelled\\_judge:judge" in text
    for label in ("PASS &gt; 0.8<", "PASS &gt; 0.93<", "CAUTION &gt;= 0.7<", "CAUTION &gt;= 0.61<"):
        assert page.count(label) == 1
    assert "default-src 'none'" in page
    assert "<script" not in page


def test_comparison_from_the_command_line(rules_run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`clinical-drift compare` writes the page beside the table."""
    target = tmp_path / "c.html"
    run = str(rules_run.results)
    assert main(["compare", run, run, "--html", str(target)]) == 0
    assert "\nΔRecall@T10 " in capsys.readouterr().out
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")
