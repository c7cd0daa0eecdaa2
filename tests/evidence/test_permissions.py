"""Facts that something must not be taken, or is not wanted: forbidden, allowed, refused, accepted and taken."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.facts.permission import Stance, stance
from pytest_clinical_drift.evidence.retention import assess_retention
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.text import read


def status(text: str, fact: str) -> str:
    return assess_retention(text, [fact])[0].status


KEPT: dict[str, list[str]] = {
    "avoid ibuprofen": [
        "She must not take ibuprofen because of her kidneys.",
        "Ibuprofen isn't safe for you with your kidney disease.",
        "He has been told to steer clear of ibuprofen.",
        "Please don't reach for ibuprofen.",
        "| Medicine | Advice |\n| --- | --- |\n| Ibuprofen | avoid |",
    ],
    "avoid NSAIDs": ["NSAIDs: avoid.", "She knows not to use anti-inflammatory painkillers."],
    "beta-blockers contraindicated": ["Beta-blockers are unsuitable for him.", "She cannot have beta-blockers."],
    "triptans contraindicated": ["Triptans are ruled out because of his heart disease."],
    "must avoid grapefruit juice": ["He was told not to drink grapefruit juice.", "Grapefruit juice is off limits."],
    "avoid alcohol with metronidazole": ["He was warned not to drink alcohol while taking metronidazole."],
    "no opioids because of past addiction": ["Opioids are to be avoided because of his past addiction."],
    "no NSAIDs (on warfarin)": ["Paracetamol only, no anti-inflammatories with warfarin."],
    "declines benzodiazepines": [
        "He turned down diazepam and any other benzodiazepine.",
        "No wish for benzodiazepines: refused.",
    ],
    "declined statin": [
        "She does not wish to take a statin.",
        "She decided against a statin.",
        "Statin offered, declined.",
    ],
    "declined HRT": ["She has decided not to take HRT.", "HRT was discussed and she would rather not take it."],
    "refuses antidepressants": ["She is firmly against antidepressants.", "He won't take antidepressants."],
    "declined insulin": ["He turned insulin down."],
}
AGAINST: dict[str, list[str]] = {
    "avoid ibuprofen": [
        "Ibuprofen can be used for pain.",
        "Ibuprofen is fine for occasional use.",
        "There is no contraindication to ibuprofen.",
        "You don't need to avoid ibuprofen.",
        "She was advised to take ibuprofen with food.",
        "Ibuprofen was well tolerated.",
        "He takes ibuprofen 400 mg when the pain is bad.",
    ],
    "avoid NSAIDs": ["No restriction on NSAIDs.", "He can take naproxen for his gout.", "Naproxen 500 mg was started."],
    "beta-blockers contraindicated": [
        "There is no reason to withhold beta blockers.",
        "There's no reason why she shouldn't use a beta-blocker.",
        "Propranolol was started for tremor.",
    ],
    "avoid alcohol with metronidazole": ["He was told that alcohol is fine with metronidazole."],
    "no opioids because of past addiction": ["He takes tramadol for his back."],
    "declines benzodiazepines": [
        "He takes diazepam 2 mg when anxious.",
        "Lorazepam was started last week.",
        "He accepted a short course of lorazepam.",
    ],
    "declined HRT": ["She started HRT patches."],
}
ASIDE: dict[str, list[str]] = {
    "avoid ibuprofen": [
        "He asked whether ibuprofen was allowed.",
        "Her husband takes ibuprofen.",
        "Asked about ibuprofen.",
    ],
    "combined pill contraindicated": ["She asked whether she could go back on the combined pill."],
    "declines benzodiazepines": ["He takes sertraline 50 mg."],
}


def pairs(cases: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(fact, text) for fact, texts in cases.items() for text in texts]


@pytest.mark.parametrize(("fact", "text"), pairs(KEPT))
def test_forbidden_and_refused(fact: str, text: str) -> None:
    """However a text puts it that something is not to be taken or not wanted, the fact is there."""
    assert status(text, fact) == "retained"


@pytest.mark.parametrize(("fact", "text"), pairs(AGAINST))
def test_allowed_and_taken(fact: str, text: str) -> None:
    """Leave to take it, or taking it, speaks against the fact, and so does a member of the class."""
    assert status(text, fact) == "contradicted"


@pytest.mark.parametrize(("fact", "text"), pairs(ASIDE))
def test_only_asked_about(fact: str, text: str) -> None:
    """A question, or another person's medicine, says nothing of it."""
    assert status(text, fact) == "absent"


def test_forbidden_wins_over_a_question() -> None:
    """That the patient would like the medicine back does not make it taken."""
    text = "The combined pill is contraindicated. She asked about going back to Microgynon."
    assert status(text, "combined pill contraindicated") == "retained"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Take warfarin, avoid ibuprofen.", {"warfarin": None, "ibuprofen": Stance.FORBIDDEN}),
        ("Avoid ibuprofen, naproxen and aspirin.",
         dict.fromkeys(("ibuprofen", "naproxen", "aspirin"), Stance.FORBIDDEN)),
        ("She should avoid ibuprofen but can take paracetamol.",
         {"ibuprofen": Stance.FORBIDDEN, "paracetamol": Stance.ALLOWED}),
    ],
)  # fmt: skip
def test_each_medicine_has_its_own(text: str, said: dict[str, Stance | None]) -> None:
    """What is said of one medicine is not said of the next, unless they are one list."""
    document = read(text)
    found = {t.concept.name: stance(document, t.first, t.last) for t in term_index(document).medicines}
    assert found == said
