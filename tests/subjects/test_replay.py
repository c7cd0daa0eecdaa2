"""Recordings, ours and the original system's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.conversation.scheduler import Plan, run_conversations
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.subjects.replay import ReplaySubject
from pytest_clinical_drift.transcript import Transcript, write_transcript

CASE = Case.model_validate(
    {
        "id": "anna",
        "patient_summary": "Anna has asthma.",
        "critical_entities": ["asthma"],
        "turns": [{"turn": 1, "message": "one"}, {"turn": 2, "message": "two"}],
    }
)


def record(folder: Path, rows: list[dict[str, object]]) -> Path:
    file = folder / "run.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def converse(file: Path) -> Transcript:
    subject = ReplaySubject(str(file), {})
    subject.check([CASE])
    finished: list[Transcript] = []
    run_conversations([CASE], subject, Plan(), on_finished=finished.append)
    (transcript,) = finished
    return transcript


def test_original_fields_and_counting_from_zero(tmp_path: Path) -> None:
    """`turn_idx` from 0 and `output_text` are read as turns 1 and 2."""
    rows: list[dict[str, object]] = [
        {"case_id": "anna", "turn_idx": index, "variant": variant, "output_text": f"{variant} {index}", "status": "ok"}
        for index in (0, 1)
        for variant in ("dialogue", "summary")
    ]
    transcript = converse(record(tmp_path, rows))
    assert [exchange.summary.text for exchange in transcript.exchanges] == ["summary 0", "summary 1"]
    assert transcript.failure is None


def test_folder_of_a_run_is_read_by_its_transcripts(tmp_path: Path) -> None:
    """`replay:results/…/runs/ID`: the run's other JSON files are not taken for replies."""
    (tmp_path / "transcripts").mkdir()
    rows: list[dict[str, object]] = [
        {"case_id": "anna", "turn_num": turn, "variant": variant, "response_text": f"{variant} {turn}"}
        for turn in (1, 2)
        for variant in ("dialogue", "summary")
    ]
    record(tmp_path / "transcripts", rows)
    (tmp_path / "run.json").write_text('{"format": 1}', encoding="utf-8")
    (tmp_path / "study_c_results.json").write_text('{"verdict": "PASS"}', encoding="utf-8")
    transcript = converse(tmp_path)
    assert [exchange.summary.text for exchange in transcript.exchanges] == ["summary 1", "summary 2"]


def test_summaries_alone_can_be_scored(tmp_path: Path) -> None:
    """A recording without dialogue keeps its summaries; the replies are unknown, not empty."""
    rows: list[dict[str, object]] = [
        {"case_id": "anna", "turn_num": turn, "variant": "summary", "response_text": "asthma"} for turn in (1, 2)
    ]
    transcript = converse(record(tmp_path, rows))
    assert transcript.failure is None
    assert [exchange.reply is not None and exchange.reply.recorded for exchange in transcript.exchanges] == [
        False,
        False,
    ]


@pytest.mark.parametrize(
    "text",
    [
        "CUDA out of memory. Tried to allocate 2 GiB",
        "Error: connection reset",
        "Traceback (most recent call last):\n x",
    ],
)
def test_error_text_in_place_of_a_reply_is_an_outage(tmp_path: Path, text: str) -> None:
    """What a crashed generation wrote down as its reply is not the model's answer."""
    rows: list[dict[str, object]] = [
        {
            "case_id": "anna",
            "turn_num": turn,
            "variant": variant,
            "response_text": text if turn == 2 else "fine",
            "status": "ok",
        }
        for turn in (1, 2)
        for variant in ("dialogue", "summary")
    ]
    incomplete = str(converse(record(tmp_path, rows)).failure)
    assert incomplete.startswith("turn 2, reply: recorded instead of a reply")


def test_folder_of_several_runs_names_one(tmp_path: Path) -> None:
    """The tool's own ledger is no recording."""
    for place in ("m", "m/runs/1", "m/runs/2"):
        (tmp_path / place / "transcripts").mkdir(parents=True)
        (tmp_path / place / "run.json").write_text("{}", encoding="utf-8")
    (tmp_path / "ledger.jsonl").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError) as error:
        ReplaySubject(str(tmp_path), {}).identity()
    assert str(error.value) == f"replay:{tmp_path}: holds 3 of our runs; name one, such as replay:{tmp_path}/m/runs/2"


