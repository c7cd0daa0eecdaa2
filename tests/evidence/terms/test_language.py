"""Rules read English only; what shows itself to be in another language they leave alone."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.terms.language import is_english

OTHERS = {
    "German": "Die Patientin nimmt Metformin zweimal am Tag und hat eine Allergie gegen Penicillin, die nicht neu ist.",
    "French": "La patiente prend de la metformine deux fois par jour et elle est allergique à la pénicilline.",
    "Spanish": "La paciente toma metformina dos veces al día y es alérgica a la penicilina desde que era niña.",
    "Italian": "La paziente prende la metformina due volte al giorno ed è allergica alla penicillina da anni.",
    "Russian": "Пациентка принимает метформин два раза в день, аллергия на пенициллин.",
    "Chinese": "患者每天服用两次二甲双胍，对青霉素过敏。",
}
ENGLISH = (
    "She takes metformin 500 mg twice daily and is allergic to penicillin.",
    "- Metformin 500 mg BD\n- Penicillin allergy (anaphylaxis)\n- HbA1c 58 mmol/mol",
    "Gout.",
    "",
    "Mrs de la Cruz was seen in El Paso by Dr van der Berg, who told her to rest and to come back in a week.",
    'He said „nein" and left, so the plan is to call him again.',
)


@pytest.mark.parametrize("name", OTHERS)
def test_other_languages_are_seen(name: str) -> None:
    assert not is_english(OTHERS[name])


@pytest.mark.parametrize("text", ENGLISH)
def test_english_and_bare_lists_are_read(text: str) -> None:
    """Names and single words of another language change nothing; what shows no language is read."""
    assert is_english(text)


def test_one_german_section_in_an_english_note_is_still_english() -> None:
    assert is_english(f"{ENGLISH[0]} {ENGLISH[4]} {ENGLISH[0]} The letter says: die Wunde ist sauber.")
