"""A fact taken apart: what it speaks of, what stands at its centre, and what else a summary has to state with it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from pytest_clinical_drift.evidence.mentions.context import context_at
from pytest_clinical_drift.evidence.mentions.regimen import Regimen, read_regimen
from pytest_clinical_drift.evidence.quantities.amounts import Amount, amounts
from pytest_clinical_drift.evidence.quantities.dates import Date, dates
from pytest_clinical_drift.evidence.quantities.frequencies import Frequency, frequencies
from pytest_clinical_drift.evidence.reading.text import Document, read
from pytest_clinical_drift.evidence.terms.lexicon import Term, TermIndex, term_index
from pytest_clinical_drift.evidence.terms.vocabulary import (
    CONDITION,
    DRUG,
    MEASURE,
    QUALIFIER,
    WORD,
    Concept,
    load_vocabulary,
    word_set,
)
from pytest_clinical_drift.evidence.terms.words import loose_stem as stem

MEDICATION = "medication"
MEASURED = "measured"
ALLERGY = "allergy"
STATED = "stated"
FUNCTION = word_set("facts", "function")
DENYING = frozenset(("no", "not", "non", "never", "without", "nil", "none", "off"))
_DOING = frozenset(("missed", "carries", "carrying", "declines", "refuses", "refusing", "due", "awaiting"))
_GENERAL = frozenset(("drug allergy", "food allergy", "allergy"))
_ALLERGY = ("allerg", "anaphyla", "hypersensitiv", "intoleran")
_CAUSED = frozenset(("to", "from", "with", "on", "after", "by", "caused", "causes", "reaction"))
_REACTIONS = frozenset(("immunological", "skin", "symptom", "reaction", "dermatological"))
_TESTS = frozenset(("test", "tests", "screen", "antibody", "antibodies", "swab", "culture", "pcr", "serology", "igra"))
_CIRCUMSTANCES = ("safety", "social", "other")
_AVOIDED = frozenset(("avoid", "avoids", "avoided", "avoiding", "contraindicated"))


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """One thing that a summary has to say."""

    text: str
    concept: Concept | None = None
    """The vocabulary's concept; None for other words."""
    ids: frozenset[str] = frozenset()
    """Concepts that say it, themselves or by something narrower."""
    against: frozenset[str] = frozenset()
    """Concepts that exclude it."""
    stems: frozenset[str] = frozenset()
    """Stems of its words; all of them near each other say it too."""
    denied: bool = False
    """The fact says that it is not so."""
    other: bool = False
    """The fact says it of another person."""


@dataclass(frozen=True, slots=True, eq=False)
class Fact:
    kind: str | None
    """What the case calls it."""
    document: Document
    frame: str
    """medication, measured, allergy, stated (everything else)."""
    core: Slot
    details: tuple[Slot, ...]
    regimen: Regimen | None
    amounts: tuple[Amount, ...]
    """Quantities beside the core that are not part of a regimen."""
    dates: tuple[Date, ...]
    past: bool
    """The fact lies in the past by its own words."""
    ended: bool
    """The fact says that something was stopped."""
    worded: bool
    """Its words are peers: a circumstance, not a named thing with details."""
    result: bool
    """The result of a test, whose "negative" is what it says and no denial."""
    inner: tuple[Slot, ...]
    """Qualifiers inside the name of the core: "permanent atrial fibrillation"."""


@lru_cache(maxsize=8)
def words_of(name: str) -> frozenset[str]:
    return frozenset(str(word) for word in load_vocabulary("fact_words")[name])


def content_of(words: Sequence[str]) -> list[str]:
    """The words of a name that have to stand together; none where one of them denies the others."""
    return [] if not DENYING.isdisjoint(words) else [w for w in words if w not in FUNCTION]


