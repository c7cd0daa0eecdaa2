"""Words, kinds of tokens, the gaps between them and their places in the raw text."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.reading.text import DATE, NUMBER, RATIO, SYMBOL, TIME, WORD, read, tokenise


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
    document = read("BP 120/80, inhaler 100/6, 14/02/2022, 2022-02-14, 08:30, 5 % ok")
    assert document.kinds == [WORD, RATIO, WORD, RATIO, DATE, DATE, TIME, NUMBER, SYMBOL, WORD]


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
