"""What the replies are held to: rules that can fire, wordings that a careful reply can meet, grades; and what a case
carries beyond its text: plan, provenance, handovers, a signature that may have become void."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from pytest_clinical_drift.authoring import Remarks, error, warning
from pytest_clinical_drift.cases.entries import Expect, Expectation
from pytest_clinical_drift.cases.faults import did_you_mean
from pytest_clinical_drift.cases.files import place_of
from pytest_clinical_drift.cases.model import Case, facts_of, signed, spoken
from pytest_clinical_drift.core.text import counted
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.evidence.advice.breach import find_breaches, target_of
from pytest_clinical_drift.evidence.advice.orders import OTHER
from pytest_clinical_drift.evidence.reading.text import read
from pytest_clinical_drift.evidence.terms.lexicon import find_terms, lexicon
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, DRUG_CLASS, all_forms
from pytest_clinical_drift.evidence.terms.words import fold, loose_stem

_FEWEST_RULED_TURNS = 2
_FEWEST_WORDINGS = 3
_PLAN_WORDS = (30, 60)


def demands(case: Case) -> Remarks:
    """The safe answer to some turns depends on an early fact; a `must` that few wordings meet fails careful replies;
    a warning against an act must not break a `must_not`."""
    ruled = sum(bool(turn.expect.must or turn.expect.must_not) for turn in case.turns)
    if ruled < _FEWEST_RULED_TURNS:
        none = "no turn says" if ruled == 0 else "only one turn says"
        yield warning("turns", f"{none} what a safe reply must contain or avoid (`expect`)")
    for place, _, entry in spoken(case):
        for wish in entry.expect.must:
            yield from _must(place, wish)
        for wish in entry.expect.must_not:
            yield from _must_not(place, wish)


def _must(place: str, wish: Expectation) -> Remarks:
    if not wish.any_of:
        return
    # a number or a name of the vocabulary has one wording
    named = any(any(map(str.isdigit, wording)) or find_terms(wording) for wording in wish.any_of)
    if len(wish.any_of) < _FEWEST_WORDINGS and not named:
        count = counted(len(wish.any_of), "wording")
        yield warning(place, f"must {wish.text!r}: {count}; a careful reply may well use another")
    elif find_breaches(f"{wish.text}.", (), Expect(must=(wish,))):
        yield warning(place, f"must {wish.text!r}: its own words meet none of its wordings (`any_of`)")


def _must_not(place: str, wish: Expectation) -> Remarks:
    rule = Expect(must_not=(wish,))
    if not any(find_breaches(f"{opening} {wish.text}.", (), rule) for opening in ("Yes,", "You should")):
        why = "only a judge can check this wording; for the rules write an action such as 'take ibuprofen'"
        yield warning(place, f"must_not {wish.text!r}: {why}")
    elif find_breaches(f"Do not {wish.text}.", (), rule):
        yield error(place, f"must_not {wish.text!r} is broken even by a warning against it")


def marks(case: Case) -> Remarks:
    """An ungraded demand counts as major; at turn 1 there is nothing to hand over; a plan as a clinician would write
    it; a case that calls itself reviewed names its reviewer and the day, one that was changed is not signed."""
    wishes: list[Expectation] = []
    for _, _, entry in spoken(case):
        wishes += [*entry.expect.must, *entry.expect.must_not]
    ungraded = sum(wish.severity is None for wish in wishes)
    if ungraded:
        text = f"{ungraded} of {len(wishes)} demands have no `severity` and count as major: one breach fails the run"
        yield warning("turns", text)
    if case.turns[0].handover:
        yield warning("turn 1", "a handover on the first turn only repeats the intake")
    yield from _plan(case)
    record = case.provenance
    if record is not None and record.status == "reviewed" and not (record.reviewer and record.reviewed_on):
        yield warning("provenance", "reviewed, but without `reviewer` and `reviewed_on`")
    mark = case.reviewed
    if mark is not None and not signed(case):
        text = f"changed since {mark.by} ({mark.role}) signed it on {mark.when}: no longer signed"
        yield warning("reviewed", text)


def _plan(case: Case) -> Remarks:
    words = len((case.target_plan or "").split())
    low, high = _PLAN_WORDS
    if not words:
        yield warning("target_plan", "missing; `clinical-drift plans` writes one")
    elif not low <= words <= high:
        yield warning("target_plan", f"{words} words; {low} to {high} read well")


# ---- rules that can never fire, because neither the vocabulary nor the case knows what they forbid


def unknown_terms(case: Case) -> Remarks:
    """Unknown names in `forbids`, and names in `must_not` that are nearly known ones."""
    for fact, location in facts_of(case):
        for at, name in enumerate(fact.forbids):
            word = _unknown_word(name, case)
            if word:
                meant = _meant(name, word) or "; correct it, or use the word in a message of the case"
                text = f"forbids {name!r}, but {word!r} is neither in the vocabulary nor in this case{meant}"
                yield error(fact.id, text, (*location, "forbids", at))
    for place, location, entry in spoken(case):
        for at, wish in enumerate(entry.expect.must_not):
            for text in _misspelt(wish, case):
                yield error(place, text, (*location, "expect", "must_not", at))


def _misspelt(wish: Expectation, case: Case) -> Iterator[str]:
    """A must_not may be a free sentence, which only a judge reads: only a slip of the pen is an error."""
    for name in (wish.text, *wish.any_of):
        word = _unknown_word(name, case) if target_of(name).kind != OTHER else None
        meant = _meant(name, word) if word else ""
        if meant:
            yield f"must_not {name!r}: {word!r} is neither in the vocabulary nor in this case{meant}"


def refuse_unknown_terms(path: Path, cases: Iterable[Case]) -> None:
    """InputError with file and line where a rule of a case can never fire."""
    for case in cases:
        for remark in unknown_terms(case):
            place = f"fact {remark.place}" if "forbids" in remark.location else remark.place
            raise InputError(f"{place_of(path, case.id, remark.location)}: {place}: {remark.text}")


def _unknown_word(name: str, case: Case) -> str | None:
    """The first word of what is forbidden that neither the vocabulary nor the patient uses."""
    target = target_of(name)
    if target.ids or find_terms(name):
        return None
    words = [word for word in read(name).words if loose_stem(word) in target.stems and not lexicon().knows(fold(word))]
    if not words:
        return None
    texts = [case.patient_summary]
    texts += [fact.text for fact, _ in facts_of(case)]
    texts += [entry.message for _, _, entry in spoken(case)]
    used: set[str] = set()
    for text in texts:
        used.update(map(loose_stem, read(text).words))
    return next((word for word in words if loose_stem(word) not in used), None)


def _meant(name: str, word: str) -> str:
    return did_you_mean(name, _medicines()) or did_you_mean(word, _medicines())


@lru_cache(maxsize=1)
def _medicines() -> tuple[str, ...]:
    return tuple(sorted({form.text.lower() for form in all_forms() if form.concept.kind in (DRUG, DRUG_CLASS)}))
