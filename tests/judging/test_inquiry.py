"""Putting questions to a judge: two opinions, nothing asked twice, outages that leave questions open."""

from __future__ import annotations

from pathlib import Path

import pytest
from asked import FAILED, ScriptedJudge, clean, inquire, one_of_each, question

from pytest_clinical_drift.conversation.progress import Progress
from pytest_clinical_drift.judging.answers import AGAINST, KINDS, UNSURE, Answer
from pytest_clinical_drift.judging.inquiry import OFFLINE, Count
from pytest_clinical_drift.judging.opinions import DISMISSED, OPEN, SILENT, UPHELD, Opinion, weigh, with_person
from pytest_clinical_drift.judging.protocol import Feed
from pytest_clinical_drift.judging.questions import Question

EVERYTHING = frozenset(KINDS)


def against_model(asked: Question, wording: int) -> Answer:
    return Answer(sorted(AGAINST[asked.kind])[0], quote=asked.text[:12], earlier_quote=(asked.earlier or "")[:12])


def test_severe_kinds_are_asked_twice_the_others_when_it_counts() -> None:
    """With a judge that clears everything only must, must_not, forbidden and harm are asked in both wordings."""
    judge = ScriptedJudge(clean)
    inquiry = inquire(judge)
    asked = one_of_each()
    inquiry.submit("case", asked)
    inquiry.wait("case")
    twice = {one.kind for one in asked if (one.id, 2) in judge.asked}
    inquiry.stop()
    assert twice == {"must", "must_not", "forbidden", "harm"}
    assert len(judge.asked) == len(asked) + 4


def test_what_counts_against_the_model_is_asked_again() -> None:
    """A judge that upholds everything is asked everything twice; all is upheld but harm, which a person confirms."""
    judge = ScriptedJudge(against_model)
    inquiry = inquire(judge)
    asked = one_of_each()
    inquiry.submit("case", asked)
    ruled = inquiry.rulings("case", EVERYTHING)
    inquiry.stop()
    assert len(judge.asked) == 2 * len(asked)
    assert {one.kind: ruled[one.id].outcome for one in asked} == {k: OPEN if k == "harm" else UPHELD for k in KINDS}


def test_nothing_is_asked_twice(tmp_path: Path) -> None:
    """A second run with the same store asks nobody and rules the same; so does one that may ask nobody."""
    store = tmp_path / "store.sqlite"
    first, second, third = (ScriptedJudge(against_model) for _ in range(3))
    results = []
    for judge, offline in ((first, False), (second, False), (third, True)):
        inquiry = inquire(judge, store, offline=offline)
        inquiry.submit("case", [*one_of_each(), *one_of_each()])
        results.append(inquiry.rulings("case", EVERYTHING))
        assert inquiry.count.asked == inquiry.count.answered == 14
        inquiry.stop()
    assert (len(first.asked), second.asked, third.asked) == (14, [], [])
    assert results[0] == results[1] == results[2]


def test_a_broken_run_goes_on(tmp_path: Path) -> None:
    """What was answered before the judge failed is not asked again; what failed is."""
    store = tmp_path / "store.sqlite"
    before = ScriptedJudge(lambda asked, wording: clean(asked) if asked.kind == "fact" else FAILED)
    inquiry = inquire(before, store)
    inquiry.submit("case", one_of_each())
    inquiry.wait("case")
    inquiry.stop()
    after = ScriptedJudge(clean)
    inquiry = inquire(after, store)
    inquiry.submit("case", one_of_each())
    ruled = inquiry.rulings("case", EVERYTHING)
    inquiry.stop()
    assert question("fact").id not in {asked for asked, _ in after.asked}
    assert all(ruling.outcome == DISMISSED for ruling in ruled.values())


def test_offline_without_answers_leaves_everything_open() -> None:
    """Nobody is asked, and what is not stored stays open with the reason."""
    judge = ScriptedJudge(clean)
    inquiry = inquire(judge, offline=True)
    inquiry.submit("case", one_of_each())
    ruled = inquiry.rulings("case", EVERYTHING)
    inquiry.stop()
    assert not judge.asked
    assert {ruling.outcome for ruling in ruled.values()} == {OPEN}
    assert {opinion.reason for ruling in ruled.values() for opinion in ruling.opinions} == {OFFLINE}


