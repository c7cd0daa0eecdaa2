"""Every cue of a document with the tokens it affects: phrases, relatives and friends, answers and question marks."""

from bisect import bisect_left
from collections.abc import Iterable

from pytest_clinical_drift.evidence.mentions.cues import (
    HISTORICAL,
    HYPOTHETICAL,
    LIMIT,
    NEGATED,
    OTHER_PERSON,
    Reach,
    Scope,
)
from pytest_clinical_drift.evidence.reading.text import CELL, HEADING, NUMBER, Document, once
from pytest_clinical_drift.evidence.terms.lexicon import Term, term_index
from pytest_clinical_drift.evidence.terms.vocabulary import CUE

_Range = tuple[int, int]
_NAMING = 8
"""Words a person may be named with."""
_OUTSIDERS = frozenset(("friend", "friends", "colleague", "boss"))
_APPOSED = ("a", "an", "himself", "herself")
_UNPARTED = ("", "-", "'s")
"""Gaps that do not set off what follows them."""
_LABEL = 8
"""Longest label in tokens that an answer answers: "Fever at night: no"."""


def scopes_over(document: Document, first: int, last: int) -> list[Scope]:
    """The scopes that a mention from token `first` to token `last` lies in, outside their cues."""
    scopes = _scopes_at(document)
    # Forward, the mention must begin inside; backward, it must end inside.
    ahead = [scope for scope in scopes.get(first, ()) if scope.cue_last < first]
    return ahead + [scope for scope in scopes.get(last, ()) if scope.cue_first > last]


@once
def _scopes_at(document: Document) -> dict[int, list[Scope]]:
    """The scopes of a document by the tokens that lie in them: at most `LIMIT` each."""
    scopes: dict[int, list[Scope]] = {}
    for scope in _Finder(document).find():
        for token in range(scope.first, scope.last + 1):
            scopes.setdefault(token, []).append(scope)
    return scopes


