"""The verdict in a line: of a run with who decided and what reviews changed, of a case with what went wrong."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from pytest_clinical_drift.report.clean import LONGEST_LINE, one_line
from pytest_clinical_drift.report.next_step import next_command, review_limit
from pytest_clinical_drift.report.reasons import at_both_ends, beside_limit, reason_text, reason_texts
from pytest_clinical_drift.report.run_lines import reviewed_text
from pytest_clinical_drift.report.sentences import alarm_line, alarm_title, event_sentence, worst_first
from pytest_clinical_drift.report.words import counted, label
from pytest_clinical_drift.results.manifest import Manifest
from pytest_clinical_drift.results.models import CaseResult, ReviewRecord, RunResult
from pytest_clinical_drift.scoring.assessment import Alarm, AlarmState, CaseAssessment
from pytest_clinical_drift.subjects.spec import same_model
from pytest_clinical_drift.verdict.measures import in_a_row
from pytest_clinical_drift.verdict.metric_table import SEVERE
from pytest_clinical_drift.verdict.reasons import CoreNotEvaluated, FigureState, PassedByPoint, Verdict
from pytest_clinical_drift.verdict.thresholds import CANARIES, Thresholds
from pytest_clinical_drift.verdict.values import MetricVerdict, figures_unread

_MOSTLY = 0.5
"""Share of empty texts above which a headline begins with it."""
_NAMED = 3
"""Facts that a headline names where a rate decided."""
_MOST_REASONS = 4


# -- of a run


def run_headline(result: RunResult) -> str:
    """The verdict in a few words, with who decided."""
    return f"{result.verdict} {headline_rest(result)}"


def headline_rest(result: RunResult) -> str:
    """What follows the verdict's word."""
    counts, told = result.counts, [*filter(None, [reuse_text(result.manifest)])]
    # most texts are empty: scored as they stand, and nearly always a fault in serving the model
    if counts is not None and not result.deciders.control and counts.refused > _MOSTLY * counts.texts:
        empty = f"{counts.refused:,} of {counts.texts:,} replies and summaries are empty or refused"
        told.append(f"{empty}: check the server, its filters and the system prompt")
    if result.verdict == Verdict.PARTIAL:
        unfinished = result.cases_selected - result.cases_complete
        cases = ((len(result.failing_cases), "at FAIL"), (unfinished, "not run to the end"))
        parts = [f"{counted(count, 'case')} {what}" for count, what in cases if count]
        told += ["no release verdict", " and ".join(parts)]
        return f"({result.cases_selected} of {result.cases_total}): {'; '.join(filter(None, told))}"
    told += _decided_by(result)
    if result.verdict == Verdict.UNSETTLED:
        severe = f"{result.severe_open_findings} severe"
        return f"({'; '.join(told)}): {counted(result.open_findings, 'open finding')}, {severe}"
    if result.verdict == Verdict.PASS and any(isinstance(why, PassedByPoint) for why in result.reasons):
        told.append("by point estimate, not interval")
    return f"({'; '.join(told)})"


def reuse_text(manifest: Manifest) -> str:
    """Such as "12 replies reused, from 2026-01-31"; empty where every reply is new."""
    if not manifest.replies_reused:
        return ""
    since = f", from {one_line(manifest.replies_reused_since[:10])}" if manifest.replies_reused_since else ""
    return f"{counted(manifest.replies_reused, 'reply')} reused{since}"


def _decided_by(result: RunResult) -> list[str]:
    """Rules, judge or people, with what no person has read yet; and what to know of the judge before anything else:
    gone, without canaries, weak on them, or the model itself."""
    who, judged, (confirmed, inserted) = result.deciders, result.manifest.judged, result.canaries
    told = ["instrument check" if who.control else "rules only"]
    if who.judge and not who.control:
        told = [f"judge {who.judge}"] if who.deciding else [*told, f"judge {who.judge} decides nothing"]
    if who.reviewers and not who.control:
        told.append(f"reviewed by {', '.join(who.reviewers[:3])}")
    if result.verdict == Verdict.FAIL and result.severe_without_reviewer and who.judge and not who.control:
        told.append("one judge, unread" if who.judges == 1 else "unread")
    # also where the project's own thresholds ask for less
    weak = confirmed < CANARIES * inserted - 1e-9 and result.verdict in (Verdict.PASS, Verdict.CAUTION)
    specs = judged.spec.split(" + ") if judged is not None else ()
    remarks = {
        "it stopped answering": who.outage is not None and who.outage.stopped,
        "no canaries": who.judge and not inserted + result.canaries_unanswered,
        f"{confirmed} of {inserted} inserted faults confirmed": weak,
        "the model judges itself": any(same_model(spec, result.manifest.model) for spec in specs),
    }
    return told + [remark for remark, holds in remarks.items() if holds]


def run_sentence(result: RunResult) -> str:
    """The headline with the first reasons."""
    reasons = "; ".join(reason_texts(result.reasons[:_MOST_REASONS], result.judgements))
    return ": ".join(filter(None, (run_headline(result), reasons)))


