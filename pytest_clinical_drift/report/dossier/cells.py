"""What a summary says of a fact: a coloured cell with a symbol."""

from collections.abc import Iterable
from dataclasses import dataclass

from pytest_clinical_drift.scoring.assessment import AlarmState, SettledFact

_SYMBOLS = {"retained": "●", "partial": "◐", "contradicted": "✕", "absent": "○", "stale": "↺", "open": "?"}


@dataclass(frozen=True, slots=True)
class Cell:
    style: str
    """Class of the style sheet: a status, `open` where the question is, `blank` where the fact was not true."""
    symbol: str
    title: str
    text: str
    """The fact, in the wording that was true then."""


BLANK = Cell(style="blank", symbol="", title="not true of the patient at that turn, or not evaluated", text="")


def cell_of(finding: SettledFact | None) -> Cell:
    """Its status, or that the question is open; blank where the fact did not hold."""
    if finding is None:
        return BLANK
    status: str = "stale" if finding.stale else finding.status
    style = status
    if finding.state == AlarmState.OPEN:
        style = "open"
        status = f"open, {finding.alarm}?"
    title = f"{status}: {finding.reason}" if finding.reason else status
    return Cell(style=style, symbol=_SYMBOLS[style], title=title, text=finding.text)


def cells_of(findings: Iterable[SettledFact], facts: Iterable[str]) -> list[Cell]:
    """What a summary says of these facts, whatever wording of each was true then."""
    found = {finding.fact_id: finding for finding in findings}
    return [cell_of(found.get(fact)) for fact in facts]
