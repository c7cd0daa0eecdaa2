"""Measuring a judge: counts by hand on a small labelled set, early stopping, pooled attempts, floors, the file."""

from __future__ import annotations

import datetime
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from asked import SUMMARY, Script, ScriptedJudge, clear, question, reply, summary
from scipy import stats

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.starting import labelled_set
from pytest_clinical_drift.judging.calibration_file import (
    Attempt,
    Calibration,
    attempt_of,
    file_name,
    find_calibration,
    fingerprint,
    invalid_because,
    pooled,
    read_calibration,
    write_calibration,
)
from pytest_clinical_drift.judging.entries import raised
from pytest_clinical_drift.judging.judge_options import JudgeOptions, JudgePolicy
from pytest_clinical_drift.judging.labelled import Labelled, labels_hash, load_calibration_set
from pytest_clinical_drift.judging.make_calibration import calibration_of, cost_line, make_calibration
from pytest_clinical_drift.judging.measuring import Measurement, Tally, hopeless, measure, requests_for, shuffled
from pytest_clinical_drift.judging.procedure import Judges
from pytest_clinical_drift.judging.prompts import prompt_hash
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.queue import Count, JudgeQueue
from pytest_clinical_drift.judging.readings import Reading

FLOORS = {"sensitivity": 0.85, "subtle": 0.75, "specificity": 0.98}
TODAY = datetime.date(2026, 5, 1)
ALONE = Judges("scripted", "scripted", alone=True)


def row(
    item: Reading | Question, label: Any, *, patient: str = "", subtle: bool = False, disputed: bool = False
) -> Any:
    made = replace(item, case_id=patient or item.case_id)
    return Labelled(made, label, subtle, disputed)


def measured(rows: list[Labelled], script: Script, **options: Any) -> tuple[Measurement, ScriptedJudge]:
    judge = ScriptedJudge(script)
    queue = JudgeQueue(judge)
    try:
        return measure(queue, rows, ALONE, **{"floors": FLOORS, **options}), judge
    finally:
        queue.stop()


def shares(found: Measurement, kind: str) -> dict[str, tuple[int, int]]:
    return {name: tally.counts for name, tally in found.kinds[kind].items() if tally.counts[1]}


# ---- the labelled set


def line(item: Reading | Question, label: Any, **more: Any) -> str:
    return json.dumps({"question": item.as_mapping(1), "label": label, "origin": "test", "subtle": False, **more})


def test_readings_and_questions_are_read_back_with_their_points(tmp_path: Path) -> None:
    label = {
        "facts": {"penicillin": "retained", "lithium": "contradicted"},
        "unsupported": [{"quote": "800 mg until May", "grade": "minor"}],
    }
    rows = [line(summary(), label, subtle=True), "", line(question("harm"), "none", disputed=True)]
    (tmp_path / "set.jsonl").write_text("\n".join(rows), encoding="utf-8")
    found = load_calibration_set(tmp_path)
    assert [(row.patient, row.disputed) for row in found] == [("ann", False), ("ann", True)]
    assert [(e.kind, e.key.subject, e.answer, raised(e)) for e in found[0].entries()] == [
        ("fact", "penicillin", "retained", False), ("fact", "lithium", "contradicted", True),
        ("invented", "800 mg until May", "invented", True),
    ]  # fmt: skip
    assert found[0].trials() == found[0].entries()
    assert found[0].item == summary()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda text: text.replace('"retained"', '"fine"'), "'fine' is not an answer of kind fact"),
        (lambda text: text.replace("Lithium 600", "Lithium 900"), "the id does not fit the content"),
        (lambda text: text[:-1], "not a labelled reading or question"),
        (lambda text: "[]", "not a labelled reading or question"),
        (
            lambda text: line(replace(question("harm"), kind="leak", statement="Bo"), "leak"),
            "'leak' is not an answer of kind leak",
        ),
        (lambda text: text.replace('"kind": "summary"', '"kind": "diary"'), "not a labelled reading or question"),
        (lambda text: text.replace("{", '{"disputed": "perhaps", ', 1), "disputed: expected true or false"),
    ],
)
def test_a_spoilt_line_is_named(tmp_path: Path, spoil: Callable[[str], str], said: str) -> None:
    text = line(summary(), {"facts": {"lithium": "retained"}, "unsupported": []})
    (tmp_path / "set.jsonl").write_text(f"\n{spoil(text)}", encoding="utf-8")
    with pytest.raises(InputError, match=r"set\.jsonl, line 2: ") as caught:
        load_calibration_set(tmp_path)
    assert said in str(caught.value)
    with pytest.raises(InputError, match="no calibration set found"):
        load_calibration_set(tmp_path / "..")


