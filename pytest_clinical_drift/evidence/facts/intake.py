"""Whether a medicine that a text names is taken now: stopped, switched, declined, only possible, or someone else's."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.dose_roles import STATUS_FILE
from pytest_clinical_drift.evidence.facts.intake_notes import (
    is_warning,
    listed_as_allergy,
    missed_for_days,
    status_says_stopped,
)
from pytest_clinical_drift.evidence.facts.medicine_owner import is_allergen, is_theirs
from pytest_clinical_drift.evidence.facts.past_intake import begun_again, is_to_be_changed, was_taken_then
from pytest_clinical_drift.evidence.facts.planning import is_planned
from pytest_clinical_drift.evidence.facts.switches import switched_from, switched_to
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.reading.phrases import Cue, cues_of
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, word_set
from pytest_clinical_drift.evidence.text import CELL, Document

_REACH = 25
_BE = word_set("intake", "be")
_SKIPPED = word_set("intake", "skipped")
_JOINS = frozenset(["and", "or", "plus", "with"])


class Taking(Enum):
    """What a mention says about taking the medicine."""

    NOW = "taken"
    STOPPED = "stopped or replaced"
    DENIED = "not taken"
    POSSIBLE = "only possible or asked about"
    OTHER_PERSON = "of another person"
    ALLERGY = "as a cause of a reaction"
    OPEN = "not known"


def taking(document: Document, mention: Term) -> Taking:
    """What a mention of a medicine says about taking it."""
    known: dict[tuple[int, int], Taking] = document.cache.setdefault("takings", {})
    key = (mention.first, mention.last)
    state = known.get(key)
    if state is None:
        state = _decide(document, mention)
        known[key] = state
    return state


def _decide(document: Document, mention: Term) -> Taking:
    context = reading(document, mention.first, mention.last)
    if context.other_person or is_theirs(document, mention):
        return Taking.OTHER_PERSON
    if context.open:
        return Taking.OPEN
    if listed_as_allergy(" ".join(document.labels_of(mention.first)[:2])):
        return Taking.ALLERGY
    if is_allergen(document, mention):
        return Taking.ALLERGY
    if _targets(document, mention, "declined") or missed_for_days(document, mention):
        return Taking.DENIED
    if switched_from(document, mention):
        return Taking.POSSIBLE if context.hypothetical or is_planned(document, mention) else Taking.STOPPED
    if switched_to(document, mention):
        return Taking.NOW
    stopped = _targets(document, mention, "stopped") or status_says_stopped(document, mention)
    if stopped and not context.hypothetical:
        return Taking.STOPPED
    if context.hypothetical and not context.negated and is_to_be_changed(document, mention):
        return Taking.NOW
    planned = context.hypothetical and not _is_change_ahead(document, mention)
    if planned or is_planned(document, mention):
        return Taking.POSSIBLE
    if context.negated and not (_lacks_only_effects(document, mention) or _is_missed(document, mention)):
        return Taking.POSSIBLE if is_warning(document, mention) else Taking.DENIED
    if context.historical and not context.dated and not _continued(document, mention):
        return Taking.STOPPED
    if was_taken_then(document, mention):
        return Taking.STOPPED
    return Taking.NOW


def _is_change_ahead(document: Document, mention: Term) -> bool:
    """ "X 50 mg (planned increase to 100 mg)": what is ahead is another dose."""
    stop = min(document.sentence_span(mention.first)[1], mention.last + 10)
    for place in range(mention.last + 1, stop):
        if document.words[place] in ("planned", "possible", "consider", "considering"):
            opened = "(" in document.gaps[place] or "," in document.gaps[place] or ";" in document.gaps[place]
            return opened and not _DOSE_CHANGES.isdisjoint(document.words[place + 1 : place + 3])
    return False


_DOSE_CHANGES = frozenset(("increase", "increasing", "reduction", "reducing", "titration", "uptitration", "taper"))
_EFFECTS = word_set("intake", "effects")


def _lacks_only_effects(document: Document, mention: Term) -> bool:
    """ "no side effects from X": what is denied is not X."""
    before = [w for w in document.words[max(0, mention.first - 5) : mention.first] if w not in _SKIPPED - {"of"}]
    return len(before) >= 2 and before[-1] in ("of", "from", "with", "to", "on", "in") and before[-2] in _EFFECTS


def _is_missed(document: Document, mention: Term) -> bool:
    """ "Without X he becomes tearful": what would happen without it, while it is taken."""
    first, stop = document.sentence_span(mention.first)
    if document.words[first] != "without" or mention.first - first > 4:
        return False
    return not {"he", "she", "they", "i", "patient", "things"}.isdisjoint(document.words[mention.last + 1 : stop])


def _span(document: Document, mention: Term) -> tuple[int, int]:
    """The mention's clause; in a table its row."""
    first, stop = document.sentence_span(mention.first)
    if document.segment_kinds[document.segments[mention.first]] == CELL:
        line = document.lines[mention.first]
        while stop < len(document) and document.lines[stop] == line and stop < mention.last + _REACH:
            stop += 1
    return max(first, mention.first - _REACH), min(stop, mention.last + 1 + _REACH)


