"""A PASS follows from what is there: records that were edited by hand are refused by every command that rests on them.

The commands run within this process, where each starts seconds sooner; one attack of each kind in a process of its own.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reviewing import DENIAL, KEPT, UNCLEAR, alarms_of, chained, lay_out, manifest_of, results_of, run

from pytest_clinical_drift.cli import main

RESULTS, INPUTS = "study_c_results.json", "run.json"
ADA, BO, DEV = "ada@clinic.example", "bo@clinic.example", "dev@clinic.example"
UNTIL = ("--decision", "accept-until", "--until", "2999-12-31", "--conditions", "pilot ward only")
needs_keygen = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen (openssh-client)")
Change = Callable[[dict[str, Any]], object]


def drift(place: Path, *words: object) -> tuple[int, str]:
    """`clinical-drift` in a folder: exit code and what it said."""
    said = io.StringIO()
    with contextlib.chdir(place), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = main([str(word) for word in words])
    return code, said.getvalue()


def drift_apart(place: Path, *words: object) -> tuple[int, str]:
    """The same in a process of its own."""
    code = "import sys; from pytest_clinical_drift.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, *map(str, words)]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout + done.stderr


def edit(file: Path, change: Change) -> None:
    content = json.loads(file.read_text(encoding="utf-8"))
    change(content)
    file.write_text(json.dumps(content), encoding="utf-8")


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two projects: in `bad` the deadly allergy is denied (FAIL); in `open` nobody knows whether (UNSETTLED)."""
    place = tmp_path_factory.mktemp("ended")
    for name, last, expected in (("bad", DENIAL, 1), ("open", UNCLEAR, 7)):
        (place / name).mkdir()
        lay_out(place / name, {"anna": (KEPT, last, last), "bela": (KEPT, KEPT, KEPT)})
        code, said = run(place / name)
        assert code == expected, said
    return place


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Throw-away keys; the allowed-signers file names Ada and Bo, and a developer."""
    folder = tmp_path_factory.mktemp("keys")
    lines = [f"# developers: {DEV}"]
    for name in (ADA, BO, DEV):
        file = folder / name
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(file)], check=True)
        lines.append(f"{name} {(folder / f'{name}.pub').read_text(encoding='utf-8').strip()}")
    (folder / "allowed").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def bad(ended: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ended / "bad", tmp_path / "bad"))


@pytest.fixture
def unsettled(ended: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ended / "open", tmp_path / "open"))


def records(place: Path) -> list[Path]:
    """The results file on top and that of the run's own folder."""
    return [results_of(place) / RESULTS, *results_of(place).glob(f"runs/*/{RESULTS}")]


def sign(place: Path, keys: Path, *decision: str, who: str = ADA, folder: str = "") -> tuple[int, str]:
    words = ("--key", keys / who, "--as", who, "--allowed-signers", keys / "allowed", *(decision or UNTIL))
    return drift(place, "sign", results_of(Path()) / folder, *words)


def verify(place: Path, keys: Path, folder: str = "") -> tuple[int, str]:
    return drift(place, "verify", results_of(Path()) / folder, "--allowed-signers", keys / "allowed")


def sign_by_hand(folder: Path, key: Path, **changed: Any) -> None:
    """Sign a release that `sign` would not have written."""
    file = folder / "release.json"
    edit(file, lambda release: release.update(changed))
    (folder / "release.json.sig").unlink()
    options = ("-Y", "sign", "-f", str(key), "-n", "clinical-drift", str(file))
    subprocess.run(["ssh-keygen", *options], check=True, capture_output=True)


