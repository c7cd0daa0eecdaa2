"""What every public set is turned into: readings and questions of our kinds, with what each annotator said."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.readings import Reading


class Statement(NamedTuple):
    """A statement of a text; the label is true where an annotator called it wrong."""

    text: str
    wrong: bool


@dataclass(frozen=True, slots=True)
class ExternalItem:
    """One text with labels: statements of a reading, or one answer to a question."""

    item: Reading | Question
    statements: tuple[Statement, ...] = ()
    """Of a reading."""
    labels: tuple[bool, ...] = ()
    """Of a question: what each annotator said, true where the claim is missing."""

    @property
    def unanimous(self) -> bool:
        return len(set(self.labels)) <= 1

    @property
    def wrong(self) -> bool:
        """The label as published: the majority of the annotators."""
        return 2 * sum(self.labels) > len(self.labels)


def agreement_of_annotators(items: Sequence[ExternalItem]) -> dict[str, tuple[int, int]] | None:
    """How often one annotator agrees with the others where those agree: on what is missing, and on what is there."""
    counts = {"wrong": [0, 0], "right": [0, 0]}
    for item in items:
        for place, own in enumerate(item.labels):
            others = {label for other, label in enumerate(item.labels) if other != place}
            if len(others) == 1:
                said = others.pop()
                counts["wrong" if said else "right"][0] += own == said
                counts["wrong" if said else "right"][1] += 1
    if not counts["wrong"][1] + counts["right"][1]:
        return None
    return {name: (hits, of) for name, (hits, of) in counts.items()}