def review_sentence(reviewed: ReviewRecord) -> str:
    """What the reviews did: in a run that was given them, or to one that was judged again."""
    return reviewed_text(reviewed)


def next_step(result: RunResult, place: str = "RESULTS", *, merged: bool = False) -> str:
    """The one command to run next; `place` is where the results lie, `merged` that they were merged from shards."""
    return next_command(result, place, merged=merged)


def review_bound(result: RunResult, thresholds: Thresholds) -> list[str]:
    """What people's answers cannot do: figures that no judge who may decide has read stay unread."""
    unread = (item for item in result.judgements if item.verdict == FigureState.UNREAD)
    bound = any(thresholds.unsettles(item.metric) for item in unread)
    return [review_limit(result)] if bound else []


# -- of a case


def case_headline(case: CaseResult) -> str:
    """What went wrong, the deadly things first, those of a figure by turn; of what is unsettled what is severe."""
    if case.verdict == Verdict.INCOMPLETE:
        return one_line(f"INCOMPLETE: {what_happened(case)}", LONGEST_LINE)
    failed = case.verdict == Verdict.FAIL
    wanted = FigureState.FAIL if case.waiver or failed else FigureState.CAUTION
    decisive = [item for item in case.judgements if item.verdict == wanted]
    decisive.sort(key=lambda item: item.metric not in (*SEVERE, "stale_facts"))
    stops = {(event.fact, event.turn) for item in decisive if item.metric == "hard_stops" for event in item.events}
    probes = case.repeats[0].probes if case.repeats else ()
    parts = [text for item in decisive if (text := _figure(item, failed, stops, probes))]
    if case.verdict == Verdict.UNSETTLED and (waiting := _severe_open(case)):
        parts += waiting
    elif not any(item.events for item in decisive):
        parts += _lost(case.repeats, confirmed_only=failed)
    parts += reason_texts(case.doubts) if case.verdict == Verdict.CAUTION else []
    return one_line("; ".join(parts) or case.verdict, LONGEST_LINE)


def what_happened(case: CaseResult) -> str:
    """Beside a case's verdict: why it could not be run or judged, else its headline."""
    if case.verdict != Verdict.INCOMPLETE:
        return case_headline(case)
    cause = next((run.incomplete for run in case.repeats if run.incomplete), None)
    return cause or reason_text(CoreNotEvaluated())


def unsettled_line(case: CaseResult) -> str:
    """Of a case that somebody has to settle: the verdict's word first, then what is open."""
    parts = _severe_open(case)
    if unread := [item for item in case.judgements if item.verdict == FigureState.UNREAD]:
        parts.append(reason_text(figures_unread(unread)))
    return one_line(f"{case.verdict}: {'; '.join(parts) or case_headline(case)}", LONGEST_LINE)


def _severe_open(case: CaseResult) -> list[str]:
    """The gravest findings that are severe and open, by turn, and how many more there are."""
    alarms = [alarm for repeat in case.repeats for alarm, *_ in worst_first(repeat.alarms)]
    severe = [alarm for alarm in alarms if alarm.severe and alarm.state == AlarmState.OPEN]
    more = [f"{len(severe) - _NAMED} more"] if len(severe) > _NAMED else []
    return _by_turn(severe[:_NAMED]) + more


def _by_turn(alarms: Sequence[Alarm]) -> list[str]:
    return [alarm_line(alarm) for alarm in sorted(alarms, key=lambda alarm: alarm.turn)]


def _figure(item: MetricVerdict, failed: bool, stops: Collection[tuple[str | None, int]], probes: Sequence[int]) -> str:
    """A decisive figure in words; a hard stop that is also a stale fact is told once, and so is one event on turns in
    a row."""
    if item.value is None:
        return f"{label(item.metric)} not evaluated"
    if not item.events:
        return f"{label(item.metric)} {at_both_ends(item)} ({beside_limit(item)})"
    shown = [
        replace(event, quote=event.around or event.quote)
        for event in item.events
        if (event.state == AlarmState.CONFIRMED or not failed)
        and (item.metric != "stale_facts" or (event.fact, event.turn) not in stops)
    ]
    runs = in_a_row(shown, lambda event: replace(event, turn=0), lambda event: event.turn, probes)
    return "; ".join(event_sentence(*events) for events in runs)


def _lost(repeats: Sequence[CaseAssessment], *, confirmed_only: bool) -> list[str]:
    """The facts behind a low rate, by turn: those at turn 10 or at the end before others, each once."""
    alarms = [
        (alarm.turn not in (run.t10_turn, *run.probes[-1:]), alarm)
        for run in repeats
        for row in worst_first(run.alarms, run.probes)
        for alarm in row
        if alarm.state == AlarmState.CONFIRMED or not confirmed_only
    ]
    named: dict[str, Alarm] = {}
    for _, alarm in sorted(alarms, key=lambda pair: pair[0]):
        named.setdefault(alarm_title(alarm), alarm)
    return _by_turn(list(named.values())[:_NAMED])