@needs_keygen
def test_edits_in_processes_of_their_own(bad: Path, keys: Path, tmp_path: Path) -> None:
    """The commands as a pipeline calls them: an edited verdict, a replaced page, an edited baseline, a link."""
    place = results_of(Path())
    who = ("--key", keys / ADA, "--as", ADA, "--allowed-signers", keys / "allowed")
    assert drift_apart(bad, "sign", place, *who, *UNTIL)[0] == 0
    (results_of(bad) / "report.html").write_text("PASS", encoding="utf-8")
    code, said = drift_apart(bad, "verify", place, "--allowed-signers", keys / "allowed")
    assert (code, "report.html was replaced" in said) == (1, True), said
    old = Path(shutil.copytree(results_of(bad), tmp_path / "old"))
    for file in records(bad):
        edit(file, to_pass)
    for words in (("sign", place, *who, "--decision", "accept"), ("compare", old, place)):
        code, said = drift_apart(bad, *words)
        assert (code, said.count("\n")) == (4, 1), said
        assert f"{place}/{RESULTS}: verdict is 'PASS', but judged again" in said
    (old / "transcripts" / "secret").symlink_to(keys / ADA)
    code, said = drift_apart(bad, "merge", old, "--out", "merged")
    assert (code, "transcripts/secret: a symbolic link" in said) == (4, True), said


def to_pass(record: dict[str, Any]) -> None:
    record["verdict"] = "PASS"


def case_to_pass(record: dict[str, Any]) -> None:
    record["cases"][0]["verdict"] = "PASS"


def better_figure(record: dict[str, Any]) -> None:
    record["entity_recall_at_t10"] = 1.0


def no_alarms(record: dict[str, Any]) -> None:
    record["cases"][0]["repeats"][0].update(alarms=[], events=[])


def kinder_headline(record: dict[str, Any]) -> None:
    record["headline"] = "PASS"


EDITS = [
    (to_pass, "verdict is 'PASS', but judged again from run.json, log and transcripts it is 'FAIL'"),
    (case_to_pass, "cases.anna.verdict is 'PASS', but judged again from run.json, log and transcripts it is 'FAIL'"),
    (better_figure, "entity_recall_at_t10 is 1.0, but judged again"),
    (no_alarms, "the scores of anna do not follow from its transcript and log.jsonl (alarms differ"),
]


@needs_keygen
@pytest.mark.parametrize(("change", "why"), [*EDITS, (kinder_headline, "headline is 'PASS', but judged again")])
def test_an_edited_record_is_not_signed(bad: Path, keys: Path, change: Change, why: str) -> None:
    """Exit code 4 with file and what differs; nothing is written, whatever is decided."""
    for file in records(bad):
        edit(file, change)
    for decision in (("--decision", "accept"), UNTIL, ("--decision", "reject")):
        code, said = sign(bad, keys, *decision)
        assert (code, said.count("\n")) == (4, 1), said
        assert said.startswith(f"clinical-drift: {results_of(Path())}/{RESULTS}: ")
        assert why in said
    assert not list(bad.rglob("release.json*"))


@needs_keygen
def test_an_edited_record_is_not_verified(bad: Path, keys: Path) -> None:
    """Signed by hand over the edited file and all others, so that every hash and the signature fit."""
    assert sign(bad, keys)[0] == 0
    assert verify(bad, keys)[0] == 0
    place = results_of(bad)
    edit(place / RESULTS, to_pass)
    content = (place / RESULTS).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    files = json.loads((place / "release.json").read_text(encoding="utf-8"))["files"]
    (own,) = (entry for entry in files if entry["name"] == RESULTS)
    own.update(size=len(content), sha256=digest)
    sign_by_hand(place, keys / ADA, record=digest, verdict="PASS", decision="accept", expires=None, files=files)
    code, said = verify(bad, keys)
    assert (code, "verdict is 'PASS', but judged again" in said) == (4, True), said


