"""Target plans for cases that lack one: from a counsellor's reasoning where there is some, else by rules.

Every component of a plan carries the words that it rests on. Reasoning is JSONL in the style of OpenR1-Psy:
`counselor_think` stands in the row, or in the turns of its `conversation`. Cue words propose components, an inference
model confirms them. `data/vocabulary/plan_components.yaml` holds the components.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import AliasChoices, BaseModel, Field, ValidationError

from pytest_clinical_drift.cases.entries import FactKind
from pytest_clinical_drift.cases.faults import first_fault
from pytest_clinical_drift.cases.files import case_files, read_cases
from pytest_clinical_drift.cases.model import Case, CriticalEntity, facts_at
from pytest_clinical_drift.core.files import numbered_lines, read_text, write_atomically
from pytest_clinical_drift.core.parsing import parse_data
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.evidence.facts.fact import parse_fact
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, DRUG_CLASS, load_vocabulary

Verifier = Callable[[Sequence[tuple[str, str]]], list[float]]
"""For each pair of a sentence and a hypothesis the probability that the sentence entails it."""
THRESHOLD = 0.8
"""Probability of entailment from which a component counts."""
_MOST_SENTENCES = 6
"""Sentences that are shown to the verifier for each component, those with most cues first."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_WORDS = range(5, 81)
"""Fragments and run-on paragraphs mislead an inference model."""
_AVOID = "avoid"
_BACKGROUND = "background"
_FRAME_KINDS = {"medication": "medication", "measured": "measurement", "allergy": "allergy", "stated": "diagnosis"}


class Component(NamedTuple):
    id: str
    evidence: tuple[str, ...]
    """What it rests on: the facts, or sentences of the counsellor's reasoning."""
    probability: float | None = None
    """How sure the model is that the best quote says so; None for rules."""


class Plan(NamedTuple):
    case_id: str
    text: str
    components: tuple[Component, ...]
    row: int | str | None = None
    """Row of the reasoning that it comes from; None for rules."""

    @property
    def source(self) -> str:
        return "rules" if self.row is None else "linked"


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
        if case.target_plan:
            continue
        named = [by_case.get(case.id)]
        named += [by_row.get(str(name)) for name in (linked or {}).get(case.id, ())]
        row = next(filter(None, named), None)
        plan = classify(case.id, row, verify) if row is not None and verify is not None else None
        plans.append(plan or synthesise(case))
    return plans


def write_plans(plans: Sequence[Plan], file: Path, *, verifier: str | None = None) -> None:
    """Write `target_plans.json`, with the original's fields; equal plans give an equal file."""
    by_source = Counter(plan.source for plan in plans)
    counts = {source: by_source[source] for source in ("rules", "linked")}
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
    write_atomically(file, json.dumps({"meta": meta, "plans": entries}, indent=2, ensure_ascii=False) + "\n")


def add_plans(path: Path, plans: Mapping[str, str]) -> list[Path]:
    """Append `target_plan` to each YAML case file below a path that has none; the files that were changed."""
    if path.is_file() and path.suffix == ".json":
        raise InputError(f"{path}: plans can be put into YAML case files only; write them to a file with --output")
    changed = []
    for file in case_files(path):
        cases = read_cases(file)
        if file.suffix != ".json" and len(cases) == 1 and not cases[0].target_plan and cases[0].id in plans:
            lines = textwrap.wrap(plans[cases[0].id], 110, initial_indent="  ", subsequent_indent="  ")
            block = "\n".join(("target_plan: >-", *lines))
            file.write_text(f"{read_text(file).rstrip()}\n{block}\n", encoding="utf-8")
            changed.append(file)
    return changed


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
    for number, line in numbered_lines(file):
        try:
            row = Reasoning.model_validate_json(line)
        except ValidationError as error:
            fault = f"not a row with 'counselor_think' ({first_fault(error)})"
            raise InputError(f"{file}, line {number}: {fault}") from None
        if row.text:
            rows.append(row if row.row is not None else row.model_copy(update={"row": number - 1}))
    if not rows:
        raise InputError(f"{file}: no row holds 'counselor_think'")
    return rows


def links(cases: Path) -> dict[str, list[int | str]]:
    """Rows that the original's case files name for their cases (`metadata.source_openr1_ids`)."""
    rows_of: dict[str, list[int | str]] = {}
    for file in [cases] if cases.is_file() else sorted(cases.rglob("*.json")):
        data = parse_data(file, read_text(file))
        entries = data.get("cases", [data]) if isinstance(data, dict) else data
        if not isinstance(entries, list):
            continue
        for entry in entries:
            metadata = entry.get("metadata") if isinstance(entry, dict) else None
            if isinstance(metadata, dict) and isinstance(metadata.get("source_openr1_ids"), list):
                rows_of[str(entry.get("id"))] = metadata["source_openr1_ids"]
    return rows_of


