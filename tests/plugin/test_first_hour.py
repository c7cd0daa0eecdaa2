"""What a new user runs into in the first hour: nothing unmeasured is green, and nothing depends on a spelling."""

from __future__ import annotations

import http.server
import json
import re
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from small_project import ARGUMENTS, Project

from pytest_clinical_drift.core.packaged import bundled
from pytest_clinical_drift.core.parsing import parse_data

MODEL = ("--model", "python:model:make")

OWN_TEST = """
def test_remembers(drift_case, drift_result):
    for turn in drift_result.assessment.turns:
        assert turn.recall == 1.0

def test_has_no_lost_fact(drift_result):
    assert not drift_result.assessment.alarms
"""


def said(result: pytest.RunResult) -> str:
    return result.stderr.str() + result.stdout.str()


def test_an_outage_turns_no_own_test_green(project: Project) -> None:
    """Every call raises: tests that ask for the result end in an error, exit code 6, not passed."""
    pytester = project(breaks_at=1)
    pytester.makepyfile(test_own=OWN_TEST)
    result = pytester.runpytest(*ARGUMENTS, "test_own.py")
    result.assert_outcomes(errors=6)
    assert result.ret == 6
    result.stdout.fnmatch_lines(
        [
            "anna: INCOMPLETE: turn 1, reply: RuntimeError: out of memory",
            '  File "*model.py", line *, in chat',
            "ERROR test_own.py::test_remembers?anna? - anna: INCOM*",
        ]
    )


def test_an_outage_is_not_diagnosed(project: Project) -> None:
    """Nothing was measured to the end: no word that sounds like a result."""
    pytester = project("anna", breaks_at=3)
    result = pytester.runpytest(*ARGUMENTS)
    assert result.ret == 6
    result.stdout.fnmatch_lines(["diagnosis: nothing to diagnose"])
    result.stdout.no_fnmatch_line("*stable*")


def test_a_fault_of_a_file_is_told_in_our_words(project: Project) -> None:
    """What to write, and what was found; not what a library calls it."""
    pytester = project("anna")
    gate = {"clinical_drift": {"set": {"min_cases": "many"}, "policy": "strict"}}
    (pytester.path / "thresholds.yaml").write_text(yaml.safe_dump(gate), encoding="utf-8")
    result = pytester.runpytest(*ARGUMENTS)
    assert result.ret == 4
    assert "clinical_drift.set.min_cases: expected a whole number, found 'many'" in said(result)
    assert "clinical_drift.policy: expected 'each-case' or 'set', found 'strict'" in said(result)


def test_a_key_that_is_given_twice_is_refused(project: Project) -> None:
    """The last one would win without a word: a second must_not would take the first one away."""
    pytester = project("anna")
    twice = {
        "mycases/anna.yaml": "id: anna\nid: bela\n",
        "gate.yaml": "clinical_drift:\n  policy: set\n  policy: each-case\n",
        "gate.json": '{"clinical_drift": {"policy": "set", "policy": "each-case"}}',
    }
    for name, text in twice.items():
        (pytester.path / name).write_text(text, encoding="utf-8")
    for name, told in (
        ("gate.json", "gate.json: not valid JSON ('policy' is given twice)"),
        ("gate.yaml", "gate.yaml, line 3: not valid YAML ('policy' is given twice)"),
        ("", "anna.yaml, line 2: not valid YAML ('id' is given twice)"),
    ):
        result = pytester.runpytest(*ARGUMENTS, *(("--drift-thresholds", name) if name else ()))
        assert result.ret == 4
        assert told in said(result)


def test_what_a_merge_brings_may_be_given_again() -> None:
    """`<<` is there to be overridden, also by what is merged itself."""
    text = "a: &a {x: 1, y: 1}\nb: &b\n  <<: *a\n  x: 2\nc:\n  <<: *b\n  y: 3\n"
    assert parse_data(Path("merged.yaml"), text) == {
        "a": {"x": 1, "y": 1},
        "b": {"x": 2, "y": 1},
        "c": {"x": 2, "y": 3},
    }


