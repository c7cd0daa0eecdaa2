"""The verdict in a line: of a run with who decided and what reviews changed, of a case with what went wrong."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from pytest_clinical_drift.judging.reviews import DECLARED
from pytest_clinical_drift.report.clean import LONGEST_LINE, one_line
from pytest_clinical_drift.report.figures import judged_text, worse_text
from pytest_clinical_drift.report.page import text_lines
from pytest_clinical_drift.report.reasons import beside_limit, reason_text, reason_texts
from pytest_clinical_drift.report.sentences import alarm_title, event_sentence, worst_first
from pytest_clinical_drift.report.words import counted, label
from pytest_clinical_drift.results.models import CaseResult, ReviewRecord, RunResult
from pytest_clinical_drift.scoring.assessment import Alarm, AlarmState, CaseAssessment
from pytest_clinical_drift.subjects.spec import same_model
from pytest_clinical_drift.verdict.measures import in_a_row
from pytest_clinical_drift.verdict.metric_table import SEVERE
from pytest_clinical_drift.verdict.reasons import ReasonCode, reason
from pytest_clinical_drift.verdict.states import FigureState, Verdict
from pytest_clinical_drift.verdict.thresholds import CANARIES, Thresholds
from pytest_clinical_drift.verdict.values import Deciders, MetricVerdict, figures_unread

_MOSTLY = 0.5
"""Share of empty texts above which a headline tells it before anything else."""
_NAMED = 3
"""Facts that a headline names where a rate decided."""
_MOST_REASONS = 4


def run_headline(result: RunResult) -> str:
    """The verdict in a few words, with who decided."""
    return f"{result.verdict} {headline_rest(result)}"


def headline_rest(result: RunResult) -> str:
    """What follows the verdict's word."""
    if result.verdict == Verdict.PARTIAL:
        failing, unfinished = len(result.failing_cases), result.cases_selected - result.cases_complete
        parts = [f"{counted(failing, 'case')} at FAIL"] if failing else []
        parts += [f"{counted(unfinished, 'case')} not run to the end"] if unfinished else []
        summary = f"; {' and '.join(parts)}" if parts else ""
        empty = "; ".join(filter(None, (mostly_empty(result), "no release verdict")))
        return f"({result.cases_selected} of {result.cases_total}): {empty}{summary}"
    without = _instrument(result)
    first = f"{empty}; " if (empty := mostly_empty(result)) else ""
    if result.verdict == Verdict.UNSETTLED:
        count = f"{counted(result.to_read, 'open finding')}, {result.severe_to_read} severe"
        return f"({first}{decided_by(result.deciders)}{without}): {count}"
    unread = result.unread if result.verdict == Verdict.FAIL else 0
    by_point = any(why.code is ReasonCode.PASSED_BY_POINT for why in result.reasons) and result.verdict == Verdict.PASS
    how = "; by point estimate, not interval" if by_point else ""
    return f"({first}{decided_by(result.deciders, unread)}{without}{how})"


def mostly_empty(result: RunResult) -> str:
    """That most texts of a model are empty, which is scored as it stands and is nearly always a fault in serving it."""
    counts = result.counts
    if counts is None or result.deciders.control or counts.refused <= _MOSTLY * counts.texts:
        return ""
    (told,) = text_lines("run_lines.txt.j2", "mostly_empty", empty=counts.refused, texts=counts.texts)
    return told


def _instrument(result: RunResult) -> str:
    """What to know of the judge before anything else: gone, without canaries, weak on them, or the model itself."""
    confirmed, inserted = result.canaries
    outage = result.deciders.outage
    told = ["it stopped answering"] if outage is not None and outage.stopped else []
    told += ["no canaries"] if result.deciders.judge and not inserted + result.canaries_unanswered else []
    # also where the project's own thresholds ask for less
    if confirmed < CANARIES * inserted - 1e-9 and result.verdict in (Verdict.PASS, Verdict.CAUTION):
        told.append(f"{confirmed} of {inserted} inserted faults confirmed")
    judged = result.manifest.judged
    if judged is not None and any(same_model(spec, result.manifest.model) for spec in judged.spec.split(" + ")):
        told.append("the model judges itself")
    return "".join(f"; {part}" for part in told)


def decided_by(deciders: Deciders, unread: int = 0) -> str:
    """ "rules only", "judge NAME", with what no person has read yet."""
    if deciders.control:
        return "instrument check"
    who = f"judge {deciders.judge}" if deciders.judge and deciders.deciding else "rules only"
    if deciders.judge and not deciders.deciding:
        who = f"rules only; judge {deciders.judge} decides nothing"
    if deciders.reviewers:
        who += f"; reviewed by {', '.join(deciders.reviewers[:3])}"
    if unread and deciders.judge:
        who += f"; {'one judge, ' if deciders.judges == 1 else ''}unread"
    return who


def run_sentence(result: RunResult) -> str:
    """The headline with the first reasons."""
    reasons = "; ".join(reason_texts(result.reasons[:_MOST_REASONS], result.judgements))
    return ": ".join(filter(None, (run_headline(result), reasons)))


def review_sentence(reviewed: ReviewRecord) -> str:
    """What the reviews did: in a run that was given them, or to one that was judged again."""
    macro = "reviewed" if reviewed.before is None else "changed"
    (sentence,) = text_lines("run_lines.txt.j2", macro, it=reviewed, declared=DECLARED)
    return sentence


def change_lines(result: RunResult, cases: Sequence[tuple[str, Verdict, Verdict]]) -> list[str]:
    """What reviews changed in a run that was judged again; `cases` are those whose verdict did."""
    values = {"it": result.reviewed, "cases": cases, "headline": run_sentence(result), "declared": DECLARED}
    return text_lines("run_lines.txt.j2", "changes", **values)