class _Pair(NamedTuple):
    """What the verifier is shown."""

    sentence: str
    hypothesis: str


def classify(case_id: str, reasoning: Reasoning, verify: Verifier) -> Plan | None:
    """The plan of the components that the reasoning holds; None when the verifier confirms none."""
    sentences = _sentences(reasoning.text)
    parts = load_vocabulary("plan_components")["linked"]
    pairs: list[_Pair] = []
    for part in parts:
        pairs += [_Pair(sentence, part["hypothesis"]) for sentence in _likely(sentences, part["cues"])]
    scored = sorted(zip(verify(pairs), pairs, strict=True), key=lambda scored: -scored[0])
    texts: list[str] = []
    components: list[Component] = []
    for part in parts:
        matching = [(p, pair) for p, pair in scored if pair.hypothesis == part["hypothesis"] and p >= THRESHOLD]
        if matching:
            texts.append(part["sentence"])
            evidence = tuple(pair.sentence for _, pair in matching)
            components.append(Component(part["id"], evidence, round(matching[0][0], 4)))
    if not components:
        return None
    return Plan(case_id, " ".join(texts), tuple(components), reasoning.row)


def _sentences(text: str) -> list[str]:
    """The different sentences of a usual length, in their order."""
    tidy = [" ".join(sentence.split()) for sentence in _SENTENCE.split(text)]
    return list(dict.fromkeys(sentence for sentence in tidy if len(sentence.split()) in _WORDS))


def _likely(sentences: Sequence[str], cues: Sequence[str]) -> list[str]:
    """Sentences with the most cues, the best first; words may begin with a cue."""
    patterns = [re.compile(rf"(?<![^\W\d_]){re.escape(cue)}", re.IGNORECASE) for cue in cues]
    found = {sentence: sum(bool(pattern.search(sentence)) for pattern in patterns) for sentence in sentences}
    likely = [sentence for sentence in sentences if found[sentence]]
    return sorted(likely, key=found.__getitem__, reverse=True)[:_MOST_SENTENCES]


# ---- by rules


def synthesise(case: Case) -> Plan:
    """The plan that follows from what is true of the patient at the end of the case."""
    facts = [state.fact for state in facts_at(case, len(case.turns)) if not state.ended]
    words = load_vocabulary("plan_components")
    sentences: list[str] = []
    components: list[Component] = []
    for rule in words["rules"]:
        chosen = [fact for fact in facts if _belongs(rule, fact)]
        if chosen:
            texts = dict.fromkeys(_as_planned(rule["id"], fact) for fact in chosen)
            sentences.append(rule["sentence"].format(facts="; ".join(texts)))
            components.append(Component(rule["id"], tuple(fact.text for fact in chosen)))
    for closing in words["closing"]:
        sentences.append(closing["sentence"])
        components.append(Component(closing["id"], ()))
    return Plan(case.id, " ".join(sentences), tuple(components))


def _as_planned(rule: str, fact: CriticalEntity) -> str:
    if fact.forbids and rule == _AVOID:
        return f"{', '.join(fact.forbids)} (because of {fact.text})"
    return fact.text


def _belongs(rule: Mapping[str, Any], fact: CriticalEntity) -> bool:
    """What a fact forbids is avoided, whatever its kind, and said once: background need not repeat it."""
    if fact.forbids and rule["id"] in (_AVOID, _BACKGROUND):
        return bool(rule["id"] == _AVOID)
    return _kind_in_plan(fact) in rule["kinds"]


def _kind_in_plan(fact: CriticalEntity) -> str:
    """The fact's kind, as rules name it: a medication that was stopped is not continued, one to avoid not taken."""
    parsed = parse_fact(fact.text, fact.kind)
    if parsed.core.concept is not None and parsed.core.concept.kind in (DRUG, DRUG_CLASS):
        if parsed.ended:
            return "stopped"
        if parsed.core.denied and fact.kind != FactKind.NEGATIVE:
            return _AVOID
    if fact.kind is not None:
        return fact.kind
    if parsed.core.denied:
        return FactKind.NEGATIVE
    return FactKind.SOCIAL if parsed.worded else _FRAME_KINDS[parsed.frame]
