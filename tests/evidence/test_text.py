"""Reading a text: tokens, offsets, sentences, clauses, layout and labels."""

import pytest
from growth import cpu_seconds
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clinical_drift.evidence.text import (
    CELL,
    DATE,
    DEID,
    HEADING,
    LABEL,
    NUMBER,
    PROSE,
    RATIO,
    SYMBOL,
    TIME,
    WORD,
    Document,
    read,
    tokenise,
)


def _sentences(text: str) -> list[str]:
    document = read(text)
    stops = [*document.sentence_starts[1:], len(document)]
    return [" ".join(document.words[a:b]) for a, b in zip(document.sentence_starts, stops, strict=True)]


def _label(text: str, word: str) -> tuple[str, ...]:
    document = read(text)
    return document.labels_of(document.words.index(word))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("50mg", "50 mg"),
        ("50\u202fmg", "50 mg"),
        ("50\u00a0mg", "50 mg"),
        ("50 mg", "50 mg"),
        ("1,000 mg", "1000 mg"),
        ("1\u202f000 mg", "1000 mg"),
        ("2,5 mg", "2.5 mg"),
        ("2.5mg", "2.5 mg"),
        ("T38.4", "t 38.4"),
        ("½ tablet", "0.5 tablet"),
        ("1½ tablets", "1.5 tablets"),
        ("aspirin\u2011induced", "aspirin induced"),
        ("para\u00adcetamol", "paracetamol"),
        ("para\u200bcetamol", "paracetamol"),
        ("Addison's disease", "addison disease"),
        ("Addison\u2019s disease", "addison disease"),
        ("didn't", "did not"),
        ("can\u2019t", "can not"),
        ("cannot", "can not"),
        ("won't", "will not"),
        ("didnt", "did not"),
        ("d/c'd 2022", "d/c'd 2022"),
        ("Ménière", "meniere"),
        ("Me\u0301nie\u0300re", "meniere"),
        ("2 puffs b.d.", "2 puffs bd"),
        ("h/o w/o s/p", "h/o without s/p"),
        ("108 g/L", "108 g l"),
        ("50 mg/day", "50 mg day"),
        ("HbA1c B12 T2DM", "hba1c b12 t2dm"),
        ("10\N{MICRO SIGN}g", "10 \N{GREEK SMALL LETTER MU}g"),
        ("Na\u207a 129", "na + 129"),
        ("ﬁbrosis", "fibrosis"),
        ("the 2nd dose", "the 2nd dose"),
        ("58yo", "58 yo"),
        ("HCV -ve, HBV +ve", "hcv -ve hbv +ve"),
        ("current_treatment", "current treatment"),
    ],
)
def test_words_are_normalised(text: str, words: str) -> None:
    """Whatever the typography, the same content gives the same words."""
    assert " ".join(read(text).words) == words


def test_kinds_of_tokens() -> None:
    """Amounts, ratios, dates and times are told apart."""
    document = read("BP 120/80, inhaler 100/6, 14/02/2022, 2022-02-14, 08:30, 5 % **NAME[AB] ok")
    assert document.kinds == [WORD, RATIO, WORD, RATIO, DATE, DATE, TIME, NUMBER, SYMBOL, DEID, WORD]


@pytest.mark.parametrize(
    ("text", "gaps"),
    [
        ("fever, cough; rash", ["\n", ",", ";"]),
        ("rate-controlled", ["\n", "-"]),
        ("rate\u2013controlled", ["\n", "-"]),
        ("asthma – severe", ["\n", "–"]),
        ("asthma—severe", ["\n", "–"]),
        ("mother's rash", ["\n", "'s"]),
        ("aspirin (**rash**), stopped", ["\n", "(", "),"]),
        ("mg/day", ["\n", "/"]),
        ("a  b", ["\n", ""]),
    ],
)
def test_gaps_keep_the_punctuation(text: str, gaps: list[str]) -> None:
    """What parts two words is kept, white space and emphasis are not."""
    assert read(text).gaps == gaps


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("She is well. No fever.", ["she is well", "no fever"]),
        ("pt well. no fever", ["pt well", "no fever"]),
        ("Seen by Dr. Okoro today.", ["seen by dr okoro today"]),
        ("Takes 5 mg. b.d. with food", ["takes 5 mg bd with food"]),
        ("2 puffs b.d. Best flow 400.", ["2 puffs bd", "best flow 400"]),
        ("40 mg b.d. by mouth", ["40 mg bd by mouth"]),
        ("Triggers, e.g. Pollen, vary", ["triggers eg pollen vary"]),
        ("Dose 2.5 mg. Weight 70.5 kg.", ["dose 2.5 mg", "weight 70.5 kg"]),
        ("Grew E. coli again.", ["grew e coli again"]),
        ("Has hepatitis C. She drinks.", ["has hepatitis c", "she drinks"]),
        ("Feels well.No fever", ["feels well", "no fever"]),
        ("Any pain? None!  Good.", ["any pain", "none", "good"]),
        ("**NAME[AAA. BBB] was seen. Well.", ["name was seen", "well"]),
        ("- no fever\n- cough", ["no fever", "cough"]),
        ("1. Asthma\n2. Gout", ["asthma", "gout"]),
        ("line one\nline two", ["line one", "line two"]),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    """Abbreviations, decimals and initials end no sentence; full stops, lines and bullets do."""
    assert _sentences(text) == sentences


