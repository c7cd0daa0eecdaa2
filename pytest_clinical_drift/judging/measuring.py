"""Measures a judge: the whole procedure on labelled texts, counted entry by entry, with early stopping."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from pytest_clinical_drift.judging.answers import UNSURE
from pytest_clinical_drift.judging.entries import LISTED, About, Entry, about_entry
from pytest_clinical_drift.judging.labelled import GROUP_OF, GROUPS, Labelled
from pytest_clinical_drift.judging.procedure import Judges, Procedure, read_all, settle
from pytest_clinical_drift.judging.questions import Question, question_for
from pytest_clinical_drift.judging.queue import JudgeQueue
from pytest_clinical_drift.judging.raised_points import Point, raised_points, same_words
from pytest_clinical_drift.judging.readings import Reading
from pytest_clinical_drift.judging.rulings import Raised, Ruling, State
from pytest_clinical_drift.metrics import SEED
from pytest_clinical_drift.metrics.intervals import clustered_limits

MOST_REQUESTS = 3_000
_FIRST, _BATCH = 9, 120
"""Texts after which it is seen whether a floor can still be reached: at first (three of each kind: the fewest that can
show a share surely below its floor), then as many again, at most."""
_SURELY = 0.999
"""Confidence that a share lies below its floor with which a group is stopped, however few its trials are."""
_ENOUGH_TRIALS = 20
"""With which a group is stopped because the rest of the set is too small for its floor."""
_MARGIN = 1.5
"""How many more requests than so far a text may need."""
_ENOUGH = 0.9
"""Share of the texts with which a measurement that ran out of requests still counts."""


@dataclass(slots=True)
class Tally:
    """Hits and trials of one share, by patient."""

    hits: Counter[str] = field(default_factory=Counter)
    trials: Counter[str] = field(default_factory=Counter)

    def add(self, patient: str, hit: bool) -> None:
        self.trials[patient] += 1
        self.hits[patient] += hit

    @property
    def counts(self) -> tuple[int, int]:
        return sum(self.hits.values()), sum(self.trials.values())

    def limits(self, confidence: float = 0.95, *, right_more: int = 0) -> tuple[float, float]:
        """One-sided limits clustered by patient; `right_more`: as if so many further trials were all right."""
        names = list(self.trials)
        hits, trials = [self.hits[name] for name in names], [self.trials[name] for name in names]
        for number in range(right_more):
            names.append(f"\0{number}")
            hits.append(1)
            trials.append(1)
        return clustered_limits(hits, trials, names, confidence=confidence)


@dataclass(slots=True)
class Measurement:
    """Counts of a judge on a labelled set."""

    kinds: dict[str, dict[str, Tally]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(Tally)))
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


Result = tuple[Labelled, list[Entry], dict[About, Ruling]]


def measure_one(row: Labelled, judges: Judges) -> Procedure[Result]:
    """Read one labelled text and settle what the reading raises; a labelled question is put as a rule's would be."""
    if isinstance(row.item, Question):
        point = Point(row.item.about, row.item.kind, Raised.RULE, row.item)
        return row, [], (yield from settle([point], judges))
    if not judges.reads:
        return row, [], (yield from settle(_each_point(row), judges))
    read, _ = yield from read_all([row.item], judges)
    entries = read[0][1]
    points = raised_points(row.item, [entry for entry in entries if _is_labelled(entry, row)])
    return row, entries, (yield from settle(points, judges))


def _is_labelled(entry: Entry, row: Labelled) -> bool:
    """Whether the label says anything about an entry: what it leaves out is not counted, and not asked about."""
    if entry.kind in LISTED and row.lists_nothing(entry.kind):
        return True
    about = about_entry(entry, row.item.source)
    return any(_same(about, label) for label in row.entries())


def _each_point(row: Labelled) -> Iterator[Point]:
    """The labelled facts and conflicts of a text, for judges that answer single questions only."""
    if isinstance(row.item, Reading):
        for label in _asked_singly(row):
            yield Point(about_entry(label), label.kind, Raised.RULE, question_for(row.item, label), None)


def _asked_singly(row: Labelled) -> list[Entry]:
    conflicts = row.item.kind == "reply"
    return [label for label in row.entries() if label.kind == "fact" or (label.kind == "conflict" and conflicts)]


def requests_for(rows: Iterable[Labelled], judges: Judges) -> tuple[int, int]:
    """Requests of a judge that is right about everything, and of one that is unsure of everything."""
    few = many = 0
    for row in rows:
        readings = 0 if isinstance(row.item, Question) or not judges.reads else len(judges.wordings)
        labels = row.entries() if judges.reads or isinstance(row.item, Question) else _asked_singly(row)
        faults = sum(label.raised for label in labels)
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
    expected = _expected(rows)
    total = len(left)
    while left:
        size = _affordable(queue.count.asked, result.texts, most)
        if not size:
            if result.texts < _ENOUGH * total:
                result.stopped |= {group: "requests" for row in left for group in _groups(row)}
            break
        batch, left = left[:size], left[size:]
        for number, row in enumerate(batch):
            queue.start(("calibration", result.texts + number, row.item.id), measure_one(row, judges))
        for number, row in enumerate(batch):
            count_one(result, *queue.wait(("calibration", result.texts + number, row.item.id), waiting=waiting))
        result.texts += len(batch)
        result.stopped |= hopeless(result, expected, floors)
        left = [row for row in left if not _groups(row) <= result.stopped.keys()]
    return result


