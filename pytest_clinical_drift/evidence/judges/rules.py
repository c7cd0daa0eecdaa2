"""The judge by rules: two replies contradict each other when directives on the same object cannot both be followed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_clinical_drift.evidence.advice import advice_of, document_of
from pytest_clinical_drift.evidence.guidance.alarms import alarms_of, eased
from pytest_clinical_drift.evidence.guidance.cautions import cautions_of
from pytest_clinical_drift.evidence.guidance.leanings import leanings_of
from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.judges.alarms import adds_signs, alarms_opposed
from pytest_clinical_drift.evidence.judges.excuses import Excuses
from pytest_clinical_drift.evidence.judges.gists import gists_opposed
from pytest_clinical_drift.evidence.judges.leanings import leanings_opposed
from pytest_clinical_drift.evidence.judges.missed import missed_opposed
from pytest_clinical_drift.evidence.judges.opposition import Opposition
from pytest_clinical_drift.evidence.judges.oppositions import oppositions
from pytest_clinical_drift.evidence.judges.passages import passages_opposed
from pytest_clinical_drift.evidence.judges.protocol import Conflict
from pytest_clinical_drift.evidence.judges.replies import closely_opposed
from pytest_clinical_drift.evidence.judges.standing import stands

CONSISTENT = Conflict(False, "no two directives on the same object exclude each other")
NO_ADVICE = Conflict(False, "one of the two gives no advice")


_WHOLE_REPLY = 240
"""Longer texts (characters) are whole replies with many directives; shorter ones a few sentences on one matter."""


Change = tuple[str, str]
"""Id of an object, and what changed: whether it is used, or how."""


def matter_of_change(kind: str) -> str:
    """Whether two opposed directives differ in if or in how a thing is used."""
    return "use" if kind in ("avoid/use", "start/stop", "regularity") else "manner"


class RulesJudge:
    """Compares directives: opposite action, amount, frequency, food, urgency; conditions and news excuse a change."""

    name = "rules"

    def judge(self, earlier: str, later: str) -> Conflict:
        """The gravest contradiction between two replies, if any."""
        return next(self.conflicts(earlier, later), None) or self._none(earlier, later)

    def judge_many(self, pairs: Sequence[tuple[str, str]]) -> list[Conflict]:
        """The verdicts on many pairs, in order."""
        return [self.judge(earlier, later) for earlier, later in pairs]

    def conflicts(
        self, earlier: str, later: str, excused: set[Change] | None = None, *, in_talk: bool = False
    ) -> Iterator[Conflict]:
        """Every contradiction, the gravest first; `excused` collects what changed for news: an object and in what.

        `in_talk`: two turns of a conversation, which are whole replies however short they are.
        """
        before, after = (*advice_of(earlier), *self._cautions(earlier, later)), advice_of(later)
        whole = in_talk or max(len(earlier), len(later)) > _WHOLE_REPLY
        if whole and not (before and after):
            return
        found: list[tuple[Opposition, Advice, Advice]] = []
        excuses = Excuses(earlier, later, whole=whole)
        for first, second, opposition in oppositions(before, after, whole=whole):
            if not whole and opposition.kind == "urgency" and self._another_situation(earlier, later, second):
                continue
            if whole and not stands(opposition.kind, first.quote, second.quote, apart=in_talk):
                continue
            if not excuses.excused(first, second, opposition):
                found.append((opposition, first, second))
            elif excused is not None and opposition.object and excuses.changed(first, second):
                excused.add((opposition.object, matter_of_change(opposition.kind)))
        if not found:
            close = closely_opposed(before, after, excuses) if whole else self._leanings(earlier, later, excuses)
            found.extend(
                (opposition, first, second)
                for opposition, first, second in close
                if not whole or stands(opposition.kind, first.quote, second.quote, apart=in_talk)
            )
        found.sort(key=_gravity)
        for opposition, first, second in found:
            yield Conflict(
                True,
                opposition.reason,
                (first.quote, second.quote),
                opposition.severe,
                opposition.kind,
                opposition.object,
            )
        if whole and not found:
            yield from missed_opposed(earlier, later, excuses)
            for conflict in passages_opposed(earlier, later, excuses):
                if conflict.quotes is None or stands(conflict.kind, *conflict.quotes, apart=in_talk):
                    yield conflict
        if not whole and not found and not excuses.has_told_news:
            gist = gists_opposed(earlier, later) if not excuses.has_news else alarms_opposed(earlier, later)
            if gist is not None:
                yield gist

    @staticmethod
    def _another_situation(earlier: str, later: str, second: Advice) -> bool:
        """Whether the later text speaks of graver signs, or of something that has got better."""
        if second.effect == "care" and second.urgency in ("now", "same day"):
            return adds_signs(earlier, later)
        return eased(alarms_of(later).joined)

    @staticmethod
    def _cautions(earlier: str, later: str) -> tuple[Advice, ...]:
        short = max(len(earlier), len(later)) <= _WHOLE_REPLY
        return cautions_of(earlier, frozenset(document_of(later).words) if short else frozenset())

    @staticmethod
    def _leanings(earlier: str, later: str, excuses: Excuses) -> Iterator[tuple[Opposition, Advice, Advice]]:
        """What short texts lean towards and against, where no two directives are opposed."""
        before = (*advice_of(earlier), *RulesJudge._cautions(earlier, later))
        for first, second, opposition in leanings_opposed(
            before, advice_of(later), leanings_of(earlier), leanings_of(later)
        ):
            if not excuses.excused(first, second, opposition):
                yield opposition, first, second

    @staticmethod
    def _none(earlier: str, later: str) -> Conflict:
        return CONSISTENT if advice_of(earlier) and advice_of(later) else NO_ADVICE


def _gravity(entry: tuple[Opposition, Advice, Advice]) -> tuple[bool, float, bool, bool]:
    """Order of contradictions: severe and weighty ones first, bare regimens ("100 mg") after instructions."""
    opposition, first, second = entry
    return not opposition.severe, -opposition.weight, first.verb == "is", second.verb == "is"
