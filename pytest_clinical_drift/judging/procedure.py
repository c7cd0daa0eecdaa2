"""How one conversation is judged: every text is read whole, then single questions settle what was raised.

Each step is a coroutine that asks through an `Asker`, so that the same procedure serves a run, its canaries,
calibration, and a log that is judged again.
"""

from collections import Counter
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Protocol, TypeVar

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.core.findings import Finding, FindingKey, Opinion
from pytest_clinical_drift.core.log import Answer
from pytest_clinical_drift.core.words import Doubt, Kind, Seat, TextKind, Why
from pytest_clinical_drift.judging.answers import KINDS, UNSURE, words_of
from pytest_clinical_drift.judging.due import (
    ByRules,
    Due,
    TextRead,
    all_due,
    audited,
    counted_entries,
    quote_doubts,
)
from pytest_clinical_drift.judging.entries import (
    care_of,
    entries_of,
    missing,
    raised,
    standing_advice,
    unread_entries,
)
from pytest_clinical_drift.judging.opinions import needs_second, state_of, telling
from pytest_clinical_drift.judging.protocol import JudgeRequest
from pytest_clinical_drift.judging.questions import Question, opinion_of
from pytest_clinical_drift.judging.readings import Reading, StandingAdvice

T = TypeVar("T")
TextKey = tuple[str, int, str]
"""Kind, turn and source of a text that was read."""


class Asker(Protocol):
    """Puts requests to the judges, or looks their answers up."""

    async def ask(self, requests: Sequence[JudgeRequest]) -> list[Answer]:
        """The answers to the requests, in their order; a failure is an answer too."""


@dataclass(frozen=True, slots=True)
class Judges:
    """Who gives the opinions, by name, and how texts are read."""

    reader: str
    questioner: str
    wordings: tuple[int, ...] = (1,)
    """Wordings in which every text is read; either may raise an alarm."""
    reads: bool = True
    """False for judges that answer single questions only."""
    kinds: frozenset[str] = frozenset(KINDS)
    """Kinds of single question that are answered at all."""
    alone: bool = False
    """Calibration: what the judge upholds is confirmed, also where only a person confirms."""


@dataclass(frozen=True, slots=True)
class SingleJudgement:
    """What the judge made of the summary of the same transcript given in one message."""

    entries: tuple[Finding, ...]
    """On facts."""
    findings: Mapping[FindingKey, Finding]


@dataclass(frozen=True, slots=True)
class ConversationJudgement:
    """What the judge made of one conversation."""

    read: tuple[tuple[TextKey, tuple[Finding, ...]], ...] = ()
    """The entries of every reading; empty where nothing was read."""
    findings: Mapping[FindingKey, Finding] = field(default_factory=dict)
    """Everything that was asked about, settled."""
    questions: Mapping[str, Question] = field(default_factory=dict)
    """The questions of these findings, by id."""
    by_judge: bool = False
    """The entries are a judge's, not as if all were cleared."""
    care: Mapping[int, str] = field(default_factory=dict)
    """Level of care that each reply points to."""
    requests: int = 0
    """Readings and single questions, each wording counted; without audit."""
    unsure: Mapping[str, int] = field(default_factory=dict)
    """Why entries became unsure, with how often."""
    single: SingleJudgement | None = None
    """None where there is no such summary, or it was not read."""


@dataclass(frozen=True, slots=True)
class ReadAnswers:
    """Texts that were read, with the answers as they came."""

    read: tuple[TextRead, ...] = ()
    answers: Mapping[str, Sequence[Answer]] = field(default_factory=dict)
    """By id of the reading, one for each wording."""


def at_once(procedure: Coroutine[Any, Any, T]) -> T:
    """The result of a procedure whose asker never waits."""
    try:
        procedure.send(None)
    except StopIteration as finished:
        result: T = finished.value
        return result
    procedure.close()
    raise RuntimeError("the procedure waits for an answer")


async def read_all(asker: Asker, readings: Sequence[Reading], judges: Judges) -> ReadAnswers:
    """Read texts, each in every wording asked for."""
    if not judges.reads:
        return ReadAnswers(tuple(TextRead(reading, unread_entries(reading)) for reading in readings))
    requests = []
    for reading in readings:
        requests += [JudgeRequest(reading, wording, Seat.READER) for wording in judges.wordings]
    answers: dict[str, list[Answer]] = {}
    for request, answer in zip(requests, await asker.ask(requests), strict=True):
        answers.setdefault(request.item.id, []).append(answer)
    read = []
    for reading in readings:
        wordings = answers[reading.id][: len(judges.wordings)]
        read.append(TextRead(reading, _either([entries_of(reading, answer) for answer in wordings])))
    return ReadAnswers(tuple(read), answers)


