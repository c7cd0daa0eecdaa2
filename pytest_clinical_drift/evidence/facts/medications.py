"""Medicines: whether a mention says that it is taken (now, no longer, never, by someone else), and how much."""

from collections.abc import Iterator
from itertools import chain

from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.statements import (
    Said,
    Span,
    Statement,
    denied_outright,
    stated,
    stated_with,
)
from pytest_clinical_drift.evidence.mentions.context import context_at
from pytest_clinical_drift.evidence.mentions.regimen import Regimen, compare, read_regimen
from pytest_clinical_drift.evidence.quantities.frequencies import frequencies_between
from pytest_clinical_drift.evidence.reading.text import Document
from pytest_clinical_drift.evidence.terms.lexicon import Term, phrases_between, term_index
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, DRUG, MEASURE, Concept, word_set

NOW = "now"
STOPPED = "stopped"
PAST = "past"
DENIED_NOW = "not taken"
ASKED = "asked"
ANOTHER = "other"
MODIFIER = "modifier"
_MODIFIED = word_set("facts", "modified_by_a_medicine")
_ADVICE = word_set("facts", "advice_about_a_medicine")
_HOLDS = frozenset(("held", "withheld", "hold", "paused", "suspended", "on"))
_VOID = word_set("facts", "voids_an_ending")
_LIGHT = frozenset(("the", "her", "his", "their", "all", "any", "of", "a", "an", "taking", "using", "own"))
_PARTING = frozenset(";:()")
_TURNS = frozenset(("when", "after", "because", "since", "while", "once", "smoking", "and", "but"))
"""Words behind a name after which something else was stopped."""


def intake(document: Document, mention: Term) -> str:
    """What a mention says about taking the medicine."""
    context = context_at(document, mention.first, mention.last)
    if context.other_person:
        return ANOTHER
    if is_modifier(document, mention.last):
        return MODIFIER
    if context.open:
        return ASKED
    if _replaced(document, mention) or ended(document, (mention.first, mention.last)):
        return ASKED if context.hypothetical else STOPPED
    if context.negated:
        return DENIED_NOW
    if context.hypothetical:
        return ASKED
    return PAST if context.historical else NOW


def is_modifier(document: Document, last: int, nouns: frozenset[str] = _MODIFIED) -> bool:
    """ "clozapine clinic", "clozapine-related neutropenia": the medicine only says which."""
    after = last + 1
    return after < len(document) and document.gaps[after] in ("", "-") and document.words[after] in nouns


def ended(document: Document, span: Span) -> bool:
    """Whether "stopped" is said of this very thing, straight before it or behind it in its clause."""
    begin, end = span
    first, stop = document.clause_span(begin)
    index = term_index(document)
    words = document.words
    for cue in phrases_between(document, "stopped", max(first, begin - 12), min(stop, end + 16)):
        linked = words[cue.last] in ("to", "for", "with", "by")
        void = not _VOID.isdisjoint(words[max(0, cue.first - 1) : cue.first]) or words[cue.last] == "on"
        if void or words[cue.first] in _HOLDS:
            continue
        if cue.last < begin and not linked and _is_light(document, cue.last, begin):
            return True
        if cue.first > end:
            # "150 mg (up from 100 mg, a change completed in May)"
            aside = any("(" in gap for gap in document.gaps[end + 1 : cue.first - 2])
            between = frequencies_between(document, end + 1, cue.first)  # the "once" of "once daily" turns nothing
            rated = set().union(*(range(rate.first, rate.last + 1) for rate in between))
            turned = aside or any(words[at] in _TURNS for at in range(end + 1, cue.first) if at not in rated)
            others = index.medicines_between(end + 1, cue.first)
            instead = bool(index.medicines_between(cue.last + 1, min(stop, cue.last + 4)))  # "X was swapped for Y"
            if not (others or turned or words[cue.last + 1 : cue.last + 2] == ["for"]) and linked == instead:
                return True
    return False


def _parted_from_ending(document: Document, span: Span) -> bool:
    """Whether a list goes on to other things before anything ends: "metformin, HbA1c 58, no asthma, spleen removed"."""
    after = span[1] + 1
    stop = document.clause_span(span[0])[1]
    cue = next(iter(phrases_between(document, "stopped", after, min(stop, after + 16))), None)
    if cue is None or not any("," in gap for gap in document.gaps[after : cue.first]):
        return False
    return any(term_index(document).between(kind, after, cue.first) for kind in (CONDITION, MEASURE))


def _is_light(document: Document, last: int, begin: int) -> bool:
    """Whether nothing but light words and figures stands between two tokens."""
    marked = not _PARTING.isdisjoint("".join(document.gaps[last + 1 : begin + 1]))
    between = document.words[last + 1 : begin]  # "stopped 50 mg sertraline"
    return not marked and all(word in _LIGHT or word[:1].isdigit() or len(word) < 3 for word in between)


def _replaced(document: Document, mention: Term) -> bool:
    """ "switched from X to Y", "Y instead of X": X is the former one."""
    first = max(document.sentence_span(mention.first)[0], mention.first - 6)
    return any(
        _is_light(document, cue.last, mention.first)
        and {"no", "not", "never"}.isdisjoint(document.words[max(0, cue.first - 3) : cue.first])
        for cue in phrases_between(document, "switch_from", first, mention.first)
    )


