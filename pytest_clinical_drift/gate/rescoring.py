"""Scores of a finished run made again from its transcripts and the answers that were given, and held against it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.conversation.scheduler import Plan, run_conversations
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.leaks import names_of, others_named
from pytest_clinical_drift.judging.session import JudgedConversation
from pytest_clinical_drift.results.files import RESULTS_FILE
from pytest_clinical_drift.results.folders import TRANSCRIPTS
from pytest_clinical_drift.results.inputs import INPUTS_FILE, RunInputs
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.scoring.scorer import Scorer
from pytest_clinical_drift.subjects.replay import ReplaySubject
from pytest_clinical_drift.transcript import Transcript


def with_unrepeatable(now: CaseAssessment, then: CaseAssessment) -> CaseAssessment:
    """A new assessment with what no answer touches and a transcript does not hold, as it was recorded."""
    return replace(
        now,
        alignment=then.alignment,
        alignment_reason=then.alignment_reason,
        replies_reused=then.replies_reused,
        generation_seconds=then.generation_seconds,
        notes=then.notes,
        requests=then.requests,
        pdsqi=then.pdsqi,
        scores=then.scores,
    )


@contextmanager
def answers_of(folder: Path, case_id: str) -> Iterator[None]:
    """Answers of `run.json` are used; those on a fact, turn or kind that does not exist fail in all sorts of ways."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, StopIteration) as error:
        raise InputError(
            f"{folder / INPUTS_FILE}: the answers on {case_id} do not fit the conversation; it was changed "
            f"({type(error).__name__})"
        ) from None


def scores_agree(now: CaseAssessment, then: CaseAssessment) -> bool:
    """Whether a conversation gives what was recorded of it; of one that is INCOMPLETE only the run knows the cause."""
    return now == then or (now.failure is not None and then.failure is not None)


def check_conversations(folder: Path, inputs: RunInputs, result: RunResult) -> None:
    """InputError unless each case of the results is one of the run, and has all of its repeats, once."""
    waiting = {case.id for case in inputs.cases}
    for case in result.cases:
        held = [(run.case_id, run.repeat) for run in case.repeats]
        stopped = len(held) == 1 and case.repeats[0].failure is not None  # that one, however many were wanted
        whole = len(held) == inputs.repeats or stopped
        if not whole or held != [(case.case_id, repeat) for repeat in range(len(held))] or case.case_id not in waiting:
            raise InputError(f"{folder / RESULTS_FILE}: other conversations of {case.case_id} than were run")
        waiting.remove(case.case_id)


class Rescored(NamedTuple):
    """A conversation of a finished run, with what was made of it."""

    case: Case
    transcript: Transcript
    judged: JudgedConversation | None
    """As the run ended; None where nothing was judged."""
    assessment: CaseAssessment
    """As the results file has it, and as it follows from the rest."""


def rescore(folder: Path, inputs: RunInputs, result: RunResult, scorer: Scorer) -> Iterator[Rescored]:
    """Every conversation of the results, scored anew; InputError where the results file says something else of one."""
    known = {(run.case_id, run.repeat): run for run in result.runs}
    held = {case_id for case_id, _ in known}
    cases, names = {case.id: case for case in inputs.cases if case.id in held}, names_of(inputs.cases)
    given = {(stored.case_id, stored.repeat): stored for stored in inputs.judged}
    for transcript in _read_transcripts(folder, inputs, list(cases.values())):
        key = (transcript.case_id, transcript.repeat)
        then, stored, case = known.pop(key, None), given.get(key), cases[transcript.case_id]
        if then is None:
            continue  # of a case that was stopped
        judged = None
        with answers_of(folder, case.id):
            if stored is not None:
                findings, others = scorer.find(case, transcript), others_named(case, names)
                judged = JudgedConversation(findings, stored.whole(), stored.canaries, others_named=others)
            now = scorer.score(case, transcript, judged, frozenset(inputs.deciders.deciding))
        if not scores_agree(with_unrepeatable(now, then), then):
            raise InputError(
                f"{folder / RESULTS_FILE}: the scores of {then.case_id} do not follow from its transcript and run.json "
                "(one of them was changed, or another version of this package wrote them); run again with "
                "--model replay:… on the transcripts"
            )
        yield Rescored(case, transcript, judged, then)
    if known:
        missing = ", ".join(sorted({case_id for case_id, _ in known}))
        raise InputError(f"{folder}: conversations of the results have no transcript ({missing})")


def _read_transcripts(folder: Path, inputs: RunInputs, cases: Sequence[Case]) -> list[Transcript]:
    transcripts: list[Transcript] = []
    if cases:
        plan = Plan(None, inputs.repeats, inputs.probe, inputs.probe_every_turn, inputs.single_message)
        run_conversations(cases, ReplaySubject(str(folder / TRANSCRIPTS), {}), plan, on_finished=transcripts.append)
    return transcripts
