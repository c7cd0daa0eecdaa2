"""The CI recipes: their YAML, every option that they give, and every script of theirs, run with stand-ins."""

from __future__ import annotations

import json
import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest
from inner_runs import run_here
from jsonschema.validators import validator_for
from recipes import CI, RECIPES, commands, jobs, recipe, run_job, write_stand_ins

from pytest_clinical_drift.cli import make_parser
from pytest_clinical_drift.conversation.seals import KEY_VARIABLE
from pytest_clinical_drift.subjects.base import is_digest
from pytest_clinical_drift.verdict.thresholds import load_thresholds


@pytest.fixture
def stand_ins(tmp_path: Path) -> Path:
    return write_stand_ins(tmp_path / "bin")


@pytest.mark.parametrize(("name", "schema"), list(zip(RECIPES, ("github-workflows", "gitlab-ci"), strict=True)))
def test_the_yaml_keeps_to_the_published_schema(name: str, schema: str) -> None:
    """Of GitHub and GitLab, as check-jsonschema ships them; a misspelt key is found."""
    try:
        package = distribution("check-jsonschema")
    except PackageNotFoundError:
        pytest.skip("check-jsonschema is not installed")
    file = Path(str(package.locate_file(f"check_jsonschema/builtin_schemas/vendor/{schema}.json")))
    published = json.loads(file.read_text(encoding="utf-8"))
    validator = validator_for(published)(published)
    found = {"on" if key is True else key: value for key, value in recipe(name).items()}  # YAML reads `on` as true
    assert [error.message for error in validator.iter_errors(found)] == []
    job = jobs(name)["merge"]
    misspelt = (
        {**found, "jobs": {"merge": {**job, "stepps": []}}} if "jobs" in found else {**found, "merge": {"skript": []}}
    )
    assert list(validator.iter_errors(misspelt))


@pytest.fixture(scope="module")
def known_options(tmp_path_factory: pytest.TempPathFactory) -> str:
    code, text = run_here(tmp_path_factory.mktemp("help"), "--help")
    assert code == 0
    return text.replace("--junit-xml", "--junitxml")


@pytest.mark.parametrize("name", RECIPES)
def test_pytest_gets_options_that_exist(name: str, known_options: str) -> None:
    """And those without which a real model cannot pass: a judge, its calibration, the thresholds."""
    (arguments,) = commands(name, "pytest")
    options = {word.partition("=")[0] for word in arguments if word.startswith("--")}
    assert {"--model", "--drift-judge", "--drift-thresholds", "--drift-shard"} <= options
    assert "calibration=calibration/reader.json" in arguments
    assert not [option for option in options if not re.search(rf"{option}\b", known_options)]


@pytest.mark.parametrize("name", RECIPES)
def test_what_is_reused_is_proven(name: str, tmp_path: Path, stand_ins: Path) -> None:
    """No shipped revision can move; a store under version control ends the shard; a key seals the cache."""
    data = recipe(name)
    shipped = str((data.get("env") or data["variables"])["JUDGE_REVISION"])
    assert is_digest(shipped)
    assert KEY_VARIABLE in (CI / name).read_text(encoding="utf-8")
    given = data["variables"]["REVISION"]["value"] if "variables" in data else ""
    assert given == ""  # whoever starts the pipeline names the commit
    (stand_ins / "git").write_text('#!/bin/sh\n[ "$1" = ls-files ] && echo .clinical-drift/store.sqlite\n', "utf-8")
    code, calls, _ = run_job(name, "shard", tmp_path, stand_ins)
    assert code == 1
    assert "pytest" not in calls


@pytest.mark.parametrize("name", RECIPES)
def test_commands_take_their_arguments(name: str) -> None:
    """Each call of clinical-drift is one that its parser accepts."""
    called = commands(name, "clinical-drift")
    assert {call[0] for call in called} == {"merge", "review", "verdict"}
    for call in called:
        make_parser().parse_args(call)


