"""How the words that express a fact are meant: denied, only wished for, or about someone other than the patient."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from pytest_clinical_drift.evidence.context import CueSpan, context_at
from pytest_clinical_drift.evidence.contexts.mentions import Reading, reading
from pytest_clinical_drift.evidence.contexts.owners import is_of_another
from pytest_clinical_drift.evidence.facts.alternatives import PEOPLE
from pytest_clinical_drift.evidence.facts.denials import never_there, straight_denial
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.kinship import is_between, is_joint, misplaced
from pytest_clinical_drift.evidence.facts.outcome import ABSENT, CONTRADICTED
from pytest_clinical_drift.evidence.facts.places import is_home
from pytest_clinical_drift.evidence.reading.wording import DENIALS
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import word_set
from pytest_clinical_drift.evidence.text import Document

_KIN = word_set("social", "kin")
# Words of a fact that is itself a plan.
_AHEAD = word_set("statement", "ahead")
# Clusters for an attitude towards something that need not be there.
_TOWARDS = frozenset(f"word:{name}" for name in word_set("social", "towards"))


def meaning(
    document: Document, fact: Fact, full: dict[int, int], vague: dict[int, int], ends: dict[int, int]
) -> tuple[str, str] | None:
    """Whether what is expressed is denied, hypothetical or about someone else; None: plainly stated of the patient."""
    people = {p for p, word in enumerate(fact.words) if word.ids & PEOPLE}
    # "cares for her disabled brother": what the fact says of the person is not the patient's.
    theirs = {p for p in range(1, len(fact.words) - 1) if p + 1 in people and p not in people}
    apart = people | theirs
    tokens = [token for part, token in {**vague, **full}.items() if part not in apart and part < len(fact.words)]
    only_people = not tokens and any(part not in apart for part in range(len(fact.words)))
    tokens = tokens or [token for part, token in {**vague, **full}.items()]
    contexts = [_context(document, token, ends) for token in tokens]
    start = min([*full.values(), *vague.values()])
    if document.words[max(0, start - 1)] in ("has", "had") and is_of_another(document, start):
        return ABSENT, "about another person"
    bereaved = any("word:bereavement" in word.ids for word in fact.words)
    opening = fact.words[0].ids if fact.words else frozenset()
    about_person = (
        (bool(opening & PEOPLE) and len(fact.words) + len(fact.numbers) > 1)
        or "word:helper at home" in opening
        or any(gap.startswith("'s") for gap in fact.document.gaps)
        or (is_between(fact) and not people.isdisjoint((*full, *vague)))
    )
    if about_person or any(is_joint(document, token) for token in tokens):
        contexts = [replace(c, other_person=False) for c in contexts]
    elif (
        people
        and not bereaved
        and any(_of_person(document, token) or is_of_another(document, token) for token in tokens)
        and not (is_home(fact) and _at_their_home(document, tokens))
    ):
        return ABSENT, "about another person"
    kin = _KIN - {"family"} if people else _KIN  # "Family: married, two children"
    if not about_person and any(not kin.isdisjoint(label.split()) for label in document.labels_of(tokens[0])[:2]):
        return ABSENT, "about another person"
    if misplaced(document, fact, full):
        return ABSENT, "about another person"
    if any(_only_wished(document, fact, token) for token in tokens):
        return ABSENT, "only wished for"
    if people and bereaved:
        contexts = [replace(c, other_person=False) for c in contexts]
    if any(word.ids & _TOWARDS for word in fact.words):
        # "fear of losing her home", "avoidance of driving", "waiting for CBT": what it is about need not be so.
        own = {token for part, token in full.items() if part < len(fact.words) and fact.words[part].ids & _TOWARDS}
        contexts = [
            c if token in own and not c.feared else replace(c, hypothetical=False)
            for token, c in zip(tokens, contexts, strict=True)
        ]
    if not _AHEAD.isdisjoint(fact.document.words):
        contexts = [replace(c, hypothetical=False) if c.arranged else c for c in contexts]
    if _is_open_itself(fact):
        contexts = [replace(c, open=False, hypothetical=False) for c in contexts]
    if any(c.open or c.hypothetical for c in contexts):
        return ABSENT, "only possible, asked about or not known"
    if contexts and any(c.other_person for c in contexts) and not people:
        return ABSENT, "about another person"
    alone = people and not _with_person(document, tokens) and not (is_home(fact) and _at_their_home(document, tokens))
    if contexts and all(c.other_person for c in contexts) and alone:
        return ABSENT, "about another person"
    if any(c.negated for c in contexts):
        # "without telling his wife" says nothing of what she did.
        return (ABSENT, "named in another connection") if only_people else (CONTRADICTED, "denied")
    return None


@lru_cache(maxsize=4096)
def _is_open_itself(fact: Fact) -> bool:
    """ "asylum claim pending": the fact's own words leave open what it names."""
    found = (reading(fact.document, token, token) for token in range(len(fact.document)))
    return any(context.open for context in found)