@lru_cache(maxsize=4096)
def parse_fact(text: str, kind: str | None = None) -> Fact:
    """Take a fact apart; `kind` is the case's own word for what it is."""
    document = read(text)
    index = term_index(document)
    measures = _measures_of(document, index)
    medicines = [m for m in named_medicines(index) if not any(_is_inside(m, t) for t in measures)]
    conditions = _conditions_of(document, index, measures)
    frame = frame_of(document, kind, medicines, conditions, bool(measures))
    ended = not words_of("stopped").isdisjoint(document.words)
    named = [*medicines, *conditions, *measures]
    core = next(iter(_cores(frame, medicines, conditions, measures, ended=ended)), None)
    taken_up: list[Frequency | Date | Term] = [*frequencies(document), *dates(document), *named]
    numbers = [a for a in amounts(document) if not any(o.first <= a.first <= o.last for o in taken_up)]
    used = _tokens_of((*taken_up, *numbers))
    every = [t for t in index.by_kind.get(QUALIFIER, ()) if not t.weak]
    qualifiers = [t for t in every if t.first not in used]
    inner = [t for t in every if core is not None and _is_inside(t, core)]
    tested = not _TESTS.isdisjoint(document.words) and any(t.concept.group == "test result" for t in qualifiers)
    regimen = read_regimen(document, core) if core is not None and frame == MEDICATION else None
    core = None if tested else core
    details = [_slot(document, t) for t in (*named, *qualifiers) if t is not core]
    details += _word_slots(document, index, used | _tokens_of(qualifiers))
    details = _needed(details, has_core=core is not None, has_numbers=bool(numbers), tested=tested)
    main, details = _core_and_details(document, core, details)
    if medicines and frame == MEDICATION and not _AVOIDED.isdisjoint(document.words):
        main = replace(main, denied=True)
    circumstance = frame == STATED and kind in _CIRCUMSTANCES and any(s.concept is None for s in (main, *details))
    return Fact(
        kind,
        document,
        frame,
        main,
        tuple(details),
        regimen,
        tuple(numbers) if frame != MEDICATION else (),
        tuple(dates(document)),
        past=not words_of("history").isdisjoint(document.words) or bool(dates(document)),
        ended=ended,
        worded=core is None or circumstance,
        result=tested,
        inner=tuple(_slot(document, t) for t in inner),
    )


def _cores(
    frame: str, medicines: list[Term], conditions: list[Term], measures: list[Term], *, ended: bool
) -> list[Term]:
    """What may stand at the centre of a fact of a frame; of one that has ended its medicine."""
    if frame == MEDICATION:
        return medicines
    if frame == ALLERGY:
        named = [t for t in conditions if t.concept.name.endswith(" allergy")]
        return medicines or [t for t in named if t.concept.name not in _GENERAL]
    if ended and medicines:
        return medicines
    if frame == MEASURED:
        return measures
    return conditions or sorted([*medicines, *measures], key=lambda term: term.first)


def _needed(details: list[Slot], *, has_core: bool, has_numbers: bool, tested: bool) -> list[Slot]:
    """Details without the words that a summary may leave out, or a test's name where its result is what counts.

    All of them where nothing else would tell the fact.
    """
    last_words = words_of("optional")
    telling = []
    for slot in details:
        optional = slot.text.lower().split()[-1] in last_words and (tested or not slot.denied)
        if slot.concept is not None or not optional:
            telling.append(slot)
    named = any(slot.concept is not None for slot in telling)
    enough = has_core or named or len(telling) > 1 or (bool(telling) and has_numbers)
    return telling if enough else details


def frame_of(
    document: Document, kind: str | None, medicines: list[Term], conditions: list[Term], measured: bool
) -> str:
    if kind in ("allergy", "intolerance"):
        return ALLERGY
    if kind in (None, "negative", "history", "safety", "other") and _names_allergy(document, conditions):
        return ALLERGY
    if measured and kind in (None, "measurement", "other"):
        return MEASURED
    frame = None
    if medicines and kind in (None, "medication", "negative", "device"):
        frame = _frame_of_medicine(document, kind, conditions)
    if frame is not None:
        return frame
    return ALLERGY if conditions and not {"causes", "caused"}.isdisjoint(document.words) else STATED


def _names_allergy(document: Document, conditions: list[Term]) -> bool:
    """Whether a text names an allergy, and not an illness with the word in its name (allergic rhinitis)."""
    illnesses = [t for t in conditions if not t.concept.name.endswith(("allergy", "allergic reaction"))]
    illness = _tokens_of(illnesses)
    named = [place for place, word in enumerate(document.words) if word.startswith(_ALLERGY)]
    return any(place not in illness or not document.words[place].startswith("allerg") for place in named)


def _frame_of_medicine(document: Document, kind: str | None, conditions: list[Term]) -> str | None:
    """The frame of a fact that names a medicine; None where that decides nothing."""
    words = document.words
    dosed = any(a.unit is not None and a.unit.data["kind"] == "dose" for a in amounts(document))
    described = not (dosed or frequencies(document) or kind == "medication")
    if described and not _DOING.isdisjoint(words):
        return STATED
    if kind is None and conditions and not dosed and not _CAUSED.isdisjoint(words):
        return ALLERGY if conditions[0].concept.group in _REACTIONS else STATED
    taken = kind == "medication" or words_of("stopped").isdisjoint(words)
    return MEDICATION if taken else None


