"""What short texts come down to: patterns, alarms, meals, values, directions, leanings."""

from __future__ import annotations

import time

import pytest

from pytest_clinical_drift.evidence.advice import find_advice
from pytest_clinical_drift.evidence.guidance.alarms import LEVELS, alarms_of, eased
from pytest_clinical_drift.evidence.guidance.directions import direction_of
from pytest_clinical_drift.evidence.guidance.leanings import leanings_of
from pytest_clinical_drift.evidence.guidance.meals import meals_of
from pytest_clinical_drift.evidence.guidance.patterns import Pattern, spaced
from pytest_clinical_drift.evidence.guidance.rhythms import days_listed, times_listed
from pytest_clinical_drift.evidence.guidance.values import values_of


def test_pattern_parts() -> None:
    """Alternatives, endings, words that may be missing, gaps, and parts in any order."""
    assert Pattern("face|mouth & droop*").found(spaced(["a", "drooping", "face"]))
    assert not Pattern("face & droop*").found(spaced(["a", "drooping", "eyelid"]))
    assert Pattern("park it (for) later").found("park it later ")
    assert Pattern("wait ~ monday").found("wait for the clinic on monday ")
    assert not Pattern("wait ~ monday").found("wait for the next free clinic slot on monday ")
    assert not Pattern("rash").found("rashes ")


def test_pattern_places() -> None:
    """Offsets of the first part, in words that are each followed by a space."""
    assert Pattern("ring & now").places("please ring us now ") == [(7, 12)]


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("That's a 999 call.", "now"),
        ("Don't wait for Monday.", "now"),
        ("Ring the ward this minute.", "now"),
        ("See the duty doctor this afternoon.", "same_day"),
        ("Book a slot later in the week.", "days"),
        ("Sleep on it.", "days"),
        ("That'll keep until your review.", "later"),
        ("There's no need for an ambulance.", "later"),
        ("Raise it at your annual review.", "later"),
        ("It isn't an emergency.", "later"),
    ],
)
def test_level_of_an_alarm(text: str, level: str) -> None:
    """How soon, in many wordings; negation turns it."""
    flat = alarms_of(text).flat()
    assert flat is not None
    assert LEVELS[flat.level] == level


def test_a_condition_makes_no_flat_alarm() -> None:
    """ "If …, call 999" says nothing of the situation at hand."""
    alarms = alarms_of("If his lips turn blue, call 999.")
    assert alarms.flat() is None
    assert alarms.found[0].condition is not None
    assert "blue lips" in alarms.found[0].condition.signs


def test_no_alarm_in_plain_advice() -> None:
    """A time without care, and text without words."""
    assert alarms_of("Take the tablet tonight.").flat() is None
    assert alarms_of("?!").found == ()


def test_eased() -> None:
    """What has got better; "see whether it has gone" has not."""
    assert eased(alarms_of("The pain has settled.").joined)
    assert not eased(alarms_of("See whether it has gone.").joined)
    assert not eased(alarms_of("It hasn't settled.").joined)


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("Have it during your lunch.", "with"),
        ("Swallow it straight after eating.", "with"),
        ("Take it between meals.", "without"),
        ("No food for an hour either side of it.", "without"),
        ("It makes no difference whether you've eaten.", "either"),
        ("Take it at night.", None),
    ],
)
def test_relation_to_meals(text: str, relation: str | None) -> None:
    """With food, without it, either, or nothing said."""
    assert meals_of(text).relation == relation


def test_times_of_the_day_are_counted() -> None:
    """A list of hours is a rhythm; a choice of hours is none."""
    assert times_listed(["with", "breakfast", "dinner", "and", "at", "bedtime"]) == 3
    assert times_listed(["at", "noon", "and", "bedtime"]) == 2
    assert times_listed(["in", "the", "morning", "or", "at", "night"]) is None
    assert days_listed(["on", "saturdays", "and", "sundays"]) == 2
    assert days_listed(["at", "weekends"]) == 2
    assert days_listed(["on", "most", "days"]) is None


def test_values() -> None:
    """Lengths of time with their bounds; ages, stages and rates are none."""
    (value,) = values_of("Soak the foot for at least 20 minutes.")
    assert (value.kind, value.low) == ("time", 20.0)
    assert value.high > 1e9
    (most,) = values_of("Be back within two hours.")
    assert (most.low, most.high) == (0.0, 120.0)
    assert values_of("At 18 weeks pregnant you may feel kicks.") == ()
    assert values_of("Rest it for the first three days.") == ()
    assert [v.kind for v in values_of("Have 50 mg a day.")] == []


def test_values_without_a_unit_need_a_bound() -> None:
    """ "above 7" sets something, "7" does not."""
    (value,) = values_of("Keep the score above 7.")
    assert (value.kind, value.low) == ("level", 7.0)
    assert values_of("The score was 7.") == ()


def test_direction_by_directive_and_by_words() -> None:
    """More, less, and neither where a text says both."""
    assert direction_of("Put the furosemide up.").way == 1
    assert direction_of("Use less prednisolone from here.").way == -1
    assert direction_of("Raise the ramipril and cut the furosemide.").way == 0
    assert direction_of("Take ramipril at night.").way == 0


@pytest.mark.parametrize(
    ("text", "stance"),
    [
        ("A yoghurt would be lovely for her.", 1),
        ("Sulfonylureas are drugs to shun.", -1),
        ("How about a yoghurt before bed?", 1),
        ("There's scarcely any merit in a neck collar.", -1),
        ("There's nothing wrong with a neck collar.", 1),
        ("Gabapentinoids fog the mind. Not those, thanks.", -1),
    ],
)
def test_leanings(text: str, stance: int) -> None:
    """An odd number of turning words leans against a thing."""
    assert {advice.stance for advice in (*find_advice(text), *leanings_of(text)) if advice.stance} == {stance}


def test_hostile_text_is_read_in_linear_time() -> None:
    """Twice the text takes about twice as long."""

    def seconds(size: int) -> float:
        text = "let it be and watch how the swollen knee is, never before " * size
        start = time.process_time()
        alarms_of(text), meals_of(text), values_of(text), direction_of(text), leanings_of(text)
        return time.process_time() - start

    seconds(5)
    small, large = min(seconds(40), seconds(41)), min(seconds(160), seconds(161))
    assert large < 12 * small
