"""What is written is what is read: the results file gives back the conversations that the verdict was made of."""

from __future__ import annotations

import datetime
from pathlib import Path

from made import alarm, event, flat

from pytest_clinical_drift.report.json_file import results, write_results
from pytest_clinical_drift.verdict.case import judge_case
from pytest_clinical_drift.verdict.grounds import grounds_of
from pytest_clinical_drift.verdict.results_file import read_results
from pytest_clinical_drift.verdict.thresholds import load_thresholds
from pytest_clinical_drift.verdict.whole_set import judge_set

TODAY = datetime.date(2026, 5, 1)
GATE = load_thresholds()
MANIFEST = {"judge": "rules", "hashes": {"cases": "c", "prompts": "p", "thresholds": "t"}, "seed": 1, "ner": "lexicon"}


def test_the_verdict_can_be_made_again_from_the_file(tmp_path: Path) -> None:
    """Every case gets the same verdict from what was read back, hostile text included."""
    cases = [
        [flat("a", 0.9), flat("a", 0.7, repeat=1)],
        [flat("b", events=[event(state="open")], alarms=[alarm(state="open", fact="\ud800<b>", what="\x00")])],
        [flat("c", events=[event("breaches")])],
        [flat("d", incomplete="timeout")],
    ]
    verdicts = [judge_case(repeats, GATE, TODAY) for repeats in cases]
    judged = judge_set(cases, verdicts, GATE, total=4, today=TODAY)
    grounds = grounds_of([run for repeats in cases for run in repeats], [], confidence=0.95)
    record = results(list(zip(cases, verdicts, strict=True)), judged, MANIFEST, grounds=grounds, thresholds=GATE)
    found = read_results(write_results(record, tmp_path).parent)
    assert found.verdict == judged.verdict
    assert found.headline == judged.headline
    assert [case.verdict for case in found.cases] == ["CAUTION", "UNSETTLED", "FAIL", "INCOMPLETE"]
    again = [judge_case(case.repeats, GATE, TODAY) for case in found.cases]
    assert again == verdicts
    assert found.cases[1].repeats == tuple(cases[1])
    assert found.manifest.model_dump(exclude_defaults=True) == MANIFEST
