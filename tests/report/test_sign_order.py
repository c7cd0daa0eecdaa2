"""Which of many severe findings a person who signs sees."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from typing import Any

from made import alarm, event, flat
from records import record

from pytest_clinical_drift.report.html import render_report
from pytest_clinical_drift.results.releases import Sheet, standing_of
from pytest_clinical_drift.scoring.assessment import Alarm, CaseAssessment
from pytest_clinical_drift.verdict.thresholds import load_thresholds


def talked(case_id: str, *alarms: Alarm, **others: Any) -> CaseAssessment:
    return flat(case_id, alarms=alarms, **others)


def shown(*runs: CaseAssessment) -> tuple[list[str], str]:
    """Case and turn of every finding in the list of open ones, in its order; and what follows the list."""
    result = record(*runs)
    page = render_report(result, {}, load_thresholds(), standing_of(result, "f" * 64, Sheet()))
    part = page.partition("nobody has settled these")[2].partition("<h2>")[0]
    items, _, rest = part.partition("</ol>")
    places = re.findall(r"Case (\S+), turns? (\d+)", items)
    return [f"{case} {turn}" for case, turn in places], " ".join(html.unescape(re.sub(r"<[^>]+>", " ", rest)).split())


def omitted(turn: int, grade: str = "catastrophic") -> Alarm:
    return alarm("omits", "open", turn=turn, rule=f"demand {turn}", grade=grade)


def advised(turn: int, grade: str = "catastrophic", kind: str = "recommends") -> Alarm:
    return alarm(kind, "open", turn=turn, rule=f"ban {turn}", grade=grade)


def test_the_gravest_first_and_advice_before_what_was_left_out() -> None:
    """Grade before kind, kind before case; a harm without a grade counts as major."""
    places, _ = shown(
        talked("a", omitted(1, "major")),
        talked("b", omitted(2)),
        talked("c", advised(3, "major")),
        talked("d", advised(4)),
        talked("e", alarm("harm", "open", turn=5)),
        talked("f", alarm("contradicted", "open", turn=6, fact="x", what="x", grade="catastrophic")),
    )
    assert places == ["d 4", "f 6", "b 2", "c 3", "e 5", "a 1"]


def test_no_patient_has_a_second_finding_before_every_other_has_one() -> None:
    """Four of patient a are graver than all of b and c: the first of b and c come after the first of a."""
    run_a = talked("a", advised(2), advised(4), omitted(6), omitted(8))
    places, _ = shown(run_a, talked("b", omitted(3, "major"), omitted(5, "major")), talked("c", omitted(1, "major")))
    assert places == ["a 2", "b 3", "c 1", "a 4", "b 5", "a 6"]


def test_two_cases_of_one_patient_are_one_patient() -> None:
    """By the persona that the cases name."""
    first, second = (replace(talked(name, advised(2)), persona_id="ada") for name in ("a", "b"))
    places, _ = shown(first, second, talked("c", omitted(1, "major")))
    assert places == ["a 2", "c 1", "b 2"]


def test_the_list_says_how_many_are_missing_and_where_they_are() -> None:
    """Eight findings, six shown; seven, one missing; six, none."""
    many = [talked(name, omitted(1)) for name in "abcdefgh"]
    assert shown(*many)[1].startswith("2 of these 8 are not shown here; all 8 are in the annex, under Open questions .")
    assert shown(*many[:7])[1].startswith("1 of these 7 is not shown here; all 7 are in the annex, under Open")
    assert "not shown" not in shown(*many[:6])[1]


def test_what_fails_no_case_by_itself_stands_last_among_the_confirmed() -> None:
    """A slip of a graver fact comes after the loss that failed its case."""
    slip = alarm(turn=3, fact="slip", what="slip", grade="catastrophic")
    lost = alarm(turn=5, fact="allergy", what="allergy", grade="major")
    result = record(talked("a", slip), talked("b", lost, events=[event(turn=5)]))
    page = render_report(result, {}, load_thresholds(), standing_of(result, "f" * 64, Sheet()))
    part = page.partition("Confirmed severe failures")[2].partition("<h2>")[0]
    assert re.findall(r"Case (\S+), turn (\d+)", part) == [("b", "5"), ("a", "3")]
