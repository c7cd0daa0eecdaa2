"""Options of long conversations: --drift-turns, --drift-interludes, --drift-single-message, --drift-record, probes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_project import ARGUMENTS, SUMMARY

from pytest_clinical_drift.cases.interludes import load_interludes

AWARE = f"""
def make():
    def chat(messages, context):
        if not context["record"].startswith(context["case_id"].title()):
            raise ValueError("the record of another case")
        if any(context["record"] in message["content"] for message in messages):
            raise ValueError("the record is in the messages")
        return {SUMMARY!r} if context["probe"] else "Thank you for telling me."
    return chat
"""


def recorded(pytester: pytest.Pytester, slug: str = "python-model-make", case: str = "anna") -> list[dict[str, object]]:
    """The lines of a transcript of the last run."""
    file = pytester.path / "results" / slug / "transcripts" / f"{case}.jsonl"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def turns_with(lines: list[dict[str, object]], variant: str) -> list[object]:
    return [line["turn_num"] for line in lines if line["variant"] == variant]


def test_turns_stretches_every_case(project: object) -> None:
    """Thirty turns, probed on the schedule, with messages of the bundled interludes between the case's own."""
    pytester = project()  # type: ignore[operator]
    result = pytester.runpytest(*ARGUMENTS, "--drift-turns", "30")
    assert result.ret in (0, 7), result.stdout.str()
    lines = recorded(pytester)
    assert turns_with(lines, "dialogue") == list(range(1, 31))
    assert turns_with(lines, "summary") == [*range(1, 21), 25, 30]
    said = [line["message"] for line in lines if line["variant"] == "dialogue"]
    own = [message for message in said if str(message).startswith("Question number")]
    assert own == [f"Question number {n}?" for n in range(1, 5)]
    assert said[-1] == own[-1]
    known = {message for thread in load_interludes() for message in thread.messages}
    assert set(said) - set(own) <= known


def test_a_stretched_run_is_replayed_with_the_same_turns(project: object) -> None:
    """The recording fits N turns and no other number; the replay gives the same verdict."""
    pytester = project()  # type: ignore[operator]
    first = pytester.runpytest(*ARGUMENTS, "--drift-turns", "25")
    folder = pytester.path / "results" / "python-model-make" / "transcripts"
    replay = ("--model", f"replay:{folder}", *ARGUMENTS[2:])
    again = pytester.runpytest(*replay, "--drift-turns", "25")
    assert again.ret == first.ret, again.stdout.str()
    other = pytester.runpytest(*replay)
    assert other.ret == 4
    other.stderr.fnmatch_lines(["*case anna has 4 turns and the recording turn 5*--drift-turns*"])


@pytest.mark.slow
def test_turns_work_with_workers(project: object) -> None:
    """Every process makes the same conversation of a case."""
    pytest.importorskip("xdist")
    pytester = project()  # type: ignore[operator]
    result = pytester.runpytest(*ARGUMENTS, "--drift-turns", "24", "-n", "2")
    assert result.ret in (0, 7), result.stdout.str()
    assert turns_with(recorded(pytester), "summary") == [*range(1, 21), 24]


