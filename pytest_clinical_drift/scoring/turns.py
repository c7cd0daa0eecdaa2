"""The turns of a conversation: the facts of each summary after all opinions, and the figures made of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_clinical_drift.cases.model import Case, facts_at
from pytest_clinical_drift.cases.timeline import scheduled_turns
from pytest_clinical_drift.evidence.entities import ScoredEntities
from pytest_clinical_drift.evidence.findings import FactFinding, TurnFindings, find_facts, says_nothing, visible
from pytest_clinical_drift.judging.entries import Entry
from pytest_clinical_drift.judging.for_reviewers import JudgedConversation
from pytest_clinical_drift.judging.procedure import ConversationJudgement
from pytest_clinical_drift.judging.readings import SINGLE
from pytest_clinical_drift.metrics.recall import f1, ratio, recall, strict_recall
from pytest_clinical_drift.scoring.assessment import Alarm, EntityScores, SettledFact, SingleFigures, TurnAssessment
from pytest_clinical_drift.scoring.fact_alarms import counted_status, every_fact, settle_summary
from pytest_clinical_drift.transcript import Exchange, Transcript


def entries_by_fact(judgement: ConversationJudgement) -> Mapping[tuple[int, str], Entry]:
    """What readings of summaries say of facts, by turn and fact."""
    wanted = ("summary", "fact", "")
    return {(turn, e.key): e for kind, turn, of, e in judgement.entries if (kind, e.kind, of) == wanted}


def score_turns(
    case: Case, transcript: Transcript, judged: JudgedConversation, deciding: frozenset[str]
) -> tuple[tuple[TurnAssessment, ...], list[Alarm]]:
    """The figures of every turn, and the alarms on facts in its summaries."""
    turns: list[TurnAssessment] = []
    alarms: list[Alarm] = []
    scheduled, read = set(scheduled_turns(len(case.turns))), "fact" in deciding
    by_fact = entries_by_fact(judged.judgement)
    for found, exchange in zip(judged.findings.turns, transcript.exchanges, strict=True):
        facts: Sequence[FactFinding] = found.facts
        if read and exchange.has_summary:
            facts = every_fact(case, found.turn, facts)
        entries = {fact: entry for (turn, fact), entry in by_fact.items() if turn == found.turn}
        rulings = judged.judgement.rulings
        kept, raised = settle_summary(case, found.turn, facts, exchange.summary, entries, rulings, deciding=read)
        alarms += raised
        turn = score_turn(found, kept, exchange, own=case.is_own(found.turn))
        turns.append(replace(turn, scheduled=found.turn in scheduled, silent=says_nothing(visible(exchange.reply))))
    return tuple(turns), alarms


def score_single(
    case: Case, transcript: Transcript, judgement: ConversationJudgement, deciding: frozenset[str]
) -> SingleFigures | None:
    """Recall, at both ends, of the summary of the same transcript given in one message.

    By rules where no judge that decides on facts has read it.
    """
    reply, judged = transcript.single, judgement.single
    if reply is None or reply.error is not None or not transcript.exchanges:
        return None
    turn, read = transcript.exchanges[-1].turn, judged is not None and "fact" in deciding
    facts: Sequence[FactFinding] = find_facts(reply.text, facts_at(case, turn), case.language)
    if read:
        facts = every_fact(case, turn, facts)
    entries = {entry.key: entry for entry in judged.entries} if judged is not None else {}
    rulings = dict(judged.rulings) if judged is not None else {}
    kept, _ = settle_summary(case, turn, facts, reply, entries, rulings, deciding=read, source=SINGLE)
    best, worst = _at_both_ends(kept)
    return SingleFigures(turn, recall(best), recall(worst), read)


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
    best, worst = _at_both_ends(facts)
    scored = read.entities
    critical = _entity_scores(recall(best), scored.matching_critical, scored)
    # the critical facts and the background entities of the intake together
    kept = ["retained"] * scored.background_stated + ["absent"] * (scored.background - scored.background_stated)
    return TurnAssessment(
        turn=read.turn,
        findings=tuple(facts),
        recall=critical.recall,
        strict_recall=strict_recall(best),
        critical=critical,
        extended=_entity_scores(recall([*best, *kept]), scored.matching_extended, scored),
        recall_worst=recall(worst),
        strict_worst=strict_recall(worst),
        hallucinated=scored.hallucinated,
        cleaned=exchange.cleaned if exchange else False,
        truncated=cut,
        prompt_tokens=exchange.summary.usage.prompt_tokens if exchange else None,
        own=own,
    )


def _at_both_ends(facts: Sequence[SettledFact]) -> tuple[list[str], list[str]]:
    """The statuses that count at the better end, and at the worse one."""
    best, worst = ([counted_status(fact, worst=end) for fact in facts] for end in (False, True))
    return best, worst


def _entity_scores(recalled: float | None, matching: int, scored: ScoredEntities) -> EntityScores:
    right = ratio(matching, scored.stated)
    return EntityScores(recalled, right, f1(right, recalled), ratio(len(scored.hallucinated), scored.stated))
