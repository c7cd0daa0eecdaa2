"""Small cases for tests of the engine: only their shape matters."""

from __future__ import annotations

from pytest_clinical_drift.cases.model import Case


def make_case(number: int, turns: int = 3) -> Case:
    """A valid case with its own words, so that no two conversations are alike."""
    return Case.model_validate(
        {
            "id": f"case-{number:03d}",
            "persona_id": f"persona-{number}",
            "patient_summary": f"Patient {number} has a penicillin allergy and takes sertraline {25 + number} mg.",
            "critical_entities": ["penicillin allergy", f"sertraline {25 + number} mg"],
            "turns": [
                {"turn": turn, "message": f"Question {turn} of patient {number}: what about tomorrow?"}
                for turn in range(1, turns + 1)
            ],
        }
    )


def make_cases(count: int, turns: int = 3) -> list[Case]:
    return [make_case(number, turns) for number in range(1, count + 1)]
