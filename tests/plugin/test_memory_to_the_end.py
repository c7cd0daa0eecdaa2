"""Facts that are lost late: the gate counts to the last turn, and reports say to which turn they run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from engine_runs import results
from judged_project import write_judge, write_measured
from small_project import ARGUMENTS, SUMMARY, Project

from pytest_clinical_drift.cli import main

ALLERGY = "The patient has a penicillin allergy with anaphylaxis."
FORGETS = f"""
def make():
    def chat(messages, context):
        if not context["probe"]:
            return "Thank you for telling me."
        return {SUMMARY!r} if context["turn"] < {{turn}} else {ALLERGY!r}
    return chat
"""
NOT_IN_CONVERSATION = f"""
def make():
    def chat(messages, context):
        if not context["probe"]:
            return "Thank you for telling me."
        lost = context["turn"] > 2 and len(messages) > 2
        return {ALLERGY!r} if lost else {SUMMARY!r}
    return chat
"""
JUDGE = ("--drift-judge", "python:judge:make")


def recording(project: Project, lost_from: int, *, turns: int, stretched: tuple[str, ...] = ()) -> list[str]:
    """Arguments that replay a model which keeps nothing but the hard stop from a turn on."""
    pytester = project(turns=turns)
    pytester.makepyfile(model=FORGETS.format(turn=lost_from))
    pytester.runpytest("--model", "python:model:make", "--drift-cases", "mycases", *stretched)
    folder = pytester.path / "results" / "python-model-make" / "transcripts"
    return ["--model", f"replay:{folder}", "--drift-cases", "mycases", *JUDGE, "--drift-results", "again", *stretched]


@pytest.mark.parametrize(
    ("lost_from", "turns", "stretched"), [(11, 14, ()), (61, 4, ("--drift-turns", "100"))], ids=["turn 11", "turn 61"]
)
def test_everything_but_hard_stops_lost_late_fails(
    project: Project, pytester: pytest.Pytester, lost_from: int, turns: int, stretched: tuple[str, ...]
) -> None:
    """Recall at turn 10 is 1, nothing severe happened, and the run fails by what is lost at the end."""
    result = pytester.runpytest(*recording(project, lost_from, turns=turns, stretched=stretched))
    assert result.ret == 1, result.stdout.str()
    record = results(pytester, "again")
    figures = {item["metric"]: item for item in record["judgements"]}
    assert record["verdict"] == "FAIL"
    assert (figures["recall_at_end"]["verdict"], figures["recall_at_end"]["value"]) == ("FAIL", pytest.approx(1 / 3))
    assert figures["hard_stops"]["value"] == 0
    if stretched:
        assert figures["recall_at_t10"]["verdict"] == "not applicable"
        assert figures["fall"]["verdict"] == "FAIL"
    else:
        assert figures["recall_at_t10"]["value"] == 1
    memory, last = record["memory"], 100 if stretched else 14
    assert memory["turns"] == last
    # recall comes down from 1 to 1/3 between two neighbouring probes: to 0.8 after three tenths of the way
    before, after = (60, 80) if stretched else (10, 11)
    assert memory["horizon"]["point"] == pytest.approx(before + 0.3 * (after - before))
    assert memory["horizon"]["low"] is None
    assert memory["hard_stop_horizon"] == {
        "point": None, "low": None, "high": None, "probed_to": last, "cases": 3,
    }  # fmt: skip
    out = result.stdout.str()
    told = " ".join(out.split())
    assert f"hard stops (mean of 3 independent cases): at least {last} (no interval below 17 cases)" in told
    assert f"memory to turn {last}" in out
    assert "diagnosis             passive forgetting" in out or "forgetting (advice not evaluated)" in out


def test_the_manifest_names_the_conversation(project: Project, pytester: pytest.Pytester) -> None:
    """Turns, bank of interludes, place of the record and probes."""
    project()
    pytester.runpytest(*ARGUMENTS, "--drift-turns", "24", "--drift-record", "system")
    manifest = results(pytester)["manifest"]
    named = {name: manifest[name] for name in ("turns", "record", "probes", "single_message")}
    assert named == {"turns": 24, "record": "system", "probes": "schedule", "single_message": False}
    assert len(manifest["hashes"]["interludes"]) == 64
    page = next((pytester.path / "results").glob("*/report.html")).read_text(encoding="utf-8")
    assert "Memory to turn 24" in page
    assert "Recall at scheduled probes to turn 24" in page


def test_runs_of_other_lengths_are_not_compared(
    project: Project, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither side by side nor as a baseline; one sentence says why."""
    project()
    for turns in ("22", "24"):
        pytester.runpytest(*ARGUMENTS, "--drift-turns", turns, "--drift-results", f"of{turns}")
    first, second = (next((pytester.path / f"of{turns}").glob("*/study_c_results.json")) for turns in (22, 24))
    assert main(["compare", str(first), str(second)]) == 4
    refused = capsys.readouterr().err.strip()
    assert re.fullmatch(r".*of22\S* ran to 22 turns and \S*of24\S* to 24 turns; only runs of the same .*", refused)
    again = pytester.runpytest(*ARGUMENTS, "--drift-turns", "24", "--drift-baseline", str(first))
    assert again.ret == 4
    again.stderr.fnmatch_lines(["*--drift-baseline *: it ran to 22 turns, this run to 24 turns; give the same*"])
    capsys.readouterr()
    monkeypatch.setenv("COLUMNS", "160")
    assert main(["compare", str(second), str(second)]) == 0
    assert re.search(r"drift horizon +at least 24 ", capsys.readouterr().out)


