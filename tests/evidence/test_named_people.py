"""Relatives by name: what is said of "Amy" after "her sister Amy" is not the patient's."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.contexts.named_people import names_of_others
from pytest_clinical_drift.evidence.retention import assess_retention
from pytest_clinical_drift.evidence.text import read


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("She lives with her sister Nora.", {"nora"}),
        ("His wife, Ingrid, came along.", {"ingrid"}),
        ("Her husband (Piet) drives.", {"piet"}),
        ("He saw his mother on Monday.", set()),
        ("Her mother, Monday to Friday, works.", set()),
        ("Nora is 40 and has asthma.", set()),
    ],
)
def test_names_come_from_the_words_for_relatives(text: str, names: set[str]) -> None:
    """Only a name that the text itself gives to a relative counts."""
    assert names_of_others(read(text)) == names


def test_what_a_named_relative_has_is_not_the_patients() -> None:
    """A name as subject or owner of a finding makes it that person's; the patient's own name does not."""
    theirs = "She worries about her brother Emil. Emil is allergic to penicillin."
    own = "Emil, 30, lives with his brother Otto. Emil is allergic to penicillin."
    beside = "She moved in with her brother Emil. Allergic to penicillin."
    found = [assess_retention(text, ["penicillin allergy"])[0].status for text in (theirs, own, beside)]
    assert found == ["absent", "retained", "retained"]
