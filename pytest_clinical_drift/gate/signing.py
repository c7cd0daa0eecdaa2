"""`clinical-drift sign` and `verify`: a person's decision on a run, signed with an SSH key."""

import datetime
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.pytest_reports import Say
from pytest_clinical_drift.gate.record_check import day_of
from pytest_clinical_drift.gate.reviewed import judged_again
from pytest_clinical_drift.judging.opinions import person
from pytest_clinical_drift.report.run_lines import ReleaseStep, release_line
from pytest_clinical_drift.results import releases, signed
from pytest_clinical_drift.results.files import RESULTS_FILE, read_results
from pytest_clinical_drift.results.folders import REVIEWED, RUNS
from pytest_clinical_drift.results.inputs import INPUTS_FILE, manifest_hash, read_inputs
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.results.ssh_signatures import read_signers, sign_file
from pytest_clinical_drift.verdict.reasons import Verdict
from pytest_clinical_drift.versions import PACKAGE, own_version

_MOST_NAMED = 5
"""Files that one sentence names."""


def sign(
    results: Path,
    *,
    key: Path,
    signer: str,
    decision: signed.Decision,
    until: str | None,
    conditions: str,
    allowed_signers: Path | None,
    say: Say,
) -> int:
    """Sign a decision on a run; where the signature would not count, nothing is written and an earlier one stays."""
    result, sha256 = judged_again(results, sentences=True), signed.record_hash(results)
    _check_in_force(results, result)
    if reviews_since(results, result):
        raise InputError(f"sign: {results} has been judged with reviews since; sign {results / REVIEWED}")
    expires = _expiry(until)
    _check_decision(result, decision, expires, conditions)
    sheet = releases.read_sheet(Path.cwd())
    release = signed.Release(
        record=sha256,
        decision=decision,
        conditions=conditions.strip(),
        expires=expires,
        signer=signer,
        signed_at=datetime.datetime.now(datetime.UTC).replace(microsecond=0),
        verdict=result.verdict,
        hazards=tuple(dict.fromkeys((*sheet.hazards, *result.hazards))),
        rereads=releases.rereads_in(result),
        tested=releases.made_of(result.manifest),
        files=signed.files_of(results),
    )
    allowed = allowed_signers or sheet.allowed_signers
    lines = _lines_on(release, results, checked=allowed is not None)
    # the run's own folder too, where the decision is signed on its copy on top
    copies = [file for file in results.glob(f"{RUNS}/*/{RESULTS_FILE}") if signed.record_hash(file.parent) == sha256]
    _check_copies(results, release, [copy.parent for copy in copies])
    with tempfile.TemporaryDirectory() as draft:
        file = signed.write_release(Path(draft), release)
        written = (file, sign_file(file, key))
        if allowed is not None:
            fault = signed.signing_fault(file, release, allowed) or _reviewer_fault(result, allowed)
            if fault:
                raise InputError(release_line(ReleaseStep(fault), release, results))
        for place in (results, *(copy.parent for copy in copies)):
            for part in written:
                shutil.copyfile(part, place / part.name)
    for line in (*lines, *(f"written: {results / part.name}" for part in written)):
        say(line)
    return 0


def _expiry(until: str | None) -> datetime.date | None:
    """The last day of a decision; None where it has none."""
    try:
        return datetime.date.fromisoformat(until) if until else None
    except ValueError:
        raise InputError(f"--until {until}: not a day; write YYYY-MM-DD") from None


def _lines_on(release: signed.Release, results: Path, *, checked: bool) -> list[str]:
    """What to tell of a signature: the decision, an earlier one that it replaces, and who may not have been checked."""
    lines = [release_line(ReleaseStep.SIGNED, release, results)]
    if (results / signed.RELEASE_FILE).is_file():
        try:
            earlier = signed.read_release(results / signed.RELEASE_FILE)
            lines.append(release_line(ReleaseStep.REPLACED, earlier, results))
        except InputError:
            lines.append(f"this replaces an earlier {signed.RELEASE_FILE}, which could not be read")
    if not checked:
        lines.append(release_line(ReleaseStep.UNCHECKED, release, results))
    return lines


def _check_copies(results: Path, release: signed.Release, copies: Sequence[Path]) -> None:
    """InputError where the files of a run's own folder are no longer those of its copy on top."""
    for copy in copies:
        changes = signed.file_changes(signed.files_of(copy), release.files or ())
        if changes:
            why = f"{results} is no longer a copy of {copy}"
            raise InputError(f"sign: {why} ({_named(changes)}); sign the run's own folder")


