"""Facts about people around the patient: whose it is, who cares for whom, who died and when."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.facts.care_roles import care_statements
from pytest_clinical_drift.evidence.facts.framed import frames
from pytest_clinical_drift.evidence.retention import assess_retention
from pytest_clinical_drift.evidence.text import read

CASES: list[tuple[str, str, str]] = [
    # A relative clause between the person and the verb.
    ("mother smokes indoors", "His mum, who came along today, smokes inside the house.", "retained"),
    ("depression", "His mother, who came along, says he has depression.", "retained"),
    # Without "her" or "his".
    ("son in prison", "Stressors: son is in prison, rent arrears.", "retained"),
    ("daughter holds lasting power of attorney", "Informant: daughter, who holds LPA.", "retained"),
    # The patient's own home is not the relative's.
    ("daughter lives in Canada", "He lives alone; his daughter is in Canada.", "retained"),
    ("daughter lives in Canada", "His daughter moved to Canada.", "retained"),
    ("daughter lives in Canada", "His son lives in Canada.", "absent"),
    ("son lives next door", "She lives next door to a school.", "absent"),
    # The person alone says nothing of what the fact says of her.
    ("wife has Parkinson's disease", "He lives in a bungalow with his wife.", "absent"),
    ("wife has Parkinson's disease", "His wife has Parkinson's disease.", "retained"),
    ("son was killed in a car accident", "Her son had a minor car accident.", "absent"),
    ("son was killed in a car accident", "Her son died in a car crash.", "partial"),
    # Who died, and when.
    ("mother died in March", "Her father died in March, and she is now looking after her mother.", "absent"),
    ("mother died in March", "Her mother died in October.", "contradicted"),
    ("mother died in March", "She lost her mother in March.", "retained"),
    ("wife died 14 months ago", "His wife died 4 months ago.", "contradicted"),
    ("wife died 14 months ago", "He lost his wife 14 months ago.", "retained"),
    ("best friend died last year", "Her best friend died five years ago.", "contradicted"),
    ("father died of a heart attack at 52", "Her father died of a heart attack at 72.", "contradicted"),
    ("father died of a heart attack at 52", "Her father died at 52 of a heart attack.", "retained"),
    ("father died of a heart attack at 52", "Her mother died of a heart attack at 52.", "absent"),
    ("stillbirth at 37 weeks", "She had a stillbirth at 28 weeks.", "contradicted"),
    # Children who died at birth are the patient's loss; a sister's are not.
    ("stillbirth at 37 weeks", "You lost your baby girl, who was stillborn at 37 weeks.", "retained"),
    ("stillbirth at 37 weeks", "Her sister had a stillbirth at 37 weeks.", "absent"),
    # Together with the patient.
    ("trying to conceive", "She and her partner are trying for a baby.", "retained"),
    ("trying to conceive", "Her sister is trying for a baby.", "absent"),
    # People named by two words.
    ("cannabis at weekends", "The best man uses cannabis.", "absent"),
    # Several ages.
    ("two sons aged 4 and 7", "She has two sons.", "partial"),
    ("two sons aged 4 and 7", "She has two sons aged 14 and 17.", "contradicted"),
]


@pytest.mark.parametrize(("fact", "text", "expected"), CASES)
def test_whose_it_is(fact: str, text: str, expected: str) -> None:
    """A fact is stated of the one it is about, and dated as it is."""
    assert assess_retention(text, [fact])[0].status == expected


@pytest.mark.parametrize(
    ("fact", "text", "expected"),
    [
        ("main carer for her mother", "She looks after her mother full time.", "retained"),
        ("main carer for her mother", "She is her mum's main carer.", "retained"),
        ("main carer for her mother", "Her sister cares for their mother.", "contradicted"),
        ("main carer for her mother", "Her mother looks after the children.", "absent"),
        ("mother is her main carer", "Her mother is her main carer.", "retained"),
        ("mother is her main carer", "She looks after her mother.", "absent"),
        ("mother is her main carer", "Her husband is her main carer.", "contradicted"),
    ],
)
def test_who_cares_for_whom(fact: str, text: str, expected: str) -> None:
    """The one who cares and the one who is cared for are not exchanged."""
    assert assess_retention(text, [fact])[0].status == expected


def test_care_statements() -> None:
    """Givers and takers by verb, by noun and by possessive; nobody stands for the patient."""
    found = [
        (care.giver, care.taker)
        for text in ("Her sister cares for their mother.", "He is his wife's carer.", "She is looked after by her son.")
        for care in care_statements(read(text))
    ]
    nobody: frozenset[str] = frozenset()
    assert found[:2] == [(frozenset({"sister"}), frozenset({"mother"})), (nobody, frozenset({"wife"}))]


def test_frames() -> None:
    """Ages, times ago and weeks of pregnancy are told apart from other numbers."""
    text = "Her father died at 52, 14 months ago; she lost a baby at 37 weeks and takes 50 mg twice a day."
    found = [(frame.kind, round(frame.value)) for frame in frames(read(text))]
    assert found[0] == ("age", 52)
    assert [kind for kind, _ in found] == ["age", "ago", "week"]
    assert found[2][1] == 37
