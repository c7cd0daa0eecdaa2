"""One gated run: the parts that carry out what was asked for, and the manifest of what they were."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from pytest_clinical_drift.authoring.interludes import stretched_cases
from pytest_clinical_drift.authoring.replies import refuse_unknown_terms
from pytest_clinical_drift.cases.files import bundled_cases, hash_cases, load_cases, read_text
from pytest_clinical_drift.cases.interludes import load_interludes
from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.conversation import prompts
from pytest_clinical_drift.conversation.frontier import Plan
from pytest_clinical_drift.conversation.prompts import RecordPlace
from pytest_clinical_drift.conversation.runner import BackgroundRunner
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.evidence.entities.extractors import load_extractor
from pytest_clinical_drift.gate.bench import Bench
from pytest_clinical_drift.gate.options import RunSettings
from pytest_clinical_drift.gate.own_scores import Scores
from pytest_clinical_drift.gate.record import Gate
from pytest_clinical_drift.gate.reporting import shown
from pytest_clinical_drift.judging.prompts import prompt_hash
from pytest_clinical_drift.metrics import SEED
from pytest_clinical_drift.report.json_file import package_versions
from pytest_clinical_drift.scoring.alignment import find_embedder
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.scoring.scorer import Scorer
from pytest_clinical_drift.subjects.base import Identity, Subject, TalkativeSubject, remembers
from pytest_clinical_drift.subjects.spec import Spec, build_subject, model_slug, parse_spec
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.baseline import check_comparable, load_baseline
from pytest_clinical_drift.verdict.results_file import FILE_NAME
from pytest_clinical_drift.verdict.thresholds import load_thresholds, project_thresholds
from pytest_clinical_drift.verdict.values import PARTIAL, counted

TRANSCRIPTS = "transcripts"


class GateRun:
    """The parts of a run; nothing is loaded or contacted before `check`."""

    def __init__(self, settings: RunSettings, own_scores: Callable[[Case, Transcript], Scores]) -> None:
        """`own_scores` asks the project for figures of its own on a conversation."""
        self.settings = settings
        self.spec: Spec = parse_spec(settings.model)
        self.slug = model_slug(self.spec)
        self.thresholds_file = settings.thresholds or project_thresholds(settings.root)
        thresholds = load_thresholds(self.thresholds_file)
        self.cases_path = settings.cases or bundled_cases()
        self.cases: dict[str, Case] = {case.id: case for case in load_cases(self.cases_path)}
        refuse_unknown_terms(self.cases_path, self.cases.values())
        if settings.turns is not None:
            bank = load_interludes(settings.interludes)
            self.cases = {case.id: case for case in stretched_cases(list(self.cases.values()), settings.turns, bank)}
        self.system_prompt = _read_prompt("--drift-system", settings.system)
        self.subject: Subject = build_subject(self.spec, settings.settings)
        self.plan = _plan(settings, self.system_prompt, self.spec)
        self.runner: BackgroundRunner | None = None
        self.own_scores = own_scores
        self._scorer: Scorer | None = None
        self.gate = Gate(
            slug=self.slug,
            strict=settings.strict,
            stride=settings.stride or (2 if any(spec.startswith("nli") for spec in settings.judges) else 1),
            ner=settings.ner,
            repeats=settings.repeats,
            probe=self.plan.probe,
            cases=tuple(self.cases.values()),
            thresholds=thresholds,
            baseline=load_baseline(settings.baseline) if settings.baseline else None,
            baseline_remarks=(),
        )
        self.bench = Bench(settings, self.gate.cases, rules=thresholds.judge, today=self.gate.today)
        if settings.baseline and self.gate.baseline:
            remarks = check_comparable(settings.baseline, self.gate.baseline, self.scoring)
            self.gate = self.gate.model_copy(update={"baseline_remarks": remarks})
        _check_folder(self.results_folder)

    @property
    def results_folder(self) -> Path:
        """Where this model's results go, unless a whole run's lie there and this one is of a subset."""
        return self.settings.results / self.slug

    def make_results_folder(self) -> None:
        """Make it and write into it once: a place that takes no results is told before the first case."""
        self.results_folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=self.results_folder) as draft:
            draft.write(b"\n")

    @property
    def transcripts_folder(self) -> Path:
        """Where conversations are kept until it is known whether the run is whole."""
        return self.results_folder / "unfinished" / TRANSCRIPTS

    def settle(self, *, whole: bool) -> tuple[Path, list[str]]:
        """The folder of the results, with the transcripts moved there, and what became of those that lay there.

        A subset never replaces a whole run, and a whole run never one on other cases: that is moved aside.
        """
        folder, told = self.results_folder, []
        if earlier := _whole_run(folder):
            ids, fingerprint = earlier
            others = f" on another set ({counted(len(ids), 'case')})" if ids != self.cases.keys() else ""
            if not whole:
                told = [f"a subset: the results of the whole run{others} in {shown(folder)} stay as they are"]
                folder /= "partial"
            elif others:
                aside = _move_aside(folder, fingerprint)
                told = [f"the results of the earlier run{others} were moved to {shown(aside)}"]
        if self.transcripts_folder.exists():
            folder.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(folder / TRANSCRIPTS, ignore_errors=True)
            self.transcripts_folder.replace(folder / TRANSCRIPTS)
            self.transcripts_folder.parent.rmdir()
        return folder, told

    @property
    def store_path(self) -> Path | None:
        """Where replies are kept; None where asking again costs nothing."""
        return None if self.spec.kind in ("control", "replay") else self.settings.store

    def check(self, say: Callable[[str], object] | None = None) -> list[str]:
        """Everything that can be told before the first case runs: bad input raises, remarks are returned.

        `say` is told what a look that takes long is waiting for.
        """
        if say is not None and isinstance(self.subject, TalkativeSubject):
            self.subject.say = say
        self.scorer.prepare()
        remarks = [*self._void_waivers(), *self.subject.check(self.gate.cases)]
        if self.plan.record == "context" and self.spec.kind == "python" and not remembers(self.subject):
            raise InputError(f"--drift-record context: the function of {self.spec} has no parameter named context")
        return [*remarks, *self.bench.check(str(self.spec), say)]

    def _void_waivers(self) -> list[str]:
        told = []
        for waiver in self.gate.thresholds.waivers:
            if waiver.case not in self.cases:
                told.append(f"the waiver for {waiver.case} names no case of this set")
            elif not waiver.holds_on(self.gate.today):
                told.append(f"the waiver for {waiver.case} has expired and does not count")
        return told

    @property
    def scorer(self) -> Scorer:
        """Built at first use, because an extractor may be a model."""
        if self._scorer is None:
            embedder, reason = find_embedder(self.settings.embedder)
            self._scorer = Scorer(self.gate.stride, load_extractor(self.settings.ner), embedder, reason)
        return self._scorer

    def assess(self, case_id: str) -> tuple[tuple[Transcript, ...], tuple[CaseAssessment, ...]]:
        """Wait for the case's conversations, one per repeat, and for what is ruled on them, and score them."""
        if self.runner is None:
            raise InputError("no conversation is running; this needs --model")
        transcripts = tuple(self.runner.wait(case_id, repeat) for repeat in range(self.plan.repeats))
        return transcripts, tuple(self._assess(self.cases[case_id], transcript) for transcript in transcripts)

    def _assess(self, case: Case, transcript: Transcript) -> CaseAssessment:
        findings, rulings = self.bench.rulings(case, transcript, self.scorer)
        return self.scorer.score(case, transcript, findings, rulings, own=self.own_scores(case, transcript))

    @property
    def scoring(self) -> dict[str, Any]:
        """What two runs must have in common for their figures to be comparable; part of the manifest."""
        return {
            "versions": package_versions(),
            "judge": self.bench.name,
            "judge_prompts": prompt_hash() if self.bench.judge else None,
            "stride": self.gate.stride,
            "hashes": {
                "cases": hash_cases(self.gate.cases),
                "prompts": prompts.prompt_hash(self.plan.probe, self.plan.record),
            },
        }


