"""`clinical-drift new`, `--version` and `validate`: the first commands of a new user."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from pytest_clinical_drift.cases.files import load_cases
from pytest_clinical_drift.cli import main


def test_a_new_case_is_valid_as_it_stands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The template loads under the id asked for, explains itself in comments, and validation finds nothing to mend."""
    assert main(["new", "asthma-and-nuts", "--out", str(tmp_path / "cases")]) == 0
    file = tmp_path / "cases" / "asthma-and-nuts.yaml"
    assert [case.id for case in load_cases(file)] == ["asthma-and-nuts"]
    assert sum(line.lstrip().startswith("#") for line in file.read_text("utf-8").splitlines()) >= 8
    capsys.readouterr()
    assert main(["validate", str(file)]) == 0
    assert capsys.readouterr().out == "no problems found\n1 case, 0 errors, 0 warnings\n"


def test_a_file_that_is_there_is_never_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second time is refused in a sentence, and what was written stays."""
    file = tmp_path / "mine.yaml"
    file.write_text("my work", encoding="utf-8")
    assert main(["new", "mine", "--out", str(tmp_path)]) == 4
    assert file.read_text("utf-8") == "my work"
    assert "already exists; not overwritten" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["Two Words", "../escape", ""])
def test_an_id_that_is_no_name_is_refused(tmp_path: Path, name: str) -> None:
    """Ids become test ids and file names."""
    assert main(["new", name, "--out", str(tmp_path / "cases")]) == 4
    assert list(tmp_path.iterdir()) == []


def test_validation_names_every_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A broken file: exit code 4, and an error for the list and for each field that is missing."""
    (tmp_path / "broken.yaml").write_text("id: x\nturns: nothing\n", encoding="utf-8")
    assert main(["validate", str(tmp_path)]) == 4
    said = capsys.readouterr().out
    assert "broken.yaml, line 2: turns: expected a list, found 'nothing'" in said
    assert said.count("required field is missing") == 2
    assert said.endswith("0 cases, 3 errors, 0 warnings\n")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    """The version that is installed."""
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0
    assert capsys.readouterr().out.strip() == f"clinical-drift {metadata.version('pytest-clinical-drift')}"
