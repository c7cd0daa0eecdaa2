"""Reasons as sentences: a macro of `data/templates/reasons.txt.j2` for each code; and what a verdict means."""

from collections.abc import Sequence
from typing import Any

from pytest_clinical_drift.metrics.horizon import SLOPE_TURNS
from pytest_clinical_drift.report.page import environment, text_lines
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
    told = zip(item.reasons, basis_texts(item), strict=True)
    return "; ".join(text for why, text in told if why.code not in _BY_CASES or not is_unread_zero(item))


def basis_texts(item: MetricVerdict) -> list[str]:
    """The reasons of a figure; a number that is held to its limits is written as the figure is, and none that nobody
    has read for as if it had been measured."""
    return [reason_text(Reason(why.code, {**why.values, **_from_figure(item, why.code)})) for why in item.reasons]


def _from_figure(item: MetricVerdict, code: ReasonCode) -> dict[str, Any]:
    """What a sentence needs to know of the figure that it is about."""
    if code is ReasonCode.CORRECTED:
        return {"limits": limit_values(item)}
    if code not in (ReasonCode.CASES_WITH_EVENT, ReasonCode.PER_REPLIES) or item.verdict != FigureState.UNREAD:
        return {}
    # what nobody has read for has no true rate that it is compatible with
    unknown = {"upper": None} if code is ReasonCode.CASES_WITH_EVENT else {}
    return {**unknown, "read": False, "raised": bool(item.worst)} if is_unread_zero(item) else unknown


def shared_lines(judgements: Sequence[MetricVerdict]) -> list[str]:
    """Why more than two figures have no value, told once and with the word that stands in their place."""
    lines = []
    for shared in shared_reasons(judgements):
        states = [i.verdict for i in judgements if i.value is None and i.reasons and i.reasons[0].code is shared.code]
        lines.append(f"{' or '.join(dict.fromkeys(states))}: {reason_text(shared)}")
    return lines


def figure_sentence(item: MetricVerdict) -> str:
    """A figure of the set that decided: its value at both ends, against its limit."""
    name, worse = label(item.metric), worse_text(item)
    if item.value is None:
        return f"{name} not evaluated: {rests_on(item)}"
    if is_unread_zero(item):
        return f"{name} unread: {rests_on(item)}"
    if metric_named(item.metric).counts_events:
        return f"{name} in {_of_cases(item, item.value)}{f', {item.worst:g} with open alarms' if worse else ''}"
    interval = f" [{interval_text(item).replace(' to ', ', ')}]" if item.interval else ""
    return f"{name} {at_both_ends(item)}{interval} ({beside_limit(item)})"


def at_both_ends(item: MetricVerdict) -> str:
    """The value, and where open alarms make a difference that with them."""
    worse = worse_text(item)
    return judged_text(item) + (f", {worse} with open alarms" if worse else "")


def _of_cases(item: MetricVerdict, happened: float) -> str:
    """In how many cases something happened, of how many in which it could have been seen."""
    why = next((why.values for why in item.reasons if why.code is ReasonCode.CASES_WITH_EVENT), None)
    if why is None:
        return counted(happened, "case")
    (finished,) = text_lines(TEMPLATE, "finished", cases=why["cases"], restricted=why["restricted"])
    return f"{happened:g} of {finished}"


def beside_limit(item: MetricVerdict) -> str:
    """What a figure is held to, and what it rests on: "PASS > 0.8; n = 60"."""
    return "; ".join(filter(None, (f"PASS {item.limit}", rests_on(item))))


# -- what a verdict means, what it rests on and what it does not say: printed in every report


def what_this_means(result: RunResult) -> str:
    values = {"verdict": result.verdict, "complete": result.cases_complete, "control": result.deciders.control}
    return " ".join(text_lines("meaning.txt.j2", "means", counts=result.counts, **values))


def rests_on_lines(result: RunResult) -> list[str]:
    return text_lines("meaning.txt.j2", "rests_on", result=result, counts=result.counts)


def cut_lines(result: RunResult) -> list[str]:
    """Texts that the token limit cut off, and empty ones."""
    replay = result.manifest.model.startswith("replay:")
    return text_lines("meaning.txt.j2", "cut", counts=result.counts, replay=replay)


def ungated_lines(result: RunResult) -> list[str]:
    """What is shown beside the verdict and never gated, a line each, details indented: the mean curve, repeats, the
    baseline, the sanity band."""
    notes = reason_texts(result.baseline.notes) if result.baseline else []
    return text_lines("ungated.txt.j2", "lines", result=result, notes=notes, slope_turns=SLOPE_TURNS)