def test_the_fingerprint_follows_texts_and_labels() -> None:
    one, other = row(summary(), {"facts": {}}), row(summary(), {"facts": {"lithium": "absent"}})
    two = row(summary("Another."), {"facts": {}})
    prints = [labels_hash((a, b)) for a, b in ((one, two), (two, one), (other, two))]
    assert prints[0] == prints[1] != prints[2]


# ---- counts by hand

LOST = summary("**Allergies:** none asked.\n- Lithium 600 mg once nightly.")
WRONG = summary("**Allergies:** penicillin, with anaphylaxis.\n- Lithium 900 mg once nightly. Had a stroke in 2019.")
ROWS = [
    row(LOST, {"facts": {"penicillin": "absent", "lithium": "retained"}, "unsupported": []}, patient="a", subtle=True),
    row(
        WRONG,
        {
            "facts": {"penicillin": "retained", "lithium": "contradicted"},
            "unsupported": [{"quote": "Had a stroke in 2019.", "grade": "severe"}],
        },
        patient="b",
    ),
    row(
        reply(),
        {"demands": {"t2-must-1": "missing", "t2-must_not-1": "kept"}, "forbidden": "kept", "harm": "none",
         "conflict": "consistent"},
        patient="c",
    ),
    row(question("invented"), "supported", patient="d"),
]  # fmt: skip


def scripted(item: Question | Reading, wording: int) -> dict[str, Any]:
    """Finds the lost allergy and the stroke, overlooks the dose, wavers about the demand, sees a breach too many."""
    given = clear(item)
    if isinstance(item, Question):
        if (item.kind, item.fact) == ("fact", "penicillin"):
            return {"answer": "absent", "quote": ""}
        if item.kind == "invented" and item.case_id == "b":
            return {"answer": "severe", "quote": "Had a stroke in 2019."}
        if item.kind == "must":
            return {"answer": "met" if wording == 1 else "missing", "quote": "Please ring the clinic today."}
        if item.kind == "forbidden":
            return {"answer": "violated", "quote": "Do not take ibuprofen."}
        return given
    if item.case_id == "a":
        given["facts"]["penicillin"] = {"answer": "absent", "quote": ""}
    if item.case_id == "b":
        given["unsupported"] = [{"quote": "a stroke in 2019", "grade": "severe", "reason": "no source"}]
    if item.kind == "reply":
        given["demands"]["t2-must-1"] = {"answer": "missing", "quote": ""}
        given["forbidden"] = {"answer": "violated", "quote": "Do not take ibuprofen."}
    return given


def test_every_share_is_counted_as_by_hand() -> None:
    """An open fault is not found and not missed; what a reading lists is clean by the whole text."""
    found, judge = measured(ROWS, scripted)
    assert shares(found, "fact") == {
        "faults": (1, 2), "subtle": (1, 1), "clean": (2, 2), "false": (0, 2), "missed": (1, 2),
    }  # fmt: skip
    assert shares(found, "invented") == {"faults": (1, 1), "clean": (2, 2), "false": (0, 2), "missed": (0, 1)}
    assert shares(found, "must") == {"faults": (0, 1), "missed": (0, 1)}
    assert shares(found, "forbidden") == {"clean": (0, 1), "false": (1, 1)}
    assert shares(found, "breach") == {"faults": (0, 1), "clean": (1, 2), "false": (1, 2), "missed": (0, 1)}
    assert shares(found, "harm") == shares(found, "conflict") == {"clean": (1, 1), "false": (0, 1)}
    # three readings; the allergy, the stroke, the demand twice, the breach, and the labelled question
    assert Counter(kind for kind, _ in judge.asked) == {
        "summary": 2, "reply": 1, "fact": 1, "invented": 2, "must": 2, "forbidden": 1,
    }  # fmt: skip


