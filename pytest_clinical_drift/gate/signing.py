"""`clinical-drift sign` and `verify`: a person's decision on a run, signed with an SSH key."""

import datetime
import shutil
import tempfile
from pathlib import Path

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.pytest_reports import Say
from pytest_clinical_drift.judging.rulings import person
from pytest_clinical_drift.report.run_lines import ReleaseStep, release_line
from pytest_clinical_drift.results import releases
from pytest_clinical_drift.results.files import RESULTS_FILE, read_results
from pytest_clinical_drift.results.folders import RUNS
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.results.ssh_signatures import developers_in, is_signed_by, names_of_key, sign_file
from pytest_clinical_drift.verdict.reasons import Verdict


def sign(
    results: Path,
    *,
    key: Path,
    signer: str,
    decision: releases.Decision,
    until: str | None,
    conditions: str,
    allowed_signers: Path | None,
    say: Say,
) -> int:
    """Sign a decision on a run; where the signature would not count, nothing is written and an earlier one stays."""
    result, sha256 = read_results(results), releases.record_hash(results)
    try:
        expires = datetime.date.fromisoformat(until) if until else None
    except ValueError:
        raise InputError(f"--until {until}: not a day; write YYYY-MM-DD") from None
    _check_decision(result, decision, expires, conditions)
    sheet = releases.read_sheet(Path.cwd())
    release = releases.Release(
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
    )
    allowed = allowed_signers or sheet.allowed_signers
    lines = [release_line(ReleaseStep.SIGNED, release, results)]
    if (results / releases.RELEASE_FILE).is_file():
        try:
            earlier = releases.read_release(results / releases.RELEASE_FILE)
            lines.append(release_line(ReleaseStep.REPLACED, earlier, results))
        except InputError:
            lines.append(f"this replaces an earlier {releases.RELEASE_FILE}, which could not be read")
    if allowed is None:
        lines.append(release_line(ReleaseStep.UNCHECKED, release, results))
    # the run's own folder too, where the decision is signed on its copy on top
    copies = [file for file in results.glob(f"{RUNS}/*/{RESULTS_FILE}") if releases.record_hash(file.parent) == sha256]
    with tempfile.TemporaryDirectory() as draft:
        file = releases.write_release(Path(draft), release)
        written = (file, sign_file(file, key))
        if allowed is not None and (fault := _fault(file, release, result, allowed)):
            raise InputError(release_line(ReleaseStep(fault), release, results))
        for place in (results, *(copy.parent for copy in copies)):
            for part in written:
                shutil.copyfile(part, place / part.name)
    for line in (*lines, *(f"written: {results / part.name}" for part in written)):
        say(line)
    return 0


def verify_release(results: Path, allowed: Path | None, say: Say, today: datetime.date) -> int:
    """Whether a run is released: 0 where an accepted decision on this very record is signed and in force, else 1."""
    sheet = releases.read_sheet(Path.cwd())
    allowed = allowed or sheet.allowed_signers
    if allowed is None:
        raise InputError("verify: name the people who may sign with --allowed-signers FILE, or in dossier.yaml")
    if not allowed.is_file():
        raise InputError(f"--allowed-signers {allowed}: not a file")
    file = results / releases.RELEASE_FILE
    if not file.is_file():
        raise InputError(f"{results}: no {releases.RELEASE_FILE}; nobody has signed this run")
    release = releases.read_release(file)
    fault = "changed" if release.record != releases.record_hash(results) else ""
    fault = fault or _fault(file, release, read_results(results), allowed)
    fault = fault or ("expired" if release.expired(today) else "rejected" if release.decision == "reject" else "")
    say(release_line(ReleaseStep(fault or "released"), release, results))
    return 1 if fault else 0


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


def _fault(file: Path, release: releases.Release, result: RunResult, allowed: Path) -> str:
    """Why a signature does not count; empty where it does."""
    if not is_signed_by(file, release.signer, allowed):
        return "unsigned"
    developers = set(map(person, developers_in(allowed)))
    if developers.intersection(map(person, (release.signer, *names_of_key(file, allowed)))):
        return "developer"
    reviewers = {person(name.rpartition(" (")[0]) for name in result.deciders.reviewers}
    return "reviewer" if reviewers & developers else ""
