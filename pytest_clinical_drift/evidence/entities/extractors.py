"""Entities of a text for the extended set, and which of them nobody told.

An extractor is `lexicon` (the bundled vocabularies, the default) or `scispacy[:MODEL]` (any spaCy pipeline with an
entity recogniser). Sources are the intake and the patient's messages so far; a model's own replies do not count.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

from pytest_clinical_drift.errors import InputError, MissingDependency, not_loadable
from pytest_clinical_drift.evidence.facts.fact import words_of
from pytest_clinical_drift.evidence.facts.slots import parse_fact
from pytest_clinical_drift.evidence.reading.text import Document, blank_hidden, read, tokenise
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.lexicon import CLINICAL_KINDS, Term
from pytest_clinical_drift.evidence.terms.vocabulary import MEASURE, load_vocabulary
from pytest_clinical_drift.evidence.terms.words import stem, stems_of

_DEFAULT_MODEL = "en_core_sci_sm"
_INSTALL = (
    "pip install 'pytest-clinical-drift[scispacy]' in an environment of its own, because scispacy needs numpy < 2 and "
    "other extras need numpy 2"
)
_ARCHIVE = "en_core_sci_sm-0.5.4.tar.gz"
_LOOK_ALIKES = "not from a public index, where look-alike names such as en_core_sci_md 999.9.9 are not the AI2 models"


@dataclass(frozen=True, slots=True)
class Entity:
    text: str
    start: int
    """Offset of its first character in the raw text."""
    end: int
    kind: str
    """Kind of the vocabulary's concept, or the recogniser's label."""
    concept: str
    """Id of the vocabulary's concept; empty when it has none."""


class Extractor(Protocol):
    """Finds entities in a text."""

    name: str

    def extract(self, document: Document) -> list[Entity]: ...


def load_extractor(spec: str = "lexicon") -> Extractor:
    name, _, model = spec.partition(":")
    if name == "lexicon" and not model:
        return LexiconExtractor()
    if name == "scispacy":
        return SpacyExtractor(model or _DEFAULT_MODEL)
    raise InputError(f"--drift-ner {spec}: unknown entity extractor; valid ones: lexicon, scispacy[:MODEL]")


class LexiconExtractor:
    """Terms of the bundled vocabularies."""

    name = "lexicon"

    def extract(self, document: Document) -> list[Entity]:
        terms = [
            term
            for kind in sorted(CLINICAL_KINDS)
            for term in term_index(document).by_kind.get(kind, ())
            if not term.weak
            and not (kind == MEASURE and term.last == term.first and len(document.words[term.first]) < 3)
        ]
        spans = [(t.concept, document.starts[t.first], document.ends[t.last]) for t in _outermost(terms)]
        entities = [Entity(document.raw[a:b], a, b, concept.kind, concept.id) for concept, a, b in spans]
        return [entity for entity in entities if not is_generic(entity.text)]


def _outermost(terms: Iterable[Term]) -> list[Term]:
    kept: list[Term] = []
    for term in sorted(terms, key=lambda t: (t.first, -t.last)):
        if not kept or term.last > kept[-1].last:
            kept.append(term)
    return kept


class SpacyExtractor:
    """A spaCy pipeline with an entity recogniser, such as scispaCy's; loaded when first used."""

    def __init__(self, model: str) -> None:
        self.name = f"scispacy:{model}"
        self._model = model
        self._pipeline: Any = None

    def extract(self, document: Document) -> list[Entity]:
        self.prepare()
        parsed, text = self._pipeline(blank_hidden(document.raw)), document.raw
        spans = [(e.start_char, e.end_char, str(e.label_)) for e in parsed.ents]
        return [
            Entity(text[a:b], a, b, label, _concept_of(text[a:b])) for a, b, label in spans if not is_generic(text[a:b])
        ]

    def prepare(self) -> None:
        if self._pipeline is None:
            self._pipeline = _load_pipeline(self._model)


def _load_pipeline(model: str) -> Any:
    try:
        import spacy
    except Exception as error:
        raise not_loadable("spacy", error, f"the scispacy extractor needs spaCy: {_INSTALL}", _INSTALL) from error
    _refuse_look_alike(model)
    try:
        pipeline = spacy.load(model)
    except (OSError, ValueError) as error:
        raise MissingDependency(
            f"the spaCy pipeline {model!r} could not be loaded: install its archive from the scispacy releases page "
            f"({_ARCHIVE} for the default), {_LOOK_ALIKES}"
        ) from error
    if "ner" not in pipeline.pipe_names:
        raise InputError(f"the spaCy pipeline {model!r} has no entity recogniser ('ner')")
    return pipeline


def _refuse_look_alike(model: str) -> None:
    """A package of that name from a public index is not what was trained; loading it would run its code."""
    try:
        installed = version(model)
    except (PackageNotFoundError, ValueError):
        return
    if installed.startswith("999."):
        raise InputError(
            f"the installed package {model!r} {installed} is no spaCy model but a look-alike name: uninstall it and "
            f"install the archive from the scispacy releases page, {_LOOK_ALIKES}"
        )


@lru_cache(maxsize=8192)
def _concept_of(text: str) -> str:
    """The vocabulary's concept that a span is, or an empty string."""
    document = read(text)
    for kind in sorted(CLINICAL_KINDS):
        for term in term_index(document).by_kind.get(kind, ()):
            if term.first == 0 and term.last == len(document) - 1:
                return term.concept.id
    return ""


_GENERIC = frozenset(map(str, load_vocabulary("generic_spans")["words"]))


@lru_cache(maxsize=8192)
def is_generic(text: str) -> bool:
    """Whether a span says nothing about a patient: generic words, bare numbers, single letters."""
    words = tokenise(text)
    if " ".join(words) in _GENERIC:
        return True
    return all(
        word in _GENERIC or word in words_of("filler") or not any(c.isalpha() for c in word) or len(word) < 2
        for word in words
    )


def matches_any_fact(entity: Entity, facts: Sequence[str]) -> bool:
    """Whether an entity is one of the facts, or part of one."""
    return any(_matches(entity.concept, entity.text, fact) for fact in facts)


@lru_cache(maxsize=65536)
def _matches(concept: str, named_as: str, text: str) -> bool:
    fact = parse_fact(text)
    named = [slot.concept for slot in (fact.core, *fact.details) if slot.concept is not None]
    if concept:
        index = term_index(read(named_as))
        if any(c.id == concept or concept in c.ancestors or index.within(c.id) for c in named):
            return True
    stems = content_stems(named_as)
    return bool(stems) and stems.issubset(stems_of(fact.document))


@lru_cache(maxsize=8192)
def content_stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in tokenise(text) if word not in words_of("filler"))
