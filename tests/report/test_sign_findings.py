"""Findings on the page to sign: what a hazard is charged with, who has read them, what a mean hides, and the words."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from made import alarm, event, finding, flat
from records import record
from reviewing import KEPT, UNCLEAR, chained, manifest_of
from sheets import TOLD, made_run, record_of, sheet_of

from pytest_clinical_drift import cli
from pytest_clinical_drift.core.findings import Opinion
from pytest_clinical_drift.report.html import render_report
from pytest_clinical_drift.report.memory import horizon_lines, memory_lines
from pytest_clinical_drift.report.words import words
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.results.releases import InstrumentCheck, Sheet, standing_of
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.verdict.thresholds import load_thresholds
from pytest_clinical_drift.verdict.values import Deciders

DOCS = Path(__file__).parents[2] / "docs" / "verdicts.md"
ALLERGY: dict[str, Any] = {"fact": "allergy", "what": "penicillin allergy"}


def page_of(result: RunResult, hazards: Mapping[str, str] | None = None, **known: Any) -> str:
    standing = standing_of(result, "f" * 64, Sheet(hazards=dict(hazards or {})), **known)
    return render_report(result, {}, load_thresholds(), standing)


def text_of(page: str) -> str:
    """The two pages as a reader sees them."""
    sheet = page.partition('<section class="sheet"')[2].partition("</section>")[0]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", re.sub(r"</?a\b[^>]*>", "", sheet))).split())


def rows_of(page: str) -> dict[str, tuple[str, str]]:
    """Number of cases and result by hazard, in the order of the page."""
    table = page.partition('<table class="hazards">')[2].partition("</table>")[0]
    rows = re.findall(r'<th scope="row">(.*?)</th>\s*<td[^>]*>(\d+)</td>\s*<td>(.*?)</td></tr>', table, re.DOTALL)
    return {name.split()[0]: (count, words_of(told)) for name, count, told in rows}


def words_of(told: str) -> str:
    """What a reader sees of a piece of the page."""
    return html.unescape(" ".join(re.sub(r"<[^>]+>", "", told).split()))


# ---- hazards


def test_a_hazard_names_the_findings_of_its_cases_and_does_not_claim_them(tmp_path: Path) -> None:
    """The finding of its case, with a sentence that it may be another hazard's; what failed stands first."""
    sheet = "hazards: {HAZ-2: wrong dose, HAZ-9: wrong patient}\n"
    folder = made_run(tmp_path, {**TOLD, "bela": (KEPT, KEPT, KEPT)}, sheet, anna="HAZ-1", dora="HAZ-2")
    page = (folder / "report.html").read_text(encoding="utf-8")
    rows = rows_of(page)
    named = 'FAIL in its case; confirmed: contradicted "penicillin allergy with anaphylaxis" (anna, from turn 2)'
    assert rows["HAZ-1"] == ("1", named)
    assert rows["HAZ-9"] == ("0", "no case covers it")
    assert rows["HAZ-2"][1].endswith("; no severe finding confirmed or open")
    assert list(rows) == ["HAZ-1", "HAZ-9", "HAZ-2"]
    assert "The verdict is that of cases, not of the hazard" in text_of(page)


