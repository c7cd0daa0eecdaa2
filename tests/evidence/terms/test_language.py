"""Rules read what they recognise as English; every other text they leave alone."""

from __future__ import annotations

import pytest

from pytest_clinical_drift import assess_retention
from pytest_clinical_drift.evidence.terms.language import ENGLISH_ONLY, NOT_ENGLISH, is_english, is_too_short_to_tell

PROSE = {
    "German": "Die Patientin nimmt Metformin zweimal am Tag und hat eine Allergie gegen Penicillin, die nicht neu ist.",
    "French": "La patiente prend de la metformine deux fois par jour et elle est allergique à la pénicilline.",
    "Spanish": "La paciente toma metformina dos veces al día y es alérgica a la penicilina desde que era niña.",
    "Italian": "La paziente prende la metformina due volte al giorno ed è allergica alla penicillina da anni.",
    "Dutch": "De patiënte gebruikt tweemaal per dag metformine en is allergisch voor penicilline sinds haar jeugd.",
    "Portuguese": "A paciente toma metformina duas vezes ao dia e é alérgica à penicilina desde a infância.",
    "Polish": "Pacjentka przyjmuje metforminę dwa razy dziennie i jest uczulona na penicylinę od dzieciństwa.",
    "Russian": "Пациентка принимает метформин два раза в день, аллергия на пенициллин.",
    "Chinese": "患者每天服用两次二甲双胍，对青霉素过敏。",
}
TELEGRAPHIC = {
    "German": (
        "T2DM. Metformin 500 mg 1-0-1. Penicillinallergie (Anaphylaxie 2009). Raucher, 20 py. Verheiratet.",
        "54 J., Diabetes mellitus Typ 2, art. Hypertonie. Metformin 2x tgl., Ramipril 5 mg. Keine bekannten Allergien.",
        "Z.n. Myokardinfarkt 2019, Stent RCA. ASS 100, Atorvastatin 40. RR 135/80. Follow-up 4 Wo.",
        "Asthma, Diabetes, Metformin 500, Ramipril 5",
        "Depression, Sertralin 50 mg. Lebt allein. Sturz vor 2 Wochen.",
    ),
    "Spanish": (
        "DM2, HTA. Metformina 850 mg BID. Alergia a penicilina. No fumador. Vive solo.",
        "Varón 54 a. Asma. Salbutamol a demanda. NAMC. Hijo sano.",
        "Hospital ayer. Dolor torácico, ECG normal, troponina negativa. Control en 2 semanas.",
    ),
    "French": (
        "DT2, HTA. Metformine 500 mg x2/j. Allergie pénicilline. Tabac 10 PA. Pas d'alcool.",
        "Patient 54 ans, diabète type 2, hypertension. Douleur thoracique, ECG normal. Infection urinaire.",
        "Femme enceinte 28 SA. Diabète gestationnel, insuline. Prescription fer.",
    ),
    "Dutch": (
        "DM2, hypertensie. Metformine 500 mg 2dd1. Penicillineallergie. Rookt niet. Woont alleen.",
        "Was in 2019 opgenomen met hartinfarct. Stent. Nu stabiel. Bloeddruk goed.",
        "Boezemfibrilleren, acenocoumarol, INR 2,4. Val 2 weken geleden. Geen alcohol. Week 12 controle.",
    ),
    "Italian": (
        "DM2, ipertensione. Metformina 500 mg 2/die. Allergia penicillina. Fumatore. Vive solo.",
        "Uomo 54 aa. Asma. Salbutamolo al bisogno. Nega allergie. Male alla gamba.",
        "FA in TAO, INR 2,4. Caduta 2 settimane fa. No alcol. Due figli.",
    ),
    "Portuguese": (
        "DM2, HAS. Metformina 850 mg 2x/dia. Alergia à penicilina. Nega tabagismo. Mora sozinha.",
        "FA, varfarina, INR 2,4. Queda há 2 semanas. Sem álcool. Hospital ontem.",
    ),
    "Polish": (
        "Cukrzyca typu 2, NT. Metformina 500 mg 2x1. Uczulenie na penicylinę. Pali 10/d.",
        "Migotanie przedsionków, warfaryna, INR 2,4. Upadek 2 tyg. temu. Bez alkoholu.",
    ),
}
ENGLISH = (
    "T2DM. Metformin 500 BD. NKDA.",
    "T2DM, HTN. Metformin 500 mg BD. Penicillin allergy (anaphylaxis 2009). Smoker, 20 pack years. Married.",
    "54M. Asthma. Salbutamol PRN. No known allergies. Son well.",
    "AF on warfarin, INR 2.4. Fell 2 weeks ago. No alcohol. Lives alone.",
    "Depression, sertraline 50 mg daily. Denies suicidal thoughts.",
    "Pregnant 28/40. GDM, insulin. Rh neg.",
    "46M. Strong cider daily. Methadone 60 mg od. HCV RNA +ve. Thiamine 100 tds po. NFA. CIWA 17.",
    "- Metformin 500 mg BD\n- Penicillin allergy (anaphylaxis)\n- HbA1c 58 mmol/mol",
    "She takes metformin 500 mg twice daily and is allergic to penicillin.",
    "Gout.",
    "Nothing to report.",
    "Mrs de la Cruz was seen in El Paso by Dr van der Berg, who told her to rest and to come back in a week.",
    'He said „nein" and left, so the plan is to call him again.',
)
TELEGRAMS = [(language, note) for language, notes in TELEGRAPHIC.items() for note in notes]


