"""What is known of a patient at one moment."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Record:
    """The patient as remembered; built anew for every request."""

    statements: list[str]
    """Third-person sentences that hold now."""
    news: list[str] = field(default_factory=list)
    """What the patient newly reported, in the third person."""
    changed: list[str] = field(default_factory=list)
    """What changed during the conversation, by name."""
    pronoun: str = "they"

    @property
    def text(self) -> str:
        """Everything that holds now, as one text."""
        return " ".join((*self.statements, *self.news))
