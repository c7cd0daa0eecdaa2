"""`--drift-pdsqi`: summaries rated in two wordings, on record, in the annex, and gated only where a limit is set."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from judged_project import JUDGED, lay_out, results, write_measured
from sharded import merge, parts, record, run_shards
from small_project import Project, case_text

from pytest_clinical_drift.cli import main
from pytest_clinical_drift.gate.reopened import judge, reopen
from pytest_clinical_drift.judging.reviews import Reviews


def rated_project(project: Project, mode: str = "careful") -> pytest.Pytester:
    """Three patients; the first has twelve turns, so that turn 10 is not the end."""
    pytester = project("anna", "bela", "cleo")
    (pytester.path / "mycases" / "anna.yaml").write_text(case_text("anna", turns=12), encoding="utf-8")
    lay_out(pytester, mode)
    write_measured(pytester.path)
    return pytester


def attribute(found: dict[str, Any], name: str) -> dict[str, Any]:
    (row,) = [row for row in found["pdsqi"] if row["attribute"] == name]
    return dict(row)


def test_summaries_are_rated_at_turn_10_and_at_the_end(project: Project) -> None:
    """Accurate: (5, 5), (4, 3), (2, 2). By hand MSR 4.5, MSC 1/6, MSE 1/6: ICC 0.9286; mean 3.5."""
    pytester = rated_project(project)
    pytester.runpytest(*JUDGED, "--drift-pdsqi")
    found = results(pytester)
    told = {
        case["case_id"]: [(r["turn"], r["wording"]) for r in case["repeats"][0]["pdsqi"]] for case in found["cases"]
    }
    assert told == {"anna": [(10, 1), (10, 2), (12, 1), (12, 2)], "bela": [(4, 1), (4, 2)], "cleo": [(4, 1), (4, 2)]}
    accurate = attribute(found, "accurate")
    assert accurate["at_end"] == pytest.approx(3.5)
    assert accurate["icc"] == pytest.approx(13 / 14)
    assert accurate["icc_low"] < 13 / 14 < accurate["icc_high"]
    assert attribute(found, "cited")["icc"] is None
    assert attribute(found, "overall")["at_end"] == pytest.approx((7 * 3 + 3.5) / 8)
    assert found["manifest"]["pdsqi"].startswith("1-")
    assert found["manifest"]["judged"]["requests"]["pdsqi"] == 8


def test_the_annex_shows_them_and_the_page_to_sign_does_not(project: Project) -> None:
    pytester = rated_project(project)
    pytester.runpytest(*JUDGED, "--drift-pdsqi")
    (page,) = pytester.path.glob("results/*/report.html")
    first, _, rest = page.read_text(encoding="utf-8").partition('id="open"')
    assert "PDSQI" not in first
    assert "0.93 (" in rest
    (folder,) = pytester.path.glob("results/*/study_c_results.json")
    assert main(["compare", str(folder), str(folder), "--markdown", "beside.md", "--html", "beside.html"]) == 0
    assert re.search(r"\| accurate +\| 3.50 +\| 3.50 +\|", (pytester.path / "beside.md").read_text(encoding="utf-8"))
    page = re.sub(r" data-label=\"[^\"]*\"|(?<=>)\s+(?=<)", "", (pytester.path / "beside.html").read_text("utf-8"))
    assert '<th scope="row">accurate</th><td>3.50</td><td>3.50</td>' in page


@pytest.mark.parametrize("judge", [(), ("--drift-judge", "rules")])
def test_without_a_judge_that_reads_it_is_refused(project: Project, judge: tuple[str, ...]) -> None:
    pytester = rated_project(project)
    for model in ("python:model:make", "control:steady"):
        run = pytester.runpytest("--model", model, "--drift-cases", "mycases", *judge, "--drift-pdsqi")
        assert run.ret == 4
        run.stderr.fnmatch_lines(["*--drift-pdsqi needs a judge that reads texts*"])


def test_a_limit_gates_and_no_limit_does_not(project: Project) -> None:
    """Accurate is 2 in the worst case: a limit of 3 fails it; asked for and not rated, it is never a PASS."""
    pytester = rated_project(project)
    free = pytester.runpytest(*JUDGED, "--drift-pdsqi")
    assert free.ret == 0
    assert not [item for item in results(pytester)["judgements"] if item["metric"].startswith("pdsqi")]
    limit = {"direction": "higher", "pass": ">= 3", "caution": ">= 3", "why": "our own"}
    gate = {"clinical_drift": {"extends": "bundled", "metrics": {"pdsqi.accurate": limit}}}
    (pytester.path / "thresholds.yaml").write_text(json.dumps(gate), encoding="utf-8")
    assert pytester.runpytest(*JUDGED, "--drift-pdsqi").ret == 1
    assert results(pytester)["failing_cases"] == ["cleo"]
    pytester.runpytest(*JUDGED)
    (unrated,) = [item for item in results(pytester)["judgements"] if item["metric"] == "pdsqi.accurate"]
    assert unrated["value"] is None
    assert results(pytester)["verdict"] != "PASS"


def test_answers_out_of_form_are_no_rating(project: Project) -> None:
    pytester = rated_project(project, "schema")
    pytester.runpytest(*JUDGED, "--drift-pdsqi")
    assert all(rating["scores"] == [] for case in results(pytester)["cases"] for rating in case["repeats"][0]["pdsqi"])
    assert attribute(results(pytester), "accurate") == {
        "attribute": "accurate", "at_t10": None, "at_end": None, "cases": 0, "icc": None, "icc_low": None,
        "icc_high": None,
    }  # fmt: skip


def test_the_estimate_counts_them(project: Project) -> None:
    """Two wordings of two summaries of the first patient and of one of each other."""
    run = rated_project(project).runpytest(*JUDGED, "--drift-pdsqi", "--collect-only")
    run.stdout.fnmatch_lines(["*8 ratings by PDSQI-9*"])


def test_a_verdict_with_reviews_keeps_the_ratings(project: Project) -> None:
    """Nobody is asked again when a finished run is judged with what people answered."""
    pytester = rated_project(project)
    pytester.runpytest(*JUDGED, "--drift-pdsqi")
    (file,) = pytester.path.glob("results/*/study_c_results.json")
    finished, then = reopen(file.parent)
    _, again = judge(finished, Reviews(()))
    assert again.pdsqi == then.pdsqi
    assert [run.requests for run in again.runs] == [run.requests for run in then.runs]


def test_merged_shards_have_the_ratings_of_one_run(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    pytester = rated_project(project)
    pytester.runpytest(*JUDGED, "--drift-pdsqi")
    whole = results(pytester)["pdsqi"]
    run_shards(pytester, 2, (*JUDGED, "--drift-pdsqi"))
    merge(capsys, *map(str, parts(pytester)))
    assert record(pytester.path / "merged")["pdsqi"] == whole
    run_shards(pytester, 2, JUDGED, wanted=(2,))
    code, said = merge(capsys, *map(str, (parts(pytester)[0], parts(pytester)[-1])))
    assert code == 4
    assert "differ in PDSQI-9 ratings" in said
