"""Does a summary still state a fact? Traps by kind, ordinary paraphrase, and edits that must be caught."""

from __future__ import annotations

import pytest
from retention_examples import EXAMPLES
from retention_sentences import AFFIRMED, DENIED, DIAGNOSES, OF_OTHERS, OPEN, SENTENCES

from pytest_clinical_drift.cases import CriticalEntity
from pytest_clinical_drift.evidence.retention import assess_document, assess_retention
from pytest_clinical_drift.evidence.text import read

STATED = {"retained", "partial"}


def status(summary: str, fact: str) -> str:
    return assess_retention(summary, [fact])[0].status


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_whole_summaries(number: int) -> None:
    """Every fact of an invented patient gets the status that a careful reader gives it."""
    summary, facts = EXAMPLES[number]
    found = {item.entity: item.status for item in assess_retention(summary, list(facts))}
    assert found == facts


@pytest.mark.parametrize("template", AFFIRMED)
def test_diagnosis_stated(template: str) -> None:
    """A diagnosis that is stated is found in any ordinary sentence, also beside denials of something else."""
    found = {name: status(template.format(x=text), name) for name, text in DIAGNOSES.items()}
    assert {name for name, value in found.items() if value not in STATED} == set()


@pytest.mark.parametrize("template", [*DENIED, *OF_OTHERS, *OPEN])
def test_diagnosis_not_stated(template: str) -> None:
    """A diagnosis that is denied, of someone else, or only possible is not retained."""
    found = {name: status(template.format(x=text), name) for name, text in DIAGNOSES.items()}
    assert {name for name, value in found.items() if value in STATED} == set()


@pytest.mark.parametrize(("fact", "right", "sentences"), SENTENCES, ids=[f"{s[0]} {'/'.join(s[1])}" for s in SENTENCES])
def test_one_sentence(fact: str, right: tuple[str, ...], sentences: list[str]) -> None:
    """One sentence about one fact, in many wordings."""
    wrong = {sentence: found for sentence in sentences if (found := status(sentence, fact)) not in right}
    assert wrong == {}


