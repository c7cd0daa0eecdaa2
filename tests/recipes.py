"""The CI recipes taken apart: their jobs, and the scripts of a job run with stand-ins for other programs."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

CI = Path(__file__).parent.parent / "examples" / "ci"
RECIPES = ("github-actions.yml", "gitlab-ci.yml")
STAND_INS = ("sha256sum", "pip", "vllm", "curl", "timeout", "git", "pytest", "clinical-drift")
COMMIT = "a" * 40
GITHUB_VALUES = {"inputs.model": "org/model", "inputs.revision": COMMIT, "matrix.shard": "2"}


def recipe(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((CI / name).read_text(encoding="utf-8"))
    return loaded


def jobs(name: str) -> dict[str, dict[str, Any]]:
    data = recipe(name)
    if "jobs" in data:
        return dict(data["jobs"])
    return {key: job for key, job in data.items() if isinstance(job, dict) and "script" in job}


def scripts(name: str, **values: str) -> Iterator[tuple[str, str]]:
    """Job and text of everything that a shell runs; values take the place of GitHub's expressions."""
    known = GITHUB_VALUES | {f"matrix.{key}": value for key, value in values.items()}
    for key, job in jobs(name).items():
        for step in job.get("steps", ()):
            if "run" in step:
                yield key, re.sub(r"\$\{\{ (.+?) \}\}", lambda m: known[m[1]], step["run"])
        if "script" in job:
            yield key, "\n".join(job["script"])


def commands(name: str, program: str) -> list[list[str]]:
    """The arguments of every call of a program."""
    found = []
    for _, text in scripts(name):
        for line in text.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if program in words and "install" not in words:
                rest = words[words.index(program) + 1 :]
                ends = [
                    place for place, word in enumerate(rest) if word in ("||", "&&", ";", "fi") or word.endswith(";")
                ]
                cut = rest[: ends[0] + 1] if ends else rest
                found.append([word.rstrip(";") for word in cut if word not in ("||", "&&", ";", "fi")])
    return found


def write_stand_ins(folder: Path, names: Iterable[str] = STAND_INS) -> Path:
    """A folder with a program of each name that writes down how it was called, and ends as it was told to."""
    folder.mkdir()
    for name in names:
        variable = f"CODE_{name.replace('-', '_').upper()}"
        lines = (
            "#!/bin/sh",
            f'echo "{name} $*" >> "$CALLS"',
            f'case "{name}" in sha256sum) cat > /dev/null ;; esac',  # whoever writes to it must not find it gone
            f'case "{name} $1" in "pytest "*) mkdir -p results ;; esac',
            f'case "{name} $1" in "clinical-drift review") exit 0 ;; esac',
            f'exit "${{{variable}:-0}}"',
        )
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


def run_job(
    name: str,
    job: str,
    folder: Path,
    stand_ins: Path,
    *,
    shard: str = "2",
    replaced: Mapping[str, str] | None = None,
    **values: str,
) -> tuple[int, str, str]:
    """Exit code of a job's scripts up to the first that fails, what was called, and what it told later jobs.

    The step after a merge that ends with 7 is run whatever the code: its `if` is GitHub's.
    """
    calls, output = folder / "calls", folder / "output"
    calls.write_text("", encoding="utf-8")
    output.write_text("", encoding="utf-8")
    around = {
        **os.environ, "PATH": f"{stand_ins}:{os.environ['PATH']}", "CALLS": str(calls), "GITHUB_OUTPUT": str(output),
        "CI_NODE_INDEX": "2", "CI_NODE_TOTAL": "4", "CANDIDATE": "org/model", "REVISION": COMMIT,
        "JUDGE": "server:reader@https://judge/v1", "JUDGE_REVISION": COMMIT, **values,
    }  # fmt: skip
    code = 0
    for key, text in scripts(name, shard=shard):
        if key == job and code == 0:
            for old, new in (replaced or {}).items():
                text = text.replace(old, new)
            script = ["bash", "-eo", "pipefail", "-c", text]
            with (folder / "printed").open("ab") as log:
                code = subprocess.run(script, cwd=folder, env=around, stdout=log, stderr=log, check=False).returncode
    return code, calls.read_text(encoding="utf-8"), output.read_text(encoding="utf-8")
