"""The drug vocabulary is well formed, names nothing twice, and states what every prescriber knows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from importlib import resources
from typing import Any

import pytest
import yaml

CLASS_KEYS = {
    "name", "terms", "lay", "ambiguous", "parents", "allergy_spreads", "cross_allergy", "cross_caution",
    "interacts_dangerously",
}  # fmt: skip
DRUG_KEYS = {
    "name", "classes", "brands", "synonyms", "abbreviations", "ambiguous", "contains", "dose", "other_doses",
    "interacts_dangerously", "cross_allergy", "cross_caution",
}  # fmt: skip
DOSE_KEYS = {"unit", "min", "max", "max_daily", "route", "frequency"}
ROUTES = {"subcutaneous", "intramuscular", "intravenous", "inhaled", "nasal", "sublingual", "transdermal"}
RELATIONS = ("cross_allergy", "cross_caution", "interacts_dangerously")

# Words of everyday language, first names among them, that are trade names somewhere: certain for no drug.
EVERYDAY = frozenset({
    "alli", "calm", "clipper", "commit", "ella", "focus", "gina", "hana", "intermezzo", "kira", "kirsty",
    "luminal", "muse", "my way", "nix", "plan b", "relief", "rennie", "skyla", "soma", "sonata", "today",
    "tobi", "versed", "yasmin",
})  # fmt: skip
# Letters that notes use for a disease, a finding or an instruction as well.
OTHER_MEANINGS = frozenset({
    "ABC", "ACS", "AED", "AF", "ALS", "AMT", "BP", "CBD", "CF", "CP", "DM", "ED", "ESM", "GBP", "HF", "HTN",
    "INH", "IV", "MI", "MPH", "MS", "NPH", "OD", "OCD", "PCP", "PE", "PEG", "PHT", "PMS", "POP", "PR", "PV",
    "RA", "SC", "SLE", "T3", "T4", "TB", "UTI",
})  # fmt: skip


def load(name: str) -> list[dict[str, Any]]:
    path = resources.files("pytest_clinical_drift") / "data" / f"{name}.yaml"
    loaded = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return list(loaded)


@lru_cache(maxsize=1)
def drugs() -> dict[str, dict[str, Any]]:
    return {entry["name"]: entry for entry in load("drugs")}


@lru_cache(maxsize=1)
def classes() -> dict[str, dict[str, Any]]:
    return {entry["name"]: entry for entry in load("drug_classes")}


def certain_names(entry: dict[str, Any]) -> Iterator[str]:
    """Every wording that names the drug whatever the context."""
    yield entry["name"]
    for field in ("brands", "synonyms", "abbreviations"):
        yield from entry.get(field, ())


@lru_cache(maxsize=1)
def drug_of() -> dict[str, str]:
    return {name.lower(): entry["name"] for entry in drugs().values() for name in certain_names(entry)}


def above(names: list[str]) -> set[str]:
    """The classes and everything they belong to."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(classes()[name].get("parents", ()))
    return found


def classes_of(drug: str) -> set[str]:
    return above(drugs()[drug]["classes"])


def doses(entry: dict[str, Any]) -> list[dict[str, Any]]:
    return [*([entry["dose"]] if "dose" in entry else []), *entry.get("other_doses", ())]


def test_entries_follow_the_schema() -> None:
    """Known keys only; every list holds distinct, trimmed text; YAML made no number or boolean of it."""

    def wrong() -> Iterator[str]:
        for entries, keys in ((load("drugs"), DRUG_KEYS), (load("drug_classes"), CLASS_KEYS)):
            for entry in entries:
                if unknown := set(entry) - keys:
                    yield f"{entry['name']}: unknown keys {unknown}"
                for field in set(entry) - {"name", "dose", "other_doses", "allergy_spreads"}:
                    values = entry[field]
                    if not isinstance(values, list) or not values:
                        yield f"{entry['name']}: {field} is not a filled list"
                    elif not all(isinstance(v, str) and v and v == v.strip() for v in values):
                        yield f"{entry['name']}: {field} holds something else than trimmed text"
                    elif len(set(values)) != len(values):
                        yield f"{entry['name']}: {field} says something twice"

    assert list(wrong()) == []


