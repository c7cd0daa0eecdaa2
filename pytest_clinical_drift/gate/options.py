"""The options as pytest's parser gets them.

Loaded in every run, so nothing but the standard library and pytest is imported here.
"""

import argparse
from typing import Any, Literal

import pytest


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
_LINES: Literal["linelist"] = "linelist"
_ON_OFF: Literal["bool"] = "bool"
"""Types of ini keys; True: a text."""
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

RESULTS, STORE = "results", ".clinical-drift/store.sqlite"
"""Where results and the reply cache lie unless an option or ini key names another place, from rootdir."""

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
    ("--drift-results", _takes("DIR", f"where results go, from rootdir (default: {RESULTS}/)"), True),
    ("--drift-store", _takes("FILE", f"reply cache (default: {STORE})"), True),
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
