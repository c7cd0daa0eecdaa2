"""A run whose set is judged, and the files that people open."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_clinical_drift.gate.ledger import attempts_of, controls_of, ledger_above
from pytest_clinical_drift.report.html import REPORT_FILE, render_case_pages, render_report
from pytest_clinical_drift.report.json_file import write_results
from pytest_clinical_drift.results.files import write_atomically
from pytest_clinical_drift.results.folders import CASE_PAGES
from pytest_clinical_drift.results.inputs import GateInputs
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.results.releases import Standing, record_hash, standing_of
from pytest_clinical_drift.results.sheet import Sheet
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

    def write(self, folder: Path, transcripts: Transcripts, sheet: Sheet, *, place: Path | None = None) -> list[Path]:
        """Results first, then the dossier; returns what people may want to open.

        `place`: where the run lies whose ledger counts, unless it is written there.
        """
        results = write_results(self.result, folder)
        standing = self.standing(folder, sheet, place or folder)
        page = render_report(self.result, transcripts, self.gate.thresholds, standing)
        written = write_atomically(folder / REPORT_FILE, page)
        shutil.rmtree(folder / CASE_PAGES, ignore_errors=True)  # of a verdict that was written here before
        for name, case_page in render_case_pages(self.result, transcripts):
            (folder / CASE_PAGES).mkdir(exist_ok=True)
            (folder / CASE_PAGES / name).write_text(case_page, encoding="utf-8")
        return [results, written]

    def standing(self, folder: Path, sheet: Sheet, place: Path) -> Standing:
        """What the page to sign says beside the run record, which is written."""
        home, manifest = ledger_above(place), self.result.manifest
        attempts, controls = (attempts_of(home, manifest), controls_of(home, manifest)) if home else (None, None)
        return standing_of(self.result, record_hash(folder), sheet, home=home, attempts=attempts, controls=controls)
