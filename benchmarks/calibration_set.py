"""Makes cases/calibration/*.jsonl, the labelled readings that judges are measured on.

    python -m benchmarks.calibration_set [FOLDER]

Clean texts: recorded conversations of 56 patients who are not among the bundled ones; a text in which one of two blind
readers saw a fault is disputed. Faults: planted one at a time, labelled by construction, confirmed once by a blind
reader (labels/); what was not confirmed is disputed. What an edit may have touched besides its fault has no label. The
same files give the same set; its hash is printed.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from pytest_clinical_drift.cases.files import load_cases
from pytest_clinical_drift.cases.model import Case, facts_at
from pytest_clinical_drift.cases.timeline import demands_at
from pytest_clinical_drift.judging.answers import same_words
from pytest_clinical_drift.judging.entries import LISTED
from pytest_clinical_drift.judging.labelled import labels_hash, load_calibration_set
from pytest_clinical_drift.judging.readings import Reading, StandingAdvice, readings_of, windows_of
from pytest_clinical_drift.transcript import Exchange, Reply, Transcript

ROOT = Path(__file__).resolve().parents[1]
DATA, REAL, OUT = ROOT / "tests/data/calibration", ROOT / "tests/data/real", ROOT / "cases/calibration"
WINDOW = 6
"""Turns of a window in which courses, distant contradictions and misreported advice are looked for."""
PIECE = 290
"""Characters of a piece of standing advice."""
WANTED = {
    "recorded/summary": 600, "recorded/reply": 600, "recorded/conversation": 240, "planted: fact": 122,
    "planted: invented": 122, "planted: breach": 122, "planted: conflict": 68, "planted: distant": 54,
    "planted: harm": 32, "planted: course": 62, "planted: misreported": 62,
}  # fmt: skip
"""Texts of each origin: as many as the minimum of each kind asks for, so that a calibration stays below 3,000 requests.
Harm is also labelled in breaches and contradictions."""
Texts = dict[tuple[int, str], str]
Finding = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    reading: Reading
    label: dict[str, Any]
    origin: str
    subtle: bool = False
    disputed: bool = False

    def line(self) -> str:
        row: dict[str, Any] = {
            "question": self.reading.as_mapping(), "label": self.label, "origin": self.origin, "subtle": self.subtle,
        }  # fmt: skip
        return json.dumps(row | ({"disputed": True} if self.disputed else {}), ensure_ascii=False)


def recordings() -> Iterator[tuple[Case, Texts]]:
    """Every patient with the conversation as recorded."""
    for cases, transcripts in ((DATA / "cases", DATA / "transcripts"), (REAL / "cases", REAL / "strong/transcripts")):
        for case in load_cases(cases):
            lines = (transcripts / f"{case.id}.jsonl").read_text(encoding="utf-8").splitlines()
            rows = [json.loads(line) for line in lines if line.strip()]
            yield case, {(row["turn_num"], row["variant"]): row["response_text"] for row in rows}


def transcript(case: Case, texts: Texts) -> Transcript:
    exchanges = [
        Exchange(turn.turn, turn.message, Reply(texts[turn.turn, "dialogue"]), Reply(texts[turn.turn, "summary"]))
        for turn in case.turns
    ]
    return Transcript(case.id, tuple(exchanges))


def readings(case: Case, texts: Texts) -> dict[tuple[str, int], Reading]:
    """Summaries and replies by kind and turn; handovers are left out."""
    every = readings_of(case, transcript(case, texts))
    return {(reading.kind, reading.turn): reading for reading in every if not reading.source}


def window(case: Case, texts: Texts, first: int, last: int) -> Reading:
    """Some turns of a conversation with the summary after them, and the earlier replies as standing advice."""
    (whole,) = windows_of(case, transcript(case, texts), tokens=1_000_000)
    standing = tuple(
        StandingAdvice(turn, piece)
        for turn in range(1, first)
        for piece in _pieces(texts[turn, "dialogue"])
    )  # fmt: skip
    shown = tuple(line for line in whole.turns if first <= line.turn <= last)
    return replace(whole, turn=last, turns=shown, summary=texts[last, "summary"], standing=standing)


def _pieces(text: str) -> list[str]:
    """A reply in pieces that end with a word."""
    pieces, rest = [], text.strip()
    while len(rest) > PIECE:
        cut = max(rest.rfind("\n", 0, PIECE), rest.rfind(" ", 0, PIECE))
        cut = cut if cut > 0 else PIECE
        pieces.append(rest[:cut].strip())
        rest = rest[cut:].strip()
    return [*pieces, rest] if rest else pieces


# ---- clean texts


def seen_faults(case_id: str) -> set[tuple[int, str]]:
    """Texts in which a blind reader of the recording saw a fault, arguable ones included."""
    first = json.loads((DATA / f"labels/{case_id}.json").read_text(encoding="utf-8"))["clean"]
    second = DATA / f"second/{case_id}.json"
    more = json.loads(second.read_text(encoding="utf-8")) if second.exists() else []
    return {
        (finding["turn"], "summary" if finding["variant"] == "summary" else "dialogue") for finding in (*first, *more)
    }


def clean_rows(case: Case, texts: Texts) -> Iterator[Row]:
    faulty = seen_faults(case.id)
    for (kind, turn), reading in readings(case, texts).items():
        label: dict[str, Any] = {"facts": clean_facts(case, turn), "unsupported": []}
        if kind == "reply":
            label = {"demands": clean_demands(case, turn), "harm": "none"}
            label |= {"forbidden": "kept"} if reading.forbidden else {}
            label |= {"conflict": "consistent"} if reading.earlier is not None else {}
        variant = "summary" if kind == "summary" else "dialogue"
        yield Row(reading, label, "recorded", disputed=(turn, variant) in faulty)
    turns = len(case.turns)
    for first in sorted({1, 2, 1 + (turns - WINDOW) // 2, turns - WINDOW, turns - WINDOW + 1}):
        last = first + WINDOW - 1
        disputed = any((turn, "dialogue") in faulty for turn in range(first, last + 1)) or (last, "summary") in faulty
        empty: dict[str, Any] = {"contradictions": [], "course": [], "misreported": []}
        yield Row(window(case, texts, first, last), empty, "recorded", disputed=disputed)


def clean_facts(case: Case, turn: int) -> dict[str, str]:
    return {state.fact.id: "retained" for state in facts_at(case, turn)}


def clean_demands(case: Case, turn: int) -> dict[str, str]:
    return {demand.id: "met" if demand.kind == "must" else "kept" for demand in demands_at(case, turn)}


# ---- planted faults


def planted_rows(case: Case, texts: Texts) -> Iterator[Row]:
    key = json.loads((DATA / "key.json").read_text(encoding="utf-8"))[case.id]
    named = {number: name for name, number in key.items() if number is not None}
    labels = json.loads((DATA / f"labels/{case.id}.json").read_text(encoding="utf-8"))["texts"]
    faults = json.loads((DATA / f"planted/{case.id}.json").read_text(encoding="utf-8"))
    for number, fault in enumerate(faults):
        seen = labels.get(named.get(number, ""), fault.get("confirmed", []))
        edited = dict(texts)
        for edit in fault["edits"]:
            place = edit["turn"], edit["variant"]
            edited[place] = edited[place].replace(edit["old"], edit["new"], 1)
        yield from MAKERS[fault["kind"]](case, edited, fault, seen)


def _fact(case: Case, texts: Texts, fault: Finding, seen: list[Finding]) -> Iterator[Row]:
    turn = fault["edits"][0]["turn"]
    touched = {finding["id"] for finding in seen if finding["kind"] == "fact"}
    facts = {name: word for name, word in clean_facts(case, turn).items() if name not in touched}
    label = {"facts": {**facts, fault["fact"]: fault["answer"]}}
    yield _row(readings(case, texts)["summary", turn], label, fault, fault["fact"] in touched)


def _invented(case: Case, texts: Texts, fault: Finding, seen: list[Finding]) -> Iterator[Row]:
    turn, words = fault["edits"][0]["turn"], fault["what_words"]
    touched = {finding["id"] for finding in seen if finding["kind"] == "fact"}
    facts = {name: word for name, word in clean_facts(case, turn).items() if name not in touched}
    label = {"facts": facts, "unsupported": [{"quote": words, "grade": fault.get("grade", "severe")}]}
    told = any(f["kind"] == "invented" and same_words(f.get("words", ""), words) for f in seen)
    yield _row(readings(case, texts)["summary", turn], label, fault, told)


def _breach(case: Case, texts: Texts, fault: Finding, seen: list[Finding]) -> Iterator[Row]:
    """Of the demands only those count as broken that the blind reader, too, found broken."""
    turn = fault["edits"][0]["turn"]
    reading = readings(case, texts)["reply", turn]
    broken = {finding.get("demand") for finding in seen if finding["kind"] == "breach"}
    demands = {}
    for demand in demands_at(case, turn):
        word = fault.get("demands", {}).get(f"{demand.kind}:{demand.text}") if demand.made_at == turn else None
        named = f"{demand.kind}:{demand.text}" in broken
        if (word in ("met", "kept") and not named) or (word is not None and named):
            demands[demand.id] = word
    forbids = any(finding["kind"] == "forbidden" for finding in seen)
    label: dict[str, Any] = {"demands": demands}
    if reading.forbidden and (fault.get("forbidden") == "violated") == forbids:
        label["forbidden"] = "violated" if forbids else "kept"
    faulty = any(word not in ("met", "kept") for word in (*demands.values(), label.get("forbidden", "kept")))
    yield _row(reading, label | _others(fault, seen), fault, faulty)


def _pair(case: Case, texts: Texts, fault: Finding, seen: list[Finding]) -> Iterator[Row]:
    turn = fault["edits"][0]["turn"]
    told = any(f["kind"] == "conflict" or (f["kind"] == "distant" and f.get("earlier") == turn - 1) for f in seen)
    label = {"conflict": fault["answer"]} | _others(fault, seen, "harm")
    yield _row(readings(case, texts)["reply", turn], label, fault, told)


def _harm(case: Case, texts: Texts, fault: Finding, seen: list[Finding]) -> Iterator[Row]:
    turn = fault["edits"][0]["turn"]
    told = any(finding["kind"] == "harm" for finding in seen)
    yield _row(readings(case, texts)["reply", turn], {"harm": "harm"} | _others(fault, seen, "conflict"), fault, told)


def _others(fault: Finding, seen: list[Finding], *kinds: str) -> dict[str, str]:
    """Harm and conflict of a faulty reply, where planter and blind reader agree that they are there."""
    found = {}
    for kind in kinds or ("harm", "conflict"):
        word = fault.get(kind)
        if word not in (None, "none", "consistent") and any(finding["kind"] == kind for finding in seen):
            found[kind] = word
    return found


def _course(case: Case, texts: Texts, fault: Finding, seen: list[Finding]) -> Iterator[Row]:
    first, last = fault["turns"]
    reading = window(case, texts, *_around(first, last, len(case.turns)))
    label = {
        "course": [{"turns": [first, last], "answer": fault["answer"], "quote": _changed_words(fault["edits"][-1])}]
    }
    yield _row(reading, label, fault, any(finding["kind"] == "course" for finding in seen))


def _distant(case: Case, texts: Texts, fault: Finding, seen: list[Finding]) -> Iterator[Row]:
    earlier, later = fault["earlier"], fault["later"]
    reading = window(case, texts, *_around(earlier, later, len(case.turns)))
    label = {"contradictions": [{"earlier": earlier, "later": later, "answer": fault["answer"]}]}
    yield _row(reading, label, fault, any(finding["kind"] in ("distant", "conflict") for finding in seen))


def _misreported(case: Case, texts: Texts, fault: Finding, seen: list[Finding]) -> Iterator[Row]:
    turn, words = fault["edits"][0]["turn"], fault["what_words"]
    reading = window(case, texts, max(1, turn - WINDOW + 1), turn)
    told = any(f["kind"] == "misreported" and same_words(f.get("words", ""), words) for f in seen)
    if len(reading.turns) > 1:
        yield _row(reading, {"misreported": [{"quote": words}]}, fault, told)


def _changed_words(edit: Finding) -> str:
    """The first words that an edit brought, as a quotation."""
    old, new = edit["old"], edit["new"]
    start = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    start = new.rfind(" ", 0, start) + 1
    words = new[start : start + 160]
    return (words.rpartition(" ")[0] if len(new) > start + 160 else words).strip() or new.strip()[:160]


def _around(first: int, last: int, turns: int) -> tuple[int, int]:
    """A window of six turns around some, or just these where they are more."""
    end = min(turns, max(last, first + WINDOW - 1))
    return max(1, min(first, end - WINDOW + 1)), end


def _row(reading: Reading, label: dict[str, Any], fault: Finding, confirmed: bool) -> Row:
    return Row(reading, label, f"planted: {fault['kind']}", bool(fault["subtle"]), disputed=not confirmed)


MAKERS = {
    "fact": _fact,
    "invented": _invented,
    "breach": _breach,
    "conflict": _pair,
    "harm": _harm,
    "course": _course,
    "distant": _distant,
    "misreported": _misreported,
}


def drawn(rows: list[Row]) -> list[Row]:
    """As many as are wanted of each origin, patient after patient, subtle and plain ones in turn; disputed ones all."""
    groups: defaultdict[str, defaultdict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in sorted((row for row in rows if not row.disputed), key=lambda row: row.reading.id):
        origin = f"recorded/{row.reading.kind}" if row.origin == "recorded" else row.origin
        groups[origin][row.reading.case_id].append(row)
    kept = [row for row in rows if row.disputed]
    for origin, patients in groups.items():
        for found in patients.values():
            plain, subtle = ([row for row in found if row.subtle is word] for word in (False, True))
            found[:] = [row for pair in zip_longest(subtle, plain) for row in pair if row is not None]
        turns = [row for layer in zip_longest(*(patients[name] for name in sorted(patients))) for row in layer if row]
        kept += turns[: WANTED[origin]]
    return kept


def main() -> int:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else OUT
    every = [row for case, texts in recordings() for row in (*clean_rows(case, texts), *planted_rows(case, texts))]
    rows = drawn(every)
    out.mkdir(parents=True, exist_ok=True)
    for file in out.glob("*.jsonl"):
        file.unlink()
    for kind in ("summary", "reply", "conversation"):
        lines = [row.line() for row in rows if row.reading.kind == kind]
        (out / f"{kind}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    made = load_calibration_set(out)
    counts: Counter[str] = Counter()
    for row in (row for row in made if not row.disputed):
        for entry in row.entries():
            counts[f"{entry.kind} {'faults' if entry.raised else 'clean'}"] += 1
            counts[f"{entry.kind} subtle"] += entry.raised and row.subtle
        for kind in LISTED:
            counts[f"{kind} clean texts"] += row.label.get(LISTED[kind]) == []
    for name, count in sorted(counts.items()):
        print(f"{name}: {count}")
    disputed, patients = sum(row.disputed for row in made), len({row.patient for row in made})
    print(f"disputed: {disputed}; patients: {patients}; sha256 {labels_hash(made)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
