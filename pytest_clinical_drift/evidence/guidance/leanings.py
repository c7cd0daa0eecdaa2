"""Which way the clauses of a short text lean towards the things they name, where no directive says so.

A clause leans against a thing when an odd number of turning words ("not", "skip", "unsafe") governs it. That is less
certain than a directive, so it is only asked for short texts and beside directives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from pytest_clinical_drift.evidence.advice import advice_of, document_of
from pytest_clinical_drift.evidence.guidance.clauses import sentences_of
from pytest_clinical_drift.evidence.guidance.details import complete, setting_of
from pytest_clinical_drift.evidence.guidance.draft import Draft, Mood
from pytest_clinical_drift.evidence.guidance.objects import Mention, mentions_of
from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.words import (
    COLON,
    COMMA,
    HARD,
    advice_words,
    inflect,
    listed,
    spelled_out,
    view_of,
)
from pytest_clinical_drift.evidence.terms.vocabulary import load_data

_THINGS = frozenset(("drug", "class", "food", "activity", "treatment", "test"))
_TURNING = frozenset(("turns", "against", "verbs_against", "ends"))
_JOINS = frozenset(
    ["and", "so", "but", "or", "then", "it", "that", "this", "they", "you", "he", "she", "there", "we", "i"]
)
_BESIDE = frozenset(
    ["on", "while", "from", "alongside", "between", "than", "like", "taking", "via", "about", "after", "before"]
)
_LEADING = frozenset(["the", "your", "a", "an", "any", "some", "his", "her", "my", "their", "this", "that", "of"])
_KEPT = frozenset(["keep", "store", "leave", "put", "keeping", "storing", "leaving"])
_AUXILIARIES = frozenset(["should", "must", "can", "would", "will", "is", "are", "does", "has", "have", "ought", "may"])
_ANYTHING = frozenset(["anything", "nothing", "something", "food", "foods", "products", "bother", "wrong"])
_SUGGESTIONS = (("how", "about"), ("what", "about"), ("why", "not"), ("you", "tried"), ("thought", "of"))
_PRONOUNS = frozenset(["them", "those", "any", "it", "that", "these"])
_SHORT = 6
_LEFT_OVER = (["syringes"], ["needles"], ["packaging"], ["boxes"], ["level"], ["levels"], ["syringe"])
_PART_OF = frozenset(["dose", "doses", "amount", "level", "levels", "risk", "effect", "effects", "side", "top", "type"])


class Cue(NamedTuple):
    """A phrase that leans, or turns."""

    first: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch of a sentence with its cues; positions are words of the view."""

    first: int
    end: int
    cues: tuple[Cue, ...]

    def leaning(self, first: int, end: int) -> int:
        """+1: towards what stands from `first` to `end`, -1: against it, 0: no cue."""
        before = [cue for cue in self.cues if cue.end <= first and cue.kind != "ends"]
        governing = before + [cue for cue in self.cues if cue.first >= end and self._reaches_back(cue)]
        if not governing:
            return 0
        return -1 if sum(cue.kind in _TURNING for cue in governing) % 2 else 1

    def _reaches_back(self, cue: Cue) -> bool:
        """Whether a cue behind a thing is about it: a verb only where nothing follows ("is one to steer clear of")."""
        return cue.kind not in ("verbs_against", "ends") or cue.end == self.end


@lru_cache(maxsize=1)
def _phrases() -> dict[str, tuple[tuple[tuple[str, ...], str], ...]]:
    """First word of a phrase: the phrases that it opens with their kinds, longest first."""
    data: dict[str, Any] = load_data("leanings")
    forms: dict[str, list[str]] = load_data("advice")["forms"]
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for kind in ("ignored", "turns", "verbs_against", "against", "ends", "for", "asides"):
        for phrase in data[kind]:
            for words in _forms_of(str(phrase), kind, forms):
                found.setdefault(words[0], []).append((words, kind))
    return {word: tuple(sorted(phrases, key=lambda entry: -len(entry[0]))) for word, phrases in found.items()}


def _forms_of(phrase: str, kind: str, forms: dict[str, list[str]]) -> Iterator[tuple[str, ...]]:
    words = spelled_out(phrase)
    yield words
    if kind == "verbs_against":
        for form in inflect(words[0], forms):
            yield (form, *words[1:])


def clauses_of(sentence: Sentence) -> list[Clause]:
    """The clauses of a sentence that say something of their own; those that only say why or when are left out."""
    words, marks = sentence.view.words, sentence.view.marks
    table = _phrases()
    found: list[Clause] = []
    cues: list[Cue] = []
    first = at = sentence.first
    aside = False
    while at < sentence.end:
        cue = _cue_at(words, at, sentence.end, table)
        opens_aside = cue is not None and cue.kind == "asides" and self_standing(words, marks, at)
        opens_aside = opens_aside or (words[at] == "should" and bool(marks[at] & COMMA))
        turned = cue is not None and cue.kind == "turns"
        joined = bool(marks[at] & COMMA) and (aside or turned or words[at] in _JOINS)
        predicate = words[at] == "and" and words[at + 1 : at + 2] != [] and words[at + 1] in _AUXILIARIES
        broken = bool(marks[at] & (HARD | COLON)) or joined or predicate or words[at] in ("so", "but")
        if at > first and (broken or opens_aside):
            if not aside:
                found.append(Clause(first, at, tuple(cues)))
            first, cues, aside = at, [], False
        aside = aside or (opens_aside and at == first)
        if cue is not None and cue.kind not in ("asides", "ignored"):
            cues.append(cue)
        at = cue.end if cue is not None and cue.kind != "asides" else at + 1
    if not aside:
        found.append(Clause(first, sentence.end, tuple(cues)))
    return found


