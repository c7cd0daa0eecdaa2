"""A judge against public sets that clinicians labelled, read as published: sensitivity, specificity, F1 and kappa."""

import csv
import datetime
import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from pytest_clinical_drift.core.files import numbered_lines, read_text
from pytest_clinical_drift.core.words import Doubt, State
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.calibration_file import ExternalTable
from pytest_clinical_drift.judging.due import raised_by_reading
from pytest_clinical_drift.judging.measuring import asked_by_rule
from pytest_clinical_drift.judging.procedure import Asker, Judges, read_all, settle
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.queue import JudgeQueue
from pytest_clinical_drift.judging.readings import Reading
from pytest_clinical_drift.metrics.agreement import balanced_f1, cohen_kappa
from pytest_clinical_drift.metrics.intervals import proportion_interval

_SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


class ExternalItem(NamedTuple):
    """A text with labels: a reading whose every line is a statement, or a question."""

    item: Reading | Question
    votes: tuple[tuple[bool, ...], ...]
    """For each statement, or for the question, what each annotator said: true where it is wrong or missing."""


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
        day = int(match[1])
        number = int(match[2])
        said = _dialogue(folder, f"day{day}_consultation{number:02d}")
        record = f"The consultation that the note was written about:\n\n{said}"
        cells = _cells(sheet)
        for column, title in ((column, text) for (row, column), text in cells.items() if row == 1):
            labelled = _labelled_lines(cells, column)
            if title.startswith("Note") and labelled:
                name = f"day{day}-{number:02d}-{sheet.parent.name}-{title}".lower().replace(" ", "-")
                lines = (text.removeprefix("↳").strip().replace("\n", " ") for text, _ in labelled)
                votes = tuple((label == "i",) for _, label in labelled)
                yield ExternalItem(Reading("summary", name, 1, "\n".join(lines), record=record), votes)


def _labelled_lines(cells: Mapping[tuple[int, int], str], column: int) -> list[tuple[str, str]]:
    """The lines of a note and their labels, `c` for correct and `i` for incorrect, from a column and the next."""
    below = [(row, text) for (row, place), text in cells.items() if place == column and row > 1]
    given = [(text, cells.get((row, column + 1), "").lower()) for row, text in below]
    return [(text, label) for text, label in given if label in ("c", "i")]


def _dialogue(folder: Path, stem: str) -> str:
    """Both sides of a consultation, merged by their times."""
    spoken: list[tuple[float, str, str]] = []
    for side in ("doctor", "patient"):
        file = next(iter(sorted(folder.glob(f"**/{stem}_{side}.TextGrid"))), None)
        if file is None:
            raise InputError(f"{folder}: {stem}_{side}.TextGrid is missing")
        grid = file.read_text(encoding="utf-8", errors="replace")
        for start, text in re.findall(r"xmin = ([\d.]+)\s+xmax = [\d.]+\s+text = \"((?:[^\"]|\"\")*)\"", grid):
            words = " ".join(re.sub(r"<[^>]*>", "", text.replace('""', '"')).split())
            if words:
                spoken.append((float(start), side.capitalize(), words))
    return "\n".join(f"{who}: {words}" for _, who, words in sorted(spoken))


def _cells(sheet: Path) -> dict[tuple[int, int], str]:
    """What the cells of a workbook's first sheet hold, by row and column."""
    try:
        with zipfile.ZipFile(sheet) as book:
            strings = ElementTree.fromstring(book.read("xl/sharedStrings.xml"))
            table = ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml"))
    except (OSError, KeyError, zipfile.BadZipFile, ElementTree.ParseError) as error:
        raise InputError(f"{sheet}: not a workbook that can be read ({type(error).__name__})") from None
    texts = ["".join(part.text or "" for part in item.iter(f"{_SHEET}t")) for item in strings.iter(f"{_SHEET}si")]
    cells = {}
    for cell in table.iter(f"{_SHEET}c"):
        place = re.fullmatch(r"([A-Z]+)(\d+)", cell.get("r", ""))
        value = cell.findtext(f"{_SHEET}v")
        if place is not None and value:
            column = reduce(lambda number, letter: 26 * number + ord(letter) - 64, place[1], 0)
            cells[int(place[2]), column] = (texts[int(value)] if cell.get("t") == "s" else value).strip()
    return {place: text for place, text in sorted(cells.items()) if text}


