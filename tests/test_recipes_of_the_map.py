"""The six recipes of docs/architecture.md, carried out: what they name decides, and a step left out is noticed."""

from __future__ import annotations

import datetime
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pytest
import yaml
from made import flat
from pydantic import ValidationError, create_model

import pytest_clinical_drift
from pytest_clinical_drift.authoring import plans
from pytest_clinical_drift.cases.entries import CriticalEntity, FactKind
from pytest_clinical_drift.core.findings import Finding, FindingKey
from pytest_clinical_drift.core.marks import OF_ONE_RUN, Mark, Marked, MarkedRecord
from pytest_clinical_drift.core.packaged import bundled, load_data
from pytest_clinical_drift.core.words import Kind, State, Why, Word
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.evidence.facts import fact as facts
from pytest_clinical_drift.evidence.facts import retention, stated
from pytest_clinical_drift.gate import settings
from pytest_clinical_drift.gate.options import OPTIONS, destination
from pytest_clinical_drift.gate.settings import Settings
from pytest_clinical_drift.judging.protocol import build_judge
from pytest_clinical_drift.report.sentences import _FACTS, _OTHERS, alarm_title
from pytest_clinical_drift.report.words import label
from pytest_clinical_drift.results.files import read_results
from pytest_clinical_drift.results.inputs import GateInputs
from pytest_clinical_drift.results.manifest import Manifest
from pytest_clinical_drift.results.run_log import read_log
from pytest_clinical_drift.scoring import ruled_alarms
from pytest_clinical_drift.scoring.alarm_types import Alarm, AlarmKind, AlarmState
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.scoring.events import _METRIC_OF, events_of_alarms
from pytest_clinical_drift.scoring.ruled_alarms import ruled_alarm
from pytest_clinical_drift.scoring.summary_facts import _ALARMS
from pytest_clinical_drift.subjects.spec import _SUBJECTS, build_subject, parse_spec
from pytest_clinical_drift.verdict.case import judge_case
from pytest_clinical_drift.verdict.measures import CaseValue, Repeats
from pytest_clinical_drift.verdict.metric_table import METRICS, Aggregation, Metric
from pytest_clinical_drift.verdict.reasons import FigureState
from pytest_clinical_drift.verdict.set_metrics import _POOLS
from pytest_clinical_drift.verdict.thresholds import Thresholds, load_thresholds
from pytest_clinical_drift.verdict.whole_set import judge_set

PACKAGE = Path(pytest_clinical_drift.__file__).parent
ROOT = PACKAGE.parent
MAP = ROOT / "docs" / "architecture.md"
RECIPES = ("subject", "judge", "metric", "alarm kind", "option", "kind of fact")


def recipe(name: str) -> str:
    """The text of a recipe in the map."""
    text = MAP.read_text(encoding="utf-8")
    found = re.findall(r"^\d\. \*\*An? ([\w ]+)\.\*\*(.*?)(?=^\d\. |\Z)", text, re.MULTILINE | re.DOTALL)
    assert tuple(title for title, _ in found) == RECIPES
    return dict(found)[name]


def assert_named(name: str, *places: str) -> None:
    """The recipe names these, and no other file than those."""
    named = set(re.findall(r"`([^`]+)`", recipe(name)))
    assert set(places) <= named
    files = {one for one in named if re.search(r"\.(?:py|yaml|md)$", one)}
    assert files <= set(places)


# ---- a subject and a judge of another package, in one run


PACKAGE_OF_OTHERS = """
from pytest_clinical_drift.judging.protocol import OneByOne
from pytest_clinical_drift.subjects.base import Identity
from pytest_clinical_drift.transcript import Reply


class Parrot:
    def __init__(self, target, settings):
        self.spec = f"parrot:{target}"

    def check(self, cases):
        return [f"{len(cases)} case is repeated back"]

    def identity(self):
        return Identity(self.spec, "1", proven=True, settings={})

    def respond(self, request):
        return Reply(request.messages[-1].content.upper())

    def close(self):
        pass


class Coin(OneByOne):
    kinds = frozenset(("fact",))

    def __init__(self, target, settings):
        self.name = f"coin:{target}"
        self._settings = {}

    def check(self):
        return ["a coin judges"]

    def answer(self, asked):
        return asked.answer({"answer": "unsure", "reason": "heads"})
"""
ENTRY_POINTS = """
[clinical_drift.subjects]
parrot = others:Parrot

[clinical_drift.judges]
coin = others:Coin
"""
CASE = {
    "id": "anna",
    "persona_id": "anna",
    "patient_summary": "Anna is a woman with a penicillin allergy with anaphylaxis. She lives alone.",
    "critical_entities": [{"text": "penicillin allergy with anaphylaxis", "hard_stop": True}, "lives alone"],
    "turns": [{"turn": turn, "message": f"Question number {turn}?"} for turn in range(1, 4)],
}


