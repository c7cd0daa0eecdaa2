"""The condition vocabulary is well formed, names nothing twice, and states what every clinician knows."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from importlib import resources
from typing import Any

import pytest
import yaml

FILES = ("conditions", "findings")
CONDITION_GROUPS = {
    "psychiatric", "cardiovascular", "respiratory", "endocrine", "renal", "gastrointestinal", "neurological",
    "rheumatological", "injury", "haematological", "oncological", "infection", "obstetric", "gynaecological",
    "dermatological", "eye", "ent", "paediatric", "geriatric", "immunological", "social-risk",
}  # fmt: skip
FINDING_GROUPS = {"symptom", "reaction", "procedure", "test", "device", "care-status"}
WORDINGS = ("synonyms", "abbreviations", "lay")
RELATIONS = ("broader", "excludes", "implies", "signs")
KEYS = {"name", "group", "ambiguous", *WORDINGS, *RELATIONS}
READING_KINDS = {"condition", "drug", "frequency", "measurement", "place", "anatomy", "everyday"}

# Words of ordinary or administrative language: as a condition's term each would be found in almost any text.
EVERYDAY = frozenset({
    "absence", "aid", "aids", "blood", "change", "cold", "cutting", "dress", "driver", "fit", "gave", "honk", "mass",
    "met", "morning", "nerd", "nerve", "normal", "one", "respect", "run", "sad", "salt", "scar", "secondary", "severe",
    "stable", "support", "test", "time", "turn", "withdrawn", "work", "worry",
})  # fmt: skip


def load(name: str) -> list[dict[str, Any]]:
    path = resources.files("pytest_clinical_drift") / "data" / f"{name}.yaml"
    loaded = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return list(loaded)


@lru_cache(maxsize=1)
def entries() -> dict[str, dict[str, Any]]:
    return {entry["name"]: entry for file in FILES for entry in load(file)}


def key(term: str) -> str:
    """What two spellings of one term have in common: no capitals, no hyphens, no possessive, no plural s."""
    words = re.sub(r"['’]s?\b|['’]", "", term.lower()).replace("-", " ").replace("/", " ").split()
    return " ".join(re.sub(r"(?<=\w{3}[^sui])s$", "", word) for word in words)


def terms(entry: dict[str, Any]) -> Iterator[str]:
    """Every wording that names an entry whatever the context."""
    yield entry["name"]
    for field in WORDINGS:
        yield from entry.get(field, ())


@lru_cache(maxsize=1)
def named() -> dict[str, str]:
    return {key(term): entry["name"] for entry in entries().values() for term in terms(entry)}


def reached(name: str, *fields: str) -> set[str]:
    """Entries reachable from one through the given relations, itself left out."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for field in fields:
            for other in entries()[waiting[-1]].get(field, ()):
                if other not in found:
                    found.add(other)
                    waiting.insert(0, other)
        waiting.pop()
    return found


def problems(messages: Iterator[str]) -> str:
    return "\n".join(messages)


def test_entries_follow_the_schema() -> None:
    """Known keys only; every list holds trimmed, distinct, non-empty text; YAML made no boolean of it."""

    def wrong() -> Iterator[str]:
        for file, groups in zip(FILES, (CONDITION_GROUPS, FINDING_GROUPS), strict=True):
            for entry in load(file):
                if unknown := set(entry) - KEYS:
                    yield f"{entry['name']}: unknown keys {unknown}"
                if entry.get("group") not in groups:
                    yield f"{entry['name']}: group {entry.get('group')} does not belong in {file}.yaml"
                for field in (*WORDINGS, *RELATIONS, "ambiguous"):
                    values = entry.get(field, ["-"])
                    if not isinstance(values, list) or not values or len(set(values)) != len(values):
                        yield f"{entry['name']}: {field} is not a list of distinct terms"
                    elif not all(isinstance(v, str) and v and v == v.strip() for v in values):
                        yield f"{entry['name']}: {field} holds something else than trimmed text"

    assert not problems(wrong())


def test_names_are_lower_case_and_unique() -> None:
    """A name stands for one entry over both files and carries no capitals."""
    names = [entry["name"] for file in FILES for entry in load(file)]
    assert sorted(names) == sorted(set(names))
    assert [name for name in names if name != name.lower()] == []


def test_the_vocabulary_is_broad_enough() -> None:
    """Six hundred entries at least, and no field of medicine is left to a handful."""
    sizes: dict[str, int] = defaultdict(int)
    for entry in entries().values():
        sizes[entry["group"]] += 1
    assert len(entries()) >= 600
    assert sizes["psychiatric"] >= 150
    assert [group for group in CONDITION_GROUPS | FINDING_GROUPS if sizes[group] < 10] == []


def test_no_term_names_two_entries() -> None:
    """A wording that could mean two entries belongs under `ambiguous` in both, never under one as certain."""
    owners: dict[str, set[str]] = defaultdict(set)
    for entry in entries().values():
        for term in terms(entry):
            owners[key(term)].add(entry["name"])
    assert {term: names for term, names in owners.items() if len(names) > 1} == {}


