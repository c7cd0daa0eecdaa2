"""The judge of a run: checked and calibrated before the first case, asked as each conversation ends."""

from __future__ import annotations

import datetime
import queue
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.conversation.progress import Progress
from pytest_clinical_drift.errors import InputError, SubjectError
from pytest_clinical_drift.evidence.found import Findings
from pytest_clinical_drift.gate.calibrating import Say, calibrate_first, known_calibration
from pytest_clinical_drift.gate.judge_options import split_settings
from pytest_clinical_drift.gate.shared_rulings import share
from pytest_clinical_drift.judging.archive import Archive
from pytest_clinical_drift.judging.calibration import Calibration
from pytest_clinical_drift.judging.inquiry import Count, Inquiry
from pytest_clinical_drift.judging.opinions import Ruling, unasked, with_person
from pytest_clinical_drift.judging.prompts import prompt_hash, prompt_version
from pytest_clinical_drift.judging.protocol import Judge, build_judge
from pytest_clinical_drift.judging.questions import About, Question, audit_of, audit_share, for_people, questions_of
from pytest_clinical_drift.judging.reviews import Reviews, read_reviews
from pytest_clinical_drift.scoring.scorer import Scorer
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.thresholds import JudgeRules
from pytest_clinical_drift.verdict.values import Basis

Group = tuple[str, int]
"""A case and its repeat."""


