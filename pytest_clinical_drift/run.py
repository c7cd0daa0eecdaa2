"""One gated run: what was asked for, the parts that carry it out, and the results as they come in."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .assessment import CaseAssessment
from .baseline import Baseline, check_comparable, load_baseline
from .case_files import bundled_cases, hash_cases, load_cases
from .cases import Case
from .conversation import prompts
from .conversation.frontier import Plan
from .conversation.runner import TranscriptSource
from .errors import InputError
from .evidence.alignment import find_embedder
from .evidence.entities import load_extractor
from .evidence.judges import load_judge
from .evidence.tiers import load_tier
from .report.json_file import package_versions
from .scoring import Scorer
from .subjects.base import Subject, TalkativeSubject
from .subjects.spec import Spec, build_subject, model_slug, parse_spec
from .thresholds import Thresholds, load_thresholds, project_thresholds
from .transcript import Transcript
from .verdict import CaseVerdict, SetVerdict, judge_case, judge_set


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What the user asked for, as the options say it."""

    model: str
    root: Path
    """Results and the project's thresholds are looked up from here."""
    settings: dict[str, str] = field(default_factory=dict)
    system: Path | None = None
    cases: Path | None = None
    thresholds: Path | None = None
    judge: str = "rules"
    ner: str = "lexicon"
    tier: str = "none"
    """A model that looks again for long facts that the rules did not find."""
    embedder: str | None = None
    """Model or folder for session goal alignment; None: the default one, where its weights are at hand."""
    stride: int | None = None
    results: Path = Path("results")
    store: Path = Path(".clinical-drift/store.sqlite")
    baseline: Path | None = None
    repeats: int = 1
    strict: bool = False


class GateRun:
    """Everything one run needs; built before collection, without loading or contacting the subject."""

    def __init__(self, settings: RunSettings) -> None:
        self.settings = settings
        self.spec: Spec = parse_spec(settings.model)
        self.slug = model_slug(self.spec)
        self.thresholds_file = settings.thresholds or project_thresholds(settings.root)
        self.thresholds: Thresholds = load_thresholds(self.thresholds_file)
        self.cases_path = settings.cases or bundled_cases()
        self.cases: dict[str, Case] = {case.id: case for case in load_cases(self.cases_path)}
        self.system_prompt = _read_system_prompt(settings.system)
        self.subject: Subject = build_subject(self.spec, settings.settings)
        self.plan = Plan(self.system_prompt, settings.repeats)
        self.today = datetime.date.today()
        self.source: TranscriptSource | None = None
        self._scorer: Scorer | None = None
        self.baseline: Baseline | None = load_baseline(settings.baseline) if settings.baseline else None
        self.baseline_remarks = check_comparable(self.baseline, self.scoring) if self.baseline else ()
        if settings.repeats < 1:
            raise InputError(f"--drift-repeats must be at least 1, found {settings.repeats}")
        if settings.stride is not None and settings.stride < 1:
            raise InputError(f"--drift-nli-stride must be at least 1, found {settings.stride}")

    @property
    def results_folder(self) -> Path:
        """Where this model's results go."""
        return self.settings.root / self.settings.results / self.slug

    @property
    def store_path(self) -> Path | None:
        """Where replies are kept; None where asking again costs nothing."""
        return None if self.spec.kind in ("control", "replay") else self.settings.root / self.settings.store

    @property
    def stride(self) -> int:
        """Every how manyth adjacent advice pair is judged: all by rules, every second by a model, unless said."""
        return self.settings.stride or (1 if self.settings.judge == "rules" else 2)

    def check(self, say: Callable[[str], object] | None = None) -> list[str]:
        """Everything that can be told before the first case runs: bad input raises, remarks are returned.

        `say` is told what a look that takes long is waiting for.
        """
        if say is not None and isinstance(self.subject, TalkativeSubject):
            self.subject.say = say
        for model in (self.scorer.judge, self.scorer.tier):
            prepare = getattr(model, "prepare", None)
            if prepare is not None:
                prepare()
        return [*self._unknown_waivers(), *self.subject.check(list(self.cases.values()))]

    def _unknown_waivers(self) -> list[str]:
        known = [waiver for waiver in self.thresholds.waivers if waiver.case in self.cases]
        expired = [waiver.case for waiver in known if not waiver.holds_on(self.today)]
        unknown = [waiver.case for waiver in self.thresholds.waivers if waiver.case not in self.cases]
        remarks = [f"the waiver for {case_id} has expired and does not count" for case_id in expired]
        return remarks + [f"the waiver for {case_id} names no case of this set" for case_id in unknown]

    @property
    def scorer(self) -> Scorer:
        """Built at first use, because a judge or an extractor may be a model."""
        if self._scorer is None:
            judge, extractor = load_judge(self.settings.judge), load_extractor(self.settings.ner)
            embedder, reason = find_embedder(self.settings.embedder)
            tier = load_tier(self.settings.tier)
            self._scorer = Scorer(judge, self.stride, extractor, embedder, reason, tier)
        return self._scorer

    def transcripts(self, case_id: str) -> list[Transcript]:
        """The case's conversations, one per repeat; waits for them."""
        if self.source is None:
            raise InputError("no conversation is running; this needs --model")
        return [self.source.wait(case_id, repeat) for repeat in range(self.plan.repeats)]

    def assess(self, case_id: str) -> tuple[list[Transcript], list[CaseAssessment]]:
        """Wait for the case's conversations and score them."""
        transcripts = self.transcripts(case_id)
        return transcripts, [self.scorer.score(self.cases[case_id], transcript) for transcript in transcripts]

    def judge(self, assessments: Sequence[CaseAssessment]) -> CaseVerdict:
        """The verdict on one case's repeats."""
        return judge_case(assessments, self.thresholds, self.today)

    def judge_set(self, cases: Sequence[Sequence[CaseAssessment]], verdicts: Sequence[CaseVerdict]) -> SetVerdict:
        """The verdict on all cases that were run."""
        return judge_set(cases, verdicts, self.thresholds, total=len(self.cases), today=self.today)

    @property
    def scoring(self) -> dict[str, Any]:
        """What two runs must have in common for their figures to be comparable."""
        hashes = {"cases": hash_cases(list(self.cases.values())), "prompts": prompts.prompt_hash()}
        return {
            "versions": package_versions(),
            "judge": self.settings.judge,
            "tier": self.settings.tier,
            "stride": self.stride,
            "hashes": hashes,
        }

    @property
    def system_hash(self) -> str | None:
        """Fingerprint of the deployed system prompt."""
        return hashlib.sha256(self.system_prompt.encode()).hexdigest() if self.system_prompt else None


def _read_system_prompt(file: Path | None) -> str | None:
    if file is None:
        return None
    try:
        text = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--drift-system {file}: cannot be read ({error})") from None
    if not text:
        raise InputError(f"--drift-system {file}: the file is empty")
    return text