def self_standing(words: Sequence[str], marks: Sequence[int], at: int) -> bool:
    """Whether a word such as "as" or "who" opens a clause of its own: not "someone who", "as well"."""
    if words[at] == "who":
        return at == 0 or words[at - 1] not in ("someone", "anyone", "somebody", "anybody", "one", "those")
    if words[at] in ("before", "after"):
        # "an hour before take-off" is no clause of its own
        following = words[at + 1] if at + 1 < len(words) else ""
        return following in _JOINS or following.endswith("ing")
    return words[at] != "as" or bool(marks[at] & COMMA) or words[at + 1 : at + 2] in (["soon"], ["long"])


def _cue_at(
    words: Sequence[str], at: int, end: int, table: dict[str, tuple[tuple[tuple[str, ...], str], ...]]
) -> Cue | None:
    for phrase, kind in table.get(words[at], ()):
        if at + len(phrase) <= end and tuple(words[at : at + len(phrase)]) == phrase:
            return Cue(at, at + len(phrase), kind)
    return None


@lru_cache(maxsize=512)
def leanings_of(text: str) -> tuple[Advice, ...]:
    """A directive, none too certain, for each thing that a clause leans towards or against."""
    document = document_of(text)
    if not document.words:
        return ()
    view = view_of(document)
    said = {
        (advice.sentence, name)
        for advice in advice_of(text)
        if advice.effect != "act" or advice.polarity != "do"
        for name in advice.objects
    }
    found: list[Advice] = []
    before: list[Mention] = []
    for sentence in sentences_of(view, mentions_of(view)):
        if sentence.question and not _suggests(sentence):
            continue
        for clause in clauses_of(sentence):
            for thing in _things(sentence, clause):
                if (sentence.number, thing.id) not in said:
                    found.extend(_leaning(sentence, clause, thing))
        found.extend(_taken_up(sentence, before))
        before = [mention for mention in sentence.mentions if mention.kind in _THINGS] or before
    return tuple(found)


def _suggests(sentence: Sentence) -> bool:
    """ "How about a yoghurt?" """
    opening = tuple(sentence.view.words[at] for at in range(sentence.first, sentence.end))
    return any(opening[at : at + 2] in _SUGGESTIONS for at in range(len(opening) - 1))


def _taken_up(sentence: Sentence, before: Sequence[Mention]) -> Iterator[Advice]:
    """ "None of them, please": a short sentence on what the one before named."""
    words = sentence.view.words[sentence.first : sentence.end]
    short = len(words) <= _SHORT and not any(mention.kind in _THINGS for mention in sentence.mentions)
    if not short or not before or _PRONOUNS.isdisjoint(words):
        return
    for clause in clauses_of(sentence):
        if clause.leaning(clause.end, clause.end) < 0:
            draft = _draft((clause.first, clause.end), -1, before[0], None)
            yield from complete(sentence, draft, sentence.end, (), setting_of(sentence))
            return


def _things(sentence: Sentence, clause: Clause) -> Iterator[Mention]:
    """What a clause is about: the things in it that do not stand beside another."""
    generic = frozenset(name for name in listed("generic") if not name.startswith("activity:"))
    for mention in sentence.mentions:
        if mention.kind not in _THINGS or mention.id in generic or not clause.first <= mention.first < clause.end:
            continue
        at = mention.first - 1
        while at > clause.first and sentence.view.words[at] in _LEADING:
            at -= 1
        behind = sentence.view.words[mention.end : mention.end + 1]
        governed = any(cue.first <= at <= cue.end for cue in clause.cues)
        beside = at >= clause.first and sentence.view.words[at] in _BESIDE | _PART_OF and not governed
        if not beside and behind not in _LEFT_OVER:
            yield mention


def _leaning(sentence: Sentence, clause: Clause, thing: Mention) -> Iterator[Advice]:
    sign = clause.leaning(thing.first, thing.end) or _told(sentence, clause, thing)
    before = sentence.view.words[max(clause.first, thing.first - 3) : thing.first]
    beside = "with" in before and _ANYTHING.isdisjoint(before)
    if not sign or (sign < 0 and (sentence.has_regimen() or beside)):
        # "never more than 4 g" is against too much of it, "no checks with X" against the checks
        return
    if sign < 0 and _stored(sentence, clause, thing):
        return
    draft = _draft((thing.first, thing.end), sign, thing, (clause.first, clause.end))
    yield from complete(sentence, draft, sentence.end, (), setting_of(sentence))


def _draft(place: tuple[int, int], sign: int, thing: Mention, stretch: tuple[int, int] | None) -> Draft:
    action, effect = ("take", "for") if sign > 0 else ("avoid", "against")
    return Draft(*place, action, effect, Mood(), (thing,), "leans", stretch, statement=True, weak=True)


def _stored(sentence: Sentence, clause: Clause, thing: Mention) -> bool:
    """ "Don't keep it in the car", "none near your eyes": where it is kept or put."""
    words = sentence.view.words
    kept = not _KEPT.isdisjoint(words[clause.first : thing.first])
    if not {"near", "around", "inside"}.isdisjoint(words[thing.end : clause.end]):
        return True
    return kept and not {"in", "near", "by", "on"}.isdisjoint(words[thing.end : thing.end + 2])


def _told(sentence: Sentence, clause: Clause, thing: Mention) -> int:
    """+1 where the clause opens with a verb or names an amount: "dab the graze with …"."""
    opening = sentence.view.words[clause.first]
    told = opening in advice_words().base_forms and thing.first > clause.first
    return int(told or sentence.has_regimen())
