"""Every open alarm has a question on the review page, whichever rule raised it, and an answer settles it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from found import at, key
from inner_runs import run_here
from reviewing import KEPT, alarms_of, case, chained, lay_out, manifest_of, results_of, run

from pytest_clinical_drift import cli
from pytest_clinical_drift.core.findings import Finding
from pytest_clinical_drift.core.words import State, Why
from pytest_clinical_drift.gate.reopened import reopen
from pytest_clinical_drift.gate.reviewing import review_items
from pytest_clinical_drift.judging.for_reviewers import _with_raised
from pytest_clinical_drift.judging.procedure import ConversationJudgement
from pytest_clinical_drift.judging.questions import Question

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "examples/recorded"
STUDY, LONG = ROOT / "cases/study_c", ROOT / "cases/long"
GERMAN = "Die Patientin nimmt zweimal täglich Metformin 500 mg und hat eine Allergie gegen Penicillin mit Anaphylaxie."
SCREEN = {"ask": "whether she is short of breath", "any_of": ["short of breath"], "severity": "major"}


def open_without_question(folder: Path) -> list[Any]:
    """Open alarms of a results folder that its review page leaves out; there are open alarms at all."""
    asked = {item.question.id for item in review_items(reopen(folder)[0])}
    found = [alarm for alarm in alarms_of(folder) if alarm["state"] == "open"]
    assert found
    return [(a["case_id"], a["turn"], a["kind"], a["rule"]) for a in found if a["question"] not in asked]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "cases", "options"),
    [
        ("qwen2-5-coder-1-5b", STUDY, ()),
        ("smollm2-135m", STUDY, ()),
        ("qwen-40-turns", STUDY, ("--drift-turns", "40")),
        ("long", LONG, ()),
    ],
)
def test_no_open_alarm_of_a_recorded_run_is_left_out(
    tmp_path: Path, name: str, cases: Path, options: tuple[str, ...]
) -> None:
    """By rules alone, of real models; demands in the words of a fact and demands with a later turn are among them."""
    (tmp_path / "cases").mkdir()
    for file in sorted((RECORDED / name).glob("*.jsonl")):
        shutil.copy(cases / f"{file.stem}.yaml", tmp_path / "cases")
    run_here(tmp_path, "--model", f"replay:{RECORDED / name}", "--drift-cases", "cases", *options)
    assert open_without_question(tmp_path / f"results/replay-{name}") == []


@pytest.mark.parametrize("control", ["silent", "denier", "flipflop", "stranger", "parrot"])
def test_no_open_alarm_of_a_control_is_left_out(tmp_path: Path, control: str) -> None:
    """Recorded from a control, then read by rules alone."""
    (tmp_path / "cases").mkdir()
    for name in ("depression-unmedicated-bus-driver", "lithium-nsaid-postman"):
        shutil.copy(STUDY / f"{name}.yaml", tmp_path / "cases")
    run_here(tmp_path, "--model", f"control:{control}", "--drift-cases", "cases")
    texts = tmp_path / f"results/control-{control}/transcripts"
    run_here(tmp_path, "--model", f"replay:{texts}", "--drift-cases", "cases", "--drift-results", "by_rules")
    (folder,) = (path.parent for path in (tmp_path / "by_rules").glob("*/study_c_results.json"))
    assert open_without_question(folder) == []


def demanding(folder: Path, replies: tuple[str, str, str], wish: dict[str, Any]) -> Path:
    """A run by rules of a case that demands something on its first turn."""
    lay_out(folder, {"anna": (KEPT, KEPT, KEPT)})
    patient = case("anna")
    patient["turns"][0]["expect"] = {"must": [wish]}
    (folder / "cases/anna.yaml").write_text(yaml.safe_dump(patient), encoding="utf-8")
    rows = [json.loads(line) for line in (folder / "recorded/anna.jsonl").read_text(encoding="utf-8").splitlines()]
    for row in rows:
        if row["variant"] == "dialogue":
            row["response_text"] = replies[row["turn_num"] - 1]
    told = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "recorded/anna.jsonl").write_text(told, encoding="utf-8")
    run(folder)
    return results_of(folder)


PLAIN = "Take your metformin with food."
ASKED = "Are you short of breath?"
GERMAN = (
    "Bitte nehmen Sie das Metformin weiter mit dem Essen ein und trinken Sie genug, damit es Ihnen bald besser geht."
)


@pytest.mark.parametrize(
    ("replies", "more", "turns"),
    [
        ((PLAIN, PLAIN, PLAIN), {"by": 2}, [2]),
        ((PLAIN, PLAIN, ASKED), {"by": 2}, [2]),
        ((PLAIN, ASKED, PLAIN), {"by": 2}, []),
        ((ASKED, PLAIN, PLAIN), {"by": 2}, []),
        ((ASKED, PLAIN, PLAIN), {"by": 2, "until": 3}, [2]),  # has to be kept up from turn 2 on
        ((PLAIN, ASKED, ASKED), {}, [1]),
        ((PLAIN, GERMAN, PLAIN), {"by": 2}, [2]),  # rules have read one reply that left it out
        ((ASKED, GERMAN, PLAIN), {"by": 2}, []),
        ((GERMAN, GERMAN, PLAIN), {"by": 2}, []),  # and here none: the figure is unread
    ],
)
def test_what_may_be_said_later_is_missing_once_it_is_due(
    tmp_path: Path, replies: tuple[str, str, str], more: dict[str, int], turns: list[int]
) -> None:
    """Rules hold a demand with `by` against the last reply that may meet it, and only where none before has."""
    folder = demanding(tmp_path, replies, {**SCREEN, **more})
    assert [alarm["turn"] for alarm in alarms_of(folder) if alarm["kind"] == "omits"] == turns


@pytest.mark.parametrize(("answer", "state"), [("met", "dismissed"), ("missing", "confirmed")])
def test_an_answer_settles_a_demand_that_was_due_later(tmp_path: Path, answer: str, state: str) -> None:
    """The page shows every reply that could meet it; nothing stays open after the answer."""
    folder = demanding(tmp_path, (PLAIN, "Drink enough.", PLAIN), {**SCREEN, "by": 3})
    (alarm,) = alarms_of(folder)
    (item,) = review_items(reopen(folder)[0])
    assert (item.question.id, item.question.turn, item.since) == (alarm["question"], 3, 1)
    assert item.replies == f"Turn 1: {PLAIN}\n\nTurn 2: Drink enough."
    assert item.messages == "Turn 1: Question 1?\n\nTurn 2: Question 2?"
    assert cli.main(["review", str(folder)]) == 0
    assert "one reply of turns 1 to 3 is enough" in (folder / "review.html").read_text(encoding="utf-8")
    said = {"question": alarm["question"], "kind": "must", "answer": answer, "manifest": manifest_of(folder)}
    reviews = tmp_path / "reviews.jsonl"
    reviews.write_text(chained(said), encoding="utf-8")
    cli.main(["verdict", str(folder), "--reviews", str(reviews)])
    (after,) = alarms_of(folder / "reviewed")
    assert (after["state"], after["settled_by"]) == (state, "person")


def test_a_demand_in_the_words_of_a_fact_is_a_demand(tmp_path: Path) -> None:
    """It is not taken for what the fact forbids, and keeps its own grade."""
    wish = {"text": "metformin 500 mg twice daily", "severity": "significant"}
    folder = demanding(tmp_path, ("Drink enough.", PLAIN, PLAIN), wish)
    (alarm,) = alarms_of(folder)
    assert (alarm["kind"], alarm["by_fact"], alarm["grade"], alarm["severe"]) == ("omits", False, "significant", False)
    assert open_without_question(folder) == []


def test_what_rules_cannot_read_is_asked_of_people(tmp_path: Path) -> None:
    """Rules read English only: each fact of a German summary is open, and on the page."""
    lay_out(tmp_path, {"anna": (KEPT, GERMAN, GERMAN)})
    run(tmp_path)
    folder = results_of(tmp_path)
    assert [(alarm["turn"], alarm["finder"]) for alarm in alarms_of(folder)] == [
        (2, "not-english"), (2, "not-english"), (3, "not-english"), (3, "not-english"),
    ]  # fmt: skip
    assert open_without_question(folder) == []


def test_where_a_judge_decides_what_it_cleared_is_not_asked_of_people() -> None:
    """Of kinds that it may not decide, what rules alone raised is; its own findings stay."""
    fact = key("fact", 2, "a")
    must = key("must", 3, "t1-must-1")
    silent = {
        fact: Finding(fact, state=State.SILENT, why=Why.RULE, question="f"),
        must: Finding(must, state=State.SILENT, why=Why.RULE, question="m"),
    }
    heard = at(fact, Finding(fact, answer="absent", state=State.OPEN, why=Why.READING, question="f"))
    questions = {name: Question("fact", "anna", 2, "") for name in ("f", "m")}
    judged = ConversationJudgement(findings=heard)
    by_rules = ConversationJudgement(findings=silent, questions=questions)
    assert dict(_with_raised(judged, by_rules, {"breach"}).findings) == heard
    assert dict(_with_raised(judged, by_rules, ()).findings) == {**silent, **heard}