def test_an_ambiguous_term_is_nowhere_certain() -> None:
    """What is ambiguous for one entry does not name it or another one outright, in the same capitals."""
    certain = {term for entry in entries().values() for term in terms(entry)}
    assert {t for entry in entries().values() for t in entry.get("ambiguous", ())} & certain == set()


def test_abbreviations_carry_capitals_and_other_terms_open_in_lower_case() -> None:
    """Capitals are what keeps an abbreviation apart from a word; a synonym may hold one ("recurrent MDD")."""
    for entry in entries().values():
        for short in entry.get("abbreviations", ()):
            assert re.fullmatch(r"(?=.*[A-Z])\S{2,8}", short), (entry["name"], short)
        for term in (*entry.get("synonyms", ()), *entry.get("lay", ())):
            assert not re.match(r"[A-Z][a-z]{2,}", term), (entry["name"], term)


def test_no_term_is_an_everyday_word() -> None:
    """Plain words, alone or with a plural s, name no condition, nor do long abbreviations that spell one."""
    found = set()
    for entry in entries().values():
        for term in terms(entry):
            word = term.lower()
            if (term == word or len(word) > 3) and EVERYDAY & {word, word.removesuffix("s"), re.sub("ies$", "y", word)}:
                found.add((entry["name"], term))
    assert found == {("acquired immune deficiency syndrome", "AIDS")}


def test_relations_name_other_entries() -> None:
    """Whatever stands under broader, excludes or implies is the name of another entry."""
    loose = [
        (entry["name"], field, other)
        for entry in entries().values()
        for field in RELATIONS
        for other in entry.get(field, ())
        if other not in entries() or other == entry["name"]
    ]
    assert loose == []


def test_no_entry_is_broader_than_itself() -> None:
    """The broader relation has no circle, so "less detail" has a direction."""
    assert [name for name in entries() if name in reached(name, "broader")] == []


def test_exclusion_is_mutual_and_never_between_a_thing_and_what_it_is() -> None:
    """Siblings exclude each other both ways; nothing excludes what naming it states."""
    for name, entry in entries().items():
        stated = reached(name, "broader", "implies")
        for other in entry.get("excludes", ()):
            assert name in entries()[other].get("excludes", ()), (name, other)
            assert other not in stated, (name, other)


def test_nothing_states_two_things_that_exclude_each_other() -> None:
    """What naming an entry states can all hold at once."""
    for name in entries():
        stated = reached(name, "broader", "implies")
        for one in stated:
            assert not stated & set(entries()[one].get("excludes", ())), (name, one)


def test_every_ambiguous_term_has_its_readings() -> None:
    """ambiguous_terms.yaml lists each ambiguous term once, with all of its entries and at least one other reading."""
    marked: dict[str, set[str]] = defaultdict(set)
    for entry in entries().values():
        for term in entry.get("ambiguous", ()):
            marked[term].add(entry["name"])
    listed = load("ambiguous_terms")
    assert sorted(item["term"] for item in listed) == sorted(marked)
    for item in listed:
        meanings = [reading["means"] for reading in item["readings"]]
        assert set(item) <= {"term", "usual", "readings"}
        assert len(set(meanings)) == len(meanings) >= 2, item["term"]
        assert item.get("usual", meanings[0]) in meanings, item["term"]
        conditions = {reading["means"] for reading in item["readings"] if reading["kind"] == "condition"}
        assert conditions == marked[item["term"]], item["term"]
        for reading in item["readings"]:
            assert set(reading) == {"means", "kind", "near"}, item["term"]
            assert reading["kind"] in READING_KINDS, item["term"]
            assert all(isinstance(word, str) for word in reading["near"]), item["term"]


@pytest.mark.parametrize(
    ("wording", "name"),
    [
        ("heart attack", "myocardial infarction"),
        ("high blood pressure", "hypertension"),
        ("sugar diabetes", "diabetes"),
        ("mini-stroke", "transient ischaemic attack"),
        ("water infection", "urinary tract infection"),
        ("underactive thyroid", "hypothyroidism"),
        ("clot on the lung", "pulmonary embolism"),
        ("hives", "urticaria"),
        ("shingles", "shingles"),
        ("herpes zoster", "shingles"),
        ("brittle bones", "osteoporosis"),
        ("ADHD", "attention deficit hyperactivity disorder"),
        ("hyperkinetic disorder", "attention deficit hyperactivity disorder"),
        ("PTSD", "post-traumatic stress disorder"),
        ("OCD", "obsessive-compulsive disorder"),
        ("EUPD", "borderline personality disorder"),
        ("Asperger's syndrome", "autism spectrum disorder"),
        ("manic depression", "bipolar disorder"),
        ("MDD recurrent", "recurrent depressive disorder"),
        ("hearing voices", "auditory hallucination"),
        ("loss of interest", "anhedonia"),
        ("wants to end it all", "suicidal ideation"),
        ("COAD", "chronic obstructive pulmonary disease"),
        ("GERD", "gastro-oesophageal reflux disease"),
        ("GORD", "gastro-oesophageal reflux disease"),
        ("T2DM", "type 2 diabetes"),
        ("HFpEF", "heart failure with preserved ejection fraction"),
        ("primary adrenal insufficiency", "addison's disease"),
        ("DNR", "do not attempt cardiopulmonary resuscitation"),
        ("appendectomy", "appendicectomy"),
        ("bullied at work", "workplace bullying"),
        ("made redundant", "unemployment"),
    ],
)
def test_a_wording_names_its_condition(wording: str, name: str) -> None:
    """Lay words, British and American abbreviations and older names lead to the preferred name."""
    assert named().get(key(wording)) == name


