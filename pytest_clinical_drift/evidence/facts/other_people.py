"""Where rules cannot be sure whom a summary speaks of: "Percy Wainwright's blood results: eGFR 57"."""

import re
from collections.abc import Iterator
from dataclasses import replace

from pytest_clinical_drift.evidence.facts.fact import PARTIAL, RETAINED, Outcome
from pytest_clinical_drift.evidence.reading.text import Document

_NAMED = re.compile(
    r"^[\W\d_]*(?:patient(?: name)?\W+)?(?i:mr|mrs|ms|miss|dr)?\.?\s*(?P<name>[A-Z][a-z]+(?:[ -][A-Z][a-z]+)+)"
    r"(?:['’]s\b|,|\W* (?:has|is|was|had|takes|took|lives|wants|asked|needs)\b)"
)
"""A line that begins with somebody's full name: the first one in a summary is the patient's."""


def unsure_of_person(document: Document, outcome: Outcome) -> Outcome:
    """What rests on words that may be about somebody else, or only seem to be, is not certain."""
    if not outcome.certain or outcome.status in (RETAINED, PARTIAL) or not outcome.spans:
        return outcome
    places = [document.starts[first] for first, _ in outcome.spans]
    if any(begin <= place < end for place in places for begin, end in _about_others(document.raw)):
        return replace(outcome, certain=False)
    if outcome.rule == "someone-else" and all(_begins_item(document, first) for first, _ in outcome.spans):
        return replace(outcome, certain=False)  # "sister died suddenly at nineteen, no asthma, vegan"
    return outcome


def _about_others(text: str) -> Iterator[tuple[int, int]]:
    """From a line that begins with another full name to the next that begins with the patient's."""
    owner, begin, place = "", -1, 0
    for line in text.splitlines(keepends=True):
        if found := _NAMED.match(line):
            name = found["name"]
            owner = owner or name
            if name == owner and begin >= 0:
                yield begin, place
            begin = -1 if name == owner else begin if begin >= 0 else place
        place += len(line)
    if begin >= 0:
        yield begin, place


def _begins_item(document: Document, first: int) -> bool:
    """Whether a comma stands straight before the words, or before the "no" of "no asthma"."""
    return any("," in document.gaps[place] for place in (first, first - 1) if place > 0)
