"""The results of a run as they come in, and what is made of them at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .assessment import CaseAssessment
from .case_files import hash_cases
from .conversation import prompts
from .ledger import attempt_text, ledger_entry, record_run
from .report.ci import publish_markdown
from .report.dossier import gate_rows, read_dossier, scoring_accuracy
from .report.html import FILE_NAME as REPORT_NAME
from .report.html import render_report
from .report.json_file import package_versions, results, write_atomically, write_results
from .report.meaning import what_it_means
from .report.terminal import losses, summary_lines, wrapped
from .run import GateRun
from .subjects.base import Identity
from .supplement import Supplement, supplement
from .token_account import token_figures
from .transcript import Transcript
from .verdict import CAUTION, FAIL, INCOMPLETE, PASS, CaseVerdict, SetVerdict

Property = tuple[str, object]


class RunOutcome:
    """Gathers the assessed cases of one run; judges and writes them when the last one is in."""

    def __init__(self, run: GateRun) -> None:
        self.run = run
        self.foreign_failures = 0
        """Failed tests that are not ours."""
        self.verdict: SetVerdict | None = None
        self.supplement: Supplement | None = None
        self.attempt = ""
        """Which attempt of this candidate it is, once written down."""
        self.reused_since: str | None = None
        """When the oldest reused reply was generated, once written down."""
        self.annotations: list[str] = []
        """Workflow commands for a GitHub page; empty elsewhere."""
        self._assessed: dict[str, tuple[Sequence[CaseAssessment], CaseVerdict]] = {}

    def take(self, assessments: Sequence[CaseAssessment]) -> None:
        """Keep one case's repeats."""
        self._assessed[assessments[0].case_id] = (assessments, self.run.judge(assessments))

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
            self.supplement = supplement(
                [self.run.cases[verdict.case_id] for verdict in verdicts],
                self.cases,
                self.run.thresholds,
                today=self.run.today,
                baseline=self.run.baseline,
                remarks=self.run.baseline_remarks,
            )
            self.verdict = self.supplement.decide(self.run.judge_set(repeats, verdicts))
        return self.verdict

    def write(self, identity: Identity, transcripts: Mapping[str, Sequence[Transcript]]) -> list[Path]:
        """Write results, dossier and, on a CI page, the markdown summary; returns what people may want to open."""
        if self.verdict is None:
            return []
        folder = self.run.results_folder
        self.reused_since = oldest_reused(transcripts)
        manifest = self._manifest(identity)
        record = results(self.cases, self.verdict, manifest, self.meaning)
        record.update(token_figures(self.runs))
        if self.supplement is not None:
            record.update(self.supplement.record())
        self.attempt = self._write_ledger(manifest, self.verdict)
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
        self.annotations = publish_markdown(record, self.run.slug, folder)
        return files

    def _write_ledger(self, manifest: dict[str, Any], verdict: SetVerdict) -> str:
        entry = ledger_entry(manifest, verdict=verdict.verdict, selected=verdict.selected, total=verdict.total)
        attempt = record_run(self.run.settings.root / self.run.settings.results, entry)
        return attempt_text(attempt, verdict.verdict)

    @property
    def meaning(self) -> str:
        """What a PASS of this run would mean."""
        return what_it_means(self.runs, self.run.thresholds.set.confidence)

    def summary(self, width: int, verbosity: int = 0) -> list[str]:
        """Lines for the terminal: below 0 the verdict alone, above 0 with every fact lost."""
        if self.verdict is None:
            return []
        reused = sum(run.replies_reused for run in self.runs)
        lines = summary_lines(self.run.slug, self.verdict, self.cases, reused=reused, width=width)
        if verbosity < 0:
            return lines[-1:]
        lost = losses(self.cases) if verbosity > 0 else []
        beside = [f"  {line}" for line in self.supplement.lines()] if self.supplement else []
        attempt = [f"  {self.attempt}"] if self.attempt else []
        if self.reused_since:
            attempt.insert(0, f"  the oldest reused reply was generated at {self.reused_since}")
        return [*lines[:-1], *lost, *beside, *attempt, "", lines[-1], "", wrapped(self.meaning, width)]

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
            ("judge", self.run.settings.judge),
            ("cases", f"{self.verdict.complete} of {self.verdict.total}"),
        ]
        return figures + extra

    def exit_code(self, *, fails: Sequence[bool]) -> int:
        """0 PASS or CAUTION, 1 FAIL, 6 no FAIL but INCOMPLETE."""
        verdicts = [judged.verdict for _, judged in self.cases]
        gate = self.verdict.verdict if self.verdict else PASS
        strict = self.run.settings.strict and gate == CAUTION
        if any(fails) or gate == FAIL or strict or self.foreign_failures:
            return 1
        return 6 if INCOMPLETE in (*verdicts, gate) else 0

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
            "judge": settings.judge,
            "ner": settings.ner,
            "tier": settings.tier,
            "stride": self.run.stride,
            "repeats": settings.repeats,
            "seed": SEED,
            "hashes": {
                "cases": hash_cases(list(self.run.cases.values())),
                "thresholds": self.run.thresholds.fingerprint(),
                "prompts": prompts.prompt_hash(),
                "system_prompt": self.run.system_hash,
            },
            "replies": sum(run.replies_total for run in replies),
            "replies_reused": sum(run.replies_reused for run in replies),
            "replies_reused_since": self.reused_since,
        }


SEED = 20260101
"""Seed of every resampling, so that two runs on the same replies give the same interval."""


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
    return [(name, value) for name, value in figures.items() if value is not None]
