"""How good the judge is: from a valid file of the project, or measured on labelled texts now."""

import datetime
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.calibration_file import (
    Calibration,
    attempt_of,
    file_name,
    find_calibration,
    fingerprint,
    invalid_because,
    pooled,
    read_calibration,
    why_none_counts,
    write_calibration,
)
from pytest_clinical_drift.judging.judge_options import JudgeOptions, JudgePolicy
from pytest_clinical_drift.judging.labelled import Labelled, labels_hash, load_calibration_set
from pytest_clinical_drift.judging.measuring import measure, requests_for, untested
from pytest_clinical_drift.judging.procedure import Judges
from pytest_clinical_drift.judging.prompts import prompt_hash, prompt_version
from pytest_clinical_drift.judging.protocol import Judge
from pytest_clinical_drift.judging.queue import Count, JudgeQueue
from pytest_clinical_drift.subjects.base import Identity

CALIBRATIONS = "calibration"
"""Folder of a project in which calibration files are looked for."""
_TELL_EVERY = 15.0
_SILENT = 0.02
"""Share of requests without any answer above which a judge was away, and is not called a bad one."""
_REQUEST_TOKENS = (2_300, 130)
"""Of prompt and answer, as on the bundled texts."""
Say = Callable[[str], object]


def known_calibration(
    identities: Sequence[Identity], root: Path, today: datetime.date, options: JudgeOptions
) -> Calibration | None:
    """The valid calibration that the project has; InputError where it names one that is not valid."""
    named = options.calibration
    if named is None:
        return find_calibration(root / CALIBRATIONS, identities, today)
    calibration = read_calibration(named)
    why = invalid_because(calibration, identities, today)
    if why:
        raise InputError(f"--drift-judge-set calibration={named}: {why}; see clinical-drift calibrate")
    return calibration


def calibration_of(  # noqa: PLR0913  # the judges, and each condition of a run by name
    judges: Sequence[Judge],
    procedure: Judges,
    *,
    root: Path,
    today: datetime.date,
    options: JudgeOptions,
    rules: JudgePolicy,
    say: Say | None,
) -> tuple[Calibration, str]:
    """The valid calibration that the project has, or one made now, which is kept; then also where it is.

    InputError where the project names one that is not valid, or none may be made.
    """
    identities = [judge.identity() for judge in judges]
    folder = root / CALIBRATIONS
    known = known_calibration(identities, root, today, options)
    if known is not None:
        return known, ""
    other = why_none_counts(folder, " + ".join(judge.name for judge in judges), identities, today)
    why = _why_none_may_be_made(options, rules)
    if why:
        raise InputError(
            f"--drift-judge {procedure.reader}: no valid calibration was found in {folder}{other}, and {why}; make one "
            "with clinical-drift calibrate"
        )
    labelled = load_calibration_set(options.calibration_set)
    if say is not None:
        say(f"no valid calibration of {procedure.reader} was found{other}: {cost_line(labelled, procedure)}")
    made = make_calibration(judges, procedure, labelled, today=today, rules=rules, say=say)
    attempt = made.attempts[-1]
    name = f"{CALIBRATIONS}/{file_name(made.judge, identities)}"
    made = made.after(find_calibration(folder, identities))  # what is there by now
    tokens = ", {:,} prompt and {:,} answer tokens".format(*attempt.tokens) if attempt.tokens else ""
    cost = f"the judge was calibrated in {attempt.requests:,} requests{tokens}"
    try:
        write_calibration(made, root / name)
    except OSError as error:
        why = error.strerror or type(error).__name__
        return made, f"{cost}; {name} could not be written ({why}), so the next run calibrates again"
    return made, f"{cost}; written: {name} (commit it: the next run uses it)"


def _why_none_may_be_made(options: JudgeOptions, rules: JudgePolicy) -> str:
    """Why a run makes no calibration; empty where it may."""
    if options.offline:
        return "offline=true sends no requests"
    return "" if rules.calibrate else "`calibrate: never` or --drift-shard forbids making one"


def cost_line(labelled: Sequence[Labelled], procedure: Judges) -> str:
    """What a calibration will cost, before anything is sent."""
    agreed = [row for row in labelled if not row.disputed]
    patients = len({row.patient for row in labelled})
    few, many = requests_for(agreed, procedure)
    prompt, answer = (_in_words(few * tokens, many * tokens) for tokens in _REQUEST_TOKENS)
    return (
        f"it reads {len(agreed):,} labelled texts of {patients} patients first: about {few:,} "
        f"requests with a good judge, up to {many:,} with a weak one, {prompt} prompt and {answer} answer tokens; "
        "fewer where it cannot reach a floor"
    )


def _in_words(few: int, many: int) -> str:
    """A range of tokens: "39 to 301 thousand", "6.9 million"."""
    size, name = (1_000_000, "million") if many >= 1_000_000 else (1_000, "thousand")
    shown = [f"{count / size:.0f}" if count >= 10 * size else f"{count / size:.2g}" for count in (few, many)]
    return f"{' to '.join(dict.fromkeys(shown))} {name}"


def make_calibration(
    judges: Sequence[Judge],
    procedure: Judges,
    labelled: Sequence[Labelled],
    *,
    today: datetime.date,
    rules: JudgePolicy,
    say: Say | None = None,
) -> Calibration:
    """Measure a judge now, in one attempt; requests are always sent anew."""
    queue = JudgeQueue(*judges)
    last = time.monotonic()

    def tell() -> None:
        nonlocal last
        if say is not None and time.monotonic() - last > _TELL_EVERY:
            last = time.monotonic()
            answered, asked, lost = queue.count.progress
            without = f", {lost:,} without an answer" if lost else ""
            say(f"calibrating: {answered:,} of {asked:,} requests answered{without}")

    agreed = [row for row in labelled if not row.disputed]
    disputed = [row for row in labelled if row.disputed]
    try:
        found = measure(queue, agreed, replace(procedure, alone=True), floors=rules.floors, waiting=tell)
    finally:
        queue.stop(close=False)
    fault = _why_not_measured(queue.count)
    if fault:
        raise InputError(f"--drift-judge {procedure.reader}: {fault}")
    attempts = (attempt_of(found, untested(disputed), queue.count, today),)
    identities = [judge.identity() for judge in judges]
    return Calibration(
        judge=" + ".join(judge.name for judge in judges),
        identity=fingerprint(identities),
        specs=tuple(identity.spec for identity in identities),
        proven=all(identity.proven for identity in identities),
        prompt_version=prompt_version(),
        prompts=prompt_hash(),
        labelled=labels_hash(labelled),
        patients=len({row.patient for row in labelled}),
        attempts=attempts,
        kinds=pooled(attempts),
    )


def _why_not_measured(count: Count) -> str:
    """Why the answers to a calibration say nothing of the judge; empty where they do."""
    if count.answered and count.failed == count.answered:
        return f"none of its answers could be used ({count.last_failure})"
    if count.unanswered > _SILENT * count.answered:
        return (
            f"{count.unanswered:,} of {count.answered:,} requests had no answer or could not be sent "
            f"({count.last_failure}), so it was not measured; calibrate again when it answers"
        )
    return ""
