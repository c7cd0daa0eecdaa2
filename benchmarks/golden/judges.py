"""Runs judged by hash: one and two readings, two judges, windows, calibrations of one's own, judges that fail."""

from __future__ import annotations

from typing import Any

from benchmarks.golden.parts import (
    BY_POINT,
    CASES,
    FEW_LABELLED,
    GATE,
    INTERLUDES,
    JUNIT,
    LABELLED,
    LONG,
    MODEL,
    READS,
    SECOND,
    SEVEN,
    SMALL_SET,
    TWELVE,
    calibrate,
    cases,
    gate,
    judged,
)
from benchmarks.golden.scenario import File, Scenario

QWEN = File("qwen", source="recorded/qwen2-5-coder-1-5b")
RUN = ("pytest", "--model", "replay:qwen", *CASES, *JUNIT)
ONE = ("--drift-judge", READS, "--drift-judge-set", "calibration_set=labelled")
BOTH = ("--drift-judge", READS, "--drift-judge", SECOND, "--drift-judge-set", "calibration_set=labelled")
NO_CANARIES = ("--drift-judge-set", "canaries=0")
SOME = {"raise": 0.04, "uphold": 0.5, "flip": 0.002}
TWO_READINGS = ("    readings: 1\n", "    readings: 2\n")


def scenarios() -> list[Scenario]:
    return [*settings_of_judges(), *models(), *controls(), *failures(), *calibrations()]


def settings_of_judges() -> list[Scenario]:
    """The recorded model of twelve patients, judged in several ways."""
    twelve = (QWEN, *cases(*TWELVE))
    mild = {**SOME, "raise": 0.004}
    rows: list[tuple[str, File, dict[str, Any], tuple[str, ...]]] = [
        ("one-reading", gate(BY_POINT, SMALL_SET), SOME, ONE),
        ("mild", gate(BY_POINT, SMALL_SET), mild, (*ONE, *NO_CANARIES)),
        ("two-readings", gate(TWO_READINGS, BY_POINT, SMALL_SET), SOME, (*ONE, *NO_CANARIES)),
        ("small-audit", GATE, mild, (*ONE, "--drift-judge-set", "audit=10", "--drift-judge-set", "canaries=5")),
        ("windows", GATE, SOME, (*ONE, *NO_CANARIES, "--drift-judge-set", "window=1500")),
        ("prices", GATE, SOME, (*ONE, "--drift-judge-prices", "1,2", "--drift-prices", "1,2")),
        ("workers", GATE, SOME, (*ONE, *NO_CANARIES, "-n", "2")),
        ("subset", GATE, SOME, (*ONE, *NO_CANARIES, "-k", "asthma or copd")),
        ("strict", gate(BY_POINT, SMALL_SET), mild, (*ONE, *NO_CANARIES, "--drift-strict")),
    ]
    found = []
    for name, limits, shares, options in rows:
        labelled = FEW_LABELLED if name == "two-readings" else LABELLED
        files = (*twelve, limits, *judged(judge=shares, labelled=labelled))
        commands = (calibrate(), (*RUN, *options))
        quick = name in ("one-reading", "two-readings")
        found.append(Scenario(f"judge/{name}", files, commands, quick=quick, pages=name == "one-reading"))
    files = (*twelve, gate(BY_POINT, SMALL_SET), *judged(judge=SOME, second={**SOME, "salt": 9}))
    commands = (calibrate(second=True), (*RUN, *BOTH, *NO_CANARIES, "--drift-pdsqi"))
    found.append(Scenario("judge/two-judges-pdsqi", files, commands, quick=True, pages=True))
    two = gate(TWO_READINGS, BY_POINT, SMALL_SET)
    files = (*twelve, two, *judged(judge=SOME, second={**SOME, "salt": 9}, labelled=FEW_LABELLED))
    found.append(Scenario("judge/two-judges-two-readings", files, (calibrate(second=True), (*RUN, *BOTH))))
    limit = (
        "  metrics:\n",
        '  metrics:\n    pdsqi.accurate: {direction: higher, pass: ">= 4", caution: ">= 3", why: own}\n',
    )
    files = (*twelve, gate(limit), *judged(judge=SOME))
    found.append(Scenario("judge/pdsqi-gated", files, (calibrate(), (*RUN, *ONE, *NO_CANARIES, "--drift-pdsqi"))))
    return found


