"""One gated run: what was asked for, and the parts that carry it out."""

from __future__ import annotations

import datetime
import hashlib
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_clinical_drift.authoring.replies import refuse_unknown_terms
from pytest_clinical_drift.cases.files import bundled_cases, hash_cases, load_cases
from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.conversation import prompts
from pytest_clinical_drift.conversation.frontier import Plan
from pytest_clinical_drift.conversation.runner import TranscriptSource
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.evidence.entities.extractors import load_extractor
from pytest_clinical_drift.gate.bench import Bench
from pytest_clinical_drift.gate.shared_rulings import RulingSource
from pytest_clinical_drift.judging.opinions import unasked
from pytest_clinical_drift.judging.prompts import prompt_hash
from pytest_clinical_drift.judging.questions import for_people, questions_of
from pytest_clinical_drift.report.json_file import package_versions
from pytest_clinical_drift.scoring.alignment import find_embedder
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.scoring.scorer import Scorer
from pytest_clinical_drift.subjects.base import Subject, TalkativeSubject
from pytest_clinical_drift.subjects.spec import Spec, build_subject, model_slug, parse_spec
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.baseline import check_comparable, load_baseline
from pytest_clinical_drift.verdict.case import judge_case
from pytest_clinical_drift.verdict.results_file import Results
from pytest_clinical_drift.verdict.thresholds import Thresholds, load_thresholds, project_thresholds
from pytest_clinical_drift.verdict.values import CaseVerdict, SetVerdict
from pytest_clinical_drift.verdict.whole_set import judge_set


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What the user asked for, as the options say it."""

    model: str
    root: Path
    """Results and the project's thresholds are looked up from here."""
    settings: dict[str, str] = field(default_factory=dict)
    system: Path | None = None
    probe: Path | None = None
    """The project's own request for a summary; None: the bundled one."""
    cases: Path | None = None
    thresholds: Path | None = None
    judges: tuple[str, ...] = ()
    """Who decides what the rules leave unclear: a judge, reviews, or both."""
    judge_settings: dict[str, str] = field(default_factory=dict)
    ner: str = "lexicon"
    embedder: str | None = None
    """Model or folder for session goal alignment; None: the default one, where its weights are at hand."""
    stride: int | None = None
    results: Path = Path("results")
    store: Path = Path(".clinical-drift/store.sqlite")
    baseline: Path | None = None
    repeats: int = 1
    prices: tuple[float, float] | None = None
    """Of a million prompt and completion tokens, in whatever currency."""
    strict: bool = False


Score = Callable[[Case, Transcript], Sequence[tuple[str, float | None]]]
"""The project's own figures of a conversation."""


