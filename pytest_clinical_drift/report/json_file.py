"""`study_c_results.json`: the run record, with sentences for people who open the file.

Nothing in this package reads those sentences: it makes them anew from codes and values.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_clinical_drift.report.headlines import case_headline, review_sentence, run_headline
from pytest_clinical_drift.report.reasons import reason_text, what_this_means, worded
from pytest_clinical_drift.report.sentences import alarm_title, event_sentence
from pytest_clinical_drift.results.files import RESULTS_FILE, to_plain, write_json
from pytest_clinical_drift.results.models import CaseResult, RunResult
from pytest_clinical_drift.verdict.reasons import Reason
from pytest_clinical_drift.verdict.values import MetricVerdict

_SENTENCES_OF = ("hard_stops", "hard_stop_slips", "stale_facts", "contradicted_facts")
"""Metrics whose confirmed events each conversation lists in words."""
_READ_ONLY = frozenset({"headline", "diagnosis", "what_this_means", "sentence", "text", "title"})


def with_sentences(result: RunResult) -> RunResult:
    """The record with every field for readers filled in."""
    filled: dict[str, Any] = {
        "headline": run_headline(result),
        "reasons": tuple(_filled(item, result.judgements) for item in result.reasons),
        "what_this_means": what_this_means(result),
        "cases": tuple(replace(case, headline=case_headline(case), **_judged(case)) for case in result.cases),
        **_judged(result),
    }
    if result.baseline is not None:
        filled["baseline"] = replace(result.baseline, notes=tuple(map(_filled, result.baseline.notes)))
    if result.reviewed is not None:
        filled["reviewed"] = result.reviewed.model_copy(update={"sentence": review_sentence(result.reviewed)})
    return result.model_copy(update=filled)


def _judged(of: RunResult | CaseResult) -> dict[str, Any]:
    """What a run and a case both have, with its sentences."""
    return {
        "diagnosis": reason_text(of.diagnosed),
        "diagnosed": _filled(of.diagnosed),
        "judgements": tuple(replace(item, reasons=worded(item)) for item in of.judgements),
    }


def _filled(reason: Reason, judgements: Sequence[MetricVerdict] = ()) -> Reason:
    return replace(reason, text=reason_text(reason, judgements))


def write_results(result: RunResult, folder: Path) -> Path:
    return write_json(written_form(result), folder / RESULTS_FILE)


def written_form(result: RunResult) -> dict[str, Any]:
    """The content of the file, with its sentences."""
    plain = to_plain(with_sentences(result))
    for case, known in zip(plain["cases"], result.cases, strict=True):
        for run, scored in zip(case["repeats"], known.repeats, strict=True):
            for metric in _SENTENCES_OF:
                run[metric] = [event_sentence(event) for event in scored.events_of(metric)]
            for alarm, source in zip(run["alarms"], scored.alarms, strict=True):
                alarm["title"] = alarm_title(source)
    return plain


def without_sentences(plain: Any) -> Any:
    """The content of a file without what is only there to be read."""
    if isinstance(plain, list):
        return [without_sentences(item) for item in plain]
    if isinstance(plain, dict):
        return {key: without_sentences(value) for key, value in plain.items() if key not in _READ_ONLY}
    return plain