def _tokens_of(parts: Iterable[Term | Amount | Frequency | Date]) -> set[int]:
    """The tokens that some parts of a text take up."""
    tokens: set[int] = set()
    for part in parts:
        tokens.update(range(part.first, part.last + 1))
    return tokens


def _is_inside(term: Term, other: Term) -> bool:
    return other.first <= term.first and term.last <= other.last


def named_medicines(index: TermIndex) -> list[Term]:
    """Medicines and classes that a short text names; a class word beside its drug adds nothing."""
    drugs = (t for t in index.medicines if t.concept.kind == DRUG)
    above: set[str] = set().union(*(t.concept.ancestors for t in drugs))
    return [t for t in index.medicines if t.concept.kind == DRUG or t.concept.id not in above]


def _conditions_of(document: Document, index: TermIndex, measures: list[Term]) -> list[Term]:
    """Conditions that a short text names; a broader one beside a narrower one adds nothing."""
    whole = (0, len(document) - 1)
    conditions = [t for t in index.by_kind.get(CONDITION, ()) if not t.weak or (t.first, t.last) == whole]
    above: set[str] = set().union(*(t.concept.ancestors for t in conditions))
    conditions = [t for t in conditions if t.concept.id not in above]
    return [c for c in conditions if not any(_is_inside(c, t) and c.last < t.last for t in measures)]


def _measures_of(document: Document, index: TermIndex) -> list[Term]:
    """Measurements that a short text gives a figure for; "weight loss" is none, nor is the dose of a medicine."""
    measures: list[Term] = []
    for term in index.by_kind.get(MEASURE, ()):
        changed = document.words[term.last + 1 : term.last + 2] in (["loss"], ["gain"])
        following = [a for a in amounts(document) if term.last < a.first <= term.last + 5]
        amount = next(iter(following or [a for a in amounts(document) if a.last + 1 == term.first]), None)
        dose = amount is not None and (amount.unit is None or amount.unit.data["kind"] != "result")
        taken = dose and any(m.first == term.first and m.last >= term.last for m in index.medicines)
        if amount is not None and not (changed or taken):
            measures.append(term)
    return measures


def _core_and_details(document: Document, core: Term | None, details: list[Slot]) -> tuple[Slot, list[Slot]]:
    """The centre (a named thing, else the first word) and the rest; what its name says is not a detail."""
    if core is not None:
        said = {core.concept.id} | core.concept.ancestors | core.concept.implies
        return _slot(document, core), [s for s in details if s.concept is None or s.concept.id not in said]
    if not details:
        return Slot(document.raw, stems=frozenset(map(stem, document.words))), []
    first = next((n for n, s in enumerate(details) if s.concept is None), 0)
    return details[first], details[:first] + details[first + 1 :]


def _slot(document: Document, term: Term) -> Slot:
    context = context_at(document, term.first, term.last)
    concept = term.concept
    content = content_of(document.words[term.first : term.last + 1])
    same = [t for t in term_index(document).by_kind.get(WORD, ()) if (t.first, t.last) == (term.first, term.last)]
    return Slot(
        document.quote(term.first, term.last),
        concept,
        frozenset((concept.id, *(t.concept.id for t in same if not t.weak and concept.kind == CONDITION))),
        concept.excludes,
        frozenset(map(stem, content)) if concept.kind == CONDITION else frozenset(),
        denied=context.negated,
        other=context.other_person,
    )


def _word_slots(document: Document, index: TermIndex, used: set[int]) -> list[Slot]:
    """Content words that nothing else covers; the words of one cluster phrase are one slot."""
    free = [t for t in index.by_kind.get(WORD, ()) if not t.weak and used.isdisjoint(range(t.first, t.last + 1))]
    words = document.words
    filler = words_of("filler")
    if not used and filler.issuperset(words):
        filler = FUNCTION | DENYING
    slots: list[Slot] = []
    last = -1
    for position, word in enumerate(words):
        if position <= last or position in used:
            continue
        end = max((t.last for t in free if t.first == position), default=position)
        if end == position and (word in filler or not word.isalpha()):
            continue
        last = end
        terms = [t for t in free if (t.first, t.last) == (position, last)]
        said = words[position : last + 1]
        context = context_at(document, position, last)
        slots.append(
            Slot(
                document.quote(position, last),
                ids=frozenset(t.concept.id for t in terms),
                against=frozenset().union(*(t.concept.excludes for t in terms)),
                stems=frozenset(map(stem, [w for w in said if w not in filler] or said)),
                denied=context.negated,
                other=context.other_person,
            )
        )
    return slots