async def read_windows(asker: Asker, windows: Sequence[Reading], judges: Judges) -> list[TextRead]:
    """Read a conversation window after window: each gets the advice that the earlier ones left standing.

    A window that does not say what stands leaves open whether a later one contradicts it.
    """
    read: list[TextRead] = []
    standing: list[StandingAdvice] = []
    if not judges.reads:
        return read
    for window in windows:
        own = {line.turn for line in window.turns}
        shown = replace(window, standing=tuple(item for item in standing if item.turn not in own))
        window_read = await read_all(asker, [shown], judges)
        answers = window_read.answers[shown.id]
        advice = [standing_advice(shown, answer) for answer in answers]
        entries = list(window_read.read[0].entries)
        if None in advice and window is not windows[-1] and not _lacks_contradictions(entries):
            entries.append(missing(shown, Kind.CONFLICT, answers[0]))
        read.append(TextRead(shown, entries))
        stated = chain.from_iterable(items for items in advice if items is not None)
        standing = list(dict.fromkeys(stated))
    return read


def _lacks_contradictions(entries: Sequence[Finding]) -> bool:
    """Whether an entry says already that the list of contradictions is missing."""
    return any(entry.kind is Kind.CONFLICT and entry.doubt == Doubt.MISSING for entry in entries)


def _either(readings: Sequence[list[Finding]]) -> list[Finding]:
    """Entries of several readings of one text: raised by either; unsure where one is unsure and none raises it."""
    best = list(readings[0])
    for entries in readings[1:]:
        for entry in entries:
            place = next((index for index, known in enumerate(best) if _same(known, entry)), None)
            if place is None:
                best.append(entry)
            elif _weight(entry) > _weight(best[place]):
                best[place] = entry
    return best


def _same(one: Finding, other: Finding) -> bool:
    """Whether two readings speak of one thing; what they list may be quoted at greater or lesser length."""
    if (one.kind, one.turn, one.key.span) != (other.kind, other.turn, other.key.span):
        return False
    if one.key.subject == other.key.subject:
        return True
    if one.kind not in (Kind.INVENTED, Kind.MISREPORTED):
        return False
    words = [f" {' '.join(words_of(entry.key.subject))} " for entry in (one, other)]
    if not words[0].strip() or not words[1].strip():
        return False
    return words[0] in words[1] or words[1] in words[0]


def _weight(entry: Finding) -> int:
    if raised(entry):
        return 2
    return 1 if entry.answer == UNSURE else 0


async def settle(asker: Asker, due: Iterable[Due], judges: Judges) -> dict[FindingKey, Finding]:
    """Put the questions of findings, the second wording where the first calls for it; what they amount to."""
    every = list(due)
    leading = [one for one in every if not one.finding.follows]
    opinions = await _opinions_on(asker, leading, judges)
    settled = {one.key: _settled(one.finding, opinions[one.key], judges) for one in leading}
    followers = [one for one in every if one.finding.follows]
    alone = [one for one in followers if not _agree(settled, one.finding.follows)]
    if alone:  # they have questions of their own
        own = [Due(replace(one.finding, follows=()), one.question) for one in alone]
        settled |= await settle(asker, own, judges)
    for one in followers:
        if one.key not in settled:
            settled[one.key] = _following(one.finding, settled[one.finding.follows[0]])
    return settled


async def _opinions_on(asker: Asker, leading: Sequence[Due], judges: Judges) -> Mapping[FindingKey, dict[int, Opinion]]:
    """The opinions on each finding by wording; none where the judges do not answer its kind, or it is a whole text."""
    opinions: dict[FindingKey, dict[int, Opinion]] = {one.key: {} for one in leading}
    asked = [one for one in leading if one.key.kind in judges.kinds and not one.question.whole]
    first: list[tuple[Due, int]] = []
    for one in asked:
        first += [(one, wording) for wording in _first_wordings(one.finding)]
    await _put(asker, first, opinions)
    again = [one for one in asked if _needs_second(one.finding, opinions[one.key])]
    await _put(asker, [(one, 2) for one in again], opinions)
    return opinions


def _agree(settled: Mapping[FindingKey, Finding], keys: Iterable[FindingKey]) -> bool:
    """Whether findings were settled alike."""
    return len({settled[key].state for key in keys}) <= 1


