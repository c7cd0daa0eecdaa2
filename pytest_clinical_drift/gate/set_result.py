"""The judged cases of a run as they come in, the verdict on the set, the exit code, and the figures for junit files."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from pytest_clinical_drift.gate.pytest_reports import Property
from pytest_clinical_drift.report.figures import is_unread_zero
from pytest_clinical_drift.report.judge_text import judge_line
from pytest_clinical_drift.results.build import build_result, case_result
from pytest_clinical_drift.results.inputs import GateInputs
from pytest_clinical_drift.results.manifest import Manifest
from pytest_clinical_drift.results.models import CaseResult, ReviewRecord, RunResult
from pytest_clinical_drift.scoring.assessment import AlarmState, CaseAssessment
from pytest_clinical_drift.verdict.baseline import BaselineComparison, apply_baseline, by_id, compare_with_baseline
from pytest_clinical_drift.verdict.reasons import ReasonCode, reason
from pytest_clinical_drift.verdict.states import Verdict
from pytest_clinical_drift.verdict.values import Deciders, MetricVerdict, SetVerdict
from pytest_clinical_drift.verdict.whole_set import judge_set


class SetResult:
    """Gathers the judged cases of one run, or of one that is judged again."""

    def __init__(self, inputs: GateInputs) -> None:
        self.inputs = inputs
        self.foreign_failures = 0
        """Failed tests that are not ours."""
        self.outages = 0
        """Tests of the project that asked for a case which could not be run."""
        self.verdict: SetVerdict | None = None
        self._comparison: BaselineComparison | None = None
        self._by_id: dict[str, CaseResult] = {}

    def add(self, case: CaseResult) -> None:
        self._by_id[case.case_id] = case

    def judge_case(self, assessments: Sequence[CaseAssessment], deciding: Collection[str]) -> None:
        """Judge one case's repeats, and keep them with their verdict."""
        self.add(case_result(self.inputs.judge_case(assessments, deciding), assessments))

    @property
    def cases(self) -> list[CaseResult]:
        """In the case set's order, whatever the order in which workers finished."""
        return [self._by_id[case.id] for case in self.inputs.cases if case.id in self._by_id]

    @property
    def runs(self) -> list[CaseAssessment]:
        """Every conversation."""
        return [run for case in self.cases for run in case.repeats]

    def judge(self, deciders: Deciders) -> SetVerdict:
        """The verdict on the cases that were run."""
        inputs, cases = self.inputs, self.cases
        repeats = [case.repeats for case in cases]
        verdict = judge_set(
            repeats, cases, inputs.thresholds, total=len(inputs.cases), today=inputs.today, deciders=deciders,
            signed=len(inputs.signed),
        )  # fmt: skip
        if inputs.baseline is not None:
            self._comparison = compare_with_baseline(
                by_id(inputs.baseline.cases),
                repeats,
                cases,
                inputs.thresholds,
                model=inputs.baseline.manifest.model,
                notes=inputs.baseline_remarks,
            )
            verdict = apply_baseline(verdict, self._comparison)
        if inputs.strict and (doubtful := sum(case.verdict == Verdict.CAUTION for case in cases)):
            why = reason(ReasonCode.CAUTION_FAILS, cases=doubtful)
            verdict = replace(verdict, reasons=(why, *verdict.reasons))
        if inputs.shard is not None:
            why = reason(ReasonCode.SHARD, index=inputs.shard.index, count=inputs.shard.count)
            verdict = replace(verdict, verdict=Verdict.PARTIAL, reasons=(why, *verdict.reasons))
        self.verdict = verdict
        return verdict

    def result(self, manifest: Manifest, reviewed: ReviewRecord | None = None) -> RunResult:
        """The record of the run, once the set is judged."""
        if self.verdict is None:
            raise ValueError("the set has not been judged yet")
        return build_result(
            self.cases,
            self.verdict,
            manifest,
            thresholds=self.inputs.thresholds,
            case_set=self.inputs.cases,
            signed=self.inputs.signed,
            today=self.inputs.today,
            baseline=self._comparison,
            reviewed=reviewed,
        )

    def reviewed(self, records: int) -> ReviewRecord | None:
        """What people have settled in a run that was given so many reviews, for its results file."""
        if self.verdict is None:
            return None
        states = [alarm.state for run in self.runs for alarm in run.alarms if alarm.settled_by == "person"]
        return ReviewRecord(
            reviewers=self.verdict.deciders.reviewers,
            records=records,
            dismissed=states.count(AlarmState.DISMISSED),
            confirmed=states.count(AlarmState.CONFIRMED),
        )

    def exit_code(self) -> int:
        """0 PASS or CAUTION, 1 FAIL, 6 no FAIL but INCOMPLETE, 7 neither but UNSETTLED or PARTIAL."""
        whole = self.verdict.verdict if self.verdict else Verdict.PASS
        strict = self.inputs.strict and whole == Verdict.CAUTION
        failed = any(self.inputs.fails(case) for case in self.cases) or whole == Verdict.FAIL or strict
        if failed or self.foreign_failures:
            return 1
        if Verdict.INCOMPLETE in (*(case.verdict for case in self.cases), whole) or self.outages:
            return 6
        return 7 if whole in (Verdict.UNSETTLED, Verdict.PARTIAL) else 0


def set_properties(result: RunResult) -> list[Property]:
    """The set's figures for junit."""
    return [
        *((item.metric, _figure(item)) for item in result.judgements if item.value is not None),
        ("pairs_evaluated", sum(run.conflict.pairs for run in result.runs)),
        ("verdict", str(result.verdict)),
        ("judge", result.manifest.judge),
        ("judge_limits", judge_line(result.manifest.judged, result.counts)),
        *_alarm_counts(result.runs),
        ("cases", f"{result.cases_complete} of {result.cases_total}"),
    ]


def _figure(item: MetricVerdict) -> float | str | None:
    """The value; a count of what nobody has read for is not 0."""
    return str(item.verdict) if is_unread_zero(item) else item.value


def case_properties(case: CaseResult, judge: str) -> list[Property]:
    """A case's figures for junit: plain values, undefined ones left out."""
    r_squared = [run.slope.r_squared for run in case.repeats if run.slope and run.slope.r_squared is not None]
    figures: list[tuple[str, object]] = [
        *((item.metric, _figure(item)) for item in case.judgements),
        ("r_squared", sum(r_squared) / len(r_squared) if r_squared else None),
        ("pairs_evaluated", sum(run.conflict.pairs for run in case.repeats)),
        ("verdict", str(case.verdict)),
        ("judge", judge),
        *_alarm_counts(case.repeats),
    ]
    return [(name, value) for name, value in figures if value is not None]


def _alarm_counts(runs: Sequence[CaseAssessment]) -> list[Property]:
    """How many alarms are in which state."""
    states = [alarm.state for run in runs for alarm in run.alarms]
    return [(f"alarms_{state}", states.count(state)) for state in AlarmState]
