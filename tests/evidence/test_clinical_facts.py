"""Medicines, allergies, conditions, measurements, devices, negative facts and family history, as notes put them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_clinical_drift.evidence.context import mention_context
from pytest_clinical_drift.evidence.lexicon import find_terms, fold, lexicon
from pytest_clinical_drift.evidence.retention import Retention, assess_retention
from pytest_clinical_drift.evidence.text import read

RETAINED, PARTIAL, CONTRADICTED, ABSENT = "retained", "partial", "contradicted", "absent"


def assess(fact: str, summary: str) -> Retention:
    return assess_retention(summary, [fact])[0]


def check(cases: dict[str, str], fact: str) -> None:
    wrong = {
        summary: found.status for summary, want in cases.items() if (found := assess(fact, summary)).status != want
    }
    assert wrong == {}


REGIMENS = {
    "mirtazapine 30 mg at night": {
        "Mirtazapine 30 mg nocte and weekly counselling.": RETAINED,
        "- Mirtazapine 30 mg nocte\n- Flashbacks 4x/week": RETAINED,
        "- Mirtazapine, well tolerated\n- Flashbacks 4x/week": PARTIAL,
        "She takes mirtazapine. She swims twice a week.": PARTIAL,
        "Mirtazapine, and she was told to drink two litres daily.": PARTIAL,
        "Mirtazapine with 3-monthly blood tests.": PARTIAL,
        "Mirtazapine. It is taken at night, 30 mg.": RETAINED,
        '{"drug": "mirtazapine", "dose_mg": 30, "when": "at night"}': RETAINED,
        "Mirtazapine 15 mg at night.": CONTRADICTED,
    },
    "citalopram 40 mg daily": {
        "Citalopram 20 mg, two tablets daily.": RETAINED,
        "Citalopram 2 x 20 mg daily.": RETAINED,
        "Takes two 20 mg tablets of citalopram every morning.": RETAINED,
        "Citalopram 20 mg x 2 each morning.": RETAINED,
        "Without citalopram 40 mg daily he goes downhill within days.": RETAINED,
        "No side effects on citalopram 40 mg daily.": RETAINED,
        "Citalopram 40 mg daily has held her since autumn.": RETAINED,
        "Citalopram 40 mg daily was held on admission.": CONTRADICTED,
        "Citalopram was not tolerated.": CONTRADICTED,
        "She decided against citalopram.": CONTRADICTED,
        "He was prescribed citalopram but has not started taking it.": CONTRADICTED,
        "An increase of citalopram above 40 mg daily was not tolerated.": RETAINED,
        "Her GP suggested citalopram, which she will think about.": ABSENT,
        "Her GP suggested citalopram 40 mg daily, which she now takes.": RETAINED,
        "Options discussed included citalopram.": ABSENT,
        "Citalopram could be tried if talking does not help.": ABSENT,
        "Citalopram was mentioned as one option.": ABSENT,
    },
    "clonazepam 0.5 mg as needed": {
        "Clonazepam 0.5 mg as needed, lately about three times a week.": RETAINED,
        "Clonazepam 0.5 mg, used at most twice a week.": PARTIAL,
        "Clonazepam 0.5 mg three times a day.": CONTRADICTED,
    },
    "flupentixol 40 mg every 4 weeks": {
        "Flupentixol depot 40 mg monthly.": RETAINED,
        "Flupentixol depot 40 mg every 2 weeks.": CONTRADICTED,
    },
    "warfarin, target INR 2.5": {
        "Warfarin with an INR goal of 2.5.": RETAINED,
        "Warfarin, INR target 3.5.": CONTRADICTED,
        "Takes warfarin.": PARTIAL,
    },
}


@pytest.mark.parametrize("fact", REGIMENS)
def test_a_regimen_is_read_from_its_own_statement(fact: str) -> None:
    """Doses and intervals of other things say nothing; silence never contradicts; offers and refusals do not state."""
    check(REGIMENS[fact], fact)


ALLERGIES = {
    "naproxen allergy": {
        "Allergies: naproxen (hives).": RETAINED,
        "NKDA; takes naproxen without problems.": CONTRADICTED,
        "Allergies: none. Tolerates naproxen.": CONTRADICTED,
        "She reports no allergies to any medicines.": CONTRADICTED,
        "Her daughter came out in a rash with naproxen.": ABSENT,
    },
    "shellfish allergy": {
        "Prawns make his throat swell.": RETAINED,
        "She cannot eat shellfish because of an allergy.": RETAINED,
        "Eats shellfish without trouble and has no allergies.": CONTRADICTED,
    },
    "wasp sting anaphylaxis": {
        "Anaphylaxis to wasp stings.": RETAINED,
        "Her neighbour had anaphylaxis after a wasp sting.": ABSENT,
    },
    "allergic rhinitis": {"PMH: hay fever.": RETAINED},
}


@pytest.mark.parametrize("fact", ALLERGIES)
def test_allergies(fact: str) -> None:
    """The substance in any name; what is taken without harm speaks against the allergy."""
    check(ALLERGIES[fact], fact)


OWNERS = {
    "alcohol dependence": {
        "He speaks of his father, an alcoholic who died young.": ABSENT,
        "She helps her brother with his alcohol dependence.": ABSENT,
        "His mother moved away. She had alcohol dependence.": ABSENT,
        "His wife has alcohol dependence and she attends a clinic.": ABSENT,
        "A group for people with alcohol dependence meets nearby.": ABSENT,
        "Her little boy is well; she has alcohol dependence.": RETAINED,
    },
    "appendicectomy": {
        "Her brother had his appendix out.": ABSENT,
        "She had her appendix out.": RETAINED,
    },
    "eczema": {"Her baby has eczema.": ABSENT, "Her 3-year-old son has eczema.": ABSENT},
}


@pytest.mark.parametrize("fact", OWNERS)
def test_other_people_own_what_is_said_of_them(fact: str) -> None:
    """Appositions, helped relatives, pronouns of the other sex and small children are not the patient."""
    check(OWNERS[fact], fact)


def test_a_pronoun_of_the_same_sex_may_be_the_patient() -> None:
    """ "Her mother … She": nothing says that the pronoun means the mother."""
    text = "Her mother visits often. She has asthma."
    start = text.index("asthma")
    assert not mention_context(text, start, start + 6).other_person


DEVICES = {
    "pacemaker fitted in 2020": {
        "No problems from her pacemaker, which was put in in 2020.": RETAINED,
        "A pacemaker was suggested in 2020 but he turned it down.": (ABSENT, CONTRADICTED),
        "Was considered for a pacemaker in 2020, but it was not needed.": (ABSENT, CONTRADICTED),
        "She is thinking about having a pacemaker fitted.": ABSENT,
    },
    "home oxygen": {
        "Uses O2 at home.": RETAINED,
        "Home oxygen was stopped after reassessment.": CONTRADICTED,
        "The nurse assessed her for home oxygen, but it was not needed.": (ABSENT, CONTRADICTED),
    },
}


@pytest.mark.parametrize("fact", DEVICES)
def test_devices_that_were_only_talked_about(fact: str) -> None:
    """An offer that was declined and a device that was taken away are not there."""
    wrong = {}
    for summary, want in DEVICES[fact].items():
        found = assess(fact, summary).status
        if found not in (want if isinstance(want, tuple) else (want,)):
            wrong[summary] = found
    assert wrong == {}


NEGATIVES = {
    "no current medication": {
        "He is drug-free.": RETAINED,
        "Takes nothing at the moment.": RETAINED,
        "No regular medication.": RETAINED,
        "Takes lithium 400 mg.": CONTRADICTED,
    },
    "no psychotic symptoms": {
        "Denies hallucinations, and no delusions were elicited.": RETAINED,
        "He hears a voice that comments on him.": CONTRADICTED,
    },
    "no suicidal ideation": {
        "She has no wish to end her life.": RETAINED,
        "At night he thinks about jumping off a bridge.": CONTRADICTED,
    },
    "no suicidal intent": {
        "Passive thoughts, but she would never act on them.": RETAINED,
        "He intends to end his life.": CONTRADICTED,
    },
    "not pregnant": {"Pregnancy test negative.": RETAINED, "She is 12 weeks pregnant.": CONTRADICTED},
    "no substance misuse": {"Substance use: none.": RETAINED, "He smokes weed most days.": CONTRADICTED},
}


@pytest.mark.parametrize("fact", NEGATIVES)
def test_negative_facts(fact: str) -> None:
    """A denial in other words states the fact; a paraphrased presence contradicts it."""
    check(NEGATIVES[fact], fact)


@pytest.mark.parametrize(
    ("fact", "summary", "quote"),
    [
        ("no asthma", "She denies any asthma.", "denies any asthma"),
        ("no current medication", "She is not on any medication.", "not on any medication"),
    ],
)
def test_the_quote_of_a_negative_fact_holds_the_denial(fact: str, summary: str, quote: str) -> None:
    """What is quoted shows the denying word, not only what is denied."""
    assert [span.quote for span in assess(fact, summary).evidence] == [quote]


INTENTIONS = {
    "passive suicidal ideation without plan": {
        "She feels she would be better off dead but has made no plans.": RETAINED,
        "Passive suicidal ideation with a clear plan.": CONTRADICTED,
        "Passive suicidal ideation.": PARTIAL,
    },
    "suicidal ideation with plan": {
        "Suicidal, with a specific plan.": RETAINED,
        "Suicidal ideation, no plan.": CONTRADICTED,
    },
}


@pytest.mark.parametrize("fact", INTENTIONS)
def test_plans_and_intentions(fact: str) -> None:
    """A plan that the fact denies must be denied; one that is stated contradicts it."""
    check(INTENTIONS[fact], fact)


FAMILY = {
    "family history of schizophrenia": {
        "Her aunt has schizophrenia.": RETAINED,
        "There is mental illness on his father's side.": PARTIAL,
        "No family history of mental illness.": CONTRADICTED,
    },
    "mother had breast cancer": {
        "Maternal history of breast cancer.": RETAINED,
        "Her friend's mother had breast cancer.": ABSENT,
    },
}


@pytest.mark.parametrize("fact", FAMILY)
def test_family_history(fact: str) -> None:
    """Any relative is the family, a friend's mother is not."""
    check(FAMILY[fact], fact)


