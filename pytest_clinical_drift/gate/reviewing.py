"""`clinical-drift review`: the page on which people settle the alarms of a run, or read cases before signing them.

One screen per text, the worst first, with answers mixed in that the judge cleared.
"""

import hashlib
import math
import random
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_clinical_drift.cases.entries import GRADES
from pytest_clinical_drift.cases.files import load_cases
from pytest_clinical_drift.cases.model import signed
from pytest_clinical_drift.cases.timeline import demands_at
from pytest_clinical_drift.core.files import write_atomically
from pytest_clinical_drift.core.findings import Opinion
from pytest_clinical_drift.core.words import State
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.evidence.findings import visible
from pytest_clinical_drift.gate.ledger import ledger_above
from pytest_clinical_drift.gate.pytest_reports import Say, shown
from pytest_clinical_drift.gate.reopened import Conversation, Record, reopen
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.readings import record_of
from pytest_clinical_drift.report import review_page
from pytest_clinical_drift.report.cases_page import CASES_FILE, render_cases
from pytest_clinical_drift.report.headlines import review_bound, run_headline
from pytest_clinical_drift.report.run_lines import after_review_line
from pytest_clinical_drift.report.sentences import grade_rank
from pytest_clinical_drift.report.words import counted
from pytest_clinical_drift.results.files import read_results
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.results.releases import read_sheet
from pytest_clinical_drift.results.signed import newest_release, record_hash, releases_below
from pytest_clinical_drift.scoring.assessment import Alarm, AlarmState
from pytest_clinical_drift.verdict.measures import in_a_row

MIXED_IN = 10
"""Cleared answers that a reviewer reads among the alarms, so that reviews can also worsen a verdict."""
OVERLAP = 0.2
"""Share of the screens that two reviewers read, neither knowing which, where a review is split."""
_CLEARED = (State.CLEARED, State.DISMISSED)
_GRAVE = ("must", "must_not", "forbidden", "harm")
"""Kinds of cleared question that are drawn more often: what they missed could harm."""
_WEIGHT = 4.0

Text = tuple[str, int, int, str]
"""Case, repeat, turn and text: what one screen shows."""
Known = Mapping[tuple[str, str], Sequence[Opinion]]
"""What people said in the last release, by case and fact or demand."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question for the page, with the alarms that it settles; without any where the judge cleared it."""

    talk: Conversation
    question: Question
    alarms: tuple[Alarm, ...]

    @property
    def severe(self) -> bool:
        return any(alarm.severe for alarm in self.alarms) if self.alarms else self.question.kind in _GRAVE

    @property
    def text(self) -> Text:
        return self.talk.case.id, self.talk.transcript.repeat, self.question.turn, self.question.text

    @property
    def rank(self) -> tuple[bool, int, bool]:
        """The worst first: severe before others, by grade of harm, open before confirmed; cleared ones among them."""
        drawn = int(self.question.id[:4], 16) % len(GRADES)
        grade = min((grade_rank(alarm.grade) for alarm in self.alarms), default=drawn)
        return not self.severe, grade, not any(alarm.state == AlarmState.OPEN for alarm in self.alarms)


_Row = list[_Asked]
"""One fact on turns in a row; anything else alone."""


def review_items(run: Record, last: Known | None = None) -> list[review_page.ReviewItem]:
    """Everything that no person has settled yet: one screen per text, the worst first.

    A fact on turns in a row is shown with one of its texts, so that as few texts as possible have to be read.
    """
    draw = random.Random(run.inputs.name)
    # questions on one fact of one conversation are read together
    rows = in_a_row(
        _alarmed(run),
        lambda asked: (*asked.text[:2], asked.question.fact or asked.question.id),
        lambda asked: asked.question.turn,
    )
    of_case: dict[str, list[_Row]] = {}
    for row in (*rows, *([asked] for asked in _cleared(run, draw))):
        of_case.setdefault(row[0].talk.case.id, []).append(row)
    screens = [screen for of_one in of_case.values() for screen in _screens_of_case(of_one)]
    screens.sort(key=lambda screen: (min(lead.rank for lead, _ in screen), screen[0][0].text[:3]))
    items, group = [], 0
    for number, screen in enumerate(screens):
        for lead, row in screen:
            for asked in (lead, *(other for other in row if other is not lead)):
                items.append(replace(_item(asked, last or {}), group=group, screen=number, lead=asked is lead))
            group += 1
    return items