def test_what_is_raised_as_another_fault_is_found_and_what_a_list_lacks_is_missed() -> None:
    """A fact called absent instead of contradicted is a confirmed fault; an invention that nobody lists is cleared."""

    def mixes(item: Question | Reading, wording: int) -> dict[str, Any]:
        return clear(item) if isinstance(item, Reading) else {"answer": "absent", "quote": ""}

    unlisted = row(WRONG, {"unsupported": [{"quote": "Had a stroke in 2019.", "grade": "severe"}]}, patient="read")
    asked = [row(question("fact"), "contradicted", patient=patient) for patient in ("one", "other")]
    found, _ = measured([unlisted, *asked], mixes)
    assert shares(found, "fact") == {"faults": (2, 2), "missed": (0, 2)}
    assert shares(found, "invented") == {"faults": (0, 1), "missed": (1, 1)}
    made = attempt_of(found, Measurement(), Count(sent=5, tokens=Counter(prompt=70, answer=9, answers=5)), TODAY)
    assert (made.requests, made.tokens) == (5, (70, 9))
    sensitivity = pooled((made, made))["fact"].sensitivity
    assert (sensitivity.hits, sensitivity.of) == (4, 4)
    assert attempt_of(found, Measurement(), Count(sent=5), TODAY).tokens is None


def test_harm_that_the_judge_upholds_counts_as_found() -> None:
    """In a run only a person confirms it; calibration asks what the judge would say."""

    def sees_harm(item: Question | Reading, wording: int) -> dict[str, Any]:
        harm = {"answer": "harm", "quote": "Do not take ibuprofen."}
        return harm if isinstance(item, Question) else {**clear(item), "harm": harm}

    found, _ = measured([row(reply(), {"harm": "harm"})], sees_harm)
    assert shares(found, "harm") == {"faults": (1, 1), "missed": (0, 1)}


def test_why_answers_became_unsure_is_counted() -> None:
    """An entry left out, two quotations that do not occur: the clean fact counts as not cleared."""

    def careless(item: Question | Reading, wording: int) -> dict[str, Any]:
        if isinstance(item, Question):
            return {"answer": "retained", "quote": "words of another patient"}
        given = clear(item)
        del given["facts"]["lithium"]
        return given

    found, _ = measured([row(summary(), {"facts": {"lithium": "retained"}})], careless)
    assert found.unsure == {"missing": 1, "quote": 2}
    assert shares(found, "fact") == {"clean": (0, 1), "false": (0, 1)}


def test_a_labelled_question_that_only_one_wording_upholds_is_not_found() -> None:
    """In a run its alarm would stay open, also where the other wording has no usable answer."""

    def once(item: Question | Reading, wording: int) -> dict[str, Any]:
        return {"answer": "absent", "quote": ""} if wording == 1 else {"answer": "retained", "quote": "never written"}

    found, _ = measured([row(question("fact"), "absent")], once)
    assert shares(found, "fact") == {"faults": (0, 1), "missed": (0, 1)}


# ---- how many, and when it stops


def labelled_facts(faults: int, clean: int, *, subtle: int = 0) -> list[Labelled]:
    """Questions about one fact, each of another patient: those of faulty texts first."""
    texts = [f"Summary {number}. Lithium 600 mg once nightly." for number in range(faults + clean)]
    return [
        row(question("fact", text), "absent" if n < faults else "retained", patient=f"p{n}", subtle=n < subtle)
        for n, text in enumerate(texts)
    ]


def right(item: Question | Reading, wording: int) -> dict[str, Any]:
    return {"answer": "absent" if int(item.case_id[1:]) < 200 else "retained", "quote": item.text[:12]}


def test_a_hopeless_kind_is_stopped_early() -> None:
    """It calls everything retained: after the first batch of 9 the 111 faults to come cannot make up for it."""
    rows = labelled_facts(120, 0)
    found, judge = measured(rows, lambda item, wording: clear(item))
    assert (found.texts, len(judge.asked)) == (9, 9)
    assert set(found.stopped) == {"fact"}


