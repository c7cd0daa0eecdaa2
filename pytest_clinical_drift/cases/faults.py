"""Faults of a file in sentences: file, line, the fact or turn concerned, and what to write instead."""

import difflib
import typing
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from pytest_clinical_drift.core.packaged import load_data
from pytest_clinical_drift.core.parsing import StrictLoader
from pytest_clinical_drift.core.text import shortened

Location = tuple[str | int, ...]
"""The way to a part of a file, as pydantic counts: keys, and places in lists from 0."""
_FACT = (("id", "text"), "fact")
_ENTRIES = {
    "critical_entities": _FACT,
    "introduces": _FACT,
    "turns": (("turn",), "turn"),
    "cases": (("id",), "case"),
    "threads": (("id",), "thread"),
}
"""How entries of a list are named: by which of their keys, and as what."""
_WHOLE = {"missing": "required field is missing", "extra_forbidden": "unknown field; remove it or correct its name"}
"""Faults that are told without the value."""
_CLOSE = 0.75


class ReferenceFault(ValueError):
    """A fault of the whole record that has its place all the same."""

    def __init__(self, text: str, location: Location) -> None:
        super().__init__(text)
        self.location = location


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """ "; did you mean nsaid?" where something known is near, else nothing."""
    near = difflib.get_close_matches(word.lower(), known, 1, _CLOSE)
    return f"; did you mean {near[0]}?" if near else ""


def describe_faults(
    file: Path, text: str, error: ValidationError, model: type[BaseModel], base: Location = ()
) -> list[str]:
    """A sentence for each fault: file, line, field and what to write instead; none for what an unknown name holds."""
    faults = error.errors(include_url=False)
    unknown = [fault["loc"][:-1] for fault in faults if _is_unknown_name(fault)]

    def is_below_unknown(fault: Any) -> bool:
        return any(fault["loc"][: len(place)] == place for place in unknown)

    told = [fault for fault in faults if _is_unknown_name(fault) or not is_below_unknown(fault)]
    return [_sentence(file, text, fault, model, base) for fault in told]


def _is_unknown_name(fault: Any) -> bool:
    """Whether the fault is a key of a mapping, as pydantic marks it."""
    return bool(fault["loc"][-1:] == ("[key]",))


def first_fault(error: ValidationError) -> str:
    """Where in a record the first fault lies, and what it is; for records that have a line of their own."""
    fault = error.errors(include_url=False)[0]
    if not fault["loc"]:
        return _advice(fault)
    return f"{'.'.join(map(str, fault['loc']))}: {_advice(fault)}"


def placed(file: Path, text: str, location: Location) -> str:
    """The file with the line of the deepest part of `location` that it has."""
    line, _ = _located(text, location)
    return f"{file}, line {line}" if line else str(file)


def _sentence(file: Path, text: str, fault: Any, model: type[BaseModel], base: Location) -> str:
    cause = fault.get("ctx", {}).get("error")
    if isinstance(cause, ReferenceFault):
        return f"{placed(file, text, (*base, *cause.location))}: {cause}"
    within = tuple(part for part in fault["loc"] if not str(part).startswith(("function-", "[")))
    _, name = _located(text, (*base, *within))
    advice = _advice(fault)
    if fault["type"] == "extra_forbidden":
        meant = did_you_mean(str(within[-1]), _fields(model, within[:-1]))
        advice = f"unknown field{meant}" if meant else advice
    return f"{placed(file, text, (*base, *within))}: {name or 'the whole record'}: {advice}"


def _advice(fault: Any) -> str:
    kind = fault["type"]
    message = str(fault["msg"])
    if kind in _WHOLE:
        return _WHOLE[kind]
    if kind == "value_error":
        return message.removeprefix("Value error, ")
    known = load_data("faults").get(kind)  # pydantic's own words may hold braces of the file
    expected = known.format(**fault.get("ctx", {})) if known else message[0].lower() + message[1:]
    return f"{expected}, found {shortened(fault.get('input'))}"


def _located(text: str, location: Location) -> tuple[int, str]:
    """The line of the deepest part of a location that a file has (0: none), and the location as its reader names it.

    Facts are named by id, turns by number, other entries counted from 1. JSON is near enough to YAML to be located.
    """
    line = 0
    path = ""
    try:
        node = yaml.compose(text, Loader=StrictLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        node = None
    for part in location:
        deeper, node = _child(node, part)
        line = deeper or line
        if isinstance(part, str):
            path += f".{part}" if path and not path.endswith(": ") else part
        else:
            path = _entry_named(path, part, node)
    return line, path.removesuffix(": ")


def _entry_named(path: str, place: int, node: Any) -> str:
    """A path down to an entry of a list: by its name, else by its number from 1."""
    before, _, holder = path.rpartition(": ")
    keys, word = _ENTRIES.get(holder, (("id",), holder or "entry"))
    children = [_child(node, key)[1] for key in keys]
    named = [child.value for child in children if isinstance(child, yaml.ScalarNode) and child.value]
    entry = f"{word} {named[0] if named else place + 1}: "
    return f"{before}: {entry}" if before else entry


def _fields(model: type[BaseModel], location: Location) -> list[str]:
    """Names that may stand at a location of a model's record."""
    current: type[BaseModel] | None = model
    for part in location:
        if current is not None and part in current.model_fields:
            current = _record_in(current.model_fields[str(part)].annotation)
    return [field.alias or name for name, field in current.model_fields.items()] if current else []


def _record_in(annotation: Any) -> type[BaseModel] | None:
    """The record that an annotation holds: itself, or as an entry of a list or mapping."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inside = map(_record_in, typing.get_args(annotation))
    return next(filter(None, inside), None)


def _child(node: Any, part: str | int) -> tuple[int, Any]:
    """Line and node of a part; 0 and None where there is none."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == part:
                return key.start_mark.line + 1, value
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part].start_mark.line + 1, node.value[part]
    return 0, None
