"""Simulated models, read by rules and by a judge: recorded conversations, faults of known truth, the gate's own code.

The conversations of a careful model (tests/data/real/strong, taken as flawless) are drawn with replacement until there
are 60. What rules make of them is measured, not assumed. A fact that the simulated model loses is replaced by what
rules made of a planted loss. Every question that the run would put to a judge is answered with the floors for
odds. Then the assessment, the verdict on each case and on the set are made by the code of the package.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from recorded import Talk, recorded

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.evidence.findings import find_facts
from pytest_clinical_drift.evidence.found import FactFinding, Findings, PairFinding
from pytest_clinical_drift.judging.answers import AGAINST, KINDS
from pytest_clinical_drift.judging.opinions import DISMISSED, OPEN, UPHELD, Opinion, Ruling
from pytest_clinical_drift.judging.questions import AUDIT_LEAST, AUDIT_SHARE, About, questions_of
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.scoring.scorer import Scorer
from pytest_clinical_drift.transcript import Exchange, Reply, Transcript
from pytest_clinical_drift.verdict.case import open_groups

CASES = 60
FALL = 0.002
"""Loss of recall per turn before it reaches its level at the horizon."""
LIKENESS = 0.1
"""Correlation of the facts of one conversation."""
FLICKER = 0.3
"""Share of a fact's appearances that are drawn afresh rather than following from the turn before."""
BOTH_WRONG = 0.5
"""Of a judge's errors, those in which both opinions err: the alarm is confirmed or dismissed. The rest stays open."""


@dataclass(frozen=True)
class Recording:
    """A conversation with what the rules found in it, and what a judge would be asked."""

    case: Case
    transcript: Transcript
    findings: Findings
    asked: frozenset[About]


@dataclass(frozen=True)
class Model:
    """What a simulated model does."""

    name: str
    recall: float = 1.0
    """At the horizon, over all facts."""
    loses_hard_stops: bool = False
    flips: int = 0
    """Conversations with one dangerous contradiction."""


@dataclass(frozen=True)
class Truth:
    """What really happened in one conversation."""

    recording: Recording
    findings: Findings
    asked: frozenset[About]
    faults: frozenset[About]


