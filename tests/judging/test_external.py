"""Public sets with labels of clinicians, read in their published formats from small files written here."""

from __future__ import annotations

import csv
import datetime
import json
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from asked import ScriptedJudge, clear

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.procedure import Judges
from pytest_clinical_drift.judging.public_sets import (
    ExternalItem,
    annotator_pairs,
    flagged,
    load_external,
    measure_external,
)
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.queue import JudgeQueue
from pytest_clinical_drift.judging.readings import Reading

TODAY = datetime.date(2026, 5, 1)
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


# ---- PriMock57: workbooks and TextGrids


def workbook(path: Path, cells: dict[str, str]) -> None:
    """A workbook of one sheet: texts are shared strings, one with its words in two runs."""
    texts = list(dict.fromkeys(cells.values()))
    half = [f"<si><r><t>{text[:2]}</t></r><r><t>{text[2:]}</t></r></si>" for text in texts]
    rows: dict[int, str] = {}
    for place, text in cells.items():
        row = int(place.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
        rows[row] = rows.get(row, "") + f'<c r="{place}" t="s"><v>{texts.index(text)}</v></c>'
    lines = "".join(f'<row r="{row}">{found}<c r="Z{row}"/></row>' for row, found in sorted(rows.items()))
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("xl/sharedStrings.xml", f'<sst xmlns="{SHEET}">{"".join(half)}</sst>')
        book.writestr(
            "xl/worksheets/sheet1.xml", f'<worksheet xmlns="{SHEET}"><sheetData>{lines}</sheetData></worksheet>'
        )


def grid(path: Path, *spoken: tuple[float, str]) -> None:
    """A TextGrid: one interval per utterance; quotation marks are doubled."""
    path.parent.mkdir(parents=True, exist_ok=True)
    intervals = "".join(
        f"        intervals [{number}]:\n            xmin = {start}\n            xmax = {start + 1}\n"
        f'            text = "{text}"\n'
        for number, (start, text) in enumerate(spoken, start=1)
    )
    path.write_text(f'File type = "ooTextFile"\nitem [1]:\n    name = "x"\n{intervals}', encoding="utf-8")


@pytest.fixture
def primock(tmp_path: Path) -> Path:
    workbook(
        tmp_path / "consultation_checklists" / "Clinician_1" / "Day 1 Consultation 2 - Checklist.xlsx",
        {
            "A1": "Checklist", "B1": "Note 1", "D1": "Note 2", "A2": "Cough", "B2": "Cough for 3 days", "C2": "c",
            "B3": "↳ Takes aspirin", "C3": "i", "B4": "Not labelled", "B5": "No fever", "C5": "C",
            "D2": "Cough\nfor 3 weeks", "E2": "I", "D3": "No fever", "E3": "c",
        },
    )  # fmt: skip
    doctor, patient = (
        tmp_path / "transcripts" / f"day1_consultation02_{side}.TextGrid" for side in ("doctor", "patient")
    )
    grid(doctor, (0.0, 'What ""brings"" you?'), (4.5, "Any <UNSURE>fever</UNSURE>?"), (9.0, ""))
    grid(patient, (2.25, "A cough, three days."), (6.0, "No."))
    return tmp_path


def test_notes_are_readings_with_labelled_statements(primock: Path) -> None:
    """Two notes of one consultation, both sides merged by time; a statement is one line, without a label none."""
    name, items = load_external(f"primock57={primock}")
    assert name == "primock57"
    assert [list(zip(item.item.text.split("\n"), item.votes, strict=True)) for item in items] == [
        [("Cough for 3 days", (False,)), ("Takes aspirin", (True,)), ("No fever", (False,))],
        [("Cough for 3 weeks", (True,)), ("No fever", (False,))],
    ]
    first = items[0].item
    assert isinstance(first, Reading)
    assert (first.kind, first.facts, first.case_id) == ("summary", (), "day1-02-clinician_1-note-1")
    assert first.text == "Cough for 3 days\nTakes aspirin\nNo fever"
    assert first.record.endswith(
        'Doctor: What "brings" you?\nPatient: A cough, three days.\nDoctor: Any fever?\nPatient: No.'
    )


def test_what_is_not_that_set_is_refused(primock: Path, tmp_path: Path) -> None:
    (primock / "transcripts" / "day1_consultation02_patient.TextGrid").unlink()
    with pytest.raises(InputError, match=r"day1_consultation02_patient\.TextGrid is missing"):
        load_external(f"primock57={primock}")
    sheet = next(primock.glob("**/*.xlsx"))
    sheet.write_bytes(b"no workbook")
    grid(primock / "transcripts" / "day1_consultation02_patient.TextGrid", (1.0, "Hello."))
    with pytest.raises(InputError, match="not a workbook"):
        load_external(f"primock57={primock}")
    empty = tmp_path / "empty"
    empty.mkdir()
    for given, said in (
        (f"primock57={empty}", "no '\\* - Checklist.xlsx' found"),
        ("primock57", "write NAME=PATH"),
        (f"mimic={empty}", "write NAME=PATH with one of primock57, kqa, healthbench"),
        (f"kqa={empty / 'none'}", "does not exist"),
        (f"kqa={empty}", "no annotations CSV found"),
        (f"healthbench={empty}", "meta_eval"),
    ):
        with pytest.raises(InputError, match=said):
            load_external(given)


# ---- K-QA: a CSV of claims


CLAIMS = [
    ("Can I?", "Rest and drink.", "Drink water", "entailment", "entailment", "entailment"),
    ("Can I?", "Rest and drink.", "See a doctor", "neutral", "neutral", "entailment"),
    ("Can I?", "Rest, and\ndrink.", "Never rest", "contradiction", "neutral", "contradiction"),
]


def claims(path: Path, rows: Any = CLAIMS, columns: Any = None) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns or ("Question", "answer", "claim", "label_0", "label_1", "label_2"))
        writer.writerows(rows)
    return path


