"""The page of `clinical-drift review`: alarms one at a time, with their context, for a person to settle, without a
network.

A small review is one file. The page of a large one lists the questions and loads each case from a script beside it.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from markupsafe import Markup

from pytest_clinical_drift.core.findings import Opinion
from pytest_clinical_drift.judging.answers import UNSURE, against, answers_of
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.report.clean import find_quote, printable
from pytest_clinical_drift.report.page import render
from pytest_clinical_drift.report.sentences import who
from pytest_clinical_drift.report.words import words

FILE_NAME = "review.html"
ONE_PAGE = 2_500_000
"""Bytes of questions and texts that one page holds; a larger review has files beside the page, one for each case."""
_LISTED = ("question", "kind", "case_id", "turn", "earlier_turn", "group", "screen", "lead", "severe")
"""What a large page itself holds of each question, in the order of a row; the rest is loaded with its case."""


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """One question that a person is asked, with all that is needed to answer it."""

    question: Question
    group: int = 0
    """Items of one group are about one fact on turns in a row."""
    screen: int = 0
    """Groups of one screen are read with one text."""
    lead: bool = True
    """The item of a group whose text is shown; the others can be given the same answer."""
    severe: bool = False
    quote: str = ""
    """Words of the text that gave rise to the question."""
    earlier_quote: str = ""
    message: str = ""
    """What the patient wrote on this turn."""
    messages: str = ""
    """What the patient wrote before, as far as the question needs it."""
    record: str = ""
    """The intake, and what has changed since."""
    since: int = 0
    """The turn since which any reply could do what this one must; 0 where only this one can."""
    replies: str = ""
    """The replies since then."""
    why: str = ""
    """Why it was asked; shown once it is answered."""
    opinions: Sequence[Opinion] = ()
    """Of the judge and of earlier reviewers; shown once it is answered."""
    last: Sequence[Opinion] = ()
    """What people said on this fact or demand in the last release; shown once it is answered."""


@dataclass(frozen=True, slots=True)
class ReviewView:
    """What the page shows before its script runs, and what the script works with."""

    slug: str
    part: str
    """Which part of a review that was split; empty of a whole one."""
    items: int
    data: Markup
    beside: bool
    """Whether the texts are in files beside the page."""


def is_large(items: Sequence[ReviewItem]) -> bool:
    """Whether the questions go into files beside the page, which then only lists them."""
    sizes = accumulate(len(_script_json(_plain(item))) for item in items)
    return any(size > ONE_PAGE for size in sizes)


def render_texts(items: Sequence[ReviewItem]) -> Iterator[tuple[str, str]]:
    """Name and content of the script of each case that a large page loads; ids of cases are fit for file names."""
    of_case: dict[str, dict[str, Any]] = defaultdict(dict)
    for item in items:
        told = {name: value for name, value in _plain(item).items() if name not in _LISTED}
        of_case[item.question.case_id][item.question.id] = told
    for case_id, texts in of_case.items():
        yield f"{case_id}.js", f"reviewTexts({_script_json(case_id)}, {_script_json(texts)});\n"


def render_review(
    items: Sequence[ReviewItem], *, manifest: str, slug: str, headline: str, part: str = "", beside: str = ""
) -> str:
    """The page's HTML; `manifest` is the hash that every record of it carries, `beside` the folder of its texts."""
    data = _data(items, manifest=manifest, slug=slug, headline=headline, part=part, beside=beside)
    view = ReviewView(slug=slug, part=part, items=len(items), data=Markup(_script_json(data)), beside=bool(beside))
    return render("review.html.j2", review=view)


def _data(
    items: Sequence[ReviewItem], *, manifest: str, slug: str, headline: str, part: str, beside: str
) -> dict[str, Any]:
    """What the page's script works with."""
    kinds: Mapping[str, Mapping[str, Any]] = words("kinds")
    listed = _listing(items) if beside else {"items": [_plain(item) for item in items]}
    return {
        "manifest": manifest,
        "part": part,
        "slug": printable(slug),
        "headline": printable(headline),
        "questions": _of_kinds(kinds, "question"),
        "whole": _of_kinds(kinds, "whole"),
        "captions": _of_kinds(kinds, "caption"),
        "answers": {kind: [_answer(kind, answer) for answer in answers_of(kind)] for kind in kinds},
        "beside": beside,
        **listed,
    }


