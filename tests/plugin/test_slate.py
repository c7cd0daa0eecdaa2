"""`pytest --slate PATH`: tests, verdicts, exit codes, results, junit, workers, and what bad input is told."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from small_project import refused

from pytest_clinical_drift.cli import main
from pytest_clinical_drift.core.packaged import bundled

pytest.importorskip("polars")

EXAMPLE = bundled("cases", "slates", "example")
RANKER = '''
class Counting:
    """Ranks drugs by how many diseases they are labelled for."""

    def fit(self, pairs):
        self.counts = {}
        for pair in pairs:
            self.counts[pair.drug] = self.counts.get(pair.drug, 0) + (pair.label > 0)

    def score(self, disease, drugs):
        return [float(self.counts.get(drug, 0)) for drug in drugs]


class Broken(Counting):
    def score(self, disease, drugs):
        raise RuntimeError("out of memory")
'''

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def slate(pytester: pytest.Pytester) -> Path:
    """A copy of the example slate in a fresh project."""
    folder = pytester.path / "mine"
    shutil.copytree(EXAMPLE, folder)
    pytester.makepyfile(my_ranker=RANKER)
    return folder


def test_example_slate_is_written_and_gated(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command it names gates the slate that was written; a second time nothing is overwritten."""
    monkeypatch.chdir(pytester.path)
    assert main(["example", "slate"]) == 0
    assert capsys.readouterr().out == "written: example-slate\nnext: pytest --slate example-slate\n"
    monkeypatch.setattr("pytest_clinical_drift.cli.commands.find_spec", lambda name: None)
    assert main(["example", "slate", "--out", "other"]) == 0
    assert "next: pip install 'pytest-clinical-drift[ranking]' && pytest --slate other" in capsys.readouterr().out
    run = pytester.runpytest("--slate", "example-slate")
    assert run.ret == 0, run.outlines
    assert results(pytester)["verdict"] == "PASS"
    assert main(["verify", "example-slate"]) == 0
    assert main(["example", "slate"]) == 4
    assert "example-slate: is not an empty folder; not overwritten" in capsys.readouterr().err


def keep_outcomes(slate: Path, keep: Callable[[str], bool]) -> None:
    """Only the outcomes (lines of the file) that `keep` wants."""
    file = slate / "outcomes.csv"
    header, *rows = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join([header, *filter(keep, rows)]) + "\n", encoding="utf-8")


def results(pytester: pytest.Pytester, name: str = "example") -> dict[str, object]:
    data: dict[str, object] = json.loads((pytester.path / "results" / name / "slate_results.json").read_text("utf-8"))
    return data


def test_example_passes(slate: Path, pytester: pytest.Pytester) -> None:
    """One test per gated metric and tier, a verdict, both files, exit code 0."""
    result = pytester.runpytest("--slate", "mine", "-v")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "clinical-drift: slate example, gate: the bundled thresholds",
            "slate/example::integrity PASSED*",
            "slate/example::enrichment_vs_popularity_high PASSED*",
            "slate/example::enrichment_vs_popularity_moderate PASSED*",
            "slate/example::enrichment_vs_random_high PASSED*",
            "slate/example::score_gap PASSED*",
            "slate/example::verdict PASSED*",
            "enrichment_vs_popularity_high * >= 1.3 * PASS*",
            "*of 189 open predictions have a high-signal outcome dated after the freeze*",
            "PASS",
        ]
    )
    assert results(pytester)["verdict"] == "PASS"
    assert (pytester.path / "results" / "example" / "slate_report.html").is_file()


def test_project_suite_does_not_take_part(slate: Path, pytester: pytest.Pytester) -> None:
    """With --slate and no paths neither the project's tests nor their conftest are imported; with paths both run."""
    tests = pytester.mkdir("tests")
    (tests / "conftest.py").write_text("raise SystemExit('conftest imported')", encoding="utf-8")
    result = pytester.runpytest("--slate", "mine")
    result.stdout.fnmatch_lines(["collected 5 items"])
    assert result.ret == 0
    pytester.makepyfile(test_own="def test_own(): assert False")
    result = pytester.runpytest("--slate", "mine", "test_own.py")
    result.stdout.fnmatch_lines(["collected 6 items"])
    assert result.ret == 1


