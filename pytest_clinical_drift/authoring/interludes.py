"""Stretched cases: which interludes suit a case, which are near to its facts, and where they go between its turns."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, filterfalse, zip_longest
from typing import NamedTuple

from pytest_clinical_drift.cases.entries import CriticalEntity, Expectation, FactKind, Turn
from pytest_clinical_drift.cases.interludes import Thread, ThreadType
from pytest_clinical_drift.cases.model import Case, facts_of, spoken
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.evidence.entities import content_stems
from pytest_clinical_drift.evidence.quantities.amounts import amounts
from pytest_clinical_drift.evidence.reading.text import read
from pytest_clinical_drift.evidence.terms.lexicon import CLINICAL_KINDS, find_terms
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, DRUG_CLASS, MEASURE, Concept, load_vocabulary
from pytest_clinical_drift.metrics import SEED

_REACTIONS = (FactKind.ALLERGY, FactKind.INTOLERANCE)
_NAME = re.compile(r"\b[^\W\d_][\w'’-]{2,}")
_OPENING = re.compile(r"(?:(?:[A-Z]\w{1,3}\.? )?[A-Z][\w'’-]+ ?)+")
"""The name with which a patient's record opens."""
_TIME = "time"
"""Seven days are not an entry of a case: everybody has them."""
_TYPES = (ThreadType.INTERFERENCE, ThreadType.NEUTRAL, ThreadType.PASTED)
"""The order in which threads are used."""
_BEFORE_LATE = 10
"""Messages on other matters between the late question and the case's own turn before it."""
_THREADS_AFTER_LATE = 40
"""In runs of at most so many turns threads may follow the late question: recorded runs keep their order."""


class _Named(NamedTuple):
    """What a text names: vocabulary entries, and values with their unit or measure."""

    concepts: frozenset[Concept]
    values: frozenset[str]

    def ids(self, *kinds: str) -> frozenset[str]:
        return frozenset(concept.id for concept in self.concepts if concept.kind in kinds)

    def classes(self) -> frozenset[str]:
        listed = (concept.data.get("classes", ()) for concept in self.concepts)
        return frozenset(map(str, chain.from_iterable(listed)))


def stretch(case: Case, turns: int, bank: Sequence[Thread], seed: int = SEED) -> Case:
    """The case with interludes up to so many turns; the same for the same case id, seed and bank.

    Its own turns keep their order, and the last stays last. Nothing goes into a `tight` range. `late` becomes a turn
    of the case in the last gap; in runs of more than 40 turns the case goes on directly after it. Each thread is used
    once and whole, but the one that fills the last turns may be cut. Those near to facts of the case come first among
    their type. Threads that share a medicine are left out after the shuffle: the order of the others does not change.
    """
    own = len(case.turns)
    if turns < own:
        raise InputError(f"--drift-turns {turns}: the case {case.id} has {own} turns of its own; write {own} or more")
    if turns == own:
        return case
    gaps = [at for at in range(1, own) if not any(first <= at < last for first, last in case.tight)]
    if not gaps:
        covered = "`tight` covers every turn, so no interlude can be inserted"
        raise InputError(f"--drift-turns {turns}: case {case.id}: {covered}")
    dice = random.Random(f"{seed} {case.id}")
    threads = _in_order_of_use(case, bank, dice)
    parts, missing = _filled(threads, turns - own - (case.late is not None), near(case))
    if missing:
        fitting = f"the interludes that fit the case {case.id} fill {turns - missing} turns"
        raise InputError(f"--drift-turns {turns}: {fitting}; write fewer turns or give more with --drift-interludes")
    dice.shuffle(parts)
    return _renumbered(case, _spread(parts, gaps, case, late_ends_gap=turns > _THREADS_AFTER_LATE))


def _in_order_of_use(case: Case, bank: Sequence[Thread], dice: random.Random) -> list[Thread]:
    """The threads that suit the case, one of each type in turn, those near to its facts first."""
    fits = spares(case)
    shared = shares_medicine(case)
    interferes = near(case)
    by_type = []
    for kind in _TYPES:
        some = [thread for thread in bank if thread.type == kind and fits(thread)]
        some.sort(key=lambda thread: thread.id)
        dice.shuffle(some)
        by_type.append(sorted(filterfalse(shared, some), key=lambda thread: not interferes(thread)))
    return [thread for thread in chain.from_iterable(zip_longest(*by_type)) if thread is not None]


