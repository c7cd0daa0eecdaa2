"""The prompts put to a judge: two wordings for each kind of question and of reading, from data files.

What is judged is hostile: it may address the judge. Every text therefore stands between fences, those of the model's
texts with a code that their author could not know, and the instructions say that nothing between fences is one.
Instructions, record and messages come first, so that a server's prefix cache can reuse them.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import count, product

from pytest_clinical_drift.core.packaged import load_data
from pytest_clinical_drift.judging.answers import KINDS, QUOTED, UNSURE
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.readings import (
    PDSQI,
    READINGS,
    DemandLine,
    FactLine,
    Forbidden,
    Reading,
    StandingAdvice,
    TurnLine,
)
from pytest_clinical_drift.transcript import Message, Role

_texts = partial(load_data, "prompts/judge_prompts")
_reading_texts = partial(load_data, "prompts/reading_prompts")
_GIVEN = ("RECORD", "PATIENT")
"""Texts that the model under test did not write."""
_ABOUT_WORDS = ("invented", "misreported")
"""Kinds of question on words of a summary, which the model wrote too."""


def prompt_version() -> str:
    """Raised with every change of a prompt: answers and calibrations of another version do not count."""
    return str(_texts()["version"])


def messages_for(item: Question | Reading, wording: int) -> tuple[Message, ...]:
    """The whole prompt of a question or reading, as a judge that is a chat model gets it."""
    texts = {"RECORD": item.record, "PATIENT": item.patient, "EARLIER": item.earlier or ""}
    if item.text or item.kind != "conversation":
        texts["TEXT"] = item.text
    if isinstance(item, Reading):
        texts |= {
            "STANDING": "\n".join(f"Turn {line.turn}: {line.quote}" for line in item.standing),
            "TURNS": "\n\n".join(
                f"Turn {t.turn}. The patient: {t.patient}\n\nTurn {t.turn}. The model: {t.reply}" for t in item.turns
            ),
            "SUMMARY": item.summary,
        }
        shown, _ = _fenced(texts, "summary" if item.kind in ("summary", PDSQI) else "reply", item.id)
        asked = _lists(item)
    else:
        texts["REPLIES"] = item.replies or ""
        shown, fence = _fenced(texts, _judged_text(item), f"{item.id}/{wording}", item.statement or "")
        asked = [_point(item, fence)]
    material = "\n\n".join((*shown, *asked, _texts()["last"]))
    return Message(Role.SYSTEM, instructions(item.kind, wording)), Message(Role.USER, material)


def _judged_text(question: Question) -> str:
    """How the text is called that a question is about."""
    if question.kind == "course":
        return "replies of these turns"
    if question.kind in ("fact", *_ABOUT_WORDS):
        return "summary"
    return "later reply" if question.earlier else "reply"


def instructions(kind: str, wording: int) -> str:
    """What a judge is told before it sees anything: the same for every item of a kind, so that servers share it."""
    texts = _texts()
    if kind == PDSQI:
        rating = load_data("prompts/pdsqi_prompts")
        task = rating["wordings"][wording]
        form = rating["form"]
    elif kind in READINGS:
        task = _reading_texts()["readings"][kind][wording]
        form = _reading_texts()["quotes"]
    else:
        task = texts["tasks"][kind][wording]
        form = texts["form"].format(
            earlier='"earlier_quote": "…", ' if kind == "conflict" else "",
            answers=_answers(kind, wording),
            both=' (and "earlier_quote" one from EARLIER)' if kind == "conflict" else "",
            wordless=", ".join(answer for answer in KINDS[kind] if answer not in QUOTED),
        )
    return f"{texts['frame'][wording]}\n\n{task}\n\n{form}"


def _answers(kind: str, wording: int = 1) -> str:
    """The answers in the order of a wording: what stands first is chosen more often than it should be."""
    listed = KINDS[kind] if wording == 1 else tuple(reversed(KINDS[kind]))
    return ", ".join((*listed, UNSURE))


def correction(item: Question | Reading) -> str:
    """What asks again for an answer that was malformed."""
    if isinstance(item, Reading):
        return str(_reading_texts()["again"])
    return str(_texts()["again"].format(answers=_answers(item.kind)))


def _fenced(
    texts: dict[str, str], judged: str, seed: str, extra: str = ""
) -> tuple[list[str], Callable[[str, str], str]]:
    """The texts with their titles, each between fences; what is empty is left out, but for the text that is judged."""
    everything = "".join((*texts.values(), extra))

    def code_of(source: str) -> str:
        hashed = (hashlib.sha256(f"{source}/{salt}".encode()).hexdigest()[:12] for salt in count())
        return next(code for code in hashed if code not in everything)

    # the record's code is the same for all that is asked about a patient; that of the model's texts is made of the
    # texts themselves, so that their author cannot know it
    codes = {"given": code_of(f"given/{texts['RECORD'].partition('Changed since then:')[0]}"), "written": code_of(seed)}

    def fence(name: str, text: str) -> str:
        code = codes["given" if name in _GIVEN else "written"]
        return f"[[{name} {code}]]\n{text}\n[[/{name} {code}]]"

    titles = {name: title.format(judged=judged) for name, title in _texts()["titles"].items()}
    parts = []
    for group in ("given", "written"):
        names = [name for name in titles if (name in _GIVEN) == (group == "given") and name in texts]
        shown = [f"{titles[name]}:\n{fence(name, texts[name])}" for name in names if texts[name] or name == "TEXT"]
        if shown:
            parts += [_texts()[group].format(code=codes[group]), *shown]
    return parts, fence


def _point(question: Question, fence: Callable[[str, str], str]) -> str:
    """What exactly is asked; it stands last, after everything that could speak against it."""
    words = _texts()["points"]
    said = question.statement or ""
    return str(words["ended" if question.ended else question.kind]).format(
        statement=fence("STATEMENT", said) if question.kind in _ABOUT_WORDS else said,
        earlier=words["earlier"].format("; ".join(question.replaced)) if question.replaced else "",
        essential=words["essential"].format("; ".join(question.essential)) if question.essential else "",
        demand=question.demand,
        why=words["why"].format(question.why) if question.why else "",
        listed="\n".join(words["listed"].format(forbids, fact) for _, fact, forbids in question.forbidden),
    )


def _lists(reading: Reading) -> list[str]:
    """The facts or demands that a reading goes through; they stand last, with their ids."""
    words = _reading_texts()["lists"]

    def listed(title: str, lines: Sequence[str], none: str) -> str:
        return "\n".join((words[title], *lines)) if lines else str(words[none])

    def fact(line: FactLine) -> str:
        more = {"replaced": line.replaced, "essential": line.essential} if not line.ended else {}
        details = "".join(words[name].format("; ".join(parts)) for name, parts in more.items() if parts)
        statement = words["ended"].format(line.statement) if line.ended else line.statement
        return str(words["fact"].format(id=line.fact, statement=statement, details=details))

    def demand(line: DemandLine) -> str:
        why = words["why"].format(line.why) if line.why else ""
        return str(words["demand"].format(id=line.id, kind=line.kind.replace("_", " "), demand=line.demand, why=why))

    if reading.kind == "summary":
        return [listed("facts", [fact(line) for line in reading.facts], "no_facts")]
    if reading.kind == "reply":
        forbidden = [words["listed"].format(forbids=f.forbids, statement=f.statement) for f in reading.forbidden]
        demands = listed("demands", [demand(line) for line in reading.demands], "no_demands")
        return [demands, listed("forbidden", forbidden, "none_forbidden")]
    return [words["uncompared"].format(", ".join(map(str, reading.uncompared)))] if reading.uncompared else []


@cache
def prompt_hash() -> str:
    """Fingerprint of all that is said to a judge, shown on items that use every part of it."""
    forbidden = (Forbidden("fact", "statement", "forbids"),)
    question = Question(
        kind="fact",
        case_id="",
        turn=1,
        text="text",
        patient="patient",
        record="record",
        earlier_turn=1,
        earlier="earlier",
        fact="fact",
        statement="statement",
        replaced=(),
        essential=("essential",),
        demand="demand",
        why="why",
        forbidden=forbidden,
        turns=(1, 2),
        replies="replies",
    )
    facts = (FactLine("f", "fact", ("old",), False, ("essential",)), FactLine("g", "gone", ("gone",), True))
    demands = (DemandLine("t1-must-1", "must", "demand", "why"), DemandLine("t1-must_not-1", "must_not", "demand"))
    reading = Reading(
        kind="summary",
        case_id="",
        turn=1,
        text="text",
        patient="patient",
        record="record",
        facts=facts,
        demands=demands,
        forbidden=forbidden,
        earlier="earlier",
        earlier_turn=1,
        turns=(TurnLine(1, "patient", "reply"),),
        summary="summary",
        standing=(StandingAdvice(1, "quote"),),
        uncompared=(1,),
    )
    items: list[Question | Reading] = []
    for kind in KINDS:
        items += [replace(question, kind=kind, replaced=(old,)) for old in ("old", "statement")]
    items += [replace(reading, kind=kind) for kind in READINGS]
    said: list[str] = []
    for item, wording in product(items, (1, 2)):
        said += [message.content for message in messages_for(item, wording)]
    return hashlib.sha256("\x1f".join((prompt_version(), *said, *map(correction, items))).encode()).hexdigest()
