"""A judge against the labels of a public set: sensitivity, specificity, balanced F1 and kappa, as published."""

import datetime
import importlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.calibration_file import ExternalTable
from pytest_clinical_drift.judging.external.items import ExternalItem, agreement_of_annotators
from pytest_clinical_drift.judging.procedure import Judges, Procedure, read_all, settle
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.queue import JudgeQueue
from pytest_clinical_drift.judging.raised_points import Point, raised_points
from pytest_clinical_drift.judging.rulings import Raised, State
from pytest_clinical_drift.metrics.agreement import balanced_f1, cohen_kappa
from pytest_clinical_drift.metrics.intervals import proportion_interval

SETS = ("primock57", "kqa", "healthbench")
Outcome = tuple[bool, bool, bool]
"""Label, what the judge says (true: wrong or missing), and whether the annotators were unanimous.

What the judge leaves open, or did not answer, counts as an error whatever the label.
"""


def load_external(given: str) -> tuple[str, list[ExternalItem]]:
    """The set that NAME=PATH names; InputError in one sentence where there is none."""
    name, sign, path = given.partition("=")
    if not sign or name not in SETS or not path:
        raise InputError(f"--external {given}: write NAME=PATH with one of {', '.join(SETS)}")
    if not Path(path).exists():
        raise InputError(f"--external {given}: {path} does not exist; download the data set first")
    module = importlib.import_module(f"pytest_clinical_drift.judging.external.{name}")
    items: list[ExternalItem] = module.load(Path(path))
    if not items:
        raise InputError(f"--external {given}: no labelled item was found")
    return name, items


def measure_external(
    queue: JudgeQueue,
    name: str,
    items: Sequence[ExternalItem],
    judges: Judges,
    *,
    today: datetime.date,
) -> ExternalTable:
    """Put the items of a set to a judge, and count."""
    for number, item in enumerate(items):
        queue.start(("external", name, number), _judge(item, judges))
    outcomes = [o for number in range(len(items)) for o in queue.wait(("external", name, number))]
    rows = [_row("all", outcomes)]
    if any(item.labels for item in items):
        rows += [_row("unanimous", [o for o in outcomes if o[2]]), _row("disputed", [o for o in outcomes if not o[2]])]
    annotators = agreement_of_annotators(items)
    if annotators is not None:
        (wrong, of_wrong), (right, of_right) = annotators["wrong"], annotators["right"]
        rows.append({"items": "one annotator against the others", **_shares(wrong, of_wrong, right, of_right)})
    return ExternalTable(name=name, made=today, rows=tuple(rows))


def _judge(item: ExternalItem, judges: Judges) -> Procedure[list[Outcome]]:
    if isinstance(item.item, Question):
        rulings = yield from settle([Point(item.item.about, item.item.kind, Raised.RULE, item.item)], judges)
        state = next(iter(rulings.values())).state
        return [(item.wrong, _said(item.wrong, state is State.CONFIRMED, state is State.OPEN), item.unanimous)]
    read, _ = yield from read_all([item.item], judges)
    unread = any(entry.doubt == "missing" for entry in read[0][1])
    points = raised_points(item.item, read[0][1])
    rulings = yield from settle(points, judges)
    confirmed, left_open = (
        flagged(item.item.text, [p.entry.quote for p in points if p.entry and rulings[p.about].state is state])
        for state in (State.CONFIRMED, State.OPEN)
    )
    return [
        (statement.wrong, _said(statement.wrong, upheld and not unread, doubted or unread), True)
        for statement, upheld, doubted in zip(item.statements, confirmed, left_open, strict=True)
    ]


def _said(wrong: bool, confirmed: bool, left_open: bool) -> bool:
    return confirmed or (left_open and not wrong)


def flagged(text: str, quotes: Sequence[str]) -> list[bool]:
    """For each line of a text whether a quotation covers half of it, or lies in it."""
    marked = []
    for quote in quotes:
        match = re.search(r"\s+".join(map(re.escape, quote.split())), text, re.IGNORECASE)
        marked += [match.span()] if match else []
    hits, start = [], 0
    for line in text.split("\n"):
        stop = start + len(line)
        shared = [min(stop, last) - max(start, first) for first, last in marked]
        lengths = [last - first for first, last in marked]
        hits.append(any(2 * part >= min(len(line), of) > 0 for part, of in zip(shared, lengths, strict=True)))
        start = stop + 1
    return hits


def _row(what: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    labels, said = [o[0] for o in outcomes], [o[1] for o in outcomes]
    hits = sum(label and answer for label, answer in zip(labels, said, strict=True))
    cleared = sum(not label and not answer for label, answer in zip(labels, said, strict=True))
    shares = _shares(hits, sum(labels), cleared, len(labels) - sum(labels))
    return {"items": what, **shares, "balanced_f1": balanced_f1(labels, said), "kappa": cohen_kappa(labels, said)}


def _shares(hits: int, wrong: int, cleared: int, right: int) -> dict[str, Any]:
    """Counts with exact 95 % limits."""
    shares: dict[str, Any] = {"sensitivity": [hits, wrong], "specificity": [cleared, right]}
    for name, (part, of) in (("sensitivity", (hits, wrong)), ("specificity", (cleared, right))):
        interval = proportion_interval(part, of, confidence=0.95)
        shares[f"{name}_limits"] = [round(interval.low, 4), round(interval.high, 4)] if interval else None
    return shares
