"""Patients and summaries made up for properties: each fact with a plain sentence, a label and a value for it."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st


@dataclass(frozen=True)
class Made:
    """A fact and plain ways to write it down."""

    fact: str
    name: str
    """What a remark about it would call it."""
    label: str
    value: str

    @property
    def sentence(self) -> str:
        return f"{self.label}: {self.value}."


def _medicine(name: str, dose: str, often: str) -> Made:
    return Made(f"{name} {dose} {often}", name, name.capitalize(), f"{dose} {often}")


_MEDICINES = [
    _medicine(name, f"{number} {unit}", often)
    for name, number, unit, often in (
        ("sertraline", 50, "mg", "once daily"),
        ("bisoprolol", 5, "mg", "once daily"),
        ("methotrexate", 15, "mg", "once weekly"),
        ("metformin", 500, "mg", "twice daily"),
        ("levothyroxine", 100, "micrograms", "once daily"),
        ("apixaban", 5, "mg", "twice daily"),
        ("lamotrigine", 150, "mg", "twice daily"),
        ("insulin glargine", 18, "units", "at night"),
    )
]
_CONDITIONS = [
    Made(fact, fact, "Diagnosis", f"{fact}")
    for fact in ("gout", "panic disorder", "type 2 diabetes", "epilepsy", "psoriasis", "coeliac disease")
]
_ALLERGIES = [
    Made("penicillin allergy with anaphylaxis", "penicillin allergy", "Allergies", "penicillin, with anaphylaxis"),
    Made("latex allergy", "latex allergy", "Allergies", "latex"),
]
_FIGURES = [
    Made("HbA1c 58 mmol/mol", "HbA1c", "HbA1c", "58 mmol/mol"),
    Made("potassium 5.9 mmol/L", "potassium", "Potassium", "5.9 mmol/L"),
]
MADE = [*_MEDICINES, *_CONDITIONS, *_ALLERGIES, *_FIGURES]
DOSED = _MEDICINES

UNRELATED = [
    "The weather has been mild this week.",
    "Thank you for the letter.",
    "A leaflet about opening hours was handed over.",
    "Her neighbour has a new dog.",
    "If anything changes, please ring.",
    "She has no further questions.",
    "Nothing else was discussed.",
]
REMARKS = [
    "Does {} need to be looked at again?",
    "Her neighbour has the same, {}.",
    "Questions about {} were answered.",
    "He was told not to worry about {}.",
    "It was not said who first wrote down {}.",
]
REMARKS_ON_MEDICINES = [
    "Does {} need a review?",
    "Her neighbour takes {} too.",
    "She was advised not to stop {} on her own.",
    "No side effects from {}.",
    "A missed dose of {} should not be doubled.",
    "She asked whether {} makes her tired.",
    "A level of {} is not on file.",
]

patients = st.lists(st.sampled_from(MADE), min_size=1, max_size=6, unique_by=lambda made: made.label + made.name)


def as_prose(patient: list[Made]) -> str:
    return " ".join(made.sentence for made in patient)


def as_lines(patient: list[Made]) -> str:
    return "\n".join(made.sentence for made in patient)


def as_bullets(patient: list[Made]) -> str:
    return "\n".join(f"- **{made.label}:** {made.value}" for made in patient)


def as_table(patient: list[Made]) -> str:
    rows = [f"| {made.label} | {made.value} |" for made in patient]
    return "\n".join(["| Item | Detail |", "|---|---|", *rows])


def as_sections(patient: list[Made]) -> str:
    return "\n\n".join(f"## {made.label}\n{made.label}: {made.value}" for made in patient)


LAYOUTS = [as_prose, as_lines, as_bullets, as_table, as_sections]