def test_nothing_prospective_is_not_a_pass(slate: Path, pytester: pytest.Pytester) -> None:
    """Only outcomes older than the slate: not evaluated, exit code 6, and every report says so plainly."""
    keep_outcomes(slate, lambda row: row.endswith(",2025-01-15"))
    result = pytester.runpytest("--slate", "mine", "--junitxml=j.xml")
    assert result.ret == 6
    result.stdout.fnmatch_lines(
        ["Nothing prospective has been observed yet*", "not evaluated: nothing prospective has been observed yet*"]
    )
    record = results(pytester)
    assert record["verdict"] == "not evaluated"
    assert record["prospective"]["tiers"]["high"]["enrichment_vs_popularity"]["value"] is None  # type: ignore[index]
    assert record["all_outcomes"]["tiers"]["all"]["hits"] > 0  # type: ignore[index]
    page = (pytester.path / "results" / "example" / "slate_report.html").read_text(encoding="utf-8")
    assert "Nothing prospective has been observed yet" in page
    suite = ElementTree.parse(pytester.path / "j.xml").getroot()[0]
    assert (suite.get("skipped"), suite.get("errors")) == ("4", "1")
    assert suite.get("failures") == "0"


def test_no_candidates_is_not_evaluated(slate: Path, pytester: pytest.Pytester) -> None:
    """Without a baseline there is no verdict; a public registry without manifest is read all the same."""
    for name in ("manifest.json", "candidates.csv"):
        (slate / name).unlink()
    text = (slate / "predictions.csv").read_text(encoding="utf-8").splitlines()
    rows = [f"q1,2025-01-15T09:30:00Z,{row}" for row in text[1:]]
    (slate / "registry.csv").write_text("\n".join([f"slate_id,created_at,{text[0]}", *rows]), encoding="utf-8")
    (slate / "predictions.csv").unlink()
    outcomes = slate / "outcomes.csv"
    outcomes.write_text(outcomes.read_text(encoding="utf-8").replace("example,", "q1,"), encoding="utf-8")
    result = pytester.runpytest("--slate", "mine")
    assert result.ret == 6
    result.stdout.fnmatch_lines(["*not evaluated: no candidates are there*"])
    assert results(pytester, "q1")["all_outcomes"]["tiers"]["high"]["enrichment_vs_random"]["value"] > 1  # type: ignore[index]


def test_outcomes_of_another_slate_are_counted(slate: Path, pytester: pytest.Pytester) -> None:
    """A row that carries another slate's id takes no part, and says so."""
    with (slate / "outcomes.csv").open("a", encoding="utf-8") as file:
        file.write(
            "elsewhere" + (slate / "outcomes.csv").read_text(encoding="utf-8").splitlines()[1].removeprefix("example")
        )
    result = pytester.runpytest("--slate", "mine")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*outcome rows that carry another slate's id: 1"])


def test_changed_slate_fails(slate: Path, pytester: pytest.Pytester) -> None:
    """A prediction altered after freezing: exit code 1, the file is named, and no figure is judged."""
    file = slate / "predictions.csv"
    file.write_text(file.read_text(encoding="utf-8").replace(",25,moderate", ",26,moderate", 1), encoding="utf-8")
    result = pytester.runpytest("--slate", "mine", "--junitxml=j.xml")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*FAIL: predictions.csv was changed after freezing*"])
    result.assert_outcomes(failed=2, skipped=4)
    text = (pytester.path / "j.xml").read_text(encoding="utf-8")
    assert 'message="FAIL: predictions.csv was changed after freezing"' in text


def test_unskilled_ranker_fails(slate: Path, pytester: pytest.Pytester) -> None:
    """Outcomes for everything but the predicted pairs: enrichment 0, exit code 1, the figure in the failure line."""
    predicted = {
        tuple(row.split(",")[:2]) for row in (slate / "predictions.csv").read_text(encoding="utf-8").splitlines()
    }
    keep_outcomes(slate, lambda row: tuple(row.split(",")[1:3]) not in predicted)
    result = pytester.runpytest("--slate", "mine")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*FAIL: enrichment_vs_popularity_high 0.000 * against >= 1*"])


