"""Marks on a run's records: a field that is added reacts everywhere, one without a mark is refused."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import create_model

from pytest_clinical_drift.core.marks import OF_ONE_RUN, Mark, Marked, MarkedRecord
from pytest_clinical_drift.results.comparing import _differ
from pytest_clinical_drift.results.inputs import GateInputs, JudgingRecord, RunInputs
from pytest_clinical_drift.results.manifest import Hashes, JudgeRecord, Manifest, ShardRecord

RECORDS = (GateInputs, RunInputs, JudgingRecord, Manifest, Hashes, JudgeRecord, ShardRecord)


def manifest(kind: type[Manifest] = Manifest, **changed: Any) -> Manifest:
    return kind.model_validate({"judge": "rules", "hashes": {"cases": "c", "prompts": "p"}, **changed})


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
    """Merging and comparing follow from the mark alone."""
    marked = Annotated[str, Marked(mark, "the moon", shown=True)]
    kind: type[Manifest] = create_model("WithMoon", __base__=Manifest, moon=(marked, "full"))
    one = manifest(kind)
    other = manifest(kind, moon="new")
    told = [item.words + item.values for item in one.differences(other, OF_ONE_RUN)]
    assert told == (["the moon (full, new)"] if tells_shards_apart else [])
    assert _differ(one, other) == ("moon" if tells_figures_apart else "")


def test_a_record_within_a_record_is_looked_through() -> None:
    """Each of its fields has a mark of its own: counts differ between shards, the place of a judge does not."""
    judge = {"spec": "server:a@http://h", "requests": {"fact": 3}}
    one = manifest(judged=judge)
    assert one.differences(manifest(judged={**judge, "requests": {"fact": 4}}), OF_ONE_RUN) == []
    (found,) = one.differences(manifest(judged={**judge, "host": "elsewhere"}), OF_ONE_RUN)
    assert (found.field, found.words, found.values) == ("judged.host", "the judge", "")
    (missing,) = one.differences(manifest(), OF_ONE_RUN)
    assert missing.field == "judged"


def test_of_the_versions_only_our_own_counts() -> None:
    """Two machines may have two versions of numpy; two versions of this package may score otherwise."""
    one = manifest(versions={"pytest-clinical-drift": "1", "numpy": "1.26"})
    assert one.differences(manifest(versions={"pytest-clinical-drift": "1", "numpy": "2.0"}), OF_ONE_RUN) == []
    (found,) = one.differences(manifest(versions={"pytest-clinical-drift": "2"}), OF_ONE_RUN)
    assert found.words + found.values == "the version of this package (1, 2)"


def test_values_are_told_where_they_help() -> None:
    (model,) = manifest(model="hf:a").differences(manifest(model="hf:b"), OF_ONE_RUN)
    assert model.values == " (hf:a, hf:b)"
    (cases,) = manifest().differences(manifest(hashes={"cases": "d", "prompts": "p"}), OF_ONE_RUN)
    assert (cases.field, cases.values) == ("hashes.cases", "")


def test_a_field_without_a_mark_is_refused() -> None:
    """It would be left out of every check in silence."""
    with pytest.raises(TypeError, match=r"Forgotten\.moon has no mark"):

        class Forgotten(MarkedRecord):
            moon: str = "full"


@pytest.mark.parametrize("kind", RECORDS)
def test_every_field_has_exactly_one_mark_and_words_where_it_has_to_agree(kind: type[MarkedRecord]) -> None:
    marks = list(kind.marks())
    assert [name for name, _ in marks] == list(kind.model_fields)
    for name, marked in marks:
        assert marked.words or marked.mark is Mark.CONDUCT, name