class GateRun:
    """The parts of a run; nothing is loaded or contacted before `check`."""

    def __init__(self, settings: RunSettings) -> None:
        self.settings = settings
        self.spec: Spec = parse_spec(settings.model)
        self.slug = model_slug(self.spec)
        self.thresholds_file = settings.thresholds or project_thresholds(settings.root)
        self.thresholds: Thresholds = load_thresholds(self.thresholds_file)
        self.cases_path = settings.cases or bundled_cases()
        self.cases: dict[str, Case] = {case.id: case for case in load_cases(self.cases_path)}
        refuse_unknown_terms(self.cases_path, self.cases.values())
        self.system_prompt = _read_prompt("--drift-system", settings.system)
        self.subject: Subject = build_subject(self.spec, settings.settings)
        self.plan = Plan(self.system_prompt, settings.repeats, _read_prompt("--drift-probe", settings.probe))
        self.today = datetime.date.today()
        self.source: TranscriptSource | None = None
        self.bench = Bench(
            settings.judges,
            settings.judge_settings,
            rules=self.thresholds.judge,
            root=settings.root,
            store=settings.root / settings.store,
            today=self.today,
        )
        self.ruling_source: RulingSource | None = self.bench if self.bench.active else None
        self.own_scores: Score = lambda case, transcript: ()
        self._scorer: Scorer | None = None
        self.baseline: Results | None = None
        self.baseline_remarks: tuple[str, ...] = ()
        if settings.baseline:
            self.baseline = load_baseline(settings.baseline)
            self.baseline_remarks = check_comparable(settings.baseline, self.baseline, self.scoring)
        _check_folder(self.results_folder)

    @property
    def results_folder(self) -> Path:
        """Where this model's results go."""
        return self.settings.root / self.settings.results / self.slug

    def make_results_folder(self) -> None:
        """Make it and write into it once: a place that takes no results is told before the first case."""
        self.results_folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=self.results_folder) as draft:
            draft.write(b"\n")

    @property
    def store_path(self) -> Path | None:
        """Where replies are kept; None where asking again costs nothing."""
        return None if self.spec.kind in ("control", "replay") else self.settings.root / self.settings.store

    @property
    def stride(self) -> int:
        """Every how manyth adjacent advice pair is compared: all, every second by the inference model, unless said."""
        by_inference = self.bench.name.startswith("nli")
        return self.settings.stride or (2 if by_inference else 1)

    def check(self, say: Callable[[str], object] | None = None) -> list[str]:
        """Everything that can be told before the first case runs: bad input raises, remarks are returned.

        `say` is told what a look that takes long is waiting for.
        """
        if say is not None and isinstance(self.subject, TalkativeSubject):
            self.subject.say = say
        self.scorer.prepare()
        remarks = [*self._unknown_waivers(), *self.subject.check(list(self.cases.values()))]
        return [*remarks, *self.bench.check(str(self.spec), say)]

    def _unknown_waivers(self) -> list[str]:
        known = [waiver for waiver in self.thresholds.waivers if waiver.case in self.cases]
        expired = [waiver.case for waiver in known if not waiver.holds_on(self.today)]
        unknown = [waiver.case for waiver in self.thresholds.waivers if waiver.case not in self.cases]
        remarks = [f"the waiver for {case_id} has expired and does not count" for case_id in expired]
        return remarks + [f"the waiver for {case_id} names no case of this set" for case_id in unknown]

    @property
    def scorer(self) -> Scorer:
        """Built at first use, because an extractor may be a model."""
        if self._scorer is None:
            embedder, reason = find_embedder(self.settings.embedder)
            self._scorer = Scorer(self.stride, load_extractor(self.settings.ner), embedder, reason)
        return self._scorer

    def transcripts(self, case_id: str) -> list[Transcript]:
        """The case's conversations, one per repeat; waits for them."""
        if self.source is None:
            raise InputError("no conversation is running; this needs --model")
        return [self.source.wait(case_id, repeat) for repeat in range(self.plan.repeats)]

    def assess(self, case_id: str) -> tuple[list[Transcript], list[CaseAssessment]]:
        """Wait for the case's conversations and for what is ruled on them, and score them."""
        transcripts = self.transcripts(case_id)
        return transcripts, [self._assess(self.cases[case_id], transcript) for transcript in transcripts]

    def _assess(self, case: Case, transcript: Transcript) -> CaseAssessment:
        if self.ruling_source is None:
            found = self.scorer.find(case, transcript)
            asked = (*questions_of(case, transcript, found), *for_people(case, transcript, found))
            rulings, findings = {question.about: unasked(question) for question in asked}, found
        else:
            rulings = self.ruling_source.rulings(case, transcript)
            findings = self.ruling_source.findings(case, transcript) or self.scorer.find(case, transcript)
        return self.scorer.score(case, transcript, findings, rulings, own=self.own_scores(case, transcript))

    def judge(self, assessments: Sequence[CaseAssessment]) -> CaseVerdict:
        """The verdict on one case's repeats."""
        return judge_case(assessments, self.thresholds, self.today)

    def judge_set(self, cases: Sequence[Sequence[CaseAssessment]], verdicts: Sequence[CaseVerdict]) -> SetVerdict:
        """The verdict on all cases that were run."""
        unanswered = sum(run.unanswered for repeats in cases for run in repeats)
        basis = self.bench.basis(unanswered)
        return judge_set(cases, verdicts, self.thresholds, total=len(self.cases), today=self.today, basis=basis)

    @property
    def scoring(self) -> dict[str, Any]:
        """What two runs must have in common for their figures to be comparable."""
        hashes = {"cases": hash_cases(list(self.cases.values())), "prompts": prompts.prompt_hash(self.plan.probe)}
        return {
            "versions": package_versions(),
            "judge": self.bench.name,
            "judge_prompts": prompt_hash() if self.bench.judge else None,
            "stride": self.stride,
            "hashes": hashes,
        }

    @property
    def system_hash(self) -> str | None:
        """Fingerprint of the deployed system prompt."""
        return hashlib.sha256(self.system_prompt.encode()).hexdigest() if self.system_prompt else None


def _read_prompt(option: str, file: Path | None) -> str | None:
    if file is None:
        return None
    try:
        text = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{option} {file}: cannot be read ({type(error).__name__})") from None
    if not text:
        raise InputError(f"{option} {file}: the file is empty")
    return text


def _check_folder(folder: Path) -> None:
    """Results go into a folder: said before the first case, not after the last."""
    for part in (folder, *folder.parents):
        if part.exists():
            if not part.is_dir():
                raise InputError(f"--drift-results: {part} is a file, not a folder")
            return
