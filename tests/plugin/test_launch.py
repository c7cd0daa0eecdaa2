"""`clinical-drift launch`: shards in processes of this machine, run again where one dies, merged at the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from sharded import record, without_origin
from small_project import ARGUMENTS, Project, add_to_model, replies_counted

from pytest_clinical_drift.cli import main
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate import launching
from pytest_clinical_drift.gate.launching import launch
from pytest_clinical_drift.gate.shard_workers import DIED, ShardJob, devices_of, pack, unpack, visible_gpus

RUN = "import sys; from pytest_clinical_drift.cli import main; sys.exit(main())"
DIES_ONCE = """
import os, signal
_make = make
def make():
    chat = _make()
    def counted(messages):
        with open("replies.txt", "a") as file:
            file.write("x")
        if os.path.getsize("replies.txt") == 7 and not os.path.exists("died"):
            open("died", "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return chat(messages)
    return counted
"""
SLOW = """
import time
_make = make
def make():
    chat = _make()
    def slow(messages):
        with open("replies.txt", "a") as file:
            file.write("x")
        time.sleep(0.0 if __import__("os").path.exists("go") else 0.5)
        return chat(messages)
    return slow
"""


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    given = [sys.executable, "-c", RUN, "launch", *arguments, "--", *ARGUMENTS]
    return subprocess.Popen(given, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    process = start(folder, *arguments)
    said, _ = process.communicate(timeout=240)
    return process.returncode, said


@pytest.mark.slow
def test_a_worker_that_dies_is_replaced(project: Project) -> None:
    """The merged run equals the whole one; nothing is asked again but the request that died."""
    pytester = project()
    add_to_model(pytester, DIES_ONCE)
    code, said = run(pytester.path, "--workers", "1", "--shards", "2", "--out", "merged", "--junitxml", "all.xml")
    assert "its worker died, retrying" in said
    assert "\nshards: 2 finished\n" in said
    assert replies_counted(pytester) == 25
    assert (pytester.path / "all.xml").exists()
    whole = pytester.runpytest(*ARGUMENTS)
    assert code == whole.ret == 0, said
    merged, expected = (record(pytester.path / f) for f in ("merged", "results/python-model-make"))
    for found in (merged, expected):  # the shard that died took its replies from the store
        for name in ("replies_reused", "replies_reused_since", "replies_resumed"):
            found["manifest"][name] = None
        for case in found["cases"]:
            for repeat in case["repeats"]:
                repeat["replies_reused"] = None
    assert without_origin(merged) == expected


@pytest.mark.slow
def test_interrupted_and_resumed(project: Project) -> None:
    """Ctrl-C ends every shard; the same command goes on, and once it is through, the next begins anew."""
    pytester = project()
    add_to_model(pytester, SLOW)
    process = start(pytester.path, "--workers", "2")
    until = time.monotonic() + 60
    while replies_counted(pytester) < 4:
        assert time.monotonic() < until
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "interrupted: shards: 2 stopped; run the same command to resume" in said
    before = replies_counted(pytester)
    time.sleep(1.5)
    assert replies_counted(pytester) == before
    (pytester.path / "go").touch()
    code, said = run(pytester.path, "--workers", "2")
    assert code == 0, said
    assert replies_counted(pytester) <= 24 + 2  # of each shard the one request that was under way
    assert record(pytester.path / "results/python-model-make")["cases_complete"] == 3
    run(pytester.path, "--workers", "2")
    assert replies_counted(pytester) >= 48


def test_bad_input_ends_the_launch(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    """In the words of the shard."""
    project()
    code = main(["launch", "--workers", "1", "--shards", "9", "--", *ARGUMENTS])
    said = "".join(capfd.readouterr())
    assert code == 4
    assert "--drift-shard" in said
    assert "the set has 3 cases; use fewer shards" in said


@pytest.mark.parametrize(
    ("options", "given", "told"),
    [
        ((), {}, "name no model"),
        (("--model", "x", "--drift-shard=1/2"), {}, "--drift-shard is set by launch"),
        (("--model", "x", "--junitxml", "f"), {}, "--junitxml before the --"),
        (("--model", "x"), {"workers": 0}, "at least 1"),
        (("--model", "x"), {"retries": -1}, "--retries must be at least 0, found -1"),
        (("--model", "x"), {"on": "mars"}, "expected local, ray or ray:ADDRESS"),
    ],
)
def test_what_cannot_be_launched(  # type: ignore[no-untyped-def]
    pytester: pytest.Pytester, options: tuple[str, ...], given, told: str
) -> None:
    """One sentence each, before anything runs."""
    defaults = {"workers": 1, "shards": None, "on": "local", "retries": 0, "out": None, "junit": None, "say": print}
    with pytest.raises(InputError, match=told):
        launch(options, **{**defaults, **given})


def test_without_ray(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """What to install."""
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"pip install 'pytest-clinical-drift\[ray\]'"):
        launch(["--model", "x"], workers=1, shards=1, on="ray", retries=0, out=None, junit=None, say=print)


@pytest.mark.parametrize(
    ("slot", "workers", "gpus", "own"),
    [
        (0, 2, "", None),
        (0, 2, "0,1,2,3", "0,2"),
        (1, 2, "0,1,2,3", "1,3"),
        (2, 3, "4,5", "4"),
        (1, 2, "GPU-a", "GPU-a"),
    ],
)
def test_gpus_of_a_worker(slot: int, workers: int, gpus: str, own: str | None) -> None:
    """Dealt in turn; shared only where there are too few."""
    found = devices_of(slot, workers, visible_gpus({"CUDA_VISIBLE_DEVICES": gpus}))
    assert found == ({} if own is None else {"CUDA_VISIBLE_DEVICES": own})


@pytest.mark.parametrize("retries", [0, 2])
def test_retries_are_bounded(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, retries: int) -> None:
    """A shard whose worker always dies is run so many times more, and no other result is made up for it."""
    runs: list[ShardJob] = []

    def dies(job: ShardJob, slot: int, stop: object) -> int:
        runs.append(job)
        return DIED

    monkeypatch.setattr(launching, "local_workers", lambda workers: dies)
    said: list[str] = []
    with pytest.raises(InputError, match="no shard finished"):
        launch(
            ["--model", "x"], workers=1, shards=1, on="local", retries=retries, out=None, junit=None, say=said.append
        )
    assert len(runs) == retries + 1
    assert sum(line.endswith("its worker died, retrying") for line in said) == retries
    assert said[-1] == "shards: 1 broken off"


def test_progress_over_all_shards(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line counts the shards by their state while they run."""
    release = threading.Event()
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        if "running" in line:
            release.set()

    def waits(job: ShardJob, slot: int, stop: object) -> int:
        assert release.wait(60)
        return DIED

    monkeypatch.setattr(launching, "local_workers", lambda workers: waits)
    monkeypatch.setattr(launching, "_LINE_EVERY", 0.5)
    with pytest.raises(InputError, match="no shard"):
        launch(["--model", "x"], workers=2, shards=3, on="local", retries=0, out=None, junit=None, say=say)
    assert "shards: 2 running, 1 waiting" in said


class FakeRay:
    """As much of Ray as the launcher uses: tasks run at once in this process, the first one dies with its node."""

    class exceptions:
        class RayError(Exception):
            pass

    def __init__(self, run: object) -> None:
        self.deaths, self.given = 1, {}  # type: ignore[var-annotated]
        self.run = run

    def init(self, **_: object) -> None:
        return

    def cluster_resources(self) -> dict[str, float]:
        return {"GPU": 3.0}

    def remote(self, **given: object):  # type: ignore[no-untyped-def]
        self.given = given

        class Task:
            @staticmethod
            def remote(job: ShardJob, folder: str) -> object:
                return (job, folder, object())

        return lambda function: (setattr(self, "function", function), Task)[1]

    def wait(self, refs, num_returns, timeout):  # type: ignore[no-untyped-def]
        return refs, []

    def get(self, ref):  # type: ignore[no-untyped-def]
        if self.deaths:
            self.deaths -= 1
            raise self.exceptions.RayError("node died")
        return self.function(*ref[:2])  # type: ignore[attr-defined]


@pytest.mark.slow
def test_shards_on_ray(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task per shard with its share of the GPUs; the one whose node died is run again, then all are merged."""
    pytester = project()
    fake = FakeRay(None)
    monkeypatch.setitem(sys.modules, "ray", fake)  # type: ignore[arg-type]
    said: list[str] = []
    given = {"workers": 1, "shards": None, "retries": 1, "out": Path("merged"), "junit": None, "say": said.append}
    code = launch(ARGUMENTS, on="ray:head:6379", **given)  # type: ignore[arg-type]
    assert code == 0, said
    assert fake.given["num_gpus"] == 3
    assert sum("its worker died, retrying" in line for line in said) == 1
    assert record(pytester.path / "merged")["cases_complete"] == 3


def test_results_travel_from_a_node(tmp_path: Path) -> None:
    """Where the node does not see the launch's folder, results and log come back as one archive."""
    from pytest_clinical_drift.cases.sharding import Shard

    there = ShardJob(Shard(1, 2), tmp_path / "there", ())
    (there.results / "model/runs/a").mkdir(parents=True)
    (there.results / "model/runs/a/run.json").write_text("{}")
    there.log.write_text("log")
    (tmp_path / "here").mkdir()
    unpack(pack(there), tmp_path / "here")
    assert (tmp_path / "here/shard-1-of-2/model/runs/a/run.json").read_text() == "{}"
    assert (tmp_path / "here/shard-1-of-2.log").read_text() == "log"
    assert DIED < 0
    assert os.path.exists(there.log)
