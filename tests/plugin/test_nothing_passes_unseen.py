"""Runs in which something is wrong: none of them ends as if all were well."""

from __future__ import annotations

from typing import Any

import pytest
from judged_project import JUDGE, REPLY, alarms, lay_out, results, spoil_judge, write_judge, write_measured
from reviewing import chained, manifest_of
from small_project import Project, add_to_model, refused

from pytest_clinical_drift import cli
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.judge_options import make_judges

GATE = """
clinical_drift:
  extends: bundled
  set: {decide_by: point, min_cases: 1}
  judge: {audit_bound: 1}
"""
"""A clean run of two cases passes by it."""
JUDGED = ("--model", "python:model:make", "--drift-cases", "mycases", *JUDGE)
SUMMARY = "She has a penicillin allergy with anaphylaxis. She takes metformin 500 mg twice daily. She lives alone."


def build(project: Project, spoil: str = "", **texts: str) -> pytest.Pytester:
    """A project that passes, but for what `spoil` does to the judge's answers."""
    pytester = project("anna", "bela")
    lay_out(pytester, **{"summary": SUMMARY, **texts})
    (pytester.path / "thresholds.yaml").write_text(GATE, encoding="utf-8")
    if spoil:
        spoil_judge(pytester.path, spoil)
    write_measured(pytester.path)
    return pytester


def run(pytester: pytest.Pytester, *more: str) -> tuple[int, str]:
    """Exit code and verdict."""
    ended = pytester.runpytest(*JUDGED, *more)
    return int(ended.ret), str(results(pytester)["verdict"])


def test_the_clean_run_passes(project: Project) -> None:
    """Every other run here differs from it in one thing."""
    assert run(build(project)) == (0, "PASS")


def test_readings_of_another_case_leave_the_run_unsettled(project: Project) -> None:
    """The judge's answers name other facts: that they list nothing without a source says nothing of these texts."""
    crossed = """
    def spoil(item, answer):
        if item["kind"] == "summary":
            answer["facts"] = {f"other-{name}": said for name, said in answer["facts"].items()}
        return answer
    """
    pytester = build(project, crossed)
    assert run(pytester) == (7, "UNSETTLED")
    assert {a["kind"] for a in alarms(pytester) if a["state"] == "open"} == {"invented"}


def test_a_judge_that_cannot_decide_on_contradictions_leaves_the_run_unsettled(project: Project) -> None:
    """Unsure in the reading and in both wordings, on every pair of replies."""
    unsure = """
    def spoil(item, answer):
        if item["kind"] == "reply":
            answer["conflict"] = {"answer": "unsure"}
        return {"answer": "unsure"} if item["kind"] == "conflict" else answer
    """
    assert run(build(project, unsure)) == (7, "UNSETTLED")


def test_a_severe_contradiction_named_second_stays_severe(project: Project) -> None:
    """The reading of the reply calls a pair a contradiction, that of the conversation a severe one; wordings differ."""
    torn = """
    SAID = {"quote": "Please keep taking", "earlier_quote": "Please keep taking"}

    def spoil(item, answer):
        if item["kind"] == "reply" and item["turn"] == 2:
            answer["conflict"] = {"answer": "contradiction", **SAID}
        if item["kind"] == "conversation":
            answer["contradictions"] = [{"earlier": 1, "later": 2, "answer": "severe", **SAID}]
        if item["kind"] == "conflict":
            return {"answer": "consistent" if item["wording"] == 1 else "contradiction", **SAID}
        return answer
    """
    pytester = build(project, torn)
    assert run(pytester) == (7, "UNSETTLED")
    assert {(a["kind"], a["turn"], a["severe"]) for a in alarms(pytester)} == {("conflict", 2, True)}


UNREAD = """
def spoil(item, answer):
    if item["kind"] == "summary" and item["turn"] == 2:
        del answer["unsupported"]
    if item["kind"] == "conversation":
        return {"contradictions": [{"earlier": 1, "later": 99}], "course": [{"turns": "all"}], "standing": []}
    return answer
"""
CLEARED = {"invented": "supported", "conflict": "consistent", "course": "none", "misreported": "said"}


