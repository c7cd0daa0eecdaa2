"""What is remembered between and within texts changes no answer, stays bounded and is let go."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref

import pytest

from pytest_clinical_drift.evidence.facts import retention
from pytest_clinical_drift.evidence.mentions.context import context_at
from pytest_clinical_drift.evidence.reading import tokens
from pytest_clinical_drift.evidence.reading.text import Document, read
from pytest_clinical_drift.evidence.reading.tokens import LONGEST, Memory
from pytest_clinical_drift.evidence.terms.lexicon import phrases_between

TEXTS = [
    "Dialysis was offered. Declined. She has anaemia, no fever; ?gout. Any rash? His mother is well. She has asthma.",
    "| finding | answer |\n|---|---|\n| fever | no |\n| rash | yes |\n\nNo cough. In 2019 he had pneumonia.",
    "Takes aspirin o.d. No bleeding. Her brother, who has epilepsy, lives nearby. If her asthma worsens, call.",
    "Fever: no\nChest pain: denied\nFamily history: father had a stroke",
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_order_of_questions_does_not_matter(text: str) -> None:
    """The context of every token is the same asked first, last or after all others."""
    alone = [context_at(read(text), i, i) for i in range(len(read(text)))]
    document = read(text)
    assert [context_at(document, i, i) for i in range(len(document))] == alone
    document = read(text)
    backward = [context_at(document, i, i) for i in reversed(range(len(document)))]
    assert backward[::-1] == alone


def test_a_cue_reaches_back_into_the_sentence_before() -> None:
    """ "X was offered. Declined.": the second sentence denies what the first one names."""
    document = read("Dialysis was offered. Declined. Walks daily.")
    assert context_at(document, 0, 0).negated
    assert not context_at(document, 4, 5).negated


def test_a_range_of_any_width_gives_the_same_cues() -> None:
    """Near ranges are searched anew, wide ones once for all: both find the same cues."""
    document = read("Sertraline was stopped. " * 40)
    wide = phrases_between(document, "stopped", 0, len(document))
    near = [
        cue
        for first in range(0, len(document), 10)
        for cue in phrases_between(document, "stopped", first, min(first + 10, len(document)))
    ]
    assert len(wide) == 40
    assert near == wide


def test_a_memory_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond its bound a table begins anew; very long keys are answered and not kept."""
    monkeypatch.setattr(tokens, "ENTRIES", 10)
    lengths = Memory(len)
    assert [lengths["a" * n] for n in range(1, 36)] == list(range(1, 36))
    assert 0 < len(lengths) <= 10
    assert lengths["b" * (LONGEST + 1)] == LONGEST + 1
    assert "b" * (LONGEST + 1) not in lengths


def test_a_summary_is_let_go_without_the_garbage_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that was found in a summary keeps it alive."""
    kept: list[weakref.ref[_Tracked]] = []

    def tracked(text: str) -> Document:
        document = read(text)
        mark = _Tracked()
        document.cache["mark"] = mark
        kept.append(weakref.ref(mark))
        return document

    monkeypatch.setattr(retention, "read", tracked)
    gc.disable()
    try:
        retention.assess_retention("She takes sertraline 50 mg and has asthma.", ["sertraline 50 mg", "asthma"])
        assert kept[0]() is None
    finally:
        gc.enable()


class _Tracked:
    pass


def test_answers_do_not_depend_on_the_order_of_sets() -> None:
    """The same words are quoted whatever seed the interpreter hashes strings with."""
    program = (
        "from pytest_clinical_drift import assess_retention\n"
        "text = ('Uses a preventer for asthma. He carries a steroid card. Takes an antidepressant, an SSRI. '\n"
        "        'Alcohol withdrawal was treated at home. Seizures began later.')\n"
        "facts = ['fluticasone 250 micrograms twice daily', 'alcohol withdrawal seizure',\n"
        "         'sertraline 50 mg once daily']\n"
        "print(assess_retention(text, facts))\n"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(answers) == 1
