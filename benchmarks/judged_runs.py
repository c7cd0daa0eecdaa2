"""Runs of known truth through the whole procedure, with simulated judges: what do models of known quality get?

A flawless model states every fact and meets every demand (the texts of control:steady on the 60 bundled cases). A
simulated judge answers readings and questions from the truth, with errors drawn at given rates; in half of its errors
reading and questions err together. A reader who is always right then settles every group that counts.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from pytest_clinical_drift.cases.files import bundled_cases, load_cases
from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.conversation.scheduler import Plan, run_conversations
from pytest_clinical_drift.core.findings import FindingKey, Opinion
from pytest_clinical_drift.core.log import Answer
from pytest_clinical_drift.core.words import State
from pytest_clinical_drift.evidence.findings import Findings
from pytest_clinical_drift.judging.answers import AGAINST, KINDS, QUOTED
from pytest_clinical_drift.judging.conversation import judge_texts
from pytest_clinical_drift.judging.judge_options import JudgePolicy
from pytest_clinical_drift.judging.labelled import GROUPS
from pytest_clinical_drift.judging.opinions import with_people
from pytest_clinical_drift.judging.procedure import at_once
from pytest_clinical_drift.judging.protocol import JudgeRequest
from pytest_clinical_drift.judging.readings import Reading
from pytest_clinical_drift.judging.session import JudgedConversation, JudgeSession
from pytest_clinical_drift.scoring.assessment import AlarmState, CaseAssessment
from pytest_clinical_drift.scoring.scorer import Scorer
from pytest_clinical_drift.subjects.control import ControlSubject
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.case import count_findings, judge_case
from pytest_clinical_drift.verdict.reasons import Verdict
from pytest_clinical_drift.verdict.thresholds import load_thresholds
from pytest_clinical_drift.verdict.values import Deciders
from pytest_clinical_drift.verdict.whole_set import judge_set

TODAY = datetime.date(2026, 1, 1)
TOGETHER = 0.5
"""Share of a judge's errors that reading and questions share."""
EVERYTHING = frozenset(GROUPS)
Truth = Mapping[tuple[str, FindingKey], str]
"""Faults: case and finding to the answer that is right."""


class GoalCheck(Protocol):
    def check(self, name: str, holds: bool) -> str: ...


@dataclass(slots=True)
class Judge:
    """Answers from the truth, with errors."""

    truth: Truth
    sensitivity: float
    specificity: float
    seed: int
    lazy: bool = False
    """Clears everything, canaries included."""
    independent: bool = False
    """Two judges: what one gets wrong says nothing about the other."""
    _said: dict[tuple[str, FindingKey, str], bool] = field(default_factory=dict)

    def holds(self, case_id: str, of: FindingKey, form: str) -> bool:
        """Whether it holds a point against the model, in one form; drawn once."""
        key = (case_id, of, form)
        if self.lazy:
            return False
        if key not in self._said:
            fault = (case_id, of) in self.truth
            chance = random.Random(f"{self.seed}/{case_id}/{of}/{form}")
            rate = (1 - self.sensitivity) if fault else (1 - self.specificity)
            wrong = chance.random() < rate
            shared = random.Random(f"{self.seed}/{case_id}/{of}")
            if not self.independent and shared.random() < TOGETHER:
                wrong = shared.random() < rate
            self._said[key] = fault != wrong
        return self._said[key]

    async def ask(self, requests: Sequence[JudgeRequest]) -> list[Answer]:
        return [replace(self.answer(request), voter="simulated") for request in requests]

    def answer(self, ask: JudgeRequest) -> Answer:
        item = ask.item
        if isinstance(item, Reading):
            return ask.answer(self._read(item))
        word = self._word(self.holds(item.case_id, item.key, str(ask.wording)), item.case_id, item.key)
        return ask.answer(self._quoted(word, item.text, item.earlier))

    def _word(self, upheld: bool, case_id: str, of: FindingKey) -> str:
        return self.truth.get((case_id, of), AGAINST[of.kind][0]) if upheld else KINDS[of.kind][0]

    @staticmethod
    def _quoted(word: str, text: str, earlier: str | None = None) -> dict[str, str]:
        first = " ".join(text.split()[:3])
        before = " ".join((earlier or "").split()[:3])
        return {"answer": word, "quote": first if word in QUOTED else "", "earlier_quote": before}

    def _read(self, item: Reading) -> dict[str, Any]:
        def word(kind: str, subject: str = "", span: tuple[int, int] | None = None) -> str:
            of = FindingKey.of(kind, item.turn, subject, span=span, source=item.source)
            return self._word(self.holds(item.case_id, of, "reading"), item.case_id, of)

        if item.kind == "summary":
            facts = {line.fact: self._quoted(word("fact", line.fact), item.text) for line in item.facts}
            for line in item.facts:
                if facts[line.fact]["answer"] == "retained":
                    facts[line.fact]["quote"] = line.statement
            first = " ".join(item.text.split()[:3])
            invented = self.holds(
                item.case_id, FindingKey.of("invented", item.turn, first, source=item.source), "reading"
            )
            return {"facts": facts, "unsupported": [{"quote": first, "grade": "severe"}] if invented else []}
        if item.kind == "reply":
            demands = {d.id: self._quoted(word(d.kind, d.id), item.text) for d in item.demands}
            given: dict[str, Any] = {"demands": demands}
            given |= {k: self._quoted(word(k), item.text) for k in ("forbidden", "harm")}
            if item.earlier is not None:
                pair = (item.earlier_turn or 0, item.turn)
                given["conflict"] = self._quoted(word("conflict", span=pair), item.text, item.earlier)
            return given
        return {"contradictions": [], "course": [], "misreported": [], "standing": []}