def test_our_transcripts_replay_to_the_same_transcript(tmp_path: Path) -> None:
    """What we write, we read: text, reasoning, truncation and surrogates survive."""
    rows: list[dict[str, object]] = [
        {
            "case_id": "anna",
            "turn_num": turn,
            "variant": variant,
            "response_text": f"caf\u00e9 \ud800 {turn}",
            "truncated": False,
            "reasoning": "r",
        }
        for turn in (1, 2)
        for variant in ("dialogue", "summary")
    ]
    first = converse(record(tmp_path, rows))
    written = write_transcript(first, tmp_path / "out")
    assert converse(written) == first


def test_differing_second_version_is_refused(tmp_path: Path) -> None:
    """Two different summaries of one turn cannot both be the model's."""
    rows: list[dict[str, object]] = [
        {"case_id": "anna", "turn_num": 1, "variant": "summary", "response_text": text} for text in ("a", "b")
    ]
    with pytest.raises(InputError, match="line 2: a second, different summary of case anna, turn 1"):
        ReplaySubject(str(record(tmp_path, rows)), {}).check([CASE])


def test_a_key_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    """Of two texts in one line nobody knows which the model wrote."""
    file = tmp_path / "run.jsonl"
    row = '{"case_id": "anna", "turn_num": 1, "variant": "summary", "response_text": "a", "response_text": "b"}'
    file.write_text(f"\n{row}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"run\.jsonl, line 2: not valid JSON \('response_text' is given twice\)"):
        ReplaySubject(str(file), {}).check([CASE])


def test_a_retry_after_a_recorded_failure_counts(tmp_path: Path) -> None:
    """An error row followed by a good one for the same turn: the good one is the reply."""
    rows: list[dict[str, object]] = [
        {"case_id": "anna", "turn_num": 1, "variant": "summary", "response_text": "", "status": "error"}
    ]
    rows += [{"case_id": "anna", "turn_num": turn, "variant": "summary", "response_text": "asthma"} for turn in (1, 2)]
    assert converse(record(tmp_path, rows)).failure is None


def rows_of(*turns: int, repeat: int = 0, **more: object) -> list[dict[str, object]]:
    """Reply and summary of some turns, as we record them."""
    told = {1: "one", 2: "two"}
    return [
        {"case_id": "anna", "turn_num": turn, "variant": variant, "response_text": "asthma", "repeat": repeat,
         **({"message": told.get(turn, "more")} if variant == "dialogue" else {}), **more}
        for turn in turns
        for variant in ("dialogue", "summary")
    ]  # fmt: skip


def test_turns_that_the_case_does_not_have_are_refused(tmp_path: Path) -> None:
    """What was said on them would be left out of the verdict."""
    with pytest.raises(InputError, match="case anna has 2 turns and the recording turn 3–4 too"):
        ReplaySubject(str(record(tmp_path, rows_of(1, 2, 3, 4))), {}).check([CASE])


def test_the_messages_of_every_repeat_are_compared(tmp_path: Path) -> None:
    """The second conversation answered somebody else."""
    rows = [*rows_of(1, 2), *rows_of(1, 2, repeat=1, message="another")]
    with pytest.raises(InputError, match="turn 1: the recording holds another message"):
        ReplaySubject(str(record(tmp_path, rows)), {}).check([CASE])


def test_a_cut_off_reply_is_not_the_whole_one_again(tmp_path: Path) -> None:
    """Recorded twice with one text, once as cut off by the token limit: they cannot both be right."""
    rows = [*rows_of(1, 2), *rows_of(2, truncated=True)]
    with pytest.raises(InputError, match="a second, different dialogue of case anna, turn 2"):
        ReplaySubject(str(record(tmp_path, rows)), {}).check([CASE])


@pytest.mark.parametrize(
    ("told", "cut"),
    [({"truncated": True}, True), ({"finish_reason": "length"}, True), ({"finish_reason": "stop"}, None), ({}, None)],
)
def test_a_recording_tells_what_was_cut_off(tmp_path: Path, told: dict[str, object], cut: bool | None) -> None:
    """In our word or in a server's."""
    assert converse(record(tmp_path, rows_of(1, 2, **told))).exchanges[1].summary.truncated is cut  # type: ignore[arg-type]


def test_a_word_for_true_is_not_taken_for_false(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 1: truncated must be true or false, found 'yes'"):
        ReplaySubject(str(record(tmp_path, rows_of(1, 2, truncated="yes"))), {}).check([CASE])
