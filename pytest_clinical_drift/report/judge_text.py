"""The judge in words: its name, how good it is, what it decides, and its calibration as the command prints it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tabulate import tabulate

from pytest_clinical_drift.judging.calibration import Calibration
from pytest_clinical_drift.report.clean import one_line
from pytest_clinical_drift.report.figures import listed
from pytest_clinical_drift.report.page import text_lines
from pytest_clinical_drift.verdict.values import counted, words

NO_JUDGE = "judge: none; rules alone confirm only what was right on labelled real text, the rest stays open"


def judge_line(judge: Mapping[str, Any] | None, grounds: Mapping[str, Any] | None = None) -> str:
    """Name and limits of the judge in one line; `judge` is the manifest's `judged`."""
    if judge is None:
        return NO_JUDGE
    kinds = (judge["calibration"] or {}).get("kinds", {})
    deciding = [kind for kind in words("kinds") if kind in judge["deciding"] and kind in kinds]
    line = f"judge: {one_line(judge['spec'], 80)}"
    if deciding:
        found, cleared = (min(kinds[kind][of]["low"] for kind in deciding) for of in ("sensitivity", "specificity"))
        named = listed([_name(kind) for kind in deciding])
        line += f", decides {named}; finds at least {found:.0%} of faults, clears at least {cleared:.1%} of clean text"
    if below := [_name(kind) for kind in judge["below_floor"]]:
        line += f"; below its floor, decides nothing on {listed(below)}"
    expected = (grounds or {}).get("false_breaches")
    if expected is not None:
        line += f"; up to {expected:.1f} false breaches to expect in a run of this size"
    unanswered = (grounds or {}).get("unanswered") or 0
    return line + (f"; {counted(unanswered, 'question')} not answered" if unanswered else "")


def _name(kind: str) -> str:
    return str(words("kinds").get(kind, {}).get("name", kind))


def limit_rows(judge: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """One row per kind of question: what the calibration found, and whether the judge decides."""
    kinds: Mapping[str, Any] = ((judge or {}).get("calibration") or {}).get("kinds", {})
    return [
        {
            "kind": _name(kind),
            "shares": [share_text(limits[name]) for name in words("shares")],
            "at_least": [
                f"{limits[name]['low']:.1%}" if limits[name]["of"] else "unknown"
                for name in ("sensitivity", "specificity")
            ],
            "decides": _role(kind, (judge or {})["deciding"]),
        }
        for kind, limits in kinds.items()
    ]


def _role(kind: str, deciding: Collection[str]) -> str:
    """What the judge's answers of a kind do in this run."""
    if kind not in deciding:
        return "shown only"
    return "opens; a person confirms" if kind == "harm" else "decides"


def share_text(share: Mapping[str, Any], digits: int = 2) -> str:
    """ "58 of 60 (0.89 to 0.99)"."""
    if not share["of"]:
        return "none asked"
    return f"{share['hits']} of {share['of']} ({share['low']:.{digits}f} to {share['high']:.{digits}f})"


def confusion_rows(judge: Mapping[str, Any] | None, most: int = 8) -> Sequence[tuple[str, int]]:
    confusions: Mapping[str, int] = ((judge or {}).get("calibration") or {}).get("confusions", {})
    return sorted(confusions.items(), key=lambda item: -item[1])[:most]


def render_calibration(calibration: Calibration, deciding: Collection[str]) -> str:
    shares = words("shares")
    rows = [
        (kind, *(share_text(limits[name], 3) for name in shares), "yes" if kind in deciding else "no, below its floor")
        for kind, limits in calibration.model_dump()["kinds"].items()
    ]
    table = tabulate(rows, headers=("kind", *shares.values(), "decides"), disable_numparse=True)
    return "\n".join(text_lines("calibration.txt.j2", "lines", calibration=calibration, table=table, deciding=deciding))
