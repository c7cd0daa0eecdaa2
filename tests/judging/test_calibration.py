"""How a judge is measured: shares with exact limits, floors, expiry, files."""

from __future__ import annotations

import datetime
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from asked import FAILED, ScriptedJudge, clean, inquire, question

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.answers import UNSURE, Answer
from pytest_clinical_drift.judging.calibration import (
    VALID_DAYS,
    Calibration,
    LabelledSet,
    calibrate,
    file_name,
    find_calibration,
    load_calibration_set,
    read_calibration,
    trouble_with,
    write_calibration,
)
from pytest_clinical_drift.judging.questions import Question, from_mapping
from pytest_clinical_drift.subjects.base import Identity

TODAY = datetime.date(2026, 3, 1)


def labelled(faults: int, good: int, kind: str = "must") -> LabelledSet:
    """Replies that omit a demand, then replies that meet it."""
    words = {"must": ("missing", "met"), "fact": ("absent", "retained")}[kind]
    rows = [
        (question(kind, f"Reply {number}: rest today."), words[number >= faults]) for number in range(faults + good)
    ]
    return LabelledSet(tuple(rows), disputed=2)


def measured(judge: ScriptedJudge, given: LabelledSet) -> Calibration:
    inquiry = inquire(judge)
    found = calibrate(inquiry, given, name=judge.name, identity=judge.identity(), today=TODAY)
    inquiry.stop()
    return found


def by_label(given: LabelledSet, wrong: dict[int, tuple[Answer, Answer]]) -> ScriptedJudge:
    """A judge that knows the labels, but for some questions by their number."""
    numbered = {asked.id: (number, label) for number, (asked, label) in enumerate(given.rows)}

    def answer(asked: Question, wording: int) -> Answer:
        number, label = numbered[asked.id]
        return wrong[number][wording - 1] if number in wrong else Answer(label)

    return ScriptedJudge(answer)


def test_shares_are_counted_as_the_procedure_decides() -> None:
    """Of 60 faults one is cleared twice and one answered both ways; of 300 clean ones one is upheld, one left open."""
    given = labelled(60, 300)
    met, missing = Answer("met"), Answer("missing")
    judge = by_label(given, {0: (met, met), 1: (missing, met), 60: (missing, missing), 61: (met, FAILED)})
    limits = measured(judge, given).kinds["must"]
    assert (limits.sensitivity.hits, limits.sensitivity.of) == (58, 60)
    assert (limits.missed.hits, limits.specificity.hits, limits.false_confirmed.hits) == (1, 298, 1)
    assert (limits.consistent.hits, limits.consistent.of) == (358, 359)
    assert limits.failed == 1
    # exact limits by the binomial distribution: scipy.stats.binomtest(58, 60).proportion_ci(), (298, 300)
    assert (limits.sensitivity.low, limits.sensitivity.high) == pytest.approx((0.8847, 0.9959), abs=1e-4)
    assert limits.specificity.low == pytest.approx(0.9761, abs=1e-4)


@pytest.mark.parametrize(
    ("faults", "good", "decides"), [(60, 300, True), (60, 150, False), (12, 300, False), (6, 6, False)]
)
def test_a_flawless_judge_decides_only_on_enough_questions(faults: int, good: int, decides: bool) -> None:
    """The lower limits must reach 0.85 and 0.98: without error that takes some 23 faults and 183 clean questions."""
    given = labelled(faults, good)
    found = measured(by_label(given, {}), given)
    assert (found.deciding(sensitivity=0.85, specificity=0.98) == {"must"}) is decides


def test_a_kind_asked_once_is_calibrated_as_it_is_asked() -> None:
    """A fact that the first wording clears is not asked again, in the calibration as in a run."""
    given = labelled(5, 20, "fact")
    judge = by_label(given, {})
    measured(judge, given)
    assert len(judge.asked) == 20 + 2 * 5


def test_confusions_name_label_and_answer() -> None:
    """What differed from the label is listed with its number, both wordings counted."""
    given = labelled(3, 3)
    found = measured(by_label(given, {0: (Answer("late"), Answer("met")), 4: (Answer(UNSURE), Answer("met"))}), given)
    assert found.confusions == {"must: missing -> late": 1, "must: missing -> met": 1, "must: met -> unsure": 1}
    assert found.disputed == 2


def test_tokens_and_time_are_told() -> None:
    """What an answer costs is the mean over all answers; time is counted while questions were with the judge."""
    given = labelled(2, 2)
    judge = ScriptedJudge(lambda asked, wording: replace(clean(asked), tokens=(900 + 100 * wording, 50)))
    found = measured(judge, given)
    assert found.tokens_per_question == (1050.0, 50.0)
    assert found.seconds_per_question is not None


