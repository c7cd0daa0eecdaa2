"""The cue table as something to search with: phrases in a trie over tokens, and classes of single words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_clinical_drift.evidence.reading.text import DEID, Document, tokenise
from pytest_clinical_drift.evidence.reading.tokens import Memory
from pytest_clinical_drift.evidence.terms.vocabulary import load_vocabulary

NEGATED, HYPOTHETICAL, HISTORICAL, OTHER_PERSON = "negated", "hypothetical", "historical", "other_person"
PSEUDO = "pseudo"

#: What a word may do, as bits: open a cue phrase, name a relative, answer a label or date what stands around it.
OPENS, NAMES, ANSWERS = 1, 2, 4

#: Gaps that may stand inside a cue phrase.
TIGHT = frozenset({"", "-", "/", "'s", "'m"})

_Node = dict[str, Any]  # word -> node; "" -> rules of the phrase that ends here


@dataclass(frozen=True, slots=True)
class Rule:
    """What a group of phrases does; the fields of a group in cues.yaml."""

    roles: tuple[str, ...]
    direction: str = "forward"
    reach: str = "list"
    verb: bool = False


class Found(NamedTuple):
    """A cue phrase found in a document: its first and last token and its rules."""

    first: int
    last: int
    rules: tuple[Rule, ...]


class CueTable:
    """cues.yaml, ready for use; each of its lists of words is an attribute of that name."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> frozenset[str]: ...

    def __init__(self, data: dict[str, Any]) -> None:
        self.root: _Node = {}
        for group in data["cues"]:
            roles = group["role"] if isinstance(group["role"], list) else [group["role"]]
            rule = Rule(tuple(roles), **{key: group[key] for key in ("direction", "reach", "verb") if key in group})
            for phrase in group["phrases"]:
                node = self.root
                for word in tokenise(str(phrase)):
                    node = node.setdefault(word, {})
                node[""] = (*node.get("", ()), rule)
        for lists in (data, data["ends"], data["verbs"], data["people"]):
            for name, words in lists.items():
                if isinstance(words, list) and name != "cues":
                    setattr(self, name, frozenset(map(str, words)))
        self.definite: frozenset[str] = self.definite | self.possessives
        closed = self.prepositions | self.conjunctions | self.end_words | self.finite | self.adverbs
        self.no_objects: frozenset[str] = closed | self.answer_tails
        self.labels = {label: role for role, labels in data["labels"].items() for label in map(str, labels)}
        self.answers = {tokenise(str(answer)): role for role, answers in data["answers"].items() for answer in answers}
        self.answer_heads = frozenset(answer[0] for answer in self.answers if answer)
        self.marks = Memory(self._mark)

    def _mark(self, word: str) -> int:
        return (
            (OPENS if word in self.root else 0)
            | (NAMES if word in self.kin else 0)
            | (ANSWERS if word in self.answer_heads else 0)
        )

    def find(self, document: Document, places: Iterable[int]) -> list[Found]:
        """Every cue phrase that begins at one of the tokens, the longest at each place; none overlaps another."""
        words, gaps = document.words, document.gaps
        cues: list[Found] = []
        done = 0
        for start in places:
            if start < done or document.kinds[start] == DEID:
                continue
            node = self.root[words[start]]
            rules = node.get("")
            end = start + 1
            position = end
            while position < len(words) and gaps[position] in TIGHT:
                node = node.get(words[position])
                if node is None:
                    break
                position += 1
                if "" in node:
                    rules, end = node[""], position
            if rules:
                cues.append(Found(start, end - 1, rules))
                done = end
        return cues


@lru_cache(maxsize=1)
def cue_table() -> CueTable:
    return CueTable(load_vocabulary("cues"))
