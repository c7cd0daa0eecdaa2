"""Whole runs by rules and of controls: no judge but that of controls."""

from __future__ import annotations

from benchmarks.golden.parts import (
    ALL,
    BY_POINT,
    CASES,
    GATE,
    INTERLUDES,
    JUNIT,
    LONG,
    MODEL,
    SEVEN,
    TWELVE,
    cases,
    gate,
)
from benchmarks.golden.scenario import File, Scenario

CONTROLS = ("steady", "forgetful", "fading", "cliff", "stale", "denier", "flipflop", "silent", "stranger", "parrot")
QUICK_CONTROLS = ("steady", "forgetful", "stale", "flipflop", "stranger")
STRETCHED = ("--drift-interludes", "interludes")


def scenarios() -> list[Scenario]:
    return [*controls(), *stretched(), *recorded(), *choices(), *own_models()]


def controls() -> list[Scenario]:
    """Every control on the 60, on twelve and on the long cases."""
    few = (*cases(TWELVE[8]), GATE)
    found = [Scenario("tiny/one-case", few, (("pytest", "--model", "control:cliff", *CASES, *JUNIT),), quick=True)]
    for name in CONTROLS:
        run = ("pytest", "--model", f"control:{name}", *CASES, *JUNIT)
        found.append(Scenario(f"control/60-{name}", (ALL, GATE), (run,), pages=name == "cliff"))
        some = (*cases(*TWELVE[::2]), GATE)
        found.append(Scenario(f"control/6-{name}", some, (run,), quick=name in QUICK_CONTROLS))
        found.append(Scenario(f"control/long-{name}", (*cases(*LONG, group="long"), GATE), (run,)))
    return found


def stretched() -> list[Scenario]:
    """40 and 160 turns, the transcript in one message, summaries after every turn, other places of the record."""
    found = []
    for turns, names in ((40, ("steady", "fading", "forgetful", "stale")), (160, ("steady", "fading"))):
        for name in names:
            files = (*cases(*TWELVE[: 4 if turns == 40 else 2]), GATE, INTERLUDES)
            run = ("pytest", "--model", f"control:{name}", *CASES, "--drift-turns", str(turns), *STRETCHED, *JUNIT)
            found.append(Scenario(f"turns/{turns}-{name}", files, (run,), quick=turns == 40 and name == "fading"))
    files = (*cases(*TWELVE[:3]), GATE, INTERLUDES, MODEL)
    run = ("pytest", "--model", "python:golden_model:losing", *CASES, *STRETCHED, *JUNIT)
    ways = {
        "single-message": ("--drift-turns", "40", "--drift-single-message"),
        "all-summaries": ("--drift-turns", "30", "-o", "drift_summary_turns=all"),
        "record-in-system": ("--drift-record", "system"),
        "record-in-context": ("--drift-record", "context", "--drift-turns", "24"),
        "160-single-message": ("--drift-turns", "160", "--drift-single-message"),
    }
    for name, options in ways.items():
        found.append(Scenario(f"turns/{name}", files, ((*run, *options),)))
    return found


def recorded() -> list[Scenario]:
    """The recorded models, by rules alone."""
    found = []
    for name in ("qwen2-5-coder-1-5b", "smollm2-135m"):
        model = ("--model", f"replay:{name}")
        own = (File(name, source=f"recorded/{name}"), GATE)
        run = ("pytest", *model, *CASES, *JUNIT)
        quick = name.startswith("qwen")
        found.append(Scenario(f"recorded/{name}", (*own, *cases(*TWELVE)), (run,), quick=quick, pages=quick))
        chosen = (*run, "-k", " or ".join(TWELVE[:5]))
        found.append(Scenario(f"recorded/{name}-of-60", (*own, ALL), (chosen,)))
    forty = (File("forty", source="recorded/qwen-40-turns"), GATE, INTERLUDES, *cases(*SEVEN))
    options = (*CASES, "--drift-turns", "40", *STRETCHED, "--drift-single-message", *JUNIT)
    found.append(
        Scenario("recorded/qwen-40-turns", forty, (("pytest", "--model", "replay:forty", *options),), pages=True)
    )
    files = (File("long", source="recorded/long"), GATE, *cases(*LONG, group="long"))
    found.append(Scenario("recorded/long", files, (("pytest", "--model", "replay:long", *CASES, *JUNIT),), quick=True))
    return found


