"""The agreement of two reviewers as a table, and what they differ on."""

from collections.abc import Sequence

from tabulate import tabulate

from pytest_clinical_drift.judging.agreement import Agreement, Difference
from pytest_clinical_drift.report.clean import one_line
from pytest_clinical_drift.report.words import kind_name, rounded, span


def render_agreement(table: Sequence[Agreement], differ: Sequence[Difference]) -> str:
    rows = [
        (
            kind_name(row.kind),
            row.questions,
            f"{rounded(row.percent, '.0%')} ({span(*row.percent_limits, '.0%')})",
            _figure(row.kappa, row.kappa_limits),
            _figure(row.alpha, row.alpha_limits),
        )
        for row in table
    ]
    heads = ("kind", "questions", "same side (95 %)", "Cohen's kappa", "Krippendorff's alpha")
    lines = [str(tabulate(rows, headers=heads, disable_numparse=True))]
    if differ:
        decided = sum(bool(d.third) for d in differ)
        left = f"the third decides {decided}, {len(differ) - decided} stay open" if decided else "a third decides"
        lines.append(f"they differ on {len(differ)}; {left}:")
        lines += [
            f"  {one_line(d.case_id, 60)}, {kind_name(d.kind)}: {one_line(d.first, 30)} / {one_line(d.second, 30)}"
            f"{f', decided: {one_line(d.third, 30)}' if d.third else ''} ({d.question[:12]})"
            for d in differ
        ]
    return "\n".join(lines)


def _figure(value: float | None, limits: tuple[float, float] | None) -> str:
    if value is None:
        return "undefined: one answer throughout"
    return rounded(value) + (f" ({span(*limits)})" if limits else "")