def _kqa(path: Path) -> Iterator[ExternalItem]:
    """K-QA (Manes et al. 2024): question, a model's answer, a claim; three physicians on whether the answer says it."""
    file = _published(path, "annotations CSV", "*annotations*.csv")
    columns = ("Question", "answer", "claim", "label_0", "label_1", "label_2")
    missing = {"entailment": False, "neutral": True, "contradiction": True}
    table = csv.DictReader(io.StringIO(read_text(file)), restval="")
    try:
        names = table.fieldnames or ()
        rows = list(table)
    except csv.Error as error:
        raise InputError(f"{file}: cannot be read ({error})") from None
    lacking = [name for name in columns if name not in names]
    if lacking:
        raise InputError(f"{file}: the column {lacking[0]} is missing; expected {', '.join(columns)}")
    for number, row in enumerate(rows, start=2):
        words = [row[name].strip().lower() for name in columns[3:]]
        unknown = [word for word in words if word not in missing]
        if unknown:
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
        queue.start(("external", name, number), _judge(queue, item, judges))
    counted: dict[str, list[tuple[bool, bool]]] = {"all": [], "unanimous": [], "disputed": []}
    for number, item in enumerate(items):
        for votes, states in zip(item.votes, queue.wait(("external", name, number)), strict=True):
            wrong = 2 * sum(votes) > len(votes)  # by the majority
            # what the judge leaves open, or does not answer, is an error whatever the label
            said = State.CONFIRMED in states or (State.OPEN in states and not wrong)
            for part in ("all", "unanimous" if len(set(votes)) == 1 else "disputed"):
                counted[part].append((wrong, said))
    rows = []
    for part in counted if isinstance(items[0].item, Question) else ("all",):
        labels = [label for label, _ in counted[part]]
        answers = [answer for _, answer in counted[part]]
        agreement = {"balanced_f1": balanced_f1(labels, answers), "kappa": cohen_kappa(labels, answers)}
        rows.append({"items": part, **_shares(counted[part]), **agreement})
    pairs = annotator_pairs(items)
    if pairs:
        rows.append({"items": "one annotator against the others", **_shares(pairs)})
    return ExternalTable(name=name, made=today, rows=tuple(rows))


async def _judge(asker: Asker, item: ExternalItem, judges: Judges) -> list[set[State]]:
    """What became of each statement, or of the question."""
    if isinstance(item.item, Question):
        answered = await settle(asker, [asked_by_rule(item.item)], judges)
        return [{finding.state} for finding in answered.values()]
    entries = (await read_all(asker, [item.item], judges)).read[0].entries
    settled = await settle(asker, raised_by_reading(item.item, entries), judges)
    if any(entry.doubt == Doubt.MISSING for entry in entries):
        return [{State.OPEN}] * len(item.votes)
    marked: dict[State, list[bool]] = {}
    for state in State:
        of_state = [finding.read for finding in settled.values() if finding.state is state]
        marked[state] = flagged(item.item.text, [read.quote if read is not None else "" for read in of_state])
    return [{state for state in State if marked[state][line]} for line in range(len(item.votes))]


def flagged(text: str, quotes: Sequence[str]) -> list[bool]:
    """For each line of a text whether a quotation covers half of it, or lies in it."""
    patterns = [r"\s+".join(map(re.escape, quote.split())) for quote in quotes]
    matches = [re.search(pattern, text, re.IGNORECASE) for pattern in patterns]
    spans = [match.span() for match in matches if match is not None]
    lines = text.split("\n")
    flags = []
    for line, start in zip(lines, accumulate((len(line) + 1 for line in lines), initial=0), strict=False):
        shared = [(min(start + len(line), last) - max(start, first), last - first) for first, last in spans]
        flags.append(any(2 * part >= min(len(line), of) > 0 for part, of in shared))
    return flags


def annotator_pairs(items: Iterable[ExternalItem]) -> list[tuple[bool, bool]]:
    """What the others say, and one annotator, wherever those others agree."""
    pairs = []
    for votes in chain.from_iterable(item.votes for item in items):
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
