"""What holds of every summary and every reply, on text made up by hypothesis."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from growth import growth_ratio
from hypothesis import given, settings
from hypothesis import strategies as st
from made_summaries import (
    DOSED,
    LAYOUTS,
    MADE,
    REMARKS,
    REMARKS_ON_MEDICINES,
    UNRELATED,
    Made,
    as_prose,
    patients,
)

from pytest_clinical_drift import assess_retention, find_advice, judge_conflict
from pytest_clinical_drift.cases.model import CriticalEntity
from pytest_clinical_drift.evidence.advice.breach import find_breaches

STATUSES = {"retained", "partial", "contradicted", "absent"}
layouts = st.sampled_from(LAYOUTS)
unrelated = st.lists(st.sampled_from(UNRELATED), max_size=3)
Layout = Callable[[list[Made]], str]


ENGLISH = "\n\nThis was written by the nurse."
"""Rules read a text only where English words stand in it; some of the texts here have none."""


def found(summary: str, patient: list[Made]) -> list[tuple[str, bool]]:
    return [(r.status, r.certain) for r in assess_retention(summary + ENGLISH, [made.fact for made in patient])]


@settings(max_examples=120)
@given(patients, layouts, st.randoms(use_true_random=False))
def test_layout_and_order_change_nothing(patient: list[Made], layout: Layout, random: object) -> None:
    """Prose, lines, bullets, a table or sections, in any order: every fact is plainly stated."""
    shuffled = sorted(patient, key=lambda made: random.random())  # type: ignore[attr-defined]
    assert found(layout(shuffled), patient) == [("retained", True)] * len(patient)


@settings(max_examples=80)
@given(patients, layouts, st.sampled_from([" ", "\u00a0", "\u202f", "\u2009"]), st.sampled_from(["", "**", "_"]))
def test_spaces_and_emphasis_change_nothing(patient: list[Made], layout: Layout, space: str, mark: str) -> None:
    """Thin and fixed spaces between figure and unit, emphasis around a value."""
    summary = re.sub(r"(?<=\d) (?=\w)", space, layout(patient))
    if layout is as_prose:
        summary = "\n\n".join(f"{mark}{made.sentence}{mark}" for made in patient)
    assert found(summary, patient) == [("retained", True)] * len(patient)


@settings(max_examples=120)
@given(patients, layouts, unrelated, unrelated)
def test_unrelated_sentences_change_nothing(
    patient: list[Made], layout: Layout, before: list[str], after: list[str]
) -> None:
    """What else a summary says neither adds nor takes a fact."""
    parts = [*before, layout(patient), *after]
    assert found("\n\n".join(parts), patient) == [("retained", True)] * len(patient)
    absent = [made for made in MADE if made not in patient][:3]
    alone = found(layout(patient), absent)
    assert found("\n\n".join(parts), absent) == alone


@settings(max_examples=150)
@given(patients, layouts, st.data())
def test_a_remark_about_the_word_never_contradicts(patient: list[Made], layout: Layout, data: st.DataObject) -> None:
    """A question, somebody else's tablets, advice not to stop it: the plain statement stands."""
    made = data.draw(st.sampled_from(patient))
    remark = data.draw(st.sampled_from(REMARKS_ON_MEDICINES if made in DOSED else REMARKS)).format(made.name)
    before = data.draw(st.booleans())
    summary = "\n\n".join([remark, layout(patient)] if before else [layout(patient), remark])
    assert found(summary, [made]) == [("retained", True)]


@settings(max_examples=100)
@given(patients, layouts, st.data())
def test_without_its_statement_a_fact_is_not_retained(patient: list[Made], layout: Layout, data: st.DataObject) -> None:
    """Whatever else is told of the patient, a fact that nobody states is absent."""
    left_out = data.draw(st.sampled_from(patient))
    rest = [made for made in patient if made.label != left_out.label]
    [(status, _)] = found(layout(rest) if rest else "She is well.", [left_out])
    assert status == "absent"


@settings(max_examples=100)
@given(st.sampled_from(DOSED), layouts, st.integers(2, 9), unrelated)
def test_another_dose_contradicts(made: Made, layout: Layout, factor: int, after: list[str]) -> None:
    """The figure replaced, everything else left as it is."""
    number = re.findall(r"\d+", made.value)[0]
    wrong = Made(made.fact, made.name, made.label, made.value.replace(number, str(int(number) * factor), 1))
    assert found("\n\n".join([layout([wrong]), *after]), [made]) == [("contradicted", True)]


