"""Readings on errors that nobody planted: texts of weak models, labelled twice, blind, and read by a judge.

    python -m benchmarks.natural_errors [FOLDER] [--show]

FOLDER holds `items.jsonl` (id, model, mapping: the reading as a judge gets it) and, as `NAME.json` or in parts as
`NAME/*.out.json`, the answers of two labellers (`label_a`, `label_b`) and of the judge (`judge`), each a JSON object by
item id. Prints per kind how far the labellers agree, and what share of the faults and of the clean entries the reading
gets right: where both labellers agree, and with every disputed entry counted as an error. `--show` lists every entry on
which labellers or judge differ. Models did the labelling.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import ROOT
from pytest_clinical_drift.core.log import Answer
from pytest_clinical_drift.judging.answers import KINDS, UNSURE, against, occurs_in
from pytest_clinical_drift.judging.entries import entries_of, usable
from pytest_clinical_drift.judging.measuring import Tally
from pytest_clinical_drift.judging.readings import Reading
from pytest_clinical_drift.metrics.agreement import cohen_kappa, percent_agreement

FOLDER = ROOT / "tests" / "data" / "natural"
WHO = ("label_a", "label_b", "judge")
STATEMENT = re.compile(r"(?<!Mr\.)(?<!Ms\.)(?<!Dr\.)(?<!Mrs\.)(?<=[.!?])\s+|\n+")
"""Between two statements of a summary."""
MARKUP, GAP = re.compile(r"[*_`#>|]+"), re.compile(r"\s*(?:…|\.\.\.)\s*")


@dataclass(frozen=True)
class Judged:
    """One entry of one text: what both labellers and the judge say."""

    item: str
    model: str
    patient: str
    kind: str
    key: str
    """Fact, demand or the statement itself."""
    words: tuple[str, str, str]

    @property
    def wrong(self) -> tuple[bool, bool]:
        """Whether each labeller holds it against the model."""
        return against(self.kind, self.words[0]), against(self.kind, self.words[1])

    @property
    def disputed(self) -> bool:
        return self.wrong[0] != self.wrong[1]

    @property
    def right(self) -> bool:
        """Whether the judge says what both labellers say; unsure is never right."""
        said = self.words[2]
        return not self.disputed and said != UNSURE and against(self.kind, said) == self.wrong[0]


def statements(text: str) -> list[str]:
    """The distinct sentences and lines of a text, a heading with its first line; weak models repeat themselves."""
    headed = re.sub(r":\s*\n\s*", ": ", MARKUP.sub(" ", text))
    parts = (" ".join(part.split()) for part in STATEMENT.split(headed))
    return list(dict.fromkeys(part for part in parts if re.search(r"\w", part)))


def listed(text: str, entries: Sequence[tuple[str, str]]) -> list[str]:
    """For each statement of a summary the worst grade with which a quotation in it is listed."""
    parts = statements(text)
    found = ["supported"] * len(parts)
    for answer in ("invented", "severe"):
        for quote in (part for given, grade in entries if grade == answer for part in GAP.split(given)):
            for number in touched(parts, quote):
                found[number] = answer
    return found


def touched(parts: Sequence[str], quote: str) -> list[int]:
    """Statements that a quotation covers by half, or lies in; capitals decide between several."""
    words = r"\s+".join(map(re.escape, MARKUP.sub(" ", quote).split()))
    whole = "\n".join(parts)
    span = (re.search(words, whole) or re.search(words, whole, re.IGNORECASE)) if words else None
    if span is None:
        return []
    hits, start = [], 0
    for number, part in enumerate(parts):
        shared = min(start + len(part), span.end()) - max(start, span.start())
        if 2 * shared >= min(len(part), span.end() - span.start()):
            hits.append(number)
        start += len(part) + 1
    return hits


def label_words(reading: Reading, given: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Kind, key and word of every entry as a labeller gave it."""
    if reading.kind == "summary":
        for line in reading.facts:
            word = given["facts"][line.fact]
            yield "fact", line.fact, "retained" if line.ended and word == "absent" else word
        grades = {"minor": "invented", "severe": "severe"}
        quotes = [(item["quote"], grades[item["grade"]]) for item in given["unsupported"]]
        yield from zip_statements(reading, listed(reading.text, quotes))
        return
    for demand in reading.demands:
        yield demand.kind, demand.id, given["demands"][demand.id]
    for kind in ("forbidden", "harm", "conflict"):
        if {"forbidden": bool(reading.forbidden), "harm": True, "conflict": reading.earlier is not None}[kind]:
            yield kind, "", given[kind]