class Bench:
    """Judge and reviews of one run, in the process that talks to the model."""

    def __init__(
        self,
        specs: Sequence[str],
        settings: Mapping[str, str],
        *,
        rules: JudgeRules,
        root: Path,
        store: Path,
        today: datetime.date,
    ) -> None:
        chosen = [spec for spec in specs if not spec.startswith("reviews:")]
        if len(chosen) > 1:
            raise InputError(f"--drift-judge {chosen[1]}: one judge at a time; it may stand beside reviews:FILE")
        self._options, others = split_settings(settings)
        self.judge: Judge | None = build_judge(chosen[0] if chosen else "rules", others)
        self.reviews: Reviews | None = None
        for spec in specs:
            if spec.startswith("reviews:"):
                self.reviews = read_reviews(Path(spec.removeprefix("reviews:")), known=self.reviews)
        self._rules, self._root, self._store, self._today = rules, root, store, today
        self.calibration: Calibration | None = None
        self.deciding: frozenset[str] = frozenset()
        self._inquiry: Inquiry | None = None
        self._scorer: Scorer | None = None
        self._share = 0.0
        self._shared: Path | None = None
        self._progress: Progress | None = None
        self._incoming: queue.Queue[tuple[Case, Transcript] | None] = queue.Queue()
        self._findings: dict[Group, Findings] = {}
        self._questions: dict[Group, list[Question]] = {}
        self._reviewed: set[str] = set()
        self._broken: BaseException | None = None
        self._news = threading.Condition()
        self._thread: threading.Thread | None = None
        self._stopping = False

    @property
    def active(self) -> bool:
        """Whether anybody but the rules decides."""
        return self.judge is not None or self.reviews is not None

    @property
    def name(self) -> str:
        """For the manifest."""
        return self.judge.name if self.judge else "rules"

    @property
    def host(self) -> str | None:
        """The server that judged texts go to; None where the judge works in this process."""
        return getattr(self.judge, "host", None)

    @property
    def header(self) -> list[str]:
        """Who judges, and which host gets to read patients' records and conversations."""
        if self.judge is None:
            return []
        if self._options.offline:
            return [f"judge: {self.judge.name}, from stored answers alone; nothing is sent"]
        return [
            f"judge: {self.judge.name}; "
            + (f"records and conversations go to {self.host}" if self.host else "runs in this process")
        ]

    # -- before the first case

    def check(self, subject_spec: str, say: Say | None = None) -> list[str]:
        """See that the judge answers, is not the subject, and how good it is; remarks for the header."""
        if self.judge is None:
            return []
        if self.judge.identity().spec.rstrip("/") == subject_spec.rstrip("/") and not self._options.allow_subject:
            raise InputError(
                f"--drift-judge {self.judge.name}: the judge is the model under test; take another one, or allow "
                "it with --drift-judge-set allow_subject=true"
            )
        remarks = [] if self._options.offline else self.judge.check()
        archive = Archive(self._store, self.judge.identity())
        self._inquiry = Inquiry(self.judge, archive, offline=self._options.offline)
        self.calibration = known_calibration(self.judge, self._options, self._root, self._today) or calibrate_first(
            self.judge, self._inquiry, self._options, self._today, say
        )
        self.deciding = self.calibration.deciding(**self._rules.floors) & self.judge.kinds
        if below := self.below_floor:
            remarks.append(
                f"the judge {self.judge.name} is below its floor and decides nothing for: {', '.join(below)}"
            )
        return remarks

    @property
    def below_floor(self) -> tuple[str, ...]:
        """Kinds that the judge answers and may not decide."""
        return tuple(sorted(self.judge.kinds - self.deciding)) if self.judge else ()

    # -- as conversations end

    def open(
        self, cases: Sequence[Case], repeats: int, scorer: Scorer, shared: Path | None, progress: Progress | None = None
    ) -> None:
        """Questions will come from these cases; `shared` is a folder that other processes read rulings from."""
        self._scorer, self._shared, self._progress = scorer, shared, progress
        if self._inquiry is not None and progress is not None:
            before = replace(self._inquiry.count)
            self._inquiry.on_progress = lambda count: progress.questions(
                count.answered - before.answered, count.asked - before.asked
            )
        self._share = audit_share(cases, repeats)
        self._thread = threading.Thread(target=self._read, name="clinical-drift-questions", daemon=True)
        self._thread.start()

    def consider(self, case: Case, transcript: Transcript) -> None:
        """A conversation is over: its questions are made and asked. Returns at once."""
        self._incoming.put((case, transcript))

    def _read(self) -> None:
        try:
            while (item := self._incoming.get()) is not None:
                self._submit(*item)
        except BaseException as error:  # whoever waits must hear of whatever ended this thread
            self._broken = error
        with self._news:
            self._news.notify_all()

    def _submit(self, case: Case, transcript: Transcript) -> None:
        if self._scorer is None:
            return
        group = (case.id, transcript.repeat)
        findings = self._scorer.find(case, transcript)
        questions = questions_of(case, transcript, findings)
        if self.judge is not None:
            questions += audit_of(case, transcript, findings, questions, self._share)
        if self._inquiry is not None:
            self._inquiry.submit(group, questions)
        questions += for_people(case, transcript, findings)
        with self._news:
            self._findings[group], self._questions[group] = findings, questions
            self._news.notify_all()
        if self._shared is not None:
            told = (self._shared, case, transcript)
            threading.Thread(target=self._share_rulings, args=told, daemon=True).start()

    def _share_rulings(self, folder: Path, case: Case, transcript: Transcript) -> None:
        try:
            share(folder, transcript, self.rulings(case, transcript))
        except SubjectError as error:
            share(folder, transcript, error)

    def rulings(self, case: Case, transcript: Transcript) -> dict[About, Ruling]:
        """What was ruled on a conversation; waits for its answers."""
        group = (case.id, transcript.repeat)
        # with worker processes nobody waits here for a test: the runner draws by itself
        waiting = self._progress.waiting if self._progress is not None and self._shared is None else None
        with self._news:
            while group not in self._questions:
                if self._broken is not None or self._stopping:
                    raise SubjectError(f"the questions could not be made: {self._broken or 'stopped'}")
                self._news.wait(0.2)
        questions = self._questions[group]
        given = self._inquiry.rulings(group, self.deciding, waiting=waiting) if self._inquiry is not None else {}
        if self._progress is not None and waiting is not None:
            self._progress.arrived()
        ruled: dict[About, Ruling] = {}
        for question in questions:
            ruling = given.get(question.id) or unasked(question)
            said = self.reviews.of(question) if self.reviews is not None else ()
            if said:
                ruling = with_person(question, ruling, said)
                self._reviewed.add(question.id)
            ruled[question.about] = ruling
        return ruled

    def findings(self, case: Case, transcript: Transcript) -> Findings | None:
        """What the rules found, once the questions were made."""
        return self._findings.get((case.id, transcript.repeat))

    def questions(self, case_id: str, repeat: int) -> list[Question]:
        """The questions of a conversation, for review pages."""
        return self._questions.get((case_id, repeat), [])

    @property
    def count(self) -> Count:
        """How far the questions are."""
        return self._inquiry.count if self._inquiry is not None else Count()

    def stop(self) -> None:
        """Nobody waits any more."""
        self._stopping = True
        self._incoming.put(None)
        with self._news:
            self._news.notify_all()
        if self._inquiry is not None:
            self._inquiry.stop()

    # -- for verdict and manifest

    def basis(self, unanswered: int = 0) -> Basis:
        """What alarms were settled by."""
        missing = ""
        if self._rules.required:
            if self.judge is None:
                missing = "the thresholds require a judge, and none was given"
            elif self.below_floor:
                missing = f"the judge is below its floor for {', '.join(self.below_floor)}"
            elif unanswered:
                missing = f"{unanswered} questions were not answered by the judge that the thresholds require"
        people = self.reviews.people_on(self._reviewed) if self.reviews is not None else ()
        name = self.judge.name if self.judge else None
        return Basis(name, tuple(sorted(self.deciding)), self.below_floor, people, missing, errors=self._errors())

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
        calibration = self.calibration.model_dump(mode="json") if self.calibration else None
        return {
            "spec": identity.spec,
            "revision": identity.revision,
            "identity_proven": identity.proven,
            "settings": dict(identity.settings),
            "prompt_version": prompt_version(),
            "prompts": prompt_hash(),
            "host": self.host,
            "offline": self._options.offline,
            "deciding": sorted(self.deciding),
            "below_floor": list(self.below_floor),
            "calibration": calibration,
        }
