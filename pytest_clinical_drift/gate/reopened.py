"""A finished run, opened again from its results folder: read anew by the rules, with the answers that were given."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_clinical_drift.cases.files import hash_cases
from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.conversation.frontier import Plan, run_conversations
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.evidence.entities.extractors import load_extractor
from pytest_clinical_drift.evidence.found import Findings
from pytest_clinical_drift.gate.outcome import Outcome
from pytest_clinical_drift.gate.record import RunRecord, read_run_record
from pytest_clinical_drift.gate.run import RunSettings
from pytest_clinical_drift.judging.opinions import Ruling, unasked, with_person
from pytest_clinical_drift.judging.questions import About, Question, audit_of, audit_share, for_people, questions_of
from pytest_clinical_drift.judging.reviews import Reviews, content_hash
from pytest_clinical_drift.scoring.assessment import Alarm, CaseAssessment
from pytest_clinical_drift.scoring.scorer import Scorer
from pytest_clinical_drift.subjects.replay import ReplaySubject
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.case import judge_case
from pytest_clinical_drift.verdict.results_file import FILE_NAME, Results, read_results
from pytest_clinical_drift.verdict.values import Basis, CaseVerdict, SetVerdict
from pytest_clinical_drift.verdict.whole_set import judge_set


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation of the run, with all that was asked about it."""

    case: Case
    transcript: Transcript
    findings: Findings
    questions: tuple[Question, ...]
    rulings: Mapping[About, Ruling]
    """As the run ended."""
    assessment: CaseAssessment
    """As the results file has it."""


class ReopenedRun:
    """The gate of a finished run, without its model and its judge."""

    def __init__(self, record: RunRecord, folder: Path, basis: Basis) -> None:
        self.slug = record.slug
        self.settings = RunSettings(model=f"replay:{folder / 'transcripts'}", root=Path.cwd(), strict=record.strict)
        self.cases = {case.id: case for case in record.cases}
        self.thresholds = record.thresholds
        self.today = datetime.date.today()
        self.baseline = record.baseline
        self.baseline_remarks = record.baseline_remarks
        self._basis = basis

    def judge(self, assessments: Sequence[CaseAssessment]) -> CaseVerdict:
        """The verdict on one case's repeats."""
        return judge_case(assessments, self.thresholds, self.today)

    def judge_set(self, cases: Sequence[Sequence[CaseAssessment]], verdicts: Sequence[CaseVerdict]) -> SetVerdict:
        """The verdict on all cases that were run."""
        total = len(self.cases)
        return judge_set(cases, verdicts, self.thresholds, total=total, today=self.today, basis=self._basis)


@dataclass(frozen=True, slots=True)
class Reopened:
    """Everything a results folder holds."""

    folder: Path
    record: RunRecord
    results: Results
    manifest: Mapping[str, Any]
    """As it stands in the results file."""
    conversations: tuple[Conversation, ...]
    scorer: Scorer

    @property
    def questions(self) -> dict[str, Question]:
        """By id."""
        return {question.id: question for talk in self.conversations for question in talk.questions}

    @property
    def alarms(self) -> list[tuple[Conversation, Alarm]]:
        """All alarms, as the run ended."""
        return [(talk, alarm) for talk in self.conversations for alarm in talk.assessment.alarms]

    @property
    def transcripts(self) -> dict[str, list[Transcript]]:
        """By case."""
        told: dict[str, list[Transcript]] = {}
        for talk in self.conversations:
            told.setdefault(talk.case.id, []).append(talk.transcript)
        return told

    def judge(self, reviews: Reviews) -> Outcome:
        """The outcome with what people have answered since."""
        people = reviews.people_on(self.questions)
        reviewers = tuple(dict.fromkeys((*self.record.basis.reviewers, *people)))
        outcome = Outcome(ReopenedRun(self.record, self.folder, replace(self.record.basis, reviewers=reviewers)))
        repeats: dict[str, list[CaseAssessment]] = {}
        for talk in self.conversations:
            repeats.setdefault(talk.case.id, []).append(self._assess(talk, rulings_with(talk, reviews)))
        for assessments in repeats.values():
            outcome.take(assessments)
        outcome.judge()
        return outcome

    def _assess(self, talk: Conversation, rulings: Mapping[About, Ruling]) -> CaseAssessment:
        return _assess(self.scorer, talk.case, talk.transcript, talk.findings, rulings, talk.assessment)


