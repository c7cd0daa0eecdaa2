"""Command-line options and ini keys, read into one settings value."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from .errors import InputError
from .run import RunSettings


class Configuration(Protocol):
    """The part of pytest's config that is needed here."""

    option: Any
    rootpath: Path

    @property
    def invocation_params(self) -> Any: ...

    def getini(self, name: str) -> Any: ...


def read_settings(config: Any, root: Path) -> RunSettings:
    """Options win over ini keys; paths on the command line are relative to where pytest was started."""
    given: Configuration = config
    return RunSettings(
        model=given.option.drift_model,
        root=root,
        settings=_pairs(given.option.drift_set),
        system=_path(given, "drift_system"),
        cases=_path(given, "drift_cases"),
        thresholds=_path(given, "drift_thresholds"),
        judge=_text(given, "drift_judge") or "rules",
        ner=_text(given, "drift_ner") or "lexicon",
        tier=_text(given, "drift_tier") or "none",
        embedder=given.getini("drift_embedder") or None,
        stride=_number(given, "drift_nli_stride"),
        results=Path(_text(given, "drift_results") or "results"),
        store=Path(_text(given, "drift_store") or ".clinical-drift/store.sqlite"),
        baseline=_path(given, "drift_baseline"),
        repeats=_number(given, "drift_repeats") or 1,
        strict=given.option.drift_strict,
    )


def _text(config: Configuration, name: str) -> str | None:
    value = getattr(config.option, name)
    return value if value is not None else (config.getini(name) or None)


def _path(config: Configuration, name: str) -> Path | None:
    value = getattr(config.option, name)
    if value is not None:
        return Path(config.invocation_params.dir, value)
    from_ini = config.getini(name)
    return Path(config.rootpath, from_ini) if from_ini else None


def _number(config: Configuration, name: str) -> int | None:
    text = _text(config, name)
    if text is None:
        return None
    option = "--" + name.replace("_", "-")
    try:
        number = int(text)
    except ValueError:
        raise InputError(f"{option}: expected a whole number, found {text!r}") from None
    if number < 1:
        raise InputError(f"{option}: expected at least 1, found {number}")
    return number


def _pairs(texts: list[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise InputError(f"--drift-set {text}: write KEY=VALUE, for example temperature=0")
        pairs[key.strip()] = value.strip()
    return pairs