@needs_keygen
def test_the_signature_covers_every_file(unsettled: Path, keys: Path) -> None:
    """Replaced, missing and added files are named; put back, the release holds again."""
    code, said = sign(unsettled, keys)
    assert code == 0, said
    place = results_of(unsettled)
    known = {entry["name"] for entry in json.loads((place / "release.json").read_text(encoding="utf-8"))["files"]}
    assert known == {RESULTS, INPUTS, "log.jsonl", "report.html", "transcripts/anna.jsonl", "transcripts/bela.jsonl"}
    for name in sorted(known):
        before = (place / name).read_bytes()
        (place / name).write_bytes(before.replace(b"a", b"b", 1) or b"b")
        code, said = verify(unsettled, keys)
        assert (code, said.count("\n")) == (1, 1), (name, said)
        assert f"was changed after {ADA} signed it: {name} was replaced; it has to be signed again" in said
        (place / name).unlink()
        assert f": {name} is missing; it has" in verify(unsettled, keys)[1]
        (place / name).write_bytes(before)
    (place / "transcripts" / "carl.jsonl").write_text("{}\n", encoding="utf-8")
    code, said = verify(unsettled, keys)
    assert (code, ": transcripts/carl.jsonl was added; it has" in said) == (1, True)
    (place / "transcripts" / "carl.jsonl").unlink()
    (place / "report.html").rename(unsettled / "report.html")
    (place / "report.html").symlink_to(unsettled / "report.html")
    code, said = verify(unsettled, keys)
    assert (code, "report.html: a symbolic link; a run consists of regular files only" in said) == (4, True)
    (place / "report.html").unlink()
    (unsettled / "report.html").rename(place / "report.html")
    assert verify(unsettled, keys)[0] == 0


@needs_keygen
def test_a_page_to_review_may_be_written_after_signing(unsettled: Path, keys: Path) -> None:
    """It is still to be filled in, and no part of the run."""
    assert sign(unsettled, keys)[0] == 0
    code, said = drift(unsettled, "review", results_of(Path()))
    assert (code, (results_of(unsettled) / "review.html").is_file()) == (0, True), said
    assert verify(unsettled, keys)[0] == 0


def reviewed(place: Path, answer: str = "retained") -> tuple[int, str]:
    """Somebody dismisses the open severe alarm, or upholds it."""
    folder = results_of(place)
    questions = {alarm["question"] for alarm in alarms_of(folder) if alarm["state"] == "open"}
    answers = [{"question": question, "answer": answer} for question in sorted(questions)]
    (place / "said.jsonl").write_text(chained(*answers, manifest=manifest_of(folder)), encoding="utf-8")
    return drift(place, "verdict", results_of(Path()), "--reviews", "said.jsonl")


@needs_keygen
def test_reviews_that_come_later_are_signed_anew(unsettled: Path, keys: Path) -> None:
    """The old decision no longer releases; the run with its reviews is signed and verified as one."""
    assert sign(unsettled, keys)[0] == 0
    code, said = reviewed(unsettled)
    assert code in (0, 7), said
    code, said = verify(unsettled, keys)
    assert (code, said.count("\n")) == (1, 1)
    assert "not released: reviews were added after ada@clinic.example signed" in said
    assert "the release has to be signed again" in said
    code, said = sign(unsettled, keys)
    assert (code, "has been judged with reviews since; sign" in said) == (4, True)
    assert sign(unsettled, keys, folder="reviewed")[0] == 0
    code, said = verify(unsettled, keys, folder="reviewed")
    assert code == 0, said


@pytest.mark.parametrize("answer", ["retained", "absent"])
def test_a_reviewed_run_judged_again_ends_as_it_did(unsettled: Path, answer: str) -> None:
    """A FAIL by people is one when it is looked at again; without its results file the reviews are not dropped."""
    code, said = reviewed(unsettled, answer)
    place = results_of(unsettled) / "reviewed"
    verdict = json.loads((place / RESULTS).read_text(encoding="utf-8"))["verdict"]
    assert (verdict == "FAIL", code == 1) == (answer == "absent", answer == "absent"), said
    again, said = drift(unsettled, "verdict", place)
    assert again == code, said
    (place / RESULTS).unlink()
    refused, said = drift(unsettled, "verdict", place)
    assert (refused, "the results file of a run with reviews is gone" in said) == (4, True), said