def test_claims_are_demands(tmp_path: Path) -> None:
    """Missing where the answer does not entail the claim; what all three physicians say is kept."""
    _, items = load_external(f"kqa={claims(tmp_path / 'test_annotations.csv').parent}")
    assert [item.votes for item in items] == [((False, False, False),), ((True, True, False),), ((True, True, True),)]
    asked = items[1].item
    assert isinstance(asked, Question)
    assert (asked.kind, asked.demand, asked.text, asked.patient) == (
        "must", "See a doctor", "Rest and drink.", "Turn 1: Can I?",
    )  # fmt: skip
    with pytest.raises(InputError, match="line 2: unknown label 'maybe'"):
        load_external(f"kqa={claims(tmp_path / 'x.csv', [(*CLAIMS[0][:3], 'maybe', 'neutral', 'neutral')])}")
    with pytest.raises(InputError, match="the column claim is missing"):
        load_external(f"kqa={claims(tmp_path / 'y.csv', [], ('Question', 'answer'))}")


def test_annotators_against_each_other() -> None:
    """Of two that agree with the third apart: it is compared with them; they are not, since their others differ."""

    def pairs(*votes: tuple[bool, ...]) -> Counter[tuple[bool, bool]]:
        return Counter(annotator_pairs([ExternalItem(Question("must", "x", 1, "text"), (given,)) for given in votes]))

    found = pairs((True, True, True), (True, True, False), (False, False, False))
    # unanimous: three hits each; split: the odd one misses the two others, who agree that it is missing
    assert found == {(True, True): 3, (True, False): 1, (False, False): 3}
    # of two each is compared with the other; one alone with nobody
    assert pairs((True, False), (True, True)) == {(True, True): 2, (True, False): 1, (False, True): 1}
    assert not pairs((True,))


# ---- HealthBench's meta-evaluation: JSONL


