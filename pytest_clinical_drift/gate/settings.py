"""What a run is asked for, by pytest's options or by a Python call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_clinical_drift.cases.sharding import Shard


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of the plugin, with their defaults; paths are resolved."""

    model: str
    root: Path
    """Results and the project's thresholds are looked up from here."""
    settings: Mapping[str, str] = field(default_factory=dict)
    system: Path | None = None
    probe: Path | None = None
    """The project's own request for a summary; None: the bundled one."""
    cases: Path | None = None
    """`long` as it is: the bundled long cases."""
    thresholds: Path | None = None
    judges: tuple[str, ...] = ()
    """Who decides what the rules leave unclear: a judge, reviews, or both."""
    judge_settings: Mapping[str, str] = field(default_factory=dict)
    ner: str = "lexicon"
    embedder: str | None = None
    """Model or folder for session goal alignment; None: the default one, where its weights are at hand."""
    stride: int | None = None
    results: Path = Path("results")
    store: Path = Path(".clinical-drift/store.sqlite")
    baseline: Path | None = None
    repeats: int = 1
    prices: tuple[float, float] | None = None
    """Of a million prompt and completion tokens, in whatever currency."""
    judge_prices: tuple[float, float] | None = None
    shard: Shard | None = None
    """The part of the cases that is run; None: all."""
    budget: str | None = None
    """Time, tokens or cost of the run at most."""
    strict: bool = False
    turns: int | None = None
    """Turns to which every case is stretched; None: its own."""
    interludes: Path | None = None
    single_message: bool = False
    pdsqi: bool = False
    record: str = "first-message"
    probe_every_turn: bool = False