MEASURES = {
    "PHQ-9 score 19": {"PHQ-9 = 19/27": RETAINED, "She scored 19 on the PHQ-9.": RETAINED, "PHQ-9: 8/27": CONTRADICTED},
    "GAD-7 score 12": {"GAD-7 to be repeated.": ABSENT, "GAD-7: 12": RETAINED},
    "EPDS 16": {"EPDS 16/30": RETAINED, "EPDS 9/30": CONTRADICTED},
    "chronic kidney disease stage 3": {"Chronic kidney disease.": PARTIAL, "CKD 3.": RETAINED},
    "recurrent urinary tract infections": {"Recurrent UTIs.": RETAINED},
}


@pytest.mark.parametrize("fact", MEASURES)
def test_scores_stages_and_plurals(fact: str) -> None:
    """Points of a scale, a missing stage, and abbreviations that end in "I" with a plural s."""
    check(MEASURES[fact], fact)


def test_the_name_of_a_scale_is_no_diagnosis() -> None:
    """ "GAD-7" does not state generalised anxiety disorder."""
    assert assess("generalised anxiety disorder", "GAD-7: 12").status == ABSENT


@pytest.mark.parametrize(
    ("text", "mention", "negated"),
    [
        ("COPD was felt to be unlikely.", "COPD", True),
        ("Evaluated for stroke, which was excluded by MRI.", "stroke", True),
        ("It does not appear that he has osteomyelitis.", "osteomyelitis", True),
        ("NO JVD. BIBASILAR CRACKLES.", "CRACKLES", False),
        ("No increase in her ascites.", "ascites", False),
        ("No response to treatment for cellulitis.", "cellulitis", False),
        ("There is no hydronephrosis, but a stone is seen.", "stone", False),
        ("Neither cough nor sputum was reported.", "sputum", True),
        ("(-) fever, (+) cough", "cough", False),
        ("She was not septic.", "septic", True),
    ],
)
def test_negation_in_discharge_style(text: str, mention: str, negated: bool) -> None:
    """Terse findings, pseudo-negations and denials that stand after what they deny."""
    start = text.index(mention)
    assert mention_context(text, start, start + len(mention)).negated is negated


