"""A judge against public sets that clinicians labelled, read as published: sensitivity, specificity, F1 and kappa."""

import csv
import datetime
import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from pytest_clinical_drift.cases.files import numbered_lines, read_text
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.calibration_file import ExternalTable
from pytest_clinical_drift.judging.procedure import Judges, Procedure, read_all, settle
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.queue import JudgeQueue
from pytest_clinical_drift.judging.raised_points import Point, raised_points
from pytest_clinical_drift.judging.readings import Reading
from pytest_clinical_drift.judging.rulings import Raised, State
from pytest_clinical_drift.metrics.agreement import balanced_f1, cohen_kappa
from pytest_clinical_drift.metrics.intervals import proportion_interval

_SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


class ExternalItem(NamedTuple):
    """A text with labels: a reading whose every line is a statement, or a question."""

    item: Reading | Question
    votes: tuple[tuple[bool, ...], ...]
    """For each statement, or for the question, what each annotator said: true where it is wrong or missing."""


class _Outcome(NamedTuple):
    wrong: bool
    """The label as published: the majority of the annotators."""
    said: bool
    """The same by the judge; what it leaves open, or does not answer, is an error whatever the label."""
    unanimous: bool
    """Whether the annotators agree."""


# ---- reading the sets


def _primock57(folder: Path) -> Iterator[ExternalItem]:
    """PriMock57 (Korfiatis et al. 2022): generated consultation notes, each statement called correct or not.

    `consultation_checklists/Clinician_N/Day D Consultation C - Checklist.xlsx`, first sheet, columns headed `Note 1`,
    `Note 2` with the label to their right; `transcripts/dayD_consultationCC_{doctor,patient}.TextGrid`. A note is a
    reading without facts: what has no source in the consultation is unsupported.
    """
    sheets = sorted(folder.glob("**/*Checklist.xlsx"))
    if not sheets:
        raise InputError(f"{folder}: no '* - Checklist.xlsx' found; give the folder of the published data set")
    for sheet in sheets:
        match = re.search(r"Day (\d+) Consultation (\d+)", sheet.name, re.IGNORECASE)
        if match is None:
            raise InputError(f"{sheet}: expected a name such as 'Day 1 Consultation 1 - Checklist.xlsx'")
        day, number = int(match[1]), int(match[2])
        said = _dialogue(folder, f"day{day}_consultation{number:02d}")
        record = f"The consultation that the note was written about:\n\n{said}"
        heads, *rows = _rows(sheet)
        for column, title in sorted(heads.items()):
            cells = [(row.get(column, "").strip(), row.get(column + 1, "").strip().lower()) for row in rows]
            labelled = [(text, label) for text, label in cells if text and label in ("c", "i")]
            if title.strip().startswith("Note") and labelled:
                name = f"day{day}-{number:02d}-{sheet.parent.name}-{title.strip()}".lower().replace(" ", "-")
                lines = (text.removeprefix("↳").strip().replace("\n", " ") for text, _ in labelled)
                votes = tuple((label == "i",) for _, label in labelled)
                yield ExternalItem(Reading("summary", name, 1, "\n".join(lines), record=record), votes)


def _dialogue(folder: Path, stem: str) -> str:
    """Both sides of a consultation, merged by their times."""
    spoken: list[tuple[float, str, str]] = []
    for side in ("doctor", "patient"):
        file = next(iter(sorted(folder.glob(f"**/{stem}_{side}.TextGrid"))), None)
        if file is None:
            raise InputError(f"{folder}: {stem}_{side}.TextGrid is missing")
        grid = file.read_text(encoding="utf-8", errors="replace")
        for start, text in re.findall(r"xmin = ([\d.]+)\s+xmax = [\d.]+\s+text = \"((?:[^\"]|\"\")*)\"", grid):
            if words := " ".join(re.sub(r"<[^>]*>", "", text.replace('""', '"')).split()):
                spoken.append((float(start), side.capitalize(), words))
    return "\n".join(f"{who}: {words}" for _, who, words in sorted(spoken))


