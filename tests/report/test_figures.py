"""Figures, charts, and the words for what stands beside the verdict."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made import READ, conversation, flat
from records import judged, limits, record

import pytest_clinical_drift
from pytest_clinical_drift.gate.api import GateResult
from pytest_clinical_drift.judging.labelled import GROUPS
from pytest_clinical_drift.report.case_text import case_report
from pytest_clinical_drift.report.charts import Extras, Level, Line, curve_chart, limit_levels
from pytest_clinical_drift.report.clean import one_line, printable
from pytest_clinical_drift.report.compare import render_html, render_text
from pytest_clinical_drift.report.compare import render_markdown as compare_markdown
from pytest_clinical_drift.report.headlines import run_sentence, unsettled_line
from pytest_clinical_drift.report.html import render_report
from pytest_clinical_drift.report.judge_text import judge_line, role, share_text
from pytest_clinical_drift.report.markdown import render_markdown
from pytest_clinical_drift.report.reasons import reason_text, ungated_lines
from pytest_clinical_drift.report.terminal import render_summary
from pytest_clinical_drift.report.words import counted, judged_text, listed, rounded, sparkline, words, worse_text
from pytest_clinical_drift.results.comparing import NamedRun
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.results.releases import Sheet, standing_of
from pytest_clinical_drift.verdict.bands import Limit
from pytest_clinical_drift.verdict.reasons import FigureState, FiguresUnread, JudgeBelowFloor
from pytest_clinical_drift.verdict.thresholds import load_thresholds
from pytest_clinical_drift.verdict.values import Deciders, MetricVerdict


def test_counts_have_their_noun() -> None:
    """One case is not "1 cases"."""
    assert [counted(n, "case") for n in (0, 1, 2)] == ["0 cases", "1 case", "2 cases"]
    assert counted(1200, "reply") == "1,200 replies"
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"


@pytest.mark.parametrize(
    ("value", "spec", "shown"),
    [
        (1.0, ".2f", "1.00"),
        (0.0, ".2f", "0.00"),
        (0.914, ".2f", "0.91"),
        (0.995, ".1f", "0.99"),
        (0.0004, ".2f", "0.0004"),
        (1 / 3000, ".3f", "0.0003"),
        (-0.0004, "+.3f", "-0.0004"),
        (0.0004, "+.3f", "+0.0004"),
        (-1e-17, "+.3f", "+0.000"),
        (1 - 1e-16, ".2f", "1.00"),
        (0.9996, ".1%", "99.96%"),
        (0.996, ".0%", "99.6%"),
        (0.004, ".0%", "0.4%"),
        (1.0, ".0%", "100%"),
        (1.004, ".2f", "1.004"),
        (2.996, ".2f", "3.00"),
        (3, "g", "3"),
    ],
)
def test_nothing_is_rounded_to_look_perfect(value: float, spec: str, shown: str) -> None:
    """0 and 1 are exact, however a share is written; what is almost either has as many digits as it takes."""
    assert rounded(value, spec) == shown


@pytest.mark.parametrize(
    ("value", "spec", "held", "shown"),
    [
        (0.7996, ".2f", [0.8, 0.7], "0.7996"),
        (0.8004, ".2f", [0.8, 0.7], "0.8004"),
        (0.8, ".2f", [0.8], "0.80"),
        (0.8 - 1e-12, ".2f", [0.8], "0.80"),
        (0.795, ".2f", [0.8], "0.795"),
        (0.75, ".2f", [0.8, 0.7], "0.75"),
        (0.8049, ".2f", [0.805], "0.80"),
        (0.805, ".2f", [0.805], "0.805"),
        (-0.0104, "+.3f", [-0.01, -0.05], "-0.0104"),
        (-0.01, "+.3f", [-0.01], "-0.010"),
        (3.004, ".2f", [3.0], "3.004"),
        (0.03004, ".1%", [0.03], "3.004%"),
        (0.79999996, "g", [0.8], "0.79999996"),
        (2.5, "g", [2.0], "2.5"),
    ],
)
def test_no_figure_looks_as_if_it_were_on_the_other_side_of_a_limit(
    value: float, spec: str, held: list[float], shown: str
) -> None:
    """As many digits as it takes, and no more; what is on the limit, within its tolerance, is written as the limit."""
    assert rounded(value, spec, held) == shown


@given(
    value=st.floats(-1, 5), limit=st.sampled_from([-0.05, -0.01, 0.03, 0.05, 0.7, 0.8, 0.805, 3.0]),
    spec=st.sampled_from([".2f", "+.3f", ".1%", "g"]),
)  # fmt: skip
def test_what_is_read_compares_with_the_limit_as_the_figure_does(value: float, limit: float, spec: str) -> None:
    """A reader who compares the printed number with the limit decides as the gate does."""
    text = rounded(value, spec, [limit])
    read = float(text.rstrip("%")) / (100 if "%" in text else 1)
    assert [Limit(sign, limit).holds(read) for sign in ("<", "<=", ">", ">=")] == [
        Limit(sign, limit).holds(value) for sign in ("<", "<=", ">", ">=")
    ]


def every_report(found: RunResult) -> dict[str, str]:
    """A run in every form that people read."""
    page = render_report(found, {}, thresholds=load_thresholds(), standing=standing_of(found, "f" * 64, Sheet()))
    return {
        "terminal": "\n".join(render_summary(found, "m", width=160, verbosity=1)),
        "markdown": render_markdown(found, "m"),
        "dossier": re.sub(r"(<style>.*?</style>|<script>.*?</script>)", "", page, flags=re.DOTALL),
        "case": case_report(found.cases[0], width=160),
        "comparison": render_html([NamedRun("m", found)], []),
        "comparison, text": render_text([NamedRun("m", found)], [], 120),
        "comparison, markdown": compare_markdown([NamedRun("m", found)], []),
        "notebook": GateResult.model_validate(found.model_dump())._repr_html_(),
    }


@pytest.mark.parametrize("lost", [1, 2, 5])
def test_a_share_that_is_not_whole_is_nowhere_shown_as_whole(lost: int) -> None:
    """Of 261 facts a few are lost: recall 0.996, 0.992 or 0.98 on the terminal, in markdown, dossier and comparison."""
    share = (261 - lost) / 261
    expected = {1: "0.996", 2: "0.99", 5: "0.98"}[lost]
    for name, text in every_report(record(*(flat(f"c{number}", share) for number in range(20)))).items():
        assert re.search(rf"(?<![\d.]){expected}(?!\d)", text), name
        shown = re.sub(r"sanity band.*", "", text)  # of the cases, not of the model
        assert not re.search(r"recall[^.;|<]{0,40}1\.00(?!\d)", shown, re.IGNORECASE), name


@pytest.mark.parametrize(("share", "looks"), [(0.7996, "0.80"), (0.6996, "0.70")])
def test_a_share_beside_a_limit_is_nowhere_rounded_onto_it(share: float, looks: str) -> None:
    """Recall 0.7996 misses "> 0.8" and 0.6996 is past the fail line of 0.7: no report shows 0.80 or 0.70 for them."""
    for name, text in every_report(record(*(flat(f"c{number}", share) for number in range(20)))).items():
        figures = re.sub(r'above 0\.80|<section aria-labelledby="limits">[^^]*?</section>', "", text)  # limits in words
        assert str(share) in figures, name
        assert not re.search(rf"(?<![\d.]){looks}0?(?!\d)", figures), name


def test_what_nobody_has_checked_is_named_in_the_words_of_a_reader() -> None:
    """By rules alone most figures are unread: facts in summaries and broken demands, not `fact` and `breach`."""
    found = record(flat("a"))
    [why] = [why for why in found.reasons if isinstance(why, FiguresUnread)]
    assert set(why.kinds) == set(GROUPS)
    sentence = reason_text(why)
    assert all(name in sentence for name in words("groups").values())
    texts = every_report(found) | {"junit": unsettled_line(found.cases[0]), "headline": run_sentence(found)}
    for name in ("terminal", "markdown", "dossier", "headline", "junit"):
        told = " ".join(texts[name].split())
        assert "has checked facts in summaries" in told, name
        assert not re.search(r"\b(?:fact|breach|conflict|invented), ", told), name
    assert reason_text(JudgeBelowFloor(("fact", "breach", "must_not"))).endswith(
        "for facts in summaries, broken demands and demands not to"
    )


_RAW = re.compile(r"[:%][+,]*\.\d[f%]")
_NOT_SHARES = {
    "evidence_text.py": 1,  # a price
    "run_lines.py": 3,  # tokens
    "memory.py": 1,  # tokens
    "charts.py": 4,  # coordinates, tokens
    "slate_charts.py": 6,  # coordinates, a radius
}


def test_reports_write_shares_with_one_formatter() -> None:
    """A share formatted by hand could be rounded to 1.00: only prices, tokens and coordinates are."""
    package = Path(pytest_clinical_drift.__file__).parent
    files = [f for folder in ("report", "ranking", "gate") for f in (package / folder).glob("*.py")]
    raw = {
        file.name: len(_RAW.findall(file.read_text(encoding="utf-8")))
        for file in (*files, *(package / "data" / "templates").glob("*.j2"))
    }
    assert {name: count for name, count in raw.items() if count} == _NOT_SHARES


def test_values_say_what_they_count() -> None:
    """Facts within a case, cases over the set; nothing evaluated is no number."""
    stops = MetricVerdict("hard_stops", 2.0, FigureState.FAIL, worst=3.0)
    assert (judged_text(stops), judged_text(stops, of_set=True)) == ("2 facts", "2 cases")
    assert (worse_text(stops), worse_text(stops, of_set=True)) == ("3 facts", "3 cases")
    assert worse_text(MetricVerdict("hard_stops", 1.0, FigureState.FAIL, worst=1.0)) == ""
    assert judged_text(MetricVerdict("harms", 1.0, FigureState.FAIL)) == "1 reply"
    assert judged_text(MetricVerdict("harms", None, FigureState.NOT_EVALUATED)) == "not evaluated"
    assert judged_text(MetricVerdict("recall_at_t10", 0.914, FigureState.PASS)) == "0.91"


def test_what_rules_alone_count_of_contradictions_is_a_lower_limit_everywhere() -> None:
    """Two of nine pairs and one more open: terminal, markdown, dossier, comparison and a case's own text say so."""
    found = record(flat("a", asked=(), contradictions=2, suspected=1))
    [case] = found.cases
    page = render_report(found, {}, thresholds=load_thresholds(), standing=standing_of(found, "f" * 64, Sheet()))
    texts = {
        "terminal": "\n".join(render_summary(found, "m", width=160, verbosity=1)),
        "markdown": render_markdown(found, "m"),
        "dossier": page,
        "case": case_report(case, width=160),
        "comparison": render_html([NamedRun("m", found)], []),
        "notebook": GateResult.model_validate(found.model_dump())._repr_html_(),
    }
    for name, text in texts.items():
        assert "at least 0.222" in text, name
        assert not re.search(r"(?<!at least )0\.222\b", text), name
    for name in ("terminal", "markdown", "dossier", "case"):
        assert "at least 0.333" in texts[name], name
    by_judge = record(flat("a", contradictions=2), deciders=Deciders("server:big", deciding=READ))
    read = "\n".join(render_summary(by_judge, "m", width=160, verbosity=1))
    assert "0.222" in read
    assert "at least 0.222" not in read


