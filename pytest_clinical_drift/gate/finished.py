"""A run whose set is judged, and the files that people open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_clinical_drift.report.html import REPORT_FILE, render_report
from pytest_clinical_drift.report.json_file import write_results
from pytest_clinical_drift.results.files import write_atomically
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
        return [results, write_atomically(folder / REPORT_FILE, page)]
