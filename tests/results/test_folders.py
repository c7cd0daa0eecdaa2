"""Run folders: their ids, their publication, and what lies on top."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.results.files import read_results
from pytest_clinical_drift.results.folders import RunFolder, check_results_place, new_run_id


def made(top: Path, run_id: str, text: str, *, on_top: bool) -> list[Path]:
    folder = RunFolder(top, run_id)
    folder.create()
    folder.transcripts.mkdir()
    (folder.transcripts / f"{text}.jsonl").write_text(text, encoding="utf-8")
    file = folder.draft / "study_c_results.json"
    file.write_text(text, encoding="utf-8")
    return folder.publish([file], on_top=on_top)


def test_ids_sort_by_time_and_never_meet() -> None:
    """UTC to the second, then chance."""
    early, late = (datetime.datetime(2026, 5, 1, 9, minute, tzinfo=datetime.UTC) for minute in (1, 2))
    assert new_run_id(early) < new_run_id(late)
    assert new_run_id(early).startswith("20260501T090100Z-")
    assert len({new_run_id(early) for _ in range(50)}) == 50


def test_what_is_published_lies_in_its_place(tmp_path: Path) -> None:
    """On top only where it is a run over the full set; the files are named where they can be opened."""
    assert made(tmp_path, "one", "a", on_top=True) == [tmp_path / "study_c_results.json"]
    assert made(tmp_path, "two", "b", on_top=False) == [tmp_path / "runs" / "two" / "study_c_results.json"]
    assert (tmp_path / "study_c_results.json").read_text(encoding="utf-8") == "a"
    made(tmp_path, "three", "c", on_top=True)
    assert (tmp_path / "study_c_results.json").read_text(encoding="utf-8") == "c"
    assert [file.name for file in (tmp_path / "transcripts").iterdir()] == ["c.jsonl"]
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {"one", "two", "three"}
    assert {path.name for path in tmp_path.iterdir()} == {"study_c_results.json", "transcripts", "runs", ".lock"}


def test_nothing_is_left_of_a_run_that_wrote_nothing(tmp_path: Path) -> None:
    """Neither the draft nor the folders around it; nor is there anything to publish without a draft."""
    folder = RunFolder(tmp_path / "model")
    assert folder.publish([], on_top=True) == []
    folder.create()
    assert folder.publish([], on_top=True) == []
    assert not (tmp_path / "model").exists()


def test_a_run_beside_another_keeps_its_draft(tmp_path: Path) -> None:
    """The one that ends first takes away nothing of the other."""
    first = RunFolder(tmp_path, "first")
    first.create()
    made(tmp_path, "second", "b", on_top=True)
    assert first.draft.is_dir()


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    """Also where it lies further up."""
    (tmp_path / "taken").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="taken is a file, not a directory"):
        check_results_place(tmp_path / "taken" / "model")
    check_results_place(tmp_path / "new" / "model")


def test_a_model_with_subset_runs_only_names_the_newest(tmp_path: Path) -> None:
    """A subset never lies on top: who names the model's folder is told where the run is."""
    for run in ("20260101T000000Z-aaaaaa", "20260102T000000Z-bbbbbb"):
        (tmp_path / "runs" / run).mkdir(parents=True)
        (tmp_path / "runs" / run / "study_c_results.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match=r"no run over the full set is there; name a run, such as .*-bbbbbb$"):
        read_results(tmp_path)