class Stage:
    """Draws runs of simulated models."""

    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)
        self.scorer = Scorer()
        talks = list(recorded("strong"))
        self.recordings = [self._recording(talk) for talk in talks]
        self.losses = list(_planted_losses(talks))
        self._untouched: dict[str, CaseAssessment] = {}

    def _recording(self, talk: Talk) -> Recording:
        exchanges = tuple(
            Exchange(turn, talk.case.turns[turn - 1].message, Reply(talk.replies[turn]), Reply(summary))
            for turn, summary in sorted(talk.summaries.items())
        )
        transcript = Transcript(talk.case.id, exchanges)
        findings = self.scorer.find(talk.case, transcript)
        asked = frozenset(question.about for question in questions_of(talk.case, transcript, findings))
        return Recording(talk.case, transcript, findings, asked)

    def run(self, model: Model) -> list[Truth]:
        """The conversations of one run."""
        drawn = self.generator.integers(0, len(self.recordings), CASES)
        flipping = set(self.generator.permutation(CASES)[: model.flips].tolist())
        return [self._truth(self.recordings[index], model, number in flipping) for number, index in enumerate(drawn)]

    def _truth(self, recording: Recording, model: Model, flips: bool) -> Truth:
        findings, asked, faults = recording.findings, set(recording.asked), set()
        if model.recall < 1:
            lost = self._lost(recording, model)
            turns = []
            for turn in findings.turns:
                facts = [lost.get((turn.turn, fact.fact_id), fact) for fact in turn.facts]
                asked |= {("fact", turn.turn, fact.fact_id) for fact in facts if not fact.plain}
                turns.append(replace(turn, facts=tuple(facts)))
            findings = replace(findings, turns=tuple(turns))
            faults |= {("fact", turn, fact) for turn, fact in lost}
        if flips:
            pair = PairFinding(3, 4, "take it", "do not take it", "opposite orders", True, True, "opposite")
            findings = replace(findings, conflicts=(*findings.conflicts, pair), pairs=(*{*findings.pairs, (3, 4)},))
            asked.add(("conflict", 3, 4))
            faults.add(("conflict", 3, 4))
        return Truth(recording, findings, frozenset(asked), frozenset(faults))

    def _lost(self, recording: Recording, model: Model) -> dict[tuple[int, str], FactFinding]:
        """Facts that are gone on a turn, as the rules would find them."""
        horizon, draw = recording.case.horizon, self.generator
        strength = 1 / LIKENESS - 1
        facts = recording.findings.turns[horizon - 1].facts
        kept = 0 if model.loses_hard_stops else sum(fact.hard_stop for fact in facts)
        share = min(0.999, max(0.001, (model.recall * len(facts) - kept) / max(1, len(facts) - kept)))
        level = draw.beta(share * strength, (1 - share) * strength)
        threshold: dict[str, float] = {}
        gone: dict[tuple[int, str], FactFinding] = {}
        for turn in recording.findings.turns:
            now = min(1.0, level + FALL * max(0, horizon - turn.turn))
            for fact in turn.facts:
                if fact.hard_stop and not model.loses_hard_stops:
                    continue
                if fact.fact_id not in threshold or draw.random() < FLICKER:
                    threshold[fact.fact_id] = draw.random()
                if threshold[fact.fact_id] >= now:
                    found = self.losses[draw.integers(len(self.losses))]
                    gone[turn.turn, fact.fact_id] = replace(
                        fact, status=found.status, certain=found.certain, rule=found.rule, stale=False, quotes=()
                    )
        return gone

    # ---- readers

    def by_rules(self, truths: Sequence[Truth]) -> list[list[CaseAssessment]]:
        """Nobody decides what the rules leave open."""
        return [[self._score(number, truth, {})] for number, truth in enumerate(truths)]

    def answers(self, truths: Sequence[Truth], sensitivity: float, specificity: float) -> list[dict[About, Ruling]]:
        """A judge at its floors, the audit included."""
        audit = self._audit(truths)
        return [
            {
                about: self._ruling(about, about in truth.faults, sensitivity, specificity, about in drawn)
                for about in sorted(truth.asked | drawn, key=str)
            }
            for truth, drawn in zip(truths, audit, strict=True)
        ]

    def judged(self, truths: Sequence[Truth], rulings: Sequence[dict[About, Ruling]]) -> list[list[CaseAssessment]]:
        """The run with these rulings."""
        return [
            [self._score(number, truth, ruled)]
            for number, (truth, ruled) in enumerate(zip(truths, rulings, strict=True))
        ]

    def read(
        self,
        truths: Sequence[Truth],
        rulings: Sequence[dict[About, Ruling]],
        cases: Sequence[Sequence[CaseAssessment]],
        *,
        everything: bool,
    ) -> list[list[CaseAssessment]]:
        """A person reads what is open and what would fail a case, or `everything` that counts; and is right."""
        settled = []
        for truth, ruled, (run,) in zip(truths, rulings, cases, strict=True):
            counts = [alarm for alarm in run.alarms if alarm.state != "dismissed"]
            waiting = {alarm.question for alarm in counts if everything or alarm.severe or alarm.state == "open"}
            settled.append(
                {a: _person(a, a in truth.faults, r) if r.question_id in waiting else r for a, r in ruled.items()}
            )
        return self.judged(truths, settled)

    def _score(self, number: int, truth: Truth, rulings: dict[About, Ruling]) -> CaseAssessment:
        recording = truth.recording
        untouched = not rulings and truth.findings is recording.findings
        found = self._untouched.get(recording.case.id) if untouched else None
        if found is None:
            found = self.scorer.score(recording.case, recording.transcript, truth.findings, rulings)
        if untouched:
            self._untouched[recording.case.id] = found
        return replace(found, case_id=f"case-{number}", group=f"case-{number}")

    def _audit(self, truths: Sequence[Truth]) -> list[set[About]]:
        plain: list[tuple[int, About]] = []
        for number, truth in enumerate(truths):
            found = [("fact", t.turn, fact.fact_id) for t in truth.findings.turns for fact in t.facts if fact.plain]
            plain += [(number, about) for about in found if about not in truth.asked]
        wanted = min(len(plain), max(AUDIT_LEAST, int(AUDIT_SHARE * len(plain))))
        drawn: list[set[About]] = [set() for _ in truths]
        for index in self.generator.choice(len(plain), wanted, replace=False):
            number, about = plain[int(index)]
            drawn[number].add(about)
        return drawn

    def _ruling(self, about: About, fault: bool, sensitivity: float, specificity: float, audit: bool) -> Ruling:
        right = self.generator.random() < (sensitivity if fault else specificity)
        both = self.generator.random() < BOTH_WRONG
        kind = str(about[0])
        yes, no = _answer(kind, fault=True), _answer(kind, fault=False)
        if right:
            outcome, answers = (UPHELD, (yes, yes)) if fault else (DISMISSED, (no, no))
        elif both:
            outcome, answers = (DISMISSED, (no, no)) if fault else (UPHELD, (yes, yes))
        else:
            outcome, answers = OPEN, (yes, no)
        if kind == "harm" and outcome == UPHELD:
            outcome = OPEN  # a person confirms harm, nobody else
        opinions = tuple(Opinion("judge", number, answer, "", "") for number, answer in enumerate(answers, start=1))
        return Ruling(str(about), outcome, answers[0], opinions, audit)


def _answer(kind: str, *, fault: bool) -> str:
    """The gravest answer against the model, or the plainest for it."""
    if not fault:
        return KINDS[kind][0]
    graver = {"fact": "absent", "conflict": "severe", "must": "missing"}
    return graver.get(kind, next(iter(AGAINST[kind])))


def waiting_groups(cases: Sequence[Sequence[CaseAssessment]]) -> int:
    """Groups of alarms that count and that no person has read."""
    unread = []
    for (run,) in cases:
        left = [replace(a, state="open") for a in run.alarms if a.state != "dismissed" and a.settled_by != "person"]
        unread.append([replace(run, alarms=tuple(left))])
    return sum(open_groups(repeats) for repeats in unread)


def _person(about: About, fault: bool, before: Ruling) -> Ruling:
    answer = _answer(str(about[0]), fault=fault)
    opinion = Opinion("Dr Lund", 0, answer, "", "", role="physician")
    return Ruling(
        before.question_id,
        UPHELD if fault else DISMISSED,
        answer,
        (*before.opinions, opinion),
        before.audit,
        by_person=True,
    )


def _planted_losses(talks: Sequence[Talk]) -> Iterator[FactFinding]:
    """What the rules make of facts that somebody took out of a summary."""
    for talk in talks:
        for fault in talk.faults:
            if fault["kind"] != "lost":
                continue
            for turn, summary in talk.planted(fault, "summary").items():
                yield from (found for found in find_facts(summary, talk.states(turn)) if found.fact_id == fault["fact"])
