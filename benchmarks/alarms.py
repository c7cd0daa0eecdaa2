"""How often each rule that raises alarms is right on recorded conversations, and which rules may confirm by themselves.

    python -m benchmarks.alarms [--write | --every N]

Right: the alarm stands on a planted fault, on a fact, reply or pair that the labels call wrong, or on what this
script plants into a recorded text (another figure or interval for each plainly stated fact, no interval where one
counts as essential, the lines that state it taken out, its opposite or another owner put in their place; the
neighbour's summary; two opposite orders). False: it stands on text that the labels call right. Facts are counted once
per patient, however many turns repeat them. A rule may confirm with at least 30 distinct facts from 10 patients, a
lower 95 % limit of 0.90 (Clopper-Pearson), and nothing false on the patients that were put aside. `--write` puts the
list into data/confirming_rules.yaml; without it the script fails where the file says anything else. `--every` takes
every Nth conversation only.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import yaml
from recorded import BUNDLED, WRONG, Talk, recorded, shared_talks
from scipy.stats import binomtest

from pytest_clinical_drift.cases.model import FactState
from pytest_clinical_drift.evidence.advice.breach import find_breaches, oppositions
from pytest_clinical_drift.evidence.facts.fact import ALLERGY, MEDICATION, Fact, parse_fact
from pytest_clinical_drift.evidence.findings import FactFinding, find_facts
from pytest_clinical_drift.evidence.quantities.frequencies import frequencies

FACTS, PATIENTS, LIMIT = 30, 10, 0.90
FILE = Path(__file__).resolve().parents[1] / "pytest_clinical_drift/data/confirming_rules.yaml"
Where = tuple[str, str]
"""Patient, and the fact, turn or pair."""


class Ledger:
    """Right and false alarms by rule."""

    def __init__(self) -> None:
        self.right: dict[str, set[Where]] = defaultdict(set)
        self.false: dict[str, set[Where]] = defaultdict(set)
        self.false_aside: dict[str, set[Where]] = defaultdict(set)

    def note(self, rule: str, talk: Talk, what: object, *, right: bool) -> None:
        where = (talk.case.id, str(what))
        if right:
            self.right[rule].add(where)
        else:
            (self.false_aside if talk.aside else self.false)[rule].add(where)

    def rows(self) -> Iterator[tuple[str, int, int, int, int, float, bool]]:
        for rule in sorted({*self.right, *self.false, *self.false_aside}):
            right, wrong = len(self.right[rule]), len(self.false[rule]) + len(self.false_aside[rule])
            low = float(binomtest(right, right + wrong).proportion_ci(0.95, "exact").low) if right + wrong else 0.0
            patients = len({patient for patient, _ in self.right[rule]})
            may = right >= FACTS and patients >= PATIENTS and low >= LIMIT and not self.false_aside[rule]
            yield rule, right, patients, len(self.false[rule]), len(self.false_aside[rule]), low, may


def alarms(summary: str, states: list[FactState]) -> dict[str, FactFinding]:
    """Facts with an alarm that the rules hold for certain."""
    found = find_facts(summary, states)
    return {f.fact_id: f for f in found if f.certain and f.status not in ("retained", "partial")}


def labelled(talk: Talk, ledger: Ledger) -> None:
    """Alarms on the text as it was recorded."""
    for turn, summary in talk.summaries.items():
        for fact, finding in alarms(summary, talk.states(turn)).items():
            if not talk.is_disputed(turn, fact):
                ledger.note(finding.rule, talk, fact, right=talk.label(turn, fact) in WRONG)
    bad, conflicts = talk.bad_replies(), talk.conflicts()
    for turn, reply in talk.replies.items():
        for breach in breaches(talk, turn, reply):
            ledger.note(breach.finder, talk, turn, right=turn in bad)
        if turn - 1 in talk.replies:
            for conflict in pair(talk, turn, talk.replies[turn - 1], reply):
                ledger.note(conflict.kind, talk, turn, right=turn in conflicts)


def breaches(talk: Talk, turn: int, reply: str):
    facts = [state.fact for state in talk.states(turn) if not state.ended]
    return find_breaches(reply, facts, talk.case.turns[turn - 1].expect)


def pair(talk: Talk, turn: int, earlier: str, later: str):
    return list(oppositions(earlier, later, talk.case.turns[turn - 1].message))


def planted(talk: Talk, ledger: Ledger) -> None:
    """Alarms on the faults that somebody planted."""
    for fault in talk.faults:
        for turn, summary in talk.planted(fault, "summary").items():
            finding = alarms(summary, talk.states(turn)).get(fault.get("fact") or "")
            if finding is not None:
                ledger.note(finding.rule, talk, fault["fact"], right=True)
        for turn, reply in talk.planted(fault, "dialogue").items():
            if fault["kind"] in ("recommends", "omits"):
                for breach in breaches(talk, turn, reply):
                    if breach.kind == fault["kind"]:
                        ledger.note(breach.finder, talk, (turn, fault["what"]), right=True)
            if fault["kind"] == "flips" and turn == fault["from_turn"] and turn - 1 in talk.replies:
                for conflict in pair(talk, turn, talk.replies[turn - 1], reply):
                    ledger.note(conflict.kind, talk, (turn, fault["what"]), right=True)


def changed(talk: Talk, ledger: Ledger) -> None:
    """Alarms after each plainly stated fact was changed, turned round, taken out, or given to somebody else."""
    for turn, summary in talk.summaries.items():
        states = [s for s in talk.states(turn) if not s.ended]
        stated = {f.fact_id: f for f in find_facts(summary, states) if f.plain}
        for state in states:
            finding = stated.get(state.fact.id)
            for edited in _edits(summary, state, finding) if finding is not None else ():
                alarm = alarms(edited, [state]).get(state.fact.id)
                if alarm is not None:
                    ledger.note(alarm.rule, talk, state.fact.id, right=True)


def without_intervals(talk: Talk, ledger: Ledger) -> None:
    """Alarms where the interval of a medicine counts as essential: on the text as it was recorded, and without it."""
    pattern = "|".join((*(pattern for pattern, _ in _INTERVALS), *_OTHER_TIMES))
    for turn, summary in talk.summaries.items():
        bare = re.sub(pattern, "", summary, flags=re.IGNORECASE)
        for state in talk.states(turn):
            fact = parse_fact(state.fact.text, state.fact.kind)
            stated = talk.label(turn, state.fact.id) == "retained" and not state.ended
            rates = frequencies(fact.document)
            if not stated or fact.frame != MEDICATION or not rates:
                continue
            interval = " ".join(fact.document.words[rates[0].first : rates[0].last + 1])
            marked = state.fact.model_copy(update={"hard_stop": True, "essential": (interval,)})
            for text in (summary, bare):
                alarm = alarms(text, [state.model_copy(update={"fact": marked})]).get(state.fact.id)
                if alarm is not None and alarm.rule == "no-interval":
                    ledger.note(alarm.rule, talk, state.fact.id, right=text is bare)


def _edits(summary: str, state: FactState, finding: FactFinding) -> Iterator[str]:
    fact = parse_fact(state.fact.text, state.fact.kind)
    yield from filter(None, (_other_figure(summary, state, finding), _other_interval(summary, finding)))
    if fact.core.concept is None or fact.worded:
        return
    rest = _without(summary, state)
    yield rest
    for sentence in _turned_round(fact):
        yield f"{rest}\n\n{sentence}"
    if not fact.core.denied:
        yield f"{rest}\n\n{_of_another(fact, state.fact.text)}"


def _without(summary: str, state: FactState) -> str:
    """The summary without the lines that speak of the fact."""
    lines = summary.split("\n")
    for _ in range(len(lines)):
        text = "\n".join(lines)
        quotes = next(iter(find_facts(text, [state]))).quotes
        if not quotes:
            break
        for quote in quotes:
            lines[text.count("\n", 0, quote.start)] = ""
    return "\n".join(lines)


def _turned_round(fact: Fact) -> tuple[str, ...]:
    """Sentences that say the opposite of the fact."""
    name = fact.core.text
    if fact.frame == MEDICATION:
        return () if fact.core.denied else (f"Not on {name}.", f"{name.capitalize()} was stopped.", f"No {name}.")
    reacts = fact.frame == ALLERGY and "allerg" not in name.lower()
    if fact.core.denied:
        return (f"Known {name} allergy." if reacts else f"Has {name}.",)
    known = ("No known allergies.",) if fact.frame == ALLERGY else ()
    return (*known, f"No {name} allergy." if reacts else f"No {name}.")


_RELATIVES = ("brother", "sister", "mother", "father", "cousin", "uncle", "aunt", "neighbour", "grandmother")


def _of_another(fact: Fact, text: str) -> str:
    """A sentence that gives the fact to somebody else."""
    owner = f"Her {_RELATIVES[len(text) % len(_RELATIVES)]}"
    if fact.frame == MEDICATION:
        return f"{owner} takes {text}."
    if fact.frame == ALLERGY:
        return f"{owner} is allergic to {fact.core.text.removesuffix(' allergy')}."
    return f"{owner} has {text}."


def strangers(talks: list[Talk], ledger: Ledger) -> None:
    """Alarms on the facts of one patient in the last summary of the next one."""
    for talk, other in zip(talks, talks[1:] + talks[:1], strict=True):
        turn = max(talk.summaries)
        states = [s for s in talk.states(turn) if not s.ended]
        for fact, finding in alarms(other.summaries[max(other.summaries)], states).items():
            ledger.note(finding.rule, talk, fact, right=True)


def reversals(talk: Talk, ledger: Ledger) -> None:
    """Alarms on two opposite orders about each of the patient's medicines, put at the end of two replies."""
    for turn in (2, max(talk.replies)):
        _reversed_at(talk, turn, ledger)


