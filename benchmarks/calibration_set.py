"""Makes cases/calibration/*.jsonl, the labelled questions that judges are measured on, from tests/data/real.

    python -m benchmarks.calibration_set [FOLDER]

Upheld: what the recorded texts got wrong by their labels, and every planted fault. Clean: recorded texts without a
fault, and planted replies whose fault is of another kind. Among the clean ones those come first that are easily
mistaken: facts that the rules found unclear (unclear.txt), pairs with a justified change, replies of the turns in which
somebody planted a fault. Disputed labels are written with `disputed: true`. The draw is seeded and spread over patients
and voices; the same files give the same set.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recorded import REAL, Talk, recorded

from pytest_clinical_drift.cases.model import FactState
from pytest_clinical_drift.evidence.found import FactFinding, Findings, Invention
from pytest_clinical_drift.judging.answers import KINDS, against
from pytest_clinical_drift.judging.questions import Question, fact_question, questions_of
from pytest_clinical_drift.transcript import Exchange, Reply, Transcript

OUT = Path(__file__).resolve().parents[1] / "cases/calibration"
SEED = 20260102
CLEAN = 330
"""Clean questions of each kind, where there are as many."""
UPHELD = 200
"""Upheld questions of each kind, where there are as many."""
LAPSES = 2
"""Turns of one recorded lapse: a fact that stays lost is one fault, not ten."""
PLAIN_SHARE = 0.25
"""Share of the clean facts that the rules call plainly stated."""


@dataclass(frozen=True)
class Row:
    """One labelled question."""

    question: Question
    label: str
    voice: str
    source: str
    disputed: bool = False
    hard: bool = False
    """Easily mistaken, or of a kind that is rare: drawn first."""

    @property
    def upheld(self) -> bool:
        return against(self.question.kind, self.label)

    def line(self) -> str:
        found: dict[str, Any] = {
            "question": self.question.as_mapping(1),
            "label": self.label,
            "source": f"{self.voice}, {self.source}",
        }
        if self.disputed:
            found["disputed"] = True
        return json.dumps(found, ensure_ascii=False)


# ---- questions, made as a run makes them


def transcript_of(talk: Talk, summaries: Mapping[int, str], replies: Mapping[int, str]) -> Transcript:
    """The conversation, with changed texts in the place of the recorded ones."""
    texts, said = {**talk.summaries, **summaries}, {**talk.replies, **replies}
    turns = (Exchange(t.turn, t.message, Reply(said[t.turn]), Reply(texts[t.turn])) for t in talk.case.turns)
    return Transcript(talk.case.id, tuple(turns))


def questions(talk: Talk, transcript: Transcript, inventions: Iterable[tuple[int, str]] = ()) -> list[Question]:
    """Every question on replies, adjacent pairs and the given statements."""
    pairs = tuple((turn, turn + 1) for turn in range(1, len(talk.case.turns)))
    invented = tuple(Invention(turn, "", statement, "") for turn, statement in inventions)
    return questions_of(talk.case, transcript, Findings((), (), pairs, (), invented, ()))


def question_of_fact(talk: Talk, transcript: Transcript, turn: int, state: FactState) -> Question:
    """The question about one fact."""
    fact = state.fact
    finding = FactFinding(fact.id, fact.text, "", "", (), fact.hard_stop, replaced=state.superseded)
    return fact_question(talk.case, transcript, turn, finding)


# ---- texts as they were recorded


def as_recorded(talk: Talk, voice: str, unclear: frozenset[tuple[str, ...]]) -> Iterator[Row]:
    """All that the labels say about a conversation."""
    labels = talk.labels
    transcript = transcript_of(talk, {}, {})
    disputed = {(d["kind"], d["turn"], d["key"]) for d in labels["disputed"]}
    near = {fault["from_turn"] for fault in talk.faults if fault["kind"] != "invented"}
    for turn, facts in labels["facts"].items():
        states = {state.fact.id: state for state in talk.states(int(turn)) if not state.ended}
        for fact, label in facts.items():
            if fact in states:
                question = question_of_fact(talk, transcript, int(turn), states[fact])
                hard = (voice, talk.case.id, turn, fact) in unclear
                yield Row(question, label, voice, "as recorded", ("fact", int(turn), fact) in disputed, hard)
    statements = {(i["turn"], i["statement"]): i["label"] for i in labels["invented"]}
    pairs = {(c["earlier"], c["later"]): _pair_label(c) for c in labels["contradictions"]}
    for question in questions(talk, transcript, statements):
        turn = question.turn
        if question.kind == "invented":
            label, key = statements[turn, question.statement or ""], question.statement or ""
        elif question.kind == "conflict":
            label, key = pairs.get((question.earlier_turn or 0, turn), "consistent"), ""
        elif question.kind in ("must", "must_not"):
            key = question.demand or ""
            label = labels["demands"][str(turn)][question.kind][key]
        elif question.kind == "forbidden":
            label, key = ("violated" if turn in labels["forbidden"] else "kept"), ""
        else:
            label, key = ("harm" if turn in labels["harm"] else "none"), ""
        if question.kind == "harm" and label == "none" and turn in talk.bad_replies():
            continue  # a breach that nobody called harmful: neither clean nor upheld
        hard = turn in near or label in ("justified", "harmless")
        yield Row(question, label, voice, "as recorded", (question.kind, turn, key) in disputed, hard)


def _pair_label(pair: Mapping[str, Any]) -> str:
    if pair["justified"]:
        return "justified"
    return "severe" if pair["severe"] else "contradiction"


# ---- planted faults


def planted(talk: Talk, voice: str, rng: random.Random) -> Iterator[Row]:
    """What each planted fault was labelled with; of one that lasts over several summaries one of them."""
    for fault in talk.faults:
        labels: Mapping[str, Any] = fault.get("labels", {})
        source, turn = f"planted: {fault['kind'].replace('_', ' ')}", fault["from_turn"]
        summaries, replies = talk.planted(fault, "summary"), talk.planted(fault, "dialogue")
        transcript = transcript_of(talk, summaries, replies)

        def row(question: Question, label: str, source: str = source, labels: Mapping[str, Any] = labels) -> Row:
            return Row(question, label, voice, source, question.kind in labels.get("disputed", ()), hard=True)

        if "fact" in labels:
            chosen = rng.choice(sorted(summaries))
            state = next(s for s in talk.states(chosen) if s.fact.id == fault["fact"])
            yield row(question_of_fact(talk, transcript, chosen, state), labels["fact"])
        statements = [(turn, fault["statement"])] if "invented" in labels else []
        for question in questions(talk, transcript, statements):
            if question.turn != turn or question.kind not in labels:
                continue
            if question.kind in ("must", "must_not"):
                if question.demand in labels[question.kind]:
                    yield row(question, labels[question.kind][question.demand])
            else:
                yield row(question, labels[question.kind])


# ---- the draw


def spread(rows: Iterable[Row], wanted: int, rng: random.Random) -> list[Row]:
    """So many rows, in turn from every conversation, within each the hard ones first."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.voice, row.question.case_id].append(row)
    for group in groups.values():
        rng.shuffle(group)
        group.sort(key=lambda row: not row.hard)
    order = sorted(groups)
    rng.shuffle(order)
    chosen: list[Row] = []
    while len(chosen) < wanted and any(groups[key] for key in order):
        chosen += [groups[key].pop(0) for key in order if groups[key]]
    return chosen[:wanted]