def _targets(document: Document, mention: Term, label: str) -> bool:
    """Whether a cue ("stopped") is about this medicine: the next one after it, else the nearest before it."""
    first, stop = _span(document, mention)
    clause = document.clauses[mention.first]
    for cue in cues_of(document, STATUS_FILE).between(label, first, stop):
        if mention.first <= cue.first <= mention.last:
            continue
        if _void(document, cue) or (cue.first > mention.last and document.words[cue.first] == "off"):
            continue  # "takes the edge off her evenings" ends nothing that stands before it
        if label == "stopped" and begun_again(document, cue, mention):
            continue
        if label == "declined" and document.words[cue.first] in _WARY and _was_started(document, mention):
            continue
        if cue.first > mention.last:
            if _passive_target(document, mention, cue, clause):
                return True
        elif document.clauses[cue.first] == clause and _active_target(document, mention, cue):
            return True
    return False


_WARY = frozenset(("reluctant", "not", "unwilling"))


def _was_started(document: Document, mention: Term) -> bool:
    """ "has started X, which she was reluctant to take": reluctance before it was begun."""
    begun = cues_of(document, STATUS_FILE).between("started", max(0, mention.first - 3), mention.first)
    return any(document.words[cue.first] in _BEGUN for cue in begun)


_BEGUN = frozenset(("started", "commenced", "begun", "began", "initiated", "introduced", "restarted", "prescribed"))
_UNREAL = word_set("intake", "unreal")


def _void(document: Document, cue: Cue) -> bool:
    """ "not stopped", "to be stopped", "wants to come off": no stop has happened; "had to be stopped" is one."""
    before = document.words[max(0, cue.first - 3) : cue.first]
    after = document.words[cue.last + 1] if cue.last + 1 < len(document) else ""
    if after.endswith("ing") and after not in _NO_ACTS:
        return True  # "stopped breathing after methadone"
    if document.words[cue.first : cue.last + 1] == ["not", "on"] and (
        after in ("more", "every") or after[:1].isdigit()
    ):
        return True  # "but not on more than nine days a month"
    if document.words[cue.last] == "held" and (after in _HELD or before[-1:] in (["has"], ["have"])):
        return True  # "has held him since spring" keeps him well
    led_by = document.words[max(0, cue.first - 8) : cue.first]
    if "tolerate" in document.words[cue.last] and not _RAISED.isdisjoint(led_by):
        return True  # "an increase to 100 mg was not tolerated": the medicine itself was
    return bool(before) and before[-1] in _UNREAL and not {"had", "needed"} & set(before)


_NO_ACTS = frozenset(("taking", "using", "having", "during", "following", "pending", "owing", "considering"))
_HELD = frozenset(("him", "her", "them", "me", "his", "their", "my", "up", "steady", "stable", "well"))
_RAISED = frozenset(("increase", "increased", "increasing", "higher", "raise", "raised", "doubling", "uptitration"))


