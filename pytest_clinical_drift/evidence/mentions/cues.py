"""The cue table as something to ask: what each group of phrases does, and classes of single words."""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pytest_clinical_drift.evidence.reading.text import tokenise
from pytest_clinical_drift.evidence.terms.vocabulary import CUE, load_vocabulary

NEGATED, HYPOTHETICAL, HISTORICAL, OTHER_PERSON = "negated", "hypothetical", "historical", "other_person"
PSEUDO = "pseudo"


@dataclass(frozen=True, slots=True)
class Rule:
    """What a group of phrases does; the fields of a group in cues.yaml."""

    roles: tuple[str, ...]
    direction: str = "forward"
    reach: str = "list"
    verb: bool = False


class CueTable:
    """cues.yaml, ready for use; each of its lists of words is an attribute of that name."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> frozenset[str]: ...

    def __init__(self, data: dict[str, Any]) -> None:
        self.rules: dict[str, Rule] = {}
        """By the id of the group's concept."""
        for number, group in enumerate(data["cues"]):
            roles = group["role"] if isinstance(group["role"], list) else [group["role"]]
            fields = {key: group[key] for key in ("direction", "reach", "verb") if key in group}
            self.rules[f"{CUE}:{number}"] = Rule(tuple(roles), **fields)
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


@lru_cache(maxsize=1)
def cue_table() -> CueTable:
    return CueTable(load_vocabulary("cues"))