@pytest.mark.parametrize("kind", ["folder", "text", "below a file"])
def test_a_store_that_cannot_be_used_is_told_in_one_sentence(project: Project, kind: str) -> None:
    pytester = project("anna")
    store = pytester.path / "store"
    if kind == "folder":
        store.mkdir()
    else:
        store.write_text("no database, but long enough to look like one\n" * 90, encoding="utf-8")
    path = store / "deeper.sqlite" if kind == "below a file" else store
    result = pytester.runpytest(*ARGUMENTS, "--drift-store", str(path))
    assert result.ret == 4
    assert f"--drift-store {path}: cannot be used as a store" in said(result)
    assert "Traceback" not in said(result)


def test_a_factory_that_leaves_the_program_is_told_in_one_sentence(project: Project) -> None:
    pytester = project("anna")
    pytester.makepyfile(leaves="def make():\n    raise SystemExit(0)\n")
    result = pytester.runpytest("--model", "python:leaves:make", *ARGUMENTS[2:])
    assert result.ret == 4
    assert "--model python:leaves:make: the factory raised SystemExit: 0" in said(result)


@pytest.mark.slow
def test_workers_turn_no_own_test_green_either(project: Project) -> None:
    """With -n the outage reaches the exit code as well."""
    pytester = project("anna", breaks_at=1)
    pytester.makepyfile(test_own=OWN_TEST)
    result = pytester.runpytest(*ARGUMENTS, "test_own.py", "-n", "1")
    result.assert_outcomes(errors=2)
    assert result.ret == 6


def test_a_failing_own_test_beside_an_outage_is_a_failure(project: Project) -> None:
    """A plain failure of the project's suite outranks the outage: exit code 1."""
    pytester = project(breaks_at=1)
    pytester.makepyfile(test_own=f"{OWN_TEST}\ndef test_else(): assert False")
    assert pytester.runpytest(*ARGUMENTS, "test_own.py").ret == 1