TRAPS = [
    # abbreviation and full name, both ways
    ("Diagnosed with ADHD at nine.", "attention deficit hyperactivity disorder", "retained"),
    ("Has attention-deficit/hyperactivity disorder.", "ADHD", "retained"),
    # look-alike words
    ("Her asthma is unstable this winter.", "well controlled asthma", "contradicted"),
    ("She has coursework to hand in.", "work stress", "absent"),
    # numbers and units
    ("Takes sertraline 50\u202fmg.", "sertraline 50mg", "retained"),
    ("Takes sertraline 200mg.", "sertraline 50mg", "contradicted"),
    ("Takes fifty milligrams of sertraline.", "sertraline 50mg", "retained"),
    ("Takes sertraline 0.05 g.", "sertraline 50mg", "retained"),
    ("Metformin 1000mg b.d.", "metformin 1 g twice daily", "retained"),
    ("Metformin 2 g/day in two divided doses.", "metformin 1 g twice daily", "retained"),
    ("Digoxin 125 mg daily.", "digoxin 125 micrograms daily", "contradicted"),
    ("Methotrexate 15 mg daily.", "methotrexate 15 mg weekly", "contradicted"),
    ("Methotrexate 15 mg once a week.", "methotrexate 15 mg weekly", "retained"),
    ("Simvastatin 40 mg in the morning.", "simvastatin 40 mg at night", "contradicted"),
    ("Simvastatin 40 mg nocte.", "simvastatin 40 mg at bedtime", "retained"),
    # a dose changed, planned or past
    ("Quetiapine was increased from 50 to 100 mg at night.", "quetiapine 50 mg at night", "contradicted"),
    ("Quetiapine was increased from 50 to 100 mg at night.", "quetiapine 100 mg at night", "retained"),
    ("Quetiapine 50 → 100 mg nocte.", "quetiapine 100 mg at night", "retained"),
    ("Quetiapine 50 mg at night; we may increase it to 100 mg next month.", "quetiapine 50 mg at night", "retained"),
    ("Quetiapine 50 mg at night (target 100 mg).", "quetiapine 100 mg at night", "contradicted"),
    ("Quetiapine 100 mg at night (50 mg until May).", "quetiapine 50 mg at night", "contradicted"),
    (
        "Clozapine 200 mg twice daily. On clozapine he has a blood count every four weeks.",
        "clozapine 200 mg twice daily",
        "retained",
    ),
    ("In 2020 she stopped breathing after methadone. Methadone 60 mg daily.", "methadone 60 mg once daily", "retained"),
    # another drug at the same dose; look-alike drugs; light typing errors
    ("Takes mirtazapine 15 mg at night.", "olanzapine 15 mg at night", "absent"),
    ("Takes clobazam 10 mg.", "clonazepam 10 mg", "absent"),
    ("Takes prednisone 5 mg.", "prednisolone 5 mg daily", "absent"),
    ("Takes metformine 500 mg twice daily.", "metformin 500 mg twice daily", "retained"),
    ("Takes sertralne 50 mg.", "sertraline 50mg", "retained"),
    # class words
    ("Continues her statin.", "atorvastatin 20 mg at night", "partial"),
    # negation that belongs elsewhere
    ("There is no specific plan. Her penicillin allergy is on the front page.", "penicillin allergy", "retained"),
    ("She has not disclosed her bulimia to her sister.", "bulimia nervosa", "retained"),
    ("No rash, no fever; gout for ten years.", "gout", "retained"),
    ("She does not deny her alcohol dependence.", "alcohol dependence", "retained"),
    # facts that are themselves negative
    ("Takes no psychotropic medication.", "no psychotropic medication", "retained"),
    ("Medication: none.", "no psychotropic medication", "retained"),
    ("Started on olanzapine 5 mg.", "no psychotropic medication", "contradicted"),
    ("Not on any anticoagulant.", "not on anticoagulants", "retained"),
    ("Apixaban 5 mg twice daily was started.", "not on anticoagulants", "contradicted"),
    ("She has no known drug allergies.", "no psychotropic medication", "absent"),
    ("There were no medication changes.", "no psychotropic medication", "absent"),
    ("She does not smoke.", "does not smoke", "retained"),
    ("She smokes.", "does not smoke", "contradicted"),
    ("She must not drive or ride.", "must not drive or ride", "retained"),
    ("Anti-Ro antibody negative.", "anti-Ro antibody negative", "retained"),
    ("She does not have migraine without aura.", "migraine without aura", "contradicted"),
    # headings and tables carry the meaning
    ("**Allergies:** none", "penicillin allergy", "contradicted"),
    ("| Allergies | None known |\n|---|---|\n| Drugs | none |", "penicillin allergy", "contradicted"),
    ("### Allergies\n- Penicillin (hives)", "penicillin allergy", "retained"),
    ("| Drug | Dose | When |\n|---|---|---|\n| Ramipril | 5 mg | OD |", "ramipril 5 mg once daily", "retained"),
    ("## Family history\n- Schizophrenia", "schizophrenia", "absent"),
    # hidden reasoning
    ("<think>She has gout.</think>She feels well.", "gout", "absent"),
    ("She feels well. <think>She has gout", "gout", "absent"),
    # only asked about, not recorded
    ("She asked whether she has gout.", "gout", "absent"),
    ("Allergies: not recorded", "no known drug allergies", "absent"),
    # two current statements that cannot both hold, in either order
    ("She has gout. She does not have gout.", "gout", "contradicted"),
    ("She does not have gout. She has gout.", "gout", "contradicted"),
    # sides, types, stages, courses
    ("Fracture of the left wrist.", "right wrist fracture", "contradicted"),
    ("Type 1 diabetes since childhood.", "type 2 diabetes", "contradicted"),
    ("Heart failure with preserved ejection fraction.", "heart failure with reduced ejection fraction", "contradicted"),
    ("Paroxysmal AF.", "permanent atrial fibrillation", "contradicted"),
    ("First episode of depression.", "recurrent depressive disorder", "contradicted"),
    ("Mild asthma.", "severe asthma", "contradicted"),
    # history is kind-specific
    ("History of anaphylaxis to penicillin in childhood.", "penicillin allergy (anaphylaxis)", "retained"),
    ("Clozapine was stopped because of neutropenia.", "clozapine stopped because of neutropenia", "retained"),
    ("Clozapine 200 mg continues.", "clozapine stopped because of neutropenia", "contradicted"),
    # measurements in other units, superseded values
    ("HbA1c 8.6 %.", "HbA1c 71 mmol/mol", "retained"),
    ("Temperature 101.1 °F.", "temperature 38.4 °C", "retained"),
    ("Haemoglobin 10.8 g/dL.", "haemoglobin 108 g/L", "retained"),
    ("Weight 154 lb.", "weight 69.9 kg", "retained"),
    ("Creatinine 1.5 mg/dL.", "creatinine 133 µmol/L", "retained"),
    ("Potassium was 5.6 last week, now 4.4 mmol/L.", "potassium 5.6 mmol/L", "contradicted"),
    ("Her potassium is raised.", "potassium 5.6 mmol/L", "partial"),
    ("Target INR 2.5 to 3.5. Her last INR was 2.9.", "INR 2.9", "retained"),
    ("Takes potassium chloride 20 mmol. Potassium 2.9 mmol/L.", "potassium 2.9 mmol/L", "retained"),
    ("Lithium level 0.8 mmol/L.", "lithium level 0.8 mmol/L", "retained"),
    # reactions
    ("Penicillin allergy.", "penicillin allergy (anaphylaxis)", "partial"),
    ("Penicillin gives him a rash, never anaphylaxis.", "penicillin allergy (anaphylaxis)", "contradicted"),
    # refusals that name the fact
    ("I'm sorry, I can't provide a summary about sertraline or gout.", "gout", "absent"),
]