EVERYDAY = (Path(__file__).parent / "everyday_words.txt").read_text(encoding="utf-8").split()


def test_no_everyday_word_is_taken_for_a_slip() -> None:
    """Correction of typing errors leaves every common word as it is."""
    changed = {word: found for word in EVERYDAY if (found := lexicon().correct(fold(word))) != fold(word)}
    assert changed == {}
    assert len(EVERYDAY) > 600


def test_no_everyday_word_names_a_medicine() -> None:
    """No common word is a drug, not even one that is spelled like an abbreviation."""
    found = {t.concept.name for word in EVERYDAY for t in find_terms(read(word)) if t.concept.kind == "drug"}
    assert found == set()


def test_slips_in_technical_words_are_still_corrected() -> None:
    """A letter too many or too few in a generic name."""
    assert assess("sertraline", "Takes sertralline.").status == RETAINED
    assert assess("clobazam", "Takes clonazepam.").status == ABSENT


def test_headaches_are_the_plural_of_headache() -> None:
    """The key of a plural is that of its singular, whether it is an ache or a coach."""
    assert fold("headaches") == fold("headache")
    assert fold("coaches") == fold("coach")
    assert fold("ssris") == fold("ssri")


TAKEN_AT = {
    "carbamazepine 200 mg twice daily": {
        "Carbamazepine 200 mg in the morning and again at bedtime.": RETAINED,
        "Carbamazepine 200 mg with breakfast and with supper.": RETAINED,
        "Carbamazepine 200 mg in the morning only.": CONTRADICTED,
    },
    "doxazosin 4 mg at night": {
        "Takes doxazosin 4 mg at bedtime for his nightmares, which wake him three nights a week.": RETAINED,
        "Doxazosin 4 mg before going to sleep.": RETAINED,
    },
    "methotrexate 20 mg weekly": {
        "Methotrexate 20 mg every Friday.": RETAINED,
        "Methotrexate 20 mg on Mondays and Fridays.": CONTRADICTED,
    },
    "citalopram 20 mg": {
        "You asked me what citalopram is like.": ABSENT,
        "Some people find that citalopram helps.": ABSENT,
        "Citalopram is one of the options, and he has not decided.": ABSENT,
        "Plan: start citalopram 20 mg.": ABSENT,
        "As a student she took citalopram 20 mg.": CONTRADICTED,
        "Citalopram 20 mg (2015-2017).": CONTRADICTED,
        "Moved over to venlafaxine from citalopram.": CONTRADICTED,
        "Citalopram 20 mg was stopped in May and restarted in July at 20 mg daily.": RETAINED,
        "He asked if he could stop citalopram 20 mg.": RETAINED,
        "Citalopram 20 mg, may go up to 40 mg.": RETAINED,
        "Allergic to citalopram.": ABSENT,
        "Takes no medication at all.": CONTRADICTED,
    },
    "venlafaxine 75 mg": {"Medication: citalopram (stopped), venlafaxine 75 mg": RETAINED},
    "previous trial of citalopram without benefit": {
        "An earlier trial of citalopram brought no response.": RETAINED,
        "Citalopram was tried before and did not help.": RETAINED,
        "Citalopram was tried before and helped him well.": CONTRADICTED,
        "He has never tried citalopram.": CONTRADICTED,
        "Takes citalopram every day.": CONTRADICTED,
    },
}