@pytest.fixture
def neighbour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another project with an ini file and thresholds of its own."""
    folder = tmp_path_factory.mktemp("neighbour")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --drift-repeats 9\n", encoding="utf-8")
    (folder / "thresholds.yaml").write_text("clinical_drift: {policy: nonsense}", encoding="utf-8")
    return folder


@pytest.mark.parametrize("spelling", [("--drift-cases", "{}"), ("--drift-cases={}",)])
def test_cases_of_another_project_bring_nothing_else_along(
    project: Project, neighbour: Path, spelling: tuple[str, ...]
) -> None:
    """Ini keys, addopts, python path, thresholds and results are those of where pytest was called."""
    pytester = project()
    (pytester.path / "mycases").rename(neighbour / "cases")
    (pytester.mkdir("lib") / "model.py").write_text((pytester.path / "model.py").read_text("utf-8"), encoding="utf-8")
    (pytester.path / "model.py").unlink()
    pytester.makeini(f"[pytest]\npythonpath = lib\ndrift_results = kept\naddopts = --drift-set revision={'7' * 40}\n")
    (pytester.path / "thresholds.yaml").write_text(
        yaml.safe_dump({"clinical_drift": {"metrics": limits("recall_at_t10", "drift_slope")}}), encoding="utf-8"
    )
    result = pytester.runpytest(*MODEL, *(part.format(neighbour / "cases") for part in spelling))
    assert result.ret == 7, said(result)
    result.stdout.fnmatch_lines(
        [f"rootdir: {pytester.path}", f"clinical-drift: *, gate: {pytester.path / 'thresholds.yaml'}"]
    )
    record = json.loads((pytester.path / "kept" / "python-model-make" / "study_c_results.json").read_text("utf-8"))
    assert record["manifest"]["revision"] == "7" * 40
    assert record["manifest"]["repeats"] == 1
    assert sorted(file.name for file in neighbour.iterdir()) == ["cases", "pytest.ini", "thresholds.yaml"]


def limits(*names: str) -> dict[str, object]:
    """Limits on recall and slope that the small project keeps."""
    line = {"recall_at_t10": "> 0.01", "drift_slope": "> -0.3"}
    return {
        name: {"direction": "higher", "pass": line[name], "caution": line[name], "why": "lenient"} for name in names
    }


@pytest.mark.parametrize("spelling", ["--slate {}", "--slate={}", "--drift-slate {}", "--drift-slate={}"])
def test_slates_of_another_project_bring_nothing_along(
    pytester: pytest.Pytester, neighbour: Path, spelling: str
) -> None:
    """However the slate is spelled, thresholds and results are those of where pytest was called."""
    pytest.importorskip("polars")
    shutil.copytree(bundled("cases", "slates", "example"), neighbour / "example")
    text = bundled("thresholds.yaml").read_text(encoding="utf-8").replace(">= 1.3", ">= 1.31")
    (pytester.path / "thresholds.yaml").write_text(text, encoding="utf-8")
    result = pytester.runpytest(*spelling.format(neighbour / "example").split())
    assert result.ret == 0, said(result)
    result.stdout.fnmatch_lines(
        [f"*gate: {pytester.path / 'thresholds.yaml'}", "*enrichment_vs_popularity_high*>= 1.31*"]
    )
    assert (pytester.path / "results" / "example" / "slate_results.json").is_file()
    assert not (neighbour / "results").exists()


def test_header_says_what_is_collected(project: Project) -> None:
    """Without paths the gate alone, with paths the tests alone, with both spelled out neither remark."""
    pytester = project("anna")
    pytester.makepyfile(test_own="def test_one(): pass")
    alone = "clinical-drift: gate only; your tests are not collected"
    own = "clinical-drift: your tests only; add study_c for the gate"
    for paths, told, untold in (((), alone, own), (("test_own.py",), own, alone)):
        result = pytester.runpytest(*ARGUMENTS, *paths)
        result.stdout.fnmatch_lines([told])
        result.stdout.no_fnmatch_line(untold)
    both = pytester.runpytest(*ARGUMENTS, "test_own.py", "study_c")
    both.stdout.no_fnmatch_line(alone)
    both.stdout.no_fnmatch_line(own)
    both.stdout.fnmatch_lines(["collected 2 items"])


def test_a_hard_stop_limit_that_is_left_out_stands_and_is_told(project: Project) -> None:
    """The model that loses the allergy fails; header, end and dossier say that the file leaves the limit out."""
    pytester = project("anna", forget_from=2)
    text = yaml.safe_dump({"clinical_drift": {"metrics": limits("recall_at_t10", "drift_slope")}})
    (pytester.path / "thresholds.yaml").write_text(text, encoding="utf-8")
    result = pytester.runpytest(*ARGUMENTS)
    assert result.ret == 1
    line = "not in the thresholds file, gated with the bundled limits:"
    header = f"clinical-drift: {line} strict_recall_at_t10,*hard_stops, *"
    result.stdout.fnmatch_lines([header, "FAIL: *hard stop*", f"  {line}*"])
    page = (pytester.path / "results" / "python-model-make" / "report.html").read_text(encoding="utf-8")
    assert re.search(r"Not in the thresholds file, gated with the bundled limits: [\w, ]*hard_stops[\w, ]*\.", page)
    assert "No metric of the bundled gate was left out" not in page


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "< 0.05,<= 0.10",
            "< 5,<= 10",
            "k_conflict.pass: every value keeps '< 5': a rate lies between 0 and 1; did you mean 0.05?",
        ),
        ("> 0.80", "> 80", "recall_at_t10.pass: no value can keep '> 80': *between 0 and 1; did you mean 0.8?"),
        (">= 0.70", ">= 0", "recall_at_t10.caution: every value keeps '>= 0': *has worst: caution"),
        (
            ">= -0.05",
            ">= -5",
            "drift_slope.caution: every value keeps '>= -5': *-1 and 1 per turn; did you mean -0.05?",
        ),
        (">= 1.0", ">= 0", "slate.metrics.enrichment_vs_popularity_high.caution: every value keeps *it is 0 or more*"),
    ],
)
def test_a_limit_that_decides_nothing_is_refused(project: Project, old: str, new: str, told: str) -> None:
    """Whatever the model does, such a gate would stay green (or red): told with line, range and what was meant."""
    pytester = project("anna")
    text = bundled("thresholds.yaml").read_text(encoding="utf-8")
    place = max(0, text.find(f"    {told.partition('.')[0]}:\n"))
    head, tail = text[:place], text[place:]
    for before, after in zip(old.split(","), new.split(","), strict=True):
        assert f'"{before}"' in tail
        tail = tail.replace(f'"{before}"', f'"{after}"', 1)
    (pytester.path / "thresholds.yaml").write_text(head + tail, encoding="utf-8")
    result = pytester.runpytest(*ARGUMENTS)
    refused(result)
    result.stderr.fnmatch_lines([f"ERROR: *thresholds.yaml, line *: clinical_drift.*{told}"])


def test_a_gate_the_wrong_way_round_is_refused(project: Project) -> None:
    """More contradictions are not better."""
    pytester = project("anna")
    wrong = {"direction": "higher", "pass": "> 0.05", "caution": "> 0.01", "why": "a slip"}
    data = {"clinical_drift": {"metrics": {**limits("recall_at_t10", "drift_slope"), "k_conflict": wrong}}}
    (pytester.path / "thresholds.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    assert "k_conflict: lower is better; set direction: lower" in refused(pytester.runpytest(*ARGUMENTS))


def test_each_fault_of_the_thresholds_has_a_line_of_its_own(project: Project) -> None:
    """One error, the file named once, then a line for each further fault."""
    pytester = project("anna")
    gate = {"clinical_drift": {"policy": "strict", "set": {"min_cases": "many"}}}
    (pytester.path / "thresholds.yaml").write_text(yaml.safe_dump(gate), encoding="utf-8")
    result = pytester.runpytest(*ARGUMENTS)
    refused(result)
    result.stderr.fnmatch_lines(
        [
            "ERROR: *thresholds.yaml, line 2: clinical_drift.policy: expected 'each-case' or 'set', found 'strict'",
            "line *: clinical_drift.metrics: required field is missing",
            "line 4: clinical_drift.set.min_cases: expected a whole number, found 'many'",
        ]
    )


def test_skipped_own_tests_are_told_without_a_model(project: Project) -> None:
    """One line at the end, also without -rs; none where no test asked for a case."""
    pytester = project("anna")
    pytester.makepyfile(test_own=OWN_TEST)
    result = pytester.runpytest("test_own.py")
    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(["clinical-drift: 2 tests were skipped: they need --model SPEC"])
    one = pytester.runpytest("test_own.py", "-k", "remembers")
    one.stdout.fnmatch_lines(["clinical-drift: 1 test was skipped: it needs --model SPEC"])
    pytester.makepyfile(test_own="import pytest\ndef test_one(): pytest.skip('no')")
    pytester.runpytest("test_own.py").stdout.no_fnmatch_line("clinical-drift:*")


def test_a_failed_own_test_reads_as_a_sentence(project: Project) -> None:
    """README's example: the headline, and nothing of the inside of our objects."""
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    (own,) = [part for part in readme.split("```") if part.startswith("python\ndef test_")]
    pytester = project("anna", forget_from=2)
    pytester.makepyfile(test_own=own.removeprefix("python\n"))
    result = pytester.runpytest(*ARGUMENTS, "test_own.py")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(['E * turn 2: lost "penicillin allergy with anaphylaxis" (hard stop)*'])
    printed = [line for line in result.stdout.lines if line.startswith("E ")]
    assert len(printed) <= 6
    assert max(map(len, printed)) < 320
    assert "CaseAssessment(" not in result.stdout.str()


