"""Takes up what a patient reports: new doses and values, drugs begun, stopped or paused, a new home, events."""

from __future__ import annotations

import re
from collections.abc import Callable

from .amounts import AMOUNT, DATE, written
from .pharmacy import pharmacy
from .record import Record
from .updating import MEASURES, OWNER, capital, drop_regimen, is_about, replace_drug, restart, set_by_unit, set_value
from .vocabulary import any_of, words
from .voice import third_person

_ACTIVE = re.compile(
    r"\b(?:increased|raised|reduced|lowered|changed|switched|cut|put|moved|upped|brought|stepped)\s+"
    rf"{OWNER}\s+(?P<subject>[^,;?!]{{2,60}}?)\s+(?:up\s+|down\s+|back\s+)?to\s+(?P<value>.+)",
    re.IGNORECASE,
)
_PASSIVE = re.compile(
    rf"(?:\b{OWNER}\s+|^|[,:;]\s+|\bthat\s+)(?P<subject>[^\W\d_][\w'/-]*(?:\s+[\w'/-]+){{0,4}}?)"
    r"\s+(?:(?:has|have|had|is|was)\s+)?(?:now\s+)?(?:been\s+)?"
    r"(?P<verb>gone up|gone down|come down|came down|went up|went down|dropped|fallen|fell|risen|rose|moved|changed|"
    r"reduced|increased|lowered|raised|restarted|come back|came back)\s+(?:to|at|as)\s+(?P<value>.+)",
    re.IGNORECASE,
)
_DATED = re.compile(rf"\b{OWNER}\s+(?P<subject>[\w' -]{{2,40}}?)\s+(?:is|was)\s+on\s+(?P<value>.+)", re.IGNORECASE)
_FROM_TO = re.compile(r"\bchanged\s+\w+\s+from\s+(?P<old>[\w ]{2,40}?)\s+to\s+(?P<new>[^,;.]+)", re.IGNORECASE)
_SWITCHED = re.compile(
    r"\bswitched\s+(?:me|him|her|us)\b[^,;]{0,20}?\s+to\s+(?P<value>[^,;]+?)\s+instead of\s+(?P<subject>[\w/-]+)",
    re.IGNORECASE,
)
_CUT_DOWN = re.compile(r"\bcut\s+(?:my\s+\w+\s+)?down\s+to\s+(?P<value>.+)", re.IGNORECASE)
_STOPPED = re.compile(
    rf"\bstopped\s+(?:taking\s+)?(?P<owner>{OWNER}\s+)?(?P<subject>[\w/ -]{{3,40}}?)"
    r"(?P<rest>\s+(?:for good|completely|altogether|today|this\b)|,|\.|!|$)(?P<after>.*)",
    re.IGNORECASE,
)
_PAUSED = re.compile(
    r"\b(?P<subject>[\w/-]+)\s+(?:stays|is|was|remains)\s+paused\s+(?P<rest>until [^,;.]+)", re.IGNORECASE
)
_MOVED_IN = re.compile(r"\bmoved in with\s+(?P<who>[^,;.]+)", re.IGNORECASE)
_STARTED = re.compile(r"\b(?:started|begun|put (?:me|him|her) on)\b", re.IGNORECASE)
_CLIP = re.compile(
    r"[,;!]|\.(?!\d)|\s(?:because|since|so|from|starting|as of|and|for the|for my|which|that|when|after|on account|"
    r"cos|but|if|instead|this morning|this time)\b",
    re.IGNORECASE,
)
_QUANTIFIERS = r"(?:(?:half|an?|one|two|three|\d+|packs?|bottles?|of)\s+)*"
_EVENTS = any_of(words("events"))
_USUAL_UNITS = {"blood pressure": " mmHg", "temperature": " °C"}
_LONGEST_SENTENCE = 1000
_PRONOUNS = ("i", "he", "she", "it", "they", "we", "that", "this")


def take_up(record: Record, sentence: str) -> None:
    """Bring the record up to date with one sentence of the patient; questions and endless ones report nothing."""
    if len(sentence) > _LONGEST_SENTENCE or sentence.rstrip("\"' ").endswith("?"):
        return
    changed = [handler(record, sentence) for handler in _HANDLERS]
    if not any(changed):
        _note_event(record, sentence)


def _change_active(record: Record, sentence: str) -> bool:
    match = _ACTIVE.search(sentence)
    return match is not None and set_value(record, match["subject"], _clip(match["value"]))


def _change_passive(record: Record, sentence: str) -> bool:
    done, start = False, 0
    while match := _PASSIVE.search(sentence, start):
        subject, value = match["subject"], match["value"]
        if match["verb"].lower() == "restarted":
            done |= restart(record, subject, _clip(value))
        elif subject.lower() in _PRONOUNS:
            done |= set_by_unit(record, value)
        else:
            done |= set_value(record, subject, _clip(value))
        start = match.start("value")
    return done


def _change_dated(record: Record, sentence: str) -> bool:
    match = _DATED.search(sentence)
    if match is None or not DATE.search(match["value"]):
        return False
    return set_value(record, match["subject"], match["value"])


