"""Understanding a fact: what a string such as "metformin 1 g twice daily" requires a summary to state."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from pytest_clinical_drift.evidence.context import context_at
from pytest_clinical_drift.evidence.facts.absences import NEUTRAL, covered, denied_body, is_negative
from pytest_clinical_drift.evidence.facts.kinds import RELATIVES, Found, infer_kind, word_lists
from pytest_clinical_drift.evidence.facts.parts import word_parts
from pytest_clinical_drift.evidence.facts.regimen import Regimen, read_regimen
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.reading.dates import Date, dates
from pytest_clinical_drift.evidence.reading.frequencies import frequencies
from pytest_clinical_drift.evidence.reading.quantities import Amount, amounts
from pytest_clinical_drift.evidence.reading.wording import WordPart
from pytest_clinical_drift.evidence.terms.index import TermIndex, term_index
from pytest_clinical_drift.evidence.terms.vocabulary import (
    CONDITION,
    DRUG,
    DRUG_CLASS,
    MEASURE,
    QUALIFIER,
    WORD,
    Concept,
    word_set,
)
from pytest_clinical_drift.evidence.text import Document, read

_MEDICATION_WORDS = word_set("facts", "medication_words")


def fillers() -> frozenset[str]:
    """Words that a summary need not repeat."""
    return word_lists()["filler"]


@dataclass(frozen=True, slots=True, eq=False)
class Fact:
    """A fact, taken apart."""

    text: str
    kind: str
    """medication, stopped, allergy, avoid, negative, measurement, family, diagnosis, social, device …"""
    negative: bool
    """The fact states an absence."""
    past: bool
    """The fact lies in the past by its own wording ("previous overdose")."""
    medicines: tuple[Concept, ...]
    regimen: Regimen | None
    conditions: tuple[Concept, ...]
    qualifiers: tuple[Concept, ...]
    inner_qualifiers: tuple[Concept, ...]
    """Qualifiers that stand inside the name of a condition ("permanent atrial fibrillation")."""
    measures: tuple[tuple[Concept, Amount | None], ...]
    numbers: tuple[Amount, ...]
    """Numbers that belong to no medicine or measurement: ages, counts, weeks."""
    dates: tuple[Date, ...]
    words: tuple[WordPart, ...]
    """Content words that nothing above covers."""
    condition_words: tuple[tuple[WordPart, ...], ...]
    """For each condition the clusters of everyday words that its name in the fact belongs to."""
    of_others: frozenset[str]
    """Ids of conditions that the fact states of another person ("wife, who has dementia")."""
    plain_words: tuple[WordPart, ...]
    """Content words including those that name the conditions."""
    words_first: bool
    """Content words stand before the first condition ("must not drive after a seizure")."""
    any_medication: bool
    """A negative fact about all medicines ("no current medication")."""
    document: Document


@lru_cache(maxsize=4096)
def parse_fact(text: str, kind: str | None = None) -> Fact:
    """Take a fact apart; `kind` is the case's own word for what it is."""
    document = read(text)
    index = term_index(document)
    negative = is_negative(document, index)
    body = denied_body(document, index)
    if body is not None:
        document, index, negative = body, term_index(body), True
    medicines = _medicines(document, index)
    conditions = [t for t in index.by_kind.get(CONDITION, ()) if not t.weak or _whole(document, t)]
    conditions = [t for t in conditions if not _in_phrase(index, t)]
    if negative and "by" in document.words:
        # "sleep apnoea excluded by a sleep study": only what was excluded is denied.
        conditions = [t for t in conditions if t.first < document.words.index("by")] or conditions
    qualifiers = [t for t in index.by_kind.get(QUALIFIER, ()) if not t.weak and not _left_behind(index, t)]
    qualifiers = [
        t for t in qualifiers if not any(_inside(t, [o]) and o.last - o.first > t.last - t.first for o in qualifiers)
    ]
    measures = _measures(document, index)
    # "lithium level 0.8 mmol/L" is a measurement, not a medicine.
    medicines = [m for m in medicines if not any(t.first <= m.first and m.last <= t.last for t, _ in measures)]
    conditions = [c for c in conditions if not any(t.first <= c.first and c.last < t.last for t, _ in measures)]
    regimen = read_regimen(document, medicines[0]) if medicines else None
    found_kind = infer_kind(Found(document.words, medicines, conditions, bool(measures), regimen, negative), kind)
    used = covered([*medicines, *conditions, *qualifiers, *(term for term, _ in measures)])
    for _, amount in measures:
        if amount is not None:
            used.update(range(amount.first, amount.last + 1))
    found_dates = tuple(dates(document))
    for date in found_dates:
        used.update(range(date.first, date.last + 1))
    for frequency in frequencies(document):
        used.update(range(frequency.first, frequency.last + 1))
    numbers = tuple(
        a for a in amounts(document) if a.first not in used and (regimen is None or a not in _taken(regimen))
    )
    used.update(i for a in amounts(document) for i in range(a.first, a.last + 1))
    words = word_parts(document, index, used)
    any_medication = negative and not medicines and not conditions and not _MEDICATION_WORDS.isdisjoint(document.words)
    return Fact(
        text=text,
        kind=found_kind,
        negative=negative,
        past=_lies_in_the_past(document.words),
        medicines=tuple(dict.fromkeys(term.concept for term in medicines)),
        regimen=regimen,
        conditions=tuple(dict.fromkeys(_main(conditions))),
        qualifiers=tuple(
            dict.fromkeys(t.concept for t in qualifiers if not _inside(t, conditions) or _is_side(t, conditions))
        ),
        inner_qualifiers=tuple(dict.fromkeys(t.concept for t in qualifiers if _inside(t, conditions))),
        measures=tuple((term.concept, amount) for term, amount in measures),
        numbers=numbers,
        dates=found_dates,
        words=words,
        condition_words=tuple(
            _clusters_of(document, index, concept, conditions) for concept in dict.fromkeys(_main(conditions))
        ),
        of_others=frozenset(t.concept.id for t in conditions if _of_other(document, t) or _of_the_dead(words)),
        plain_words=word_parts(document, index, used - covered(conditions)),
        words_first=bool(words and conditions)
        and document.raw.find(words[0].text) < document.starts[conditions[0].first],
        any_medication=any_medication,
        document=document,
    )