def thaw(slate: Path, keep: Callable[[str], bool] = lambda row: True) -> None:
    """Make it a registry of someone else: no manifest, the time in a column, named after its folder."""
    (slate / "manifest.json").unlink()
    file = slate / "predictions.csv"
    header, *rows = file.read_text(encoding="utf-8").splitlines()
    dated = [f"created_at,{header}", *(f"2025-01-15T09:30:00Z,{row}" for row in rows if keep(row))]
    file.write_text("\n".join(dated), encoding="utf-8")
    outcomes = slate / "outcomes.csv"
    outcomes.write_text(outcomes.read_text(encoding="utf-8").replace("example,", "mine,"), encoding="utf-8")


def test_strict_turns_caution_into_failure(slate: Path, pytester: pytest.Pytester) -> None:
    """Without a manifest nothing is proven: CAUTION passes with exit code 0, and fails with --drift-strict."""
    thaw(slate)
    result = pytester.runpytest("--slate", "mine", "-v")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["slate/mine::verdict CAUTION*", "CAUTION: no manifest with a hash*"])
    assert pytester.runpytest("--slate", "mine", "--drift-strict").ret == 1


def test_tiers_that_a_slate_has_not_get_no_test(slate: Path, pytester: pytest.Pytester) -> None:
    """A slate of ten per disease is not held back for having no moderate tier."""
    thaw(slate, lambda row: ",high," in row)
    result = pytester.runpytest("--slate", "mine", "--collect-only", "-q")
    result.stdout.fnmatch_lines(["slate/mine::enrichment_vs_popularity_high"])
    result.stdout.no_fnmatch_line("*moderate*")


def test_part_of_the_tests_gives_no_release_verdict(slate: Path, pytester: pytest.Pytester) -> None:
    """-k and test ids run what they name; the verdict is PARTIAL, exit code 7."""
    result = pytester.runpytest("--slate", "mine", "-k", "score_gap")
    assert result.ret == 7
    result.stdout.fnmatch_lines(["*5 items / 4 deselected / 1 selected*", "PARTIAL: 1 of 5 tests were run*"])
    result = pytester.runpytest("--slate", "mine", "slate/example::score_gap", "slate/example::integrity")
    result.stdout.fnmatch_lines(["collected 2 items", "PARTIAL: 2 of 5 tests were run*"])
    result = pytester.runpytest("--slate", "mine", "slate/example::beauty")
    assert result.ret == 4
    result = pytester.runpytest("--slate", "mine", "--collect-only", "-q")
    result.stdout.fnmatch_lines(["slate/example::integrity", "slate/example::score_gap"])
    assert result.ret == 0


def test_ranker_gets_its_retrospective_tests(slate: Path, pytester: pytest.Pytester) -> None:
    """--drift-model gives four more tests; a ranker by popularity beats chance on known labels."""
    result = pytester.runpytest("--slate", "mine", "--drift-model", "python:my_ranker:Counting", "-v")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "*slate example, ranker python:my_ranker:Counting*",
            "slate/example::hit_at_50_lift *",
            "slate/example::ndcg_at_50_lift *",
            "slate/example::auc PASSED*",
            "slate/example::temporal_auc PASSED*",
        ]
    )
    record = results(pytester)
    assert "2020" in record["temporal_auc_by_year"]  # type: ignore[operator]
    assert record["manifest"]["ranker"] == "python:my_ranker:Counting"  # type: ignore[index]


def test_broken_ranker_is_an_error_not_a_failure(slate: Path, pytester: pytest.Pytester) -> None:
    """A ranker that cannot be run: test errors, the slate itself judged, exit code 6."""
    result = pytester.runpytest("--slate", "mine", "--model", "python:my_ranker:Broken", "--junitxml=j.xml")
    assert result.ret == 6
    result.stdout.fnmatch_lines(["*the ranker raised RuntimeError: out of memory*"])
    text = (pytester.path / "j.xml").read_text(encoding="utf-8")
    assert text.count("<error") == 5  # the four tests and the verdict
    assert "<failure" not in text


def junit(pytester: pytest.Pytester, file: str) -> list[tuple[object, ...]]:
    suite = ElementTree.parse(pytester.path / file).getroot()[0]
    return sorted(
        (
            case.get("classname"),
            case.get("name"),
            tuple((item.get("name"), item.get("value")) for item in case.iter("property")),
            case.findtext("system-out"),
        )
        for case in suite
    )


