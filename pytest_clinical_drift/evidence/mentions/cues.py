"""The words of cues.yaml, and how far a cue reaches.

A cue acts forward or backward from where it stands until something in the sentence ends its reach.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_clinical_drift.evidence.reading.text import Document, tokenise
from pytest_clinical_drift.evidence.terms.vocabulary import load_vocabulary

NEGATED = "negated"
HYPOTHETICAL = "hypothetical"
HISTORICAL = "historical"
OTHER_PERSON = "other_person"

#: Gaps across which a cue acts on what follows it.
_OPEN_GAPS = frozenset({"", "-", "/", ":", "(", "'s", "'"})
#: A verb form after these is not a finite verb: "not found to have X", "denies having had X".
_INFINITIVE = frozenset({"to", "having", "of"})
#: Marks in a gap at which a list ends.
_ENDING_GAPS = frozenset(";–:\n")
#: Longest reach in tokens; keeps a text of nothing but cues linear.
LIMIT = 60


class CueTable:
    """cues.yaml, ready for use; each of its lists of words is an attribute of that name."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> frozenset[str]: ...

    def __init__(self, data: dict[str, Any]) -> None:
        for lists in (data, data["ends"], data["verbs"], data["people"]):
            for name, words in lists.items():
                if isinstance(words, list) and name != "cues":
                    setattr(self, name, frozenset(map(str, words)))
        self.definite: frozenset[str] = self.definite | self.possessives
        closed = self.prepositions | self.conjunctions | self.end_words | self.finite | self.adverbs
        self.no_objects: frozenset[str] = closed | self.answer_tails
        self.labels: dict[str, str] = {}
        for role, labels in data["labels"].items():
            self.labels.update((str(label), role) for label in labels)
        self.answers: dict[tuple[str, ...], str] = {}
        for role, answers in data["answers"].items():
            self.answers.update((tokenise(str(answer)), role) for answer in answers)
        self.answer_heads = frozenset(answer[0] for answer in self.answers if answer)


@lru_cache(maxsize=1)
def cue_table() -> CueTable:
    return CueTable(load_vocabulary("cues"))


class Scope(NamedTuple):
    """Tokens affected by a cue: a mention that begins (or, backward, ends) among them has the role."""

    first: int
    last: int
    #: Tokens of the cue; -1 for a question mark.
    cue_first: int
    cue_last: int
    role: str


class Reach:
    """How far the cues of one document reach."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._table = cue_table()
        self._words = document.words
        self._gaps = document.gaps

    def forward(self, after: int, reach: str) -> tuple[int, int] | None:
        """Tokens from `after` on that a cue ending before it affects, or None."""
        document = self._document
        table = self._table
        words = self._words
        gaps = self._gaps
        if after >= len(words) or document.sentences[after] != document.sentences[after - 1]:
            return None
        if gaps[after].strip('"') not in _OPEN_GAPS and (reach, gaps[after]) != ("sentence", ","):
            return None
        stop = min(document.sentence_span(after)[1], after + LIMIT)
        if reach == "sentence":
            ends = (at for at in range(after + 1, stop) if ";" in gaps[at] or words[at] in table.clause_words)
            return after, next(ends, stop) - 1
        given = words[after] in table.definite or words[after] in table.presupposing  # "worried about her asthma"
        if words[after] in table.end_words or (reach == "object" and given and words[after - 1] != "that"):
            return None
        end = after + 1 if reach == "word" else self._list_stop(after, stop, reach)
        return (after, end - 1) if end > after else None

    def _list_stop(self, after: int, stop: int, reach: str) -> int:
        """One past the last token of the noun phrases that a cue before `after` affects."""
        depth = 0
        joint = -1  # where the current member of the list began: its comma or conjunction
        for index in range(after, stop):
            gap = self._gaps[index]
            if gap and index > after:
                depth += gap.count("(") - gap.count(")")
                if depth < 0 or not _ENDING_GAPS.isdisjoint(gap):
                    return index
                if "," in gap and depth == 0:
                    if reach == "phrase" or self._opens_statement(index, stop):
                        return index
                    joint = index
            word = self._words[index]
            if word in self._table.end_words or (word == "other" and self._words[index + 1 : index + 2] == ["than"]):
                return index
            if word not in self._table.conjunctions:
                end = self._end_at(index, after, stop, reach, joint)
                if end is not None:
                    return end
            elif (reach == "phrase" and word != "or") or self._opens_statement(index + 1, stop):
                return index
            elif depth == 0:
                joint = index
        return stop

    def _end_at(self, index: int, after: int, stop: int, reach: str, joint: int) -> int | None:
        """Where a list ends by what one of its words is; None where it goes on."""
        words = self._words
        table = self._table
        inside = index > after
        if inside and words[index] in table.finite and words[index - 1] not in _INFINITIVE:
            # "no murmurs, lungs are clear": the last member is a subject of its own
            return joint if joint > after and words[joint] not in ("or", "nor") else index
        if self._absorbs(index, stop):
            return index + 1
        away = inside and words[index] in table.prepositions and self._leads_away(index, stop, reach)
        return index if away else None

    def _opens_statement(self, index: int, stop: int) -> bool:
        """Whether what follows a comma or conjunction is a new statement and not one more member of the list."""
        words = self._words
        table = self._table
        if index < stop and words[index] in table.conjunctions and words[index] != "as":
            index += 1
        if index >= stop:
            return False
        # "no fever, severe headache, or rash" is one list all the same
        quality = words[index] in table.quality_starters and words[index - 1] not in ("or", "nor")
        return quality or words[index] in table.clause_starters

    def _absorbs(self, index: int, stop: int) -> bool:
        """ "no change to X", "denies missing any X": the negation ends with this word."""
        words = self._words
        table = self._table
        following = index + 1
        if following >= stop or self._gaps[following] != "":
            return False
        if words[index] in table.absorbing_verbs:
            return words[following] not in table.conjunctions
        own_finding = following + 1 < stop and words[following + 1] in table.functions
        return words[index] in table.absorbing and words[following] in table.absorbing_links and not own_finding

    def _leads_away(self, index: int, stop: int, reach: str) -> bool:
        """Whether a preposition leads to something that is there: "no tablets for depression", "on her warfarin"."""
        words = self._words
        table = self._table
        if reach in ("object", "source"):
            return words[index - 1] not in table.transparent
        if words[index] == "for" and words[index - 1] in table.treatments:
            return True
        following = words[index + 1] if index + 1 < stop else "of"
        hers = words[index] != "of" and following in table.possessives  # but "no sign of her rash"
        return hers or (words[index] == "on" and following not in table.occasions)

    def backward(self, before: int, reach: str) -> tuple[int, int] | None:
        """Tokens up to `before` that a cue beginning right after it affects, or None."""
        document = self._document
        table = self._table
        words = self._words
        gaps = self._gaps
        if before < 0 or document.sentences[before] != document.sentences[before + 1]:
            return None
        start = max(document.sentence_span(before)[0], before + 1 - (2 if reach == "near" else LIMIT))
        if ";" in gaps[before + 1] or (reach == "near" and "," in gaps[before + 1]):
            return None
        last = before
        while last >= start and words[last] in table.be:
            last -= 1
        if last < start or words[last] in table.prepositions or words[last] in ("a", "an", "the"):
            return None  # attributive: "of unknown cause"
        first = last
        while first >= start and words[first] not in table.end_words:
            if words[first] in table.finite and first < last:
                break
            first -= 1
            if first + 1 > start and any(mark in gaps[first + 1] for mark in ";–:(,"):
                break
        return (first + 1, last) if first < last else None
