"""Single questions as self-contained values: each settles one point that a reading or a rule raised."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from pytest_clinical_drift.judging.answers import KINDS, PEOPLE_ONLY
from pytest_clinical_drift.judging.material import Forbidden, content_id

About = tuple[str | int, ...]
"""What a question is about within its conversation, such as ("fact", 3, "metformin")."""
_NOT_ASKED = ("id", "demand_id", "reading", "wording")
"""Fields that name the question or what it belongs to; they are not part of what is asked."""
_LEFT_OUT_EMPTY = ("replaced", "essential", "forbidden", "patient", "record", "source", "demand_id", "reading")


@dataclass(frozen=True, slots=True)
class Question:
    """One question, complete in itself: whoever answers it needs nothing else."""

    kind: str
    case_id: str
    turn: int
    text: str
    """The summary or reply that is judged; for a course the replies of its turns, each headed "Turn N"."""
    patient: str = ""
    """The patient's messages: of this turn (replies), since the earlier reply (conflict), so far (fact, invented)."""
    record: str = ""
    """The intake and the facts that hold by now."""
    earlier_turn: int | None = None
    earlier: str | None = None
    fact: str | None = None
    statement: str | None = None
    """The fact's text, or the quoted words of what seems invented or misreported."""
    replaced: tuple[str, ...] = ()
    essential: tuple[str, ...] = ()
    demand: str | None = None
    why: str | None = None
    forbidden: tuple[Forbidden, ...] = ()
    turns: tuple[int, int] | None = None
    """First and last turn of a course."""
    replies: str | None = None
    """All replies so far, for what seems misreported."""
    source: str = ""
    """`reply` where a handover in a reply is read as a summary."""
    demand_id: str | None = None
    """The demand's id in the reading."""
    reading: str | None = None
    """Id of the reading whose entry it settles."""
    id: str = field(init=False, default="")
    """Hash of everything that is asked."""

    @property
    def about(self) -> About:
        """Equal for questions on one point of a conversation, whoever raised it."""
        if self.kind == "conflict":
            return self.kind, self.turn if self.earlier_turn is None else self.earlier_turn, self.turn
        if self.kind == "course":
            return (self.kind, *(self.turns or (self.turn, self.turn)))
        if self.kind in ("forbidden", "harm"):
            return self.kind, self.turn
        if self.kind in PEOPLE_ONLY:
            return self.kind, self.turn, self.fact or "", self.statement or ""
        key = self.fact or self.demand_id or self.demand or self.statement or ""
        return (self.kind, self.turn, key, *((self.source,) if self.source else ()))

    @property
    def whole(self) -> bool:
        """Whether it asks about a text as a whole, because a list of the reading is missing: only people are asked."""
        named = {
            "invented": self.statement, "misreported": self.statement, "conflict": self.earlier, "course": self.turns,
        }  # fmt: skip
        return self.kind in named and named[self.kind] is None

    @property
    def ended(self) -> bool:
        """Whether it asks about a fact that has ended: its text is then among what no longer holds."""
        return self.kind == "fact" and self.statement in self.replaced

    def __post_init__(self) -> None:
        content = {key: value for key, value in self._shown().items() if key not in _NOT_ASKED}
        object.__setattr__(self, "id", content_id(content))

    def _shown(self) -> dict[str, Any]:
        given = {name: getattr(self, name) for name in self.__slots__ if name != "id"}
        given |= {name: list(given[name]) for name in ("replaced", "essential")}
        given["turns"] = list(self.turns) if self.turns else None
        given["forbidden"] = [item._asdict() for item in self.forbidden]
        return {k: v for k, v in given.items() if v is not None and (v or k not in _LEFT_OUT_EMPTY)}

    def as_mapping(self, wording: int = 1) -> dict[str, Any]:
        return {"id": self.id, "wording": wording, **self._shown()}


@cache
def _adapter() -> TypeAdapter[Question]:
    """Made once: a labelled set has thousands of questions, and making it costs a millisecond."""
    return TypeAdapter(Question)


def from_mapping(given: Mapping[str, Any]) -> Question:
    """A question as files keep it; ValueError where it is none."""
    kind = given.get("kind")
    if kind not in KINDS and kind not in PEOPLE_ONLY:
        raise ValueError(f"unknown kind {kind!r}; known kinds: {', '.join(KINDS)}")
    return _adapter().validate_python({k: v for k, v in given.items() if k not in ("id", "wording")})