@pytest.mark.parametrize("name", RECIPES)
def test_jobs_follow_each_other(name: str) -> None:
    """Shards, then the merge, then the verdict; the evidence is kept whatever the outcome."""
    found = jobs(name)
    assert list(found) == ["shard", "merge", "verdict"]
    assert {key: _listed(job.get("needs")) for key, job in found.items()} == {
        "shard": [], "merge": ["shard"], "verdict": ["merge"],
    }  # fmt: skip
    for job in found.values():
        uploads = [step for step in job.get("steps", ()) if "upload-artifact" in step.get("uses", "")]
        kept = uploads[0]["if"] == "always()" if uploads else job["artifacts"]["when"] == "always"
        assert kept


def _listed(needs: Any) -> list[str]:
    return [needs] if isinstance(needs, str) else list(needs or ())


def test_github_steps_are_whole() -> None:
    """Each step runs or uses something, actions have a version, and as many shards run as are merged."""
    data = recipe("github-actions.yml")
    assert data[True]["workflow_dispatch"]["inputs"].keys() == {"model", "revision"}  # YAML reads `on` as true
    for job in data["jobs"].values():
        assert job["runs-on"]
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            assert "run" in step or re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"])
    shards = data["jobs"]["shard"]["strategy"]["matrix"]["shard"]
    assert shards == list(range(1, len(shards) + 1))
    (arguments,) = commands("github-actions.yml", "pytest")
    assert arguments[arguments.index("--drift-shard") + 1] == f"2/{len(shards)}"


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize(("ended", "job"), [(0, 0), (7, 0), (1, 0), (4, 4), (6, 6), (2, 2)])
def test_a_shard_is_red_only_where_the_merge_cannot_tell(
    name: str, ended: int, job: int, tmp_path: Path, stand_ins: Path
) -> None:
    """PARTIAL is its usual end; an expired calibration (4) and a judge or model that is down (4, 6) end it."""
    code, calls, _ = run_job(name, "shard", tmp_path, stand_ins, CODE_PYTEST=str(ended))
    assert code == job
    assert "--drift-shard 2/4" in calls


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize(("ended", "job"), [(0, 0), (7, 0), (1, 1), (4, 4), (6, 6)])
def test_the_merge_ends_with_its_verdict(name: str, ended: int, job: int, tmp_path: Path, stand_ins: Path) -> None:
    """A missing shard (6) and one of other limits (4) are red; UNSETTLED goes on to the verdict, with its page."""
    code, calls, output = run_job(name, "merge", tmp_path, stand_ins, CODE_CLINICAL_DRIFT=str(ended))
    assert code == job
    assert "clinical-drift merge shards --out results/candidate --junitxml gate.xml" in calls
    told = output.strip() or f"code={(tmp_path / 'merge.code').read_text().strip()}"
    assert told == f"code={ended}"
    if ended == 7:
        assert "clinical-drift review results/candidate" in calls


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize(("merged", "reviewed", "job"), [(0, 1, 0), (7, 0, 0), (7, 7, 7), (7, 4, 4), (7, 1, 1)])
def test_reviews_decide_what_is_unsettled(
    name: str, merged: int, reviewed: int, job: int, tmp_path: Path, stand_ins: Path
) -> None:
    """Foreign reviews (4), too few (7) and a confirmed alarm (1) stay red; a verdict that stands needs no review."""
    (tmp_path / "merge.code").write_text(f"{merged}\n", encoding="utf-8")
    given = {"MERGED": str(merged), "CODE_CLINICAL_DRIFT": str(reviewed), "GITHUB_REF_NAME": "main"}
    code, calls, _ = run_job(name, "verdict", tmp_path, stand_ins, CI_COMMIT_REF_NAME="main", **given)
    assert code == job
    assert ("git checkout FETCH_HEAD -- reviews" in calls) == (merged == 7)


def test_the_limits_beside_the_recipes_demand_a_measured_judge() -> None:
    """Without a judge at its floors the run is INCOMPLETE; without a valid calibration it does not begin."""
    found = load_thresholds(CI / "thresholds.yaml")
    assert found.judge.required
    assert found.judge.calibrate == "never"
    assert found.metrics == load_thresholds().metrics