class _Finder(Reach):
    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._scopes: list[Scope] = []

    def find(self) -> list[Scope]:
        document = self._document
        words = self._words
        gaps = self._gaps
        table = self._table
        for cue in term_index(document).by_kind.get(CUE, ()):
            self._apply(cue)
        for index, (word, gap) in enumerate(zip(words, gaps, strict=True)):
            if word in table.kin:
                self._add(self._of_person(index), index, index, (OTHER_PERSON,))
            if gap and "?" in document.raw[document.starts[index] - 1 : document.starts[index]]:  # "?PE"
                phrase = self.forward(index + 1, "phrase") or (index, index)
                self._add((index, phrase[1]), -1, -1, (HYPOTHETICAL,))
            if index and "?" in gap and document.sentences[index] != document.sentences[index - 1]:
                self._question(index - 1)
            if word in table.answer_heads and (gap in ("\n", ":", "–") or gap.endswith((":", '"'))):
                self._answer(index)
        if words:
            self._question(len(document) - 1)  # the last sentence has no gap after it
        # "no history of X", "no X planned": a cue that is itself denied says nothing more
        denied: set[int] = set()
        for scope in self._scopes:
            if scope.role == NEGATED and scope.cue_last < scope.first:
                denied.update(range(scope.first, scope.last + 1))
        kept = (NEGATED, OTHER_PERSON)
        return [scope for scope in self._scopes if scope.role in kept or scope.cue_first not in denied]

    def _add(self, span: _Range | None, cue_first: int, cue_last: int, roles: Iterable[str]) -> None:
        if span is not None:
            self._scopes += [Scope(*span, cue_first, cue_last, role) for role in roles]

    # ---- phrases

    def _apply(self, cue: Term) -> None:
        """Add the scope of a cue, by the rule of its group."""
        words = self._words
        rule = cue.concept.data
        roles = rule["role"] if isinstance(rule["role"], list) else [rule["role"]]
        ahead = HISTORICAL in roles and NEGATED not in roles  # "will be stopped": nothing has ended
        unborn = ahead and not self._table.not_yet.isdisjoint(words[max(0, cue.first - 2) : cue.first])
        if roles == ["pseudo"] or unborn:
            return
        direction = rule.get("direction", "forward")
        before = cue.first - 1
        if direction in ("auto", "object", "subject"):
            has_object = self._has_object(cue.last + 1)
            if direction == "object" and not has_object:
                if words[max(0, before)] not in self._table.offers:
                    return
                before -= 1  # "X offered, declined"
            elif direction == "subject" and has_object:
                return
            direction = "forward" if has_object else "backward"
        span = self._ahead(cue) if direction == "forward" else self._behind(before, rule.get("reach", "list"))
        self._add(span, cue.first, cue.last, roles)

    def _has_object(self, after: int) -> bool:
        """Whether a participle acts on what follows ("stopped X"), and not on what stands before ("X was stopped")."""
        beside = after < len(self._words) and self._gaps[after] in ("", "/")
        return beside and self._words[after] not in self._table.no_objects and self._document.kinds[after] != NUMBER

    def _ahead(self, cue: Term) -> _Range | None:
        """What a cue does to the words behind it."""
        words = self._words
        rule = cue.concept.data
        after = cue.last + 1
        if words[cue.last] == "without":  # "without her inhaler" presupposes it, "never goes out without" affirms it
            lead = words[max(self._document.clause_span(cue.first)[0], cue.first - 5) : cue.first]
            if "never" in lead or "not" in lead or not self._table.possessives.isdisjoint(words[after : after + 1]):
                return None
        return self._verb_scope(after) if rule.get("verb") else self.forward(after, rule.get("reach", "list"))

    def _behind(self, before: int, reach: str) -> _Range | None:
        """What a cue does to the words before it; nothing in "once the rash has resolved"."""
        span = self.backward(before, reach)
        pending = span is not None and span[0] and self._words[span[0] - 1] in self._table.not_yet
        return None if pending else span

    def _verb_scope(self, after: int) -> _Range | None:
        """What "not" and "never" deny: it depends on the verb."""
        words = self._words
        gaps = self._gaps
        table = self._table
        stop = self._document.sentence_span(after - 1)[1]
        verb = after
        while verb + 1 < stop and words[verb] in table.adverbs and gaps[verb + 1] == "":
            if words[verb + 1] in table.definite or words[verb + 1] == "any":
                break
            verb += 1
        if verb >= stop or gaps[verb] not in ("", "-") or words[verb] in table.neutral:
            return None
        if words[verb] not in table.denying and verb + 1 < stop and words[verb + 1] in table.definite:
            return verb, verb
        span = self.forward(verb, "list")
        if span is None:
            return None
        # "does not drive (hypo unawareness)": what stands in brackets after a denied act explains it
        bracket = next((i for i in range(verb + 1, span[1] + 1) if "(" in gaps[i]), span[1] + 1)
        return span[0], bracket - 1

    # ---- relatives and friends, as the subject or owner of a finding

    def _of_person(self, person: int) -> _Range | None:
        """What is said of a relative or a friend, by a word that names one."""
        words = self._words
        start, stop = self._document.sentence_span(person)
        stop = min(stop, person + LIMIT)
        opening = self._opening(person, start)
        before = words[opening - 1] if opening > start and self._gaps[opening] in _UNPARTED else ""
        if self._may_be_patient(person, opening):
            return None
        if before in self._table.located_in:
            return self.backward(opening - 2, "list")  # "asthma in her mother"
        following = person + 3 if words[person + 1 : person + 3] == ["in", "law"] else person + 1
        if following >= stop or (before == "to" and words[opening - 2] == "according"):
            return None  # "according to her father, …": who tells it, not whom it is about
        return self._said_of(following, before, stop)

    def _may_be_patient(self, person: int, opening: int) -> bool:
        """Whether "the child" may well be the patient; a friend is, where a letter speaks to one ("dear colleague")."""
        words = self._words
        named_with = words[opening:person]
        new = not {"a", "an", "another", "one"}.isdisjoint(named_with)
        new = new or self._gaps[person + 1 : person + 2] in ([], [""])
        outsider = words[person] in _OUTSIDERS and new
        owned = not self._table.possessives.isdisjoint(named_with)
        return words[person] in self._table.offspring and not owned and not outsider

    def _said_of(self, following: int, before: str, stop: int) -> _Range | None:
        """What follows the name of a person and is said of him or her."""
        table = self._table
        words = self._words
        gap = self._gaps[following]
        word = words[following]
        linking = table.prepositions | table.conjunctions
        if word in ("who", "with") and gap in ("", ",", "'s,"):
            hers = word == "with" and words[following + 1 : following + 2] in (["her"], ["his"], ["their"])
            return None if hers else self._predicate(following + 1, stop)
        if gap.startswith("'"):
            return self._owned_by(following, min(stop, following + 4))
        if "(" in gap or gap in ("–", ":") or (gap == "," and word in _APPOSED):  # "his father, a gambling addict"
            return following, self._statement_end(following, stop)
        told_to = before in table.object_of or before in table.be  # "visited her mother", "she is a mother"
        if gap or told_to or word in linking or self._document.kinds[following] == NUMBER:
            return None
        return self._predicate(following, stop)

    def _owned_by(self, first: int, stop: int) -> _Range:
        """ "her brother's alcohol dependence | led to her …": a short noun phrase."""
        table = self._table
        for place in range(first + 1, stop):
            word = self._words[place]
            linking = word in table.prepositions or word in table.conjunctions
            if self._gaps[place] not in ("", "-") or linking or word in table.possessives or word in table.finite:
                return first, place - 1
        return first, stop - 1

    def _opening(self, person: int, start: int) -> int:
        """First token of the phrase that names the person: "her late mother", "mother and older sister"."""
        words = self._words
        gaps = self._gaps
        table = self._table
        naming = table.kin_modifiers | table.kin | {"year", "old", "month", "yo"}
        kinds = self._document.kinds
        index = person
        start = max(start, person - _NAMING)
        while index > start and gaps[index] in _UNPARTED and (words[index - 1] in naming or kinds[index - 1] == NUMBER):
            index -= 1
        while words[index] in ("and", "or"):
            index += 1
        return index

    def _predicate(self, verb: int, stop: int) -> _Range | None:
        """What is said of the person, unless it is only that he or she reports, helps or comes along."""
        words = self._words
        table = self._table
        for place in range(verb, min(stop, verb + 3)):
            if words[place] in table.reporting:
                return None
            if words[place] not in table.finite and words[place] not in table.adverbs:
                break
        return (verb, self._statement_end(verb, stop)) if verb < stop else None

    def _statement_end(self, first: int, stop: int) -> int:
        """Last token of a statement that begins at `first`: to ";", an adversative or the patient's return."""
        words = self._words
        gaps = self._gaps
        table = self._table
        for index in range(first, stop):
            told = "," in gaps[index] and words[index] in table.reporting  # "her mother has asthma, reports that …"
            parted = told or ";" in gaps[index] or ")" in gaps[index] or words[index] in table.patient_again
            if words[index] in table.returns or (index > first and parted):
                return index - 1
        return stop - 1

    # ---- punctuation

    def _question(self, last: int) -> None:
        """A whole sentence that ends in a question mark."""
        document = self._document
        first = document.sentence_span(last)[0]
        if "?" in document.raw[document.ends[last] : document.ends[last] + 20] and last - first < LIMIT:
            self._add((first, last), -1, -1, (HYPOTHETICAL,))

    def _answer(self, index: int) -> None:
        """An answer of one to three words from token `index` on, and the label, key or row label that it answers."""
        document = self._document
        words = self._words
        table = self._table
        wordings = (tuple(words[index : index + length]) for length in (3, 2, 1))
        answer = next((wording for wording in wordings if wording in table.answers), None)
        if answer is None:
            return
        after = index + len(answer)
        same = after < len(words) and document.sentences[after] == document.sentences[index]
        if not same or document.gaps[after] not in ("", "-", "/") or words[after] in table.answer_tails:
            self._add(self._answered(index), index, after - 1, (table.answers[answer],))

    def _answered(self, index: int) -> _Range | None:
        """The tokens of the label, or of the first cell of the row, that token `index` answers."""
        document = self._document
        gaps = self._gaps
        if index == 0 or document.lines[index - 1] != document.lines[index]:
            return None
        if document.segment_kinds[document.segments[index]] == CELL and gaps[index] == "\n":
            first = bisect_left(document.lines, document.lines[index])
            return first, bisect_left(document.segments, document.segments[first] + 1) - 1
        first = document.sentence_span(index)[0]
        if document.segment_kinds[document.segments[index - 1]] == HEADING or index - first > _LABEL:
            return None
        # not across ";" or a further mark
        return next((at for at in range(index - 1, first, -1) if set(gaps[at]) & set(";:–")), first), index - 1
