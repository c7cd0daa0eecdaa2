"""Whether something that goes on (a therapy, a device, a helper) is stated to be over, or a diagnosis withdrawn."""

from __future__ import annotations

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.condition import named
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.outcome import CONTRADICTED, Outcome
from pytest_clinical_drift.evidence.reading.frequencies import frequencies
from pytest_clinical_drift.evidence.reading.phrases import Cue, Cues, cues_of
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, word_set
from pytest_clinical_drift.evidence.text import Document

FILE = "endings"
_OPENING = 3  # tokens of a fact within which its own verb begins
_BEFORE, _AFTER, _AFTERWARDS, _LABEL = 8, 6, 16, 14  # tokens within which each kind of cue is looked for
_LIGHT = word_set("endings", "light")
_UNREAL = word_set("endings", "unreal")
_GOING_ON = word_set("endings", "going_on")
_EVENTS = frozenset(("test", "injury", "reaction"))
_LOSSES = tuple(word_set("endings", "losses"))
_SINCE = word_set("endings", "since")


def stated_as_over(fact: Fact, document: Document, outcome: Outcome) -> Outcome | None:
    """The contradiction where all that states the fact says that it has ended; None where it goes on."""
    if fact.past or states_an_end(fact) or fact.document.words[:1] in (["no"], ["not"], ["never"]):
        return None
    if any(word.startswith(_LOSSES) for word in fact.document.words) and _GOING_ON.isdisjoint(fact.document.words):
        return _no_longer(document, outcome)
    places = list(outcome.evidence)
    if fact.conditions:
        terms = [t for t in named(document, fact.conditions[0]) if reading(document, t.first, t.last).affirmed]
        places = [(t.first, t.last) for t in terms] or places
    elif _stated_elsewhere(fact, document, {document.sentences[first] for first, _ in places}):
        return None
    if not places:
        return None
    if all(_label_withdrawn(document, last) for _, last in places):
        return Outcome(CONTRADICTED, tuple(places[:1]), "the diagnosis is withdrawn")
    cues = _cues_before(fact)
    worded = not fact.conditions  # a condition's own name may have such a word in it: "stopped going to school"
    if goes_on(fact) and all(
        is_over(document, a, b, cues) or (worded and a != b and is_over(document, b, b, cues)) for a, b in places
    ):
        return Outcome(CONTRADICTED, tuple(places[:1]), "stated as ended")
    return None


def _no_longer(document: Document, outcome: Outcome) -> Outcome | None:
    """ "had been sober, but relapsed": a fact that is itself an end is undone only by such a turn."""
    first, last = outcome.evidence[0] if outcome.evidence else (0, 0)
    start, stop = document.sentence_span(first)
    if outcome.evidence and _was_once(document, max(start, first - 4), first, last, stop):
        return Outcome(CONTRADICTED, ((first, last),), "stated as ended")
    return None


def states_an_end(fact: Fact) -> bool:
    """Whether the fact itself opens with an end: "gave up her allotment", "lost warehouse job"."""
    cues = cues_of(fact.document, FILE)
    return any(not _void(fact.document, cue) for cue in cues.between("before", 0, _OPENING))


def _stated_elsewhere(fact: Fact, document: Document, sentences: set[int]) -> bool:
    """Whether another sentence has all words of the fact, with nothing that ends it."""
    return any(
        document.sentences[token] not in sentences and not is_over(document, token, token)
        for token in whole_statements(fact, document)
    )


def whole_statements(fact: Fact, document: Document) -> list[int]:
    """Where the first word of the fact stands in a sentence that has all of them."""
    found = [part.places(document) for part in fact.words]
    if not found:
        return []
    sentences = set.intersection(*({document.sentences[p] for p in places} for places in found))
    return [token for token in found[0] if document.sentences[token] in sentences]


def goes_on(fact: Fact) -> bool:
    """Whether the fact is of a kind that can end: not an operation, an illness or an event with a date."""
    if (fact.dates and _LASTING.isdisjoint(fact.document.words)) or _counts_sessions(fact):
        return False
    if not fact.conditions:
        return True
    concept = fact.conditions[0]
    if concept.group in _EVENTS:
        return False
    if concept.group != "procedure":
        return True
    lasting = not _GOING_ON.isdisjoint(fact.document.words) or bool(frequencies(fact.document))
    return lasting or "condition:psychotherapy" in (concept.id, *concept.ancestors)


def _counts_sessions(fact: Fact) -> bool:
    """ "six sessions of CBT so far": what has been done is not undone by being complete."""
    return bool(fact.numbers) and not _SESSIONS.isdisjoint(fact.document.words)


_LASTING = frozenset(("since", "until"))
_SESSIONS = frozenset(("session", "sessions", "cycle", "cycles", "completed", "far"))


def _cues_before(fact: Fact) -> str:
    """The cues that may stand before what has ended: fewer for complaints ("left arm pain", "lost weight")."""
    goes = not _GOING_ON.isdisjoint(fact.document.words)
    if goes or not fact.conditions or fact.conditions[0].group in ("device", "care-status", "procedure"):
        return "before"
    return "habit"