@needs_keygen
def test_a_reviewed_record_follows_from_its_reviews(unsettled: Path, keys: Path) -> None:
    """An edited verdict, an edited count of people and reviews of nobody are refused; so is what has no evidence."""
    reviewed(unsettled)
    place = results_of(unsettled) / "reviewed"
    before = (place / RESULTS).read_text(encoding="utf-8")
    now = json.loads(before)["verdict"]
    for change, why in (
        (lambda record: record.update(verdict="FAIL"), f"verdict is 'FAIL', but judged again from {INPUTS}"),
        (lambda record: record["reviewed"].update(dismissed=9), "reviewed.dismissed is 9, but judged again"),
        (lambda record: record["reviewed"].update({"from": "PASS"}), "reviewed.from is 'PASS', but judged again"),
    ):
        edit(place / RESULTS, change)
        code, said = sign(unsettled, keys, folder="reviewed")
        assert (code, why in said) == (4, True), said
        (place / RESULTS).write_text(before, encoding="utf-8")
    assert now != "FAIL"
    shutil.rmtree(place / "reviews")
    code, said = sign(unsettled, keys, folder="reviewed")
    assert (code, "the reviews of this run are missing" in said) == (4, True)
    (place / INPUTS).unlink()
    code, said = sign(unsettled, keys, folder="reviewed")
    assert (code, f"{INPUTS}: cannot be read" in said) == (4, True)


@needs_keygen
def test_releases_of_earlier_versions_say_what_they_do_not_cover(unsettled: Path, keys: Path) -> None:
    """Signature and hash of the results file count; what was not covered is said; the record still follows."""
    assert sign(unsettled, keys)[0] == 0
    place = results_of(unsettled)
    sign_by_hand(place, keys / ADA, files=None)
    (place / "report.html").write_text("another page", encoding="utf-8")
    code, said = verify(unsettled, keys)
    assert (code, said.count("\n")) == (0, 2)
    assert "the signature covers study_c_results.json only, neither report.html nor run.json" in said
    (place / INPUTS).unlink()
    code, said = verify(unsettled, keys)
    assert (code, "not judged again: there is no run.json" in said) == (0, True)
    edit(place / RESULTS, to_pass)
    assert verify(unsettled, keys)[0] == 1


@needs_keygen
def test_a_run_that_did_not_end_follows_too(tmp_path: Path, keys: Path) -> None:
    """Only the run knows why it stopped; what was found before cannot be taken out, and it is signed with reviews."""
    place = tmp_path / "stopped"
    place.mkdir()
    lay_out(place, {"anna": (KEPT, UNCLEAR, KEPT), "bela": (KEPT, KEPT, KEPT)})
    file = place / "recorded" / "anna.jsonl"
    *rows, last = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join((*rows, json.dumps({**json.loads(last), "status": "error"}))), encoding="utf-8")
    assert run(place)[0] == 6
    reject = ("--decision", "reject", "--conditions", "stopped")
    assert sign(place, keys, *reject)[0] == 0
    code, said = reviewed(place)
    assert code == 6, said
    assert sign(place, keys, *reject, folder="reviewed")[0] == 0
    shutil.rmtree(results_of(place) / "reviewed")
    for known in records(place):
        edit(known, no_alarms)
    code, said = sign(place, keys, *reject)
    assert (code, "log.jsonl (alarms differ" in said) == (4, True), said


# -- comparisons, baselines, shards


@pytest.mark.parametrize(("change", "why"), EDITS)
def test_an_edited_record_is_no_baseline(bad: Path, tmp_path: Path, change: Change, why: str) -> None:
    """Neither `compare` nor `--drift-baseline` takes it; the untouched one is taken."""
    old = Path(shutil.copytree(results_of(bad), tmp_path / "old"))
    assert drift(bad, "compare", old, results_of(Path()))[0] == 0
    options = ("--drift-baseline", str(old), "--drift-results", "new")
    assert run(bad, *options)[0] == 1
    edit(old / RESULTS, change)
    code, said = drift(bad, "compare", old, results_of(Path()))
    assert (code, why in said, said.count("\n")) == (4, True, 1), said
    code, said = run(bad, *options)
    assert (code, why in said) == (4, True), said
    assert f"--drift-baseline {old}/{RESULTS}: " in said


def test_a_lone_results_file_is_no_baseline(bad: Path, tmp_path: Path) -> None:
    """Nothing shows what it follows from."""
    lone = Path(shutil.copy(results_of(bad) / RESULTS, tmp_path / "old.json"))
    for code, said in (
        drift(bad, "compare", results_of(Path()), lone),
        run(bad, "--drift-baseline", str(lone)),
    ):
        assert (code, f"{lone}: run.json and transcripts are not beside it" in said) == (4, True), said