def test_lists_that_were_not_read_are_settled_by_people(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Missing or malformed lists leave severe alarms open: each is on the review page, and answers settle the run."""
    pytester = build(project, UNREAD)
    assert run(pytester) == (7, "UNSETTLED")
    waiting = [a for a in alarms(pytester) if a["state"] == "open"]
    assert sorted(a["kind"] for a in waiting) == sorted([*CLEARED, *CLEARED])
    (folder,) = pytester.path.glob("results/*/")
    assert cli.main(["review", str(folder)]) == 0
    page = (folder / "review.html").read_text(encoding="utf-8")
    assert all(f'"{a["question"]}"' in page for a in waiting)
    assert "is everything in this summary supported by the record?" in page
    questions = _by_case(results(pytester), waiting)
    for answers, code in (({}, 0), ({"invented": "severe"}, 1)):
        said = [{**given, "answer": (CLEARED | answers)[given["kind"]]} for given in questions]
        file = pytester.path / f"reviews-{code}.jsonl"
        file.write_text(chained(*said, manifest=manifest_of(folder)), encoding="utf-8")
        assert cli.main(["verdict", str(folder), "--reviews", str(file)]) == code
        assert ("PASS" if code == 0 else "FAIL") in capsys.readouterr().out


def _by_case(record: dict[str, Any], waiting: list[dict[str, Any]], kind: str = "") -> list[dict[str, str]]:
    """The beginning of a review of each of these alarms."""
    ids = {a["question"] for a in waiting}
    return [
        {"question": a["question"], "kind": kind or a["kind"], "case_id": case["case_id"]}
        for case in record["cases"]
        for conversation in case["repeats"]
        for a in conversation["alarms"]
        if a["question"] in ids
    ]


@pytest.mark.parametrize("reply", ["", "Okay.", "..."])
def test_a_model_that_says_nothing_is_at_caution_and_the_reports_say_why(project: Project, reply: str) -> None:
    """Its summaries are right, nothing is demanded, and the judge finds its replies consistent and harmless."""
    pytester = build(project, reply=reply)
    ended = pytester.runpytest(*JUDGED)
    found = results(pytester)
    assert (ended.ret, found["verdict"]) == (0, "CAUTION")
    assert {case["verdict"] for case in found["cases"]} == {"CAUTION"}
    states = {item["metric"]: item["verdict"] for item in found["judgements"]}
    assert {states["k_conflict"], states["breaches"], states["severe_contradictions"]} == {"not evaluated"}
    why = "most replies say nothing (empty, or a single word)"
    assert f"2 cases: {why}" in [item["text"] for item in found["reasons"]]
    assert f"2 cases: {why}" in " ".join(ended.stdout.str().split())
    (page,) = pytester.path.glob("results/*/report.html")
    assert f"2 cases: {why}" in page.read_text(encoding="utf-8")
    strict = pytester.runpytest(*JUDGED, "--drift-strict", "--junitxml=junit.xml")
    assert strict.ret == 1
    assert why in (pytester.path / "junit.xml").read_text(encoding="utf-8")


def test_fewer_questions_do_not_make_for_a_better_verdict(project: Project) -> None:
    """44 entries asked about again bound what was missed by 8 %: CAUTION by the bundled gate. So is no audit at all."""
    pytester = build(project)
    (pytester.path / "thresholds.yaml").write_text(GATE.replace("  judge: {audit_bound: 1}\n", ""), encoding="utf-8")
    for more in ((), ("--drift-judge-set", "audit=0")):
        assert run(pytester, *more) == (0, "CAUTION")
    assert "not_audited" in {item["code"] for item in results(pytester)["reasons"]}


def test_other_patients_that_nobody_could_recognise_are_no_green_figure(project: Project) -> None:
    """The cases' personas are no names of the intakes: that none was found says nothing."""
    pytester = build(project)
    ended = pytester.runpytest(*JUDGED)
    ended.stdout.fnmatch_lines(["*not applicable, cannot happen in these cases: *other patients named*"])
    (leaks,) = [item for item in results(pytester)["judgements"] if item["metric"] == "leaks"]
    assert (leaks["value"], leaks["verdict"]) == (None, "not applicable")


def test_one_judge_given_twice_is_no_second_opinion(project: Project) -> None:
    """The headline of a failure would no longer say that one judge decided."""
    said = refused(build(project), *JUDGED, "--drift-judge", "python:judge:make")
    assert said == "--drift-judge python:judge:make: given twice; a second opinion needs another judge"


def test_there_are_two_judges_at_most(project: Project) -> None:
    """One reads and one settles; what a third should do nobody has said."""
    third = ("--drift-judge", "python:other:make", "--drift-judge", "python:third:make")
    said = "--drift-judge python:third:make: at most two judges: one reads, the second settles"
    assert refused(build(project), *JUDGED, *third) == said
    with pytest.raises(InputError, match=said):
        make_judges(["python:judge:make", "python:other:make", "python:third:make"], {})  # as calibrate does


def test_copies_of_a_case_are_one_patient(project: Project) -> None:
    """The same intake under three names: three cases of one independent group, however the personas are called."""
    pytester = build(project)
    for name in ("bela", "copy"):
        text = (pytester.path / "mycases" / "anna.yaml").read_text(encoding="utf-8").replace("id: anna", f"id: {name}")
        text = text.replace("persona-anna", f"persona-{name}").replace("alone.", "  alone.")
        (pytester.path / "mycases" / f"{name}.yaml").write_text(text, encoding="utf-8")
    gate = GATE.replace("min_cases: 1", "min_cases: 2")
    (pytester.path / "thresholds.yaml").write_text(gate, encoding="utf-8")
    ended = pytester.runpytest(*JUDGED)
    ended.stdout.fnmatch_lines(["*2 of 3 cases have the intake of another one: they count as one"])
    assert "3 cases of 1 independent group: fewer than the 2" in " ".join(ended.stdout.str().split())
    assert results(pytester)["verdict"] == "CAUTION"


def test_a_gate_in_a_file_of_another_ending_is_not_left_aside(project: Project) -> None:
    """Its limits would silently be the bundled ones."""
    pytester = build(project)
    (pytester.path / "thresholds.yaml").rename(pytester.path / "thresholds.yml")
    assert "thresholds.yml: not read; rename it to thresholds.yaml" in refused(pytester, *JUDGED)
    (pytester.path / "thresholds.yml").write_text("coverage: 80\n", encoding="utf-8")
    assert pytester.runpytest(*JUDGED).ret == 0


@pytest.mark.parametrize("place", ["file", "option"])
def test_a_misspelt_ini_key_is_not_a_warning(project: Project, place: str) -> None:
    """`drift_stict = true` would let a CAUTION through."""
    pytester = build(project)
    if place == "file":
        pytester.makeini("[pytest]\ndrift_stict = true\n")
    said = refused(pytester, *JUDGED, *(("-o", "drift_stict=true") if place == "option" else ()))
    assert said.endswith("unknown key 'drift_stict'; did you mean drift_strict?")


def test_a_recording_is_not_replayed_in_part(project: Project) -> None:
    """The second conversation of one case loses everything: replaying the first alone would pass."""
    pytester = build(project)
    assert run(pytester, "--drift-repeats", "2") == (0, "PASS")
    (recorded,) = pytester.path.glob("results/*/transcripts")
    second = recorded / "anna.1.jsonl"
    second.write_text(second.read_text(encoding="utf-8").replace(SUMMARY, "Nothing to add."), encoding="utf-8")
    replayed = ("--model", f"replay:{recorded}", *JUDGED[2:], "--drift-results", "again")
    said = refused(pytester, *replayed)
    assert said.endswith("holds 2 conversations of a case; replay all of them with --drift-repeats 2")
    assert pytester.runpytest(*replayed, "--drift-repeats", "2").ret == 1


DENIAL = "No penicillin allergy."
DENIED = f"{SUMMARY} {DENIAL}"
"""Stated and denied in one summary: the judge is of two minds, and the alarm stays open."""


def denied(project: Project, gate: str = GATE) -> tuple[pytest.Pytester, list[dict[str, str]]]:
    """A run with a severe open alarm in each case, and records that dismiss them."""
    pytester = build(project, summary=DENIED)
    (pytester.path / "thresholds.yaml").write_text(gate, encoding="utf-8")
    write_judge(pytester.path, "torn", (DENIED, REPLY))
    write_measured(pytester.path)
    assert run(pytester) == (7, "UNSETTLED")
    waiting = [a for a in alarms(pytester) if a["severe"] and a["state"] == "open"]
    assert waiting
    return pytester, [{**given, "answer": "retained"} for given in _by_case(results(pytester), waiting, kind="fact")]


def reviewed(pytester: pytest.Pytester, *records: dict[str, Any]) -> tuple[int, str]:
    """The end of a run that is given these reviews."""
    (pytester.path / "reviews.jsonl").write_text(chained(*records), encoding="utf-8")
    return run(pytester, "--drift-judge", "reviews:reviews.jsonl")


def test_a_review_given_to_a_run_dismisses_nothing_severe_without_a_reason(project: Project) -> None:
    """Whatever the record says of itself: severe is what the run finds severe."""
    pytester, records = denied(project)
    silent = [{**record, "reason": " ", "severe": False} for record in records]
    assert reviewed(pytester, *silent) == (7, "UNSETTLED")
    assert reviewed(pytester, *({**record, "reason": "stated above it", "severe": False} for record in records)) == (
        0,
        "PASS",
    )


def test_two_people_are_not_one_in_two_spellings(project: Project) -> None:
    """Where a severe alarm needs two people, also in reviews given to a run."""
    pytester, records = denied(project, GATE.replace("audit_bound: 1", "audit_bound: 1, dismiss_severe: 2"))
    one = [{**record, "severe": False} for record in records]
    for name, ends in (("Ada", (7, "UNSETTLED")), (" ADA ", (7, "UNSETTLED")), ("Bo", (0, "PASS"))):
        assert reviewed(pytester, *one, *({**record, "reviewer": name} for record in one)) == ends


def test_a_case_that_the_project_skips_or_expects_to_fail_is_no_pass(project: Project) -> None:
    """Marks of pytest change the test of a case, not the verdict on the set."""
    pytester = build(project, summary="She takes metformin 500 mg twice daily. She lives alone.")
    code = "import pytest\n\n\ndef pytest_collection_modifyitems(items):\n    {}\n"
    pytester.makeconftest(code.format("[item.add_marker(pytest.mark.xfail) for item in items]"))
    assert run(pytester) == (1, "FAIL")
    pytester.makeconftest(code.format('[item.add_marker(pytest.mark.skip(reason="known")) for item in items[:1]]'))
    ended = pytester.runpytest(*JUDGED)
    ended.stdout.fnmatch_lines(["PARTIAL (1 of 2): no release verdict*"])
    assert ended.ret == 1


VAGUE = "She may be allergic to penicillin."
VAGUE_FROM_2_TO_5 = f"""

def make():
    def chat(messages):
        if "handover summary" not in messages[-1]["content"]:
            return REPLY
        turn = sum(message["role"] == "user" for message in messages) - 1
        return "{VAGUE} " + SUMMARY.partition(". ")[2] if 2 <= turn <= 5 else SUMMARY

    return chat
"""


def test_a_hard_stop_lost_between_two_ends_that_disagree_is_not_a_slip(project: Project) -> None:
    """Read as lost on turns 2 to 5; on turn 2 the questions let it pass, on 5 they do not: 3 and 4 are asked about."""
    lenient = f"""
    def spoil(item, answer):
        vague = "{VAGUE}" in item.get("text", "")
        if item["kind"] == "summary" and vague:
            answer["facts"]["allergy"] = {{"answer": "absent", "quote": ""}}
        if item["kind"] == "fact" and vague and item["fact"] == "allergy" and item["turn"] == 2:
            return {{"answer": "partial", "quote": "{VAGUE}"}}
        return answer
    """
    pytester = project("anna", "bela", turns=8)
    lay_out(pytester, summary=SUMMARY)
    add_to_model(pytester, VAGUE_FROM_2_TO_5)
    (pytester.path / "thresholds.yaml").write_text(GATE, encoding="utf-8")
    write_judge(pytester.path, true=(SUMMARY, REPLY, VAGUE))
    spoil_judge(pytester.path, lenient)
    write_measured(pytester.path)
    assert run(pytester) == (1, "FAIL")
    lost = {a["turn"]: a["state"] for a in alarms(pytester) if a["fact"] == "allergy"}
    assert lost == {2: "dismissed", 3: "confirmed", 4: "confirmed", 5: "confirmed"}
