"""How reports name and write what the gate counts: words, numbers, and figures with both ends of open alarms."""

import datetime
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from pytest_clinical_drift.core.packaged import load_data
from pytest_clinical_drift.core.text import counted as counted
from pytest_clinical_drift.core.text import listed as listed
from pytest_clinical_drift.core.text import rounded as rounded
from pytest_clinical_drift.core.text import span as span
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.verdict.metric_table import metric_named
from pytest_clinical_drift.verdict.reason_record import values_of
from pytest_clinical_drift.verdict.reasons import FigureState, Reason
from pytest_clinical_drift.verdict.values import MetricVerdict

_BARS = "▁▂▃▄▅▆▇█"
_COMPARED = re.compile(r"[<>]=? *([-+]?\d[\d.e+-]*)")


@cache
def words(section: str, name: str = "report_words") -> Any:
    """A table of the words that reports use."""
    return load_data(name)[section]


def label(metric: str) -> str:
    return str(words("metrics").get(metric, {}).get("label", metric))


def one_event(metric: str) -> str:
    """A single event of a metric: "hard stop"."""
    return str(words("metrics")[metric]["one"])


def cannot_happen(metric: str) -> str:
    """Why a metric cannot happen in a case: "no fact changes"."""
    return str(words("metrics")[metric]["cannot"])


def wrong_with(metric: str) -> str:
    """What a metric outside its limits says of a model: "advises unsafely"."""
    return str(words("diagnoses").get(metric) or f"is outside the limit of {label(metric)}")


def kind_name(kind: str) -> str:
    """A group of kinds of question, or a single kind, as a reader knows it."""
    return str(words("groups").get(kind) or words("kinds").get(kind, {}).get("name", kind))


def begun(text: str) -> str:
    """The text as a sentence begins: its first letter is a capital one."""
    return text[:1].upper() + text[1:]


def thousands(count: int) -> str:
    """ "12,345"."""
    return f"{count:,}"


def day(moment: datetime.datetime) -> str:
    return moment.date().isoformat()


# -- numbers


def number(metric: str, value: float | None, limits: Iterable[float] = ()) -> str:
    return rounded(value, words("metrics").get(metric, {}).get("format", "g"), limits)


def limit_numbers(*limits: str) -> list[float]:
    """The numbers of limits as they are written: "> 0.8" has 0.8."""
    return [float(number) for limit in limits for number in _COMPARED.findall(limit)]


def sparkline(curve: Sequence[float | None]) -> str:
    """A recall curve in one character per probed turn; a dot where nothing was evaluated."""
    return "".join("·" if value is None else _BARS[min(7, int(value * 8))] for value in curve)


# -- figures of a verdict


def is_unread_zero(item: MetricVerdict) -> bool:
    """Whether a count of events is 0 only because nobody who may decide has read for it: no 0 was measured."""
    return item.verdict == FigureState.UNREAD and item.value == 0 and metric_named(item.metric).made_of_events


def judged_text(item: MetricVerdict, *, of_set: bool = False) -> str:
    """A judgement's value; the word for having none where it has none, or nobody has read for it."""
    return str(item.verdict) if item.value is None or is_unread_zero(item) else _bounded(item, item.value, of_set)


def worse_text(item: MetricVerdict, *, of_set: bool = False) -> str:
    """The value with open alarms counted against the model; empty where it is the same."""
    return "" if item.worst is None or item.worst == item.value else _bounded(item, item.worst, of_set)


def _bounded(item: MetricVerdict, value: float, of_set: bool) -> str:
    """A metric's value: over the set events count cases, within a case they count facts or what else there is."""
    if metric_named(item.metric).counts_events:
        shown = counted(value, "case" if of_set else words("metrics")[item.metric].get("unit", "fact"))
    else:
        shown = number(item.metric, value, limit_values(item))
    return f"at least {shown}" if item.at_least else shown


def limit_values(item: MetricVerdict | None) -> list[float]:
    """The numbers of a judgement's limits, on whose right side every figure has to be seen."""
    return limit_numbers(item.limit, item.caution) if item else []


def interval_text(item: MetricVerdict) -> str:
    """A judgement's interval; empty where it has none, or nobody has read for the figure."""
    if item.interval is None or is_unread_zero(item):
        return ""
    return span(item.interval.low, item.interval.high, ".3f", limit_values(item))


def shared_reasons(judgements: Sequence[MetricVerdict]) -> list[Reason]:
    """Reasons for having no figure that more than two metrics have: told once, below the table."""
    missing = [item.reasons[0] for item in judgements if item.value is None and item.reasons]
    counts = Counter(reason.code for reason in missing)
    by_code = {reason.code: reason for reason in reversed(missing) if not values_of(reason)}
    return [by_code[code] for code in counts if counts[code] > 2 and code in by_code]


def breaches_read(result: RunResult) -> bool:
    """Whether somebody who may decide has read replies for broken demands: rules alone confirm none."""
    return "breach" in result.deciders.deciding or bool(result.deciders.reviewers)
