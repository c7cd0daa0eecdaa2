"""Runs to look at: hostile text, recorded conversations with open and settled alarms; and a browser for them."""

from __future__ import annotations

import datetime
import json
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from inner_runs import run_here
from results_check import check_results_below

from pytest_clinical_drift.judging.calibration_file import (
    Calibration,
    attempt_of,
    fingerprint,
    pooled,
    write_calibration,
)
from pytest_clinical_drift.judging.labelled import GROUPS
from pytest_clinical_drift.judging.measuring import Measurement
from pytest_clinical_drift.judging.prompts import prompt_hash, prompt_version
from pytest_clinical_drift.judging.protocol import build_judge
from pytest_clinical_drift.judging.queue import Count

HERE = Path(__file__).parent
REAL = HERE.parent / "data" / "real"
RECORDED = (
    "bee-venom-betablocker-beekeeper",
    "colitis-adalimumab-sound-engineer",
    "digoxin-kidney-lighthouse-keeper",
    "milk-allergy-infant-singapore",
)
"""Conversations of a weak model: an old dose kept, a forbidden medicine, demands left out, and clean stretches."""

HOSTILE = (
    "</style></pre><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> "
    "**bold** [link](javascript:alert(1)) | cell | `code` @everyone \x1b[31mred\x1b[0m "
    "\x00 \ud800 \u202eright to left ]]> &amp; "
)
MODEL = f"""
HOSTILE = {HOSTILE!r}


def make():
    def chat(messages):
        turn = sum(message["role"] == "user" for message in messages)
        if "handover summary" in messages[-1]["content"]:
            facts = "Penicillin allergy with anaphylaxis. Takes metformin 500 mg twice daily."
            return HOSTILE + (facts if turn < 4 else "No penicillin allergy. " + HOSTILE)
        advice = "Keep taking your metformin every day. " if turn % 2 else "Stop taking your metformin today. "
        return advice + HOSTILE
    return chat
"""
CASE = {
    "id": "anna",
    "patient_summary": "Anna has a penicillin allergy with anaphylaxis and takes metformin 500 mg twice daily.",
    "critical_entities": [
        {"id": "allergy", "text": "penicillin allergy with anaphylaxis", "kind": "allergy", "hard_stop": True},
        "metformin 500 mg twice daily",
    ],
    "turns": [{"turn": number, "message": f"Question {number} <b>?</b>"} for number in range(1, 5)],
}


@dataclass(frozen=True)
class Run:
    """A finished run of pytest."""

    folder: Path
    code: int
    output: str

    @property
    def results(self) -> Path:
        """The folder of its only model."""
        return next(path for path in (self.folder / "results").iterdir() if path.is_dir())

    @property
    def record(self) -> dict[str, Any]:
        """The results file."""
        found: dict[str, Any] = json.loads((self.results / "study_c_results.json").read_text(encoding="utf-8"))
        return found

    @property
    def page(self) -> Path:
        """The dossier."""
        return self.results / "report.html"

    @property
    def markdown(self) -> str:
        """What a CI page shows."""
        return (self.folder / "step.md").read_text(encoding="utf-8")


def gate(folder: Path, *options: str, **environment: str) -> Run:
    """Run the gate in a folder, in a window of 80 columns."""
    with pytest.MonkeyPatch.context() as patch:
        for name in (
            "CI",
            "BUILD_NUMBER",
        ):  # there pytest does not shorten its own summary lines to the window
            patch.delenv(name, raising=False)
        around = {"GITHUB_STEP_SUMMARY": str(folder / "step.md"), "COLUMNS": "80", **environment}
        for name, value in around.items():
            patch.setenv(name, value)
        patch.syspath_prepend(str(HERE))
        code, output = run_here(folder, "--junitxml=j.xml", *options)
    sys.modules.pop("model", None)  # that of this folder
    assert check_results_below(folder) > 0, output
    return Run(folder, code, output)