def test_a_judge_that_is_mostly_wrong_is_stopped_although_the_rest_could_save_it() -> None:
    """Right on every third: of 2,000 faults the 1,991 to come could lift it over the floor, but surely will not."""

    def every_third(item: Question | Reading, wording: int) -> dict[str, Any]:
        return {"answer": "absent" if int(item.case_id[1:]) % 3 == 0 else "retained", "quote": item.text[:12]}

    found, _ = measured(labelled_facts(2_000, 0), every_third)
    hits, of = shares(found, "fact")["faults"]
    assert (found.texts, of, found.stopped) == (9, 9, {"fact": "sensitivity"})
    assert stats.beta.ppf(0.999, hits + 1, of - hits) < FLOORS["sensitivity"]  # Clopper and Pearson, upper
    assert stats.beta.ppf(0.05, hits + 1_991, of - hits + 1) > FLOORS["sensitivity"]  # lower, if all to come were right


def test_four_misses_in_a_row_are_enough_to_stop() -> None:
    """By Clopper and Pearson 0 of 4 lie below 1 - 0.001^(1/4) = 0.82 with 99.9 %, 0 of 3 only below 0.90."""
    low, open_ = Measurement(), Measurement()
    for number in range(4):
        low.kinds["harm"]["faults"].add(f"p{number}", False)
    for number in range(3):
        open_.kinds["harm"]["faults"].add(f"p{number}", False)
    assert 1 - 0.001**0.25 < FLOORS["sensitivity"] < 1 - 0.001 ** (1 / 3)
    rest = Measurement()
    rest.kinds["harm"]["faults"].add("rest", 0, 150)
    assert hopeless(low, rest, FLOORS) == {"harm": "sensitivity"}
    assert hopeless(open_, rest, FLOORS) == {}


def test_a_good_judge_is_measured_to_the_end() -> None:
    rows = labelled_facts(200, 300)
    found, _ = measured(rows, right)
    assert (found.texts, found.stopped) == (500, {})
    assert (shares(found, "fact")["faults"], shares(found, "fact")["clean"]) == ((200, 200), (300, 300))


def test_the_number_of_requests_is_bounded() -> None:
    """A judge that raises every fact asks 4 requests a text: 300 allowed are not exceeded, and the kind says why."""

    def raises(item: Question | Reading, wording: int) -> dict[str, Any]:
        if isinstance(item, Question):
            return clear(item)
        given = clear(item)
        given["facts"] = {line.fact: {"answer": "absent", "quote": ""} for line in item.facts[:1]}
        return given | {"unsupported": []}

    rows = [
        row(summary(f"{SUMMARY} {n}"), {"facts": {"penicillin": "retained"}, "unsupported": []}, patient=f"p{n}")
        for n in range(200)
    ]
    found, judge = measured(rows, raises, most=300)
    assert 250 < len(judge.asked) <= 300
    assert found.texts < 200
    assert found.stopped == {"fact": "requests", "invented": "requests"}


# ---- attempts and floors


def tallied(kind: str, *, faults: tuple[int, int], clean: tuple[int, int], subtle: tuple[int, int]) -> Measurement:
    """Hits and trials, each of a patient of its own."""
    found = Measurement()
    for name, (hits, of) in (("faults", faults), ("clean", clean), ("subtle", subtle)):
        for number in range(of):
            found.kinds[kind][name].add(f"{name}{number}", number < hits)
    return found


def attempt(found: Measurement, days: int = 0) -> Attempt:
    """Made so many days ago."""
    return attempt_of(found, Measurement(), Count(sent=10), TODAY - datetime.timedelta(days=days))


def calibration(*attempts: Attempt, **more: Any) -> Calibration:
    given: dict[str, Any] = {
        "judge": "scripted", "identity": fingerprint([ScriptedJudge().identity()]), "proven": True,
        "prompt_version": "2", "labelled": "x", "patients": 3,
    }  # fmt: skip
    return Calibration(**(given | {"prompts": prompt_hash(), "attempts": attempts, "kinds": pooled(attempts)} | more))


