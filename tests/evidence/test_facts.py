"""What a fact requires: kind, concepts, qualifiers, regimen, numbers, dates, words."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.facts.fact import parse_fact


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("panic disorder", "diagnosis"),
        ("sertraline 50 mg once daily", "medication"),
        ("penicillin allergy (anaphylaxis)", "allergy"),
        ("rash with lamotrigine", "allergy"),
        ("clozapine stopped because of neutropenia", "stopped"),
        ("advised to avoid NSAIDs", "avoid"),
        ("HbA1c 71 mmol/mol", "measurement"),
        ("no psychotropic medication", "negative"),
        ("not on anticoagulants", "negative"),
        ("does not drive", "negative"),
        ("lives with her daughter", "social"),
        ("family history of bipolar disorder", "family"),
        ("no fixed abode", "social"),
        ("lactose intolerance", "diagnosis"),
    ],
)
def test_kinds(text: str, kind: str) -> None:
    """The wording tells what sort of fact it is."""
    assert parse_fact(text).kind == kind


def test_medication() -> None:
    """Drug, dose, unit, how often, when."""
    fact = parse_fact("insulin glargine 18 units at bedtime")
    assert [medicine.name for medicine in fact.medicines] == ["insulin glargine"]
    assert fact.regimen is not None
    assert [(a.value, a.dimension) for a in fact.regimen.strengths] == [(18, "unit")]
    assert fact.regimen.per_day == 1
    assert fact.regimen.parts_of_day == {"night"}


def test_divided_daily_amount() -> None:
    """A daily total with its division."""
    fact = parse_fact("hydrocortisone 20 mg daily in three divided doses")
    assert fact.regimen is not None
    assert (fact.regimen.division, fact.regimen.per_day) == (3, 3)


def test_unknown_medicine_is_taken_as_written() -> None:
    """A name that the vocabulary lacks, before a dose."""
    assert [medicine.name for medicine in parse_fact("novelimab 20 mg weekly").medicines] == ["novelimab"]


def test_diagnosis_with_qualifiers_and_date() -> None:
    """Side, year and the condition itself."""
    fact = parse_fact("retinal detachment in the right eye in 2015")
    assert [c.name for c in fact.conditions] == ["retinal detachment"]
    assert [q.name for q in fact.qualifiers] == ["right"]
    assert [d.year for d in fact.dates] == [2015]


def test_qualifier_inside_a_name() -> None:
    """A qualifier that is part of the vocabulary's name is kept apart."""
    fact = parse_fact("permanent atrial fibrillation")
    assert fact.qualifiers == ()
    assert [q.name for q in fact.inner_qualifiers] == ["permanent"]


def test_past_and_numbers() -> None:
    """History by its own wording; counts that belong to no medicine."""
    assert parse_fact("previous overdose in 2019").past
    assert [a.value for a in parse_fact("two falls in the past month").numbers] == [2]


def test_condition_of_another_person() -> None:
    """Whose condition it is."""
    fact = parse_fact("main carer for his wife, who has dementia")
    assert {"condition:dementia"} <= fact.of_others
    assert not parse_fact("vascular dementia").of_others


def test_negative_body() -> None:
    """What a negative fact denies."""
    fact = parse_fact("no alcohol use")
    assert fact.negative
    assert [c.name for c in fact.conditions] == ["alcohol use"]
    assert parse_fact("no current medication").any_medication


def test_words_carry_their_clusters() -> None:
    """Content words with the clusters of the same meaning; fillers are left out."""
    words = parse_fact("living with parents while at university").words
    clusters = ("word:live", "word:parents", "word:university")
    assert [cluster in word.ids for cluster, word in zip(clusters, words, strict=True)] == [True] * 3


def test_parsing_is_cached() -> None:
    """One fact is taken apart once."""
    assert parse_fact("gout") is parse_fact("gout")


@pytest.mark.parametrize("text", ["", " ", "?", "50", "🤰", "no", "not", "a" * 10_000, "\x00", "mg mg mg"])
def test_odd_facts_are_read(text: str) -> None:
    """No string is a bad fact."""
    assert parse_fact(text).text == text
