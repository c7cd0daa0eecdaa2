"""Reviews: a chain of records that is read back whole or refused in one sentence."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from reviewing import chained

from pytest_clinical_drift.core.findings import Finding, Opinion
from pytest_clinical_drift.core.words import State, Why
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.for_reviewers import unanswered
from pytest_clinical_drift.judging.opinions import with_people
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.reviews import NO_REASON, Reviews, check_reviews, content_hash, read_reviews

QUESTION = Question("fact", "anna", 3, "She takes metformin.", fact="allergy", statement="penicillin allergy")


def read(folder: Path, text: str, known: Reviews | None = None) -> Reviews:
    file = folder / "reviews.jsonl"
    file.write_text(text, encoding="utf-8")
    return read_reviews(file, known=known)


def answered(folder: Path, *answers: tuple[str, str]) -> Reviews:
    """Reviewers and what each says of QUESTION."""
    return read(folder, chained(*({"reviewer": who, "answer": said, "question": QUESTION.id} for who, said in answers)))


def heard(finding: Finding | None, reviews: Reviews, question: Question = QUESTION) -> Finding:
    """A finding, at first without an opinion, once people were heard."""
    return with_people(finding or unanswered(question), reviews.on(question.id))


def test_whole_chain_is_read(tmp_path: Path) -> None:
    """Reviewers, roles and answers come back; blank lines do not matter."""
    reviews = read(tmp_path, chained({"question": "a"}, {"question": "b", "reviewer": "Bo", "role": "nurse"}) + "\n\n")
    assert [review.question for review in reviews.records] == ["a", "b"]
    assert reviews.people_on(["a", "b"]) == ("Ada (clinician)", "Bo (nurse)")
    assert reviews.people_on(["b"]) == ("Bo (nurse)",)


def test_a_record_made_as_the_documentation_says_is_read(tmp_path: Path) -> None:
    """The expression in docs/reviews.md, by itself, gives the hash: other tools can write the file."""
    told = (Path(__file__).resolve().parents[2] / "docs/reviews.md").read_text(encoding="utf-8")
    (expression,) = re.findall(r"in Python `(.+?)`", told)
    record = {**json.loads(chained({"reason": 'sagt “nein” – 😀 \\ " \x7f'})), "role": "Ärztin"}
    del record["hash"]
    made = eval(expression, {"json": json, "sha256": sha256, "record": record})
    (review,) = read(tmp_path, json.dumps({**record, "hash": made}, ensure_ascii=False)).records
    assert (review.role, review.reason, review.hash) == ("Ärztin", record["reason"], made)


def tampered(lines: list[str], how: str) -> list[str]:
    changed = json.loads(lines[1])
    if how == "answer":
        lines[1] = json.dumps({**changed, "answer": "absent"})
    elif how == "last":
        lines[2] = lines[2].replace("retained", "absent")
    elif how == "taken out":
        del lines[1]
    elif how == "first taken out":
        del lines[0]
    elif how == "moved":
        lines[1], lines[2] = lines[2], lines[1]
    elif how == "added":
        lines.append(lines[0])
    return lines


@pytest.mark.parametrize("how", ["answer", "last", "taken out", "first taken out", "moved", "added"])
def test_tampering_is_refused(tmp_path: Path, how: str) -> None:
    """A line changed, moved, added or taken out: one sentence that names file and line."""
    lines = chained({"question": "a"}, {"question": "b"}, {"question": "c"}).splitlines()
    with pytest.raises(InputError, match=r"reviews\.jsonl, line \d: (was changed|does not follow)") as caught:
        read(tmp_path, "\n".join(tampered(lines, how)))
    assert "\n" not in str(caught.value)


def test_a_key_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    """The hash fits the last of two answers; a reader of the file may have seen the first."""
    line = chained({"question": "a", "answer": "absent"}).strip()
    with pytest.raises(InputError, match=r"line 1: not a review \('answer' is given twice\)"):
        read(tmp_path, '{"answer": "retained",' + line[1:])


def test_spacing_and_order_of_fields_are_no_tampering(tmp_path: Path) -> None:
    """Another tool may have written the same content in another order."""
    lines = [json.dumps(dict(reversed(json.loads(line).items())), indent=None) for line in chained({}, {}).splitlines()]
    assert len(read(tmp_path, "\n".join(lines)).records) == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"answer": "maybe"}, "not an answer to a question of kind 'fact'"),
        ({"kind": "mood"}, "not an answer to a question of kind 'mood'"),
        ({"reason": "  "}, "without a reason"),
        ({"reviewer": " "}, "reviewer: "),
        ({"role": ""}, "role: "),
        ({"time": "2026-01-02T03:04:05"}, "time: "),
        ({"time": "2026-01-02T03:04:05+02:00"}, "must be in UTC"),
        ({"note": "x"}, "note: "),
        ({"reviewer": "Ada\x1b[31m"}, "reviewer: "),
        ({"case_id": "a\nb"}, "case_id: "),
        ({"role": "x" * 300}, "role: "),
    ],
)
def test_malformed_record_is_refused(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    """What not a review is named with its line."""
    with pytest.raises(InputError, match="line 1") as caught:
        read(tmp_path, chained(change))
    assert said in str(caught.value)


@pytest.mark.parametrize("text", ["", "\n", "nothing", "[]", '"x"', "{}", "[" * 100_000])
def test_file_without_reviews_is_refused(tmp_path: Path, text: str) -> None:
    """Whatever it holds instead: InputError, never another exception."""
    with pytest.raises(InputError, match=r"reviews\.jsonl"):
        read(tmp_path, text)


def test_unreadable_file_is_refused(tmp_path: Path) -> None:
    """No such file, and bytes that are no text."""
    with pytest.raises(InputError, match="cannot be read"):
        read_reviews(tmp_path / "none.jsonl")
    (tmp_path / "bytes.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not readable as UTF-8"):
        read_reviews(tmp_path / "bytes.jsonl")


def test_severe_alarm_may_be_confirmed_without_a_reason(tmp_path: Path) -> None:
    """Only a dismissal needs one."""
    assert read(tmp_path, chained({"answer": "absent", "reason": ""})).records[0].answer == "absent"


def test_foreign_reviews_are_refused(tmp_path: Path) -> None:
    """Another run's manifest, a question nobody asked, one of another kind or case."""
    known = {QUESTION.id: QUESTION}
    fits = {"question": QUESTION.id}
    check_reviews(read(tmp_path, chained(fits)), "m", known, ())
    for change in ({"manifest": "other"}, {"question": "q9"}, {"case_id": "bela"}, {"kind": "harm", "answer": "none"}):
        with pytest.raises(InputError, match=r"reviews\.jsonl, line 1: the review by .*(another run|does not hold)"):
            check_reviews(read(tmp_path, chained({**fits, **change})), "m", known, ())


