"""PDSQI-9 on request: nine attributes of a summary, rated in two wordings of our own (Croxford et al. 2025)."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.conversation.hygiene import strip_reasoning
from pytest_clinical_drift.core.packaged import load_data
from pytest_clinical_drift.judging.answers import strict_object
from pytest_clinical_drift.judging.entries import ReadingAnswer
from pytest_clinical_drift.judging.procedure import Judges, Procedure
from pytest_clinical_drift.judging.protocol import JudgeRequest
from pytest_clinical_drift.judging.readings import PDSQI, Reading, messages_of, record_of
from pytest_clinical_drift.metrics.recall import mean
from pytest_clinical_drift.transcript import Transcript

SCALED = ("cited", "accurate", "thorough", "useful", "organised", "comprehensible", "succinct", "synthesised")
"""Attributes with grades from 1 to 5; more is better."""
STIGMATISING = "stigmatising"
"""1 where the summary is, 0 where it is not."""
_SCALES = {**dict.fromkeys(SCALED, range(1, 6)), STIGMATISING: range(2)}
ATTRIBUTES = tuple(_SCALES)
WORDINGS = (1, 2)


@dataclass(frozen=True, slots=True)
class Rating:
    """One summary in one wording."""

    turn: int
    wording: int
    scores: tuple[tuple[str, int], ...] = ()
    """By attribute; one that was not rated, or does not apply, is missing."""
    failed: str = ""
    """Why there are none."""


def rated_turns(case: Case) -> tuple[int, ...]:
    """After which turns a summary is rated: turn 10, or the last of a shorter case, and the last."""
    return tuple(sorted({case.t10_turn, len(case.turns)}))


def rate(case: Case, transcript: Transcript, judges: Judges) -> Procedure[tuple[Rating, ...]]:
    """Rate the summaries of a conversation, each with one request per wording."""
    readings = [
        Reading(
            PDSQI, case.id, exchange.turn, strip_reasoning(exchange.summary.text),
            messages_of(case, 1, exchange.turn), record_of(case, exchange.turn), source=version(),
        )
        for exchange in transcript.exchanges
        if exchange.turn in rated_turns(case) and exchange.has_summary
    ]  # fmt: skip
    asks = [JudgeRequest(reading, wording, "reader") for reading in readings for wording in WORDINGS]
    answers = yield asks
    ratings = []
    for ask in asks if judges.reads else ():
        answer = answers[ask.key]
        scores = scores_in(answer.given) if isinstance(answer, ReadingAnswer) and not answer.failed else ()
        ratings.append(Rating(ask.item.turn, ask.wording, scores, answer.failed))
    return tuple(ratings)


def scores_in(given: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    """The scores of an answer that lie on their scale; anything else is not rated."""
    ratings = given.get("ratings")
    if not isinstance(ratings, Mapping):
        return ()
    found = []
    for name, scale in _SCALES.items():
        entry = ratings.get(name)
        score = entry.get("score") if isinstance(entry, Mapping) else entry
        if isinstance(score, int | float) and not isinstance(score, bool) and score in scale:
            found.append((name, int(score)))
    return tuple(found)


def fully_rated(given: Mapping[str, Any]) -> bool:
    """Whether an answer has every score; only `synthesised` may not apply."""
    return {*ATTRIBUTES} <= {*dict(scores_in(given)), "synthesised"}


def pdsqi_scores(ratings: Sequence[Rating]) -> tuple[tuple[str, float | None], ...]:
    """The figures that a project may set limits on: each attribute's mean over the rated summaries and wordings."""
    rated = [dict(rating.scores) for rating in ratings]
    values = ((name, mean(float(scores[name]) for scores in rated if name in scores)) for name in ATTRIBUTES)
    return tuple((f"{PDSQI}.{name}", value) for name, value in values if rated)


# ---- what is said to a judge


def version() -> str:
    """Version and fingerprint of the prompts."""
    texts = load_data("prompts/pdsqi_prompts")
    digest = hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()[:8]
    return f"{texts['version']}-{digest}"


def rating_schema() -> dict[str, Any]:
    """The JSON schema of the answer."""
    reason = {"type": "string"}
    scale = {"type": "integer", "minimum": 1, "maximum": 5}
    scores: dict[str, Any] = dict.fromkeys(SCALED, scale) | {STIGMATISING: {"type": "integer", "enum": [0, 1]}}
    scores["synthesised"] = {"anyOf": [scale, {"type": "null"}]}
    rated = {name: strict_object({"reason": reason, "score": score}) for name, score in scores.items()}
    return strict_object({"ratings": strict_object(rated)})