def test_lost_in_conversation(project: Project, pytester: pytest.Pytester) -> None:
    """A model that reads the transcript in one message well and forgets in conversation; the judge reads both."""
    project()
    pytester.makepyfile(model=NOT_IN_CONVERSATION)
    result = pytester.runpytest(*ARGUMENTS, "--drift-single-message")
    told = " ".join(result.stdout.str().split())
    assert "recall after the last turn of 3 cases: 0.33 in the conversation, 1.00 with the same transcript" in told
    record = results(pytester)
    single = record["memory"]["single"]
    assert (single["cases"], single["by_judge"]) == (3, True)
    assert {run["single"]["recall"] for case in record["cases"] for run in case["repeats"]} == {1.0}
    page = next((pytester.path / "results").glob("*/report.html")).read_text(encoding="utf-8")
    assert "1.00 with the same transcript in one message" in page
    without = pytester.runpytest(*ARGUMENTS, "--drift-results", "without")
    assert "transcript in one message" not in without.stdout.str()
    plain = results(pytester, "without")
    for name in ("judgements", "alarms"):
        assert plain[name] == record[name], "the one message enters no other figure"


def test_one_message_without_a_judge(project: Project, pytester: pytest.Pytester) -> None:
    """Rules score it, and the report says so."""
    project()
    pytester.makepyfile(model=NOT_IN_CONVERSATION)
    arguments = ("--model", "python:model:make", "--drift-cases", "mycases", "--drift-single-message")
    result = pytester.runpytest(*arguments)
    out = " ".join(result.stdout.str().split())
    assert "same transcript in one message" in out
    assert "scored by rules" in out
    assert results(pytester)["memory"]["single"]["by_judge"] is False


def test_signed_cases_can_be_required(project: Project, pytester: pytest.Pytester) -> None:
    """Unsigned: CAUTION at best, with the count; the reports name it whether required or not."""
    project()
    gate = pytester.path / "gate.yaml"
    bundled = Path(__file__).parents[2] / "thresholds.yaml"
    text = bundled.read_text(encoding="utf-8").replace("require_signed_cases: false", "require_signed_cases: true")
    text = text.replace("min_cases: 40", "min_cases: 1").replace("decide_by: interval", "decide_by: point")
    gate.write_text(text, encoding="utf-8")
    result = pytester.runpytest(*ARGUMENTS, "--drift-thresholds", "gate.yaml")
    record = results(pytester)
    assert [reason["values"] for reason in record["reasons"] if reason["code"] == "cases_unsigned"] == [
        {"unsigned": 3, "cases": 3}
    ]
    assert record["verdict"] == "CAUTION"
    result.stdout.fnmatch_lines(["*0 of 3 cases in the set clinically signed*"])
    assert record["counts"]["unsigned_hard_stops"] == ["anna", "bela", "cleo"]
    for file in sorted((pytester.path / "mycases").iterdir()):
        assert main(["sign-case", str(file), "--by", "Dr A", "--role", "GP"]) == 0
    signed = pytester.runpytest(
        *ARGUMENTS, "--drift-thresholds", "gate.yaml", "--drift-results", "signed", "--drift-turns", "22"
    )
    signed.stdout.fnmatch_lines(["*3 of 3 cases in the set clinically signed*"])
    assert not [r for r in results(pytester, "signed")["reasons"] if r["code"] == "cases_unsigned"]


def test_the_judge_beside_the_subject(project: Project, pytester: pytest.Pytester) -> None:
    """Requests of the judge, canaries, and what rules say against the readings."""
    project()
    write_judge(pytester.path, true=(SUMMARY, "Thank you for telling me.", ALLERGY))
    write_measured(pytester.path)
    result = pytester.runpytest(*ARGUMENTS)
    record = results(pytester)
    assert sum(record["manifest"]["judged"]["requests"].values()) > 0
    assert record["counts"]["rules_against_judge"]["retained"]["retained"] > 0
    confirmed, inserted = record["canaries"]
    result.stdout.fnmatch_lines(
        [f"*inserted faults confirmed: {confirmed} of {inserted}*", "*requests to the judge: *"]
    )
    page = next((pytester.path / "results").glob("*/report.html")).read_text(encoding="utf-8")
    assert f"Inserted faults confirmed: {confirmed} of {inserted}" in page
    assert "what rules say of them (rows) against what the readings say" in page
    assert "0 of 3 cases in the set clinically signed" in page
    assert json.dumps(record["memory"]["breaches"])
