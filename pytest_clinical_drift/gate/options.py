"""The options as pytest's parser gets them, and the settings they are read into.

Loaded in every run, so nothing but the standard library and pytest is imported here.
"""

import argparse
import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from pytest_clinical_drift.cases.sharding import Shard, parse_shard
from pytest_clinical_drift.errors import InputError


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


class _Once(argparse.Action):
    """An option that is given once: of two models nobody knows which verdict was meant."""

    def __call__(
        self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: str | None = None
    ) -> None:
        earlier = getattr(namespace, self.dest, None)
        if earlier is not None and earlier != values:
            advice = "one run gates one: call pytest once for each, then clinical-drift compare"
            raise pytest.UsageError(f"{option_string} is given twice ({earlier}, {values}); {advice}")
        setattr(namespace, self.dest, values)


def _takes(metavar: str, help: str, **more: Any) -> dict[str, Any]:
    return {"metavar": metavar, "help": help, **more}


_REPEATED: dict[str, Any] = {"action": "append", "default": []}
_SWITCH: dict[str, Any] = {"action": "store_true", "default": False}
_ADDED_UP, _BETWEEN = ("header",), "\n"
"""Settings that may be given several times, and what stands between their values."""
_LINES: Literal["linelist"] = "linelist"
_ON_OFF: Literal["bool"] = "bool"
"""Types of ini keys; True: a text."""
_INI_ONLY = ("drift_embedder", "drift_probes", "drift_junit_properties")
RECORD_PLACES = ("first-message", "system", "context")
_PATHS = ("system", "probe", "thresholds", "baseline", "interludes")
_NUMBERS, _PRICES = ("nli_stride", "repeats", "turns"), ("prices", "judge_prices")
_SWITCHES = ("strict", "single_message", "pdsqi")
"""Options whose value is read alike, by the name of their setting."""
MODEL = _takes(
    "SPEC",
    "the model to gate: control:NAME, replay:PATH, server:MODEL@URL, hf:REPO_OR_PATH, python:module:factory",
    action=_Once,
)
SLATES = _takes("PATH", "a frozen slate folder of a ranking model to gate", action=_Once)
SHORT = {"--model": "--drift-model", "--slate": "--drift-slate"}
"""Names that a project's own conftest may have taken, and ours for them."""
_JUDGES = (
    "who decides what the rules leave unclear: server:MODEL@URL, hf:REPO_OR_PATH, nli[:MODEL], "
    "python:module:factory, reviews:FILE; repeatable for a judge and reviews (default: rules only)"
)

# option, arguments of addoption, whether it is a thing that a project sets once (an ini key of the same name)
OPTIONS: tuple[tuple[str, dict[str, Any], bool | Literal["linelist", "bool"]], ...] = (
    ("--drift-model", MODEL, True),
    ("--drift-set", _takes("KEY=VALUE", "a setting of the model", **_REPEATED), _LINES),
    ("--drift-system", _takes("FILE", "system prompt file, tested together with the model"), True),
    ("--drift-cases", _takes("PATH", "folder or file of cases, or long (default: the bundled ones)"), True),
    (
        "--drift-thresholds",
        _takes("FILE", "thresholds file (default: thresholds.yaml in rootdir, else the bundled one)"),
        True,
    ),
    ("--drift-judge", _takes("SPEC", _JUDGES, action="append"), True),
    ("--drift-judge-set", _takes("KEY=VALUE", "a setting of the judge", **_REPEATED), _LINES),
    ("--drift-probe", _takes("FILE", "your own request for a summary (default: the bundled one)"), True),
    ("--drift-ner", _takes("NER", "entity extractor: lexicon (default) or scispacy[:MODEL]"), True),
    ("--drift-nli-stride", _takes("N", "judge every Nth adjacent pair of advice (1; 2 with nli)"), True),
    ("--drift-results", _takes("DIR", "where results go, from rootdir (default: results/)"), True),
    ("--drift-store", _takes("FILE", "reply cache (default: .clinical-drift/store.sqlite)"), True),
    ("--drift-baseline", _takes("FILE", "results file or folder of an earlier run; fail if worse"), True),
    ("--drift-repeats", _takes("N", "conversations per case, for sampled decoding (default: 1)"), True),
    ("--drift-prices", _takes("IN,OUT", "price of a million prompt and completion tokens, for the run's cost"), True),
    ("--drift-judge-prices", _takes("IN,OUT", "same, for the judge's tokens"), True),
    ("--drift-strict", {**_SWITCH, "help": "CAUTION fails too"}, _ON_OFF),
    ("--drift-turns", _takes("N", "stretch every case to N turns with interludes (default: its own turns)"), True),
    ("--drift-interludes", _takes("PATH", "file or folder of interludes (default: the bundled ones)"), True),
    ("--drift-single-message", {**_SWITCH, "help": "also ask for a summary of the transcript in one message"}, _ON_OFF),
    ("--drift-record", _takes("WHERE", "where the record goes: first-message (default), system or context"), True),
    ("--drift-pdsqi", {**_SWITCH, "help": "also rate summaries by PDSQI-9 (needs a judge)"}, _ON_OFF),
    ("--drift-shard", _takes("I/N", "run the Ith of N shards; clinical-drift merge gives the verdict"), False),
    ("--drift-budget", _takes("TIME", "start no new request after TIME, such as 55m; also tokens=N or cost=N"), True),
    ("--drift-slate", SLATES, False),
)


