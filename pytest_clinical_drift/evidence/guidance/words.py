"""The vocabulary of advice (data/advice.yaml) as one phrase table, and a text spelled out for it.

Contractions carry the mood of advice ("I'd skip it", "you'll need"), so the words are taken from the document with
"'d", "'ll" and "is" written out; `origin` leads back to the document's tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from pytest_clinical_drift.evidence.terms.vocabulary import load_data
from pytest_clinical_drift.evidence.text import Document, read

_WRITTEN_OUT = {"'d": "would", "'ll": "will", "'re": "are", "'ve": "have", "'m": "am"}
_PRONOUNS = frozenset(
    ["i", "you", "he", "she", "it", "we", "they", "that", "there", "what", "who", "here", "how", "where", "this"]
)
# What a gap between two words does, as bits of `View.marks`.
COMMA, COLON, HARD, OPENS = 1, 2, 4, 8
_PHRASE_GAPS = frozenset(("", "-", "'s", "'d", "'ll", "'re", "'ve", "'m", '"', "'", "/", "&"))
_MOST_SKIPPED = 2
_PLAIN_CATEGORIES = (
    "benefits", "temporary", "bounded", "lasting", "reasons", "new_information", "clinicians", "clinician_acts",
    "pressure", "told", "concessions", "permissions", "elapsed",
)  # fmt: skip

_VALUED_CATEGORIES = (
    "frames", "noun_frames", "subject_acts", "predicates", "adjectives", "conditions", "urgency", "food_timing",
    "times_of_day",
)  # fmt: skip


class Hit(NamedTuple):
    """A phrase found in a view."""

    first: int
    end: int
    """One past the last word."""
    category: str
    value: str
    effect: str


@lru_cache(maxsize=4096)
def _marks(gap: str) -> int:
    """Bits of a gap: a comma, a colon, the end of a clause, and whether a clause may open behind it."""
    if not gap:
        return 0
    bits = COMMA if "," in gap else 0
    bits |= COLON if ":" in gap else 0
    bits |= HARD if any(mark in gap for mark in ";–.?!") else 0
    return bits | (OPENS if bits or any(mark in gap for mark in '()\n"') else 0)


class View:
    """A document's words with contractions written out."""

    __slots__ = ("document", "gaps", "hits", "marks", "origin", "words")

    def __init__(self, document: Document) -> None:
        self.document = document
        self.words: list[str] = []
        self.origin: list[int] = []
        """Token of the document that each word comes from."""
        self.gaps: list[str] = []
        self.marks: list[int] = []
        """What the gap before each word does: COMMA, COLON, HARD, OPENS."""
        self.hits: list[Hit] = []
        words, origin, gaps = self.words, self.origin, self.gaps
        previous = ""
        for index, word in enumerate(document.words):
            gap = document.gaps[index]
            if gap[:1] == "'":
                extra = _WRITTEN_OUT.get(gap)
                if extra is None and gap[:2] == "'s" and previous in _PRONOUNS:
                    extra = "is"
                if extra is None and gap == "'s" and previous == "let":
                    extra = "us"
                if extra is not None:
                    words.append(extra)
                    origin.append(index - 1)
                    gaps.append("")
                    gap = gap[2:] if gap[:2] == "'s" else ""
            words.append(word)
            origin.append(index)
            gaps.append(gap)
            previous = word
        self.marks = [_marks(gap) for gap in gaps]


class _Node:
    __slots__ = ("entries", "next")

    def __init__(self) -> None:
        self.next: dict[str, _Node] = {}
        self.entries: list[tuple[str, str, str]] = []


class PhraseTable:
    """A trie of phrases; adverbs may stand between the words of one."""

    def __init__(self, adverbs: frozenset[str]) -> None:
        self._root = _Node()
        self._adverbs = adverbs

    def add(self, phrase: str, category: str, value: str, effect: str = "") -> None:
        """Enter a phrase under a category."""
        node = self._root
        for word in spelled_out(phrase):
            node = node.next.setdefault(word, _Node())
        entry = (category, value, effect)
        if entry not in node.entries:
            node.entries.append(entry)

    def find(self, view: View) -> list[Hit]:
        """All hits: of each category the longest from every word."""
        root = self._root.next
        words, gaps = view.words, view.gaps
        adverbs = self._adverbs
        total = len(words)
        hits: list[Hit] = []
        for first in range(total):
            node = root.get(words[first])
            if node is None:
                continue
            if not node.next:
                for category, value, effect in node.entries:
                    hits.append(Hit(first, first + 1, category, value, effect))
                continue
            best: dict[str, tuple[int, str, str]] = {}
            at = first + 1
            skipped = 0
            while True:
                for category, value, effect in node.entries:
                    best[category] = (at, value, effect)
                if at >= total or gaps[at] not in _PHRASE_GAPS:
                    break
                following = node.next.get(words[at])
                if following is None:
                    if words[at] not in adverbs or skipped == _MOST_SKIPPED or not node.next:
                        break
                    skipped += 1
                    at += 1
                    # An adverb at the end belongs to no phrase: only a longer one may follow.
                    if at >= total or gaps[at] not in _PHRASE_GAPS or words[at] not in node.next:
                        break
                    following = node.next[words[at]]
                node = following
                at += 1
            for category, (end, value, effect) in best.items():
                hits.append(Hit(first, end, category, value, effect))
        return hits


