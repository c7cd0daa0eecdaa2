"""Commands and functions beside the gate: new, validate, plans, power, schema, start, and the package from Python."""

from __future__ import annotations

from benchmarks.golden.parts import ALL, CASES, GATE, JUNIT, LABELLED, LONG, MODEL, READS, TWELVE, cases, judged
from benchmarks.golden.scenario import File, Scenario

FUNCTIONS = File("functions.py", source="helpers/functions.py")
API = File("gate.py", source="helpers/gate.py")
SERVER = File("chat_server.py", source="helpers/chat_server.py")
QWEN = File("recorded", source="recorded/qwen2-5-coder-1-5b")


def scenarios() -> list[Scenario]:
    return [*written(), *from_python(), *servers()]


def written() -> list[Scenario]:
    new = (
        ("clinical-drift", "new", "asthma-and-nuts"),
        ("clinical-drift", "new", "asthma-and-nuts"),
        ("clinical-drift", "validate", "asthma-and-nuts.yaml"),
        ("pytest", "--model", "control:steady", "--drift-cases", "asthma-and-nuts.yaml"),
        ("clinical-drift", "plans", "cases", "--output", "plans.json"),
        ("clinical-drift", "plans", "cases", "--output", "again.json", "--into-cases"),
        ("clinical-drift", "validate", "cases"),
    )
    power = (
        ("clinical-drift", "power", "--cases", "60", "--drop", "0.1"),
        ("clinical-drift", "power", "--cases", "10", "--drop", "0.02"),
        ("clinical-drift", "schema"),
    )
    losing = ("--model", "python:golden_model:losing", "--drift-judge", READS)
    begin = ("clinical-drift", "start", *losing, "--drift-judge-set", "calibration_set=labelled", "--yes")
    start = (begin, (*begin, "--ci", "gitlab"))
    estimate = ("pytest", *losing, *CASES, "--collect-only", "-q")
    judge = judged(judge={"raise": 0.03})
    return [
        Scenario("command/new-and-plans", cases(*TWELVE[:4]), new),
        Scenario("command/validate-60", (ALL,), (("clinical-drift", "validate", "cases"),), quick=True),
        Scenario("command/validate-long", cases(*LONG, group="long"), (("clinical-drift", "validate", "cases"),)),
        Scenario("command/power-and-schema", (), power, quick=True),
        Scenario("command/start", (MODEL, *judge), start),
        Scenario("command/estimate", (ALL, GATE, MODEL, *judge), (estimate,)),
    ]


def from_python() -> list[Scenario]:
    files = (FUNCTIONS, QWEN, *cases(*TWELVE))
    gate = (API, MODEL, GATE, QWEN, *cases(*TWELVE[:4]))
    return [
        Scenario("python/functions", files, (("python", "functions.py", "99"),)),
        Scenario("python/functions-quick", files, (("python", "functions.py", "2"),), quick=True),
        Scenario("python/gate", gate, (("python", "gate.py"),), quick=True),
    ]


def servers() -> list[Scenario]:
    """A chat server as the model and as the judge, sound and with faults."""
    files = (SERVER, GATE, *cases(*TWELVE[:4]))
    run = ("python", "chat_server.py")
    pytest = ("pytest", "-p", "no:cacheprovider", *CASES, *JUNIT, "--drift-set", "concurrency=4")
    model = (*pytest, "--model", "server:golden@URL")
    judge = ("--drift-judge", "server:reader@URL", "--drift-judge-set", "canaries=0")
    measure = ("clinical-drift", "calibrate", "--drift-judge", "server:reader@URL", "--set", "labelled")
    sound = (*run, "sound", *model)
    patient = ("--drift-set", "retries=6")
    hasty = ("--drift-set", "retries=0", "--drift-set", "deadline=5")
    few = ("--drift-budget", "tokens=3000")
    labelled = (*files, *LABELLED)
    return [
        Scenario("server/model", files, (sound, sound), quick=True),
        Scenario("server/faults", files, ((*run, "faults", *model, *patient),)),
        Scenario("server/dies", files, ((*run, "dies", *model, *hasty),)),
        Scenario("server/garbles", files, ((*run, "garbles", *model, *hasty),)),
        Scenario("server/cuts-off", files, ((*run, "cuts-off", *model),)),
        Scenario("server/thinks", files, ((*run, "thinks", *model),)),
        Scenario("server/budget-of-tokens", files, ((*sound, *few), sound)),
        Scenario("server/refuses", files, ((*run, "refuses", *model),)),
        Scenario("server/judge", labelled, ((*run, "sound", *measure, "--out", "c/"), (*sound, *judge))),
    ]
