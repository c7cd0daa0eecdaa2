"""The judge by rules: two replies contradict each other when directives on the same object cannot both be followed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_clinical_drift.evidence.advice import advice_of
from pytest_clinical_drift.evidence.guidance.cautions import cautions_of
from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.judges.excuses import Excuses
from pytest_clinical_drift.evidence.judges.opposition import Opposition
from pytest_clinical_drift.evidence.judges.oppositions import oppositions
from pytest_clinical_drift.evidence.judges.protocol import Conflict

CONSISTENT = Conflict(False, "no two directives on the same object exclude each other")
NO_ADVICE = Conflict(False, "one of the two gives no advice")


_WHOLE_REPLY = 240
"""Longer texts (characters) are whole replies with many directives; shorter ones a few sentences on one matter."""


class RulesJudge:
    """Compares directives: opposite action, amount, frequency, food, urgency; conditions and news excuse a change."""

    name = "rules"

    def judge(self, earlier: str, later: str) -> Conflict:
        """The gravest contradiction between two replies, if any."""
        return next(self.conflicts(earlier, later), None) or self._none(earlier, later)

    def judge_many(self, pairs: Sequence[tuple[str, str]]) -> list[Conflict]:
        """The verdicts on many pairs, in order."""
        return [self.judge(earlier, later) for earlier, later in pairs]

    def conflicts(self, earlier: str, later: str, excused: set[str] | None = None) -> Iterator[Conflict]:
        """Every contradiction, the gravest first; `excused` collects the objects whose change rests on news."""
        before, after = (*advice_of(earlier), *cautions_of(earlier)), advice_of(later)
        if not before or not after:
            return
        found: list[tuple[Opposition, Advice, Advice]] = []
        whole = max(len(earlier), len(later)) > _WHOLE_REPLY
        excuses = Excuses(earlier, later, whole=whole)
        for first, second, opposition in oppositions(before, after, whole=whole):
            if not excuses.excused(first, second, opposition):
                found.append((opposition, first, second))
            elif excused is not None and opposition.object and excuses.rests_on_news(second):
                excused.add(opposition.object)
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

    @staticmethod
    def _none(earlier: str, later: str) -> Conflict:
        return CONSISTENT if advice_of(earlier) and advice_of(later) else NO_ADVICE


def _gravity(entry: tuple[Opposition, Advice, Advice]) -> tuple[bool, float, bool, bool]:
    """Order of contradictions: severe and weighty ones first, bare regimens ("100 mg") after instructions."""
    opposition, first, second = entry
    return not opposition.severe, -opposition.weight, first.verb == "is", second.verb == "is"
