"""Statements about someone other than the patient: relatives and friends as subject, owner or place of a finding."""

from __future__ import annotations

from typing import NamedTuple

from pytest_clinical_drift.evidence.contexts.cues import CueTable
from pytest_clinical_drift.evidence.contexts.scopes import LIMIT, ScopeFinder
from pytest_clinical_drift.evidence.text import NUMBER, Document

_NAMING = 8  # words a person may be named with


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

    def scopes(self) -> list[PersonScope]:
        """Every stretch that is about another person."""
        kin = self._table.kin
        found: list[PersonScope] = []
        for index, word in enumerate(self._document.words):
            if word in kin:
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
        determiners = words[opening:person]
        if words[person] in table.offspring and not any(word in table.possessives for word in determiners):
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
            return following, self._statement_end(following, stop)
        if word in ("who", "whose", "with") and gap in ("", ","):
            return self._predicate(following + 1, stop) if word != "whose" else self._statement(following, stop)
        if before in table.object_of or word in table.prepositions or document.kinds[following] == NUMBER:
            return None
        if before in table.be and any(determiner in ("a", "an") for determiner in determiners):
            return None  # "she is a mother"
        if gap == ",":
            resumed = self._after_apposition(following, stop)
            return self._predicate(resumed, stop) if resumed else None
        if gap or word in table.conjunctions:
            return None
        return self._predicate(following, stop)

    def _opening(self, person: int, start: int) -> int:
        """First token of the phrase that names the person: "her late mother", "mother and older sister"."""
        words, gaps, table = self._document.words, self._document.gaps, self._table
        index = person
        start = max(start, person - _NAMING)
        while index > start and not _parted(gaps[index]):
            word = words[index - 1]
            if word not in table.kin_modifiers and word not in table.kin:
                break
            index -= 1
        while index < person and words[index] in ("and", "or"):
            index += 1
        return index

    def _predicate(self, verb: int, stop: int) -> tuple[int, int] | None:
        """What is said of the person, unless it is only that he or she reports, helps or comes along."""
        words, table = self._document.words, self._table
        first = verb
        for _ in range(3):
            if verb >= stop:
                break
            if words[verb] == "told" and verb > first:
                return self._statement(self._inner(verb + 1, stop), stop)
            if words[verb] in table.reporting:
                return None
            if words[verb] not in table.finite and words[verb] not in table.adverbs and not words[verb].endswith("ly"):
                break
            verb += 1
        return self._statement(first, stop)

    def _inner(self, first: int, stop: int) -> int:
        """ "was told (that) she | has X": behind the pronoun, which is the person's."""
        words = self._document.words
        while first < stop and words[first] in ("that", "she", "he", "they"):
            first += 1
        return first

    def _statement(self, first: int, stop: int) -> tuple[int, int] | None:
        return (first, self._statement_end(first, stop)) if first < stop else None

    def _statement_end(self, first: int, stop: int) -> int:
        """Last token of a statement that begins at `first`: to ";", an adversative or the patient's return."""
        document, table = self._document, self._table
        words, gaps = document.words, document.gaps
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
            if word in table.patient_again and index > first:
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

    def _bracket_end(self, first: int, stop: int) -> int:
        gaps = self._document.gaps
        for index in range(first + 1, stop):
            if ")" in gaps[index]:
                return index - 1
        return stop - 1

    def _after_apposition(self, first: int, stop: int) -> int | None:
        """ "her mother, aged 60, has …": where the verb resumes."""
        words, gaps, table = self._document.words, self._document.gaps, self._table
        for index in range(first + 1, min(stop, first + 8)):
            if "," in gaps[index]:
                return index if words[index] in table.finite else None
        return None


def _parted(gap: str) -> bool:
    """Whether a gap sets off what follows it."""
    return gap not in ("", "-", "'s")
