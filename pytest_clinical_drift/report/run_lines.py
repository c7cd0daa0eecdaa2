"""What the gate says besides its reports: before a run, at its end, when it is judged again, when it is released."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum, auto
from pathlib import Path

from pytest_clinical_drift.report.clean import as_lines, one_line
from pytest_clinical_drift.report.words import counted, label
from pytest_clinical_drift.results.models import ReviewRecord
from pytest_clinical_drift.results.signed import Release
from pytest_clinical_drift.verdict.reasons import Verdict

_DECLARED = "names of reviewers are declared, not authenticated"
_MOST_ATTEMPTS = 6
_LONGEST_NAME = 80
_LONGEST_CHANGES = 600
_LONGEST_CONDITIONS = 200


# -- before a run


class Collects(StrEnum):
    """What pytest collects besides or instead of the gate."""

    GATE = auto()
    TESTS = auto()
    BOTH = auto()


@dataclass(frozen=True, slots=True)
class JudgeHeader:
    """Who judges, and where the texts go."""

    name: str
    offline: bool
    hosts: Sequence[str]
    """Servers that get the texts; none where the judge works in this process."""


@dataclass(frozen=True, slots=True)
class RunHeader:
    """What is printed before the first test."""

    model: str
    cases: int
    chosen: int
    """Cases of this shard; all where there is none."""
    source: str
    gate: str
    shard: str
    """Empty where the run is no shard."""
    implied: Sequence[str]
    """Metrics that the thresholds leave out and that are gated all the same."""
    cannot: Sequence[str]
    """Metrics of what cannot happen in these cases."""
    collects: Collects
    study: str
    """The node id of the gate."""
    judge: JudgeHeader | None


def header_lines(run: RunHeader) -> list[str]:
    lines = [f"{run.model}, {counted(run.cases, 'case')} from {run.source}, gate: {run.gate}"]
    if run.shard:
        lines.append(f"{run.shard}: {run.chosen} of {run.cases} cases; clinical-drift merge gives the verdict")
    if run.implied:
        lines.append(f"not in the thresholds file, gated with the bundled limits: {', '.join(run.implied)}")
    if run.cannot:
        lines.append(f"not applicable, cannot happen in these cases: {', '.join(map(label, run.cannot))}")
    if run.collects is Collects.GATE:
        lines.append("gate only; your tests are not collected")
    if run.collects is Collects.TESTS:
        lines.append(f"your tests only; add {run.study} for the gate")
    if run.judge is not None:
        lines.append(_judge_header(run.judge))
    return as_lines(*lines)


def _judge_header(judge: JudgeHeader) -> str:
    if judge.offline:
        return f"judge: {judge.name}, from stored answers alone; nothing is sent"
    if judge.hosts:
        return f"judge: {judge.name}; records and conversations go to {', '.join(judge.hosts)}"
    return f"judge: {judge.name}; runs in this process"


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """What the model will be asked."""

    cases: int
    turns: int
    requests: int
    prompt: float
    completion: int
    """Tokens of prompts and answers."""


@dataclass(frozen=True, slots=True)
class JudgeEstimate:
    """What the judge will be asked; of the pairs the first holds for a careful model, the second for a weak one."""

    readings: int
    questions: tuple[int, int]
    prompt: tuple[float, float]
    answer: tuple[float, float]
    """Tokens of prompts and answers."""
    checks: int
    """Requests of audit and canaries."""
    ratings: int
    calibration: str
    """What a calibration will cost; empty where none is due."""


def estimate_lines(run: RunEstimate) -> list[str]:
    requests = f"{run.requests:,} requests"
    tokens = f"about {run.prompt:,.0f} prompt tokens (most of them shared prefixes)"
    size = f"{counted(run.cases, 'case')}, {counted(run.turns, 'turn')}"
    return as_lines(f"{size}: {requests}, {tokens} and {run.completion:,} completion tokens")


def judge_estimate_lines(judge: JudgeEstimate) -> list[str]:
    few, many = judge.questions
    prompt = " to ".join(f"{tokens / 1000:,.0f}" for tokens in judge.prompt)
    answer = " to ".join(f"{tokens / 1000:,.0f}" for tokens in judge.answer)
    parts = [
        f"{judge.readings:,} readings",
        f"{few:,} to {many:,} single questions (careful to weak model)",
        f"{prompt} thousand prompt tokens, mostly shared prefixes, and {answer} thousand answer tokens",
        f"audit and canaries about {judge.checks:,} requests more",
    ]
    if judge.ratings:
        parts.append(f"{counted(judge.ratings, 'rating')} by PDSQI-9")
    lines = [f"judge: {'; '.join(parts)}"]
    if judge.calibration:
        lines.append(f"judge: no valid calibration; {judge.calibration}")
    return as_lines(*lines)


# -- at its end


def attempt_line(*, number: int | None, earlier: Sequence[str], subsets: int, changed: Sequence[str]) -> str:
    """Which attempt of its candidate a run is (None: a subset, which does not count), and what came before it."""
    kind = "subset run, not counted as an attempt" if number is None else f"attempt {number}"
    line = f"{kind} of this candidate"
    if earlier:
        more = "…, " if len(earlier) > _MOST_ATTEMPTS else ""
        line += f" (before: {more}{', '.join(earlier[-_MOST_ATTEMPTS:])})"
    if subsets:
        line += f"; {counted(subsets, 'subset run')} before"
    if changed:
        line += f"; {' and '.join(changed)} changed since the last attempt"
    return line


def blocked_line(*, code: int, failures: int, problem: str) -> str:
    """Why a run whose verdict would let it pass does not end with 0."""
    if problem:
        return problem
    if failures:
        return f"{counted(failures, 'test')} of the project failed: exit code {code}"
    return f"exit code {code}"


# -- when it is judged again


def change_text(reviewed: ReviewRecord) -> str:
    """ "UNSETTLED → PASS by 7 dismissals"; of a verdict that stayed, after what."""
    kept = reviewed.before == reviewed.after
    verdict = f"{reviewed.after} as before" if kept else f"{reviewed.before} → {reviewed.after}"
    settled = []
    if reviewed.dismissed:
        settled.append(counted(reviewed.dismissed, "dismissal"))
    if reviewed.confirmed:
        settled.append(counted(reviewed.confirmed, "confirmation"))
    if reviewed.cleared_upheld:
        settled.append(f"{counted(reviewed.cleared_upheld, 'new alarm')} among what the judge had cleared")
    if not settled:
        return f"{verdict}: the reviews settle no alarm"
    return f"{verdict}{', after' if kept else ' by'} {' and '.join(settled)}"


def reviewed_text(reviewed: ReviewRecord) -> str:
    """What the reviews did: in a run that was given them, or to one that was judged again."""
    who = ", ".join(reviewed.reviewers)
    if reviewed.before is not None:
        return f"{change_text(reviewed)}, reviewed by {who}; {_DECLARED}"
    if reviewed.reviewers:
        settled = f"{counted(reviewed.dismissed, 'alarm')} dismissed and {reviewed.confirmed} confirmed"
        return f"{settled} by reviews of {who}; {_DECLARED}"
    return f"none of the {reviewed.records} reviews given is about a text of this run"


def changes_lines(reviewed: ReviewRecord, cases: Sequence[tuple[str, Verdict, Verdict]], headline: str) -> list[str]:
    """What people's answers changed: the verdict, that of cases (with the one before), and what they leave open."""
    lines = [change_text(reviewed)]
    lines += [f"  {case_id}: {before} → {after}" for case_id, before, after in cases]
    lines.append(headline)
    if reviewed.cleared_read:
        was = "was" if reviewed.cleared_read == 1 else "were"
        counts = "counts" if reviewed.cleared_upheld == 1 else "count"
        cleared = f"{counted(reviewed.cleared_read, 'answer')} cleared by the judge {was} re-read"
        lines.append(f"{cleared}; {reviewed.cleared_upheld} {counts} against the model")
    if reviewed.disputed:
        lines.append(f"{counted(reviewed.disputed, 'alarm')} left open, because reviewers disagree")
    if reviewed.second_person:
        alarms = counted(reviewed.second_person, "severe alarm")
        lines.append(f"{alarms} dismissed by one person: a second one has to agree")
    if reviewed.open:
        lines.append(f"{counted(reviewed.open, 'alarm')} still open")
    lines.append(f"{counted(reviewed.records, 'record')} by {', '.join(reviewed.reviewers)}; {_DECLARED}")
    return as_lines(*lines)