def destination(option: str) -> str:
    """The attribute of an option, and its ini key."""
    return option.removeprefix("--").replace("-", "_")


def read_settings(config: pytest.Config) -> Settings:
    """What the user asked for: options win over ini keys, paths are relative to where they were written."""
    option = config.option
    shard = parse_shard(option.drift_shard) if option.drift_shard is not None else None
    of = f"-{shard.index}-of-{shard.count}" if shard else ""  # shards side by side resume their own
    given: dict[str, Any] = {
        **{name: path_option(config, f"drift_{name}") for name in _PATHS},
        **{name: _number(config, f"drift_{name}") for name in _NUMBERS},
        **{name: _prices(config, f"drift_{name}") for name in _PRICES},
        **{name: _text(config, f"drift_{name}") for name in ("ner", "budget")},
        **{name: switched_on(config, f"drift_{name}") for name in _SWITCHES},
        "cases": Path("long") if _text(config, "drift_cases") == "long" else path_option(config, "drift_cases"),
        "embedder": config.getini("drift_embedder") or None,
    }
    _refuse_unknown_keys(config)
    settings = Settings(
        model=option.drift_model,
        root=config.rootpath,
        settings=read_pairs([*config.getini("drift_set"), *option.drift_set], "--drift-set"),
        judges=_judges(config),
        judge_settings=read_pairs([*config.getini("drift_judge_set"), *option.drift_judge_set], "--drift-judge-set"),
        results=Path(_text(config, "drift_results") or "results"),
        store=Path(_text(config, "drift_store") or f".clinical-drift/store{of}.sqlite"),
        shard=shard,
        record=_one_of(_text(config, "drift_record"), "--drift-record", RECORD_PLACES),
        probe_every_turn=_one_of(config.getini("drift_probes"), "drift_probes", ("schedule", "all")) == "all",
        **{name: value for name, value in given.items() if value is not None},
    )
    if settings.interludes is not None and settings.turns is None:
        raise InputError("--drift-interludes needs --drift-turns N: interludes fill the turns that a case lacks")
    return settings


def _refuse_unknown_keys(config: pytest.Config) -> None:
    """A misspelt ini key would be a warning at most, and the gate another one than was meant."""
    from pytest_clinical_drift.gate.inside_pytest import ini_keys

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
    option = "--" + name.replace("_", "-")
    try:
        number = int(text)
    except ValueError:
        raise InputError(f"{option}: expected a whole number, found {text!r}") from None
    if number < 1:
        raise InputError(f"{option}: expected at least 1, found {number}")
    return number


def _one_of(value: str | None, option: str, known: Sequence[str]) -> str:
    """The value of an option that has a few; the first of them unless given."""
    if value and value not in known:
        raise InputError(f"{option}: expected one of {', '.join(known)}, found {value!r}")
    return value or known[0]


def _prices(config: pytest.Config, name: str) -> tuple[float, float] | None:
    if (text := _text(config, name)) is None:
        return None
    try:
        prompt, completion = (float(part) for part in text.split(","))
    except ValueError:
        prompt = completion = math.nan
    if not (0 <= prompt < math.inf and 0 <= completion < math.inf):
        option = "--" + name.replace("_", "-")
        raise InputError(f"{option}: expected two prices of 0 or more such as 2.5,10, found {text!r}")
    return prompt, completion


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
        pairs[key] = f"{pairs[key]}{_BETWEEN}{value}" if key in _ADDED_UP and key in pairs else value
    return pairs