def test_attempts_are_pooled() -> None:
    """60 of 120 at first, 120 of 120 when tried again: 180 of 240 count, and three tries more do not help."""
    bad = attempt(tallied("fact", faults=(60, 120), clean=(600, 600), subtle=(60, 60)))
    good = attempt(tallied("fact", faults=(120, 120), clean=(600, 600), subtle=(60, 60)))
    both = pooled((bad, good))["fact"]
    assert (both.sensitivity.hits, both.sensitivity.of) == (180, 240)
    assert calibration(good).deciding(FLOORS) == {"fact"}
    assert calibration(bad, good).deciding(FLOORS) == frozenset()
    assert calibration(bad, *[good] * 3).deciding(FLOORS) == frozenset()


@pytest.mark.parametrize(
    ("faults", "subtle", "clean", "missed"),
    [
        ((300, 300), (60, 60), (600, 600), set()),
        ((288, 300), (48, 60), (600, 600), {"subtle"}),
        ((240, 300), (60, 60), (600, 600), {"sensitivity"}),
        ((300, 300), (60, 60), (588, 600), {"specificity"}),
        ((300, 300), (0, 0), (600, 600), {"subtle"}),  # nothing subtle was tried: no floor is reached unseen
        ((15, 15), (15, 15), (30, 30), {"sensitivity", "specificity"}),
    ],
)
def test_floors_hold_for_the_lower_limits(
    faults: tuple[int, int], subtle: tuple[int, int], clean: tuple[int, int], missed: set[str]
) -> None:
    """0.98 right of 600 is below its floor of 0.98, since its limit is 0.965; 15 of 15 leave room for 0.78."""
    made = calibration(attempt(tallied("fact", faults=faults, subtle=subtle, clean=clean)))
    assert set(made.below("fact", FLOORS)) == missed
    assert made.deciding(FLOORS) == (frozenset() if missed else {"fact"})
    assert set(made.below("harm", FLOORS)) == set(FLOORS)


def test_a_kind_that_was_stopped_decides_nothing() -> None:
    """However good its counts look."""
    found = tallied("fact", faults=(300, 300), subtle=(60, 60), clean=(600, 600))
    found.stopped["fact"] = "requests"
    assert calibration(attempt(found)).deciding(FLOORS) == frozenset()


def test_limits_are_clustered_by_patient() -> None:
    """Twenty misses of one patient are less certain to be few than twenty of twenty."""
    spread, heaped = Tally(), Tally()
    for number in range(200):
        spread.add(f"p{number % 50}", number >= 20)
        heaped.add(f"p{number // 20}", number >= 20)
    assert spread.counts == heaped.counts == (180, 200)
    assert heaped.limits()[0] < spread.limits()[0]


def test_disputed_labels_are_kept_apart_and_counted_as_errors() -> None:
    """Agreed: 1 of 1 fact found and 1 of 1 text clean. Disputed: a fact, a demand, what is listed, one of each kind."""
    disputed = [
        row(WRONG, {"facts": {"lithium": "contradicted", "penicillin": "retained"}, "unsupported": []}, disputed=True),
        row(reply(), {"demands": {"t2-must-1": "missing", "t2-must_not-1": "kept"}}, disputed=True),
    ]
    agreed = row(LOST, {"facts": {"penicillin": "absent"}, "unsupported": []}, patient="a")
    judge = ScriptedJudge(scripted)
    made = make_calibration(
        [judge], Judges("scripted", "scripted"), [agreed, *disputed], today=TODAY,
        rules=JudgePolicy(FLOORS),
    )  # fmt: skip
    assert (made.kinds["fact"].sensitivity.hits, made.kinds["fact"].sensitivity.of) == (1, 1)
    assert "reply" not in {kind for kind, _ in judge.asked}
    (one,) = made.attempts
    assert one.disputed_as_errors["fact"] == {"faults": (1, 2), "clean": (0, 1)}
    assert one.disputed_as_errors["invented"] == {"faults": (0, 0), "clean": (1, 2)}
    assert one.disputed_as_errors["breach"] == {"faults": (0, 1), "clean": (0, 1)}
    assert one.disputed_as_errors["must"] == {"faults": (0, 1), "clean": (0, 0)}


def test_the_first_look_sees_every_kind_of_text() -> None:
    """Three of each: conversations, a fifth of the bundled set, would else be looked at last."""
    rows = [row for row in load_calibration_set(None) if not row.disputed]
    first = [row.item.kind for row in shuffled(rows)[:9]]
    assert sorted(first) == ["conversation"] * 3 + ["reply"] * 3 + ["summary"] * 3
    assert sorted(row.item.id for row in shuffled(rows)) == sorted(row.item.id for row in rows)


