"""Which runs may be compared, and what is said of those that may not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.results.comparing import NamedRun, check_comparable, paired_differences
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.verdict.reasons import BaselineVersion, NotPaired
from pytest_clinical_drift.verdict.thresholds import BaselineRules

SCORING: dict[str, Any] = {
    "judge": "rules", "judge_prompts": None, "stride": 1, "hashes": {"cases": "c", "prompts": "p"},
    "versions": {"pytest-clinical-drift": "2"},
}  # fmt: skip


def run(**manifest: Any) -> RunResult:
    return RunResult.model_validate({"verdict": "PASS", "cases": [], "manifest": {**SCORING, **manifest}})


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ({"turns": 160}, "to 160 turns"),
        ({"probes": "all"}, "as many turns as its cases have, a summary after every turn"),
        ({"turns": 160, "probes": "all"}, "to 160 turns, a summary after every turn"),
    ],
)
def test_runs_of_other_lengths_or_probes_are_refused(manifest: dict[str, Any], words: str) -> None:
    """Both are described; the same holds for a baseline."""
    runs = [NamedRun("a", run()), NamedRun("b", run(**manifest))]
    said = f"compare: a ran as many turns as its cases have and b {words}; only runs of the same --drift-turns and "
    with pytest.raises(InputError) as caught:
        paired_differences(runs, BaselineRules())
    assert str(caught.value) == said + "probes can be compared"
    with pytest.raises(InputError) as caught:
        check_comparable(Path("old.json"), run(**manifest), SCORING)
    assert f"it ran {words}, this run as many turns as its cases have; give the same" in str(caught.value)


@pytest.mark.parametrize(
    ("manifest", "what"),
    [
        ({"hashes": {"cases": "x", "prompts": "p"}}, "cases"),
        ({"hashes": {"cases": "x", "prompts": "x"}}, "cases and the prompts"),
        ({"judge": "big"}, "judges (big, stride 1; now rules, stride 1)"),
        ({"stride": 2}, "judges (rules, stride 2; now rules, stride 1)"),
        ({"judge_prompts": "x"}, "judge's prompts"),
    ],
)
def test_runs_that_were_scored_otherwise_are_not_paired(manifest: dict[str, Any], what: str) -> None:
    """compare remarks on it, a baseline is refused."""
    (difference,) = paired_differences([NamedRun("a", run(**manifest)), NamedRun("b", run())], BaselineRules())
    [remark] = difference.remarks
    assert remark == NotPaired(what)
    with pytest.raises(InputError) as caught:
        check_comparable(Path("old.json"), run(**manifest), SCORING)
    assert str(caught.value).endswith(f"cannot be compared with this run, because the {what} differ")


def test_another_version_is_remarked_on() -> None:
    """Where both are known and differ."""
    (remark,) = check_comparable(Path("old.json"), run(versions={"pytest-clinical-drift": "1"}), SCORING)
    assert remark == BaselineVersion(before="1", now="2")
    assert check_comparable(Path("old.json"), run(), SCORING) == ()
    assert check_comparable(Path("old.json"), run(versions={}), SCORING) == ()