def test_clauses() -> None:
    """A clause ends at a semicolon, a dash and before an adversative."""
    document = read("no fever; cough – dry but no wheeze")
    assert document.clauses == [0, 0, 1, 2, 3, 3, 3]
    assert document.clause_span(5) == (4, 7)


@pytest.mark.parametrize(
    ("text", "word", "labels"),
    [
        ("Allergies: none", "none", ("allergies",)),
        ("**Allergies:** none", "none", ("allergies",)),
        ("**Allergies** – none", "none", ("allergies",)),
        ("**Diagnosis** Gout", "gout", ("diagnosis",)),
        ("- **FHx:** gout", "gout", ("fhx",)),
        ("# Family history\nGout", "gout", ("family history",)),
        ("**Family history**\nGout", "gout", ("family history",)),
        ("# A\n## Plan\nRest", "rest", ("plan", "a")),
        ("# A\n## Plan\nRest\n# B\nGout", "gout", ("b",)),
        ("Plan:\n- rest\n- fluids", "fluids", ("plan",)),
        ("- Family:\n  - gout\n- asthma", "gout", ("family",)),
        ("- Family:\n  - gout\n- asthma", "asthma", ()),
        ("Plan:\n- rest\n\nShe went home", "home", ()),
        ("**Drugs**\nAspirin\n\n**Allergies:** latex", "latex", ("allergies",)),
        ("Well today. Allergies: latex. Seen alone", "latex", ("allergies",)),
        ("Well today. Allergies: latex. Seen alone", "alone", ()),
        ("PLAN:  None    HISTORY OF ILLNESS:  gout", "gout", ("history of illness",)),
        ("| Item | Note |\n|---|---|\n| Allergies | none |", "none", ("allergies", "note")),
        ("| Item | Note |\n|---|---|\n| Allergies | none |", "allergies", ("item",)),
        ("Allergies\tlatex", "latex", ("allergies",)),
        ('{"plan": {"drug": "aspirin"}}', "aspirin", ("drug", "plan")),
        ('{\n  "allergies": ["latex", "nuts"]\n}', "nuts", ("allergies",)),
        ("He said yes", "yes", ()),
    ],
)
def test_labels(text: str, word: str, labels: tuple[str, ...]) -> None:
    """A word knows the heading, prefix, key, row label and column header above it, innermost first."""
    assert _label(text, word) == labels
    document = read(text)
    assert document.label_of(document.words.index(word)) == (labels[0] if labels else "")


def test_kinds_of_segments() -> None:
    """Headings, labels, cells and running text are told apart."""
    document = read("# Notes\n**Drug:** aspirin\n| a | b |")
    kinds = [document.segment_kinds[segment] for segment in document.segments]
    assert kinds == [HEADING, LABEL, PROSE, CELL, CELL]


def test_label_and_value_share_a_sentence() -> None:
    """So that "Allergies: none" can be read as one statement; the next line is another."""
    document = read("**Allergies:** none\nSmokes: no")
    assert document.sentences == [0, 0, 1, 1]
    assert document.lines == [0, 0, 1, 1]


