"""A finished run, opened again from its results folder: read anew by the rules, with the answers that were given."""

from __future__ import annotations

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
from pytest_clinical_drift.gate.bench import read_conversation, with_reviews
from pytest_clinical_drift.gate.outcome import Outcome
from pytest_clinical_drift.gate.record import RunRecord, read_run_record
from pytest_clinical_drift.judging.opinions import Ruling, unasked
from pytest_clinical_drift.judging.questions import About, Question, audit_share
from pytest_clinical_drift.judging.reviews import Reviews, content_hash
from pytest_clinical_drift.scoring.assessment import Alarm, CaseAssessment
from pytest_clinical_drift.scoring.scorer import Scorer
from pytest_clinical_drift.subjects.replay import ReplaySubject
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.results_file import FILE_NAME, Results, read_results


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

    def rulings_with(self, reviews: Reviews) -> dict[About, Ruling]:
        """What is ruled once people were heard."""
        heard = {asked.about: with_reviews(asked, self.rulings[asked.about], reviews) for asked in self.questions}
        return {**self.rulings, **heard}

    def assess(self, scorer: Scorer, rulings: Mapping[About, Ruling]) -> CaseAssessment:
        """Scored anew; what no answer touches and a transcript does not hold is taken over."""
        known = self.assessment
        return replace(
            scorer.score(self.case, self.transcript, self.findings, rulings, own=known.scores),
            alignment=known.alignment,
            alignment_reason=known.alignment_reason,
            alignment_curve=known.alignment_curve,
            replies_reused=known.replies_reused,
            notes=known.notes,
        )


@dataclass(frozen=True, slots=True)
class Reopened:
    """Everything a results folder holds."""

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
        reviewers = (*self.record.basis.reviewers, *reviews.people_on(self.questions))
        outcome = Outcome(self.record)
        repeats: dict[str, list[CaseAssessment]] = {}
        for talk in self.conversations:
            repeats.setdefault(talk.case.id, []).append(talk.assess(self.scorer, talk.rulings_with(reviews)))
        for assessments in repeats.values():
            outcome.take(assessments, self.record.judge(assessments))
        outcome.judge(replace(self.record.basis, reviewers=tuple(dict.fromkeys(reviewers))))
        return outcome


def reopen(folder: Path) -> Reopened:
    """Open the folder of a finished run; InputError in one sentence where it is none, or not as the run left it."""
    if not folder.is_dir():
        raise InputError(f"{folder}: is no folder of results")
    record, results = read_run_record(folder), read_results(folder)
    manifest = json.loads((folder / FILE_NAME).read_text(encoding="utf-8"))["manifest"]
    _check_inputs(folder, record, manifest)
    known = {(run.case_id, run.repeat): run for case in results.cases for run in case.repeats}
    cases = {case.id: case for case in record.cases if any(case.id == case_id for case_id, _ in known)}
    scorer = Scorer(record.stride, load_extractor(record.ner))
    share = audit_share(record.cases, record.repeats) if record.basis.judge else 0.0
    given: dict[tuple[str, int], dict[About, Ruling]] = {}
    for case_id, repeat, about, ruling in record.rulings:
        given.setdefault((case_id, repeat), {})[about] = ruling
    talks = []
    for transcript in _transcripts(folder, record, list(cases.values())):
        key = (transcript.case_id, transcript.repeat)
        if key in known:
            case = cases[transcript.case_id]
            reading = read_conversation(case, transcript, scorer, share)
            rulings = {asked.about: unasked(asked) for asked in reading.questions} | given.get(key, {})
            talk = Conversation(case, transcript, reading.findings, reading.questions, rulings, known[key])
            _check_unchanged(folder, talk.assess(scorer, rulings), talk.assessment)
            talks.append(talk)
    if len(talks) < len(known):
        missing = f"{len(known) - len(talks)} of {len(known)} conversations"
        raise InputError(f"{folder}: {missing} of the results have no transcript")
    return Reopened(record, results, manifest, tuple(talks), scorer)


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