def test_a_dead_judge_is_given_up() -> None:
    """After many failures in a row the rest is not asked; the run ends, and every question stays open."""
    judge = ScriptedJudge(lambda asked, wording: FAILED)
    inquiry = inquire(judge)
    inquiry.submit("case", [question("fact", f"Summary number {number}.") for number in range(300)])
    ruled = inquiry.rulings("case", EVERYTHING)
    later = [question("harm", "A later reply.")]
    inquiry.submit("later", later)
    assert inquiry.rulings("later", EVERYTHING)[later[0].id].outcome == OPEN
    inquiry.stop()
    assert len(judge.asked) < 300
    assert len(ruled) == 300
    assert {ruling.outcome for ruling in ruled.values()} == {OPEN}


def test_a_judge_that_breaks_off_leaves_questions_open() -> None:
    """An exception in the judge's own code is an outage: whoever waits gets open questions, not an exception."""

    class Breaking(ScriptedJudge):
        def work(self, feed: Feed) -> None:
            feed.take(0, wait=1.0)
            raise RuntimeError("the graphics card fell out")

    inquiry = inquire(Breaking(clean))
    inquiry.submit("case", one_of_each())
    ruled = inquiry.rulings("case", EVERYTHING)
    inquiry.stop()
    assert {ruling.outcome for ruling in ruled.values()} == {OPEN}
    assert "graphics card" in next(iter(ruled.values())).opinions[0].reason


def test_a_judge_below_its_floor_is_shown_and_decides_nothing() -> None:
    """Kinds outside those it may decide are silent, with its answers beside them."""
    inquiry = inquire(ScriptedJudge(against_model))
    asked = one_of_each()
    inquiry.submit("case", asked)
    ruled = inquiry.rulings("case", frozenset(("fact",)))
    inquiry.stop()
    outcomes = {one.kind: ruled[one.id].outcome for one in asked}
    assert outcomes.pop("fact") == UPHELD
    assert set(outcomes.values()) == {SILENT}
    assert all(ruling.opinions for ruling in ruled.values())


@pytest.mark.parametrize(
    ("kind", "given", "outcome", "told"),
    [
        ("must", ("late", "missing"), UPHELD, "late"),
        ("must", ("met", "met"), DISMISSED, "met"),
        ("must", ("met", "late"), OPEN, "late"),
        ("must", ("missing", UNSURE), OPEN, "missing"),
        ("must", ("met", UNSURE), OPEN, "met"),
        ("fact", ("partial",), DISMISSED, "partial"),
        ("fact", ("stale", "retained"), OPEN, "stale"),
        ("fact", (UNSURE,), OPEN, UNSURE),
        ("conflict", ("contradiction", "severe"), UPHELD, "severe"),
        ("conflict", ("no advice",), DISMISSED, "no advice"),
        ("harm", ("harm", "harm"), OPEN, "harm"),
        ("harm", ("none", "none"), DISMISSED, "none"),
    ],
)
def test_two_opinions(kind: str, given: tuple[str, ...], outcome: str, told: str) -> None:
    """Upheld twice confirms, cleared dismisses, anything else is open and shows what speaks against the model."""
    ruling = weigh(question(kind), [(number, Answer(word)) for number, word in enumerate(given, start=1)], "judge")
    assert (ruling.outcome, ruling.answer) == (outcome, told)


def test_a_person_beats_the_judge() -> None:
    """A reviewer who clears what the judge upheld dismisses it; a second one who disagrees leaves it open."""
    asked = question("must")
    upheld = weigh(asked, [(1, Answer("missing")), (2, Answer("late"))], "judge")
    by_one = with_person(asked, upheld, [Opinion("A. Reader", 0, "met", "", "it says so", role="nurse")])
    assert (by_one.outcome, by_one.by_person) == (DISMISSED, True)
    by_two = with_person(asked, by_one, [Opinion("B. Reader", 0, "missing", "", "it does not", role="doctor")])
    assert by_two.outcome == OPEN


def test_progress_is_told() -> None:
    """Whoever draws a line of progress hears of every answer, and shows how many of the questions are answered."""
    lines: list[str] = []
    progress = Progress(lines.append, live=False)
    inquiry = inquire(ScriptedJudge(clean))
    told: list[tuple[int, int]] = []

    def hear(count: Count) -> None:
        told.append((count.answered, count.asked))
        progress.questions(count.answered, count.asked)

    inquiry.on_progress = hear
    inquiry.submit("case", one_of_each())
    inquiry.wait("case")
    inquiry.stop()
    assert told[-1] == (11, 11)
    assert "11/11 questions" in progress.text()
    assert "questions" not in Progress(lines.append, live=False).text()