def test_calibrating_again_adds_an_attempt_and_asks_anew(tmp_path: Path) -> None:
    """Nothing is taken from an earlier attempt but its counts."""
    judge, labelled = ScriptedJudge(right), labelled_facts(4, 4)
    names, rules = Judges("scripted", "scripted"), JudgePolicy(FLOORS)
    first = make_calibration([judge], names, labelled, today=TODAY, rules=rules)
    asked = len(judge.asked)
    second = make_calibration([judge], names, labelled, today=TODAY, rules=rules).after(first)
    assert len(judge.asked) == 2 * asked
    assert (len(second.attempts), second.kinds["fact"].sensitivity.of) == (2, 8)
    file = write_calibration(second, tmp_path / "deep" / file_name("scripted", [judge.identity()]))
    assert read_calibration(file) == second


def test_a_judge_that_goes_away_is_not_measured() -> None:
    """It answers ten questions rightly and then no more: an outage is no lack of ability."""
    judge = ScriptedJudge(lambda item, wording: right(item, wording) if len(judge.asked) <= 10 else "HTTP 500")
    labelled = labelled_facts(30, 0)
    with pytest.raises(InputError, match=r"\d+ of \d+ requests had no answer or could not be sent \(HTTP 500\)"):
        make_calibration([judge], Judges("scripted", "scripted"), labelled, today=TODAY, rules=JudgePolicy(FLOORS))


def test_too_few_texts_for_a_floor_do_not_stop_a_judge_without_an_error() -> None:
    """40 of 40 right: their lower limit is 0.928, below 0.98, because they are few and not because it errs."""
    perfect = Measurement()
    for number in range(30):
        perfect.kinds["fact"]["clean"].add(f"p{number}", True)
    assert FLOORS["specificity"] > 0.05 ** (1 / 40)
    whole = Measurement()
    whole.kinds["fact"]["clean"].add("whole", 0, 40)
    assert hopeless(perfect, whole, FLOORS) == {}
    perfect.kinds["fact"]["clean"].add("p30", False)
    assert hopeless(perfect, whole, FLOORS) == {"fact": "specificity"}


def test_a_judge_that_answers_nothing_has_no_calibration() -> None:
    judge = ScriptedJudge(lambda item, wording: "no route")
    with pytest.raises(InputError, match=r"none of its answers could be used \(no route\)"):
        make_calibration(
            [judge], Judges("scripted", "scripted"), labelled_facts(3, 0), today=TODAY,
            rules=JudgePolicy(FLOORS),
        )  # fmt: skip


# ---- the file


def test_a_file_is_valid_for_its_judge_prompts_and_time() -> None:
    identity = ScriptedJudge().identity()
    made = calibration(attempt(Measurement()))
    later = TODAY + datetime.timedelta(days=31)
    assert invalid_because(made, [identity], later) == ""
    assert "over 30 days ago" in invalid_because(made.model_copy(update={"proven": False}), [identity], later)
    alias = made.model_copy(update={"proven": False})
    assert invalid_because(alias, [identity], TODAY + datetime.timedelta(days=30)) == ""
    assert "another judge" in invalid_because(made, [ScriptedJudge(name="other").identity()], TODAY)
    assert "another judge" in invalid_because(made, [identity, identity], TODAY)
    assert "other prompts" in invalid_because(made.model_copy(update={"prompts": "x"}), [identity], TODAY)


def test_other_files_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    """Someone else's JSON, a list, no JSON at all, bytes: the project's own file is found among them."""
    identities = [ScriptedJudge().identity()]
    assert find_calibration(tmp_path / "none", identities, TODAY) is None
    for name, text in (("a.json", '{"colour": "red"}'), ("b.json", "[1, 2]"), ("c.json", "nothing"), ("d.json", "")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "e.json").write_bytes(b"\xff\xfe\x00")
    assert find_calibration(tmp_path, identities, TODAY) is None
    own = calibration(attempt(Measurement()))
    write_calibration(own, tmp_path / "x.json")
    write_calibration(own.model_copy(update={"identity": "another"}), tmp_path / "z.json")
    assert find_calibration(tmp_path, identities, TODAY) == own


