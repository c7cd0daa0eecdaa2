"""`pytest --model X`: ids, verdicts, exit codes and the text that people read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from judged_project import write_judge, write_measured
from small_project import ARGUMENTS, MODEL, RULES_ONLY, SAID, SUMMARY, Project, case_text, results_file

from pytest_clinical_drift.core.packaged import bundled

Gate = Callable[..., pytest.RunResult]


def results(pytester: pytest.Pytester) -> dict[str, object]:
    loaded: dict[str, object] = json.loads(results_file(pytester.path).read_text(encoding="utf-8"))
    return loaded


def flat(result: pytest.RunResult) -> str:
    """The output, however it was broken into lines."""
    return " ".join(result.stdout.str().split())


def test_each_case_is_one_test_and_the_set_one_more(gate: Gate) -> None:
    """Three cases and the gate on the whole set, with ids that name case and model."""
    result = gate("-v")
    result.stdout.fnmatch_lines(
        [
            "study_c/anna::python-model-make PASSED*",
            "study_c/bela::python-model-make PASSED*",
            "study_c/cleo::python-model-make PASSED*",
            "study_c/whole-set::python-model-make CAUTION*",
        ]
    )
    assert result.ret == 0


def test_few_cases_never_pass_the_set(gate: Gate, pytester: pytest.Pytester) -> None:
    """Three perfect cases are no ground for a release: CAUTION, with the reason; exit code 0."""
    result = gate()
    assert "CAUTION (judge python:judge:make): 3 cases: fewer than the 40 that a PASS needs" in flat(result)
    assert results(pytester)["verdict"] == "CAUTION"
    assert results(pytester)["entity_recall_at_t10"] == 1.0


def test_strict_turns_caution_into_failure(gate: Gate) -> None:
    """With --drift-strict a CAUTION of the set fails the run."""
    assert gate("--drift-strict").ret == 1


def test_forgetting_fails_with_the_fact_turn_and_limit(gate: Gate) -> None:
    """The failure text names the deadly fact, the turn, and recall against its limit."""
    result = gate(forget_from=3)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "study_c/anna FAILED*",
            'FAIL: turn 3: lost "penicillin allergy with anaphylaxis" (hard stop); Recall@T10*',
            "Recall@T10 * 0.00 * > 0.8 * FAIL",
            "hard stops * 1 fact * FAIL",
            '*turns 3 to 4: lost "metformin 500 mg twice daily"*',
            "*diagnosis: *forgetting*",
        ]
    )


@pytest.mark.parametrize(
    ("rest", "shown"),
    [
        ("", ""),
        (
            ", as she said at length to her son and to each of the nurses of the ward",
            ", as she said at length to her son…",
        ),
    ],
)
def test_a_contradiction_is_told_with_the_words_that_deny(project: Project, rest: str, shown: str) -> None:
    """The headline shows the sentence, a long one shortened; the event keeps its quote; it is no passive forgetting."""
    pytester = project("anna")
    summary = f"Seen today.\nShe has no allergy to penicillin{rest}. Lives alone."
    (pytester.path / "model.py").write_text(f"def make():\n    return lambda messages: {summary!r}\n", encoding="utf-8")
    result = pytester.runpytest(*RULES_ONLY)
    assert f'(hard stop): "She has no allergy to penicillin{shown}"; Recall@T10' in flat(result)
    (case,) = results(pytester)["cases"]  # type: ignore[misc,attr-defined]
    (event,) = (item for item in case["repeats"][0]["events"] if item["metric"] == "hard_stops")
    assert (event["quote"], event["around"]) == ("penicillin", f"She has no allergy to penicillin{shown}")
    assert case["diagnosis"] == "contradicts facts (advice not evaluated)"


def test_outage_is_an_error_not_a_failure(gate: Gate, pytester: pytest.Pytester) -> None:
    """A model that breaks is INCOMPLETE: error, exit code 6, nothing counted as forgotten."""
    result = gate(breaks_at=3)
    assert result.ret == 6
    result.assert_outcomes(errors=4)
    result.stdout.fnmatch_lines(["INCOMPLETE: turn 3, reply: RuntimeError: out of memory"])
    result.stdout.no_fnmatch_line("*pluggy/_*")
    result.stdout.no_fnmatch_line("*hard stops*PASS*")
    written = results(pytester)
    assert written["verdict"] == "INCOMPLETE"
    assert written["entity_recall_at_t10"] is None


def test_replies_that_are_all_cut_off_leave_advice_not_evaluated(project: Project) -> None:
    """Summaries are whole, so recall stands; what the replies would have advised nobody knows."""
    pytester = project()
    pytester.runpytest(*ARGUMENTS)
    folder = pytester.path / "results" / "python-model-make"
    rows = [json.loads(line) for file in (folder / "transcripts").iterdir() for line in file.read_text().splitlines()]
    for row in rows:
        row["truncated"] = row["variant"] == "dialogue"
        row["response_text"] = "Please take paracetamol." if row["truncated"] else row["response_text"]
    (pytester.path / "cut.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    write_judge(pytester.path, true=(*SAID, "Please take paracetamol."))
    write_measured(pytester.path)
    result = pytester.runpytest("--model", "replay:cut.jsonl", *ARGUMENTS[2:])
    (file,) = pytester.path.glob("results/replay*/study_c_results.json")
    record = json.loads(file.read_text(encoding="utf-8"))
    judged = {
        item["metric"]: (item["value"], "; ".join(reason["text"] for reason in item["reasons"]))
        for item in record["judgements"]
    }
    for metric in ("breaches", "severe_contradictions", "k_conflict"):
        assert judged[metric] == (None, "every reply was cut off by the token limit")
    assert (record["verdict"], record["entity_recall_at_t10"]) == ("CAUTION", 1.0)
    assert "12 of 24 texts cut off by the token limit, every reply among them: record them again" in flat(result)


def test_subset_gives_no_release_verdict(gate: Gate, pytester: pytest.Pytester) -> None:
    """-k runs some cases and says PARTIAL instead of a verdict; exit code 7, with --drift-strict as well."""
    result = gate("-k", "anna or bela")
    result.stdout.fnmatch_lines(["*PARTIAL (2 of 3): no release verdict*"])
    assert results(pytester)["verdict"] == "PARTIAL"
    assert result.ret == 7
    assert pytester.runpytest(*ARGUMENTS, "-k", "anna", "--drift-strict").ret == 7


def test_a_waiver_for_no_case_of_the_set_is_not_told_as_in_force(project: Project) -> None:
    """It is named once as void; the one for a case of the set is printed, also where that case was not run."""
    pytester = project()
    signed = {"reason": "known", "signed_by": "officer", "expires": "2999-01-01"}
    data = yaml.safe_load(bundled("thresholds.yaml").read_text(encoding="utf-8"))
    data["clinical_drift"]["waivers"] = [{"case": case, **signed} for case in ("bela", "nosuch")]
    (pytester.path / "limits.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    for subset in ((), ("-k", "anna")):
        result = pytester.runpytest(*ARGUMENTS, "--drift-thresholds", "limits.yaml", *subset)
        result.stdout.fnmatch_lines(["*waiver ignored: no case nosuch in this set*", "*waived: bela until *"])
        result.stdout.no_fnmatch_line("*waived: nosuch*")


def test_the_turns_told_are_the_cases_own(gate: Gate, pytester: pytest.Pytester) -> None:
    """Six turns each, of which four were held before the model broke; a hard stop was lost before."""
    gate(forget_from=2, breaks_at=5, turns=6)
    assert "on 3 synthetic English cases of 6 turns" in str(results(pytester)["what_this_means"])


def test_stop_at_first_failure_is_partial(gate: Gate) -> None:
    """-x ends after one failing case; the set is PARTIAL."""
    result = gate("-x", forget_from=2)
    result.stdout.fnmatch_lines(["PARTIAL (1 of 3): no release verdict; 1 case at FAIL: 1 of 3 cases was run*"])
    assert result.ret == 1


def test_a_subset_with_an_outage_says_why_it_ends_with_6(gate: Gate) -> None:
    """PARTIAL alone would be 7."""
    result = gate("-k", "anna or bela", breaks_at=3)
    result.stdout.fnmatch_lines(["PARTIAL (2 of 3): no release verdict; 2 cases not run to the end: *"])
    assert result.ret == 6


def test_one_case_as_a_set_of_its_own_gets_a_verdict_and_says_which_at_best(project: Project) -> None:
    """CAUTION, exit code 0, because it was run whole; by -k the same case is a part of its set: PARTIAL, 7."""
    pytester = project()
    whole = pytester.runpytest(*ARGUMENTS[:2], "--drift-cases", "mycases/bela.yaml", *ARGUMENTS[4:])
    assert "CAUTION (judge python:judge:make" in flat(whole)
    assert "1 case: fewer than the 40 that a PASS needs, so CAUTION at best" in flat(whole)
    part = pytester.runpytest(*ARGUMENTS, "-k", "bela")
    part.stdout.fnmatch_lines(["PARTIAL (1 of 3): no release verdict: 1 of 3 cases was run*"])
    assert (whole.ret, part.ret) == (0, 7)


def test_strict_says_why_a_subset_fails(project: Project) -> None:
    """A case at CAUTION ends a strict run with 1: the verdict's line names the reason."""
    pytester = project("anna", "bela")
    file = pytester.path / "mycases" / "bela.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("lives alone", "drives a taxi"), encoding="utf-8")
    result = pytester.runpytest(*ARGUMENTS, "-k", "bela", "--drift-strict")
    told = "1 case at CAUTION, which --drift-strict fails"
    assert f"PARTIAL (1 of 2): no release verdict: {told}" in flat(result)
    assert result.ret == 1


