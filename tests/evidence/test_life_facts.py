"""Facts about a patient's life, mind and function: said otherwise, in the opposite sense, of others, or not at all."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.facts.fact import parse_fact
from pytest_clinical_drift.evidence.facts.rewording import plainly, rewordings
from pytest_clinical_drift.evidence.lexicon import fold, lexicon
from pytest_clinical_drift.evidence.reading.frequencies import frequencies
from pytest_clinical_drift.evidence.retention import assess_retention
from pytest_clinical_drift.evidence.text import read

STATED = {"retained", "partial"}


def status(text: str, fact: str) -> str:
    return assess_retention(text, [fact])[0].status


SAID: dict[str, list[str]] = {
    "mother recently diagnosed with cancer": [
        "Her low spell began after her mother was found to have ovarian cancer.",
        "Mother newly diagnosed with lung cancer.",
    ],
    "wife has threatened to leave": ["Wife threatening separation.", "His wife has given him an ultimatum."],
    "staying in a hostel": ["Housing: hostel.", "He is currently in a hostel.", "Hostel place since May."],
    "difficulty asking for help": ["Asking for help does not come easily to him.", "He struggles to ask for help."],
    "hypersensitive to noise": ["Auditory hypersensitivity.", "Noise bothers him a lot."],
    "school refusal": ["He stopped going to school in March.", "Not been at school for ten weeks."],
    "has not left the house alone for six months": ["Not been out by herself for six months."],
    "former firefighter": ["He used to work as a firefighter.", "She was a firefighter until 2019."],
    "ex-smoker, quit in 2011": ["He gave up smoking in 2011."],
    "declined grief counselling": ["Turned down grief counselling.", "Grief counselling? He said no."],
    "nine-month-old son": ["Son aged 9 months.", "Her baby boy is nine months old."],
    "hears critical voices": ["Derogatory auditory hallucinations.", "Hears voices making negative comments."],
    "close to his grandmother": ["Good bond with grandmother.", "He and his gran are very close."],
    "gave up her allotment": ["Last spring she gave up the allotment."],
    "stopped playing netball": ["Quit netball."],
    "lost warehouse job": ["He lost his job at the warehouse."],
    "parents do not know about her boyfriend": ["She has not told her parents about her boyfriend."],
    "attends a day centre": ["He goes to the day centre four days a week."],
    "hears his father's voice": ["He hears his late father's voice at night."],
    "raises her two sons alone": [
        "She is bringing up two boys on her own.",
        "Single mum of two sons, with little help.",
    ],
    "recently separated from husband": [
        "Her marriage has recently broken down.",
        "She and her husband split up in May.",
    ],
    "works as a truck driver": ["He drives lorries for a living.", "Occupation: long-distance lorry driver."],
    "freelance graphic designer": ["She is self-employed and does graphic design."],
    "law student": ["He studies law.", "She is in her second year of law school."],
    "army veteran": ["He served in the army for ten years.", "Ex-military; two tours in Afghanistan."],
    "in debt": ["He owes money to several lenders."],
    "moved from Syria two years ago": ["A Syrian refugee who has been in the country for two years."],
    "speaks limited English": ["There is a language barrier; sessions take place with an interpreter."],
    "cares for her disabled brother": ["She looks after her brother, who has a disability."],
    "supportive sister": ["She can rely on her sister for help."],
    "close to her sister": ["She and her sister are very close."],
    "lives in a shared flat": ["He lives with flatmates."],
    "sleeps only four hours a night": ["She is sleeping around four hours nightly."],
    "afraid of flying": ["She is terrified of getting on a plane.", "Air travel frightens her."],
    "worried about losing her home": ["She fears that she may lose her house."],
    "checks the locks repeatedly": ["He feels compelled to re-check that the doors are locked."],
    "hears voices telling him he is worthless": ["Voices tell him he is worth nothing."],
    "believes neighbours are spying on him": ["He is convinced that the neighbours watch him."],
    "sexually abused as a child": ["As a girl she was molested by an uncle."],
    "physically abused by her stepfather": ["Her stepfather beat her."],
    "sees a counsellor weekly": ["She attends counselling once a week."],
    "therapist changed recently": ["She was moved to a new therapist three weeks ago."],
    "often forgets his evening dose": ["He frequently misses the evening dose."],
    "reluctant to take medication": [
        "He has reservations about medication.",
        "She wants to manage without medication.",
    ],
    "wants to stop his antidepressant": ["He would like to come off his antidepressant."],
    "carers visit twice a day": ["Home carers come in twice daily."],
    "lost 8 kg in two months": ["Her weight dropped by 8 kilos within two months."],
    "on disability benefits": ["He lives on a disability pension."],
    "needs help with dressing": ["She requires assistance to get dressed."],
    "vomits after meals": ["She makes herself sick after eating."],
}

NOT_SAID: dict[str, list[str]] = {
    "long-distance lorry driver": ["She is in a long-distance relationship."],
    "first pregnancy": ["She is pregnant.", "She has two children and is pregnant again."],
    "elderly neighbour does her shopping": ["Her elderly neighbour waters the plants."],
    "mother recently diagnosed with skin cancer": ["Her aunt was recently diagnosed with skin cancer."],
    "close to his grandmother": ["He lives close to his grandmother's house."],
    "exam stress": ["Her blood tests are booked; blood pressure is up."],
    "alcohol use 4 units a week": ["Bulimia nervosa, binges 4 times weekly."],
    "recent job loss": ["Sleep poor; concentration at work impaired."],
    "wife discovered the debts": ["He remortgaged without telling his wife."],
    "mother died last year": ["Her father died when she was a child.", "Her mother visits daily."],
    "husband died 8 months ago": ["She spoke about a friend, Ann, whose husband died eight months ago."],
    "supportive sister": ["She supports her sister financially."],
    "has a dog": ["He would like to get a dog one day.", "She has a cat."],
    "recently moved to a new city": ["He is planning to move next year."],
    "army veteran": ["He has never been in the forces."],
    "baby is 10 weeks old": ["She is anxious about the baby's breathing."],
    "on the waiting list for CBT": ["She is having weekly CBT at present."],
    "finished CBT last year": ["She starts CBT next week."],
    "started EMDR last month": ["She declined EMDR."],
    "attends a bereavement group": ["She left the bereavement group after one meeting."],
    "awaiting trial for assault": ["He was the victim of an assault in 2018."],
    "cannot climb stairs": ["He climbs two flights of stairs without difficulty."],
    "wife unaware of the debts": ["His wife is supportive. He has debts."],
    "strained relationship with mother": ["She has a close relationship with her mother."],
    "two teenage daughters": ["She has two teenage sons."],
    "feels like a failure": ["She has heart failure."],
    "dissatisfied with her body": ["She is content with her body."],
    "practising Muslim": ["She is a Christian."],
    "retired bus driver": ["He still works as a bus driver."],
    "works from home": ["Mirrors are covered at home."],
    "afraid of side effects": ["He is not concerned about side effects."],
    "socially withdrawn since the divorce": ["He divorced in 2019."],
    "works as a chef in a busy restaurant": ["He eats in restaurants a lot."],
    "moved from Syria two years ago": ["He moved house two years ago."],
}

OPPOSED: dict[str, list[str]] = {
    "parents separated last year": ["His parents are still together."],
    "declined grief counselling": ["She accepted grief counselling."],
    "alcohol use disorder in early remission": ["Alcohol use disorder: he has started drinking again."],
    "divorced": ["Marital status: married."],
    "social isolation": ["She has a wide circle of close friends and feels well connected."],
    "lives with her boyfriend": ["She lives alone after breaking up with her boyfriend."],
    "first-year university student": ["She is in her final year at university."],
    "works as a software developer": ["He was laid off from his job as a software developer."],
    "unemployed for six months": ["He has been unemployed for two years."],
    "sleeps only four hours a night": ["She sleeps eight hours a night."],
    "smokes 10 cigarettes a day": ["He smokes 20 a day."],
    "cries every day": ["She rarely cries."],
    "runs three times a week": ["He goes running once a week."],
}

OWN_DENIALS: dict[str, list[str]] = {
    "6 weeks sober": ["He has not had a drink for six weeks."],
    "wife unaware of the debts": [
        "His wife has no idea of the debts he has built up.",
        "Wife not told about the debts.",
    ],
    "wishes she would not wake up": ["She sometimes hopes not to wake up in the morning."],
    "does not drive": ["Driving: not driving", "He has given up driving."],
    "cannot climb stairs": ["He is unable to climb stairs.", "He can no longer manage the stairs."],
    "poor adherence to medication": ["She does not take her medication regularly."],
    "few close friends": ["She does not have many close friends."],
    "not planning a pregnancy": ["No plans for pregnancy at present."],
}


@pytest.mark.parametrize("fact", SAID)
def test_said_in_other_words(fact: str) -> None:
    """A paraphrase states the fact, at least in part."""
    assert {text: found for text in SAID[fact] if (found := status(text, fact)) not in STATED} == {}


@pytest.mark.parametrize("fact", NOT_SAID)
def test_not_said(fact: str) -> None:
    """A loose word, another person, a wish or the opposite does not state the fact."""
    assert {text: found for text in NOT_SAID[fact] if (found := status(text, fact)) in STATED} == {}


@pytest.mark.parametrize("fact", OPPOSED)
def test_the_opposite_contradicts(fact: str) -> None:
    """An opposite state or another figure is a contradiction, not silence."""
    assert {text: found for text in OPPOSED[fact] if (found := status(text, fact)) != "contradicted"} == {}


@pytest.mark.parametrize("fact", OWN_DENIALS)
def test_a_denial_may_be_the_facts_own(fact: str) -> None:
    """A "not" inside the wording of the fact does not deny it."""
    assert {text: found for text in OWN_DENIALS[fact] if (found := status(text, fact)) != "retained"} == {}


def test_a_fact_in_another_construction() -> None:
    """Templates put a fact otherwise; those that mislead are replaced, all others are left as they are."""
    assert "studies law" in rewordings("law student")
    assert "estranged from daughter" in rewordings("daughter refuses to see him")
    assert plainly("pregnancy is not planned") == "not planning a pregnancy"
    assert plainly("lives alone") == "lives alone"
    assert rewordings("lives alone") == ()


def test_words_of_a_phrase_may_stand_apart() -> None:
    """A fact's phrase that a cluster knows is also stated by its words one by one, near each other."""
    assert (
        status("She looks after her father and describes this as stressful.", "stressful caregiving for father")
        == "retained"
    )


