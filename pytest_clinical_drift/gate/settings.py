"""What a run is asked for: the options and ini keys that the user gave, checked, as one value."""

import difflib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pytest_clinical_drift.cases.sharding import Shard, parse_shard
from pytest_clinical_drift.conversation.dialogue import RECORD_PLACES, RecordPlace
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.inside_pytest import ini_keys
from pytest_clinical_drift.gate.options import OPTIONS, RESULTS, STORE, destination

_INI_ONLY = ("drift_embedder", "drift_summary_turns", "drift_junit_properties")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run is asked for, by pytest's options or by a Python call."""

    model: str
    root: Path
    """Results, store and the project's thresholds are looked up from here."""
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
    nli_stride: int | None = None
    results: Path = Path(RESULTS)
    store: Path = Path(STORE)
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
    record: RecordPlace = "first-message"
    probe_every_turn: bool = False


def read_settings(config: pytest.Config) -> Settings:
    """What the user asked for: options win over ini keys, paths are relative to where they were written."""
    option = config.option
    shard, store = None, Path(STORE)
    if option.drift_shard is not None:
        shard = parse_shard(option.drift_shard)
        store = store.with_stem(f"{store.stem}-{shard.index}-of-{shard.count}")  # shards side by side resume their own
    read_alike: dict[Callable[[pytest.Config, str], Any], tuple[str, ...]] = {
        path_option: ("system", "probe", "thresholds", "baseline", "interludes"),
        _number: ("nli_stride", "repeats", "turns"),
        _prices: ("prices", "judge_prices"),
        _text: ("ner", "budget"),
        switched_on: ("strict", "single_message", "pdsqi"),
    }
    given: dict[str, Any] = {
        **{name: read(config, f"drift_{name}") for read, names in read_alike.items() for name in names},
        "cases": Path("long") if _text(config, "drift_cases") == "long" else path_option(config, "drift_cases"),
        "embedder": config.getini("drift_embedder") or None,
        "record": _one_of(_text(config, "drift_record"), "--drift-record", RECORD_PLACES),
    }
    _refuse_unknown_keys(config)
    settings = Settings(
        model=option.drift_model,
        root=config.rootpath,
        settings=read_pairs([*config.getini("drift_set"), *option.drift_set], "--drift-set"),
        judges=_judges(config),
        judge_settings=read_pairs([*config.getini("drift_judge_set"), *option.drift_judge_set], "--drift-judge-set"),
        results=Path(_text(config, "drift_results") or RESULTS),
        store=Path(_text(config, "drift_store") or store),
        shard=shard,
        probe_every_turn=_one_of(config.getini("drift_summary_turns"), "drift_summary_turns", ("schedule", "all"))
        == "all",
        **{name: value for name, value in given.items() if value is not None},
    )
    if settings.interludes is not None and settings.turns is None:
        raise InputError("--drift-interludes needs --drift-turns N: interludes fill the turns that a case lacks")
    return settings


def _refuse_unknown_keys(config: pytest.Config) -> None:
    """A misspelt ini key would be a warning at most, and the gate another one than was meant."""
    for key in ini_keys(config):
        if key.startswith("drift_"):
            try:
                config.getini(key)
            except ValueError:
                known = [*(destination(name) for name, _, has_ini in OPTIONS if has_ini), *_INI_ONLY]
                near = difflib.get_close_matches(key, known, 1)
                meant = f"did you mean {near[0]}?" if near else f"known ones: {', '.join(known)}"
                raise InputError(f"{config.inipath or '-o'}: unknown key {key!r}; {meant}") from None


def _text(config: pytest.Config, name: str) -> str | None:
    value = getattr(config.option, name)
    return value if value is not None else (config.getini(name) or None)


def switched_on(config: pytest.Config, name: str) -> bool:
    """By the option, or by the ini key."""
    return bool(getattr(config.option, name) or config.getini(name))


def path_option(config: pytest.Config, name: str) -> Path | None:
    """From where pytest was started on the command line, from the root in an ini file."""
    if (value := getattr(config.option, name)) is not None:
        return Path(config.invocation_params.dir, value)
    from_ini = config.getini(name)
    return Path(config.rootpath, from_ini) if from_ini else None


def _number(config: pytest.Config, name: str) -> int | None:
    if (text := _text(config, name)) is None:
        return None
    try:
        number = int(text)
    except ValueError:
        raise InputError(f"{_option(name)}: expected a whole number, found {text!r}") from None
    if number < 1:
        raise InputError(f"{_option(name)}: expected at least 1, found {number}")
    return number


def _prices(config: pytest.Config, name: str) -> tuple[float, float] | None:
    if (text := _text(config, name)) is None:
        return None
    try:
        prompt, completion = map(float, text.split(","))
    except ValueError:
        prompt = completion = math.nan
    if not (0 <= prompt < math.inf and 0 <= completion < math.inf):
        raise InputError(f"{_option(name)}: expected two prices of 0 or more such as 2.5,10, found {text!r}")
    return prompt, completion


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _one_of(value: str | None, option: str, known: Sequence[str]) -> str:
    """The value of an option that has a few; the first of them unless given."""
    if value and value not in known:
        raise InputError(f"{option}: expected one of {', '.join(known)}, found {value!r}")
    return value or known[0]


def _judges(config: pytest.Config) -> tuple[str, ...]:
    """The judges named; a reviews file is looked for where its option stands."""
    given, base = config.option.drift_judge or [], config.invocation_params.dir
    if not given:
        given, base = str(config.getini("drift_judge") or "").split(), config.rootpath
    return tuple(
        f"reviews:{Path(base, spec.removeprefix('reviews:'))}" if spec.startswith("reviews:") else spec
        for spec in given
    )


def read_pairs(texts: Iterable[str], option: str) -> dict[str, str]:
    """KEY=VALUE texts of a repeatable option."""
    pairs: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise InputError(f"{option} {text}: write KEY=VALUE, for example temperature=0")
        key, value = key.strip(), value.strip()
        # the one setting that may be given several times
        pairs[key] = f"{pairs[key]}\n{value}" if key == "header" and key in pairs else value
    return pairs
