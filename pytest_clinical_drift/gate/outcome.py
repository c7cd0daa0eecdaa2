"""The results of a run as they come in, and what is made of them at the end."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from pytest_clinical_drift.cases.files import hash_cases
from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.conversation import prompts
from pytest_clinical_drift.gate.ledger import attempt_text, ledger_entry, record_run
from pytest_clinical_drift.gate.record import write_run_record
from pytest_clinical_drift.gate.run import GateRun, RunSettings
from pytest_clinical_drift.gate.token_account import spent, token_figures
from pytest_clinical_drift.judging.calibration import Calibration
from pytest_clinical_drift.judging.prompts import prompt_hash
from pytest_clinical_drift.judging.reviews import DECLARED
from pytest_clinical_drift.metrics.seed import SEED
from pytest_clinical_drift.report.dossier import gate_rows, read_dossier, scoring_accuracy
from pytest_clinical_drift.report.html import FILE_NAME as REPORT_NAME
from pytest_clinical_drift.report.html import render_report
from pytest_clinical_drift.report.json_file import package_versions, results, write_atomically, write_results
from pytest_clinical_drift.report.judge_text import judge_line
from pytest_clinical_drift.report.markdown import publish_markdown
from pytest_clinical_drift.report.terminal import render_summary
from pytest_clinical_drift.scoring.assessment import CONFIRMED, DISMISSED, OPEN, CaseAssessment
from pytest_clinical_drift.subjects.base import Identity
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.baseline import apply_baseline, compare_with_baseline
from pytest_clinical_drift.verdict.grounds import Grounds, grounds_of
from pytest_clinical_drift.verdict.results_file import Results
from pytest_clinical_drift.verdict.supplement import supplement
from pytest_clinical_drift.verdict.thresholds import Thresholds
from pytest_clinical_drift.verdict.values import (
    CAUTION,
    FAIL,
    INCOMPLETE,
    PARTIAL,
    PASS,
    UNSETTLED,
    Basis,
    CaseVerdict,
    SetVerdict,
)

Property = tuple[str, object]


class Gated(Protocol):
    """What an outcome needs of the run it belongs to: one with a model, or one that is judged again."""

    slug: str
    settings: RunSettings
    cases: dict[str, Case]
    thresholds: Thresholds
    today: datetime.date
    baseline: Results | None
    baseline_remarks: tuple[str, ...]

    def judge(self, assessments: Sequence[CaseAssessment]) -> CaseVerdict:
        """The verdict on one case's repeats."""
        ...

    def judge_set(self, cases: Sequence[Sequence[CaseAssessment]], verdicts: Sequence[CaseVerdict]) -> SetVerdict:
        """The verdict on all cases that were run."""
        ...