def test_last_failed_reruns_only_the_failing_case(project: Project) -> None:
    """--lf selects the failed case among ours: the one that goes on past the turn where the model forgets."""
    pytester = project(forget_from=5)
    (pytester.path / "mycases" / "bela.yaml").write_text(case_text("bela", turns=8), encoding="utf-8")
    pytester.runpytest(*ARGUMENTS)
    second = pytester.runpytest(*ARGUMENTS, "--lf", "-v")
    second.stdout.fnmatch_lines(["study_c/bela::*"])
    second.stdout.no_fnmatch_line("study_c/anna::*")


def test_case_id_as_printed_can_be_given_back(project: Project) -> None:
    """A test id copied from the output selects that case; an unknown one is refused in a sentence."""
    pytester = project()
    result = pytester.runpytest(*ARGUMENTS, "-v", "study_c/cleo::python-model-make")
    result.stdout.fnmatch_lines(["*collected 1 item", "", "study_c/cleo::python-model-make PASSED*"])
    result = pytester.runpytest(*ARGUMENTS, "study_c/nobody::python-model-make")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*no case 'nobody'*"])


def test_marks_come_from_tags(project: Project) -> None:
    """A case's tags are marks, so -m selects by them; no warning about unknown marks."""
    pytester = project()
    file = pytester.path / "mycases" / "anna.yaml"
    file.write_text(file.read_text(encoding="utf-8") + "tags: ['pressure:cost', psychiatry]\n", encoding="utf-8")
    result = pytester.runpytest(*ARGUMENTS, "--strict-markers", "-m", "pressure_cost and psychiatry")
    result.stdout.fnmatch_lines(["study_c/anna PASSED*"])
    result.stdout.no_fnmatch_line("*warning*")


