"""The same transcript in one message: its summary is scored like any other and enters no other figure."""

from pytest_clinical_drift.cases.model import Case, facts_at
from pytest_clinical_drift.evidence.findings import find_facts
from pytest_clinical_drift.judging.procedure import SingleJudgement
from pytest_clinical_drift.judging.readings import SINGLE
from pytest_clinical_drift.metrics.recall import recall
from pytest_clinical_drift.scoring.assessment import SingleFigures
from pytest_clinical_drift.scoring.fact_alarms import counted_status, counts_at_turn, every_fact, settled_fact
from pytest_clinical_drift.transcript import Transcript


def score_single(
    case: Case, transcript: Transcript, judged: SingleJudgement | None, deciding: frozenset[str]
) -> SingleFigures | None:
    """Recall of that summary at both ends; by rules where no judge that decides on facts has read it."""
    reply = transcript.single
    if reply is None or reply.error is not None or not transcript.exchanges:
        return None
    turn, by_judge = transcript.exchanges[-1].turn, judged is not None and "fact" in deciding
    facts = find_facts(reply.text, facts_at(case, turn), case.language)
    entries = {entry.key: entry for entry in judged.entries} if judged is not None else {}
    rulings = dict(judged.rulings) if judged is not None else {}
    settled = [
        settled_fact(
            fact,
            turn,
            entries.get(fact.fact_id),
            rulings.get(("fact", turn, fact.fact_id, SINGLE)),
            deciding=by_judge,
            cut=bool(reply.truncated),
            source=SINGLE,
        )[0]
        for fact in (every_fact(case, turn, facts) if by_judge else facts)
    ]
    kept = [finding for finding in settled if counts_at_turn(finding)]
    best, worst = (recall([counted_status(finding, worst=end) for finding in kept]) for end in (False, True))
    return SingleFigures(turn, best, worst, by_judge)