def after_review_line(place: str, parts: int) -> str:
    """The command that takes the answers in; `parts` are the pages among which a review was split."""
    given = "reviews.jsonl" if parts == 1 else "FILE, with --reviews once for each reviewer's file"
    return f"next: clinical-drift verdict {place} --reviews {given}"


# -- when it is released


class ReleaseStep(StrEnum):
    """What happened to a decision, or why it does not count."""

    SIGNED = auto()
    REPLACED = auto()
    UNCHECKED = auto()
    RELEASED = auto()
    CHANGED = auto()
    REVIEWED = auto()
    UNSIGNED = auto()
    DEVELOPER = auto()
    REVIEWER = auto()
    EXPIRED = auto()
    REJECTED = auto()


def release_line(step: ReleaseStep, release: Release, place: Path, changes: str = "") -> str:
    """`place` is the folder of the results; `changes`: what became of the files that the signature covers."""
    who = one_line(release.signer, _LONGEST_NAME)
    decision = _decision(release)
    rejected = f"not released: {who} rejected this run on {release.signed_at.date()}"
    if release.conditions:
        rejected += f" ({one_line(release.conditions, _LONGEST_CONDITIONS)})"
    return {
        ReleaseStep.SIGNED: f"signed by {who}: {decision}; verdict {release.verdict}, record {release.record[:12]}",
        ReleaseStep.REPLACED: f"this replaces the decision of {who} on {release.signed_at.date()}: {decision}",
        ReleaseStep.UNCHECKED: (
            "the signature was not checked: "
            "name the people who may sign with --allowed-signers FILE, or in dossier.yaml"
        ),
        ReleaseStep.RELEASED: _released(release, who),
        ReleaseStep.CHANGED: (
            f"not released: {place} was changed after {who} signed it: {one_line(changes, _LONGEST_CHANGES)}; "
            "it has to be signed again"
        ),
        ReleaseStep.REVIEWED: (
            f"not released: reviews were added after {who} signed {place}; "
            f"the release has to be signed again, in {place}/reviewed"
        ),
        ReleaseStep.UNSIGNED: (
            f"not released: the signature is not one of {who} that the allowed-signers file accepts"
        ),
        ReleaseStep.DEVELOPER: f"not released: {who} is a developer of the model; somebody else has to sign",
        ReleaseStep.REVIEWER: (
            "not released: a developer of the model has settled alarms of this run; somebody else has to review them"
        ),
        ReleaseStep.EXPIRED: f"not released: the acceptance by {who} expired on {release.expires}",
        ReleaseStep.REJECTED: rejected,
    }[step].rstrip()


def _decision(release: Release) -> str:
    text = release.decision.replace("-", " ")
    if release.expires:
        text += f" {release.expires}"
    if release.conditions:
        text += f" ({one_line(release.conditions, _LONGEST_CONDITIONS)})"
    return text


def _released(release: Release, who: str) -> str:
    signed = f"{_decision(release)}, signed by {who} on {release.signed_at.date()}"
    record = f"record {release.record[:12]}"
    if release.verdict == Verdict.PASS:
        return f"released: {signed}; verdict PASS, {record}"
    return f"released although the verdict is {release.verdict}: {signed}; {record}"
