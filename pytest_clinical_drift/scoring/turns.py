"""The turns of a conversation: the facts of each summary after all opinions, and the figures made of them."""

from collections.abc import Sequence
from dataclasses import replace

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.cases.summary_turns import probes_of
from pytest_clinical_drift.evidence.entities import ScoredEntities
from pytest_clinical_drift.evidence.finding_types import FactFinding, Findings, TurnFindings
from pytest_clinical_drift.evidence.findings import says_nothing, visible
from pytest_clinical_drift.judging.procedure import ConversationJudgement
from pytest_clinical_drift.metrics.recall import f1, ratio, recall, strict_recall
from pytest_clinical_drift.scoring.assessment import Alarm, EntityScores, SettledFact, TurnAssessment
from pytest_clinical_drift.scoring.fact_alarms import (
    counted_status,
    counts_at_turn,
    entries_by_fact,
    essential_at,
    every_fact,
    settled_fact,
)
from pytest_clinical_drift.transcript import Exchange, Transcript


def score_turns(
    case: Case,
    findings: Findings,
    transcript: Transcript,
    judgement: ConversationJudgement,
    deciding: frozenset[str],
) -> tuple[tuple[TurnAssessment, ...], list[Alarm]]:
    """The figures of every turn, and the alarms on facts in its summaries."""
    turns, alarms = [], []
    entries, scheduled = entries_by_fact(judgement.entries), set(probes_of(case).scheduled)
    for read, exchange in zip(findings.turns, transcript.exchanges, strict=True):
        facts: Sequence[FactFinding] = read.facts
        if "fact" in deciding and exchange.has_summary:
            facts = every_fact(case, read.turn, read.facts)
        essential = essential_at(case, read.turn)
        settled = [
            settled_fact(
                fact,
                read.turn,
                entries.get((read.turn, fact.fact_id)),
                judgement.rulings.get(("fact", read.turn, fact.fact_id)),
                deciding="fact" in deciding,
                essential=essential.get(fact.fact_id, ()),
                cut=bool(exchange.summary.truncated),
                text=exchange.summary.text,
            )
            for fact in facts
        ]
        alarms += [alarm for _, alarm in settled if alarm is not None]
        kept = [finding for finding, _ in settled if counts_at_turn(finding)]
        turn = score_turn(read, kept, exchange, own=case.is_own(read.turn))
        turns.append(replace(turn, scheduled=read.turn in scheduled, silent=says_nothing(visible(exchange.reply))))
    return tuple(turns), alarms


def score_turn(
    read: TurnFindings, facts: Sequence[SettledFact], exchange: Exchange | None = None, *, own: bool = True
) -> TurnAssessment:
    """The figures of one turn; a turn whose summary could not be had keeps its place, with nothing evaluated."""
    texts = (("dialogue", exchange.reply), ("summary", exchange.summary)) if exchange else ()
    cut = tuple(name for name, reply in texts if reply.truncated)
    if read.entities is None:
        nothing = EntityScores(None, None, None, None)
        probed = exchange is None or exchange.summary.asked
        return TurnAssessment(read.turn, (), None, None, nothing, nothing, truncated=cut, probed=probed, own=own)
    best, worst = ([counted_status(fact, worst=end) for fact in facts] for end in (False, True))
    scored = read.entities
    critical = _entity_scores(recall(best), scored.matching_critical, scored)
    # the critical facts and the background entities of the intake together
    kept = ["retained"] * scored.background_stated + ["absent"] * (scored.background - scored.background_stated)
    extended = _entity_scores(recall([*best, *kept]), scored.matching_extended, scored)
    return TurnAssessment(
        turn=read.turn,
        findings=tuple(facts),
        recall=critical.recall,
        strict_recall=strict_recall(best),
        critical=critical,
        extended=extended,
        recall_worst=recall(worst),
        strict_worst=strict_recall(worst),
        hallucinated=scored.hallucinated,
        cleaned=exchange.cleaned if exchange else False,
        truncated=cut,
        prompt_tokens=exchange.summary.usage.prompt_tokens if exchange else None,
        own=own,
    )


def _entity_scores(recalled: float | None, matching: int, scored: ScoredEntities) -> EntityScores:
    right = ratio(matching, scored.stated)
    return EntityScores(recalled, right, f1(right, recalled), ratio(len(scored.hallucinated), scored.stated))
