"""`clinical-drift agreement`: how far two reviewers agree, and what a third one has to decide."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_clinical_drift.cli import main
from pytest_clinical_drift.core.findings import Finding, FindingKey, Opinion
from pytest_clinical_drift.core.words import State, Why
from pytest_clinical_drift.judging.opinions import with_people
from pytest_clinical_drift.judging.reviews import content_hash


def write(path: Path, name: str, answers: dict[str, str]) -> Path:
    """Reviews of facts, a line per question, hashed as the review page does."""
    previous, lines = "", []
    for question, answer in answers.items():
        record = {
            "reviewer": name, "role": "pharmacist", "time": "2026-03-01T10:00:00Z", "question": question,
            "kind": "fact", "case_id": "anna", "answer": answer, "reason": "read it", "severe": False, "manifest": "m",
            "previous": previous,
        }  # fmt: skip
        previous = content_hash(record)
        lines.append(json.dumps({**record, "hash": previous}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_two_reviewers_are_compared_by_what_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ten questions, two on opposite sides; partial for retained is the same side. Kappa by hand: 0.6.

    One: 5 lost of 10; two: 5 of 10; 8 agree: observed 0.8, expected 0.5.
    """
    one = {f"q{n}": "absent" if n < 5 else "retained" for n in range(10)}
    two = one | {"q4": "partial", "q5": "stale", "q9": "partial"}
    files = [str(write(tmp_path / f"{name}.jsonl", name, answers)) for name, answers in (("ann", one), ("bob", two))]
    assert main(["agreement", *files]) == 0
    out = capsys.readouterr().out
    assert "80%" in out
    assert "0.60" in out
    assert "they differ on 2; a third decides" in out
    third = write(tmp_path / "cat.jsonl", "cat", {"q4": "absent", "q5": "unsure", "q0": "retained"})
    assert main(["agreement", *files, str(third)]) == 0
    out = capsys.readouterr().out
    assert "they differ on 2; the third decides 1, 1 stay open" in out
    assert "anna, facts in summaries: absent / partial, decided: absent (q4)" in out
    assert "anna, facts in summaries: retained / stale (q5)" in out


def test_each_file_is_of_another_person(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Somebody who is compared with himself agrees, and nobody decides against himself."""
    ann, again = (write(tmp_path / name, "ann", {"q1": "absent"}) for name in ("a.jsonl", "b.jsonl"))
    assert main(["agreement", str(ann), str(again)]) == 4
    assert "two files hold reviews of the same person (ann)" in capsys.readouterr().err


def test_files_without_a_question_in_common_are_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [write(tmp_path / "a.jsonl", "ann", {"q1": "absent"}), write(tmp_path / "b.jsonl", "bob", {"q2": "absent"})]
    assert main(["agreement", *map(str, files)]) == 4
    assert "no question in common" in capsys.readouterr().err


def test_a_third_reviewer_decides_where_two_differ() -> None:
    """Two against one, whichever way; one against one stays open."""
    ruling = Finding(FindingKey.of("fact", 2, "lithium"), (), "absent", State.OPEN, Why.READING, "q")
    say = {
        name: Opinion(name, 0, word, "", "read", role="nurse") for name, word in (("a", "absent"), ("b", "retained"))
    }
    third = [Opinion("c", 0, word, "", "read", role="nurse") for word in ("absent", "retained")]
    assert with_people(ruling, list(say.values())).state is State.OPEN
    assert with_people(ruling, [*say.values(), third[0]]).state is State.CONFIRMED
    assert with_people(ruling, [*say.values(), third[1]]).state is State.DISMISSED
