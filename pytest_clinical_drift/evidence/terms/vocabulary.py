"""The vocabulary files as concepts and the words that name them; read once, when first needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

import yaml

_LOADER: type[yaml.SafeLoader] | type[yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# Prefixes of concept ids: a drug and a class may share a name.
DRUG, DRUG_CLASS, CONDITION, MEASURE, WORD, QUALIFIER, FREQUENCY, UNIT = (
    "drug", "class", "condition", "measure", "word", "qualifier", "frequency", "unit",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Concept:
    """One thing that a text may name; compared by identity."""

    id: str
    """`kind:name`, unique over all files."""
    kind: str
    """drug, class, condition, measure, word, qualifier, frequency or unit."""
    name: str
    """Preferred name."""
    group: str
    """Group of a condition, dimension of a qualifier or unit, else empty."""
    ancestors: frozenset[str]
    """Ids that say the same with less detail, transitive: classes of a drug, broader conditions."""
    implies: frozenset[str]
    """Ids that are also stated by naming this one (transitive, ancestors not included)."""
    excludes: frozenset[str]
    """Ids that cannot hold of the same patient at the same time."""
    contains: tuple[str, ...]
    """Ids of the ingredients of a combination."""
    data: dict[str, Any]
    """The entry as the file gives it."""


@dataclass(frozen=True, slots=True)
class Form:
    """One wording of a concept."""

    text: str
    concept: Concept
    exact: bool = False
    """Only in this spelling, capitals included."""
    weak: bool = False
    """Names the concept only where the context says so."""
    lay: bool = False


@lru_cache(maxsize=32)
def load_data(name: str) -> Any:
    """The content of a bundled YAML file, None when the file is not there."""
    path = resources.files("pytest_clinical_drift") / "data" / f"{name}.yaml"
    if not path.is_file():
        return None
    return yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)


def word_set(module: str, name: str) -> frozenset[str]:
    """A closed set of words that a rule asks for, from `word_sets.yaml`."""
    return frozenset(str(word) for word in load_data("word_sets")[module][name])


def _closure(start: Iterable[str], edges: dict[str, tuple[str, ...]]) -> frozenset[str]:
    """Everything that can be reached from `start`, itself included; cycles do no harm."""
    reached: set[str] = set()
    waiting = list(start)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(edges.get(name, ()))
    return frozenset(reached)


def _ids(kind: str, names: Iterable[str]) -> frozenset[str]:
    return frozenset(f"{kind}:{name}" for name in names)


def _capital(text: str) -> bool:
    return any(char.isupper() for char in text)


# A wording with "her" or "herself" holds for every person that a summary may speak of.
_OWNERS = ("her", "his", "their", "my", "your")
_SELVES = ("herself", "himself", "themselves", "myself", "yourself")
_OBJECTS = ("him", "them", "me", "you")


def _voices(text: str) -> Iterator[str]:
    """A wording in every grammatical person."""
    yield text
    words = text.split(" ")
    for group in (_OWNERS, _SELVES):
        places = [i for i, word in enumerate(words) if word in group]
        if places:
            final = _OBJECTS if group is _OWNERS and words[-1] == "her" else ()
            for other in (*group, *final):
                yield " ".join(other if i in places else word for i, word in enumerate(words))


def _forms(concept: Concept, texts: Iterable[Any], *, weak: bool = False, lay: bool = False) -> Iterator[Form]:
    for text in texts:
        for voice in _voices(str(text)):
            yield Form(voice, concept, exact=_capital(voice), weak=weak, lay=lay)


def _drug_classes() -> Iterator[Form]:
    entries: list[dict[str, Any]] = load_data("drug_classes") or []
    parents = {entry["name"]: tuple(entry.get("parents", ())) for entry in entries}
    for entry in entries:
        name = entry["name"]
        above = _ids(DRUG_CLASS, _closure(parents[name], parents) - {name})
        concept = Concept(f"{DRUG_CLASS}:{name}", DRUG_CLASS, name, "", above, frozenset(), frozenset(), (), entry)
        yield from _forms(concept, [name, *entry.get("terms", ())])
        yield from _forms(concept, entry.get("lay", ()), lay=True)
        yield from _forms(concept, entry.get("ambiguous", ()), weak=True)


def _drugs() -> Iterator[Form]:
    entries: list[dict[str, Any]] = load_data("drugs") or []
    parents = {entry["name"]: tuple(entry.get("parents", ())) for entry in load_data("drug_classes") or []}
    of_drug = {entry["name"]: tuple(entry.get("classes", ())) for entry in entries}
    for entry in entries:
        name = entry["name"]
        ingredients = tuple(str(part) for part in entry.get("contains", ()))
        classes = list(of_drug[name])
        for part in ingredients:
            classes.extend(of_drug.get(part, ()))
        above = _ids(DRUG_CLASS, _closure(classes, parents))
        concept = Concept(
            f"{DRUG}:{name}", DRUG, name, "", above, frozenset(), frozenset(),
            tuple(f"{DRUG}:{part}" for part in ingredients), entry,
        )  # fmt: skip
        yield Form(name, concept)
        yield from (Form(str(text), concept) for text in entry.get("brands", ()))
        yield from _forms(concept, entry.get("synonyms", ()))
        yield from (Form(str(text), concept, exact=True) for text in entry.get("abbreviations", ()))
        yield from _forms(concept, entry.get("ambiguous", ()), weak=True)


def _conditions() -> Iterator[Form]:
    entries: list[dict[str, Any]] = [*(load_data("conditions") or []), *(load_data("findings") or [])]
    broader = {entry["name"]: tuple(entry.get("broader", ())) for entry in entries}
    implied = {entry["name"]: (*entry.get("broader", ()), *entry.get("implies", ())) for entry in entries}
    excluded = _both_ways(entries)
    for entry in entries:
        name = entry["name"]
        above = _closure(broader[name], broader) - {name}
        stated = _closure(implied[name], implied) - {name} - above
        concept = Concept(
            f"{CONDITION}:{name}", CONDITION, name, str(entry.get("group", "")), _ids(CONDITION, above),
            _ids(CONDITION, stated), _ids(CONDITION, excluded.get(name, ())), (), entry,
        )  # fmt: skip
        yield Form(name, concept)
        yield from _forms(concept, entry.get("synonyms", ()))
        if name.endswith(" cancer"):
            yield Form(name.removesuffix("cancer") + "ca", concept)  # "breast Ca"
            yield Form("ca " + name.removesuffix(" cancer"), concept)  # "Ca breast"
        yield from (Form(str(text), concept, exact=True) for text in entry.get("abbreviations", ()))
        yield from _forms(concept, entry.get("lay", ()), lay=True)
        yield from _forms(concept, entry.get("ambiguous", ()), weak=True)


def _joined(files: Iterable[str]) -> list[dict[str, Any]]:
    """The entries of several files; one that bears the name of an earlier one adds its words to it."""
    known: dict[str, dict[str, Any]] = {}
    for file in files:
        for entry in load_data(file) or []:
            earlier = known.get(str(entry["name"]))
            if earlier is None:
                known[str(entry["name"])] = dict(entry)
                continue
            for field in ("words", "also", "loose", "broader", "excludes", "excluded_by"):
                if field in entry:
                    earlier[field] = [*earlier.get(field, ()), *entry[field]]
    return list(known.values())


def _both_ways(entries: Iterable[dict[str, Any]]) -> dict[str, set[str]]:
    """What excludes what: a pair given once holds in both directions."""
    excluded: dict[str, set[str]] = {}
    for entry in entries:
        for other in entry.get("excludes", ()):
            excluded.setdefault(str(entry["name"]), set()).add(str(other))
            excluded.setdefault(str(other), set()).add(str(entry["name"]))
        excluded.setdefault(str(entry["name"]), set()).update(map(str, entry.get("excluded_by", ())))
    return excluded


def _plain(kind: str, *files: str, group_field: str = "") -> Iterator[Form]:
    """Files whose entries are a name and its words."""
    entries = _joined(files)
    excluded = _both_ways(entries)
    broader = {str(entry["name"]): tuple(entry.get("broader", ())) for entry in entries}
    for entry in entries:
        name = str(entry["name"])
        above = _ids(kind, _closure(broader[name], broader) - {name})
        concept = Concept(
            f"{kind}:{name}", kind, name, str(entry.get(group_field, "")), above, frozenset(),
            _ids(kind, excluded.get(name, ())), (), entry,
        )  # fmt: skip
        yield from (Form(voice, concept) for text in entry["words"] for voice in _voices(str(text)))
        yield from (Form(str(text), concept, exact=True) for text in entry.get("abbreviations", ()))
        yield from (Form(str(text), concept, weak=True) for text in entry.get("after_amount", ()))
        yield from (Form(voice, concept, weak=True) for text in entry.get("also", ()) for voice in _voices(str(text)))


def _qualifiers() -> Iterator[Form]:
    for entry in load_data("qualifiers") or []:
        dimension = str(entry["dimension"])
        values = {**entry["values"], **entry.get("words_of_spans", {})}
        weak = entry.get("weak", {})
        for value, words in values.items():
            concept = Concept(
                f"{QUALIFIER}:{dimension}={value}", QUALIFIER, str(value), dimension,
                frozenset(), frozenset(), frozenset(), (), entry,
            )  # fmt: skip
            yield from (Form(str(text), concept) for text in words)
            yield from (Form(str(text), concept, weak=True) for text in weak.get(value, ()))


def all_forms() -> Iterator[Form]:
    """Every wording of every concept."""
    yield from _drugs()
    yield from _drug_classes()
    yield from _conditions()
    yield from _plain(MEASURE, "measurements")
    yield from _plain(WORD, "social", "life", "mind")
    yield from _plain(FREQUENCY, "frequencies")
    yield from _plain(UNIT, "units", group_field="dimension")
    yield from _qualifiers()
