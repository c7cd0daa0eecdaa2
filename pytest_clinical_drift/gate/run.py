"""One gated run: the parts that carry out what was asked for."""

import datetime
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_clinical_drift.authoring.facts import refuse_untold_facts
from pytest_clinical_drift.authoring.interludes import stretch
from pytest_clinical_drift.authoring.replies import refuse_unknown_terms
from pytest_clinical_drift.cases.files import LONG, bundled_cases, by_patient, hash_cases, load_cases
from pytest_clinical_drift.cases.interludes import hash_interludes, load_interludes
from pytest_clinical_drift.cases.model import Case, signed
from pytest_clinical_drift.cases.sharding import cases_of_shard
from pytest_clinical_drift.conversation import dialogue
from pytest_clinical_drift.conversation.progress import Progress
from pytest_clinical_drift.conversation.runner import BackgroundRunner
from pytest_clinical_drift.conversation.scheduler import Plan
from pytest_clinical_drift.conversation.seals import own_sealer
from pytest_clinical_drift.core.files import read_text
from pytest_clinical_drift.errors import FailureCode, InputError, SubjectError, failure
from pytest_clinical_drift.evidence.entities import load_extractor
from pytest_clinical_drift.gate.settings import Settings
from pytest_clinical_drift.judging.judge_options import JudgePolicy
from pytest_clinical_drift.judging.prompts import prompt_hash
from pytest_clinical_drift.judging.session import Group, JudgedConversation, JudgeSession
from pytest_clinical_drift.report.words import kind_name, listed
from pytest_clinical_drift.results.comparing import check_comparable, load_baseline
from pytest_clinical_drift.results.folders import RunFolder, check_results_place
from pytest_clinical_drift.results.inputs import GateInputs
from pytest_clinical_drift.results.models import CaseResult
from pytest_clinical_drift.results.releases import Sheet, read_sheet
from pytest_clinical_drift.scoring.alignment import find_embedder
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.scoring.scorer import Scorer
from pytest_clinical_drift.subjects.base import RunStopped, Subject, remembers
from pytest_clinical_drift.subjects.limits import Budget
from pytest_clinical_drift.subjects.replay import ReplaySubject
from pytest_clinical_drift.subjects.spec import Spec, build_subject, model_slug, parse_spec
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.thresholds import JudgeRules, load_thresholds, project_thresholds
from pytest_clinical_drift.versions import package_versions

Scores = tuple[tuple[str, float | None], ...]
"""Figures of the project's own scorers on a conversation, by name."""


