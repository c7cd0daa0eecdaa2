"""A decision on a run, signed with an SSH key and checked against those who may sign."""

from __future__ import annotations

import datetime
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from reviewing import KEPT, UNCLEAR, chained, lay_out, manifest_of, results_of, run

from pytest_clinical_drift import cli
from pytest_clinical_drift.gate.signing import verify_release
from pytest_clinical_drift.results import ssh_signatures

needs_keygen = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen (openssh-client)")
ADA, BO, DEV = "ada@clinic.example", "bo@clinic.example", "dev@clinic.example"
LIMITED = ("--decision", "accept-until", "--until", "2999-12-31", "--conditions", "pilot ward only")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two cases by rules alone, one with an open severe alarm: UNSETTLED."""
    folder = tmp_path_factory.mktemp("signed")
    lay_out(folder, {"anna": (KEPT, KEPT, UNCLEAR), "bela": (KEPT, KEPT, KEPT)})
    code, output = run(folder)
    assert code == 7, output
    return folder


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Throw-away keys of three people; the allowed-signers file names them and says who develops."""
    folder = tmp_path_factory.mktemp("keys")
    lines = [f"# developers: {DEV}"]
    for name in (ADA, BO, DEV):
        file = folder / name
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(file)], check=True)
        lines.append(f'{name} namespaces="clinical-drift" {file.with_suffix(".example.pub").read_text()}'.strip())
    (folder / "allowed").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


Command = Callable[..., tuple[int, str]]


