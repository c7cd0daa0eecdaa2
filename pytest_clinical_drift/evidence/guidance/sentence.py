"""One sentence of a reply as advice reads it."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_clinical_drift.evidence.guidance.amounts import read_amounts
from pytest_clinical_drift.evidence.guidance.goals import Goal, read_goal
from pytest_clinical_drift.evidence.guidance.objects import Mention
from pytest_clinical_drift.evidence.guidance.quantity import Amounts
from pytest_clinical_drift.evidence.guidance.words import COMMA, HARD, OPENS, Hit, View, listed


@dataclass(slots=True)
class Limit:
    """A stretch that says when advice applies."""

    first: int
    end: int
    kind: str
    """if, stage (once, when), until, while or even."""


@dataclass(slots=True)
class Sentence:
    """One sentence of a view."""

    view: View
    number: int
    first: int
    end: int
    hits: list[Hit]
    mentions: list[Mention]
    limits: list[Limit] = field(default_factory=list)
    question: bool = False
    past: bool = False
    cell: bool = False
    item: bool = False
    label_mentions: tuple[Mention, ...] = ()
    asked_before: str | None = None
    """A short question just before ("Cough gone?") that works as a condition."""
    heading_limit: str | None = None
    """A heading above that limits ("If you slip", "Once she's born")."""
    categories: frozenset[str] = frozenset()
    """Categories of its hits."""
    before: int = 0
    """Where the sentence before it opens."""
    sole_drug: tuple[Mention, ...] = ()
    """The only drug that the whole text names."""
    called: str | None = None
    """Set on an item under "Call 999 if": how urgent that call is."""
    goal: Goal | None = None
    """A figure to reach or stay within, outside its conditions."""

    def limited(self, at: int) -> bool:
        """Whether a word stands in a condition."""
        return any(limit.first <= at < limit.end for limit in self.limits)

    def opens(self, at: int) -> bool:
        """Whether a clause may open at this word."""
        return bool(self.view.marks[at] & OPENS)

    def same_clause(self, one: int, other: int) -> bool:
        """Whether no semicolon, dash or full stop stands between two words."""
        first, last = (one, other) if one < other else (other, one)
        return not any(mark & HARD for mark in self.view.marks[first + 1 : last + 1])

    def clause_first(self, at: int) -> int:
        """Where the clause of a word opens."""
        words, marks = self.view.words, self.view.marks
        new_clause, subordinate = listed("new_clause"), listed("subordinate")
        while at > self.first:
            mark = marks[at]
            if mark & HARD or (mark & COMMA and words[at] in new_clause) or words[at] in subordinate:
                return at
            at -= 1
        return at

    def purpose(self, at: int) -> bool:
        """Whether "so that", or "so" without a comma, opens the clause at this word: what something is for."""
        before = self.view.words[max(self.first, at - 2) : at]
        if before == ["so", "that"]:
            return True
        return before[-1:] == ["so"] and at - 1 > self.first and not self.view.marks[at - 1]

    def subject(self, at: int) -> tuple[Mention, ...]:
        """What stands before a passive or a judgement, back to where its clause opens."""
        start = self.clause_first(at)
        return tuple(
            m
            for m in self.mentions
            if start <= m.first < at
            and m.kind != "service"
            and not self.limited(m.first)
            and not self._set_against(m.first)
        )

    def _set_against(self, at: int) -> bool:
        """ "paracetamol, not ibuprofen, is …": named only as what it is not."""
        words = self.view.words
        return at > self.first and (words[at - 1] in ("not", "than") or words[at - 2 : at] == ["instead", "of"])

    def read_goal(self) -> Goal | None:
        """The figure it gives as a goal; figures in its conditions are none."""
        words = self.view.words
        if not self.limits:
            return read_goal(words[self.first : self.end])
        return read_goal([words[at] for at in range(self.first, self.end) if not self.limited(at)])

    def amounts(self) -> Amounts:
        """The amounts that stand anywhere in it."""
        return read_amounts(self.view.words[self.first : self.end])

    def has_regimen(self) -> bool:
        """Whether it names an amount, a frequency or food."""
        return self.amounts().regimen or "food_timing" in self.categories
