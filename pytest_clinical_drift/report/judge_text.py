"""The judge in words: its name, how good it is, what it decides, its calibration, and how far two reviewers agree."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tabulate import tabulate

from pytest_clinical_drift.judging.answers import CONFIRMED_BY_PEOPLE
from pytest_clinical_drift.judging.calibration_file import VALID_DAYS, Calibration, ExternalTable, KindLimits, Share
from pytest_clinical_drift.judging.labelled import GROUP_OF, GROUPS
from pytest_clinical_drift.judging.reviews import Agreement, Difference
from pytest_clinical_drift.report.clean import one_line
from pytest_clinical_drift.report.page import text_lines
from pytest_clinical_drift.report.words import counted, kind_name, listed, rounded, span, words
from pytest_clinical_drift.results.manifest import JudgeRecord
from pytest_clinical_drift.verdict.counts import EvidenceCounts

NO_JUDGE = "judge: none; only rules validated on labelled text confirm alarms, the rest stay open"
_FAULTY = ("false_confirmed", "missed")
"""Shares of errors, of which the upper limit counts."""
_SHARE_NAMES = {"sensitivity": "sensitivity", "subtle": "sensitivity to subtle faults", "specificity": "specificity"}


def judge_line(judge: JudgeRecord | None, counts: EvidenceCounts | None = None) -> str:
    """Name and limits of the judge in one line."""
    if judge is None:
        return NO_JUDGE
    kinds = judge.calibration.kinds if judge.calibration is not None else {}
    deciding = [group for group in GROUPS if group in judge.deciding and group in kinds]
    parts = [f"judge: {one_line(judge.spec, 80)}"]
    if deciding:
        if decides := [kind_name(kind) for kind in deciding if kind not in CONFIRMED_BY_PEOPLE]:
            parts[0] += f", decides {listed(decides)}"
        if opens := [kind_name(kind) for kind in deciding if kind in CONFIRMED_BY_PEOPLE]:
            parts[0] += f", opens {listed(opens)} for a person to confirm"
        finds = rounded(min(kinds[kind].sensitivity.low for kind in deciding), ".0%")
        clears = rounded(min(kinds[kind].specificity.low for kind in deciding), ".1%")
        parts.append(f"finds at least {finds} of faults, clears at least {clears} of clean text")
    if judge.below_floor:
        parts.append(f"below its floor, decides nothing on {listed([kind_name(kind) for kind in judge.below_floor])}")
    if counts is not None and counts.false_breaches is not None:
        parts.append(f"up to {rounded(counts.false_breaches, '.1f')} false breaches to expect in a run of this size")
    if counts is not None and counts.unanswered:
        parts.append(f"{counted(counts.unanswered, 'question')} not answered")
    return "; ".join(parts)


def role(kind: str, deciding: Collection[str]) -> str:
    """What the judge's answers of a kind do in this run."""
    if GROUP_OF.get(kind, kind) not in deciding:
        return "shown only"
    return "opens; a person confirms" if kind in CONFIRMED_BY_PEOPLE else "decides"


def share_text(share: Share) -> str:
    """ "58 of 60 (0.89 to 0.99)"."""
    return f"{share.hits} of {share.of} ({span(share.low, share.high)})" if share.of else "none asked"


def against_answers(counts: EvidenceCounts | None) -> list[str]:
    """What readings say of facts, in the order of the answers."""
    seen = {answer for row in (counts.rules_against_judge if counts else {}).values() for answer in row}
    return [answer for answer in words("answers") if answer in seen]


# -- its calibration, as the command prints it


def render_calibration(calibration: Calibration, deciding: Collection[str], floors: Mapping[str, float]) -> str:
    """Shares with limits per kind, and why a kind decides nothing."""
    shares, rows = words("shares"), []
    for kind, limits in calibration.kinds.items():
        decides = "yes" if kind in deciding else "no" if kind in GROUPS else f"part of {kind_name(GROUP_OF[kind])}"
        rows.append((kind_name(kind), *(_measured(limits, name, floors.values()) for name in shares), decides))
    short = [kind for kind in calibration.kinds if kind in GROUPS and kind not in deciding]
    lines = text_lines(
        "calibration.txt.j2",
        "lines",
        calibration=calibration,
        attempt=calibration.attempts[-1],
        table=tabulate(rows, headers=("kind", *shares.values(), "decides"), disable_numparse=True),
        why_not=[(kind_name(kind), _why_not(calibration, kind, floors)) for kind in short],
        deciding=deciding,
        valid_days=VALID_DAYS,
    )
    return "\n".join(lines)


