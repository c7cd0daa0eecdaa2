"""Ordinary paraphrase of circumstances, feelings, relationships, work and therapy, as chat summaries have it."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.retention import assess_retention

STATED = {"retained", "partial"}

SAID_DIFFERENTLY: dict[str, list[str]] = {
    "avoids driving": [
        "She no longer drives since the attack.",
        "He has given up driving and takes the tram.",
        "Too frightened to drive, so her brother takes her.",
        "She stays away from driving altogether.",
        "Avoidance of driving persists.",
    ],
    "avoids social situations": [
        "He stays away from parties and gatherings.",
        "She has stopped going to social events.",
        "Avoidance of socialising is marked.",
    ],
    "avoids crowded places": ["She keeps away from busy shops.", "He no longer goes to crowded places."],
    "recent job loss": [
        "She was let go by her employer last month.",
        "He lost his position at the bank in May.",
        "Your contract was not renewed and you are looking for work.",
        "I got fired three weeks ago.",
        "They were made redundant in the autumn.",
    ],
    "unemployed": ["He is out of work.", "She is currently between jobs.", "Employment: none at present, job-seeking"],
    "living with parents": [
        "He has moved back in with his mum and dad.",
        "She still stays at her parents' house.",
        "Home: shares a flat with her mother and father",
    ],
    "lives with roommates": [
        "She shares a flat with two other students, her flatmates.",
        "He has three housemates at home.",
    ],
    "married with two children": [
        "He lives with his wife and two kids.",
        "Family: husband, 2 children",
        "She is married and a mother of two.",
        "| Family | Married, two sons |",
    ],
    "single mother of two": [
        "She is raising her two children on her own.",
        "A single mum with two kids.",
    ],
    "recently divorced": [
        "Her marriage ended in the spring.",
        "He and his wife divorced a few months ago.",
        "Her divorce was finalised in June.",
    ],
    "parents divorced when she was ten": [
        "Her parents' divorce, when she was 10, still hurts.",
        "Her mum and dad separated when she was ten.",
    ],
    "recent breakup": [
        "His girlfriend left him in March.",
        "She recently split up with her partner.",
        "The end of a four-year relationship two months ago was the trigger.",
        "Her boyfriend ended things with her last month.",
        "He is heartbroken after being dumped.",
    ],
    "estranged from father": [
        "She has not spoken to her dad in years.",
        "He is no longer in touch with his father.",
        "No contact with father since 2018.",
        "She cut ties with her father.",
    ],
    "conflict with mother": [
        "She argues with her mum most evenings.",
        "The relationship with her mother is tense.",
        "He and his mother do not get along.",
        "Frequent rows with mum.",
    ],
    "works as a nurse": ["She is an RN in intensive care.", "A nurse by profession.", "Occupation: staff nurse"],
    "works as a teacher": [
        "He teaches at a primary school.",
        "Job: secondary school teacher",
        "She is a schoolteacher.",
    ],
    "software engineer": ["He is a developer at a start-up.", "She writes code for a living as a programmer."],
    "university student": [
        "He is an undergraduate in physics.",
        "She is in her second year at uni.",
        "Studying for a degree at college.",
    ],
    "works night shifts": [
        "He is on permanent nights.",
        "She works overnight at a warehouse.",
        "Job: care assistant, night shift",
    ],
    "work burnout": [
        "He feels burnt out by his job.",
        "Her job has left her burned out.",
        "She describes burnout from work.",
    ],
    "work stress": [
        "Pressure at work has been building.",
        "His job is very stressful.",
        "She feels overwhelmed by her workload.",
    ],
    "academic stress": [
        "She is under pressure at university.",
        "He feels overwhelmed by his coursework.",
        "Exams and deadlines are a major stressor.",
    ],
    "financial stress": [
        "Money is tight and he worries about bills.",
        "She is under financial pressure.",
        "He is worried about his debts.",
    ],
    "fear of failure": ["He is terrified of failing.", "She dreads falling short.", "He is afraid that he will fail."],
    "fear of abandonment": ["She is scared that people will leave her.", "He worries about being abandoned."],
    "fear of rejection": ["She is afraid of being rejected.", "He dreads rejection."],
    "fear of gaining weight": ["She is afraid of putting on weight.", "He is terrified of weight gain."],
    "fear of being judged": [
        "He worries about what others think of him.",
        "She is scared of being judged by peers.",
        "He fears judgement.",
    ],
    "fear of public speaking": ["She dreads presenting in front of people.", "He is terrified of giving speeches."],
    "trust issues": [
        "He finds it hard to trust people.",
        "She struggles with trusting others.",
        "Trusting others does not come easily to her; she is mistrustful.",
    ],
    "low self-esteem": [
        "She feels she is not good enough.",
        "He has little confidence in himself.",
        "Her self-worth is low.",
        "Poor self-image.",
    ],
    "self-critical": ["He is very hard on himself.", "She berates herself for small errors.", "A harsh inner critic."],
    "perfectionism": [
        "She sets herself impossibly high standards.",
        "He is a perfectionist.",
        "Everything has to be perfect for her.",
    ],
    "procrastination": [
        "He keeps putting things off.",
        "She leaves things to the last minute.",
        "Tends to procrastinate.",
    ],
    "imposter syndrome": [
        "She feels like a fraud in her new post.",
        "He believes he does not deserve his success and will be found out.",
    ],
    "emotional numbness": [
        "She feels numb most days.",
        "He describes feeling nothing at all, emotionally flat.",
        "Feels emotionally numb.",
    ],
    "overthinking": [
        "He replays conversations for hours.",
        "She ruminates at night.",
        "Tends to overthink everything.",
    ],
    "people-pleasing": [
        "She finds it difficult to say no.",
        "He puts others' needs before his own.",
        "Always tries to please everyone.",
    ],
    "parental pressure": [
        "Her parents expect top grades.",
        "He feels pushed by his parents to study medicine.",
        "Pressure from mum and dad to succeed.",
    ],
    "social isolation": [
        "He hardly sees anyone.",
        "She has cut herself off from her friends.",
        "He keeps to himself and has few friends.",
        "She has withdrawn from her social circle.",
    ],
    "loneliness": ["He feels very alone.", "She is lonely in the evenings."],
    "moved to a new city": [
        "She relocated to another city in January.",
        "He recently moved cities for work.",
        "Has just moved to a new town.",
    ],
    "caring for elderly mother": [
        "She looks after her elderly mum.",
        "He is the main carer for his ageing mother.",
        "She provides daily care for her mother, who is frail.",
    ],
    "death of father": [
        "His dad died last year.",
        "She lost her father in 2021.",
        "Her father passed away in May.",
        "He is grieving for his dad.",
    ],
    "bullied at school": ["He was picked on by classmates at school.", "She was bullied throughout secondary school."],
    "history of childhood trauma": [
        "She was abused as a child.",
        "He was beaten by his father when he was a boy.",
        "She suffered neglect while growing up.",
        "Childhood abuse reported.",
    ],
    "anger outbursts": ["He loses his temper easily.", "She lashes out at her partner.", "Angry outbursts at home."],
    "guilt about mother's death": [
        "She feels guilty about the death of her mother.",
        "He blames himself for his mum's death.",
    ],
    "social media comparison": [
        "She compares herself with others on Instagram.",
        "Comparing himself to people on social media.",
    ],
    "sober for two years": [
        "He has not had a drink for two years.",
        "She has been abstinent for 2 years.",
        "Two years of sobriety.",
    ],
    "gambling problem": [
        "He gambles online every night and cannot stop.",
        "Problem gambling.",
        "Struggles with betting.",
    ],
    "weekly CBT sessions": [
        "He has CBT once a week.",
        "She sees a therapist every week for cognitive behavioural therapy.",
    ],
    "sees a therapist weekly": ["He attends counselling once a week.", "She has weekly therapy."],
    "previous hospitalization in 2019": [
        "He was admitted in 2019.",
        "A hospital stay in 2019.",
        "Inpatient treatment in 2019.",
    ],
    "stable on current medication": ["Her current meds keep her stable."],
    "recent exacerbation after house move": [
        "Things got worse after moving house.",
        "Symptoms flared up since they moved home.",
    ],
    "supportive partner": ["Her husband is very supportive.", "His girlfriend is a great source of support."],
    "difficulty sleeping": [
        "He lies awake for hours.",
        "She cannot fall asleep.",
        "Sleep is poor.",
        "Struggles to sleep.",
    ],
    "difficulty concentrating": [
        "He cannot focus on his reading.",
        "Her concentration is poor.",
        "She is easily distracted.",
    ],
    "loss of interest in hobbies": [
        "He no longer enjoys his hobbies.",
        "She has lost interest in things she used to enjoy.",
    ],
    "military veteran": ["He served in the army for ten years.", "An ex-soldier.", "She is a veteran."],
    "immigrant from Brazil": [
        "He came to the country from Brazil.",
        "She emigrated from Brazil in 2015.",
        "Moved here from Brazil.",
    ],
    "lives in supported housing": ["He lives in sheltered accommodation.", "Housing: supported accommodation"],
    "three months postpartum": [
        "She gave birth three months ago.",
        "Her baby was born 3 months ago.",
        "Three months post-partum.",
    ],
    "drinks a bottle of wine every night": [
        "She drinks one bottle of wine nightly.",
        "He has a bottle of wine each evening.",
    ],
    "repeated self-harm by cutting": [
        "She has cut herself many times.",
        "He has been cutting his arms again and again.",
    ],
    "contamination fears": [
        "She panics at the thought of touching anything contaminated; she fears contamination.",
        "She is afraid of germs.",
    ],
    "performance anxiety at work": [
        "He gets very anxious presenting at work.",
        "At her job she is afraid of performing badly.",
    ],
    "hears voices": ["He reports hearing voices.", "Voices comment on what she does; auditory hallucinations."],
    "panic attacks on public transport": ["She panics on buses and trains.", "Panic attacks occur on the underground."],
}

NOT_STATED: dict[str, list[str]] = {
    "avoids driving": ["She drives to work every day.", "Her sister no longer drives.", "He came by car."],
    "recent job loss": ["She enjoys her job.", "Her husband was let go last month."],
    "living with parents": [
        "He moved out of his parents' house and rents a room.",
        "Her parents live in Leeds.",
    ],
    "married with two children": ["He is single.", "Her sister is married with two children."],
    "single mother of two": ["She is married and has two dogs."],
    "estranged from father": ["She speaks to her dad every day.", "He is close to his father."],
    "conflict with mother": ["Her mother is supportive.", "She gets on well with her mother."],
    "works as a nurse": ["She was seen by the practice nurse.", "He works as a teacher."],
    "works night shifts": ["She works nine to five.", "He sleeps badly at night."],
    "academic stress": ["She has a stressful job.", "He enjoys his degree."],
    "fear of failure": ["He fears dogs.", "She failed her driving test."],
    "trust issues": ["She trusts her therapist.", "He has no difficulty trusting others."],
    "low self-esteem": ["His self-esteem is good.", "She is a confident speaker."],
    "social isolation": ["She has many friends and sees them weekly.", "He denies social isolation."],
    "recent breakup": ["She has a supportive boyfriend.", "Her friend had a breakup."],
    "caring for elderly mother": ["Her mother looks after the children.", "His mother died in 2015."],
    "death of father": ["Her father is well.", "He lost his keys."],
    "bullied at school": ["She enjoyed school.", "Her son is bullied at school."],
    "history of childhood trauma": ["He had a happy childhood.", "No history of trauma in childhood."],
    "gambling problem": ["He denies gambling.", "His brother gambles."],
    "weekly CBT sessions": ["CBT was suggested as an option.", "She has never had CBT."],
    "sober for two years": ["He drinks daily.", "She has been married for two years."],
    "walks with a stick": ["He enjoys walks in the park.", "She walks her dog."],
    "military veteran": ["His father served in the army.", "She works in a bank."],
    "works as a teacher": ["Her teacher was strict.", "He met his old teacher."],
    "insomnia": ["She sleeps well.", "He goes to bed at ten."],
    "does not drive": ["She is driven and ambitious at work, and drives daily."],
}


def status(summary: str, fact: str) -> str:
    return assess_retention(summary, [fact])[0].status


@pytest.mark.parametrize("fact", SAID_DIFFERENTLY)
def test_said_differently(fact: str) -> None:
    """A fact in other everyday words is stated."""
    missed = {text: found for text in SAID_DIFFERENTLY[fact] if (found := status(text, fact)) not in STATED}
    assert missed == {}


@pytest.mark.parametrize("fact", NOT_STATED)
def test_not_stated(fact: str) -> None:
    """Words that resemble a fact, deny it or speak of someone else do not state it."""
    taken = {text: found for text in NOT_STATED[fact] if (found := status(text, fact)) in STATED}
    assert taken == {}