def case_headline(case: CaseResult) -> str:
    """What went wrong, the deadly things first, those of a figure by turn; of what is unsettled what is severe."""
    if case.verdict == Verdict.INCOMPLETE:
        return one_line(f"INCOMPLETE: {incomplete_cause(case)}", LONGEST_LINE)
    wanted = FigureState.FAIL if case.waiver or case.verdict == Verdict.FAIL else FigureState.CAUTION
    decisive = [item for item in case.judgements if item.verdict == wanted]
    decisive.sort(key=lambda item: item.metric not in (*SEVERE, "stale_facts"))
    stops = {(event.fact, event.turn) for item in decisive if item.metric == "hard_stops" for event in item.events}
    probes = case.repeats[0].probes if case.repeats else ()
    parts = [text for item in decisive if (text := _figure(item, case.verdict, stops, probes))]
    if case.verdict == Verdict.UNSETTLED and (waiting := _severe_open(case)):
        parts += waiting
    elif not any(item.events for item in decisive):
        parts += _lost(case.repeats, confirmed_only=case.verdict == Verdict.FAIL)
    parts += reason_texts(case.doubts, ()) if case.verdict == Verdict.CAUTION else []
    return one_line("; ".join(parts) or case.verdict, LONGEST_LINE)


def what_happened(case: CaseResult) -> str:
    """Beside a case's verdict: why it could not be run or judged, else its headline."""
    return incomplete_cause(case) if case.verdict == Verdict.INCOMPLETE else case_headline(case)


def unsettled_line(case: CaseResult) -> str:
    """Of a case that somebody has to settle: the verdict's word first, then what is open."""
    parts = _severe_open(case)
    if unread := [item for item in case.judgements if item.verdict == FigureState.UNREAD]:
        parts.append(reason_text(figures_unread(unread)))
    return one_line(f"{case.verdict}: {'; '.join(parts) or case_headline(case)}", LONGEST_LINE)


def _severe_open(case: CaseResult) -> list[str]:
    """The gravest findings that are severe and open, by turn, and how many more there are."""
    alarms = [run for repeat in case.repeats for run in worst_first(repeat.alarms)]
    severe = [first for first, *_ in alarms if first.severe and first.state == AlarmState.OPEN]
    named = sorted(severe[:_NAMED], key=lambda alarm: alarm.turn)
    more = [f"{len(severe) - _NAMED} more"] if len(severe) > _NAMED else []
    return [f"turn {alarm.turn}: open: {alarm_title(alarm)}" for alarm in named] + more


def next_step(result: RunResult, place: str = "RESULTS", *, merged: bool = False) -> str:
    """The one command to run next; `place` is where the results lie, `merged` that they were merged from shards."""
    return " ".join(text_lines("run_lines.txt.j2", "next_step", result=result, place=place, merged=merged))


def review_bound(result: RunResult, thresholds: Thresholds) -> list[str]:
    """What people's answers cannot do: figures that no judge who may decide has read stay unread."""
    unread = (item for item in result.judgements if item.verdict == FigureState.UNREAD)
    bound = any(thresholds.unsettles(item.metric) for item in unread)
    return text_lines("run_lines.txt.j2", "review_bound", result=result) if bound else []


def after_review(place: str, parts: int) -> list[str]:
    """The command to run once the review pages of so many reviewers are answered."""
    return text_lines("run_lines.txt.j2", "after_review", place=place, parts=parts)


def incomplete_cause(case: CaseResult) -> str:
    """Why a case could not be run or judged."""
    cause = next((run.incomplete for run in case.repeats if run.incomplete), None)
    return cause or reason_text(reason(ReasonCode.CORE_NOT_EVALUATED))


def _figure(
    item: MetricVerdict, verdict: Verdict, stops: Collection[tuple[str | None, int]], probes: Sequence[int]
) -> str:
    """A decisive figure in words; a hard stop that is also a stale fact is told once, and so is one event on turns in
    a row."""
    if item.value is None:
        return f"{label(item.metric)} not evaluated"
    if item.events:
        events = [e for e in item.events if e.state == AlarmState.CONFIRMED or verdict != Verdict.FAIL]
        if item.metric == "stale_facts":
            events = [e for e in events if (e.fact, e.turn) not in stops]
        shown = [replace(event, quote=event.around or event.quote) for event in events]
        runs = in_a_row(shown, lambda event: replace(event, turn=0), lambda event: event.turn, probes)
        return "; ".join(event_sentence(first, more[-1].turn if more else None) for first, *more in runs)
    worse = worse_text(item)
    both = f"{judged_text(item)}{f', {worse} with open alarms' if worse else ''}"
    return f"{label(item.metric)} {both} ({beside_limit(item)})"


def _lost(repeats: Sequence[CaseAssessment], *, confirmed_only: bool) -> list[str]:
    """The facts behind a low rate, by turn: those at turn 10 or at the end before others, each once."""
    alarms = [
        (alarm.turn in (run.horizon, *run.probes[-1:]), alarm)
        for run in repeats
        for row in worst_first(run.alarms, run.probes)
        for alarm in row
        if alarm.state == AlarmState.CONFIRMED or not confirmed_only
    ]
    alarms.sort(key=lambda pair: not pair[0])
    named: dict[str, Alarm] = {}
    for _, alarm in alarms:
        named.setdefault(alarm_title(alarm), alarm)
    shown = sorted(list(named.values())[:_NAMED], key=lambda alarm: alarm.turn)
    return [
        f"turn {alarm.turn}: {'open: ' if alarm.state == AlarmState.OPEN else ''}{alarm_title(alarm)}"
        for alarm in shown
    ]
