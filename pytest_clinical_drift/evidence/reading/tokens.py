"""Cutting a text into normalised tokens and the gaps between them; the innermost loop of all scoring."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple, TypeVar

T = TypeVar("T")

ENTRIES = 50_000  # entries a table may remember; beyond it, it begins anew
LONGEST = 80  # characters of a key that is worth remembering


class Memory(dict[str, T]):
    """A dictionary that fills itself, so that `map` over its `__getitem__` stays out of the interpreter's loop."""

    def __init__(self, function: Callable[[str], T]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, key: str) -> T:
        value = self._function(key)
        if len(key) <= LONGEST:
            if len(self) >= ENTRIES:
                self.clear()
            self[key] = value
        return value


WORD, NUMBER, RATIO, DATE, TIME, SYMBOL = range(6)
#: Kind of a raw token that is more than one token, or whose reading depends on its neighbours.
COMPOUND = -1

# What a gap does, as bits.
DOT = 1
STOP = 2
TIGHT_DOT = 4
CLAUSE = 8
COLON = 16

_FRACTIONS = "½¼¾⅓⅔⅛⅜⅝⅞⅕⅖⅗⅘⅙⅚"
# Group 2 is the token. Marks that open none are taken together with the token after them, which spares the engine
# trying every branch on each; few at a time, so that a long run of them stays linear. Every branch opens with one
# character or set: the engine skips the others at once. What a match is follows from its characters.
TOKEN = re.compile(
    r"([ ,.;:\n]{0,3}+)"
    r"([A-Za-z][A-Za-z]++(?![0-9'\u00aa-\uffff])"  # plain word, the common case
    rf"|[0-9][0-9]{{0,3}}+(?![.,:/\-0-9{_FRACTIONS}\u00a0\u2009\u202fsnrt])"  # plain number
    r"|\d{4}-\d{2}-\d{2}(?!\d)|\d\d?[/.]\d{1,2}[/.](?:19|20)\d\d(?!\d)|\d\d?/\d{1,2}/\d\d(?![\d/])"  # date
    r"|\d\d?:[0-5]\d(?![\d:])"  # time
    r"|\d\d*+(?:\.\d++)?(?:/\d++(?:\.\d++)?)++|\d\d*+:\d{3,}"  # ratio
    r"|\d\d{0,2}(?:[,\u00a0\u2009\u202f]\d{3})++(?!\d)(?:\.\d++)?"  # thousands
    rf"|\d\d*+(?:[{_FRACTIONS}]|\.\d++|,\d{{1,2}}(?![\d,])|(?:st|nd|rd|th)\b)?|[{_FRACTIONS}]"  # other number
    r"|[^\W\d_]\.(?:[^\W\d_]\.)+(?:[^\W\d_](?![^\W_]))?"  # dotted abbreviation
    r"|[^\W\d_]/[^\W\d_](?:/[^\W\d_])?(?:'e?d)?(?![^\W_])|[wW]/out\b"  # slashed abbreviation
    r"|[^\W\d_][^\W\d_]*+(?:(?!\d++[.,]\d)[^\W_]++)?(?:'[^\W\d_]++)?"  # any other word
    r"|[+\-]ve\b|\([+\-]\)|\+/-|[%‰°+±=<>≥≤~≈×↑↓→←⇒↗↘⬆⬇➡↔&@∅✓✔✗✘❌✅⚠])"  # symbol
)

_CONTRACTED = {"can't": "can", "won't": "will", "shan't": "shall", "ain't": "is"}
_STEMS = ["did", "does", "is", "was", "has", "had", "have", "are", "were", "could", "would"]
CONTRACTED = {"cannot": 3, "cant": 3, "dont": 2, "wont": 2, **{f"{verb}nt": len(verb) for verb in _STEMS}}
"""Words of letters alone that are two words, and the length of the first: "cannot", "didnt"."""
_CLITICS = frozenset({"s", "m", "ve", "re", "ll"})
_PRONOUNS = frozenset({"he", "she", "they", "it", "i", "we", "you"})


@lru_cache(maxsize=ENTRIES)
def compatible(char: str) -> str:
    """The compatibility form of a character where that is one character, else itself."""
    for mark, variants in (("'", "\u2018\u2019\u201b\u02bc\u00b4\u2032"), ('"', "\u201c\u201d\u201e\u00ab\u00bb")):
        if char in variants:
            return mark
    if char in "\u2010\u2011\u2012\u2212\ufe63\uff0d\u2043":
        return "-"
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    form = unicodedata.normalize("NFKC", char)
    return form if len(form) == 1 and not (char.isspace() or char in "ºª" or char.isdigit()) else char


def _normalise(token: str) -> tuple[str, int]:
    """Normalised text and kind of a raw token."""
    if token.isascii() and token.isalpha():
        word = token.lower()
        return word, COMPOUND if word in CONTRACTED else WORD
    initial = token[0]
    if initial in _FRACTIONS or initial.isdecimal():
        return _read_number(token)
    if initial.isalpha():
        if "." in token:
            return fold(token.replace(".", "").lower()), COMPOUND
        lowered = fold(token.lower())
        if "'" in token or "/" in token:
            return lowered, COMPOUND
        return lowered, WORD
    return token.lower(), WORD if token.endswith(("ve", ")")) else SYMBOL


