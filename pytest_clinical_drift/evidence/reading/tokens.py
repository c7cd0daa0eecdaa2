"""Cutting a text into normalised tokens and the gaps between them; the innermost loop of all scoring."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate, compress
from operator import add
from typing import Any, NamedTuple, TypeVar

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
DOT, STOP, TIGHT_DOT, CLAUSE, COLON = 1, 2, 4, 8, 16

_FRACTIONS = "½¼¾⅓⅔⅛⅜⅝⅞⅕⅖⅗⅘⅙⅚"
# Two groups: `split` then gives other text, marks, token, other text, marks, token … in one pass. Marks that open no
# token are taken together with the token after them, which spares the engine trying every branch on each; few at a
# time, so that a long run of them stays linear. Every branch opens with one character or set: the engine skips the
# others at once. What a match is follows from its characters.
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
_BARE_CONTRACTED = {
    "cannot": 3, "cant": 3, "didnt": 3, "doesnt": 4, "dont": 2, "isnt": 2, "wasnt": 3, "hasnt": 3,
    "hadnt": 3, "havent": 4, "arent": 3, "werent": 4, "wont": 2, "couldnt": 5, "wouldnt": 5,
}  # fmt: skip
CONTRACTED = frozenset(_BARE_CONTRACTED)
"""Words of letters alone that are two words: "cannot", "didnt"."""
_CLITICS = frozenset({"s", "m", "ve", "re", "ll"})
_PRONOUNS = frozenset({"he", "she", "they", "it", "i", "we", "you"})


class Compatibility(dict[int, int]):
    """Code point to its one-character compatibility form, filled as characters are met."""

    def __missing__(self, code: int) -> int:
        folded = code
        char = chr(code)
        if char in "\u2018\u2019\u201b\u02bc\u00b4\u2032":
            folded = ord("'")
        elif char in "\u201c\u201d\u201e\u00ab\u00bb":
            folded = ord('"')
        elif char in "\u2010\u2011\u2012\u2212\ufe63\uff0d\u2043":
            folded = ord("-")
        elif char.isdecimal():
            folded = ord(str(unicodedata.decimal(char)))
        elif not char.isspace() and char not in "ºª" and not char.isdigit():
            form = unicodedata.normalize("NFKC", char)
            folded = ord(form) if len(form) == 1 else code
        if len(self) < ENTRIES:
            self[code] = folded
        return folded


def _normalise(token: str) -> tuple[str, int]:
    """Normalised text and kind of a raw token."""
    if token.isascii() and token.isalpha():
        word = token.lower()
        return word, COMPOUND if word in _BARE_CONTRACTED else WORD
    initial = token[0]
    if initial in _FRACTIONS or initial.isdigit():
        return _read_number(token)
    if initial.isalpha():
        if "." in token:
            return fold(token.replace(".", "").lower()), COMPOUND
        lowered = fold(token.lower())
        if "'" in token or "/" in token:
            return lowered, COMPOUND
        return lowered, WORD
    return token, WORD if token.endswith(("ve", ")")) else SYMBOL


def _read_number(token: str) -> tuple[str, int]:
    """Normalised text and kind of a token that opens with a digit or a fraction sign."""
    last = token[-1]
    if last in _FRACTIONS:
        whole = token[:-1]
        return f"{(int(whole[-15:]) if whole.isdecimal() else 0) + unicodedata.numeric(last):.4g}", NUMBER
    if last.isalpha():
        return token.lower(), WORD
    if "/" in token:
        return token, DATE if _is_date(token) else RATIO
    if ":" in token:
        return token, TIME if len(token) <= 5 and len(token.rpartition(":")[2]) == 2 else RATIO
    if "-" in token or token.count(".") == 2:
        return token, DATE
    head, comma, tail = token.rpartition(",")
    if comma and len(tail) < 3 and "," not in head:
        return f"{head}.{tail}", NUMBER  # decimal comma
    return re.sub(r"[,\s]", "", token), NUMBER


def _is_date(token: str) -> bool:
    """ "14/02/2022", but not the strength "300/300/50"."""
    parts = token.split("/")
    if len(parts) != 3 or len(token) > 10 or not all(part.isdecimal() for part in parts):
        return False
    first, second, third = map(int, parts)
    return (max(second, min(first, third)) <= 31 and min(first, second) <= 12) or (first > 1000 and second <= 12)


def split_compound(token: str, word: str, start: int, after_number: bool) -> list[tuple[str, int, int]]:
    """Words and spans of a compound token: contraction, possessive, dotted or slashed abbreviation, units."""
    end = start + len(token)
    cut = _BARE_CONTRACTED.get(word)
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


#: Raw token to normalised word, raw token to kind, raw gap to its body, raw gap to its effect.
WORDS = Memory(lambda token: _normalise(token)[0])
KINDS = Memory(lambda token: _normalise(token)[1])
BODIES = Memory(lambda gap: _classify_gap(gap)[0])
EFFECTS = Memory(lambda gap: _classify_gap(gap)[1])


class Tokens(NamedTuple):
    """The parallel lists of a document's tokens, as `text` describes them."""

    words: list[str]
    kinds: list[int]
    gaps: list[str]
    starts: list[int]
    ends: list[int]