@pytest.mark.parametrize("fact", TAKEN_AT)
def test_when_and_whether_a_medicine_is_taken(fact: str) -> None:
    """Parts of the day add up; a symptom's interval, a question, a plan and a past course are not the regimen."""
    check(TAKEN_AT[fact], fact)


FIGURES = {
    "GAD-7 score 13": {
        "He scored 8 on the PHQ-9 and 13 on the GAD-7.": RETAINED,
        "PHQ-9 and GAD-7 were 8 and 13 respectively.": RETAINED,
        "PHQ-9/GAD-7: 8/13": RETAINED,
        "Questionnaires: 8 for depression (PHQ-9) and 13 for anxiety (GAD-7).": RETAINED,
        "He scored 13 on the PHQ-9 and 8 on the GAD-7.": CONTRADICTED,
        "GAD-7 13 on admission, 6 today.": CONTRADICTED,
    },
    "blood pressure 146/92": {
        "Blood pressure was 146 over 92.": RETAINED,
        "BP 128/80 (down from 146/92).": CONTRADICTED,
        '{"bp": "146/92"}': RETAINED,
    },
    "INR 2.6": {
        "INR 2.6, within her target range of 2 to 3.": RETAINED,
        "INR target 2 to 3, last 2.6.": RETAINED,
        "Target INR 2.6.": ABSENT,
    },
    "haemoglobin 104 g/L": {"Hb 10.4": RETAINED, "Hb 12.4": CONTRADICTED, "She is anaemic.": PARTIAL},
    "lithium level 0.7 mmol/L": {
        "Lithium 400 mg at night (level 0.7).": RETAINED,
        "Her lithium came back at 0.9 mmol/L.": CONTRADICTED,
    },
    "CRP 12": {"CRP 90 → 45 → 12": RETAINED, "CRP 12 → 60": CONTRADICTED},
    "weight gain of 9 kg on clozapine": {
        "He has put on 9 kg since starting clozapine.": RETAINED,
        "He has gained weight on clozapine.": PARTIAL,
    },
    "ejection fraction 35%": {"A reduced ejection fraction, and one listens to the heart.": PARTIAL},
}


@pytest.mark.parametrize("fact", FIGURES)
def test_figures_in_the_wordings_of_letters(fact: str) -> None:
    """Each figure goes with its own measurement, the newest one holds, and a bare one may be in another unit."""
    check(FIGURES[fact], fact)


