"""Entities of a case's summaries: how many match the gold sets (critical, extended), and which ones nobody told.

An extractor is `lexicon` (the bundled vocabularies, the default) or `scispacy[:MODEL]` (any spaCy pipeline with an
entity recogniser). Sources are the intake and the patient's messages so far; a model's own replies do not count.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from typing import Any, Protocol

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.errors import InputError, MissingDependency, not_loadable
from pytest_clinical_drift.evidence.facts.fact import parse_fact, words_of
from pytest_clinical_drift.evidence.reading.text import Document, blank_hidden, read, tokenise
from pytest_clinical_drift.evidence.terms.lexicon import CLINICAL_KINDS, Term, named_ids, term_index
from pytest_clinical_drift.evidence.terms.vocabulary import MEASURE, load_vocabulary
from pytest_clinical_drift.evidence.terms.words import stem, stems_of

_INSTALL = (
    "pip install 'pytest-clinical-drift[scispacy]' in an environment of its own, because scispacy needs numpy < 2 and "
    "other extras need numpy 2"
)
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

    @property
    def key(self) -> str:
        """What is counted once."""
        return self.concept or self.text.lower()


class Extractor(Protocol):
    """Finds entities in a text."""

    name: str

    def extract(self, document: Document) -> list[Entity]: ...


def load_extractor(spec: str = "lexicon") -> Extractor:
    name, _, model = spec.partition(":")
    if name == "lexicon" and not model:
        return LexiconExtractor()
    if name == "scispacy":
        model = model or "en_core_sci_sm"
        return SpacyExtractor(model, _load_pipeline(model))
    raise InputError(f"--drift-ner {spec}: unknown entity extractor; valid ones: lexicon, scispacy[:MODEL]")


class LexiconExtractor:
    """Terms of the bundled vocabularies."""

    name = "lexicon"

    def extract(self, document: Document) -> list[Entity]:
        outermost: list[Term] = []
        for term in sorted(_clinical_terms(document), key=lambda t: (t.first, -t.last)):
            letters = term.first == term.last and len(document.words[term.first]) < 3
            if term.weak or (letters and term.concept.kind == MEASURE):
                continue
            if not outermost or term.last > outermost[-1].last:
                outermost.append(term)
        spans = [(t.concept, document.starts[t.first], document.ends[t.last]) for t in outermost]
        entities = [Entity(document.raw[a:b], a, b, concept.kind, concept.id) for concept, a, b in spans]
        return [entity for entity in entities if not _is_generic(entity.text)]


def _clinical_terms(document: Document) -> list[Term]:
    by_kind = term_index(document).by_kind
    return list(chain.from_iterable(by_kind.get(kind, ()) for kind in sorted(CLINICAL_KINDS)))


class SpacyExtractor:
    """A spaCy pipeline with an entity recogniser, such as scispaCy's."""

    def __init__(self, model: str, pipeline: Any) -> None:
        self.name = f"scispacy:{model}"
        self._pipeline = pipeline

    def extract(self, document: Document) -> list[Entity]:
        spans = [(e.start_char, e.end_char, str(e.label_)) for e in self._pipeline(blank_hidden(document.raw)).ents]
        texts = [(document.raw[start:end], start, end, label) for start, end, label in spans]
        return [Entity(*found, _concept_of(found[0])) for found in texts if not _is_generic(found[0])]


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
            f"(en_core_sci_sm-0.5.4.tar.gz for the default), {_LOOK_ALIKES}"
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
            f"the installed package {model!r} {installed} is not a spaCy model but a look-alike name: uninstall it and "
            f"install the archive from the scispacy releases page, {_LOOK_ALIKES}"
        )


@lru_cache(maxsize=8192)
def _concept_of(text: str) -> str:
    """The vocabulary's concept that a span is, or an empty string."""
    document = read(text)
    whole = (t.concept.id for t in _clinical_terms(document) if (t.first, t.last) == (0, len(document) - 1))
    return next(whole, "")


_GENERIC = frozenset(map(str, load_vocabulary("generic_spans")["words"]))


@lru_cache(maxsize=8192)
def _is_generic(text: str) -> bool:
    """Whether a span says nothing about a patient: generic words, bare numbers, single letters."""
    words = tokenise(text)
    if " ".join(words) in _GENERIC:
        return True
    empty = _GENERIC | words_of("filler")
    return all(word in empty or not any(c.isalpha() for c in word) or len(word) < 2 for word in words)


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


@dataclass(frozen=True, slots=True)
class ScoredEntities:
    """Counts of one summary's entities, each distinct one counted once."""

    stated: int
    """Entities of the summary."""
    matching_critical: int
    """Those that are a critical fact or part of one."""
    matching_extended: int
    """Those that are a critical fact or an entity of the intake."""
    background: int
    """Entities of the intake beyond the critical facts: with them the extended set."""
    background_stated: int
    """Background entities that the summary states."""
    hallucinated: tuple[str, ...]
    """Entities that neither the intake nor the patient's messages so far name."""


NO_ENTITIES = ScoredEntities(0, 0, 0, 0, 0, ())
"""Of a text that rules cannot read: every rate over it is undefined."""


class EntityScorer:
    """Compares the summaries of one case with its facts, its intake and what the patient has said so far."""

    def __init__(self, case: Case, extractor: Extractor | None = None) -> None:
        self._case = case
        self._extractor = extractor if extractor is not None else load_extractor()
        facts = [fact.text for fact in case.critical_entities]
        intake = self._distinct(read(case.patient_summary))
        self._background = {e.key: e for e in intake if not matches_any_fact(e, facts)}
        # read once: every turn's summary is compared with all that was said before it
        sources = [read(text) for text in (case.patient_summary, *(turn.message for turn in case.turns))]
        self._told = [(named_ids(document), frozenset(stems_of(document))) for document in sources]

    def score(self, summary: str | Document, turn: int) -> ScoredEntities:
        """The figures of the summary that was asked for after a turn; one that has been read is not read again."""
        document = read(summary) if isinstance(summary, str) else summary
        entities = self._distinct(document)
        facts = self._facts(turn)
        critical = [matches_any_fact(e, facts) for e in entities]
        extended = [known or e.key in self._background for e, known in zip(entities, critical, strict=True)]
        here = [(named_ids(document), frozenset(stems_of(document)))]
        return ScoredEntities(
            len(entities),
            sum(critical),
            sum(extended),
            len(self._background),
            sum(_is_named(e, here) for e in self._background.values()),
            tuple(e.text for e in entities if not _is_named(e, self._told[: turn + 1])),
        )

    def _distinct(self, document: Document) -> list[Entity]:
        """One entity per concept, the first."""
        found = self._extractor.extract(document)
        return list({entity.key: entity for entity in reversed(found)}.values())[::-1]

    def _facts(self, turn: int) -> list[str]:
        """Every wording of a critical fact that has been true up to a turn."""
        texts: list[str] = []
        for fact in self._case.critical_entities:
            texts += [fact.text, *fact.aliases]
        for said in self._case.turns[:turn]:
            texts += [fact.text for fact in said.introduces]
            texts += [update.becomes for update in said.updates if update.becomes]
        return texts


def _is_named(entity: Entity, texts: Sequence[tuple[set[str], frozenset[str]]]) -> bool:
    """Whether a text (its concepts and its stems) has the entity, something narrower, or all of its words."""
    if any(entity.concept in ids for ids, _ in texts):
        return True
    stems = content_stems(entity.text)
    return bool(stems) and any(stems <= known for _, known in texts)