def test_collect_only_estimates_and_asks_nothing(project: Project) -> None:
    """--collect-only lists the cases with the cost of a run, and never imports the model."""
    pytester = project()
    pytester.makepyfile(model="raise SystemExit('imported')")
    result = pytester.runpytest(*ARGUMENTS, "--collect-only")
    # 3 cases of 4 turns: a reply and a summary each
    result.stdout.fnmatch_lines(["*3 cases, 12 turns: 24 requests, about * prompt tokens*"])
    assert result.ret == 0


def test_repeats_hold_one_conversation_each(gate: Gate, pytester: pytest.Pytester) -> None:
    """--drift-repeats 2 keeps both conversations of a case under one test."""
    gate("--drift-repeats", "2")
    cases = results(pytester)["cases"]
    assert isinstance(cases, list)
    assert [len(case["repeats"]) for case in cases] == [2, 2, 2]


def test_project_suite_does_not_take_part(project: Project) -> None:
    """With --model and no paths neither the project's tests nor their conftest are imported."""
    pytester = project()
    tests = pytester.mkdir("tests")
    (tests / "conftest.py").write_text("raise SystemExit('conftest imported')", encoding="utf-8")
    (tests / "test_other.py").write_text("def test_other(): pass", encoding="utf-8")
    result = pytester.runpytest(*ARGUMENTS)
    result.stdout.fnmatch_lines(["collected 3 items"])
    assert result.ret == 0


def test_paths_mean_those_paths_only(project: Project) -> None:
    """With a path only that path is collected; its tests get cases and results by fixture."""
    pytester = project()
    pytester.makepyfile(
        test_own="""
        def test_remembers(drift_case, drift_result):
            assert drift_result.case is drift_case
            assert drift_result.assessment.recall_curve == (1.0, 1.0, 1.0, 1.0)
            assert drift_result.verdict.verdict == "PASS"
        """
    )
    result = pytester.runpytest(*ARGUMENTS, "test_own.py", "-v")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["test_own.py::test_remembers[[]anna[]] PASSED*"])
    assert result.ret == 0
    told = "clinical-drift: your own tests on {}: no release verdict (add study_c for the gate)"
    result.stdout.fnmatch_lines([told.format("3 of 3 cases")])
    some = pytester.runpytest(*ARGUMENTS, "test_own.py", "-k", "anna", "-q")
    some.stdout.fnmatch_lines([told.format("1 of 3 cases")])
    both = pytester.runpytest(*ARGUMENTS, "test_own.py", "study_c")
    both.stdout.no_fnmatch_line("*no release verdict*")


def test_own_tests_are_skipped_without_a_model(pytester: pytest.Pytester) -> None:
    """A test that asks for our fixtures is skipped, not broken, when no model is given, and says what it needs."""
    pytester.makepyfile("def test_own(drift_result): assert False\ndef test_case(drift_case): assert False")
    result = pytester.runpytest("-rs", "--strict-markers")
    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(["SKIPPED *needs --model"])