def _filled(
    threads: Sequence[Thread], missing: int, interferes: Callable[[Thread], tuple[str, ...]]
) -> tuple[list[list[Turn]], int]:
    """So many turns out of threads, each used whole but the last, and how many turns are still missing."""
    parts: list[list[Turn]] = []
    for thread in threads:
        if not missing:
            break
        messages = thread.messages[:missing]
        about = interferes(thread)
        parts.append([Turn(turn=1, message=text, interlude=thread.id, interferes=about) for text in messages])
        missing -= len(messages)
    return parts, missing


def _spread(parts: list[list[Turn]], gaps: Sequence[int], case: Case, *, late_ends_gap: bool) -> dict[int, list[Turn]]:
    """What fills each gap: the threads, evenly; the late question in the last gap, with some of them before it."""
    filled: dict[int, list[Turn]] = {gap: [] for gap in gaps}
    last_gap = filled[gaps[-1]]
    while case.late is not None and parts and len(last_gap) < _BEFORE_LATE:
        last_gap += parts.pop()
    place = len(last_gap)
    total = sum(map(len, parts))
    done = 0
    for part in parts:
        middle = done + len(part) / 2
        filled[gaps[int(middle / total * len(gaps))]] += part
        done += len(part)
    if case.late is not None:
        asked = Turn(turn=1, message=case.late.message, expect=case.late.expect)
        last_gap.insert(len(last_gap) if late_ends_gap else place, asked)
    return filled


def _renumbered(case: Case, filled: Mapping[int, list[Turn]]) -> Case:
    """The case's turns and what was put between them, counted anew, with everything that names a turn."""
    turns: list[Turn] = []
    places: dict[int, int] = {}
    for own in case.turns:
        turns.append(own)
        places[own.turn] = len(turns)
        turns += filled.get(own.turn, ())

    def moved(wish: Expectation) -> Expectation:
        return wish.model_copy(update={"by": places.get(wish.by or 0), "until": places.get(wish.until or 0)})

    numbered = []
    for number, turn in enumerate(turns, start=1):
        must = tuple(map(moved, turn.expect.must))
        must_not = tuple(map(moved, turn.expect.must_not))
        expect = turn.expect.model_copy(update={"must": must, "must_not": must_not})
        numbered.append(turn.model_copy(update={"turn": number, "expect": expect}))
    tight = tuple((places[first], places[last]) for first, last in case.tight)
    return case.model_copy(update={"turns": tuple(numbered), "tight": tight, "late": None})


# ---- which threads suit a case


def shares_medicine(case: Case) -> Callable[[Thread], bool]:
    """Whether a thread names a medicine of the record or the messages, whoever takes it there."""
    said = _named(case.patient_summary, *(entry.message for _, _, entry in spoken(case))).ids(DRUG)
    return lambda thread: not said.isdisjoint(_named(*thread.messages, *thread.entries).ids(DRUG))


class _Own(NamedTuple):
    """What an interlude of the case leaves alone."""

    named: _Named
    """By facts, changes, what is forbidden and what is demanded."""
    refused: frozenset[str]
    """Medicines and classes that are forbidden, or that the patient reacts to."""
    patient: frozenset[str]
    """Words of the patient's name."""
    capitalised: frozenset[str]
    """Capitalised words of the whole case."""
    wordings: tuple[frozenset[str], ...]
    """Stems of each statement."""


def _own(case: Case) -> _Own:
    facts = [fact for fact, _ in facts_of(case)]
    entries = [entry for _, _, entry in spoken(case)]
    forbidden = [*chain.from_iterable(fact.forbids for fact in facts)]
    demanded: list[str] = []
    for entry in entries:
        forbidden += [wish.text for wish in entry.expect.must_not]
        demanded += [wish.text for wish in entry.expect.must]
    statements = [*_told(case), *forbidden, *demanded]
    reactions = [fact.text for fact in facts if fact.kind in _REACTIONS]
    opening = _OPENING.match(case.patient_summary)
    return _Own(
        named=_named(*statements),
        refused=_named(*forbidden, *reactions).ids(DRUG, DRUG_CLASS),
        patient=_capitalised(opening.group()) if opening else frozenset(),
        capitalised=_capitalised(" ".join((case.patient_summary, *statements, *(entry.message for entry in entries)))),
        wordings=tuple(filter(None, map(content_stems, statements))),
    )


