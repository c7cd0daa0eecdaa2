"""The prompts put to a judge: two wordings for each kind of question, from `data/judge_prompts.yaml`.

What is judged is hostile: it may speak to the judge. Every quoted text therefore stands between fences that its author
could not know, and the instructions say that nothing between fences is an instruction.
"""

from __future__ import annotations

import hashlib
from functools import cache, partial
from itertools import count

from pytest_clinical_drift.evidence.terms.vocabulary import load_data
from pytest_clinical_drift.judging.answers import KINDS, QUOTED, UNSURE
from pytest_clinical_drift.judging.questions import Forbidden, Question
from pytest_clinical_drift.transcript import Message

_texts = partial(load_data, "judge_prompts")


def prompt_version() -> str:
    """Raised with every change of a prompt: answers and calibrations of another version do not count."""
    return str(_texts()["version"])


def instructions(kind: str, wording: int) -> str:
    """What a judge is told before it sees anything: the same for every question of a kind, so that servers share it."""
    texts = _texts()
    form = texts["form"].format(
        earlier='"earlier_quote": "…", ' if kind == "conflict" else "",
        answers=_answers(kind, wording),
        both=' (and "earlier_quote" one from EARLIER)' if kind == "conflict" else "",
        wordless=", ".join(answer for answer in KINDS[kind] if answer not in QUOTED),
    )
    return f"{texts['frame'][wording]}\n\n{texts['tasks'][kind][wording]}\n\n{form}"


def _answers(kind: str, wording: int = 1) -> str:
    """The answers in the order of a wording: what stands first is chosen more often than it should be."""
    listed = KINDS[kind] if wording == 1 else tuple(reversed(KINDS[kind]))
    return ", ".join((*listed, UNSURE))


def messages_for(question: Question, wording: int) -> tuple[Message, ...]:
    """The whole prompt of a question, as a judge that is a chat model gets it."""
    return Message("system", instructions(question.kind, wording)), Message("user", _material(question, wording))


def correction(kind: str) -> str:
    return str(_texts()["again"].format(answers=_answers(kind)))


def _material(question: Question, wording: int) -> str:
    texts = {
        "RECORD": question.record,
        "PATIENT": question.patient,
        "EARLIER": question.earlier or "",
        "TEXT": question.text,
        "STATEMENT": (question.statement or "") if question.kind == "invented" else "",
    }
    # a code that no author of the texts could know: a hash of the texts themselves, that stands in none of them
    hashed = (hashlib.sha256(f"{question.id}/{wording}/{salt}".encode()).hexdigest()[:12] for salt in count())
    code = next(code for code in hashed if code not in "".join(texts.values()))
    fenced = {name: f"[[{name} {code}]]\n{text}\n[[/{name} {code}]]" for name, text in texts.items()}
    judged = "summary" if question.kind in ("fact", "invented") else "later reply" if question.earlier else "reply"
    titles = {name: title.format(judged=judged) for name, title in _texts()["titles"].items()}
    shown = [f"{title}:\n{fenced[name]}" for name, title in titles.items() if texts[name] or name == "TEXT"]
    point = _point(question, fenced["STATEMENT"])
    return "\n\n".join((_texts()["first"].format(code=code), *shown, point, _texts()["last"]))


def _point(question: Question, statement: str) -> str:
    """What exactly is asked; it stands last, after everything that could speak against it."""
    words = _texts()["points"]
    return str(words["ended" if question.ended else question.kind]).format(
        statement=statement if question.kind == "invented" else question.statement,
        earlier=words["earlier"].format("; ".join(question.replaced)) if question.replaced else "",
        demand=question.demand,
        why=words["why"].format(question.why) if question.why else "",
        listed="\n".join(words["listed"].format(forbids, fact) for _, fact, forbids in question.forbidden),
    )


@cache
def prompt_hash() -> str:
    """Fingerprint of all that is said to a judge, shown on questions that use every part of it."""
    asked = [
        Question(
            kind, "", 1, "text", "patient", "record", 1, "earlier", "fact", "statement", replaced, "demand", "why",
            (Forbidden("fact", "statement", "forbids"),),
        )
        for kind in KINDS
        for replaced in (("old",), ("statement",))
    ]  # fmt: skip
    told = [message.content for question in asked for wording in (1, 2) for message in messages_for(question, wording)]
    return hashlib.sha256("\x1f".join((prompt_version(), *told, *map(correction, KINDS))).encode()).hexdigest()
