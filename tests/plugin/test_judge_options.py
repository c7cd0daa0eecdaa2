"""Options around the judge: what the header and the estimate say, calibration, the study's own judge, baselines."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from engine_server import ChatServer, as_json, completion
from judged_project import GROUPS, JUDGED, TEXTS, alarms, lay_out, results, times_asked, write_set
from small_project import Project

from pytest_clinical_drift.cli import main
from pytest_clinical_drift.judging.readings import READINGS

CALIBRATE = ("calibrate", "--drift-judge", "python:judge:make", "--set", "labelled.jsonl")


def calibrate(pytester: pytest.Pytester, *more: str) -> pytest.RunResult:
    """Run the command where its judge can be imported."""
    out, err, started = io.StringIO(), io.StringIO(), time.perf_counter()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.syspath_prepend(pytester.path)
        code = main(list(more))
    sys.modules.pop("judge", None)  # the next run imports it anew
    lines = [said.getvalue().splitlines() for said in (out, err)]
    return pytest.RunResult(code, *lines, time.perf_counter() - started)


def test_the_header_names_judge_and_host(project: Project) -> None:
    """Which host gets to read records and conversations stands in the header, before anything is sent."""
    pytester = project("anna")
    lay_out(pytester)
    remote = ("--drift-judge", "server:reader@https://judges.example.org/v1")
    run = pytester.runpytest(*JUDGED[:4], *remote, "--collect-only")
    run.stdout.fnmatch_lines(["*judge: reader; records and conversations go to https://judges.example.org*"])
    run = pytester.runpytest(*JUDGED, "--collect-only")
    run.stdout.fnmatch_lines(["*judge: python:judge:make; runs in this process*"])


def test_collecting_estimates_the_questions_and_asks_nobody(project: Project) -> None:
    """Number and tokens are told, with a judge only."""
    pytester = project("anna", "bela")
    lay_out(pytester)
    run = pytester.runpytest(*JUDGED, "--collect-only")
    run.stdout.re_match_lines([r".*judge: 18 readings; \d+ to \d+ single questions .*thousand prompt tokens"])
    run.stdout.fnmatch_lines([f"*judge: no valid calibration; it reads {TEXTS} labelled texts of 220 patients first*"])
    assert times_asked(pytester) == 0
    alone = pytester.runpytest(*JUDGED[:4], "--collect-only")
    alone.stdout.no_re_match_line(".*single questions")


def test_the_estimate_is_of_the_right_size(project: Project) -> None:
    """Readings are foretold exactly; a run of clear conversations asks about its hard stops and not much else."""
    pytester = project("anna", "bela", "cleo", "dora", turns=8)
    summary = "Penicillin allergy with anaphylaxis. Takes metformin 500 mg twice daily. Lives alone."
    lay_out(pytester, summary=summary, measured=True)
    told = pytester.runpytest(*JUDGED, "--collect-only").stdout.str()
    found = re.search(r"judge: (\d+) readings; (\d+) to (\d+) single questions", told)
    assert found is not None
    readings, few = int(found[1]), int(found[2])
    pytester.runpytest(*JUDGED, "--drift-judge-set", "canaries=0", "--drift-judge-set", "audit=0")
    asked = (pytester.path / "asked.txt").read_text(encoding="utf-8").split()
    assert sum(kind in READINGS for kind in asked) == readings
    assert 4 <= len(asked) - readings <= few


def test_calibrate_prints_and_writes_and_the_run_uses_it(project: Project) -> None:
    """The table names every kind with its limits; the file is found by the next run, which calibrates no more."""
    pytester = project("anna")
    lay_out(pytester)
    run = calibrate(pytester, *CALIBRATE, "--out", "calibration/judge.json")
    assert run.ret == 0
    # 0.05 ** (1 / 30) is 0.905, 0.05 ** (1 / 190) is 0.984
    limits = r"30/30 \(≥ 0\.905\) +30/30 \(≥ 0\.905\) +190/190 \(≥ 0\.984\)"
    run.stdout.re_match_lines([rf"harm +{limits} .*yes"])
    run.stdout.fnmatch_lines(["written: calibration?judge.json"])
    assert (
        json.loads((pytester.path / "calibration/judge.json").read_text())["kinds"]["fact"]["sensitivity"]["of"] == 30
    )
    before = times_asked(pytester)
    pytester.runpytest(*JUDGED)
    assert 0 < times_asked(pytester) - before < 100  # the model beside it does not make it another judge
    assert "fact" in results(pytester)["manifest"]["judged"]["deciding"]


def kept(pytester: pytest.Pytester) -> dict[str, Any]:
    """The one calibration file that the project has."""
    (file,) = (pytester.path / "calibration").iterdir()
    content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return content


def test_a_run_keeps_what_it_measured_and_the_next_run_uses_it(project: Project) -> None:
    """Even with -q the file to commit is named. Without the store, the next run asks all but the calibration again."""
    pytester = project("anna")
    lay_out(pytester)
    first = pytester.runpytest(*JUDGED, "-q")
    asked, requests = times_asked(pytester), kept(pytester)["attempts"][0]["requests"]
    cost = f"clinical-drift: the judge was calibrated in {requests:,} requests"
    first.stdout.fnmatch_lines([f"{cost}; written: calibration/python*.json (commit it: the next run uses it)"])
    assert TEXTS < requests < asked
    shutil.rmtree(pytester.path / ".clinical-drift")
    second = pytester.runpytest(*JUDGED, "-q")
    assert (second.ret, times_asked(pytester) - asked) == (first.ret, asked - requests)
    second.stdout.no_fnmatch_line("*calibrated in*")
    assert len(kept(pytester)["attempts"]) == 1
    assert "fact" in results(pytester)["manifest"]["judged"]["deciding"]


def test_a_failed_attempt_of_a_run_stays_pooled(project: Project) -> None:
    """A judge finds nothing on a bad day. On a good one the next run goes by the file; calibrating adds to it."""
    pytester = project("anna")
    lay_out(pytester)
    source = (pytester.path / "judge.py").read_text(encoding="utf-8")
    awake = source.replace(
        '"-fault-" in item["case_id"])', '"-fault-" in item["case_id"] and COUNT.with_name("up").exists())'
    )
    assert awake != source
    (pytester.path / "judge.py").write_text(awake, encoding="utf-8")
    pytester.runpytest(*JUDGED)
    assert kept(pytester)["attempts"][0]["stopped"].keys() == set(GROUPS)
    (pytester.path / "up").touch()
    before = times_asked(pytester)
    again = pytester.runpytest(*JUDGED)
    again.stdout.fnmatch_lines(["*is below its floor and decides nothing on *"])
    assert times_asked(pytester) == before
    assert calibrate(pytester, *CALIBRATE, "--out", "calibration").ret == 7
    assert [attempt["counts"]["fact"]["faults"] != {} for attempt in kept(pytester)["attempts"]] == [True, True]
    pytester.runpytest(*JUDGED)
    assert results(pytester)["manifest"]["judged"]["deciding"] == []


def test_a_calibration_that_cannot_be_written_is_told_and_the_run_goes_on(project: Project) -> None:
    """`calibration` is a file of somebody else: it stays as it is."""
    pytester = project("anna")
    lay_out(pytester)
    write_set(pytester.path / "labelled.jsonl", faults=2, clean=2)
    (pytester.path / "calibration").write_text("of somebody else", encoding="utf-8")
    run = pytester.runpytest(*JUDGED)
    assert run.ret == 7
    run.stdout.fnmatch_lines(["*calibration/python*.json could not be written (*), so the next run calibrates again"])
    assert (pytester.path / "calibration").read_text(encoding="utf-8") == "of somebody else"
    assert results(pytester)["manifest"]["judged"]["calibration"]["attempts"][0]["texts"] == 12


def test_a_judge_that_never_answers_is_told_and_leaves_no_file(project: Project) -> None:
    """Every call raises: the cause in one sentence, exit code 4, no calibration file; in a run as well."""
    pytester = project("anna")
    lay_out(pytester)
    broken = "def make():\n    def answer(question):\n        raise RuntimeError('judge is down')\n    return answer\n"
    (pytester.path / "judge.py").write_text(broken, encoding="utf-8")
    run = calibrate(pytester, *CALIBRATE, "--out", "calibration/judge.json")
    assert run.ret == 4
    run.stderr.fnmatch_lines(["*python:judge:make: none of its answers could be used*judge is down*"])
    assert not (pytester.path / "calibration/judge.json").exists()
    gated = pytester.runpytest(*JUDGED)
    assert gated.ret == 4
    gated.stderr.fnmatch_lines(["*judge is down*"])


def test_a_judge_below_its_floor_evaluates_nothing(project: Project) -> None:
    """Always unsure: inventions and harm stay unread, never 0 and PASS."""
    pytester = project("anna")
    lay_out(pytester)
    unsure = "def make():\n    return lambda question: {'answer': 'unsure'}\n"
    (pytester.path / "judge.py").write_text(unsure, encoding="utf-8")
    pytester.runpytest(*JUDGED)
    verdicts = {item["metric"]: item["verdict"] for item in results(pytester)["judgements"]}
    assert verdicts["inventions"] == verdicts["harms"] == "unread"
    assert "PASS" not in {verdict for name, verdict in verdicts.items() if name not in ("leaks", "appeals")}


def test_a_calibration_on_a_part_of_the_texts_lets_nothing_decide(project: Project) -> None:
    """`--limit 2` is good for a try: a run that goes by its file says that the judge is below its floor."""
    pytester = project("anna")
    lay_out(pytester)
    calibrate(pytester, *CALIBRATE, "--limit", "2", "--out", "calibration/judge.json")
    run = pytester.runpytest(*JUDGED)
    assert run.ret == 7
    run.stdout.fnmatch_lines(
        ["clinical-drift: the judge python:judge:make is below its floor and decides nothing on *"]
    )
    assert results(pytester)["manifest"]["judged"]["calibration"]["attempts"][0]["texts"] == 6


def test_settings_of_every_judge_are_named_among_the_valid_ones(project: Project) -> None:
    """An unknown key is answered with the judge's own settings and with those that every judge has."""
    pytester = project("anna")
    lay_out(pytester)
    run = pytester.runpytest(*JUDGED, "--drift-judge-set", "colour=red")
    assert run.ret == 4
    run.stderr.fnmatch_lines(
        ["*colour: *valid settings: revision; for any judge: allow_subject, *calibration_set, canaries, *window"]
    )