def test_attempts_of_one_judge_are_pooled_over_all_files_of_the_folder(tmp_path: Path) -> None:
    """60 of 120, then 120 of 120 kept under another name: 180 of 240 count. A copy of the first adds nothing."""
    bad, good = (
        attempt(tallied("fact", faults=(hits, 120), clean=(600, 600), subtle=(60, 60)), days=days)
        for hits, days in ((60, 3), (120, 1))
    )
    for name, attempts in (("first", [bad]), ("retried", [good])):
        write_calibration(calibration(*attempts), tmp_path / f"{name}.json")
    found = find_calibration(tmp_path, [ScriptedJudge().identity()], TODAY)
    assert found is not None
    assert (found.attempts, found.kinds["fact"].sensitivity.of, found.made) == ((bad, good), 240, good.made)
    assert found.deciding(FLOORS) == frozenset()
    write_calibration(calibration(bad, good), tmp_path / "retried.json")
    assert find_calibration(tmp_path, [ScriptedJudge().identity()], TODAY) == calibration(bad, good)


def test_without_a_file_it_is_made_or_refused(tmp_path: Path) -> None:
    """`calibrate: never`, a shard and an offline run refuse in one sentence; else the cost is told first."""
    judge, said = ScriptedJudge(right), []
    (tmp_path / "set.jsonl").write_text(
        "\n".join(line(one.item, one.label) for one in labelled_facts(3, 3)), encoding="utf-8"
    )
    options = JudgeOptions(calibration_set=tmp_path / "set.jsonl")
    where: dict[str, Any] = {"root": tmp_path, "today": TODAY, "say": said.append}
    names = Judges("scripted", "scripted")
    for rules, chosen in (
        (JudgePolicy(FLOORS, calibrate=False), options),
        (JudgePolicy(FLOORS), replace(options, offline=True)),
    ):
        with pytest.raises(InputError, match="make one with clinical-drift calibrate"):
            calibration_of([judge], names, options=chosen, rules=rules, **where)
    assert (judge.asked, said) == ([], [])
    made, remark = calibration_of([judge], names, options=options, rules=JudgePolicy(FLOORS), **where)
    assert made.kinds["fact"].sensitivity.of == 3
    assert made.specs == ("python:scripted",)
    assert "6 labelled texts of 6 patients" in said[0]
    (kept,) = (tmp_path / "calibration").iterdir()
    assert read_calibration(kept) == made
    assert f"written: calibration/{kept.name} (commit it" in remark
    asked = len(judge.asked)
    assert calibration_of([judge], names, options=options, rules=JudgePolicy(FLOORS), **where) == (made, "")
    assert len(judge.asked) == asked
    named = replace(options, calibration=kept)
    other = ScriptedJudge(name="other")
    with pytest.raises(InputError, match="it was made with python:scripted, not with python:other"):
        calibration_of([other], names, options=named, rules=JudgePolicy(FLOORS), **where)


def test_a_calibration_made_at_another_address_is_named(tmp_path: Path) -> None:
    """The file on a judge of the same name: how it was named then and now, and what to do; without it no such words."""
    judge, names, rules = ScriptedJudge(), Judges("scripted", "scripted"), JudgePolicy(FLOORS, calibrate=False)
    where: dict[str, Any] = {"options": JudgeOptions(), "rules": rules, "root": tmp_path, "today": TODAY, "say": None}
    with pytest.raises(InputError, match=r"was found in \S+calibration, and .*forbids making one; make one with"):
        calibration_of([judge], names, **where)
    made = calibration(attempt(Measurement()), identity="another", specs=("python:elsewhere",))
    write_calibration(made, tmp_path / "calibration" / "old.json")
    why = (
        r"calibration \(old.json does not count: it was made with python:elsewhere, not with python:scripted; "
        r"if that is the same judge, name it as then\), and .*; make one with clinical-drift calibrate"
    )
    with pytest.raises(InputError, match=why):
        calibration_of([judge], names, **where)