MEANT = {
    "panic disorder": {
        "Panic disorder was considered and excluded.": CONTRADICTED,
        "Her panic disorder has fully resolved.": CONTRADICTED,
        "The panic disorder has lifted.": CONTRADICTED,
        "She was misdiagnosed with panic disorder.": CONTRADICTED,
        "Panic disorder: assessed, criteria not met": CONTRADICTED,
        "She shares a room with a woman who has panic disorder.": ABSENT,
        "She talked about a friend with panic disorder.": ABSENT,
        'He asked, "Is this panic disorder?", and we left it there.': ABSENT,
        "She read online about panic disorder.": ABSENT,
        "Points to watch: panic disorder": ABSENT,
        "He volunteers for a panic disorder charity.": ABSENT,
        "She is worried that the palpitations are panic disorder.": ABSENT,
    },
    "auditory hallucinations": {
        "Auditory hallucinations go on. No command hallucinations.": RETAINED,
        "No auditory hallucinations.": CONTRADICTED,
    },
    "anorexia nervosa, restricting type": {
        "Anorexia nervosa of the binge-eating/purging type.": CONTRADICTED,
        "Anorexia nervosa, restrictive type.": RETAINED,
    },
    "obstructive sleep apnoea": {"Central sleep apnoea.": CONTRADICTED, "Sleep apnoea.": PARTIAL},
    "cataract in the right eye": {"Cataract in the left eye; right eye clear.": CONTRADICTED},
    "acute dystonia with haloperidol": {
        "Acute dystonia with haloperidol.": RETAINED,
        "Acute dystonia with risperidone.": CONTRADICTED,
    },
    "fortnightly EMDR": {"She previously had EMDR.": CONTRADICTED, "EMDR every two weeks.": RETAINED},
    "weekly CBT for insomnia": {"Long-standing insomnia.": ABSENT},
    "amenorrhoea for 6 months": {
        "She has not had a period for six months.": RETAINED,
        "No periods for two months.": CONTRADICTED,
    },
}


@pytest.mark.parametrize("fact", MEANT)
def test_how_a_condition_is_meant(fact: str) -> None:
    """Excluded, over, of another kind or side, another person's, asked about or only looked out for."""
    check(MEANT[fact], fact)


DENIED = {
    "no history of substance use": {
        "Substance use: has never used drugs": RETAINED,
        "Drugs: never": RETAINED,
        "Substance use: cannabis at weekends": CONTRADICTED,
    },
    "no contact with his sons": {
        "He does not have any contact with his sons.": RETAINED,
        "Two sons, whom he does not see or speak to.": RETAINED,
        "He has two sons.": ABSENT,
    },
    "never hospitalised": {"No previous admissions.": RETAINED, "She was hospitalised in spring.": CONTRADICTED},
    "no suicidal ideation": {"He does not want to die.": RETAINED, "He wants to die.": CONTRADICTED},
    "no side effects from citalopram": {
        "Citalopram is tolerated with no side effects.": RETAINED,
        "Side effects from citalopram trouble him.": CONTRADICTED,
    },
    "does not drink alcohol": {"Alcohol: none": RETAINED},
}


@pytest.mark.parametrize("fact", DENIED)
def test_denials_under_a_label_and_in_other_words(fact: str) -> None:
    """What a label is about and what is denied below it belong together."""
    check(DENIED[fact], fact)


def test_everyday_verbs_are_no_scales() -> None:
    """ "had" and "must" with a number behind them are not the HADS or the MUST score."""
    assert assess_retention("Her father had a stroke at 48.", ["father had a stroke at 48"])[0].status == "retained"
    assert assess_retention("She had 14 falls.", ["HADS 14"])[0].status == "absent"


def test_medicine_does_not_end_with_another_thing() -> None:
    """What ends in a subordinate clause with its own subject is not the medicine before it."""
    going_on = "She takes mirtazapine 15 mg at night, begun when her second marriage ended."
    stopped = "She took mirtazapine 15 mg at night until it was stopped."
    assert assess_retention(going_on, ["mirtazapine 15 mg at night"])[0].status == "retained"
    assert assess_retention(stopped, ["mirtazapine 15 mg at night"])[0].status == "contradicted"


@pytest.mark.parametrize("said", ["Smoking: 15/day", "Smokes a pipe.", "Has cut down on smoking."])
def test_smoker_is_no_non_smoker(said: str) -> None:
    """A name that holds its opposite ("non-smoker" holds "smoker") is not stated by it."""
    assert assess_retention(said, ["non-smoker"])[0].status == "contradicted"
    assert assess_retention("Smoking: never", ["non-smoker"])[0].status == "retained"