@pytest.fixture
def drift(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """`clinical-drift` in a copy of the project; exit code and what it said."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)

    def call(*words: object) -> tuple[int, str]:
        capsys.readouterr()
        code = cli.main([str(word) for word in words])
        said = capsys.readouterr()
        return code, said.out + said.err

    return call


def signing(keys: Path, name: str, *options: str, signer: str | None = None) -> tuple[object, ...]:
    who = ("--key", keys / name, "--as", signer or name, "--allowed-signers", keys / "allowed")
    return ("sign", results_of(Path()), *who, *options)


def checking(keys: Path) -> tuple[object, ...]:
    return ("verify", results_of(Path()), "--allowed-signers", keys / "allowed")


@needs_keygen
def test_signed_decision_is_verified(drift: Command, keys: Path) -> None:
    """Record, decision, conditions and expiry are in what was signed, beside the results and in the run's folder."""
    code, said = drift(*signing(keys, ADA, *LIMITED))
    assert code == 0, said
    assert said.startswith(f"signed by {ADA}: accept until 2999-12-31 (pilot ward only); verdict UNSETTLED, record ")
    release = json.loads((results_of(Path()) / "release.json").read_text(encoding="utf-8"))
    kept = [release[name] for name in ("decision", "conditions", "expires", "signer", "verdict")]
    assert kept == ["accept-until", "pilot ward only", "2999-12-31", ADA, "UNSETTLED"]
    assert drift(*checking(keys))[0] == 0
    [own] = results_of(Path()).glob("runs/*/release.json")
    assert drift("verify", own.parent, "--allowed-signers", keys / "allowed")[0] == 0


@needs_keygen
@pytest.mark.parametrize(
    ("file", "old", "new", "why"),
    [
        (
            "study_c_results.json",
            '"UNSETTLED"',
            '"PASS"',
            "was changed after ada@clinic.example signed it: study_c_results.json",
        ),
        ("release.json", "pilot ward only", "any ward", "the signature is not one of ada@clinic.example"),
    ],
)
def test_changed_record_or_decision_is_refused(
    drift: Command, keys: Path, file: str, old: str, new: str, why: str
) -> None:
    """One sentence and exit code 1."""
    drift(*signing(keys, ADA, *LIMITED))
    place = results_of(Path()) / file
    text = place.read_text(encoding="utf-8")
    assert old in text
    place.write_text(text.replace(old, new, 1), encoding="utf-8")
    code, said = drift(*checking(keys))
    assert (code, said.count("\n")) == (1, 1)
    assert why in said


@needs_keygen
def test_expired_acceptance_and_rejection_release_nothing(drift: Command, keys: Path) -> None:
    """Both are valid signatures, and neither lets a pipeline go on."""
    assert drift(*signing(keys, ADA, *LIMITED))[0] == 0
    said: list[str] = []
    for day in (datetime.date(2999, 12, 31), datetime.date(3000, 1, 1)):
        code = verify_release(results_of(Path()), keys / "allowed", said.append, day)
    assert (code, said[1:]) == (1, [f"not released: the acceptance by {ADA} expired on 2999-12-31"])
    assert said[0].startswith("released")
    assert drift(*signing(keys, BO, "--decision", "reject", "--conditions", "open finding"))[0] == 0
    code, answer = drift(*checking(keys))
    assert code == 1
    assert re.fullmatch(rf"not released: {BO} rejected this run on \S+ \(open finding\)\n", answer)


@needs_keygen
def test_verify_names_a_verdict_that_is_not_pass(drift: Command, keys: Path) -> None:
    """An UNSETTLED run that somebody accepted for a time is released, and its verdict is beside the word."""
    drift(*signing(keys, ADA, *LIMITED))
    code, said = drift(*checking(keys))
    assert code == 0
    assert said.startswith("released although the verdict is UNSETTLED: accept until 2999-12-31 (pilot ward only)")


@needs_keygen
def test_second_decision_says_which_it_replaces(drift: Command, keys: Path) -> None:
    """A refused attempt says nothing of the kind and leaves the earlier decision in force."""
    assert "replaces" not in drift(*signing(keys, ADA, *LIMITED))[1]
    code, said = drift(*signing(keys, DEV, *LIMITED))
    assert (code, "replaces" in said) == (4, False)
    assert drift(*checking(keys))[0] == 0
    said = drift(*signing(keys, BO, "--decision", "reject", "--conditions", "open finding"))[1]
    line = rf"this replaces the decision of {ADA} on \S+: accept until 2999-12-31 \(pilot ward only\)"
    assert re.fullmatch(line, said.splitlines()[1])


@needs_keygen
def test_only_the_people_named_sign_and_no_developer(drift: Command, keys: Path) -> None:
    """Another's name, a stranger's key, a developer, and a developer's key under a second name: nothing is written."""
    two_names = (keys / "allowed").read_text(encoding="utf-8").replace(f"{DEV} names", f"{DEV},carl@x names")
    (keys / "two_names").write_text(two_names, encoding="utf-8")
    attempts = {
        signing(keys, ADA, *LIMITED, signer=BO): "the signature is not one of bo@clinic.example",
        signing(keys, DEV, *LIMITED): "is a developer of the model",
        (*signing(keys, DEV, *LIMITED, signer="carl@x"), "--allowed-signers", keys / "two_names"): "is a developer",
    }
    for words, why in attempts.items():
        code, said = drift(*words)
        assert code == 4
        assert why in said
        assert not list(results_of(Path()).glob("release.json*"))


@needs_keygen
@pytest.mark.parametrize("name", [DEV, DEV.upper()])
def test_developer_may_not_review_either(drift: Command, keys: Path, name: str) -> None:
    """A dismissal by somebody whom the allowed-signers file calls a developer voids the release, however spelt."""
    folder = results_of(Path())
    record = json.loads((folder / "study_c_results.json").read_text(encoding="utf-8"))
    [alarm] = [a for case in record["cases"] for r in case["repeats"] for a in r["alarms"] if a["severe"]]
    answer = {"question": alarm["question"], "answer": "retained", "manifest": manifest_of(folder)}
    Path("reviews.jsonl").write_text(chained(answer, reviewer=name), encoding="utf-8")
    drift("verdict", folder, "--reviews", "reviews.jsonl")
    words = list(signing(keys, ADA, *LIMITED))
    words[1] = folder / "reviewed"
    code, said = drift(*words)
    assert code == 4
    assert "a developer of the model has settled alarms of this run" in said


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--decision", "accept"), "the verdict is UNSETTLED; reject it, or use accept-until"),
        (("--decision", "accept-until", "--until", "2999-01-01"), "the verdict is UNSETTLED"),
        (("--decision", "accept-until"), "accept-until needs --until"),
        (("--decision", "accept", "--until", "2999-01-01"), "--until belongs to"),
        (("--decision", "reject", "--until", "2999-01-01"), "--until belongs to"),
        (("--decision", "accept-until", "--until", "soon"), "--until soon: not a day"),
        (("--decision", "accept-until", "--until", "2020-01-31", "--conditions", "x"), "the day is past"),
        (LIMITED, "not a file"),
    ],
)
def test_bad_decisions_are_one_sentence(drift: Command, options: tuple[str, ...], why: str) -> None:
    """Exit code 4; nothing is written."""
    code, said = drift("sign", results_of(Path()), "--key", "none", "--as", ADA, *options)
    assert (code, said.count("\n")) == (4, 1)
    assert why in said
    assert not list(results_of(Path()).glob("release.json*"))


