"""What and who produced a run's figures: the manifest, and the deciders that the verdict has to know."""

import datetime
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_clinical_drift.gate.run import GateRun
from pytest_clinical_drift.judging import pdsqi
from pytest_clinical_drift.metrics import SEED
from pytest_clinical_drift.results.inputs import options_hash
from pytest_clinical_drift.results.manifest import JudgeRecord, Manifest, ShardRecord, TokenCounts
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.subjects.budget import token_cost
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.reasons import Reason, ReasonCode, reason
from pytest_clinical_drift.verdict.values import Deciders


def make_manifest(
    run: GateRun, assessed: Sequence[CaseAssessment], transcripts: Mapping[str, Sequence[Transcript]]
) -> Manifest:
    """Everything that two runs must share to be the same."""
    identity, scoring, system = run.subject.identity(), run.scoring, run.system_prompt
    replies = [reply for repeats in transcripts.values() for talk in repeats for reply in talk.replies]
    reused = [reply.reused_from for reply in replies if reply.reused_from is not None]
    plain = {
        **scoring,
        "model": identity.spec,
        "revision": identity.revision,
        "identity_proven": identity.proven,
        "decoding": dict(identity.settings),
        "server": dict(identity.server) if identity.server else None,
        "judged": judge_record(run),
        "record": run.plan.record,
        "single_message": run.plan.single_message,
        "pdsqi": pdsqi.version() if run.settings.pdsqi else None,
        **counts_of(assessed, run.settings.prices),
        "ner": run.settings.ner,
        "repeats": run.settings.repeats,
        "seed": SEED,
        "hashes": {
            **scoring["hashes"],
            "thresholds": run.inputs.thresholds.fingerprint(),
            "interludes": run.case_set.interludes,
            "options": options_hash(run.inputs, run.session.options.window),
            "system_prompt": hashlib.sha256(system.encode()).hexdigest() if system else None,
        },
        "replies_reused_since": min(reused, default=None),
        "shard": _shard(run),
    }
    return Manifest.model_validate(plain)


def judge_record(run: GateRun) -> JudgeRecord | None:
    """The judge, with the cost of its tokens where all of them were counted; None for rules only."""
    judged, count = run.session.manifest(), run.session.count
    if judged is None:
        return None
    prices = run.settings.judge_prices
    tokens = _judge_tokens(count.tokens, count.answered, prices) if count.answered else None
    sent = _judge_tokens(count.sent_tokens, count.sent, prices) if count.answered else None
    return JudgeRecord.model_validate({**judged, "tokens": tokens, "sent_tokens": sent})


def _judge_tokens(used: Mapping[str, int], requests: int, prices: tuple[float, float] | None) -> TokenCounts | None:
    return _costing((used["prompt"], used["answer"]), prices) if requests <= used["answers"] else None


def _costing(used: tuple[int, int], prices: tuple[float, float] | None) -> TokenCounts:
    if prices is None:
        return TokenCounts(prompt=used[0], completion=used[1])
    cost = round(token_cost(*used, prices), 4)
    return TokenCounts(prompt=used[0], completion=used[1], prices_per_million=prices, cost=cost)


def _shard(run: GateRun) -> ShardRecord | None:
    if (shard := run.settings.shard) is None:
        return None
    options, reviews = run.session.options, run.session.reviews
    settings = {
        "canaries": options.canaries,
        "audit": options.audit,
        "readings": run.inputs.thresholds.judge.readings,
        "embedder": run.settings.embedder,
        "prices": run.settings.prices,
        "reviews": reviews.records[-1].hash if reviews is not None and reviews.records else None,
    }
    ended = datetime.datetime.now(datetime.UTC).isoformat()
    return ShardRecord(index=shard.index, count=shard.count, run=run.folder.id, ended=ended, settings=settings)


def counts_of(runs: Sequence[CaseAssessment], prices: tuple[float, float] | None) -> dict[str, Any]:
    """What a manifest counts over the conversations of a run."""
    return {
        "questions": sum(run.questions for run in runs),
        "unanswered": sum(run.unanswered for run in runs),
        "replies": sum(run.replies_total for run in runs),
        "replies_reused": sum(run.replies_reused for run in runs),
        "tokens": count_tokens(runs, prices),
    }


def count_tokens(runs: Sequence[CaseAssessment], prices: tuple[float, float] | None) -> TokenCounts | None:
    """The model's tokens in a run, reused replies included, and their cost by prices per million tokens.

    None where some were not counted: half of a sum is no sum.
    """
    prompt, completion = [run.prompt_tokens for run in runs], [run.completion_tokens for run in runs]
    if None in prompt or None in completion:
        return None
    return _costing((sum(filter(None, prompt)), sum(filter(None, completion))), prices)


def deciders_of(run: GateRun, assessed: Sequence[CaseAssessment]) -> Deciders:
    """Who decided in a run."""
    session, reviews = run.session, run.session.reviews
    asked = {ruling.question_id for judged in run.judged.values() for ruling in judged.judgement.rulings.values()}
    return Deciders(
        judge=session.name if session.judges else None,
        deciding=tuple(sorted(session.deciding)),
        below_floor=session.below_floor,
        reviewers=reviews.people_on(asked) if reviews is not None else (),
        missing=_missing_judge(run, sum(assessment.unanswered for assessment in assessed)),
        errors=_judge_errors(run),
        control=session.is_control,
        judges=len(session.judges),
        outage=session.outage,
    )


def _missing_judge(run: GateRun, unanswered: int) -> Reason | None:
    """Why a judge that the thresholds require has not judged."""
    if not run.inputs.thresholds.judge.required:
        return None
    if not run.session.judges:
        return reason(ReasonCode.JUDGE_REQUIRED)
    if run.session.below_floor:
        return reason(ReasonCode.JUDGE_BELOW_FLOOR, kinds=list(run.session.below_floor))
    return reason(ReasonCode.QUESTIONS_UNANSWERED, questions=unanswered) if unanswered else None


def _judge_errors(run: GateRun) -> dict[str, tuple[tuple[int, int], tuple[int, int]]]:
    """Of each group that the judge decides: faults confirmed, of all; clean items not confirmed, of all."""
    known = run.session.calibration.kinds if run.session.calibration else {}
    return {
        group: (
            (limits.sensitivity.hits, limits.sensitivity.of),
            (limits.false_confirmed.of - limits.false_confirmed.hits, limits.false_confirmed.of),
        )
        for group, limits in known.items()
        if group in run.session.deciding
    }
