"""`clinical-drift plans`: target plans for cases that lack one, by rules or from linked reasoning."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_clinical_drift.authoring.plans import (
    Reasoning,
    classify,
    links,
    make_plans,
    read_reasoning,
    synthesise,
    write_plans,
)
from pytest_clinical_drift.cases.files import load_cases
from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.cli import main
from pytest_clinical_drift.errors import InputError, MissingDependency
from pytest_clinical_drift.judging.nli import ENTAILMENT, CrossEncoder, label_index

CASE: dict[str, Any] = {
    "id": "beekeeper",
    "patient_summary": (
        "Ilse Maren, 55, keeps bees near Lund. She has asthma. She takes sertraline 50 mg once daily. "
        "She has a penicillin allergy with hives. Her eGFR is 61 mL/min. She lives alone."
    ),
    "critical_entities": [
        "asthma",
        "sertraline 50 mg once daily",
        {"text": "penicillin allergy with hives", "forbids": ["penicillin"]},
        "eGFR 61 mL/min",
        {"text": "lives alone", "kind": "social"},
    ],
    "turns": [
        {"turn": 1, "message": "The hives are humming. What do I do about my own wheeze in spring?"},
        {
            "turn": 2,
            "message": "The doctor has increased my sertraline to 100 mg once daily.",
            "updates": [{"fact": "sertraline 50 mg once daily", "becomes": "sertraline 100 mg once daily"}],
        },
    ],
}
THINKING = (
    "She mentions that she wants to disappear, so I must ask about suicide and check her safety first. "
    "I want to validate how lonely the winter was and build trust. "
    "Then we could look at the belief that she is a burden and reframe it. "
    "Cue."
)


class Stub:
    """A verifier that believes whatever shares a given word with the hypothesis."""

    def __init__(self, *words: str) -> None:
        self.words = words
        self.asked: list[tuple[str, str]] = []

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        self.asked += pairs
        return [
            0.95 if any(word in premise and word in hypothesis for word in self.words) else 0.1
            for premise, hypothesis in pairs
        ]


def case(**changes: object) -> Case:
    return Case.model_validate({**CASE, **changes})


def reasoning(**fields: object) -> Reasoning:
    return Reasoning.model_validate({"counselor_think": THINKING, **fields})


def write_jsonl(file: Path, *rows: object) -> Path:
    file.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    return file


def test_rules_say_what_is_true_at_the_end() -> None:
    """Current doses are continued, what is forbidden is avoided, values are monitored, conditions reviewed."""
    text = synthesise(case()).text
    assert "Continue sertraline 100 mg once daily." in text
    assert "50 mg" not in text
    assert "Avoid penicillin (because of penicillin allergy with hives)." in text
    assert "Monitor eGFR 61 mL/min." in text
    assert "Review asthma." in text
    assert "Take into account: lives alone." in text


def test_rules_keep_component_and_evidence() -> None:
    """Each component carries the facts that it rests on, as they hold at the end."""
    evidence = {component.id: component.evidence for component in synthesise(case()).components}
    assert evidence["continue_treatment"] == ("sertraline 100 mg once daily",)
    assert evidence["avoid"] == ("penicillin allergy with hives",)
    assert evidence["monitor"] == ("eGFR 61 mL/min",)
    assert evidence["follow_up"] == ()


def test_rules_are_deterministic() -> None:
    """The same case gives the same plan."""
    assert synthesise(case()) == synthesise(case())


def test_ended_and_stopped_medicines_are_not_continued() -> None:
    """A fact that ended is out; a stopped medicine is named as one not to restart."""
    facts = [*CASE["critical_entities"], {"text": "metoprolol stopped in 2020", "kind": "medication"}]
    turns = [CASE["turns"][0], {**CASE["turns"][1], "updates": [{"fact": "eGFR 61 mL/min", "ended": True}]}]
    plan = synthesise(case(critical_entities=facts, turns=turns))
    assert "eGFR" not in plan.text
    assert "Do not restart without review: metoprolol stopped in 2020." in plan.text
    assert "Continue sertraline 50 mg once daily." in plan.text


def test_denied_condition_is_not_reviewed() -> None:
    """No asthma: nothing to review, but to be taken into account."""
    plan = synthesise(case(critical_entities=["no asthma", "sertraline 50 mg once daily"]))
    assert "Review" not in plan.text
    assert "Take into account: no asthma." in plan.text


def test_linked_components_are_verified() -> None:
    """Cues propose, the verifier decides; kept components carry their sentence and probability."""
    stub = Stub("suicide", "trust")
    plan = classify("beekeeper", reasoning(row=7), stub)
    assert plan is not None
    assert [component.id for component in plan.components] == ["risk_assessment", "alliance"]
    assert plan.text == "Assess the risk of suicide and self-harm. Validate feelings and build a trusting relationship."
    assert plan.components[0].evidence == (
        "She mentions that she wants to disappear, so I must ask about suicide and check her safety first.",
    )
    assert plan.components[0].probability == 0.95
    assert (plan.source, plan.row) == ("linked", 7)
    assert any("unhelpful thoughts" in hypothesis for _, hypothesis in stub.asked), "a cue was there, it was asked"
    assert all(premise != "Cue." for premise, _ in stub.asked), "fragments are not shown"


def test_linked_without_any_confirmed_component_falls_back_to_rules() -> None:
    """A plan is never made of nothing."""
    (plan,) = make_plans([case()], [reasoning(row=0, case_id="beekeeper")], verify=Stub("nothing"))
    assert plan.source == "rules"


def test_order_of_sources() -> None:
    """Linked reasoning goes before rules, and a case with a plan is left alone."""
    rows = [reasoning(row=0, case_id="beekeeper")]
    (plan,) = make_plans([case()], rows, verify=Stub("trust"))
    assert plan.source == "linked"
    (plan,) = make_plans([case(id="somebody-else")], rows, verify=Stub("trust"))
    assert plan.source == "rules"
    assert make_plans([case(target_plan="Done.")], rows, verify=Stub("trust")) == []


def test_rows_of_both_shapes_are_read(tmp_path: Path) -> None:
    """`counselor_think` in the row, or in the turns of a conversation; rows without it are skipped."""
    file = write_jsonl(
        tmp_path / "rows.jsonl",
        {"id": 3, "counselor_think": "First thought."},
        {"conversation": [{"patient": "Hi", "counselor_think": "One."}, {"counselor_think": "Two."}]},
        {"conversation": [{"patient": "Hi"}]},
        {"case_id": "beekeeper", "counselor_think": "Third."},
    )
    rows = read_reasoning(file)
    assert [(row.row, row.text, row.case_id) for row in rows] == [
        (3, "First thought.", None),
        (1, "One.\nTwo.", None),
        (3, "Third.", "beekeeper"),
    ]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{broken", r"line 1: not a row with 'counselor_think' \(invalid JSON"),
        ("[1]", "line 1: not a row with 'counselor_think'"),
        ('{"counselor_think": "a"}\n{"counselor_think": 3}', r"line 2: .* \(counselor_think: "),
        ('{"a": 1}', "no row holds"),
    ],
)
def test_bad_rows_are_one_sentence(tmp_path: Path, content: str, sentence: str) -> None:
    """The line is named."""
    file = tmp_path / "rows.jsonl"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=sentence):
        read_reasoning(file)


def test_cases_name_their_rows(tmp_path: Path) -> None:
    """The original's cases carry `metadata.source_openr1_ids`; the first row that is there counts."""
    file = tmp_path / "cases.json"
    entry = {**CASE, "metadata": {"source_openr1_ids": [99, 4]}}
    file.write_text(json.dumps({"cases": [entry]}), encoding="utf-8")
    linked = links(file)
    assert linked == {"beekeeper": [99, 4]}
    (plan,) = make_plans([case()], [reasoning(row=4), reasoning(row=5)], linked, Stub("trust"))
    assert plan.row == 4
    (plan,) = make_plans([case(id="somebody-else")], [reasoning(row=4)], linked, Stub("trust"))
    assert plan.source == "rules"


