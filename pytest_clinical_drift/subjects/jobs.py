"""Replies to generate, and how far each of them is."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from pytest_clinical_drift.subjects.sampling import Choice


@dataclass(frozen=True, slots=True)
class Job:
    """One reply to generate."""

    prompt: tuple[int, ...]
    conversation: Hashable
    keeps: bool
    """Its tokens stay cached for the conversation's next prompt; those of a summary are dropped."""
    limit: int
    """Most new tokens."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Generated:
    """The tokens of a reply, without the one that ended it."""

    tokens: list[int]
    truncated: bool


@dataclass(slots=True)
class Line:
    """A job while it is being generated, from one batch to the next."""

    job: Job
    choice: Choice
    """How its next token is chosen."""
    made: list[int] = field(default_factory=list)
    prefix: int = 0
    """Tokens that were cached when the present batch began."""
    unread: int = 0
    """Tokens that the present batch had to read before it could go on."""
    fed: int = 0
    """Tokens that it read since then, one per step."""
    done: bool = False
    uncertain: bool = False
    """Two candidates were too close to call in a batch."""

    @property
    def tokens(self) -> list[int]:
        """Prompt and reply so far."""
        return [*self.job.prompt, *self.made]

    def begin(self, prefix: int) -> None:
        """A new batch begins, with so much in the cache."""
        self.prefix, self.unread, self.fed = prefix, len(self.job.prompt) + len(self.made) - prefix, 0