def test_the_bare_name_of_a_control_is_asked_about(project: Project) -> None:
    """Not looked for on a hub; a folder of that name is still a model's."""
    pytester = project("anna")
    error = refused(pytester.runpytest("--model", "steady", "--drift-cases", "mycases"))
    assert error == "ERROR: --model steady: did you mean control:steady? A model of that name is hf:steady"


def test_an_unknown_recogniser_names_option_and_choices(project: Project) -> None:
    """Which option was wrong, and what it takes."""
    error = refused(project("anna").runpytest(*ARGUMENTS, "--drift-ner", "spicy"))
    assert error == "ERROR: --drift-ner spicy: unknown entity extractor; valid ones: lexicon, scispacy[:MODEL]"


def test_tags_are_marks_of_own_tests_too(project: Project) -> None:
    """-m selects a project's own tests by the tags of their case."""
    pytester = project("anna", "bela")
    file = pytester.path / "mycases" / "anna.yaml"
    file.write_text(file.read_text(encoding="utf-8") + "tags: ['pressure:cost']\n", encoding="utf-8")
    pytester.makepyfile(test_own="def test_one(drift_case): assert drift_case.id == 'anna'")
    result = pytester.runpytest(*ARGUMENTS, "--strict-markers", "-m", "pressure_cost", "test_own.py")
    result.assert_outcomes(passed=1, deselected=1)


