"""Whole replies: contradictions between sentences of long turns, and the changes of a plan that are none."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.advice import find_advice
from pytest_clinical_drift.evidence.conflict import compare_turns
from pytest_clinical_drift.evidence.guidance.missed import remedies_of
from pytest_clinical_drift.evidence.guidance.patterns import Pattern

_OPENING = (
    "It was kind of you to write again, and I enjoyed reading about the allotment.\n\n**For this week**\n\n1. ",
    "\n2. Put the letter from the council in the blue folder.\n\nThe first weeks at home are always a muddle, and "
    "nobody expects you to have it all straight by Sunday. Your neighbour sounds like a treasure.\n\nWhat else?",
)
_ANSWER = (
    "The new kitchen tiles sound lovely, and I'm glad the plumber turned up at last.\n\n",
    "\n\n- Bring your reading glasses to the library on Friday.\n\nThe photo of the greenhouse made me smile. Do "
    "thank your cousin for the marrow, and take your time with the crossword.\n\nHow did the choir practice go?",
)


def _flagged(earlier: str, later: str) -> list[str]:
    """Kinds of contradiction found between two long replies around two sentences."""
    replies = [_OPENING[0] + earlier + _OPENING[1], _ANSWER[0] + later + _ANSWER[1]]
    return [found.kind for found in compare_turns(replies).all_pairs]


@pytest.mark.parametrize(
    ("earlier", "later", "kind"),
    [
        # a rule for a situation, and the situation
        (
            "Whenever you need antibiotics, leave the leflunomide out until the course is over.",
            "**Tonight's leflunomide:** take it as normal; no reason to miss one just because of the antibiotics.",
            "avoid/use",
        ),
        # a rule that allows no exception
        (
            "Use the Clenil every day, even when his chest is clear.",
            "His chest is clear, so leave the Clenil off until the winter.",
            "avoid/use",
        ),
        # limits in other units
        (
            "Keep all your drinks to 60 ounces a day, and don't go over that unless the clinic raises it.",
            "**Fluids:** aim for eleven or twelve 8-ounce glasses a day.",
            "dose",
        ),
        ("The limit is 1.5 litres a day, soup included.", "Get through at least three litres a day now.", "dose"),
        # a class that was ruled out with its member
        (
            "Please don't take ibuprofen, or anything like it, with your kidneys.",
            "For the tooth, take naproxen 250 mg twice a day.",
            "avoid/use",
        ),
        # the same sign, called for and left
        (
            "If your weight goes up 2 kg or more in two days, ring the heart nurse the same day.",
            "A jump of 2 kg in two days isn't something to ring about; mention it at your visit next month.",
            "urgency",
        ),
        (
            "With a reading above 180/110, ring 111 the same day.",
            "A reading of 188/114 is nothing to chase; show it to the nurse at your review next month.",
            "urgency",
        ),
        # with food and without
        (
            "Bilastine goes down an hour before food, never with it.",
            "Have your bilastine with your supper.",
            "food",
        ),
        # leaning opposite ways on a matter that no vocabulary names
        (
            "Please never let him nap in the beanbag.",
            "Settle him into the beanbag for a proper nap after lunch.",
            "polarity",
        ),
    ],
)
def test_sentences_of_long_replies_are_compared(earlier: str, later: str, kind: str) -> None:
    """Two long replies contradict each other in one sentence each."""
    assert _flagged(earlier, later) == [kind]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        # what something is for, or does, is no advice
        (
            "Carry on with the prednisolone 20 mg for now.",
            "Azathioprine calms things down so that you can come off prednisolone and stay off.",
        ),
        ("Keep taking your methotrexate on Fridays.", "With methotrexate it can stop the marrow making cells."),
        # a clinician's instruction
        (
            "Take your methotrexate tonight as normal; no reason to miss one because of the rash.",
            "Follow the nurse's instruction: no methotrexate until the rash has been seen.",
        ),
        # the time is up
        ("No driving for four weeks after the stent.", "It's five weeks since the stent, so you can drive."),
        # a situation the earlier sentence does not speak of
        ("Check his blood sugar before every meal.", "Check his blood sugar every hour while he has the bug."),
        # the sign that is absent
        ("Stop the tablets and ring me if you get a rash.", "No rash, no trouble: carry on with the tablets."),
        # tablets, not gel
        ("Don't take the diclofenac tablets.", "The diclofenac gel on the knee is all right, twice a day."),
        # other values
        (
            "If your peak flow drops below 250, ring us the same day.",
            "A peak flow of 320 is in your green zone; mention it on Thursday.",
        ),
        # a step of an instruction is not waiting
        (
            "One puff at a time, five slow breaths, and wait 30 seconds before the next puff.",
            "If the puffs help, he still needs to be seen tonight, five slow breaths or not.",
        ),
        # a sick day
        (
            "Take the metformin every day, even when your sugars look good.",
            "While you're vomiting, leave out the metformin.",
        ),
        # a question to take along
        (
            "If she has a seizure at school, phone the ward that day.",
            "Ask at the next clinic whether her seizure plan for school still holds.",
        ),
    ],
)
def test_a_change_with_its_reason_is_no_contradiction(earlier: str, later: str) -> None:
    """What looks opposite has another object, situation, time or source."""
    assert _flagged(earlier, later) == []


_RULE = "If you forget a tablet and less than 12 hours have passed, take it right away. Never double up."


@pytest.mark.parametrize(
    ("earlier", "later", "found"),
    [
        (_RULE, "It's only five hours late, so skip it and go on tomorrow.", True),
        (_RULE, "It's fourteen hours late, so skip it and go on tomorrow.", False),
        (_RULE, "You forgot last night's, so take both together this morning.", True),
        # how far the next dose is away follows from a morning and an evening dose
        (
            "If you miss a dose and the next one is more than 4 hours away, take it as soon as you remember.",
            "Since it's two hours late, leave the morning dose out and have the next at 8 tonight.",
            True,
        ),
        (
            "If you miss a dose and the next one is due within 4 hours, leave the missed one out.",
            "It's nine hours late, so leave the morning dose out and have the next at 8 tonight.",
            False,
        ),
    ],
)
def test_missed_doses_are_judged_by_their_rule(earlier: str, later: str, found: bool) -> None:
    """A rule for forgotten doses is held against what is said about one, by the time that has passed."""
    assert (_flagged(earlier, later) != []) is found


def test_a_remedy_is_read_with_its_window() -> None:
    """Twelve hours at most, and a dose that is three hours late."""
    rule, given = remedies_of(_RULE)[0], remedies_of("It's three hours late, so skip it.")[0]
    assert (rule.outcome, rule.late) == ("take", (0.0, 12.0))
    assert (given.outcome, given.late) == ("skip", (3.0, 3.0))


def test_one_earlier_turn_is_named_for_each_wrong_sentence() -> None:
    """What contradicts several turns is held against the plainest rule among them."""
    replies = [
        _OPENING[0] + "Take the apixaban 5 mg twice a day." + _OPENING[1],
        _OPENING[0] + "Never miss a dose of apixaban, even when you bruise." + _OPENING[1],
        _OPENING[0] + "Keep taking the apixaban 5 mg." + _OPENING[1],
        _ANSWER[0] + "You can stop the apixaban, as you bruise so much." + _ANSWER[1],
    ]
    assert [(found.earlier_turn, found.later_turn) for found in compare_turns(replies).all_pairs] == [(2, 4)]


def test_a_new_dose_does_not_settle_a_rule_for_illness() -> None:
    """A dose that changed for a reason leaves the rule of an earlier turn in force."""
    replies = [
        _OPENING[0] + "Whenever you need antibiotics, leave the methotrexate out until they're finished." + _OPENING[1],
        _OPENING[0] + "Your methotrexate is 15 mg once a week." + _OPENING[1],
        _ANSWER[0] + "The consultant has raised it: methotrexate 20 mg once a week." + _ANSWER[1],
        _ANSWER[0]
        + "Take tonight's methotrexate as usual; there's no reason to miss it just because of the antibiotics."
        + _ANSWER[1],
    ]
    assert (1, 4) in [(found.earlier_turn, found.later_turn) for found in compare_turns(replies).all_pairs]


def test_a_purpose_is_no_advice() -> None:
    """ "so that you can" says what for; a conclusion behind a comma permits."""
    assert find_advice("It calms the gut so that you can come off prednisolone.") == []
    assert [advice.action for advice in find_advice("All is calm, so you can stop the prednisolone.")] == ["stop"]


def test_a_pattern_is_possible_only_with_its_rarest_word() -> None:
    """The cheap look never rules out what the expression would find."""
    pattern = Pattern("leave|leaving (the) it|that ~ out")
    assert pattern.keys == frozenset(["out"])
    assert pattern.possible({"leave", "it", "out"})
    assert pattern.found("leave it out ")
    assert not pattern.possible({"leave", "it"})
    assert Pattern("vomit*").possible({"anything"})


def test_what_somebody_has_or_takes_is_no_advice() -> None:
    """A summary of the patient does not lean against the advice it agrees with."""
    earlier = "Keep up the penicillin: without a working spleen any infection is dangerous."
    assert _flagged(earlier, "No working spleen, takes penicillin V 250 mg to keep infection away.") == []


def test_short_turns_far_apart_are_judged_as_replies() -> None:
    """Turns that do not follow each other are compared as whole replies are, however short: leanings do not count."""
    replies = ["A nappy cream never replaces hydrocortisone tablets.", "Drink water.", "Inject the hydrocortisone now."]
    assert compare_turns(replies).all_pairs == ()
    assert compare_turns(["Don't inject the hydrocortisone.", *replies[1:]]).all_pairs != ()
