"""Runs in parts: shards, their merge, and `launch`."""

from __future__ import annotations

from benchmarks.golden.judges import ONE, QWEN, SOME
from benchmarks.golden.parts import CASES, DAMAGE, GATE, JUNIT, MODEL, TWELVE, calibrate, cases, gate, judged
from benchmarks.golden.scenario import Scenario

Commands = tuple[tuple[str, ...], ...]
MERGE = ("clinical-drift", "merge", "parts", "--out", "merged", *JUNIT)


def shards(count: int, words: tuple[str, ...], only: tuple[int, ...] = ()) -> Commands:
    """A command for each shard."""
    wanted = only or tuple(range(1, count + 1))
    parts = ("--drift-results", "parts")
    return tuple((*words, *parts, "--drift-shard", f"{index}/{count}") for index in wanted)


def scenarios() -> list[Scenario]:
    return [*whole(), *refused(), *launched()]


def whole() -> list[Scenario]:
    """Parts that belong together, beside the run as a whole."""
    eight = cases(*TWELVE[:8])
    cliff = ("pytest", "--model", "control:cliff", *CASES)
    losing = ("pytest", "--model", "python:golden_model:losing", *CASES)
    repeats = (*losing, "--drift-repeats", "2")
    qwen = ("pytest", "--model", "replay:qwen", *CASES, *ONE)
    files = (MODEL, GATE, *eight)
    read = (QWEN, GATE, *cases(*TWELVE), *judged(judge=SOME))
    rated = (*qwen, "--drift-pdsqi")
    again = (("clinical-drift", "merge", "parts", "--out", "merged"), ("clinical-drift", "verdict", "merged"))
    return [
        Scenario("shards/control-4", (GATE, *eight), (cliff, *shards(4, cliff), MERGE), quick=True),
        Scenario("shards/model-3-repeats", files, (repeats, *shards(3, repeats), MERGE, *again)),
        Scenario(
            "shards/judged-4",
            read,
            (calibrate(), qwen, *shards(4, qwen), MERGE, ("clinical-drift", "verdict", "merged")),
        ),
        Scenario("shards/judged-2-pdsqi", read, (calibrate(), *shards(2, rated), MERGE)),
        Scenario("shards/more-than-cases", (GATE, *cases(*TWELVE[:2])), (*shards(4, cliff), MERGE)),
    ]


def refused() -> list[Scenario]:
    """Parts that lack one, are unlike, were changed, or come twice."""
    files = (MODEL, DAMAGE, GATE, *cases(*TWELVE[:4]))
    run = ("pytest", "--model", "python:golden_model:steady", *CASES)
    other = ("pytest", "--model", "python:golden_model:losing", *CASES)
    both = shards(2, run)
    results = "parts/*/runs/*/study_c_results.json"
    changed = {
        "verdict": ("python", "damage.py", "set", results, "verdict", '"PASS"'),
        "recall": ("python", "damage.py", "set", results, "entity_recall_at_t10", "1.0"),
        "cases-total": ("python", "damage.py", "set", results, "cases_total", "40"),
        "shard-count": ("python", "damage.py", "set", results, "manifest.shard.count", "3"),
        "seed": ("python", "damage.py", "set", results, "manifest.seed", "7"),
        "schema": ("python", "damage.py", "set", results, "schema_version", "99"),
        "cut": ("python", "damage.py", "cut", results, "2000"),
        "no-transcripts": ("python", "damage.py", "remove", "parts/*/runs/*/transcripts"),
        "no-inputs": ("python", "damage.py", "remove", "parts/*/runs/*/run.json"),
        "no-results": ("python", "damage.py", "remove", results),
    }
    found = [
        Scenario(f"merge/{name}", files, (*both, command, MERGE), quick=name in ("recall", "no-inputs"))
        for name, command in changed.items()
    ]
    unlike = {
        "repeats": ("--drift-repeats", "2"),
        "single-message": ("--drift-single-message",),
        "turns": ("--drift-turns", "24"),
        "record": ("--drift-record", "system"),
        "stride": ("--drift-nli-stride", "2"),
        "strict": ("--drift-strict",),
        "prices": ("--drift-prices", "1,1"),
        "all-summaries": ("-o", "drift_summary_turns=all"),
        "settings": ("--drift-set", "concurrency=1"),
        "revision": ("--drift-set", "revision=other"),
        "probe": ("--drift-probe", "golden_model.py"),
        "baseline": ("--drift-baseline", "parts"),
    }
    for name, options in unlike.items():
        second = shards(2, (*run, *options), (2,))
        found.append(Scenario(f"merge/unlike-{name}", files, (both[0], *second, MERGE), quick=name == "single-message"))
    rows: dict[str, Commands] = {
        "missing": (both[0], MERGE),
        "other-model": (both[0], *shards(2, other, (2,)), MERGE),
        "other-count": (both[0], *shards(3, run, (2, 3)), MERGE),
        "twice": (both[0], both[0], both[1], MERGE),
        "no-shard": (run, ("clinical-drift", "merge", "results", "--out", "merged")),
        "nothing": (("clinical-drift", "merge", "nowhere", "--out", "merged"), ("clinical-drift", "merge")),
        "onto-another": (*both, MERGE, MERGE),
        "beside-a-whole-run": (run, *both, ("clinical-drift", "merge", "parts", "results", "--out", "merged")),
    }
    found += [Scenario(f"merge/{name}", files, commands) for name, commands in rows.items()]
    limits = gate(('pass: "> 0.80"', 'pass: "> 0.70"'))
    edit = ("python", "damage.py", "replace", "thresholds.yaml", '"> 0.70"', '"> 0.75"')
    commands = (both[0], edit, both[1], MERGE)
    found.append(Scenario("merge/unlike-thresholds", (MODEL, DAMAGE, limits, *cases(*TWELVE[:4])), commands))
    edit = ("python", "damage.py", "replace", "cases/copd*.yaml", "turns:", "hazards: [HAZ-9]\nturns:")
    found.append(Scenario("merge/unlike-cases", files, (both[0], edit, both[1], MERGE)))
    return found


def launched() -> list[Scenario]:
    """Shards in processes of this machine."""
    files = (MODEL, GATE, *cases(*TWELVE[:4]))
    start = ("clinical-drift", "launch")
    steady = ("--", "--model", "python:golden_model:losing", *CASES)
    control = ("--", "--model", "control:cliff", *CASES)
    return [
        Scenario(
            "launch/2-of-2", (GATE, *cases(*TWELVE[:4])), ((*start, "--workers", "2", *JUNIT, *control),), quick=True
        ),
        Scenario("launch/1-of-3", files, ((*start, "--workers", "1", "--shards", "3", "--out", "merged", *steady),)),
        Scenario(
            "launch/refused",
            files,
            (
                start,
                (*start, "--workers", "0", *control),
                (*start, "--workers", "1", "--on", "moon", *control),
                (*start, "--workers", "1", "--", "--model", "control:nobody"),
                (*start, "--workers", "1", *control, "--drift-shard", "1/2"),
                (*start, "--workers", "1"),
            ),
        ),
    ]
