"""The marks of a run's spec and facts: a field that is added reacts everywhere, one without a mark is refused."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import create_model

from pytest_clinical_drift.core.spec import OF_ONE_RUN, Mark, Marked, MarkedRecord, RunFacts, RunSpec

GIVEN: dict[str, Any] = {"model": "hf:a", "cases": "c", "prompts": "p", "judge": "rules", "thresholds": "t"}


def with_field(mark: Mark) -> type[RunSpec]:
    """A spec with a made-up option of a third party."""
    marked = Annotated[str, Marked(mark, "the moon", shown=True)]
    made: type[RunSpec] = create_model("WithMoon", __base__=RunSpec, moon=(marked, "full"))
    return made


@pytest.mark.parametrize(
    ("mark", "tells_shards_apart", "tells_figures_apart"),
    [
        (Mark.IDENTITY, True, False),
        (Mark.SCORING, True, True),
        (Mark.SHARED, True, False),
        (Mark.CONDUCT, False, False),
    ],
)
def test_a_made_up_field_reacts_everywhere(mark: Mark, tells_shards_apart: bool, tells_figures_apart: bool) -> None:
    """Differences, values and hashes follow from the mark alone."""
    kind = with_field(mark)
    one = kind(**GIVEN)
    other = kind(**GIVEN, moon="new")
    shards = one.differences(other, *OF_ONE_RUN)
    figures = one.differences(other, Mark.SCORING)
    assert [item.words for item in shards] == (["the moon"] if tells_shards_apart else [])
    assert [item.words for item in figures] == (["the moon"] if tells_figures_apart else [])
    assert (one.fingerprint(*OF_ONE_RUN) != other.fingerprint(*OF_ONE_RUN)) is tells_shards_apart
    assert (one.fingerprint(Mark.SCORING) != other.fingerprint(Mark.SCORING)) is tells_figures_apart
    assert one.values(mark)["moon"] == "full"


def test_both_values_are_told_where_they_help() -> None:
    one = RunSpec(**GIVEN)
    (told,) = one.differences(RunSpec(**{**GIVEN, "model": "hf:b"}), *OF_ONE_RUN)
    assert told.values == " (hf:a, hf:b)"
    (untold,) = one.differences(RunSpec(**{**GIVEN, "cases": "d"}), *OF_ONE_RUN)
    assert untold.values == ""


def test_a_field_without_a_mark_is_refused() -> None:
    """It would be left out of every check in silence."""
    with pytest.raises(TypeError, match=r"Forgotten\.moon has no mark"):

        class Forgotten(MarkedRecord):
            moon: str = "full"


@pytest.mark.parametrize("kind", [RunSpec, RunFacts])
def test_every_field_has_exactly_one_mark(kind: type[MarkedRecord]) -> None:
    names = [name for name, _ in kind.marked(tuple(Mark))]
    assert names == list(kind.model_fields)