@needs_keygen
def test_a_screening_is_refused(bad: Path, keys: Path, tmp_path: Path) -> None:
    """Wherever a release or a baseline is named."""
    old = Path(shutil.copytree(results_of(bad), tmp_path / "old"))
    for file in (*records(bad), old / RESULTS):
        edit(file, lambda record: record.update(verdict="SCREENED"))
    for code, said in (
        sign(bad, keys),
        drift(bad, "compare", old, results_of(Path())),
        run(bad, "--drift-baseline", str(old)),
        drift(bad, "review", results_of(Path())),
    ):
        assert code == 4
        assert "SCREENED is a screening: no verdict on a release, and no baseline" in said


@pytest.fixture
def shard(ended: Path, tmp_path: Path) -> Path:
    """A project with one shard of one in `part`."""
    place = Path(shutil.copytree(ended / "bad", tmp_path / "sharded"))
    code, said = run(place, "--drift-shard", "1/1", "--drift-results", "parts")
    assert code == 1, said
    (file,) = place.glob(f"parts/*/runs/*/{RESULTS}")
    file.parent.rename(place / "part")
    return place


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (to_pass, "verdict is 'PASS', but judged again from run.json, log and transcripts it is 'PARTIAL'"),
        *EDITS[1:],
    ],
)
def test_an_edited_shard_is_not_merged(shard: Path, change: Change, why: str) -> None:
    """Also where the merge would have computed the figure itself."""
    edit(shard / "part" / RESULTS, change)
    code, said = drift(shard, "merge", "part", "--out", "merged")
    assert (code, why in said, said.count("\n")) == (4, True, 1), said
    assert not (shard / "merged").exists()


@pytest.mark.parametrize("name", ["transcripts/anna.jsonl", "transcripts/secret.txt", "report.html", INPUTS])
def test_a_shard_consists_of_regular_files(shard: Path, tmp_path: Path, name: str) -> None:
    """What a symbolic link leads to is neither read nor copied."""
    secret = tmp_path / "secret"
    file = shard / "part" / name
    if file.exists():
        file.rename(secret)
    else:
        secret.write_text("password", encoding="utf-8")
    file.symlink_to(secret)
    code, said = drift(shard, "merge", "part", "--out", "merged")
    assert (code, f"part/{name}: a symbolic link; a run consists of regular files only" in said) == (4, True), said
    assert not (shard / "merged").exists()


def test_the_day_in_a_run_json_revives_no_waiver(bad: Path) -> None:
    """Waivers are held against the calendar, not against what the file says about the day."""
    thresholds = bad / "thresholds.yaml"
    waiver = "{case: anna, reason: accepted, signed_by: Ada, expires: 2020-01-31}"
    thresholds.write_text(thresholds.read_text(encoding="utf-8") + f"  waivers: [{waiver}]\n", encoding="utf-8")
    code, said = run(bad, "--drift-shard", "1/1", "--drift-results", "parts")
    assert code == 1, said
    (file,) = bad.glob(f"parts/*/runs/*/{INPUTS}")
    edit(file, lambda inputs: inputs.update(today="2020-01-01"))
    code, said = drift(bad, "merge", file.parent, "--out", "merged")
    assert code == 1, said
    record = json.loads((bad / "merged" / RESULTS).read_text(encoding="utf-8"))
    assert (record["verdict"], record["waivers"]) == ("FAIL", [])


# -- who may sign, and which releases count


@needs_keygen
def test_one_key_under_two_names_is_one_person(unsettled: Path, keys: Path) -> None:
    """A developer's key on a second line under another name signs nothing, whatever line comes first."""
    allowed = (keys / "allowed").read_text(encoding="utf-8").splitlines()
    second = next(line for line in allowed if line.startswith(DEV)).replace(DEV, "carl@clinic.example", 1)
    for lines in ([second, *allowed], [*allowed, second]):
        (unsettled / "allowed").write_text("\n".join(lines) + "\n", encoding="utf-8")
        words = ("--key", keys / DEV, "--as", "carl@clinic.example", "--allowed-signers", "allowed", *UNTIL)
        code, said = drift(unsettled, "sign", results_of(Path()), *words)
        assert (code, "carl@clinic.example is a developer of the model" in said) == (4, True), said
        assert not list(unsettled.rglob("release.json*"))


