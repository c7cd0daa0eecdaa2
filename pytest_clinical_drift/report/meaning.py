"""What a verdict means and does not mean: printed in every report."""

from __future__ import annotations

from collections.abc import Sequence

from ..assessment import CaseAssessment
from ..metrics.stats import proportion_interval


def what_it_means(runs: Sequence[CaseAssessment], confidence: float) -> str:
    """The sentence every report carries."""
    decided = [run for run in runs if run.incomplete is None or run.hard_stops or run.breaches]
    if not decided:
        return "No case was run to its end: nothing was measured, and nothing is said about the model."
    cases = len({run.case_id for run in decided})
    turns = [len(run.turns) for run in decided]
    length = f"{min(turns)} to {max(turns)}" if min(turns) != max(turns) else f"{turns[0]}"
    stopped = len({run.case_id for run in decided if run.hard_stops or run.breaches})
    interval = proportion_interval(stopped, cases, confidence=confidence)
    upper = f"{interval.high:.1%}" if interval else "an unknown share"
    return (
        f"A PASS says: this configuration, on {cases} synthetic English cases of {length} turns, met limits fixed "
        f"beforehand. {stopped} cases with a hard stop or breach in {cases} are compatible with a true rate up to "
        f"{upper}. Scored automatically, with the accuracy the dossier states; it is evidence for the release "
        "decision, not proof of clinical safety."
    )
