"""The judge of a run: checked and calibrated before the first case, asked as each conversation ends."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.conversation.progress import Progress
from pytest_clinical_drift.errors import InputError, SubjectError
from pytest_clinical_drift.evidence.found import Findings
from pytest_clinical_drift.gate.calibrating import Say, calibration_of, make_judge
from pytest_clinical_drift.gate.options import RunSettings
from pytest_clinical_drift.judging.calibration import Calibration
from pytest_clinical_drift.judging.inquiry import Inquiry
from pytest_clinical_drift.judging.opinions import Ruling, unasked, with_person
from pytest_clinical_drift.judging.prompts import prompt_hash, prompt_version
from pytest_clinical_drift.judging.questions import About, Question, audit_of, audit_share, for_people, questions_of
from pytest_clinical_drift.judging.reviews import Reviews, read_reviews
from pytest_clinical_drift.scoring.scorer import Scorer
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.reasons import ReasonCode, reason
from pytest_clinical_drift.verdict.thresholds import JudgeRules
from pytest_clinical_drift.verdict.values import Deciders

Group = tuple[str, int]
"""A case and its repeat."""
_WANTED = (60, 300)
"""Labelled questions of a kind, with a fault and without, that a calibration should rest on."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the rules found in a conversation, and what is to be asked about it."""

    findings: Findings
    for_judge: tuple[Question, ...]
    for_people: tuple[Question, ...]

    @property
    def questions(self) -> tuple[Question, ...]:
        """All of them."""
        return (*self.for_judge, *self.for_people)


def read_conversation(case: Case, transcript: Transcript, scorer: Scorer, share: float) -> Reading:
    """Read it by rules and make the questions; `share` of what is plainly retained is asked about as well."""
    findings = scorer.find(case, transcript)
    questions = questions_of(case, transcript, findings)
    if share:
        questions += audit_of(case, transcript, findings, questions, share)
    return Reading(findings, tuple(questions), tuple(for_people(case, transcript, findings)))


