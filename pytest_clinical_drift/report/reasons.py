"""Reasons as sentences: a macro of `data/templates/reasons.txt.j2` for each class; and what a verdict means."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

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
from pytest_clinical_drift.verdict.reasons import (
    CasesWithEvent,
    CasesWouldSettle,
    Corrected,
    Figure,
    FigureState,
    PerReplies,
    Reason,
    TooCloseToSettle,
)
from pytest_clinical_drift.verdict.values import MetricVerdict

TEMPLATE = "reasons.txt.j2"


def reason_text(reason: Reason, judgements: Sequence[MetricVerdict] = ()) -> str:
    """One reason; one that names a figure takes it from the judgements."""
    if isinstance(reason, Figure):
        return next(figure_sentence(item) for item in judgements if item.metric == reason.metric)
    return _sentence(reason)


def reason_texts(reasons: Sequence[Reason], judgements: Sequence[MetricVerdict] = ()) -> list[str]:
    return [reason_text(reason, judgements) for reason in reasons]


def rests_on(item: MetricVerdict) -> str:
    """What a figure rests on, or why it has none, in one line."""
    shown = item.reasons
    if is_unread_zero(item):
        # as many cases as there are settle no figure that nobody has read for
        shown = tuple(why for why in shown if not isinstance(why, CasesWouldSettle | TooCloseToSettle))
    return "; ".join(_text_beside(why, item) for why in shown)


def worded(item: MetricVerdict) -> tuple[Reason, ...]:
    """The reasons of a figure with their sentences."""
    return tuple(replace(why, text=_text_beside(why, item)) for why in item.reasons)


def _text_beside(why: Reason, item: MetricVerdict) -> str:
    """A reason of a figure; a number that is held to its limits is written as the figure is, and none that nobody has
    read for as if it had been measured."""
    read = not is_unread_zero(item)
    if isinstance(why, Corrected):
        return _sentence(why, limits=limit_values(item))
    if isinstance(why, PerReplies):
        return _sentence(why, read=read, raised=bool(item.worst))
    if isinstance(why, CasesWithEvent):
        # what nobody has read for has no true rate that it is compatible with
        shown = replace(why, upper=None) if item.verdict == FigureState.UNREAD else why
        return _sentence(shown, read=read)
    return reason_text(why)


def _sentence(reason: Reason, **beside: Any) -> str:
    """The macro of its code; `beside` is what the figure adds to the reason."""
    macro = getattr(environment().get_template(TEMPLATE).module, reason.code.value)
    return " ".join(str(macro(reason, **beside)).split())


def shared_lines(judgements: Sequence[MetricVerdict]) -> list[str]:
    """Why more than two figures have no value, told once and with the word that stands in their place."""
    lines = []
    for shared in shared_reasons(judgements):
        without = [item for item in judgements if item.value is None and item.reasons]
        states = [item.verdict for item in without if item.reasons[0].code is shared.code]
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
        if isinstance(why, CasesWithEvent):
            finished = text_lines(TEMPLATE, "finished", cases=why.cases, restricted=why.restricted)[0]
            cases = f"{item.value:g} of {finished}"
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
