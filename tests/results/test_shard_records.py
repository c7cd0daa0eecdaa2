"""The shards of a run: which folders are read, which of them are parts of one run, and what is missing of it."""

from __future__ import annotations

import dataclasses
import datetime
import shutil
from pathlib import Path
from typing import Any

import pytest
from made import flat
from shard_records import gate, judge, results, shard_run, written

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.calibration_file import Attempt, Calibration
from pytest_clinical_drift.results.shards import ShardRun, find_shards
from pytest_clinical_drift.verdict.values import RULES_ONLY, Deciders

CALIBRATION = Calibration(
    judge="big",
    identity="i",
    proven=True,
    prompt_version="1",
    prompts="p",
    labelled="l",
    patients=60,
    attempts=(Attempt(made=datetime.date(2026, 5, 1), texts=1, requests=1, counts={}),),
)


THREE = ((1, "anna"), (2, "bela"), (3, "cleo"))
"""Dealt to three shards, each has one case."""


def two(place: Path, **second: Any) -> list[ShardRun]:
    """Both shards of a run, the second one with other values than the first."""
    return [shard_run(place / "a", 1), shard_run(place / "b", 2, **second)]


def refused(*folders: Path) -> str:
    with pytest.raises(InputError) as caught:
        find_shards(folders)
    return str(caught.value)


# -- which folders are read


@pytest.mark.parametrize("named", [True, False])
def test_shards_are_found_in_folders_and_below_them(tmp_path: Path, named: bool) -> None:
    """In the order of their numbers, each once, however often a folder is named; nothing is missing."""
    second, first = (written(shard_run(tmp_path / name, index)) for name, index in (("x/runs/a", 2), ("x/runs/b", 1)))
    found = find_shards([second, first, tmp_path / "x" / ".." / "x", first] if named else [tmp_path])
    assert [(run.folder, str(run.shard)) for run in found.used] == [(first, "shard 1 of 2"), (second, "shard 2 of 2")]
    assert (found.replaced, found.missing, dict(found.lacking)) == ((), (), {})


def test_what_is_not_a_shard_is_passed_over_unless_it_is_named(tmp_path: Path) -> None:
    """Ordinary runs lie beside shards, and drafts of runs that have not ended; neither is broken."""
    for run in two(tmp_path / "all"):
        written(run)
    written(shard_run(tmp_path / "all" / ".drafts" / "c", 1, run="draft"))
    ordinary = written(dataclasses.replace(shard_run(tmp_path / "all" / "whole", 1), result=results(gate())))
    found = find_shards([tmp_path / "all"])
    assert [run.folder.name for run in found.used] == ["a", "b"]
    assert (found.replaced, found.missing) == ((), ())
    for named in ([ordinary], [tmp_path / "all", ordinary]):
        assert refused(*named) == f"merge {ordinary}: not a shard; it was run without --drift-shard"


def test_below_a_run_that_is_named_no_other_is_looked_for(tmp_path: Path) -> None:
    """Not even where one of its records is gone: the run below it is not the one that was named."""
    top = written(shard_run(tmp_path / "top", 1))
    written(shard_run(top / "earlier", 1, run="older"))
    found = find_shards([top])
    assert ([run.folder for run in found.used], found.replaced) == ([top], ())
    (top / "run.json").unlink()
    assert refused(top).startswith(f"merge {top}: no shard of a run was found ({top}/run.json: cannot be read")