def _told(case: Case) -> list[str]:
    """What facts and their changes say."""
    texts: list[str] = []
    for fact, _ in facts_of(case):
        texts += [fact.text, *fact.aliases]
    for turn in case.turns:
        texts += [update.becomes for update in turn.updates if update.becomes]
    return texts


def spares(case: Case) -> Callable[[Thread], bool]:
    """Whether a thread leaves the case alone: it names nothing of its facts, of what is forbidden or demanded.

    A medicine of the same class, or the same kind of result with another value, is not an entry of the case, unless
    the class is forbidden or the patient reacts to it.
    """
    own = _own(case)
    return lambda thread: _names_nothing_of(own, thread) and _is_about_others(own, thread) and _is_new(own, thread)


def _names_nothing_of(own: _Own, thread: Thread) -> bool:
    """The thread shares only generic concepts with the case, no value and nothing that is refused."""
    named = _named(*thread.messages, *thread.entries)
    generic = load_vocabulary("word_sets")["interludes"]["generic"]
    # a measure says something by itself only with its value
    shared = [concept for concept in named.concepts & own.named.concepts if concept.kind != MEASURE]
    if not all(concept.id in generic for concept in shared):
        return False
    refused = any(concept.ancestors & own.refused or concept.id in own.refused for concept in named.concepts)
    return not refused and named.values.isdisjoint(own.named.values)


def _is_about_others(own: _Own, thread: Thread) -> bool:
    """The thread's person is not named in the case, and the patient is not named in the thread."""
    titles = load_vocabulary("word_sets")["interludes"]["titles"]
    people = {name for name in _capitalised(thread.person or "") if name.lower() not in titles}
    mentioned = _capitalised(" ".join(thread.messages))
    return people.isdisjoint(own.capitalised) and own.patient.isdisjoint(mentioned)


def _is_new(own: _Own, thread: Thread) -> bool:
    """No message of the thread has all the words of a statement of the case."""
    for message in thread.messages:
        stems = content_stems(message)
        if any(wording <= stems for wording in own.wordings):
            return False
    return True


def near(case: Case) -> Callable[[Thread], tuple[str, ...]]:
    """Facts that a thread may be mistaken for: of the same class of medicine, the same measure, an allergy too."""
    facts = [(fact, _named(fact.text, *fact.aliases)) for fact, _ in facts_of(case)]

    def mistaken(thread: Thread) -> tuple[str, ...]:
        if thread.type != ThreadType.INTERFERENCE:
            return ()
        entries = _named(*thread.entries)
        told = " ".join(thread.entries).lower()
        allergy = any(word in told for word in _REACTIONS)

        def is_near(fact: CriticalEntity, named: _Named) -> bool:
            if allergy and fact.kind in _REACTIONS:
                return True
            return bool(entries.classes() & named.classes() or entries.ids(MEASURE) & named.ids(MEASURE))

        return tuple(fact.id for fact, named in facts if is_near(fact, named))

    return mistaken


@lru_cache(maxsize=4096)
def _named(*texts: str) -> _Named:
    concepts: set[Concept] = set()
    values: set[str] = set()
    for text in texts:
        found = {term.concept for term in find_terms(text) if term.concept.kind in CLINICAL_KINDS}
        concepts |= found
        for amount in amounts(read(text)):
            if amount.unit is not None and amount.dimension != _TIME:
                values.add(f"{amount.base:g} {amount.dimension}")
            values.update(f"{concept.id} {amount.value:g}" for concept in found if concept.kind == MEASURE)
    return _Named(frozenset(concepts), frozenset(values))


def _capitalised(text: str) -> frozenset[str]:
    return frozenset(word for word in _NAME.findall(text) if word[0].isupper())
