"""Essential parts of hard stops by rules: a dose without its interval, a valve that is no longer mechanical."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from pytest_clinical_drift.cases.files import bundled_cases, load_cases
from pytest_clinical_drift.cases.model import CriticalEntity, facts_of
from pytest_clinical_drift.evidence.facts.retention import Retention, assess_retention

UNSTATED = ("essential", "no-interval")
METHOTREXATE = "methotrexate 15 mg once weekly on Mondays"


def assessed(summary: str, text: str, *parts: str) -> Retention:
    fact = CriticalEntity(text=text, hard_stop=True, essential=parts)
    return assess_retention(summary, [fact])[0]


def test_a_weekly_dose_without_weekly_is_lost() -> None:
    """Without the mark it is partly there; with it the fact counts as absent, and the reason says what is missing."""
    assert assessed("He takes methotrexate 15 mg.", METHOTREXATE).status == "partial"
    found = assessed("He takes methotrexate 15 mg.", METHOTREXATE, "weekly")
    assert (found.status, found.certain, found.rule) == ("absent", True, "no-interval")
    assert found.reason == "without its essential part: weekly"
    assert [span.quote for span in found.evidence] == ["methotrexate 15 mg"]


@pytest.mark.parametrize(
    ("summary", "text", "part"),
    [
        ("Methotrexate 15 mg once a week, on Mondays.", METHOTREXATE, "weekly"),
        (
            "Buccal midazolam 7.5 mg for a seizure over 5 min.",
            "buccal midazolam 7.5 mg for a seizure lasting over five minutes",
            "five minutes",
        ),
        ("Heart failure, ejection fraction 30%.", "heart failure with an ejection fraction of 30 %", "30 %"),
        ("Severe COPD with hypercapnia.", "severe COPD with carbon dioxide retention", "carbon dioxide retention"),
        (
            "Severe hypoglycemia on glibenclamide, hospitalized.",
            "hospitalized with severe hypoglycemia on glyburide",
            "glyburide",
        ),
        (
            "Nifedipine modified-release 30 mg once daily, must not be crushed.",
            "nifedipine modified-release 30 mg once daily, never crushed",
            "never crushed",
        ),
    ],
)
def test_another_wording_of_the_part_counts(summary: str, text: str, part: str) -> None:
    """Intervals, figures, names of the vocabulary, ways to forbid, hyphens."""
    assert assessed(summary, text, part).status in ("retained", "partial"), assessed(summary, text, part)


def test_a_brand_is_essential_as_the_brand() -> None:
    """The generic name does not say which brand."""
    text = "tacrolimus (Adoport) 3 mg twice daily"
    assert assessed("Tacrolimus 3 mg twice daily.", text, "Adoport").status == "absent"
    assert assessed("Adoport 3 mg twice daily.", text, "Adoport").status == "retained"


def test_unclear_where_the_text_may_say_it_otherwise() -> None:
    """A word cut short, another form of the word, or the part in another sentence: somebody has to read it."""
    assert not assessed("Mech mitral valve 2016.", "mechanical mitral valve since 2016", "mechanical").certain
    text = "bruising and strangulation by her partner in August"
    assert not assessed("Strangled and bruised by her partner in August.", text, "strangulation").certain
    assert not assessed("He takes methotrexate 15 mg. It is a weekly medicine.", METHOTREXATE, "weekly").certain
    assert not assessed("Weekly medicines\n- methotrexate 15 mg", METHOTREXATE, "weekly").certain
    assert not assessed("Methotrexate 15 mg, Mondays.", METHOTREXATE, "weekly").certain


def test_the_part_may_stand_beside_a_later_mention() -> None:
    """The first mention is only in passing; a row of a table is one place."""
    passing = "A man on methotrexate 15 mg has a sore throat.\nMedicines: methotrexate 15 mg once weekly."
    assert assessed(passing, METHOTREXATE, "weekly").status in ("retained", "partial")
    assert assessed("| Methotrexate | 15 mg weekly |", METHOTREXATE, "weekly").status in ("retained", "partial")


def test_what_is_contradicted_or_absent_stays_so() -> None:
    """The mark only lowers what would count as stated."""
    assert assessed("Methotrexate 15 mg once daily.", METHOTREXATE, "weekly").status == "contradicted"
    assert assessed("She gardens.", METHOTREXATE, "weekly").rule not in UNSTATED


def bundled_parts() -> Iterator[tuple[str, CriticalEntity, str]]:
    for case in load_cases(bundled_cases()):
        for fact, _ in facts_of(case):
            yield from ((case.patient_summary, fact, part) for part in fact.essential)


@pytest.mark.parametrize(
    ("summary", "fact", "part"), list(bundled_parts()), ids=lambda value: getattr(value, "id", None)
)
def test_every_bundled_hard_stop_without_its_essential_part_is_caught(
    summary: str, fact: CriticalEntity, part: str
) -> None:
    """The whole fact is stated; without the part it is absent or another one."""
    assert assess_retention(f"The patient: {fact.text}.", [fact])[0].rule not in UNSTATED
    assert assess_retention(summary, [fact])[0].rule not in UNSTATED
    rest = re.sub(re.escape(part), "", fact.text, flags=re.IGNORECASE).replace("on Mondays", "")
    assert assess_retention(f"The patient: {' '.join(rest.split())}.", [fact])[0].status in ("absent", "contradicted")
