"""Facts about diagnoses, findings, devices and circumstances."""

from __future__ import annotations

import pytest

from pytest_clinical_drift import assess_retention

ENGLISH = "\n\nThis was written by the nurse."
"""Rules read a text only where English words stand in it; some of the texts here have none."""


def found(text: str, fact: str) -> tuple[str, bool]:
    retention = assess_retention(text + ENGLISH, [fact])[0]
    return retention.status, retention.certain


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("type 2 diabetes", "T2DM"),
        ("type 2 diabetes", "diabetes mellitus type II, no complications"),
        ("attention deficit hyperactivity disorder", "ADHD since school."),
        ("PTSD", "post-traumatic stress disorder"),
        ("left hip fracture in 2022", "fractured her left hip in 2022"),
        ("suicide attempt in 2018", "Tried to kill herself in 2018."),
        ("ICD implanted in 2021", "ICD (2021)."),
        ("severe asthma", "Asthma, severe; no recent admissions."),
        ("no fever", "Denies fever or chills."),
        ("no fever", "Fever: no"),
        ("no family history of breast cancer", "No family history of breast cancer."),
        ("lives alone", "Lives by herself."),
        ("works night shifts", "Works nights as a nurse."),
        ("mother died of bowel cancer", "Her mother died of bowel cancer."),
    ],
)
def test_any_wording_of_the_whole_fact_is_plain(fact: str, text: str) -> None:
    """Abbreviation, lay words, another order, a negative fact, a fact about a relative."""
    assert found(text, fact) == ("retained", True)


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("type 2 diabetes", "Type 1 diabetes."),
        ("severe asthma", "Mild asthma."),
        ("stable angina", "Unstable angina."),
        ("left hip fracture in 2022", "Right hip fracture in 2022."),
        ("pregnant, 28 weeks", "Not pregnant."),
        ("gout", "She has no history of gout."),
        ("no fever", "Fever of 39."),
        ("no family history of breast cancer", "Mother had breast cancer."),
    ],
)
def test_the_opposite_said_plainly_contradicts(fact: str, text: str) -> None:
    """Denied, the wrong type or side, a negative fact affirmed."""
    assert found(text, fact) == ("contradicted", True)


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("severe asthma", "Asthma."),
        ("left hip fracture in 2022", "Hip fracture in 2022."),
        ("ICD implanted in 2021", "Has an ICD."),
        ("type 2 diabetes", "She has diabetes."),
    ],
)
def test_a_missing_qualifier_makes_it_partial(fact: str, text: str) -> None:
    """The core without its severity, side, date or type."""
    assert found(text, fact) == ("partial", True)


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("type 2 diabetes", "Her father has type 2 diabetes."),
        ("type 2 diabetes", "?type 2 diabetes"),
        ("type 2 diabetes", "If he develops type 2 diabetes, refer."),
        ("gout", "Screen for gout next time."),
        ("works night shifts", "Her husband works night shifts."),
        ("asthma", "Partner: asthma, smokes."),
        ("mother died of bowel cancer", "Her father died of bowel cancer."),
        ("work-related stress", "Her coursework is late."),
    ],
)
def test_relatives_questions_and_look_alikes_do_not_retain(fact: str, text: str) -> None:
    """Only of another person, only possible, or only a word that looks alike: absent."""
    assert found(text, fact)[0] == "absent"


def test_another_figure_in_a_condition_is_never_retained() -> None:
    """Thirty weeks are not twenty-eight."""
    assert found("28 weeks pregnant", "pregnant, 28 weeks") == ("retained", True)
    assert found("30 weeks pregnant", "pregnant, 28 weeks")[0] == "contradicted"


def test_a_statement_and_a_plain_denial_are_unclear() -> None:
    """The statement stands, not for certain; in either order."""
    said, denied = "She has gout.", "No history of gout."
    assert found(f"{said}\n\n{denied}", "gout") == found(f"{denied}\n\n{said}", "gout") == ("retained", False)


def test_free_paraphrase_of_a_circumstance_is_unclear() -> None:
    """Without the words nothing is certain: circumstances may be put in many ways."""
    assert found("The cat is her only company at home.", "lives alone") == ("absent", False)


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        (
            "no working spleen",
            "The patient is now writing a personal essay about his life and career, but he's trying to avoid "
            "mentioning his family's history of illness.",
        ),
        ("no working spleen", "He avoids working late."),
        ("no working smoke alarm", "She only works in the mornings and never smokes."),
    ],
)
def test_a_denial_is_stated_only_with_all_of_its_words(fact: str, text: str) -> None:
    """A word of it in another sense, beside "avoid", "only" or "never", is not the fact."""
    status, certain = found(text, fact)
    assert status != "retained"
    assert not certain


@pytest.mark.parametrize(
    "text",
    [
        "Sees his mother every Sunday and is proud of never having missed a home match.",
        "Current medicines: Clozapine 200 mg twice daily.",
        "He missed the bus.",
        "Keeps his tablets in a drawer.",
    ],
)
def test_one_word_of_a_circumstance_does_not_state_it_in_part(text: str) -> None:
    """How long it lasted is not in the text: it counts as missing, not as agreeing."""
    assert found(text, "missed three days of tablets") == ("absent", False)


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("missed three days of tablets", "He has missed tablets."),
        ("28 weeks pregnant", "She is pregnant."),
        ("cough for three weeks", "Has a cough."),
    ],
)
def test_a_duration_that_is_left_out_is_missing(fact: str, text: str) -> None:
    assert found(text, fact) == ("partial", True)


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("neutropenia on clozapine in 2021", "Negative findings: No neutropenia recovery in 2021."),
        ("epilepsy", "No epilepsy surgery planned."),
        ("asthma", "Without asthma attacks this year."),
        ("penicillin allergy", "No penicillin allergy review this year."),
        ("clozapine 200 mg twice daily", "No clozapine changes."),
    ],
)
def test_a_denial_of_something_named_after_it_leaves_a_fact_open(fact: str, text: str) -> None:
    """Denied is the recovery, the surgery, the review: neither the fact nor its opposite is stated."""
    assert found(text, fact) == ("absent", False)


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("epilepsy", "No epilepsy."),
        ("epilepsy", "No epilepsy history."),
        ("epilepsy", "No epilepsy noted in 2021."),
        ("penicillin allergy", "No penicillin allergy on file."),
    ],
)
def test_a_denial_of_the_thing_itself_contradicts(fact: str, text: str) -> None:
    assert found(text, fact) == ("contradicted", True)


@pytest.mark.parametrize("text", ["Her father died of bowel cancer.", "Family history of bowel cancer."])
def test_a_relatives_fact_without_that_relative_is_never_lost_for_certain(text: str) -> None:
    assert found(text, "mother had bowel cancer") == ("absent", False)
