"""The review page: alarms one at a time, with their context, for a person to settle; one file, no network."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from pytest_clinical_drift.judging.answers import UNSURE, against, answers_of
from pytest_clinical_drift.judging.opinions import Opinion
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.report.clean import printable
from pytest_clinical_drift.report.highlights import find_quote
from pytest_clinical_drift.report.page import environment
from pytest_clinical_drift.report.sentences import who
from pytest_clinical_drift.report.words import words

FILE_NAME = "review.html"
ONE_PAGE = 2_000_000
"""Characters of texts that one page holds; the texts of a larger review are in files beside it, one for each case."""
_BESIDE = ("before", "text", "earlier", "message", "messages", "replies", "record", "why", "opinions", "last")
"""What is loaded when a question is shown."""


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
    why: str = ""
    """Why it was asked; shown once it is answered."""
    opinions: Sequence[Opinion] = ()
    """Of the judge and of earlier reviewers; shown once it is answered."""
    last: Sequence[Opinion] = ()
    """What people said on this fact or demand in the last release; shown once it is answered."""


def is_large(items: Sequence[ReviewItem]) -> bool:
    """Whether the texts go into files beside the page."""
    asked = (item.question for item in items)
    told = (question.text + (question.earlier or "") + (question.replies or "") for question in asked)
    return sum(map(len, told)) + sum(len(item.messages + item.record) for item in items) > ONE_PAGE


def render_texts(items: Sequence[ReviewItem]) -> Iterator[tuple[str, str]]:
    """Name and content of the script of each case that a large page loads; ids of cases are fit for file names."""
    of_case: dict[str, dict[str, Any]] = {}
    for item in items:
        plain = _plain(item)
        of_case.setdefault(item.question.case_id, {})[item.question.id] = {name: plain[name] for name in _BESIDE}
    for case_id, texts in of_case.items():
        yield f"{case_id}.js", f"reviewTexts({json.dumps(case_id)}, {json.dumps(texts, ensure_ascii=True)});\n"


def render_review(
    items: Sequence[ReviewItem], *, manifest: str, slug: str, headline: str, part: str = "", beside: str = ""
) -> str:
    """The page's HTML; `manifest` is the hash that every record of it carries, `beside` the folder of its texts."""
    kinds = words("kinds")
    later = frozenset(_BESIDE if beside else ())
    data = {
        "manifest": manifest,
        "part": part,
        "slug": printable(slug),
        "headline": printable(headline),
        "questions": {kind: entry["question"] for kind, entry in kinds.items()},
        "whole": {kind: entry["whole"] for kind, entry in kinds.items() if "whole" in entry},
        "captions": {kind: entry["caption"] for kind, entry in kinds.items() if "caption" in entry},
        "answers": {kind: _answers(kind) for kind in kinds},
        "beside": beside,
        "items": [{name: value for name, value in _plain(item).items() if name not in later} for item in items],
    }
    # inside a script element only "<" could end the text or open a comment
    text = json.dumps(data, ensure_ascii=True).replace("<", "\\u003c")
    page = environment().get_template("review.html.j2")
    return page.render(data=Markup(text), slug=slug, items=len(items), part=part, beside=beside)


def _answers(kind: str) -> list[dict[str, Any]]:
    return [
        {
            "answer": answer,
            "label": answer_words(kind, answer),
            "effect": "unsure" if answer == UNSURE else "against" if against(kind, answer) else "for",
        }
        for answer in answers_of(kind)
    ]


def _plain(item: ReviewItem) -> dict[str, Any]:
    """The item as the page's script reads it: texts are printable, and cut where marked words begin and end."""
    asked = item.question
    demand = f"{asked.demand} ({asked.why})" if asked.demand and asked.why else asked.demand
    ruled_out = [f"{statement}: rules out {what}" for _, statement, what in asked.forbidden]
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
        "about": printable(asked.statement or demand or ""),
        "before": [printable(text) for text in ruled_out or asked.replaced],
        "text": _pieces(asked.text, item.quote),
        "earlier": _pieces(asked.earlier or "", item.earlier_quote),
        "replies": printable(asked.replies or ""),
        **{name: printable(getattr(item, name)) for name in ("message", "messages", "record", "why")},
        "opinions": [_opinion(asked.kind, said) for said in item.opinions],
        "last": [_opinion(asked.kind, said) for said in item.last],
    }


def _opinion(kind: str, said: Opinion) -> dict[str, str]:
    return {
        "who": who(said.judge, said.role, said.wording, said.reading),
        "answer": answer_words(kind, said.answer),
        "quote": printable(said.quote),
        "reason": printable(said.reason),
    }


def answer_words(kind: str, answer: str) -> str:
    """An answer as a reader says it: whether the alarm stays, and why."""
    told = words("answers")
    said = str(told.get(f"{kind}.{answer}") or told.get(answer, answer))
    return said if answer == UNSURE else f"{'stays' if against(kind, answer) else 'goes'}: {said}"


def _pieces(text: str, quote: str) -> list[str]:
    """The text in pieces, plain and marked ones in turn, beginning with a plain one."""
    pieces, place = [], 0
    for start, end in find_quote(text, quote):
        pieces += [printable(text[place:start]), printable(text[start:end])]
        place = end
    return [*pieces, printable(text[place:])]
