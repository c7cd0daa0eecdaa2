"""The one command to run next: the first of an ordered list of steps whose situation is that of the run."""

from collections.abc import Callable
from dataclasses import dataclass

from pytest_clinical_drift.report.words import counted
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.verdict.reason_codes import ReasonCode
from pytest_clinical_drift.verdict.reasons import FigureState, Verdict

_WITHOUT_RELEASE = (Verdict.UNSETTLED, Verdict.INCOMPLETE, Verdict.PARTIAL)


@dataclass(frozen=True, slots=True)
class Situation:
    """A run and where its results lie, as the steps ask about it."""

    result: RunResult
    place: str
    merged: bool
    """Whether the results were merged from shards."""

    def ends(self, *verdicts: Verdict) -> bool:
        return self.result.verdict in verdicts

    @property
    def unfinished(self) -> int:
        return sum(case.verdict == Verdict.INCOMPLETE for case in self.result.cases)

    @property
    def silent(self) -> bool:
        """Whether the judge's silence left the run where it is."""
        outage = self.result.deciders.outage
        if outage is None:
            return False
        weak = self.ends(Verdict.UNSETTLED) and not self.result.severe_open_findings
        return outage.stopped or outage.offline or weak

    @property
    def offline(self) -> bool:
        outage = self.result.deciders.outage
        return outage is not None and outage.offline

    @property
    def judge_decides_nothing(self) -> bool:
        who = self.result.deciders
        return bool(who.judge) and not who.deciding and not who.control

    def lacks_judge(self, code: ReasonCode | None = None) -> bool:
        """Whether all cases ran, and a judge that the thresholds require has not judged; for this reason if given."""
        missing = self.result.deciders.missing
        if missing is None or self.unfinished or not self.ends(Verdict.INCOMPLETE):
            return False
        return code is None or missing.code == code

    @property
    def replies_unproven(self) -> bool:
        return any(why.code == ReasonCode.REPLIES_UNPROVEN for why in self.result.reasons)

    @property
    def unread_without_judge(self) -> bool:
        unread = any(item.verdict == FigureState.UNREAD for item in self.result.judgements)
        return self.ends(Verdict.UNSETTLED) and not self.result.deciders.judge and unread

    @property
    def rejected_by_people(self) -> bool:
        """Whether it fails, and people have settled all that was open."""
        settled = bool(self.result.deciders.reviewers) and not self.result.open_findings
        return self.ends(Verdict.FAIL) and settled


@dataclass(frozen=True, slots=True)
class _Step:
    fits: Callable[[Situation], bool]
    command: Callable[[Situation], str]


def _shards(run: Situation) -> str:
    shard = run.result.manifest.shard
    count = shard.count if shard else 0
    return f"clinical-drift merge FOLDER… --out DIR, with the folders of all {count} shards"


def _mend(run: Situation) -> str:
    cases = counted(len(run.result.cases), "case")
    return f"mend what left {run.unfinished} of {cases} INCOMPLETE, then the same command again"


