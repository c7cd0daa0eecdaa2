"""A chat model in this process as judge: batches, bounded attempts, and an end whatever it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from asked import question, settled
from engine_models import build_model

from pytest_clinical_drift.core.words import State, Why
from pytest_clinical_drift.judging.prompts import messages_for
from pytest_clinical_drift.judging.protocol import build_judge


@pytest.mark.torch
def test_a_model_that_babbles_settles_nothing(tmp_path: Path) -> None:
    """Random weights answer no question in form: all stay open, each asked for so many times, and the judge ends."""
    pytest.importorskip("transformers")
    asked = [question("fact"), question("fact", "Another summary.")]
    words = [message.content for one in asked for wording in (1, 2) for message in messages_for(one, wording)]
    folder = build_model(tmp_path / "tiny", words, vocabulary=3000, max_position_embeddings=8192)
    judge = build_judge(f"hf:{folder}", {"max_tokens": "6", "batch_size": "4"})
    assert judge is not None
    judge.check()
    assert judge.identity().proven
    rulings, count = settled(judge, asked, Why.UNSURE)
    assert {ruling.state for ruling in rulings} == {State.OPEN}
    assert count.failed == count.asked == 4