def choices() -> list[Scenario]:
    """Options of a run on the recorded model and on a control."""
    qwen = File("qwen", source="recorded/qwen2-5-coder-1-5b")
    run = ("pytest", "--model", "replay:qwen", *CASES, *JUNIT)
    files = (qwen, GATE, *cases(*TWELVE))
    few = (qwen, GATE, *cases(*TWELVE[:4]))
    ways: dict[str, tuple[str, ...]] = {
        "strict": ("--drift-strict",),
        "no-junit-properties": ("-o", "drift_junit_properties=false"),
        "marked": ("-m", "respiratory"),
        "first-failure": ("-x",),
        "max-failures": ("--maxfail=2",),
        "workers": ("-n", "2"),
        "collect-only": ("--collect-only",),
        "prices": ("--drift-prices", "2.5,10"),
        "stride": ("--drift-nli-stride", "2"),
        "verbose": ("-vv", "-rA"),
        "quiet": ("-q", "--tb=no"),
        "deselect": ("--deselect", f"study_c/{TWELVE[0]}::replay-qwen"),
        "nothing": ("-k", "nobody"),
    }
    found = [Scenario(f"option/{name}", few, ((*run, *way),), quick=name == "workers") for name, way in ways.items()]
    gates = {
        "by-point": gate(BY_POINT),
        "set-policy": gate(("  policy: each-case", "  policy: set")),
        "open-caution": gate(("  open: unsettled", "  open: caution")),
        "signed-cases": gate(("  require_signed_cases: false", "  require_signed_cases: true")),
        "judge-required": gate(("    required: false", "    required: true")),
        "waivers": gate(("  waivers: []", WAIVERS)),
        "stricter": gate(('pass: "> 0.80"', 'pass: "> 0.99"')),
        "own-limits": gate(("  metrics:\n", OWN_LIMITS)),
    }
    for name, file in gates.items():
        commands = (run, ("pytest", "--model", "control:steady", *CASES, "--junitxml", "steady.xml"))
        found.append(Scenario(f"gate/{name}", (qwen, file, *cases(*TWELVE)), commands))
    before, after = "before/replay-qwen", "results/replay-smol"
    smol = ("pytest", "--model", "replay:smol", *CASES)
    against = ("clinical-drift", "compare")
    commands = (
        (*run, "--drift-results", "before"),
        (*smol, "--drift-baseline", before, "--junitxml", "worse.xml"),
        (*run, "--drift-baseline", before, "--junitxml", "same.xml"),
        (*run, "--drift-baseline", after, "--junitxml", "better.xml"),
        ("pytest", "--model", "control:steady", *CASES, "--drift-baseline", before),
        (*against, before, after, "--markdown", "table.md"),
        (*against, before, after, "--fail-if-worse"),
        (*against, after, before, "--fail-if-worse", "--html", "compared.html"),
        (*against, before, after, "results/replay-qwen", "results/control-steady"),
        ("clinical-drift", "power", "--results", before, "--drop", "0.1"),
    )
    files = (*files, File("smol", source="recorded/smollm2-135m"))
    found.append(Scenario("baseline/worse-and-same", files, commands, quick=True, pages=True))
    return found