def _reversed_at(talk: Talk, turn: int, ledger: Ledger) -> None:
    for state in talk.states(turn):
        fact = parse_fact(state.fact.text, state.fact.kind)
        if state.ended or fact.frame != MEDICATION or fact.core.concept is None:
            continue
        name = fact.core.text
        earlier = f"{talk.replies[turn - 1]}\n\nTake your {name} today."
        later = f"{talk.replies[turn]}\n\nDo not take any {name} today."
        for conflict in pair(talk, turn, earlier, later):
            if conflict.reason.startswith(f"{fact.core.concept.name}:"):
                ledger.note(conflict.kind, talk, state.fact.id, right=True)


def _other_figure(summary: str, state: FactState, finding: FactFinding) -> str:
    """The summary with the first figure of the fact doubled wherever it is quoted."""
    figures = re.findall(r"\d+(?:\.\d+)?", state.fact.text)
    figures = [f for f in figures if not re.fullmatch(r"(19|20)\d\d", f)]
    for quote in finding.quotes if figures else ():
        other = f"{2 * float(figures[0]):g}"
        new = re.sub(rf"(?<![\d.]){re.escape(figures[0])}(?![\d.])", other, quote.quote)
        if new != quote.quote:
            return summary.replace(quote.quote, new)
    return ""


