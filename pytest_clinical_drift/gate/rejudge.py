"""The verdict of a finished run with what people have answered since, and a sentence on what that changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_clinical_drift.gate.outcome import Outcome
from pytest_clinical_drift.gate.reopened import Reopened, rulings_with
from pytest_clinical_drift.judging.opinions import DISMISSED as CLEARED
from pytest_clinical_drift.judging.opinions import UPHELD
from pytest_clinical_drift.judging.reviews import DECLARED, Reviews, check_reviews
from pytest_clinical_drift.scoring.assessment import DISMISSED, OPEN
from pytest_clinical_drift.verdict.values import CAUTION, fails_run

FOLDER = "reviewed"
"""Where the results with reviews go, beside the untouched ones."""


@dataclass(frozen=True, slots=True)
class Change:
    """What reviews have settled."""

    before: str
    """The verdict of the run."""
    after: str
    dismissed: int
    """Alarms that reviewers took back."""
    confirmed: int
    disputed: int
    """Alarms that stay open because reviewers disagree."""
    cleared: int
    """Answers that the judge had cleared, read again."""
    raised: int
    """How many of those reviewers held against the model."""
    left: int
    """Alarms that are still open."""

    @property
    def sentence(self) -> str:
        """Such as "UNSETTLED → PASS by 7 dismissals and 1 confirmation"."""
        said = [_count(self.dismissed, "dismissal"), _count(self.confirmed, "confirmation")]
        if self.raised:
            said.append(f"{_count(self.raised, 'new alarm')} among what the judge had cleared")
        by = " and ".join(text for text in said if text)
        verdicts = f"{self.before} → {self.after}" if self.before != self.after else f"{self.after} as before"
        if not by:
            return f"{verdicts}: the reviews settle no alarm"
        return f"{verdicts} by {by}" if self.before != self.after else f"{verdicts}, after {by}"


@dataclass(frozen=True, slots=True)
class Rejudged:
    """A run judged again."""

    run: Reopened
    reviews: Reviews
    outcome: Outcome
    change: Change

    @property
    def exit_code(self) -> int:
        """As the run itself would end."""
        gate = self.outcome.run
        strict = gate.settings.strict
        fails = [
            fails_run(judged, gate.thresholds) or (strict and judged.verdict == CAUTION)
            for _, judged in self.outcome.cases
        ]
        return self.outcome.exit_code(fails=fails)

    @property
    def _people(self) -> tuple[str, ...]:
        return self.reviews.people_on(self.run.questions)

    def write(self, folder: Path) -> list[Path]:
        """Results and dossier, with what changed."""
        return self.outcome.write_files(folder, dict(self.run.manifest), self.run.transcripts, self._record())

    def _record(self) -> dict[str, Any]:
        change = self.change
        return {
            "sentence": f"{change.sentence}, reviewed by {', '.join(self._people)}; {DECLARED}",
            "from": change.before,
            "to": change.after,
            "dismissed": change.dismissed,
            "confirmed": change.confirmed,
            "disputed": change.disputed,
            "cleared_read": change.cleared,
            "cleared_upheld": change.raised,
            "open": change.left,
            "manifest": self.run.record.manifest,
            "reviewers": list(self._people),
            "records": len(self.reviews.records),
            "last_record": self.reviews.records[-1].hash,
            "declared": DECLARED,
        }

    def lines(self) -> list[str]:
        """For the terminal."""
        change = self.change
        verdict = self.outcome.verdict
        told = [change.sentence]
        before = {case.case_id: case.verdict for case in self.run.results.cases}
        told += [
            f"  {judged.case_id}: {before[judged.case_id]} → {judged.verdict}"
            for _, judged in self.outcome.cases
            if before[judged.case_id] != judged.verdict
        ]
        if verdict is not None:
            told.append(": ".join(filter(None, (verdict.headline, "; ".join(verdict.reasons[:4])))))
        if change.cleared:
            told.append(
                f"{_count(change.cleared, 'answer')} that the judge had cleared read again, "
                f"{change.raised} held against the model"
            )
        if change.disputed:
            told.append(f"{_count(change.disputed, 'alarm')} left open, because reviewers disagree")
        if change.left:
            told.append(f"{_count(change.left, 'alarm')} still open")
        return [*told, f"{_count(len(self.reviews.records), 'record')} by {', '.join(self._people)}; {DECLARED}"]


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}" if number else ""


def rejudge(run: Reopened, reviews: Reviews) -> Rejudged:
    """Check that the reviews are of this run, and judge it with them."""
    severe = {alarm.question for _, alarm in run.alarms if alarm.severe}
    check_reviews(reviews, run.record.manifest, run.questions, severe)
    outcome = run.judge(reviews)
    return Rejudged(run, reviews, outcome, _change(run, reviews, outcome))


def _change(run: Reopened, reviews: Reviews, outcome: Outcome) -> Change:
    raised_before = {alarm.question for _, alarm in run.alarms if alarm.state != DISMISSED}
    heard = {review.question for review in reviews.records}
    decided = {
        ruling.question_id: ruling.outcome
        for talk in run.conversations
        for ruling in rulings_with(talk, reviews).values()
        if ruling.question_id in heard and ruling.by_person
    }
    alarms = [outcome for question, outcome in decided.items() if question in raised_before]
    others = [outcome for question, outcome in decided.items() if question not in raised_before]
    return Change(
        before=run.results.verdict,
        after=outcome.verdict.verdict if outcome.verdict else run.results.verdict,
        dismissed=alarms.count(CLEARED),
        confirmed=alarms.count(UPHELD),
        disputed=_disputed(alarms) + _disputed(others),
        cleared=len(others),
        raised=others.count(UPHELD),
        left=sum(alarm.state == OPEN for assessment in outcome.runs for alarm in assessment.alarms),
    )


def _disputed(outcomes: Sequence[str]) -> int:
    return sum(outcome not in (CLEARED, UPHELD) for outcome in outcomes)