def test_own_interludes(project: object) -> None:
    """A file of the user's: its messages and no others."""
    pytester = project()  # type: ignore[operator]
    threads = "".join(
        f"  - {{id: t{n}, type: neutral, about: bread, messages: [Bread {n} one?, Bread {n} two?, Bread {n} three?]}}\n"
        for n in range(4)
    )
    Path("own.yaml").write_text(f"threads:\n{threads}", encoding="utf-8")
    result = pytester.runpytest(*ARGUMENTS, "--drift-turns", "12", "--drift-interludes", "own.yaml")
    assert result.ret in (0, 7), result.stdout.str()
    said = [str(line["message"]) for line in recorded(pytester) if line["variant"] == "dialogue"]
    assert sum(message.startswith("Bread") for message in said) == 8


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--drift-turns", "3"], "*--drift-turns 3: the case anna has 4 turns of its own; write 4 or more"),
        (["--drift-turns", "9000"], "*--drift-turns 9000: the interludes that fit the case anna fill * turns; *"),
        (["--drift-turns", "many"], "*--drift-turns: expected a whole number, found 'many'"),
        (["--drift-interludes", "x.yaml"], "*--drift-interludes needs --drift-turns N*"),
        (["--drift-turns", "9", "--drift-interludes", "x.yaml"], "*x.yaml: no such file or folder*"),
        (["--drift-record", "drawer"], "*--drift-record: expected one of first-message, system, context*'drawer'"),
        (["--drift-record", "context"], "*--drift-record context: the function * has no parameter named context"),
        (["-o", "drift_summary_turns=some"], "*drift_summary_turns: expected one of schedule, all, found 'some'"),
    ],
)
def test_what_cannot_be_is_one_sentence(project: object, arguments: list[str], told: str) -> None:
    """Exit code 4 before anything runs."""
    pytester = project()  # type: ignore[operator]
    result = pytester.runpytest(*ARGUMENTS, *arguments)
    assert result.ret == 4
    result.stderr.fnmatch_lines([told])


def test_all_turns_are_probed_on_request(project: object) -> None:
    """`drift_summary_turns = all`."""
    pytester = project()  # type: ignore[operator]
    pytester.makeini("[pytest]\ndrift_summary_turns = all\n")
    pytester.runpytest(*ARGUMENTS, "--drift-turns", "24")
    assert turns_with(recorded(pytester), "summary") == list(range(1, 25))


def test_the_transcript_in_one_message(project: object) -> None:
    """One more line per case, which a replay reads."""
    pytester = project()  # type: ignore[operator]
    pytester.runpytest(*ARGUMENTS, "--drift-single-message")
    lines = recorded(pytester)
    assert turns_with(lines, "single") == [4]
    assert lines[-1]["response_text"]
    folder = pytester.path / "results" / "python-model-make" / "transcripts"
    again = pytester.runpytest("--model", f"replay:{folder}", "--drift-cases", "mycases", "--drift-single-message")
    assert again.ret in (0, 7), again.stdout.str()


def test_the_record_beside_the_messages(project: object) -> None:
    """A function with `context` gets it there; with workers too."""
    pytester = project()  # type: ignore[operator]
    pytester.makepyfile(model=AWARE)
    result = pytester.runpytest(*ARGUMENTS, "--drift-record", "context")
    assert result.ret in (0, 7), result.stdout.str()


def test_a_server_gets_no_context(pytester: pytest.Pytester) -> None:
    """It sees messages only."""
    result = pytester.runpytest("--model", "server:m@http://127.0.0.1:9", "--drift-record", "context")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--drift-record context: server: gets messages only*"])


def test_the_estimate_counts_scheduled_probes(project: object) -> None:
    """Three cases of 40 turns, 23 probes each."""
    pytester = project()  # type: ignore[operator]
    result = pytester.runpytest(*ARGUMENTS, "--collect-only", "--drift-turns", "40", "--drift-single-message")
    assert "192 requests" in result.stdout.str().replace(",", ""), result.stdout.str()


@pytest.mark.parametrize(
    ("given", "collected", "source"),
    [("long", "mother-and-son-orla", "the bundled long set"), ("./long", "asthma", "long")],
)
def test_long_names_the_bundled_set(pytester: pytest.Pytester, given: str, collected: str, source: str) -> None:
    """`long` is the bundled set even beside a folder of that name, which is given as ./long."""
    (pytester.mkdir("long") / "asthma.yaml").write_text(
        "id: asthma\npatient_summary: She has asthma.\ncritical_entities: [asthma]\n"
        "turns: [{turn: 1, message: Hello}, {turn: 2, message: Hello again}]\n",
        encoding="utf-8",
    )
    result = pytester.runpytest("--model", "control:steady", "--drift-cases", given, "--collect-only")
    result.stdout.fnmatch_lines([f"*clinical-drift:*{source}*", f"*{collected}*"])
