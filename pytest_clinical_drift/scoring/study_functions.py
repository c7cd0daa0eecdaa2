"""The original study's functions, under their names: for scripts and notebooks that score without pytest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from types import SimpleNamespace
from typing import Any

from pytest_clinical_drift.cases.model import Case, facts_at
from pytest_clinical_drift.conversation.scheduler import Plan, run_conversations
from pytest_clinical_drift.core.findings import Finding, FindingKey
from pytest_clinical_drift.core.words import Kind, State, Why, Word
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.evidence.advice.breach import Conflict, rules_conflict
from pytest_clinical_drift.evidence.advice.orders import advice_of
from pytest_clinical_drift.evidence.entities import EntityScorer, load_extractor
from pytest_clinical_drift.evidence.findings import TurnFindings, find_facts
from pytest_clinical_drift.evidence.reading.text import read
from pytest_clinical_drift.evidence.terms.language import rules_read
from pytest_clinical_drift.judging.due import Due
from pytest_clinical_drift.judging.procedure import Judges, settle
from pytest_clinical_drift.judging.protocol import build_judge
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.queue import JudgeQueue
from pytest_clinical_drift.metrics.recall import compute_drift_slope, ratio
from pytest_clinical_drift.scoring.assessment import CONFIRMED, TurnAssessment
from pytest_clinical_drift.scoring.summary_facts import FactText, score_turn, settled_fact
from pytest_clinical_drift.subjects.base import Request
from pytest_clinical_drift.transcript import Reply, Transcript

Curve = list[float | None]


@dataclass(frozen=True, slots=True)
class EntityRecallMetrics:
    """Curves of one case; index 0 is turn 1; None where a figure is undefined."""

    recall_curve_critical: Curve
    recall_curve_extended: Curve
    strict_recall_curve_critical: Curve
    precision_curve_critical: Curve
    precision_curve_extended: Curve
    f1_curve_critical: Curve
    f1_curve_extended: Curve
    hallucinated_rate_curve_critical: Curve
    hallucinated_rate_curve_extended: Curve
    recall_at_t10: float | None
    """Recall at turn 10, or at the last turn of a shorter case."""
    drift_slope: float | None
    """Slope of the critical recall curve up to there."""


def compute_entity_recall_metrics(model: Any, case: Case, ner: Any = "lexicon") -> EntityRecallMetrics:
    """Hold the conversation of `case` with `model` (or take its summaries as given) and compute its curves.

    `model` is a function from chat messages to text, an object with `generate(prompt, mode="summary")`, or the
    summaries themselves, one per turn, None for one that could not be had. `ner` names an extractor or is one.
    """
    summaries = _summaries(model, case)
    scorer = EntityScorer(case, load_extractor(ner) if isinstance(ner, str) else ner)
    turns = [_turn(case, number, summary, scorer) for number, summary in enumerate(summaries, start=1)]
    curves = {
        f"{figure}_curve_{gold}": [getattr(getattr(turn, gold), figure) for turn in turns]
        for figure, gold in product(("recall", "precision", "f1", "hallucinated_rate"), ("critical", "extended"))
    }
    recall = curves["recall_curve_critical"]
    return EntityRecallMetrics(
        **curves,
        strict_recall_curve_critical=[turn.strict_recall for turn in turns],
        recall_at_t10=recall[case.t10_turn - 1] if len(recall) >= case.t10_turn else None,
        drift_slope=compute_drift_slope(recall[: case.t10_turn]),
    )


def _turn(case: Case, turn: int, summary: str | None, scorer: EntityScorer) -> TurnAssessment:
    """One summary by rules, unclear facts at their likelier status; nothing is evaluated where they cannot read it."""
    if summary is None or not rules_read(summary, case.language):
        return score_turn(TurnFindings(turn, (), None), ())
    document = read(summary)
    facts = find_facts(document, facts_at(case, turn))
    settled = [settled_fact(rule, FactText(turn), None, None, deciding=False)[0] for rule in facts]
    likelier = [
        replace(f, alarm=None, state="") if f.status in ("retained", "partial") else replace(f, state=CONFIRMED)
        for f in settled
    ]
    return score_turn(TurnFindings(turn, facts, scorer.score(document, turn)), likelier)


def judge_conflict(earlier: str, later: str, judge: str = "rules") -> Conflict:
    """Whether the later advice contradicts the earlier one, with both quotes and the reason.

    `judge` is written as for `--drift-judge`.
    """
    return judge_pairs([(earlier, later)], judge)[0][0]


def judge_pairs(pairs: Sequence[tuple[str, str]], judge: str) -> list[tuple[Conflict, bool]]:
    """The conflict of each pair, and whether it was decided: without an answer, or advice, nothing is evaluated."""
    chosen = build_judge(judge, {})
    if chosen is None:
        return [(rules_conflict(earlier, later), True) for earlier, later in pairs]
    chosen.check()
    questions = [Question("conflict", "", 2, later, earlier_turn=1, earlier=earlier) for earlier, later in pairs]
    due = [
        Due(Finding(FindingKey(Kind.CONFLICT, place, earlier_turn=0), why=Why.UNSURE, question=asked.id), asked)
        for place, asked in enumerate(questions, start=1)
    ]
    queue = JudgeQueue(chosen)
    try:
        judges = Judges(chosen.name, chosen.name, reads=False, kinds=chosen.kinds)
        queue.start("pairs", settle(queue, due, judges))
        findings = queue.wait("pairs").values()
    finally:
        queue.stop()
    conflicts = []
    for finding in findings:
        first = finding.opinions[0]
        if finding.state is State.CONFIRMED:  # both wordings uphold it
            quotes = (first.earlier_quote, first.quote)
            conflicts.append((Conflict(True, first.reason, quotes, finding.answer == Word.SEVERE, "judge"), True))
        else:
            decided = finding.state is State.DISMISSED and finding.answer != Word.NO_ADVICE
            conflicts.append((Conflict(False, first.reason), decided))
    return conflicts


def calculate_knowledge_conflict_rate_from_responses(
    responses_by_case: Mapping[str, Sequence[str | None]], judge: str = "rules", nli_stride: int | None = None
) -> float | None:
    """K_Conflict over all cases: contradictions / evaluated pairs of adjacent advice; None when no pair was evaluated.

    `nli_stride` judges every Nth pair: by default each with rules, every second with a model.
    """
    stride = nli_stride
    if stride is None:
        stride = 1 if judge == "rules" else 2
    if stride < 1:
        raise InputError(f"the stride must be 1 or more, it is {stride}")
    pairs: list[tuple[str, str]] = []
    for replies in responses_by_case.values():
        spoken = [reply for reply in replies if reply and advice_of(reply)]
        pairs += list(pairwise(spoken))[::stride]
    decided = [conflict for conflict, known in (judge_pairs(pairs, judge) if pairs else ()) if known]
    return ratio(sum(conflict.contradiction for conflict in decided), len(decided))


def _summaries(model: Any, case: Case) -> list[str | None]:
    if isinstance(model, str):
        raise InputError("the summaries must be a list with one text per turn, found one text")
    if isinstance(model, Sequence):
        if len(model) > len(case.turns):
            raise InputError(f"{len(model)} summaries for the {len(case.turns)} turns of {case.id}")
        return list(model)
    generate = getattr(model, "generate", None)
    if not callable(generate) and not callable(model):
        name = type(model).__name__
        raise InputError(f"cannot talk to a {name}; give a function of chat messages or a list of summaries")

    def respond(request: Request) -> Reply:
        if callable(generate):
            return Reply(generate("\n\n".join(m.content for m in request.messages), mode=request.purpose))
        return Reply(model([message.as_dict() for message in request.messages]))

    finished: list[Transcript] = []
    subject: Any = SimpleNamespace(respond=respond)  # all that a conversation asks of a subject
    run_conversations([case], subject, Plan(), on_finished=finished.append)
    summaries: list[str | None] = [None] * len(case.turns)
    for exchange in finished[0].exchanges:
        summaries[exchange.turn - 1] = exchange.summary.text if exchange.has_summary else None
    return summaries