def test_the_same_thing_twice_is_one_part() -> None:
    """ "final exams" counts once, so that the exams alone do not state that they were failed."""
    assert [part.text for part in parse_fact("failed his final exams").words] == ["failed", "final"]
    assert status("He is preparing for his final exams.", "failed his final exams") == "absent"


def test_twice_weekly_is_not_every_two_weeks() -> None:
    """ "twice weekly" is two times in seven days, "2-weekly" once in fourteen."""
    [twice] = frequencies(read("goes swimming twice weekly"))
    [every] = frequencies(read("goes swimming 2-weekly"))
    assert twice.per_day == pytest.approx(2 / 7, rel=1e-3)
    assert every.per_day == pytest.approx(1 / 14, rel=1e-3)


@pytest.mark.parametrize("word", ["changed", "forearms", "cooking", "relaxed", "singing", "startling"])
def test_everyday_words_are_no_slips(word: str) -> None:
    """A word of daily life is never taken for a mistyped medical one."""
    assert lexicon().correct(fold(word)) == fold(word)


def test_a_slip_in_a_medical_word_is_still_read() -> None:
    """The list of everyday words does not stop the correction of real slips."""
    assert lexicon().correct("metfornin") == "metformin"


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("He went down from six pints a night to two.", "drinks six pints every night"),
        ("She sleeps 6 h and drinks two coffees.", "six cups of coffee a day"),
    ],
)
def test_a_figure_of_something_else_does_not_complete_the_fact(text: str, fact: str) -> None:
    """The amount that was given up, or a number with another unit, is not the fact's."""
    assert status(text, fact) != "retained"