@pytest.mark.parametrize(
    ("name", "broader"),
    [
        ("recurrent depressive disorder", "depression"),
        ("generalised anxiety disorder", "anxiety"),
        ("panic disorder", "anxiety disorder"),
        ("panic disorder", "panic attack"),
        ("bipolar ii disorder", "bipolar disorder"),
        ("complex post-traumatic stress disorder", "post-traumatic stress disorder"),
        ("alcohol dependence", "alcohol use disorder"),
        ("juvenile myoclonic epilepsy", "epilepsy"),
        ("rheumatoid arthritis", "arthritis"),
        ("type 2 diabetes", "diabetes"),
        ("asthma", "lung disease"),
        ("permanent atrial fibrillation", "atrial fibrillation"),
        ("st-elevation myocardial infarction", "myocardial infarction"),
        ("bleeding gastric ulcer", "gastrointestinal bleed"),
        ("bleeding gastric ulcer", "bleed"),
        ("alzheimer's disease", "dementia"),
        ("chronic kidney disease stage 3b", "chronic kidney disease"),
        ("anaphylaxis", "allergic reaction"),
        ("urticaria", "rash"),
        ("peanut allergy", "food allergy"),
    ],
)
def test_a_condition_has_its_broader_name(name: str, broader: str) -> None:
    """Naming only the broader term says part of it."""
    assert broader in reached(name, "broader")


@pytest.mark.parametrize(
    ("name", "implied"),
    [
        ("diabetic ketoacidosis", "diabetes"),
        ("background diabetic retinopathy", "diabetes"),
        ("mixed dementia", "vascular dementia"),
        ("splenectomy", "asplenia"),
        ("sickle cell crisis", "sickle cell disease"),
        ("wheeze", "bronchospasm"),
        ("psoriatic arthritis", "psoriasis"),
    ],
)
def test_a_condition_states_what_it_implies(name: str, implied: str) -> None:
    """Some conditions cannot be named without stating another one that is no vaguer name of them."""
    assert implied in reached(name, "broader", "implies")
    assert implied not in reached(name, "broader")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("type 1 diabetes", "type 2 diabetes"),
        ("heart failure with reduced ejection fraction", "heart failure with preserved ejection fraction"),
        ("bipolar i disorder", "bipolar ii disorder"),
        ("crohn's disease", "ulcerative colitis"),
        ("paroxysmal atrial fibrillation", "permanent atrial fibrillation"),
        ("persistent atrial fibrillation", "permanent atrial fibrillation"),
        ("hyperthyroidism", "hypothyroidism"),
        ("rhesus negative", "rhesus positive"),
        ("single depressive episode", "recurrent depressive disorder"),
        ("chronic kidney disease stage 3a", "chronic kidney disease stage 3b"),
        ("brca1 mutation", "brca2 mutation"),
        ("haemodialysis", "peritoneal dialysis"),
    ],
)
def test_siblings_exclude_each_other(one: str, other: str) -> None:
    """The wrong type is a contradiction, not a paraphrase."""
    assert other in entries()[one]["excludes"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("self-harm", "suicide attempt"),
        ("suicidal ideation", "suicidal intent"),
        ("hypoglycaemia", "hyperglycaemia"),
        ("mania", "hypomania"),
        ("social anxiety", "autism"),
        ("anxiety", "panic attack"),
        ("osteopenia", "osteoporosis"),
        ("colon cancer", "rectal cancer"),
        ("cannabis use", "cannabis use disorder"),
    ],
)
def test_near_neighbours_stay_apart(one: str, other: str) -> None:
    """Terms that differ in risk or treatment are not synonyms of one entry."""
    assert named()[key(one)] != named()[key(other)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("anxiety disorder", "depression"),
        ("inflammatory bowel disease", "irritable bowel syndrome"),
        ("epilepsy", "dissociative seizure"),
        ("attention deficit hyperactivity disorder", "autism spectrum disorder"),
    ],
)
def test_conditions_that_occur_together_do_not_exclude_each_other(one: str, other: str) -> None:
    """Common companions are no contradiction."""
    assert other not in entries()[one].get("excludes", ())


@pytest.mark.parametrize("term", ["OD", "PET", "MS", "RA", "BPD", "PE", "CP", "ASD", "SAD", "PND", "ED", "fits"])
def test_shorthand_with_several_readings_is_marked(term: str) -> None:
    """Each of these names nothing by itself."""
    assert any(term in entry.get("ambiguous", ()) for entry in entries().values())