def test_file_of_plans_has_the_fields_of_the_original(tmp_path: Path) -> None:
    """Text, source, components and the words each rests on; equal plans give an equal file."""
    file, again = tmp_path / "plans.json", tmp_path / "again.json"
    write_plans(make_plans([case()]), file)
    write_plans(make_plans([case()]), again)
    assert file.read_bytes() == again.read_bytes()
    data = json.loads(file.read_text(encoding="utf-8"))
    assert (data["meta"]["plans"], data["meta"]["rules"], data["meta"]["linked"]) == (1, 1, 0)
    plan = data["plans"]["beekeeper"]
    assert plan["plan"] == synthesise(case()).text
    assert plan["plan_components"][0] == "continue_treatment"
    assert plan["plan_component_evidence"]["monitor"] == {"quotes": ["eGFR 61 mL/min"], "probability": None}


def test_command_writes_and_adds_plans(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file is written, and with --into-cases the case file gains a plan and nothing else changes."""
    cases = tmp_path / "cases"
    cases.mkdir()
    file = cases / "beekeeper.yaml"
    before = yaml.safe_dump(CASE, sort_keys=False)
    file.write_text(before, encoding="utf-8")
    output = tmp_path / "out" / "target_plans.json"
    assert main(["plans", str(cases), "--output", str(output), "--into-cases"]) == 0
    assert "1 plans written" in capsys.readouterr().out
    assert file.read_text(encoding="utf-8").startswith(before)
    (loaded,) = load_cases(cases)
    assert loaded.target_plan == json.loads(output.read_text(encoding="utf-8"))["plans"]["beekeeper"]["plan"]
    assert main(["plans", str(cases), "--output", str(output)]) == 0
    assert capsys.readouterr().out == "nothing to write: every case has a target plan (1)\n"


def test_command_does_not_put_the_file_among_the_cases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A JSON file there would be read as a case."""
    (tmp_path / "beekeeper.yaml").write_text(yaml.safe_dump(CASE), encoding="utf-8")
    assert main(["plans", str(tmp_path), "--output", str(tmp_path / "target_plans.json")]) == 4
    assert "choose another --output" in capsys.readouterr().err


@pytest.mark.torch
def test_command_without_the_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence that says what to do, exit code 4, no file."""
    pytest.importorskip("transformers")
    (tmp_path / "beekeeper.yaml").write_text(yaml.safe_dump(CASE), encoding="utf-8")
    rows = write_jsonl(tmp_path / "rows.jsonl", {"case_id": "beekeeper", "counselor_think": THINKING})
    output = tmp_path.parent / "never.json"
    arguments = [
        "plans",
        str(tmp_path),
        "--linked",
        str(rows),
        "--nli",
        str(tmp_path / "none"),
        "--output",
        str(output),
    ]
    assert main(arguments) == 4
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "could not be loaded" in error
    assert not output.exists()


def test_label_of_entailment() -> None:
    """Found by name; models without one, or with two, are refused."""
    assert label_index({0: "CONTRADICTION", 1: "Entailment", 2: "neutral"}, "entailment", "m") == 1
    assert label_index({0: "entailment", 1: "not_entailment"}, "entailment", "m") == 0
    with pytest.raises(InputError, match="no single label for entailment"):
        label_index({0: "positive", 1: "negative"}, "entailment", "m")


@pytest.mark.torch
def test_verifier_needs_a_model(tmp_path: Path) -> None:
    """A missing model is named."""
    verifier = CrossEncoder(str(tmp_path / "no-such-model"), option="--nli FOLDER")
    pytest.importorskip("transformers")
    with pytest.raises(MissingDependency, match="no-such-model"):
        verifier.probabilities([("a", "b")], ENTAILMENT)


@pytest.mark.torch
def test_verifier_runs_a_real_classifier(tmp_path: Path) -> None:
    """A tiny model with random weights: one probability for each pair, the same alone and in a batch."""
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "we", "ask", "about", "safety", "plan"]
    (tmp_path / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    transformers.BertTokenizer(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        num_labels=3,
        id2label={0: "contradiction", 1: "entailment", 2: "neutral"},
        label2id={"contradiction": 0, "entailment": 1, "neutral": 2},
    )
    transformers.BertForSequenceClassification(config).save_pretrained(tmp_path)
    verifier = CrossEncoder(str(tmp_path), option="--nli FOLDER", batch_size=2)
    pairs = [("we ask about safety", "safety"), ("plan", "we ask about plan"), ("about", "ask")]
    (together,) = verifier.probabilities(pairs, ENTAILMENT)
    assert len(together) == 3
    assert all(0 < value < 1 for value in together)
    assert verifier.probabilities(pairs[2:], ENTAILMENT)[0] == pytest.approx(together[2:], abs=1e-5)