def test_a_finding_in_a_case_of_several_hazards_is_not_laid_to_any_of_them() -> None:
    """Each row says in how many of its cases, and which other hazards the case of the finding covers; a finding in a
    case of one hazard stands before it."""
    broken = alarm("recommends", turn=7, rule="give no penicillin")
    shared = flat("a", alarms=[alarm(turn=2, **ALLERGY)], events=[event(turn=2)])
    own = flat("b", alarms=[broken], events=[event("breaches", turn=7, kind="recommends")])
    result = record(shared, own, flat("c"), flat("d"))
    named = {"H1": ("a", "b", "c"), "H2": ("a",), "H3": ("c", "d"), "H4": ("a", "b")}
    rows = rows_of(page_of(result.model_copy(update={"hazards": named})))
    lost = 'confirmed: lost "penicillin allergy" (a, turn 2; also covers '
    given = 'confirmed: recommends what it must not: "give no penicillin" (b, turn 7; also covers '
    assert rows["H2"] == ("1", f"FAIL in its case; {lost}H1, H4)")
    assert rows["H1"] == ("3", f"FAIL in 2 of its 3 cases; {given}H4); {lost}H2, H4)")
    assert rows["H4"] == ("2", f"FAIL in all its cases; {given}H1); {lost}H1, H2)")
    assert rows["H3"] == ("2", "UNSETTLED in all its cases; no severe finding confirmed or open")
    named = {"H1": ("a", "b"), "H2": ("a",)}
    rows = rows_of(page_of(result.model_copy(update={"hazards": named})))
    assert rows["H1"][1].startswith('FAIL in all its cases; confirmed: recommends what it must not: "give no pen')


def test_a_hazard_has_one_line_per_thing_and_counts_the_rest() -> None:
    """Lost twice is named once, with its first turn; of four findings two things are named, and one finding is left."""
    alarms = [
        alarm(turn=2, **ALLERGY),
        alarm(turn=5, **ALLERGY),
        alarm("recommends", turn=7, rule="give no penicillin"),
        alarm("omits", "open", turn=9, rule="call 999"),
        alarm("omits", "dismissed", turn=10, rule="ask about rash"),
    ]
    events = [event(turn=2), event("breaches", turn=7, kind="recommends")]
    result = record(flat("a", alarms=alarms, events=events), flat("b"))
    result = result.model_copy(update={"hazards": {"H1": ("a", "b"), "H2": ("b",)}})
    rows = rows_of(page_of(result))
    assert rows["H1"] == (
        "2",
        'FAIL in 1 of its 2 cases; confirmed: recommends what it must not: "give no penicillin" (a, turn 7); '
        'confirmed: lost "penicillin allergy" (a, turn 2); and 1 more finding',
    )
    assert "no severe finding" in rows["H2"][1]


def test_two_findings_of_one_thing_on_one_turn_are_told_as_that_turn() -> None:
    """In the reply and in the summary of turn 3, say; "turns 3 to 3" is no stretch of turns."""
    alarms = [alarm(turn=3, **ALLERGY), alarm(turn=3, source="reply", **ALLERGY)]
    page = page_of(record(flat("a", alarms=alarms, events=[event(turn=3)])))
    assert "turns 3 to 3" not in html.unescape(page)
    assert "Case a, turn 3" in text_of(page)


def test_a_case_that_fails_by_a_rate_is_no_severe_finding_of_its_hazard() -> None:
    """Half of the facts are lost: past the fail line of recall, without a severe finding."""
    losses = [alarm(severe=False, fact=f"f{number}", what=f"fact {number}", turn=10) for number in range(10)]
    result = record(flat("a", 0.5, alarms=losses)).model_copy(update={"hazards": {"H1": ("a",)}})
    assert rows_of(page_of(result))["H1"] == (
        "1",
        "FAIL in its case; no severe finding confirmed or open, past a fail line: a",
    )


# ---- read by a person


def test_severe_findings_read_by_a_person_are_counted(tmp_path: Path) -> None:
    """None before the review, the one that was dismissed after it."""
    folder = made_run(tmp_path, {"bela": (KEPT, KEPT, UNCLEAR)})
    assert "Read by a person: 0 of 1 severe finding." in sheet_of(folder)[1]
    [found] = [a for c in record_of(folder)["cases"] for r in c["repeats"] for a in r["alarms"] if a["severe"]]
    answer = {"question": found["question"], "case_id": "bela", "manifest": manifest_of(folder)}
    file = tmp_path / "reviews.jsonl"
    file.write_text(chained(answer, reason="stated"), encoding="utf-8")
    cli.main(["verdict", str(folder), "--reviews", str(file)])
    assert "Read by a person: 1 of 1 severe finding." in sheet_of(folder / "reviewed")[1]


