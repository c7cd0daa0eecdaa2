"""The options as pytest's parser gets them, and the settings they are read into.

Loaded in every run, so nothing but the standard library and pytest is imported here.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from pytest_clinical_drift.cases.sharding import parse_shard
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.settings import Settings


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
RECORD_PLACES = ("first-message", "system", "context")
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
    "python:module:factory, reviews:FILE; repeatable for a judge and reviews (default: rules, nobody)"
)

# option, arguments of addoption, whether it is a thing that a project sets once (an ini key of the same name)
OPTIONS: tuple[tuple[str, dict[str, Any], bool | Literal["linelist", "bool"]], ...] = (
    ("--drift-model", MODEL, True),
    ("--drift-set", _takes("KEY=VALUE", "a setting of the model", **_REPEATED), _LINES),
    ("--drift-system", _takes("FILE", "the deployed system prompt, part of the tested item"), True),
    ("--drift-cases", _takes("PATH", "folder or file of cases, or long (default: the bundled ones)"), True),
    ("--drift-thresholds", _takes("FILE", "the gate (default: the root's thresholds.yaml, else ours)"), True),
    ("--drift-judge", _takes("SPEC", _JUDGES, action="append"), True),
    ("--drift-judge-set", _takes("KEY=VALUE", "a setting of the judge", **_REPEATED), _LINES),
    ("--drift-probe", _takes("FILE", "your own request for a summary (default: the bundled one)"), True),
    ("--drift-ner", _takes("NER", "entity extractor: lexicon (default) or scispacy[:MODEL]"), True),
    ("--drift-nli-stride", _takes("N", "judge every Nth adjacent pair of advice (1; 2 with nli)"), True),
    ("--drift-results", _takes("DIR", "where results go, from rootdir (default: results/)"), True),
    ("--drift-store", _takes("FILE", "reply cache (default: .clinical-drift/store.sqlite)"), True),
    ("--drift-baseline", _takes("FILE", "an earlier run's results, file or folder, to be no worse than"), True),
    ("--drift-repeats", _takes("N", "conversations per case, for sampled decoding (default: 1)"), True),
    ("--drift-prices", _takes("IN,OUT", "price of a million prompt and completion tokens, for the run's cost"), True),
    ("--drift-judge-prices", _takes("IN,OUT", "the same of the judge's tokens"), True),
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
    option, root = config.option, config.rootpath
    shard = parse_shard(option.drift_shard) if option.drift_shard is not None else None
    of = f"-{shard.index}-of-{shard.count}" if shard else ""  # shards side by side resume their own
    long = _text(config, "drift_cases") == "long"
    settings = Settings(
        model=option.drift_model,
        root=root,
        settings=read_pairs([*config.getini("drift_set"), *option.drift_set], "--drift-set"),
        system=path_option(config, "drift_system"),
        probe=path_option(config, "drift_probe"),
        cases=Path("long") if long else path_option(config, "drift_cases"),
        thresholds=path_option(config, "drift_thresholds"),
        judges=_judges(config),
        judge_settings=read_pairs([*config.getini("drift_judge_set"), *option.drift_judge_set], "--drift-judge-set"),
        ner=_text(config, "drift_ner") or "lexicon",
        embedder=config.getini("drift_embedder") or None,
        stride=_number(config, "drift_nli_stride"),
        results=root / (_text(config, "drift_results") or "results"),
        store=root / (_text(config, "drift_store") or f".clinical-drift/store{of}.sqlite"),
        baseline=path_option(config, "drift_baseline"),
        repeats=_number(config, "drift_repeats") or 1,
        prices=_prices(config, "--drift-prices"),
        judge_prices=_prices(config, "--drift-judge-prices"),
        shard=shard,
        budget=_text(config, "drift_budget"),
        strict=switched_on(config, "drift_strict"),
        turns=_number(config, "drift_turns"),
        interludes=path_option(config, "drift_interludes"),
        single_message=switched_on(config, "drift_single_message"),
        pdsqi=switched_on(config, "drift_pdsqi"),
        record=_one_of(config, "drift_record", RECORD_PLACES),
        probe_every_turn=_probes(config) == "all",
    )
    if settings.interludes is not None and settings.turns is None:
        raise InputError("--drift-interludes needs --drift-turns N: interludes fill the turns that a case lacks")
    return settings


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


def _one_of(config: pytest.Config, name: str, known: Sequence[str]) -> str:
    """The value of an option that has a few; the first of them unless given."""
    value = _text(config, name) or known[0]
    if value not in known:
        raise InputError(f"--{name.replace('_', '-')}: expected one of {', '.join(known)}, found {value!r}")
    return value


def _probes(config: pytest.Config) -> str:
    value: str = config.getini("drift_probes") or "schedule"
    if value not in ("schedule", "all"):
        raise InputError(f"drift_probes: expected schedule or all, found {value!r}")
    return value


def _prices(config: pytest.Config, option: str) -> tuple[float, float] | None:
    if (text := _text(config, destination(option))) is None:
        return None
    try:
        prompt, completion = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"{option}: expected two numbers such as 2.5,10, found {text!r}") from None
    if not (0 <= prompt < math.inf and 0 <= completion < math.inf):
        raise InputError(f"{option}: expected prices of 0 or more, found {text!r}")
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
