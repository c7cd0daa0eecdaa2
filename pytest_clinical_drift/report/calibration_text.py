"""A calibration as `clinical-drift calibrate` prints it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from tabulate import tabulate

from pytest_clinical_drift.judging.calibration import Calibration, Share
from pytest_clinical_drift.report.clean import one_line
from pytest_clinical_drift.report.judge_text import KIND_NAMES

_COLUMNS = (
    "kind",
    "faults found",
    "clean cleared",
    "clean upheld",
    "faults cleared",
    "same in both wordings",
    "decides",
)


def render_calibration(
    calibration: Calibration, deciding: Collection[str], expected: Mapping[str, tuple[float, float]]
) -> str:
    """The table, what it cost, the confusions worth reading, and the false alarms to expect in a run."""
    rows = [
        (
            kind,
            _share(limits.sensitivity),
            _share(limits.specificity),
            _share(limits.false_confirmed),
            _share(limits.missed),
            _share(limits.consistent, limits_too=False),
            "yes" if kind in deciding else "no, below its floor",
        )
        for kind, limits in calibration.kinds.items()
    ]
    parts = [
        f"{one_line(calibration.judge, 100)}, prompts version {calibration.prompt_version}, {calibration.made}",
        tabulate(rows, headers=_COLUMNS, disable_numparse=True),
        "Shares with exact 95 % limits; a question left open counts as not found and as not cleared.",
        *_cost(calibration),
        *_expected(expected, deciding),
        *_confusions(calibration),
        *_caveats(calibration, deciding),
    ]
    return "\n".join(parts)


def _share(share: Share, *, limits_too: bool = True) -> str:
    if not share.of:
        return "none asked"
    limits = f" ({share.low:.3f} to {share.high:.3f})" if limits_too else ""
    return f"{share.hits} of {share.of}{limits}"


def _cost(calibration: Calibration) -> list[str]:
    told = []
    if calibration.seconds_per_question is not None:
        told.append(f"{calibration.seconds_per_question:.2f} s per answer, all in flight at once")
    if calibration.tokens_per_question is not None:
        prompt, answer = calibration.tokens_per_question
        told.append(f"{prompt:,.0f} prompt and {answer:,.0f} completion tokens per answer")
    failed = sum(limits.failed for limits in calibration.kinds.values())
    if failed:
        told.append(f"{failed:,} answers could not be had or read")
    return ["; ".join(told)] if told else []


def _expected(expected: Mapping[str, tuple[float, float]], deciding: Collection[str]) -> list[str]:
    named = [f"{kind} {count:.1f} (up to {most:.1f})" for kind, (count, most) in expected.items() if kind in deciding]
    if not named:
        return []
    return [
        f"false alarms to expect in a run of the bundled cases, if the model made no fault: {', '.join(named)}; "
        "those of kind harm would stay open for a person"
    ]


def _confusions(calibration: Calibration) -> Sequence[str]:
    lines = [f"  {one_line(what, 80)}: {count}" for what, count in calibration.confusions.items()]
    return ["answers that differ from the label (kind: label -> answer):", *lines] if lines else []


def _caveats(calibration: Calibration, deciding: Collection[str]) -> list[str]:
    told = [f"labelled by {one_line(calibration.labelled_by, 100)}"]
    if calibration.disputed:
        told.append(f"{calibration.disputed} questions with a disputed label were kept apart")
    if not calibration.proven:
        told.append("the judge's identity is not proven: valid for 30 days (name it with --drift-judge-set revision=…)")
    if not deciding:
        told.append("this judge decides nothing: every kind of question is below its floor")
    elif shown := [KIND_NAMES[kind] for kind in calibration.kinds if kind not in deciding]:
        told.append(f"shown only, decides nothing: {', '.join(shown)}")
    return told
