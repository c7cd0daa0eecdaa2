"""Circumstances in free wording: how much of a fact one place of the text expresses, and what speaks against it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.contexts.owners import is_of_another
from pytest_clinical_drift.evidence.facts.alternatives import PEOPLE, find_alternative, find_other_home
from pytest_clinical_drift.evidence.facts.fact import NEUTRAL, Fact
from pytest_clinical_drift.evidence.facts.kinship import is_between, misplaced
from pytest_clinical_drift.evidence.facts.outcome import ABSENT, CONTRADICTED, NOTHING, PARTIAL, RETAINED, Outcome
from pytest_clinical_drift.evidence.lexicon import find_terms
from pytest_clinical_drift.evidence.reading.dates import dates
from pytest_clinical_drift.evidence.reading.quantities import amounts, same
from pytest_clinical_drift.evidence.reading.wording import loose_stem
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import QUALIFIER, word_set
from pytest_clinical_drift.evidence.text import CELL, Document, read

# Parts that name how the rest is related to the patient: without them the rest says nothing ("daughter").
_RELATIONS = frozenset({"word:live", "word:carer", "word:born"})
# Parts that add little beside the rest ("works" in "works night shifts").
_SLIGHT = frozenset({"word:work"})
# … unless what happens there is the point ("work stress", "lost her job").
_POINTED = frozenset(("word:stress", "word:conflict", "word:bereavement", "word:fear", "word:burnout"))


@dataclass(frozen=True, slots=True)
class _Place:
    """One part of the fact at one token."""

    part: int
    token: int
    vague: bool


def assess_words(fact: Fact, document: Document) -> Outcome:
    """Status of a fact that consists of content words, numbers, dates and qualifiers."""
    parts = list(fact.words)
    total = len(parts) + len(fact.qualifiers) + len(fact.numbers) + len(fact.dates)
    if not total:
        return NOTHING
    places = _places(fact, document)
    groups: dict[int, list[_Place]] = {}
    for place in places:
        groups.setdefault(document.sentences[place.token], []).append(place)
    best: Outcome = NOTHING
    best_score = 0.0
    for sentence in groups:
        outcome, score = _judge(fact, document, sentence, groups)
        if outcome.status == CONTRADICTED and best.status not in (RETAINED,):
            best, best_score = outcome, max(score, best_score)
        elif score > best_score or (score == best_score and outcome.status == RETAINED):
            best, best_score = outcome, score
    elsewhere = find_other_home(fact, document)
    if elsewhere is not None:
        return elsewhere
    if best.status in (ABSENT, PARTIAL):
        against = find_alternative(fact, document)
        if against is not None:
            return against
    return best


def _places(fact: Fact, document: Document) -> list[_Place]:
    found: list[_Place] = []
    for number, part in enumerate(fact.words):
        exact = part.places(document)
        found += [_Place(number, token, False) for token in exact]
        found += [_Place(number, token, True) for token in part.vague_places(document) if token not in exact]
    offset = len(fact.words)
    for number, qualifier in enumerate(fact.qualifiers):
        for term in term_index(document).by_kind.get(QUALIFIER, ()):
            if term.concept is qualifier:
                found.append(_Place(offset + number, term.first, False))
    offset += len(fact.qualifiers)
    for number, wanted in enumerate(fact.numbers):
        for amount in amounts(document):
            alike = not amount.dimension or not wanted.dimension or amount.dimension == wanted.dimension
            equal = (
                same(amount.base, wanted.base)
                if amount.dimension == wanted.dimension
                else same(amount.value, wanted.value)
            )
            if equal and (alike or document.words[amount.last] in ("m", "f")):
                found.append(_Place(offset + number, amount.first, False))
    offset += len(fact.numbers)
    for number, date in enumerate(fact.dates):
        found += [_Place(offset + number, d.first, False) for d in dates(document) if date.agrees(d)]
    return found


def _weight(fact: Fact, part: int) -> float:
    if part < len(fact.words) and fact.words[part].ids and fact.words[part].ids <= _SLIGHT:
        pointed = any(word.ids & _POINTED for word in fact.words)
        return 1.0 if pointed or len(fact.words) == 1 else 0.25
    if part < len(fact.words) and len(fact.words) > 1 and fact.words[part].text.lower() in _LIGHT_VERBS:
        return 0.5
    return 1.0


# Words that say little beside the one they go with: "preparing for the bar exam", "plays the violin".
_LIGHT_VERBS = word_set("social", "light_verbs")


def _judge(fact: Fact, document: Document, sentence: int, groups: dict[int, list[_Place]]) -> tuple[Outcome, float]:
    """How far a sentence, with its labels and its neighbours, states the fact."""
    own = groups[sentence]
    full: dict[int, int] = {}
    vague: dict[int, int] = {}
    for place in own:
        (vague if place.vague else full).setdefault(place.part, place.token)
    token = own[0].token
    for part in _in_labels(fact, document, token):
        full.setdefault(part, token)
    line = document.lines[token]
    for near in (sentence - 1, sentence + 1):
        for place in groups.get(near, ()):
            # Neighbouring cells of a row, and neighbouring sentences of a paragraph, complete each other.
            if place.vague or document.lines[place.token] != line:
                continue
            in_row = document.segment_kinds[document.segments[place.token]] == CELL
            if in_row or not (place.part < len(fact.words) and fact.words[place.part].ids & (PEOPLE | _RELATIONS)):
                full.setdefault(place.part, place.token)
    total = sum(_weight(fact, part) for part in range(_size(fact)))
    covered = sum(_weight(fact, part) for part in full)
    partly = sum(0.5 * _weight(fact, part) for part in vague if part not in full)
    _drop_distant(fact, document, full, token)
    tokens = sorted({*full.values(), *(t for p, t in vague.items() if p not in full)})
    evidence = ((tokens[0], tokens[-1]),) if tokens[-1] - tokens[0] < 40 else tuple((t, t) for t in tokens)
    missing = [_name(fact, part) for part in range(_size(fact)) if part not in full]
    score = (covered + partly) / total
    relation_missing = any(
        fact.words[part].ids & _RELATIONS for part in range(len(fact.words)) if part not in full and part not in vague
    )
    if relation_missing and _size(fact) > 1:
        return Outcome(ABSENT, evidence, "named in another connection"), 0.0
    if any(_merely_met(document, fact, part, token) for part, token in full.items()):
        return Outcome(ABSENT, evidence, "someone the patient met"), 0.0
    status = _meaning(document, fact, full, vague)
    if score >= 0.5 and status is not None:
        return Outcome(status[0], evidence, status[1]), score if status[0] == CONTRADICTED and covered == total else 0.0
    if covered >= total - 0.26:
        return Outcome(RETAINED, evidence), 1.0
    informative = covered + partly
    details = _size(fact) - len(full)
    telling = any(not part.ids or not part.ids <= NEUTRAL for part in fact.words)
    if telling and details == 1 and all(part in full for part in range(len(fact.words))):
        return Outcome(PARTIAL, evidence, "missing: " + ", ".join(missing)), max(score, 0.5)
    if score >= 0.6 or (partly and score >= 0.4 and informative >= 0.5):
        return Outcome(PARTIAL, evidence, "missing: " + ", ".join(missing)), score
    return Outcome(ABSENT, evidence, "not stated"), 0.0


_FAR, _FAR_PERSON = 14, 6  # tokens between two parts beyond which they do not belong together


def _drop_distant(fact: Fact, document: Document, full: dict[int, int], start: int) -> None:
    """Leave out parts that stand too far from the rest of the fact to be said together with it."""
    words = {part: token for part, token in full.items() if part < len(fact.words)}
    people = {part for part in words if fact.words[part].ids & PEOPLE}
    reach = _FAR_PERSON if people and len(fact.words) == 2 and not _is_home(fact) else _FAR
    in_row = document.segment_kinds[document.segments[start]] == CELL
    if len(words) < 2 or in_row:
        return
    distant = [
        part
        for part, token in words.items()
        if all(abs(token - other) > reach for number, other in words.items() if number != part)
    ]
    if len(distant) == len(words):
        distant = [part for part in distant if part in people] or distant[1:]
    for part in distant[: len(full) - 1]:
        del full[part]


def _is_home(fact: Fact) -> bool:
    return any("word:live" in part.ids for part in fact.words)


def _size(fact: Fact) -> int:
    return len(fact.words) + len(fact.qualifiers) + len(fact.numbers) + len(fact.dates)


def _name(fact: Fact, part: int) -> str:
    names = [
        *(word.text for word in fact.words), *(q.name for q in fact.qualifiers),
        *(f"{a.value:g}" for a in fact.numbers), *("date" for _ in fact.dates),
    ]  # fmt: skip
    return names[part]


def _meaning(document: Document, fact: Fact, full: dict[int, int], vague: dict[int, int]) -> tuple[str, str] | None:
    """Whether what is expressed is denied, hypothetical or about someone else; None: plainly stated of the patient."""
    people = {p for p, word in enumerate(fact.words) if word.ids & PEOPLE}
    tokens = [token for part, token in {**vague, **full}.items() if part not in people and part < len(fact.words)]
    tokens = tokens or [token for part, token in {**vague, **full}.items()]
    contexts = [reading(document, token, token) for token in tokens]
    start = min([*full.values(), *vague.values()])
    if document.words[max(0, start - 1)] in ("has", "had") and is_of_another(document, start):
        return ABSENT, "about another person"
    bereaved = any("word:bereavement" in word.ids for word in fact.words)
    about_person = (bool(fact.words) and bool(fact.words[0].ids & PEOPLE) and len(fact.words) > 1) or (
        is_between(fact) and not people.isdisjoint((*full, *vague))
    )
    if about_person:
        contexts = [replace(c, other_person=False) for c in contexts]
    elif (
        people
        and not bereaved
        and any(_of_person(document, token) or is_of_another(document, token) for token in tokens)
        and not (_is_home(fact) and _at_their_home(document, tokens))
    ):
        return ABSENT, "about another person"
    kin = _KIN - {"family"} if people else _KIN  # "Family: married, two children"
    if not about_person and any(not kin.isdisjoint(label.split()) for label in document.labels_of(tokens[0])[:2]):
        return ABSENT, "about another person"
    if misplaced(document, fact, full):
        return ABSENT, "about another person"
    if people and bereaved:
        contexts = [replace(c, other_person=False) for c in contexts]
    fears = any("word:fear" in word.ids for word in fact.words)
    if any("word:avoid" in word.ids for word in fact.words):
        contexts = [replace(c, hypothetical=False) for c in contexts]  # "avoidance of driving" is the fact itself
    if any(c.open or (c.hypothetical and not (fears and c.feared)) for c in contexts):
        return ABSENT, "only possible, asked about or not known"
    if contexts and any(c.other_person for c in contexts) and not people:
        return ABSENT, "about another person"
    theirs = people and not _with_person(document, tokens) and not (_is_home(fact) and _at_their_home(document, tokens))
    if contexts and all(c.other_person for c in contexts) and theirs:
        return ABSENT, "about another person"
    if any(c.negated for c in contexts):
        return CONTRADICTED, "denied"
    return None


_KIN = word_set("social", "kin")
_MET = word_set("social", "met")


def _merely_met(document: Document, fact: Fact, part: int, token: int) -> bool:
    """ "saw the practice nurse" does not make the patient one."""
    works = any(word.ids & {"word:work"} for word in fact.words)
    if not works or part >= len(fact.words) or not fact.words[part].ids & {"word:nurse", "word:teacher"}:
        return False
    return token > 0 and document.words[token - 1] in _MET


def _of_person(document: Document, token: int) -> bool:
    """ "her daughter, who lives nearby": the clause is about the person before it."""
    if token < 2 or document.words[token - 1] != "who":
        return False
    index = term_index(document)
    return any(t.last == token - 2 for cluster in PEOPLE for t in index.exact.get(cluster, ()))


def _at_their_home(document: Document, tokens: list[int]) -> bool:
    """ "stays at her parents' house": someone's home, with the patient in it."""
    return any(document.words[t] in ("house", "home", "flat", "place", "apartment") for t in tokens)


def _with_person(document: Document, tokens: list[int]) -> bool:
    return any("with" in document.words[t + 1 : t + 3] or "for" in document.words[t : t + 3] for t in tokens)


@lru_cache(maxsize=4096)
def _label_keys(label: str) -> tuple[frozenset[str], frozenset[str]]:
    document = read(label)
    return frozenset(t.concept.id for t in find_terms(document)), frozenset(loose_stem(word) for word in document.words)


def _in_labels(fact: Fact, document: Document, token: int) -> list[int]:
    found = []
    for label in document.labels_of(token)[:3]:
        ids, stems = _label_keys(label)
        found += [n for n, part in enumerate(fact.words) if part.ids & ids or part.stems & stems]
    return found
