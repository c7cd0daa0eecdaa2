"""Reasons as sentences: a macro of `data/templates/reasons.txt.j2` for each code; and what a verdict means."""

from collections.abc import Sequence
from dataclasses import replace

from pytest_clinical_drift.report.meaning import means_lines
from pytest_clinical_drift.report.page import environment, text_lines
from pytest_clinical_drift.report.ungated import lines_beside_verdict
from pytest_clinical_drift.report.words import (
    counted,
    interval_text,
    is_unread_zero,
    judged_text,
    label,
    limit_values,
    shared_reasons,
    worse_text,
)
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.verdict.metric_table import metric_named
from pytest_clinical_drift.verdict.reasons import FigureState, Reason, ReasonCode
from pytest_clinical_drift.verdict.values import MetricVerdict

TEMPLATE = "reasons.txt.j2"
_BY_CASES = (ReasonCode.CASES_WOULD_SETTLE, ReasonCode.TOO_CLOSE_TO_SETTLE)
"""How many cases would settle a figure: as many as there are settle none that nobody has read for."""


def reason_text(reason: Reason, judgements: Sequence[MetricVerdict] = ()) -> str:
    """One reason; one that names a figure takes it from the judgements."""
    if reason.code is ReasonCode.FIGURE:
        return next(figure_sentence(item) for item in judgements if item.metric == reason.values["metric"])
    macro = getattr(environment().get_template(TEMPLATE).module, reason.code.value)
    return " ".join(str(macro(**reason.values)).split())


def reason_texts(reasons: Sequence[Reason], judgements: Sequence[MetricVerdict] = ()) -> list[str]:
    return [reason_text(reason, judgements) for reason in reasons]


def rests_on(item: MetricVerdict) -> str:
    """What a figure rests on, or why it has none, in one line."""
    return "; ".join(why.text for why in worded(item) if why.code not in _BY_CASES or not is_unread_zero(item))


def worded(item: MetricVerdict) -> tuple[Reason, ...]:
    """The reasons of a figure with their sentences; a number that is held to its limits is written as the figure is,
    and none that nobody has read for as if it had been measured."""
    told = []
    for why in item.reasons:
        values = dict(why.values)
        if why.code is ReasonCode.CORRECTED:
            values["limits"] = limit_values(item)
        if item.verdict == FigureState.UNREAD and why.code is ReasonCode.CASES_WITH_EVENT:
            values["upper"] = None  # what nobody has read for has no true rate that it is compatible with
        if is_unread_zero(item) and why.code in (ReasonCode.CASES_WITH_EVENT, ReasonCode.PER_REPLIES):
            values |= {"read": False, "raised": bool(item.worst)}
        told.append(replace(why, text=reason_text(Reason(why.code, values))))
    return tuple(told)


def shared_lines(judgements: Sequence[MetricVerdict]) -> list[str]:
    """Why more than two figures have no value, told once and with the word that stands in their place."""
    lines = []
    for shared in shared_reasons(judgements):
        states = [i.verdict for i in judgements if i.value is None and i.reasons and i.reasons[0].code is shared.code]
        lines.append(f"{' or '.join(dict.fromkeys(states))}: {reason_text(shared)}")
    return lines


def figure_sentence(item: MetricVerdict) -> str:
    """A figure of the set that decided: its value at both ends, against its limit; an event in how many cases, of how
    many in which it could have been seen."""
    name = label(item.metric)
    if item.value is None:
        return f"{name} not evaluated: {rests_on(item)}"
    if is_unread_zero(item):
        return f"{name} unread: {rests_on(item)}"
    if not metric_named(item.metric).counts_events:
        interval = f" [{interval_text(item).replace(' to ', ', ')}]" if item.interval else ""
        return f"{name} {at_both_ends(item)}{interval} ({beside_limit(item)})"
    cases = counted(item.value, "case")
    for why in item.reasons:
        if why.code is ReasonCode.CASES_WITH_EVENT:
            values = {"cases": why.values["cases"], "restricted": why.values["restricted"]}
            cases = f"{item.value:g} of {text_lines(TEMPLATE, 'finished', **values)[0]}"
    return f"{name} in {cases}{f', {item.worst:g} with open alarms' if worse_text(item) else ''}"


def at_both_ends(item: MetricVerdict) -> str:
    """The value, and where open alarms make a difference that with them."""
    worse = worse_text(item)
    return judged_text(item) + (f", {worse} with open alarms" if worse else "")


def beside_limit(item: MetricVerdict) -> str:
    """What a figure is held to, and what it rests on: "PASS > 0.8; n = 60"."""
    return "; ".join(filter(None, (f"PASS {item.limit}", rests_on(item))))


# -- what a verdict means, and what is shown beside it: printed in every report


def what_this_means(result: RunResult) -> str:
    return " ".join(means_lines(result))


def ungated_lines(result: RunResult) -> list[str]:
    """What is shown beside the verdict and never gated, a line each, details indented: the mean curve, repeats, the
    baseline, the sanity band."""
    notes = reason_texts(result.baseline.notes) if result.baseline else []
    return lines_beside_verdict(result, notes)
