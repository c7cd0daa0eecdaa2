"""From a transcript to an assessment: gathers the evidence of each turn and computes the figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .assessment import (
    Breach,
    CaseAssessment,
    ConflictFigures,
    Contradiction,
    EntityScores,
    FactFinding,
    Quote,
    TurnAssessment,
)
from .cases import Case, FactState, facts_at
from .conversation.reasoning import strip_reasoning
from .evidence.alignment import Alignment, align
from .evidence.breach import find_breaches
from .evidence.conflict import compare_turns
from .evidence.entities import EntityScorer, ScoredEntities
from .evidence.retention import assess_document
from .evidence.text import Document, read
from .evidence.tiers import ask_tier
from .lapses import find_contradicted_facts, find_hard_stops, find_stale_facts
from .metrics.conflict import conflict_rate
from .metrics.drift import fit_slope
from .metrics.recall import f1, hallucinated_rate, precision, recall, strict_recall
from .transcript import Exchange, Reply, Transcript

NO_PAIRS = "no two turns gave advice, so nothing could contradict"
NO_REPLIES = "the recording holds summaries only, no replies"


@dataclass(frozen=True, slots=True)
class Scorer:
    """Scores conversations; holds the judge and the extractor, which may be models."""

    judge: Any
    """A contradiction judge."""
    stride: int
    """Every how manyth adjacent advice pair is judged."""
    extractor: Any = field(default=None)
    """An entity extractor; None takes the vocabulary one."""
    embedder: Any = field(default=None)
    """A sentence embedder for session goal alignment; None: not evaluated."""
    no_embedder: str = "no embedder was given"
    """Why there is none."""
    tier: Any = field(default=None)
    """A model that looks again for long facts; None: the rules alone."""

    def score(self, case: Case, transcript: Transcript) -> CaseAssessment:
        """Assess one conversation; an incomplete one keeps what was said, without gated figures."""
        entities = EntityScorer(case, self.extractor)
        turns = tuple(self._score_turn(case, exchange, entities) for exchange in transcript.exchanges)
        recall_curve = [turn.recall for turn in turns][: case.horizon]
        extended_curve = [turn.extended.recall for turn in turns][: case.horizon]
        hard_stops, slips = find_hard_stops(case, turns)
        stale = find_stale_facts(case, turns)
        alignment = self._align(case, transcript.exchanges)
        replies = [reply for exchange in transcript.exchanges for reply in (exchange.reply, exchange.summary) if reply]
        return CaseAssessment(
            case_id=case.id,
            persona_id=case.persona_id,
            group=case.independence_group,
            repeat=transcript.repeat,
            horizon=case.horizon,
            turns=turns,
            slope=fit_slope(recall_curve),
            slope_extended=fit_slope(extended_curve),
            conflict=self._compare_advice(transcript.exchanges),
            breaches=_breaches(case, transcript.exchanges),
            hard_stops=hard_stops,
            hard_stop_slips=slips,
            stale_facts=tuple(stale),
            contradicted_facts=find_contradicted_facts(case, turns, set(stale)),
            alignment=alignment.score,
            alignment_reason=alignment.reason,
            alignment_curve=alignment.curve,
            incomplete=transcript.incomplete,
            generation_seconds=_total_seconds(replies),
            replies_total=len(replies),
            replies_reused=sum(reply.reused_from is not None for reply in replies),
            tags=case.tags,
            notes=_notes(transcript),
        )

    def _score_turn(self, case: Case, exchange: Exchange, entities: EntityScorer) -> TurnAssessment:
        if exchange.summary.error is not None:
            return _unheard(exchange.turn)
        findings, scored = assess_summary(exchange.summary.text, case, exchange.turn, entities, self.tier)
        critical, extended, strict = score_entities(findings, scored)
        return TurnAssessment(
            turn=exchange.turn,
            findings=findings,
            recall=critical.recall,
            strict_recall=strict,
            critical=critical,
            extended=extended,
            hallucinated=scored.hallucinated,
            fabricated=scored.fabricated,
            cleaned=exchange.cleaned,
            prompt_tokens=exchange.summary.usage.prompt_tokens,
        )

    def _align(self, case: Case, exchanges: Sequence[Exchange]) -> Alignment:
        if self.embedder is None:
            return Alignment(None, None, (), self.no_embedder)
        return align([_visible(exchange.reply) for exchange in exchanges], case.target_plan, self.embedder)

    def _compare_advice(self, exchanges: Sequence[Exchange]) -> ConflictFigures:
        replies = [_visible(exchange.reply) for exchange in exchanges]
        evidence = compare_turns(replies, self.judge, self.stride)
        adjacent = {(found.earlier_turn, found.later_turn, found.quotes) for found in evidence.contradictions}
        found = tuple(
            Contradiction(
                earlier_turn=item.earlier_turn,
                later_turn=item.later_turn,
                earlier_quote=item.quotes[0],
                later_quote=item.quotes[1],
                reason=item.reason,
                severe=item.severe,
                adjacent=(item.earlier_turn, item.later_turn, item.quotes) in adjacent,
            )
            for item in dict.fromkeys((*evidence.contradictions, *evidence.all_pairs))
        )
        pairs, count = evidence.pairs_evaluated, len(evidence.contradictions)
        rate = conflict_rate(count, pairs)
        recorded_without = any(exchange.reply is not None and not exchange.reply.recorded for exchange in exchanges)
        reason = "" if rate is not None else (NO_REPLIES if recorded_without else NO_PAIRS)
        return ConflictFigures(pairs, count, rate, reason, found)


def assess_summary(
    summary: str, case: Case, turn: int, entities: EntityScorer, tier: Any = None
) -> tuple[tuple[FactFinding, ...], ScoredEntities]:
    """What the summary after a turn says of the facts, and its entities; the text is read once for both."""
    document = read(summary)
    findings = assess_facts(document, facts_at(case, turn), tier)
    scored = entities.score(document, turn)
    document.cache.clear()  # what was found refers back to the document: emptied, it is freed at once
    return findings, scored


def score_entities(
    findings: Sequence[FactFinding], scored: ScoredEntities
) -> tuple[EntityScores, EntityScores, float | None]:
    """Figures of one summary against the critical and the extended set, and its strict recall."""
    statuses = [finding.status for finding in findings]
    critical = _entity_scores(recall(statuses), scored.matching_critical, scored)
    extended = _entity_scores(_extended_recall(statuses, scored), scored.matching_extended, scored)
    return critical, extended, strict_recall(statuses)


def _entity_scores(recall_value: float | None, matching: int, scored: ScoredEntities) -> EntityScores:
    precision_value = precision(matching, scored.stated)
    return EntityScores(
        recall=recall_value,
        precision=precision_value,
        f1=f1(precision_value, recall_value),
        hallucinated_rate=hallucinated_rate(len(scored.hallucinated), scored.stated),
    )


def _extended_recall(statuses: Sequence[str], scored: ScoredEntities) -> float | None:
    """Recall over the critical facts and the background entities of the intake together."""
    kept = ["retained"] * scored.background_stated + ["absent"] * (scored.background - scored.background_stated)
    return recall([*statuses, *kept])


def _unheard(turn: int) -> TurnAssessment:
    """A turn whose summary could not be had keeps its place, with nothing evaluated."""
    nothing = EntityScores(None, None, None, None)
    return TurnAssessment(turn, (), None, None, nothing, nothing)


def assess_facts(summary: str | Document, states: Sequence[FactState], tier: Any = None) -> tuple[FactFinding, ...]:
    """Judge a summary against what is true by now; an old value stated as current is contradicted (stale)."""
    findings: list[FactFinding] = []
    document = read(summary) if isinstance(summary, str) else summary
    retained = assess_document(document, [state.fact for state in states])
    if tier is not None:
        retained = ask_tier(tier, document.raw, retained)
    for state, found in zip(states, retained, strict=True):
        stale = None
        if state.superseded and (state.ended or found.status != "retained"):
            stale = next(
                (old for old in assess_document(document, list(state.superseded)) if old.status == "retained"),
                None,
            )
        if state.ended and stale is None:
            continue
        source = stale or found
        findings.append(
            FactFinding(
                fact_id=state.fact.id,
                text=state.fact.text,
                status="contradicted" if stale else found.status,
                reason=f"stale: still states {stale.entity!r}" if stale else found.reason,
                quotes=tuple(Quote(span.quote, span.start, span.end) for span in source.evidence),
                hard_stop=state.fact.hard_stop,
                stale=stale is not None,
            )
        )
    return tuple(findings)


def _breaches(case: Case, exchanges: Sequence[Exchange]) -> tuple[Breach, ...]:
    found: list[Breach] = []
    for exchange in exchanges:
        reply = _visible(exchange.reply)
        if reply is None:
            continue
        facts = [state.fact for state in facts_at(case, exchange.turn) if not state.ended]
        expect = case.turns[exchange.turn - 1].expect
        found.extend(
            Breach(exchange.turn, item.kind, item.rule, item.why, item.quote)
            for item in find_breaches(reply, facts, expect)
        )
    return tuple(found)


def _visible(reply: Reply | None) -> str | None:
    """The reply as the patient sees it; None when there is none to judge."""
    if reply is None or reply.error is not None or not reply.recorded:
        return None
    return strip_reasoning(reply.text)


def _total_seconds(replies: Sequence[Reply]) -> float | None:
    timed = [reply.seconds for reply in replies if reply.seconds is not None]
    return sum(timed) if timed else None


def _notes(transcript: Transcript) -> tuple[str, ...]:
    cleaned = [str(exchange.turn) for exchange in transcript.exchanges if exchange.cleaned]
    looped = (f"repetition was cut from the history after turn {', '.join(cleaned)}",) if cleaned else ()
    return (*transcript.notes, *looped)