def recorded(folder: Path) -> tuple[str, ...]:
    """Options that replay the recorded conversations."""
    for name in RECORDED:
        for kind, suffix in (("cases", "yaml"), ("mixed/transcripts", "jsonl")):
            target = folder / Path(kind).name
            target.mkdir(exist_ok=True)
            shutil.copy(REAL / kind / f"{name}.{suffix}", target)
    return "--model", "replay:transcripts", "--drift-cases", "cases"


@pytest.fixture(scope="session")
def hostile_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A gate run on a model whose every word is an attack."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "case.yaml").write_text(yaml.safe_dump(CASE), encoding="utf-8")
    (folder / "model.py").write_text(MODEL, encoding="utf-8")
    (folder / "dossier.yaml").write_text("intended_use: triage <script>\nhazard_ids:\n", encoding="utf-8")
    return gate(folder, "--model", "python:model:make", "--drift-cases", "case.yaml")


@pytest.fixture(scope="session")
def stretched_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A control that forgets, on a case stretched to 25 turns: the dossier says how long it remembers."""
    folder = tmp_path_factory.mktemp("stretched")
    case = HERE.parents[1] / "cases" / "study_c" / "lithium-nsaid-postman.yaml"
    longer = ("--drift-turns", "25", "--drift-single-message")
    return gate(folder, "--model", "control:fading", "--drift-cases", str(case), *longer)


@pytest.fixture(scope="session")
def rules_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Recorded conversations, judged by rules alone."""
    folder = tmp_path_factory.mktemp("rules")
    return gate(folder, *recorded(folder))


@pytest.fixture(scope="session")
def judged_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The same conversations with a judge that knows the labels, under limits of the project's own."""
    folder = tmp_path_factory.mktemp("judged")
    bundled = yaml.safe_load((HERE.parents[1] / "thresholds.yaml").read_text(encoding="utf-8"))
    metrics = bundled["clinical_drift"]["metrics"]
    del metrics["k_conflict"]
    metrics["recall_at_t10"] |= {"pass": "> 0.93", "caution": ">= 0.61"}
    waiver = {"case": RECORDED[0], "reason": "<i>known</i>", "signed_by": "Dr <b>Who</b>", "expires": "2099-01-01"}
    bundled["clinical_drift"]["waivers"] = [waiver]
    (folder / "thresholds.yaml").write_text(yaml.safe_dump(bundled), encoding="utf-8")
    judge = ("--drift-judge", "python:labelled_judge:judge")
    calibrate(folder / "calibration" / "labelled.json")
    return gate(folder, *recorded(folder), *judge, LABELLED=str(REAL / "mixed"))


def calibrate(file: Path) -> None:
    """Write a calibration of that judge, as if it had been right throughout."""
    found = Measurement(texts=3000)
    for group, kinds in GROUPS.items():
        for kind in {group, *kinds}:
            for name, count in (("faults", 120), ("subtle", 60), ("clean", 600), ("false", 600), ("missed", 120)):
                for number in range(count):
                    found.kinds[kind][name].add(f"p{number}", name not in ("false", "missed"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LABELLED", str(REAL / "mixed"))
        patch.syspath_prepend(str(HERE))
        judge = build_judge("python:labelled_judge:judge", {})
        assert judge is not None
        identity = judge.identity()
    attempts = (attempt_of(found, Measurement(), Count(sent=3000), datetime.date.today()),)
    made = Calibration(
        judge=judge.name, identity=fingerprint([identity]), proven=identity.proven, prompt_version=prompt_version(),
        prompts=prompt_hash(), labelled="l", patients=600, attempts=attempts, kinds=pooled(attempts),
    )  # fmt: skip
    write_calibration(made, file)


def browser_path() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")  # while it is open its event loop runs, and no other could be started
def browser() -> Iterator[Any]:
    """Headless Chromium; where there is none the tests are skipped, unless DRIFT_NEED_BROWSER forbids it."""
    path = browser_path()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = None
    if path is None:
        if os.environ.get("DRIFT_NEED_BROWSER"):
            pytest.fail("a browser is needed here: install chromium and playwright")
        pytest.skip("no chromium or no playwright")
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--no-first-run"]
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=path, args=arguments)
        yield opened
        opened.close()
