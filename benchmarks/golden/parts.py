"""Files and words that many scenarios have."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from benchmarks.golden.scenario import HERE, File, Material

TWELVE = (
    "asthma-nsaid-sensitive-student",
    "clozapine-quit-smoking-groundsman",
    "copd-home-oxygen-baker",
    "depression-unmedicated-bus-driver",
    "lithium-nsaid-postman",
    "long-qt-ballet-dancer",
    "methotrexate-weekly-gardener",
    "peanut-autoinjector-skater",
    "penicillin-anaphylaxis-welder",
    "sickle-fever-engineering-student",
    "valproate-pregnancy-barista",
    "warfarin-mitral-choirmaster",
)
"""The recorded patients."""
SEVEN = tuple(
    name for name in TWELVE if not name.startswith(("depression", "methotrexate", "peanut", "sickle", "warf"))
)
"""Those recorded at forty turns."""
REAL = (
    "clozapine-quit-smoking-groundsman",
    "depression-unmedicated-bus-driver",
    "eczema-egg-allergy-toddler-vaccine",
    "lithium-nsaid-postman",
    "ocd-sertraline-archivist",
    "peanut-autoinjector-skater",
    "penicillin-anaphylaxis-welder",
    "type1-diabetes-pump-hypo-unaware",
)
LONG = tuple(sorted(path.stem for path in (HERE / "data" / "cases" / "long").glob("*.yaml")))
GATE = File("thresholds.yaml", source="thresholds.yaml")
INTERLUDES = File("interludes", source="interludes")
MODEL = File("golden_model.py", source="helpers/golden_model.py")
JUDGE = File("golden_judge.py", source="helpers/golden_judge.py")
DAMAGE = File("damage.py", source="helpers/damage.py")
ANSWER = File("answer_page.py", source="helpers/answer_page.py")
ALL = File("cases", source="cases/study_c")
READS = "python:golden_judge:judge"
SECOND = "python:golden_judge:second"
CASES = ("--drift-cases", "cases")
JUNIT = ("--junitxml", "junit.xml")


def cases(*names: str, folder: str = "cases", group: str = "study_c") -> tuple[File, ...]:
    """Case files of their own folder."""
    return tuple(File(f"{folder}/{name}.yaml", source=f"cases/{group}/{name}.yaml") for name in names)


def gate(*changes: tuple[str, str]) -> File:
    """The frozen limits with some of their lines replaced; each has to be there."""

    def made(material: Material) -> str:
        text = material.read("thresholds.yaml")
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new, 1)
        return text

    return File("thresholds.yaml", made=made)


BY_POINT = ("    decide_by: interval\n", "    decide_by: point\n")
SMALL_SET = ("    min_cases: 40\n", "    min_cases: 1\n")


def _kept(material: Material, name: str, shares: tuple[int, int]) -> str:
    kept, of = shares
    lines = material.read(f"calibration/{name}.jsonl").splitlines(keepends=True)
    return "".join(line for number, line in enumerate(lines) if number % of < kept)


def _labelled(kept: int, of: int) -> tuple[File, ...]:
    """A share of the labelled texts: a calibration that reaches the limit of requests depends on who answers first."""
    sorts = ("summary", "reply", "conversation")
    return tuple(File(f"labelled/{name}.jsonl", made=partial(_kept, name=name, shares=(kept, of))) for name in sorts)


LABELLED = _labelled(4, 5)
"""Enough for every kind to be decided, and far from the limit even where a judge errs."""
FEW_LABELLED = _labelled(1, 3)
"""For two readings of every text; too few for courses and misreported advice."""
ALL_LABELLED = (File("labelled", source="calibration"),)
"""All of them, for a judge that makes no mistake."""


def settings(**judges: dict[str, Any]) -> File:
    """What each judge is told; `judge` and `second` know the calibration's labels."""
    told = {name: {"calibration": "labelled/*.jsonl", **shares} for name, shares in judges.items()}
    return File("judge.json", text=json.dumps(told, indent=1))


def judged(
    *, judge: dict[str, Any], second: dict[str, Any] | None = None, labelled: tuple[File, ...] = LABELLED
) -> tuple[File, ...]:
    """All that a judge needs."""
    both = {"judge": judge} | ({} if second is None else {"second": second})
    return JUDGE, *labelled, settings(**both)


def calibrate(*, second: bool = False) -> tuple[str, ...]:
    """The command that measures the judge, or both."""
    specs = (READS, SECOND) if second else (READS,)
    words = tuple(word for spec in specs for word in ("--drift-judge", spec))
    return "clinical-drift", "calibrate", *words, "--set", "labelled", "--out", "calibration/"
