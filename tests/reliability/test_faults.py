"""Ctrl-C, a full disk, a folder that takes nothing: one sentence, a sound store, and nothing that looks finished."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import reviewing
from interrupted import asked, lay_out, results, run, store_is_sound

from pytest_clinical_drift.gate.reopened import reopen

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits differ")
UNREAD = 7
"""Exit code of a run that came to its end and that no judge has read."""


@pytest.mark.slow
@pytest.mark.parametrize("phase", [{"STOP_AT": "9"}, {"STOP_SCORING": "bela"}], ids=["talking", "scoring"])
def test_ctrl_c_leaves_a_sound_store_and_nothing_that_looks_whole(phase: dict[str, str], tmp_path: Path) -> None:
    """Whatever was going on; and the next run goes on from there."""
    folder = lay_out(tmp_path / "project")
    code, said = run(folder, **phase)
    assert code == pytest.ExitCode.INTERRUPTED, said[-3000:]
    assert "INTERNALERROR" not in said
    assert store_is_sound(folder)
    found = results(folder)
    if found is not None:
        assert found["verdict"] == "PARTIAL"
        assert f"PARTIAL ({found['cases_complete']} of 3)" in said
        assert found["cases_complete"] < 3
    if "STOP_AT" in phase:
        assert asked(folder) == 9
        code, said = run(folder)
        assert code == UNREAD, said[-3000:]
        assert asked(folder) in (18, 19)  # the reply during which it was stopped may be asked for again


@pytest.mark.slow
@pytest.mark.parametrize("presses", ["1", "2"])
def test_ctrl_c_while_results_are_written(presses: str, tmp_path: Path) -> None:
    """Once: they are written to the end first. Twice: at once, with a sentence. Never a traceback, always code 2."""
    folder = lay_out(tmp_path / "project")
    code, said = run(folder, STOP_WRITING=presses)
    assert code == pytest.ExitCode.INTERRUPTED, said[-3000:]
    assert "Traceback" not in said
    assert "INTERNALERROR" not in said
    found = results(folder)
    if presses == "1":
        assert "Ctrl-C while the results were written: they were written to the end" in said.splitlines()
        assert found is not None
        assert found["cases_complete"] == 3
        reopen(folder / "results" / "python-model-make")
    else:
        assert "ERROR: Ctrl-C before the results were written: run again" in said
        assert found is None
    assert run(folder)[0] == UNREAD


def test_a_results_folder_that_takes_nothing_is_told_before_the_first_case(tmp_path: Path) -> None:
    """Not even the superuser can write below /proc."""
    if not Path("/proc/self").exists():
        pytest.skip("needs /proc")
    reviewing.lay_out(tmp_path, {"anna": [reviewing.KEPT] * 3})
    code, said = reviewing.run(tmp_path, "--drift-results", "/proc/nowhere")
    assert code == 4
    (sentence,) = [line for line in said.splitlines() if line.startswith("ERROR: ")]
    assert sentence.startswith("ERROR: /proc/nowhere")
    assert "cannot be used (" in sentence
    assert "Traceback" not in said


@pytest.mark.parametrize(
    "broken", [*(pytest.param(n, marks=pytest.mark.slow) for n in ("report.html", "run.json")), "study_c_results.json"]
)
def test_a_disk_that_fills_up_at_the_end_costs_no_verdict(
    broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table is shown, one sentence says what is missing, and the exit code is not that of a pass."""
    reviewing.lay_out(tmp_path, {"anna": [reviewing.KEPT] * 3})
    code, said = reviewing.run(tmp_path)
    assert code == 7, said[-2000:]
    replace = Path.replace

    def full(self: Path, target: Path) -> Path:
        if Path(target).name == broken:
            raise OSError(28, "No space left on device", str(target))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", full)
    code, said = reviewing.run(tmp_path)
    assert code == 4
    assert "Recall@T10" in said
    (sentence,) = [line for line in said.splitlines() if line.startswith("ERROR: ")]
    assert sentence.startswith("ERROR: the results could not be written: ")
    assert sentence.endswith(f"{broken}: cannot be used (No space left on device)")
    assert "Traceback" not in said
    # what was there before is whole
    json.loads((reviewing.results_of(tmp_path) / "study_c_results.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_a_full_disk_keeps_the_store_sound(tmp_path: Path) -> None:
    """No file may grow beyond 40 kB: the run says so in a sentence; with space again the next one finishes."""
    import resource

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))

    folder = lay_out(tmp_path / "project")
    code, said = run(folder, limit=limit)
    assert code == 4, said[-3000:]
    assert "cannot be used (File too large)" in said
    assert "Traceback" not in said
    assert "INTERNALERROR" not in said
    assert store_is_sound(folder)
    code, said = run(folder)
    assert code == UNREAD, said[-3000:]