def test_a_calibration_of_another_judge_is_refused(project: Project) -> None:
    """A file named for the run must fit its judge, settings and prompts: exit code 4 otherwise."""
    pytester = project("anna")
    lay_out(pytester)
    calibrate(pytester, *CALIBRATE, "--limit", "2", "--out", "old.json")
    other = ("--drift-judge-set", f"revision={'2' * 40}", "--drift-judge-set", "calibration=old.json")
    for more in ((), ("--collect-only",)):  # the cost of a run that would be refused is no use
        run = pytester.runpytest(*JUDGED, *other, *more)
        assert run.ret == 4
        run.stderr.fnmatch_lines(["*calibration=old.json: it is of another judge or of other settings*"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("calibrate",), "name the judge"),
        (("calibrate", "--drift-judge", "rules", "--out", "x.json"), "rules alone are not a judge"),
        (("calibrate", "--drift-judge", "oracle", "--out", "x.json"), "write one of"),
        ((*CALIBRATE, "--out", "x", "--set", "missing.jsonl"), "missing.jsonl: cannot be read"),
        ((*CALIBRATE, "--out", "x", "--limit", "0"), "expected at least 1"),
        ((*CALIBRATE, "--out", "x", "--drift-judge-set", "colour"), "write KEY=VALUE"),
        ((*CALIBRATE, "--out", "x", "--drift-judge-set", "offline=perhaps"), "expected true or false"),
        ((*CALIBRATE, "--out", "x", "--drift-judge-set", "offline=true"), "asks the judge anew"),
    ],
)
def test_bad_input_is_one_sentence(project: Project, arguments: tuple[str, ...], said: str) -> None:
    """Exit code 4, and no traceback."""
    pytester = project("anna")
    lay_out(pytester)
    run = calibrate(pytester, *arguments)
    assert run.ret == 4
    assert said in run.stderr.str()
    assert len(run.stderr.lines) == 1


