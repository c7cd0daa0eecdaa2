"""The CI recipes on a small project, with the real programs, a model and a judge behind servers: green, and red."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from engine_server import Answer, ChatServer, as_json, completion
from judge_server import judge_server
from judged_project import load_judge, write_judge
from recipes import CI, COMMIT, RECIPES, run_job, write_stand_ins
from sharded import calibrate
from small_project import SAID, SUMMARY, case_text

pytestmark = pytest.mark.slow
SHARDS = 4
FOREIGN = "pip", "vllm", "curl", "timeout", "git"
"""Programs that have stand-ins; pytest and clinical-drift are ours."""


def reply(body: dict[str, Any]) -> Answer:
    """A model that remembers everything."""
    probing = "handover summary" in body["messages"][-1]["content"]
    return as_json(completion(SUMMARY if probing else "Thank you for telling me."))


@dataclass
class Pipeline:
    """A project and one of the recipes."""

    recipe: str
    folder: Path
    bin: Path
    model: ChatServer
    judge: str

    def run(self, job: str, folder: Path | None = None, **values: str) -> tuple[int, str]:
        """Exit code of a job's scripts, and what they print; `shard` is a number where the job is one of several."""
        place = folder or self.folder
        limits = hashlib.sha256((CI / "thresholds.yaml").read_bytes()).hexdigest()
        given = {
            "JUDGE": self.judge, "JUDGE_KEY": "sk-1", "APPROVED_LIMITS": limits, "GITHUB_REF_NAME": "main",
            "CI_COMMIT_REF_NAME": "main", "PATH": f"{self.bin}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        }  # fmt: skip
        served = {"http://localhost:8000/v1": self.model.url, "http://model:8000/v1": self.model.url}
        code, calls, _ = run_job(self.recipe, job, place, self.bin, replaced=served, **{**given, **values})
        return code, calls

    def shard(self, number: int, folder: Path | None = None, **values: str) -> int:
        """One shard; what it uploads is found below `shards/`, as the merge job downloads it."""
        place = folder or self.folder
        code, _ = self.run(
            "shard", place, shard=str(number), CI_NODE_INDEX=str(number), CI_NODE_TOTAL=str(SHARDS), **values
        )
        if (place / "results").is_dir():  # GitHub's steps upload it
            shutil.move(place / "results", place / "shards" / str(number))
        return code

    def copy(self, to: Path) -> Path:
        return Path(shutil.copytree(self.folder, to))


@pytest.fixture(scope="module", params=RECIPES)
def pipeline(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipeline]:
    """All four shards have run."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("mycases", "deploy", "shards", "reviews"):
        (folder / name).mkdir()
    for name in ("anna", "bela", "cleo", "dora", "egon", "fritz"):
        (folder / "mycases" / f"{name}.yaml").write_text(case_text(name), encoding="utf-8")
    (folder / "deploy/system_prompt.txt").write_text("Be kind.", encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\ndrift_cases = mycases\n", encoding="utf-8")
    shutil.copy(CI / "thresholds.yaml", folder)
    write_judge(folder, true=SAID)
    stand_ins = write_stand_ins(folder / "bin", FOREIGN)
    with ChatServer(answer=reply) as model, judge_server(load_judge(folder)) as judge:
        made = Pipeline(str(request.param), folder, stand_ins, model, f"server:reader@{judge.url}")
        calibrate(folder, made.judge, "reader", key_env="JUDGE_KEY", revision=COMMIT)
        assert [made.shard(number) for number in range(1, SHARDS + 1)] == [0] * SHARDS
        yield made


def test_green(pipeline: Pipeline, tmp_path: Path) -> None:
    """Nothing is wrong: merge and verdict end with 0, and the record has all cases."""
    folder = pipeline.copy(tmp_path / "green")
    assert pipeline.run("merge", folder)[0] == 0
    assert pipeline.run("verdict", folder, MERGED="0")[0] == 0
    found = json.loads((folder / "results/candidate/study_c_results.json").read_text(encoding="utf-8"))
    assert (found["cases_complete"], found["verdict"]) == (6, "CAUTION")


def test_a_missing_shard(pipeline: Pipeline, tmp_path: Path) -> None:
    folder = pipeline.copy(tmp_path / "missing")
    shutil.rmtree(folder / "shards/3")
    assert pipeline.run("merge", folder)[0] == 6


@pytest.mark.parametrize("what", ["expired", "of another judge", "lost"])
def test_a_calibration_that_does_not_hold(pipeline: Pipeline, tmp_path: Path, what: str) -> None:
    """Made long ago for an alias, made for an earlier revision, or not committed: the shard does not begin."""
    folder = pipeline.copy(tmp_path / "expired")
    long_ago = datetime.date.today() - datetime.timedelta(days=400)
    settings = {"key_env": "JUDGE_KEY", "revision": COMMIT}
    if what == "expired":
        calibrate(folder, pipeline.judge, "reader", made=long_ago, proven=False, **settings)
    elif what == "lost":
        shutil.rmtree(folder / "calibration")
    values = {"JUDGE_REVISION": "b" * 40} if what == "of another judge" else {}
    assert pipeline.shard(1, folder, **values) == 4


def test_a_judge_that_is_down(pipeline: Pipeline, tmp_path: Path) -> None:
    """Nobody listens there: the shard does not begin."""
    folder = pipeline.copy(tmp_path / "down")
    with ChatServer() as closed:
        address = f"server:reader@{closed.url}"
    calibrate(folder, address, "reader", key_env="JUDGE_KEY", revision=COMMIT)
    assert pipeline.shard(1, folder, JUDGE=address) in (4, 6)


def test_foreign_reviews(pipeline: Pipeline, tmp_path: Path) -> None:
    """Reviews of another run settle nothing."""
    folder = pipeline.copy(tmp_path / "foreign")
    assert pipeline.run("merge", folder)[0] == 0
    (folder / "merge.code").write_text("7\n", encoding="utf-8")  # as if something had been open
    row = {"reviewer": "Ada", "role": "physician", "time": "2026-01-01T00:00:00Z", "question": "0" * 16}
    row |= {"manifest": "f" * 64, "answer": "retained", "reason": "read", "previous": ""}
    (folder / "reviews/candidate.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert pipeline.run("verdict", folder, MERGED="7")[0] == 4


def test_edited_limits(pipeline: Pipeline, tmp_path: Path) -> None:
    """Not those that were approved: no shard begins; in one shard alone: the merge refuses it."""
    folder = pipeline.copy(tmp_path / "edited")
    with (folder / "thresholds.yaml").open("a", encoding="utf-8") as file:
        file.write("  metrics:\n    recall_at_t10: {pass: '> 0.5', caution: '> 0.4'}\n")
    before = len(pipeline.model.requests)
    assert pipeline.shard(2, folder) == 1
    assert len(pipeline.model.requests) == before
    shutil.rmtree(folder / "shards/2")
    edited = hashlib.sha256((folder / "thresholds.yaml").read_bytes()).hexdigest()
    assert pipeline.shard(2, folder, APPROVED_LIMITS=edited) == 0
    assert pipeline.run("merge", folder)[0] == 4
