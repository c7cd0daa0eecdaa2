"""The scispacy extractor with a real spaCy pipeline, trained here on a few sentences and loaded from disk."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from engine_cases import make_case
from extras import needs

from pytest_clinical_drift.errors import InputError, MissingDependency
from pytest_clinical_drift.evidence.entities import EntityScorer, load_extractor
from pytest_clinical_drift.evidence.reading.text import read

pytestmark = needs("spacy")

FRAMES = (
    "The patient has {} now.",
    "She was treated for {} last year.",
    "He reports {} at night.",
    "Known {} and nothing else.",
)
NAMES = ("zostrine fever", "morbital syndrome", "psoriatic arthritis")


@pytest.fixture(scope="module")
def pipeline_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A blank English pipeline whose recogniser has learnt three names, two of which no vocabulary holds."""
    import spacy
    from spacy.training import Example
    from spacy.util import fix_random_seed

    fix_random_seed(0)
    random.seed(0)
    pipeline = spacy.blank("en")
    pipeline.add_pipe("ner").add_label("DISEASE")
    examples = []
    for frame in FRAMES:
        start = frame.index("{")
        for name in NAMES:
            spans = {"entities": [(start, start + len(name), "DISEASE")]}
            examples.append(Example.from_dict(pipeline.make_doc(frame.format(name)), spans))
    optimizer = pipeline.initialize(lambda: examples)
    for _ in range(20):
        random.shuffle(examples)
        pipeline.update(examples, sgd=optimizer)
    folder = tmp_path_factory.mktemp("pipeline") / "tiny_sci"
    pipeline.to_disk(folder)
    return folder


def test_trained_recogniser_is_loaded_from_disk(pipeline_folder: Path) -> None:
    """Its spans come with their place in the raw text; hidden reasoning is not shown to it."""
    texts = [
        "He reports zostrine fever at night.",
        "<think>The patient has psoriatic arthritis now.</think>Nothing is known.",
        "The patient has psoriatic arthritis now.",
    ]
    extractor = load_extractor(f"scispacy:{pipeline_folder}")
    first, hidden, third = (extractor.extract(read(text)) for text in texts)
    assert [(e.text, texts[0][e.start : e.end], e.kind) for e in first] == [("zostrine fever",) * 2 + ("DISEASE",)]
    assert hidden == []
    assert [(e.text, e.concept) for e in third] == [("psoriatic arthritis", "condition:psoriatic arthritis")]


def test_words_that_only_the_pipeline_knows_count_as_invented(pipeline_folder: Path) -> None:
    """What neither intake nor patient said is listed, also when no vocabulary of ours holds it."""
    scorer = EntityScorer(make_case(1), load_extractor(f"scispacy:{pipeline_folder}"))
    scored = scorer.score("The patient has zostrine fever now.", 1)
    assert [entity for entity in scored.hallucinated if "zostrine" in entity] == ["zostrine fever"]


def test_folder_without_recogniser_is_refused(tmp_path: Path) -> None:
    """A pipeline without ner has nothing to offer."""
    import spacy

    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(InputError, match="no entity recogniser"):
        load_extractor(f"scispacy:{tmp_path / 'blank'}").extract(read("gout"))


def test_folder_that_is_no_pipeline(tmp_path: Path) -> None:
    """One sentence instead of spaCy's own."""
    with pytest.raises(MissingDependency, match="could not be loaded"):
        load_extractor(f"scispacy:{tmp_path}").extract(read("gout"))


def test_look_alike_package_is_never_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package of version 999 under a model's name is refused before any of its code runs."""
    monkeypatch.setattr("pytest_clinical_drift.evidence.entities.version", lambda name: "999.9.9")
    monkeypatch.setattr("spacy.load", lambda name: pytest.fail("its code ran"))
    with pytest.raises(InputError, match="look-alike"):
        load_extractor("scispacy:en_core_sci_md").extract(read("gout"))