@pytest.mark.slow
def test_workers_give_the_same(slate: Path, pytester: pytest.Pytester) -> None:
    """With -n 2 the results file, junit and exit code are those of a run without."""
    arguments = ("--slate", "mine", "--drift-model", "python:my_ranker:Counting")
    alone = pytester.runpytest(*arguments, "--junitxml=one.xml")
    first = results(pytester)
    shared = pytester.runpytest(*arguments, "--junitxml=two.xml", "-n", "2")
    assert alone.ret == shared.ret == 0
    assert first == results(pytester)
    assert junit(pytester, "one.xml") == junit(pytester, "two.xml")
    (figures,) = [row for row in junit(pytester, "one.xml") if row[1] == "enrichment_vs_popularity_high"]
    properties = dict(figures[2])  # type: ignore[arg-type]
    assert properties["verdict"] == "PASS"
    assert float(properties["interval_low"]) < float(properties["enrichment_vs_popularity_high"])
    assert "verdict=PASS" in str(figures[3])


def test_limits_of_the_project_hold(slate: Path, pytester: pytest.Pytester) -> None:
    """A project's own slate limits count; a file that says nothing about slates leaves the bundled ones."""
    text = bundled("thresholds.yaml").read_text(encoding="utf-8")
    file = pytester.path / "limits.yaml"
    file.write_text(
        text.replace('pass: ">= 1.3"', 'pass: ">= 9.9"').replace(
            'caution: ">= 1.0"\n        why: Below', 'caution: ">= 9.0"\n        why: Below'
        ),
        encoding="utf-8",
    )
    result = pytester.runpytest("--slate", "mine", "--drift-thresholds", "limits.yaml")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*against >= 9*"])
    file.write_text(text[: text.index("  # Frozen slates")], encoding="utf-8")
    assert pytester.runpytest("--slate", "mine", "--drift-thresholds", "limits.yaml").ret == 0


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "enrichment_vs_popularity_high:",
            "enrichment_vs_fame_high:",
            "unknown slate metric 'enrichment_vs_fame_high'",
        ),
        ("enrichment_vs_popularity_high:", "hit_rate_high:", "enrichment_vs_popularity_high is missing"),
    ],
)
def test_bad_limits(slate: Path, pytester: pytest.Pytester, old: str, new: str, expected: str) -> None:
    """An unknown metric, and a gate without the figure that tells skill from fame."""
    text = bundled("thresholds.yaml").read_text(encoding="utf-8").replace(old, new)
    (pytester.path / "limits.yaml").write_text(text, encoding="utf-8")
    assert expected in refused(pytester, "--slate", "mine", "--drift-thresholds", "limits.yaml")


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        ("predictions.csv", "repurposing_score", "points", "the column repurposing_score is missing"),
        ("predictions.csv", ",1,high", ",1,superb", "row 1: confidence_tier is 'superb', not a tier"),
        ("outcomes.csv", ",registry,2025-01-15", ",registry,15/1/25", "observed_at is '15/1/25', not a date"),
        ("outcomes.csv", "phase_advanced", "went_well", "outcome_type is 'went_well'"),
        ("manifest.json", "2025-01-15T", "soonT", "created_at: expected a time such as 2026-05-01T12:00:00Z"),
        ("manifest.json", "{", "[", "not valid JSON"),
    ],
)
def test_bad_input(slate: Path, pytester: pytest.Pytester, file: str, old: str, new: str, expected: str) -> None:
    """Exit code 4 and one sentence with the file."""
    path = slate / file
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    message = refused(pytester, "--slate", "mine")
    assert expected in message
    assert file in message


