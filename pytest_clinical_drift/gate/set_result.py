"""The whole set: its verdict and exit code, what and who produced the figures, and the figures for junit files."""

import datetime
import hashlib
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from pytest_clinical_drift.gate.pytest_reports import Property
from pytest_clinical_drift.gate.run import GateRun
from pytest_clinical_drift.judging import pdsqi
from pytest_clinical_drift.judging.calibration_file import Calibration
from pytest_clinical_drift.metrics import SEED
from pytest_clinical_drift.metrics.recall import mean
from pytest_clinical_drift.report.headlines import reuse_text
from pytest_clinical_drift.report.judge_text import judge_line
from pytest_clinical_drift.report.words import is_unread_zero
from pytest_clinical_drift.results.inputs import GateInputs, options_hash
from pytest_clinical_drift.results.manifest import JudgeRecord, Manifest, ShardRecord, TokenCounts
from pytest_clinical_drift.results.models import CaseResult, ReviewRecord, RunResult, build_result
from pytest_clinical_drift.scoring.assessment import AlarmState, CaseAssessment
from pytest_clinical_drift.subjects.limits import token_cost
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.baseline import apply_baseline, by_id, compare_with_baseline
from pytest_clinical_drift.verdict.reasons import (
    CautionFails,
    JudgeBelowFloor,
    JudgeRequired,
    QuestionsUnanswered,
    Reason,
    RepliesUnproven,
    Shard,
    ShardsMissing,
    Verdict,
)
from pytest_clinical_drift.verdict.values import Deciders, SetVerdict
from pytest_clinical_drift.verdict.whole_set import judge_set

Prices = tuple[float, float] | None
_DAY = len("2026-01-31")
"""Characters of a time that name its day."""


class SetResult:
    """Gathers the judged cases of one run, or of one that is judged again."""

    def __init__(self, inputs: GateInputs) -> None:
        self.inputs = inputs
        self.foreign_failures = 0
        """Failed tests that are not ours."""
        self.outages = 0
        """Tests of the project that asked for a case which could not be run."""
        self.transcripts: dict[str, Sequence[Transcript]] = {}
        self.verdict: Verdict | None = None
        """Of the whole, once it is judged."""
        self._by_id: dict[str, CaseResult] = {}

    def add(self, case: CaseResult, transcripts: Sequence[Transcript] = ()) -> None:
        self._by_id[case.case_id], self.transcripts[case.case_id] = case, transcripts

    @property
    def cases(self) -> list[CaseResult]:
        """In the case set's order, whatever the order in which workers finished."""
        return [self._by_id[case.id] for case in self.inputs.cases if case.id in self._by_id]

    @property
    def runs(self) -> list[CaseAssessment]:
        return [run for case in self.cases for run in case.repeats]

    def judge(
        self,
        deciders: Deciders,
        manifest: Manifest,
        *,
        reviews: int | None = None,
        missing_shards: Sequence[str] = (),
    ) -> RunResult:
        """The verdict on the cases that were run, and its record; `reviews`: how many the run was given."""
        inputs, cases = self.inputs, self.cases
        total, signed = len(inputs.cases), len(inputs.signed)
        verdict = judge_set(cases, inputs.thresholds, total=total, deciders=deciders, signed=signed)
        verdict = _without_unproven_reuse(verdict, manifest)
        comparison = None
        if (baseline := inputs.baseline) is not None:
            model, notes = baseline.manifest.model, inputs.baseline_remarks
            comparison = compare_with_baseline(
                by_id(baseline.cases), cases, inputs.thresholds, model=model, notes=notes
            )
            verdict = apply_baseline(verdict, comparison)
        self.verdict = verdict.verdict
        why: list[Reason] = []
        if missing_shards:
            why.append(ShardsMissing(tuple(missing_shards)))
            self.verdict = Verdict.FAIL if self.verdict == Verdict.FAIL else Verdict.INCOMPLETE
        if inputs.shard is not None:
            why.append(Shard(index=inputs.shard.index, count=inputs.shard.count))
            self.verdict = Verdict.PARTIAL
        if inputs.strict and (doubtful := sum(case.verdict == Verdict.CAUTION for case in cases)):
            why.append(CautionFails(doubtful))
        states = [alarm.state for run in self.runs for alarm in run.alarms if alarm.settled_by == "person"]
        reviewed = ReviewRecord(
            reviewers=deciders.reviewers,
            records=reviews or 0,
            dismissed=states.count(AlarmState.DISMISSED),
            confirmed=states.count(AlarmState.CONFIRMED),
        )
        return build_result(
            cases,
            replace(verdict, verdict=self.verdict, reasons=(*why, *verdict.reasons)),
            manifest,
            thresholds=inputs.thresholds,
            case_set=inputs.cases,
            signed=inputs.signed,
            today=inputs.today,
            baseline=comparison,
            reviewed=reviewed if reviews is not None else None,
        )

    def exit_code(self) -> int:
        """0 PASS or CAUTION, 1 FAIL, 6 no FAIL but INCOMPLETE, 7 neither but UNSETTLED or PARTIAL."""
        whole, inputs = self.verdict, self.inputs
        failed = whole == Verdict.FAIL or (inputs.strict and whole == Verdict.CAUTION)
        if failed or self.foreign_failures or any(map(inputs.fails, self.cases)):
            return 1
        if Verdict.INCOMPLETE in (*(case.verdict for case in self.cases), whole) or self.outages:
            return 6
        return 7 if whole in (Verdict.UNSETTLED, Verdict.PARTIAL) else 0


