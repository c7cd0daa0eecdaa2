"""Target plans for cases that lack one: from a counsellor's reasoning where there is some, else by rules.

Every component of a plan carries the words that it rests on. Reasoning is JSONL in the style of OpenR1-Psy:
`counselor_think` stands in the row, or in the turns of its `conversation`. Cue words propose components, an inference
model confirms them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from pydantic import AliasChoices, BaseModel, Field, ValidationError

from pytest_clinical_drift.cases.faults import first_fault
from pytest_clinical_drift.cases.files import parse_data, read_text
from pytest_clinical_drift.cases.model import Case, CriticalEntity, facts_at
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.evidence.facts.slots import parse_fact
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, DRUG_CLASS, load_vocabulary

Verifier = Callable[[Sequence[tuple[str, str]]], list[float]]
"""For each pair of a sentence and a hypothesis the probability that the sentence entails it."""
THRESHOLD = 0.8
"""Probability of entailment from which a component counts."""
_MOST_SENTENCES = 6
"""Sentences that are shown to the verifier for each component, those with most cues first."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_WORDS = (5, 80)
"""Fragments and run-on paragraphs mislead an inference model."""


class Component(NamedTuple):
    id: str
    evidence: tuple[str, ...]
    """What it rests on: the facts, or sentences of the counsellor's reasoning."""
    probability: float | None = None
    """How sure the model is that the best quote says so; None for rules."""


@dataclass(frozen=True, slots=True)
class Plan:
    case_id: str
    text: str
    components: tuple[Component, ...]
    row: int | str | None = None
    """Row of the reasoning that it comes from; None for rules."""

    @property
    def source(self) -> str:
        return "rules" if self.row is None else "linked"


class _Word(BaseModel):
    """An entry of data/vocabulary/plan_components.yaml; which fields it has depends on its list."""

    id: str = ""
    sentence: str
    kinds: frozenset[str] = frozenset()
    hypothesis: str = ""
    cues: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def plan_words() -> dict[str, tuple[_Word, ...]]:
    """The components that a plan may have, by list: rules, closing, linked."""
    lists = load_vocabulary("plan_components").items()
    return {name: tuple(_Word.model_validate(entry) for entry in entries) for name, entries in lists}


def make_plans(
    cases: Sequence[Case],
    reasoning: Sequence[Reasoning] = (),
    linked: Mapping[str, Sequence[int | str]] | None = None,
    verify: Verifier | None = None,
) -> list[Plan]:
    """A plan for each case without one: from its reasoning, else by rules.

    A row names its case, or `linked` the rows of a case, of which the first that is there counts.
    """
    by_case = {str(row.case_id): row for row in reversed(reasoning) if row.case_id is not None}
    by_row = {str(row.row): row for row in reasoning}
    plans = []
    for case in cases:
        named = [by_case.get(case.id), *(by_row.get(str(name)) for name in (linked or {}).get(case.id, ()))]
        row = next((row for row in named if row is not None), None)
        if not case.target_plan:
            plans.append((row and verify and classify(case.id, row, verify)) or synthesise(case))
    return plans


# ---- from reasoning


class _Thought(BaseModel):
    counselor_think: str | None = None