def test_record_cannot_call_a_severe_alarm_mild(tmp_path: Path) -> None:
    """The run knows which alarms are severe: a bare dismissal is refused whatever the record says."""
    bare = read(tmp_path, chained({"question": QUESTION.id, "severe": False, "reason": ""}))
    check_reviews(bare, "m", {QUESTION.id: QUESTION}, ())
    with pytest.raises(InputError, match="without a reason"):
        check_reviews(bare, "m", {QUESTION.id: QUESTION}, {QUESTION.id})


def test_review_beats_the_judge(tmp_path: Path) -> None:
    """A person dismisses what the judge upheld twice, and upholds what it dismissed twice."""
    for state, answer, said, expected in (
        (State.CONFIRMED, "absent", "retained", State.DISMISSED),
        (State.DISMISSED, "retained", "absent", State.CONFIRMED),
    ):
        twice = tuple(Opinion("judge", wording, answer, "", "") for wording in (1, 2))
        judged = Finding(QUESTION.key, twice, answer, state, Why.READING, QUESTION.id)
        after = heard(judged, answered(tmp_path, ("Ada", said)))
        assert (after.state, after.answer, after.by_person) == (expected, said, True)
        assert len(after.opinions) == 3


def test_two_that_disagree_leave_it_open(tmp_path: Path) -> None:
    """Also where they come one after the other, from two files."""
    both = answered(tmp_path, ("Ada", "retained"), ("Bo", "absent"))
    assert heard(None, both).state is State.OPEN
    first = heard(None, answered(tmp_path, ("Ada", "retained")))
    assert heard(first, answered(tmp_path, ("Bo", "absent"))).state is State.OPEN