def test_junit_tells_what_failed(gate: Gate, pytester: pytest.Pytester) -> None:
    """The junit file alone names fact, turn and figures; properties can be switched off."""
    from xml.etree import ElementTree

    gate("--junitxml=j.xml", forget_from=3)
    suite = ElementTree.parse(pytester.path / "j.xml").getroot()[0]
    case = next(item for item in suite if item.get("classname") == "study_c.anna")
    failure = case.find("failure")
    assert failure is not None
    assert 'turn 3: lost "penicillin allergy with anaphylaxis" (hard stop)' in failure.get("message", "")
    assert "\n" not in failure.get("message", "")
    properties = {item.get("name"): item.get("value") for item in case.iter("property")}
    assert properties["verdict"] == "FAIL"
    assert properties["recall_at_t10"] == "0.0"
    output = case.findtext("system-out", "")
    assert "recall_at_t10=0.0" in output.splitlines()
    assert [item.get("classname") for item in suite][-1] == "study_c.whole-set"


def test_junit_properties_can_be_switched_off(project: Project) -> None:
    """With drift_junit_properties off the figures stand in system-out only."""
    pytester = project()
    pytester.makeini("[pytest]\ndrift_junit_properties = false\n")
    pytester.runpytest(*ARGUMENTS, "--junitxml=j.xml")
    text = (pytester.path / "j.xml").read_text(encoding="utf-8")
    assert "<property " not in text
    assert "recall_at_t10=1.0" in text


def test_incomplete_is_an_error_in_junit(gate: Gate, pytester: pytest.Pytester) -> None:
    """INCOMPLETE is <error> in junit and never <failure>."""
    gate("--junitxml=j.xml", breaks_at=2)
    text = (pytester.path / "j.xml").read_text(encoding="utf-8")
    assert "<error" in text
    assert "<failure" not in text


def test_cases_from_elsewhere_do_not_move_the_project(project: Project, tmp_path: Path) -> None:
    """With cases outside the project, its thresholds and its results folder stay where they were."""
    pytester = project()
    elsewhere = tmp_path / "private"
    elsewhere.mkdir()
    (pytester.path / "mycases" / "anna.yaml").rename(elsewhere / "anna.yaml")
    (pytester.path / "thresholds.yaml").write_text("clinical_drift: {policy: nonsense}", encoding="utf-8")
    result = pytester.runpytest(*ARGUMENTS[:2], "--drift-cases", str(elsewhere), *ARGUMENTS[4:])
    assert result.ret == 4
    (pytester.path / "thresholds.yaml").unlink()
    assert pytester.runpytest(*ARGUMENTS[:2], "--drift-cases", str(elsewhere), *ARGUMENTS[4:]).ret == 0
    assert (pytester.path / "results" / "python-model-make" / "study_c_results.json").is_file()
    assert [file.name for file in elsewhere.iterdir()] == ["anna.yaml"]


def test_unwritable_step_summary_does_not_cost_the_verdict(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken CI page is a remark, not a crash."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "/nonexistent/page.md")
    result = gate()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["GITHUB_STEP_SUMMARY: the summary could not be written*"])


def test_quiet_shows_the_verdict_and_verbose_the_facts_lost(project: Project) -> None:
    """-q ends with the verdict alone; -v lists every fact lost with its turn."""
    pytester = project(forget_from=3)
    quiet = pytester.runpytest(*ARGUMENTS, "--tb=no", "-q")
    quiet.stdout.fnmatch_lines(["FAIL (judge python:judge:make; one judge, unread): 3 of 3 cases run failed*"])
    quiet.stdout.no_fnmatch_line("*sanity band*")
    loud = pytester.runpytest(*ARGUMENTS, "--tb=no", "-v")
    loud.stdout.fnmatch_lines(
        ["  facts lost by turn", "  anna", '    turns 3 to *: lost "metformin 500 mg twice daily"*']
    )


def test_a_plugin_that_adds_to_the_exit_code_does_not_change_it(project: Project) -> None:
    """Some set bits of the exit code at the end of a session; an outage stays 6, and what passed is theirs to fail."""
    pytester = project("anna", breaks_at=3)
    pytester.makeconftest(
        "import pytest\n"
        "@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_sessionfinish(session, exitstatus):\n"
        "    session.exitstatus |= 1\n"
    )
    assert pytester.runpytest(*ARGUMENTS).ret == 6
    (pytester.path / "model.py").write_text(MODEL.format(forget_from=99, breaks_at=0, summary=SUMMARY), "utf-8")
    assert pytester.runpytest(*ARGUMENTS).ret == 1