def _passive_target(document: Document, mention: Term, cue: Cue, clause: int) -> bool:
    """The cue follows the medicine: "X was stopped", "X – stopped"; not when it is about a later medicine."""
    index = term_index(document)
    between = index.medicines_between(mention.last + 1, cue.first)
    words, gaps = document.words, document.gaps
    others = [t for t in between if t.concept is not mention.concept and t.concept.kind == DRUG]
    if any(not _coordinated(document, mention.last, other.first) for other in others[:1]):
        return False
    if any(gaps[i].startswith(";") for i in range(mention.last + 1, cue.first + 1)):
        return False
    if _ends_something_else(words[mention.last + 1 : cue.first]):
        return False
    following = index.next_medicine(cue.last)
    active = words[cue.first - 1] not in _BE and _leads_to(document, cue, following)
    if active and following is not None and following.concept is not mention.concept:
        # "on sertraline and stopped mirtazapine": the cue takes the medicine after it …
        # … unless it says what replaced ours: "X was swapped for Y".
        return words[cue.last] in ("for", "to", "with", "by")
    if document.clauses[cue.first] != clause:
        # A new clause with its own subject is about something else, unless it opens with the cue.
        opening = document.clause_span(cue.first)[0]
        return cue.first - opening <= 3 and not term_index(document).medicines_between(opening, cue.first)
    return True


def _ends_something_else(between: Sequence[str]) -> bool:
    """ "started when her marriage ended": a subordinate clause whose own subject is neither medicine nor patient."""
    opened = [place for place, word in enumerate(between) if word in _SUBORDINATE]
    return bool(opened) and any(word not in _OF_THE_MEDICINE for word in between[opened[-1] + 1 :])


_SUBORDINATE = word_set("intake", "subordinate")
_OF_THE_MEDICINE = word_set("intake", "of_the_medicine")


def _coordinated(document: Document, first: int, second: int) -> bool:
    between = document.words[first + 1 : second]
    if not {"previously", "formerly", "took", "takes", "taking", "stopped"}.isdisjoint(between):
        return False  # "takes X and previously took Y, which was stopped"
    return not between or (len(between) <= 3 and bool(_JOINS & set(between)))


def _leads_to(document: Document, cue: Cue, following: Term | None) -> bool:
    if following is None or document.sentences[following.first] != document.sentences[cue.last]:
        return False
    between = document.words[cue.last + 1 : following.first]
    if any(";" in gap for gap in document.gaps[cue.last + 1 : following.first + 1]):
        return False
    return len(between) <= 4 and all(word in _SKIPPED or word[:1].isdigit() or len(word) < 4 for word in between)


def _active_target(document: Document, mention: Term, cue: Cue) -> bool:
    """The cue stands before the medicine: "stopped X", "came off X and Y", "no longer takes X"."""
    index = term_index(document)
    between = document.words[cue.last + 1 : mention.first]
    if any(gap[:1] in ";:()" for gap in document.gaps[cue.last + 1 : mention.first + 1] if gap):
        return False
    if document.words[cue.last] in ("to", "for", "with", "by"):
        return False  # "was switched to X": X is the new one
    others = index.medicines_between(cue.last + 1, mention.first)
    if others and not all(
        _coordinated(document, a.last, b.first) for a, b in zip(others, [*others[1:], mention], strict=True)
    ):
        return False
    if others:
        return bool(_leads_to(document, cue, others[0])) and not _restarts(document, others[-1].last, mention.first)
    if (
        document.words[cue.first - 1 : cue.first]
        and document.words[cue.first - 1] in _BE
        and not _leads_to(document, cue, mention)
    ):
        return False
    return len(between) <= 5 and not _restarts(document, cue.last, mention.first)


def _restarts(document: Document, first: int, stop: int) -> bool:
    begun = cues_of(document, STATUS_FILE).between("started", first + 1, stop)
    return any(
        cue.first > first + 1 or document.words[cue.first] not in ("taking", "using", "on", "has") for cue in begun
    )


def _continued(document: Document, mention: Term) -> bool:
    first, stop = document.clause_span(mention.first)
    words = set(document.words[max(first, mention.first - 10) : min(stop, mention.last + 12)])
    return bool(
        words
        & {
            "continues",
            "restarted",
            "resumed",
            "recommenced",
            "continued",
            "continue",
            "remains",
            "still",
            "currently",
            "ongoing",
            "now",
            "takes",
            "taking",
            "daily",
        }
    )
