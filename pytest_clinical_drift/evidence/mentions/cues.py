"""The cue table as something to search with: phrases in a trie over tokens, and classes of single words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from pytest_clinical_drift.evidence.reading.text import DEID, Document, tokenise
from pytest_clinical_drift.evidence.reading.tokens import Memory
from pytest_clinical_drift.evidence.terms.vocabulary import load_data

NEGATED, HYPOTHETICAL, HISTORICAL, OTHER_PERSON = "negated", "hypothetical", "historical", "other_person"
PSEUDO = "pseudo"

#: What a word may do, as bits: open a cue phrase, name a relative, answer a label or date what stands around it.
OPENS, NAMES, ANSWERS = 1, 2, 4

#: Gaps that may stand inside a cue phrase.
TIGHT = frozenset({"", "-", "/", "'s"})

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
    """cues.yaml, ready for use."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.root: _Node = {}
        for group in data["cues"]:
            roles = group["role"] if isinstance(group["role"], list) else [group["role"]]
            rule = Rule(
                tuple(roles), group.get("direction", "forward"), group.get("reach", "list"), group.get("verb", False)
            )
            for phrase in group["phrases"]:
                self._add(tokenise(str(phrase)), rule)
        ends, verbs, people = data["ends"], data["verbs"], data["people"]
        self.end_words = _words(ends["words"])
        self.finite = _words(ends["verbs"])
        self.clause_starters = _words(ends["starters"])
        self.quality_starters = _words(ends["qualities"])
        self.prepositions = _words(ends["prepositions"])
        self.conjunctions = _words(ends["conjunctions"])
        self.be = _words(ends["be"])
        self.plural_be = _words(ends["plural_be"])
        self.adverbs = _words(verbs["adverbs"])
        self.denying = _words(verbs["denying"])
        self.neutral = _words(verbs["neutral"])
        self.transparent = _words(data["transparent"])
        self.presupposing = _words(data["presupposing"])
        self.clause_words = _words(ends["clause_words"])
        self.offers = _words(data["offers"])
        self.occasions = _words(data["occasions"])
        self.clause_subjects = _words(verbs["clause_subjects"])
        self.believing = _words(verbs["believing"])
        self.functions = _words(data["functions"])
        self.absorbing = _words(data["absorbing"])
        self.absorbing_verbs = _words(data["absorbing_verbs"])
        self.absorbing_links = _words(data["absorbing_links"])
        self.treatments = _words(data["treatments"])
        self.possessives = _words(data["possessives"])
        self.definite = self.possessives | _words(data["definite"])
        self.not_yet = _words(data["not_yet"])
        self.kin = _words(people["kin"])
        self.offspring = _words(people["offspring"])
        self.women = _words(people["women"])
        self.men = _words(people["men"])
        self.returns = _words(people["returns"])
        self.kin_modifiers = _words(people["modifiers"])
        self.reporting = _words(people["reporting"])
        self.object_of = _words(people["object_of"])
        self.located_in = _words(people["located_in"])
        self.patient_again = _words(people["patient_again"])
        self.labels = {label: role for role, labels in data["labels"].items() for label in map(str, labels)}
        self.answers = {tokenise(str(answer)): role for role, answers in data["answers"].items() for answer in answers}
        self.answer_heads = frozenset(answer[0] for answer in self.answers if answer)
        self.answer_tails = _words(data["answer_tails"])
        self.marks = Memory(self._mark)

    def _add(self, words: tuple[str, ...], rule: Rule) -> None:
        node = self.root
        for word in words:
            node = node.setdefault(word, {})
        node[""] = (*node.get("", ()), rule)

    def _mark(self, word: str) -> int:
        return (
            (OPENS if word in self.root else 0)
            | (NAMES if word in self.kin else 0)
            | (ANSWERS if word in self.answer_heads or word == "in" else 0)
        )

    def find(self, document: Document, places: Iterable[int]) -> list[Found]:
        """Every cue phrase that begins at one of the tokens, the longest at each place; none overlaps another."""
        words, gaps = document.words, document.gaps
        root = self.root
        total = len(words)
        found: list[Found] = []
        done = 0
        for start in places:
            if start < done or document.kinds[start] == DEID:
                continue
            node = root[words[start]]
            rules = node.get("")
            end = start + 1
            position = end
            while position < total and gaps[position] in TIGHT:
                node = node.get(words[position])
                if node is None:
                    break
                position += 1
                if "" in node:
                    rules, end = node[""], position
            if rules:
                found.append(Found(start, end - 1, rules))
                done = end
        return found


def _words(values: list[Any]) -> frozenset[str]:
    return frozenset(str(value) for value in values)


@lru_cache(maxsize=1)
def cue_table() -> CueTable:
    """The bundled table, read once."""
    return CueTable(load_data("cues"))