def test_last_answer_of_one_reviewer_counts(tmp_path: Path) -> None:
    """A mind may be changed; both records stay in the file."""
    changed = answered(tmp_path, ("Ada", "retained"), ("Ada", "absent"))
    assert heard(None, changed).state is State.CONFIRMED
    earlier = heard(None, answered(tmp_path, ("Ada", "retained")))
    assert heard(earlier, answered(tmp_path, ("Ada", "absent"))).state is State.CONFIRMED


def test_unsure_settles_nothing(tmp_path: Path) -> None:
    """The question stays as it was."""
    said = answered(tmp_path, ("Ada", "unsure"))
    assert heard(None, said).state is State.SILENT
    both = answered(tmp_path, ("Ada", "unsure"), ("Bo", "absent"))
    assert heard(None, both).state is State.CONFIRMED


def test_graver_of_two_confirmations_is_reported(tmp_path: Path) -> None:
    """One says contradiction, the other a dangerous one: it is held to be dangerous."""
    pair = Question("conflict", "anna", 2, "Stop it.", earlier_turn=1, earlier="Take it.")
    said = (
        {"reviewer": who, "kind": "conflict", "answer": a, "question": pair.id}
        for who, a in (("A", "contradiction"), ("B", "severe"))
    )
    ruling = heard(None, read(tmp_path, chained(*said)), pair)
    assert (ruling.state, ruling.answer) == (State.CONFIRMED, "severe")


@pytest.mark.parametrize("field", ["reviewer", "role", "question", "kind", "case_id", "answer", "manifest"])
def test_names_have_at_most_two_hundred_characters(tmp_path: Path, field: str) -> None:
    """200 fit, 201 do not, and a line break never does."""
    for value in ("x" * 201, "a\nb"):
        with pytest.raises(InputError, match=rf"line 1: not a review \({field}: "):
            read(tmp_path, chained({field: value}))
    if field not in ("kind", "answer"):
        assert getattr(read(tmp_path, chained({field: "x" * 200})).records[0], field) == "x" * 200


@pytest.mark.parametrize("field", ["case_id", "manifest"])
def test_what_a_run_need_not_have_may_be_empty(tmp_path: Path, field: str) -> None:
    """A record is not refused for lack of it."""
    assert getattr(read(tmp_path, chained({field: ""})).records[0], field) == ""


def test_names_are_read_without_the_space_around_them(tmp_path: Path) -> None:
    """One reviewer stays one reviewer."""
    assert read(tmp_path, chained({"reviewer": " Ada "})).records[0].reviewer == "Ada"


@pytest.mark.parametrize(
    ("severe", "answer", "reason", "refused"),
    [
        (True, "retained", "", True),
        (True, "retained", "seen in line 3", False),
        (True, "absent", "", False),
        (True, "unsure", "", False),
        (False, "retained", "", False),
    ],
)
def test_only_a_bare_dismissal_of_a_severe_alarm_is_refused(
    tmp_path: Path, severe: bool, answer: str, reason: str, refused: bool
) -> None:
    """In the record's own words, and by what the run knows of the question."""
    text = chained({"question": QUESTION.id, "severe": severe, "answer": answer, "reason": reason})
    if refused:
        with pytest.raises(InputError, match="line 1: dismisses a severe alarm without a reason"):
            read(tmp_path, text)
        return
    reviews = read(tmp_path, text)
    refusal = ""
    try:
        check_reviews(reviews, "m", {QUESTION.id: QUESTION}, {QUESTION.id})
    except InputError as error:
        refusal = str(error)
    bare = (severe, answer, reason) == (False, "retained", "")
    wanted = r".*reviews\.jsonl, line 1: .*dismisses a severe alarm without a reason" if bare else ""
    assert re.fullmatch(wanted, refusal)


def test_the_faulty_review_is_named_by_its_line(tmp_path: Path) -> None:
    """With its file, reviewer and case; what was made for another run tells both hashes' beginnings."""
    first, second = {"question": QUESTION.id}, {"question": QUESTION.id, "manifest": "0123456789abcdef", "case_id": ""}
    with pytest.raises(InputError) as caught:
        check_reviews(read(tmp_path, chained(first, second)), "m", {QUESTION.id: QUESTION}, ())
    assert str(caught.value) == (
        f"{tmp_path / 'reviews.jsonl'}, line 2: the review by Ada, case unknown, was made for another run, "
        "its manifest hash is 0123456789ab, not m"
    )