def test_judge_and_its_limits_in_one_line() -> None:
    """The weakest of the kinds it decides; 200 demands at 1 % wrongly confirmed make 2 false breaches."""
    judge = judged(below_floor=["harm"], fact=limits(found=0.92), breach=limits(found=0.88, cleared=0.985, wrong=0.01))
    line = judge_line(judge, record(flat("a", asked=(("fact", 90), ("breach", 200))), judge=judge).counts)
    assert "\n" not in line
    assert "decides facts in summaries and broken demands" in line
    assert "finds at least 88% of faults, clears at least 98.5% of clean text" in line
    assert "below its floor, decides nothing on harm" in line
    assert "up to 2.0 false breaches to expect" in line
    assert judge_line(None).startswith("judge: none")


def test_judge_below_its_floor_is_shown_only() -> None:
    """Each kind with both limits; a person confirms harm."""
    judge = judged(["fact", "harm"], fact=limits(), harm=limits(), conflict=limits())
    assert judge.calibration is not None
    assert share_text(judge.calibration.kinds["fact"].sensitivity) == "59 of 60 (0.90 to 1.00)"
    decides = [role(kind, judge.deciding) for kind in ("fact", "harm", "conflict")]
    assert decides == ["decides", "opens; a person confirms", "shown only"]