def test_names_are_unique_and_lower_case() -> None:
    """One entry per name; only abbreviations and what is ambiguous carry capitals."""
    for file in ("drugs", "drug_classes"):
        names = [entry["name"] for entry in load(file)]
        assert sorted(names) == sorted(set(names))
        assert [name for name in names if name != name.lower()] == []
    assert [
        text
        for entry in drugs().values()
        for field in ("brands", "synonyms")
        for text in entry.get(field, ())
        if text != text.lower()
    ] == []


def test_the_vocabulary_is_broad_enough() -> None:
    """Enough drugs, classes and dose ranges to read ordinary notes."""
    assert len(drugs()) >= 650
    assert len(classes()) >= 120
    assert sum("dose" in entry for entry in drugs().values()) >= 350


def test_every_reference_leads_somewhere() -> None:
    """Classes, parents and ingredients exist; an allergy or interaction names a class or a drug."""

    def lost() -> Iterator[str]:
        for entry in drugs().values():
            yield from (f"{entry['name']} class {c}" for c in entry["classes"] if c not in classes())
            parts = entry.get("contains", ())
            yield from (f"{entry['name']} contains {part}" for part in parts if part not in drugs())
        for entry in classes().values():
            yield from (f"{entry['name']} parent {p}" for p in entry.get("parents", ()) if p not in classes())
        for entry in (*drugs().values(), *classes().values()):
            for field in RELATIONS:
                for name in entry.get(field, ()):
                    if name not in classes() and name not in drugs():
                        yield f"{entry['name']} {field} {name}"

    assert list(lost()) == []


def test_no_class_is_its_own_ancestor_and_none_is_empty() -> None:
    """Parents form no circle, and each class has at least one drug in it or below it."""
    circular = [name for name, entry in classes().items() if name in above(list(entry.get("parents", ())))]
    assert circular == []
    used = set().union(*(classes_of(drug) for drug in drugs()))
    assert set(classes()) - used == set()


def test_no_wording_names_two_things() -> None:
    """A brand, synonym or abbreviation belongs to one drug, a class word to one class, and none to both."""
    owners: dict[str, set[str]] = defaultdict(set)
    for entry in drugs().values():
        for text in certain_names(entry):
            owners[text.lower()].add(f"drug {entry['name']}")
    for entry in classes().values():
        for text in {entry["name"], *entry.get("terms", ()), *entry.get("lay", ())}:
            owners[text.lower()].add(f"class {entry['name']}")
    assert {text: who for text, who in owners.items() if len(who) > 1} == {}


def test_what_is_ambiguous_is_certain_nowhere() -> None:
    """A wording under `ambiguous` is not also listed as a sure name of the same or another entry."""
    sure = set(drug_of())
    for entry in classes().values():
        sure.update(text.lower() for text in (*entry.get("terms", ()), *entry.get("lay", ())))
    entries = (*drugs().values(), *classes().values())
    unsure = {text.lower() for entry in entries for text in entry.get("ambiguous", ())}
    assert sure & unsure == set()


def test_everyday_words_and_borrowed_letters_are_no_sure_names() -> None:
    """First names, ordinary words and abbreviations of diseases never name a drug without context."""
    assert set(drug_of()) & EVERYDAY == set()
    capitals = {text for entry in drugs().values() for text in entry.get("abbreviations", ())}
    for entry in classes().values():
        capitals.update(text for text in (*entry.get("terms", ()), *entry.get("lay", ())) if text.isupper())
    assert capitals & OTHER_MEANINGS == set()
    assert [text for text in capitals if text == text.lower()] == []


def test_no_abbreviation_is_a_condition_or_a_measurement() -> None:
    """Letters in the same capitals name nothing in the other vocabularies."""
    entries = [*load("conditions"), *load("findings")]
    taken = {text for entry in entries for text in entry.get("abbreviations", ())}
    taken |= {entry["term"] for entry in load("ambiguous_terms")}
    # The device and the medicine in it are the same words; both readings are right.
    shared = {"IUCD"}
    mine = {text for entry in drugs().values() for text in entry.get("abbreviations", ())}
    assert mine & taken - shared == set()