def _screens_of_case(rows: Sequence[_Row]) -> list[list[tuple[_Asked, _Row]]]:
    """The text that shows most of what is left is taken next."""
    left = {place: {asked.text: asked for asked in row} for place, row in enumerate(rows)}
    order = {text: -at for at, text in enumerate(dict.fromkeys(text for texts in left.values() for text in texts))}
    screens = []
    while left:
        shown = Counter(text for texts in left.values() for text in texts)
        text = max(shown, key=lambda key: (shown[key], -key[1], -key[2], order[key]))
        taken = sorted((place for place in left if text in left[place]), key=lambda at: (left[at][text].rank, at))
        screens.append([(left.pop(place)[text], rows[place]) for place in taken])
    return screens


def split_items(items: Sequence[review_page.ReviewItem], parts: int) -> list[list[review_page.ReviewItem]]:
    """The screens dealt out to some reviewers; a fifth goes to two of them."""
    first = {item.screen: item.question.id for item in reversed(items)}
    screens = sorted(first, key=lambda screen: hashlib.sha256(first[screen].encode()).hexdigest())
    twice = set(screens[: math.ceil(OVERLAP * len(screens))])
    readers: list[set[int]] = [set() for _ in range(parts)]
    for place, screen in enumerate(screens):
        readers[place % parts].add(screen)
        if screen in twice:
            readers[(place + 1) % parts].add(screen)
    return [[item for item in items if item.screen in chosen] for chosen in readers]


def decisions_in(result: RunResult) -> dict[tuple[str, str], list[Opinion]]:
    """What people answered in a run, by case and fact or demand."""
    known: dict[tuple[str, str], list[Opinion]] = {}
    for run in result.runs:
        for alarm in run.alarms:
            if about := alarm.fact or alarm.rule:
                heard = known.setdefault((run.case_id, about), [])
                heard += [said for said in alarm.answers if said.by_person and said not in heard]
    return known


def _alarmed(run: Record) -> list[_Asked]:
    """Each question once, though several alarms may hang on it."""
    hanging: dict[str, list[tuple[Conversation, Alarm]]] = {}
    for talk, alarm in run.alarms:
        if alarm.settled_by != "person" and alarm.state != AlarmState.DISMISSED:
            hanging.setdefault(alarm.question, []).append((talk, alarm))
    known = run.questions
    return [_Asked(on[0][0], known[q], tuple(alarm for _, alarm in on)) for q, on in hanging.items() if q in known]


def _cleared(run: Record, draw: random.Random) -> list[_Asked]:
    waiting = {alarm.question for _, alarm in run.alarms if alarm.state != AlarmState.DISMISSED}
    candidates = {
        question.id: _Asked(talk, question, ())
        for talk in run.conversations
        for question in talk.questions
        if (finding := talk.findings[question.key]).state in _CLEARED and not finding.by_person
        if question.id not in waiting
    }
    weights = {key: _WEIGHT if candidates[key].question.kind in _GRAVE else 1.0 for key in sorted(candidates)}
    order = sorted(weights, key=lambda key: -(draw.random() ** (1 / weights[key])))
    return [candidates[key] for key in order[:MIXED_IN]]