LAST_DOSES_AND_GOALS = {
    "last rivaroxaban dose on 4 May": {
        "The last dose of rivaroxaban is to be taken on 4 May.": RETAINED,
        "Rivaroxaban has been stopped; last rivaroxaban dose 4 May.": RETAINED,
        "The last dose of rivaroxaban is to be taken on 7 May.": CONTRADICTED,
        "He has had his last rivaroxaban dose.": PARTIAL,
    },
    "warfarin 3 mg daily": {
        "Warfarin 3 mg daily with a target INR of 2.5.": RETAINED,
        "Warfarin 1 mg daily with a target dose of 3 mg daily.": CONTRADICTED,
    },
    "hydrocortisone 1% cream once daily": {
        "Hydrocortisone 1% cream OD to the elbows.": RETAINED,
        "Hydrocortisone 1% cream BD to the elbows.": CONTRADICTED,
    },
    "empagliflozin paused until the ketone result": {
        "Empagliflozin paused until the ketone result is back.": RETAINED,
        "He goes on taking empagliflozin as before.": CONTRADICTED,
    },
}


@pytest.mark.parametrize("fact", LAST_DOSES_AND_GOALS)
def test_last_doses_goals_and_pauses(fact: str) -> None:
    """A last dose is judged by its date, the goal of a measurement is no dose, and a pause is not a contradiction."""
    check(LAST_DOSES_AND_GOALS[fact], fact)