@pytest.mark.torch
def test_the_studys_own_judge_takes_every_second_pair(project: Project, tmp_path: Path) -> None:
    """`nli` with a small local DeBERTa: stride 2 unless told, facts and conflicts only, and it runs to the end."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "judging"))
    from test_nli import build

    folder = build(tmp_path, ["contradiction", "entailment", "neutral"], 1)
    pytester = project("anna")
    lay_out(pytester)
    write_set(pytester.path / "labelled.jsonl", faults=5, clean=5)
    inference = (*JUDGED[:4], "--drift-judge", f"nli:{folder}", *JUDGED[6:])
    pytester.runpytest(*inference)
    manifest = results(pytester)["manifest"]
    assert manifest["stride"] == 2
    assert set(manifest["judged"]["deciding"]) <= {"fact", "conflict"}
    pytester.runpytest(*inference, "--drift-nli-stride", "1")
    assert results(pytester)["manifest"]["stride"] == 1
    assert not [a for a in alarms(pytester) if a["state"] == "confirmed"]


def test_a_baseline_of_another_judge_is_refused(project: Project) -> None:
    """Runs judged by somebody else, or not at all, are not compared: exit code 4, with what differs."""
    pytester = project("anna")
    lay_out(pytester, measured=True)
    pytester.runpytest(*JUDGED[:4], "--drift-results", "old")
    (old,) = pytester.path.glob("old/*/study_c_results.json")
    run = pytester.runpytest(*JUDGED, "--drift-baseline", str(old))
    assert run.ret == 4
    run.stderr.fnmatch_lines(
        ["*cannot be compared with this run, because the judges (rules, stride 1; now python:judge*"]
    )
    pytester.runpytest(*JUDGED, "--drift-results", "judged")
    (judged,) = pytester.path.glob("judged/*/study_c_results.json")
    assert pytester.runpytest(*JUDGED, "--drift-baseline", str(judged)).ret != 4
    changed = json.loads(judged.read_text(encoding="utf-8"))
    changed["manifest"]["judge_prompts"] = "of an earlier version"
    judged.write_text(json.dumps(changed), encoding="utf-8")
    run = pytester.runpytest(*JUDGED, "--drift-baseline", str(judged))
    assert run.ret == 4
    run.stderr.fnmatch_lines(["*the judge's prompts differ*"])


def test_a_server_that_judges_and_counts_its_tokens(project: Project) -> None:
    """A run from end to end: every answer has 7 prompt tokens and one of its own, at 1 and 2 per million."""
    pytester = project("anna")
    lay_out(pytester)
    write_set(pytester.path / "labelled.jsonl", faults=2, clean=2)
    with ChatServer(answer=lambda _: as_json(completion('{"answer":"unsure","quote":"","reason":""}'))) as server:
        judge = ("--drift-judge", f"server:reader@{server.url}", *JUDGED[6:], "--drift-judge-prices", "1,2")
        run = pytester.runpytest(*JUDGED[:4], *judge)
    assert run.ret == 7
    tokens = results(pytester)["manifest"]["judged"]["tokens"]
    answers = tokens["completion"]
    assert answers > 0
    assert tokens["prompt"] == 7 * answers
    assert tokens["cost"] == pytest.approx(9 * answers / 1_000_000, abs=1e-4)