def _item(asked: _Asked, last: Known) -> review_page.ReviewItem:
    question, case, exchanges = asked.question, asked.talk.case, asked.talk.transcript.exchanges
    finding = asked.talk.findings[question.key]
    telling = next((opinion for opinion in finding.opinions if opinion.quote), None)
    quotes = dict.fromkeys(alarm.quote for alarm in asked.alarms if alarm.quote)
    earlier = [alarm.earlier_quote for alarm in asked.alarms if alarm.earlier_quote]
    demands = demands_at(case, question.turn)
    # the turn since which a reply could meet a demand, where one out of several replies is enough
    since = next((demand.made_at for demand in demands if demand.id == question.demand_id and demand.once), 0)
    before = exchanges[since - 1 : question.turn - 1] if since else ()
    if question.whole or question.kind in ("fact", "invented"):
        first = 1
    elif question.turns is not None:
        first = question.turns[0]
    else:
        first = since or (question.earlier_turn or question.turn) + 1
    reasons = dict.fromkeys(
        f"{alarm.kind} ({alarm.state}{f', by {alarm.settled_by}' if alarm.settled_by else ''}): {alarm.reason}"
        for alarm in asked.alarms
    )
    return review_page.ReviewItem(
        question=question,
        severe=asked.severe,
        quote=" … ".join(quotes) or (telling.quote if telling else ""),
        message=case.turns[question.turn - 1].message,
        messages=_by_turn((turn.turn, turn.message) for turn in case.turns[first - 1 : question.turn - 1]),
        record=record_of(case, question.turn),
        since=since,
        replies=_by_turn((one.turn, visible(one.reply) or "") for one in before),
        why="; ".join(reasons) or "A draw from what the judge has cleared: here to see what it misses.",
        opinions=finding.opinions,
        last=last.get((case.id, question.fact or question.demand or ""), ()),
        earlier_quote=earlier[0] if earlier else (telling.earlier_quote if telling else ""),
    )


def _by_turn(texts: Iterable[tuple[int, str]]) -> str:
    return "\n\n".join(f"Turn {turn}: {text}" for turn, text in texts)


# -- the pages


def review(
    results: Path | None, *, cases: Path | None, split: int, last: Path | None, out: Path | None, say: Say
) -> int:
    """Write the page on which a person settles the alarms of a run, or reads cases before signing them."""
    if results is None and cases is not None:
        loaded = load_cases(cases)
        written = write_atomically(out or Path(CASES_FILE), render_cases(loaded))
        say(f"{sum(map(signed, loaded))} of {len(loaded)} cases clinically signed\nwritten: {written}")
        return 0
    if results is None or cases is not None:
        raise InputError("review: name the results folder of a run, or cases with --cases PATH")
    if split < 1:
        raise InputError(f"--split must be at least 1, found {split}")
    run, result = reopen(results)
    place = out or results / review_page.FILE_NAME
    if last is None and (home := ledger_above(results / review_page.FILE_NAME)) is not None:
        known = releases_below(home, read_sheet(Path.cwd()).allowed_signers)
        newest = newest_release(known.valid, record_hash(results))
        last = newest[0].parent if newest else None
    items = review_items(run, decisions_in(read_results(last)) if last is not None else {})
    if not items:
        say("there is nothing to review: no alarm is open or confirmed, and no judge has cleared anything")
        return 0
    about = {"manifest": run.inputs.name, "slug": run.inputs.slug, "headline": run_headline(result), "part": ""}
    for line in review_bound(result, run.inputs.thresholds):
        say(line)
    for number, part in enumerate(split_items(items, split), start=1):
        if split == 1:
            _write_part(part, place, about, say)
        else:
            name = f"part {number} of {split}"
            _write_part(part, place.with_stem(f"{place.stem}-{number}"), {**about, "part": name}, say)
    say(after_review_line(shown(results), split))
    return 0


def _write_part(items: Sequence[review_page.ReviewItem], file: Path, about: Mapping[str, str], say: Say) -> None:
    """The page, and for a large one the texts of each case in a folder beside it."""
    texts = file.with_name(f"{file.stem}_texts")
    shutil.rmtree(texts, ignore_errors=True)  # of a page that was written here before
    beside = texts.name if review_page.is_large(items) else ""
    if beside:
        texts.mkdir(parents=True)
        for script_name, script in review_page.render_texts(items):
            (texts / script_name).write_text(script, encoding="utf-8")
    page = review_page.render_review(items, **about, beside=beside)
    findings = counted(sum(item.lead for item in items), "finding")
    say(f"{findings} on {counted(len({item.screen for item in items}), 'screen')}, {counted(len(items), 'question')}")
    say(f"written: {write_atomically(file, page)}")
    if beside:
        say(f"written: {texts}, the texts that the page shows: keep this folder beside the page")
