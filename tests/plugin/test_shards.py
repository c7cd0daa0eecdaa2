"""`--drift-shard` and `clinical-drift merge`: a run in parts equals the run as a whole, or is refused."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from sharded import JUDGE, calibrate, junit, merge, parts, record, run_shards, without_origin
from small_project import ARGUMENTS, Project

from pytest_clinical_drift.cases.files import bundled_cases
from pytest_clinical_drift.cli import main
from pytest_clinical_drift.core.packaged import bundled as bundled_file


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where shards of the small project lie that several tests begin with."""
    return tmp_path_factory.mktemp("kept")


def take_shards(
    pytester: pytest.Pytester, kept: Path, count: int, arguments: Sequence[str] = ARGUMENTS, wanted: Sequence[int] = ()
) -> None:
    """`run_shards` on the small project as it is laid out: run by the first test that asks, copied for the others."""
    names = ["of", str(count), *map(str, wanted), *arguments]
    folder = kept / re.sub(r"\W+", "-", " ".join(names))
    if folder.exists():
        shutil.copytree(folder, pytester.path / "parts")
        return
    run_shards(pytester, count, arguments, wanted)
    shutil.copytree(pytester.path / "parts", folder)


def use_bundled(pytester: pytest.Pytester, count: int) -> None:
    """Some of the bundled cases, in `mycases/`."""
    folder = pytester.mkdir("mycases")
    for file in sorted(bundled_cases().glob("*.yaml"))[:count]:
        shutil.copy(file, folder)


SLOW = pytest.mark.slow


@pytest.mark.parametrize("control", ["cliff", pytest.param("steady", marks=SLOW), pytest.param("stranger", marks=SLOW)])
def test_merged_controls_equal_the_whole_run(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str], control: str
) -> None:
    """Figure by figure, alarm by alarm and test by test; canaries and audit are drawn as for the whole."""
    use_bundled(pytester, 4)
    arguments = ("--model", f"control:{control}", "--drift-cases", "mycases", "-p", "no:cacheprovider")
    whole = pytester.runpytest(*arguments, "--junitxml", "whole.xml")
    run_shards(pytester, 3, arguments)
    code, said = merge(capsys, "parts", "--junitxml", "merged.xml")
    assert code == whole.ret
    assert without_origin(record(pytester.path / "merged")) == record(pytester.path / f"results/control-{control}")
    assert junit(pytester.path / "merged.xml") == junit(pytester.path / "whole.xml")
    assert "written: merged/study_c_results.json" in said
    origin = record(pytester.path / "merged")["manifest"]["merged_from"]
    assert [(shard["index"], shard["count"]) for shard in origin] == [(1, 3), (2, 3), (3, 3)]


def lay_out_recording(pytester: pytest.Pytester) -> list[str]:
    """A recording of a model that forgets, a judge and its calibration."""
    use_bundled(pytester, 3)
    pytester.runpytest("--model", "control:cliff", "--drift-cases", "mycases", "--drift-results", "made")
    shutil.copytree(pytester.path / "made/control-cliff/transcripts", pytester.path / "recording")
    pytester.makepyfile(judge=JUDGE)
    pytester.syspathinsert()
    calibrate(pytester.path)
    return ["--model", "replay:recording", "--drift-cases", "mycases", "--drift-judge", "python:judge:make"]