@needs_keygen
@pytest.mark.parametrize(
    ("line", "why"),
    [
        (f"# developers: {DEV} {BO}", "write '# developers: NAME, NAME' with a comma between names"),
        (f"# developer {DEV}", "write '# developers: NAME, NAME' with a comma between names"),
        ("*@clinic.example ssh-ed25519 AAAA", "'*@clinic.example' is not the name of one person"),
        (f"{BO} cert-authority ssh-ed25519 AAAA", "list the key of each person"),
        (f"{BO} ssh-ed25519", "not a line of an allowed-signers file"),
        (f"{BO} ssh-ed25519 AAAAB", "the public key cannot be read"),
    ],
)
def test_allowed_signers_are_read_strictly(unsettled: Path, keys: Path, line: str, why: str) -> None:
    """Exit code 4 with file and line, in `sign`, `verify` and before a run that names the file."""
    allowed = unsettled / "allowed"
    allowed.write_text((keys / "allowed").read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    (unsettled / "dossier.yaml").write_text("allowed_signers: allowed\n", encoding="utf-8")
    words = ("--key", keys / ADA, "--as", ADA, *UNTIL)
    for code, said in (drift(unsettled, "sign", results_of(Path()), *words), run(unsettled)):
        assert code == 4, said
        assert "allowed:5: " in said
        assert why in said


def fake_release(place: Path, **changed: Any) -> None:
    """A release that nobody has signed, with the judge of the next run and many rereads."""
    tested = {"judge": "rules", "judge prompts": "none"}
    release = {
        "schema_version": 4, "record": "f" * 64, "decision": "accept", "signer": ADA, "verdict": "PASS",
        "signed_at": "2098-01-01T00:00:00Z", "rereads": [100_000, 0], "tested": tested, **changed,
    }  # fmt: skip
    folder = place / "results" / "fake"
    folder.mkdir()
    (folder / "release.json").write_text(json.dumps(release), encoding="utf-8")


@needs_keygen
@pytest.mark.parametrize("named", [True, False])
def test_a_release_that_nobody_signed_does_not_move_the_page(unsettled: Path, keys: Path, named: bool) -> None:
    """Neither its rereads nor its date count, with or without known signers; the page says that it was ignored."""
    assert sign(unsettled, keys)[0] == 0
    fake_release(unsettled)
    if named:
        shutil.copy(keys / "allowed", unsettled / "allowed")
        (unsettled / "dossier.yaml").write_text("allowed_signers: allowed\n", encoding="utf-8")
    told = unsettled / "recorded" / "anna.jsonl"
    told.write_text(told.read_text(encoding="utf-8").replace("with food", "at noon"), encoding="utf-8")
    assert run(unsettled)[0] == 7
    page = " ".join((results_of(unsettled) / "report.html").read_text(encoding="utf-8").split())
    assert "read again by people" not in page
    assert "2098-01-01" not in page
    if named:
        assert f"by {ADA}, accept until 2999-12-31, verdict UNSETTLED; signature valid." in page
        assert "1 release file ignored: no signature of an allowed signer could be verified." in page
    else:
        assert "No earlier signed release is known." in page
        assert "2 release files ignored: dossier.yaml names no allowed_signers" in page


@needs_keygen
def test_a_signed_release_of_somebody_else_counts_for_nothing(unsettled: Path, keys: Path) -> None:
    """A stranger's key, and a developer's."""
    (unsettled / "dossier.yaml").write_text("allowed_signers: allowed\n", encoding="utf-8")
    lines = (keys / "allowed").read_text(encoding="utf-8").splitlines()
    (unsettled / "allowed").write_text("\n".join(line for line in lines if BO not in line), encoding="utf-8")
    for who in (BO, DEV):
        fake_release(unsettled, signer=who)
        folder = unsettled / "results" / "fake"
        (folder / "release.json.sig").touch()
        sign_by_hand(folder, keys / who)
        assert run(unsettled)[0] == 7
        page = (results_of(unsettled) / "report.html").read_text(encoding="utf-8")
        assert "1 release file ignored" in page
        assert "No earlier signed release is known." in page
        shutil.rmtree(folder)
