"""Reasons are typed values: each has its sentence, and nobody decides anything by reading one."""

from __future__ import annotations

import ast
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from jinja2 import nodes
from pydantic import TypeAdapter, ValidationError

import pytest_clinical_drift
from pytest_clinical_drift.cases.faults import first_fault
from pytest_clinical_drift.errors import Failure, FailureCode
from pytest_clinical_drift.ranking.figure_types import SlateCode
from pytest_clinical_drift.report.page import environment
from pytest_clinical_drift.report.reasons import TEMPLATE, reason_text
from pytest_clinical_drift.report.words import words
from pytest_clinical_drift.verdict import reasons
from pytest_clinical_drift.verdict.metric_table import METRICS
from pytest_clinical_drift.verdict.reason_codes import ReasonCode
from pytest_clinical_drift.verdict.reasons import (
    REASONS,
    ActiveContradiction,
    AllRepliesCut,
    AllRepliesEmpty,
    AuditBound,
    BaselineUndecided,
    BaselineVersion,
    BaselineWorse,
    ByPoint,
    CanariesMissed,
    CanariesUnanswered,
    CannotHappen,
    CasesAtCaution,
    CasesFailed,
    CasesMeasured,
    CasesPastLimit,
    CasesSelected,
    CasesUnfinished,
    CasesUnsigned,
    CasesWithEvent,
    CasesWouldSettle,
    CautionFails,
    ConfirmedBeforeEnd,
    ContradictsFacts,
    ConversationUnfinished,
    CoreNotEvaluated,
    Corrected,
    Figure,
    FiguresUnread,
    Forgetting,
    JudgeBelowFloor,
    JudgeOutage,
    JudgeRequired,
    LowestAt,
    NeedsJudge,
    NewSevere,
    NoAdvicePair,
    NoCaseFinished,
    NoFactEvaluated,
    NoPairCompared,
    NoScorer,
    NoSummaryStatesChange,
    NoSummaryStatesFact,
    NotAudited,
    NothingToDiagnose,
    NotPaired,
    OpenRecall,
    Pairs,
    PassedByPoint,
    PerReplies,
    QuestionsUnanswered,
    Reason,
    RecallNotEvaluated,
    RecallUnread,
    RecallZeroThroughout,
    RemembersBut,
    RepliesNotRecorded,
    RepliesUnproven,
    SeenEvent,
    SevereOpen,
    Shard,
    ShardsMissing,
    ShortRun,
    Speechless,
    Stable,
    Stretched,
    TooCloseToSettle,
    TooFewCases,
    TooFewPairs,
    Unread,
    UnsourcedSummaries,
)
from pytest_clinical_drift.verdict.thresholds import load_thresholds

PACKAGE = Path(pytest_clinical_drift.__file__).parent
READERS = ("evidence", "authoring")
"""What reads clinical text by rules, which is prose by nature."""
PROSE = {
    "advice", "cause", "causes", "detail", "diagnosis", "error", "failed", "failure", "given_up", "headline", "hint",
    "incomplete", "message", "note", "notes", "problem", "problems", "reason", "reasons", "refusal", "remark",
    "remarks", "sentence", "sentences", "trouble", "warning", "warnings", "why", "wording",
}  # fmt: skip
"""Names of what people read."""
READING = {
    "startswith",
    "endswith",
    "rsplit",
    "removeprefix",
    "removesuffix",
    "partition",
    "rpartition",
    "find",
    "index",
}
MATCHING = {"search", "match", "fullmatch", "findall", "finditer", "sub"}
FOREIGN = {
    ("cases/faults.py", "message"): "the words of pydantic",
    ("subjects/server.py", "error"): "the words of a server, which has no codes of its own",
}