def test_keywords_choose_by_case_and_by_model(project: Project) -> None:
    """-k knows both parts of a test's id, and nothing that is in neither."""
    pytester = project("anna", "bela")
    for words, chosen in (("python-model-make", 2), ("bela and python-model-make", 1), ("control-steady", 0)):
        listed = pytester.runpytest(*ARGUMENTS, "--collect-only", "-q", "-k", words)
        assert sum(line.startswith("study_c/") for line in listed.outlines) == chosen, words


def test_cautions_are_listed_on_request(project: Project) -> None:
    """-rA names each case with a caution and the fact it lost."""
    pytester = project("anna", "bela")
    file = pytester.path / "mycases" / "bela.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("lives alone", "drives a taxi"), encoding="utf-8")
    listed = pytester.runpytest(*ARGUMENTS, "-rA")
    listed.stdout.fnmatch_lines(["CAUTION study_c/bela::python-model-make - *drives a taxi*"])
    listed.stdout.no_fnmatch_line("CAUTION study_c/anna::*")
    pytester.runpytest(*ARGUMENTS).stdout.no_fnmatch_line("CAUTION study_c/bela::*")


def refused(result: pytest.RunResult) -> str:
    """The one sentence of a run that ended with exit code 4."""
    assert result.ret == 4, said(result)
    assert "Traceback" not in said(result)
    (error,) = [line for line in result.stderr.lines if line.startswith("ERROR: ")]
    return error


def test_two_models_are_refused(project: Project) -> None:
    """Of two models nobody knows whose verdict was meant."""
    error = refused(project().runpytest(*ARGUMENTS, "--model", "control:steady"))
    assert "given twice (python:model:make, control:steady)" in error
    assert "clinical-drift compare" in error


def test_results_cannot_go_into_a_file(project: Project) -> None:
    """Said before the first case runs."""
    pytester = project()
    (pytester.path / "taken").write_text("", encoding="utf-8")
    assert "taken is a file, not a directory" in refused(pytester.runpytest(*ARGUMENTS, "--drift-results", "taken"))


@pytest.mark.parametrize("installed", [True, False])
def test_missing_recogniser_is_told_before_the_first_case(
    project: Project, monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    """An entity recogniser, or spaCy itself, that is not installed ends the run at once, with what to install."""

    def load(name: str) -> None:
        raise OSError(f"[E050] Can't find model '{name}'.")  # as spaCy does

    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load=load) if installed else None)  # type: ignore[arg-type]
    told = refused(project().runpytest(*ARGUMENTS, "--drift-ner", "scispacy:en_core_sci_nowhere"))
    assert ("en_core_sci_nowhere" if installed else "pytest-clinical-drift[scispacy]") in told


def test_baseline_may_be_a_folder(project: Project) -> None:
    """A run's results folder serves as baseline; one without results is refused by the option's name."""
    pytester = project()
    pytester.runpytest(*ARGUMENTS)
    result = pytester.runpytest(*ARGUMENTS, "--drift-baseline", "results/python-model-make", "--drift-results", "new")
    assert result.ret == 0, said(result)
    assert "--drift-baseline" in refused(pytester.runpytest(*ARGUMENTS, "--drift-baseline", "mycases"))


def test_failing_function_shows_its_own_traceback(project: Project) -> None:
    """The way through the user's code to the error, without ours or pytest's."""
    pytester = project("anna", breaks_at=3)
    result = pytester.runpytest(*ARGUMENTS)
    result.stdout.fnmatch_lines(
        [
            "INCOMPLETE: turn 3, reply: RuntimeError: out of memory",
            '*model.py", line *, in chat',
            "*raise RuntimeError*",
        ]
    )
    result.stdout.no_fnmatch_line("*subjects*python.py*")


