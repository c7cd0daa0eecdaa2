"""Circumstances in free wording: how much of a fact one place of the text expresses, and what speaks against it."""

from __future__ import annotations

from functools import lru_cache

from pytest_clinical_drift.evidence.facts.absences import NEUTRAL
from pytest_clinical_drift.evidence.facts.alternatives import PEOPLE, find_alternative, find_other_home
from pytest_clinical_drift.evidence.facts.endings import states_an_end
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.meaning import meaning
from pytest_clinical_drift.evidence.facts.outcome import ABSENT, CONTRADICTED, NOTHING, PARTIAL, RETAINED, Outcome
from pytest_clinical_drift.evidence.facts.places import Place, drop_distant, find_places, share_out
from pytest_clinical_drift.evidence.lexicon import find_terms
from pytest_clinical_drift.evidence.reading.wording import loose_stem
from pytest_clinical_drift.evidence.terms.vocabulary import word_set
from pytest_clinical_drift.evidence.text import CELL, Document, read

# Parts that name how the rest is related to the patient: without them the rest says nothing ("daughter").
_RELATIONS = frozenset(f"word:{name}" for name in word_set("social", "relations"))
_ESSENTIAL = word_set("social", "essential_words")
# Parts that add little beside the rest ("works" in "works night shifts").
_SLIGHT = frozenset({"word:work"})
_SETTINGS = frozenset({"word:relationship", "word:adolescence", "word:new job"})
# … unless what happens there is the point ("work stress", "lost her job").
_POINTED = frozenset(("word:stress", "word:conflict", "word:bereavement", "word:fear", "word:burnout"))


def assess_words(fact: Fact, document: Document) -> Outcome:
    """Status of a fact that consists of content words, numbers, dates and qualifiers."""
    parts = list(fact.words)
    total = len(parts) + len(fact.qualifiers) + len(fact.numbers) + len(fact.dates)
    if not total:
        return NOTHING
    places = find_places(fact, document)
    groups: dict[int, list[Place]] = {}
    for place in places:
        groups.setdefault(document.sentences[place.token], []).append(place)
    best: Outcome = NOTHING
    best_score = 0.0
    for sentence in groups:
        outcome, score = _judge(fact, document, sentence, groups)
        if outcome.status == CONTRADICTED and not score and best.status == PARTIAL and outcome.reason == "denied":
            continue  # less of the fact is denied than is stated elsewhere
        if outcome.status == CONTRADICTED and best.status not in (RETAINED,):
            best, best_score = outcome, max(score, best_score)
        elif score > best_score or (score == best_score and outcome.status == RETAINED):
            best, best_score = outcome, score
    elsewhere = find_other_home(fact, document)
    if elsewhere is not None:
        return elsewhere
    refused = any("word:refuse" in part.ids for part in fact.words)
    if best.status in (ABSENT, PARTIAL) and (refused or not states_an_end(fact)):
        against = find_alternative(fact, document)
        if against is not None:
            return against
    return best


@lru_cache(maxsize=4096)
def _weights(fact: Fact) -> tuple[float, ...]:
    return tuple(_weight(fact, part) for part in range(_size(fact)))


def _weight(fact: Fact, part: int) -> float:
    numbers = range(len(fact.words) + len(fact.qualifiers), len(fact.words) + len(fact.qualifiers) + len(fact.numbers))
    if len(numbers) > 2 and part in numbers[1:]:
        return 0.5  # "two children aged 6 and 9": how many there are counts for more than each age
    if part < len(fact.words) and fact.words[part].ids and fact.words[part].ids <= _SLIGHT:
        pointed = any(word.ids & _POINTED for word in fact.words)
        return 1.0 if pointed or len(fact.words) == 1 else 0.25
    if part < len(fact.words) and len(fact.words) > 1:
        word = fact.words[part]
        if word.text.lower() in _SLIGHT_VERBS and not word.ids:
            return 0.25
        if word.text.lower() in _LIGHT_VERBS or (word.ids and word.ids <= _SETTINGS):
            return 0.5
    return 1.0


# Words that say little beside the one they go with: "preparing for the bar exam", "plays the violin".
_LIGHT_VERBS = word_set("social", "light_verbs")
# … and almost nothing: "staying in a hostel".
_SLIGHT_VERBS = word_set("social", "slight")