def _change_from_to(record: Record, sentence: str) -> bool:
    match = _FROM_TO.search(sentence)
    if match is None:
        return False
    old, new = match["old"].strip(), _clip(match["new"])
    last_word = new.rpartition(" ")[2]
    for index, statement in enumerate(record.statements):
        if found := re.search(
            rf"{re.escape(old)}(?:[\w ]{{0,40}}?\b{re.escape(last_word)}\b)?", statement, re.IGNORECASE
        ):
            record.statements[index] = statement[: found.start()] + new + statement[found.end() :]
            record.changed.append(new)
            return True
    return False


def _change_drug(record: Record, sentence: str) -> bool:
    match = _SWITCHED.search(sentence)
    return match is not None and replace_drug(record, match["subject"], _clip(match["value"]))


def _cut_down(record: Record, sentence: str) -> bool:
    match = _CUT_DOWN.search(sentence)
    if match is None:
        return False
    value = _clip(match["value"])
    tail = value.split()
    while tail := tail[1:]:
        for index, statement in enumerate(record.statements):
            if len(tail) > 1 and (found := re.search(_QUANTIFIERS + re.escape(" ".join(tail)), statement)):
                record.statements[index] = statement[: found.start()] + value + statement[found.end() :]
                record.changed.append(tail[0])
                return True
    return False


def _stop(record: Record, sentence: str) -> bool:
    match = _STOPPED.search(sentence)
    if match is None:
        return False
    subject = match["subject"].strip()
    stem = subject.lower()[:-3] if subject.endswith("ing") else subject.lower()
    for index, statement in enumerate(record.statements):
        if not re.search(rf"\b{re.escape(stem)}", statement, re.IGNORECASE):
            continue
        if pharmacy().named_in(subject) and AMOUNT.search(statement):
            drop_regimen(record, index, subject)
            record.statements.append(f"{capital(subject)} was stopped.")
        else:
            when = re.sub(r"^,?\s*as of\b", " on", (match["rest"] + match["after"]).rstrip(". "))
            what = f"{'the ' if match['owner'] else ''}{subject}{when}"
            record.statements[index] = f"{record.pronoun.capitalize()} stopped {third_person(what, record.pronoun)}."
        record.changed.append(subject)
        return True
    return False


def _pause(record: Record, sentence: str) -> bool:
    match = _PAUSED.search(sentence)
    if match is None or not pharmacy().named_in(match["subject"]):
        return False
    for index, statement in enumerate(list(record.statements)):
        if re.search(rf"\b{re.escape(match['subject'])}\s+\d", statement, re.IGNORECASE):
            drop_regimen(record, index, match["subject"])
            break
    rest = third_person(match["rest"], record.pronoun)
    record.statements.append(f"{match['subject'].capitalize()} paused {rest}.")
    record.changed.append(match["subject"])
    return True


def _move_home(record: Record, sentence: str) -> bool:
    match = _MOVED_IN.search(sentence)
    if match is None:
        return False
    who = third_person(match["who"], record.pronoun)
    home = next(
        (i for i, text in enumerate(record.statements) if re.search(r"\b(?:he|she|they) lives? ", text, re.I)), None
    )
    children = re.search(r"\w+ children[^,.]*", record.statements[home]) if home is not None else None
    own = {"he": "his", "she": "her"}.get(record.pronoun, "their")
    along = f" with {own} {children.group()}" if children and "kids" in sentence else ""
    moved = f"{record.pronoun.capitalize()} now lives with {who}{along}."
    if home is None:
        record.statements.append(moved)
    else:
        record.statements[home] = moved
    record.changed.append("home")
    return True


def _start(record: Record, sentence: str) -> bool:
    if not _STARTED.search(sentence):
        return False
    known = {named.name for named in pharmacy().named_in(record.text)}
    for drug in pharmacy().named_in(sentence):
        if drug.name in known:
            continue
        begin = sentence.lower().find(drug.said.lower())
        dose = AMOUNT.search(sentence, begin)
        if dose is None or dose.start() - begin > len(drug.said) + 3:
            continue
        lead = re.search(r"\b(?:oral|buccal|modified-release)\s$", sentence[:begin], re.IGNORECASE)
        regimen = _clip(sentence[lead.start() if lead else begin :])
        record.news.append(f"Started on {regimen}.")
        return True
    return False


def _measure(record: Record, sentence: str) -> bool:
    name = MEASURES.search(sentence)
    if name is None:
        return False
    value = AMOUNT.search(sentence, name.end())
    if value is None or value.start() - name.end() > 45:
        return False
    if DATE.match(sentence, value.start()):
        return False
    label = name.group()
    text = written(value) + ("" if value["unit"] else _USUAL_UNITS.get(label.lower(), ""))
    if any(is_about(statement, label) for statement in (*record.statements, *record.news)) and set_value(
        record, label, text
    ):
        return True
    tail = re.match(r"\s*(on admission|when I came in)", sentence[value.end() :])
    record.news.append(f"{capital(label)} {text}{' on admission' if tail else ''}.")
    return True


_HANDLERS: tuple[Callable[[Record, str], bool], ...] = (
    _move_home,
    _change_from_to,
    _change_drug,
    _cut_down,
    _change_active,
    _change_passive,
    _change_dated,
    _pause,
    _stop,
    _start,
)


def _note_event(record: Record, sentence: str) -> None:
    if _measure(record, sentence):
        return
    if _EVENTS.search(sentence):
        record.news.append(third_person(sentence, record.pronoun))


def _clip(value: str) -> str:
    cut = _CLIP.search(value)
    return (value[: cut.start()] if cut else value).strip(" .")