AMONG_OTHER_WORDS = {
    "escitalopram 10 mg daily": {
        "Escitalopram 10 mg daily; her GP has suggested going up to 20 mg.": RETAINED,
        "Escitalopram 10 mg daily; she asked whether it should go up to 20 mg.": RETAINED,
        "The clinic has started escitalopram 10 mg daily, which she was reluctant to take.": RETAINED,
        "She was reluctant to take escitalopram.": CONTRADICTED,
        "Escitalopram 10 mg daily. She was told never to stop escitalopram suddenly.": RETAINED,
        "Escitalopram finished; now on duloxetine 60 mg.": CONTRADICTED,
        "Escitalopram might be worth trying if talking does not help.": ABSENT,
        "Medication and allergies: escitalopram 10 mg daily; penicillin (rash).": RETAINED,
    },
    "zuclopenthixol 200 mg every two weeks": {
        "Zuclopenthixol 200 mg by intramuscular injection every three weeks.": CONTRADICTED,
    },
    "zolpidem 5 mg at night as needed": {"He takes zolpidem 5 mg at night when he needs it.": RETAINED},
    "blood pressure 148/92": {
        "She has high blood pressure, gout and kidney disease, stage 3b. Her last pressure was 148/92.": RETAINED,
        "She has high blood pressure and kidney disease, stage 3.": PARTIAL,
    },
    "EpiPen 300 micrograms": {"She carries two EpiPen auto-injectors (300 mcg).": RETAINED},
    "four sessions of CBT so far": {
        "She has completed four CBT sessions so far.": RETAINED,
        "She has completed nine CBT sessions so far.": CONTRADICTED,
    },
    "unintentional weight loss of 5 kg": {
        "He has lost 5 kg without trying.": RETAINED,
        "Appetite poor, weight steady.": CONTRADICTED,
    },
    "right leg ulcer": {
        "She has an ulcer on her left lower leg. A leg ulcer needs a dressing twice a week.": CONTRADICTED,
    },
    "cirrhosis, Child-Pugh A": {"Cirrhosis, Child-Pugh C.": CONTRADICTED},
    "24 weeks pregnant": {"You are 24 weeks pregnant. You have not needed insulin in this pregnancy.": RETAINED},
    "Parkinson's disease": {'Parkinson\'s nurse next week; she keeps a diary of "off" periods.': RETAINED},
    "debts of 3,000 pounds": {
        "He has debts of about £3,000.": RETAINED,
        "He has debts of about £30,000.": CONTRADICTED,
    },
    "three panic attacks a week": {"Panic disorder, under treatment.": ABSENT},
    "sumatriptan worsened her headaches": {"She has headaches most days.": ABSENT},
    "buprenorphine 8 mg daily": {
        "Buprenorphine 8 mg daily. Advised not to mix buprenorphine with alcohol.": RETAINED,
        "Buprenorphine 8 mg daily. He sometimes forgets the evening buprenorphine.": RETAINED,
        "He takes buprenorphine 8 mg daily, as his key worker recommended.": RETAINED,
        "He does not take buprenorphine.": CONTRADICTED,
    },
    "rizatriptan 10 mg as needed": {
        "Rizatriptan 10 mg when needed; take rizatriptan early but not on more than nine days a month.": RETAINED,
    },
    "sober since 2 May": {
        "Sober since 2 May.": RETAINED,
        "He had been sober since 2 May, but relapsed last week.": CONTRADICTED,
    },
    "six EMDR sessions completed": {"Six EMDR sessions have been completed and the seventh was postponed.": RETAINED},
    "emergency caesarean section": {"Her daughter was born by emergency caesarean.": RETAINED},
    "postnatal depression": {
        "She is a new mother with postnatal depression.": RETAINED,
        "Her mother with postnatal depression was never treated.": ABSENT,
    },
    "coeliac disease excluded": {
        "A biopsy ruled out coeliac disease.": RETAINED,
        "She has coeliac disease.": CONTRADICTED,
    },
    "normal ECG in May": {"The ECG in May showed atrial fibrillation.": CONTRADICTED},
    "16 weeks pregnant": {"| Pregnancy | 29 weeks |\n| Last pregnancy | stillbirth at 26 weeks |": CONTRADICTED},
    "home oxygen 3 L/min": {"| Oxygen | 3 L/min at home |": RETAINED},
    "hip replacement planned for 4 July": {"He is listed for a hip replacement on 24 July.": CONTRADICTED},
    "diabetic retinopathy": {"Known diabetic retinopathy, screening up to date.": RETAINED},
    "hears commanding voices": {
        "He hears voices; they do not give commands.": CONTRADICTED,
        "He hears commanding voices at night.": RETAINED,
    },
    "panic attacks twice a week": {
        "She has panic attacks. They come about twice a month.": CONTRADICTED,
        "About two times a week his worry at work builds up into a panic attack. He takes 10 mg each day.": RETAINED,
    },
    "autism": {"She was assessed last year, and the assessment ruled autism out.": CONTRADICTED},
    "uses a walking frame outdoors": {"Mobility: walking frame outdoors, none indoors.": RETAINED},
    "takes naproxen for back pain": {"Back pain; he has never taken naproxen.": CONTRADICTED},
    "7 weeks postpartum": {"She is 17 weeks postpartum.": CONTRADICTED},
    "epilepsy, seizure-free since 2016": {"Epilepsy: last seizure two weeks ago.": CONTRADICTED},
    "Oramorph 5 mg for breakthrough pain": {
        "Morphine sulfate MR 20 mg twice a day; Oramorph 5 mg for breakthrough pain.": RETAINED,
    },
    "two severe hypos last year": {
        "She knows the signs of her hypos well and has had no severe hypos.": CONTRADICTED,
    },
    "dental receptionist": {
        "She is a receptionist.": PARTIAL,
        "She rang the receptionist.": ABSENT,
        "She is a hotel receptionist.": ABSENT,
    },
    "two children aged 3 and 8": {
        "Mother of two (3 and 8 years old).": PARTIAL,
        "Two children aged 3 and 6.": CONTRADICTED,
    },
    "widowed gardener": {"Her late mother was fond of gardens.": ABSENT},
    "suicidal thoughts": {
        "She would not mind if she did not wake up, but has no plan and no intention to end her life.": RETAINED,
        "She has no intention of ending her life.": ABSENT,
        "She has no suicidal thoughts.": CONTRADICTED,
    },
    "no suicidal thoughts": {
        "She has no intention of ending her life.": ABSENT,
        "No plan to end her life, but she wishes she would not wake up.": CONTRADICTED,
        "She denies suicidal thoughts.": RETAINED,
    },
    "three panic attacks a month": {"She describes three to four panic attacks per week.": CONTRADICTED},
    "vomits 4 times a week": {"She binges most evenings and vomits, around four times a day.": CONTRADICTED},
    "losartan 50 mg daily": {
        "He takes edoxaban to prevent clots, and losartan 50 mg once a day.": RETAINED,
        "On losartan 50 mg per day, no change planned.": RETAINED,
    },
    "Symbicort 200/6 two puffs twice daily": {
        "Symbicort 200/6, two puffs in the morning and two in the evening.": RETAINED,
    },
    "carries two adrenaline auto-injectors": {
        "He was given adrenaline auto-injectors in the past but no longer carries any.": CONTRADICTED,
    },
    "migraine with aura": {
        "Migraine w/o aura.": CONTRADICTED,
        "Migraine without aura since her teens.": CONTRADICTED,
    },
    "wife died in October": {"Widowed: his wife died in May.": CONTRADICTED},
    "postpartum depression": {"She is a first-time mother with postnatal depression.": RETAINED},
    "visiting student from Peru": {"She is a visiting student.": PARTIAL},
    "ferritin 9": {"She was told about asking for a ferritin test.": ABSENT},
}


@pytest.mark.parametrize("fact", AMONG_OTHER_WORDS)
def test_facts_among_other_words(fact: str) -> None:
    """Plans, questions, labels and other things of the same sentence do not change what is stated."""
    check(AMONG_OTHER_WORDS[fact], fact)