class Outcome:
    """Gathers the assessed cases of one run; judges and writes them when the last one is in."""

    def __init__(self, run: Gated) -> None:
        self.run = run
        self.foreign_failures = 0
        """Failed tests that are not ours."""
        self.outages = 0
        """Tests of the project that asked for a case which could not be run."""
        self.verdict: SetVerdict | None = None
        self.supplement: dict[str, Any] = {}
        """What stands beside the verdict, for the results file."""
        self.record: dict[str, Any] | None = None
        """The content of the results file, once written."""
        self.attempt = ""
        """Which attempt of this candidate it is, once written down."""
        self.reused_since: str | None = None
        """When the oldest reused reply was generated, once written down."""
        self.annotations: list[str] = []
        """Workflow commands for a GitHub page; empty elsewhere."""
        self._assessed: dict[str, tuple[Sequence[CaseAssessment], CaseVerdict]] = {}

    def take(self, assessments: Sequence[CaseAssessment], verdict: CaseVerdict | None = None) -> None:
        """Keep one case's repeats, with the verdict where it has been made."""
        self._assessed[assessments[0].case_id] = (assessments, verdict or self.run.judge(assessments))

    @property
    def cases(self) -> list[tuple[Sequence[CaseAssessment], CaseVerdict]]:
        """In the case set's order, whatever the order in which workers finished."""
        return [self._assessed[case_id] for case_id in self.run.cases if case_id in self._assessed]

    @property
    def runs(self) -> list[CaseAssessment]:
        """Every conversation."""
        return [run for repeats, _ in self.cases for run in repeats]

    def judge(self) -> SetVerdict | None:
        """The verdict on the set; None when no case was run."""
        if self._assessed:
            repeats, verdicts = [item[0] for item in self.cases], [item[1] for item in self.cases]
            thresholds, baseline, comparison = self.run.thresholds, self.run.baseline, None
            self.verdict = self.run.judge_set(repeats, verdicts)
            if baseline is not None:
                remarks = self.run.baseline_remarks
                comparison = compare_with_baseline(baseline, repeats, verdicts, thresholds, remarks)
                self.verdict = apply_baseline(self.verdict, comparison)
            cases = [self.run.cases[verdict.case_id] for verdict in verdicts]
            self.supplement = supplement(cases, self.cases, thresholds, today=self.run.today, comparison=comparison)
        return self.verdict

    def write_files(
        self,
        folder: Path,
        manifest: dict[str, Any],
        transcripts: Mapping[str, Sequence[Transcript]],
        reviewed: Mapping[str, Any] | None = None,
    ) -> list[Path]:
        """Results, dossier and markdown in a folder; `reviewed` tells what people have settled since the run."""
        if self.verdict is None:
            return []
        record = results(
            self.cases, self.verdict, manifest, grounds=self._grounds(manifest), thresholds=self.run.thresholds
        )
        record.update(token_figures(self.runs))
        record.update(self.supplement)
        if reviewed is not None:
            record["reviewed"] = dict(reviewed)
        self.record = record
        files = [write_results(record, folder)]
        page = render_report(
            record,
            transcripts,
            gate=gate_rows(self.run.thresholds),
            dossier=read_dossier(self.run.settings.root),
            accuracy=scoring_accuracy(),
            attempt=self.attempt,
        )
        files.append(write_atomically(folder / REPORT_NAME, page))
        self.annotations = publish_markdown(record, self.run.slug)
        return files

    def _grounds(self, manifest: Mapping[str, Any]) -> Grounds:
        """What the verdict rests on."""
        judged = manifest.get("judged") or {}
        calibration = judged.get("calibration")
        return grounds_of(
            self.runs,
            self.run.cases.values(),
            confidence=self.run.thresholds.set.confidence,
            judge=Calibration.model_validate(calibration).kinds if calibration else None,
            deciding=judged.get("deciding", ()),
        )

    def summary(self, width: int, verbosity: int = 0) -> list[str]:
        """Lines for the terminal: below 0 the verdict alone, above 0 with every fact lost."""
        if self.record is None:
            return []
        return render_summary(
            self.record, self.cases, self.run.slug, attempt=self.attempt, width=width, verbosity=verbosity
        )

    def exit_code(self, *, fails: Sequence[bool]) -> int:
        """0 PASS or CAUTION, 1 FAIL, 6 no FAIL but INCOMPLETE, 7 neither but UNSETTLED or PARTIAL."""
        verdicts = [judged.verdict for _, judged in self.cases]
        gate = self.verdict.verdict if self.verdict else PASS
        strict = self.run.settings.strict and gate == CAUTION
        if any(fails) or gate == FAIL or strict or self.foreign_failures:
            return 1
        if INCOMPLETE in (*verdicts, gate) or self.outages:
            return 6
        return 7 if gate in (UNSETTLED, PARTIAL) else 0


