"""How far a cue reaches: from the cue forward or backward until something in the sentence ends it."""

from bisect import bisect_left
from typing import NamedTuple

from pytest_clinical_drift.evidence.mentions.cues import CueTable, cue_table
from pytest_clinical_drift.evidence.reading.text import CELL, HEADING, Document

#: Gaps across which a cue acts on what follows it.
_OPEN_GAPS = frozenset({"", "-", "/", ":", "(", "'s", "'"})
#: A verb form after these is no finite verb: "not found to have X", "denies having had X".
_INFINITIVE = frozenset({"to", "having", "of"})
#: Longest reach in tokens; keeps a text of nothing but cues linear.
LIMIT = 60
#: Longest label in tokens that an answer answers: "Fever at night: no".
_LABEL = 8


class Scope(NamedTuple):
    """Tokens affected by a cue: a mention that begins (or, backward, ends) among them has the role."""

    first: int
    last: int
    #: Tokens of the cue; -1 for a question mark.
    cue_first: int
    cue_last: int
    role: str


class ScopeFinder:
    def __init__(self, document: Document) -> None:
        self._document, self._table = document, cue_table()
        self._words, self._gaps = document.words, document.gaps

    def forward(self, after: int, reach: str) -> tuple[int, int] | None:
        """Tokens from `after` on that a cue ending before it affects, or None."""
        document, table, words = self._document, self._table, self._words
        if after >= len(words) or document.sentences[after] != document.sentences[after - 1]:
            return None
        gap = self._gaps[after]
        if gap.strip('"') not in _OPEN_GAPS and not (reach == "sentence" and gap == ","):
            return None
        stop = min(document.sentence_span(after)[1], after + LIMIT)
        if reach == "sentence":
            return after, self._clause_stop(after, stop) - 1
        given = words[after] in table.definite or words[after] in table.presupposing  # "worried about her asthma"
        if words[after] in table.end_words or (reach == "object" and given and words[after - 1] != "that"):
            return None
        if reach == "word":
            return after, after
        end = self._list_stop(after, stop, reach)
        return (after, end - 1) if end > after else None

    def _clause_stop(self, after: int, stop: int) -> int:
        """One past the last token before ";", "because" or the like."""
        words, gaps, ends = self._words, self._gaps, self._table.clause_words
        return next((at for at in range(after + 1, stop) if ";" in gaps[at] or words[at] in ends), stop)

    def _list_stop(self, after: int, stop: int, reach: str) -> int:
        """One past the last token of the noun phrases that a cue before `after` affects."""
        words, gaps, table = self._words, self._gaps, self._table
        depth = 0
        joint = -1  # where the current member of the list began: its comma or conjunction
        joint_word = ""
        for index in range(after, stop):
            word, gap = words[index], gaps[index]
            if gap and index > after:
                depth += gap.count("(") - gap.count(")")
                if depth < 0 or ";" in gap or "–" in gap or ":" in gap or "\n" in gap:
                    return index
                if "," in gap and depth == 0:
                    if reach == "phrase" or self._opens_statement(index, stop):
                        return index
                    joint, joint_word = index, ","
            if word in table.end_words or (word == "other" and words[index + 1 : index + 2] == ["than"]):
                return index
            if word in table.conjunctions:
                if (reach == "phrase" and word != "or") or self._opens_statement(index + 1, stop):
                    return index
                if depth == 0:
                    joint, joint_word = index, word
            elif word in table.finite and index > after and words[index - 1] not in _INFINITIVE:
                if joint > after and joint_word not in ("or", "nor"):
                    return joint  # "no murmurs, lungs are clear": the last member is a subject of its own
                return index
            elif self._absorbs(index, stop):
                return index + 1
            elif word in table.prepositions and index > after and self._leads_away(index, stop, reach):
                return index
        return stop

    def _opens_statement(self, index: int, stop: int) -> bool:
        """Whether what follows a comma or conjunction is a new statement and not one more member of the list."""
        words, table = self._words, self._table
        if index < stop and words[index] in table.conjunctions and words[index] != "as":
            index += 1
        if index >= stop:
            return False
        # "no fever, severe headache, or rash" is one list all the same
        goes_on = words[index] not in table.quality_starters or words[index - 1] in ("or", "nor")
        return words[index] in table.clause_starters or not goes_on

    def _absorbs(self, index: int, stop: int) -> bool:
        """ "no change to X", "denies missing any X": the negation ends with this word."""
        words, table, following = self._words, self._table, index + 1
        if following >= stop or self._gaps[following] != "":
            return False
        if words[index] in table.absorbing_verbs:
            return words[following] not in table.conjunctions
        own_finding = following + 1 < stop and words[following + 1] in table.functions
        return words[index] in table.absorbing and words[following] in table.absorbing_links and not own_finding

    def _leads_away(self, index: int, stop: int, reach: str) -> bool:
        """Whether a preposition leads to something that is there: "no tablets for depression", "on her warfarin"."""
        words, table = self._words, self._table
        if reach in ("object", "source"):
            return words[index - 1] not in table.transparent
        if words[index] == "for" and words[index - 1] in table.treatments:
            return True
        if words[index] == "on" and index + 1 < stop and words[index + 1] not in table.occasions:
            return True
        return words[index] != "of" and index + 1 < stop and words[index + 1] in table.possessives

    def backward(self, before: int, reach: str) -> tuple[int, int] | None:
        """Tokens up to `before` that a cue beginning right after it affects, or None."""
        document, table, words, gaps = self._document, self._table, self._words, self._gaps
        if before < 0 or document.sentences[before] != document.sentences[before + 1]:
            return None
        start = max(document.sentence_span(before)[0], before + 1 - (2 if reach == "near" else LIMIT))
        if ";" in gaps[before + 1] or (reach == "near" and "," in gaps[before + 1]):
            return None
        index = before
        while index >= start and words[index] in table.be:
            index -= 1
        if index < start:
            return None
        if words[index] in table.prepositions or words[index] in ("a", "an", "the"):
            return None  # attributive: "of unknown cause"
        first = self._backward_start(start, index)
        return (first, index) if first <= index else None

    def _backward_start(self, start: int, last: int) -> int:
        """First token of the noun phrases that end at `last`."""
        words, gaps, table = self._words, self._gaps, self._table
        for index in range(last, start - 1, -1):
            if words[index] in table.end_words or (words[index] in table.finite and index < last):
                return index + 1
            if index > start and any(mark in gaps[index] for mark in ";–:(,"):
                return index
        return start


