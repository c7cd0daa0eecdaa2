"""Changes of one line that would let something wrong pass: does the fast suite notice every one of them?

Each is made in memory, one at a time, and the fast tests of the place it is in are run up to the first that fails.
A line that is no longer there is reported: the list has to follow the code.

    python -m benchmarks.one_line_changes [--only WORDS]
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
from typing import NamedTuple

from benchmarks import ROOT
from benchmarks.mutation import PACKAGE, Mutant, run_tests, warm_up

CASE, SET = "tests/verdict/test_case_verdict.py", "tests/verdict/test_set_verdict.py"
GATE = "tests/plugin/test_gate.py"
CHANGED = "tests/gate/test_changed_records.py"
OPINIONS = ("tests/judging/test_opinions.py", "tests/judging/test_procedure.py")
ALARMS = ("tests/scoring/test_ruled_alarms.py", "tests/scoring/test_scorer.py")


class Change(NamedTuple):
    """One line, and what it would be."""

    what: str
    module: str
    line: str
    """As it is in the file, without its indentation."""
    becomes: str
    tests: tuple[str, ...]
    nth: int = 1
    """Which of several equal lines."""


CHANGES = (
    Change(
        "a limit is reversed",
        "verdict/bands",
        "return value > self.value",
        "return value < self.value",
        ("tests/verdict/test_thresholds.py", CASE),
    ),
    Change("a failed figure is a CAUTION", "verdict/case", "return Verdict.FAIL", "return Verdict.CAUTION", (CASE,)),
    Change(
        "a hard stop lost at the last turn only is a slip",
        "scoring/events",
        "return [turn for turn in turns if turn in self.decisive or self.before.get(turn) in turns]",
        "return [turn for turn in turns if self.before.get(turn) in turns]",
        ("tests/scoring/test_lapses.py", *ALARMS),
    ),
    Change("FAIL exits with 0", "gate/set_result", "return 1", "return 0", (GATE,)),
    Change("INCOMPLETE exits with 0", "gate/set_result", "return 6", "return 0", (GATE,)),
    Change(
        "UNSETTLED and PARTIAL exit with 0",
        "gate/set_result",
        "return 7 if whole in (Verdict.UNSETTLED, Verdict.PARTIAL) else 0",
        "return 0 if whole in (Verdict.UNSETTLED, Verdict.PARTIAL) else 0",
        (GATE,),
    ),
    Change(
        "missed canaries are overlooked",
        "verdict/whole_set",
        "if confirmed + unanswered < least:",
        "if confirmed + unanswered > least + 99:",
        (SET, "tests/judging/test_canaries.py"),
    ),
    Change(
        "what a judge leaves open is dismissed",
        "judging/opinions",
        "return State.OPEN",
        "return State.CLEARED",
        OPINIONS,
    ),
    Change(
        "a figure that nobody has read passes",
        "verdict/case",
        "return replace(item, verdict=FigureState.UNREAD, reasons=(*item.reasons, Unread(unread)))",
        "return item",
        (CASE, SET),
    ),
    Change(
        "a case that could not be run passes",
        "verdict/case",
        "return replace(case, verdict=Verdict.INCOMPLETE)",
        "return replace(case, verdict=Verdict.PASS)",
        (CASE,),
    ),
    Change(
        "an open severe alarm does not unsettle",
        "verdict/case",
        "return any(_has_open(item) for item in fatal)",
        "return all(_has_open(item) for item in fatal) and False",
        (CASE,),
    ),
    Change("a subset passes", "verdict/whole_set", "verdict = Verdict.PARTIAL", "verdict = Verdict.PASS", (SET,)),
    Change(
        "harm is dropped among the alarms",
        "scoring/ruled_alarms",
        "elif key.kind is Kind.HARM:",
        "elif key.kind is Kind.LEAK:",
        ALARMS,
    ),
    Change(
        "broken demands of a judge are dropped",
        "scoring/ruled_alarms",
        "if key.kind in (Kind.MUST, Kind.MUST_NOT, Kind.FORBIDDEN) and is_alarm(finding, deciding):",
        "if key.kind in (Kind.MUST_NOT, Kind.FORBIDDEN) and is_alarm(finding, deciding):",
        ALARMS,
    ),
    Change(
        "the last summary is not read",
        "judging/readings",
        "for exchange in transcript.exchanges",
        "for exchange in transcript.exchanges[:-1]",
        ("tests/judging/test_due.py", *OPINIONS, *ALARMS),
    ),
    Change(
        "the last reply is not read",
        "judging/readings",
        "for exchange in transcript.exchanges:",
        "for exchange in transcript.exchanges[:-1]:",
        ("tests/judging/test_due.py", *OPINIONS, *ALARMS),
    ),
    Change(
        "a severe invention is a minor one",
        "judging/entries",
        'answer = Word.INVENTED if item.get("grade") == "minor" else Word.SEVERE',
        'answer = Word.SEVERE if item.get("grade") == "minor" else Word.INVENTED',
        ("tests/judging/test_entries.py",),
    ),
    Change(
        "a quotation that does not occur is believed",
        "judging/entries",
        'doubt = "" if occurs_in(item.get("quote"), text) else Doubt.QUOTE',
        'doubt = ""',
        ("tests/judging/test_entries.py",),
    ),
    Change(
        "merge believes scores that do not follow from the transcript",
        "gate/reopened",
        "differs = _first_field(talk.assessment, then)",
        "differs = _first_field(then, then)",
        (CHANGED,),
    ),
    Change(
        "merge believes another judge in run.json",
        "results/inputs",
        "if inputs.deciders != result.deciders:",
        "if inputs.deciders != inputs.deciders:",
        (CHANGED,),
    ),
    Change(
        "the options in run.json may be changed",
        "results/inputs",
        "if ours != theirs or hashes.options not in (None, options_hash(inputs, inputs.judging.window)):",
        "if ours != theirs:",
        (CHANGED,),
    ),
)


def changed(change: Change) -> Mutant | None:
    """The module with that line; None where there is no such line."""
    lines = (ROOT / PACKAGE / f"{change.module}.py").read_text(encoding="utf-8").splitlines()
    places = [number for number, line in enumerate(lines) if line.strip() == change.line]
    if len(places) < change.nth:
        return None
    place = places[change.nth - 1]
    indent = lines[place][: len(lines[place]) - len(lines[place].lstrip())]
    lines[place] = indent + change.becomes
    tree = ast.parse("\n".join(lines))
    return Mutant(change.module, tree, place + 1, change.line, change.becomes, inside="a function")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="those whose description has these words")
    options = parser.parse_args()
    wanted = [change for change in CHANGES if options.only in change.what]
    os.chdir(ROOT)
    warm_up(sorted({file for change in wanted for file in change.tests}))
    noticed = 0
    for change in wanted:
        mutant = changed(change)
        state = "gone" if mutant is None else run_tests(change.tests, mutant, 300, None)[0]
        told = {"failed": "noticed", "passed": "NOT NOTICED", "slow": "NOT DECIDED", "gone": "NO SUCH LINE"}[state]
        noticed += state == "failed"
        where = f"{change.module}.py:{mutant.line}" if mutant else f"{change.module}.py"
        print(f"{told:<12} {change.what} ({where})", flush=True)
    print(f"{noticed} of {len(wanted)} one-line changes noticed (goal: all)")
    return 0 if noticed == len(wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
