"""What a run rests on and what it cost, a line each: alarms, the judge's limits, what was not gated, waivers."""

from collections.abc import Mapping, Sequence

from pytest_clinical_drift.report.clean import as_lines, one_line
from pytest_clinical_drift.report.judge_text import external_lines, judge_line
from pytest_clinical_drift.report.meaning import canaries_text, cut_lines, evidence_of
from pytest_clinical_drift.report.words import breaches_read, counted, rounded, words
from pytest_clinical_drift.results.manifest import JudgeRecord, TokenCounts
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.scoring.assessment import AlarmState
from pytest_clinical_drift.verdict.counts import Audit, CareCount, GradeCount, SettledCounts


def alarm_lines(result: RunResult) -> list[str]:
    """Alarms by state and who settled them, the judge's limits, what was not gated, what was cut off, waivers."""
    counts = evidence_of(result)
    lines = [_alarms(result, counts.settled)]
    if result.findings:
        groups = {state: count for state, (count, _) in result.findings.items()}
        lines.append(f"findings (consecutive turns with the same fact or demand count as one): {_states(groups)}")
    lines.append(judge_line(result.manifest.judged, counts))
    lines += external_lines(result.manifest.judged)
    canaries = canaries_text(result)
    if canaries:
        lines.append(f"inserted faults confirmed: {canaries}")
    if counts.audit:
        lines.append(_audit(counts.audit))
    if counts.grades:
        read = breaches_read(result)
        grades = ", ".join(_grade(row, read=read) for row in counts.grades)
        lines.append(f"broken demands by grade: {grades}")
    if counts.care:
        lines.append(_care(counts.care))
    if counts.total:
        lines.append(f"{counts.signed} of {counted(counts.total, 'case')} in the set clinically signed")
    if result.gated_by_default:
        named = ", ".join(result.gated_by_default)
        lines.append(f"not in the thresholds file, gated with the bundled limits: {named}")
    lines += cut_lines(result)
    for waiver in result.waivers:
        signed = f"until {waiver.expires}, signed by {one_line(waiver.signed_by)}"
        lines.append(f"waived: {one_line(waiver.case)} {signed}: {one_line(waiver.reason)}")
    return as_lines(*lines)


def _alarms(result: RunResult, settled: Sequence[SettledCounts]) -> str:
    """By state; and who settled them, those who confirmed some first."""
    counts = {state: sum(kind[state] for kind in result.alarms.values()) for state in AlarmState}
    rows = [row for row in settled if row.confirmed]
    rows += [row for row in settled if row.dismissed and not row.confirmed]
    text = f"alarms: {_states(counts)}"
    if not rows:
        return text
    if len(rows) == 1:
        return f"{text} (settled by {words('settled_by')[rows[0].by]})"
    return f"{text} ({'; '.join(map(_settled, rows))})"


def _settled(row: SettledCounts) -> str:
    return f"{row.confirmed:,} confirmed and {row.dismissed:,} dismissed by {words('settled_by')[row.by]}"


def _states(counts: Mapping[AlarmState, int]) -> str:
    states = (AlarmState.CONFIRMED, AlarmState.OPEN, AlarmState.DISMISSED)
    return ", ".join(f"{counts.get(state, 0):,} {state}" for state in states)


def _audit(audit: Audit) -> str:
    asked = counted(audit.asked, "cleared entry")
    upper = rounded(audit.upper, ".1%")
    return f"audit of {asked}: {audit.wrong} upheld, {audit.open} open; up to {upper} may be wrong"


def _grade(row: GradeCount, *, read: bool) -> str:
    """Of one grade; what nobody has read for is open at most, not 0."""
    if not row.confirmed and not read:
        return f"{row.grade} {row.open} open"
    return f"{row.grade} {row.confirmed} (and {row.open} open)" if row.open else f"{row.grade} {row.confirmed}"


def _care(care: CareCount) -> str:
    found = f"{care.right} as expected, {care.too_high} too high, {care.too_low} too low, {care.refused} refused"
    replies = counted(care.replies, "reply")
    return f"level of care of {replies}: {found} (no judge is calibrated for it: shown, not gated)"


# -- where the replies come from, and what they cost


def reuse_lines(result: RunResult) -> list[str]:
    """Which replies were not generated in this run, or only before it was interrupted, and what was not used."""
    made = result.manifest
    replies = counted(made.replies, "reply")
    lines = []
    if made.replies_reused:
        since = f", the oldest of {one_line(made.replies_reused_since)}" if made.replies_reused_since else ""
        lines.append(f"{made.replies_reused} of {replies} come from an earlier run of this model{since}")
    if made.replies_resumed:
        lines.append(f"{made.replies_resumed} of {replies} were stored by this run before it was interrupted")
    if made.replies_ignored:
        ignored = counted(made.replies_ignored, "stored reply")
        why = 'changed, or written with another key (docs/servers.md, "The reply cache")'
        lines.append(f"{ignored} not used: {why}")
    if made.judged is not None and made.judged.ignored:
        ignored = counted(made.judged.ignored, "stored answer")
        lines.append(f"{ignored} of the judge not used: changed, or written with another key")
    return as_lines(*lines)


def cost_lines(result: RunResult) -> list[str]:
    """Tokens of the model; requests to the judge and their tokens."""
    made = result.manifest
    lines = []
    if made.tokens:
        reused = ", reused replies included" if made.replies_reused else ""
        lines.append(f"tokens of the model{reused}: {_spent(made.tokens)}")
    if made.judged is not None and made.judged.requests:
        lines.append(_requests(made.judged))
    return as_lines(*lines)


def _requests(judge: JudgeRecord) -> str:
    asked = sum(judge.requests.values())
    if judge.sent is None:
        text = f"requests to the judge, stored answers included: {asked:,}"
        return f"{text}; tokens of the judge: {_spent(judge.tokens)}" if judge.tokens else text
    text = f"requests to the judge: {judge.sent:,} sent"
    if judge.reused:
        text += f", {counted(judge.reused, 'answer')} from the store"
    unsent = asked - judge.sent - judge.reused
    if unsent > 0:
        text += f", {unsent:,} not sent or not answered"
    if judge.sent_tokens:
        text += f"; tokens of the judge: {_spent(judge.sent_tokens)}"
    if judge.reused and judge.tokens:
        text += f"; with the stored answers {_spent(judge.tokens)}"
    return text


def _spent(tokens: TokenCounts) -> str:
    text = f"{tokens.prompt:,} prompt, {tokens.completion:,} completion"
    return text if tokens.cost is None else f"{text}, cost {tokens.cost:,.2f} by the prices given"