def test_nan_score(slate: Path, pytester: pytest.Pytester) -> None:
    """A score that is no number."""
    file = slate / "predictions.csv"
    lines = file.read_text(encoding="utf-8").splitlines()
    cells = lines[3].split(",", 3)
    lines[3] = ",".join([*cells[:2], "NaN", cells[3]])
    file.write_text("\n".join(lines), encoding="utf-8")
    assert "predictions.csv, row 3: repurposing_score is 'NaN'" in refused(pytester, "--slate", "mine")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--slate", "nowhere"), "no such slate folder"),
        (("--slate", "mine", "--drift-cases", "x"), "--drift-cases has no meaning with --slate"),
        (("--slate", "mine", "--model", "control:steady"), "with --slate the model is a ranker"),
        (("--slate", "mine", "--model", "python:my_ranker:nobody"), "has no nobody"),
    ],
)
def test_bad_options(slate: Path, pytester: pytest.Pytester, arguments: tuple[str, ...], expected: str) -> None:
    """Said before anything runs."""
    assert expected in refused(pytester, *arguments)


class Tags(HTMLParser):
    """Collects what a browser would fetch or run."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)
        self.found += [f"{tag}@{name}" for name, _ in attrs if name in ("src", "href") or name.startswith("on")]


def test_hostile_names_stay_text(slate: Path, pytester: pytest.Pytester) -> None:
    """Names with markup and control characters appear escaped, in the page, the charts and the terminal."""
    evil = "<script>alert(1)</script>\x1b[31m"
    for name in ("predictions", "candidates", "labels", "outcomes"):
        file = slate / f"{name}.csv"
        file.write_text(file.read_text(encoding="utf-8").replace("Coastal fever", f'"{evil}"'), encoding="utf-8")
    (slate / "manifest.json").write_text(
        json.dumps({"slate_id": "a/../<b>", "created_at": "2025-01-15T09:30:00Z"}), encoding="utf-8"
    )
    outcomes = slate / "outcomes.csv"
    outcomes.write_text(outcomes.read_text(encoding="utf-8").replace("example,", "a/../<b>,"), encoding="utf-8")
    result = pytester.runpytest("--slate", "mine")
    assert "\x1b[31m" not in result.stdout.str()
    (folder,) = (pytester.path / "results").iterdir()
    assert folder.name == "a-..-b"
    page = (folder / "slate_report.html").read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(page)
    assert "script" not in tags.found
    assert not [tag for tag in tags.found if "@" in tag]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "\x1b" not in page


def test_outcomes_that_match_nothing_are_counted_and_shown(slate: Path, pytester: pytest.Pytester) -> None:
    """Rows on pairs that the slate and its candidates do not know are told in the terminal and in the results."""
    file = slate / "outcomes.csv"
    lines = file.read_text(encoding="utf-8").splitlines()
    cells = lines[1].split(",")
    foreign = [",".join([cells[0], f"Nobody's disease {n}", *cells[2:]]) for n in (1, 2)]
    file.write_text("\n".join([*lines, *foreign]) + "\n", encoding="utf-8")
    result = pytester.runpytest("--slate", "mine")
    result.stdout.fnmatch_lines(["note: outcome rows on pairs outside the slate and its candidates: 2"])
    assert "outcome rows on pairs outside the slate and its candidates: 2" in results(pytester)["notes"]  # type: ignore[operator]


def test_results_that_cannot_be_written_are_one_sentence(slate: Path, pytester: pytest.Pytester) -> None:
    """A file where the folder should be: exit code 4, no traceback; the verdict is shown all the same."""
    (pytester.path / "results").mkdir()
    (pytester.path / "results" / "example").write_text("in the way", encoding="utf-8")
    result = pytester.runpytest("--slate", str(slate))
    assert result.ret == 4
    result.stdout.fnmatch_lines(["*slate: example*", "ERROR: the results could not be written: *example*"])
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*INTERNALERROR*")


def test_a_project_with_its_own_slate_option_keeps_it(pytester: pytest.Pytester, slate: Path) -> None:
    """A conftest that defines --slate works as before; --drift-slate is ours there."""
    pytester.makeconftest("def pytest_addoption(parser): parser.addoption('--slate', default='grey')")
    pytester.makepyfile("def test_slate(request): assert request.config.getoption('--slate') == 'blue'")
    pytester.runpytest("--slate", "blue").assert_outcomes(passed=1)
    result = pytester.runpytest("--drift-slate", "mine")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["clinical-drift: slate example*"])


def test_verify_without_a_folder_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither a release nor a slate: one sentence that fits both."""
    assert main(["verify", str(tmp_path / "none")]) == 4
    assert capsys.readouterr().err.strip().endswith(f"verify {tmp_path / 'none'}: no such folder")
