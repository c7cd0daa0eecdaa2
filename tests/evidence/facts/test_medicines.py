"""Facts about medicines: which statement stands, which contradicts, what is only part of it, and what is unclear."""

from __future__ import annotations

import pytest

from pytest_clinical_drift import assess_retention

FACT = "sertraline 50 mg once daily"
ENGLISH = "\n\nThis was written by the nurse."
"""Rules read a text only where English words stand in it; some of the texts here have none."""


def found(text: str, fact: str = FACT) -> tuple[str, bool]:
    retention = assess_retention(text + ENGLISH, [fact])[0]
    return retention.status, retention.certain


@pytest.mark.parametrize(
    "text",
    [
        "On Zoloft 50 mg o.d.",
        "Sertraline 50\u202fmg once a day.",
        "Sertraline (Zoloft) – 50mg – daily",
        "Takes fifty milligrams of sertraline every morning.",
        "| Drug | Dose |\n|---|---|\n| Sertraline | 50 mg once daily |",
        "## Medicines\n- sertraline 0.05 g daily",
    ],
)
def test_any_wording_of_the_whole_regimen_is_plain(text: str) -> None:
    """Brand, unit, typography, table or list: the same content is stated plainly."""
    assert found(text) == ("retained", True)


@pytest.mark.parametrize(
    "text",
    [
        "Sertraline was raised from 25 mg to 50 mg once daily.",
        "Sertraline 50 mg once daily, lowered from 100 mg by the clinic.",
        "Sertraline 50 mg once daily (target 100 mg).",
        "Sertraline 50 mg once daily, to go up to 100 mg in May.",
        "Sertraline 50 mg once daily.\n\nA level of sertraline is not on file.",
        "Sertraline 50 mg once daily is on hold until Friday.",
        "Takes sertraline 50 mg once daily and was told not to stop sertraline.",
        "Sertraline 50 mg once daily. No sertraline level was taken.",
        "Sertraline 50 mg once daily; her brother takes sertraline 200 mg once daily.",
        "Sertraline 50 mg once daily. Could sertraline be doubled?",
        "Takes sertraline 50 mg once daily without side effects; not on lithium.",
    ],
)
def test_a_plain_statement_stands_whatever_is_said_around_it(text: str) -> None:
    """An earlier or planned dose, a hold, a warning, a question, other people's tablets take nothing away."""
    assert found(text) == ("retained", True)


@pytest.mark.parametrize(
    "text",
    [
        "Sertraline 100 mg once daily.",
        "Sertraline 50 micrograms once daily.",
        "Sertraline 50 mg once weekly.",
        "Sertraline 50 mg twice daily.",
        "She is not taking sertraline.",
        "Sertraline was stopped in May.",
        "Stopped 100 mg sertraline in May.",
        "Takes no antidepressants.",
        "Takes fluoxetine instead of sertraline.",
    ],
)
def test_another_regimen_or_a_plain_end_contradicts(text: str) -> None:
    """Another amount, unit or interval, not taken, stopped, replaced: the opposite is said plainly."""
    assert found(text) == ("contradicted", True)


@pytest.mark.parametrize(
    "text",
    [
        "Stopped 50 mg sertraline in May.",
        "Sertraline 50 mg once daily was stopped in May.",
        "Sertraline 50 mg once daily, now stopped.",
        "Sertraline 50 mg once daily (stopped in May).",
    ],
)
def test_an_end_with_the_whole_regimen_is_never_plainly_retained(text: str) -> None:
    """It may be the end of a pause: unclear, but not stated."""
    assert found(text) == ("contradicted", False)


@pytest.mark.parametrize(
    ("text", "missing"),
    [("Takes sertraline.", "dose"), ("Sertraline 50 mg.", "how often")],
)
def test_what_is_left_out_makes_it_partial(text: str, missing: str) -> None:
    """The medicine without its dose, the dose without its interval; the reason names what is missing."""
    retention = assess_retention(text + ENGLISH, [FACT])[0]
    assert (retention.status, retention.certain) == ("partial", True)
    assert missing in retention.reason


def test_the_class_alone_is_an_unclear_part() -> None:
    """ "An SSRI" may be the one; nobody can tell."""
    assert found("Takes an SSRI.") == ("partial", False)