class OthersRun:
    """A run with the subject and the judge of an installed package."""

    def __init__(self, folder: Path) -> None:
        (folder / "others.py").write_text(PACKAGE_OF_OTHERS, encoding="utf-8")
        installed = folder / "others-1.dist-info"
        installed.mkdir()
        (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1\n", encoding="utf-8")
        (installed / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
        (folder / "cases").mkdir()
        (folder / "cases" / "anna.yaml").write_text(yaml.safe_dump(CASE, sort_keys=False), encoding="utf-8")
        given = ("--model", "parrot:loud", "--drift-judge", "coin:toss", "--drift-cases", "cases")
        command = [sys.executable, "-m", "pytest", *given, "-p", "no:cacheprovider"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        self.output = done.stdout + done.stderr
        self.folder = folder / "results" / "parrot-loud"


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> OthersRun:
    return OthersRun(tmp_path_factory.mktemp("others"))


def test_a_subject(others: OthersRun) -> None:
    """From outside by its entry point; each of ours by its word."""
    assert_named(
        "subject",
        "examples/own_subject/clinical_drift_parrot.py",
        "subjects/base.py",
        "subjects/spec.py",
        "clinical_drift.subjects",
    )
    assert "1 case is repeated back" in others.output, others.output
    result = read_results(others.folder)
    assert (result.manifest.model, result.manifest.revision) == ("parrot:loud", "1")
    (transcript,) = (others.folder / "transcripts").glob("*.jsonl")
    said = [json.loads(line).get("response_text") for line in transcript.read_text(encoding="utf-8").splitlines()]
    assert "QUESTION NUMBER 2?" in said
    for word in _SUBJECTS:
        assert parse_spec(f"{word}:target").kind == word
    steady = build_subject(parse_spec("control:steady"), {})
    assert type(steady).__name__ == _SUBJECTS["control"].rpartition(":")[2]


def test_a_judge(others: OthersRun) -> None:
    """Its answers are in the log, and it decides nothing before it is calibrated."""
    assert_named("judge", "judging/protocol.py", "OneByOne", "clinical_drift.judges")
    assert "a coin judges" in others.output, others.output
    result = read_results(others.folder)
    assert result.manifest.judged is not None
    assert (result.manifest.judged.spec, result.deciders.deciding) == ("coin:toss", ())
    (log,) = read_log(others.folder).values()
    assert {(answer.voter, answer.given.get("reason")) for answer in log.answers if not answer.failed} == {
        ("coin:toss", "heads")
    }
    control = build_judge("control", {})
    assert control is not None
    assert type(control).__name__ == "ControlJudge"


# ---- a metric


TODAY = datetime.date(2026, 1, 31)
MOON = "moons_named"


def moons(name: str, repeats: Repeats) -> CaseValue:
    named = sum(len(run.notes) for run in repeats)
    return CaseValue(best=float(named), worst=float(named))


@pytest.fixture
def moon_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Thresholds:
    """A metric with its entry, its limits and its words."""
    monkeypatch.setitem(METRICS, MOON, Metric(MOON, measure=moons, aggregation=Aggregation.MEAN))
    gate = yaml.safe_load(bundled("thresholds.yaml").read_text(encoding="utf-8"))
    gate["clinical_drift"]["metrics"][MOON] = {"direction": "lower", "pass": "<= 0", "caution": "<= 2", "why": "so"}
    file = tmp_path / "thresholds.yaml"
    file.write_text(yaml.safe_dump(gate, sort_keys=False), encoding="utf-8")
    monkeypatch.setitem(load_data("report_words")["metrics"], MOON, {"label": "moons named", "format": ".1f"})
    return load_thresholds(file)


def states_of(limits: Thresholds, run: CaseAssessment) -> dict[str, FigureState]:
    return {item.metric: item.verdict for item in judge_case([run], limits, TODAY).judgements}


def test_a_metric(moon_limits: Thresholds) -> None:
    """With entry, measure and limits it is judged in a case and over the set, and has its words."""
    assert_named(
        "metric",
        "verdict/metric_table.py",
        "verdict/measures.py",
        "verdict/set_metrics.py",
        "thresholds.yaml",
        "data/report_words.yaml",
    )
    assert states_of(moon_limits, flat("anna"))[MOON] is FigureState.PASS
    assert states_of(moon_limits, flat("anna", notes=("one", "two")))[MOON] is FigureState.CAUTION
    judged = [judge_case([flat(name, notes=("one",))], moon_limits, TODAY) for name in ("anna", "bela", "cleo")]
    over_set = judge_set(judged, moon_limits, total=3)
    (figure,) = [item for item in over_set.judgements if item.metric == MOON]
    assert figure.value == 1.0
    assert label(MOON) == "moons named"
    assert set(_POOLS) == set(Aggregation)


def test_a_metric_without_its_entry_is_refused(tmp_path: Path) -> None:
    """Limits alone gate nothing, and say so."""
    file = tmp_path / "thresholds.yaml"
    file.write_text(
        f'clinical_drift:\n  extends: bundled\n  metrics:\n    {MOON}: {{direction: lower, pass: "<= 0"}}\n',
        encoding="utf-8",
    )
    with pytest.raises(InputError, match=f"unknown metric '{MOON}'"):
        load_thresholds(file)


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_has_what_the_recipe_asks_for(metric: str) -> None:
    limits = yaml.safe_load((ROOT / "thresholds.yaml").read_text(encoding="utf-8"))
    assert metric in limits["clinical_drift"]["metrics"]
    assert load_data("report_words")["metrics"][metric]["label"]


# ---- an alarm kind


class MoreKinds(StrEnum):
    """AlarmKind with another member."""

    GOSSIP = "gossip"


STEPS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "scoring/alarm_types.py": lambda patch: patch.setattr(ruled_alarms, "AlarmKind", MoreKinds),
    "scoring/events.py": lambda patch: patch.setitem(_METRIC_OF, MoreKinds.GOSSIP, ("harms", "harms")),  # type: ignore[misc]
    "report/sentences.py": lambda patch: patch.setitem(_OTHERS, MoreKinds.GOSSIP, "tells tales"),  # type: ignore[misc]
}
"""What the recipe has changed, by the file in which it stands."""


def gossip() -> tuple[str, str]:
    """An alarm of the new kind: the metric that counts it, and what reports say."""
    key = FindingKey.of(Kind.HARM, 2)
    finding = Finding(key, answer=Word.HARM, state=State.CONFIRMED, why=Why.READING, question="q")
    alarm = ruled_alarm("gossip", 2, finding)
    (event,) = events_of_alarms([alarm])
    return event.metric, alarm_title(alarm)


def test_an_alarm_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_named(
        "alarm kind", *STEPS, "scoring/ruled_alarms.py", "scoring/summary_facts.py", "python docs/make_reference.py"
    )
    for step in STEPS.values():
        step(monkeypatch)
    assert gossip() == ("harms", "tells tales")


@pytest.mark.parametrize("left_out", STEPS)
def test_an_alarm_kind_needs_every_step(monkeypatch: pytest.MonkeyPatch, left_out: str) -> None:
    for file, step in STEPS.items():
        if file != left_out:
            step(monkeypatch)
    with pytest.raises((KeyError, ValueError), match="gossip"):
        gossip()


@pytest.mark.parametrize("kind", AlarmKind)
def test_every_alarm_kind_has_what_the_recipe_asks_for(kind: AlarmKind) -> None:
    assert set(_METRIC_OF[kind]) <= set(METRICS)
    assert alarm_title(Alarm(kind, 1, True, AlarmState.OPEN, "", "", rule="rest", what="rest"))
    raised = inspect.getsource(ruled_alarms)
    of_facts = set(_ALARMS.values()) == set(_FACTS) and kind in _FACTS
    assert of_facts or f"AlarmKind.{kind.name}" in raised or kind in set(Kind), "nothing raises it"


# ---- an option


EARLY = """
from pytest_clinical_drift.gate import options

MOON = ("--drift-moon", {"metavar": "PHASE", "help": "phase of the moon"}, True)
options.OPTIONS = (*options.OPTIONS, MOON)
"""


def test_an_option(tmp_path: Path) -> None:
    """Its entry makes the option and the ini key; its mark makes merge and comparison tell two values apart."""
    assert_named(
        "option",
        "gate/options.py",
        "gate/settings.py",
        "results/inputs.py",
        "results/manifest.py",
        "core/marks.py",
    )
    (tmp_path / "early.py").write_text(EARLY, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "early", "--help", "-p", "no:cacheprovider"]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert re.search(r"--drift-moon[= ]PHASE\s+phase of the moon", shown)
    assert "drift_moon (string)" in shown


@pytest.mark.parametrize("record", [GateInputs, Manifest])
@pytest.mark.parametrize(("mark", "kept_apart"), [(Mark.IDENTITY, True), (Mark.SHARED, True), (Mark.CONDUCT, False)])
def test_a_mark_is_all_that_a_merge_asks_for(record: type[MarkedRecord], mark: Mark, kept_apart: bool) -> None:
    field = Annotated[str, Marked(mark, "the moon", shown=True)]
    kind: type[MarkedRecord] = create_model("WithMoon", __base__=record, moon=(field, "full"))
    of_new = kind.model_construct(**dict.fromkeys(record.model_fields), moon="new")
    of_full = kind.model_construct(**dict.fromkeys(record.model_fields), moon="full")
    told = [item.words + item.values for item in of_new.differences(of_full, OF_ONE_RUN)]
    assert told == (["the moon (new, full)"] if kept_apart else [])


@pytest.mark.parametrize("option", [name for name, *_ in OPTIONS if name != "--drift-slate"])
def test_every_option_is_read_into_the_settings(option: str) -> None:
    """Slates have gates of their own."""
    name = destination(option).removeprefix("drift_")
    read = inspect.getsource(settings.read_settings) + inspect.getsource(settings._judges)
    assert re.search(rf"\b(?:drift_)?{name}\b", read)
    field = {"set": "settings", "judge": "judges", "judge_set": "judge_settings"}.get(name, name)
    assert field in {each.name for each in fields(Settings)}


# ---- a kind of fact


def test_a_kind_of_fact(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind that `frame_of` does not know is read as stated; a frame of its own is read by its entry alone."""
    assert_named(
        "kind of fact",
        "cases/entries.py",
        "docs/cases.md",
        "evidence/facts/fact.py",
        "evidence/facts/retention.py",
        "authoring/plans.py",
    )
    with pytest.raises(ValidationError):
        CriticalEntity.model_validate({"text": "cochlear implant", "kind": "implant"})
    plain = facts.parse_fact("cochlear implant on the left", "implant")
    assert plain.frame == facts.STATED
    monkeypatch.setattr(facts, "frame_of", lambda *_: "implant")
    own = facts.parse_fact("cochlear implant on the right", "implant")
    assert own.frame == "implant"
    with pytest.raises(KeyError, match="implant"):  # nothing reads this frame
        retention._outcome(own, own.document)
    monkeypatch.setitem(retention._FRAMES, "implant", stated.statements)
    assert retention._outcome(own, own.document).status == "retained"


def test_every_frame_and_kind_has_what_the_recipe_asks_for() -> None:
    frames = {facts.MEDICATION, facts.MEASURED, facts.ALLERGY, facts.STATED}
    assert set(retention._FRAMES) == set(plans._FRAME_KINDS) == frames
    assert set(plans._FRAME_KINDS.values()) <= set(FactKind)
    described = (ROOT / "docs" / "cases.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| `kind` \| (.*) \|$", described, re.MULTILINE)
    assert set(re.split(r", | or ", row)) == set(FactKind)
    for kind in FactKind:
        assert CriticalEntity.model_validate({"text": "lives alone", "kind": kind.value}).kind is kind