_INTERVALS = (
    (r"\b(?:once daily|once a day|od|daily)\b", "twice daily"),
    (r"\b(?:twice daily|twice a day|two times a day|bd|bid)\b", "once daily"),
    (r"\b(?:three times daily|three times a day|tds|tid)\b", "once daily"),
    (r"\b(?:once weekly|weekly|once a week|every week)\b", "every month"),
    (r"\b(?:four times daily|four times a day|five times daily|five times a day|qds)\b", "once daily"),
    (r"\b(?:every|each) (?:evening|night|morning|day)\b", "three times daily"),
    (r"\b(?:nightly|at night|at bedtime|at breakfast|with breakfast)\b", "three times daily"),
    (r"\bmorning (?:and|\+|&) (?:evening|night)\b", "once daily"),
    (r"\b(?:2|3|4|5|two|three|four) ?(?:x|×|times) ?(?:daily|a day|/day)\b", "once daily"),
    (r"\b(?:two|three|2|3) times (?:a|per) week\b|\b(?:twice|thrice|three times|two times) weekly\b", "once daily"),
    (r"\bevery \S+ (?:hours|days|weeks|months)\b|\b(?:monthly|half-yearly|six-monthly)\b", "twice daily"),
)


_OTHER_TIMES = (
    r"\b(?:in the (?:morning|evening)|(?:a|per) day)\b",
    r"\b(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b",
)


def _other_interval(summary: str, finding: FactFinding) -> str:
    """The summary with another interval wherever the fact is quoted with one."""
    for quote in finding.quotes:
        for pattern, other in _INTERVALS:
            new = re.sub(pattern, other, quote.quote, count=1, flags=re.IGNORECASE)
            if new != quote.quote:
                return summary.replace(quote.quote, new)
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    taken = parser.add_mutually_exclusive_group()
    taken.add_argument("--write", action="store_true", help="write the list into the package")
    taken.add_argument("--every", type=int, default=1, help="take every Nth conversation")
    options = parser.parse_args()
    ledger = Ledger()
    for every in (list(recorded("strong")), list(recorded("mixed")), list(shared_talks(BUNDLED))):
        talks = every[:: options.every]
        for talk in talks:
            labelled(talk, ledger)
            planted(talk, ledger)
            changed(talk, ledger)
            without_intervals(talk, ledger)
            reversals(talk, ledger)
        strangers(talks, ledger)
    rows = list(ledger.rows())
    print(f"{'rule':<18}{'right':>6}{'patients':>9}{'false':>6}{'aside':>6}{'low 95 %':>9}  may confirm")
    for rule, right, patients, wrong, aside, low, may in rows:
        print(f"{rule:<18}{right:>6}{patients:>9}{wrong:>6}{aside:>6}{low:>9.2f}  {'yes' if may else ''}")
    confirming = [rule for rule, *_, may in rows if may]
    if options.write:
        head = "# Rules whose alarms need no judge. Written by benchmarks/alarms.py --write.\n"
        FILE.write_text(head + yaml.safe_dump({"confirm": confirming}), encoding="utf-8")
    kept = (yaml.safe_load(FILE.read_text(encoding="utf-8")) or {}).get("confirm", []) if FILE.exists() else None
    print(
        f"rules that may confirm: {', '.join(confirming) or 'none'}"
        + ("" if kept == confirming else f"; the file says {kept}")
    )
    return 0 if kept == confirming else 1


if __name__ == "__main__":
    sys.exit(main())
