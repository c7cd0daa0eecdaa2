"""The vocabulary files as concepts and the words that name them; read once, when first needed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from pytest_clinical_drift.core.packaged import load_data
from pytest_clinical_drift.evidence.reading.text import tokenise

# Prefixes of concept ids: a drug and a class may share a name.
DRUG = "drug"
DRUG_CLASS = "class"
CONDITION = "condition"
MEASURE = "measure"
WORD = "word"
QUALIFIER = "qualifier"
FREQUENCY = "frequency"
UNIT = "unit"
PHRASE = "phrase"
CUE = "cue"


@dataclass(frozen=True, slots=True, eq=False)
class Concept:
    """One thing that a text may name; compared by identity."""

    id: str
    """`kind:name`, unique over all files."""
    kind: str
    """drug, class, condition, measure, word, qualifier, frequency, unit, phrase or cue."""
    name: str
    """Preferred name."""
    data: dict[str, Any]
    """The entry as the file gives it."""
    group: str = ""
    """Group of a condition, dimension of a qualifier or unit."""
    ancestors: frozenset[str] = frozenset()
    """Ids that say the same with less detail, transitive: classes of a drug, broader conditions."""
    implies: frozenset[str] = frozenset()
    """Ids that are also stated by naming this one (transitive, ancestors not included)."""
    excludes: frozenset[str] = frozenset()
    """Ids that cannot hold of the same patient at the same time."""
    contains: tuple[str, ...] = ()
    """Ids of the ingredients of a combination."""


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
    words: tuple[str, ...] = ()
    """Where given, only these words count, not other forms of them: "rule out" is not "rules out"."""


def load_vocabulary(name: str) -> Any:
    return load_data(f"vocabulary/{name}")


def word_set(module: str, name: str) -> frozenset[str]:
    """A closed set of words that a rule asks for, from `word_sets.yaml`."""
    return frozenset(str(word) for word in load_vocabulary("word_sets")[module][name])


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


# The fields of an entry that list its wordings …
_FIELDS = ("words", "synonyms", "terms", "brands", "abbreviations", "lay", "ambiguous", "also", "after_amount")
# … of which these name it only where the context says so, …
_WEAK = ("ambiguous", "also", "after_amount")
# … and these may hold abbreviations among other names, which their capitals tell.
_MIXED = ("synonyms", "terms", "lay", "ambiguous")


def _forms(concept: Concept) -> Iterator[Form]:
    """Every wording of an entry; its name is one where it lists no words."""
    entry = concept.data
    if "words" not in entry:
        yield Form(concept.name, concept)
    for field in _FIELDS:
        for voice in chain.from_iterable(_voices(str(text)) for text in entry.get(field, ())):
            exact = field == "abbreviations" or (field in _MIXED and any(map(str.isupper, voice)))
            yield Form(voice, concept, exact, field in _WEAK, field == "lay")


def _drugs() -> Iterator[Form]:
    entries: list[dict[str, Any]] = load_vocabulary("drugs")
    parents = {entry["name"]: tuple(entry.get("parents", ())) for entry in load_vocabulary("drug_classes")}
    classes = {entry["name"]: tuple(entry.get("classes", ())) for entry in entries}
    for entry in entries:
        name = entry["name"]
        parts = [str(part) for part in entry.get("contains", ())]
        own_classes = chain.from_iterable(classes.get(one, ()) for one in (name, *parts))
        above = _ids(DRUG_CLASS, _closure(own_classes, parents))
        contains = tuple(f"{DRUG}:{part}" for part in parts)
        yield from _forms(Concept(f"{DRUG}:{name}", DRUG, name, entry, ancestors=above, contains=contains))


def _both_ways(entries: Iterable[dict[str, Any]]) -> dict[str, set[str]]:
    """What excludes what: a pair given once holds in both directions."""
    excluded: dict[str, set[str]] = {}
    for entry in entries:
        for other in entry.get("excludes", ()):
            excluded.setdefault(str(entry["name"]), set()).add(str(other))
            excluded.setdefault(str(other), set()).add(str(entry["name"]))
        excluded.setdefault(str(entry["name"]), set()).update(map(str, entry.get("excluded_by", ())))
    return excluded


def _entries(kind: str, *files: str, broader: str = "broader", group: str = "group") -> Iterator[Form]:
    """Files whose entries are a name, its words, and what it is a kind of, implies or excludes."""
    entries = list(chain.from_iterable(map(load_vocabulary, files)))
    excluded = _both_ways(entries)
    above = {str(entry["name"]): tuple(entry.get(broader, ())) for entry in entries}
    implied = {str(entry["name"]): (*entry.get(broader, ()), *entry.get("implies", ())) for entry in entries}
    for entry in entries:
        name = str(entry["name"])
        wider = _closure(above[name], above) - {name}
        stated = _closure(implied[name], implied) - {name} - wider
        ids = _ids(kind, wider), _ids(kind, stated), _ids(kind, excluded.get(name, ()))
        yield from _forms(Concept(f"{kind}:{name}", kind, name, entry, str(entry.get(group, "")), *ids))


def _qualifiers() -> Iterator[Form]:
    for entry in load_vocabulary("qualifiers"):
        dimension = str(entry["dimension"])
        values = {**entry["values"], **entry.get("words_of_spans", {})}
        weak = entry.get("weak", {})
        for value, words in values.items():
            concept = Concept(f"{QUALIFIER}:{dimension}={value}", QUALIFIER, str(value), entry, dimension)
            yield from (Form(str(text), concept) for text in words)
            yield from (Form(str(text), concept, weak=True) for text in weak.get(value, ()))


def _phrases() -> Iterator[Form]:
    """Phrases that name nothing by themselves: what rules ask for by a label, and cues by the number of their group."""
    findings = {f"finding {entry['name']}": entry.get("finding", ()) for entry in load_vocabulary("measurements")}
    labelled = (*load_vocabulary("phrases").items(), *findings.items())
    groups = [(Concept(f"{PHRASE}:{label}", PHRASE, label, {}), texts) for label, texts in labelled]
    for number, group in enumerate(load_vocabulary("cues")["cues"]):
        groups.append((Concept(f"{CUE}:{number}", CUE, str(number), group), group["phrases"]))
    for concept, texts in groups:
        yield from (Form(text, concept, weak=True, words=tokenise(text)) for text in map(str, texts))


def all_forms() -> Iterator[Form]:
    yield from _drugs()
    yield from _entries(DRUG_CLASS, "drug_classes", broader="parents")
    yield from _entries(CONDITION, "conditions", "findings")
    yield from _entries(MEASURE, "measurements")
    yield from _entries(WORD, "social", "life", "mind")
    yield from _entries(FREQUENCY, "frequencies")
    yield from _entries(UNIT, "units", group="dimension")
    yield from _qualifiers()
    yield from _phrases()