class Reasoning(_Thought):
    """A counsellor's reasoning on one client, a row of the file."""

    row: int | str | None = Field(None, validation_alias=AliasChoices("row", "source_openr1_id", "id"))
    """Its name; without one its place in the file, from 0."""
    case_id: int | str | None = None
    """The case it belongs to, where the row says so."""
    conversation: tuple[_Thought, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(thought.counselor_think or "" for thought in (self, *self.conversation)).strip()


def read_reasoning(file: Path) -> list[Reasoning]:
    """The rows of a JSONL file that hold reasoning; a bad line is an InputError that names it."""
    rows = []
    for place, line in enumerate(read_text(file).splitlines()):
        if line.strip():
            try:
                row = Reasoning.model_validate_json(line)
            except ValidationError as error:
                fault = f"not a row with 'counselor_think' ({first_fault(error)})"
                raise InputError(f"{file}, line {place + 1}: {fault}") from None
            rows.append(row if row.row is not None else row.model_copy(update={"row": place}))
    if not any(row.text for row in rows):
        raise InputError(f"{file}: no row holds 'counselor_think'")
    return [row for row in rows if row.text]


def links(cases: Path) -> dict[str, list[int | str]]:
    """Rows that the original's case files name for their cases (`metadata.source_openr1_ids`)."""
    rows_of: dict[str, list[int | str]] = {}
    for file in [cases] if cases.is_file() else sorted(cases.rglob("*.json")):
        data = parse_data(file, read_text(file))
        entries = data.get("cases", [data]) if isinstance(data, dict) else data
        for entry in entries if isinstance(entries, list) else ():
            metadata = entry.get("metadata") if isinstance(entry, dict) else None
            if isinstance(metadata, dict) and isinstance(metadata.get("source_openr1_ids"), list):
                rows_of[str(entry.get("id"))] = metadata["source_openr1_ids"]
    return rows_of


def classify(case_id: str, reasoning: Reasoning, verify: Verifier) -> Plan | None:
    """The plan of the components that the reasoning holds; None when the verifier confirms none."""
    tidy = (" ".join(sentence.split()) for sentence in _SENTENCE.split(reasoning.text))
    sentences = list(dict.fromkeys(s for s in tidy if _WORDS[0] <= len(s.split()) <= _WORDS[1]))
    parts = plan_words()["linked"]
    pairs = [(sentence, part.hypothesis) for part in parts for sentence in _with_cues(part, sentences)]
    scored = sorted(zip(verify(pairs), pairs, strict=True), key=lambda pair: -pair[0])
    texts, components = [], []
    for part in parts:
        matching = [(p, sentence) for p, (sentence, said) in scored if said == part.hypothesis and p >= THRESHOLD]
        if matching:
            texts.append(part.sentence)
            components.append(Component(part.id, tuple(sentence for _, sentence in matching), round(matching[0][0], 4)))
    return Plan(case_id, " ".join(texts), tuple(components), reasoning.row) if components else None


def _with_cues(part: _Word, sentences: Sequence[str]) -> list[str]:
    """Sentences with words that begin with a cue, those with most cues first."""
    cues = [re.compile(rf"(?<![^\W\d_]){re.escape(cue)}", re.IGNORECASE) for cue in part.cues]
    counted = [(sum(bool(cue.search(sentence)) for cue in cues), sentence) for sentence in sentences]
    best = sorted((pair for pair in counted if pair[0]), key=lambda pair: -pair[0])
    return [sentence for _, sentence in best[:_MOST_SENTENCES]]


# ---- by rules


def synthesise(case: Case) -> Plan:
    """The plan that follows from what is true of the patient at the end of the case."""
    facts = [state.fact for state in facts_at(case, len(case.turns)) if not state.ended]
    (closing,) = plan_words()["closing"]
    sentences, components = [], []
    for rule in plan_words()["rules"]:
        chosen = [fact for fact in facts if _belongs(rule, fact)]
        texts = dict.fromkeys(
            f"{', '.join(fact.forbids)} (because of {fact.text})" if fact.forbids and rule.id == "avoid" else fact.text
            for fact in chosen
        )
        if texts:
            sentences.append(rule.sentence.format(facts="; ".join(texts)))
            components.append(Component(rule.id, tuple(fact.text for fact in chosen)))
    return Plan(case.id, " ".join((*sentences, closing.sentence)), (*components, Component(closing.id, ())))


def _belongs(rule: _Word, fact: CriticalEntity) -> bool:
    """What a fact forbids is avoided, whatever its kind, and said once: background need not repeat it."""
    if fact.forbids and rule.id in ("avoid", "background"):
        return rule.id == "avoid"
    return _kind(fact) in rule.kinds


_FRAME_KINDS = {"medication": "medication", "measured": "measurement", "allergy": "allergy", "stated": "diagnosis"}


def _kind(fact: CriticalEntity) -> str:
    """What kind of fact it is: a medication that was stopped is not to be continued, one to avoid is not taken."""
    parsed = parse_fact(fact.text, fact.kind)
    if parsed.core.concept is not None and parsed.core.concept.kind in (DRUG, DRUG_CLASS):
        if parsed.ended:
            return "stopped"
        if parsed.core.denied and fact.kind != "negative":
            return "avoid"
    kind = "negative" if parsed.core.denied else ("social" if parsed.worded else _FRAME_KINDS[parsed.frame])
    return fact.kind or kind


def write_plans(plans: Sequence[Plan], file: Path, *, verifier: str | None = None) -> None:
    """Write `target_plans.json`, with the original's fields; equal plans give an equal file."""
    counts = {source: sum(plan.source == source for plan in plans) for source in ("rules", "linked")}
    entries = {
        plan.case_id: {
            "plan": plan.text,
            "source": plan.source,
            "source_openr1_id": plan.row,
            "plan_components": [part.id for part in plan.components],
            "plan_component_evidence": {
                part.id: {"quotes": part.evidence, "probability": part.probability} for part in plan.components
            },
        }
        for plan in sorted(plans, key=lambda plan: plan.case_id)
    }
    meta = {"generator": "pytest-clinical-drift", "verifier": verifier, "plans": len(plans), **counts}
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"meta": meta, "plans": entries}, indent=2, ensure_ascii=False)
    file.write_text(f"{text}\n", encoding="utf-8")