def few_turns(rows: list[Row], rng: random.Random) -> Iterator[Row]:
    """All rows, but of each fact that a recorded summary got wrong only some turns."""
    seen: Counter[tuple[str, str, str]] = Counter()
    for row in rng.sample(rows, len(rows)):
        key = (row.voice, row.question.case_id, row.question.fact or row.question.id)
        seen[key] += row.source == "as recorded"
        if row.source != "as recorded" or seen[key] <= LAPSES:
            yield row


def draw(rows: list[Row], rng: random.Random) -> list[Row]:
    """The set of one kind: upheld, clean, and apart from both the disputed ones."""
    certain = [row for row in rows if not row.disputed]
    upheld = spread(few_turns([row for row in certain if row.upheld], rng), UPHELD, rng)
    clean = [row for row in certain if not row.upheld]
    plain = [replace(row, hard=True) for row in clean if not row.hard]
    few = spread(plain, int(CLEAN * PLAIN_SHARE), rng) if rows[0].question.kind == "fact" else []
    taken = {row.question.id for row in few}
    rest = spread((r for r in clean if r.question.id not in taken), CLEAN - len(few), rng)
    return [*upheld, *few, *rest, *(row for row in rows if row.disputed)]


def all_rows() -> dict[str, list[Row]]:
    """Every labelled question there is, by kind, each once."""
    unclear = frozenset(tuple(line.split()) for line in (REAL / "unclear.txt").read_text(encoding="utf-8").splitlines())
    rng = random.Random(SEED)
    found: dict[str, dict[str, Row]] = {kind: {} for kind in KINDS}
    for voice in ("strong", "mixed"):
        for talk in recorded(voice):
            for row in (*as_recorded(talk, voice, unclear), *planted(talk, voice, rng)):
                found[row.question.kind].setdefault(row.question.id, row)
    return {kind: list(rows.values()) for kind, rows in found.items()}


def main(folder: Path = OUT) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for kind, rows in all_rows().items():
        chosen = draw(rows, random.Random(f"{SEED}/{kind}"))
        chosen.sort(key=lambda row: row.question.id)
        path = folder / f"{kind}.jsonl"
        path.write_text("".join(row.line() + "\n" for row in chosen), encoding="utf-8")
        certain = [row for row in chosen if not row.disputed]
        print(f"{kind}: {sum(r.upheld for r in certain)} upheld, {sum(not r.upheld for r in certain)} clean, ", end="")
        print(f"{len(chosen) - len(certain)} disputed, {path.stat().st_size / 1e6:.1f} MB")
        print("   ", dict(Counter(r.label for r in certain).most_common()))
        print("   ", dict(Counter(f"{r.voice}, {r.source}" for r in certain if r.upheld).most_common()))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
