"""Marks on the fields of a record: what has to agree between shards of one run, and between runs that are compared.

The checks of shards and the comparison of runs follow from the marks. A field that is added to a marked record needs
no other place, and one without a mark is refused when the class is made.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from pydantic import BaseModel


class Mark(StrEnum):
    """What a value decides."""

    IDENTITY = "identity"
    """What was tested. Shards of one run agree in it; runs that are compared may differ."""
    SCORING = "scoring"
    """What a figure means. Runs that are compared agree in it, and so do shards."""
    SHARED = "shared"
    """What else decides on the verdict: limits, calibration, ratings. Shards agree in it; figures mean the same."""
    CONDUCT = "conduct"
    """How the run was carried out. Nothing has to agree in it."""


OF_ONE_RUN = (Mark.IDENTITY, Mark.SCORING, Mark.SHARED)
"""What the shards of a run have in common."""


@dataclass(frozen=True, slots=True)
class Marked:
    """The mark of a field, and how a difference in it is told."""

    mark: Mark
    words: str = ""
    """Its name in a sentence; empty for what nothing has to agree in."""
    shown: bool = False
    """Both values are told: hashes and whole settings would tell a reader nothing."""
    only: str = ""
    """Of a mapping the one key that counts; empty where all do."""

    def counted(self, value: Any) -> Any:
        """The part of a field's value that counts."""
        return value.get(self.only) if self.only and isinstance(value, Mapping) else value


CONDUCT = Marked(Mark.CONDUCT)


@dataclass(frozen=True, slots=True)
class Difference:
    """A field in which two records differ."""

    field: str
    """With those of the records around it: `hashes.cases`."""
    words: str
    ours: Any
    theirs: Any
    shown: bool

    @property
    def values(self) -> str:
        """Both values, where they help a reader."""
        plain = all(isinstance(value, str | int) for value in (self.ours, self.theirs))
        return f" ({self.ours}, {self.theirs})" if self.shown and plain else ""


class MarkedRecord(BaseModel):
    """A record whose every field is marked, or is a marked record itself."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        for name, field in cls.model_fields.items():
            if not _marks_in(field.metadata):
                raise TypeError(f"{cls.__name__}.{name} has no mark; annotate it with Marked(…)")

    @classmethod
    def marks(cls) -> Iterator[tuple[str, Marked]]:
        """Every field with its mark."""
        for name, field in cls.model_fields.items():
            for marked in _marks_in(field.metadata):
                yield name, marked

    def differences(self, other: Self, marks: Collection[Mark]) -> list[Difference]:
        """In which fields with one of these marks two records of one class differ."""
        found: list[Difference] = []
        for name, marked in self.marks():
            ours = getattr(self, name)
            theirs = getattr(other, name)
            if isinstance(ours, MarkedRecord) and isinstance(theirs, type(ours)):
                found += [_within(name, difference) for difference in ours.differences(theirs, marks)]
            elif marked.mark in marks and marked.counted(ours) != marked.counted(theirs):
                values = (marked.counted(ours), marked.counted(theirs))
                found.append(Difference(name, marked.words, *values, shown=marked.shown))
        return found


def _within(name: str, difference: Difference) -> Difference:
    return Difference(
        f"{name}.{difference.field}", difference.words, difference.ours, difference.theirs, difference.shown
    )


def _marks_in(metadata: Collection[Any]) -> list[Marked]:
    return [item for item in metadata if isinstance(item, Marked)]
