"""The bundled calibration set: enough of every kind, each question once, no patient of the gated cases."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from pytest_clinical_drift.cases.files import load_cases
from pytest_clinical_drift.cases.model import bundled
from pytest_clinical_drift.judging.answers import KINDS, against
from pytest_clinical_drift.judging.calibration import load_calibration_set
from pytest_clinical_drift.judging.questions import from_mapping

FOLDER = bundled("cases", "calibration")
UPHELD, CLEAN = 60, 300
MEGABYTES = 12


def rows(*kinds: str) -> Iterator[dict[str, Any]]:
    for kind in kinds or KINDS:
        for line in (FOLDER / f"{kind}.jsonl").read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_enough_upheld_and_clean_questions(kind: str) -> None:
    """Sixty upheld and three hundred clean ones, disputed labels not counted, from at least twenty patients."""
    certain = [row for row in rows(kind) if not row.get("disputed")]
    counted = Counter(against(kind, row["label"]) for row in certain)
    assert counted[True] >= UPHELD
    assert counted[False] >= CLEAN
    assert len({row["question"]["case_id"] for row in certain}) >= 20


@pytest.mark.parametrize("kind", KINDS)
def test_lines_hold_a_question_of_their_kind_a_valid_label_and_a_source(kind: str) -> None:
    """The label is an answer to that kind, the id is the hash of what is asked, the source names a voice."""
    for row in rows(kind):
        assert row["question"]["kind"] == kind
        assert row["label"] in KINDS[kind]
        assert from_mapping(row["question"]).id == row["question"]["id"]
        assert row["source"].split(", ")[0] in ("strong", "mixed")


@pytest.mark.parametrize("kind", KINDS)
def test_both_voices_stand_on_both_sides(kind: str) -> None:
    """A judge that only learnt to tell the voices apart would not do: each voice has upheld and clean questions."""
    certain = [row for row in rows(kind) if not row.get("disputed")]
    sides = {(row["source"].split(", ")[0], against(kind, row["label"])) for row in certain}
    assert sides == {(voice, side) for voice in ("strong", "mixed") for side in (True, False)}


def test_no_question_stands_twice() -> None:
    """Ids are unique over all files."""
    ids = Counter(row["question"]["id"] for row in rows())
    assert [key for key, times in ids.items() if times > 1] == []


def test_facts_go_wrong_in_every_way() -> None:
    """Among the upheld facts every wrong answer stands at least ten times, from lasting and from short faults."""
    labels = Counter(row["label"] for row in rows("fact") if against("fact", row["label"]))
    assert set(labels) == {"contradicted", "both", "stale", "absent"}
    assert min(labels.values()) >= 10


def test_no_patient_of_the_gated_cases_is_among_them() -> None:
    """Neither by case, nor by persona, nor by the text of the intake."""
    gated = load_cases(bundled("cases", "study_c"))
    ids, intakes = {case.id for case in gated}, {" ".join(case.patient_summary.split()) for case in gated}
    asked = list(rows())
    assert not ids & {row["question"]["case_id"] for row in asked}
    records = {" ".join(row["question"].get("record", "").split()) for row in asked}
    assert not any(intake in record for intake in intakes for record in records)


def test_disputed_labels_are_kept_apart() -> None:
    """The loader gives what is not disputed, and nothing else."""
    disputed = {row["question"]["id"] for row in rows() if row.get("disputed")}
    loaded = load_calibration_set(FOLDER)
    assert loaded.disputed == len(disputed) > 0
    assert {question.id for question, _ in loaded.rows} == {row["question"]["id"] for row in rows()} - disputed


def test_the_set_is_small_enough_to_ship() -> None:
    """It travels in the wheel."""
    assert sum(path.stat().st_size for path in FOLDER.glob("*.jsonl")) < MEGABYTES * 1e6