WHAT_KILLS = {
    "hydrocortisone 15 mg morning, 5 mg midday, 5 mg evening": {
        "Hydrocortisone 15 mg morning, 5 mg midday, 5 mg evening.": RETAINED,
        "Hydrocortisone 5 mg morning, 5 mg midday, 15 mg evening.": CONTRADICTED,
        "Hydrocortisone 15 mg morning, 5 mg midday, 50 mg evening.": CONTRADICTED,
    },
    "quetiapine 400 mg daily": {
        "Quetiapine 100 mg in the morning and 300 mg at night.": RETAINED,
        "Quetiapine 100 mg in the morning and 200 mg at night.": CONTRADICTED,
        "Quetiapine 200 mg twice a day (400 mg daily).": RETAINED,
    },
    "dexamethasone 4 mg daily, must not be stopped suddenly": {
        "Dexamethasone 4 mg daily; it must not be stopped abruptly.": RETAINED,
        "Takes dexamethasone 4 mg daily.": PARTIAL,
        "Dexamethasone was stopped yesterday.": CONTRADICTED,
    },
    "clozapine 250 mg daily": {
        "He has missed his clozapine for three days.": CONTRADICTED,
        "He missed one dose of clozapine 250 mg daily.": RETAINED,
    },
    "ciclosporin 100 mg twice daily": {
        "Ciclosporin 100 mg has been withheld during the infection.": CONTRADICTED,
    },
    "insulin detemir 14 units at night": {"Insulin detemir 14 ml at night.": CONTRADICTED},
    "buprenorphine patch 10 micrograms per hour changed every 7 days": {
        "Buprenorphine patch 10 micrograms per hour, changed daily.": CONTRADICTED,
    },
    "20 weeks pregnant": {"Anyone who is 20 weeks pregnant should avoid it.": ABSENT},
    "last blackout two weeks ago, not driving": {
        "Last blackout was two weeks ago; she still drives to work.": CONTRADICTED,
        "Last blackout was two weeks ago; she is not driving.": RETAINED,
    },
    "nut anaphylaxis, carries two EpiPens": {
        "Anaphylaxis to nuts. He no longer carries any EpiPens.": CONTRADICTED,
    },
    "carries two EpiPens": {"He carries one EpiPen.": CONTRADICTED, "He carries two EpiPens.": RETAINED},
    "suicidal thoughts with a plan to take an overdose": {
        "Suicidal thoughts, but no plan.": CONTRADICTED,
        "She has suicidal thoughts and plans to take an overdose.": RETAINED,
    },
    "suicidal thoughts without intent or plan": {
        "He has suicidal thoughts and plans to jump from a bridge.": CONTRADICTED,
    },
    "cuts her thighs, no suicidal intent": {"She cuts her thighs and says she does not want to die.": RETAINED},
    "do not attempt CPR order in place": {
        "DNACPR form completed.": RETAINED,
        "He is not for resuscitation.": RETAINED,
        "He is for full resuscitation.": CONTRADICTED,
        "The DNACPR was revoked last month.": CONTRADICTED,
    },
    "does not feel safe at home": {"She feels unsafe at home.": RETAINED, "She feels safe at home.": CONTRADICTED},
    "5 weeks postpartum": {"She is 5 months postpartum.": CONTRADICTED, "She is 5 weeks postpartum.": RETAINED},
    "dialysis on Mondays and Fridays": {
        "He has dialysis on Tuesdays and Saturdays.": CONTRADICTED,
        "He has dialysis on Mondays and Fridays.": RETAINED,
    },
    "risperidone stopped because of stiffness": {
        '{"name": "risperidone", "status": "discontinued", "reason": "stiffness"}': PARTIAL,
    },
    "gliclazide 80 mg daily": {"Taking gliclazide and previously took sitagliptin, which was stopped.": PARTIAL},
    "phenytoin caused Stevens-Johnson syndrome": {
        "Stevens-Johnson syndrome from phenytoin, which should never be given again; any new rash matters.": RETAINED,
    },
    "knee replacement in 2015": {"History of TIA in 2021 and a knee replacement.": PARTIAL},
    "wanders at night": {"He wanders at night.": RETAINED},
    "four cups of coffee a day": {"He drinks about four coffees per day.": RETAINED},
}


@pytest.mark.parametrize("fact", WHAT_KILLS)
def test_facts_that_harm_when_wrong(fact: str) -> None:
    """Doses by time of day, what must not be stopped, missed days, units, generic advice, intent and decisions."""
    check(WHAT_KILLS[fact], fact)