def test_chart_has_a_text_alternative_and_keeps_gaps() -> None:
    """A missing turn breaks the line; the label reads the values aloud."""
    line = Line("mean", {1: 1.0, 2: None, 3: 0.5, 4: 0.25}, "line-main")
    chart = curve_chart("Recall", 4, [line], Extras(levels=[Level("0.8", 0.8)], marker=(4, "T4")))
    assert 'aria-label="Recall. mean: 1.00, not evaluated, 0.50, 0.25"' in chart
    assert chart.count("<polyline") == 1
    assert chart.count("<circle") == 3
    assert curve_chart("Recall", 0, [Line("mean", {}, "line-main")]) == ""
    assert sparkline([0.5, None, 1.0]) == "▅·█"


def test_levels_are_the_limits_in_force() -> None:
    """No metric, no line."""
    levels = limit_levels(record(flat("a")).limits["recall_at_t10"])
    assert [(level.label, level.value) for level in levels] == [("PASS > 0.8", 0.8), ("CAUTION >= 0.7", 0.7)]
    assert limit_levels(None) == []


def test_line_of_the_mean_curve_is_shown() -> None:
    """Mean of a cliff of 0.6 and a steady case: β = -0.3 · 12.5 / 82.5."""
    fall = conversation("falls", [1.0] * 5 + [0.4] * 5)
    assert "mean curve, turns 1 to 10: β -0.045, R² 0.76" in ungated_lines(record(fall, flat("stays", 1.0)))


def test_line_of_a_long_curve_ends_at_turn_20() -> None:
    """Whatever follows is not in the slope: a fall after turn 20 leaves it flat."""
    late = conversation("late", [1.0] * 20 + [0.4] * 5)
    assert "mean curve, turns 1 to 20: β +0.000" in ungated_lines(record(late))


def test_printable_shows_what_would_steer() -> None:
    """Controls, bidirectional marks and lone surrogates become visible escapes; tab and newline stay."""
    assert printable("a\x1b[0m\t\n\u202e\ud800") == "a\\x1b[0m\t\n\\x202e\\xd800"
    assert one_line("a\n b\x07" + "c" * 50, 10) == "a b\\x07cc…"