WAIVERS = """  waivers:
    - {case: asthma-nsaid-sensitive-student, reason: known, signed_by: Dr A, expires: 2999-01-31}
    - {case: copd-home-oxygen-baker, reason: known, signed_by: Dr A, expires: 2999-01-31}
    - {case: lithium-nsaid-postman, reason: known, signed_by: Dr A, expires: 2020-01-31}
"""
OWN_LIMITS = """  metrics:
    own.words: {direction: higher, pass: "> 4", caution: "> 2", why: replies say something}
    own.nothing: {direction: higher, pass: "> 4", caution: "> 2", why: nobody measures it}
"""
TESTS = '''"""What the clinic demands."""


def test_allergies_are_never_lost(drift_case, drift_result):
    for turn in drift_result.assessment.turns:
        for finding in turn.findings:
            if finding.hard_stop:
                assert finding.status == "retained", f"turn {turn.turn}: {finding.reason}"


def test_is_fit(drift_result):
    assert drift_result.passed, drift_result.headline


def test_of_something_else():
    assert True
'''
SCORER = '''"""A figure of one's own."""


def pytest_clinical_drift_score(case, transcript):
    words = [len(exchange.reply.text.split()) for exchange in transcript.exchanges]
    return {"words": sum(words) / len(words), "nothing": None}
'''


def own_models() -> list[Scenario]:
    """Python functions as models: repeats, own tests and figures, budgets, the cache, a run that is resumed."""
    files = (MODEL, GATE, *cases(*TWELVE[:4]))
    run = ("pytest", "--model", "python:golden_model:losing", *CASES)
    found = [
        Scenario("repeats/3", files, ((*run, "--drift-repeats", "3", *JUNIT),), quick=True, pages=True),
        Scenario("repeats/2-workers", files, ((*run, "--drift-repeats", "2", "-n", "2", *JUNIT),)),
        Scenario("own/cached", files, ((*run, *JUNIT), (*run, "--junitxml", "again.xml"))),
        Scenario("own/budget-of-time", files, ((*run, "--drift-budget", "0s", *JUNIT),)),
        Scenario("own/last-failed", files, (("pytest-cached", *run[1:]), ("pytest-cached", *run[1:], "--lf", *JUNIT))),
        Scenario(
            "own/subset-then-all",
            files,
            ((*run, "-k", "asthma", *JUNIT), (*run, "--junitxml", "all.xml")),
        ),
    ]
    for name in ("awaited", "plain", "failing", "interrupts", "mutates", "steady"):
        model = ("pytest", "--model", f"python:golden_model:{name}", *CASES, *JUNIT)
        found.append(Scenario(f"own/model-{name}", files, (model,), quick=name == "failing"))
    own = (File("tests/test_own.py", text=TESTS), File("conftest.py", text=SCORER))
    limits = gate(("  metrics:\n", OWN_LIMITS))
    clinic = (*own, MODEL, limits, *cases(*TWELVE[:3]))
    for name in ("losing", "steady"):
        words = ("pytest", "tests", "--model", f"python:golden_model:{name}", *CASES)
        commands = ((*words, *JUNIT), (*words, "-n", "2", "--junitxml", "n.xml"), (*words, "-k", "is_fit"))
        found.append(Scenario(f"own/tests-{name}", clinic, commands, quick=name == "losing"))
    ini = "[pytest]\ndrift_model = control:cliff\ndrift_cases = cases\ndrift_strict = true\ndrift_repeats = 1\n"
    named = (File("pytest.ini", text=ini), GATE, *cases(*TWELVE[:2]))
    found.append(Scenario("own/ini-keys", named, (("pytest", *JUNIT), ("pytest", "--model", "control:steady"))))
    taken = 'def pytest_addoption(parser):\n    parser.addoption("--model", default="mine")\n'
    clash = (File("conftest.py", text=taken), GATE, *cases(*TWELVE[:2]))
    commands = (("pytest", "--drift-model", "control:steady", *CASES), ("pytest", "--model", "control:steady", *CASES))
    found.append(Scenario("own/taken-option", clash, commands))
    return found