def test_the_file_is_valid_for_its_judge_only(tmp_path: Path) -> None:
    """Found again by what it says, not by its name; another judge, other settings or prompts do not get it."""
    given = labelled(3, 3)
    judge = by_label(given, {})
    found = measured(judge, given)
    write_calibration(found, tmp_path / "any-name.json")
    assert find_calibration(tmp_path, judge.identity(), TODAY) == found
    warmer = replace(judge.identity(), settings={"temperature": 1.0})
    assert find_calibration(tmp_path, warmer, TODAY) is None
    assert "another judge" in trouble_with(found, warmer, TODAY)
    assert "other prompts" in trouble_with(found.model_copy(update={"prompts": "x"}), judge.identity(), TODAY)
    assert file_name("some/model", judge.identity()) != file_name("some/model", warmer)


def test_an_alias_expires() -> None:
    """A judge whose identity is not proven may be another one tomorrow; a proven one stays what it is."""
    given = labelled(3, 3)
    judge = by_label(given, {})
    found = measured(judge, given)
    later = TODAY + datetime.timedelta(days=VALID_DAYS + 1)
    assert trouble_with(found, judge.identity(), later) == ""
    alias = found.model_copy(update={"proven": False})
    assert trouble_with(alias, judge.identity(), TODAY + datetime.timedelta(days=VALID_DAYS)) == ""
    assert "not proven" in trouble_with(alias, judge.identity(), later)


def line(**more: Any) -> str:
    return json.dumps({"question": question("must").as_mapping(), "label": "met", "source": "made"} | more)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 2: is no labelled question"),
        (line(label="retained"), "line 2: 'retained' is no answer to a question of kind must"),
        (line(question={"kind": "guess", "text": "x", "turn": 1}), "line 2: is no labelled question"),
        (line(question={**question("must").as_mapping(), "text": "changed"}), "line 2: the id does not fit"),
        (line(question=[]), "line 2: is no labelled question"),
        (line(question={**question("forbidden").as_mapping(), "forbidden": [{}]}), "line 2: is no labelled question"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, text: str, said: str) -> None:
    """One sentence with file and line."""
    file = tmp_path / "set.jsonl"
    file.write_text(f"{line()}\n{text}\n", encoding="utf-8")
    with pytest.raises(InputError, match=said):
        load_calibration_set(file)


def test_disputed_labels_are_kept_apart(tmp_path: Path) -> None:
    """They are counted, and not asked; a question that stands twice is asked once."""
    other = question("must", "Another reply.")
    (tmp_path / "a.jsonl").write_text(f"{line()}\n{line()}\n", encoding="utf-8")
    (tmp_path / "b.jsonl").write_text(line(question=other.as_mapping(), disputed=True), encoding="utf-8")
    found = load_calibration_set(tmp_path)
    assert (len(found.rows), found.disputed) == (1, 1)


def test_a_part_holds_faults_and_clean_ones_of_every_kind() -> None:
    """`--limit 2` takes two with a fault and two without, the same ones whatever the order of the file."""
    both = LabelledSet((*labelled(9, 9).rows, *labelled(9, 9, "fact").rows), 0)
    part = both.part(2)
    counted = [(asked.kind, label) for asked, label in part.rows]
    assert sorted(set(counted)) == [("fact", "absent"), ("fact", "retained"), ("must", "met"), ("must", "missing")]
    assert len(counted) == 8
    assert LabelledSet(tuple(reversed(both.rows)), 0).part(2) == part


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    """Missing, or not a calibration: one sentence with its name."""
    (tmp_path / "x.json").write_text("{}", encoding="utf-8")
    for name in ("x.json", "missing.json"):
        with pytest.raises(InputError, match=name):
            read_calibration(tmp_path / name)


@pytest.mark.parametrize("kind", ["fact", "must", "must_not", "forbidden", "conflict", "invented", "harm"])
def test_a_question_survives_its_file(kind: str) -> None:
    """What is written for a judge of one's own is read back as the same question, with the same id."""
    asked = question(kind)
    again = from_mapping(json.loads(json.dumps(asked.as_mapping(2))))
    assert again.id == asked.id
    assert again.about == asked.about


def test_identity_is_part_of_the_answer() -> None:
    """Two judges of one name with other revisions do not share a file."""
    one, two = (Identity("server:m@http://x", revision, True, {}) for revision in ("1", "2"))
    assert file_name("m", one) != file_name("m", two)
