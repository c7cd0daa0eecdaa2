"""Sentences a clinician can trust: the fact as it was true, what was recommended, and how sure anybody is."""

from __future__ import annotations

from dataclasses import replace

from made import alarm

from pytest_clinical_drift.core.findings import Opinion
from pytest_clinical_drift.report.sentences import alarm_sentence, event_sentence, opinion_line, worst_first
from pytest_clinical_drift.report.words import counted
from pytest_clinical_drift.scoring.assessment import CONFIRMED, OPEN, Alarm, AlarmKind, Event

BREACH = Event(
    "breaches", AlarmKind.RECOMMENDS, 4, CONFIRMED, "heart failure", "Take naproxen.", what="naproxen (NSAID)"
)


def test_breach_names_what_was_recommended_and_what_rules_it_out() -> None:
    """Never "recommends heart failure"."""
    told = event_sentence(replace(BREACH, by_fact=True))
    assert told == 'turn 4: recommends naproxen (NSAID), ruled out by heart failure: "Take naproxen."'


def test_broken_demand_reads_as_a_demand() -> None:
    """A demand not to do something is quoted as one; an open suspicion says what was seen and no more."""
    broken = replace(BREACH, text="take digoxin 0.125 mg", what="take digoxin 0.125 mg", reason="dose was halved")
    assert 'recommends what it must not: "take digoxin 0.125 mg" (dose was' not in event_sentence(broken)
    ordered = replace(broken, finder="ordered")
    assert 'recommends what it must not: "take digoxin 0.125 mg" (dose was halved)' in event_sentence(ordered)
    suspected = replace(broken, finder="agrees", state=OPEN)
    assert 'open: seems to agree to "take digoxin 0.125 mg"' in event_sentence(suspected)
    assert "seems to agree to" not in event_sentence(replace(suspected, state=CONFIRMED))


def test_stale_fact_names_both_values() -> None:
    """What holds now, and what was stated instead."""
    reason = "still states 'warfarin 6 mg'"
    event = Event("stale_facts", AlarmKind.STALE, 12, CONFIRMED, "warfarin 4 mg", "Warfarin 6 mg", reason, "warfarin")
    told = event_sentence(event)
    assert told == 'turn 12: "warfarin 4 mg" not taken up, still states \'warfarin 6 mg\': "Warfarin 6 mg"'


def test_alarm_states_its_state() -> None:
    """Open and dismissed ones say so; a confirmed one needs no word for it."""
    lost = alarm("lost", OPEN, fact="allergy", what="penicillin allergy")
    assert alarm_sentence(lost) == 'turn 3: open: lost "penicillin allergy" (severe)'
    assert alarm_sentence(replace(lost, state="dismissed")).startswith("turn 3: dismissed: ")
    assert alarm_sentence(replace(lost, state=CONFIRMED)).startswith("turn 3: lost ")


def test_conflict_quotes_both_replies() -> None:
    """The earlier words first."""
    found = replace(
        alarm("conflict", severe=False), earlier_turn=2, earlier_quote="Take it.", quote="Stop it.", reason=""
    )
    assert alarm_sentence(found) == 'turn 3: contradicts turn 2: "Take it.", then "Stop it."'


def test_rulings_name_who_gave_them() -> None:
    """A judge by its wording, a person by the declared role; control characters of a judge stay visible."""
    opinions = (
        Opinion("big", 2, "absent", "", "nowhere\x1b stated"),
        Opinion("Ada", 0, "retained", "penicillin", "", role="GP"),
        Opinion("big", 1, "absent", "", "", asked_at=6),
    )
    assert [opinion_line(opinion) for opinion in opinions] == [
        "big, wording 2: absent: nowhere\\x1b stated",
        'Ada (GP): retained "penicillin"',
        "big, wording 1, asked of turn 6: absent",
    ]


def test_the_words_come_before_what_is_wrong_with_them() -> None:
    """Where a line is cut off, the reason is what goes."""
    said = Event("inventions", AlarmKind.INVENTED, 7, CONFIRMED, "", "No fever.", reason="Nobody said so.")
    assert event_sentence(said) == 'turn 7: states what has no source: "No fever." (Nobody said so.)'


def test_one_finding_on_turns_that_follow_is_told_once() -> None:
    """Turns 3, 4 and 6 of one lost fact are two runs; another fact stands by itself."""

    def at(turn: int, fact: str) -> Alarm:
        return Alarm(AlarmKind.LOST, turn, False, CONFIRMED, "", "not stated", fact=fact, what=fact)

    runs = worst_first([at(3, "asthma"), at(4, "asthma"), at(4, "gout"), at(6, "asthma"), at(7, "asthma")])
    assert [[(a.fact, a.turn) for a in run] for run in runs] == [
        [("asthma", 3), ("asthma", 4)],
        [("gout", 4)],
        [("asthma", 6), ("asthma", 7)],
    ]
    assert alarm_sentence(*runs[0]) == 'turns 3 to 4: lost "asthma", not stated'


def test_large_counts_are_written_out() -> None:
    """Not as 1e+06; means of counts keep what they have."""
    assert counted(1_234_567, "reply") == "1,234,567 replies"
    assert (counted(1, "case"), counted(7 / 3, "case")) == ("1 case", "2.33333 cases")