@pytest.mark.parametrize("verdict", ["PARTIAL", "INCOMPLETE"])
def test_a_run_of_a_part_cannot_be_accepted(drift: Command, keys: Path, verdict: str) -> None:
    """Not with any conditions."""
    if verdict == "INCOMPLETE":
        Path("recorded/anna.jsonl").unlink()
    assert run(Path(), *(("-k", "anna") if verdict == "PARTIAL" else ()), "--drift-results", "part")[0] in (6, 7)
    (file,) = Path("part").glob("*/runs/*/study_c_results.json")
    words = list(signing(keys, ADA, *LIMITED))
    words[1] = file.parent
    code, said = drift(*words)
    assert (code, said.count("\n")) == (4, 1)
    assert f"the verdict is {verdict}: nothing to accept" in said


def test_verify_says_what_is_missing(drift: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """No list of signers, no signature, no ssh-keygen: exit code 4 each."""
    assert "--allowed-signers FILE" in drift("verify", results_of(Path()))[1]
    Path("allowed").touch()
    code, said = drift("verify", results_of(Path()), "--allowed-signers", "allowed")
    assert code == 4
    assert "nobody has signed this run" in said
    Path("key").touch()
    monkeypatch.setattr(ssh_signatures, "has_keygen", lambda: False)
    code, said = drift("sign", results_of(Path()), "--key", "key", "--as", ADA, *LIMITED)
    assert code == 4
    assert "ssh-keygen is not installed" in said


@needs_keygen
def test_verify_refuses_an_unreadable_sheet_of_the_project(drift: Command, keys: Path) -> None:
    assert drift(*signing(keys, ADA, *LIMITED))[0] == 0
    Path("dossier.yaml").write_text("hazards: [HZ-1\n", encoding="utf-8")
    code, said = drift(*checking(keys))
    assert code == 4
    assert "dossier.yaml, line 2: not valid YAML" in said


@needs_keygen
def test_next_run_is_compared_with_the_last_signed_release(drift: Command, keys: Path) -> None:
    """The page names who signed, checks the signature and lists what changed: the replies, and nothing else."""
    drift(*signing(keys, ADA, *LIMITED))
    Path("dossier.yaml").write_text(f"allowed_signers: {keys / 'allowed'}\n", encoding="utf-8")
    told = Path("recorded/anna.jsonl")
    told.write_text(told.read_text(encoding="utf-8").replace("with food", "at noon"), encoding="utf-8")
    assert run(Path())[0] == 7
    page = " ".join((results_of(Path()) / "report.html").read_text(encoding="utf-8").split())
    assert f"by {ADA}, accept until 2999-12-31, verdict UNSETTLED; signature valid. 1 change since." in page
    assert re.search(r"<th scope=\"row\">Revision</th>.*?<strong>changed</strong>, was", page)
    assert page.count("<strong>changed</strong>") == 1
    assert not (results_of(Path()) / "release.json").exists()
    [old] = results_of(Path()).glob("runs/*/release.json")
    assert drift("verify", old.parent, "--allowed-signers", keys / "allowed")[0] == 0
