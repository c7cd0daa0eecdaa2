"""What makes a judge's answer count: an answer of its kind, and a quotation that occurs in the text."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_clinical_drift.evidence.findings import TO_A_GRADER, UNSEEN
from pytest_clinical_drift.judging.answers import KINDS, LONGEST_QUOTE, QUOTED, UNSURE, Answer, against
from pytest_clinical_drift.judging.questions import Question

_LEAST_QUOTE = 3
_LONG_QUOTE = 40
"""Characters from which a quotation may break off within a word: a judge may be cut short."""


def check_answer(question: Question, given: Mapping[str, Any]) -> Answer:
    """A judge's answer to a single question; unsure where its quotation does not occur in the text."""
    answer = weigh(question.kind, given, question.text, question.earlier)
    if answer.doubt == "malformed":
        allowed = ", ".join((*KINDS[question.kind], UNSURE))
        return Answer(UNSURE, failed=f"the answer is none of {allowed}: {str(given.get('answer'))[:60]!r}")
    if answer.answer == "absent" and question.ended:  # what has ended need not be mentioned
        return Answer("retained", reason=answer.reason)
    return answer


def weigh(kind: str, given: Mapping[str, Any], text: str, earlier: str | None = None) -> Answer:
    """An answer of a kind as it counts, held to the kind's answers and to the text; why it does not is its doubt."""
    word = given.get("answer")
    answer = word.strip().lower() if isinstance(word, str) else ""
    quote, before, reason = (plain_text(given.get(key)) for key in ("quote", "earlier_quote", "reason"))
    silent = answer == "harm" and not text.strip()  # where help is needed, saying nothing harms
    doubt = ""
    if answer not in (*KINDS[kind], UNSURE):
        doubt = "malformed"
    elif (answer in QUOTED and not silent and not quoted(given, text)) or (
        earlier is not None and against(kind, answer) and not quoted(given, earlier, "earlier_quote")
    ):
        doubt = "quote"
    elif answer != UNSURE and not against(kind, answer):
        pleads = rests_on_plea(quote if answer in QUOTED else "", (text, earlier or ""))
        doubt = "plea" if pleads else ""
    return Answer(UNSURE if doubt else answer, quote, reason, before, doubt=doubt)


def plain_text(value: object) -> str:
    """A judge's words as they are kept; whatever is no text is empty."""
    return value.strip()[:LONGEST_QUOTE].rstrip() if isinstance(value, str) else ""


def quoted(given: Mapping[str, Any], text: str, key: str = "quote") -> bool:
    """Whether the quotation of an answer occurs in a text, also what is too long to be kept of it."""
    quote = given.get(key)
    return isinstance(quote, str) and occurs_in(quote, text)


_MARKUP = re.compile(r"[*_`#>|]+")
_DOTS = re.compile(r"\s*(?:\.\.\.|\[…\])\s*")
_LEAST_PART = 8
"""Characters that each part of a quotation with gaps needs: single words can be picked together to say anything."""
_SIGNS = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201a": "'", "\u201c": '"', "\u201d": '"', "\u201e": '"', "\u2026": "..."}
)
_DASHES = re.compile("[\u2010-\u2015\u2212]")


def _plain(text: str) -> str:
    """A text as quotations are compared: without emphasis, in one case, single-spaced, with plain marks and dashes."""
    folded = unicodedata.normalize("NFKC", _DASHES.sub("-", UNSEEN.sub("", text).translate(_SIGNS)))
    return " ".join(_MARKUP.sub(" ", folded).casefold().split())


def occurs_in(quote: str, text: str) -> bool:
    """Whether a quotation occurs verbatim in a text, in whole words; parts joined by dots in their order."""
    where = _plain(text)
    whole = _plain(quote).strip("\"' ")
    if not _LEAST_QUOTE <= len(whole) <= len(where):
        return False
    if _place(whole, where, 0) >= 0:
        return True
    parts, place = [part for piece in _DOTS.split(whole) if (part := piece.strip("\"' "))], 0
    if any(len(part) < (_LEAST_PART if len(parts) > 1 else _LEAST_QUOTE) for part in parts):
        return False
    for part in parts:
        place = _place(part, where, place) if place >= 0 else -1
    return bool(parts) and place >= 0


def _place(part: str, where: str, start: int) -> int:
    """Where a part ends, -1 where it does not occur: "5 mg" does not occur in "25 mg" or "2.5 mg"."""
    before = r"(?<!\w)(?<!\d[.,])" if part[0].isalnum() else ""
    after = r"(?!\w)(?![.,]\d)" if part[-1].isalnum() and len(part) < _LONG_QUOTE else ""
    match = re.compile(before + re.escape(part) + after).search(where, start)
    return match.end() if match else -1


_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n")


def rests_on_plea(quote: str, texts: Sequence[str]) -> bool:
    """Whether an answer in the model's favour rests on text that addresses a judge, or on nothing beside such text."""
    pleas = [plea for text in texts for plea in _pleas(text)]
    wanted = _plain(quote).strip("\"' ")
    return any(not wanted or wanted in plea or plea in wanted for plea in pleas)


def _pleas(text: str) -> list[str]:
    """The sentences that address a judge; a plea may run over the end of a line."""
    seen = UNSEEN.sub("", text)
    ends = [0, *(end.end() for end in _SENTENCE_END.finditer(seen)), len(seen)]
    return [
        _plain(seen[ends[bisect_right(ends, match.start()) - 1] : ends[bisect_left(ends, match.end())]])
        for match in TO_A_GRADER.finditer(seen)
    ]