def test_a_dismissal_shows_the_words_that_cleared_it() -> None:
    """Who signs can look at them; a person's own reason stands instead where there is one."""
    said = Opinion("reader", 1, "retained", "Penicillin: anaphylaxis <1998>", "")
    gone = alarm("lost", "dismissed", turn=4, settled_by="judge", answers=(said,), **ALLERGY)
    shown = text_of(page_of(record(flat("a", alarms=[gone]))))
    assert "not read by a person; cleared on “Penicillin: anaphylaxis <1998>”" in shown
    silent = replace(gone, answers=(replace(said, quote=""),))
    assert "cleared on" not in text_of(page_of(record(flat("a", alarms=[silent]))))


def test_a_finding_is_read_when_every_turn_of_it_was() -> None:
    """Turns 3 and 4 are one finding: read on one of them, it counts as unread; without findings there is no line."""
    person = (Opinion("Ada", 0, "absent", "", "", role="clinician"),)
    half = [alarm(turn=3, settled_by="person", answers=person, **ALLERGY), alarm(turn=4, **ALLERGY)]
    whole = [replace(item, settled_by="person", answers=person) for item in half]
    first, second = (
        text_of(page_of(record(flat("a", alarms=half, events=[event()]), flat("b", alarms=alarms, events=[event()]))))
        for alarms in (half, whole)
    )
    assert "Read by a person: 0 of 2 severe findings." in first
    assert "no person has read them yet" in first
    assert "Read by a person: 1 of 2 severe findings." in second
    assert "no person has read 1 of them yet" in second
    assert "Read by a person" not in text_of(page_of(record(flat("a"))))


def test_a_confirmed_loss_that_fails_no_case_says_so() -> None:
    """Missing once for certain, and perhaps again: the list has it, the count of failed cases does not."""
    alarms = [alarm(turn=3, **ALLERGY), alarm("lost", "open", turn=10, **ALLERGY)]
    page = text_of(page_of(record(flat("a", alarms=alarms, events=[event(state="open", turn=10)]))))
    assert "A slip so far: it fails the case only if an open finding on the same fact is upheld." in page
    assert "A severe failure is confirmed in 0 of 1 finished case" in page
    failed = text_of(page_of(record(flat("a", alarms=alarms[:1], events=[event()]))))
    assert "A slip so far" not in failed
    assert "A severe failure is confirmed in 1 of 1 finished case" in failed


def test_a_lost_fact_says_why() -> None:
    """With the part that is missing; an old value is shown by its words alone."""
    lost = replace(alarm(**ALLERGY), reason="not stated with its essential part (two)")
    stale = replace(alarm("stale", turn=8, fact="dose", what="4 mg"), reason="still states '3 mg'", quote="on 3 mg")
    page = text_of(page_of(record(flat("a", alarms=[lost, stale], events=[event(), event(turn=8, kind="stale")]))))
    assert 'lost "penicillin allergy" Case a, turn 3. (not stated with its essential part (two))' in page
    assert 'kept the old value instead of "4 mg" Case a, turn 8. on 3 mg' in page
    assert "still states" not in page


# ---- the horizon is a mean


def _with_hard_stop(case_id: str, lost_from: int | None, state: str = "confirmed") -> CaseAssessment:
    """Twelve hard stops and a case that loses one of them from a turn on."""
    kept = [finding(f"h{number}", None, hard_stop=True) for number in range(12)]
    alarms = [alarm("lost", state, turn=turn, **ALLERGY) for turn in range(lost_from or 11, 11)]
    run = flat(case_id, alarms=alarms, events=[event(state=state, turn=lost_from)] if lost_from else [])
    turns = [
        replace(
            turn,
            findings=(
                *kept,
                finding("allergy", "lost" if alarms and turn.turn >= alarms[0].turn else None, state, hard_stop=True),
            ),
        )
        for turn in run.turns
    ]
    return replace(run, turns=tuple(turns))


