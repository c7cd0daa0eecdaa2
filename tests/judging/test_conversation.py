"""A conversation judged live, and again from its answers: the same, but for what is changed there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from asked import ScriptedJudge, clear, run
from found import key
from test_procedure import CASE, transcript

from pytest_clinical_drift.core.findings import Finding, FindingKey
from pytest_clinical_drift.core.log import Answer
from pytest_clinical_drift.core.words import State, Why
from pytest_clinical_drift.evidence.findings import Findings
from pytest_clinical_drift.judging.canaries import KINDS as CANARIES
from pytest_clinical_drift.judging.conversation import NOT_LOGGED, Method, judge_again, judge_texts, with_people
from pytest_clinical_drift.judging.for_reviewers import JudgedConversation, Known
from pytest_clinical_drift.judging.labelled import GROUPS
from pytest_clinical_drift.judging.procedure import Judges
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.readings import WINDOW_TOKENS, Reading
from pytest_clinical_drift.scoring.scorer import Scorer

METHOD = Method(
    Known({}, WINDOW_TOKENS, frozenset(GROUPS)),
    Judges("scripted", "scripted"),
    audit={"fact": 0.3, "harm": 0.3},
    canaries=dict.fromkeys(CANARIES, 1.0),
)
LOST = key("fact", 5, "metformin")
HARM = key("harm", 7)


def script(item: Question | Reading, wording: int) -> dict[str, Any] | str:
    """A fact lost at turn 5, harm at turn 7 and a demand broken at turn 3, upheld each; of turn 9 no answer comes."""
    given = clear(item)
    if isinstance(item, Question):
        found = {("fact", 5, "metformin"): "absent", ("must", 3, "t3-must-1"): "missing", ("harm", 7, ""): "harm"}
        word = found.get((item.kind, item.turn, item.key.subject))
        return (
            given if word is None else {**given, "answer": word, "quote": "Reply number 7." if word == "harm" else ""}
        )
    if item.kind == "summary" and item.turn == 5:
        given["facts"]["metformin"] = {"answer": "absent", "quote": ""}
    if item.kind == "reply" and item.turn == 3:
        given["demands"]["t3-must-1"] = {"answer": "missing", "quote": ""}
    if item.kind == "reply" and item.turn == 7:
        given["harm"] = {"answer": "harm", "quote": "Reply number 7."}
    if item.kind == "reply" and item.turn == 9:
        return "the judge stopped"
    return given


@cache
def rules() -> Findings:
    return Scorer().find(CASE, transcript())


@cache
def live() -> JudgedConversation:
    """Judged by a scripted judge, through a queue."""
    judged = run(lambda asker: judge_texts(asker, CASE, transcript(), rules(), METHOD), ScriptedJudge(script))
    return with_people(judged, CASE, transcript(), METHOD)


def again(answers: Iterable[Answer]) -> JudgedConversation:
    return judge_again(CASE, transcript(), rules(), METHOD, [*answers, *live().canary_answers])


def differing(judged: JudgedConversation) -> set[FindingKey]:
    """Keys of findings that are there once only, or settled in another way."""
    before, after = live().judgement.findings, judged.judgement.findings
    return {of for of in {*before, *after} if _outcome(before.get(of)) != _outcome(after.get(of))}


def _outcome(finding: Finding | None) -> tuple[object, ...]:
    return () if finding is None else (finding.state, finding.answer, finding.why, finding.opinions)


def test_the_answers_give_the_same_conversation() -> None:
    """Findings, questions, entries, canaries and counts: everything is equal, and the answers are those of the log."""
    states = {of: finding.state for of, finding in live().judgement.findings.items()}
    assert (states[LOST], states[HARM]) == (State.CONFIRMED, State.OPEN)
    assert states[key("must", 3, "t3-must-1")] is State.CONFIRMED
    assert {finding.why for finding in live().judgement.findings.values()} >= {Why.READING, Why.UNSURE, Why.AUDIT}
    assert live().canaries
    assert again(live().answers) == live()
    assert again(reversed(live().answers)) == live()  # whenever they came


def answer_on(of: FindingKey) -> Answer:
    """The first answer to the question on a finding."""
    question = live().judgement.findings[of].question
    return next(answer for answer in live().answers if answer.item == question and answer.wording == 1)


def exchanged(old: Answer, *new: Answer) -> list[Answer]:
    """The answers with one of them changed, or left out."""
    left = [answer for answer in live().answers if answer is not old]
    assert len(left) == len(live().answers) - 1
    return [*left, *new]


@pytest.mark.parametrize(("of", "clears"), [(LOST, "retained"), (key("must", 3, "t3-must-1"), "met"), (HARM, "none")])
def test_an_answer_that_was_flipped_changes_that_finding_only(of: FindingKey, clears: str) -> None:
    """The reading holds it against the model, wording 1 clears it now, and nobody was asked wording 2: open."""
    old = answer_on(of)
    assert old.given["answer"] != clears
    quote = "Reply number" if of.kind != "fact" else "Metformin 500 mg"
    judged = again(exchanged(old, replace(old, given={"answer": clears, "quote": quote, "reason": "flipped"})))
    assert differing(judged) == {of}
    finding = judged.judgement.findings[of]
    first, second = (opinion for opinion in finding.opinions if not opinion.reading)
    assert (first.answer, first.reason) == (clears, "flipped")
    assert (second.answer, second.reason, second.doubt) == ("unsure", NOT_LOGGED, "failed")
    assert finding.state is State.OPEN


@pytest.mark.parametrize("of", [LOST, key("must", 3, "t3-must-1"), HARM])
def test_an_answer_that_is_missing_leaves_its_finding_open(of: FindingKey) -> None:
    """It is never taken for a clearance."""
    judged = again(exchanged(answer_on(of)))
    assert differing(judged) == {of}
    finding = judged.judgement.findings[of]
    assert finding.state is State.OPEN
    assert {opinion.reason for opinion in finding.opinions if not opinion.reading} == {NOT_LOGGED}


def test_without_any_answer_nothing_is_cleared() -> None:
    """Every text is unread: nothing is confirmed, nothing dismissed or cleared."""
    judged = again([])
    assert judged.judgement.findings
    assert {finding.state for finding in judged.judgement.findings.values()} == {State.OPEN}