def _without_unproven_reuse(verdict: SetVerdict, manifest: Manifest) -> SetVerdict:
    """No green verdict on replies of an earlier run that may be another model's."""
    if not manifest.replies_reused or manifest.reuse_is_proven:
        return verdict
    since = (manifest.replies_reused_since or "")[:_DAY] or None
    why = RepliesUnproven(replies=manifest.replies_reused, since=since)
    green = verdict.verdict in (Verdict.PASS, Verdict.CAUTION)
    return replace(verdict, verdict=Verdict.UNSETTLED if green else verdict.verdict, reasons=(why, *verdict.reasons))


def judge_run(run: GateRun, collected: SetResult) -> RunResult:
    """Judge the set, and make the record of the run."""
    reviews = run.session.reviews
    given = len(reviews.records) if reviews is not None else None
    return collected.judge(_deciders(run, collected.runs), _manifest(run, collected), reviews=given)


# -- what and who produced the figures


def _manifest(run: GateRun, collected: SetResult) -> Manifest:
    """Everything that two runs must share to be the same."""
    identity, scoring, settings, system = run.subject.identity(), run.scoring, run.settings, run.plan.system_prompt
    replies = [reply for repeats in collected.transcripts.values() for talk in repeats for reply in talk.replies]
    reused = [reply.reused_from for reply in replies if reply.reused_from and not reply.resumed]
    return Manifest.model_validate(
        {
            **scoring,
            "model": identity.spec,
            "revision": identity.revision,
            "identity_proven": identity.proven,
            "decoding": dict(identity.settings),
            "server": dict(identity.server) if identity.server else None,
            "judged": judge_record(run),
            "record": run.plan.record,
            "single_message": run.plan.single_message,
            "pdsqi": pdsqi.version() if settings.pdsqi else None,
            **counts_of(collected.runs, settings.prices),
            "ner": settings.ner,
            "repeats": settings.repeats,
            "seed": SEED,
            "hashes": {
                **scoring["hashes"],
                "thresholds": run.inputs.thresholds.fingerprint(),
                "interludes": run.interludes,
                "options": options_hash(run.inputs, run.session.options.window),
                "system_prompt": hashlib.sha256(system.encode()).hexdigest() if system else None,
            },
            "replies_reused_since": min(reused, default=None),
            "replies_resumed": sum(reply.resumed for reply in replies),
            "replies_ignored": run.runner.replies_ignored if run.runner is not None else 0,
            "shard": _shard(run),
        }
    )


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