@pytest.mark.parametrize(
    "text",
    [
        "<think>asthma</think>gout",
        "<thinking>\nasthma\n</thinking>\n\ngout",
        "<THINK>asthma</THINK> gout",
        "<reasoning>asthma</reasoning>gout",
        "<reflection>asthma</reflection>gout",
        "asthma</think>gout",
        "<think>asthma<think>asthma</think>asthma</think>gout",
        "gout <think>asthma and so on",
        "gout <!-- asthma -->",
        "[THINK]asthma[/THINK]gout",
        "<|channel|>analysis<|message|>asthma<|end|><|channel|>final<|message|>gout",
    ],
)
def test_hidden_reasoning_gives_no_tokens(text: str) -> None:
    """Reasoning is masked: closed, unclosed, closed only, nested and in other notations."""
    document = read(text)
    assert [word for word in document.words if word in ("asthma", "gout")] == ["gout"]
    place = document.words.index("gout")
    assert document.spelled(place) == "gout"


def test_markup_is_not_text() -> None:
    """Tags are blanks, a line break is a line break, a comparison is kept."""
    document = read("<b>BP</b> <140<br>No rash")
    assert document.words == ["bp", "<", "140", "no", "rash"]
    assert document.sentences == [0, 0, 0, 1, 1]


def test_offsets_point_into_the_raw_text() -> None:
    """Original spelling is found through the offsets, also where characters were dropped."""
    document = read("  **Para\u00adcetamol** 50\u202fmg — Addison\u2019s")
    spelled = [document.spelled(index) for index in range(len(document))]
    assert spelled == ["Para\u00adcetamol", "50", "mg", "Addison"]
    assert document.quote(1, 2) == "50\u202fmg"
    assert document.token_at(document.raw.index("mg")) == 2


def test_tokenise_agrees_with_read() -> None:
    """A vocabulary entry is cut as the text is."""
    assert tokenise("Attention-deficit/hyperactivity disorder") == tuple(
        read("attention deficit hyperactivity DISORDER").words
    )


def _check(document: Document) -> None:
    """What must hold of any document."""
    total = len(document)
    lists = (document.starts, document.ends, document.kinds, document.gaps, document.sentences, document.clauses,
             document.segments, document.lines)  # fmt: skip
    assert all(len(values) == total for values in lists)
    assert all(0 <= a < b <= len(document.raw) for a, b in zip(document.starts, document.ends, strict=True))
    assert document.starts == sorted(document.starts)
    for values in (document.sentences, document.clauses, document.segments, document.lines):
        assert values == sorted(values)
    for index in range(total):
        first, stop = document.sentence_span(index)
        assert first <= index < stop
        first, stop = document.clause_span(index)
        assert first <= index < stop
        document.labels_of(index)


_PIECES = st.sampled_from(
    ["a", "B", "1", ".", ",", ":", ";", " ", "  ", "\n", "|", "-", "–", "*", "**", "#", "# ", "'", "'s", "n't", "½",
     "/", "(", ")", "[", "]", "{", "}", '"', "<", ">", "<think>", "</think>", "\t", "\u00ad", "\u0301", "\u202f",
     "\u202e", "🤰", "\x00", "\r", "\u2028", "**NAME[", "|---|", "1. ", "- ", "\ud800", "İ", "ﬁ", "²", "№"]
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(_PIECES, max_size=50).map("".join) | st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    """Hostile text raises nothing and leaves a consistent document."""
    _check(read(text))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from(["asthma", "50", "mg", "sertraline", "daily", "no", "fever"]), min_size=1, max_size=8),
    st.sampled_from([" ", "\u202f", "\u00a0", "  "]),
)
def test_white_space_changes_no_word(words: list[str], space: str) -> None:
    """The kind and amount of white space between words does not matter."""
    assert read(space.join(words)).words == words


@pytest.mark.parametrize(
    "unit",
    ["a", "|", "{", '"', "<", "<think>", "<!-- ", "**", "1,", "1/", "a.", "a'", "[**", "**A[", "- ", "\n", "a: ",
     "e\u0301", '{"a":', "didn't ", "| a | b |\n", "# a\n", "1. a\n", "a:  ", "\u200b"],
)  # fmt: skip
def test_cost_is_linear(unit: str) -> None:
    """Four times the text takes about four times as long, whatever it is made of."""

    def cost(size: int) -> float:
        text = unit * (size // len(unit))
        return cpu_seconds(lambda: read(text))

    cost(2_000)
    small, large = (min(cost(size) for _ in range(4)) for size in (20_000, 80_000))
    assert large < 14 * small + 0.3  # quadratic growth would be 16 times