class GateRun:
    """The parts of a run; nothing is loaded or contacted before `check`."""

    def __init__(self, settings: Settings, own_scores: Callable[[Case, Transcript], Scores] | None = None) -> None:
        """`own_scores` asks the project for figures of its own on a conversation."""
        self.settings = settings
        self._own_scores = own_scores
        self.spec = parse_spec(settings.model)
        self.slug = model_slug(self.spec)
        self.thresholds_file = settings.thresholds or project_thresholds(settings.root)
        thresholds = load_thresholds(self.thresholds_file)
        self.cases_path = bundled_cases(LONG) if settings.cases == Path(LONG) else settings.cases or bundled_cases()
        loaded = load_cases(self.cases_path)
        refuse_unknown_terms(self.cases_path, loaded)
        refuse_untold_facts(self.cases_path, loaded)
        cases, self._joined = by_patient(loaded)
        self.interludes: str | None = None
        """Hash of the bank that stretches the cases; None: they are run as written."""
        if settings.turns is not None:
            bank = load_interludes(settings.interludes)
            cases = [stretch(case, settings.turns, bank) for case in cases]
            self.interludes = hash_interludes(bank)
        self.cases = {case.id: case for case in cases}
        self.chosen = cases_of_shard(cases, settings.shard) if settings.shard else list(self.cases)
        """Ids of the cases that this run is about: all, or those of its shard."""
        self.subject: Subject = build_subject(self.spec, settings.settings)
        self.plan = _plan(settings, self.spec)
        self.runner: BackgroundRunner | None = None
        """Who talks to the subject, once the run has begun; None in worker processes."""
        self.results, store = settings.root / settings.results, settings.root / settings.store
        self.store_path = None if self.spec.kind in ("control", "replay") else store
        """Where replies are kept; None where asking again costs nothing."""
        self.session = JudgeSession(
            settings.judges,
            settings.judge_settings,
            tuple(cases),
            rules=judge_policy(thresholds.judge, may_calibrate=settings.shard is None),
            subject=str(self.spec),
            repeats=settings.repeats,
            pdsqi=settings.pdsqi,
            store=store,
            root=settings.root,
            today=datetime.date.today(),
        )
        self.judged: dict[Group, JudgedConversation] = {}
        """What was made of each conversation that somebody has waited for."""
        self._progress = Progress()
        self._stride = settings.nli_stride or (2 if any(spec.startswith("nli") for spec in settings.judges) else 1)
        earlier = settings.baseline
        baseline = load_baseline(earlier) if earlier else None
        remarks = check_comparable(earlier, baseline, self.scoring) if earlier and baseline else ()
        self.inputs = GateInputs(
            slug=self.slug,
            strict=settings.strict,
            stride=self._stride,
            ner=settings.ner,
            repeats=settings.repeats,
            probe=self.plan.probe,
            probe_every_turn=self.plan.probe_every_turn,
            single_message=self.plan.single_message,
            signed=tuple(case.id for case in loaded if signed(case)),
            cases=tuple(cases),
            thresholds=thresholds,
            baseline=baseline,
            baseline_remarks=remarks,
            shard=settings.shard,
        )
        """What the run is held against."""
        self.folder = RunFolder(self.results / self.slug)
        check_results_place(self.folder.top)

    @cached_property
    def sheet(self) -> Sheet:
        """What the project says about its release."""
        return read_sheet(self.settings.root)

    @cached_property
    def scorer(self) -> Scorer:
        """Made at first use, because an extractor may be a model to load."""
        embedder, reason = find_embedder(self.settings.embedder)
        return Scorer(self._stride, load_extractor(self.settings.ner), embedder, reason)

    def check(self, say: Callable[[str], object] | None = None) -> list[str]:
        """Everything that can be checked before the first case runs: bad input raises, remarks are returned.

        `say` gets what a check that takes long is waiting for.
        """
        _ = self.sheet, self.scorer  # what they lack is said now
        remarks = []
        for waiver in self.inputs.thresholds.waivers:
            if waiver.case not in self.cases:
                remarks.append(f"waiver ignored: no case {waiver.case} in this set")
            elif not waiver.holds_on(self.inputs.today):
                remarks.append(f"the waiver for {waiver.case} has expired and does not count")
        if self.store_path is not None and (problem := own_sealer().problem):
            remarks.append(problem)
        remarks += self.subject.check(self.inputs.cases)
        if isinstance(self.subject, ReplaySubject) and (held := self.subject.repeats(self.cases)) > self.plan.repeats:
            advice = f"replay all of them with --drift-repeats {held}"
            raise InputError(f"{self.spec}: the recording holds {held} conversations of a case; {advice}")
        if self._joined:
            remarks.append(
                f"{self._joined} of {len(self.cases)} cases have the intake of another one: they count as one"
            )
        if self.plan.record == "context" and self.spec.kind == "python" and not remembers(self.subject):
            raise InputError(f"--drift-record context: the function of {self.spec} has no parameter named context")
        remarks += self.session.check(say)
        if below := [kind_name(group) for group in self.session.below_floor]:
            remarks.append(f"the judge {self.session.name} is below its floor and decides nothing on {listed(below)}")
        if self.plan.budget is not None:
            self.session.limit(self.plan.budget.refusal)
        return remarks

    def begin(self, *, progress: Progress | None = None, transcripts: Path | None = None) -> BackgroundRunner:
        """Get ready to talk to the subject, which begins when the first result is waited for."""
        self._progress = progress or self._progress
        self.session.watch(self._progress.questions)
        self._progress.watch(self.subject, *self.session.judges)
        self.runner = BackgroundRunner(
            self.subject,
            self.plan,
            store=self.store_path,
            transcripts=transcripts,
            progress=self._progress,
            on_finished=lambda talk: self.session.consider(self.cases[talk.case_id], talk, self.scorer.find),
        )
        return self.runner

    def result_of(self, case_id: str) -> tuple[tuple[Transcript, ...], CaseResult]:
        """Wait for the case's conversations, one per repeat, and for what is ruled on them; score and judge them."""
        if self.runner is None:
            raise InputError("no conversation is running; this needs --model")
        case = self.cases[case_id]
        try:
            transcripts = tuple(self.runner.wait(case_id, repeat) for repeat in range(self.plan.repeats))
            assessments = tuple(self._assess(case, transcript) for transcript in transcripts)
        except RunStopped:
            raise
        except SubjectError as error:
            stopped = Transcript(case_id, (), failure=failure(FailureCode.SUBJECT_STOPPED, error=str(error)))
            transcripts, assessments = (stopped,), (self.scorer.score(case, stopped),)
        return transcripts, self.inputs.judge_case(assessments, self.session.deciding)

    def _assess(self, case: Case, transcript: Transcript) -> CaseAssessment:
        judged = self.session.judged(case, transcript, self.scorer.find, waiting=self._progress.waiting)
        if self.session.reviews is not None:
            unreviewed = self.scorer.score(case, transcript, judged, self.session.deciding)
            judged = self.session.heard(judged, unreviewed.severe_questions)
        self.judged[case.id, transcript.repeat] = judged
        own = self._own_scores(case, transcript) if self._own_scores else ()
        return self.scorer.score(case, transcript, judged, self.session.deciding, own=own)

    @property
    def scoring(self) -> dict[str, Any]:
        """What two runs must have in common for their figures to be comparable; part of the manifest."""
        return {
            "versions": package_versions(),
            "judge": self.session.name,
            "judge_prompts": prompt_hash() if self.session.judges else None,
            "stride": self._stride,
            "turns": self.settings.turns,
            "probes": "all" if self.plan.probe_every_turn else "schedule",
            "hashes": {
                "cases": hash_cases(list(self.cases.values())),
                "prompts": dialogue.prompt_hash(self.plan.probe, self.plan.record),
            },
        }


def judge_policy(rules: JudgeRules, *, may_calibrate: bool = True) -> JudgePolicy:
    """What the thresholds demand of a judge."""
    return JudgePolicy(
        {str(name): floor for name, floor in rules.floors.items()},
        rules.readings,
        may_calibrate and rules.calibrate != "never",
        rules.dismiss_severe,
    )


def _plan(settings: Settings, spec: Spec) -> Plan:
    """How the conversations are held; a record beside the messages needs a subject that takes it."""
    if settings.record == "context" and spec.kind not in ("python", "control", "replay"):
        raise InputError(f"--drift-record context: {spec.kind}: gets messages only; write system or first-message")
    prompt: dict[str, str | None] = {}
    for option, file in (("--drift-system", settings.system), ("--drift-probe", settings.probe)):
        try:
            prompt[option] = read_text(file).strip() if file else None
        except InputError as error:
            raise InputError(f"{option} {error}") from None
        if prompt[option] == "":
            raise InputError(f"{option} {file}: the file is empty")
    return Plan(
        prompt["--drift-system"],
        settings.repeats,
        prompt["--drift-probe"],
        settings.probe_every_turn,
        settings.single_message,
        settings.record,
        Budget(settings.budget, settings.prices) if settings.budget else None,
    )