def _lies_in_the_past(words: list[str]) -> bool:
    """By a word such as "previous"; "10 weeks old" is an age."""
    history = word_lists()["history"]
    return any(
        word in history and not (word == "old" and words[i - 1].startswith(("day", "week", "month", "year")))
        for i, word in enumerate(words)
    )


_PREPOSITIONS = word_set("facts", "prepositions")


def _clusters_of(document: Document, index: TermIndex, concept: Concept, terms: list[Term]) -> tuple[WordPart, ...]:
    """The clusters that cover a condition's name in the fact completely, else nothing."""
    own = covered([t for t in terms if t.concept is concept])
    known = covered([t for t in index.by_kind.get(WORD, ()) if t.first in own and t.last in own])
    if any(i not in known and document.words[i] not in _PREPOSITIONS for i in own):
        return ()
    parts = tuple(p for p in word_parts(document, index, set(range(len(document))) - own) if p.ids)
    return () if all(part.ids <= NEUTRAL for part in parts) else parts


def _of_other(document: Document, term: Term) -> bool:
    """Said of another person in the fact itself: "wife, who has dementia", "autistic son"."""
    following = document.words[term.last + 1 : term.last + 2]
    if _belongs_to_relative(document, term.first):
        return True
    return context_at(document, term.first, term.last).other_person or (bool(following) and following[0] in RELATIVES)


def _belongs_to_relative(document: Document, first: int) -> bool:
    """ "teenage son with autism": a relative, and nothing but light words up to the condition."""
    for place in range(first - 1, -1, -1):
        word = document.words[place]
        if word in _PERSONS:
            return True
        if word not in _HAVING:
            return False
    return False


def _in_phrase(index: TermIndex, term: Term) -> bool:
    """ "fall" in "fall asleep" names no fall."""
    if term.first != term.last or term.concept.group in ("social-risk", "psychiatric"):
        return False
    around = index.between(WORD, term.first - 3, term.first + 1)
    return any(w.first < w.last and w.last >= term.last and not w.weak for w in around)


def _left_behind(index: TermIndex, term: Term) -> bool:
    """ "has not left the house" names no side."""
    phrases = index.between(WORD, term.first - 4, term.first + 1)
    return term.concept.group == "side" and any(w.first < term.first and w.last > term.last for w in phrases)