def test_doses_are_sane() -> None:
    """Least, most and daily ceiling stand in order, in known units and routes, and are not absurdly wide."""
    units = {entry["name"] for entry in load("units") if entry["kind"] in ("dose", "count")}
    frequencies = {entry["name"] for entry in load("frequencies")}

    def wrong() -> Iterator[str]:
        for entry in drugs().values():
            if "other_doses" in entry and "dose" not in entry:
                yield f"{entry['name']}: other doses without a usual one"
            for dose in doses(entry):
                if set(dose) - DOSE_KEYS or not {"unit", "min", "max", "max_daily"} <= set(dose):
                    yield f"{entry['name']}: keys {sorted(dose)}"
                elif not 0 < dose["min"] <= dose["max"] <= dose["max_daily"]:
                    yield f"{entry['name']}: {dose} not in order"
                elif dose["max"] > dose["min"] * 2000 or dose["max_daily"] > dose["max"] * 50:
                    yield f"{entry['name']}: {dose} would let anything pass"
                elif dose["unit"] not in units or dose.get("route", "nasal") not in ROUTES:
                    yield f"{entry['name']}: unit or route of {dose} unknown"
                elif dose.get("frequency", "weekly") not in frequencies:
                    yield f"{entry['name']}: frequency of {dose} unknown"

    assert list(wrong()) == []


def test_a_mixture_is_everything_it_contains() -> None:
    """Whoever may not have an ingredient may not have the mixture: allergy classes are inherited."""
    spreading = {name for name, entry in classes().items() if entry.get("allergy_spreads")}
    missed = [
        (name, part, lost)
        for name, entry in drugs().items()
        for part in entry.get("contains", ())
        if (lost := classes_of(part) & spreading - classes_of(name))
    ]
    assert missed == []


@pytest.mark.parametrize(
    ("wording", "drug"),
    [
        ("acetaminophen", "paracetamol"), ("albuterol", "salbutamol"), ("epinephrine", "adrenaline"),
        ("frusemide", "furosemide"), ("glyburide", "glibenclamide"), ("meperidine", "pethidine"),
        ("rifampin", "rifampicin"), ("cyclosporine", "ciclosporin"), ("thyroxine", "levothyroxine"),
        ("TMP-SMX", "co-trimoxazole"), ("APAP", "paracetamol"), ("ASA", "aspirin"),
        ("GTN", "glyceryl trinitrate"), ("HCTZ", "hydrochlorothiazide"), ("LTG", "lamotrigine"),
        ("MTX", "methotrexate"), ("NAC", "acetylcysteine"), ("lantus", "insulin glargine"),
        ("toujeo", "insulin glargine"), ("tresiba", "insulin degludec"), ("novorapid", "insulin aspart"),
        ("novolog", "insulin aspart"), ("humalog", "insulin lispro"), ("epipen", "adrenaline"),
        ("jext", "adrenaline"), ("seretide", "fluticasone/salmeterol"), ("advair", "fluticasone/salmeterol"),
        ("fostair", "beclometasone/formoterol"), ("sinemet", "co-careldopa"),
        ("symbicort", "budesonide/formoterol"), ("tazocin", "piperacillin/tazobactam"),
        ("augmentin", "co-amoxiclav"), ("suboxone", "buprenorphine/naloxone"),
        ("elvanse", "lisdexamfetamine"), ("entresto", "sacubitril/valsartan"),
    ],
)  # fmt: skip
def test_well_known_names_lead_to_the_drug(wording: str, drug: str) -> None:
    """Names from both sides of the Atlantic and everyday abbreviations find the British name."""
    assert drug_of()[wording.lower()] == drug