def test_merged_recording_with_a_judge_equals_the_whole_run(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers, open alarms, audit, canaries and the judge's requests; people review the merged run like any other."""
    page = pytester.path / "summary.md"
    arguments = lay_out_recording(pytester)
    whole = pytester.runpytest(*arguments)
    run_shards(pytester, 2, arguments)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    code, _ = merge(capsys, *map(str, parts(pytester)))
    assert code == whole.ret
    merged, expected = record(pytester.path / "merged"), record(pytester.path / "results/replay-recording")
    assert without_origin(merged) == expected
    alarms = Counter(a["state"] for case in merged["cases"] for run in case["repeats"] for a in run["alarms"])
    assert alarms["open"]
    assert alarms["confirmed"]
    assert merged["canaries"][1] > 0
    assert merged["manifest"]["judged"]["requests"]
    assert merged["manifest"]["model"] == "replay:recording"
    assert merged["headline"] in page.read_text(encoding="utf-8")
    files = [pytester.path / folder / "run.json" for folder in ("merged", "results/replay-recording")]
    inputs = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    assert inputs[0]["judging"] == inputs[1]["judging"]
    for name in ("log.jsonl", "canaries.jsonl"):
        merged_log, whole_log = (file.with_name(name).read_text(encoding="utf-8") for file in files)
        assert merged_log == whole_log
        assert "answer" in merged_log
    assert main(["review", "merged"]) == 0


def test_a_shard_without_calibration_does_not_run(project: Project) -> None:
    """Shards that calibrate would each have another judge."""
    pytester = project()
    shutil.rmtree(pytester.path / "calibration")
    ended = pytester.runpytest(*ARGUMENTS, "--drift-shard", "1/2")
    assert ended.ret == 4
    ended.stderr.fnmatch_lines(["*no valid calibration was found*shard*clinical-drift calibrate*"])


def test_a_shard_gives_no_verdict(project: Project) -> None:
    """PARTIAL, exit code 7, in its own folder, with its number; the only shard of one too."""
    pytester = project()
    (pytester.path / "thresholds.yaml").unlink(missing_ok=True)
    for given, cases in (("1/2", 2), ("1/1", 3)):
        ended = pytester.runpytest(*ARGUMENTS, "--drift-results", f"r{cases}", "--drift-shard", given)
        assert ended.ret == 7
        ended.stdout.fnmatch_lines([f"*shard 1 of {given[-1]}: {cases} of 3 cases*", "*PARTIAL*"])
        (folder,) = (file.parent for file in pytester.path.glob(f"r{cases}/*/runs/*/study_c_results.json"))
        assert (record(folder)["verdict"], record(folder)["cases_selected"]) == ("PARTIAL", cases)
        assert not list(pytester.path.glob(f"r{cases}/*/study_c_results.json"))


def test_own_tests_run_on_the_shards_cases(project: Project) -> None:
    """Each case of the set belongs to one job, for the project's tests too."""
    pytester = project()
    pytester.makepyfile(test_own="def test_own(drift_result):\n    assert drift_result.case.id\n")
    passed = [
        pytester.runpytest(*ARGUMENTS, "test_own.py", "--drift-shard", f"{i}/2").parseoutcomes()["passed"]
        for i in (1, 2)
    ]
    assert passed == [2, 1]


def test_a_missing_shard_is_incomplete(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 6, the shard by name, its cases as errors in junit; never a verdict on the rest."""
    pytester = project()
    run_shards(pytester, 3, ARGUMENTS, [1, 3])
    code, said = merge(capsys, "parts", "--junitxml", "merged.xml")
    assert (code, record(pytester.path / "merged")["verdict"]) == (6, "INCOMPLETE")
    assert "shard 2 of 3 is missing (1 case)" in " ".join(said.split())
    assert "next: run the shards that are missing or INCOMPLETE again, then clinical-drift merge" in " ".join(
        said.split()
    )
    suite = next(ElementTree.parse(pytester.path / "merged.xml").iter("testsuite"))
    assert (suite.get("tests"), suite.get("errors")) == ("4", "2")


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (lambda folder: (folder / "run.json").write_text("{"), "run.json: not a record of a run"),
        (
            lambda folder: (folder / "run.json").write_text('{"schema_version": 3, "judged": []}'),
            "run.json: written by an older version of this package (schema version 3, this one reads 6); "
            "run again with --model replay:TRANSCRIPTS",
        ),
        (lambda folder: (folder / "study_c_results.json").unlink(), "study_c_results.json: cannot be read"),
        (lambda folder: shutil.rmtree(folder / "transcripts"), "the transcripts of shard 2 of 2 are missing"),
    ],
    ids=["cut off", "older", "no results", "no transcripts"],
)
def test_a_broken_shard_is_incomplete(
    project: Project, kept: Path, capsys: pytest.CaptureFixture[str], harm, sentence
) -> None:  # type: ignore[no-untyped-def]
    """Exit code 6, with what is wrong and the shard that is missing now."""
    pytester = project()
    take_shards(pytester, kept, 2)
    harm(parts(pytester)[1])
    code, said = merge(capsys, "parts")
    assert code == 6
    assert "shard 2 of 2 is missing" in " ".join(said.split())
    assert sentence in " ".join(said.split())
    shutil.rmtree(pytester.path / "parts")  # it no longer keeps to the schema


def test_a_shard_that_ran_a_part_of_its_cases(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """`-k` inside a shard leaves cases out: INCOMPLETE."""
    pytester = project()
    run_shards(pytester, 2, (*ARGUMENTS, "-k", "anna or bela"))
    code, said = merge(capsys, "parts")
    assert code == 6
    assert "cases were not run" in " ".join(said.split())


def test_the_newest_run_of_a_shard_counts(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A shard that could not be run to its end is run again; the merge says which run it left out."""
    pytester = project()
    run_shards(pytester, 2, ARGUMENTS, [1, 2, 2])
    code, said = merge(capsys, "parts")
    assert code == 0
    assert "shard 2 of 2: a newer run replaces parts/" in said
    merged = record(pytester.path / "merged")["manifest"]
    older, newer = (record(folder)["manifest"]["shard"] for folder in parts(pytester)[1:])
    assert merged["merged_from"][1] == newer
    assert merged["replaced_shards"] == [older]


def other_model(pytester: pytest.Pytester) -> None:
    file = pytester.path / "model.py"
    file.write_text(file.read_text(encoding="utf-8").replace("Thank you", "Thanks"), encoding="utf-8")


def other_case(pytester: pytest.Pytester) -> None:
    (pytester.path / "mycases/cleo.yaml").unlink()


@pytest.mark.parametrize(
    ("change", "options", "what"),
    [
        (None, ("--model", "python:model:other"), "the model (python:model:make, python:model:other);"),
        (None, ("--drift-set", f"revision={'b' * 40}"), f"the model's revision ({'a' * 40}, {'b' * 40});"),
        (other_model, (), "the model's server or code;"),
        (other_case, (), "the cases"),
        (None, ("--drift-thresholds", "limits.yaml"), "the thresholds;"),
        (None, ("--drift-system", "system.txt"), "the system prompt"),
        (None, ("--drift-probe", "probe.txt"), "the prompts"),
        (None, ("--drift-strict",), "the options"),
        (None, ("--drift-prices", "1,2"), "the judge's settings"),
        (None, ("--drift-shard", "2/3"), "the number of shards (2, 3);"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_shards_of_different_runs_are_refused(  # type: ignore[no-untyped-def]
    project: Project, kept: Path, capsys: pytest.CaptureFixture[str], change, options: tuple[str, ...], what: str
) -> None:
    """Exit code 4 and one sentence that says in what they differ."""
    pytester = project()
    model = pytester.path / "model.py"
    model.write_text(model.read_text(encoding="utf-8") + "\n\nother = make\n", encoding="utf-8")
    bundled = bundled_file("thresholds.yaml").read_text(encoding="utf-8")
    (pytester.path / "limits.yaml").write_text(bundled.replace('pass: "> 0.80"', 'pass: "> 0.81"'), encoding="utf-8")
    (pytester.path / "system.txt").write_text("Be kind.")
    (pytester.path / "probe.txt").write_text("Write a handover summary, please.")
    arguments = (*ARGUMENTS, "--drift-set", f"revision={'a' * 40}")
    take_shards(pytester, kept, 2, arguments, [1])
    if change is not None:
        change(pytester)
    shard = () if "--drift-shard" in options else ("--drift-shard", "2/2")
    given = arguments[2:] if "--model" in options else arguments
    pytester.runpytest(*given, "--drift-results", "parts", *shard, *options)
    code, said = merge(capsys, "parts")
    assert code == 4
    assert f"differ in {what}" in said
    assert said.count("\n") == 1
    assert not (pytester.path / "merged").exists()


def test_shards_whose_judge_has_no_calibration_are_refused(
    project: Project, kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 4: nothing says how far such a judge may decide. Records and inputs are changed alike."""
    pytester = project()
    take_shards(pytester, kept, 2)
    for folder in parts(pytester):
        found = record(folder)
        found["manifest"]["judged"]["calibration"] = None
        (folder / "study_c_results.json").write_text(json.dumps(found), encoding="utf-8")
        inputs = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        inputs["manifest"] = found["manifest"]
        (folder / "run.json").write_text(json.dumps(inputs), encoding="utf-8")
    code, said = merge(capsys, "parts")
    assert code == 4
    # whichever comes first: run folders of one second are in no order
    assert re.search("the judge of shard [12] of 2 has no calibration; make one with clinical-drift calibrate", said)
    assert said.count("\n") == 1


def test_the_same_run_twice_is_refused(project: Project, kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A copied folder is no second opinion."""
    pytester = project()
    take_shards(pytester, kept, 2)
    shutil.copytree(parts(pytester)[0], pytester.path / "copy")
    code, said = merge(capsys, "parts", "copy")
    assert code == 4
    assert "(shard 1 of 2); pass one of them" in said
    assert said.count("\n") == 1


def test_overlapping_shards_are_refused(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Two folders with one case."""
    pytester = project("anna", "bela", "cleo", "dora")
    run_shards(pytester, 2, ARGUMENTS)
    first, second = parts(pytester)
    found, other = record(first), record(second)
    other["cases"] = [found["cases"][0], *other["cases"][1:]]
    (second / "study_c_results.json").write_text(json.dumps(other), encoding="utf-8")
    code, said = merge(capsys, "parts")
    assert code == 4
    assert f"both have the case {found['cases'][0]['case_id']}" in said


def test_what_is_not_a_shard(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """An ordinary run, a file, an empty folder: one sentence each."""
    pytester = project()
    pytester.runpytest(*ARGUMENTS)
    pytester.mkdir("empty")
    assert merge(capsys, "results/python-model-make")[0] == 4
    assert merge(capsys, "model.py") == (4, "clinical-drift: merge model.py: not a folder\n")
    code, said = merge(capsys, "empty")
    assert code == 4
    assert "no shard of a run was found" in said