def named(node: ast.expr) -> str:
    """The last part of a name; what `str()` is made of, and what a key of a mapping holds."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "lower"):
        key = node.args[0] if node.func.attr == "get" and node.args else node.func.value
        return str(key.value) if isinstance(key, ast.Constant) else named(key)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str" and node.args:
        return named(node.args[0])
    return node.id if isinstance(node, ast.Name) else ""


def readings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Lines that take a sentence apart, or compare it with words: `split()` at white space alone does not."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            how, source = node.func.attr, named(node.func.value)
            if source in PROSE and (how in READING or (how == "split" and node.args)):
                yield node.lineno, source
            if how in MATCHING:
                yield from ((node.lineno, named(arg)) for arg in node.args if named(arg) in PROSE)
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            text = any(isinstance(side, ast.Constant) and isinstance(side.value, str) and side.value for side in sides)
            inside = any(isinstance(op, ast.In | ast.NotIn) for op in node.ops)
            for side in node.comparators if inside else sides:
                if named(side) in PROSE and (text or (inside and isinstance(side, ast.Call | ast.Subscript))):
                    yield node.lineno, named(side)


def test_the_search_for_such_readings_finds_them() -> None:
    """Each line below makes a decision by words; the last three do not."""
    lines = (
        'if cause.startswith("no"): pass',
        'if "token limit" in run.incomplete: pass',
        'why, _, rest = reply.error.partition("\\n")',
        'parts = reason.split(";")',
        'if str(fault.cause) == "timeout": pass',
        "if option not in fault.values.get('error', ''): pass",
        'if re.search("memory", message): pass',
        'flat = " ".join(str(error).split())',
        "if error is None: pass",
        'if "reason" in plain: pass',
    )
    assert [n for n, line in enumerate(lines) if list(readings(ast.parse(line)))] == list(range(7))


@pytest.mark.parametrize(
    "path",
    [p for p in sorted(PACKAGE.rglob("*.py")) if p.relative_to(PACKAGE).parts[0] not in READERS],
    ids=lambda path: str(path.relative_to(PACKAGE)),
)
def test_no_decision_is_made_by_reading_prose(path: Path) -> None:
    """No `reason.startswith(…)`, no `"token limit" in cause`: whoever needs to know asks the code."""
    place = path.relative_to(PACKAGE).as_posix()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert [(line, name) for line, name in readings(tree) if (place, name) not in FOREIGN] == []


def test_every_failure_and_slate_reason_has_its_sentence() -> None:
    """One sentence per code, none for a code that is gone; each names only plain values."""
    for file, codes in (("failures.yaml", FailureCode), ("slate_reasons.yaml", SlateCode)):
        sentences = yaml.safe_load((PACKAGE / "data" / file).read_text(encoding="utf-8"))
        assert list(sentences) == [code.value for code in codes]
    assert str(Failure(FailureCode.TOO_SLOW, {"seconds": 2.5}, attempts=3, turn=4, part="reply")) == (
        "turn 4, reply: no answer within 2.5 s, after 3 attempts"
    )


EXAMPLES: dict[Reason, str] = {
    CannotHappen("stale_facts"): "no fact changes",
    ConversationUnfinished(): "the conversation was not carried to its end",
    NeedsJudge(): "needs a judge that may decide it",
    AllRepliesCut(): "every reply was cut off by the token limit",
    AllRepliesEmpty(): "every reply is empty or a single word",
    RepliesNotRecorded(): "the recording holds summaries only, no replies",
    NoAdvicePair(read=True): "no two turns gave advice, so nothing could contradict",
    NoAdvicePair(read=False): ("the rules recognised no pair of advice to compare, and nobody has read the replies"),
    NoPairCompared(): "no pair of advice was compared",
    NoSummaryStatesFact(): "no summary states a fact",
    NoSummaryStatesChange(): "no summary states a fact after it changed",
    RecallZeroThroughout(): "recall is 0 on every turn",
    NoFactEvaluated(): "no fact could be evaluated",
    NoScorer(): "no scorer gave this figure",
    NoCaseFinished(): "no case was run to the end",
    Stretched(): "turn 10 of a stretched run is not turn 10 of the case",
    ShortRun(20): "only for runs of more than 20 turns",
    Unread(("fact",)): "not read by a qualified judge or a reviewer",
    PerReplies(3, 1200): "3 in 1,200 replies",
    PerReplies(3, 1, missing=2): "3 in 1 reply; not evaluated in 2 cases",
    LowestAt(turn=3, cases=1): "at turn 3, n = 1 finished case",
    Pairs(contradictions=1, pairs=1): "1 of 1 pair",
    CasesMeasured(40): "n = 40 finished cases",
    CasesWithEvent(happened=0, cases=60, restricted=False, upper=0.0596, open=0, waived=0, missing=0): (
        "0 of 60 finished cases; compatible with a true rate up to 6.0%"
    ),
    CasesWithEvent(happened=1, cases=60, restricted=True, upper=None, open=2, waived=1, missing=3): (
        "1 of 60 finished cases where it can happen confirmed, 2 more with open alarms: the rate is not known; "
        "1 waived; not evaluated in 3 cases"
    ),
    CasesWouldSettle(54): "about 54 independent cases would settle it",
    TooCloseToSettle(20): "more than 20 times as many cases would be needed to settle it",
    ByPoint(): "inside the limit by its point estimate, not by its interval",
    Corrected(0.2, 0.1, 0.3): "0.200 [0.100, 0.300] corrected for the judge's error",
    CasesSelected(run=1, total=60): "1 of 60 cases was run",
    CasesSelected(run=2, total=60): "2 of 60 cases were run",
    Shard(index=1, count=4): "shard 1 of 4: clinical-drift merge gives the verdict",
    ShardsMissing(("shard 2 of 2 is missing", "no run in x")): "shard 2 of 2 is missing; no run in x",
    PassedByPoint(("recall_at_t10", "fall")): "passed by point estimate, not by interval: Recall@T10, fall",
    CasesFailed(failed=1, cases=4): "1 of 4 cases run failed",
    CasesPastLimit(past=1, cases=1, tolerated=0): "1 of 1 case run is past a fail line, 0 tolerated",
    CasesPastLimit(past=2, cases=9, tolerated=1): "2 of 9 cases run are past a fail line, 1 tolerated",
    CasesUnfinished(unfinished=1, cases=60): "1 of 60 cases could not be run to the end",
    CasesAtCaution(1): "1 case at CAUTION",
    CautionFails(2): "2 cases at CAUTION, which --drift-strict fails",
    ConfirmedBeforeEnd("breaches", 1, (SeenEvent("advises aspirin", 3, "anna"),)): (
        "1 breach was already confirmed in unfinished cases: advises aspirin, turn 3 (anna)"
    ),
    ConfirmedBeforeEnd("hard_stops", 3, (SeenEvent("a", 1, "x"), SeenEvent("b", 2, "y"))): (
        "3 hard stops were already confirmed in unfinished cases: a, turn 1 (x); b, turn 2 (y) and 1 more"
    ),
    CoreNotEvaluated(): "recall or slope could not be evaluated",
    FiguresUnread(metrics=("hard_stops", "recall_at_t10"), kinds=("fact",)): (
        "no judge that meets its floor has checked facts in summaries: hard stops, Recall@T10 cannot pass"
    ),
    RepliesUnproven(replies=1, since=None): (
        "1 reply of an earlier run was reused, and nothing proves that the same model wrote it"
    ),
    RepliesUnproven(replies=12, since="2026-01-31"): (
        "12 replies of an earlier run (from 2026-01-31) were reused, and nothing proves that the same model wrote them"
    ),
    CanariesMissed(confirmed=29, inserted=40, needed=0.75): (
        "the judge confirmed 29 of 40 inserted faults, fewer than 75%: it is not fit for this run"
    ),
    CanariesUnanswered(unanswered=1, inserted=1): (
        "1 of 1 inserted fault had no answer: whether the judge is fit for this run is not known"
    ),
    JudgeOutage(5, 9000, "HTTP 500", stopped=False, offline=False, sent=None, lost=0, canaries=0): (
        "no answer of the judge to 5 of 9,000 requests, the last error: HTTP 500"
    ),
    JudgeOutage(1500, 9000, "HTTP 500", stopped=True, offline=False, sent=7000, lost=1000, canaries=2): (
        "the judge stopped answering: no answer to 1,000 of 7,000 requests sent, 500 not sent any more, "
        "the last error: HTTP 500"
    ),
    JudgeOutage(5, 9, "offline", stopped=False, offline=True, sent=0, lost=0, canaries=0): (
        "no stored answer to 5 of 9 requests"
    ),
    SevereOpen(1): "1 case has severe alarms that nobody has settled",
    SevereOpen(2): "2 cases have severe alarms that nobody has settled",
    TooFewCases(cases=3, groups=3, needed=40): "3 cases: fewer than the 40 that a PASS needs, so CAUTION at best",
    TooFewCases(cases=50, groups=3, needed=40): (
        "50 cases of 3 independent groups: fewer than the 40 that a PASS needs, so CAUTION at best"
    ),
    CasesUnsigned(unsigned=1, cases=60): (
        "1 of 60 cases is not clinically signed, as the thresholds require: CAUTION at best"
    ),
    AuditBound(upper=0.041, asked=120, bound=0.03): (
        "up to 4.1% of what the readings cleared may be wrong (audit of 120; bound 3%)"
    ),
    NotAudited(): "no answer to an audit of what the readings cleared: nothing bounds what the judge missed",
    UnsourcedSummaries(): "almost nothing in the summaries has a source",
    UnsourcedSummaries(2): "2 cases: almost nothing in the summaries has a source",
    Speechless(): "most replies say nothing (empty, or a single word)",
    Speechless(1): "1 case: most replies say nothing (empty, or a single word)",
    JudgeRequired(): "the thresholds require a judge, and none was given",
    JudgeBelowFloor(("fact",)): "the judge is below its floor for facts in summaries",
    QuestionsUnanswered(1): "1 question not answered by the required judge",
    BaselineWorse(metrics=(), new_severe=("a", "b", "c", "d")): "baseline: new hard stop in a, b, c",
    BaselineWorse(metrics=("recall_at_t10",), new_severe=()): "baseline: worse in Recall@T10 than the earlier run",
    BaselineWorse(metrics=(), new_severe=()): "baseline: worse than the earlier run",
    BaselineUndecided(("fall",)): "baseline: undecided in fall",
    BaselineUndecided(()): "baseline: undecided",
    BaselineVersion(before="1", now="2"): (
        "the baseline was scored by version 1, this run by 2: replay its transcripts with this version for a clean "
        "comparison"
    ),
    TooFewPairs(pairs=10, needed=40): "10 independent pairs, fewer than the 40 needed",
    NotPaired("cases"): "not paired: the cases differ",
    NewSevere(("a", "b", "c", "d")): "new severe failure in a, b, c and 1 more",
    RecallUnread((OpenRecall("old", 0.95, 0.85), OpenRecall("new", 0.9, 0.9))): (
        "recall not read to the end: old 0.95, 0.85 with open alarms; new 0.90, by rules alone"
    ),
    NothingToDiagnose(): "nothing to diagnose",
    RecallNotEvaluated("breaches"): "recall not evaluated; advises unsafely",
    Forgetting(advice_evaluated=True): "passive forgetting",
    Forgetting(advice_evaluated=False): "forgetting (advice not evaluated)",
    ContradictsFacts(advice_evaluated=True): "contradicts facts, not its own advice",
    ContradictsFacts(advice_evaluated=False): "contradicts facts (advice not evaluated)",
    ActiveContradiction(): "active contradiction",
    RemembersBut("breaches"): "remembers, but advises unsafely",
    RemembersBut("own.tone"): "remembers, but is outside the limit of own.tone",
    Stable(open=False, advice_evaluated=True): "stable",
    Stable(open=True, advice_evaluated=False): "stable but for open alarms (advice not evaluated)",
}
"""Reasons and their sentences, every class at least once; `Figure` is told by its judgement."""
UNTOLD = {"unread": {"kinds"}, "judge_outage": {"canaries"}}
"""Values that are kept for readers of the file alone."""


def test_every_reason_has_its_sentence() -> None:
    """One macro for each class of the union, and none besides."""
    told = {type(example) for example in EXAMPLES} | {Figure}
    assert told == set(REASONS.values())
    assert [code.value for code in REASONS] == [code.value for code in ReasonCode]
    source = (PACKAGE / "data" / "templates" / TEMPLATE).read_text(encoding="utf-8")
    macros = [macro.name for macro in environment().parse(source).find_all(nodes.Macro)]
    assert sorted(macros) == sorted({code.value for code in ReasonCode} - {"figure"} | {"finished", "named"})
    assert len(told) == 67


@pytest.mark.parametrize(("why", "sentence"), EXAMPLES.items(), ids=lambda given: getattr(given, "code", ""))
def test_the_sentence_of_a_reason(why: Reason, sentence: str) -> None:
    """In every form that its values can give it."""
    assert reason_text(why) == sentence


def test_every_reason_that_can_be_made_is_in_the_union() -> None:
    """A class that is not would be written as a bare object, and never be read back."""
    made = [kind for kind in vars(reasons).values() if isinstance(kind, type) and issubclass(kind, reasons.Coded)]
    assert {kind.__name__ for kind in made} - {"Coded"} == {kind.__name__ for kind in REASONS.values()}
    for code, kind in REASONS.items():
        assert kind.__name__ == code.value.title().replace("_", "")


def test_sentences_name_the_fields_of_their_reasons() -> None:
    """Every `why.NAME` of a macro is a field of its class; every field is told but those that the file alone has."""
    source = (PACKAGE / "data" / "templates" / TEMPLATE).read_text(encoding="utf-8")
    examined = 0
    for macro in environment().parse(source).find_all(nodes.Macro):
        if macro.name in ("finished", "named"):
            continue
        named = {
            node.attr
            for node in macro.find_all(nodes.Getattr)
            if isinstance(node.node, nodes.Name) and node.node.name == "why"
        }
        kind = REASONS[ReasonCode(macro.name)]
        values = {field.name for field in dataclasses.fields(kind)} - {"text"}
        assert named == values - UNTOLD.get(macro.name, set()), macro.name
        examined += 1
    assert examined == len(REASONS) - 1


# -- in files

ANY: TypeAdapter[Reason] = TypeAdapter(Reason)


@pytest.mark.parametrize("why", [*EXAMPLES, Figure("fall")], ids=lambda given: given.code)
def test_a_reason_comes_back_from_a_file_as_it_was(why: Reason) -> None:
    """Its class, its values and the sentence for readers; by way of text."""
    told = dataclasses.replace(why, text="a sentence")
    plain = json.loads(json.dumps(ANY.dump_python(told, mode="json")))
    assert list(plain) == ["code", "values", "text"]
    again = ANY.validate_python(plain)
    assert (again, type(again), again.text) == (why, type(why), "a sentence")


def test_the_form_of_a_reason_in_a_file() -> None:
    """Values under their names; what only a set has is left out of a case's; None where nothing is known is written."""
    forms = {
        PerReplies(1, 2): {"events": 1, "replies": 2},
        PerReplies(1, 2, 0): {"events": 1, "replies": 2, "missing": 0},
        Speechless(): {},
        RecallUnread((OpenRecall("a", 1.0, 0.5),)): {"runs": [{"name": "a", "recall": 1.0, "worst": 0.5}]},
        CasesWithEvent(1, 2, restricted=True, upper=None, open=0, waived=0, missing=0): {
            "happened": 1,
            "cases": 2,
            "restricted": True,
            "upper": None,
            "open": 0,
            "waived": 0,
            "missing": 0,
        },
    }
    for why, values in forms.items():
        assert ANY.dump_python(why, mode="json") == {"code": why.code.value, "values": values, "text": ""}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"code": "moon"}, "unknown reason 'moon'; the file is of another version of this package"),
        (
            {"code": "shard", "values": {"index": 1}},
            "the reason shard has other values (count: required field is missing)",
        ),
        ({"code": "shard", "values": {"index": 1, "count": "x"}}, "expected a whole number, found 'x'"),
        ({"values": {}}, "code: required field is missing"),
        ("cases failed", "found 'cases failed'"),
    ],
)
def test_a_reason_of_another_version_is_told_in_a_sentence(given: object, told: str) -> None:
    """What cannot be read is named, with its place."""
    with pytest.raises(ValidationError) as caught:
        ANY.validate_python(given)
    sentence = first_fault(caught.value)
    assert told in sentence
    assert "\n" not in sentence


def test_every_metric_has_words_and_limits() -> None:
    """A metric is one entry in the table, one in the thresholds and one in the words of the reports."""
    assert set(words("metrics")) == set(METRICS)
    assert set(load_thresholds().metrics) == set(METRICS)
    assert all("one" in words("metrics")[name] for name, metric in METRICS.items() if metric.severe)
    assert set(words("diagnoses")) == {name for name, metric in METRICS.items() if metric.gravity}