def _read_number(token: str) -> tuple[str, int]:
    """Normalised text and kind of a token that opens with a digit or a fraction sign."""
    last = token[-1]
    if last in _FRACTIONS:
        whole = token[:-1]
        units = int(whole[-15:]) if whole.isdecimal() else 0
        return f"{units + unicodedata.numeric(last):.4g}", NUMBER
    if last.isalpha():
        return token.lower(), WORD
    if "/" in token:
        return token, DATE if "." not in token and date_parts(token) else RATIO  # "12.5/50" is a strength
    if ":" in token:
        return token, TIME if len(token) <= 5 and len(token.rpartition(":")[2]) == 2 else RATIO
    if "-" in token or token.count(".") == 2:
        return token, DATE
    head, comma, tail = token.rpartition(",")
    if comma and len(tail) < 3 and "," not in head:
        return f"{head}.{tail}", NUMBER  # decimal comma
    return re.sub(r"[,\s]", "", token), NUMBER


def date_parts(token: str) -> tuple[int, int, int] | None:
    """Year, month and day of "14/02/2022" or "2022-02-14"; None for the strengths "300/300/50" and "10/5/5"."""
    written = [part for part in re.split(r"[/.-]", token) if part.isdecimal() and len(part) <= 4]
    if len(written) != 3 or (len(written[0]) < 4 and len(written[2]) < 2):
        return None
    parts = [*map(int, written)]
    if parts[0] < 1000:
        day, month, year = parts if parts[1] <= 12 else (parts[1], parts[0], parts[2])
        century = 2000 if year < 70 else 1900
        parts = [year if year > 99 else year + century, month, day]
    return (parts[0], parts[1], parts[2]) if parts[1] in range(1, 13) and parts[2] in range(1, 32) else None


def split_compound(token: str, word: str, start: int, after_number: bool) -> list[tuple[str, int, int]]:
    """Words and spans of a compound token: contraction, possessive, dotted or slashed abbreviation, units."""
    end = start + len(token)
    cut = CONTRACTED.get(word)
    if cut:
        return [(word[:cut], start, start + cut), ("not", start + cut, end)]
    if "'" not in token:
        # "108 g/L" holds two units, "h/o" is one word.
        if len(token) == 3 and "/" in token and after_number and word[0] in "gulmkt":
            return [(word[0], start, start + 1), (word[2:], end - 1, end)]
        return [(_SLASHED.get(word, word), start, end)]
    stem, _, tail = word.partition("'")
    if tail == "t" and stem.endswith("n") and len(stem) > 1:
        return [(_CONTRACTED.get(word, stem[:-1]), start, end - 3), ("not", end - 3, end)]
    if tail in _CLITICS or (tail == "d" and stem in _PRONOUNS):
        return [(stem, start, start + token.index("'"))]
    return [(word, start, end)]


# Shorthand of notes for words that stand inside names and statements.
_SLASHED = {"w/o": "without", "d/o": "disorder", "c/i": "contraindicated"}


@lru_cache(maxsize=4096)
def fold(word: str) -> str:
    """A word without accents and in compatibility form; Greek and other scripts stay."""
    if word.isascii() or len(word) > 200:
        return word
    decomposed = unicodedata.normalize("NFKD", word)
    return "".join(char for char in decomposed if not unicodedata.combining(char)).lower()


_EMPHASIS = re.compile(r"[\s*_`#\x00-\x1f]+")
_FULL_STOP = re.compile(r"[.…][)\]\"'*_»]*+\s")
_FINAL_MARK = re.compile(r"[!?][)\]\"'*_»!?]*+\s")
_DASH = re.compile(r"\s[-–—]+(?:\s|$)|[–—]\s|—|--")


def _classify_gap(gap: str) -> tuple[str, int]:
    """A gap without white space and emphasis, and what it does."""
    gap = gap[:200]
    body = _EMPHASIS.sub("", gap)
    effect = 0
    if "." in body or "…" in body:
        effect |= DOT if _FULL_STOP.search(gap) else TIGHT_DOT
    if ("!" in body or "?" in body) and _FINAL_MARK.search(gap) and gap[-1].isspace():
        effect |= STOP
    if "-" in body or "–" in body or "—" in body:
        if _DASH.search(gap):
            body = re.sub(r"[-–—]+", "–", body)
            effect |= CLAUSE
        else:
            body = body.replace("–", "-")
    if ":" in body and "//" not in body:
        effect |= COLON
    if ";" in body:
        effect |= CLAUSE
    return body, effect


_WEIGHED = re.compile(r"\s?(?:mg|mcg|µg|micrograms?)\b", re.IGNORECASE)
"""Behind the doses of a day, "20/10/10 mg", which would be a date."""
_READ = Memory(_normalise)
_GAPS = Memory(_classify_gap)


class Token(NamedTuple):
    """A token as `text` describes them, with what the gap before it does."""

    word: str
    kind: int
    gap: str
    effect: int
    start: int
    end: int


def cut(text: str, start: int, stop: int) -> Iterator[Token]:
    """The tokens of a stretch of text; contractions, possessives and slashed units are taken apart."""
    done = start
    number_ends = -2  # "U/O" at the very start stands behind no number
    # a dropped 's shows in the gap that follows; the full stop of "b.d." may end a sentence as well
    tail = ""
    dot = 0
    for found in TOKEN.finditer(text, start, stop):
        token = found[2]
        (first, last) = found.span(2)
        gap, effect = _GAPS[text[done:first]]
        word, kind = _READ[token]
        gap = tail + gap
        effect = effect | dot
        tail = ""
        dot = 0
        done = last
        if kind == DATE and _WEIGHED.match(text, last):
            kind = RATIO
        if kind != COMPOUND:
            yield Token(word, kind, gap, effect, first, last)
            number_ends = last if kind == NUMBER else -2
            continue
        parts = split_compound(token, word, first, number_ends >= first - 1)
        for part, begin, end in parts:
            yield Token(part, WORD, gap, effect, begin, end)
            gap = "/" if "/" in token else ""
            effect = 0
        tail = token[parts[-1][2] - first :]
        dot = DOT if token[-1] == "." else 0
        number_ends = -2