@pytest.mark.parametrize("name", PROSE)
def test_other_languages_are_seen(name: str) -> None:
    assert not is_english(PROSE[name])


@pytest.mark.parametrize(("language", "note"), TELEGRAMS)
def test_a_telegraphic_note_in_another_language_confirms_nothing(language: str, note: str) -> None:
    """No fact of it is lost for certain, whatever little of it the vocabulary knows."""
    for found in assess_retention(note, ["penicillin allergy", "lives alone", "warfarin 5 mg once daily"]):
        assert (found.certain, found.rule, found.reason) == (False, NOT_ENGLISH, ENGLISH_ONLY)


@pytest.mark.parametrize("text", ENGLISH)
def test_english_is_recognised_in_prose_and_in_telegrams(text: str) -> None:
    """Names and single words of another language change nothing."""
    assert is_english(text)


def test_a_loss_in_a_telegraphic_english_note_is_certain() -> None:
    """The counterpart of the notes above: the same shape, and a loss that rules may confirm."""
    lost = assess_retention("T2DM. Metformin 500 BD. Warfarin stopped.", ["penicillin allergy"])[0]
    assert (lost.status, lost.certain) == ("absent", True)


@pytest.mark.parametrize(
    "text", ["HbA1c 71 mmol/mol", "Metformin 500 mg, ramipril 5 mg, atorvastatin 40 mg", "Asthma."]
)
def test_what_shows_no_language_is_not_read(text: str) -> None:
    """Names and figures that every language writes alike."""
    assert not is_english(text)


@pytest.mark.parametrize("text", ["", "\n", "---", "12 / 7"])
def test_without_a_word_there_is_nothing_to_misread(text: str) -> None:
    """A blank summary has lost every fact in whatever language it was asked for."""
    assert is_english(text)


def test_a_loan_word_makes_no_english_text() -> None:
    """One English word is enough in a line, and not in a note."""
    assert is_english("Nightly insulin glargine")
    note = "Diabetes Typ 2 bei Adipositas, Insulin glargin 18 E nightly, Metformin, Ramipril, Hypertonie"
    assert not is_english(note)


def test_a_long_list_of_names_leaves_an_english_note_english() -> None:
    """Hundreds of names show no language; the sentences beside them do."""
    names = " ".join(f"name{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(400))
    note = "She takes sertraline every morning. Her mother lives alone. Known penicillin allergy since childhood."
    assert is_english(f"{note}\n{names}")
    assert not is_english(f"Penicillin allergy.\n{names}")


def test_one_german_section_in_an_english_note_is_still_english() -> None:
    assert is_english(f"{ENGLISH[8]} {ENGLISH[11]} {ENGLISH[8]} The letter says: die Wunde ist sauber.")


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("I'm in.", True),
        ("OK", True),
        ("", True),
        ("Das nicht trinken", False),
        ("Пейте воду", False),
        ("a b c d e", False),
    ],
)
def test_a_text_of_a_few_words_may_show_no_language(text: str, short: bool) -> None:
    """What such a reply leaves unsaid is missing all the same; one word of another language shows it."""
    assert is_too_short_to_tell(text) is short