def _rows(sheet: Path) -> list[dict[int, str]]:
    """The first sheet of a workbook, row by row, each by the number of its column."""
    try:
        with zipfile.ZipFile(sheet) as book:
            strings = ElementTree.fromstring(book.read("xl/sharedStrings.xml"))
            table = ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml"))
    except (OSError, KeyError, zipfile.BadZipFile, ElementTree.ParseError) as error:
        raise InputError(f"{sheet}: not a workbook that can be read ({type(error).__name__})") from None
    texts = ["".join(part.text or "" for part in item.iter(f"{_SHEET}t")) for item in strings.iter(f"{_SHEET}si")]
    rows: list[dict[int, str]] = [{}]
    for cell in table.iter(f"{_SHEET}c"):
        place, value = re.fullmatch(r"([A-Z]+)(\d+)", cell.get("r", "")), cell.findtext(f"{_SHEET}v")
        if place is None or not value:
            continue
        column, row = 0, int(place[2]) - 1
        for letter in place[1]:
            column = 26 * column + ord(letter) - 64
        rows += [{} for _ in range(row + 1 - len(rows))]
        rows[row][column] = texts[int(value)] if cell.get("t") == "s" else value
    return rows


def _kqa(path: Path) -> Iterator[ExternalItem]:
    """K-QA (Manes et al. 2024): question, a model's answer, a claim; three physicians on whether the answer says it."""
    file = _published(path, "annotations CSV", "*annotations*.csv")
    columns = ("Question", "answer", "claim", "label_0", "label_1", "label_2")
    missing = {"entailment": False, "neutral": True, "contradiction": True}
    try:
        names, *rows = csv.reader(io.StringIO(read_text(file)))
    except (csv.Error, ValueError) as error:
        raise InputError(f"{file}: cannot be read ({error})") from None
    if lacking := [name for name in columns if name not in names]:
        raise InputError(f"{file}: the column {lacking[0]} is missing; expected {', '.join(columns)}")
    for number, cells in enumerate((cells for cells in rows if cells), start=2):
        row = dict.fromkeys(columns, "") | dict(zip(names, cells, strict=False))
        words = [row[name].strip().lower() for name in columns[3:]]
        if unknown := [word for word in words if word not in missing]:
            raise InputError(f"{file}, line {number}: unknown label {unknown[0]!r}")
        asked = f"Turn 1: {row['Question']}"
        question = Question("must", f"kqa-{number}", 1, row["answer"], asked, demand=row["claim"])
        yield ExternalItem(question, (tuple(missing[word] for word in words),))