def test_criteria_are_demands(tmp_path: Path) -> None:
    """Missing where a physician says that the criterion is not met; rows without a label are left out."""
    rows = [
        {"prompt": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}], "completion": "Rest.",
         "rubric": "Says to rest", "completion_id": "a", "binary_labels": [True, True]},
        {"prompt": [], "completion": "Run.", "rubric": "Says to rest", "completion_id": "b", "binary_labels": [False]},
        {"prompt": [], "completion": "Run.", "rubric": "Says to rest", "completion_id": "c", "binary_labels": []},
    ]  # fmt: skip
    file = tmp_path / "2025_meta_eval.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    _, items = load_external(f"healthbench={tmp_path}")
    assert [(item.item.case_id, item.votes) for item in items] == [
        ("healthbench-a", ((False, False),)), ("healthbench-b", ((True,),)),
    ]  # fmt: skip
    assert items[0].item.patient == "User: Hi\n\nAssistant: Yes?"
    file.write_text(json.dumps(rows[0]) + '\n{"prompt": 3}\n', encoding="utf-8")
    with pytest.raises(InputError, match="line 2: not a row of the meta-evaluation"):
        load_external(f"healthbench={file}")


# ---- a judge against the labels


def measured(given: str, script: Any) -> Any:
    name, items = load_external(given)
    queue = JudgeQueue(ScriptedJudge(script))
    try:
        return measure_external(queue, name, items, Judges("scripted", "scripted", alone=True), today=TODAY)
    finally:
        queue.stop()


def test_claims_are_counted_against_the_majority(tmp_path: Path) -> None:
    """It calls the third claim missing and the second met: 1 of 2 found, 1 of 1 cleared."""

    def script(item: Any, wording: int) -> dict[str, Any]:
        missing = item.demand == "Never rest"
        return {"answer": "missing" if missing else "met", "quote": "" if missing else "Rest"}

    table = measured(f"kqa={claims(tmp_path / 'a.csv')}", script)
    rows = {row["items"]: row for row in table.rows}
    assert rows["all"]["sensitivity"] == [1, 2]
    assert rows["all"]["specificity"] == [1, 1]
    assert rows["unanimous"]["sensitivity"] == [1, 1]
    assert rows["disputed"]["sensitivity"] == [0, 1]
    # kappa: agreement 2/3, expected (2/3 · 1/3 + 1/3 · 2/3) = 4/9; F1: wrong 2/3, right 2/3
    assert rows["all"]["kappa"] == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
    assert rows["all"]["balanced_f1"] == pytest.approx(2 / 3)
    assert rows["one annotator against the others"]["sensitivity"] == [3, 4]


def test_statements_of_notes_are_counted_by_what_a_reading_lists(primock: Path) -> None:
    """It lists the aspirin, and the fever of the second note without cause: 1 of 2 found, 2 of 3 cleared."""

    def script(item: Any, wording: int) -> dict[str, Any]:
        if isinstance(item, Question):
            return {"answer": "severe", "quote": item.statement}
        listed = ["Takes aspirin"] if "aspirin" in item.text else ["No fever"]
        return clear(item) | {"unsupported": [{"quote": quote, "grade": "severe", "reason": "r"} for quote in listed]}

    (row,) = measured(f"primock57={primock}", script).rows
    assert (row["sensitivity"], row["specificity"]) == ([1, 2], [2, 3])
    assert row["sensitivity_limits"] == [0.0126, 0.9874]


def test_what_a_judge_does_not_answer_is_never_right(primock: Path, tmp_path: Path) -> None:
    """No answer, and a second wording that takes back the first, count as errors on wrong and right items alike."""

    def torn(item: Any, wording: int) -> dict[str, Any]:
        return {"answer": "missing" if wording == 1 else "met", "quote": "" if wording == 1 else "Rest"}

    def silent(item: Any, wording: int) -> dict[str, Any]:
        return {}

    pairs = f"kqa={claims(tmp_path / 'a.csv')}"
    for given, script in ((pairs, torn), (pairs, silent), (f"primock57={primock}", silent)):
        every = measured(given, script).rows[0]
        assert (every["sensitivity"][0], every["specificity"][0]) == (0, 0)


def test_lines_that_a_quotation_covers() -> None:
    """Half of a line, or wholly within it; over a line break both; whatever the case and spacing."""
    text = "Cough for 3 days\nTakes aspirin\nNo fever"
    assert flagged(text, ["takes  ASPIRIN"]) == [False, True, False]
    assert flagged(text, ["aspirin"]) == [False, True, False]
    assert flagged(text, ["Takes aspirin No fever"]) == [False, True, True]
    assert flagged(text, ["never said"]) == [False, False, False]
    assert flagged(text, []) == [False] * 3