@lru_cache(maxsize=16384)
def spelled_out(phrase: str) -> tuple[str, ...]:
    """The words of a short phrase as a view gives them."""
    # A word behind it, since a contraction shows in what follows ("i'd" alone would lose its end).
    return tuple(View(read(f"{phrase} x")).words[:-1])


@dataclass(frozen=True, slots=True, eq=False)
class AdviceWords:
    """Everything data/advice.yaml says, ready for look-up."""

    table: PhraseTable
    splits: dict[str, tuple[tuple[tuple[str, ...], str, str], ...]]
    """Verb form: the (tail words, action, effect) that complete it."""
    adverbs: frozenset[str]
    stop_words: frozenset[str]
    base_forms: frozenset[str]
    """First words that may open an instruction."""
    gerunds: frozenset[str]
    people: frozenset[str]
    participles: frozenset[str]
    topics: dict[str, str]
    """Word to the first word of its group of equivalents."""
    same_as: dict[str, str]
    """Id of an everyday thing to the id of the drug class it is."""
    lists: dict[str, frozenset[str]]
    on_your_own: tuple[str, ...]


def inflect(verb: str, forms: dict[str, list[str]]) -> dict[str, str]:
    """Every form of a verb with its kind: base, gerund, participle, other."""
    kinds = {verb: "base"}
    given = forms.get(verb)
    if given is not None:
        for form in given:
            kind = "gerund" if form.endswith("ing") else "other" if form.endswith("s") else "participle"
            kinds.setdefault(form, kind)
        return kinds
    stem = verb[:-1] if verb.endswith("e") and not verb.endswith("ee") else verb
    kinds[stem + "ing"] = "gerund"
    past = verb[:-1] + "ied" if verb.endswith("y") and verb[-2:-1] not in "aeiou" else stem + "ed"
    kinds[past] = "participle"
    kinds[verb + ("es" if verb.endswith(("s", "sh", "ch", "x")) else "s")] = "other"
    return kinds


@lru_cache(maxsize=1)
def advice_words() -> AdviceWords:
    """The vocabulary of advice, read once."""
    data: dict[str, Any] = load_data("advice")
    adverbs = frozenset(data["adverbs"])
    table = PhraseTable(adverbs)
    forms: dict[str, list[str]] = data["forms"]
    kinds: dict[str, set[str]] = {"base": set(), "gerund": set(), "participle": set(), "other": set()}
    splits: dict[str, list[tuple[tuple[str, ...], str, str]]] = {}
    for entry in data["split_verbs"]:
        tails = [spelled_out(tail) for tail in entry["tail"]]
        for form, kind in inflect(entry["verb"], forms).items():
            kinds[kind].add(form)
            table.add(form, "verb", "practise", "act")
            splits.setdefault(form, []).extend((tail, entry["action"], entry["effect"]) for tail in tails)
    for entry in data["verbs"]:
        for phrase in entry["words"]:
            head, _, rest = phrase.partition(" ")
            for form, kind in inflect(head, forms).items():
                kinds[kind].add(form)
                table.add(f"{form} {rest}".strip(), "verb", entry["action"], entry["effect"])
    for category in _VALUED_CATEGORIES:
        for value, phrases in data[category].items():
            for phrase in phrases:
                table.add(phrase, category, value)
    for category in _PLAIN_CATEGORIES:
        for phrase in data[category]:
            table.add(phrase, category, phrase)
    for category in ("services", "foods", "activities", "tests", "treatments"):
        for value, phrases in data[category].items():
            for phrase in phrases:
                table.add(phrase, "thing", value, category)
    topics = {word: group[0] for group in data["same_topic"] for word in group}
    return AdviceWords(
        table,
        {form: tuple(sorted(tails, key=lambda tail: -len(tail[0]))) for form, tails in splits.items()},
        adverbs,
        frozenset(data["stop_words"]),
        frozenset(kinds["base"]),
        frozenset(kinds["gerund"]),
        frozenset(data["people"]),
        frozenset(kinds["participle"]),
        topics,
        dict(data["same_as"]),
        {
            **{name: frozenset(words) for name, words in data["lists"].items()},
            **{name: frozenset(data[name]) for name in ("generic", "vague_classes")},
        },
        tuple(data["on_your_own"]),
    )


@lru_cache(maxsize=64)
def listed(name: str) -> frozenset[str]:
    """One of the small lists of the vocabulary."""
    return advice_words().lists[name]


def view_of(document: Document) -> View:
    """The document's view with its hits, made once per document."""
    view = document.cache.get("advice view")
    if not isinstance(view, View):
        view = View(document)
        view.hits = advice_words().table.find(view)
        document.cache["advice view"] = view
    return view