def _of_kinds(kinds: Mapping[str, Mapping[str, Any]], key: str) -> dict[str, Any]:
    """One of the words of each kind that has it."""
    return {kind: entry[key] for kind, entry in kinds.items() if key in entry}


def _listing(items: Sequence[ReviewItem]) -> dict[str, Any]:
    """The questions as rows of `_LISTED`; kinds and cases, which a large review repeats, are numbers in them."""
    kind_at = {kind: place for place, kind in enumerate(dict.fromkeys(item.question.kind for item in items))}
    case_at = {case: place for place, case in enumerate(dict.fromkeys(item.question.case_id for item in items))}
    rows = []
    for item in items:
        asked = item.question
        row = [
            asked.id,
            kind_at[asked.kind],
            case_at[asked.case_id],
            asked.turn,
            asked.earlier_turn or 0,
            item.group,
            item.screen,
            int(item.lead),
            int(item.severe),
        ]
        rows.append(row)
    return {"kinds": list(kind_at), "cases": list(case_at), "rows": rows}


def _script_json(value: Any) -> str:
    """JSON for a script: inside a script element only "<" could end the text or open a comment."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")


def _answer(kind: str, answer: str) -> dict[str, str]:
    effect = "against" if against(kind, answer) else "for"
    return {"answer": answer, "label": answer_words(kind, answer), "effect": "unsure" if answer == UNSURE else effect}


def _plain(item: ReviewItem) -> dict[str, Any]:
    """The item as the page's script reads it: texts are printable, and cut where marked words begin and end."""
    asked = item.question
    return {
        "question": asked.id,
        "kind": asked.kind,
        "case_id": asked.case_id,
        "turn": asked.turn,
        "earlier_turn": asked.earlier_turn,
        "whole": asked.whole,
        "group": item.group,
        "screen": item.screen,
        "lead": item.lead,
        "severe": item.severe,
        "about": printable(asked.statement or _demand(item) or ""),
        "before": [printable(text) for text in _ruled_out(asked) or asked.replaced],
        "text": _pieces(asked.text, item.quote),
        "earlier": _pieces(asked.earlier or "", item.earlier_quote),
        "replies": printable(asked.replies or item.replies),
        "message": printable(item.message),
        "messages": printable(item.messages),
        "record": printable(item.record),
        "why": printable(item.why),
        "opinions": [_opinion(asked.kind, said) for said in item.opinions],
        "last": [_opinion(asked.kind, said) for said in item.last],
    }


def _demand(item: ReviewItem) -> str | None:
    """What a reply must or must not do, why, and which replies may do it."""
    asked = item.question
    demand = f"{asked.demand} ({asked.why})" if asked.demand and asked.why else asked.demand
    if not demand or not item.since:
        return demand
    return f"{demand}; one reply of turns {item.since} to {asked.turn} is enough, the earlier ones are shown too"


def _ruled_out(asked: Question) -> list[str]:
    return [f"{statement}: rules out {what}" for _, statement, what in asked.forbidden]


def _opinion(kind: str, said: Opinion) -> dict[str, str]:
    texts = {"quote": printable(said.quote), "reason": printable(said.reason)}
    return {"who": who(said), "answer": answer_words(kind, said.answer), **texts}


def answer_words(kind: str, answer: str) -> str:
    """An answer as a reader says it: whether the alarm stays, and why."""
    told = words("answers")
    said = str(told.get(f"{kind}.{answer}") or told.get(answer, answer))
    if answer == UNSURE:
        return said
    return f"stays: {said}" if against(kind, answer) else f"goes: {said}"


def _pieces(text: str, quote: str) -> list[str]:
    """The text in pieces, plain and marked ones in turn, beginning with a plain one."""
    cuts = [0]
    for found in find_quote(text, quote):
        cuts += found
    cuts.append(len(text))
    return [printable(text[start:end]) for start, end in pairwise(cuts)]
