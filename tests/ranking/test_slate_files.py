"""Slate folders: what is read, what is refused in one sentence, freezing and verifying."""

from __future__ import annotations

import builtins
import datetime
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from simulate import write_csv
from small_slate import CANDIDATES, CREATED, LABELS, OUTCOME, OUTCOMES, PREDICTION, ROWS

from pytest_clinical_drift.core.packaged import bundled
from pytest_clinical_drift.errors import InputError, MissingDependency
from pytest_clinical_drift.ranking.files import is_known
from pytest_clinical_drift.ranking.freezing import SlateSources, freeze, verify
from pytest_clinical_drift.ranking.slate import Slate, read_slates
from pytest_clinical_drift.verdict.bands import TIERS

polars = pytest.importorskip("polars")
WriteFolder = Callable[..., Path]
WriteSlate = Callable[..., Slate]


def fault(folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_slates(folder)
    message = str(caught.value)
    assert "\n" not in message
    return message


def changed(position: int, cell: object) -> list[tuple[object, ...]]:
    """The example's rows with one cell of the second row replaced."""
    row = list(ROWS[1])
    row[position] = cell
    return [ROWS[0], tuple(row), *ROWS[2:]]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (changed(4, "nan"), "predictions.csv, row 2: repurposing_score is 'nan', not a finite number"),
        (changed(4, None), "predictions.csv, row 2: repurposing_score is empty"),
        (changed(4, "good"), "predictions.csv, row 2: repurposing_score is 'good'"),
        (changed(5, 0), "predictions.csv, row 2: rank is 0"),
        (changed(5, 1.5), "predictions.csv, row 2: rank is 1.5"),
        (
            changed(6, "sure"),
            "predictions.csv, row 2: confidence_tier is 'sure', not a tier; known ones: high, moderate",
        ),
        (changed(1, "last spring"), "predictions.csv, row 2: created_at is 'last spring', not a date"),
        (changed(1, "2025-01-16"), "predictions.csv, row 2: created_at is empty or differs"),
        (changed(3, ""), "predictions.csv, row 2: drug_name is empty"),
        ([], "the slate holds no prediction"),
    ],
)
def test_bad_predictions(write_folder: WriteFolder, rows: list[tuple[object, ...]], expected: str) -> None:
    """Each gets one sentence with file, row and column."""
    assert expected in fault(write_folder(rows))


@pytest.mark.parametrize(
    ("position", "cell", "expected"),
    [
        (4, "soon", "outcomes.csv, row 1: outcome_date is 'soon', not a date"),
        (6, "31.12.2025", "outcomes.csv, row 1: observed_at is '31.12.2025', not a date"),
        (3, "cured", "outcomes.csv, row 1: outcome_type is 'cured', not an outcome; known ones: first_trial_seen"),
        (1, "", "outcomes.csv, row 1: disease_name is empty"),
    ],
)
def test_bad_outcomes(write_folder: WriteFolder, position: int, cell: str, expected: str) -> None:
    """Unparseable dates and unknown types are never guessed at."""
    row = list(OUTCOMES[0])
    row[position] = cell
    assert expected in fault(write_folder(ROWS, [tuple(row)]))