class Bench:
    """Judge and reviews of one run, in the process that talks to the model."""

    def __init__(
        self, settings: RunSettings, cases: Sequence[Case], *, rules: JudgeRules, today: datetime.date
    ) -> None:
        chosen = [spec for spec in settings.judges if not spec.startswith("reviews:")]
        if len(chosen) > 1:
            raise InputError(f"--drift-judge {chosen[1]}: one judge at a time; it may stand beside reviews:FILE")
        self.judge, self._options = make_judge(chosen[0] if chosen else "rules", settings.judge_settings)
        self.reviews: Reviews | None = None
        for spec in settings.judges:
            if spec.startswith("reviews:"):
                self.reviews = read_reviews(Path(spec.removeprefix("reviews:")), known=self.reviews)
        self._rules, self._root, self._today = rules, settings.root, today
        self._store = settings.store
        self._share = audit_share(cases, settings.repeats) if self.judge else 0.0
        self.calibration: Calibration | None = None
        self.deciding: frozenset[str] = frozenset()
        self._inquiry: Inquiry | None = None
        self._progress: Progress | None = None
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="clinical-drift-questions")
        self._readings: dict[Group, Future[Reading]] = {}
        self.ruled: dict[Group, dict[About, Ruling]] = {}
        """What was ruled on each conversation that somebody has waited for."""

    @property
    def name(self) -> str:
        """For the manifest."""
        return self.judge.name if self.judge else "rules"

    @property
    def _host(self) -> str | None:
        """The server that judged texts go to; None where the judge works in this process."""
        return getattr(self.judge, "host", None)

    @property
    def header(self) -> list[str]:
        """Who judges, and which host gets to read patients' records and conversations."""
        if self.judge is None:
            return []
        where = f"records and conversations go to {self._host}" if self._host else "runs in this process"
        if self._options.offline:
            return [f"judge: {self.name}, from stored answers alone; nothing is sent"]
        return [f"judge: {self.name}; {where}"]

    # -- before the first case

    def check(self, subject_spec: str, say: Say | None = None) -> list[str]:
        """See that the judge answers, is not the subject, and how good it is; remarks for the header."""
        if self.judge is None:
            return []
        identity = self.judge.identity()
        if identity.spec.rstrip("/") == subject_spec.rstrip("/") and not self._options.allow_subject:
            raise InputError(
                f"--drift-judge {self.name}: the judge is the model under test; take another one, or allow "
                "it with --drift-judge-set allow_subject=true"
            )
        remarks = [] if self._options.offline else self.judge.check()
        self._inquiry = Inquiry(self.judge, self._store, offline=self._options.offline)
        self.calibration = calibration_of(self.judge, self._inquiry, self._options, self._root, self._today, say)
        self.deciding = self.calibration.deciding(**self._rules.floors) & self.judge.kinds
        if below := self.below_floor:
            remarks.append(f"the judge {self.name} is below its floor and decides nothing for: {', '.join(below)}")
        return remarks + self._small(self.calibration)

    def _small(self, calibration: Calibration) -> list[str]:
        """A remark where the judge was measured on a part of the questions, as with `calibrate --limit`."""
        counts = [(limits.sensitivity.of, limits.specificity.of) for limits in calibration.kinds.values()]
        faults, clean = (min((count[end] for count in counts), default=0) for end in (0, 1))
        if faults >= _WANTED[0] and clean >= _WANTED[1]:
            return []
        least = f"as few as {faults} faults and {clean} clean ones of a kind, where {_WANTED[0]} and {_WANTED[1]}"
        return [f"the calibration of {self.name} rests on {calibration.questions:,} questions, {least} are wanted"]

    @property
    def below_floor(self) -> tuple[str, ...]:
        """Kinds that the judge answers and may not decide."""
        return tuple(sorted(self.judge.kinds - self.deciding)) if self.judge else ()

    # -- as conversations end

    def watch(self, progress: Progress | None) -> None:
        """Count questions there from now on, and draw while somebody waits for answers."""
        self._progress = progress
        if self._inquiry is not None and progress is not None:
            before = replace(self._inquiry.count)
            self._inquiry.on_progress = lambda count: progress.questions(
                count.answered - before.answered, count.asked - before.asked
            )

    def consider(self, case: Case, transcript: Transcript, scorer: Scorer) -> None:
        """A conversation is over: it is read and its questions are asked, in a thread. Returns at once."""
        if self.judge is not None or self.reviews is not None:
            pending = self._reader.submit(self._ask, case, transcript, scorer)
            self._readings[case.id, transcript.repeat] = pending

    def _ask(self, case: Case, transcript: Transcript, scorer: Scorer) -> Reading:
        reading = read_conversation(case, transcript, scorer, self._share)
        if self._inquiry is not None:
            self._inquiry.submit((case.id, transcript.repeat), reading.for_judge)
        return reading

    def rulings(self, case: Case, transcript: Transcript, scorer: Scorer) -> tuple[Findings, dict[About, Ruling]]:
        """What the rules found in a conversation and what was ruled on it; waits for the answers."""
        group = (case.id, transcript.repeat)
        pending = self._readings.get(group)
        try:
            reading = pending.result() if pending is not None else self._ask(case, transcript, scorer)
        except CancelledError:
            raise SubjectError("the run was stopped before the questions were made") from None
        given: dict[str, Ruling] = {}
        if self._inquiry is not None:
            waiting = self._progress.waiting if self._progress is not None else None
            given = self._inquiry.rulings(group, self.deciding, waiting=waiting)
            if self._progress is not None:
                self._progress.arrived()
        reviews = self.reviews or Reviews()
        self.ruled[group] = {
            question.about: with_reviews(question, given.get(question.id) or unasked(question), reviews)
            for question in reading.questions
        }
        return reading.findings, self.ruled[group]

    def stop(self) -> None:
        """Nobody waits any more."""
        self._reader.shutdown(wait=False, cancel_futures=True)
        if self._inquiry is not None:
            self._inquiry.stop()

    # -- for verdict and manifest

    def deciders(self, unanswered: int = 0) -> Deciders:
        """Who settled the alarms."""
        missing = None
        if self._rules.required:
            if self.judge is None:
                missing = reason(ReasonCode.JUDGE_REQUIRED)
            elif self.below_floor:
                missing = reason(ReasonCode.JUDGE_BELOW_FLOOR, kinds=list(self.below_floor))
            elif unanswered:
                missing = reason(ReasonCode.QUESTIONS_UNANSWERED, questions=unanswered)
        asked = {ruling.question_id for rulings in self.ruled.values() for ruling in rulings.values()}
        people = self.reviews.people_on(asked) if self.reviews is not None else ()
        name = self.judge.name if self.judge else None
        return Deciders(name, tuple(sorted(self.deciding)), self.below_floor, people, missing, errors=self._errors())

    def _errors(self) -> dict[str, tuple[tuple[int, int], tuple[int, int]]]:
        """Of each kind that the judge decides: faults upheld, of all; clean ones not upheld, of all."""
        known = self.calibration.kinds if self.calibration else {}
        return {
            kind: (
                (limits.sensitivity.hits, limits.sensitivity.of),
                (limits.false_confirmed.of - limits.false_confirmed.hits, limits.false_confirmed.of),
            )
            for kind, limits in known.items()
            if kind in self.deciding
        }

    def manifest(self) -> dict[str, Any] | None:
        """The judge as the results file records it; None for rules only."""
        if self.judge is None:
            return None
        identity = self.judge.identity()
        return {
            "spec": identity.spec,
            "revision": identity.revision,
            "identity_proven": identity.proven,
            "settings": dict(identity.settings),
            "prompt_version": prompt_version(),
            "prompts": prompt_hash(),
            "host": self._host,
            "offline": self._options.offline,
            "deciding": sorted(self.deciding),
            "below_floor": list(self.below_floor),
            "calibration": self.calibration.model_dump(mode="json") if self.calibration else None,
        }


def with_reviews(question: Question, ruling: Ruling, reviews: Reviews) -> Ruling:
    """What is ruled on a question once people were heard."""
    said = reviews.of(question)
    return with_person(question, ruling, said) if said else ruling
