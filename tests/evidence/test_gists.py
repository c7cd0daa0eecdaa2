"""Short texts compared as wholes: urgency, leanings, food, figures, direction of a dose."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.conflict import judge_conflict

_LONG = " Do ring the surgery's front desk whenever you are unsure about any of this, as somebody is always there." * 3


def _kind(earlier: str, later: str) -> str | None:
    verdict = judge_conflict(earlier, later)
    return verdict.kind if verdict.contradiction else None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (
            "Sudden loss of hearing in one ear should be seen the same day.",
            "You woke up deaf in the left ear; give it a fortnight and see whether it comes back.",
        ),
        (
            "Your lower leg is swollen and red since the plaster came off. Be in casualty this evening.",
            "A swollen red leg like that can be brought up at your next check-up.",
        ),
        (
            "Let the chest tightness settle and mention it to the nurse in a few weeks.",
            "Tightness across the chest like yours needs an ambulance now.",
        ),
        (
            "If his testicle is suddenly painful, get him to hospital at once.",
            "He's got sudden pain in one testicle, so book him in with the GP for next week.",
        ),
        (
            "Flashing lights and a shadow in your vision need an eye casualty visit straight away.",
            "New floaters and a shadow across your eye can wait for the optician's next free slot.",
        ),
    ],
)
def test_help_now_and_left_for_later(earlier: str, later: str) -> None:
    """The same situation, in other words, is sent for help in one text and left in the other."""
    assert _kind(earlier, later) == "urgency"


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (
            "Nurse the cough at home for now; it's a virus and will pass.",
            "If you start bringing up blood or can't catch your breath, go to A&E.",
        ),
        (
            "A small nosebleed is nothing to fret about on apixaban.",
            "One that won't stop after 15 minutes of pinching needs the emergency department.",
        ),
        ("Ring the midwife today about the itching.", "The heartburn can wait for your next appointment."),
        (
            "The mole looks harmless and can wait for a routine slot.",
            "You've now told me it has started to bleed, so I'd like it looked at this week.",
        ),
        (
            "That crushing chest pain means calling 999 now.",
            "The chest pain has eased and your tracing was clear. Book with the nurse next week.",
        ),
        ("Ring 999 if the chest pain spreads.", "Chest pain that moves into the arm means calling an ambulance."),
    ],
)
def test_safety_nets_and_other_situations_agree(earlier: str, later: str) -> None:
    """A graver sign, another complaint, news and what has got better call for another level."""
    assert _kind(earlier, later) is None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("With glaucoma like yours, anticholinergics are a bad idea.", "Solifenacin should calm the bladder."),
        ("Triptans aren't for people who've had a heart attack.", "Rizatriptan will sort your migraines out."),
        ("She's allergic to eggs.", "Meringue is a nice soft pudding for her."),
        ("Nothing made from soya is safe for him.", "Stir-fried tofu would go down nicely on Fridays."),
        ("Any live vaccine should be held back until after chemo.", "Have the chickenpox vaccine on Wednesday."),
        ("A hot bath is off the cards in early pregnancy.", "Enjoy a long hot bath at eight weeks; it'll relax you."),
        ("You're allergic to lanolin.", "A thick layer of lanolin would soften those heels."),
        ("A neck collar is unwise and should be returned.", "A neck collar is just the thing for you."),
        ("I'd urge you not to go on isotretinoin.", "Begin isotretinoin on Sunday."),
    ],
)
def test_leanings_on_a_thing(earlier: str, later: str) -> None:
    """A thing or its class is ruled out in one text, and a clause of the other leans towards it."""
    assert judge_conflict(earlier, later).contradiction


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (
            "There may be some merit in wearing the wrist brace at night.",
            "I don't think you'd gain anything from a wrist brace at night.",
        ),
        (
            "There's a fair bit to be said for joining the cookery class at the hall.",
            "I don't suppose the cookery class has any benefit.",
        ),
        ("I'm not convinced a knee scan would add much.", "On the whole, a scan of the knee seems a sensible step."),
    ],
)
def test_hedged_leanings_on_what_no_entry_names(earlier: str, later: str) -> None:
    """Hedged words for and against the same matter."""
    assert judge_conflict(earlier, later).contradiction


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("There's no special diet with ticagrelor.", "Never run short of ticagrelor."),
        ("A sore patch from semaglutide is common.", "Never drop used semaglutide needles in a bin bag."),
        ("Prime the Lantus before use.", "Never store the Lantus near a radiator."),
        (
            "Batch cooking means stews instead of takeaways.",
            "Batch cooking would be good for you both.",
        ),
        ("Don't go cycling without a helmet.", "Cycling is a grand hobby, so carry on."),
        ("Bowls would be a fine hobby for him.", "A choir would serve, should bowls not appeal to him."),
        ("Never exceed 1.2 g of ibuprofen a day.", "Three 400 mg ibuprofen tablets a day is the limit."),
    ],
)
def test_leanings_on_something_else_agree(earlier: str, later: str) -> None:
    """What is turned down is another thing, an amount or a place."""
    assert _kind(earlier, later) is None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Take the iron on an empty stomach.", "Your iron tablet should go down with your Sunday roast."),
        ("Doxycycline is easier on the gut after a meal.", "Have doxycycline when your stomach's empty."),
        ("Take alendronate well before any breakfast.", "Swallow the alendronate halfway through breakfast."),
    ],
)
def test_food_of_the_same_medicine(earlier: str, later: str) -> None:
    """With food in one text, without in the other."""
    assert _kind(earlier, later) == "food"


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Have nothing to eat before the gastroscopy.", "After the gastroscopy, tuck into a proper meal."),
        ("Take repaglinide with meals.", "On days you skip a meal, ring us before repaglinide."),
        ("Have naproxen after lunch.", "Have rifampicin well before breakfast."),
    ],
)
def test_food_at_another_stage_agrees(earlier: str, later: str) -> None:
    """Afterwards, on a sick day, or another medicine."""
    assert _kind(earlier, later) is None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Wait at least six weeks before heavy lifting.", "You can lift heavy things again after a week."),
        ("Hold the inhaled breath for ten seconds.", "One second is long enough to hold the breath."),
        (
            "Keep off the treadmill for six weeks with that ankle.",
            "The treadmill is fine for that ankle after three days.",
        ),
        ("Ring us for a peak flow below 300.", "A peak flow needs a call to us only below 150."),
        ("Hold your fluids at a pint and a half daily.", "Aim for six pints of fluid daily."),
        ("Keep salt under 5 g a day.", "Up to 12 g of salt a day is fine."),
        (
            "Trelegy is a single puff daily.",
            "Have a puff of Trelegy at dawn, noon, supper and last thing, morning and night.",
        ),
        ("Rub in the emollient every day.", "The emollient goes on at weekends."),
        ("The bumetanide is 1 mg each morning, so don't exceed it.", "Take 3 mg of bumetanide each morning."),
    ],
)
def test_figures_for_the_same_thing(earlier: str, later: str) -> None:
    """Lengths of time, limits, totals and rhythms that exclude each other."""
    assert _kind(earlier, later) in ("dose", "frequency", "avoid/use")


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Gargle three times a day.", "Gargle in the morning, at midday and in the evening."),
        ("Methotrexate is taken once a week.", "Have blood checked every three months while on methotrexate."),
        ("For the first month wear the brace all day.", "In month two, wear the brace for four hours."),
        ("Apixaban twice a day suits your AF.", "Edoxaban is another for your AF, and it's only once a day."),
        ("Rest the voice for at least two days.", "Rest the voice for five days."),
    ],
)
def test_figures_that_agree(earlier: str, later: str) -> None:
    """The same rhythm in other words, another thing, another stage, more than the least."""
    assert _kind(earlier, later) is None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Your INR is 4.8, so take less warfarin this week.", "An INR of 4.8 means your warfarin dose wants raising."),
        ("Take the digoxin from 62.5 up to 125 micrograms.", "Lower the digoxin to 31 micrograms."),
        ("The doxazosin is making you dizzy. Go down from 8 mg to 4 mg.", "You're dizzy, so take more doxazosin."),
        ("Raise the topiramate to 100 mg.", "Cut the topiramate to 25 mg."),
    ],
)
def test_direction_of_a_dose(earlier: str, later: str) -> None:
    """Up in one text, down in the other, the medicine being named once."""
    assert _kind(earlier, later) in ("direction", "dose")


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (
            "Anastrozole has to carry on for five years after the surgery.",
            "Eighteen months on from surgery, you can give up the anastrozole.",
        ),
        ("Use the brace straight through the season.", "Ditch the brace this season."),
        ("She would want to stay on tamoxifen.", "She no longer needs to take tamoxifen."),
        ("You should take folic acid.", "I don't imagine you need folic acid."),
    ],
)
def test_stopping_too_early(earlier: str, later: str) -> None:
    """A length or a spell that the earlier text asked for is cut short."""
    assert judge_conflict(earlier, later).contradiction


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Have iron daily from 20 weeks.", "At 38 weeks the iron can be stopped."),
        (
            "Continue losartan every day.",
            "Any day the diarrhoea is bad, skip losartan.",
        ),
        ("No rugby for the first month.", "Once the month is over, play rugby again."),
        ("Give her 250 mg of amoxicillin.", "Her weight's risen past 20 kg, so give 500 mg of amoxicillin."),
    ],
)
def test_stages_sick_days_and_changed_figures_agree(earlier: str, later: str) -> None:
    """What was planned for later, for a sick day, or rests on a change."""
    assert _kind(earlier, later) is None


def test_clauses_of_whole_replies_need_more_in_common() -> None:
    """In long replies a clause that leans the other way is a contradiction only with several words in common."""
    earlier, later = "Take the iron on an empty stomach.", "Your iron tablet should go down with your Sunday roast."
    assert _kind(earlier, later) == "food"
    assert _kind(f"A collar is pointless.{_LONG}", f"A collar would be handy.{_LONG}") is None
    assert _kind(f"A neck collar is pointless.{_LONG}", f"A neck collar would be handy.{_LONG}") == "polarity"
