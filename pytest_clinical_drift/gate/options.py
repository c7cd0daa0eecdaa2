"""Command-line options and ini keys, read into one settings value."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Protocol

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.judge_options import read_pairs
from pytest_clinical_drift.gate.run import RunSettings


class Configuration(Protocol):
    """The part of pytest's config that is needed here."""

    option: Any
    rootpath: Path

    @property
    def invocation_params(self) -> Any: ...

    def getini(self, name: str) -> Any: ...


def read_settings(config: Any) -> RunSettings:
    """Options win over ini keys; paths on the command line are relative to where pytest was started."""
    given: Configuration = config
    return RunSettings(
        model=given.option.drift_model,
        root=given.rootpath,
        settings=read_pairs(given.option.drift_set, "--drift-set"),
        system=_path(given, "drift_system"),
        cases=_path(given, "drift_cases"),
        thresholds=_path(given, "drift_thresholds"),
        probe=_path(given, "drift_probe"),
        judges=_judges(given),
        judge_settings=read_pairs(given.option.drift_judge_set, "--drift-judge-set"),
        ner=_text(given, "drift_ner") or "lexicon",
        embedder=given.getini("drift_embedder") or None,
        stride=_number(given, "drift_nli_stride"),
        results=Path(_text(given, "drift_results") or "results"),
        store=Path(_text(given, "drift_store") or ".clinical-drift/store.sqlite"),
        baseline=_path(given, "drift_baseline"),
        repeats=_number(given, "drift_repeats") or 1,
        prices=_prices(given),
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


def _prices(config: Configuration) -> tuple[float, float] | None:
    text = _text(config, "drift_prices")
    if text is None:
        return None
    try:
        prompt, completion = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--drift-prices: expected two numbers such as 2.5,10, found {text!r}") from None
    if not (0 <= prompt < math.inf and 0 <= completion < math.inf):
        raise InputError(f"--drift-prices: expected prices of 0 or more, found {text!r}")
    return prompt, completion


def _judges(config: Configuration) -> tuple[str, ...]:
    """The judges named; a reviews file is looked for where its option stands."""
    given = config.option.drift_judge or []
    base = config.invocation_params.dir
    if not given:
        given, base = str(config.getini("drift_judge") or "").split(), config.rootpath
    return tuple(
        f"reviews:{Path(base, spec.removeprefix('reviews:'))}" if spec.startswith("reviews:") else spec
        for spec in given
    )