@dataclass(slots=True)
class Stage:
    """The bundled cases with the texts of a flawless model, read by rules once."""

    cases: list[Case] = field(default_factory=lambda: list(load_cases(bundled_cases())))
    scorer: Scorer = field(default_factory=Scorer)
    transcripts: dict[str, Transcript] = field(default_factory=dict)
    findings: dict[str, Findings] = field(default_factory=dict)

    def prepare(self) -> None:
        subject = ControlSubject("steady", {})
        subject.check(self.cases)
        run_conversations(
            self.cases, subject, Plan(), on_finished=lambda talk: self.transcripts.update({talk.case_id: talk})
        )
        self.findings = {case.id: self.scorer.find(case, self.transcripts[case.id]) for case in self.cases}

    def run(self, judge: Judge, *, read: bool) -> tuple[Verdict, int]:
        """The verdict, and the groups that a person reads; `read`: after a reader who is always right."""
        assessed = self.assess(judge, read=read)
        return self.verdict(assessed), sum(map(_to_read, assessed))

    def assess(self, judge: Judge, *, read: bool) -> list[list[CaseAssessment]]:
        session = JudgeSession(
            ["python:x:y"], {"canaries": "40" if judge.lazy else "0"}, self.cases, rules=JudgePolicy({}),
            subject="replay:x", root=Path(), today=TODAY,
        )  # fmt: skip
        runs = []
        for case in self.cases:
            judged = self._judge(session, case, judge)
            runs.append((case, self._person(case, judged, judge) if read else judged))
        return [[self.scorer.score(case, self.transcripts[case.id], of, EVERYTHING)] for case, of in runs]

    def _judge(self, session: JudgeSession, case: Case, judge: Judge) -> JudgedConversation:
        procedure = judge_texts(judge, case, self.transcripts[case.id], self.findings[case.id], session.method)
        return at_once(procedure)

    @staticmethod
    def _person(case: Case, judged: JudgedConversation, judge: Judge) -> JudgedConversation:
        """Every point that is open or confirmed is answered rightly."""
        findings = dict(judged.judgement.findings)
        for of, finding in findings.items():
            if finding.state in (State.OPEN, State.CONFIRMED) and finding.question:
                right = judge.truth.get((case.id, of), KINDS[of.kind][0])
                findings[of] = with_people(finding, [Opinion("reader", 0, right, "", "read", role="reader")])
        return replace(judged, judgement=replace(judged.judgement, findings=findings))

    def verdict(self, assessed: Sequence[list[CaseAssessment]], policy: str | None = None) -> Verdict:
        thresholds = load_thresholds()
        if policy is not None:
            thresholds = thresholds.model_copy(update={"policy": policy})
        verdicts = [judge_case(repeats, thresholds, TODAY, EVERYTHING) for repeats in assessed]
        deciders = Deciders("simulated", tuple(sorted(EVERYTHING)), judges=1)
        whole = judge_set(verdicts, thresholds, total=len(assessed), deciders=deciders)
        return whole.verdict


