"""The judge in words: its name, how good it is, what it decides, its calibration, and how far two reviewers agree."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tabulate import tabulate

from pytest_clinical_drift.judging.answers import CONFIRMED_BY_PEOPLE
from pytest_clinical_drift.judging.calibration_file import ExternalTable, Share
from pytest_clinical_drift.judging.labelled import GROUP_OF, GROUPS
from pytest_clinical_drift.judging.reviews import Agreement, Difference
from pytest_clinical_drift.report.clean import one_line
from pytest_clinical_drift.report.words import counted, kind_name, listed, rounded, span, words
from pytest_clinical_drift.results.manifest import JudgeRecord
from pytest_clinical_drift.verdict.counts import EvidenceCounts

NO_JUDGE = "judge: none; only rules validated on labelled text confirm alarms, the rest stay open"


def judge_line(judge: JudgeRecord | None, counts: EvidenceCounts | None = None) -> str:
    """Name and limits of the judge in one line."""
    if judge is None:
        return NO_JUDGE
    parts = _deciding(judge)
    if judge.below_floor:
        parts.append(f"below its floor, decides nothing on {listed([kind_name(kind) for kind in judge.below_floor])}")
    if counts is not None and counts.false_breaches is not None:
        parts.append(f"up to {rounded(counts.false_breaches, '.1f')} false breaches to expect in a run of this size")
    if counts is not None and counts.unanswered:
        parts.append(f"{counted(counts.unanswered, 'question')} not answered")
    return "; ".join(parts)


def _deciding(judge: JudgeRecord) -> list[str]:
    """Its name with what it decides and what it opens; and how good it is at these, at the lower limits."""
    kinds = judge.calibration.kinds if judge.calibration is not None else {}
    deciding = [group for group in GROUPS if group in judge.deciding and group in kinds]
    name = f"judge: {one_line(judge.spec, 80)}"
    if not deciding:
        return [name]
    decides = [kind_name(kind) for kind in deciding if kind not in CONFIRMED_BY_PEOPLE]
    opens = [kind_name(kind) for kind in deciding if kind in CONFIRMED_BY_PEOPLE]
    if decides:
        name += f", decides {listed(decides)}"
    if opens:
        name += f", opens {listed(opens)} for a person to confirm"
    finds = rounded(min(kinds[kind].sensitivity.low for kind in deciding), ".0%")
    clears = rounded(min(kinds[kind].specificity.low for kind in deciding), ".1%")
    return [name, f"finds at least {finds} of faults, clears at least {clears} of clean text"]


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
    seen: set[str] = set()
    for said in counts.rules_against_judge.values() if counts else ():
        seen |= said.keys()
    return [answer for answer in words("answers") if answer in seen]


# -- against public sets


def external_rows(table: ExternalTable) -> list[tuple[str, ...]]:
    """The judge against a public set's labels: items, wrong or missing found, right cleared, balanced F1, kappa."""
    return [
        (
            row["items"],
            _share_of(row, "sensitivity"),
            _share_of(row, "specificity"),
            _known(row, "balanced_f1"),
            _known(row, "kappa"),
        )
        for row in table.rows
    ]


def _share_of(row: Mapping[str, Any], name: str) -> str:
    hits, of = row[name]
    limits = row.get(f"{name}_limits")
    text = f"{hits} of {of}"
    return f"{text} ({span(limits[0], limits[1], '.3f')})" if limits else text


def _known(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return "" if value is None else rounded(value, ".3f")


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
