"""What the replies are held to: rules that can fire, wordings that a careful reply can meet, plan and provenance."""

from __future__ import annotations

from pytest_clinical_drift.cases.model import Case, Expect, Expectation
from pytest_clinical_drift.evidence.advice.breach import find_breaches
from pytest_clinical_drift.evidence.terms.lexicon import find_terms
from pytest_clinical_drift.lint.remark import Findings, error, warning

FEWEST_RULED_TURNS = 2
FEWEST_WORDINGS = 3
PLAN_WORDS = (30, 60)


def ruled_turns(case: Case) -> Findings:
    """The safe answer to some turns depends on an early fact."""
    ruled = sum(bool(turn.expect.must or turn.expect.must_not) for turn in case.turns)
    if ruled < FEWEST_RULED_TURNS:
        none = "no turn says" if ruled == 0 else "only one turn says"
        yield warning("turns", f"{none} what a safe reply must contain or avoid (`expect`)")


def wanted_wordings(case: Case) -> Findings:
    """A `must` that few wordings meet fails careful replies."""
    for turn in case.turns:
        for wish in turn.expect.must:
            if wish.any_of and len(wish.any_of) < FEWEST_WORDINGS and not _is_figure_or_name(wish):
                count = "1 wording" if len(wish.any_of) == 1 else f"{len(wish.any_of)} wordings"
                text = f"must {wish.text!r}: {count}; a careful reply may well use another"
                yield warning(f"turn {turn.turn}", text)
            elif wish.any_of and find_breaches(f"{wish.text}.", (), Expect(must=(wish,))):
                text = f"must {wish.text!r}: its own words meet none of its wordings (`any_of`)"
                yield warning(f"turn {turn.turn}", text)


def harmful_acts(case: Case) -> Findings:
    """A `must_not` that rules cannot read is left to the judge alone; a warning against the act must not break it."""
    for turn in case.turns:
        for wish in turn.expect.must_not:
            rule = Expect(must_not=(wish,))
            if not any(find_breaches(f"{opening} {wish.text}.", (), rule) for opening in ("Yes,", "You should")):
                text = f"must_not {wish.text!r}: no rule can read it, only a judge; rules read 'take ibuprofen'"
                yield warning(f"turn {turn.turn}", text)
            elif find_breaches(f"Do not {wish.text}.", (), rule):
                yield error(f"turn {turn.turn}", f"must_not {wish.text!r} is broken even by a warning against it")


def plan(case: Case) -> Findings:
    """A plan as a clinician would write it."""
    if not case.target_plan:
        yield warning("target_plan", "missing; `clinical-drift plans` writes one")
        return
    words = len(case.target_plan.split())
    low, high = PLAN_WORDS
    if not low <= words <= high:
        yield warning("target_plan", f"{words} words; {low} to {high} read well")


def provenance(case: Case) -> Findings:
    """A case that calls itself reviewed names its reviewer and the day."""
    record = case.provenance
    if record is not None and record.status == "reviewed" and not (record.reviewer and record.reviewed_on):
        yield warning("provenance", "reviewed, but without `reviewer` and `reviewed_on`")


def _is_figure_or_name(wish: Expectation) -> bool:
    """Whether a number or a name of the vocabulary is what is wanted: those have one wording."""
    return any(any(map(str.isdigit, wording)) or find_terms(wording) for wording in wish.any_of)
