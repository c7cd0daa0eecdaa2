"""The thesaurus of everyday wordings: what its files hold, when it is asked, and what it must not state."""

from __future__ import annotations

from importlib import resources

import pytest

from pytest_clinical_drift.evidence.facts import thesaurus
from pytest_clinical_drift.evidence.facts.relatives import people, same_people
from pytest_clinical_drift.evidence.facts.thesaurus import likely_wordings, other_wordings, said_together
from pytest_clinical_drift.evidence.retention import assess_retention
from pytest_clinical_drift.evidence.text import read

FOLDER = resources.files("pytest_clinical_drift") / "data" / "thesaurus"
FILES = sorted(file.name for file in FOLDER.iterdir() if file.name.endswith(".txt"))


def lines(name: str) -> list[tuple[int, str]]:
    """The numbered lines of a file that hold phrases."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    return [(number, line) for number, line in enumerate(text.splitlines(), 1) if not line.startswith("#")]


def phrases(line: str) -> list[str]:
    return [phrase.strip() for half in line.split("|") for phrase in half.split(";")]


def status(text: str, fact: str) -> str:
    return assess_retention(text, [fact])[0].status


def test_there_are_files() -> None:
    """The checks of the files below check something."""
    assert len(FILES) >= 4
    assert sum(len(lines(name)) for name in FILES) > 2000


@pytest.mark.parametrize("name", FILES)
def test_no_phrase_is_empty(name: str) -> None:
    """No semicolon too many, no bar without phrases on both sides, no blank line."""
    assert [number for number, line in lines(name) if "" in phrases(line) or line.count("|") > 1] == []


@pytest.mark.parametrize("name", FILES)
def test_a_line_has_several_phrases(name: str) -> None:
    """A line with one phrase could exchange nothing."""
    assert [number for number, line in lines(name) if len(phrases(line)) < 2] == []


@pytest.mark.parametrize("name", FILES)
def test_no_phrase_twice_in_a_line(name: str) -> None:
    """Neither among the phrases of a fact nor again after the bar."""
    assert [number for number, line in lines(name) if len(set(phrases(line))) < len(phrases(line))] == []


@pytest.mark.parametrize("name", FILES)
def test_phrases_are_plain_words(name: str) -> None:
    """No comma or full stop: a comma in place of a semicolon would join two phrases to one that no text has."""
    odd = [(number, p) for number, line in lines(name) for p in phrases(line) if set(p) & set(',:"[]{}')]
    assert odd == []


def test_a_phrase_of_the_fact_is_exchanged() -> None:
    """Another phrase of the line takes its place, the rest of the fact stays."""
    texts = {wording.text for wording in other_wordings("three speeding fines")}
    assert "three speeding tickets" in texts
    assert all(text.startswith("three ") for text in texts)


def test_what_stands_after_the_bar_is_no_fact() -> None:
    """A summary may say more than the fact: "law student" for a university student, never the other way round."""
    assert "law student" in {wording.text for wording in other_wordings("university student")}
    assert "university student" not in {wording.text for wording in other_wordings("law student")}


def test_denials_are_left_to_the_rules() -> None:
    """Neither is a denying fact exchanged, nor a phrase with a denial put in."""
    assert other_wordings("no speeding fines") == ()
    assert not any({"no", "not", "never"} & set(w.text.split()) for w in other_wordings("single, lives in a flat"))


def test_only_wordings_of_the_document_are_likely() -> None:
    """All words that are put in have to stand in the document."""
    assert likely_wordings("speeding fines", read("He was caught on his bicycle.")) == []
    assert [w.text for w in likely_wordings("speeding fines", read("He was caught speeding."))] == ["caught speeding"]


def test_the_words_have_to_stand_together() -> None:
    """Near each other in a sentence of the evidence."""
    [wording] = [w for w in other_wordings("speeding fines") if w.text == "caught speeding"]
    near = read("He was caught speeding.")
    assert said_together(wording, near, [(2, 3)])
    apart = read("He was caught in the rain and the children stayed home. He spoke of speeding.")
    assert not said_together(wording, apart, [(2, 2)])


def test_nothing_is_read_while_no_fact_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fact that the rules find costs no look at the files."""

    def refuse() -> dict[str, frozenset[int]]:
        raise AssertionError("the thesaurus was asked")

    other_wordings.cache_clear()
    monkeypatch.setattr(thesaurus, "_index", refuse)
    assert status("She lives alone.", "lives alone") == "retained"
    with pytest.raises(AssertionError, match="was asked"):
        status("She came by bus.", "keeps bees")


def test_two_phrases_may_be_exchanged() -> None:
    """Each of its own line, the first left as it was put in."""
    text = "A neighbour comes round and fetches her groceries."
    texts = {w.text for w in likely_wordings("visits, does her shopping", read(text))}
    assert "comes round fetches her groceries" in texts


@pytest.mark.parametrize(
    ("phrase", "named"),
    [
        ("her husband works away", {"husband"}),
        ("his mum and dad", {"mother", "father"}),
        ("lone mother", set()),
        ("mother of two", set()),
        ("two kids", {"children"}),
        ("works nights", set()),
    ],
)
def test_people_of_a_phrase(phrase: str, named: set[str]) -> None:
    """One word for each person; a mother who is the patient is no other person."""
    assert people(phrase.split()) == named


@pytest.mark.parametrize(
    ("wanted", "named", "same"),
    [
        ({"husband"}, {"wife"}, False),
        ({"husband"}, {"partner"}, True),
        ({"son"}, {"daughter"}, False),
        ({"children"}, {"son"}, True),
        ({"mother"}, set(), False),
        (set(), {"mother"}, True),
        ({"mother"}, {"mother", "sister"}, False),
    ],
)
def test_phrases_about_other_people(wanted: set[str], named: set[str], same: bool) -> None:
    """A phrase about the wife does not stand for one about the husband."""
    assert same_people(frozenset(wanted), frozenset(named)) is same


NEAR_BUT_NOT: dict[str, str] = {
    "works night shifts": "She wakes at night worrying about work.",
    "lives with her daughter": "Her daughter lives in Leeds and phones on Sundays.",
    "law student": "She is a second-year nursing student.",
    "recently divorced": "She is married and lives with her husband.",
    "financial difficulties": "He works in finance for a bank.",
    "low self-esteem": "Self-esteem: to be explored.",
    "social anxiety disorder": "She has generalised anxiety disorder.",
    "bullied at school": "She teaches at a primary school.",
    "under the early intervention team": "First episode of psychosis last year.",
    "weekly CBT": "Family therapy every week.",
    "practising Muslim": "She is a Christian who goes to church.",
    "tinnitus": "Loud noise is too much for him; he wears ear defenders.",
    "history of foster care": "She is a foster carer for two children.",
    "mother has dementia": "His wife's mother has dementia.",
    "carer for her husband": "Her husband cares for her.",
    "retired teacher": "She is a teacher, currently off work.",
    "supportive husband": "Her husband has asthma.",
    "keeps a diary": "She works for a newspaper.",
    "runs marathons": "He ran out of tablets last week.",
    "hears voices": "You shared a lot, and I can hear how hard it was.",
}


@pytest.mark.parametrize("fact", NEAR_BUT_NOT)
def test_a_sentence_near_in_topic_does_not_state_the_fact(fact: str) -> None:
    """Words of the same field are not the fact."""
    assert status(NEAR_BUT_NOT[fact], fact) in {"absent", "contradicted"}
