"""Run folders: their ids, their publication, and what lies on top."""

from __future__ import annotations

import datetime
import os
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


def test_a_draft_is_made_although_a_run_that_ends_removes_the_folder_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder of drafts is gone between its making and that of the draft: it is made once more."""
    made_so_far: list[str] = []
    make = os.mkdir

    def lost_once(path: str | Path, mode: int = 0o777) -> None:
        make(path, mode)
        made_so_far.append(Path(path).name)
        if made_so_far == [".drafts"]:
            os.rmdir(path)

    monkeypatch.setattr(os, "mkdir", lost_once)
    folder = RunFolder(tmp_path, "one")
    folder.create()
    assert folder.draft.is_dir()
    assert made_so_far == [".drafts", ".drafts", "one"]


def test_a_draft_belongs_to_one_run(tmp_path: Path) -> None:
    """Two runs of one id would write into each other's results."""
    RunFolder(tmp_path, "one").create()
    with pytest.raises(FileExistsError):
        RunFolder(tmp_path, "one").create()


@pytest.mark.parametrize("newer", [True, False], ids=["a large set", "a small set"])
def test_pages_of_cases_on_top_are_those_of_the_newest_run(tmp_path: Path, newer: bool) -> None:
    """A set without pages of its own leaves none of the run before; what was signed before goes too."""
    for run_id, pages in (("one", True), ("two", newer)):
        folder = RunFolder(tmp_path, run_id)
        folder.create()
        (folder.draft / "report.html").write_text(run_id, encoding="utf-8")
        if pages:
            (folder.draft / "cases").mkdir()
            (folder.draft / "cases" / f"{run_id}.html").write_text(run_id, encoding="utf-8")
        folder.publish([], on_top=True)
        kept = {path.name for path in tmp_path.iterdir()}
        assert kept == {"runs", ".lock", "report.html"} | ({"cases"} if pages else set())
        assert [file.name for file in (tmp_path / "cases").glob("*")] == [f"{run_id}.html"] * pages
        (tmp_path / "release.json").write_text("signed", encoding="utf-8")
        (tmp_path / "release.json.sigstore").write_text("signature", encoding="utf-8")
    assert (tmp_path / "runs" / "one" / "cases" / "one.html").is_file()


def test_what_was_discarded_can_be_discarded_again(tmp_path: Path) -> None:
    """A run that ends twice over, by an error and by its end."""
    folder = RunFolder(tmp_path / "model")
    folder.create()
    folder.discard()
    folder.discard()
    assert not (tmp_path / "model").exists()


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
