"""The vocabulary files are well formed: nothing is named twice, every wording and every reference leads somewhere."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import lru_cache

import pytest

from pytest_clinical_drift.evidence.reading.text import read, tokenise
from pytest_clinical_drift.evidence.terms.lexicon import ids_above, lexicon
from pytest_clinical_drift.evidence.terms.vocabulary import (
    DRUG,
    DRUG_CLASS,
    UNIT,
    WORD,
    Form,
    all_forms,
    load_vocabulary,
)
from pytest_clinical_drift.evidence.terms.words import fold

CLINICAL = ("drugs", "drug_classes", "conditions", "findings", "units", "frequencies", "measurements")
OF_WORDS = ("life", "social", "mind")
EVERYDAY = frozenset(
    ("absence", "aid", "blood", "calm", "change", "cold", "commit", "driver", "ella", "fit", "focus", "mass", "met",
     "morning", "normal", "one", "relief", "run", "sad", "salt", "secondary", "severe", "soma", "stable", "support",
     "test", "time", "today", "turn", "work", "worry", "yasmin")
)  # fmt: skip


@lru_cache(maxsize=1)
def forms() -> tuple[Form, ...]:
    return tuple(all_forms())


@pytest.mark.parametrize("file", [*CLINICAL, *OF_WORDS])
def test_entries_are_distinct_lower_case_names_with_lists_of_text(file: str) -> None:
    """One entry per name; every list holds trimmed, distinct text: YAML made no number or truth value of a word."""

    def wrong() -> Iterator[str]:
        seen: set[str] = set()
        for entry in load_vocabulary(file):
            name = entry["name"]
            if not isinstance(name, str) or name != name.strip() or name in seen:
                yield f"{name}: not a name, or there twice"
            if file not in ("units", "measurements") and name != name.lower():
                yield f"{name}: in capitals"
            seen.add(name)
            for field, values in entry.items():
                texts = isinstance(values, list) and field not in ("bare", "other_doses")
                if texts and not all(isinstance(v, str) and v and v == v.strip() for v in values):
                    yield f"{name}: {field} holds something else than trimmed text"
                if texts and len(set(values)) != len(values):
                    yield f"{name}: {field} says something twice"

    assert list(wrong()) == []


@pytest.mark.parametrize("files", [("conditions", "findings"), OF_WORDS])
def test_an_entry_stands_in_one_file(files: tuple[str, ...]) -> None:
    """Files of one kind share their ids: a name in two of them would be two concepts of one id."""
    names = Counter(entry["name"] for file in files for entry in load_vocabulary(file))
    assert [name for name, count in names.items() if count > 1] == []


def test_every_wording_leads_to_its_concept() -> None:
    """A wording, or its words without marks, names what it was written down for; units stand behind a number."""

    def named(text: str) -> set[str]:
        bare = text.translate(str.maketrans("().", "   "))  # "C. diff" is met as "C diff"
        return {term.concept.id for spelled in (text, bare) for term in lexicon().find(read(spelled))}

    assert [f.text for f in forms() if f.concept.kind != UNIT and f.concept.id not in named(f.text)] == []


def test_every_reference_leads_somewhere() -> None:
    """Classes, parents, ingredients, broader, implied and excluded names are entries; nothing is above itself."""
    known = lexicon().concepts
    lost = {
        (concept.id, other)
        for concept in known.values()
        for other in (*concept.ancestors, *concept.implies, *concept.excludes, *concept.contains)
        if other not in known
    }
    assert lost == set()
    assert [c.id for c in known.values() if c.id in c.ancestors] == []
    used = {above for c in known.values() if c.kind == DRUG for above in c.ancestors}
    assert [c.id for c in known.values() if c.kind == DRUG_CLASS and c.id not in used] == []


def test_exclusion_goes_both_ways_and_never_against_what_is_stated() -> None:
    """What excludes another is excluded by it; nothing excludes what naming it states."""
    known = lexicon().concepts
    clinical = [c for c in known.values() if c.kind != WORD]
    assert [(c.id, o) for c in clinical for o in c.excludes if c.id not in known[o].excludes] == []
    assert [c.id for c in known.values() if c.excludes & (c.ancestors | c.implies)] == []


def test_no_certain_wording_names_two_things() -> None:
    """A wording that could mean two medicines or two conditions is ambiguous in both, certain in neither."""
    owners: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for form in forms():
        if not form.weak and form.concept.kind in (DRUG, DRUG_CLASS, "condition"):
            kind = "condition" if form.concept.kind == "condition" else "medicine"
            owners[(kind, form.text if form.exact else "", *map(fold, tokenise(form.text)))].add(form.concept.id)
    shared = {" ".join(key[2:]) for key, names in owners.items() if len(names) > 1}
    # classes that are called after their chief member
    assert shared <= {"valproate", "heparin", "tetracycline", "lo salt"}


def test_everyday_words_and_first_names_are_no_certain_names() -> None:
    """ "Stable", "met" and "Yasmin" name neither a condition nor a medicine by themselves."""
    medical = (f for f in forms() if f.concept.kind in (DRUG, DRUG_CLASS, "condition"))
    assert {f.text for f in medical if not (f.weak or f.exact) and f.text in EVERYDAY} == set()


def test_abbreviations_carry_capitals() -> None:
    """Capitals are what keeps an abbreviation apart from a word."""
    short = [
        text for file in CLINICAL[:4] for entry in load_vocabulary(file) for text in entry.get("abbreviations", ())
    ]
    assert len(short) > 400
    assert [text for text in short if text == text.lower()] == []


def test_dose_ranges_are_in_order() -> None:
    """Least, most and daily ceiling, in a known unit."""
    units = {entry["name"] for entry in load_vocabulary("units")}
    for entry in load_vocabulary("drugs"):
        for dose in [d for d in (entry.get("dose"), *entry.get("other_doses", ())) if d]:
            assert 0 < dose["min"] <= dose["max"] <= dose["max_daily"], entry["name"]
            assert dose["unit"] in units, entry["name"]


def test_a_mixture_spreads_the_allergies_of_its_parts() -> None:
    """Whoever may not have an ingredient may not have the mixture."""
    known = lexicon().concepts
    spreading = {c.id for c in known.values() if c.kind == DRUG_CLASS and c.data.get("allergy_spreads")}
    mixtures = [c for c in known.values() if c.contains]
    assert len(mixtures) > 100
    assert [c.name for c in mixtures for p in c.contains if known[p].ancestors & spreading - c.ancestors] == []


@pytest.mark.parametrize(
    ("drug", "inside", "outside"),
    [
        ("amoxicillin", "penicillin", "macrolide"),
        ("co-amoxiclav", "penicillin", "cephalosporin"),
        ("ceftriaxone", "cephalosporin", "penicillin"),
        ("penicillamine", "dmard", "penicillin"),
        ("apixaban", "anticoagulant", "antiplatelet"),
        ("aspirin", "antiplatelet", "anticoagulant"),
        ("ibuprofen", "nsaid", "opioid"),
        ("paracetamol", "analgesic", "nsaid"),
        ("co-codamol", "opioid", "nsaid"),
        ("sertraline", "antidepressant", "antipsychotic"),
        ("zopiclone", "hypnotic", "benzodiazepine"),
        ("furosemide", "diuretic", "sulfonamide antibiotic"),
    ],
)
def test_textbook_classes(drug: str, inside: str, outside: str) -> None:
    """A medicine belongs to its class and to all wider ones, and to none that only sounds or acts alike."""
    concept = lexicon().concepts[f"drug:{drug}"]
    assert f"class:{inside}" in ids_above(concept)
    assert f"class:{outside}" not in ids_above(concept)


@pytest.mark.parametrize(
    ("narrow", "broad", "other"),
    [
        ("type 2 diabetes", "diabetes", "type 1 diabetes"),
        ("panic disorder", "anxiety disorder", None),
        ("permanent atrial fibrillation", "atrial fibrillation", "paroxysmal atrial fibrillation"),
        ("crohn's disease", "inflammatory bowel disease", "ulcerative colitis"),
        ("bipolar ii disorder", "bipolar disorder", "bipolar i disorder"),
        ("hypothyroidism", "thyroid disease", "hyperthyroidism"),
    ],
)
def test_textbook_conditions(narrow: str, broad: str, other: str | None) -> None:
    """The broader name says less of the same; the wrong type excludes it."""
    concept = lexicon().concepts[f"condition:{narrow}"]
    assert f"condition:{broad}" in concept.ancestors
    assert other is None or f"condition:{other}" in concept.excludes
