"""The gate from Python, and subjects that other packages add."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_clinical_drift import run_gate
from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.conversation import scheduler
from pytest_clinical_drift.conversation.dialogue import Dialogue, Plan
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.verdict.reasons import Verdict

EXAMPLE = Path(__file__).parents[2] / "examples/own_subject"
CASES = ["lithium-nsaid-postman", "penicillin-anaphylaxis-welder"]


def test_a_script_runs_the_gate_and_reads_the_verdict(tmp_path: Path) -> None:
    """A control that forgets from turn 6 on fails both cases; a part of the set gives no release verdict."""
    result = run_gate("control:cliff", only=CASES, root=tmp_path)
    assert result.verdict == Verdict.PARTIAL
    assert {case.case_id: case.verdict for case in result.cases} == dict.fromkeys(CASES, Verdict.FAIL)
    assert result.failing_cases == tuple(CASES)
    assert "<table>" in result._repr_html_()
    assert result.headline.startswith("PARTIAL (2 of 60")
    assert all("lost" in case.headline for case in result.cases)
    assert list(tmp_path.iterdir()) == []


def test_a_steady_control_passes_its_cases(tmp_path: Path) -> None:
    result = run_gate("control:steady", only=CASES[:1], root=tmp_path)
    assert [case.verdict for case in result.cases] == [Verdict.PASS]


def test_a_case_named_twice_is_run_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two conversations of one name would get in each other's way."""
    held: list[str] = []

    def began(case: Case, repeat: int, plan: Plan) -> Dialogue:
        held.append(case.id)
        return Dialogue(case, repeat, plan)

    monkeypatch.setattr(scheduler, "Dialogue", began)
    result = run_gate("control:steady", only=[*CASES, CASES[0]], root=tmp_path)
    assert sorted(held) == [case.case_id for case in result.cases] == CASES


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no case 'nobody'"):
        run_gate("control:steady", only=["nobody"], root=tmp_path)
    with pytest.raises(InputError, match="unknown prefix"):
        run_gate("wizard:oz", root=tmp_path)


@pytest.mark.slow
def test_a_package_adds_a_subject(tmp_path: Path) -> None:
    """The example package, as installed: its prefix is known, its subject is asked, and it fails as a parrot should."""
    shutil.copy(EXAMPLE / "clinical_drift_parrot.py", tmp_path)
    info = tmp_path / "clinical_drift_parrot-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: clinical-drift-parrot\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[clinical_drift.subjects]\nparrot = clinical_drift_parrot:ParrotSubject\n")
    command = [sys.executable, "-m", "pytest", "--model", "parrot:loud", "-k", CASES[0], "-q", "-p", "no:cacheprovider"]
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import pytest; sys.exit(pytest.main({command[3:]!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "60 cases will be repeated back" in done.stdout
    assert done.returncode in (1, 7)