def test_where_there_is_no_shard(tmp_path: Path) -> None:
    """The first folder is named, with what is wrong with it where that is known."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert refused(tmp_path / "file") == f"merge {tmp_path / 'file'}: not a folder"
    empty = tmp_path / "empty"
    assert refused(empty) == f"merge {empty}: no shard of a run was found ({empty} holds no run)"
    ordinary = dataclasses.replace(shard_run(tmp_path / "some" / "whole", 1), result=results(gate()))
    written(ordinary)
    assert refused(tmp_path / "some") == f"merge {tmp_path / 'some'}: no shard of a run was found"


def test_broken_shards_are_missing(tmp_path: Path) -> None:
    """Whichever of its files is left; an empty folder that was named is told too."""
    runs = [shard_run(tmp_path / f"part{index}", index, [flat(name)], count=3) for index, name in THREE]
    folders = [written(run) for run in runs]
    (folders[1] / "study_c_results.json").unlink()
    (folders[2] / "run.json").unlink()
    (tmp_path / "empty").mkdir()
    found = find_shards([tmp_path, tmp_path / "empty"])
    assert [run.shard.index for run in found.used] == [1]
    assert found.missing[:2] == ("shard 2 of 3 is missing (1 case)", "shard 3 of 3 is missing (1 case)")
    told = " ".join(found.missing[2:])
    assert len(found.missing) == 5
    assert f"{folders[1]}/study_c_results.json: cannot be read" in told
    assert f"{folders[2]}/run.json: cannot be read" in told
    assert f"{tmp_path / 'empty'} holds no run" in told


def test_a_shard_without_its_transcripts_is_broken(tmp_path: Path) -> None:
    """Unless it has held no conversation: then there is nothing to be missing."""
    shutil.rmtree(written(shard_run(tmp_path / "held", 1)) / "transcripts")
    assert "the transcripts of shard 1 of 2 are missing" in refused(tmp_path / "held")
    first, second = two(tmp_path / "none", held=[])
    written(first)
    shutil.rmtree(written(second) / "transcripts")
    found = find_shards([tmp_path / "none"])
    assert found.missing == ("shard 2 of 2: 2 of its 2 cases were not run",)


def test_records_that_name_another_shard_are_broken(tmp_path: Path) -> None:
    """A number or option that was changed in one of the files, or more shards than there are cases."""
    first, second = two(tmp_path / "a")
    other = second.inputs.model_copy(update={"shard": first.shard})
    written(dataclasses.replace(second, inputs=other))
    assert "its results and its run.json are not of one shard; one of them was changed" in refused(tmp_path / "a")
    other = second.inputs.model_copy(update={"strict": True})
    written(dataclasses.replace(second, folder=tmp_path / "d", inputs=other))
    assert "its results and its run.json name different options; one of them was changed" in refused(tmp_path / "d")
    written(shard_run(tmp_path / "b", 1, count=4))
    assert "its results and its run.json are not of one shard; one of them was changed" in refused(tmp_path / "b")
    written(shard_run(tmp_path / "c", 1, count=3))
    assert len(find_shards([tmp_path / "c"]).used) == 1


@pytest.mark.parametrize(
    ("judged", "deciders"),
    [
        (None, RULES_ONLY),
        (judge(calibration=CALIBRATION), Deciders("big")),
        (judge(), Deciders("control", control=True)),
    ],
    ids=["rules only", "calibrated", "a control"],
)
def test_shards_with_a_judge_that_may_be_merged(tmp_path: Path, judged: Any, deciders: Deciders) -> None:
    """None, one whose error is known, or that of controls, which has none."""
    written(shard_run(tmp_path, 1, judged=judged, deciders=deciders))
    assert len(find_shards([tmp_path]).used) == 1


def test_a_judge_without_calibration_is_refused(tmp_path: Path) -> None:
    """Nothing says how far such a judge may decide."""
    written(shard_run(tmp_path, 2, judged=judge(), deciders=Deciders("big")))
    assert refused(tmp_path).startswith(f"merge {tmp_path}: the judge of shard 2 of 2 has no calibration; make one")


# -- whether they are parts of one run


def test_the_newest_run_of_a_shard_is_used(tmp_path: Path) -> None:
    """By the time at which it ended, not by the names of folders; the others are kept apart."""
    days = {"a": "2026-05-02", "b": "2026-05-03", "c": "2026-05-01"}
    for name, day in days.items():
        written(shard_run(tmp_path / name, 1, run=name, ended=day))
    written(shard_run(tmp_path / "d", 2))
    found = find_shards([tmp_path])
    assert [run.folder.name for run in found.used] == ["b", "d"]
    assert [run.folder.name for run in found.replaced] == ["c", "a"]


def test_a_copy_of_a_run_is_refused(tmp_path: Path) -> None:
    """Both places are told."""
    first = written(shard_run(tmp_path / "a", 1))
    copy = Path(shutil.copytree(first, tmp_path / "b"))
    assert refused(tmp_path) == f"merge {copy}: duplicate of {first} (shard 1 of 2); pass one of them"


@pytest.mark.parametrize(
    ("first", "second", "what"),
    [
        ({"count": 2}, {"count": 3, "held": [flat("bela")]}, "the number of shards (2, 3)"),
        ({"model": "a"}, {"model": "b"}, "the model (a, b)"),
        ({"revision": "r1"}, {"revision": "r2"}, "the model's revision (r1, r2)"),
        ({"revision": None}, {"revision": "r2"}, "the model's revision"),
        ({"versions": {"pytest-clinical-drift": "1"}}, {"versions": {}}, "the version of this package"),
        ({"identity_proven": True}, {"identity_proven": False}, "whether the model's identity is proven"),
        ({"pdsqi": "1"}, {"pdsqi": "2"}, "PDSQI-9 ratings"),
        ({"judge": "rules"}, {"judge": "big"}, "the judge"),
        (
            {"judged": judge(revision="r1", calibration=CALIBRATION)},
            {"judged": judge(revision="r2", calibration=CALIBRATION)},
            "the judge",
        ),
        (
            {"judged": judge(calibration=CALIBRATION)},
            {"judged": judge(calibration=CALIBRATION.model_copy(update={"patients": 61}))},
            "the judge's calibration",
        ),
        ({"inputs": gate(strict=True)}, {}, "the options"),
        ({"settings": {"prices": [1, 2]}}, {"settings": {"prices": [1, 3]}}, "the judge's settings"),
    ],
)
def test_shards_that_differ_are_not_of_one_run(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], what: str
) -> None:
    """Names and numbers are told; of hashes and settings, and where one side has none, only what they are."""
    written(shard_run(tmp_path / "a", 1, **first))
    other = shard_run(tmp_path / "b", 2, **second)
    written(other)
    expected = f"merge {other.folder}: shard 1 of 2 and {other.shard} differ in {what}; they are not shards of one run"
    assert refused(tmp_path) == expected


def test_what_shards_have_used_may_differ(tmp_path: Path) -> None:
    """The judge's requests and tokens are those of each shard."""
    used = [{"requests": {"fact": n}, "tokens": {"prompt": n, "completion": n}} for n in (1, 2)]
    for index in (1, 2):
        judged = judge(calibration=CALIBRATION, **used[index - 1])
        written(shard_run(tmp_path / str(index), index, judged=judged))
    assert len(find_shards([tmp_path]).used) == 2


def test_a_case_belongs_to_one_shard(tmp_path: Path) -> None:
    """Two shards with a case each of their own and one that both have."""
    for run in two(tmp_path, held=[flat("bela"), flat("anna")]):
        written(run)
    assert refused(tmp_path) == f"merge {tmp_path / 'b'}: shard 2 of 2 and shard 1 of 2 both have the case anna"


# -- what is missing


def test_missing_cases_are_told_by_shard(tmp_path: Path) -> None:
    """A shard that is not there, and one that ran a part of its cases."""
    first, second = written(shard_run(tmp_path / "a", 1)), written(shard_run(tmp_path / "b", 2, [flat("cleo")]))
    alone = find_shards([first])
    assert alone.missing == ("shard 2 of 2 is missing (2 cases)",)
    assert alone.lacking == dict.fromkeys(("bela", "cleo"), "shard 2 of 2 is missing")
    part = find_shards([second])
    assert part.missing == ("shard 1 of 2 is missing (1 case)", "shard 2 of 2: 1 of its 2 cases were not run")
    assert part.lacking == {"anna": "shard 1 of 2 is missing", "bela": "shard 2 of 2 did not run it"}