def rulings_with(talk: Conversation, reviews: Reviews) -> dict[About, Ruling]:
    """What is ruled on a conversation once people were heard."""
    ruled = dict(talk.rulings)
    for question in talk.questions:
        if said := reviews.of(question):
            ruled[question.about] = with_person(question, talk.rulings[question.about], said)
    return ruled


def _assess(
    scorer: Scorer,
    case: Case,
    transcript: Transcript,
    findings: Findings,
    rulings: Mapping[About, Ruling],
    known: CaseAssessment,
) -> CaseAssessment:
    """Scored anew; what no answer touches and a transcript does not hold is taken over."""
    return replace(
        scorer.score(case, transcript, findings, rulings, own=known.scores),
        alignment=known.alignment,
        alignment_reason=known.alignment_reason,
        alignment_curve=known.alignment_curve,
        replies_reused=known.replies_reused,
        notes=known.notes,
    )


def reopen(folder: Path) -> Reopened:
    """Open the folder of a finished run; InputError in one sentence where it is none, or not as the run left it."""
    if not folder.is_dir():
        raise InputError(f"{folder}: is no folder of results")
    record = read_run_record(folder)
    results = read_results(folder)
    manifest = json.loads((folder / FILE_NAME).read_text(encoding="utf-8"))["manifest"]
    _check_inputs(folder, record, manifest)
    known = {(run.case_id, run.repeat): run for case in results.cases for run in case.repeats}
    cases = {case.id: case for case in record.cases}
    selected = [cases[case_id] for case_id in dict.fromkeys(case_id for case_id, _ in known) if case_id in cases]
    scorer = Scorer(record.stride, load_extractor(record.ner))
    share = audit_share(record.cases, record.repeats) if record.basis.judge else 0.0
    given: dict[tuple[str, int], dict[About, Ruling]] = {}
    for ruled in record.rulings:
        given.setdefault((ruled.case_id, ruled.repeat), {})[ruled.about] = ruled.ruling
    talks = []
    for transcript in _transcripts(folder, record, selected):
        key = (transcript.case_id, transcript.repeat)
        if key not in known:
            continue
        case = cases[transcript.case_id]
        findings = scorer.find(case, transcript)
        questions = questions_of(case, transcript, findings)
        questions += audit_of(case, transcript, findings, questions, share)
        questions += for_people(case, transcript, findings)
        rulings = {question.about: unasked(question) for question in questions} | given.get(key, {})
        _check_unchanged(folder, _assess(scorer, case, transcript, findings, rulings, known[key]), known[key])
        talks.append(Conversation(case, transcript, findings, tuple(questions), rulings, known[key]))
    if len(talks) < len(known):
        raise InputError(
            f"{folder}: {len(known) - len(talks)} of {len(known)} conversations of the results have no transcript"
        )
    return Reopened(folder, record, results, manifest, tuple(talks), scorer)


def _check_inputs(folder: Path, record: RunRecord, manifest: Mapping[str, Any]) -> None:
    hashes = manifest.get("hashes", {})
    if record.manifest != content_hash(manifest):
        raise InputError(f"{folder}: its results and its run.json belong to different runs, or one of them was changed")
    if hash_cases(record.cases) != hashes.get("cases") or record.thresholds.fingerprint() != hashes.get("thresholds"):
        raise InputError(f"{folder}: the cases or thresholds in run.json are not those of the run")


def _transcripts(folder: Path, record: RunRecord, cases: Sequence[Case]) -> list[Transcript]:
    told: list[Transcript] = []
    subject = ReplaySubject(str(folder / "transcripts"), {})
    run_conversations(cases, subject, Plan(None, record.repeats, record.probe), on_finished=told.append)
    return told


def _check_unchanged(folder: Path, now: CaseAssessment, then: CaseAssessment) -> None:
    """The same alarms as in the results file: otherwise an answer would settle what nobody has asked."""
    ours, theirs = (
        sorted((a.kind, a.turn, a.state, a.question, a.quote) for a in run.alarms) for run in (now, then)
    )  # fmt: skip
    if ours != theirs:
        raise InputError(
            f"{folder}: the transcript of {now.case_id} no longer gives the alarms of the results file (changed since, "
            "or scored by another version of this package); run again with --model replay:… on the transcripts"
        )
