"""The dossier: one self-contained page, from the results and the transcripts."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from pytest_clinical_drift.report.alarm_view import alarm_groups
from pytest_clinical_drift.report.beside import beside_lines
from pytest_clinical_drift.report.clean import printable
from pytest_clinical_drift.report.figures import counted, interval_text, value_text, worse_text
from pytest_clinical_drift.report.judge_text import confusion_rows, judge_line, limit_rows
from pytest_clinical_drift.report.meaning import cut_lines, rests_on
from pytest_clinical_drift.report.svg import Line, curve_chart, limit_levels, sparkline
from pytest_clinical_drift.report.transcript_view import run_view, text_size
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.values import label

FILE_NAME = "report.html"
_PAGE_LIMIT = 4_000_000
"""Characters of transcript text on one page; beyond it the cases that pass are shown without theirs."""
_ORDER = {"FAIL": 0, "INCOMPLETE": 1, "UNSETTLED": 2, "CAUTION": 3, "PASS": 4}

Plain = Mapping[str, Any]


def render_report(
    record: Plain,
    transcripts: Mapping[str, Sequence[Transcript]],
    *,
    gate: Sequence[Mapping[str, str]],
    dossier: Plain,
    accuracy: Sequence[str],
    attempt: str = "",
) -> str:
    """The page's HTML. `gate` lists the limits in force, `dossier` is the sign-off sheet with every field."""
    told = {(case_id, run.repeat): run for case_id, runs in transcripts.items() for run in runs}
    groups = alarm_groups(record, told)
    judge = record["manifest"].get("judged")
    return page_source(
        "report.html.j2",
        styles=("page.css", "dossier.css"),
        scripts=("dossier.js",),
        record=record,
        attempt=attempt,
        rests_on=rests_on(record),
        cut=cut_lines(record["grounds"]),
        judge_line=judge_line(judge, record["grounds"]),
        judge_rows=limit_rows(judge),
        confusions=confusion_rows(judge),
        not_gated=", ".join(record["not_gated"]),
        tested=_tested(record),
        dossier=dossier,
        groups={state: [g for g in groups if g["state"] == state] for state in ("open", "confirmed", "dismissed")},
        judgements=[_judgement(item, of_set=True) for item in record["judgements"]],
        recall_chart=Markup(_recall_chart(record)),
        quality_chart=Markup(_quality_chart(record)),
        beside=beside_lines(record),
        cases=_cases(record, transcripts, groups),
        counts={name: sum(case["verdict"] == name for case in record["cases"]) for name in _ORDER},
        gate=gate,
        accuracy=accuracy,
    )