def _plan(settings: RunSettings, system_prompt: str | None, spec: Spec) -> Plan:
    """How the conversations are held; a record beside the messages needs a subject that takes it."""
    place = next(known for known in get_args(RecordPlace) if known == settings.record)
    if place == "context" and spec.kind not in ("python", "control", "replay"):
        raise InputError(f"--drift-record context: {spec.kind}: gets messages only; write system or first-message")
    probe = _read_prompt("--drift-probe", settings.probe)
    return Plan(system_prompt, settings.repeats, probe, settings.probe_every_turn, settings.single_message, place)


def _read_prompt(option: str, file: Path | None) -> str | None:
    if file is None:
        return None
    try:
        text = read_text(file).strip()
    except InputError as error:
        raise InputError(f"{option} {error}") from None
    if not text:
        raise InputError(f"{option} {file}: the file is empty")
    return text


def _whole_run(folder: Path) -> tuple[set[str], str] | None:
    """The cases of a whole run whose results lie there, and their fingerprint; unknown where they cannot be read."""
    if not (folder / FILE_NAME).exists():
        return None
    try:
        record = json.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
        fingerprint = re.sub(r"\W", "", record["manifest"]["hashes"]["cases"])[:8]
        ids = {str(case["case_id"]) for case in record["cases"]}
        return None if record["verdict"] == PARTIAL else (ids, fingerprint)
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return set(), "unknown"