def _first_wordings(finding: Finding) -> tuple[int, ...]:
    """What the reading left unsure both wordings decide."""
    return (1, 2) if finding.why is Why.UNSURE else (1,)


def _needs_second(finding: Finding, opinions: Mapping[int, Opinion]) -> bool:
    return finding.why is not None and needs_second(finding.why, finding.kind, opinions.get(1))


async def _put(
    asker: Asker, asked: Sequence[tuple[Due, int]], opinions: Mapping[FindingKey, dict[int, Opinion]]
) -> None:
    """Put questions in their wordings, and keep what each answer counts for."""
    requests = [JudgeRequest(one.question, wording, Seat.QUESTIONER) for one, wording in asked]
    for (one, wording), answer in zip(asked, await asker.ask(requests), strict=True):
        opinions[one.key][wording] = opinion_of(one.question, answer)


def _settled(finding: Finding, opinions: Mapping[int, Opinion], judges: Judges) -> Finding:
    """A finding once its question was answered."""
    if finding.why is None:
        raise ValueError(f"nothing asks about {finding.key}")
    state = state_of(
        finding.why,
        finding.kind,
        opinions.get(1),
        opinions.get(2),
        rule_confirms=finding.rule_confirms,
        alone=judges.alone,
    )
    read = finding.read.answer if finding.read is not None else UNSURE
    in_order = [opinions[wording] for wording in sorted(opinions)]
    answer = telling(finding.kind, state, read, [opinion.answer for opinion in in_order])
    return replace(finding, state=state, answer=answer, opinions=(*finding.opinions, *in_order))


def _following(finding: Finding, led: Finding) -> Finding:
    """A finding that takes the state of the first of its row."""
    taken = [replace(opinion, asked_at=led.turn) for opinion in led.opinions if not opinion.reading]
    return replace(finding, state=led.state, answer=led.answer, opinions=(*finding.opinions, *taken))


async def judge_single(asker: Asker, case: Case, reading: Reading | None, judges: Judges) -> SingleJudgement | None:
    """Read and settle the facts of the summary of a transcript in one message."""
    if reading is None or not judges.reads:
        return None
    whole = await read_all(asker, [reading], judges)
    facts = [TextRead(of, [entry for entry in entries if entry.kind is Kind.FACT]) for of, entries in whole.read]
    due = all_due(case, facts, ByRules(), reader=judges.reader, hard_stops=False)
    return SingleJudgement(tuple(facts[0].entries), await settle(asker, due, judges))


@dataclass(frozen=True, slots=True)
class Texts:
    """What is read of one conversation, and how much of what is cleared is asked about all the same."""

    case: Case
    repeat: int
    readings: Sequence[Reading]
    windows: Sequence[Reading]
    audit: Mapping[str, float] = field(default_factory=dict)
    """Share of each kind."""


async def judge_conversation(
    asker: Asker, texts: Texts, raises: Mapping[FindingKey, bool], judges: Judges
) -> ConversationJudgement:
    """Read every text of a conversation and settle what readings and rules raised."""
    case = texts.case
    first = await read_all(asker, texts.readings, judges)
    read = [*first.read, *await read_windows(asker, texts.windows, judges)]
    reader = judges.reader if judges.reads else ""
    doubts = quote_doubts(case, read) if judges.reads else frozenset()
    due = all_due(case, read, ByRules(raises, doubts), reader=reader)
    known = [one.key for one in due]
    drawn = audited(texts.audit, texts.repeat, counted_entries(case, read), known)
    settled = await settle(asker, [*due, *drawn], judges)
    own = 0
    for key in known:
        own += sum(not opinion.reading and not opinion.asked_at for opinion in settled[key].opinions)
    return ConversationJudgement(
        read=tuple((reading.key, tuple(entries)) for reading, entries in read),
        findings=settled,
        questions={one.question.id: one.question for one in (*due, *drawn)},
        by_judge=judges.reads,
        care=_care(texts.readings, first.answers),
        requests=own + (len(read) * len(judges.wordings) if judges.reads else 0),
        unsure=_doubts(read),
    )


def _care(readings: Iterable[Reading], answers: Mapping[str, Sequence[Answer]]) -> dict[int, str]:
    """The level of care that each reply points to, as the first wording has it."""
    care = {}
    for reading in readings:
        if reading.kind == TextKind.REPLY and reading.id in answers:
            level = care_of(answers[reading.id][0])
            if level is not None:
                care[reading.turn] = level
    return care


def _doubts(read: Iterable[TextRead]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for _, entries in read:
        counts.update(entry.doubt for entry in entries if entry.doubt)
    return counts