_WISHES = word_set("social", "wishes")


def _only_wished(document: Document, fact: Fact, token: int) -> bool:
    """ "would like to get a dog": not there yet; "wants to stop smoking" says that it is."""
    if not _WISHES.isdisjoint(fact.document.words) or any(word.ids & _TOWARDS for word in fact.words):
        return False
    before = document.words[max(document.clause_span(token)[0], token - 5) : token]
    if before[-1:] == ["to"] and len(before) > 1 and before[-2] in _WISHES:
        return True
    for place, word in enumerate(before):
        after = before[place + 1 : place + 3]
        wished = word in _WISHES and after[:1] == ["to"] and len(before) - place >= 3
        if (wished or (word == "would" and after[:1] in (["like"], ["love"]))) and _GETTING & set(before[place:]):
            return True
    return False


_GETTING = frozenset(("get", "have", "own", "buy", "find", "become", "start", "try", "adopt", "learn"))


def _context(document: Document, token: int, ends: dict[int, int]) -> Reading:
    """How a part is meant; a cue inside the wording of a part is that part's own ("has not told his wife")."""
    last = ends.get(token, token)
    found = reading(document, token, last)
    if not found.negated and (never_there(document, token) or straight_denial(document, token)):
        return replace(found, negated=True)
    if not (found.negated or found.hypothetical):
        return found
    for role in ("negated", "hypothetical"):
        cues = [cue for cue in context_at(document, token, last).cues if cue.role == role]
        if cues and all(any(_is_own(document, cue, *span) for span in ends.items()) for cue in cues):
            found = replace(found, negated=False) if role == "negated" else replace(found, hypothetical=False)
    return found


def _is_own(document: Document, cue: CueSpan, first: int, last: int) -> bool:
    """Whether a cue stands inside a wording, or the wording has a denial of its own that the cue takes in."""
    start, end = document.starts[first], document.ends[last]
    if start <= cue.start and cue.end <= end:
        return True
    if start >= cue.end or cue.start >= end:
        return False
    return cue.role != "negated" or not DENIALS.isdisjoint(document.words[first : last + 1])


def _of_person(document: Document, token: int) -> bool:
    """ "her daughter, who lives nearby": the clause is about the person before it."""
    if token < 2 or document.words[token - 1] != "who":
        return False
    index = term_index(document)
    return any(t.last == token - 2 for cluster in PEOPLE for t in index.exact.get(cluster, ()))


def _at_their_home(document: Document, tokens: list[int]) -> bool:
    """ "stays at her parents' house": someone's home, with the patient in it."""
    return any(document.words[t] in ("house", "home", "flat", "place", "apartment") for t in tokens)


def _with_person(document: Document, tokens: list[int]) -> bool:
    return any("with" in document.words[t + 1 : t + 3] or "for" in document.words[t : t + 3] for t in tokens)