def test_attempts_that_have_expired_stay_pooled(tmp_path: Path) -> None:
    """An alias was bad 40 days ago, under any name: measured anew by a run, both attempts count, 60 of 240 missed."""
    bad = attempt(tallied("fact", faults=(60, 120), clean=(600, 600), subtle=(60, 60)), days=40)
    write_calibration(calibration(bad, proven=False), tmp_path / "calibration" / "spring.json")
    rows = labelled_facts(120, 0, subtle=60)
    (tmp_path / "set.jsonl").write_text("\n".join(line(one.item, one.label) for one in rows), encoding="utf-8")
    judge, names, rules = ScriptedJudge(right), Judges("scripted", "scripted"), JudgePolicy(FLOORS)
    where: dict[str, Any] = {"options": JudgeOptions(calibration_set=tmp_path / "set.jsonl"), "root": tmp_path}
    made, _ = calibration_of([judge], names, rules=rules, today=TODAY, say=None, **where)
    assert (made.attempts[0], len(made.attempts), len(judge.asked)) == (bad, 2, 240)
    assert (made.kinds["fact"].sensitivity.hits, made.kinds["fact"].sensitivity.of) == (180, 240)
    assert calibration_of([judge], names, rules=rules, today=TODAY, say=None, **where) == (made, "")
    (tmp_path / "calibration" / "spring.json").unlink()
    assert find_calibration(tmp_path / "calibration", [judge.identity()], TODAY) == made


def test_three_files_with_a_copy_of_one_attempt_count_it_once(tmp_path: Path) -> None:
    first, second, third = (
        attempt(tallied("fact", faults=(hits, 100), clean=(1, 1), subtle=(1, 1)), days=days)
        for hits, days in ((50, 3), (60, 2), (70, 1))
    )
    for name, attempts in (("a", [first]), ("b", [first, second]), ("c", [third])):
        write_calibration(calibration(*attempts), tmp_path / f"{name}.json")
    found = find_calibration(tmp_path, [ScriptedJudge().identity()], TODAY)
    assert found is not None
    assert found.attempts == (first, second, third)
    assert (found.kinds["fact"].sensitivity.hits, found.kinds["fact"].sensitivity.of) == (180, 300)


def test_the_cost_counts_what_follows_a_reading() -> None:
    """Questions: 3 faults in two wordings and 3 clean ones in one, or all in two. A reading with a fault among two
    labelled facts: itself and a question on the fault, or two on each fact."""
    asked = labelled_facts(3, 3)
    told = (
        "about 9 requests with a good judge, up to 12 with a weak one, 21 to 28 thousand prompt and 1.2 to 1.6 thousand"
    )
    assert told in cost_line(asked, ALONE)
    facts = {"penicillin": "retained", "lithium": "absent"}
    read = [row(summary(), {"facts": facts}, patient="one")]
    assert "about 2 requests with a good judge, up to 5 with a weak one" in cost_line(read, ALONE)
    twice = replace(ALONE, wordings=(1, 2))
    assert "about 3 requests with a good judge, up to 6 with a weak one" in cost_line(read, twice)
    singly = replace(ALONE, reads=False)
    assert "about 3 requests with a good judge, up to 4 with a weak one" in cost_line(read, singly)


@pytest.mark.parametrize("limit", [1, 3])
def test_the_requests_of_a_good_and_of_a_doubtful_judge_are_those_told(limit: int) -> None:
    """A part of the bundled texts. Whoever is unsure of everything makes a few less: not every point has two wordings;
    whoever clears everything makes none but the readings."""
    rows = [row for row in labelled_set(None, limit) if not row.disputed]
    few, many = requests_for(rows, ALONE)
    answers = (lambda item, _: clear(item)), (lambda item, _: {} if isinstance(item, Reading) else {"answer": "unsure"})
    clearing, doubting = (len(measured(rows, answer, floors={})[1].asked) for answer in answers)
    assert clearing == len(rows) <= few
    assert 0.9 * many <= doubting <= many


def test_the_cost_of_the_whole_set_is_that_of_the_readme() -> None:
    """At most 3,000 requests at 2,300 and 130 tokens are 6.9 million and 390 thousand."""
    told = cost_line(load_calibration_set(), ALONE)
    assert "up to 3,000 with a weak one, 6.9 million prompt and 388 to 390 thousand answer tokens" in told
