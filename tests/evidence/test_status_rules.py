"""Status of a fact: ended, opposite, other figures, only asked about, and other people's."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.retention import assess_retention

R, P, C, A = "retained", "partial", "contradicted", "absent"


def status(fact: str, summary: str) -> str:
    return assess_retention(summary, [fact])[0].status


ENDED = [
    ("weekly CBT sessions", C, "CBT ended in June; she has no therapist at present."),
    ("weekly CBT sessions", C, "He pulled out of CBT before Easter and sees nobody now."),
    ("weekly CBT sessions", C, "She began CBT in May, but she left after the first hour."),
    ("fortnightly counselling", C, "He quit counselling a month ago."),
    ("fortnightly counselling", C, "Counselling was discontinued after four appointments."),
    ("uses CPAP at night", C, "He returned the CPAP machine and sleeps without it."),
    ("uses CPAP at night", C, "He took his CPAP back to the sleep unit."),
    ("uses a hearing aid", C, "She gave up her hearing aid years ago."),
    ("has a service dog", C, "Her service dog died in May and has not been replaced."),
    ("insulin pump", C, "The insulin pump was removed in April."),
    ("home oxygen", C, "Home oxygen was withdrawn after review."),
    ("works as a teacher", C, "She used to work as a teacher."),
    ("in a relationship", C, "His relationship ended in May."),
    ("attends AA meetings", C, "He stopped going to AA meetings in the summer."),
    ("asthma", C, "His earlier label of asthma was removed after spirometry."),
    ("bipolar disorder", C, "She was once told she had bipolar disorder, but that diagnosis was revised."),
]
GOES_ON = [
    ("attends AA meetings", R, "He goes to AA meetings and has stopped drinking."),
    ("pacemaker", R, "Pacemaker fitted in 2018; follow-up completed."),
    ("hip replacement", R, "Left hip replacement completed last year."),
    ("lives with her husband", R, "She lives with her husband; their dog died last year."),
    ("uses a walking stick", R, "He walks with a stick and has given up his car."),
    (
        "drinks a bottle of gin a day",
        R,
        "He drinks a bottle of gin a day. He fitted in 2022 after he stopped drinking at once.",
    ),
    ("sertraline 50 mg daily", R, "Sertraline 50 mg daily blunts her mood and takes her mind off her work."),
]
OPPOSITE = [
    ("no suicidal ideation", C, "She has been thinking of ending her life."),
    ("no history of violence", C, "He was convicted of assault in 2011."),
    ("no self-harm", C, "She cuts her arms most weekends."),
    ("avoids driving", R, "He has given up driving since the crash."),
    ("avoids driving", R, "She won't drive any more."),
    ("avoids driving", C, "He drives to work every day without difficulty."),
    ("does not drive", R, "He has stopped driving."),
    ("does not drink alcohol", R, "Teetotal."),
    ("does not smoke", R, "Lifelong non-smoker."),
    ("abstinent from alcohol for two years", R, "She has not touched alcohol for two years."),
    ("penicillin allergy", C, "Penicillin was well tolerated last year; he reports no drug allergies."),
    ("aspirin allergy", C, "No known drug allergies; aspirin 75 mg every morning without any problems."),
    ("penicillin allergy", R, "Allergies: penicillin. No other allergies."),
    ("prawn allergy with hives", R, "NKDA. Prawns bring him out in hives."),
    ("peanut allergy", A, "No known drug allergies."),
    ("peanut allergy", C, "No known allergies."),
    ("condoms only for contraception", R, "She uses condoms only, with no other contraception."),
]
FIGURES = [
    ("fluoxetine 60 mg daily", R, "She takes three 20 mg capsules of fluoxetine every morning."),
    ("paracetamol 1 g four times daily", R, "Two 500 mg tablets of paracetamol four times a day."),
    ("sertraline 50 mg daily", P, "- Sertraline\n- Alcohol: 6 units a week\n- Weight 80 kg"),
    ("sertraline 50 mg daily", R, '{"drug": "sertraline", "dose_mg": 50, "frequency": "once daily"}'),
    ("sertraline 50 mg daily", C, '{"drug": "sertraline", "dose_mg": 150, "frequency": "once daily"}'),
    ("sertraline 50 mg daily", C, "She takes a hundred milligrams of sertraline a day."),
    ("diazepam 5 mg as needed", R, "Diazepam 5 mg when required before flights."),
    ("methadone 60 ml daily", C, "Methadone 40 ml daily."),
    ("alcohol 4 units a week", C, "Alcohol: 14 units/week."),
    ("alcohol 12 units a week", R, "She drinks twelve units of alcohol weekly."),
    ("weekly CBT sessions", C, "She has CBT sessions once a month."),
    ("weekly CBT sessions", P, "She has CBT sessions."),
    ("two previous admissions", C, "He has had five previous admissions."),
    ("last seizure three weeks ago", C, "His last seizure was two years ago."),
    ("pregnant, 20 weeks", C, "She is 30 weeks pregnant."),
    ("PHQ-9 score 18", R, "He scored eighteen on the PHQ-9."),
    (
        "ring the unit for a temperature of 38 °C or more",
        R,
        "She is to ring the unit for a temperature of 38 °C or more. Today's temperature is 38.4 °C.",
    ),
    (
        "buccal midazolam 7.5 mg for a seizure lasting over five minutes",
        R,
        "For a seizure lasting over five minutes he has buccal midazolam 7.5 mg.",
    ),
]
NOT_STATED = [
    ("fluoxetine 20 mg daily", A, "She would like to know more about fluoxetine 20 mg."),
    ("fluoxetine 20 mg daily", A, "He asked how fluoxetine works."),
    ("warfarin 5 mg daily", A, "Should a clot be found, warfarin 5 mg daily would be started."),
    ("insomnia", A, "To ask about at the next visit: insomnia."),
    ("depression", A, "He read an article about depression."),
    ("epilepsy", A, "Epilepsy is one possibility under investigation."),
    ("unexplained weight loss of 7 kg", R, "He is being investigated for unexplained weight loss of 7 kg."),
    ("asthma", R, "Asthma (possible interaction with propranolol)"),
    ("coeliac disease", A, "She said that her aunt was lately told she has coeliac disease."),
    ("coeliac disease", A, "His best friend, who has coeliac disease, bakes for him."),
    ("asthma", A, "She cares for her asthmatic brother."),
    ("metformin 500 mg twice daily", A, "Metformin 500 mg twice daily is her husband's, not hers."),
    ("penicillin allergy", A, "The penicillin allergy in the file belongs to his brother."),
    ("sertraline 50 mg daily", A, "Her mother found sertraline 50 mg daily helpful."),
    ("supportive partner", R, "She has a supportive husband."),
]


@pytest.mark.parametrize(("fact", "expected", "summary"), ENDED)
def test_what_has_ended_is_contradicted(fact: str, expected: str, summary: str) -> None:
    """A therapy, device, home or helper that is over, or a diagnosis that was withdrawn, is not a present one."""
    assert status(fact, summary) == expected


@pytest.mark.parametrize(("fact", "expected", "summary"), GOES_ON)
def test_the_end_of_something_else_ends_nothing(fact: str, expected: str, summary: str) -> None:
    """A cue that is about another thing, or about an earlier time, leaves the fact as it is."""
    assert status(fact, summary) == expected


@pytest.mark.parametrize(("fact", "expected", "summary"), OPPOSITE)
def test_opposite_states(fact: str, expected: str, summary: str) -> None:
    """The opposite contradicts; not doing what is avoided states it; a denial speaks of no more than it names."""
    assert status(fact, summary) == expected


@pytest.mark.parametrize(("fact", "expected", "summary"), FIGURES)
def test_figures_belong_to_their_own_statement(fact: str, expected: str, summary: str) -> None:
    """A number counts for what it stands with; another value of the same thing contradicts."""
    assert status(fact, summary) == expected


@pytest.mark.parametrize(("fact", "expected", "summary"), NOT_STATED)
def test_asked_about_or_of_another_person(fact: str, expected: str, summary: str) -> None:
    """What is only asked about, possible or another person's is not stated; what surrounds such words still is."""
    assert status(fact, summary) == expected
