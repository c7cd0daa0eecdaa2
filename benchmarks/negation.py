"""Precision, recall and F1 for negated concepts, beside negspacy's on the same rows.

    python -m benchmarks.negation ROWS.tsv

Each row: report, concept, sentence, Affirmed or Negated. The concept stands in capitals in the sentence. Labels are for
negation only: uncertain and past findings are affirmed. Exits 0 when F1 reaches the goal.
"""

import csv
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from pytest_clinical_drift.evidence.mentions.context import mention_context

GOAL = 0.965
Row = tuple[str, int, int, bool]  # sentence, start, end, negated


@dataclass(frozen=True)
class Score:
    """Counts of one method for the class Negated."""

    hits: int
    false_alarms: int
    misses: int

    @property
    def precision(self) -> float:
        """Of what was called negated, how much is."""
        return self.hits / max(1, self.hits + self.false_alarms)

    @property
    def recall(self) -> float:
        """Of what is negated, how much was called so."""
        return self.hits / max(1, self.hits + self.misses)

    @property
    def f1(self) -> float:
        """Harmonic mean of both."""
        return 2 * self.hits / max(1, 2 * self.hits + self.false_alarms + self.misses)

    def line(self, name: str) -> str:
        """One printed line."""
        return f"{name:10} precision {self.precision:.3f}  recall {self.recall:.3f}  F1 {self.f1:.3f}"


def locate(concept: str, sentence: str) -> tuple[int, int]:
    """The concept in capitals; failing that, in any case."""
    pattern = r"\s+".join(re.escape(word) for word in concept.upper().split())
    found = re.search(pattern, sentence) or re.search(pattern, sentence, re.IGNORECASE)
    return found.span() if found else (0, len(sentence))


def read_rows(path: Path) -> list[Row]:
    """Rows with the place of their concept."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))[1:]
    return [(sentence, *locate(concept, sentence), label == "Negated") for _, concept, sentence, label in rows]


def score(rows: Iterable[Row], predict: Callable[[str, int, int], bool], *, show: bool = False) -> Score:
    """Counts over all rows; `show` prints the errors."""
    hits = false_alarms = misses = 0
    for sentence, start, end, negated in rows:
        predicted = predict(sentence, start, end)
        hits += predicted and negated
        false_alarms += predicted and not negated
        misses += negated and not predicted
        if show and predicted != negated:
            kind = "false alarm" if predicted else "miss"
            print(f"{kind}: [{sentence[start:end]}] {' '.join(sentence.split())[-300:]}")
    return Score(hits, false_alarms, misses)


def negspacy_predictor() -> Callable[[str, int, int], bool] | None:
    """negspacy on a blank English pipeline with the concept given as entity, or None when it is not installed."""
    try:
        import spacy
        from negspacy.negation import Negex  # noqa: F401 - registers the component
    except ImportError:
        return None
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    negex = spacy.blank("en").add_pipe("negex", config={"ent_types": []})

    def predict(sentence: str, start: int, end: int) -> bool:
        document = nlp(sentence)
        span = document.char_span(start, end, label="ENTITY", alignment_mode="expand")
        if span is None:
            return False
        document.ents = [span]
        return bool(negex(document).ents[0]._.negex)

    return predict


def main(arguments: list[str]) -> int:
    """Print both scores; 0 when ours reaches the goal."""
    rows = read_rows(Path(arguments[0]))
    negspacy = negspacy_predictor()
    print(score(rows, negspacy).line("negspacy") if negspacy else "negspacy not installed")
    ours = score(rows, lambda text, start, end: mention_context(text, start, end).negated, show="--errors" in arguments)
    print(ours.line("ours") + f"  rows {len(rows)}  goal {GOAL}")
    return 0 if ours.f1 >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
