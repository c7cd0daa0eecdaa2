"""Reasons as sentences: a macro of `data/templates/reasons.txt.j2` for each code."""

from collections.abc import Sequence
from typing import Any

from pytest_clinical_drift.report.figures import (
    interval_text,
    is_unread_zero,
    judged_text,
    limit_values,
    shared_reasons,
    worse_text,
)
from pytest_clinical_drift.report.page import environment, text_lines
from pytest_clinical_drift.report.words import counted, label
from pytest_clinical_drift.verdict.metric_table import metric_named
from pytest_clinical_drift.verdict.reasons import Reason, ReasonCode
from pytest_clinical_drift.verdict.states import FigureState
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
    told = zip(item.reasons, basis_texts(item), strict=True)
    return "; ".join(text for why, text in told if why.code not in _BY_CASES or not is_unread_zero(item))


def basis_texts(item: MetricVerdict) -> list[str]:
    """The reasons of a figure; a number that is held to its limits is written as the figure is, and none that nobody
    has read for as if it had been measured."""
    return [reason_text(Reason(why.code, {**why.values, **_from_figure(item, why)})) for why in item.reasons]


def _from_figure(item: MetricVerdict, why: Reason) -> dict[str, Any]:
    """What a sentence needs to know of the figure that it is about."""
    if why.code is ReasonCode.CORRECTED:
        return {"limits": limit_values(item)}
    if why.code not in (ReasonCode.CASES_WITH_EVENT, ReasonCode.PER_REPLIES) or item.verdict != FigureState.UNREAD:
        return {}
    # what nobody has read for has no true rate that it is compatible with
    unknown = {"upper": None} if why.code is ReasonCode.CASES_WITH_EVENT else {}
    return {**unknown, "read": False, "raised": bool(item.worst)} if is_unread_zero(item) else unknown


def shared_lines(judgements: Sequence[MetricVerdict]) -> list[str]:
    """Why more than two figures have no value, told once and with the word that stands in their place."""
    lines = []
    for shared in shared_reasons(judgements):
        states = [i.verdict for i in judgements if i.value is None and i.reasons and i.reasons[0].code is shared.code]
        lines.append(f"{' or '.join(dict.fromkeys(map(str, states)))}: {reason_text(shared)}")
    return lines


def figure_sentence(item: MetricVerdict) -> str:
    """A figure of the set that decided: its value at both ends, against its limit."""
    if item.value is None:
        return f"{label(item.metric)} not evaluated: {rests_on(item)}"
    if is_unread_zero(item):
        return f"{label(item.metric)} unread: {rests_on(item)}"
    both = item.worst not in (None, item.value)
    if metric_named(item.metric).counts_events:
        open_alarms = f", {item.worst:g} with open alarms" if both else ""
        return f"{label(item.metric)} in {_of_cases(item)}{open_alarms}"
    interval = f" [{interval_text(item).replace(' to ', ', ')}]" if item.interval else ""
    worse = f", {worse_text(item)} with open alarms" if both else ""
    shown = f"{judged_text(item)}{worse}{interval}"
    return f"{label(item.metric)} {shown} ({beside_limit(item)})"


def _of_cases(item: MetricVerdict) -> str:
    """In how many cases something happened, of how many in which it could have been seen."""
    why = next((why for why in item.reasons if why.code is ReasonCode.CASES_WITH_EVENT), None)
    if why is None:
        return counted(item.value or 0, "case")
    (finished,) = text_lines(TEMPLATE, "finished", cases=why.values["cases"], restricted=why.values["restricted"])
    return f"{item.value:g} of {finished}"


def beside_limit(item: MetricVerdict) -> str:
    """What a figure is held to, and what it rests on: "PASS > 0.8; n = 60"."""
    return "; ".join(filter(None, (f"PASS {item.limit}", rests_on(item))))