def test_missing_columns_and_files(write_folder: WriteFolder, tmp_path: Path) -> None:
    """A column that is not there is named together with those that are."""
    assert "no such slate folder" in fault(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    assert "no predictions.* or registry.*" in fault(tmp_path / "empty")
    folder = write_folder([("X", "a")], header=("disease_name", "drug_name"))
    message = fault(folder)
    assert "the column repurposing_score is missing" in message
    assert "disease_name, drug_name" in message
    folder = write_folder([("X", "a", 1)], header=("disease_name", "drug_name", "repurposing_score"))
    assert "created_at is missing" in fault(folder)
    folder = write_folder(ROWS, [("X", "a")], outcome_header=("disease_name", "drug_name"))
    assert "the columns outcome_type, outcome_date are missing" in fault(folder)
    write_csv(folder / "registry.csv", PREDICTION, ROWS)
    assert "both predictions.csv and registry.csv" in fault(folder)


def test_unreadable_files(write_folder: WriteFolder) -> None:
    """Bytes that are no table, and labels that are none."""
    folder = write_folder()
    (folder / "labels.csv").write_text("disease_name,drug_name,label\nX,a,best\n", encoding="utf-8")
    assert "labels.csv, row 1: label is 'best', not a label" in fault(folder)
    (folder / "labels.csv").unlink()
    (folder / "labels.parquet").write_bytes(b"not parquet")
    assert "labels.parquet: not readable as parquet" in fault(folder)


def test_missing_polars_says_what_to_install(write_folder: WriteFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence, not a traceback."""
    folder, real = write_folder(), builtins.__import__

    def without_polars(name: str, *arguments: object, **keywords: object) -> object:
        if name == "polars":
            raise ImportError(name)
        return real(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", without_polars)
    with pytest.raises(MissingDependency, match=r"pip install 'pytest-clinical-drift\[ranking\]'"):
        read_slates(folder)


def test_tiers_and_ranks_are_worked_out_where_they_are_not_given(write_slate: WriteSlate) -> None:
    """Ranks by score, ties by drug name; tiers high to rank 10, moderate to 50, exploratory beyond."""
    rows = [("s1", CREATED, "X", f"d{index:02d}", 1.0 if index == 40 else 0.5) for index in range(60)]
    slate = write_slate(rows, None, None, None, header=PREDICTION[:5])
    ranks = slate.predictions["rank"].to_numpy()
    assert ranks[40] == 1
    assert ranks[0] == 2
    assert ranks[59] == 60
    tiers = slate.predictions["tier"]
    assert [TIERS[tiers[int(np.flatnonzero(ranks == rank)[0])]] for rank in (1, 10, 11, 50, 51)] == [
        "high",
        "high",
        "moderate",
        "moderate",
        "exploratory",
    ]


def test_formats_agree(write_slate: WriteSlate, tmp_path: Path) -> None:
    """Parquet with typed columns and JSON Lines give the slate that CSV gives."""
    expected = write_slate()
    for suffix in ("parquet", "jsonl"):
        folder = tmp_path / suffix
        folder.mkdir()
        for name, stem in (("predictions", "registry"), ("outcomes", "outcomes"), ("candidates", "top_candidates")):
            frame = polars.read_csv(tmp_path / "slate" / f"{name}.csv", try_parse_dates=True)
            if suffix == "parquet":
                frame.write_parquet(folder / f"{stem}.parquet")
            else:
                polars.read_csv(tmp_path / "slate" / f"{name}.csv").write_ndjson(folder / f"{stem}.jsonl")
        labels = polars.read_csv(tmp_path / "slate" / "labels.csv")
        labels.write_parquet(folder / "labeled_pairs.parquet")
        (slate,) = read_slates(folder)
        assert slate.created_at == expected.created_at
        assert slate.drugs == expected.drugs
        for name in ("disease", "drug", "score", "rank", "tier", "known"):
            assert slate.predictions[name].to_list() == expected.predictions[name].to_list()
        assert slate.outcomes.equals(expected.outcomes)
        assert slate.breadth is not None
        assert slate.breadth.tolist() == [3, 1, 0, 0]


def test_registry_of_several_slates(write_folder: WriteFolder) -> None:
    """Each slate has its own predictions, time and outcomes; the public list of slates is understood."""
    other = [("s2", "2025-06-01T00:00:00Z", *row[2:]) for row in ROWS[:2]]
    folder = write_folder(
        [*ROWS, *other], [*OUTCOMES, ("s2", "Xanthosis", "Abel", "fda_approved", "2025-07-01", "", "")]
    )
    listed = [
        {"slate_id": "s2", "created_at": "2025-06-01T00:00:00+00:00", "n_predictions": 2},
        {"slate_id": "s0", "created_at": "2025-01-01T00:00:00+00:00"},
    ]
    (folder / "slates.json").write_text(json.dumps(listed), encoding="utf-8")
    first, second = read_slates(folder)
    assert (first.id, len(first.predictions), len(first.outcomes)) == ("s1", 4, 4)
    assert (second.id, len(second.predictions), len(second.outcomes)) == ("s2", 2, 1)
    assert second.outcomes["day"].to_list() == [30]
    assert first.manifest is None
    assert second.manifest is not None
    listed[0]["created_at"] = "2025-06-02T00:00:00+00:00"
    (folder / "slates.json").write_text(json.dumps(listed), encoding="utf-8")
    assert "is not what slates.json says" in fault(folder)


def test_names_match_case_insensitively_and_exactly_otherwise(write_slate: WriteSlate) -> None:
    """Another case is the same pair; a trailing blank or another salt is not."""
    outcomes = [
        ("s1", "XANTHOSIS", "aBEL", "first_trial_seen", "2025-06-01", "", ""),
        ("s1", "Xanthosis", "Abel ", "fda_approved", "2025-06-01", "", ""),
        ("s1", "Xanthosis", "Abel hydrochloride", "fda_approved", "2025-06-01", "", ""),
    ]
    slate = write_slate(ROWS, outcomes)
    assert len(slate.outcomes) == 1
    assert "outcome rows on pairs outside the slate and its candidates: 2" in slate.notes


@pytest.mark.parametrize(
    ("cell", "known"),
    [
        ("true", True),
        ("False", False),
        ("0", False),
        ("phase2", True),
        ('{"in_labeled_pairs": true, "label": "phase2", "max_phase": 2.0}', True),
        ('{"in_labeled_pairs": false, "label": "unlabeled", "max_phase": null}', False),
        ('{"in_labeled_pairs": true, "label": "negative", "max_phase": 0}', False),
        ('{"in_labeled_pairs": true}', True),
        ('{"label": null, "max_phase": 0.0, "first_approval": 1999}', True),
        ("{broken", True),
    ],
)
def test_known_at_freeze(cell: str, known: bool) -> None:
    """A flag, a word, or the public registry's record; what cannot be read counts as known, the careful side."""
    assert is_known(cell) == known


def test_labels_tell_what_was_known_where_predictions_do_not(write_folder: WriteFolder) -> None:
    """A positive label up to the year of the freeze makes a pair known; a negative or later one does not."""
    folder = write_folder()
    labels = [
        ("Xanthosis", "Abel", 4, 2019),
        ("Ypsilosis", "Abel", 0, 2019),
        ("Ypsilosis", "Cora", 4, 2026),
        ("Xanthosis", "Dora", 1, None),
    ]
    write_csv(folder / "labels.csv", ("disease_name", "drug_name", "label", "year"), labels)
    (slate,) = read_slates(folder)
    assert slate.predictions["known"].to_list() == [True, False, False, False]
    assert slate.candidates is not None
    known = set(slate.candidates.filter("known").select("disease", "drug").iter_rows())
    assert known == {("xanthosis", "abel"), ("xanthosis", "dora")}


# -- freezing and verifying


@pytest.fixture
def sources(tmp_path: Path) -> dict[str, Path]:
    rows = [row[2:] for row in ROWS]
    return {
        "predictions": write_csv(tmp_path / "mine.csv", PREDICTION[2:], rows),
        "candidates": write_csv(tmp_path / "scored.csv", ("disease_name", "drug_name"), CANDIDATES),
        "labels": write_csv(tmp_path / "known.csv", ("disease_name", "drug_name"), LABELS),
    }


def frozen(sources: dict[str, Path], out: Path) -> str:
    manifest = freeze(
        SlateSources(sources["predictions"], sources["candidates"], sources["labels"]),
        out,
        model_version="ranker 5",
        parameters={"top_k": "2"},
        created_at=datetime.datetime(2025, 1, 15, 9, 30, tzinfo=datetime.UTC),
    )
    assert manifest.sha256 is not None
    return manifest.sha256


def test_frozen_slate_reads_and_verifies(sources: dict[str, Path], tmp_path: Path) -> None:
    """The same content gives the same hash; outcomes may come later without changing it."""
    digest = frozen(sources, tmp_path / "one")
    assert digest == frozen(sources, tmp_path / "two")
    (slate,) = read_slates(tmp_path / "one")
    assert slate.id.startswith("ranker-5-20250115-")
    assert slate.created_at.year == 2025
    write_csv(tmp_path / "one" / "outcomes.csv", OUTCOME, OUTCOMES)
    assert not verify(tmp_path / "one", digest).problems
    assert not verify(tmp_path / "one").problems
    assert verify(tmp_path / "one").sha256 == digest


@pytest.mark.parametrize("name", ["predictions.csv", "candidates.csv", "labels.csv"])
def test_changed_file_is_found(sources: dict[str, Path], tmp_path: Path, name: str) -> None:
    """One byte is enough, and so is a missing file."""
    digest = frozen(sources, tmp_path / "slate")
    file = tmp_path / "slate" / name
    file.write_text(file.read_text(encoding="utf-8").replace("bel", "bet", 1), encoding="utf-8")
    found = verify(tmp_path / "slate", digest)
    assert f"{name} was changed after freezing" in found.problems
    assert any("not the one that was kept" in problem for problem in found.problems)
    file.unlink()
    assert f"{name} is missing" in verify(tmp_path / "slate").problems


def test_backdated_manifest_is_found(sources: dict[str, Path], tmp_path: Path) -> None:
    """created_at cannot be moved; with a rewritten hash only the one kept elsewhere tells."""
    digest = frozen(sources, tmp_path / "slate")
    file = tmp_path / "slate" / "manifest.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    data["created_at"] = "2024-01-15T09:30:00+00:00"
    file.write_text(json.dumps(data), encoding="utf-8")
    assert verify(tmp_path / "slate").problems == (
        "manifest.json was changed after freezing: its hash does not fit its content",
    )
    data["sha256"] = verify(tmp_path / "slate").sha256
    file.write_text(json.dumps(data), encoding="utf-8")
    assert not verify(tmp_path / "slate").problems
    assert verify(tmp_path / "slate", digest).problems


def test_freezing_refuses(sources: dict[str, Path], tmp_path: Path) -> None:
    """A folder in use, no version, another file type, columns that freezing sets, a pair twice, bad predictions."""
    frozen(sources, tmp_path / "slate")
    with pytest.raises(InputError, match="never overwritten"):
        frozen(sources, tmp_path / "slate")
    with pytest.raises(InputError, match="--model-version is empty"):
        freeze(SlateSources(sources["predictions"]), tmp_path / "new", model_version=" ")
    with pytest.raises(InputError, match=r"ends in \.parquet"):
        freeze(SlateSources(tmp_path / "mine.xlsx"), tmp_path / "new", model_version="1")
    with pytest.raises(InputError, match="has a column slate_id"):
        freeze(SlateSources(write_csv(tmp_path / "a.csv", PREDICTION, ROWS)), tmp_path / "new", model_version="1")
    twice = [tuple(row[2:]) for row in (*ROWS, ROWS[0])]
    with pytest.raises(
        InputError, match=rf"twice\.csv, row {len(twice)}: duplicate pair \(.*\); 1 duplicate row; keep"
    ):
        freeze(
            SlateSources(write_csv(tmp_path / "twice.csv", PREDICTION[2:], twice)), tmp_path / "new", model_version="1"
        )
    with pytest.raises(InputError, match=r"b\.csv: the column repurposing_score"):
        freeze(
            SlateSources(write_csv(tmp_path / "b.csv", PREDICTION[2:4], [("X", "a")])),
            tmp_path / "new",
            model_version="1",
        )
    assert not (tmp_path / "new").exists()
    assert not list(tmp_path.glob(".freeze-*"))


def test_verifying_refuses(sources: dict[str, Path], tmp_path: Path) -> None:
    """A hash that is none, and a folder that was not frozen."""
    frozen(sources, tmp_path / "slate")
    with pytest.raises(InputError, match="64 hexadecimal digits"):
        verify(tmp_path / "slate", "abc")
    with pytest.raises(InputError, match=r"has no manifest\.json"):
        verify(tmp_path)


def test_bundled_example_is_unchanged() -> None:
    """The example slate verifies against the hash it was frozen with."""
    found = verify(
        bundled("cases", "slates", "example"), "5b459864eba91174664f07fa94eb7af19031c1bbb813e616cc0d5bbac98a5d62"
    )
    assert found.problems == ()


def test_manifest_cannot_point_outside(sources: dict[str, Path], tmp_path: Path) -> None:
    """A file name with a path in it is a problem, and that file is not looked at."""
    frozen(sources, tmp_path / "slate")
    file = tmp_path / "slate" / "manifest.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    data["files"]["../mine.csv"] = "0" * 64
    file.write_text(json.dumps(data), encoding="utf-8")
    assert "manifest.json names the file '../mine.csv' outside the folder" in verify(tmp_path / "slate").problems


def test_outcomes_of_another_slate_are_told(write_slate: WriteSlate) -> None:
    """A wrong slate_id would otherwise look like silence."""
    slate = write_slate(ROWS, [("s9", *row[1:]) for row in OUTCOMES])
    assert len(slate.outcomes) == 0
    assert "none of the 4 outcome rows names the slate s1" in slate.notes
    some = write_slate(ROWS, [("s9", *OUTCOMES[0][1:]), *OUTCOMES])
    assert "outcome rows that carry another slate's id: 1" in some.notes


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("outcomes.csv", b""),
        ("outcomes.csv", b"\xff\xfe\x00\x00garbage"),
        ("outcomes.csv", b'disease_name,drug_name,outcome_type,outcome_date\n"X'),
        ("outcomes.csv", b"disease_name,drug_name,outcome_type,outcome_date\na,b,c,d,e,f\n"),
        ("outcomes.csv", b'\n""," "'),
        ("outcomes.jsonl", b""),
        ("outcomes.jsonl", b"[1, 2]\nnot json\n"),
        ("outcomes.jsonl", b'{"disease_name": 1}\n{"disease_name": [1]}\n'),
        ("outcomes.parquet", b"PAR1PAR1"),
    ],
)
def test_garbage_raises_one_sentence(write_folder: WriteFolder, name: str, content: bytes) -> None:
    """Whatever the bytes, the message names the file and nothing else escapes."""
    folder = write_folder(ROWS, None)
    (folder / name).write_bytes(content)
    assert name in fault(folder)


def test_a_fault_in_the_second_slate_is_told_with_its_row_in_the_file(write_folder: WriteFolder) -> None:
    """Four rows of one slate, then the fault: row 5 of the file, not row 1 of its slate."""
    second = ("s2", CREATED, "Xanthosis", "Abel", "good", 1, "high")
    assert "predictions.csv, row 5: repurposing_score is 'good'" in fault(write_folder([*ROWS, second]))
