"""Sentences, clauses, labels and segments of a text."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.reading.text import CELL, HEADING, LABEL, PROSE, read


def _sentences(text: str) -> list[str]:
    document = read(text)
    stops = [*document.sentence_starts[1:], len(document)]
    return [" ".join(document.words[a:b]) for a, b in zip(document.sentence_starts, stops, strict=True)]


def _label(text: str, word: str) -> tuple[str, ...]:
    document = read(text)
    return document.labels_of(document.words.index(word))


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("She is well. No fever.", ["she is well", "no fever"]),
        ("pt well. no fever", ["pt well", "no fever"]),
        ("Seen by Dr. Okoro today.", ["seen by dr okoro today"]),
        ("Takes 5 mg. b.d. with food", ["takes 5 mg bd with food"]),
        ("2 puffs b.d. Best flow 400.", ["2 puffs bd", "best flow 400"]),
        ("40 mg b.d. by mouth", ["40 mg bd by mouth"]),
        ("Triggers, e.g. Pollen, vary", ["triggers eg pollen vary"]),
        ("Dose 2.5 mg. Weight 70.5 kg.", ["dose 2.5 mg", "weight 70.5 kg"]),
        ("Grew E. coli again.", ["grew e coli again"]),
        ("Has hepatitis C. She drinks.", ["has hepatitis c", "she drinks"]),
        ("Feels well.No fever", ["feels well", "no fever"]),
        ("Any pain? None!  Good.", ["any pain", "none", "good"]),
        ("- no fever\n- cough", ["no fever", "cough"]),
        ("1. Asthma\n2. Gout", ["asthma", "gout"]),
        ("line one\nline two", ["line one", "line two"]),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    """Abbreviations, decimals and initials end no sentence; full stops, lines and bullets do."""
    assert _sentences(text) == sentences


def test_clauses() -> None:
    """A clause ends at a semicolon, a dash and before an adversative."""
    document = read("no fever; cough – dry but no wheeze")
    assert document.clauses == [0, 0, 1, 2, 3, 3, 3]
    assert document.clause_span(5) == (4, 7)


@pytest.mark.parametrize(
    ("text", "word", "labels"),
    [
        ("Allergies: none", "none", ("allergies",)),
        ("**Allergies:** none", "none", ("allergies",)),
        ("**Allergies** – none", "none", ("allergies",)),
        ("**Diagnosis** Gout", "gout", ("diagnosis",)),
        ("- **FHx:** gout", "gout", ("fhx",)),
        ("# Family history\nGout", "gout", ("family history",)),
        ("**Family history**\nGout", "gout", ("family history",)),
        ("# A\n## Plan\nRest", "rest", ("plan", "a")),
        ("# A\n## Plan\nRest\n# B\nGout", "gout", ("b",)),
        ("Plan:\n- rest\n- fluids", "fluids", ("plan",)),
        ("- Family:\n  - gout\n- asthma", "gout", ("family",)),
        ("- Family:\n  - gout\n- asthma", "asthma", ()),
        ("Plan:\n- rest\n\nShe went home", "home", ()),
        ("**Drugs**\nAspirin\n\n**Allergies:** latex", "latex", ("allergies",)),
        ("Well today. Allergies: latex. Seen alone", "latex", ("allergies",)),
        ("Well today. Allergies: latex. Seen alone", "alone", ()),
        ("| Item | Note |\n|---|---|\n| Allergies | none |", "none", ("allergies", "note")),
        ("| Item | Note |\n|---|---|\n| Allergies | none |", "allergies", ("item",)),
        ("Allergies\tlatex", "latex", ("allergies",)),
        ('{\n  "allergies": ["latex", "nuts"]\n}', "nuts", ("allergies",)),
        ("He said yes", "yes", ()),
    ],
)
def test_labels(text: str, word: str, labels: tuple[str, ...]) -> None:
    """A word knows the heading, prefix, key, row label and column header above it, innermost first."""
    assert _label(text, word) == labels
    document = read(text)
    assert document.label_of(document.words.index(word)) == (labels[0] if labels else "")


def test_kinds_of_segments() -> None:
    """Headings, labels, cells and running text are told apart."""
    document = read("# Notes\n**Drug:** aspirin\n| a | b |")
    kinds = [document.segment_kinds[segment] for segment in document.segments]
    assert kinds == [HEADING, LABEL, PROSE, CELL, CELL]


def test_label_and_value_share_a_sentence() -> None:
    """So that "Allergies: none" can be read as one statement; the next line is another."""
    document = read("**Allergies:** none\nSmokes: no")
    assert document.sentences == [0, 0, 1, 1]
    assert document.lines == [0, 0, 1, 1]
