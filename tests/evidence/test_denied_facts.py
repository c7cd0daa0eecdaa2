"""Facts that state an absence: denied in any words, said to be normal, denied of nobody, or there after all."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.facts.mixed import halves
from pytest_clinical_drift.evidence.retention import assess_retention


def status(text: str, fact: str) -> str:
    return assess_retention(text, [fact])[0].status


KEPT: dict[str, list[str]] = {
    "no fever": ["Temperature normal, afebrile.", "He has had no temperature."],
    "no weight loss": ["Her weight has been steady.", "Weight unchanged."],
    "no blood in stool": ["She hasn't seen blood in her stools.", "He has not noticed any blood in the stools."],
    "no bladder or bowel symptoms": [
        "No bladder or bowel problems.",
        "No trouble with her bladder or bowels.",
        "Bowel and bladder function intact.",
        "There are no red flags: no weakness in the leg and no bladder or bowel problems.",
    ],
    "never injected drugs": [
        "He smoked heroin but never injected.",
        "No injecting, ever.",
        "She has never used needles.",
    ],
    "no command hallucinations": [
        "The voices do not tell him to do anything.",
        "The voices don't give commands.",
        "He isn't hearing any commands.",
    ],
    "voices are not commanding": ["The voices comment on her cooking but do not give orders."],
    "no thoughts of harming the baby": [
        "No thoughts of harming her son.",
        "She has never had thoughts of hurting him.",
    ],
    "no side effects from sertraline": [
        "She tolerates sertraline well.",
        "He has had no problems with the sertraline.",
    ],
    "does not drive": ["He has never driven."],
    "must not drive": ["He is a taxi driver and is not allowed to drive for now."],
    "no alcohol": ["He has stayed away from alcohol."],
    "no retinopathy": ["Eye screening: no DR."],
    "no siblings": ["She is an only child."],
    "no TB drug resistance": ["TB with no drug resistance.", "TB, fully drug-sensitive."],
    "no breast cancer recurrence": ["Breast cancer in 2018, no recurrence."],
    "no plans for surgery": ["No surgery is planned.", "She is not planning to have surgery."],
    "no recent travel": ["He has not been abroad recently."],
    "no loss of consciousness": ["He stayed conscious throughout."],
    "no family history of bowel cancer": [
        "No one in her family has had bowel cancer.",
        "None of the women in the family had bowel cancer.",
        "Family history of bowel cancer: none.",
        "Bowel cancer does not run in the family.",
    ],
}
AGAINST: dict[str, list[str]] = {
    "never smoked": ["Ex-smoker.", "He quit smoking in 2010."],
    "never married": ["She is divorced."],
    "never injected drugs": ["He injected heroin for two years."],
    "no command hallucinations": ["The voices command him to jump."],
    "no TB drug resistance": ["TB with rifampicin resistance."],
    "no breast cancer recurrence": ["Breast cancer in 2018 with recurrence in the liver."],
    "no plans for surgery": ["Surgery is planned for the autumn."],
    "no family history of bowel cancer": ["Her father had bowel cancer.", "His brother died of bowel cancer."],
    "no weight loss": ["She has lost 4 kg."],
}
NOTHING: dict[str, list[str]] = {
    "no fever": [
        "He had the yellow fever vaccine.",
        "Yellow fever and other live vaccines can wait.",
        "Call us if there is fever.",
        "Temp 38.5, pulse normal.",
    ],
    "no anaemia": ["Hb 92, MCV normal."],
    "no weight loss": ["Her weight has not been stable."],
    "no TB drug resistance": ["On treatment for TB."],
    "no breast cancer recurrence": ["She had breast cancer."],
    "never injected drugs": ["He smokes heroin."],
    "no family history of bowel cancer": ["Her mother has diabetes."],
}


def pairs(cases: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(fact, text) for fact, texts in cases.items() for text in texts]


@pytest.mark.parametrize(("fact", "text"), pairs(KEPT))
def test_denied_in_other_words(fact: str, text: str) -> None:
    """What is denied may be put as a denial of its own or as a function that is as it should be."""
    assert status(text, fact) == "retained"


@pytest.mark.parametrize(("fact", "text"), pairs(AGAINST))
def test_there_after_all(fact: str, text: str) -> None:
    """What is stated speaks against its absence; against "never" also what is over."""
    assert status(text, fact) == "contradicted"


@pytest.mark.parametrize(("fact", "text"), pairs(NOTHING))
def test_named_otherwise(fact: str, text: str) -> None:
    """A longer name, a warning, or the illness without what is denied of it says nothing."""
    assert status(text, fact) == "absent"


@pytest.mark.parametrize(
    ("fact", "text", "expected"),
    [
        ("hears voices without commands", "Hears two voices which don't tell him to do things.", "retained"),
        ("hears voices without commands", "He hears voices that command him to jump.", "contradicted"),
        ("hears voices without commands", "He hears voices.", "partial"),
        ("hears voices without commands", "Mood low.", "absent"),
        ("passive death wishes without suicidal intent", "Wishes she were dead; no suicidal intent.", "retained"),
        ("palpitations but no chest pain", "She has palpitations, no chest pain.", "retained"),
        ("palpitations but no chest pain", "Palpitations with chest pain.", "contradicted"),
    ],
)  # fmt: skip
def test_half_stated_half_denied(fact: str, text: str, expected: str) -> None:
    """Both halves of a mixed fact count, each in its own sense."""
    assert status(text, fact) == expected


@pytest.mark.parametrize(
    "fact", ["migraine without aura", "tried sertraline without benefit", "no fever", "lives alone"]
)
def test_facts_of_one_piece(fact: str) -> None:
    """Names with a "without" in them, manners, and plain facts are not taken apart."""
    assert halves(fact) is None


@pytest.mark.parametrize(
    ("fact", "text", "expected"),
    [
        ("mother has bipolar disorder", "Nobody in the family, not even mum, has a mental illness.", "contradicted"),
        ("depression", "No one in the family has bipolar disorder, but she has depression.", "retained"),
        ("epilepsy", "She has epilepsy. Nobody else in the family has epilepsy.", "retained"),
        ("drinks alcohol daily", "Nobody at home knows about his drinking, and he drinks daily.", "retained"),
    ],
)  # fmt: skip
def test_nobody_as_subject(fact: str, text: str, expected: str) -> None:
    """What nobody has is denied of relatives, not of the patient; what nobody knows is so."""
    assert status(text, fact) == expected


def test_asks_for_what_is_open() -> None:
    """A fact that is itself undecided is stated by a text that leaves it so."""
    assert status("His asylum claim is still pending.", "asylum claim pending") == "retained"
    assert status("He has applied for asylum twice before.", "asylum claim pending") != "retained"