@settings(max_examples=60)
@given(patients, layouts, st.sampled_from(["mother", "father", "brother", "husband", "daughter"]))
def test_what_a_relative_has_is_not_retained(patient: list[Made], layout: Layout, relative: str) -> None:
    """The same statements under a relative's name are not the patient's."""
    told = [made for made in patient if made.label not in ("HbA1c", "Potassium")]
    summary = " ".join(f"Her {relative} has {made.fact}." for made in told)
    assert all(status not in ("retained", "partial") for status, _ in found(summary, told))


# ---- hostile text


HOSTILE = [
    "\x00\x01\x02 sertraline \x1b[31m 50 mg",
    "a" * 200_000,
    "<think>" * 500 + "</b></think><i>",
    "\u202esertraline 50 mg\u202c \u200f\u200e",
    "🤰💊" * 200 + " sertraline 50 mg 🧑‍⚕️",
    "|" * 2_000,
    "**" * 2_000,
    "(" * 1_000 + "no " * 1_000,
    "\ud800 lone surrogate",
    "50 " * 2_000 + "mg",
    "no not never " * 1_000,
    "1/2/3/4/5/6/7 " * 300,
    "﷽" * 100,
    "0" * 5_000 + " mg sertraline",
    "9" * 400 + " mg",
    "Seen on ² May 2020, ①/② and ²/²/².",
    "thousand " * 120 + "5 mg tablets",
]
FACTS = [made.fact for made in MADE] + ["weight 60 kg", "two falls in the past month", "no fever", "lives alone"]


def check(text: str, facts: list[str]) -> None:
    for retention in assess_retention(text, facts):
        assert retention.status in STATUSES
        assert all(text[span.start : span.end] == span.quote for span in retention.evidence)
    assert all(text[order.start : order.end] == order.quote for order in find_advice(text))
    judge_conflict(text, "Take ibuprofen.")
    find_breaches(text, [CriticalEntity(id="a", text="penicillin allergy")])


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_raises_nothing(text: str) -> None:
    """Control characters, endless words, broken tags, marks of direction: read like any other text."""
    check(text, [*FACTS, text[:60]])


_PIECES = st.sampled_from(
    ["sertraline ", "50 mg ", "100 mg ", "once daily", "not ", "no ", "stopped ", "allergic to ", "penicillin ", "gout",
     ". ", ", ", "; ", ": ", "\n", "\n\n", "- ", "| ", "|---|", "**", "# ", "(", ")", "her mother ", "if ", "was ",
     "from ", "→", "<think>", "</think>", "HbA1c ", "58 ", "mmol/mol ", "2019 ", "½", "\u202f", "\x00", "take "]
)  # fmt: skip


@settings(max_examples=200)
@given(st.lists(_PIECES, max_size=40).map("".join) | st.text(max_size=200), st.text(min_size=1, max_size=40))
def test_any_text_and_any_fact(text: str, fact: str) -> None:
    """No string is a bad summary, none a bad fact; every quotation stands in the raw text."""
    check(text, [*FACTS[:8], "penicillin allergy", "no fever", fact])


# ---- cost


@pytest.mark.parametrize(
    "unit",
    [
        "She takes sertraline 50 mg once daily and has gout. ",
        "- **Allergies:** penicillin\n",
        "| Sertraline | 50 mg | daily |\n",
        "sertraline 50 mg ",
        "no gout, ",
        "Take sertraline. Don't take it. ",
    ],
)
def test_cost_grows_with_the_length(unit: str) -> None:
    """Four times the text takes about four times as long; quadratic growth would be sixteen."""
    facts = [made.fact for made in MADE[:3]] + ["gout", "penicillin allergy", "no fever", "lives alone"]

    def work(size: int) -> Callable[[], object]:
        text = unit * (size // len(unit))
        return lambda: assess_retention(text, facts)

    assert growth_ratio(work, 4_000, 4, tries=3) < 9


def test_cost_of_finding_orders_grows_with_the_length() -> None:
    """The same for replies; each try has its own words, because orders once found are remembered."""
    tries = iter(range(100))

    def work(size: int) -> Callable[[], object]:
        text = f"Number {next(tries)}. " + "Take ibuprofen with food. If it hurts, don't take it. " * (size // 53)
        return lambda: find_advice(text)

    assert growth_ratio(work, 4_000, 4, tries=3) < 9