@cache
def environment() -> Environment:
    """Templates with everything escaped; an unknown name is an error."""
    environment = Environment(
        loader=PackageLoader("pytest_clinical_drift", "data"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["clean"] = printable
    environment.filters["counted"] = counted
    return environment


def page_source(template: str, *, styles: Sequence[str], scripts: Sequence[str] = (), **values: Any) -> str:
    """A self-contained page: its own styles and scripts run, known by their hashes, and nothing else does."""
    style, script = (_source(names) for names in (styles, scripts))
    policy = f"default-src 'none'; style-src '{_hash(style)}'"
    if script:
        policy += f"; script-src '{_hash(script)}'"
    shown = environment().get_template(template)
    return shown.render(policy=Markup(policy), style=Markup(style), script=Markup(script), **values)


def _source(names: Sequence[str]) -> str:
    folder = resources.files("pytest_clinical_drift") / "data"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def _hash(source: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()


def _tested(record: Plain) -> list[tuple[str, str]]:
    """What was tested, with hashes: name and value."""
    manifest = record["manifest"]
    proven = "" if manifest["identity_proven"] else " (as the server names itself, not proven)"
    decoding = ", ".join(f"{key} {value}" for key, value in manifest["decoding"].items())
    rows = [
        ("Model", f"{manifest['model']}{proven}"),
        ("Revision", manifest["revision"] or "unknown"),
        ("Decoding", decoding or "nothing to set"),
        ("System prompt", manifest["hashes"]["system_prompt"] or "none"),
        ("Cases", f"{record['cases_selected']} of {record['cases_total']}, {manifest['hashes']['cases']}"),
        ("Thresholds", manifest["hashes"]["thresholds"]),
        ("Prompts", manifest["hashes"]["prompts"]),
        ("Judge", manifest["judge"]),
        (
            "Scored by",
            f"pytest-clinical-drift {manifest['versions'].get('pytest-clinical-drift', 'of unknown version')}",
        ),
        ("Texts", f"{manifest['replies']:,}, of them reused {manifest['replies_reused']:,}"),
    ]
    return [(name, str(value)) for name, value in rows]


def _recall_chart(record: Plain) -> str:
    lines = [
        Line("recall", record["average_recall_curve_critical"], "line-main"),
        Line("strict recall", record["average_strict_recall_curve_critical"], "line-second"),
        Line("extended set", record["average_recall_curve_extended"], "line-third"),
    ]
    if record["average_worst_recall_curve_critical"] != record["average_recall_curve_critical"]:
        lines.append(Line("recall with open alarms", record["average_worst_recall_curve_critical"], "line-fourth"))
    band = [tuple(item) if item else None for item in (record.get("trend") or {}).get("band", ())]
    levels = limit_levels(record["limits"].get("recall_at_t10"))
    return curve_chart("Mean recall of critical facts by turn", lines, levels=levels, band=band, marker=10)


def _quality_chart(record: Plain) -> str:
    lines = [
        Line("precision", record["average_precision_curve_extended"], "line-main"),
        Line("F1", record["average_f1_curve_extended"], "line-second"),
        Line("hallucinated rate", record["average_hallucinated_rate_curve_extended"], "line-third"),
    ]
    return curve_chart("Precision, F1 and hallucinated entities by turn (extended set)", lines, marker=10)


def _judgement(item: Plain, *, of_set: bool = False) -> dict[str, Any]:
    metric, value = item["metric"], item["value"]
    return {
        "label": label(metric),
        "value": value_text(metric, value, of_set=of_set),
        "worse": worse_text(metric, value, item.get("worst"), of_set=of_set),
        "interval": interval_text(item),
        "limit": item["limit"],
        "verdict": item["verdict"],
        "detail": item.get("detail", ""),
    }


def _cases(
    record: Plain, transcripts: Mapping[str, Sequence[Transcript]], groups: Sequence[Plain]
) -> list[dict[str, Any]]:
    """The cases, the worst first; texts as far as the page holds them."""
    left = _PAGE_LIMIT
    shown = []
    for case in sorted(record["cases"], key=lambda item: (_ORDER.get(item["verdict"], 5), item["case_id"])):
        told = transcripts.get(case["case_id"], ())
        left -= text_size(told)
        shown.append(_case(case, told if left > 0 else (), [g for g in groups if g["case"] == case["case_id"]]))
    return shown


def _case(case: Plain, transcripts: Sequence[Transcript], groups: Sequence[Plain]) -> dict[str, Any]:
    by_repeat = {told.repeat: told for told in transcripts}
    runs = [run_view(case["case_id"], run, by_repeat.get(run["repeat"]), groups) for run in case["repeats"]]
    return {
        "id": case["case_id"],
        "verdict": case["verdict"],
        "headline": case["headline"] if case["headline"] != case["verdict"] else "",
        "diagnosis": case["diagnosis"],
        "waiver": case["waiver"],
        "judgements": [_judgement(item) for item in case["judgements"]],
        "sparks": [Markup(sparkline(run["curve"])) for run in runs],
        "runs": runs,
        "open": sum(group["state"] == "open" for group in groups),
        "confirmed": sum(group["state"] == "confirmed" for group in groups),
    }
