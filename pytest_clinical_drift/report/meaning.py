"""What a verdict means, what it rests on and what it does not say: printed in every report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_clinical_drift.report.clean import one_line
from pytest_clinical_drift.report.figures import counted
from pytest_clinical_drift.verdict.grounds import Grounds
from pytest_clinical_drift.verdict.values import NOT_EVALUATED, PASS, label


def what_it_means(grounds: Grounds, verdict: str) -> str:
    """What the run says about the model, and what it does not say."""
    if not grounds.cases:
        return "No case was run to its end: nothing was measured, and nothing is said about the model."
    length = f"{grounds.shortest} to {grounds.longest}" if grounds.shortest != grounds.longest else f"{grounds.longest}"
    opening = "A PASS says: this" if verdict == PASS else "This"
    met = "met limits fixed beforehand" if verdict == PASS else "was held to limits fixed beforehand"
    named = "case" if grounds.cases == 1 else "cases"
    return (
        f"{opening} configuration, on {grounds.cases} synthetic English {named} of {length} turns, {met}. "
        f"{_rate(grounds)} Scored automatically, with the accuracy the dossier states; it is evidence for the release "
        "decision, not proof of clinical safety."
    )


def _rate(grounds: Grounds) -> str:
    """ "0 of 60 cases with a severe failure is compatible with a true rate up to 6.0 %." """
    named = "case" if grounds.cases == 1 else "cases"
    if grounds.severe_open:
        return (
            f"A severe failure is confirmed in {grounds.severe} of {grounds.cases} {named}. "
            f"{_with_open(grounds.severe_open)} While they are open, the true rate has no upper limit."
        )
    upper = f"up to {grounds.severe_upper:.1%}" if grounds.severe_upper is not None else "of any size"
    more = ", more after what the judge or the rules missed"
    if grounds.severe_upper_missed is not None:
        more = f", up to {grounds.severe_upper_missed:.1%} after what the judge may have missed"
    seen = f"{grounds.severe} of {grounds.cases} {named} with a severe failure"
    return f"{seen} is compatible with a true rate {upper}{more}."


def _with_open(cases: int) -> str:
    return f"{counted(cases, 'case')} {'has' if cases == 1 else 'have'} a severe alarm that nobody has settled."


def rests_on(record: Mapping[str, Any]) -> list[str]:
    """What the verdict rests on, as sentences for the page that is signed."""
    grounds = record["grounds"]
    if not grounds["cases"]:
        return ["No case was run to its end: nothing was measured."]
    return [
        *_severe(grounds),
        f"{grounds['reviewed']} of {counted(grounds['total'], 'case')} reviewed by a clinician (as written).",
        _calibration(record["manifest"].get("judged")),
        f"{grounds['replies'] - grounds['demanded']:,} of {counted(grounds['replies'], 'reply')} had no demand: only a "
        "judge reads those for harm.",
        *_cut(grounds),
        *_audit(grounds),
        *_unmeasured(record),
        *([f"Not gated: {', '.join(record['not_gated'])}."] if record["not_gated"] else []),
    ]


def _unmeasured(record: Mapping[str, Any]) -> list[str]:
    """Gated metrics that nobody could evaluate."""
    named = [label(item["metric"]) for item in record["judgements"] if item["verdict"] == NOT_EVALUATED]
    return [f"Not evaluated: {', '.join(named)}."] if named else []


def _severe(grounds: Mapping[str, Any]) -> list[str]:
    confirmed = counted(grounds["severe"], "case") if grounds["severe"] else "no case"
    waiting = f"; {counted(grounds['severe_open'], 'case')} with an open severe alarm" if grounds["severe_open"] else ""
    lines = [f"Severe failure confirmed in {confirmed}{waiting}."]
    if grounds["severe_open"]:
        lines.append("While severe alarms are open, the true rate has no upper limit.")
    elif grounds["severe_upper"] is not None:
        more = "more after what the rules missed"
        if grounds["severe_upper_missed"] is not None:
            more = f"up to {grounds['severe_upper_missed']:.1%} after what the judge may have missed"
        lines.append(
            f"{grounds['severe']} of {counted(grounds['cases'], 'conversation')} is compatible with a true rate up to "
            f"{grounds['severe_upper']:.1%}, {more}."
        )
    return lines


def _calibration(judge: Mapping[str, Any] | None) -> str:
    if judge is None:
        return "No judge: what the rules leave unclear is open."
    calibration = judge["calibration"]
    if not calibration:
        return "The judge was not calibrated: it decides nothing."
    labelled = calibration.get("labelled_by") or "models"
    asked = f"{calibration['questions']:,} questions labelled by {labelled}"
    return f"Judge calibrated on {asked}, on {calibration['made']}."


def _cut(grounds: Mapping[str, Any]) -> list[str]:
    return [line + "." for line in cut_lines(grounds)]


def cut_lines(grounds: Mapping[str, Any]) -> list[str]:
    """Texts that the token limit cut off and empty ones, with the remedy; nothing where there are none."""
    lines = []
    if grounds["truncated"]:
        lines.append(
            f"{grounds['truncated']:,} of {counted(grounds['texts'], 'text')} cut off by the token limit: "
            "raise it with --drift-set max_tokens=N"
        )
    if grounds["refused"]:
        lines.append(
            f"{grounds['refused']:,} of {counted(grounds['texts'], 'text')} empty or refused, scored as they stand: "
            "read the transcripts, and check the system prompt and the server's filters"
        )
    return lines


def _audit(grounds: Mapping[str, Any]) -> list[str]:
    audit = grounds["audit"]
    if not audit:
        return []
    return [
        f"Audit: of {audit['asked']:,} facts that rules call plainly retained the judge doubts "
        f"{audit['wrong'] + audit['open']}; up to {audit['upper']:.1%} may be wrong."
    ]


def waiver_text(waiver: Mapping[str, Any]) -> str:
    """One waiver in a line."""
    signed = f"until {waiver['expires']}, signed by {one_line(waiver['signed_by'])}"
    return f"waived: {one_line(waiver['case'])} {signed}: {one_line(waiver['reason'])}"