@pytest.mark.parametrize(
    ("drug", "lineage"),
    [
        ("amoxicillin", {"aminopenicillin", "penicillin", "beta-lactam", "antibiotic"}),
        ("co-amoxiclav", {"penicillin"}), ("piperacillin/tazobactam", {"penicillin"}),
        ("flucloxacillin", {"penicillin"}), ("apixaban", {"doac", "anticoagulant"}), ("dabigatran", {"doac"}),
        ("enoxaparin", {"lmwh", "anticoagulant"}), ("warfarin", {"vitamin k antagonist", "anticoagulant"}),
        ("ramipril", {"ace inhibitor", "antihypertensive"}), ("ibuprofen", {"nsaid", "analgesic"}),
        ("celecoxib", {"nsaid"}), ("sertraline", {"ssri", "antidepressant"}),
        ("clozapine", {"antipsychotic"}), ("lorazepam", {"benzodiazepine", "hypnotic"}),
        ("morphine", {"opioid"}), ("co-codamol", {"opioid"}),
        ("co-trimoxazole", {"sulfonamide antibiotic", "antibiotic"}),
        ("seretide", {"inhaled corticosteroid", "long-acting beta agonist"}),
        ("semaglutide", {"glp-1 receptor agonist"}), ("furosemide", {"loop diuretic", "diuretic"}),
        ("phenelzine", {"maoi"}), ("microgynon", {"oestrogen"}),
        ("methotrexate", {"dmard", "immunosuppressant"}), ("mmr vaccine", {"live vaccine", "vaccine"}),
    ],
)  # fmt: skip
def test_well_known_classes(drug: str, lineage: set[str]) -> None:
    """A drug belongs to its class and to all wider ones."""
    assert lineage <= classes_of(drug_of()[drug])


@pytest.mark.parametrize(
    ("drug", "stranger"),
    [
        ("ceftriaxone", "penicillin"), ("aztreonam", "penicillin"), ("penicillamine", "penicillin"),
        ("clavulanic acid", "penicillin"), ("aspirin", "anticoagulant"), ("paracetamol", "nsaid"),
        ("dorzolamide", "antihypertensive"), ("desogestrel", "oestrogen"), ("zopiclone", "benzodiazepine"),
        ("clarithromycin", "beta-lactam"), ("furosemide", "sulfonamide antibiotic"),
        ("linezolid", "fluoroquinolone"),
    ],
)  # fmt: skip
def test_drugs_that_are_not_what_they_resemble(drug: str, stranger: str) -> None:
    """No drug is put into a class that only sounds or acts alike."""
    assert stranger not in classes_of(drug)


@pytest.mark.parametrize(
    "pair",
    [
        ("clobazam", "clonazepam"), ("hydroxyzine", "hydralazine"), ("prednisone", "prednisolone"),
        ("lamotrigine", "lamivudine"), ("chlorpromazine", "chlorpropamide"), ("vinblastine", "vincristine"),
        ("metformin", "metronidazole"), ("carbamazepine", "carbimazole"), ("risperidone", "ropinirole"),
        ("quetiapine", "olanzapine"), ("quinine", "quinidine"), ("sulfadiazine", "sulfasalazine"),
        ("bupropion", "buspirone"), ("tramadol", "trazodone"), ("azathioprine", "azithromycin"),
        ("amlodipine", "amiloride"), ("penicillamine", "benzylpenicillin"), ("clomipramine", "clomifene"),
        ("oxycodone", "oxymorphone"), ("valaciclovir", "valganciclovir"), ("guanfacine", "guaifenesin"),
    ],
)  # fmt: skip
def test_look_alikes_are_both_known(pair: tuple[str, str]) -> None:
    """Only when both partners are entries of their own can a slip from one to the other be seen."""
    assert drug_of()[pair[0]] != drug_of()[pair[1]]


