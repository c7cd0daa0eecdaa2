"""Entities, what nobody told, and the optional recogniser."""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass
from typing import Any

import pytest

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.errors import InputError, MissingDependency
from pytest_clinical_drift.evidence.entities import EntityScorer, load_extractor, matches_any_fact
from pytest_clinical_drift.evidence.facts.retention import assess_document
from pytest_clinical_drift.evidence.reading.text import read


def names(text: str) -> list[str]:
    return [entity.text for entity in load_extractor().extract(read(text))]


def test_lexicon_finds_clinical_terms_and_drops_generic_ones() -> None:
    """Drugs, conditions and measurements; not "patient" or "history"."""
    assert names("The patient has a history of gout and takes Zoloft.") == ["gout", "Zoloft"]


def test_overlapping_terms_count_once() -> None:
    """A penicillin allergy is one entity."""
    assert names("a penicillin allergy") == ["penicillin allergy"]


def test_offsets_point_into_the_raw_text() -> None:
    """Also behind hidden reasoning."""
    text = "<think>asthma</think> She has **gout**."
    [entity] = load_extractor().extract(read(text))
    assert text[entity.start : entity.end] == entity.text == "gout"


def test_entities_that_match_facts() -> None:
    """An entity is a fact, part of one, or something else."""
    entities = {e.text: e for e in load_extractor().extract(read("Zoloft, gout, panic disorder"))}
    facts = ["sertraline 50mg", "panic disorder"]
    assert [name for name, entity in entities.items() if matches_any_fact(entity, facts)] == [
        "Zoloft",
        "panic disorder",
    ]


def case() -> Case:
    return Case.model_validate(
        {
            "id": "anna",
            "patient_summary": "Anna has panic disorder and gout and takes sertraline 50 mg.",
            "critical_entities": ["panic disorder", "sertraline 50 mg"],
            "turns": [{"turn": 1, "message": "Hello."}, {"turn": 2, "message": "I also have asthma."}],
        }
    )


def test_scores_of_a_summary() -> None:
    """Three entities, two of them critical, one invented."""
    scored = EntityScorer(case()).score("She has panic disorder, takes sertraline 50 mg and has asthma.", 1)
    assert (scored.stated, scored.matching_critical, scored.hallucinated) == (3, 2, ("asthma",))


def test_patient_messages_so_far_are_a_source() -> None:
    """What the patient says on turn 2 is told from turn 2 on."""
    scorer = EntityScorer(case())
    assert scorer.score("She has asthma.", 1).hallucinated == ("asthma",)
    assert scorer.score("She has asthma.", 2).hallucinated == ()


def test_extended_set_adds_the_intake() -> None:
    """Gout stands in the intake beside two critical facts."""
    scored = EntityScorer(case()).score("She has panic disorder and takes sertraline 50 mg.", 1)
    assert (scored.background, scored.background_stated) == (1, 0)
    fuller = EntityScorer(case()).score("She has panic disorder and gout.", 1)
    assert (fuller.background_stated, fuller.matching_critical, fuller.matching_extended) == (1, 1, 2)


def test_a_summary_that_was_read_before_scores_the_same() -> None:
    """A text and its document give the same figures, also when other evidence was taken from the document first."""
    summary = "She has gout and asthma, denies chest pain and takes sertraline 100 mg and lithium."
    document = read(summary)
    assess_document(document, ["sertraline 50 mg", "gout"])
    for turn in (1, 2):
        assert EntityScorer(case()).score(document, turn) == EntityScorer(case()).score(summary, turn)


def test_a_turn_after_the_last_knows_no_more_than_the_last() -> None:
    """What nobody told stays invented beyond the turns of the case."""
    scorer = EntityScorer(case())
    summary = "She has asthma, takes lithium and denies chest pain."
    assert scorer.score(summary, 9) == scorer.score(summary, 2)
    assert scorer.score(summary, 9).hallucinated == ("lithium", "chest pain")


def test_no_entity() -> None:
    """Nothing stated: nothing to divide by."""
    assert EntityScorer(case()).score("All well.", 1).stated == 0


def test_unknown_extractor() -> None:
    """One sentence names the choices."""
    with pytest.raises(InputError, match=r"--drift-ner umls: .* valid ones: lexicon, scispacy"):
        load_extractor("umls")


def test_missing_spacy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without spaCy the message says what to install."""
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingDependency, match=r"pip install .pytest-clinical-drift\[scispacy\]"):
        load_extractor("scispacy").extract(read("gout"))


@dataclass
class _Span:
    start_char: int
    end_char: int
    label_: str = "ENTITY"


@dataclass
class _Parsed:
    ents: list[_Span]


class _Pipeline:
    """Marks the words "gout" and "patient"."""

    def __init__(self, pipe_names: list[str]) -> None:
        self.pipe_names = pipe_names

    def __call__(self, text: str) -> _Parsed:
        places = [(text.find(word), len(word)) for word in ("gout", "patient")]
        return _Parsed([_Span(at, at + size) for at, size in places if at >= 0])


def _fake_spacy(monkeypatch: pytest.MonkeyPatch, load: Any) -> None:
    module = types.ModuleType("spacy")
    module.load = load  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "spacy", module)


def test_spacy_pipeline_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spans of the recogniser, generic and hidden ones dropped, known ones with their concept."""
    _fake_spacy(monkeypatch, lambda name: _Pipeline(["ner"]))
    extractor = load_extractor("scispacy:some_model")
    assert [(e.text, e.concept) for e in extractor.extract(read("the patient has gout"))] == [
        ("gout", "condition:gout")
    ]
    assert extractor.extract(read("<think>gout</think>")) == []


def test_missing_pipeline_names_the_archive(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hint gives the official archive and warns of look-alikes."""

    def load(name: str) -> _Pipeline:
        raise OSError(name)

    _fake_spacy(monkeypatch, load)
    with pytest.raises(MissingDependency, match=r"en_core_sci_sm-0\.5\.4\.tar\.gz.*look-alike"):
        load_extractor("scispacy").extract(read("gout"))


def test_pipeline_without_recogniser(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipeline that finds no entities is refused."""
    _fake_spacy(monkeypatch, lambda name: _Pipeline(["tagger"]))
    with pytest.raises(InputError, match="no entity recogniser"):
        load_extractor("scispacy").extract(read("gout"))