def is_over(document: Document, first: int, last: int, before: str = "before") -> bool:
    """Whether the words around tokens `first` to `last` say that it is over; `before` labels the cues before it."""
    cues = cues_of(document, FILE)
    start, stop = document.sentence_span(first)
    clause_first, clause_stop = document.clause_span(last)
    if _was_once(document, max(start, first - 4), first, last, stop):
        return True
    if _resumed(document, last, stop):
        return False
    for cue in cues.between(before, max(start, clause_first, first - _BEFORE), first):
        if cue.last < first and not _void(document, cue) and _light(document, cue.last + 1, first):
            return True
    for cue in cues.between("after", last + 1, min(clause_stop, last + 1 + _AFTER)):
        if not _void(document, cue) and _light(document, last + 1, cue.first):
            return True
    if _given_back(document, cues, max(start, first - 4), first, last):
        return True
    return _taken_up(document, cues, last, stop)


def _was_once(document: Document, start: int, first: int, last: int, stop: int) -> bool:
    """ "had been abstinent, but relapsed", "were in a refuge but moved out": so it was, and no longer is."""
    before = document.words[start:first]
    if not ("had" in before and "been" in before) and _WAS.isdisjoint(before):
        return False
    after = document.words[first + 1 : min(stop, last + 14)]
    turn = after.index("but") if "but" in after else -1
    return turn >= 0 and not _MOVED_ON.isdisjoint(after[turn + 1 : turn + 5])


_WAS = frozenset(("was", "were"))
_MOVED_ON = word_set("endings", "moved_on")


def _light(document: Document, first: int, stop: int) -> bool:
    """Nothing but light words and a plain gap between a cue and what it is about."""
    if any(gap[:1] in (";", ":", "(", ",", "–") for gap in document.gaps[first : stop + 1] if gap):
        return False
    between = document.words[first:stop]
    if "and" in between or "or" in between:
        return False
    return len(between) <= 1 or all(word in _LIGHT or len(word) < 3 for word in between)


def _void(document: Document, cue: Cue) -> bool:
    """ "has not left", "wants to give up", "is used to": nothing has ended."""
    before = document.words[max(document.sentence_span(cue.first)[0], cue.first - 2) : cue.first]
    if not _ONCE.isdisjoint(before):
        return True  # "a seizure two days after he stopped drinking": a time, which may be long past
    if document.words[cue.first] == "left" and cue.first == cue.last:
        return not before or before[-1] not in _LEAVERS  # "left hearing aid" is a side
    if document.words[cue.last] in _TRANSITIVE and cue.label == "after" and _acts_on_something(document, cue.last + 1):
        return True
    if document.words[cue.first] == "used":
        return bool(before) and before[-1] in ("is", "are", "be", "been", "was", "got", "get", "not")
    return not _UNREAL.isdisjoint(before)


_ONCE = frozenset(("after", "when", "whenever", "before", "until"))


_LEAVERS = frozenset(("he", "she", "they", "has", "had", "have", "and", "but", "who", "then", "since", "i", "you"))
_TRANSITIVE = frozenset(("stopped", "finished", "ended", "gone"))
_ADVERBIALS = word_set("endings", "adverbials")


def _acts_on_something(document: Document, after: int) -> bool:
    """ "the headaches have stopped her working": the verb has an object and ends something else."""
    if after >= len(document) or document.gaps[after] or document.sentences[after] != document.sentences[after - 1]:
        return False
    word = document.words[after]
    if document.words[after - 1] == "gone" and word in ("on", "up", "down", "from", "to", "through"):
        return True  # "has gone on for years"
    return not (word in _ADVERBIALS or word.endswith("ly") or word[:1].isdigit())


def _given_back(document: Document, cues: Cues, start: int, first: int, last: int) -> bool:
    """ "handed his machine back", "gave the aids back"."""
    after = document.words[last + 1 : last + 3]
    return "back" in after and any(not _void(document, cue) for cue in cues.between("given", start, first))


def _taken_up(document: Document, cues: Cues, last: int, stop: int) -> bool:
    """ "…, but she left it": the same sentence or the next comes back to it, with nothing else in between."""
    end = min(len(document), last + 1 + _AFTERWARDS)
    if stop < end:
        following = document.sentence_span(stop)
        end = min(end, following[1] if document.lines[stop] == document.lines[last] else stop)
    for cue in cues.between("afterwards", last + 1, end):
        if _void(document, cue) or document.words[cue.last + 1 : cue.last + 2] in (["of"], ["from"], ["to"], ["into"]):
            continue
        return not term_index(document).between(CONDITION, last + 1, cue.first)
    return False


def _resumed(document: Document, last: int, stop: int) -> bool:
    """ "stopped for a while and is now back": it goes on again."""
    return not _SINCE.isdisjoint(document.words[last + 1 : min(stop, last + 14)])


def _label_withdrawn(document: Document, last: int) -> bool:
    """ "the diagnosis of X was withdrawn", "told she had X, but that label was removed"."""
    start, stop = document.sentence_span(last)
    words = document.words
    for cue in cues_of(document, FILE).between("withdrawn", last + 1, min(stop, last + _LABEL)):
        around = words[max(start, last - 6) : cue.first]
        passive = words[cue.first - 1] in ("was", "were", "been", "is", "being", "later", "since", "then")
        if passive and not {"diagnosis", "label", "diagnoses"}.isdisjoint(around) and not _void(document, cue):
            return True
    return False
