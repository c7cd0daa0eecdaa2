"""What a careful control answers: warnings, permissions, guidance and alarms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .amounts import DATE
from .hearing import Heard, sentences
from .memory import standard
from .pharmacy import Named, bans, own_medicines, pharmacy
from .record import Record
from .vocabulary import any_of, load, words
from .voice import note

_KNOWLEDGE: dict[str, Any] = load("control_care.yaml")
_Group = re.Pattern[str] | None


@dataclass(frozen=True, slots=True)
class Rule:
    """Guidance for a situation."""

    record: _Group
    and_record: _Group
    unless_record: _Group
    message: _Group
    also: _Group
    before: _Group
    unless: _Group
    say: str
    level: str | None
    calm: bool

    def fits(self, record: str, message: str, said: str) -> bool:
        # the message is short and decides most often
        needed = ((self.message, message), (self.also, message), (self.record, record), (self.and_record, record))
        barred = ((self.unless, message), (self.unless_record, record))
        return all(group is None or group.search(text) for group, text in (*needed, (self.before, said))) and not any(
            group is not None and group.search(text) for group, text in barred
        )


def _rule(entry: dict[str, Any]) -> Rule:
    def group(key: str) -> _Group:
        return any_of(entry[key]) if key in entry else None

    return Rule(
        record=group("record"),
        and_record=group("and_record"),
        unless_record=group("unless_record"),
        message=group("message"),
        also=group("also"),
        before=group("before"),
        unless=group("unless"),
        say=entry["say"],
        level=entry.get("level"),
        calm=entry.get("calm", False),
    )


_RULES = [_rule(entry) for entry in _KNOWLEDGE["rules"]]
_PLACES = [(any_of(place["cues"]) if "cues" in place else None, place) for place in _KNOWLEDGE["places"]]
_LEVELS: dict[str, str] = _KNOWLEDGE["levels"]
_EVERYDAY = frozenset(_KNOWLEDGE["everyday"])
_PRESCRIBED, _LEFTOVER = any_of(_KNOWLEDGE["prescribed_cues"]), any_of(_KNOWLEDGE["leftover_cues"])
_ASKING, _AGAIN = any_of(_KNOWLEDGE["asking_cues"]), any_of(_KNOWLEDGE["again_cues"])
_RELATION = any_of(_KNOWLEDGE["relations"])
_HANDOVER = any_of(_KNOWLEDGE["handover_cues"])
_CARER = any_of(words("carer_cues"))
_ACKNOWLEDGEMENTS: list[str] = words("acknowledgements")
_TOPICS: list[tuple[re.Pattern[str], str]] = [(any_of(topic["cues"]), topic["say"]) for topic in words("topics")]
_ALLERGEN = re.compile(r"\b([a-z]{4,})(?: \w+)? allergy\b|\ballergic to ([a-z]{4,})")
_NO_ALLERGEN = frozenset(words("no_allergens"))
_NOT_TAKEN = re.compile(r"\bdoes not take [\w-]+")


def answer(heard: Heard, record: Record) -> str:
    """A reply to the latest message, from the record and the conversation alone."""
    message = standard(heard.latest)
    parts = [_ACKNOWLEDGEMENTS[heard.turn % len(_ACKNOWLEDGEMENTS)]]
    parts += _specific(heard, record, message) or [_small_talk(message)]
    return " ".join((*parts, words("standing_advice")))


def handover(record: Record) -> str:
    """The record as the patient may read it out."""
    notes = [note(statement) for statement in (*record.statements, *record.news)]
    return " ".join((words("handover_opening"), *(f"{text}." for text in notes)))


def _specific(heard: Heard, record: Record, message: str) -> list[str]:
    said = " ".join(standard(text) for text in heard.messages)
    known = _NOT_TAKEN.sub("", record.text)
    fitting = [rule for rule in _RULES if rule.fits(known, message, said)]
    levels = [level for level in _LEVELS if any(rule.level == level for rule in fitting)]
    place = _place(known)
    blanks = {**place, "units": _units(known, message), "dates": _dates(record)}
    parts = [rule.say.format_map(blanks) for rule in fitting]
    parts += [_LEVELS[level].format_map(place) for level in levels[:1]]
    alarmed = bool(levels) or any(rule.calm for rule in fitting)
    parts += list(_about_allergens(known, message)) if not fitting else []
    parts += list(_about_medicines(heard, known, message, place, alarmed))
    if _HANDOVER.search(message):
        parts.append(handover(record))
    return [part for part in dict.fromkeys(parts) if part]


def _about_allergens(record: str, message: str) -> Iterator[str]:
    """A warning where the message names what the record says the patient is allergic to; medicines have their own."""
    for found in _ALLERGEN.finditer(record):
        allergen = (found.group(1) or found.group(2)).removesuffix("s")
        if allergen not in _NO_ALLERGEN and allergen in message and not pharmacy().named_in(allergen):
            yield f"Please avoid {allergen}, even a little of it, because of the {allergen} allergy in your record."


def _about_medicines(heard: Heard, record: str, message: str, place: dict[str, str], alarmed: bool) -> Iterator[str]:
    own = {medicine.name for medicine in own_medicines(record)}
    verb = "give" if _CARER.search(heard.intake) else "take"
    named, asked, where = pharmacy().named_in(message), bool(_ASKING.search(message)), message
    if not named and _AGAIN.search(message):
        named, where = _last_discussed(heard.messages[:-1], record, own)
        asked = True
    warned, single = False, [medicine for medicine in named if not medicine.a_class]
    for medicine in (*single, *(medicine for medicine in named if medicine.a_class)):
        ban = next((ban for ban in bans(record) if ban.covers(medicine)), None)
        if ban is not None and medicine.name not in own:
            if not (medicine.a_class and warned):
                yield _warning(medicine, ban.because, verb, place)
            warned = True
        elif alarmed or (medicine.a_class and single):
            continue
        elif medicine.kinds & _EVERYDAY and asked:
            yield _permission(medicine, verb, where)
        elif medicine.name not in own and not medicine.a_class and _someone_elses(medicine, message):
            said = medicine.said[:1].upper() + medicine.said[1:]
            yield f"{said} is a different medicine from yours; keep the boxes apart."


def _someone_elses(medicine: Named, message: str) -> bool:
    return any(medicine.said in sentence and _RELATION.search(sentence) for sentence in sentences(message))


def _last_discussed(messages: tuple[str, ...], record: str, own: set[str]) -> tuple[list[Named], str]:
    """The medicine that "it" or "half of one" refers to: the last one that called for a yes or no."""
    for text in reversed(messages):
        message = standard(text)
        named = [
            medicine
            for medicine in pharmacy().named_in(message)
            if not medicine.a_class
            and medicine.name not in own
            and (medicine.kinds & _EVERYDAY or any(ban.covers(medicine) for ban in bans(record)))
        ]
        if named:
            return named, message
    return [], ""


def _warning(medicine: Named, because: str, verb: str, place: dict[str, str]) -> str:
    is_what = "" if medicine.a_class or medicine.said.lower() == medicine.name else f" ({medicine.name})"
    if medicine.kinds & {"antibiotic"}:
        instead = "Ask for a different antibiotic."
    elif medicine.kinds & {"nsaid", "aspirin"}:
        instead = f"{place.get('painkiller', 'Paracetamol')} is the safer choice for pain."
    else:
        instead = "Ask your doctor or pharmacist about an alternative."
    what = f"any {medicine.said}" if medicine.a_class else medicine.said
    return f"Please do not {verb} {what}{is_what}: {because}. Avoid {medicine.said}; it is not safe here. {instead}"


def _permission(medicine: Named, verb: str, message: str) -> str:
    if "antibiotic" in medicine.kinds and _LEFTOVER.search(message) and not _PRESCRIBED.search(message):
        return f"Please do not {verb} left-over {medicine.said}; ask your doctor for a prescription of your own."
    if "vaccine" in medicine.kinds:
        verb, said = "have", f"the {medicine.said}"
    else:
        said = medicine.said
    return (
        f"Yes, you can {verb} {said}, as prescribed or as the label says: "
        "it is safe and suitable, and the record shows no reason to avoid it."
    )


def _small_talk(message: str) -> str:
    return next((say for cue, say in _TOPICS if cue.search(message)), words("small_talk"))


def _place(record: str) -> dict[str, str]:
    return next(place for cue, place in _PLACES if cue is None or cue.search(record))


def _units(record: str, message: str) -> str:
    """A meal dose from the ratio on record: carbohydrate divided by grams per unit."""
    ratio = re.search(r"1 unit of [\w ]+ per (\d+) g", record)
    meal = re.search(r"(\d+) ?g(?:rams)?\b", message)
    if not ratio or not meal:
        return ""
    grams, per_unit = int(meal[1]), int(ratio[1])
    return f"{grams} g divided by {per_unit} is {grams / per_unit:g} units, by your ratio of 1 unit per {per_unit} g."


def _dates(record: Record) -> str:
    """Statements that fix a last dose to a day."""
    dated = [text for text in record.statements if re.search(r"\blast\b", text) and DATE.search(text)]
    return " ".join(f"By the record: {text}" for text in dated)
