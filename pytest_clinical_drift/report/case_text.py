"""What one case has to say when it is not a plain PASS."""

from __future__ import annotations

from collections.abc import Sequence

from tabulate import tabulate

from ..assessment import CaseAssessment, FactFinding
from ..verdict import CAUTION, FAIL, INCOMPLETE, NOT_EVALUATED, CaseVerdict, Judgement, label, number
from .clean import one_line


def headline(verdict: CaseVerdict, repeats: Sequence[CaseAssessment]) -> str:
    """One line that tells what went wrong, the deadly things first."""
    if verdict.verdict == INCOMPLETE:
        cause = next((run.incomplete for run in repeats if run.incomplete), "recall or slope could not be evaluated")
        return one_line(f"INCOMPLETE: {cause}", 300)
    decisive = [item for item in verdict.judgements if item.verdict == verdict.verdict and item.verdict != "PASS"]
    if verdict.waiver:
        decisive = [item for item in verdict.judgements if item.verdict == FAIL]
    decisive.sort(key=lambda item: item.metric not in ("hard_stops", "breaches", "stale_facts"))
    return one_line("; ".join(_reason(item) for item in decisive) or verdict.verdict, 300)


def _reason(item: Judgement) -> str:
    if item.value is None:
        return f"{label(item.metric)} not evaluated"
    if item.detail and item.metric not in ("k_conflict",) and not item.detail.startswith("n ="):
        return item.detail
    sign, limit = item.limit.split(" ")
    opposite = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}[sign]
    detail = f" ({item.detail})" if item.detail else ""
    return f"{label(item.metric)} {number(item.metric, item.value)} {opposite} {limit}{detail}"


def case_report(verdict: CaseVerdict, repeats: Sequence[CaseAssessment]) -> str:
    """Headline, table of judgements, facts lost with turn and words, contradictions and breaches."""
    first = headline(verdict, repeats)
    if not first.startswith(verdict.verdict):
        first = f"{verdict.verdict}: {first}"
    parts = [first, judgement_table(verdict.judgements)]
    for run in repeats:
        title = f"repeat {run.repeat + 1}: " if len(repeats) > 1 else ""
        parts += [title + line for line in _findings(run)]
    parts.append(f"diagnosis: {verdict.diagnosis}")
    if verdict.waiver:
        waiver = verdict.waiver
        parts.append(f"waived until {waiver.expires} by {waiver.signed_by}: {waiver.reason}")
    return "\n".join(parts)


def judgement_table(judgements: Sequence[Judgement]) -> str:
    """Metric, value, limit and verdict, aligned."""
    rows = [
        (
            label(item.metric),
            "–" if item.value is None else number(item.metric, item.value),
            item.limit,
            item.verdict,
            item.detail if item.verdict == NOT_EVALUATED or item.metric == "k_conflict" else "",
        )
        for item in judgements
    ]
    return tabulate(rows, headers=("metric", "value", "limit", "verdict", ""), tablefmt="simple", disable_numparse=True)


def _findings(run: CaseAssessment) -> list[str]:
    lines = [f"  {line}" for line in facts_lost(run)]
    lines += [f"  turn {item.turn}: {_breach(item.kind, item.rule, item.why, item.quote)}" for item in run.breaches]
    for found in run.conflict.found:
        scope = "" if found.adjacent else " (turns further apart)"
        lines.append(
            f"  turn {found.earlier_turn} against turn {found.later_turn}{scope}: {one_line(found.reason)}\n"
            f'    "{one_line(found.earlier_quote)}"\n    "{one_line(found.later_quote)}"'
        )
    lines += [f"  note: {note}" for note in run.notes]
    return lines


def _breach(kind: str, rule: str, why: str, quote: str) -> str:
    because = f" ({one_line(why)})" if why else ""
    words = f': "{one_line(quote)}"' if quote else ""
    verb = "breach, the reply recommends" if kind == "recommends" else "breach, the reply omits"
    return f"{verb} {one_line(rule)}{because}{words}"


def facts_lost(run: CaseAssessment) -> list[str]:
    """One line for every change for the worse: which fact, on which turn, and the words that show it."""
    lines: list[str] = []
    before: dict[str, str] = {}
    for turn in run.turns:
        for finding in turn.findings:
            previous = before.get(finding.fact_id, "retained")
            if finding.status != previous and finding.status in ("absent", "contradicted"):
                lines.append(f"turn {turn.turn}: {_loss(finding)}")
            before[finding.fact_id] = finding.status
    return lines


def _loss(finding: FactFinding) -> str:
    mark = " (hard stop)" if finding.hard_stop else ""
    verb = "lost" if finding.status == "absent" else "contradicted"
    words = f': "{one_line(finding.quotes[0].text)}"' if finding.quotes else ""
    reason = f" – {one_line(finding.reason)}" if finding.reason and finding.status == "contradicted" else ""
    return f'{verb} "{one_line(finding.text)}"{mark}{words}{reason}'


def is_yellow(verdict: CaseVerdict) -> bool:
    """Whether the case passes with a warning."""
    return verdict.verdict == CAUTION