@pytest.mark.parametrize(("summary", "fact", "expected"), TRAPS)
def test_traps(summary: str, fact: str, expected: str) -> None:
    """The traps that the original matcher fell into, and their neighbours."""
    found = assess_retention(summary, [fact])[0]
    assert (found.status, found.reason) == (expected, found.reason)


def test_evidence_quotes_the_raw_summary() -> None:
    """Every quotation stands in the raw text at its offsets, also behind reasoning and odd spaces."""
    summary = "<think>gout?</think>\n- **Meds:**\u00a0sertraline 50\u202fmg o.d.\n- Lives alone."
    for found in assess_retention(summary, ["sertraline 50 mg once daily", "lives alone"]):
        assert found.status == "retained"
        assert found.evidence
        assert found.reason == ""
        for span in found.evidence:
            assert summary[span.start : span.end] == span.quote


def test_reason_says_what_is_missing_or_wrong() -> None:
    """Whatever is not plainly retained says why."""
    partial, wrong, nothing = (
        assess_retention(summary, ["sertraline 50mg"])[0]
        for summary in ("Takes sertraline.", "Takes sertraline 75 mg.", "Sleeps well.")
    )
    assert (partial.status, partial.reason) == ("partial", "missing: dose")
    assert (wrong.status, wrong.reason) == ("contradicted", "75 mg instead of 50 mg")
    assert (nothing.status, nothing.reason, nothing.evidence) == ("absent", "not stated", ())


def test_aliases_take_part() -> None:
    """A wording that the case gives counts as the fact."""
    fact = CriticalEntity(text="uses the buddy system at work", aliases=("works with a buddy",))
    assert assess_retention("On the site he works with a buddy.", [fact])[0].status == "retained"
    assert assess_retention("On the site he works in a team.", [fact])[0].status == "absent"


def test_one_reading_serves_many_facts() -> None:
    """A document that has been read gives the same result as its text."""
    summary, facts = EXAMPLES[0]
    assert assess_document(read(summary), list(facts)) == assess_retention(summary, list(facts))


def test_no_facts_no_results() -> None:
    """Nothing asked, nothing answered; an empty summary states nothing."""
    assert assess_retention("She has gout.", []) == []
    assert [found.status for found in assess_retention("", ["gout", "no falls", "weight 60 kg"])] == ["absent"] * 3