def _judge(fact: Fact, document: Document, sentence: int, groups: dict[int, list[Place]]) -> tuple[Outcome, float]:
    """How far a sentence, with its labels and its neighbours, states the fact."""
    own = groups[sentence]
    full, vague = _gather(fact, document, sentence, groups)
    weights = _weights(fact)
    total = sum(weights)
    covered = sum(weights[part] for part in full)
    partly = sum(0.5 * weights[part] for part in vague if part not in full)
    drop_distant(fact, document, full, own[0].token)
    ends = {place.token: max(place.last, place.token) for place in own if place.part < len(fact.words)}
    evidence = _evidence([*full.values(), *(t for p, t in vague.items() if p not in full)], ends)
    score = (covered + partly) / total
    lacking = [p for p in range(len(fact.words)) if p not in {**full, **vague}]
    # "exchange student" of the one from Brazil: with enough of the rest, a name is one detail among others.
    if len(fact.words) > 2 and len(lacking) == 1 and _is_name(fact, lacking[0]) and lacking[0] == len(fact.words) - 1:
        lacking = []
    if _size(fact) > 1 and any(_is_essential(fact, p) for p in lacking):
        return Outcome(ABSENT, evidence, "named in another connection"), 0.0
    if _is_of_person(fact) and all(place.part for place in own) and 0 not in {**full, **vague}:
        return Outcome(ABSENT, evidence, "without the person it is about"), 0.0
    if any(_merely_met(document, fact, part, token) for part, token in full.items()):
        return Outcome(ABSENT, evidence, "someone the patient met"), 0.0
    status = meaning(document, fact, full, vague, ends)
    if score >= 0.5 and status is not None:
        return Outcome(status[0], evidence, status[1]), score if status[0] == CONTRADICTED and covered == total else 0.0
    if covered >= total - 0.26:
        return Outcome(RETAINED, evidence), 1.0
    missing = "missing: " + ", ".join(_name(fact, part) for part in range(_size(fact)) if part not in full)
    telling = any(not part.ids or not part.ids <= NEUTRAL | PEOPLE for part in fact.words)
    if telling and _size(fact) - len(full) == 1 and all(part in full for part in range(len(fact.words))):
        return Outcome(PARTIAL, evidence, missing), max(score, 0.5)
    if _only_light(fact, {*full, *vague}):
        return Outcome(ABSENT, evidence, "not stated"), 0.0
    if score >= 0.6 or (partly and score >= 0.4 and covered + partly >= 0.5):
        return Outcome(PARTIAL, evidence, missing), score
    return Outcome(ABSENT, evidence, "not stated"), 0.0


def _gather(
    fact: Fact, document: Document, sentence: int, groups: dict[int, list[Place]]
) -> tuple[dict[int, int], dict[int, int]]:
    """The token of every part that a sentence, its labels and its neighbours express, fully and vaguely."""
    own = groups[sentence]
    full: dict[int, int] = {}
    vague: dict[int, int] = {}
    for place in own:
        (vague if place.vague else full).setdefault(place.part, place.token)
    share_out(fact, document, own, full)
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
    return full, vague


def _evidence(tokens: list[int], ends: dict[int, int]) -> tuple[tuple[int, int], ...]:
    """One span over words that stand together, else each by itself."""
    tokens = sorted(set(tokens))
    last = max(ends.get(token, token) for token in tokens)
    return ((tokens[0], last),) if last - tokens[0] < 40 else tuple((t, ends.get(t, t)) for t in tokens)


def _is_of_person(fact: Fact) -> bool:
    """ "son lives next door": what the fact says is said of the person it opens with."""
    return len(fact.words) > 1 and bool(fact.words[0].ids & PEOPLE)


def _is_essential(fact: Fact, part: int) -> bool:
    """Whether the rest says nothing of the fact without this part."""
    word = fact.words[part]
    return bool(word.ids & _RELATIONS) or word.text.lower() in _ESSENTIAL or _is_name(fact, part)


def _only_light(fact: Fact, found: set[int]) -> bool:
    """Whether nothing but light words of a fact that has weightier ones is there: "two teenage" of the daughters."""
    weighty = {part for part, weight in enumerate(_weights(fact)[: len(fact.words)]) if weight >= 1.0}
    # "elderly neighbour" of the one who does the shopping: what the person does is the point.
    acts = {part for part in weighty if not fact.words[part].ids & PEOPLE}
    return bool(weighty) and (acts or weighty).isdisjoint(found)


def _is_name(fact: Fact, part: int) -> bool:
    """A proper name inside the fact: "moved from Syria"."""
    word = fact.words[part]
    if word.ids or not part or not (word.text[:1].isupper() and word.text[1:].islower()):
        return False
    # "care coordinator Janine": who it is adds to what the person is.
    return fact.document.words[-1] != word.text.lower() or fact.document.words[-2] in _PREPOSITIONS


def _size(fact: Fact) -> int:
    return len(fact.words) + len(fact.qualifiers) + len(fact.numbers) + len(fact.dates)


def _name(fact: Fact, part: int) -> str:
    names = [
        *(word.text for word in fact.words), *(q.name for q in fact.qualifiers),
        *(f"{a.value:g}" for a in fact.numbers), *("date" for _ in fact.dates),
    ]  # fmt: skip
    return names[part]


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


_PREPOSITIONS = word_set("facts", "prepositions")
_MET = word_set("social", "met")


def _merely_met(document: Document, fact: Fact, part: int, token: int) -> bool:
    """ "saw the practice nurse" does not make the patient one."""
    works = any(word.ids & {"word:work"} for word in fact.words)
    if not works or part >= len(fact.words) or not fact.words[part].ids & {"word:nurse", "word:teacher"}:
        return False
    return token > 0 and document.words[token - 1] in _MET