class RunOutcome(Outcome):
    """The outcome of a run with a model: with its manifest, its line in the ledger and its figures for junit."""

    run: GateRun

    def __init__(self, run: GateRun) -> None:
        super().__init__(run)

    def write(self, identity: Identity, transcripts: Mapping[str, Sequence[Transcript]]) -> list[Path]:
        """Write results, dossier and, on a CI page, the markdown summary; returns what people may want to open."""
        if self.verdict is None:
            return []
        self.reused_since = oldest_reused(transcripts)
        manifest = self._manifest(identity)
        self.attempt = self._write_ledger(manifest, self.verdict)
        reviewed = self._reviewed(self.verdict.basis)
        written = self.write_files(self.run.results_folder, manifest, transcripts, reviewed)
        write_run_record(self.run, self.verdict.basis, manifest, transcripts)
        return written

    def _write_ledger(self, manifest: dict[str, Any], verdict: SetVerdict) -> str:
        entry = ledger_entry(manifest, verdict=verdict.verdict, selected=verdict.selected, total=verdict.total)
        attempt = record_run(self.run.settings.root / self.run.settings.results, entry)
        return attempt_text(attempt, verdict.verdict)

    def _reviewed(self, basis: Basis) -> dict[str, Any] | None:
        """What people have settled, where the run was given reviews."""
        reviews = self.run.bench.reviews
        if reviews is None:
            return None
        states = [alarm.state for run in self.runs for alarm in run.alarms if alarm.settled_by == "person"]
        settled = f"{states.count(DISMISSED)} alarms dismissed and {states.count(CONFIRMED)} confirmed by reviews"
        sentence = f"{settled} of {', '.join(basis.reviewers)}; {DECLARED}"
        none = f"none of the {len(reviews.records)} reviews given is about a text of this run"
        return {"sentence": sentence if basis.reviewers else none, "reviewers": list(basis.reviewers)}

    def gate_properties(self) -> list[Property]:
        """The set's figures for junit."""
        if self.verdict is None:
            return []
        figures: list[Property] = [
            (item.metric, item.value) for item in self.verdict.judgements if item.value is not None
        ]
        pairs = sum(run.conflict.pairs for run in self.runs)
        extra: list[Property] = [
            ("pairs_evaluated", pairs),
            ("verdict", self.verdict.verdict),
            ("judge", self.run.bench.name),
            ("judge_limits", judge_line(self.run.bench.manifest(), self.record["grounds"] if self.record else None)),
            *alarm_counts(self.runs),
            ("cases", f"{self.verdict.complete} of {self.verdict.total}"),
        ]
        return figures + extra

    def _manifest(self, identity: Identity) -> dict[str, Any]:
        settings = self.run.settings
        replies = self.runs
        return {
            "versions": package_versions(),
            "model": identity.spec,
            "revision": identity.revision,
            "identity_proven": identity.proven,
            "decoding": dict(identity.settings),
            "server": dict(identity.server) if identity.server else None,
            "judge": self.run.bench.name,
            "judge_prompts": prompt_hash() if self.run.bench.judge else None,
            "judged": self.run.bench.manifest(),
            "questions": sum(run.questions for run in replies),
            "unanswered": sum(run.unanswered for run in replies),
            "ner": settings.ner,
            "stride": self.run.stride,
            "repeats": settings.repeats,
            "seed": SEED,
            "hashes": {
                "cases": hash_cases(list(self.run.cases.values())),
                "thresholds": self.run.thresholds.fingerprint(),
                "prompts": prompts.prompt_hash(self.run.plan.probe),
                "system_prompt": self.run.system_hash,
            },
            "replies": sum(run.replies_total for run in replies),
            "replies_reused": sum(run.replies_reused for run in replies),
            "replies_reused_since": self.reused_since,
            "tokens": spent(replies, settings.prices),
        }


def oldest_reused(transcripts: Mapping[str, Sequence[Transcript]]) -> str | None:
    """When the oldest of the reused replies was generated; None when all are new."""
    exchanges = (exchange for repeats in transcripts.values() for run in repeats for exchange in run.exchanges)
    replies = (reply for exchange in exchanges for reply in (exchange.reply, exchange.summary) if reply is not None)
    return min((reply.reused_from for reply in replies if reply.reused_from is not None), default=None)


def case_properties(verdict: CaseVerdict, repeats: Sequence[CaseAssessment], judge: str) -> list[Property]:
    """A case's figures for junit: plain values, undefined ones left out."""
    figures: dict[str, object] = {item.metric: item.value for item in verdict.judgements}
    r_squared = [run.slope.r_squared for run in repeats if run.slope and run.slope.r_squared is not None]
    figures["r_squared"] = sum(r_squared) / len(r_squared) if r_squared else None
    figures["pairs_evaluated"] = sum(run.conflict.pairs for run in repeats)
    figures["verdict"] = verdict.verdict
    figures["judge"] = judge
    figures |= dict(alarm_counts(repeats))
    return [(name, value) for name, value in figures.items() if value is not None]


def alarm_counts(runs: Sequence[CaseAssessment]) -> list[Property]:
    """How many alarms are in which state."""
    states = [alarm.state for run in runs for alarm in run.alarms]
    return [(f"alarms_{state}", states.count(state)) for state in (CONFIRMED, OPEN, DISMISSED)]
