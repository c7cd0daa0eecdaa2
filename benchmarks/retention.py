"""Agreement of `assess_retention` with labelled summaries.

    python -m benchmarks.retention LABELLED.jsonl [--errors]

Prints, by style and by frame of the fact, four-class accuracy and, for retained+partial against contradicted+absent,
sensitivity, specificity and balanced accuracy. Exits 0 only at 0.93 balanced and 0.80 four-class or better.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

from pytest_clinical_drift.evidence.facts.fact import parse_fact
from pytest_clinical_drift.evidence.facts.retention import assess_retention

STATED = {"retained", "partial"}
GOAL_BALANCED, GOAL_FOUR_CLASS = 0.93, 0.80


class Tally:
    """Counts of (label, found) pairs."""

    def __init__(self) -> None:
        self.pairs: Counter[tuple[str, str]] = Counter()

    def share(self, numerator: int, denominator: int) -> float | None:
        return numerator / denominator if denominator else None

    @property
    def total(self) -> int:
        return sum(self.pairs.values())

    @property
    def four_class(self) -> float | None:
        return self.share(sum(n for (label, found), n in self.pairs.items() if label == found), self.total)

    def rate(self, *, stated: bool) -> float | None:
        """Sensitivity (stated facts found stated) or specificity (facts not stated found so)."""
        of = {pair: n for pair, n in self.pairs.items() if (pair[0] in STATED) == stated}
        return self.share(sum(n for (_, found), n in of.items() if (found in STATED) == stated), sum(of.values()))

    @property
    def balanced(self) -> float | None:
        rates = [rate for rate in (self.rate(stated=True), self.rate(stated=False)) if rate is not None]
        return sum(rates) / 2 if len(rates) == 2 else None

    def line(self, name: str) -> str:
        figures = (self.four_class, self.rate(stated=True), self.rate(stated=False), self.balanced)
        shown = "".join("       –" if figure is None else f"{figure:8.3f}" for figure in figures)
        return f"{name:<22}{self.total:>6}{shown}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--errors", action="store_true", help="print every disagreement")
    arguments = parser.parse_args()
    by_style: dict[str, Tally] = defaultdict(Tally)
    by_frame: dict[str, Tally] = defaultdict(Tally)
    overall = Tally()
    for row in map(json.loads, arguments.path.read_text(encoding="utf-8").splitlines()):
        found = assess_retention(row["summary"], row["entities"])
        for label, retention in zip(row["labels"], found, strict=True):
            pair = (label, retention.status)
            for tally in (overall, by_style[row["style"]], by_frame[parse_fact(retention.entity).frame]):
                tally.pairs[pair] += 1
            if arguments.errors and label != retention.status:
                mark = "!" if (label in STATED) != (retention.status in STATED) else " "
                quotes = " … ".join(span.quote for span in retention.evidence)
                found_text = f"found {retention.status} ({retention.reason}) [{quotes}]"
                print(f"{mark} {row['id']} {retention.entity!r}: {label}, {found_text}")
    head = f"{'':<22}{'facts':>6}{'4-class':>8}{'sens':>8}{'spec':>8}{'balanced':>9}"
    for title, tallies in (("style", by_style), ("frame", by_frame)):
        print(f"\nby {title}\n{head}")
        for name in sorted(tallies):
            print(tallies[name].line(name))
    print(f"\n{head}\n{overall.line('all')}")
    balanced, four_class = overall.balanced or 0.0, overall.four_class or 0.0
    print(
        f"balanced accuracy {balanced:.3f} (goal {GOAL_BALANCED}), four-class {four_class:.3f} (goal {GOAL_FOUR_CLASS})"
    )
    return 0 if balanced >= GOAL_BALANCED and four_class >= GOAL_FOUR_CLASS else 1


if __name__ == "__main__":
    sys.exit(main())