def answered_by(document: Document, table: CueTable, index: int) -> Scope | None:
    """The label, key or row label that an answer of one to three words from token `index` on answers."""
    words, gaps = document.words, document.gaps
    answer = next((a for n in (3, 2, 1) if (a := tuple(words[index : index + n])) in table.answers), None)
    if answer is None:
        return None
    after = index + len(answer)
    same = after < len(words) and document.sentences[after] == document.sentences[index]
    if same and gaps[after] in ("", "-", "/") and words[after] not in table.answer_tails:
        return None
    span = _answered(document, index)
    return Scope(*span, index, after - 1, table.answers[answer]) if span is not None else None


def _answered(document: Document, index: int) -> tuple[int, int] | None:
    """The tokens of the label, or of the first cell of the row, that token `index` answers."""
    if index == 0 or document.lines[index - 1] != document.lines[index]:
        return None
    if document.segment_kinds[document.segments[index]] == CELL and document.gaps[index] == "\n":
        first = bisect_left(document.lines, document.lines[index])
        return first, bisect_left(document.segments, document.segments[first] + 1) - 1
    first = document.sentence_span(index)[0]
    if document.segment_kinds[document.segments[index - 1]] == HEADING or index - first > _LABEL:
        return None
    # not across ";" or a further mark
    return next((at for at in range(index - 1, first, -1) if set(document.gaps[at]) & set(";:–")), first), index - 1