def _measured(limits: KindLimits, name: str, floors: Collection[float]) -> str:
    """ "58/60 (≥ 0.893)"; counts only where it was stopped early."""
    share: Share = getattr(limits, name)
    if not share.of:
        return "none asked"
    limit = f"≤ {rounded(share.high, '.3f')}" if name in _FAULTY else f"≥ {rounded(share.low, '.3f', floors)}"
    return f"{share.hits}/{share.of}" + ("" if limits.stopped else f" ({limit})")


def _why_not(calibration: Calibration, group: str, floors: Mapping[str, float]) -> str:
    limits = calibration.kinds[group]
    if limits.stopped == "requests":
        return "stopped early, too many requests"
    if limits.stopped:
        return f"stopped early, {_SHARE_NAMES[limits.stopped]} below its floor"
    below = [(_SHARE_NAMES[name], getattr(limits, name)) for name in calibration.below(group, floors)]
    # all answered well, and still below: only more texts can show what the judge is worth
    few = ", ".join(name for name, share in below if share.hits == share.of)
    weak = ", ".join(name for name, share in below if share.hits < share.of)
    told = (f"{weak} below its floor" if weak else "", f"too few texts to show its {few}" if few else "")
    return "; ".join(filter(None, told))


# -- against public sets


def external_rows(table: ExternalTable) -> list[tuple[str, ...]]:
    """The judge against a public set's labels: items, wrong or missing found, right cleared, balanced F1, kappa."""
    return [
        (
            row["items"],
            *(_share_of(row, name) for name in ("sensitivity", "specificity")),
            *("" if row.get(name) is None else rounded(row[name], ".3f") for name in ("balanced_f1", "kappa")),
        )
        for row in table.rows
    ]


def _share_of(row: Mapping[str, Any], name: str) -> str:
    (hits, of), limits = row[name], row.get(f"{name}_limits")
    return f"{hits} of {of}" + (f" ({span(limits[0], limits[1], '.3f')})" if limits else "")


def external_lines(judge: JudgeRecord | None) -> list[str]:
    """A line per public set: the judge on all items, and one annotator against the others, where that is known."""
    lines = []
    for table in judge.calibration.external if judge is not None and judge.calibration is not None else ():
        told = [
            f"{items}: {found} wrong or missing found, {cleared} right cleared"
            for items, found, cleared, *_ in external_rows(table)
            if items not in ("unanimous", "disputed")
        ]
        lines.append(f"{table.name}, labelled by clinicians: {'; '.join(told)}")
    return lines


def render_external(table: ExternalTable) -> str:
    heads = (table.name, *words("external"))
    return str(tabulate(external_rows(table), headers=heads, disable_numparse=True))


# -- two reviewers


def render_agreement(table: Sequence[Agreement], differ: Sequence[Difference]) -> str:
    """Their agreement as a table, and what they differ on."""
    rows = [
        (kind_name(row.kind), row.questions, _figure(*row.percent, ".0%"), _figure(*row.kappa), _figure(*row.alpha))
        for row in table
    ]
    heads = ("kind", "questions", "same side (95 %)", "Cohen's kappa", "Krippendorff's alpha")
    lines = [str(tabulate(rows, headers=heads, disable_numparse=True))]
    if differ:
        decided = sum(bool(d.third) for d in differ)
        left = f"the third decides {decided}, {len(differ) - decided} stay open" if decided else "a third decides"
        lines.append(f"they differ on {len(differ)}; {left}:")
    for d in differ:
        third = f", decided: {one_line(d.third, 30)}" if d.third else ""
        said = f"{one_line(d.first, 30)} / {one_line(d.second, 30)}{third} ({d.question[:12]})"
        lines.append(f"  {one_line(d.case_id, 60)}, {kind_name(d.kind)}: {said}")
    return "\n".join(lines)


def _figure(value: float | None, limits: tuple[float, float] | None, form: str = ".2f") -> str:
    if value is None:
        return "undefined: one answer throughout"
    return rounded(value, form) + (f" ({span(*limits, form)})" if limits else "")
