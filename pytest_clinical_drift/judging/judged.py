"""One conversation after rules, judge and people."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pytest_clinical_drift.evidence.finding_types import Findings
from pytest_clinical_drift.judging.canaries import CanaryResult
from pytest_clinical_drift.judging.opinions import with_person
from pytest_clinical_drift.judging.pdsqi import Rating
from pytest_clinical_drift.judging.procedure import ConversationJudgement
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.reviews import Reviews


@dataclass(frozen=True, slots=True)
class JudgedConversation:
    """A conversation after rules, judge and people."""

    findings: Findings
    judgement: ConversationJudgement
    """Without a judge: what the rules raised, with nobody's answer."""
    canaries: tuple[CanaryResult, ...] = ()
    for_people: tuple[Question, ...] = ()
    ratings: tuple[Rating, ...] = ()


def with_reviews(judged: JudgedConversation, reviews: Reviews) -> JudgedConversation:
    """A conversation once people were heard."""
    judgement = judged.judgement
    rulings = {
        about: with_person(ruling, said) if (said := reviews.on(ruling.question_id)) else ruling
        for about, ruling in judgement.rulings.items()
    }
    return replace(judged, judgement=replace(judgement, rulings=rulings))
