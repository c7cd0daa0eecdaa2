"""What reviews have settled, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pytest_clinical_drift.judging.reviews import DECLARED
from pytest_clinical_drift.verdict.values import counted


def change_sentence(change: Mapping[str, Any]) -> str:
    """Such as "UNSETTLED → PASS by 7 dismissals and 1 confirmation"; `change` is the results file's `reviewed`."""
    said = [
        counted(change[key], what)
        for key, what in (("dismissed", "dismissal"), ("confirmed", "confirmation"), ("cleared_upheld", "new alarm"))
        if change[key]
    ]
    if change["cleared_upheld"]:
        said[-1] += " among what the judge had cleared"
    before, after = change["from"], change["to"]
    verdicts = f"{before} → {after}" if before != after else f"{after} as before"
    if not said:
        return f"{verdicts}: the reviews settle no alarm"
    return f"{verdicts}{' by' if before != after else ', after'} {' and '.join(said)}"


def change_lines(change: Mapping[str, Any], cases: Iterable[tuple[str, str, str]], verdict: str) -> list[str]:
    """For the terminal; `cases` are those whose verdict changed, with both, `verdict` is the new one in a sentence."""
    told = [change_sentence(change), *(f"  {case_id}: {before} → {after}" for case_id, before, after in cases), verdict]
    if change["cleared_read"]:
        read = counted(change["cleared_read"], "answer")
        told.append(f"{read} that the judge had cleared read again, {change['cleared_upheld']} held against the model")
    if change["disputed"]:
        told.append(f"{counted(change['disputed'], 'alarm')} left open, because reviewers disagree")
    if change["open"]:
        told.append(f"{counted(change['open'], 'alarm')} still open")
    return [*told, f"{counted(change['records'], 'record')} by {', '.join(change['reviewers'])}; {DECLARED}"]


def reviews_sentence(dismissed: int, confirmed: int, reviewers: Iterable[str], records: int) -> str:
    """What the reviews given to a run have settled in it."""
    if not (people := ", ".join(reviewers)):
        return f"none of the {records} reviews given is about a text of this run"
    return f"{dismissed} alarms dismissed and {confirmed} confirmed by reviews of {people}; {DECLARED}"