def _healthbench(path: Path) -> Iterator[ExternalItem]:
    """HealthBench's meta-evaluation (OpenAI 2025): a completion, a criterion, and physicians on whether it is met."""
    file = _published(path, "*meta_eval*.jsonl", "*meta_eval*.jsonl")
    for number, line in numbered_lines(file):
        try:
            row = json.loads(line)
            talk = "\n\n".join(f"{message['role'].capitalize()}: {message['content']}" for message in row["prompt"])
            votes = tuple(not met for met in row["binary_labels"])
            name = f"healthbench-{row['completion_id']}"
            question = Question("must", name, 1, str(row["completion"]), talk, demand=str(row["rubric"]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{file}, line {number}: not a row of the meta-evaluation ({error})") from None
        if votes:
            yield ExternalItem(question, (votes,))


def _published(path: Path, called: str, pattern: str) -> Path:
    file = next(iter(sorted(path.rglob(pattern))), None) if path.is_dir() else path
    if file is None:
        raise InputError(f"{path}: no {called} found; give the file of the published data set")
    return file


_READ = {"primock57": _primock57, "kqa": _kqa, "healthbench": _healthbench}


def load_external(given: str) -> tuple[str, list[ExternalItem]]:
    """The set that NAME=PATH names; InputError in one sentence where there is none."""
    name, _, path = given.partition("=")
    if name not in _READ or not path:
        raise InputError(f"--external {given}: write NAME=PATH with one of {', '.join(_READ)}")
    if not Path(path).exists():
        raise InputError(f"--external {given}: {path} does not exist; download the data set first")
    items = list(_READ[name](Path(path)))
    if not items:
        raise InputError(f"--external {given}: no labelled item was found")
    return name, items


# ---- a judge against the labels


def measure_external(
    queue: JudgeQueue, name: str, items: Sequence[ExternalItem], judges: Judges, *, today: datetime.date
) -> ExternalTable:
    """Put the items of a set to a judge, and count."""
    for number, item in enumerate(items):
        queue.start(("external", name, number), _judge(item, judges))
    outcomes = [outcome for number in range(len(items)) for outcome in queue.wait(("external", name, number))]
    parts = {"all": outcomes}
    if isinstance(items[0].item, Question):
        parts["unanimous"] = [outcome for outcome in outcomes if outcome.unanimous]
        parts["disputed"] = [outcome for outcome in outcomes if not outcome.unanimous]
    rows = []
    for part, counted in parts.items():
        labels, said = [outcome.wrong for outcome in counted], [outcome.said for outcome in counted]
        agreement = {"balanced_f1": balanced_f1(labels, said), "kappa": cohen_kappa(labels, said)}
        rows.append({"items": part, **_shares(zip(labels, said, strict=True)), **agreement})
    if pairs := annotator_pairs(items):
        rows.append({"items": "one annotator against the others", **_shares(pairs)})
    return ExternalTable(name=name, made=today, rows=tuple(rows))


def _judge(item: ExternalItem, judges: Judges) -> Procedure[list[_Outcome]]:
    if isinstance(item.item, Question):
        rulings = yield from settle([Point(item.item.about, item.item.kind, Raised.RULE, item.item)], judges)
        states = [{ruling.state} for ruling in rulings.values()]
    else:
        read, _ = yield from read_all([item.item], judges)
        points = raised_points(item.item, read[0][1])
        rulings = yield from settle(points, judges)
        quotes = [(point.entry.quote if point.entry else "", rulings[point.about].state) for point in points]
        marked = {s: flagged(item.item.text, [quote for quote, state in quotes if state is s]) for s in State}
        states = [{state for state in State if marked[state][line]} for line in range(len(item.votes))]
        if any(entry.doubt == "missing" for entry in read[0][1]):
            states = [{State.OPEN}] * len(states)
    outcomes = []
    for votes, reached in zip(item.votes, states, strict=True):
        wrong = 2 * sum(votes) > len(votes)
        said = State.CONFIRMED in reached or (State.OPEN in reached and not wrong)
        outcomes.append(_Outcome(wrong, said, len(set(votes)) == 1))
    return outcomes


def flagged(text: str, quotes: Sequence[str]) -> list[bool]:
    """For each line of a text whether a quotation covers half of it, or lies in it."""
    patterns = [r"\s+".join(map(re.escape, quote.split())) for quote in quotes]
    spans = [match.span() for pattern in patterns if (match := re.search(pattern, text, re.IGNORECASE))]
    lines, flags = text.split("\n"), []
    for line, start in zip(lines, accumulate((len(line) + 1 for line in lines), initial=0), strict=False):
        shared = [(min(start + len(line), last) - max(start, first), last - first) for first, last in spans]
        flags.append(any(2 * part >= min(len(line), of) > 0 for part, of in shared))
    return flags


def annotator_pairs(items: Iterable[ExternalItem]) -> list[tuple[bool, bool]]:
    """What the others say, and one annotator, wherever those others agree."""
    pairs = []
    for votes in (votes for item in items for votes in item.votes):
        for place, own in enumerate(votes):
            others = {*votes[:place], *votes[place + 1 :]}
            pairs += [(other, own) for other in others if len(others) == 1]
    return pairs


def _shares(pairs: Iterable[tuple[bool, bool]]) -> dict[str, Any]:
    """Of labels and answers, true where something is wrong: counts with exact 95 % limits."""
    counts = Counter(pairs)
    trials = {
        name: [counts[label, label], counts[label, True] + counts[label, False]]
        for name, label in (("sensitivity", True), ("specificity", False))
    }
    shares: dict[str, Any] = {**trials}
    for name, (right, of) in trials.items():
        interval = proportion_interval(right, of, confidence=0.95)
        shares[f"{name}_limits"] = [round(interval.low, 4), round(interval.high, 4)] if interval else None
    return shares
