"""`clinical-drift launch --on ray` on a real cluster: two nodes, one of them killed while its shard is running."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engine_server import ChatServer, wait_until
from sharded import differences, record, without_origin
from small_project import RULES_ONLY, Project

pytestmark = pytest.mark.slow
RUN = "import sys; from pytest_clinical_drift.cli import main; sys.exit(main())"
CASES = ("anna", "bela", "cleo", "dora", "egon", "fritz")
REPLIES = 8 * len(CASES)
"""Four turns of each, with a summary after every turn."""
SECONDS = 400


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A head that runs nothing; nodes are added by the test."""
    utilities = pytest.importorskip("ray.cluster_utils")
    made = utilities.Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        yield made
    finally:
        made.shutdown()


def test_a_node_dies_midway(project: Project, cluster: Any) -> None:
    """The merged record is that of the run in one piece; only what was under way on that node is asked again."""
    pytester = project(*CASES)
    node, _ = (cluster.add_node(num_cpus=1) for _ in range(2))
    with ChatServer(delay=0.4) as server:
        arguments = ["--model", f"server:m@{server.url}", *RULES_ONLY[2:], "-p", "no:cacheprovider"]
        shards = ["--workers", "2", "--shards", "3", "--on", f"ray:{cluster.address}", "--out", "merged"]
        launched = subprocess.Popen(
            [sys.executable, "-c", RUN, "launch", *shards, "--", *arguments],
            cwd=pytester.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        try:
            assert wait_until(lambda: len(_running(pytester.path)) >= 2 and len(server.answered) >= 8, SECONDS)
            settled = set(server.answered)
            cluster.remove_node(node, allow_graceful=False)
            said, _ = launched.communicate(timeout=SECONDS)
        finally:
            launched.kill()
        assert "its worker died, retrying" in said
        asked = Counter(server.requests)
        assert len(asked) == REPLIES
        again = {mark for mark, times in asked.items() if times > 1}
        assert not again & settled
        assert max(asked.values()) <= 2
        assert len(again) <= 2 * len(CASES)
        whole = pytester.runpytest_subprocess(*arguments)
    assert launched.returncode == whole.ret, said
    (folder,) = (file.parent for file in pytester.path.glob("results/*/study_c_results.json"))
    found = [without_origin(record(place)) for place in (pytester.path / "merged", folder)]
    for each in found:  # the shard that died took its replies from the store
        each["manifest"] |= dict.fromkeys(("replies_reused", "replies_reused_since", "replies_resumed"))
        for case in each["cases"]:
            case["repeats"][0]["replies_reused"] = None
    assert differences(*found) == []


def _running(folder: Path) -> list[Path]:
    """Logs of shards that have begun."""
    return list(folder.glob(".clinical-drift/launch-*/shard-*.log"))