def judge_record(run: GateRun) -> JudgeRecord | None:
    """The judge, with the cost of its tokens where all of them were counted; None for rules only."""
    judged, count = run.session.manifest(), run.session.count
    if judged is None:
        return None
    for name, used, requests in (
        ("tokens", count.tokens, count.answered),
        ("sent_tokens", count.sent_tokens, count.sent),
    ):
        counted = count.answered and requests <= used["answers"]
        judged[name] = _costing(used["prompt"], used["answer"], run.settings.judge_prices) if counted else None
    return JudgeRecord.model_validate(judged)


def counts_of(runs: Sequence[CaseAssessment], prices: Prices) -> dict[str, Any]:
    """What a manifest counts over the conversations of a run.

    The model's tokens, with those of reused replies, are None where some were not counted: half of a sum is not a sum.
    """
    prompt = [run.prompt_tokens for run in runs if run.prompt_tokens is not None]
    completion = [run.completion_tokens for run in runs if run.completion_tokens is not None]
    counted = len(prompt) == len(completion) == len(runs)
    return {
        "questions": sum(run.questions for run in runs),
        "unanswered": sum(run.unanswered for run in runs),
        "replies": sum(run.replies_total for run in runs),
        "replies_reused": sum(run.replies_reused for run in runs),
        "tokens": _costing(sum(prompt), sum(completion), prices) if counted else None,
    }


def _costing(prompt: int, completion: int, prices: Prices) -> TokenCounts:
    cost = round(token_cost(prompt, completion, prices), 4) if prices else None
    return TokenCounts(prompt=prompt, completion=completion, prices_per_million=prices, cost=cost)


def _deciders(run: GateRun, runs: Sequence[CaseAssessment]) -> Deciders:
    """Who decided in a run."""
    session, reviews = run.session, run.session.reviews
    missing: Reason | None = None
    if run.inputs.thresholds.judge.required:
        if not session.judges:
            missing = JudgeRequired()
        elif session.below_floor:
            missing = JudgeBelowFloor(tuple(session.below_floor))
        elif unanswered := sum(assessed.unanswered for assessed in runs):
            missing = QuestionsUnanswered(unanswered)
    asked = {question for judged in run.judged.values() for question in judged.judgement.questions}
    return Deciders(
        judge=session.name if session.judges else None,
        deciding=tuple(sorted(session.deciding)),
        below_floor=session.below_floor,
        reviewers=reviews.people_on(asked) if reviews is not None else (),
        missing=missing,
        errors=errors_of(session.calibration, session.deciding) if session.calibration else {},
        control=session.is_control,
        judges=len(session.judges),
        outage=session.outage,
    )


def errors_of(
    calibration: Calibration, deciding: Collection[str]
) -> dict[str, tuple[tuple[int, int], tuple[int, int]]]:
    """Of each group that the judge decides: faults confirmed, and clean items not confirmed, each of how many."""
    return {
        group: (
            (limits.sensitivity.hits, limits.sensitivity.of),
            (limits.false_confirmed.of - limits.false_confirmed.hits, limits.false_confirmed.of),
        )
        for group, limits in calibration.kinds.items()
        if group in deciding
    }


def figures_of(judged: RunResult | CaseResult, judge: str) -> list[Property]:
    """The figures of the set or of a case for junit files: plain values, undefined ones left out."""
    whole = judged if isinstance(judged, RunResult) else None
    runs = judged.repeats if isinstance(judged, CaseResult) else judged.runs
    states = [alarm.state for run in runs for alarm in run.alarms]
    figures: list[tuple[str, object]] = [
        # a count of what nobody has read for is not 0
        *((item.metric, str(item.verdict) if is_unread_zero(item) else item.value) for item in judged.judgements),
        ("r_squared", None if whole else mean(run.slope.r_squared for run in runs if run.slope)),
        ("pairs_evaluated", sum(run.conflict.pairs for run in runs)),
        ("verdict", str(judged.verdict)),
        ("judge", judge),
        ("judge_limits", judge_line(whole.manifest.judged, whole.counts) if whole else None),
        *((f"alarms_{state}", states.count(state)) for state in AlarmState),
        ("replies_reused", sum(run.replies_reused for run in runs) or None),
        ("reuse", reuse_text(whole.manifest) or None if whole else None),
        ("cases", f"{whole.cases_complete} of {whole.cases_total}" if whole else None),
    ]
    return [(name, value) for name, value in figures if value is not None]