def _to_read(repeats: Sequence[CaseAssessment]) -> int:
    """Groups that count: open ones, and those that the judge confirmed and no person has read."""
    confirmed = {
        (alarm.kind, alarm.fact or alarm.rule or alarm.quote)
        for run in repeats
        for alarm in run.alarms
        if alarm.state == AlarmState.CONFIRMED and alarm.settled_by != "person"
    }
    return count_findings(repeats)[AlarmState.OPEN][0] + len(confirmed)


def judged_runs(runs: int, goals: GoalCheck, *, cases: int | None = None) -> None:
    """Print what models of known quality get from judges of known quality."""
    stage = Stage(list(load_cases(bundled_cases()))[:cases])
    stage.prepare()
    print(f"\nthe whole procedure on {len(stage.cases)} cases, {runs} runs each")
    one = [stage.run(Judge({}, 0.995, 0.995, seed), read=False)[1] for seed in range(runs)]
    passed = [stage.run(Judge({}, 0.995, 0.995, seed), read=True)[0] == Verdict.PASS for seed in range(runs)]
    worst = max(one)
    print(f"  flawless, one judge of 0.995: at most {worst} groups to read, median {sorted(one)[runs // 2]}   "
          f"{goals.check('groups to read', worst <= 35)}")  # fmt: skip
    share = sum(passed) / runs
    print(f"  flawless, all of them read: PASS in {share:.0%}   {goals.check('flawless passes', share >= 0.95)}")
    two = [stage.run(Judge({}, 0.995, 0.995, seed, independent=True), read=False)[1] for seed in range(runs)]
    few = sum(groups <= 5 for groups in two) / runs
    print(f"  flawless, two independent judges: at most 5 groups in {few:.0%} of runs, at most {max(two)}, median "
          f"{sorted(two)[runs // 2]}   {goals.check('two judges', few >= 0.95)}")  # fmt: skip
    faults: dict[str, Callable[[], Truth]] = {"one dangerous flip in each of 20 cases": lambda: flips(stage)}
    faults["ordinary facts lost from turn 11 on"] = lambda: late_losses(stage)
    for name, make in faults.items():
        truth = make()
        verdicts = [stage.run(Judge(truth, 0.995, 0.995, seed), read=True)[0] for seed in range(max(2, runs // 4))]
        print(f"  {name}: {_told(verdicts)}   {goals.check(name, Verdict.PASS not in verdicts)}")
        lazy = [stage.run(Judge(truth, 0, 1, seed, lazy=True), read=False)[0] for seed in range(2)]
        print(f"  {name}, lazy judge: {_told(lazy)}   {goals.check(f'{name}, lazy', Verdict.PASS not in lazy)}")
    lazy = [stage.run(Judge({}, 0, 1, seed, lazy=True), read=False)[0] for seed in range(2)]
    print(f"  flawless, lazy judge: {_told(lazy)}   {goals.check('lazy judge', Verdict.PASS not in lazy)}")


def _told(verdicts: Sequence[Verdict]) -> str:
    return ", ".join(f"{verdict} {verdicts.count(verdict)}" for verdict in dict.fromkeys(verdicts))


def flips(stage: Stage) -> Truth:
    return {(case.id, FindingKey.of("conflict", 5, span=(4, 5))): "severe" for case in stage.cases[:20]}


def late_losses(stage: Stage) -> Truth:
    return {
        (case.id, FindingKey.of("fact", turn.turn, fact.id)): "absent"
        for case in stage.cases
        for turn in case.turns[10:]
        for fact in case.critical_entities
        if not fact.hard_stop
    }
