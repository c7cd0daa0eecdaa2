"""The quality of cases beyond their schema: what a release test must not be guilty of."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import chain, combinations
from pathlib import Path
from typing import NamedTuple

from tabulate import tabulate

from pytest_clinical_drift.authoring import Level, Remark, Remarks, facts, replies
from pytest_clinical_drift.cases.files import readable_cases
from pytest_clinical_drift.cases.model import Case, spoken
from pytest_clinical_drift.core.text import counted

_CHECKS: tuple[Callable[[Case], Remarks], ...] = (
    facts.sizes,
    facts.facts_in_summary,
    facts.hard_stops,
    facts.medicines_and_doses,
    facts.facts_in_messages,
    facts.explicit_changes,
    replies.unknown_terms,
    replies.demands,
    replies.marks,
)
SCHEMA = "schema"
"""Place of remarks on files that are not cases."""
_MESSAGES = "messages"
_WARNED = 0.4
"""Similarity from which a pair is warned of: independent cases and summaries stay below 0.1, single messages
("increased to … once daily") below 0.35."""
_REFUSED = 0.6
"""Similarity from which it is an error: copies with other names and drugs reach 0.8."""
_PHRASE = 3
"""Words of the phrases by which two texts are compared."""
_SHORTEST = 8
"""Texts of fewer words are too short to be copies."""
_COMMONPLACE = 20
"""A phrase that stands in more texts than this tells nothing about copying."""


def lint_case(case: Case) -> list[Remark]:
    remarks = chain.from_iterable(check(case) for check in _CHECKS)
    return [remark._replace(case_id=case.id) for remark in remarks]


class Compared(NamedTuple):
    """A text that no other text may resemble, and where it stands."""

    case_id: str
    place: str
    text: str


class Nearest(NamedTuple):
    """The two most similar texts of a sort."""

    similarity: float
    first: str
    second: str


def lint_cases(cases: Sequence[Case]) -> tuple[list[Remark], dict[str, Nearest]]:
    """Remarks on cases and on pairs that are too alike; of each sort the most similar pair, with its similarity."""
    remarks = list(chain.from_iterable(map(lint_case, cases)))
    remarks += _shared_personas(cases)
    nearest: dict[str, Nearest] = {}
    for what, texts in _compared(cases).items():
        names = [f"{one.case_id} {one.place}" if what == _MESSAGES else one.case_id for one in texts]
        pairs = similarities([one.text for one in texts])
        for first, second, similarity in pairs:
            if similarity >= _WARNED:
                level = Level.ERROR if similarity >= _REFUSED else Level.WARNING
                text = f"{similarity:.2f} similar to {names[second]}: not independent"
                remarks.append(Remark(level, texts[first].place, text, texts[first].case_id))
        if pairs:
            first, second, similarity = pairs[0]
            nearest[what] = Nearest(similarity, names[first], names[second])
    return remarks, nearest


def _compared(cases: Sequence[Case]) -> dict[str, list[Compared]]:
    """The texts of each sort that are compared with each other."""
    messages: list[Compared] = []
    for case in cases:
        messages += [Compared(case.id, place, entry.message) for place, _, entry in spoken(case)]
    return {
        "cases": [Compared(case.id, "case", _whole_text(case)) for case in cases],
        "patient summaries": [Compared(case.id, "patient_summary", case.patient_summary) for case in cases],
        _MESSAGES: messages,
    }


def _whole_text(case: Case) -> str:
    return " ".join((case.patient_summary, *(turn.message for turn in case.turns)))


def _shared_personas(cases: Sequence[Case]) -> Remarks:
    """Two cases about one persona, which count as one, unless a cluster says so."""
    personas: dict[str, str] = {}
    for case in cases:
        if case.persona_id in personas and case.cluster is None:
            text = f"shares its persona with {personas[case.persona_id]}: the two count as one"
            yield Remark(Level.WARNING, "persona_id", text, case.id)
        personas.setdefault(case.persona_id, case.id)


def lint_path(path: Path) -> tuple[list[Remark], str]:
    """Remarks on every case below a path, read on past files that break the schema, whose faults are remarks too.

    In text: a table, errors first, each case together; the most similar pairs; the counts.
    """
    cases, faults = readable_cases(path)
    broken: list[Remark] = []
    for name, fault in faults:
        broken += [Remark(Level.ERROR, SCHEMA, text, name) for text in str(fault).splitlines()]
    remarks, nearest = lint_cases(cases)
    remarks = sorted(broken + remarks, key=lambda remark: (remark.level != Level.ERROR, remark.case_id))
    rows = [(remark.level, remark.case_id, remark.place, remark.text) for remark in remarks]
    table = tabulate(rows, headers=("", "case", "where", "what"), tablefmt="simple", disable_numparse=True)
    errors = sum(remark.level == Level.ERROR for remark in remarks)
    counts = (counted(len(cases), "case"), counted(errors, "error"), counted(len(remarks) - errors, "warning"))
    lines = [
        table if remarks else "no problems found",
        *(
            f"largest similarity of two {what}: {pair.similarity:.2f} ({pair.first}, {pair.second})"
            for what, pair in nearest.items()
        ),
        ", ".join(counts),
    ]
    return remarks, "\n".join(lines)


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