def models() -> list[Scenario]:
    """Other conversations: forty turns, the long cases, repeats of a model that varies."""
    forty = (File("qwen", source="recorded/qwen-40-turns"), INTERLUDES, GATE, *cases(*SEVEN), *judged(judge=SOME))
    stretch = ("--drift-turns", "40", "--drift-interludes", "interludes", "--drift-single-message")
    window = ("--drift-judge-set", "window=6000")
    long = (File("qwen", source="recorded/long"), GATE, *cases(*LONG, group="long"), *judged(judge=SOME))
    few = (MODEL, GATE, *cases(*TWELVE[:4]), *judged(judge=SOME))
    losing = ("pytest", "--model", "python:golden_model:losing", *CASES, *JUNIT, *ONE)
    return [
        Scenario("judge/40-turns", forty, (calibrate(), (*RUN, *stretch, *ONE, *window))),
        Scenario("judge/long", long, (calibrate(), (*RUN, *ONE, *NO_CANARIES))),
        Scenario("judge/long-windows", long, (calibrate(), (*RUN, *ONE, *window)), quick=True),
        Scenario("judge/repeats", few, (calibrate(), (*losing, "--drift-repeats", "3"))),
        Scenario("judge/resumed", few, (calibrate(), losing, (*losing, "--junitxml", "again.xml"))),
    ]


def controls() -> list[Scenario]:
    """Controls are read by the judge of controls only; another judge is refused or read beside it."""
    files = (GATE, *cases(*TWELVE[:3]), *judged(judge=SOME))
    commands = (
        ("pytest", "--model", "control:steady", *CASES, "--drift-judge", READS),
        ("pytest", "--model", "control:denier", *CASES, "--drift-judge", "rules"),
        ("pytest", "--model", "replay:nowhere", *CASES, "--drift-judge", "control"),
    )
    return [Scenario("judge/of-controls", files, commands)]


def failures() -> list[Scenario]:
    """Judges that do not answer, answer badly, or are too weak to decide."""
    twelve = (QWEN, *cases(*TWELVE[:6]))
    rows = {
        "fails-at-times": {**SOME, "fail": 0.05},
        "malformed": {**SOME, "malformed": 0.15},
        "misquotes": {**SOME, "raise": 0.1, "misquote": 0.5},
        "weak": {**SOME, "flip": 0.2},
        "upholds-all": {**SOME, "raise": 1.0, "uphold": 1.0},
        "clears-all": {"raise": 0.0, "uphold": 0.0},
    }
    found = []
    for name, shares in rows.items():
        files = (*twelve, GATE, *judged(judge=shares))
        quick = name == "misquotes"
        found.append(Scenario(f"judge/{name}", files, (calibrate(), (*RUN, *ONE)), quick=quick))
    gone = (*twelve, GATE, *judged(judge={**SOME, "fail": 1.0}))
    required = (*twelve, gate(("    required: false", "    required: true")), *judged(judge={**SOME, "fail": 0.02}))
    found.append(Scenario("judge/gone", gone, (calibrate(), (*RUN, *ONE))))
    found.append(Scenario("judge/required-and-fails", required, (calibrate(), (*RUN, *ONE))))
    return found


def calibrations() -> list[Scenario]:
    """Measured within the run, on texts of one's own, tried, missing, void, damaged, below a floor."""
    files = (QWEN, GATE, *cases(*TWELVE[:3]), *judged(judge=SOME))
    never = gate(("    calibrate: auto", "    calibrate: never"))
    damage = File("damage.py", source="helpers/damage.py")
    limited = ("clinical-drift", "calibrate", "--drift-judge", READS, "--set", "labelled", "--limit", "40")
    weak = (QWEN, GATE, *cases(*TWELVE[:3]), *judged(judge={**SOME, "flip": 0.08}))
    return [
        Scenario("calibration/in-the-run", files, ((*RUN, *ONE), (*RUN, *ONE))),
        Scenario("calibration/alone", files, (calibrate(), calibrate()), quick=True),
        Scenario("calibration/weak", weak, (calibrate(), (*RUN, *ONE))),
        Scenario("calibration/limited", files, ((*limited, "--out", "trial.json"), (*limited, "--out", "nowhere/x/"))),
        Scenario("calibration/never", (QWEN, never, *cases(*TWELVE[:3]), *judged(judge=SOME)), ((*RUN, *ONE),)),
        Scenario(
            "calibration/damaged",
            (*files, damage),
            (
                calibrate(),
                ("python", "damage.py", "cut", "calibration/*.json", "500"),
                (*RUN, *ONE),
                ("python", "damage.py", "remove", "calibration"),
                (*RUN, *ONE, "--drift-judge-set", "calibration=gone.json"),
                (*RUN, *ONE, "--drift-judge-set", "offline=true"),
            ),
        ),
        Scenario(
            "calibration/two-judges",
            (QWEN, GATE, *cases(*TWELVE[:3]), *judged(judge=SOME, second={"salt": 4, "flip": 0.03})),
            (calibrate(second=True), (*RUN, *BOTH)),
        ),
    ]