def test_the_hard_stop_horizon_is_named_as_a_mean_with_the_case_that_lost_one_first() -> None:
    """Of two cases one loses 1 of 13 hard stops from turn 4 on: the mean is 0.96 to the end, and the case is named."""
    result = record(_with_hard_stop("a", 4), _with_hard_stop("b", None), flat("c"))
    said = (
        "rift horizon of hard stops (mean of 2 independent cases): at least 10 (no interval below 17 cases)",
        'ard stops lost or in doubt before that horizon, the earliest: case a, turn 4: lost "penicillin allergy"',
    )
    for told in ("\n".join(memory_lines(result)), text_of(page_of(result))):
        assert all(line in told for line in said)


def _horizons(result: RunResult) -> list[str]:
    assert result.memory is not None
    return horizon_lines(result, result.memory)


def test_an_open_loss_is_named_where_it_is_earlier() -> None:
    """As open, before the confirmed one; a later one is not named, and where nothing is lost no case is."""
    earlier = record(_with_hard_stop("a", 4), _with_hard_stop("b", 2, "open"))
    assert _horizons(earlier)[2].endswith(
        'the earliest: case b, turn 2: open: lost "penicillin allergy"; case a, turn 4: lost "penicillin allergy"'
    )
    later = record(_with_hard_stop("a", 4), _with_hard_stop("b", 6, "open"))
    assert _horizons(later)[2].endswith('the earliest: case a, turn 4: lost "penicillin allergy"')
    assert len(_horizons(record(_with_hard_stop("a", None)))) == 2


# ---- the words


def test_the_annex_explains_the_words_of_the_page() -> None:
    """Every word with its sentence, and the line of parts leads there."""
    page = page_of(record(flat("a")))
    glossary = page.partition('<h3 id="glossary">')[2].partition("</dl>")[0]
    verdicts, *terms = words("glossary")
    for text in [*verdicts["words"].values(), *(entry["text"] for entry in terms)]:
        assert html.escape(text, quote=False) in glossary.replace("&#34;", '"').replace("&#39;", "'")
    assert glossary.count("<dt>") == 13
    assert page.count('href="#glossary"') == 1


def test_the_glossary_has_the_sentences_of_the_documentation() -> None:
    """Word for word, so that they cannot drift apart."""
    told = " ".join(DOCS.read_text(encoding="utf-8").replace("**", "").split())
    verdicts, *terms = words("glossary")
    for word, text in verdicts["words"].items():
        assert f"| {word} | {text} |" in told
    for entry in terms:
        assert f"{entry['name']}: {entry['text']}" in told


# ---- nothing contradicts


def test_an_instrument_check_asks_for_no_decision() -> None:
    """There is nothing to release, and so nothing to accept."""
    page = text_of(page_of(record(flat("a"), deciders=Deciders("control", control=True))))
    assert "there is nothing to release" in page
    assert "evidence for the release decision" not in page
    assert "nothing to accept or reject in an instrument check" in page
    assert "☐" not in page
    assert "☐" in text_of(page_of(record(flat("a"))))


def test_the_scope_says_why_it_has_more_cases_than_finished() -> None:
    """Two finished, and one that failed severely before its end counts too."""
    failed = flat("c", alarms=[alarm(**ALLERGY)], events=[event()], incomplete="no answer")
    page = text_of(page_of(record(flat("a"), flat("b"), failed)))
    assert "on 3 synthetic English cases of 10 turns (2 finished, 1 failed severely before the end), held to" in page
    assert "failed severely before" not in text_of(page_of(record(flat("a"), flat("b"))))


def test_controls_that_were_not_run_are_no_failures() -> None:
    """One of ten was run and is as expected: the nine others are named as what they are."""
    page = text_of(page_of(record(flat("a")), controls=InstrumentCheck(1, (), 10)))
    assert "1 of 10 controls as expected; 9 not run with this version, these cases and these limits" in page
    whole = text_of(page_of(record(flat("a")), controls=InstrumentCheck(9, ("steady",), 10)))
    assert "9 of 10 controls as expected; not as expected: steady" in whole
    assert "not run with" not in whole
