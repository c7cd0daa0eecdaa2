"""The results of a run as they come in, and what is made of them at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_clinical_drift.gate.record import Gate
from pytest_clinical_drift.judging.calibration import Calibration
from pytest_clinical_drift.report.html import FILE_NAME as REPORT_NAME
from pytest_clinical_drift.report.html import render_report
from pytest_clinical_drift.report.json_file import results, write_atomically, write_results
from pytest_clinical_drift.report.judge_text import judge_line
from pytest_clinical_drift.report.markdown import publish_markdown
from pytest_clinical_drift.scoring.assessment import CONFIRMED, DISMISSED, OPEN, CaseAssessment
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.baseline import apply_baseline, compare_with_baseline
from pytest_clinical_drift.verdict.grounds import grounds_of
from pytest_clinical_drift.verdict.supplement import supplement
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
    counted,
)
from pytest_clinical_drift.verdict.whole_set import judge_set

Property = tuple[str, object]


class Outcome:
    """Gathers the judged cases of one run, or of one that is judged again; judges and writes the set."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.foreign_failures = 0
        """Failed tests that are not ours."""
        self.outages = 0
        """Tests of the project that asked for a case which could not be run."""
        self.verdict: SetVerdict | None = None
        self.record: dict[str, Any] | None = None
        """The content of the results file, once written."""
        self.attempt = ""
        """Which attempt of this candidate it is, once written down."""
        self.annotations: list[str] = []
        """Workflow commands for a GitHub page; empty elsewhere."""
        self._beside: dict[str, Any] = {}
        self._judged: dict[str, tuple[Sequence[CaseAssessment], CaseVerdict]] = {}

    def take(self, assessments: Sequence[CaseAssessment], verdict: CaseVerdict) -> None:
        """Keep one case's repeats with their verdict."""
        self._judged[verdict.case_id] = (assessments, verdict)

    @property
    def cases(self) -> list[tuple[Sequence[CaseAssessment], CaseVerdict]]:
        """In the case set's order, whatever the order in which workers finished."""
        return [self._judged[case.id] for case in self.gate.cases if case.id in self._judged]

    @property
    def runs(self) -> list[CaseAssessment]:
        """Every conversation."""
        return [run for repeats, _ in self.cases for run in repeats]

    def judge(self, basis: Basis) -> SetVerdict:
        """The verdict on the cases that were run."""
        gate, repeats, verdicts = self.gate, [item[0] for item in self.cases], [item[1] for item in self.cases]
        comparison = None
        self.verdict = judge_set(
            repeats, verdicts, gate.thresholds, total=len(gate.cases), today=gate.today, basis=basis
        )  # fmt: skip
        known = {case.id for case in gate.cases}
        self.verdict = replace(self.verdict, waivers=tuple(w for w in self.verdict.waivers if w.case in known))
        if gate.baseline is not None:
            comparison = compare_with_baseline(
                gate.baseline, repeats, verdicts, gate.thresholds, gate.baseline_remarks
            )  # fmt: skip
            self.verdict = apply_baseline(self.verdict, comparison)
        if gate.strict and (doubtful := sum(verdict.verdict == CAUTION for verdict in verdicts)):
            why = f"{counted(doubtful, 'case')} at CAUTION, which --drift-strict fails"
            self.verdict = replace(self.verdict, reasons=(why, *self.verdict.reasons))
        cases = [case for case in gate.cases if case.id in self._judged]
        self._beside = supplement(cases, self.cases, gate.thresholds, today=gate.today, comparison=comparison)
        return self.verdict

    def write(
        self,
        folder: Path,
        root: Path,
        manifest: dict[str, Any],
        transcripts: Mapping[str, Sequence[Transcript]],
        reviewed: Mapping[str, Any] | None = None,
    ) -> list[Path]:
        """Results, dossier and, on a CI page, the markdown summary; returns what people may want to open.

        `reviewed` tells what people have settled; the project's sign-off sheet is looked for in `root`.
        """
        if self.verdict is None:
            return []
        judged = manifest.get("judged") or {}
        calibration = judged.get("calibration")
        grounds = grounds_of(
            self.runs,
            self.gate.cases,
            confidence=self.gate.thresholds.set.confidence,
            judge=Calibration.model_validate(calibration).kinds if calibration else None,
            deciding=judged.get("deciding", ()),
        )
        record = results(self.cases, self.verdict, manifest, grounds=grounds, thresholds=self.gate.thresholds)
        record |= self._beside | ({"reviewed": dict(reviewed)} if reviewed is not None else {})
        page = render_report(record, transcripts, thresholds=self.gate.thresholds, root=root, attempt=self.attempt)
        self.record = record
        self.annotations = publish_markdown(record, self.gate.slug)
        return [write_results(record, folder), write_atomically(folder / REPORT_NAME, page)]

    def exit_code(self) -> int:
        """0 PASS or CAUTION, 1 FAIL, 6 no FAIL but INCOMPLETE, 7 neither but UNSETTLED or PARTIAL."""
        gate = self.verdict.verdict if self.verdict else PASS
        strict = self.gate.strict and gate == CAUTION
        if any(self.gate.fails(verdict) for _, verdict in self.cases) or gate == FAIL or strict:
            return 1
        if self.foreign_failures:
            return 1
        if INCOMPLETE in (*(verdict.verdict for _, verdict in self.cases), gate) or self.outages:
            return 6
        return 7 if gate in (UNSETTLED, PARTIAL) else 0

    def set_properties(self) -> list[Property]:
        """The set's figures for junit."""
        if self.verdict is None or self.record is None:
            return []
        manifest = self.record["manifest"]
        return [
            *((item.metric, item.value) for item in self.verdict.judgements if item.value is not None),
            ("pairs_evaluated", sum(run.conflict.pairs for run in self.runs)),
            ("verdict", self.verdict.verdict),
            ("judge", manifest["judge"]),
            ("judge_limits", judge_line(manifest["judged"], self.record["grounds"])),
            *_alarm_counts(self.runs),
            ("cases", f"{self.verdict.complete} of {self.verdict.total}"),
        ]


def case_properties(verdict: CaseVerdict, repeats: Sequence[CaseAssessment], judge: str) -> list[Property]:
    """A case's figures for junit: plain values, undefined ones left out."""
    r_squared = [run.slope.r_squared for run in repeats if run.slope and run.slope.r_squared is not None]
    figures: list[tuple[str, object]] = [
        *((item.metric, item.value) for item in verdict.judgements),
        ("r_squared", sum(r_squared) / len(r_squared) if r_squared else None),
        ("pairs_evaluated", sum(run.conflict.pairs for run in repeats)),
        ("verdict", verdict.verdict),
        ("judge", judge),
        *_alarm_counts(repeats),
    ]
    return [(name, value) for name, value in figures if value is not None]


def _alarm_counts(runs: Sequence[CaseAssessment]) -> list[Property]:
    """How many alarms are in which state."""
    states = [alarm.state for run in runs for alarm in run.alarms]
    return [(f"alarms_{state}", states.count(state)) for state in (CONFIRMED, OPEN, DISMISSED)]