def cut(text: str) -> tuple[Tokens, dict[int, int]]:
    """The tokens of a text, and token index -> effect of the gap before it."""
    pieces = TOKEN.split(text)
    tokens = pieces[2::3]
    if not tokens:
        return Tokens([], [], [], [], []), {}
    gaps = pieces[1::3]
    offsets = list(accumulate(map(len, pieces)))
    starts, ends = offsets[1::3], offsets[2::3]
    others = pieces[:-1:3]
    if any(others):
        gaps = list(map(add, others, gaps))
    # `map` over the tables and `compress` keep these passes out of the interpreter's loop.
    kinds = list(map(KINDS.__getitem__, tokens))
    words = list(map(WORDS.__getitem__, tokens))
    bodies = list(map(BODIES.__getitem__, gaps))
    every_effect = list(map(EFFECTS.__getitem__, gaps))
    effects = {index: every_effect[index] for index in compress(range(len(gaps)), every_effect)}
    whole = Tokens(words, kinds, bodies, starts, ends)
    return _expand(whole, tokens, effects) if COMPOUND in kinds else (whole, effects)


def _expand(old: Tokens, tokens: list[str], effects: dict[int, int]) -> tuple[Tokens, dict[int, int]]:
    """Rebuild the lists with contractions, possessives and slashed units taken apart."""
    lists = Tokens([], [], [], [], [])
    words, kinds, gaps, starts, ends = lists
    compounds = list(compress(range(len(tokens)), map(COMPOUND.__eq__, old.kinds)))
    added: list[int] = []  # tokens more than before, behind each compound
    done = 0
    tail = ""  # a dropped 's, shown in the gap that follows
    for index in compounds:
        _extend(lists, old, done, index)
        gap = old.gaps[index]
        if tail:
            if done < index:
                gaps[done - index] = tail + gaps[done - index]
            else:
                gap = tail + gap
        token, start = tokens[index], old.starts[index]
        after_number = bool(kinds) and kinds[-1] == NUMBER and ends[-1] >= start - 1
        for word, first, last in split_compound(token, old.words[index], start, after_number):
            words.append(word)
            kinds.append(WORD)
            gaps.append(gap)
            starts.append(first)
            ends.append(last)
            gap = "/" if "/" in token else ""
        tail = token[ends[-1] - start :]
        if token[-1] == "." and index + 1 < len(tokens):
            # The full stop of "b.d." belongs to the token, yet may end a sentence as well.
            effects[index + 1] = effects.get(index + 1, 0) | DOT
        done = index + 1
        added.append(len(words) - done)
    _extend(lists, old, done, len(tokens))
    if tail and done < len(tokens):
        gaps[done - len(tokens)] = tail + gaps[done - len(tokens)]
    added.insert(0, 0)
    return lists, {key + added[bisect_left(compounds, key)]: effects[key] for key in sorted(effects)}


def _extend(lists: tuple[list[Any], ...], more: tuple[list[Any], ...], first: int, stop: int) -> None:
    for new, whole in zip(lists, more, strict=True):
        new += whole[first:stop]
