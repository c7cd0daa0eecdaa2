"""How a mention is meant: affirmed or denied, only possible, in the past, of someone else, or left open."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from pytest_clinical_drift.evidence.mentions.context import context_at
from pytest_clinical_drift.evidence.mentions.dose_roles import STATUS_FILE
from pytest_clinical_drift.evidence.mentions.owners import belongs_to_another, is_of_another
from pytest_clinical_drift.evidence.reading.text import Document
from pytest_clinical_drift.evidence.terms.index import places_in
from pytest_clinical_drift.evidence.terms.phrases import cues_of
from pytest_clinical_drift.evidence.terms.vocabulary import load_data, word_set

_OPEN_REACH = 8
_LIGHT = frozenset(map(str, load_data("fact_words")["light"]))


@dataclass(frozen=True, slots=True)
class Reading:
    """The context of one mention."""

    negated: bool
    hypothetical: bool
    historical: bool
    other_person: bool
    dated: bool
    """Past only by a date or "last year", which need not mean that it is over."""
    ended: bool
    """Stated to be over: resolved, cured, gone."""
    arranged: bool
    """Uncertain only because it lies ahead: planned, booked, due."""
    hedged: bool
    """Uncertain only because it is called likely: asserted with less than full weight."""
    feared: bool
    """Uncertain only because it is worried about, which for circumstances says that they weigh on the patient."""
    open: bool
    """The text says that it does not know: not asked, not recorded, result awaited."""

    @property
    def affirmed(self) -> bool:
        """Stated of the patient, now or in the past."""
        return not (self.negated or self.hypothetical or self.other_person or self.open)

    @property
    def denied(self) -> bool:
        """Stated not to be so, of the patient."""
        return self.negated and not (self.hypothetical or self.other_person or self.open)


def reading(document: Document, first: int, last: int) -> Reading:
    """The context of the mention from token `first` to `last`."""
    known: dict[tuple[int, int], Reading] = document.cache.setdefault("readings", {})
    found = known.get((first, last))
    if found is None:
        found = _read(document, first, last)
        known[(first, last)] = found
    return found


_UNSTATED = word_set("mentions", "unstated")
_FOREIGN_NO = word_set("mentions", "foreign_no")
_KEEPS = word_set("mentions", "keeps")
_DENYING = _FOREIGN_NO | {"nothing", "never"}


def _read(document: Document, first: int, last: int) -> Reading:
    context = context_at(document, first, last)
    negated, hypothetical = context.negated, context.hypothetical
    words = document.words
    if not negated:
        negated = _plainly_denied(document, first) or _denied_behind(document, last)
    if not hypothetical:
        hypothetical = any(
            label.startswith(_STILL_TO_ASK) or _is_advisory(label) for label in document.labels_of(first)
        )
    following = words[last + 1] if last + 1 < len(words) and document.gaps[last + 1] in ("", "-") else ""
    if following == "awareness" and not _IMPAIRED.isdisjoint(words[max(0, first - 3) : first]):
        following = ""  # "has lost his hypo awareness" is a finding
    is_open = _left_open(document, last) or following in _UNSTATED or document.sentences[first] in _refusals(document)
    if negated and first > 1 and words[first - 2] == "no" and words[first - 1] in ("other", "further", "additional"):
        negated, is_open = False, True  # "no other contraception" says nothing about the one named before
    other_person = context.other_person or is_of_another(document, first)
    other_person = other_person or belongs_to_another(document, last)
    if not context.cues:
        # The common case: all that is read from cues below is False.
        return _reading(negated, hypothetical, False, other_person, False, False, False, False, False, is_open)
    past = [cue.quote.lower() for cue in context.cues if cue.role == "historical"]
    dated = bool(past) and all(_is_time(quote) for quote in past)
    doubts = [cue.quote.lower() for cue in context.cues if cue.role == "hypothetical"]
    unsure_only = hypothetical and bool(doubts) and not (negated or other_person)
    feared = unsure_only and all(
        d.startswith(("worr", "concern", "fear", "afraid", "scared", "anxious")) for d in doubts
    )
    arranged = unsure_only and all(d.startswith(_AHEAD) for d in doubts)
    hedged = unsure_only and all(_LIKELY & set(d.split()) for d in doubts)
    ended = any(root in quote for quote in past for root in _ENDINGS)
    return _reading(
        negated, hypothetical, context.historical, other_person, dated, ended, arranged, hedged, feared, is_open
    )


# Few of the combinations occur, so that each is made once.
_reading = lru_cache(maxsize=1024)(Reading)


_ENDINGS = tuple(sorted(word_set("mentions", "endings")))
_TIME_WORDS = word_set("mentions", "time_words")


def _is_time(quote: str) -> bool:
    return any(word in _TIME_WORDS or word.isdigit() for word in quote.split())


_LIKELY = frozenset(("likely", "probable", "probably", "presumed", "presumably", "apparent", "appears", "seems"))
_AHEAD = tuple(sorted(word_set("mentions", "ahead")))


_STILL_TO_ASK = tuple(sorted(word_set("mentions", "still_to_ask")))
_ADVISORY = tuple(f" {phrase} " for phrase in sorted(word_set("mentions", "advisory_labels")))


@lru_cache(maxsize=1024)
def _is_advisory(label: str) -> bool:
    """ "Points to watch", "Red flags to monitor": what stands there is looked out for, not reported."""
    # "There are no red flags: no weakness, …" reports what was found.
    return " no " not in f" {label}" and label.count(" ") < 4 and any(phrase in f" {label} " for phrase in _ADVISORY)


_IMPAIRED = frozenset(("lost", "loss", "impaired", "reduced", "poor", "no", "without", "little"))


def _plainly_denied(document: Document, first: int) -> bool:
    """ "nothing suggests …", "has never taken …", "pas de …" shortly before, in the same clause."""
    start = max(document.clause_span(first)[0], first - 7)
    before = document.words[start:first]
    if before[-1:] == ["ruled"] and "out" in document.words[first + 1 : first + 4]:
        return True  # "the assessment ruled autism out"
    if before[-1:] == ["not"] and not document.gaps[first] and before[-2:-1] not in (["or"], ["if"]):
        return True  # "does not want to die"
    if _DENYING.isdisjoint(before):
        return False
    for back, word in enumerate(reversed(before), start=1):
        if word in _FOREIGN_NO and back <= 5:
            return True
        if word == "nothing" and "suggest" in " ".join(before[-back:]):
            return True
        if word == "never" and back <= 4 and _KEEPS.isdisjoint(before[-back:]):
            return True
    return False


def _denied_behind(document: Document, last: int) -> bool:
    """ "seizure-free", "cataract surgery: never" and the like, with nothing behind."""
    after = last + 1
    if after >= len(document) or document.lines[after] != document.lines[last] or document.gaps[after] not in ("", "-"):
        return False
    if document.words[after] == "free":
        return document.gaps[after] == "-"
    return document.words[after] == "never" and document.clause_span(last)[1] == after + 1


def _left_open(document: Document, last: int) -> bool:
    """Whether "not asked", "pending" or the like follows with nothing but light words in between."""
    line = document.lines[last]
    stop = min(len(document), last + _OPEN_REACH)
    for cue in cues_of(document, STATUS_FILE).between("unknown", last + 1, stop):
        if document.lines[cue.first] != line:
            break
        between = document.words[last + 1 : cue.first]
        if document.words[cue.last + 1 : cue.last + 2] == ["to"]:
            continue  # "not mentioned to the dentist"
        if all(word in _LIGHT for word in between) and not any(
            "." in gap or ";" in gap for gap in document.gaps[last + 1 : cue.first + 1]
        ):
            return True
    return False


_REFUSED_ACTS = word_set("mentions", "refused_acts")


def _refusals(document: Document) -> frozenset[int]:
    """Sentences in which the writer declines to answer ("I'm not able to summarise …"): they state nothing."""
    known: frozenset[int] | None = document.cache.get("refusals")
    if known is None:
        found = set()
        for position in places_in(document.words, "i"):
            if document.spelled(position) == "I":
                following = document.words[position + 1 : position + 9]
                unable = "unable" in following or "not" in following
                if unable and {"can", "able", "unable", "will"} & set(following) and _REFUSED_ACTS & set(following):
                    found.add(document.sentences[position])
        known = frozenset(found)
        document.cache["refusals"] = known
    return known
