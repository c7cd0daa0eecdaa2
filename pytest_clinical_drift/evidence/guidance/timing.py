"""When something is to be taken: with food or without, and at what time of day."""

from __future__ import annotations

from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.words import listed

_NOT_THEN = frozenset(("not", "never"))


def meal_timing(words: list[str]) -> str | None:
    """ "straight after a full meal", "an hour before any food": with or without food."""
    meals = listed("meals")
    if meals.isdisjoint(words):
        return None
    for at, word in enumerate(words):
        if word in meals:
            before = set(words[max(0, at - 5) : at])
            if before & {"before", "without", "clear", "between", "hours"} or (
                "hour" in before and "half" not in before
            ):
                return "without_food"
            if before & {"with", "after", "alongside", "during", "through", "middle"}:
                return "with_food"
    return None


def timing_of(sentence: Sentence, start: int, category: str) -> str | None:
    """The one time of day, or relation to food, that a sentence names from a word on; "never at night" names none."""
    if category not in sentence.categories:
        return None
    words = sentence.view.words
    found = [
        hit
        for hit in sentence.hits
        if hit.category == category
        and start <= hit.first
        and (category != "times_of_day" or _NOT_THEN.isdisjoint(words[max(start, hit.first - 3) : hit.first]))
    ]
    # "before you have eaten" is one phrase, not also "have eaten"
    outer = [hit for hit in found if not any(o.first <= hit.first and hit.end <= o.end and o != hit for o in found)]
    values = {hit.value for hit in outer}
    if "either" in values:
        return "either"
    return outer[0].value if len(values) == 1 else None


def clock_time(words: list[str]) -> str | None:
    """The time of day that "at 8 am" or "at 10 pm" is."""
    for at in range(1, len(words)):
        if words[at] in ("am", "pm") and words[at - 1].isdigit() and "at" in words[max(0, at - 3) : at]:
            late = words[at] == "pm" and 5 <= int(words[at - 1]) < 12
            return "morning" if words[at] == "am" else "evening" if late else None
    return None
