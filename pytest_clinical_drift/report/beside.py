"""What stands beside the verdict, in words: the curve's shape, repeats, an earlier run, the sanity band."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_clinical_drift.report.figures import counted
from pytest_clinical_drift.verdict.values import label, number

_SHOWN = 5
Plain = Mapping[str, Any]


def beside_lines(record: Plain) -> list[str]:
    """All of it as lines, details indented; `record` is what the results file holds under the same names."""
    lines = trend_lines(record["trend"])
    if record.get("repeat_spread"):
        lines += repeat_lines(record["repeat_spread"])
    if record.get("baseline"):
        lines += baseline_lines(record["baseline"])
    return lines + sanity_lines(record["sanity_band"])


def shape_text(shape: Plain) -> str:
    """The shape of a curve in a few words, such as "cliff at turn 6: 0.95 → 0.40"."""
    start, end = shape["start"], shape["end"]
    if start is None or end is None:
        return "too few turns to tell a shape"
    fall = end < start
    if shape["kind"] == "none":
        text = f"steady at {start:.2f}"
    elif shape["kind"] == "linear":
        text = f"{'falls' if fall else 'rises'} evenly: {start:.2f} → {end:.2f}"
    elif shape["kind"] == "exponential":
        verb = "fades" if fall else "rises"
        text = f"{verb} to {shape['floor']:.2f}, half of the way every {shape['half_life']:.1f} turns"
    else:
        text = f"{'cliff' if fall else 'jump'} at turn {shape['turn']}: {start:.2f} → {end:.2f}"
    return text


def trend_lines(trend: Plain) -> list[str]:
    """The shape first, because a slope alone hides it."""
    line = trend["line"]
    if line is None:
        return ["shape: too few turns to tell"]
    fit = f", R² {line['r_squared']:.2f}" if line["r_squared"] is not None else ""
    lines = [
        f"shape: {shape_text(trend['shape'])}",
        f"  mean curve: β {line['slope']:+.3f}{fit}",
    ]
    cliffs = [name for name, shape in sorted(trend["case_shapes"].items()) if _is_cliff(shape)]
    if cliffs:
        first = shape_text(trend["case_shapes"][cliffs[0]])
        lines.append(f"  cliffs in {counted(len(cliffs), 'case')}, such as {cliffs[0]}: {first}")
    return lines


def _is_cliff(shape: Plain) -> bool:
    return bool(shape["kind"] == "step" and shape["end"] < shape["start"])


def repeat_lines(figures: Plain) -> list[str]:
    """The spread, and each flaky case with what its repeats said."""
    spread = figures["recall"]
    if spread["within_sd"] is None:
        return [f"{figures['repeats']} repeats: nothing evaluated twice"]
    between = f", between cases {spread['between_sd']:.3f}" if spread["between_sd"] is not None else ""
    lines = [
        f"{figures['repeats']} repeats: sd of Recall@T10 within a case {spread['within_sd']:.3f}{between}; "
        f"{len(figures['flaky'])} flaky {'case' if len(figures['flaky']) == 1 else 'cases'}"
    ]
    for flaky in figures["flaky"]:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in Counter(flaky["verdicts"]).most_common())
        lines.append(f"  flaky: {flaky['case_id']} ({counts})")
    return lines


def baseline_lines(comparison: Plain) -> list[str]:
    """Verdict, one line per metric, new hard stops, the cases that moved most."""
    pairs = counted(comparison["pairs"], "paired case")
    lines = [f"against {comparison['model'] or 'the baseline'}: {comparison['verdict']} ({pairs})"]
    for name, result in comparison["metrics"].items():
        if result["difference"] is None or result["interval"] is None:
            lines.append(f"  {label(name)}: no pair to compare")
            continue
        low, high = result["interval"]["low"], result["interval"]["high"]
        lines.append(
            f"  {label(name)}: {result['difference']:+.3f} [{low:+.3f}, {high:+.3f}], margin {result['margin']:g}: "
            f"{result['verdict']} (positive is better)"
        )
    if stopped := comparison["new_hard_stops"]:
        lines.append(f"  new hard stop in {_first(stopped)}")
    for move in comparison["moved"]:
        before, after = (number("recall_at_t10", move[end]) for end in ("before", "after"))
        lines.append(f"  moved: {move['case_id']} {before} → {after}")
    if unpaired := comparison["unpaired"]:
        named = "case has" if len(unpaired) == 1 else "cases have"
        lines.append(f"  {len(unpaired)} {named} no counterpart in the baseline")
    return [*lines, *(f"  note: {note}" for note in comparison["notes"])]


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def sanity_lines(band: Plain) -> list[str]:
    """What the best and the worst possible summaries score, and what is wrong with it if anything is."""
    if band["echo_at_start"] is None or band["echo_at_horizon"] is None or band["silence"] is None:
        return ["sanity band: no fact to score"]
    lines = [
        f"sanity band: echo of the intake {band['echo_at_start']:.2f} (at the horizon, where facts have changed, "
        f"{band['echo_at_horizon']:.2f}), empty summary {band['silence']:.2f}"
    ]
    lines += [f"  broken: {fault}" for fault in band["faults"]]
    if band["faults"]:
        lines += [f"  not found in its own intake: {fact}" for fact in band["missed"][:_SHOWN]]
    return lines
