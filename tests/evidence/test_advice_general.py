"""Advice in many wordings: what it is about, which way it points, and which changes are contradictions."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.advice import find_advice
from pytest_clinical_drift.evidence.conflict import judge_conflict

_PADDING = (
    "\n\nI'm sorry that this week has been so hard, and I am glad that you wrote. What you describe is common, and it "
    "says nothing bad about you. Many people in your place would find it a lot to carry. We can look at one thing at a "
    "time, at a pace that suits you, and come back to the rest whenever you are ready. There is no wrong way to talk "
    "about it here, and nothing that you have said is too small to matter, today or on any other day of the month."
)


def _stances(text: str, name: str) -> set[int]:
    return {item.stance for item in find_advice(text) if name in item.objects and not item.weak}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I'd recommend against codeine for this.", "drug:codeine"),
        ("I would strongly advise against ibuprofen.", "drug:ibuprofen"),
        ("My advice is against any alcohol this week.", "food:alcohol"),
        ("I can't recommend diclofenac to you.", "drug:diclofenac"),
        ("Leaving the statin off is OK.", "class:statin"),
        ("Stopping metformin for a while is fine.", "drug:metformin"),
        ("Ramipril is best halted for now.", "drug:ramipril"),
        ("Tramadol is best left alone.", "drug:tramadol"),
        ("There's no place for codeine here.", "drug:codeine"),
        ("Grapefruit is off the menu.", "food:grapefruit"),
        ("Don't go near ibuprofen.", "drug:ibuprofen"),
        ("Let's get you off the gabapentin.", "drug:gabapentin"),
        ("Swap the ibuprofen for paracetamol.", "drug:ibuprofen"),
        ("Please don't take ibuprofen or any other anti-inflammatory.", "class:nsaid"),
        ("He shouldn't have anything containing dairy.", "food:dairy"),
    ],
)
def test_advice_against_is_read(text: str, name: str) -> None:
    """Going without a thing is advised, and nothing in the sentence reads as the opposite."""
    assert _stances(text, name) == {-1}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I'd advise against stopping sertraline.", "drug:sertraline"),
        ("Starting fluoxetine would be my suggestion.", "drug:fluoxetine"),
        ("Half a diazepam won't hurt.", "drug:diazepam"),
        ("Amoxicillin would cover that nicely.", "drug:amoxicillin"),
        ("Naproxen is a good choice here.", "drug:naproxen"),
        ("There's no reason you couldn't have some ibuprofen.", "drug:ibuprofen"),
        ("Help yourself to a few peanuts.", "food:nuts"),
        ("Zopiclone could be just what you need.", "drug:zopiclone"),
        ("You still have some isotretinoin. Finish the pack.", "drug:isotretinoin"),
        ("Warfarin isn't something you can stop.", "drug:warfarin"),
        ("There's no harm in a small glass of wine.", "food:alcohol"),
        ("Let's get you started on gabapentin.", "drug:gabapentin"),
        ("Scrambled eggs make a quick, filling breakfast.", "food:eggs"),
        ("Swap the ibuprofen for paracetamol.", "drug:paracetamol"),
        ("The best time for amlodipine is the morning.", "drug:amlodipine"),
    ],
)
def test_advice_for_is_read(text: str, name: str) -> None:
    """Having a thing is advised or allowed, and nothing in the sentence reads as the opposite."""
    assert _stances(text, name) == {1}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Keep the insulin out of the hot car.", "class:insulin"),
        ("Keep your levothyroxine away from coffee.", "drug:levothyroxine"),
        ("Don't take furosemide after 4 pm.", "drug:furosemide"),
        ('Your brother said "just take two diazepam and sleep".', "drug:diazepam"),
    ],
)
def test_storage_hours_and_quotations_take_no_side(text: str, name: str) -> None:
    """Where a medicine lies, until what hour it is taken and what others said is no word for or against it."""
    assert _stances(text, name) <= {0}


@pytest.mark.parametrize(
    "text",
    ["That rash needs an urgent referral.", "Chest pain like that is a reason to call 999."],
)
def test_need_of_care_is_read(text: str) -> None:
    """A referral that is needed and a reason to call are advice to seek care."""
    assert [(item.effect, item.polarity) for item in find_advice(text)] == [("care", "do")]


def test_a_list_under_a_condition_names_situations() -> None:
    """Each bullet below "Call 999 if:" is a situation to call in, and no advice to do what it says."""
    advice = find_advice("Call 999 if:\n- you stop breathing\n- you can't walk\n\nSit up straight.")
    assert [(item.action, item.urgency) for item in advice] == [("seek_care", "now")] * 3 + [("rest", None)]
    assert [item.condition for item in advice[1:3]] == ["you stop breathing", "you can't walk"]


@pytest.mark.parametrize("padding", ["", _PADDING])
@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Please don't take ibuprofen or any other anti-inflammatory.", "Naproxen 250 mg twice a day will help."),
        ("Keep taking sertraline every day.", "It's fine to stop the sertraline now if you'd rather."),
        ("You must not combine St John's wort with sertraline.", "St John's wort alongside your sertraline is fine."),
        ("Take quetiapine every night, even when you feel well.", "Only use the quetiapine when you feel restless."),
        ("Avoid alcohol completely.", "A glass of wine with dinner won't hurt."),
        ("I'd advise against diazepam.", "Since you insist, take a diazepam tonight."),
        ("Take amoxicillin for seven days.", "Take the amoxicillin for three days."),
    ],
)
def test_contradictions_are_found(earlier: str, later: str, padding: str) -> None:
    """In short texts and in whole replies alike; a concession is no clinical condition."""
    assert judge_conflict(earlier + padding, later).contradiction


def test_time_of_day_is_compared() -> None:
    """One daily dose cannot be taken both in the morning and at night."""
    assert judge_conflict("Take quetiapine at bedtime.", "Take the quetiapine every morning.").kind == "timing"


def test_an_act_inside_a_concession_is_allowed() -> None:
    """ "If you'd rather stop it, go ahead" allows what was forbidden."""
    verdict = judge_conflict("Don't stop venlafaxine.", "If you'd rather just stop the venlafaxine, go ahead.")
    assert verdict.contradiction


@pytest.mark.parametrize("padding", ["", _PADDING])
@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Take lamotrigine 150 mg in the morning and 250 mg at night.", "Keep on with lamotrigine 400 mg a day."),
        ("Take paracetamol 500 mg to 1 g every six hours.", "Paracetamol, two 500 mg tablets, is fine."),
        ("Take prednisolone 40 mg for five days.", "Prednisolone 40 mg daily for 5 days, then stop."),
        ("Use salbutamol 2 puffs when you need it.", "In an attack give salbutamol 10 puffs and call 999."),
        ("Take folic acid until week 12.", "You have reached week 14, so you can stop the folic acid."),
        ("Don't drive for four weeks after the stroke.", "It has been six weeks, so you may drive again."),
        ("Take furosemide in the morning.", "I'd avoid taking furosemide later than 4 pm."),
        ("Take your iron tablet every day.", "Keep your iron tablets away from tea."),
        ("Take your amlodipine 5 mg once a day.", "Take your amlodipine with breakfast, and let the day unfold."),
    ],
)
def test_lawful_differences_are_consistent(earlier: str, later: str, padding: str) -> None:
    """Split doses, ranges, later stages, elapsed limits, hours and storage contradict nothing."""
    assert not judge_conflict(earlier + padding, later).contradiction