def _move_aside(folder: Path, fingerprint: str) -> Path:
    """Everything that belongs to the run whose results lie there goes to a folder of its set of cases."""
    aside = folder / f"set-{fingerprint}"
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    for entry in list(folder.iterdir()):
        if entry.name not in ("partial", "unfinished") and not entry.name.startswith("set-"):
            entry.replace(aside / entry.name)
    return aside


def _check_folder(folder: Path) -> None:
    """Results go into a folder: said before anything else is looked at."""
    found = next(part for part in (folder, *folder.parents) if part.exists())
    if not found.is_dir():
        raise InputError(f"--drift-results: {found} is a file, not a folder")


def manifest_of(
    run: GateRun,
    identity: Identity,
    assessed: Sequence[CaseAssessment],
    transcripts: Mapping[str, Sequence[Transcript]],
) -> dict[str, Any]:
    """Everything that two runs must share to be the same."""
    scoring, system = run.scoring, run.system_prompt
    return {
        **scoring,
        "model": identity.spec,
        "revision": identity.revision,
        "identity_proven": identity.proven,
        "decoding": dict(identity.settings),
        "server": dict(identity.server) if identity.server else None,
        "judged": run.bench.manifest(),
        "questions": sum(assessment.questions for assessment in assessed),
        "unanswered": sum(assessment.unanswered for assessment in assessed),
        "ner": run.settings.ner,
        "repeats": run.settings.repeats,
        "seed": SEED,
        "hashes": {
            **scoring["hashes"],
            "thresholds": run.gate.thresholds.fingerprint(),
            "system_prompt": hashlib.sha256(system.encode()).hexdigest() if system else None,
        },
        "replies": sum(assessment.replies_total for assessment in assessed),
        "replies_reused": sum(assessment.replies_reused for assessment in assessed),
        "replies_reused_since": _oldest_reused(transcripts),
        "tokens": spent(assessed, run.settings.prices),
    }


def _oldest_reused(transcripts: Mapping[str, Sequence[Transcript]]) -> str | None:
    """When the oldest of the reused replies was generated; None when all are new."""
    exchanges = (exchange for repeats in transcripts.values() for run in repeats for exchange in run.exchanges)
    replies = (reply for exchange in exchanges for reply in (exchange.reply, exchange.summary) if reply is not None)
    return min((reply.reused_from for reply in replies if reply.reused_from is not None), default=None)


def spent(runs: Sequence[CaseAssessment], prices: tuple[float, float] | None) -> dict[str, Any] | None:
    """The model's tokens in a run, reused replies included, and their cost by prices per million tokens.

    None where some were not counted: half of a sum is no sum.
    """
    prompt, completion = [run.prompt_tokens for run in runs], [run.completion_tokens for run in runs]
    if None in prompt or None in completion:
        return None
    used = {"prompt": sum(filter(None, prompt)), "completion": sum(filter(None, completion))}
    if prices is None:
        return {**used, "prices_per_million": None, "cost": None}
    cost = (used["prompt"] * prices[0] + used["completion"] * prices[1]) / 1_000_000
    return {**used, "prices_per_million": list(prices), "cost": round(cost, 4)}