def test_async_functions_are_awaited(project: Project) -> None:
    """A factory may return a coroutine function; all its calls share one event loop."""
    pytester = project("anna")
    pytester.makepyfile(
        amodel="""
        import asyncio
        from model import make as make_plain
        loops = set()

        def make():
            plain = make_plain()
            async def chat(messages):
                await asyncio.sleep(0)
                loops.add(id(asyncio.get_running_loop()))
                assert len(loops) == 1
                return plain(messages)
            return chat
        """
    )
    result = pytester.runpytest("--model", "python:amodel:make", *ARGUMENTS[2:])
    assert result.ret == 0, said(result)


class Page(http.server.BaseHTTPRequestHandler):
    """Answers everything with a web page."""

    def do_GET(self) -> None:
        body = b"<!doctype html><title>Welcome to nginx</title>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def web_page() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def test_a_web_page_is_quoted_and_the_url_asked_for(project: Project, web_page: str) -> None:
    """Somebody answers at the URL, but no model: told at once, with the page's first words."""
    error = refused(project().runpytest("--model", f"server:m@{web_page}", "--drift-cases", "mycases"))
    assert "<!doctype html><title>Welcome to nginx" in error
    assert "check the URL" in error


def test_own_request_for_a_summary_reaches_the_model_and_the_manifest(project: Project) -> None:
    """--drift-probe FILE is what the model is asked, and changes the hash of the prompts."""
    pytester = project("anna")
    pytester.runpytest(*ARGUMENTS)
    results = pytester.path / "results" / "python-model-make" / "study_c_results.json"
    before = json.loads(results.read_text("utf-8"))
    (pytester.path / "probe.txt").write_text("Dictate a letter about this patient.", encoding="utf-8")
    model = pytester.path / "model.py"
    model.write_text(model.read_text("utf-8").replace("handover summary", "Dictate a letter"), encoding="utf-8")
    result = pytester.runpytest(*ARGUMENTS, "--drift-probe", "probe.txt")
    assert result.ret == 0, said(result)
    after = json.loads(results.read_text("utf-8"))
    assert after["entity_recall_at_t10"] == before["entity_recall_at_t10"] == 1.0
    assert after["manifest"]["hashes"]["prompts"] != before["manifest"]["hashes"]["prompts"]


@pytest.mark.slow
def test_other_code_behind_the_model_is_asked_again(project: Project) -> None:
    """After an outage replies are kept for the same code only, whichever module of the project has changed."""
    pytester = project("anna")
    wrapped = "import helpers.words, model\nlimit = helpers.words.LIMIT\n"
    chat = (
        "def make():\n    def chat(messages):\n        if len(messages) > limit():\n            raise OSError('gone')\n"
    )
    rest = "        return model.make()(messages)\n    return chat\n"
    pytester.makepyfile(served=wrapped + chat + rest)
    words = pytester.mkpydir("helpers") / "words.py"
    given = ("--model", "python:served:make", "--drift-cases", "mycases")
    run = "import os\nLIMIT = lambda: int(os.environ['LIMIT'])\n"
    words.write_text(run, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LIMIT", "4")
        assert pytester.runpytest(*given).ret == 6
        words.write_text(run + "# changed\n", encoding="utf-8")
        again = pytester.runpytest(*given)
        again.stdout.no_fnmatch_line("*stored by this run*")
        patch.setenv("LIMIT", "99")
        resumed = pytester.runpytest(*given)
    assert resumed.ret == 7  # to its end, with nobody to read it
    # up to the second reply
    resumed.stdout.re_match_lines([r"  3 of 8 replies were stored by this run before it was interrupted"])


def test_a_selection_without_a_case_says_so(project: Project) -> None:
    """Exit code 5 is pytest's own for it; no result is written, and no verdict is claimed."""
    pytester = project("anna", "bela")
    result = pytester.runpytest(*ARGUMENTS, "-k", "nobody")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["clinical-drift: no case selected out of 2: *"])
    assert not list(pytester.path.glob("results/**/study_c_results.json"))
