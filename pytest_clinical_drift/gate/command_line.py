"""The options as pytest's parser gets them; loaded in every run, so nothing but the standard library and pytest is."""

from __future__ import annotations

import argparse
from typing import Any

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


MODEL: dict[str, Any] = {
    "metavar": "SPEC",
    "action": _Once,
    "help": "the model to gate: control:NAME, replay:PATH, server:MODEL@URL, hf:REPO_OR_PATH, python:module:factory",
}
SLATES: dict[str, Any] = {
    "metavar": "PATH",
    "action": _Once,
    "help": "a frozen slate folder of a ranking model to gate",
}
SHORT = {"--model": "--drift-model", "--slate": "--drift-slate"}
"""Names that a project's own conftest may have taken, and ours for them."""
_JUDGES = (
    "who decides what the rules leave unclear: server:MODEL@URL, hf:REPO_OR_PATH, nli[:MODEL], "
    "python:module:factory, reviews:FILE; repeatable for a judge and reviews (default: rules, nobody)"
)
_PAIRS: dict[str, Any] = {"metavar": "KEY=VALUE", "action": "append", "default": []}

# option, arguments of addoption, whether it is a thing that a project sets once (an ini key of the same name)
OPTIONS: tuple[tuple[str, dict[str, Any], bool], ...] = (
    ("--drift-model", MODEL, False),
    ("--drift-set", {**_PAIRS, "help": "a setting of the model"}, False),
    ("--drift-system", {"metavar": "FILE", "help": "the deployed system prompt, part of the tested item"}, True),
    ("--drift-cases", {"metavar": "PATH", "help": "folder or file of cases (default: the bundled ones)"}, True),
    (
        "--drift-thresholds",
        {"metavar": "FILE", "help": "the gate (default: the root's thresholds.yaml, else ours)"},
        True,
    ),
    ("--drift-judge", {"metavar": "SPEC", "action": "append", "help": _JUDGES}, True),
    ("--drift-judge-set", {**_PAIRS, "help": "a setting of the judge"}, False),
    ("--drift-probe", {"metavar": "FILE", "help": "your own request for a summary (default: the bundled one)"}, True),
    ("--drift-ner", {"metavar": "NER", "help": "entity extractor: lexicon (default) or scispacy[:MODEL]"}, True),
    ("--drift-nli-stride", {"metavar": "N", "help": "judge every Nth adjacent pair of advice (1; 2 with nli)"}, True),
    ("--drift-results", {"metavar": "DIR", "help": "where results go, from rootdir (default: results/)"}, True),
    ("--drift-store", {"metavar": "FILE", "help": "replies already had (default: .clinical-drift/store.sqlite)"}, True),
    (
        "--drift-baseline",
        {"metavar": "FILE", "help": "an earlier run's results, file or folder, to be no worse than"},
        True,
    ),
    ("--drift-repeats", {"metavar": "N", "help": "conversations per case, for sampled decoding (default: 1)"}, True),
    (
        "--drift-prices",
        {"metavar": "IN,OUT", "help": "price of a million prompt and completion tokens, for the run's cost"},
        True,
    ),
    ("--drift-strict", {"action": "store_true", "default": False, "help": "CAUTION fails too"}, False),
    ("--drift-slate", SLATES, False),
)


def destination(option: str) -> str:
    """The attribute of an option, and its ini key."""
    return option.removeprefix("--").replace("-", "_")
