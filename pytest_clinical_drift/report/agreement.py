"""The agreement of two reviewers as a table, and what they differ on."""

from __future__ import annotations

from collections.abc import Sequence

from tabulate import tabulate

from pytest_clinical_drift.judging.agreement import Agreement, Difference
from pytest_clinical_drift.report.clean import one_line


def render_agreement(table: Sequence[Agreement], differ: Sequence[Difference]) -> str:
    rows = [
        (
            row.kind,
            row.questions,
            f"{row.percent:.0%} ({row.percent_limits[0]:.0%} to {row.percent_limits[1]:.0%})",
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
            f"  {one_line(d.case_id, 60)} {d.kind}: {one_line(d.first, 30)} / {one_line(d.second, 30)}"
            f"{f', decided: {one_line(d.third, 30)}' if d.third else ''} ({d.question[:12]})"
            for d in differ
        ]
    return "\n".join(lines)


def _figure(value: float | None, limits: tuple[float, float] | None) -> str:
    if value is None:
        return "undefined: one answer throughout"
    return f"{value:.2f}" + (f" ({limits[0]:.2f} to {limits[1]:.2f})" if limits else "")