def verify_release(results: Path, allowed: Path | None, say: Say, today: datetime.date) -> int:
    """Whether a run is released: 0 where an accepted decision on this very record is signed and in force, else 1."""
    sheet = releases.read_sheet(Path.cwd())
    allowed = allowed or sheet.allowed_signers
    if allowed is None:
        raise InputError("verify: name the people who may sign with --allowed-signers FILE, or in dossier.yaml")
    if not allowed.is_file():
        raise InputError(f"--allowed-signers {allowed}: not a file")
    file = results / signed.RELEASE_FILE
    if not file.is_file():
        raise InputError(f"{results}: no {signed.RELEASE_FILE}; nobody has signed this run")
    release = signed.read_release(file)
    fault = signed.signing_fault(file, release, allowed)
    changes = {} if fault else _changes_since(release, results)
    if changes:
        fault = "changed"
    notes: list[str] = []
    if not fault:
        result = read_results(results)
        fault = _reviewer_fault(result, allowed) or ("reviewed" if reviews_since(results, result) else "")
        notes = [] if fault else _check_again(results, release, result)
    fault = fault or _out_of_force(release, today)
    say(release_line(ReleaseStep(fault or "released"), release, results, _named(changes)))
    for note in notes:
        say(note)
    return 1 if fault else 0


def _out_of_force(release: signed.Release, today: datetime.date) -> str:
    if release.expired(today):
        return "expired"
    return "rejected" if release.decision == "reject" else ""


def _changes_since(release: signed.Release, results: Path) -> dict[str, str]:
    """What became of the files that the signature covers."""
    if release.files is not None:
        return signed.file_changes(release.files, signed.files_of(results))
    return {} if release.record == signed.record_hash(results) else {RESULTS_FILE: "replaced"}


def _check_again(results: Path, release: signed.Release, result: RunResult) -> list[str]:
    """Judge a signed run again; what this cannot show is returned, what contradicts it is an InputError."""
    notes = []
    if release.files is None:
        notes.append(
            f"signed by an earlier version: the signature covers {RESULTS_FILE} only, neither report.html nor "
            f"{INPUTS_FILE}, transcripts or reviews"
        )
        if not (results / INPUTS_FILE).is_file():
            return [*notes, f"not judged again: there is no {INPUTS_FILE}"]
    try:
        judged_again(results, sentences=True)
    except InputError:
        written = result.manifest.versions.get(PACKAGE, "an unknown version")
        if written == own_version():
            raise
        notes.append(f"not judged again: the run was judged by version {written}, this is {own_version()}")
    return notes


def reviews_since(results: Path, result: RunResult) -> bool:
    """Whether a folder holds its run once more, judged with reviews; anything unreadable there counts too."""
    if not (results / REVIEWED).exists():
        return False
    try:
        later = read_results(results / REVIEWED)
    except InputError:
        return True
    return manifest_hash(later.manifest) == manifest_hash(result.manifest)


def _check_in_force(results: Path, result: RunResult) -> None:
    day = day_of(read_inputs(results), result)
    if day < datetime.date.today():
        raise InputError(f"sign: the verdict rests on a waiver that expired on {day}; run again")


def _named(changes: Mapping[str, str]) -> str:
    """Such as: report.html was replaced, notes.txt was added."""
    told = [f"{name} {'is' if what == 'missing' else 'was'} {what}" for name, what in changes.items()]
    return ", ".join(told[:_MOST_NAMED]) + (f", and {len(told) - _MOST_NAMED} more" if len(told) > _MOST_NAMED else "")


def _check_decision(result: RunResult, decision: str, expires: datetime.date | None, conditions: str) -> None:
    limited, verdict = decision == "accept-until", result.verdict
    if limited and expires is None:
        raise InputError("sign: accept-until needs --until YYYY-MM-DD")
    if not limited and expires is not None:
        raise InputError("sign: --until belongs to --decision accept-until")
    if expires is not None and expires < datetime.datetime.now(datetime.UTC).date():
        raise InputError(f"--until {expires}: the day is past; the acceptance would not count")
    if decision == "reject":
        return
    if result.deciders.control:
        raise InputError("sign: an instrument check is not a model to release")
    if verdict in (Verdict.PARTIAL, Verdict.INCOMPLETE):
        raise InputError(f"sign: the verdict is {verdict}: nothing to accept until all cases are run and read")
    if verdict not in (Verdict.PASS, Verdict.CAUTION) and not (limited and conditions.strip()):
        raise InputError(
            f"sign: the verdict is {verdict}; reject it, or use accept-until with --until and --conditions"
        )


def _reviewer_fault(result: RunResult, allowed: Path) -> str:
    reviewers = {person(name.rpartition(" (")[0]) for name in result.deciders.reviewers}
    return "reviewer" if reviewers & read_signers(allowed).developers else ""
