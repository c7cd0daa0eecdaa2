"""Readings as self-contained values: every summary, every reply and every conversation, whole, one request each."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pytest_clinical_drift.cases.model import Case, facts_at
from pytest_clinical_drift.cases.timeline import demands_at
from pytest_clinical_drift.conversation.hygiene import strip_reasoning
from pytest_clinical_drift.evidence.findings import visible
from pytest_clinical_drift.judging.material import (
    DemandLine,
    FactLine,
    Forbidden,
    JudgeItem,
    StandingAdvice,
    TurnLine,
    forbidden_at,
    messages_of,
    record_of,
)
from pytest_clinical_drift.transcript import Transcript

READINGS = ("summary", "reply", "conversation")
PDSQI = "pdsqi"
"""Kind of a summary that is rated by PDSQI-9: no reading, it raises nothing."""
SINGLE = "single"
"""Source of the summary of a transcript that was given in one message."""
WINDOW_TOKENS = 32_000
"""Tokens of a conversation that one request holds unless a judge setting says otherwise."""
_CHARACTERS_PER_TOKEN = 3.5
"""Fewer than English prose has, so that other languages and lists fit too."""
_OVERLAP = 2
"""Turns that a window shares with the one before."""


@dataclass(frozen=True, slots=True)
class Reading(JudgeItem):
    """One text to be read whole, with all that is asked of it."""

    text: str = ""
    patient: str = ""
    """The patient's messages: so far (summary), since the earlier reply (reply)."""
    record: str = ""
    """The intake and the facts that hold by now."""
    facts: tuple[FactLine, ...] = ()
    demands: tuple[DemandLine, ...] = ()
    forbidden: tuple[Forbidden, ...] = ()
    earlier: str | None = None
    """The reply of the case's previous own turn."""
    earlier_turn: int | None = None
    turns: tuple[TurnLine, ...] = ()
    summary: str = ""
    """The last summary, with the last window of a conversation."""
    standing: tuple[StandingAdvice, ...] = ()
    uncompared: tuple[int, ...] = ()
    """Turns of a conversation whose reply no other reading compares with the one before it: around interludes."""
    source: str = ""
    """`reply` where a handover in a reply is read as a summary, `single` of the transcript in one message; of a rating
    the version of its prompts."""
    kinds = READINGS

    @property
    def key(self) -> tuple[str, int, str]:
        """Names it within its conversation."""
        return self.kind, self.turn, self.source

    def reply_of(self, turn: int) -> str:
        """The reply of a turn of this conversation; empty for another turn."""
        return next((line.reply for line in self.turns if line.turn == turn), "")


# ---- the readings of one conversation


def readings_of(case: Case, transcript: Transcript) -> list[Reading]:
    """Every probed summary, every visible reply and every handover; the conversation itself is read in windows."""
    readings = [
        summary_reading(case, exchange.turn, strip_reasoning(exchange.summary.text))
        for exchange in transcript.exchanges
        if exchange.has_summary
    ]
    before: tuple[int, str] | None = None
    for exchange in transcript.exchanges:
        reply = visible(exchange.reply)
        if reply is None:
            continue
        own = case.is_own(exchange.turn)
        readings.append(reply_reading(case, exchange.turn, reply, before if own else None))
        if case.turns[exchange.turn - 1].handover:
            readings.append(summary_reading(case, exchange.turn, reply, source="reply"))
        if own:
            before = exchange.turn, reply
    return readings


def single_reading(case: Case, transcript: Transcript) -> Reading | None:
    """The summary of the transcript in one message; apart from the others, because it enters no figure but its own."""
    single = transcript.single
    if single is None or single.error is not None or not transcript.exchanges:
        return None
    return summary_reading(case, transcript.exchanges[-1].turn, strip_reasoning(single.text), source=SINGLE)


def summary_reading(case: Case, turn: int, text: str, *, source: str = "") -> Reading:
    """A summary with all facts that hold by its turn or have ended."""
    facts = tuple(
        FactLine(of.fact.id, of.fact.text, of.superseded, of.ended, of.fact.essential if of.fact.hard_stop else ())
        for of in facts_at(case, turn)
    )
    patient, record = messages_of(case, 1, turn), record_of(case, turn)
    return Reading("summary", case.id, turn, text, patient, record, facts=facts, source=source)


def reply_reading(case: Case, turn: int, text: str, earlier: tuple[int, str] | None) -> Reading:
    """A reply with its demands, what is forbidden, and the reply of the case's previous own turn."""
    demands = demands_at(case, turn) if case.is_own(turn) else ()
    before, said = earlier or (None, None)
    return Reading(
        "reply",
        case.id,
        turn,
        text,
        messages_of(case, before + 1 if before else turn, turn),
        record_of(case, turn),
        demands=tuple(DemandLine(d.id, d.kind, d.text, d.expectation.why) for d in demands),
        forbidden=forbidden_at(case, turn),
        earlier=said,
        earlier_turn=before,
    )


def windows_of(case: Case, transcript: Transcript, *, tokens: int = WINDOW_TOKENS) -> list[Reading]:
    """The conversation in one reading, or in overlapping ones where it is too long for one request.

    `standing` of a later window is filled in with what the earlier ones left standing.
    """
    lines = [
        TurnLine(exchange.turn, case.turns[exchange.turn - 1].message, reply)
        for exchange in transcript.exchanges
        if (reply := visible(exchange.reply)) is not None
    ]
    if len(lines) < 2:
        return []
    last = next((e for e in reversed(transcript.exchanges) if e.has_summary), None)
    summary = strip_reasoning(last.summary.text) if last is not None else ""
    spans = _spans(
        [len(line.patient) + len(line.reply) for line in lines], tokens * _CHARACTERS_PER_TOKEN - len(summary)
    )
    return [
        Reading(
            "conversation",
            case.id,
            lines[stop - 1].turn,
            record=record_of(case, lines[stop - 1].turn),
            turns=tuple(lines[start:stop]),
            summary=summary if stop == len(lines) else "",
            uncompared=tuple(
                line.turn
                for before, line in pairwise(lines[start:stop])
                if not (case.is_own(before.turn) and case.is_own(line.turn))
            ),
        )
        for start, stop in spans
    ]


def _spans(sizes: Sequence[int], room: float) -> list[tuple[int, int]]:
    """Starts and stops of windows that fit the room, each of at least two turns beyond its overlap."""
    spans, start = [], 0
    while True:
        stop, used = start, 0.0
        while stop < len(sizes) and (used + sizes[stop] <= room or stop < start + _OVERLAP + 1):
            used += sizes[stop]
            stop += 1
        spans.append((start, stop))
        if stop == len(sizes):
            return spans
        start = stop - _OVERLAP
