"""Every way in which other people's bytes enter: each gives a result or one clear sentence, never anything else.

`TARGETS` maps a name to a strategy and to what is done with its values. The suite tries a small, fixed share of each;
`python -m benchmarks.fuzz` tries tens of thousands.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from engine_server import ChatServer, completion
from fuzz_records import (
    BANK,
    READ,
    feed_interludes,
    feed_readings,
)
from fuzz_runs import discard_recorded, feed_run_record, feed_shards, run_records, shard_files
from hostile_data import NUMBERS, SCALARS, TEXT, VALUES, as_json, as_yaml, changed, damaged, documents, lines
from hypothesis import strategies as st
from reviewing import KEPT, UNCLEAR, alarms_of, case, chained, lay_out, manifest_of, results_of, run

from pytest_clinical_drift import assess_retention, find_advice, judge_conflict, load_cases, mention_context
from pytest_clinical_drift.authoring.interludes import stretch
from pytest_clinical_drift.cases.files import hash_cases
from pytest_clinical_drift.cases.interludes import Thread
from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.cases.sharding import deal_cases
from pytest_clinical_drift.cases.timeline import probed_turns
from pytest_clinical_drift.cli import main
from pytest_clinical_drift.errors import DriftError, InputError

Outcome = str
LONGEST_SENTENCE = 1_500
MOST_FAULTS = 21


class Target(NamedTuple):
    """One way in."""

    values: st.SearchStrategy[Any]
    feed: Callable[[Any], Outcome]
    share: float = 1.0
    """Of the examples that a cheap target gets."""


class Fault(AssertionError):
    """Something other than a result or a sentence."""


def check_sentence(text: str) -> None:
    """One line for each of a few faults, printable, not endless, and no traceback."""
    if not text.strip():
        raise Fault("an error without a word")
    lines = text.strip().split("\n")
    if "Traceback" in text or len(lines) > MOST_FAULTS:
        raise Fault(f"not a few lines: {text[:300]!r}")
    if any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 or 0xD800 <= ord(char) < 0xE000 for char in "".join(lines)):
        raise Fault(f"control characters in {text[:300]!r}")
    if max(map(len, lines)) > LONGEST_SENTENCE:
        raise Fault(f"a sentence of {len(text)} characters: {text[:200]!r}…")


def told(action: Callable[[], object]) -> Outcome:
    """ "read" or "refused"; whatever else happens is a fault."""
    try:
        action()
    except InputError as error:
        check_sentence(str(error))
        return "refused"
    except DriftError:
        return "outage"
    return "read"


def command(*arguments: str | Path) -> Outcome:
    """`clinical-drift …` within this process: its exit code, with the sentence of a refusal checked."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    if code == 4 and arguments[0] != "validate":  # the linter lists all faults, on its own pages
        check_sentence(err.getvalue())
    if code not in (0, 1, 4, 6, 7):
        raise Fault(f"exit code {code}")
    return f"exit {code}"


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def named(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


# ---- cases and thresholds

ROOT = Path(__file__).parents[2]
CASE = case("anna")
CASE_WITH_ALL = {
    **CASE,
    "id": "bela",
    "persona_id": "p1",
    "target_plan": "Keep her safe.",
    "tags": ["allergy"],
    "turns": [
        {"turn": 1, "message": "They say I am not allergic.", "updates": [{"fact": "allergy", "ended": True}]},
        {
            "turn": 2,
            "message": "Now metformin is 1 g.",
            "updates": [{"fact": "metformin-500-mg-twice-daily", "becomes": "metformin 1 g twice daily"}],
            "introduces": [{"id": "gout", "text": "gout", "kind": "diagnosis", "forbids": ["nsaid"]}],
            "expect": {"must": [{"text": "ring 112", "any_of": ["call 112"]}], "must_not": ["take ibuprofen"]},
        },
    ],
}


NOT_EMPTY = TEXT.map(lambda text: f"x {text}")


@st.composite
def patients(draw: st.DrawFn) -> bytes:
    """Cases that keep to the schema, with anything for words."""
    facts = [
        {"id": f"f{n}", "text": draw(NOT_EMPTY), "aliases": [draw(NOT_EMPTY)]} for n in range(draw(st.integers(1, 3)))
    ]
    turns: list[dict[str, Any]] = [{"turn": n, "message": draw(NOT_EMPTY)} for n in (1, 2, 3)]
    turns[1]["updates"] = [{"fact": "f0", "becomes": draw(NOT_EMPTY)}]
    turns[2]["expect"] = {"must": [draw(NOT_EMPTY)], "must_not": [draw(NOT_EMPTY)]}
    told = {"id": "anna", "patient_summary": draw(NOT_EMPTY), "critical_entities": facts, "turns": turns}
    return draw(st.sampled_from((as_json, as_yaml)))({**told, "target_plan": draw(NOT_EMPTY), "tags": [draw(TEXT)]})


@st.composite
def gates(draw: st.DrawFn) -> bytes:
    """Thresholds that keep to the schema, with any numbers and reasons."""
    limits: dict[str, Any] = _thresholds()
    inner = limits["clinical_drift"]
    for metric in ("recall_at_t10", "drift_slope", "k_conflict"):
        sign = ">" if inner["metrics"][metric]["direction"] == "higher" else "<"
        for key in ("pass", "caution"):
            if draw(st.booleans()):
                inner["metrics"][metric][key] = f"{sign} {draw(NUMBERS)}"
        inner["metrics"][metric]["why"] = draw(NOT_EMPTY)
    inner["waivers"] = [{"case": draw(TEXT), "reason": draw(NOT_EMPTY), "signed_by": "A", "expires": draw(DAYS)}]
    return as_yaml(limits)


DAYS = st.sampled_from(("2026-01-01", "9999-12-31", "0001-01-01", "2026-02-30", "x"))


def feed_cases(content: tuple[str, bytes]) -> Outcome:
    with folder() as place:
        file = named(place / f"case{content[0]}", content[1])
        outcome = told(lambda: prepare_run(load_cases(file)))
        command("validate", file)
        return outcome


THREADS = [Thread.model_validate(thread) for thread in BANK["threads"]]


def prepare_run(cases: list[Case]) -> None:
    """What a run does with its cases before the first message: fingerprint, shards, probes, interludes."""
    hash_cases(cases)
    deal_cases(cases, 2)
    for patient in cases:
        stretched = stretch(patient, len(patient.turns) + 5, THREADS, 1)
        if not set(probed_turns(stretched)) <= set(range(1, len(stretched.turns) + 1)):
            raise Fault("a probe after a turn that there is not")


def feed_thresholds(content: bytes) -> Outcome:
    from pytest_clinical_drift.verdict.thresholds import load_thresholds, project_thresholds

    with folder() as place:
        file = named(place / "thresholds.yaml", content)
        told(lambda: project_thresholds(place))
        return told(lambda: load_thresholds(file))


# ---- recordings


ROWS = [
    {"case_id": "anna", "turn_num": 1, "variant": "summary", "response_text": KEPT, "status": "ok"},
    {"case_id": "anna", "turn_num": 1, "variant": "dialogue", "response_text": "Rest.", "status": "ok"},
    {"case_id": "anna", "turn_idx": 0, "variant": "summary", "output_text": KEPT, "status": "success"},
    {"case_id": "anna", "turn_num": 2, "variant": "summary", "status": "error", "error": "out of memory"},
    {"case_id": "anna", "turn_num": 3, "variant": "dialogue", "response_text": "<think>x", "repeat": 1},
]
WHOLE = [
    {"case_id": "anna", "turn_num": turn, "variant": kind, "response_text": KEPT, "status": "ok"}
    for turn in (1, 2, 3)
    for kind in ("dialogue", "summary")
]


@cache
def _patients() -> list[Any]:
    with folder() as place:
        return load_cases(named(place / "anna.yaml", yaml.safe_dump(CASE).encode()))


def feed_recording(content: tuple[str, bytes]) -> Outcome:
    from pytest_clinical_drift.conversation.scheduler import Plan, run_conversations
    from pytest_clinical_drift.subjects.spec import build_subject, parse_spec

    with folder() as place:
        file = named(place / f"run{content[0]}", content[1])

        def converse() -> None:
            subject = build_subject(parse_spec(f"replay:{file}"), {})
            subject.check(_patients())
            subject.identity()
            run_conversations(_patients(), subject, Plan(), on_finished=lambda transcript: None)

        return told(converse)


@st.composite
def whole_recordings(draw: st.DrawFn) -> bytes:
    """Recordings that can be replayed to their end, with anything for text."""
    rows = [{**row, "response_text": draw(TEXT)} for row in WHOLE]
    return "\n".join(json.dumps(row) for row in rows).encode()


# ---- results, reviews, calibration


@cache
def finished_run() -> Path:
    """A small finished run, kept for as long as this process lives."""
    place = Path(tempfile.mkdtemp(prefix="finished-run-"))
    lay_out(place, {"anna": [UNCLEAR, UNCLEAR, UNCLEAR]})
    code, said = run(place)
    if code != 7:
        raise RuntimeError(f"exit code {code}: {said[-2000:]}")
    return place


def discard_finished_run() -> None:
    discard_recorded()
    if finished_run.cache_info().currsize:
        shutil.rmtree(finished_run(), ignore_errors=True)
        finished_run.cache_clear()


@cache
def _results() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((results_of(finished_run()) / "study_c_results.json").read_text("utf-8"))
    return found


def feed_results(content: bytes) -> Outcome:
    with folder() as place:
        file = named(place / "study_c_results.json", content)
        with contextlib.chdir(place):
            command("power", "--cases", "20", "--drop", "0.1", "--results", file)
            return command("compare", results_of(finished_run()), file, "--fail-if-worse")


def feed_reopened(content: tuple[str, bytes]) -> Outcome:
    """A finished run of which one file was changed by somebody."""
    with folder() as place:
        copy = place / "results"
        shutil.copytree(results_of(finished_run()), copy)
        named(copy / content[0], content[1])
        return command("review", copy)


def feed_reviews(content: bytes) -> Outcome:
    with folder() as place:
        file = named(place / "reviews.jsonl", content)
        return command("verdict", results_of(finished_run()), "--reviews", file, "--out", place / "out")


@st.composite
def rehashed_reviews(draw: st.DrawFn) -> bytes:
    """Reviews whose hashes fit, so that their content is looked at."""
    results = results_of(finished_run())
    sound = {"manifest": manifest_of(results), "question": alarms_of(results)[0]["question"]}
    return chained(*({**sound, **draw(_review_fields)} for _ in range(draw(st.integers(1, 3))))).encode()


_review_fields = st.dictionaries(
    st.sampled_from(("reviewer", "role", "time", "question", "kind", "case_id", "answer", "reason", "severe")),
    SCALARS.filter(lambda value: value is None or isinstance(value, bool | str)),
    max_size=2,
)

LABELLED = {
    "question": {"kind": "fact", "case_id": "a", "turn": 1, "text": KEPT, "fact": "m", "statement": "takes metformin"},
    "label": "retained",
    "source": "made",
}
CONFLICT = {
    "question": {"kind": "conflict", "case_id": "a", "turn": 2, "text": "b", "earlier": "a", "earlier_turn": 1},
    "label": "consistent",
}
FORBIDDEN = {
    "question": {
        "kind": "forbidden",
        "case_id": "a",
        "turn": 2,
        "text": "b",
        "forbidden": [{"fact": "f", "statement": "s", "forbids": "w"}],
        "replaced": ["x"],
    },
    "label": "kept",
}
SHARE = {"hits": 1, "of": 2, "low": 0.1, "high": 0.9}
CALIBRATION = {
    "judge": "server:m",
    "identity": "x",
    "proven": False,
    "prompt_version": "1",
    "prompts": "x",
    "made": "2026-01-01",
    "questions": 2,
    "kinds": {"fact": dict.fromkeys(("sensitivity", "specificity", "false_confirmed", "missed"), SHARE)},
}


def feed_labelled(content: bytes) -> Outcome:
    from pytest_clinical_drift.judging.labelled import load_calibration_set
    from pytest_clinical_drift.judging.prompts import messages_for

    def prompts(file: Path) -> list[object]:
        return [messages_for(row.item, wording) for row in load_calibration_set(file) for wording in (1, 2)]

    with folder() as place:
        return told(lambda: prompts(named(place / "set.jsonl", content)))


def feed_calibration(content: bytes) -> Outcome:
    from pytest_clinical_drift.judging.calibration_file import read_calibration

    with folder() as place:
        return told(lambda: read_calibration(named(place / "c.json", content)))


# ---- slates


HEADER = "disease_name,drug_name,repurposing_score,rank,confidence_tier,known_at_freeze"
CELLS = st.one_of(
    TEXT.map(lambda text: '"' + text.replace('"', '""') + '"'),
    TEXT,
    st.sampled_from(("Xanthosis", "Abel", "0.9", "1", "high", "2025-01-15", "true")),
)


@st.composite
def tables(draw: st.DrawFn) -> bytes:
    """Comma-separated tables, sound or not."""
    header = draw(st.sampled_from((HEADER, HEADER, "disease_name,drug_name,label,year", "a,a", "", '"')))
    rows = draw(st.lists(st.lists(CELLS, max_size=7).map(",".join), max_size=4))
    sound = ["Xanthosis,Abel,0.9,1,high,false", "Xanthosis,Bruno,0.4,2,moderate,false"]
    text = "\n".join([header, *draw(st.sampled_from((sound, sound[:1], []))), *rows])
    return text.encode("utf-8", "surrogatepass")


MANIFEST = {
    "format": 1,
    "slate_id": "s1",
    "created_at": "2025-01-15T09:30:00+00:00",
    "model_version": "1",
    "parameters": {},
    "n_predictions": 2,
    "files": {"predictions.csv": "0" * 64},
    "sha256": "0" * 64,
}
PREDICTION = {"disease_name": "x", "drug_name": "a", "repurposing_score": 0.5, "rank": 1}
SLATE_FILES = (
    ("predictions.csv", "outcomes.csv", "candidates.csv", "labels.csv"),
    ("predictions.jsonl",),
    ("manifest.json", "slates.json"),
)


def feed_slate(content: tuple[str, bytes]) -> Outcome:
    from pytest_clinical_drift.ranking.slate import read_slates

    name, data = content
    with folder() as place:
        slate = place / "slate"
        if name != "predictions.jsonl":
            named(slate / "predictions.csv", f"{HEADER}\nXanthosis,Abel,0.9,1,high,false\n".encode())
        if name != "manifest.json":
            named(slate / "manifest.json", json.dumps(MANIFEST).encode())
        if name == "slates.json":
            (slate / "manifest.json").unlink()
        file = named(slate / name, data)
        if name.startswith("predictions."):
            command("freeze", file, "--out", place / "frozen", "--model-version", "1")
        command("verify", slate)
        return told(lambda: read_slates(slate))


# ---- answers of servers and judges


ANSWERS = [
    completion("Rest."),
    completion("", message={"content": [{"type": "text", "text": "a"}, {"type": "image_url"}], "reasoning": "x"}),
    completion("", message={"content": None, "refusal": "no", "reasoning_content": "y"}, finish_reason="length"),
    {"error": {"message": "slow down", "type": "x"}},
    {"detail": [{"loc": ["body"], "msg": "missing"}]},
]
ANSWER = st.tuples(
    st.sampled_from((200, 200, 200, 200, 200, 200, 200, 200, 200, 204, 302, 400, 401, 404, 422, 429, 500, 503)),
    st.sampled_from(("application/json", "text/html", "x\x7f")),
    st.one_of(
        changed(*ANSWERS[:3]).map(as_json), documents(*ANSWERS), st.sampled_from((b"<html>", b"", b"data: {}\n\n"))
    ),
)


class _Talk:
    """A server whose next answers are given, and a subject that talks to it."""

    def __init__(self) -> None:
        from pytest_clinical_drift.subjects.base import Request
        from pytest_clinical_drift.subjects.spec import build_subject, parse_spec
        from pytest_clinical_drift.transcript import Message

        self.answer: tuple[int, str, bytes] = (200, "application/json", b"")
        self.server = ChatServer(answer=self._answer)
        self.server.__enter__()
        settings = {"retries": "1", "timeout": "5", "deadline": "100000"}
        self.subject: Any = build_subject(parse_spec(f"server:m@{self.server.url}"), settings)
        self.request = Request("anna", 0, 1, "dialogue", (Message("user", "hello"),))

    def _answer(self, body: Mapping[str, Any]) -> tuple[int, dict[str, str], bytes]:
        status, kind, content = self.answer
        return status, {"content-type": kind}, content

    async def _ask(self) -> Any:
        try:
            return await self.subject.ask(self.request)
        finally:
            await self.subject.disconnect()

    def ask(self) -> Outcome:
        reply = asyncio.run(self._ask())
        if reply.error is not None:
            check_sentence(str(reply.error).encode("utf-8", "backslashreplace").decode())
            return "outage"
        return "read"


@cache
def _talk() -> _Talk:
    return _Talk()


def feed_server(content: tuple[int, str, bytes]) -> Outcome:
    talk = _talk()
    talk.answer = content
    return talk.ask()


PLACES = ("/v1/models", "/metrics", "/version", "/info", "/props", "/get_server_info", "/api/version")


def feed_server_info(content: dict[str, Any]) -> Outcome:
    """What a server tells about itself before the run."""
    talk = _talk()
    talk.answer = (200, "application/json", json.dumps(completion("ready")).encode())
    talk.server.tells = content

    def look() -> None:
        talk.subject.check(_patients())
        json.dumps(dict(talk.subject.identity().server or {}), allow_nan=False)

    return told(look)


GIVEN = {"answer": "retained", "quote": "Takes metformin", "earlier_quote": "x", "reason": "so"}


def feed_judge(content: tuple[int, str]) -> Outcome:
    """What a chat model answers as a judge."""
    from pytest_clinical_drift.core.words import Seat
    from pytest_clinical_drift.judging.answers import KINDS, UNSURE
    from pytest_clinical_drift.judging.chat import read_text
    from pytest_clinical_drift.judging.entries import entries_of
    from pytest_clinical_drift.judging.protocol import JudgeRequest
    from pytest_clinical_drift.judging.questions import Question, opinion_of
    from pytest_clinical_drift.judging.readings import FactLine, Reading

    number, text = content
    question = Question.from_mapping((LABELLED, CONFLICT, FORBIDDEN)[number]["question"])  # type: ignore[arg-type]
    summary = Reading("summary", "anna", 1, "Takes metformin.", facts=(FactLine("metformin", "takes metformin"),))
    read = read_text(JudgeRequest(summary, 1, Seat.READER), text)
    if (read.item, read.wording) != (summary.id, 1):
        raise Fault("a reading was answered as something else")
    for entry in entries_of(summary, read):
        if entry.answer not in (*KINDS[entry.kind], UNSURE):
            raise Fault(f"an entry of no kind: {entry.answer!r}")
    answer = read_text(JudgeRequest(question, 1), text)
    if (answer.item, answer.wording) != (question.id, 1):
        raise Fault("a question was answered as something else")
    counted = opinion_of(question, answer).answer
    if counted not in (*KINDS[question.kind], UNSURE):
        raise Fault(f"an answer of no kind: {counted!r}")
    return "failed" if answer.failed else counted


JUDGE_TEXT = st.tuples(
    st.integers(0, 2),
    st.one_of(
        changed(GIVEN).map(json.dumps),
        st.tuples(TEXT, changed(GIVEN).map(json.dumps), TEXT).map("".join),
        damaged(changed(GIVEN).map(lambda value: json.dumps(value).encode())).map(
            lambda content: content.decode("utf-8", "replace")
        ),
        VALUES.map(json.dumps),
        TEXT,
        st.sampled_from(['{"answer":' * 3000, "{" * 5000, '{"answer": ' + "9" * 5000 + "}"]),
    ),
)


# ---- what a model says


PIECES = st.sampled_from(
    ["penicillin allergy", "no known allergies", "metformin", "500 mg", "twice daily", "stopped", "not", ".", "\n",
     "- ", "| ", "**", ": ", "her mother", "take", "do not", "call 112", "1/2", "½", "5-10", "µg", "\u202f", "?", "(",
     ")", "<think>", "</think>", "2019", "since", "instead of", ";", "never", "unless", "0", "-1", "1e9", "history of"]
)  # fmt: skip
SPOKEN = st.one_of(
    st.lists(PIECES, max_size=25).map(" ".join),
    st.lists(st.one_of(PIECES, TEXT), max_size=12).map("".join),
    st.text(max_size=120),
)
FACTS = st.lists(
    st.one_of(
        st.sampled_from(
            ("penicillin allergy with anaphylaxis", "metformin 500 mg twice daily", "no asthma", "lives alone")
        ),
        st.lists(PIECES, min_size=1, max_size=5).map(" ".join),
        st.text(min_size=1, max_size=30),
    ),
    min_size=1,
    max_size=3,
)


def feed_text(content: tuple[str, str, list[str], int, int]) -> Outcome:
    text, other, facts, start, end = content

    def read() -> None:
        for found in assess_retention(text, facts):
            if found.status not in ("retained", "partial", "contradicted", "absent"):
                raise Fault(found.status)
            if any(text[span.start : span.end] != span.quote for span in found.evidence):
                raise Fault("a quotation that is none")
        find_advice(text)
        judge_conflict(text, other)
        mention_context(text, start, end)

    return told(read)


READERS = (
    ("validate",),
    ("compare",),
    ("review",),
    ("verify",),
    ("power", "--cases", "20", "--drop", "0.1", "--results"),
    ("calibrate", "--drift-judge", "rules", "--out", "out.json", "--set"),
    ("plans", "--output", "plans.json"),
)


def feed_paths(content: tuple[tuple[str, ...], str]) -> Outcome:
    """Names of files that are none, or none of ours."""
    reader, name = content
    with folder() as place, contextlib.chdir(place):
        return command(*reader, f"./{name}")


SPECS = st.one_of(
    st.tuples(st.sampled_from(("control:", "replay:", "server:", "hf:", "python:", "gpt:", "")), TEXT).map("".join),
    st.tuples(st.just("server:m@http"), TEXT).map("".join),
    st.tuples(st.just("server:m@http://"), TEXT).map("".join),
    st.text(max_size=30),
)
SETTINGS = st.dictionaries(
    st.sampled_from(("max_tokens", "temperature", "seed", "timeout", "concurrency", "key_env", "thinking", "x")),
    TEXT,
    max_size=2,
)


def feed_spec(content: tuple[str, dict[str, str]]) -> Outcome:
    """A SPEC and settings: refused or built, and the name of its folder is one name."""
    from pytest_clinical_drift.subjects.spec import build_subject, model_slug, parse_spec

    text, settings = content

    def build() -> None:
        spec = parse_spec(text)
        slug = model_slug(spec)
        if not slug or slug in (".", "..") or os.sep in slug or "\x00" in slug or Path(slug).name != slug:
            raise Fault(f"a folder named {slug!r}")
        build_subject(spec, settings)

    return told(build)


def endings(*suffixes: str) -> st.SearchStrategy[str]:
    return st.sampled_from(suffixes)


def _thresholds() -> Any:
    return yaml.safe_load((ROOT / "thresholds.yaml").read_text(encoding="utf-8"))


def _reopened() -> st.SearchStrategy[Any]:
    place = results_of(finished_run())
    sound = {name: json.loads((place / name).read_text("utf-8")) for name in ("study_c_results.json", "run.json")}
    rows = [json.loads(line) for line in (place / "transcripts" / "anna.jsonl").read_text("utf-8").splitlines()]
    return st.one_of(
        *(st.tuples(st.just(name), documents(value)) for name, value in sound.items()),
        st.tuples(st.just("transcripts/anna.jsonl"), lines(*rows)),
    )


TARGETS: dict[str, Target] = {
    "case files": Target(
        st.one_of(
            st.tuples(
                endings(".yaml", ".json"), documents(CASE, CASE_WITH_ALL, [CASE], {"cases": [CASE]}, yaml_too=True)
            ),
            st.tuples(st.just(".yaml"), patients()),
        ),
        feed_cases,
        0.7,
    ),
    "thresholds": Target(st.one_of(documents(_thresholds(), yaml_too=True), gates()), feed_thresholds),
    "recordings": Target(
        st.tuples(endings(".jsonl", ".json"), st.one_of(lines(*ROWS), whole_recordings(), documents(WHOLE))),
        feed_recording,
    ),
    "results files": Target(st.deferred(lambda: documents(_results())), feed_results, 0.3),
    "results folders": Target(st.deferred(_reopened), feed_reopened, 0.3),
    "reviews": Target(st.one_of(lines({"reviewer": "A"}), st.deferred(rehashed_reviews)), feed_reviews, 0.3),
    "labelled questions": Target(lines(LABELLED, CONFLICT, FORBIDDEN), feed_labelled),
    "calibration files": Target(documents(CALIBRATION), feed_calibration),
    "slates": Target(
        st.one_of(
            st.tuples(st.sampled_from(SLATE_FILES[0]), damaged(tables())),
            st.tuples(st.sampled_from(SLATE_FILES[1]), lines(PREDICTION)),
            st.tuples(st.sampled_from(SLATE_FILES[2]), documents(MANIFEST, [MANIFEST])),
        ),
        feed_slate,
        0.5,
    ),
    "names of files": Target(
        st.tuples(st.sampled_from(READERS), TEXT.filter(lambda text: not re.search("[\x00/\ud800-\udfff]", text))),
        feed_paths,
        0.3,
    ),
    "server answers": Target(ANSWER, feed_server, 0.5),
    "server information": Target(
        st.dictionaries(st.sampled_from(PLACES), st.one_of(VALUES, changed({"data": [{"id": "m", "meta": {"a": 1}}]}))),
        feed_server_info,
        0.1,
    ),
    "judge answers": Target(JUDGE_TEXT, feed_judge),
    "model text": Target(st.tuples(SPOKEN, SPOKEN, FACTS, st.integers(-5, 200), st.integers(-5, 200)), feed_text),
    "model and settings": Target(st.tuples(SPECS, SETTINGS), feed_spec),
    "readings": Target(READ, feed_readings),
    "interludes": Target(
        st.tuples(endings(".yaml", ".json"), documents(BANK, yaml_too=True)), lambda value: feed_interludes(value, told)
    ),
    "run records": Target(st.deferred(run_records), lambda value: feed_run_record(value, told, check_sentence), 0.5),
    "shards": Target(st.deferred(shard_files), lambda value: feed_shards(value, told), 0.3),
}
