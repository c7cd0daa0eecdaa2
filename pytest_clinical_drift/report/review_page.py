"""The pages of `clinical-drift review`: alarms one at a time, with their context, for a person to settle, without a
network; and cases, which a clinician reads before signing them.

A small review is one file. The page of a large one lists the questions and loads each case from a script beside it.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from markupsafe import Markup

from pytest_clinical_drift.cases.entries import demands_in
from pytest_clinical_drift.cases.model import Case, CriticalEntity, case_hash, facts_of, signed, spoken
from pytest_clinical_drift.core.findings import Opinion
from pytest_clinical_drift.judging.answers import UNSURE, against, answers_of
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.report.clean import find_quote, printable
from pytest_clinical_drift.report.page import environment, page_source
from pytest_clinical_drift.report.sentences import grade_rank, who
from pytest_clinical_drift.report.words import words

FILE_NAME, CASES_FILE = "review.html", "cases_review.html"
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
    kinds = words("kinds")
    asked = {"questions": "question", "whole": "whole", "captions": "caption"}
    data = {
        "manifest": manifest,
        "part": part,
        "slug": printable(slug),
        "headline": printable(headline),
        **{name: {kind: entry[key] for kind, entry in kinds.items() if key in entry} for name, key in asked.items()},
        "answers": {kind: [_answer(kind, answer) for answer in answers_of(kind)] for kind in kinds},
        "beside": beside,
        **(_listing(items) if beside else {"items": [_plain(item) for item in items]}),
    }
    page = environment().get_template("review.html.j2")
    return page.render(data=Markup(_script_json(data)), slug=slug, items=len(items), part=part, beside=beside)


def _listing(items: Sequence[ReviewItem]) -> dict[str, Any]:
    """The questions as rows of `_LISTED`; kinds and cases, which a large review repeats, are numbers in them."""
    kind_at = {kind: place for place, kind in enumerate(dict.fromkeys(item.question.kind for item in items))}
    case_at = {case: place for place, case in enumerate(dict.fromkeys(item.question.case_id for item in items))}
    rows = []
    for item in items:
        asked = item.question
        turns = asked.turn, asked.earlier_turn or 0
        place = item.group, item.screen, int(item.lead), int(item.severe)
        rows.append([asked.id, kind_at[asked.kind], case_at[asked.case_id], *turns, *place])
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
    demand = f"{asked.demand} ({asked.why})" if asked.demand and asked.why else asked.demand
    if demand and item.since:
        demand = f"{demand}; one reply of turns {item.since} to {asked.turn} is enough, the earlier ones are shown too"
    ruled_out = [f"{statement}: rules out {what}" for _, statement, what in asked.forbidden]
    return {
        "question": asked.id,
        **{name: getattr(asked, name) for name in ("kind", "case_id", "turn", "earlier_turn", "whole")},
        **{name: getattr(item, name) for name in ("group", "screen", "lead", "severe")},
        "about": printable(asked.statement or demand or ""),
        "before": [printable(text) for text in ruled_out or asked.replaced],
        "text": _pieces(asked.text, item.quote),
        "earlier": _pieces(asked.earlier or "", item.earlier_quote),
        "replies": printable(asked.replies or item.replies),
        **{name: printable(getattr(item, name)) for name in ("message", "messages", "record", "why")},
        **{name: [_opinion(asked.kind, said) for said in getattr(item, name)] for name in ("opinions", "last")},
    }


def _opinion(kind: str, said: Opinion) -> dict[str, str]:
    texts = {"quote": printable(said.quote), "reason": printable(said.reason)}
    return {"who": who(said), "answer": answer_words(kind, said.answer), **texts}


def answer_words(kind: str, answer: str) -> str:
    """An answer as a reader says it: whether the alarm stays, and why."""
    told = words("answers")
    said = str(told.get(f"{kind}.{answer}") or told.get(answer, answer))
    return said if answer == UNSURE else f"{'stays' if against(kind, answer) else 'goes'}: {said}"


def _pieces(text: str, quote: str) -> list[str]:
    """The text in pieces, plain and marked ones in turn, beginning with a plain one."""
    cuts = [0, *(place for found in find_quote(text, quote) for place in found), len(text)]
    return [printable(text[start:end]) for start, end in pairwise(cuts)]


# -- cases to sign: facts, grades, demands and where each comes from


def render_cases(cases: Sequence[Case]) -> str:
    """A self-contained page of all cases; every text is escaped."""
    return page_source(
        "cases_review.html.j2",
        styles=("page.css",),
        cases=cases,
        unsigned=[c.id for c in cases if not signed(c) and any(fact.hard_stop for fact, _ in facts_of(c))],
        signed=signed,
        signatures=sum(map(signed, cases)),
        case_hash=case_hash,
        facts=_facts,
        spoken=spoken,
        demands_in=demands_in,
    )


def _facts(case: Case) -> list[tuple[str, CriticalEntity, list[str]]]:
    """Its facts, the worst first, each with its source and what becomes of it."""
    facts = [("intake", fact) for fact in case.critical_entities]
    facts += [(f"turn {turn.turn}", fact) for turn in case.turns for fact in turn.introduces]
    facts.sort(key=lambda pair: (not pair[1].hard_stop, grade_rank(pair[1].severity or "")))
    return [(source, fact, _changes(case, fact)) for source, fact in facts]


def _changes(case: Case, fact: CriticalEntity) -> list[str]:
    default = "annotate" if fact.hard_stop else "supersede"
    return [
        f"turn {turn.turn}: {update.becomes or 'ended'}"
        + (" (a claim: the fact stays)" if (update.policy or default) == "annotate" else "")
        for turn in case.turns
        for update in turn.updates
        if case.fact_named(update.fact) == fact.id
    ]
