"""Writes what follows from the code: `python docs/make_reference.py`.

docs/reference.md, from the option tables, the command line and the types; and the JSON Schema of the run record.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from pytest_clinical_drift import cli, plugin
from pytest_clinical_drift.cases.entries import Expect, Expectation
from pytest_clinical_drift.cases.model import Case, CriticalEntity, FactUpdate, Turn
from pytest_clinical_drift.gate.items import DriftResult
from pytest_clinical_drift.gate.set_result import SetResult
from pytest_clinical_drift.judging.answers import Outage
from pytest_clinical_drift.results.files import SCHEMA_FILE
from pytest_clinical_drift.results.models import SCHEMA_VERSION, CaseResult, RunResult
from pytest_clinical_drift.scoring.assessment import Alarm, CaseAssessment, Event, SettledFact, TurnAssessment
from pytest_clinical_drift.transcript import Exchange, Reply, Transcript
from pytest_clinical_drift.verdict.counts import EvidenceCounts
from pytest_clinical_drift.verdict.reason_record import Reason, record_of
from pytest_clinical_drift.verdict.reasons import Coded
from pytest_clinical_drift.verdict.values import Deciders, MetricVerdict

PAGE = Path(__file__).with_name("reference.md")
CURVES = {
    f"average_{figure}_curve_{gold}": f"{words} per turn, mean over cases, against {facts}"
    for gold, facts in (("critical", "the critical facts"), ("extended", "all entities of intake and messages"))
    for figure, words in (
        ("recall", "recall"),
        ("precision", "precision"),
        ("f1", "F1"),
        ("hallucinated_rate", "share of summary entities without a source"),
    )
}
RESULTS = {
    "schema_version": "version of this file; raised when an older reader would misread it",
    "verdict": "PASS, CAUTION, FAIL, INCOMPLETE, UNSETTLED or PARTIAL",
    "headline": "the verdict with what has to be said beside it",
    "reasons": "why it is not better, see Reason",
    "diagnosis": "how the model fails: passive forgetting, active contradiction, …",
    "diagnosed": "the same as a code with its values, see Reason",
    "deciders": "who settled the alarms, see Deciders",
    "cases_total": "cases of the set",
    "cases_selected": "cases that were to be run",
    "cases_complete": "cases that were run to the end",
    "failing_cases": "ids",
    "entity_recall_at_t10": "mean share of critical facts stated, in full or in part, at turn 10 (or the last turn)",
    "entity_recall_at_t10_extended": "the same against all entities",
    "strict_recall_at_t10": "mean share of critical facts retained as a whole",
    "knowledge_conflict_rate": "contradictions per pair of adjacent advice; null where there was no pair",
    "knowledge_conflict_pairs": "pairs compared",
    "drift_slope_critical": "mean change of recall per turn, over turns 1 to 20",
    "drift_slope_extended": "the same against all entities",
    "r_squared": "mean R² of the cases' lines; null for curves without any change",
    **CURVES,
    "average_strict_recall_curve_critical": "strict recall per turn, mean over cases",
    "average_worst_recall_curve_critical": "recall per turn with every open alarm counted against the model",
    "confidence_intervals": "per metric: low, high, method",
    "judgements": "each gated metric of the set, see MetricVerdict",
    "waivers": "waivers in force: case, reason, signed_by, expires",
    "limits": "the limits in force per metric: direction, pass, caution, worst, why",
    "gated_by_default": "metrics that are not in the thresholds file and are gated with the bundled limits",
    "alarms": "per kind: how many are confirmed, open, dismissed",
    "findings": "groups of alarms on one fact or demand on turns in a row, by state: all, and the severe ones",
    "hazards": "hazards that the cases name, each with its cases",
    "open_findings": "groups of open alarms that a person would have to read",
    "severe_open_findings": "the severe ones among them",
    "severe_without_reviewer": "confirmed severe alarms that no person has read",
    "counts": "what the verdict rests on, see EvidenceCounts",
    "cases": "per case: case_id, verdict, headline, diagnosis, judgements, waiver and repeats, see CaseAssessment",
    "what_this_means": "what this verdict says and does not say, in sentences",
    "manifest": "what produced the figures, see below",
    "memory": "recall at scheduled probes, its line, drift horizon, losses by the end; null without a finished case",
    "pdsqi": "PDSQI-9 by attribute: mean at turn 10 and at the end, ICC of the two wordings; empty unless requested",
    "repeat_spread": "how far the repeats of a case differ; null without repeats",
    "baseline": "comparison with the earlier run; null without one",
    "canaries": "faults put into copies of the model's texts: how many the judge confirmed, of how many with an answer",
    "canaries_unanswered": "faults besides, to which an outage of the judge left no answer",
    "sanity_band": "what an echo of the intake and an empty summary would score on these cases",
}
SOMETIMES = {
    "continuity_score": "session goal alignment, where an embedding model was at hand",
    "continuity_not_evaluated": "else: why not",
    "reviewed": "what people have settled, where reviews were given",
}
MANIFEST = {
    "versions": "of Python and of every package that a figure may depend on",
    "model": "the subject's SPEC",
    "revision": "commit, hash or version of the model",
    "identity_proven": "whether the revision is a commit or digest, so that stored replies may be reused",
    "decoding": "settings of the subject",
    "server": "what the server tells about itself; of a `python:` model the hash of its code",
    "judge": "who decided what the rules left unclear",
    "judge_prompts": "hash of the judge's prompts",
    "judged": "the judge's calibration, limits and counts",
    "questions": "questions put to the judge",
    "unanswered": "of them without an answer",
    "ner": "entity extractor",
    "stride": "every Nth pair of advice was compared",
    "repeats": "conversations per case",
    "seed": "of every bootstrap and sample",
    "turns": "turns to which every case was stretched; null: each has its own",
    "probes": "after which turns a summary was requested: on schedule or after all",
    "record": "where the model got the patient's record",
    "pdsqi": "version of the prompts by which summaries were rated; null: they were not",
    "single_message": "whether the transcript was also given in one message",
    "hashes": "of cases, thresholds, prompts, system prompt, interludes and the options that `run.json` alone holds",
    "replies": "replies and summaries",
    "replies_reused": "of them taken from an earlier run",
    "replies_reused_since": "when the oldest of those was generated",
    "replies_resumed": "of them stored by this run before it was interrupted",
    "replies_ignored": "stored replies that were not used: changed, or written with another key",
    "tokens": "prompt, completion, prices_per_million and cost of the model; null where some were not counted",
    "shard": "index, count, run, end and settings of a shard; null for any other run",
    "merged_from": "the shards of a merged run",
    "replaced_shards": "earlier runs of those shards that the merge was given",
}


class Recorder:
    """Stands in for pytest's parser and notes what is registered."""

    def __init__(self) -> None:
        self.options: list[tuple[str, dict[str, Any]]] = []
        self.keys: dict[str, str] = {}

    def getgroup(self, *_: str) -> Recorder:
        return self

    def addoption(self, name: str, **arguments: Any) -> None:
        self.options.append((name, arguments))

    def addini(self, name: str, help: str, **_: Any) -> None:
        self.keys[name] = help