def statements(fact: Fact, document: Document) -> list[Statement]:
    """Everything a text says of a medicine that the fact says is (or is not) taken."""
    concept = fact.core.concept
    if concept is None:
        return []
    if fact.core.denied:
        return list(_of_absence(document, concept))
    said = [_of_mention(fact, document, mention) for mention in mentions_of(document, concept)]
    return [s for s in said if s is not None] or list(_of_class(document, concept))


def mentions_of(document: Document, medicine: Concept) -> list[Term]:
    """Where a medicine is named: itself, a brand, a member of the class, a combination, or a clipped name."""
    index = term_index(document)
    mentions = [*index.exact.get(medicine.id, ()), *index.within(medicine.id)]
    mentions = mentions or (list(_clipped(document, medicine)) if medicine.kind == DRUG else [])
    return mentions or list(chain.from_iterable(index.exact.get(part, ()) for part in medicine.contains))


def _clipped(document: Document, medicine: Concept) -> Iterator[Term]:
    """ "Bisop 5 mg": at least four letters of the name with a number behind."""
    names = [medicine.name, *map(str, medicine.data.get("synonyms", ())), *map(str, medicine.data.get("brands", ()))]
    for place, word in enumerate(document.words[:-1]):
        dosed = 4 <= len(word) < 9 and document.words[place + 1][:1].isdigit()
        if dosed and any(name.lower().startswith(word) for name in names):
            yield Term(medicine, place, place)


def _of_mention(fact: Fact, document: Document, mention: Term) -> Statement | None:
    span = (mention.first, mention.last)
    state = intake(document, mention)
    if state == ANOTHER:
        return Statement(Said.OTHER, (span,), "of someone else", "someone-else")
    if state == MODIFIER:
        return None
    regimen = read_regimen(document, mention)
    evidence = ((min(mention.first, regimen.first), max(mention.last, regimen.last)),)
    missing: list[str] = []
    conflict = compare(fact.regimen, regimen, missing) if fact.regimen is not None else ""
    missing += [slot.text for slot in fact.details if stated(document, slot, mention.first) is None]
    dosed = fact.regimen is not None and bool(fact.regimen.strengths)
    if fact.ended and state in (STOPPED, PAST, DENIED_NOW):
        return stated_with(evidence, missing)
    if state == PAST:
        taken = bool(regimen.strengths)
        return Statement(Said.DOUBT, evidence, "only as taken in the past", "not-asserted") if taken else None
    if state == STOPPED:
        # without a dose the fact may be the pause
        sure = dosed and (bool(conflict) or not regimen.strengths) and not _parted_from_ending(document, span)
        return Statement(Said.DENIED, evidence, "stated as stopped or replaced", "stopped", sure=sure)
    if state == DENIED_NOW:
        advised = not _ADVICE.isdisjoint(document.words[slice(*document.row_span(mention.first))])
        sure = not advised and denied_outright(document, span)
        return Statement(Said.DENIED if sure else Said.DOUBT, evidence, "stated as not taken", "not-taken", sure=sure)
    if state == ASKED:
        return Statement(Said.DOUBT, evidence, "only planned or asked about", "not-asserted")
    if conflict:
        needed = fact.regimen is not None and 0 in (fact.regimen.per_day, regimen.per_day)
        rule = "as-needed" if needed else "other-figure"
        return Statement(Said.CLASH, evidence, conflict, rule, sure=_is_single(regimen))
    return stated_with(evidence, missing)


def _is_single(regimen: Regimen) -> bool:
    """One amount of each kind, and none earlier or planned: nothing else can be meant."""
    kinds = [a.dimension for a in regimen.strengths] + ["ratio"] * len(regimen.ratios)
    other = len(kinds) > 1 and ("" in kinds or len(kinds) > len(set(kinds)))
    return not (other or regimen.aside)


def _of_class(document: Document, medicine: Concept) -> Iterator[Statement]:
    """Only the class of the medicine is named, and no member of it; or "not on any SSRI", which denies ours too."""
    index = term_index(document)
    for class_id in sorted(medicine.ancestors):
        for mention in index.exact.get(class_id, ()):
            state = intake(document, mention) if not mention.weak else ""
            span = (mention.first, mention.last)
            if state == NOW and not index.within(class_id):
                yield Statement(Said.VAGUE, (span,), "only the class is named", "general-name")
            elif state == DENIED_NOW:
                yield Statement(Said.DENIED, (span,), "no such medicine is taken", "not-taken")


def _of_absence(document: Document, medicine: Concept) -> Iterator[Statement]:
    """ "no psychotropic medication": denied by name, or one of them is taken."""
    for mention in mentions_of(document, medicine):
        state = intake(document, mention)
        span = ((mention.first, mention.last),)
        if state in (DENIED_NOW, STOPPED):
            exact = mention.concept is medicine
            yield stated_with(span, []) if exact else Statement(Said.PART, span, "only one of them", "part")
        elif state == NOW:
            dosed = bool(read_regimen(document, mention).strengths)
            yield Statement(Said.CLASH, span, f"{mention.concept.name} is taken", "taken", sure=dosed)
    for cue in phrases_between(document, "unmedicated", 0, len(document)):
        yield Statement(Said.PLAIN, ((cue.first, cue.last),), "", "plain")
