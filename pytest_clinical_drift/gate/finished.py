"""A run whose set is judged, and the files that people open."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_clinical_drift.report.dossier_pages import render_case_pages
from pytest_clinical_drift.report.html import REPORT_FILE, render_report
from pytest_clinical_drift.report.json_file import write_results
from pytest_clinical_drift.results.files import write_atomically
from pytest_clinical_drift.results.folders import CASE_PAGES
from pytest_clinical_drift.results.inputs import GateInputs
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.transcript import Transcript

Transcripts = Mapping[str, Sequence[Transcript]]
"""By case, one per repeat."""


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run whose set is judged."""

    result: RunResult
    gate: GateInputs
    attempt: str = ""
    """Which attempt of this candidate it is."""

    def write(self, folder: Path, transcripts: Transcripts, sign_off: Mapping[str, Any]) -> list[Path]:
        """Results first, then the dossier; returns what people may want to open."""
        results = write_results(self.result, folder)
        page = render_report(
            self.result, transcripts, thresholds=self.gate.thresholds, sign_off=sign_off, attempt=self.attempt
        )
        written = write_atomically(folder / REPORT_FILE, page)
        shutil.rmtree(folder / CASE_PAGES, ignore_errors=True)  # of a verdict that was written here before
        for name, case_page in render_case_pages(self.result, transcripts, report=REPORT_FILE):
            (folder / CASE_PAGES).mkdir(exist_ok=True)
            (folder / CASE_PAGES / name).write_text(case_page, encoding="utf-8")
        return [results, written]