def _affordable(asked: int, texts: int, most: int) -> int:
    """Texts of the next batch, such that the requests stay within bounds: a judge that doubts everything needs many."""
    return min(_BATCH, texts, int((most - asked) / (_MARGIN * asked / texts))) if asked else _FIRST


def shuffled(rows: Iterable[Labelled]) -> list[Labelled]:
    """In random order, the kinds of texts by turns: a judge is soon seen to fail at any of them."""
    ordered = sorted(rows, key=lambda row: row.item.id)
    random.Random(SEED).shuffle(ordered)
    by_kind: dict[str, list[Labelled]] = defaultdict(list)
    for row in ordered:
        by_kind[row.item.kind].append(row)
    turns = zip_longest(*by_kind.values())
    return [row for turn in turns for row in turn if row is not None]


def _groups(row: Labelled) -> set[str]:
    """What a text can tell something about."""
    if isinstance(row.item, Question):
        return {GROUP_OF[row.item.kind]}
    return {
        "summary": {"fact", "invented"}, "reply": {"breach", "conflict", "harm"},
        "conversation": {"course", "misreported", "conflict"},
    }[row.item.kind]  # fmt: skip


def count_one(result: Measurement, row: Labelled, entries: Sequence[Entry], rulings: Mapping[About, Ruling]) -> None:
    """Count one text: each labelled entry, and of lists the whole text where the label says that it is clean."""
    result.unsure.update(entry.doubt for entry in entries if entry.doubt)
    for ruling in rulings.values():
        unsure = (o for o in ruling.opinions if not o.reading and o.answer == UNSURE)
        result.unsure.update(opinion.doubt or "said so" for opinion in unsure)
    for label in row.entries():
        state = _outcome(label, row, rulings)
        for name in {label.kind, GROUP_OF[label.kind]}:
            tally = result.kinds[name]
            if not label.raised:
                tally["clean"].add(row.patient, state not in (State.CONFIRMED, State.OPEN))
                tally["false"].add(row.patient, state is State.CONFIRMED)
                continue
            tally["faults"].add(row.patient, state is State.CONFIRMED)
            tally["missed"].add(row.patient, state in (State.CLEARED, State.DISMISSED))
            if row.subtle:
                tally["subtle"].add(row.patient, state is State.CONFIRMED)
    for kind in LISTED:
        if row.lists_nothing(kind):
            states = {r.state for r in rulings.values() if r.kind == kind}
            tally = result.kinds[kind]
            tally["clean"].add(row.patient, states.isdisjoint((State.CONFIRMED, State.OPEN)))
            tally["false"].add(row.patient, State.CONFIRMED in states)


def _outcome(label: Entry, row: Labelled, rulings: Mapping[About, Ruling]) -> State:
    """What became of a labelled entry: what nothing raised is cleared."""
    asked = isinstance(row.item, Question)  # it has one ruling, its own
    ruling = next((r for about, r in rulings.items() if asked or _same(about, label)), None)
    return State.CLEARED if ruling is None else ruling.state


def _same(about: About, label: Entry) -> bool:
    """Whether an entry or ruling is about the same as a labelled one."""
    if about[0] != label.kind:
        return False
    if label.kind in ("invented", "misreported"):
        return same_words(str(about[2]), label.key)
    if label.kind == "conflict":
        return about[1:3] == label.turns
    if label.kind == "course":
        first, last = label.turns or (0, 0)
        return int(about[1]) <= last and first <= int(about[2])
    return len(about) < 3 or about[2] == label.key


def _expected(rows: Iterable[Labelled]) -> dict[str, Counter[str]]:
    """How many faults, subtle faults and clean items of each group the set has."""
    sizes: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        for label in row.entries():
            size = sizes[GROUP_OF[label.kind]]
            size["faults" if label.raised else "clean"] += 1
            size["subtle"] += label.raised and row.subtle
        for kind in LISTED:
            sizes[kind]["clean"] += row.lists_nothing(kind)
    return sizes


def hopeless(
    result: Measurement, expected: Mapping[str, Mapping[str, int]], floors: Mapping[str, float]
) -> dict[str, str]:
    """Groups that miss a floor: even if everything to come were right, or surely by what was seen so far."""
    shares = {"sensitivity": "faults", "subtle": "subtle", "specificity": "clean"}
    stopped = {}
    for group in GROUPS:
        for name, part in shares.items():
            tally = result.kinds[group][part]
            floor, seen = floors.get(name, 0.0), tally.counts[1]
            more = max(0, expected.get(group, {}).get(part, 0) - seen)
            wrong = seen - tally.counts[0]
            too_few = wrong and seen >= _ENOUGH_TRIALS and tally.limits(right_more=more)[0] < floor
            if too_few or tally.limits(_SURELY)[1] < floor:
                stopped[group] = name
    return stopped
