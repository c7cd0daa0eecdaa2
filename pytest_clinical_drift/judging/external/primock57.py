"""PriMock57 (Korfiatis et al. 2022): generated consultation notes, each statement called correct or not by a clinician.

Read as published: `consultation_checklists/Clinician_N/Day D Consultation C - Checklist.xlsx`, first sheet, columns
headed `Note 1`, `Note 2` with the label to their right; `transcripts/dayD_consultationCC_{doctor,patient}.TextGrid`.
"""

import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.external.items import ExternalItem, Statement
from pytest_clinical_drift.judging.readings import Reading

_NAME = re.compile(r"Day (\d+) Consultation (\d+)", re.IGNORECASE)
_INTERVAL = re.compile(r"xmin = ([\d.]+)\s+xmax = [\d.]+\s+text = \"((?:[^\"]|\"\")*)\"")
_MARK = re.compile(r"<[^>]*>")
_SPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_CONSULTATION = "The consultation that the note was written about:"


def load(folder: Path) -> list[ExternalItem]:
    """One reading per note; InputError where the folder is not the published one."""
    sheets = sorted(folder.glob("**/*Checklist.xlsx"))
    if not sheets:
        raise InputError(f"{folder}: no '* - Checklist.xlsx' found; give the folder of the published data set")
    items = []
    for sheet in sheets:
        match = _NAME.search(sheet.name)
        if match is None:
            raise InputError(f"{sheet}: expected a name such as 'Day 1 Consultation 1 - Checklist.xlsx'")
        day, number = int(match[1]), int(match[2])
        transcript = _dialogue(folder, f"day{day}_consultation{number:02d}")
        for title, statements in _notes(sheet):
            name = f"day{day}-{number:02d}-{sheet.parent.name}-{title}".lower().replace(" ", "-")
            items.append(note_item(name, transcript, statements))
    return items


def note_item(name: str, transcript: str, statements: Sequence[Statement]) -> ExternalItem:
    """A note as a reading without facts: what has no source in the consultation is unsupported."""
    text = "\n".join(statement.text for statement in statements)
    reading = Reading("summary", name, 1, text, record=f"{_CONSULTATION}\n\n{transcript}")
    return ExternalItem(reading, tuple(statements))


def _dialogue(folder: Path, stem: str) -> str:
    """Both sides of a consultation, merged by their times."""
    spoken: list[tuple[float, str, str]] = []
    for side in ("doctor", "patient"):
        file = next(iter(sorted(folder.glob(f"**/{stem}_{side}.TextGrid"))), None)
        if file is None:
            raise InputError(f"{folder}: {stem}_{side}.TextGrid is missing")
        for start, text in _INTERVAL.findall(file.read_text(encoding="utf-8", errors="replace")):
            words = " ".join(_MARK.sub("", text.replace('""', '"')).split())
            if words:
                spoken.append((float(start), side.capitalize(), words))
    return "\n".join(f"{who}: {words}" for _, who, words in sorted(spoken))


def _notes(sheet: Path) -> Iterator[tuple[str, list[Statement]]]:
    """The labelled notes of a checklist."""
    rows = _cells(sheet)
    heads = {column: text for (row, column), text in rows.items() if row == 1 and text.strip().startswith("Note")}
    for column, title in sorted(heads.items()):
        statements = []
        for row in range(2, 1 + max((row for row, _ in rows), default=0)):
            text, label = rows.get((row, column), "").strip(), rows.get((row, column + 1), "").strip().lower()
            if text and label in ("c", "i"):
                statements.append(Statement(text.removeprefix("↳").strip(), label == "i"))
        if statements:
            yield title.strip(), statements


def _cells(sheet: Path) -> dict[tuple[int, int], str]:
    """The first sheet of a workbook, by row and column; InputError where it is not one."""
    try:
        with zipfile.ZipFile(sheet) as book:
            strings = ElementTree.fromstring(book.read("xl/sharedStrings.xml"))
            table = ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml"))
    except (OSError, KeyError, zipfile.BadZipFile, ElementTree.ParseError) as error:
        raise InputError(f"{sheet}: not a workbook that can be read ({type(error).__name__})") from None
    texts = ["".join(part.text or "" for part in item.iter(f"{_SPACE}t")) for item in strings.iter(f"{_SPACE}si")]
    cells = {}
    for cell in table.iter(f"{_SPACE}c"):
        place, value = cell.get("r", ""), cell.find(f"{_SPACE}v")
        letters = re.match(r"[A-Z]+", place)
        if value is None or value.text is None or letters is None:
            continue
        column = 0
        for letter in letters[0]:
            column = 26 * column + ord(letter) - 64
        shared = cell.get("t") == "s"
        cells[int(place[len(letters[0]) :]), column] = texts[int(value.text)] if shared else value.text
    return cells
