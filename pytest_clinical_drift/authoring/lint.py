"""The quality of cases beyond their schema: what a release test must not be guilty of."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path

from tabulate import tabulate

from pytest_clinical_drift.authoring import Remark, Remarks, facts, replies, turns
from pytest_clinical_drift.cases.files import readable_cases
from pytest_clinical_drift.cases.model import Case, spoken
from pytest_clinical_drift.cases.signing import signed

SCHEMA = "schema"
"""Place of remarks on files that are no case at all."""
_WARNED, _REFUSED = 0.4, 0.6
"""Similarity from which a pair is warned of, and from which it is an error: copies with other names and drugs reach
0.8, independent cases and summaries stay below 0.1, single messages ("increased to … once daily") below 0.35."""
_PHRASE = 3
"""Words of the phrases by which two texts are compared."""
_SHORTEST = 8
"""Texts of fewer words are too short to be copies."""
_COMMONPLACE = 20
"""A phrase that stands in more texts than this tells nothing about copying."""


def signature(case: Case) -> Remarks:
    """A changed case is no longer the one that was signed."""
    mark = case.reviewed
    if mark is not None and not signed(case):
        text = f"changed since {mark.by} ({mark.role}) signed it on {mark.when}: no longer signed"
        yield Remark("warning", "reviewed", text)


_CHECKS: tuple[Callable[[Case], Remarks], ...] = (
    facts.facts_in_summary,
    facts.repeated_facts,
    facts.hard_stops,
    facts.unknown_medicines,
    turns.facts_in_messages,
    turns.explicit_changes,
    replies.unknown_terms,
    signature,
)


def lint_case(case: Case) -> list[Remark]:
    return [remark._replace(case_id=case.id) for check in _CHECKS for remark in check(case)]


def lint_cases(cases: Sequence[Case]) -> list[Remark]:
    """Remarks on every case, and on pairs that are too alike to be independent evidence."""
    remarks = [remark for case in cases for remark in lint_case(case)]
    remarks += _shared_personas(cases)
    for texts, names in _compared(cases):
        for first, second, similarity in similarities(texts):
            if similarity >= _WARNED:
                (case_id, place), (other, there) = names[first], names[second]
                text = f"{similarity:.2f} similar to {other} ({there}): not independent"
                remarks.append(Remark("error" if similarity >= _REFUSED else "warning", place, text, case_id))
    return remarks


def lint_path(path: Path) -> tuple[int, list[Remark]]:
    """How many cases below a path are readable, and all remarks; each fault of a file that breaks the schema is one."""
    cases, faults = readable_cases(path)
    broken = [Remark("error", SCHEMA, text, name) for name, fault in faults for text in str(fault).splitlines()]
    return len(cases), broken + lint_cases(cases)


def render_text(cases: int, remarks: Sequence[Remark]) -> str:
    """A table, errors first, each case together; the counts."""
    ordered = sorted(remarks, key=lambda remark: (remark.level != "error", remark.case_id))
    rows = [(remark.level, remark.case_id, remark.place, remark.text) for remark in ordered]
    table = tabulate(rows, headers=("", "case", "where", "what"), tablefmt="simple", disable_numparse=True)
    errors = sum(remark.level == "error" for remark in remarks)
    counts = ((cases, "case"), (errors, "error"), (len(remarks) - errors, "warning"))
    counted = ", ".join(f"{number} {what}{'' if number == 1 else 's'}" for number, what in counts)
    return f"{table if remarks else 'nothing to mend'}\n{counted}"


def _shared_personas(cases: Sequence[Case]) -> Remarks:
    personas: dict[str, str] = {}
    for case in cases:
        if case.persona_id in personas and case.cluster is None:
            text = f"shares its persona with {personas[case.persona_id]}: the two count as one"
            yield Remark("warning", "persona_id", text, case.id)
        personas.setdefault(case.persona_id, case.id)


def _compared(cases: Sequence[Case]) -> Iterator[tuple[list[str], list[tuple[str, str]]]]:
    """Texts that are compared with each other, and the case and place of each."""
    whole = [" ".join((case.patient_summary, *(turn.message for turn in case.turns))) for case in cases]
    yield whole, [(case.id, "case") for case in cases]
    yield [case.patient_summary for case in cases], [(case.id, "patient_summary") for case in cases]
    messages = [(entry.message, (case.id, place)) for case in cases for place, _, entry in spoken(case)]
    yield [message for message, _ in messages], [name for _, name in messages]


def similarities(texts: Sequence[str]) -> list[tuple[int, int, float]]:
    """Pairs that share a phrase, the most alike first: the share of the one with fewer phrases that the other has."""
    phrases = [_phrases(text) for text in texts]
    where: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, holders in enumerate(phrases):
        for phrase in holders:
            where[phrase].append(index)
    shared: Counter[tuple[int, int]] = Counter()
    for indices in where.values():
        if len(indices) <= _COMMONPLACE:
            shared.update(combinations(indices, 2))
    pairs = [(a, b, times / min(len(phrases[a]), len(phrases[b]))) for (a, b), times in shared.items()]
    return sorted(pairs, key=lambda pair: (-pair[2], pair))


def _phrases(text: str) -> frozenset[tuple[str, ...]]:
    words = re.findall(r"[^\W_]+", text.lower())
    ends = range(len(words) - _PHRASE + 1) if len(words) >= _SHORTEST else ()
    return frozenset(tuple(words[at : at + _PHRASE]) for at in ends)
