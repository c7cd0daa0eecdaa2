"""A calibration as `clinical-drift calibrate` prints it: shares with limits per kind, why a kind decides nothing."""

from collections.abc import Collection, Mapping

from tabulate import tabulate

from pytest_clinical_drift.judging.calibration_file import (
    VALID_DAYS,
    Attempt,
    Calibration,
    ExternalTable,
    KindLimits,
    Share,
)
from pytest_clinical_drift.judging.labelled import GROUP_OF, GROUPS
from pytest_clinical_drift.report.clean import as_lines, one_line
from pytest_clinical_drift.report.judge_text import external_rows
from pytest_clinical_drift.report.words import kind_name, rounded, words

_FAULTY = ("false_confirmed", "missed")
"""Shares of errors, of which the upper limit counts."""
_SHARE_NAMES = {"sensitivity": "sensitivity", "subtle": "sensitivity to subtle faults", "specificity": "specificity"}
_LONGEST_NAME = 100


def render_calibration(calibration: Calibration, deciding: Collection[str], floors: Mapping[str, float]) -> str:
    attempt = calibration.attempts[-1]
    lines = [_head(calibration, attempt), _table(calibration, deciding, floors)]
    counted = "what stays open counts as not found and as not cleared"
    lines.append(f"Shares with one-sided 95 % limits, clustered by patient; {counted}.")
    short = [kind for kind in calibration.kinds if kind in GROUPS and kind not in deciding]
    if short:
        lines.append("decides nothing on")
    lines += [f"  {kind_name(kind)}: {_why_not(calibration, kind, floors)}" for kind in short]
    if attempt.unsure:
        doubts = words("doubts")
        unsure = ", ".join(f"{count} {doubts.get(why, why)}" for why, count in attempt.unsure.items())
        lines.append(f"unsure answers: {unsure}")
    lines.append(f"labelled by {one_line(calibration.labelled_by, _LONGEST_NAME)}, {calibration.patients} patients")
    if not calibration.proven:
        proof = "prove it with --drift-judge-set revision=COMMIT"
        lines.append(f"the judge's identity is not proven: valid for {VALID_DAYS} days ({proof})")
    lines += _shown_only(deciding)
    return "\n".join(as_lines(*lines))


def _head(calibration: Calibration, attempt: Attempt) -> str:
    name = one_line(calibration.judge, _LONGEST_NAME)
    text = f"{name}, prompts version {calibration.prompt_version}, {calibration.made}: "
    text += f"{attempt.texts:,} texts in {attempt.requests:,} requests"
    if attempt.tokens is not None:
        text += f", {attempt.tokens[0]:,} prompt and {attempt.tokens[1]:,} answer tokens"
    attempts = len(calibration.attempts)
    return f"{text}; attempt {attempts}, all attempts pooled" if attempts > 1 else text


def _table(calibration: Calibration, deciding: Collection[str], floors: Mapping[str, float]) -> str:
    shares = words("shares")
    rows = []
    for kind, limits in calibration.kinds.items():
        measured = [_measured(limits, name, floors.values()) for name in shares]
        rows.append((kind_name(kind), *measured, _decides(kind, deciding)))
    return str(tabulate(rows, headers=("kind", *shares.values(), "decides"), disable_numparse=True))


def _decides(kind: str, deciding: Collection[str]) -> str:
    if kind in deciding:
        return "yes"
    return "no" if kind in GROUPS else f"part of {kind_name(GROUP_OF[kind])}"


def _measured(limits: KindLimits, name: str, floors: Collection[float]) -> str:
    """ "58/60 (≥ 0.893)"; counts only where it was stopped early."""
    share: Share = getattr(limits, name)
    if not share.of:
        return "none asked"
    if limits.stopped:
        return f"{share.hits}/{share.of}"
    limit = f"≤ {rounded(share.high, '.3f')}" if name in _FAULTY else f"≥ {rounded(share.low, '.3f', floors)}"
    return f"{share.hits}/{share.of} ({limit})"


def _why_not(calibration: Calibration, group: str, floors: Mapping[str, float]) -> str:
    limits = calibration.kinds[group]
    if limits.stopped == "requests":
        return "stopped early, too many requests"
    if limits.stopped:
        return f"stopped early, {_SHARE_NAMES[limits.stopped]} below its floor"
    below: list[tuple[str, Share]] = [
        (_SHARE_NAMES[name], getattr(limits, name)) for name in calibration.below(group, floors)
    ]
    # all answered well, and still below: only more texts can show what the judge is worth
    few = ", ".join(name for name, share in below if share.hits == share.of)
    weak = ", ".join(name for name, share in below if share.hits < share.of)
    told = (f"{weak} below its floor" if weak else "", f"too few texts to show its {few}" if few else "")
    return "; ".join(filter(None, told))


def _shown_only(deciding: Collection[str]) -> list[str]:
    if not deciding:
        return ["this judge decides nothing: every kind is below its floor"]
    shown = [name for group, name in words("groups").items() if group not in deciding]
    return [f"shown only, decides nothing: {', '.join(shown)}"] if shown else []


def render_external(table: ExternalTable) -> str:
    """The judge against a public set."""
    heads = (table.name, *words("external"))
    return str(tabulate(external_rows(table), headers=heads, disable_numparse=True))
