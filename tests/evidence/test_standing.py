"""Oppositions between whole replies: a rule that is broken stands, two regimens of different times do not."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.conflict import compare_turns
from pytest_clinical_drift.evidence.judges.standing import stands


@pytest.mark.parametrize(
    ("kind", "earlier", "later", "apart", "expected"),
    [
        ("start/stop", "Febuxostat: same as before", "Stop the febuxostat now", True, False),
        ("start/stop", "Febuxostat daily", "Stop the febuxostat now", False, True),
        ("start/stop", "Never stop the febuxostat during a flare", "Stop the febuxostat until it settles", True, True),
        ("avoid/use", "Cycling is fine with a helmet", "No cycling on your own", True, False),
        ("avoid/use", "No grapefruit with this tablet", "A glass of grapefruit juice is fine", True, True),
        ("avoid/use", "Colchicine once a day", "Please don't take his colchicine", False, False),
        ("start/stop", "No, keep the colchicine going", "Continue the colchicine", True, False),
        ("start/stop", "If you get bad diarrhoea, stop it", "Colchicine as before", True, False),
        ("avoid/use", "Never skip the furosemide", "Pause for now: furosemide", True, False),
        ("dose", "Mesalazine 2 g daily", "Stay on mesalazine 4 g", True, False),
        ("dose", "Mesalazine 2 g daily", "Take mesalazine 4 g", False, True),
        ("dose", "Never more than 2 g a day", "Take 4 g a day", True, True),
        ("urgency", "Call the office today", "Do not repeat the dose for this attack", False, False),
        ("urgency", "Call an ambulance for this", "It can wait until next week", True, True),
        ("food", "Check your sugars before meals", "Take it with meals", False, False),
        ("polarity", "Go to the emergency department if floppy", "Emergency: floppy or drowsy", True, False),
    ],
)
def test_what_stands_between_whole_replies(kind: str, earlier: str, later: str, apart: bool, expected: bool) -> None:
    """What was changed by others in between is no contradiction of the model's own advice."""
    assert stands(kind, earlier, later, apart=apart) is expected


def test_dose_that_was_stepped_up_is_not_listed() -> None:
    """A later regimen that is carried on with is not held against the dose of the beginning."""
    padding = " It is good that you asked, and we can look at sleep, meals and exercise as well when you have time."
    replies = [
        "Take allopurinol 100 mg once a day." + padding * 3,
        "Drink plenty of water and rest the foot." + padding * 3,
        "Stay on allopurinol 300 mg once a day." + padding * 3,
    ]
    assert compare_turns(replies).all_pairs == ()