def test_every_fault_names_the_file_in_one_way(tmp_path: Path) -> None:
    """As other files are named: the path, then the line, whichever of several files it is."""
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_text(chained({"question": QUESTION.id}), encoding="utf-8")
    known = read_reviews(good)
    told = {}
    for name, text in {
        "empty": "\n",
        "garbled": "\nnothing\n",
        "foreign": "\n" + chained({"manifest": "other"}),
    }.items():
        bad.write_text(text, encoding="utf-8")
        with pytest.raises(InputError) as caught:
            check_reviews(read_reviews(bad, known=known).with_reasons(()), "m", {QUESTION.id: QUESTION}, ())
        told[name] = str(caught.value)
    assert told["empty"] == f"{bad}: holds no review"
    assert told["garbled"] == f"{bad}, line 2: not a review (not JSON)"
    assert told["foreign"].startswith(f"{bad}, line 2: the review by Ada, ")


def test_lines_are_counted_from_one_and_blank_ones_too(tmp_path: Path) -> None:
    """The line that an editor shows."""
    with pytest.raises(InputError, match=r"reviews\.jsonl, line 3: not a review \(not JSON\)"):
        read(tmp_path, f"{chained({}).strip()}\n\nnothing\n")


def test_files_are_read_one_after_the_other(tmp_path: Path) -> None:
    """Records already known come first; each file has a chain of its own."""
    known = read(tmp_path, chained({"question": "a"}))
    both = read(tmp_path, chained({"question": "b"}), known)
    assert [review.question for review in both.records] == ["a", "b"]


def test_the_hash_is_that_of_the_plain_json() -> None:
    """Keys in order, no space, ASCII: SHA-256 of {"a":"\\u00e9","b":1}, which the page computes too."""
    import hashlib

    expected = hashlib.sha256(b'{"a":"\\u00e9","b":1}').hexdigest()
    assert content_hash({"b": 1, "a": "é"}) == expected


# ---- what a severe alarm needs


def said_after(reviews: Reviews) -> list[tuple[str, str, str]]:
    return [(review.reviewer, review.answer, review.reason) for review in reviews.records]


def test_a_bare_dismissal_of_a_severe_alarm_is_unsure(tmp_path: Path) -> None:
    """Of a severe question only, of an answer for the model only, and only where no reason stands beside it."""
    given: list[dict[str, Any]] = [
        {"reviewer": "Ada", "question": "grave", "answer": "retained", "reason": " "},
        {"reviewer": "Bo", "question": "grave", "answer": "retained", "reason": "line 3"},
        {"reviewer": "Cy", "question": "grave", "answer": "absent", "reason": ""},
        {"reviewer": "Di", "question": "slight", "answer": "retained", "reason": ""},
    ]
    reviews = read(tmp_path, chained(*({"severe": False, **record} for record in given)))
    assert said_after(reviews.with_reasons({"grave"})) == [
        ("Ada", "unsure", NO_REASON),
        ("Bo", "retained", "line 3"),
        ("Cy", "absent", ""),
        ("Di", "retained", ""),
    ]


def test_two_people_dismiss_a_severe_alarm(tmp_path: Path) -> None:
    """One is not enough, one under two spellings neither, nor one of two who has taken it back; others stay."""
    given = [
        ("Ada", "lone", True, "retained"),
        ("Ada", "both", True, "retained"),
        ("Bo", "both", True, "retained"),
        ("Ada", "again", True, "retained"),
        ("ADA ", "again", True, "retained"),
        ("Ada", "taken back", True, "retained"),
        ("Bo", "taken back", True, "retained"),
        ("Bo", "taken back", True, "absent"),
        ("Ada", "slight", False, "retained"),
        ("Ada", "known", False, "retained"),
        ("Bo", "upheld", True, "absent"),
    ]
    records = (
        {"reviewer": who, "question": about, "severe": severe, "answer": answer, "reason": "seen"}
        for who, about, severe, answer in given
    )
    reviews, alone = read(tmp_path, chained(*records)).with_two_people({"known"})
    assert alone == 4
    left = [(review.question, review.answer) for review in reviews.records]
    assert left == [
        (about, "unsure" if about in ("lone", "again", "taken back", "known") and answer == "retained" else answer)
        for _, about, _, answer in given
    ]