def test_two_current_doses_are_unclear() -> None:
    """A plain statement beside another current value stands, but not for certain, and both are quoted."""
    retention = assess_retention("Sertraline 50 mg once daily.\n\nSertraline 100 mg once daily.", [FACT])[0]
    assert (retention.status, retention.certain) == ("retained", False)
    assert len(retention.evidence) == 2


def test_another_dose_that_is_a_fact_of_its_own_is_no_rival() -> None:
    """A daily tablet and an emergency injection of one medicine are two facts, both plain."""
    facts = ["hydrocortisone 20 mg daily", "hydrocortisone 100 mg as an emergency injection"]
    text = "Takes hydrocortisone 20 mg daily.\n\nCarries hydrocortisone 100 mg as an emergency injection."
    assert [(r.status, r.certain) for r in assess_retention(text, facts)] == [("retained", True)] * 2


@pytest.mark.parametrize(
    "text",
    [
        "Her sister takes sertraline 50 mg once daily.",
        "She asked whether sertraline 50 mg once daily would help.",
        "Consider sertraline 50 mg once daily.",
        "Sertraline was 50 mg once daily and is now 100 mg once daily.",
        "Switched from sertraline 50 mg to fluoxetine 20 mg.",
    ],
)
def test_other_people_questions_plans_and_the_past_do_not_retain(text: str) -> None:
    """Not the patient's, not asserted or no longer so."""
    assert found(text)[0] in ("absent", "contradicted")


def test_hidden_reasoning_states_nothing() -> None:
    """What stands only inside a reasoning block is absent."""
    assert found(f"<think>{FACT}</think>She is well.")[0] == "absent"


def test_another_medicine_in_the_same_dose_is_none_of_it() -> None:
    """Medicines have names."""
    assert found("She takes citalopram 50 mg once daily.")[0] == "absent"


@pytest.mark.parametrize(
    ("fact", "same", "other"),
    [
        ("methotrexate 15 mg once weekly", "Methotrexate 15 mg every week.", "Methotrexate 15 mg daily."),
        ("Seretide 250/50 two puffs twice daily", "Seretide 250/50, 2 puffs b.d.", "Seretide 125/50, 2 puffs b.d."),
        ("levothyroxine 100 micrograms daily", "Thyroxine 0.1 mg once a day.", "Levothyroxine 100 mg daily."),
        ("insulin glargine 18 units at night", "Lantus 18 u nocte.", "Lantus 81 units at night."),
        ("morphine 10 mg every 4 hours as needed", "Morphine 10 mg 4-hourly prn.", "Morphine 100 mg 4-hourly prn."),
    ],
)
def test_units_strengths_and_intervals_are_compared_by_value(fact: str, same: str, other: str) -> None:
    """Weekly is not daily, a milligram no microgram, 250/50 not 125/50."""
    assert found(same, fact)[0] == "retained"
    assert found(other, fact)[0] == "contradicted"


def test_a_medicine_that_was_stopped_is_retained_by_its_end() -> None:
    """The fact says that it ended; saying so states it."""
    assert found("Clozapine was stopped in 2019.", "clozapine stopped in 2019") == ("retained", True)
    assert found("Off clozapine since 2019.", "clozapine stopped in 2019") == ("retained", True)


def test_taking_none_of_a_class() -> None:
    """ "No psychotropic medication" is stated by a denial, contradicted by a member that is taken."""
    fact = "no psychotropic medication"
    assert found("Takes no psychotropic medication.", fact) == ("retained", True)
    assert found("Takes sertraline 50 mg.", fact) == ("contradicted", True)
    assert found("Takes paracetamol.", fact)[0] == "absent"


def test_what_ended_further_down_a_list_is_not_the_medicine() -> None:
    """ "removed" belongs to the spleen; only a judge can be sure of such a sentence."""
    text = "Diabetes treated with metformin twice daily, HbA1c 58 mmol/mol, no asthma, spleen removed after a crash."
    (found,) = assess_retention(text, ["metformin 1 g twice daily"])
    assert not found.certain
    (found,) = assess_retention("Metformin was stopped in May.", ["metformin 1 g twice daily"])
    assert (found.status, found.certain) == ("contradicted", True)