def judge_words(reading: Reading, given: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """The same of a judge's answer, through the checks that every judge's answer passes."""
    answer = Answer("judge", reading.id, 1, given, failed="" if usable(reading, given) else "malformed")
    entries = entries_of(reading, answer)
    found = {(str(e.kind), e.key.subject): e.answer for e in entries if e.kind != "invented"}
    if reading.kind == "summary":
        quotes = [(e.key.subject, e.answer) for e in entries if e.kind == "invented"]
        words = [UNSURE] * len(statements(reading.text)) if answer.failed else listed(reading.text, quotes)
        found |= {(kind, key): word for kind, key, word in zip_statements(reading, words)}
    return found


def zip_statements(reading: Reading, words: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    for number, (part, word) in enumerate(zip(statements(reading.text), words, strict=True)):
        yield "invented", f"{number}: {part}", word


def answers(folder: Path, name: str) -> dict[str, Any]:
    files = [*folder.glob(f"{name}.json"), *sorted(folder.glob(f"{name}/*.out.json"))]
    found: dict[str, Any] = {}
    for file in files:
        found |= json.loads(file.read_text(encoding="utf-8"))
    return found


def judged_entries(folder: Path) -> tuple[list[Judged], list[str]]:
    """Every entry that all three answered, and what is missing or malformed."""
    said, rows, faults = {name: answers(folder, name) for name in WHO}, [], []
    for line in (folder / "items.jsonl").read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        reading, name = Reading.from_mapping(item["mapping"]), item["id"]
        try:
            one, two = (list(label_words(reading, said[who][name])) for who in WHO[:2])
            for who in WHO[:2]:
                quotes = [entry["quote"] for entry in said[who][name].get("unsupported", ())]
                faults += [f"{name}, {who}: {q!r} is not in the text" for q in quotes if not occurs_in(q, reading.text)]
            judge = judge_words(reading, said["judge"][name])
        except (KeyError, TypeError, ValueError) as error:
            faults.append(f"{name}: {type(error).__name__} {error}")
            continue
        for (kind, key, first), (_, _, second) in zip(one, two, strict=True):
            if unknown := {first, second} - set(KINDS[kind]):
                faults.append(f"{name}: {kind} {key}: unknown label {unknown.pop()!r}")
                continue
            words = (first, second, judge[kind, key])
            rows.append(Judged(name, item["model"], reading.case_id, kind, key, words))
    return rows, faults


def table(rows: Sequence[Judged]) -> Iterator[str]:
    yield "kind        entries  labellers agree (kappa)    faults found           clean cleared          disputed"
    for kind in ("fact", "invented", "must", "must_not", "forbidden", "harm", "conflict", "all"):
        of = [row for row in rows if kind in (row.kind, "all")]
        if not of:
            continue
        one, two = [row.wrong[0] for row in of], [row.wrong[1] for row in of]
        kappa = cohen_kappa(one, two)
        faults, clean = (share([r for r in of if not r.disputed and r.wrong[0] is wrong]) for wrong in (True, False))
        agree = f"{percent_agreement(one, two):.3f} ({'–' if kappa is None else f'{kappa:.2f}'})"
        yield f"{kind:<12}{len(of):>7}  {agree:<26} {faults:<22} {clean:<22} {sum(r.disputed for r in of)}"
        if any(r.disputed for r in of):
            errors = [r for r in of if r.disputed]
            faults, clean = (
                share([*(r for r in of if not r.disputed and r.wrong[0] is wrong), *errors]) for wrong in (True, False)
            )
            yield f"{'  disputed as errors':<48}{faults:<22} {clean:<22}"


def share(rows: Sequence[Judged]) -> str:
    """Right of all, with the lower limit clustered by patient."""
    tally = Tally()
    for row in rows:
        tally.add(row.patient, row.right)
    hits, trials = tally.counts
    return f"{hits}/{trials} (≥ {tally.limits()[0]:.2f})" if trials else "–"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    parser.add_argument("--show", action="store_true", help="every entry on which labellers or judge differ")
    options = parser.parse_args()
    rows, faults = judged_entries(options.folder)
    print("\n".join(table(rows)))
    texts, models = {row.item for row in rows}, sorted({row.model for row in rows})
    words = [row for row in rows if row.words[0] != row.words[1]]
    print(f"\n{len(texts)} texts of {', '.join(models)}; {len(words)} of {len(rows)} entries with two different labels")
    print("".join(f"left out: {fault}\n" for fault in faults), end="")
    if options.show:
        for row in rows:
            if not row.right:
                state = "disputed" if row.disputed else "judge"
                print(
                    f"{row.item} {row.model} {row.patient} {state} {row.kind} {row.key[:160]}: {' | '.join(row.words)}"
                )
    wrong = sum(not row.right and not row.disputed for row in rows)
    print(f"{len(rows)} entries, {sum(row.disputed for row in rows)} disputed, {wrong} read otherwise than both labels")
    return 1 if faults or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