_SAME_AGAIN = "the same command again"
_STORED_ANSWERS = "answers already stored are not asked for again"
_STEPS = (
    _Step(
        lambda run: run.silent and run.offline and run.ends(*_WITHOUT_RELEASE),
        lambda run: f"the same command without offline=true; {_STORED_ANSWERS}",
    ),
    _Step(
        lambda run: run.silent and not run.ends(Verdict.PASS, Verdict.CAUTION),
        lambda run: f"{_SAME_AGAIN} once the judge is back; {_STORED_ANSWERS}",
    ),
    _Step(lambda run: run.ends(Verdict.PARTIAL) and run.result.manifest.shard is not None, _shards),
    _Step(lambda run: run.ends(Verdict.PARTIAL) and run.unfinished > 0, _mend),
    _Step(
        lambda run: run.ends(Verdict.PARTIAL) and run.judge_decides_nothing,
        lambda run: "clinical-drift calibrate with a stronger judge; this one decides nothing",
    ),
    _Step(
        lambda run: run.ends(Verdict.PARTIAL),
        lambda run: f"the same command without the selection, on all {counted(run.result.cases_total, 'case')}",
    ),
    _Step(
        lambda run: run.ends(Verdict.INCOMPLETE) and run.merged,
        lambda run: (
            "run the shards that are missing or INCOMPLETE again, "
            "then clinical-drift merge with the folders of all shards"
        ),
    ),
    _Step(
        lambda run: run.lacks_judge(ReasonCode.JUDGE_REQUIRED),
        lambda run: "the same command with a judge, which the thresholds require: --drift-judge SPEC",
    ),
    _Step(
        lambda run: run.lacks_judge(ReasonCode.JUDGE_BELOW_FLOOR),
        lambda run: (
            "clinical-drift calibrate with a stronger judge; "
            "this one is below its floor, and the thresholds require one"
        ),
    ),
    _Step(
        lambda run: run.lacks_judge(),
        lambda run: f"{_SAME_AGAIN}; only what the judge left unanswered is asked again",
    ),
    _Step(
        lambda run: (
            run.ends(Verdict.INCOMPLETE) and run.unfinished > 0 and run.result.manifest.model.startswith("replay:")
        ),
        lambda run: "a recording of all cases, or -k with those that it holds",
    ),
    _Step(
        lambda run: run.ends(Verdict.INCOMPLETE),
        lambda run: f"{_SAME_AGAIN}; replies already stored are not asked for again",
    ),
    _Step(
        lambda run: run.ends(Verdict.UNSETTLED) and run.replies_unproven,
        lambda run: "the same command with another --drift-store FILE, so that every reply comes from this model",
    ),
    _Step(
        lambda run: run.result.deciders.control,
        lambda run: "your model: pytest --model SPEC --drift-judge SPEC, or clinical-drift start",
    ),
    _Step(
        lambda run: run.unread_without_judge,
        lambda run: (
            "the same pytest command with --drift-judge SPEC, which reads every text; "
            f"clinical-drift review {run.place} settles what is listed, not the rest"
        ),
    ),
    _Step(
        lambda run: not run.result.deciders.judge and not run.result.deciders.reviewers,
        lambda run: f"clinical-drift review {run.place}, or a judge: --drift-judge SPEC",
    ),
    _Step(
        lambda run: bool(run.result.deciders.below_floor) and run.ends(Verdict.UNSETTLED),
        lambda run: "clinical-drift calibrate with a stronger judge; this one is below its floor",
    ),
    _Step(
        lambda run: run.ends(Verdict.UNSETTLED) and not run.result.severe_open_findings,
        lambda run: "the same pytest command with a stronger judge: --drift-judge SPEC",
    ),
    _Step(
        lambda run: run.rejected_by_people,
        lambda run: f"a better model; clinical-drift sign {run.place} records that this one was rejected",
    ),
    _Step(
        lambda run: run.ends(Verdict.UNSETTLED, Verdict.FAIL),
        lambda run: f"clinical-drift review {run.place}",
    ),
    _Step(lambda run: True, lambda run: f"clinical-drift sign {run.place}"),
)
"""The first that fits counts."""


def next_command(result: RunResult, place: str, *, merged: bool) -> str:
    """The line "next: …"; `place` is where the results lie, `merged` that they were merged from shards."""
    run = Situation(result, place, merged)
    step = next(step for step in _STEPS if step.fits(run))
    return f"next: {step.command(run)}"


def review_limit(result: RunResult) -> str:
    """What people's answers cannot do where no judge that may decide has read every text."""
    what = "a case" if result.verdict == Verdict.PARTIAL else "the run"
    judge = "a stronger judge: " if result.deciders.judge else ""
    return (
        f"answers settle what is listed, but cannot lift {what} above UNSETTLED, because no judge that may decide "
        f"has read every text; run it again with {judge}--drift-judge SPEC"
    )