def page() -> str:
    """The whole page."""
    parts = [
        "# Reference",
        "Made by `python docs/make_reference.py` from the code; edit that, not this page.",
        *_options(),
        "## Exit codes",
        _exit_codes(),
        "## Commands",
        *_commands(),
        "## Fixtures and hooks",
        *_fixtures(),
        "## A case, in its file and as `drift_case`",
        *map(_fields, (Case, CriticalEntity, Turn, FactUpdate, Expect, Expectation)),
        "## What `drift_result` is",
        *map(_fields, (DriftResult, Transcript, Exchange, Reply, CaseResult)),
        "## study_c_results.json",
        _table(("field", "what it is"), [(f"`{name}`", text) for name, text in RESULTS.items()]),
        "Only sometimes there:",
        _table(("field", "what it is"), [(f"`{name}`", text) for name, text in SOMETIMES.items()]),
        "### manifest",
        _table(("field", "what it is"), [(f"`{name}`", text) for name, text in MANIFEST.items()]),
        "`cases[].repeats[]` holds the fields of CaseAssessment but `generation_seconds`, and the curves "
        "`recall_curve`, `strict_recall_curve` and `worst_recall_curve`; `hard_stops`, `hard_stop_slips`, "
        "`stale_facts` and `contradicted_facts` tell those events in sentences.",
        *map(
            _fields,
            (
                CaseAssessment,
                TurnAssessment,
                SettledFact,
                Alarm,
                Event,
                MetricVerdict,
                Reason,
                Deciders,
                Outage,
                EvidenceCounts,
            ),
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _options() -> list[str]:
    seen = Recorder()
    plugin.pytest_addoption(seen)  # type: ignore[arg-type]
    rows = []
    for name, arguments in seen.options:
        key = name.removeprefix("--").replace("-", "_")
        value = f" {arguments['metavar']}" if "metavar" in arguments else ""
        rows.append((f"`{name}{value}`", f"`{key}`" if seen.keys.pop(key, None) else "", arguments["help"]))
    rows += [("", f"`{key}`", text) for key, text in seen.keys.items()]
    note = (
        "`--model` and `--slate` do the same as `--drift-model` and `--drift-slate`, unless a conftest has taken them."
    )
    return ["## Options and ini keys", _table(("option", "ini key", "meaning"), rows), note]


def _exit_codes() -> str:
    told = {cli.BAD_INPUT: "bad input, told in one sentence"}
    for code, meaning in re.findall(r"(\d) ([^,.]+)", inspect.getdoc(SetResult.exit_code) or ""):
        told[int(code)] = meaning
    told[1] += "; also CAUTION with `--drift-strict`, or a failed test of your own"
    return _table(("code", "meaning"), [(str(code), told[code]) for code in sorted(told)])


def _commands() -> Iterable[str]:
    parser = cli.make_parser()
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    helps = {action.dest: action.help for action in commands._choices_actions}
    for name, command in commands.choices.items():
        yield f"### clinical-drift {name}\n\n{str(helps[name]).capitalize()}."
        rows = []
        for action in command._actions:
            if not isinstance(action, argparse._HelpAction):
                option = ", ".join(action.option_strings)
                value = "" if action.nargs == 0 else action.metavar or action.dest.upper()
                if action.choices:
                    value = "|".join(map(str, action.choices))
                rows.append((f"`{option} {value}`".replace("` ", "`").replace(" `", "`"), action.help or ""))
        yield _table(("argument", "meaning"), rows)


def _fixtures() -> Iterable[str]:
    for fixture in (plugin.drift_case, plugin.drift_result):
        function = inspect.unwrap(getattr(fixture, "_get_wrapped_function", lambda fixture=fixture: fixture)())
        yield f"**`{function.__name__}`** (fixture): {inspect.getdoc(function)}"
    for name, hook in inspect.getmembers(plugin.DriftHooks, inspect.isfunction):
        signature = str(inspect.signature(hook)).replace("(self, ", "(").replace("'", "")
        yield f"**`{name}{signature}`** (hook, in a conftest.py): {inspect.getdoc(hook)}"


def _fields(record: type) -> str:
    """A record's fields and properties, its parents' first, with types and the words below them in the source."""
    rows = [row for part in reversed(record.__mro__) if part.__module__.startswith("pytest_c") for row in _rows(part)]
    table = _table(("field", "type", "what it is"), rows)
    return f"### {record.__name__}\n\n{inspect.getdoc(record)}\n\n{table}"


def _rows(record: type) -> Iterable[tuple[str, str, str]]:
    body = ast.parse(textwrap.dedent(inspect.getsource(record))).body[0]
    if not isinstance(body, ast.ClassDef):
        raise TypeError(record)
    for item, below in zip(body.body, [*body.body[1:], None], strict=True):
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            told = below.value if isinstance(below, ast.Expr) else None
            text = told.value if isinstance(told, ast.Constant) else ""
            yield f"`{item.target.id}`", f"`{_typed(item.annotation)}`", str(text)
        elif isinstance(item, ast.FunctionDef) and "property" in map(ast.unparse, item.decorator_list):
            returned = _typed(item.returns) if item.returns else ""
            yield f"`{item.name}`", f"`{returned}`", ast.get_docstring(item) or ""


def _typed(annotation: ast.expr) -> str:
    """The annotation without what only validates."""
    return re.sub(r"Annotated\[(\w+), .*\]$", r"\1", ast.unparse(annotation))


def _table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [headers, ["---"] * len(headers), *rows]
    cells = ([" ".join(cell.replace("|", "\\|").split()) for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


class _Schema(GenerateJsonSchema):
    """Knows how reasons are written."""

    def encode_default(self, dft: Any) -> Any:
        return super().encode_default(record_of(dft) if isinstance(dft, Coded) else dft)


def schema() -> str:
    """The schema of the run record, from its models."""
    made = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:pytest-clinical-drift:study-c-results:{SCHEMA_VERSION}",
        **RunResult.model_json_schema(by_alias=True, schema_generator=_Schema),
    }
    made["required"] = sorted({*made["required"], "schema_version"})
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for file, text in ((PAGE, page()), (SCHEMA_FILE, schema())):
        file.write_text(text, encoding="utf-8")
        sys.stdout.write(f"written: {file}\n")