_PERSONS = word_set("mentions", "others")
_HAVING = word_set("facts", "having")


def _of_the_dead(words: tuple[WordPart, ...]) -> bool:
    """ "lost her mother to cancer": the one who died had it."""
    named = any("word:family" in part.broader for part in words)
    return named and any("word:bereavement" in part.ids for part in words)


def _whole(document: Document, term: Term) -> bool:
    """A fact that is nothing but an abbreviation means what the vocabulary says."""
    return term.first == 0 and term.last == len(document) - 1


def _taken(regimen: Regimen) -> list[Amount]:
    return [*regimen.strengths, *regimen.counts, *regimen.earlier, *regimen.planned]


def _inside(term: Term, others: list[Term]) -> bool:
    return any(other.first <= term.first and term.last <= other.last for other in others)


def _is_side(qualifier: Term, conditions: list[Term]) -> bool:
    """A side that the condition's own name does not fix: "left-sided weakness" names a condition of either side."""
    around = [c.concept.name for c in conditions if c.first <= qualifier.first and qualifier.last <= c.last]
    return qualifier.concept.group == "side" and not any(qualifier.concept.name in name for name in around)


def _main(conditions: list[Term]) -> list[Concept]:
    """Conditions of a fact; one that another one implies adds nothing."""
    concepts = [term.concept for term in conditions]
    return [c for c in concepts if not any(c.id in o.ancestors or c.id in o.implies for o in concepts if o is not c)]


def _medicines(document: Document, index: TermIndex) -> list[Term]:
    phrases = [t for t in index.by_kind.get(WORD, ()) if t.last > t.first and not t.weak]
    # "Narcotics Anonymous" names no medicine.
    found = [
        t
        for t in index.medicines
        if not any(p.first <= t.first and t.last < p.last and t.first == t.last for p in phrases)
    ]
    drugs = [t for t in found if t.concept.kind == DRUG]
    if drugs:
        # "insulin glargine", "ACE inhibitor ramipril": the class word beside its drug adds nothing.
        found = [
            t for t in found if t.concept.kind == DRUG or not any(t.concept.id in d.concept.ancestors for d in drugs)
        ]
    if not found:
        found = [t for kind in (DRUG, DRUG_CLASS) for t in index.by_kind.get(kind, ()) if t.weak][:1]
    if not found:
        unknown = _unknown_medicine(document)
        found = [unknown] if unknown else []
    return found


def _unknown_medicine(document: Document) -> Term | None:
    """A name the vocabulary lacks, followed straight by a dose: "xyzafen 20 mg"."""
    for amount in amounts(document):
        dosed = amount.unit is not None and amount.unit.data["kind"] == "dose" and amount.dimension in ("mass", "unit")
        if dosed and amount.first == 1 and document.words[0].isalpha() and document.words[0] not in fillers():
            name = document.words[0]
            if len(name) < 4:
                return None
            empty: frozenset[str] = frozenset()
            return Term(Concept(f"{DRUG}:?{name}", DRUG, name, "", empty, empty, empty, (), {}), 0, 0)
    return None


def _measures(document: Document, index: TermIndex) -> list[tuple[Term, Amount | None]]:
    found: list[tuple[Term, Amount | None]] = []
    for term in index.by_kind.get(MEASURE, ()):
        if document.words[term.last + 1 : term.last + 2] in (["loss"], ["gain"]):
            continue  # "weight loss of 8 kg" is how much was lost, not what is left
        following = [a for a in amounts(document) if term.last < a.first <= term.last + 5]
        preceding = [a for a in amounts(document) if a.last + 1 == term.first]
        amount = next(iter(following or preceding), None)
        if _is_dose_of(index, term, amount):
            continue
        if amount is not None and (len(document.words[term.first]) > 1 or following):
            found.append((term, amount))
    return found


def _is_dose_of(index: TermIndex, term: Term, amount: Amount | None) -> bool:
    """ "vitamin D 800 units": a name that is a medicine as well is measured only in units of a result."""
    taken = any(m.first == term.first and m.last >= term.last for m in index.medicines)
    return taken and (amount is None or amount.unit is None or amount.unit.data["kind"] != "result")