def test_what_an_allergy_rules_out() -> None:
    """Penicillins go together, cephalosporins are a caution; non-steroidals cover aspirin, and back."""
    assert classes()["penicillin"]["allergy_spreads"] is True
    assert "cephalosporin" in classes()["penicillin"]["cross_caution"]
    assert "cephalosporin" not in classes()["penicillin"].get("cross_allergy", ())
    assert "salicylate" in classes()["nsaid"]["cross_allergy"]
    assert "nsaid" in classes()["salicylate"]["cross_allergy"]
    assert "salicylate" in drugs()["aspirin"]["classes"]
    assert "sulfasalazine" in classes()["sulfonamide antibiotic"]["cross_allergy"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("maoi", "ssri"), ("maoi", "pethidine"), ("maoi", "tramadol"), ("anticoagulant", "nsaid"),
        ("nitrate", "pde5 inhibitor"), ("opioid", "benzodiazepine"), ("lithium", "nsaid"),
        ("lithium", "ace inhibitor"), ("lithium", "thiazide diuretic"), ("methotrexate", "trimethoprim"),
        ("azathioprine", "xanthine oxidase inhibitor"), ("valproate", "carbapenem"),
        ("beta-blocker", "rate-limiting calcium channel blocker"), ("clozapine", "carbamazepine"),
    ],
)  # fmt: skip
def test_textbook_interactions(one: str, other: str) -> None:
    """The pairs that every formulary prints in red are hinted at."""
    entry = classes().get(one) or drugs()[one]
    assert other in entry["interacts_dangerously"]


def test_weekly_drugs_say_so() -> None:
    """Methotrexate is a weekly drug: a daily reading of its dose is the classic fatal error."""
    assert drugs()["methotrexate"]["dose"]["frequency"] == "weekly"
    assert drugs()["alendronic acid"]["dose"]["frequency"] == "weekly"
    assert drugs()["semaglutide"]["dose"]["frequency"] == "weekly"


@pytest.mark.parametrize(
    ("drug", "unit", "usual", "absurd"),
    [
        ("sertraline", "mg", 50, 500), ("lamotrigine", "mg", 25, 2500), ("paracetamol", "mg", 1000, 5000),
        ("digoxin", "microgram", 125, 12500), ("levothyroxine", "microgram", 100, 1000),
        ("warfarin", "mg", 3, 100), ("methotrexate", "mg", 15, 150), ("haloperidol", "mg", 5, 1000),
        ("apixaban", "mg", 5, 50), ("insulin glargine", "unit", 20, 1000), ("bisoprolol", "mg", 2.5, 250),
        ("clozapine", "mg", 300, 3000), ("olanzapine", "mg", 10, 100), ("metformin", "mg", 500, 5000),
        ("citalopram", "mg", 20, 200),
    ],
)  # fmt: skip
def test_usual_doses_pass_and_absurd_ones_do_not(drug: str, unit: str, usual: float, absurd: float) -> None:
    """A tenfold slip falls outside every range of the drug in that unit, the everyday dose within one."""
    ranges = [dose for dose in doses(drugs()[drug]) if dose["unit"] == unit]
    assert any(dose["min"] <= usual <= dose["max"] for dose in ranges)
    assert not any(dose["min"] <= absurd <= dose["max_daily"] for dose in ranges)


@pytest.mark.parametrize(
    ("words", "drug_class"),
    [
        ("blood thinner", "anticoagulant"), ("water tablet", "diuretic"), ("water pill", "diuretic"),
        ("NSAIDs", "nsaid"), ("painkiller", "analgesic"), ("sleeping tablet", "hypnotic"),
        ("reliever", "short-acting beta agonist"), ("preventer", "inhaled corticosteroid"), ("NOAC", "doac"),
        ("ACEi", "ace inhibitor"), ("ARB", "arb"), ("benzos", "benzodiazepine"), ("z-drugs", "z-drug"),
        ("opiates", "opioid"), ("ASM", "antiepileptic"), ("PPI", "proton pump inhibitor"),
        ("LABA", "long-acting beta agonist"), ("ICS", "inhaled corticosteroid"),
        ("long-acting insulin", "long-acting insulin"), ("LMWH", "lmwh"), ("TCA", "tca"),
        ("sulfa", "sulfonamide antibiotic"),
    ],
)  # fmt: skip
def test_words_for_a_class(words: str, drug_class: str) -> None:
    """What notes and patients call a class leads to it."""
    known = {text.lower() for field in ("terms", "lay") for text in classes()[drug_class].get(field, ())}
    assert words.lower() in known
