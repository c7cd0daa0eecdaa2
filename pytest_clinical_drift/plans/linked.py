"""Plans from a counsellor's reasoning: components are proposed by cue words and kept when a verifier agrees.

Reads JSONL in the style of OpenR1-Psy: `counselor_think` stands in the row, or in the turns of its `conversation`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_clinical_drift.cases.files import parse_data, read_text
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.plans.plan import Component, Plan
from pytest_clinical_drift.plans.verifier import Verifier
from pytest_clinical_drift.plans.vocabulary import LinkedComponent, plan_words

THRESHOLD = 0.8
"""Probability of entailment from which a component counts."""
_MOST_SENTENCES = 6
"""Sentences that are shown to the verifier for each component, those with most cues first."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_WORDS = (5, 80)
"""Fragments and run-on paragraphs mislead an inference model."""


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A counsellor's reasoning on one client."""

    row: int | str
    """Its id, else its place in the file, from 0."""
    text: str
    case_id: str | None = None
    """The case it belongs to, where the row says so."""
    split: str | None = None


def read_reasoning(file: Path) -> list[Reasoning]:
    """The rows of a JSONL file that hold reasoning; a bad line is an InputError that names it."""
    found = []
    for number, line in enumerate(read_text(file).splitlines()):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (json.JSONDecodeError, RecursionError):
            raise InputError(f"{file}, line {number + 1}: not valid JSON") from None
        if not isinstance(row, dict):
            raise InputError(f"{file}, line {number + 1}: expected a mapping with 'counselor_think'")
        text = "\n".join(_thoughts(row)).strip()
        if text:
            found.append(_reasoning(row, number, text))
    if not found:
        raise InputError(f"{file}: no row holds 'counselor_think'")
    return found


def links(cases: Path) -> dict[str, list[int | str]]:
    """Rows that the original's case files name for their cases (`metadata.source_openr1_ids`)."""
    found: dict[str, list[int | str]] = {}
    files = [cases] if cases.is_file() else sorted(cases.rglob("*.json"))
    for file in files:
        data = parse_data(file, read_text(file))
        entries = data.get("cases", [data]) if isinstance(data, dict) else data
        for entry in entries if isinstance(entries, list) else ():
            metadata = entry.get("metadata") if isinstance(entry, dict) else None
            if isinstance(metadata, dict) and isinstance(metadata.get("source_openr1_ids"), list):
                found[str(entry.get("id"))] = metadata["source_openr1_ids"]
    return found


def reasoning_of(
    case_id: str, rows: Sequence[Reasoning], linked: Mapping[str, Sequence[int | str]]
) -> Reasoning | None:
    """The reasoning that belongs to a case: the row names it, or the case names the row."""
    for row in rows:
        if row.case_id == case_id:
            return row
    wanted = [str(number) for number in linked.get(case_id, ())]
    by_number = {str(row.row): row for row in rows}
    return next((by_number[number] for number in wanted if number in by_number), None)


def classify(case_id: str, reasoning: Reasoning, verifier: Verifier) -> Plan | None:
    """The plan of the components that the reasoning holds; None when the verifier confirms none."""
    sentences = _sentences(reasoning.text)
    candidates = {part.id: _with_cues(part, sentences) for part in plan_words().linked}
    pairs = [(sentence, part.hypothesis) for part in plan_words().linked for sentence in candidates[part.id]]
    probability = dict(zip(pairs, verifier.entailment(pairs), strict=True))
    kept: list[tuple[LinkedComponent, Component]] = []
    for part in plan_words().linked:
        scored = [(probability[(sentence, part.hypothesis)], sentence) for sentence in candidates[part.id]]
        confirmed = sorted((pair for pair in scored if pair[0] >= THRESHOLD), key=lambda pair: -pair[0])
        if confirmed:
            quotes = tuple(sentence for _, sentence in confirmed)
            kept.append((part, Component(part.id, quotes, round(confirmed[0][0], 4))))
    if not kept:
        return None
    text = " ".join(part.sentence for part, _ in kept)
    return Plan(case_id, text, "linked", tuple(component for _, component in kept), reasoning.row, reasoning.split)


def _reasoning(row: Mapping[str, Any], number: int, text: str) -> Reasoning:
    name = next((row[key] for key in ("source_openr1_id", "id") if isinstance(row.get(key), int | str)), number)
    case_id, split = row.get("case_id"), row.get("split")
    return Reasoning(
        name, text, str(case_id) if case_id is not None else None, split if isinstance(split, str) else None
    )


def _thoughts(row: Mapping[str, Any]) -> Iterator[str]:
    conversation = row.get("conversation")
    for turn in (row, *(conversation if isinstance(conversation, list) else ())):
        if isinstance(turn, dict) and isinstance(turn.get("counselor_think"), str):
            yield turn["counselor_think"]


def _sentences(text: str) -> list[str]:
    low, high = _WORDS
    found = (" ".join(sentence.split()) for sentence in _SENTENCE.split(text))
    return list(dict.fromkeys(sentence for sentence in found if low <= len(sentence.split()) <= high))


def _with_cues(part: LinkedComponent, sentences: Sequence[str]) -> list[str]:
    counted = [(sum(_has(cue, sentence.lower()) for cue in part.cues), sentence) for sentence in sentences]
    best = sorted((pair for pair in counted if pair[0]), key=lambda pair: -pair[0])
    return [sentence for _, sentence in best[:_MOST_SENTENCES]]


def _has(cue: str, sentence: str) -> bool:
    """Whether a word begins with the cue."""
    at = sentence.find(cue)
    while at >= 0:
        if at == 0 or not sentence[at - 1].isalpha():
            return True
        at = sentence.find(cue, at + 1)
    return False
