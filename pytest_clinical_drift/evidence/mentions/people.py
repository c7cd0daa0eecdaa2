"""Statements about someone other than the patient: relatives and friends as subject, owner or place of a finding."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pytest_clinical_drift.evidence.mentions.cues import CueTable
from pytest_clinical_drift.evidence.mentions.scopes import LIMIT, ScopeFinder
from pytest_clinical_drift.evidence.reading.text import NUMBER, Document

_NOBODY: frozenset[str] = frozenset()
_SHE, _HE = frozenset(("she", "her", "hers", "herself")), frozenset(("he", "him", "his", "himself"))
_SUBJECTS = frozenset(("she", "he"))
_HAVING = frozenset(("had", "has", "have"))
_OUTSIDERS = frozenset(("friend", "friends", "colleague", "boss"))
_NAMING = 8  # words a person may be named with
_CLAUSE = 12  # tokens of a relative clause after which the person's own verb may follow
_NO_VERBS = frozenset(("his", "this", "as", "is", "was", "has", "always", "plus", "is", "perhaps", "its"))


class PersonScope(NamedTuple):
    """Tokens that are about another person, and the word that names the person."""

    first: int
    last: int
    person: int


class PersonFinder:
    """Finds what a document says about relatives."""

    __slots__ = ("_document", "_finder", "_table")

    def __init__(self, document: Document, table: CueTable, finder: ScopeFinder) -> None:
        self._document = document
        self._table = table
        self._finder = finder

    def scopes(self, places: Iterable[int]) -> list[PersonScope]:
        """Every stretch that is about a person named at one of the tokens."""
        found: list[PersonScope] = []
        for index in places:
            scope = self._scope(index)
            if scope is not None:
                found.append(PersonScope(*scope, index))
        return found

    def _scope(self, person: int) -> tuple[int, int] | None:
        document, table = self._document, self._table
        words, gaps = document.words, document.gaps
        start, stop = document.sentence_span(person)
        stop = min(stop, person + LIMIT)
        opening = self._opening(person, start)
        before = words[opening - 1] if opening > start and not _parted(gaps[opening]) else ""
        if before == "to" and opening > start + 1 and words[opening - 2] == "according":
            return None  # "according to her father, …": who tells it, not whom it is about
        determiners = words[opening:person]
        owned = any(word in table.possessives for word in determiners)
        outsider = words[person] in _OUTSIDERS and any(word in ("a", "an", "another", "one") for word in determiners)
        if words[person] in table.offspring and not (owned or outsider):
            return None  # "the child" may well be the patient
        if before in table.located_in:
            return self._finder.backward(opening - 2, "list")
        following = person + 1
        if following >= stop:
            return None
        gap, word = gaps[following], words[following]
        if gap.startswith("'"):
            return following, self._owned_end(following, stop)
        if "(" in gap:
            return following, self._bracket_end(following, stop)
        if gap in ("–", ":"):
            return following, self._statement_end(following, stop, person)
        if word in ("who", "whose", "with") and gap in ("", ","):
            if word == "with" and words[following + 1 : following + 2] and words[following + 1] in table.possessives:
                return None
            if word == "whose":
                return self._statement(following, stop, person)
            if word == "who" and gap == ",":
                resumed = self._after_apposition(following, stop, _CLAUSE)
                if resumed:
                    return self._predicate(resumed, stop, person)  # "his mother, who gave the history, smokes"
            return self._predicate(following + 1, stop, person)
        if gap == "," and word in ("a", "an", "himself", "herself"):
            return following, self._apposition_end(following, stop)
        acts = before == "after" and not gap and (word in table.be or word in _HAVING)  # "after her mother was told"
        if (
            (before in table.object_of and not acts)
            or word in table.prepositions
            or document.kinds[following] == NUMBER
        ):
            return None
        if before in table.be and any(determiner in ("a", "an") for determiner in determiners):
            return None  # "she is a mother"
        if gap == ",":
            resumed = self._after_apposition(following, stop)
            return self._predicate(resumed, stop, person) if resumed else None
        if gap or word in table.conjunctions:
            return None
        return self._predicate(following, stop, person)

    def _pronouns(self, person: int) -> frozenset[str]:
        """Pronouns that must mean the person: "she" after "his mother", nothing after "her mother"."""
        table, words = self._table, self._document.words
        sex = "f" if words[person] in table.women else "m" if words[person] in table.men else ""
        if not sex:
            return _NOBODY
        start = self._document.sentence_span(person)[0]
        owners = set(words[self._opening(person, start) : person])
        if sex == "f":
            return _SHE if "his" in owners else _NOBODY
        return _HE if "her" in owners else _NOBODY

    def _opening(self, person: int, start: int) -> int:
        """First token of the phrase that names the person: "her late mother", "mother and older sister"."""
        words, gaps, table = self._document.words, self._document.gaps, self._table
        index = person
        start = max(start, person - _NAMING)
        while index > start and not _parted(gaps[index]):
            word = words[index - 1]
            aged = word in ("year", "old", "month", "yo") or self._document.kinds[index - 1] == NUMBER
            if word not in table.kin_modifiers and word not in table.kin and not aged:
                break
            index -= 1
        while index < person and words[index] in ("and", "or"):
            index += 1
        return index

    def _predicate(self, verb: int, stop: int, person: int) -> tuple[int, int] | None:
        """What is said of the person, unless it is only that he or she reports, helps or comes along."""
        words, table = self._document.words, self._table
        first = verb
        for _ in range(3):
            if verb >= stop:
                break
            if words[verb] == "told" and verb > first:
                return self._statement(self._inner(verb + 1, stop), stop, person)
            if words[verb] == "came" and words[verb + 1 : verb + 2] in (["out"], ["down"]):
                break  # "came out in a rash"
            if words[verb] in table.reporting:
                return None
            if words[verb] not in table.finite and words[verb] not in table.adverbs and not words[verb].endswith("ly"):
                break
            verb += 1
        return self._statement(first, stop, person)

    def _inner(self, first: int, stop: int) -> int:
        """ "was told (that) she | has X": behind the pronoun, which is the person's."""
        words = self._document.words
        while first < stop and words[first] in ("that", "she", "he", "they"):
            first += 1
        return first

    def _statement(self, first: int, stop: int, person: int) -> tuple[int, int] | None:
        return (first, self._statement_end(first, stop, person)) if first < stop else None

    def _statement_end(self, first: int, stop: int, person: int) -> int:
        """Last token of a statement that begins at `first`: to ";", an adversative or the patient's return."""
        document, table = self._document, self._table
        words, gaps = document.words, document.gaps
        still = self._pronouns(person)
        depth = 0
        for index in range(first, stop):
            gap = gaps[index]
            if gap and index > first:
                depth += gap.count("(") - gap.count(")")
                if depth < 0 or ";" in gap:
                    return index - 1
            word = words[index]
            if word in table.returns or (index > first and "," in gap and word in table.reporting):
                return index - 1
            if word in table.patient_again and index > first and word not in still:
                joint = index - 1
                while joint > first and words[joint] in (*table.possessives, *table.conjunctions, "that"):
                    joint -= 1
                return joint
        return stop - 1

    def _owned_end(self, first: int, stop: int) -> int:
        """ "her brother's alcohol dependence | led to her …": a short noun phrase."""
        words, gaps, table = self._document.words, self._document.gaps, self._table
        for index in range(first + 1, min(stop, first + 4)):
            word = words[index]
            if gaps[index] not in ("", "-") or word in table.possessives or word in table.finite:
                return index - 1
            if word in table.prepositions or word in table.conjunctions:
                return index - 1
        return min(stop, first + 4) - 1

    def _apposition_end(self, first: int, stop: int) -> int:
        """ "his father, a gambling addict | , left early"; a relative clause inside it goes on to its own end."""
        words, gaps = self._document.words, self._document.gaps
        for index in range(first + 1, stop):
            if "," in gaps[index] or ";" in gaps[index] or words[index] in self._table.returns:
                return index - 1
        return stop - 1

    def _bracket_end(self, first: int, stop: int) -> int:
        words, gaps = self._document.words, self._document.gaps
        for index in range(first + 1, stop):
            if ")" in gaps[index] or ("," in gaps[index] and words[index] in _SUBJECTS):
                return index - 1
        return stop - 1

    def _after_apposition(self, first: int, stop: int, reach: int = 8) -> int | None:
        """ "her mother, aged 60, has …": where the verb resumes."""
        words, gaps, table = self._document.words, self._document.gaps, self._table
        for index in range(first + 1, min(stop, first + reach)):
            if "," in gaps[index]:
                verb = words[index]
                acts = (
                    reach > 8
                    and verb.endswith("s")
                    and verb not in table.conjunctions
                    and verb not in table.prepositions
                )
                return index if verb in table.finite or (acts and verb not in _NO_VERBS) else None
        return None


def _parted(gap: str) -> bool:
    """Whether a gap sets off what follows it."""
    return gap not in ("", "-", "'s")
