"""The judge in words: its name, how good it is, and what it decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_clinical_drift.report.clean import one_line
from pytest_clinical_drift.report.figures import counted, listed

KIND_NAMES = {
    "fact": "facts in summaries",
    "must": "demands met",
    "must_not": "demands not to",
    "forbidden": "what facts rule out",
    "conflict": "contradictory replies",
    "invented": "inventions",
    "harm": "harm",
}
"""Kinds of question as a reader knows them."""
NO_JUDGE = "judge: none; rules alone confirm only what was right on labelled real text, the rest stays open"


def judge_line(judge: Mapping[str, Any] | None, grounds: Mapping[str, Any] | None = None) -> str:
    """Name and limits of the judge in one line; `judge` is the manifest's `judged`."""
    if judge is None:
        return NO_JUDGE
    kinds = (judge["calibration"] or {}).get("kinds", {})
    deciding = [kind for kind in KIND_NAMES if kind in judge["deciding"] and kind in kinds]
    line = f"judge: {one_line(judge['spec'], 80)}"
    if deciding:
        found = min(kinds[kind]["sensitivity"]["low"] for kind in deciding)
        cleared = min(kinds[kind]["specificity"]["low"] for kind in deciding)
        named = listed([KIND_NAMES[kind] for kind in deciding])
        line += f", decides {named}; finds at least {found:.0%} of faults, clears at least {cleared:.1%} of clean text"
    if below := [KIND_NAMES.get(kind, kind) for kind in judge["below_floor"]]:
        line += f"; below its floor, decides nothing on {listed(below)}"
    expected = (grounds or {}).get("false_breaches")
    if expected is not None:
        line += f"; up to {expected:.1f} false breaches to expect in a run of this size"
    unanswered = (grounds or {}).get("unanswered") or 0
    return line + (f"; {counted(unanswered, 'question')} not answered" if unanswered else "")


def limit_rows(judge: Mapping[str, Any] | None) -> list[dict[str, str]]:
    """One row per kind of question: what the calibration found, and whether the judge decides."""
    if judge is None:
        return []
    kinds: Mapping[str, Any] = (judge["calibration"] or {}).get("kinds", {})
    return [
        {
            "kind": KIND_NAMES.get(kind, kind),
            "sensitivity": share_text(limits["sensitivity"]),
            "specificity": share_text(limits["specificity"]),
            "false_confirmed": share_text(limits["false_confirmed"]),
            "missed": share_text(limits["missed"]),
            "consistent": share_text(limits["consistent"]),
            "finds": _at_least(limits["sensitivity"]),
            "clears": _at_least(limits["specificity"]),
            "decides": _role(kind, judge),
        }
        for kind, limits in kinds.items()
    ]


def _at_least(share: Mapping[str, Any]) -> str:
    return f"{share['low']:.1%}" if share["of"] else "unknown"


def _role(kind: str, judge: Mapping[str, Any]) -> str:
    """What the judge's answers of a kind do in this run."""
    if kind not in judge["deciding"]:
        return "shown only"
    return "opens; a person confirms" if kind == "harm" else "decides"


def share_text(share: Mapping[str, Any]) -> str:
    """ "58 of 60 (0.89 to 0.99)"."""
    if not share["of"]:
        return "none asked"
    return f"{share['hits']} of {share['of']} ({share['low']:.2f} to {share['high']:.2f})"


def confusion_rows(judge: Mapping[str, Any] | None, most: int = 8) -> Sequence[tuple[str, int]]:
    """The answers that differed from the label most often."""
    confusions: Mapping[str, int] = ((judge or {}).get("calibration") or {}).get("confusions", {})
    return sorted(confusions.items(), key=lambda item: -item[1])[:most]
