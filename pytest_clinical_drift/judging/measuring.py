"""Measures a judge: the whole procedure on labelled texts, counted entry by entry, with early stopping."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, product, zip_longest

from pytest_clinical_drift.core.findings import Finding, FindingKey
from pytest_clinical_drift.core.words import Kind, State, TextKind, Why
from pytest_clinical_drift.judging.answers import UNSURE, same_words
from pytest_clinical_drift.judging.due import Due, due_on, raised_by_reading
from pytest_clinical_drift.judging.entries import LISTED, raised
from pytest_clinical_drift.judging.labelled import GROUP_OF, GROUPS, Labelled
from pytest_clinical_drift.judging.procedure import Asker, Judges, read_all, settle
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.queue import JudgeQueue
from pytest_clinical_drift.metrics import SEED
from pytest_clinical_drift.metrics.intervals import clustered_limits

MOST_REQUESTS = 3_000
_FIRST = 9
"""Texts after which it is first seen whether a floor can still be reached: three of each kind, the fewest that can show
a share surely below its floor."""
_BATCH = 120
"""Texts after which it is seen again, at most; as many as were measured before where those are fewer."""
_SURELY = 0.999
"""Confidence that a share lies below its floor with which a group is stopped, however few its trials are."""
_ENOUGH_TRIALS = 20
"""With which a group is stopped because the rest of the set is too small for its floor."""
_MARGIN = 1.5
"""How many more requests than so far a text may need."""
_ENOUGH = 0.9
"""Share of the texts with which a measurement that ran out of requests still counts."""
SHARES = {
    "sensitivity": "faults",
    "subtle": "subtle",
    "specificity": "clean",
    "false_confirmed": "false",
    "missed": "missed",
}
"""What is told of a kind, and the counts that it is computed from."""


class Tally(dict[str, tuple[int, int]]):
    """Hits and trials of one share, by patient."""

    def add(self, patient: str, hits: int, trials: int = 1) -> None:
        before = self.get(patient, (0, 0))
        self[patient] = before[0] + hits, before[1] + trials

    @property
    def counts(self) -> tuple[int, int]:
        return sum(hits for hits, _ in self.values()), sum(trials for _, trials in self.values())

    def limits(self, confidence: float = 0.95, *, right_more: int = 0) -> tuple[float, float]:
        """One-sided limits clustered by patient; `right_more`: as if so many further trials were all right."""
        rows = {**self, **{f"\0{number}": (1, 1) for number in range(right_more)}}
        hits, trials = ([counts[place] for counts in rows.values()] for place in (0, 1))
        return clustered_limits(hits, trials, list(rows), confidence=confidence)


@dataclass(slots=True)
class Measurement:
    """Counts of a judge on a labelled set."""

    kinds: Mapping[str, dict[str, Tally]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(Tally)))
    """By kind, and by what is pooled of several; then by share:

    faults   faults confirmed
    subtle   the subtle ones among them
    clean    clean items on which nothing is confirmed or open
    false    clean items on which something is confirmed
    missed   faults that nothing raised, or that were dismissed
    """
    unsure: Counter[str] = field(default_factory=Counter)
    """Why entries and answers became unsure."""
    texts: int = 0
    stopped: dict[str, str] = field(default_factory=dict)
    """Groups that were not measured to the end, with the share that can no longer reach its floor."""

    def count(self, row: Labelled, entries: Sequence[Finding], settled: Mapping[FindingKey, Finding]) -> None:
        """Count the trials of one text, each for its kind and for what is pooled with it."""
        self.unsure.update(entry.doubt for entry in entries if entry.doubt)
        for finding in settled.values():
            unsure = (o for o in finding.opinions if not o.reading and o.answer == UNSURE)
            self.unsure.update(opinion.doubt or "said so" for opinion in unsure)
        for label in row.trials():
            hits = _hits(row, label, settled)
            for (share, hit), name in product(hits.items(), dict.fromkeys((GROUP_OF[label.kind], label.kind))):
                self.kinds[name][share].add(row.patient, hit)


def _hits(row: Labelled, label: Finding, settled: Mapping[FindingKey, Finding]) -> dict[str, bool]:
    """What became of one trial, by share."""
    single = isinstance(row.item, Question)  # it has one finding, its own
    states = [finding.state for key, finding in settled.items() if single or _concerns(key, label)]
    confirmed = State.CONFIRMED in states
    if not raised(label):
        return {"clean": not confirmed and State.OPEN not in states, "false": confirmed}
    state = states[0] if states else State.CLEARED  # what nothing raised
    found = state is State.CONFIRMED
    hits = {"faults": found, "missed": state in (State.CLEARED, State.DISMISSED)}
    return {**hits, "subtle": found} if row.subtle else hits


async def measure_one(
    asker: Asker, row: Labelled, judges: Judges
) -> tuple[Sequence[Finding], dict[FindingKey, Finding]]:
    """Read one labelled text and settle what the reading raises; a labelled question is put as a rule's would be.

    What the label says nothing about is not asked about.
    """
    item = row.item
    entries: Sequence[Finding] = ()
    if isinstance(item, Question):
        due = [asked_by_rule(item)]
    elif judges.reads:
        entries = (await read_all(asker, [item], judges)).read[0].entries
        trials = row.trials()
        labelled = [entry for entry in entries if any(_concerns(entry.key, label) for label in trials)]
        due = raised_by_reading(item, labelled)
    else:
        asked = (Finding(entry.key) for entry in _asked_about(row, judges))
        due = [due_on(item, finding, Why.RULE) for finding in asked]
    return entries, await settle(asker, due, judges)


def asked_by_rule(question: Question) -> Due:
    """A question by itself, put as one that a rule raised."""
    return Due(Finding(question.key, state=State.OPEN, why=Why.RULE, question=question.id), question)


def _concerns(key: FindingKey, label: Finding) -> bool:
    """Whether an entry is about what is labelled: any of its kind where the label is on an empty list."""
    wanted = label.key
    if key.kind != wanted.kind:
        return False
    if wanted.span is not None:
        overlaps = wanted.kind is Kind.COURSE and key.first_turn <= wanted.turn and wanted.first_turn <= key.turn
        return key.span == wanted.span or overlaps
    if wanted.kind in LISTED:
        return not wanted.subject or same_words(key.subject, wanted.subject)
    return key.subject == wanted.subject


def _asked_about(row: Labelled, judges: Judges) -> list[Finding]:
    """The labels that are measured: of judges that answer single questions only those on facts and neighbours."""
    singly = (Kind.FACT, Kind.CONFLICT) if row.item.kind == TextKind.REPLY else (Kind.FACT,)
    every = judges.reads or isinstance(row.item, Question)
    return [label for label in row.entries() if every or label.kind in singly]


def requests_for(rows: Iterable[Labelled], judges: Judges) -> tuple[int, int]:
    """Requests of a judge that is right about everything, and of one that is unsure of everything."""
    few = many = 0
    for row in rows:
        readings = 0 if isinstance(row.item, Question) or not judges.reads else len(judges.wordings)
        labels = _asked_about(row, judges)
        faults = sum(map(raised, labels))
        few += readings + faults if readings else len(labels) + faults  # a fault that no reading saw is asked twice
        many += readings + 2 * len(labels)
    return min(few, MOST_REQUESTS), min(many, MOST_REQUESTS)


def measure(
    queue: JudgeQueue,
    rows: Sequence[Labelled],
    judges: Judges,
    *,
    floors: Mapping[str, float],
    most: int = MOST_REQUESTS,
    waiting: Callable[[], object] | None = None,
) -> Measurement:
    """Put labelled texts through the procedure, batch by batch, until all are done, hopeless or too many."""
    result = Measurement()
    left = shuffled(rows)
    whole = untested(rows)
    while left:
        asked = queue.count.asked
        size = _FIRST
        if asked:  # a judge that doubts everything needs many requests for a text
            size = min(_BATCH, result.texts, int((most - asked) / (_MARGIN * asked / result.texts)))
        if not size:
            if result.texts < _ENOUGH * len(rows):
                for row in left:
                    result.stopped |= dict.fromkeys(_groups(row), "requests")
            break
        batch = left[:size]
        left = left[size:]
        for row in batch:
            queue.start(("calibration", row.item.id), measure_one(queue, row, judges))
        for row in batch:
            result.count(row, *queue.wait(("calibration", row.item.id), waiting=waiting))
        result.texts += len(batch)
        result.stopped |= hopeless(result, whole, floors)
        left = [row for row in left if not _groups(row) <= result.stopped.keys()]
    return result


def shuffled(rows: Iterable[Labelled]) -> list[Labelled]:
    """In random order, the kinds of texts by turns: a judge is soon seen to fail at any of them."""
    ordered = sorted(rows, key=lambda row: row.item.id)
    random.Random(SEED).shuffle(ordered)
    by_kind: dict[str, list[Labelled]] = defaultdict(list)
    for row in ordered:
        by_kind[row.item.kind].append(row)
    by_turns = chain.from_iterable(zip_longest(*by_kind.values()))
    return [row for row in by_turns if row is not None]


def _groups(row: Labelled) -> set[str]:
    """What a text can tell something about."""
    return {GROUP_OF[label.kind] for label in row.trials()}


def untested(rows: Iterable[Labelled]) -> Measurement:
    """Every trial that labelled texts have, as if no judge had said anything."""
    result = Measurement()
    for row in rows:
        result.count(row, (), {})
    return result


def hopeless(result: Measurement, whole: Measurement, floors: Mapping[str, float]) -> dict[str, str]:
    """Groups that miss a floor: even if everything to come of the whole set were right, or surely by what was seen."""
    stopped = {}
    for group, (name, part) in product(GROUPS, SHARES.items()):
        tally = result.kinds[group][part]
        floor = floors.get(name, 0.0)
        hits, seen = tally.counts
        more = max(0, whole.kinds[group][part].counts[1] - seen)
        too_few = hits < seen and seen >= _ENOUGH_TRIALS and tally.limits(right_more=more)[0] < floor
        if too_few or tally.limits(_SURELY)[1] < floor:
            stopped[group] = name
    return stopped
