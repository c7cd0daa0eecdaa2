"""Statements about someone other than the patient: relatives and friends as subject or owner of a finding."""

from pytest_clinical_drift.evidence.mentions.scopes import LIMIT, ScopeFinder
from pytest_clinical_drift.evidence.reading.text import NUMBER

_OUTSIDERS = frozenset(("friend", "friends", "colleague", "boss"))
_NAMING = 8  # words a person may be named with


class PersonFinder(ScopeFinder):
    def person(self, person: int) -> tuple[int, int] | None:
        document, table, words, gaps = self._document, self._table, self._words, self._gaps
        start, stop = document.sentence_span(person)
        stop = min(stop, person + LIMIT)
        opening = self._opening(person, start)
        before = words[opening - 1] if opening > start and not _parted(gaps[opening]) else ""
        named_with = words[opening:person]
        owned = any(word in table.possessives for word in named_with)
        new = not {"a", "an", "another", "one"}.isdisjoint(named_with) or not "".join(gaps[person + 1 : person + 2])
        outsider = words[person] in _OUTSIDERS and new  # "dear colleague: …" is spoken to
        if words[person] in table.offspring and not (owned or outsider):
            return None  # "the child" may well be the patient
        if before in table.located_in:
            return self.backward(opening - 2, "list")  # "asthma in her mother"
        following = person + 3 if words[person + 1 : person + 3] == ["in", "law"] else person + 1
        if following >= stop or (before == "to" and words[opening - 2] == "according"):
            return None  # "according to her father, …": who tells it, not whom it is about
        gap, word = gaps[following], words[following]
        if word in ("who", "with") and gap.removeprefix("'s") in ("", ","):
            hers = word == "with" and words[following + 1 : following + 2] in (["her"], ["his"], ["their"])
            return None if hers else self._predicate(following + 1, stop)
        if gap.startswith("'"):
            return following, self._owned_end(following, stop)
        if "(" in gap:
            return following, self._statement_end(following, stop)
        if gap in ("–", ":"):
            return following, self._statement_end(following, stop)
        if gap == "," and word in ("a", "an", "himself", "herself"):
            return following, self._statement_end(following, stop)  # "his father, a gambling addict, …"
        if before in table.object_of or word in table.prepositions or document.kinds[following] == NUMBER:
            return None
        if gap or word in table.conjunctions or (before in table.be and not {"a", "an"}.isdisjoint(named_with)):
            return None  # "she is a mother"
        return self._predicate(following, stop)

    def _opening(self, person: int, start: int) -> int:
        """First token of the phrase that names the person: "her late mother", "mother and older sister"."""
        words, gaps, table = self._words, self._gaps, self._table
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

    def _predicate(self, verb: int, stop: int) -> tuple[int, int] | None:
        """What is said of the person, unless it is only that he or she reports, helps or comes along."""
        words, table = self._words, self._table
        for place in range(verb, min(stop, verb + 3)):
            if words[place] in table.reporting:
                return None
            if words[place] not in table.finite and words[place] not in table.adverbs:
                break
        return (verb, self._statement_end(verb, stop)) if verb < stop else None

    def _statement_end(self, first: int, stop: int) -> int:
        """Last token of a statement that begins at `first`: to ";", an adversative or the patient's return."""
        words, gaps, table = self._words, self._gaps, self._table
        for index in range(first, stop):
            word, gap = words[index], gaps[index]
            parted = ";" in gap or ")" in gap or ("," in gap and word in table.reporting)
            if word in table.returns or (index > first and (parted or word in table.patient_again)):
                return index - 1
        return stop - 1

    def _owned_end(self, first: int, stop: int) -> int:
        """ "her brother's alcohol dependence | led to her …": a short noun phrase."""
        words, gaps, table = self._words, self._gaps, self._table
        ends = table.possessives | table.finite | table.prepositions | table.conjunctions
        for index in range(first + 1, min(stop, first + 4)):
            if gaps[index] not in ("", "-") or words[index] in ends:
                return index - 1
        return min(stop, first + 4) - 1


def _parted(gap: str) -> bool:
    """Whether a gap sets off what follows it."""
    return gap not in ("", "-", "'s")
