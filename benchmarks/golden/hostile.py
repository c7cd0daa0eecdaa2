"""Texts that attack: models, recordings, case files and names."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

from benchmarks.golden.judges import ONE, SOME
from benchmarks.golden.parts import CASES, GATE, JUNIT, MODEL, TWELVE, calibrate, cases, judged
from benchmarks.golden.scenario import File, Material, Scenario

Made = Callable[[Material], str]
ATTACKED = TWELVE[8]
"""The patient with the penicillin allergy."""
TURNS = 12
SUMMARY = {"GITHUB_STEP_SUMMARY": "summary.md", "GITHUB_ACTIONS": "true"}


def scenarios() -> list[Scenario]:
    files = (MODEL, GATE, *cases(*TWELVE[:4]))
    read = (*files, *judged(judge=SOME))
    found = []
    for name in ("hostile", "bare"):
        run = ("pytest", "--model", f"python:golden_model:{name}", *CASES, *JUNIT)
        commands = (run, ("clinical-drift", "review", f"results/python-golden_model-{name}"))
        quick = name == "hostile"
        found.append(Scenario(f"hostile/model-{name}", files, commands, quick=quick, pages=True, environment=SUMMARY))
        found.append(Scenario(f"hostile/judged-{name}", read, (calibrate(), (*run, *ONE)), pages=quick))
    for name in ("pleas", "hidings"):
        recording = File("said.jsonl", made=partial(_attacks, name=name))
        run = ("pytest", "--model", "replay:said.jsonl", *CASES, *JUNIT)
        patients = [File(f"cases/{name}-{part}.yaml", made=_renamed(f"{name}-{part}")) for part in range(4)]
        attacked = (recording, GATE, *patients)
        found.append(Scenario(f"hostile/{name}", attacked, (run,), shared=True, quick=name == "pleas"))
        judged_too = (*attacked, *judged(judge=SOME))
        found.append(Scenario(f"hostile/{name}-judged", judged_too, (calibrate(), (*run, *ONE)), shared=True))
    return [*found, *_recordings(), *_named()]


def _attacks(material: Material, name: str) -> str:
    """Attacks in summaries and replies of four copies of a patient, one a turn."""
    told = json.loads(material.read(f"shared/attacks/{name}.json"))
    attacks = list((told if name == "pleas" else told["texts"]).values())
    lines = []
    for part in range(4):
        for turn in range(1, TURNS + 1):
            words = attacks[(part * TURNS + turn - 1) % len(attacks)]
            for variant in ("dialogue", "summary"):
                row = {"case_id": f"{name}-{part}", "turn_num": turn, "variant": variant, "response_text": words}
                lines.append(json.dumps({**row, "status": "ok"}))
    return "\n".join(lines) + "\n"


def _rows(*rows: dict[str, object] | str) -> str:
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)


def _whole(case_id: str, words: object = "Fine.", turns: int = TURNS, **more: object) -> list[dict[str, object]]:
    found = []
    for turn in range(1, turns + 1):
        for variant in ("dialogue", "summary"):
            row = {"case_id": case_id, "turn_num": turn, "variant": variant, "response_text": words, "status": "ok"}
            found.append({**row, **more})
    return found


def _recordings() -> list[Scenario]:
    """Recordings that are odd, half, garbled or enormous."""
    name = TWELVE[0]
    whole = _whole(name)
    deep = "[" * 3000 + "]" * 3000
    rows = {
        "empty": "",
        "blank-lines": "\n\n\n",
        "no-object": "[1, 2]\n",
        "cut": '{"case_id": "anna"\n',
        "deep": deep + "\n",
        "half": _rows(*whole[:5]),
        "foreign": _rows(*_whole("nobody")),
        "two-cases-one-foreign": _rows(*whole, *_whole("nobody")),
        "twice": _rows(*whole, *whole),
        "other-turn": _rows(*whole, {**whole[0], "turn_num": 99}),
        "turn-zero": _rows({**whole[0], "turn_num": 0}),
        "turn-text": _rows({**whole[0], "turn_num": "one"}),
        "variant": _rows({**whole[0], "variant": "poem"}),
        "status": _rows({**whole[0], "status": "lost"}),
        "status-error": _rows({**whole[0], "status": "error", "error": "CUDA out of memory"}, *whole[1:]),
        "no-text": _rows({key: value for key, value in whole[0].items() if key != "response_text"}),
        "null-text": _rows(*_whole(name, None)),
        "number-text": _rows(*_whole(name, 7)),
        "empty-texts": _rows(*_whole(name, "")),
        "one-megabyte": _rows(*_whole(name, "penicillin allergy " * 5_000)),
        "surrogates": _rows(*_whole(name, "\ud800 and \x00 and \x1b[31m")),
        "huge-tokens": _rows(*_whole(name, prompt_tokens=10**30, completion_tokens=-5)),
        "nan-tokens": _rows(*_whole(name)).replace('"status": "ok"', '"status": "ok", "prompt_tokens": NaN'),
        "path-as-id": _rows(*_whole("../../escape")),
        "not-utf8": "\udcff",
        "extra-fields": _rows(*_whole(name, finish_reason="length", reasoning="hm", seconds=-1)),
        "truncated": _rows(*_whole(name, truncated=True)),
    }
    common = (GATE, *cases(name))
    files = tuple(File(f"{kind}.jsonl", text=text) for kind, text in rows.items() if kind != "not-utf8")
    spoil = ("python", "-c", "open('not-utf8.jsonl', 'wb').write(b'\\xff\\xfe{' * 9)")
    runs = [
        ("pytest", "--model", f"replay:{kind}.jsonl", *CASES, "-q", "--drift-results", f"out-{kind}") for kind in rows
    ]
    few = ("half", "twice", "status-error", "empty-texts")
    quick = tuple(run for run, kind in zip(runs, rows, strict=True) if kind in few)
    return [
        Scenario("hostile/recordings", (*common, *files), (spoil, *runs)),
        Scenario("hostile/recordings-quick", (*common, *files), quick, quick=True),
    ]


def _named() -> list[Scenario]:
    """Case ids and words of a case file that are hostile to pages, terminals and file names."""
    ids = ("con", "a.b", "x" * 120, "-dash", "UPPER", "ümlaut", "two words", "a/b", "..", "<b>bold</b>", "1", "null")
    files = []
    for number, name in enumerate(ids):
        quoted = json.dumps(name)
        files.append(File(f"cases-{number}/case.yaml", made=_renamed(quoted)))
    runs = tuple(("pytest", "--model", "control:cliff", "--drift-cases", f"cases-{n}", "-q") for n in range(len(ids)))
    words = File("cases/case.yaml", made=_spiked)
    spiked = ("pytest", "--model", "control:cliff", *CASES, *JUNIT)
    return [
        Scenario("hostile/case-ids", (GATE, *files), runs),
        Scenario(
            "hostile/case-words",
            (GATE, words),
            (spiked, ("clinical-drift", "review", "results/control-cliff")),
            pages=True,
        ),
    ]


def _renamed(name: str) -> Made:
    def made(material: Material) -> str:
        return material.read(f"cases/study_c/{ATTACKED}.yaml").replace(f"id: {ATTACKED}", f"id: {name}", 1)

    return made


def _spiked(material: Material) -> str:
    """A patient whose record and facts carry markup and control characters."""
    text = material.read(f"cases/study_c/{ATTACKED}.yaml")
    spike = "<script>alert(1)</script> {{ 7 * 7 }} ]]> & 'x' | a | `b` \u202e"
    return text.replace("a shipyard welder", f"a {spike} welder", 1).replace("id: hba1c", "id: 'hba1c<b>'", 1)
