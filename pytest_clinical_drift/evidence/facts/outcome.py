"""What the statements of a text amount to: the status of a fact, and what leaves it uncertain after all.

Two things do: an essential part that is not stated ("methotrexate 15 mg" without "weekly"), and words that may be about
somebody else ("Percy Wainwright's blood results: eGFR 57").
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

from pytest_clinical_drift.evidence.facts.fact import DENYING, FUNCTION, words_of
from pytest_clinical_drift.evidence.facts.statements import Said, Span, Statement
from pytest_clinical_drift.evidence.mentions.cues import cue_table
from pytest_clinical_drift.evidence.quantities.amounts import amounts, same
from pytest_clinical_drift.evidence.quantities.frequencies import frequencies_between
from pytest_clinical_drift.evidence.reading.text import HEADING, LABEL, Document, once, read, tokenise
from pytest_clinical_drift.evidence.terms.lexicon import find_terms, ids_above, lexicon, term_index
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, DRUG, word_set
from pytest_clinical_drift.evidence.terms.words import fold, loose_stem, loose_stems

RETAINED = "retained"
PARTIAL = "partial"
CONTRADICTED = "contradicted"
ABSENT = "absent"
_STATUS = {Said.CLASH: CONTRADICTED, Said.DENIED: CONTRADICTED, Said.PART: PARTIAL, Said.VAGUE: PARTIAL}
"""Of what a text says; of all else but a plain statement: absent."""
_WEAK = {
    Said.VAGUE: "general-name",
    Said.TRACE: "fragments",
    Said.OTHER: "someone-else",
    Said.DOUBT: "not-asserted",
}
"""Rules by what is said, where that never counts against the model."""
_TIMES = word_set("facts", "times")
_REFUSING = DENYING | {"avoid", "cannot", "dont", "don't"}
_OTHERS = word_set("mentions", "others")
_NAMED = re.compile(
    r"^(?:[^\w\n]|[\d_])*+(?:patient(?: name)?[^\w\n]+)?(?i:mr|mrs|ms|miss|dr)?\.? *"
    r"(?P<name>[A-Z][a-z]+(?:[ -][A-Z][a-z]+)+)"
    r"(?:['’]s\b|,|[^\w\n]* (?:has|is|was|had|takes|took|lives|wants|asked|needs)\b)",
    re.MULTILINE,
)
"""A line that begins with a full name: the first is the patient's, and what follows is about whoever was named last."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Status of a fact in a text."""

    status: str
    spans: tuple[Span, ...] = ()
    reason: str = ""
    rule: str = ""
    certain: bool = True
    rival: tuple[Span, ...] = ()
    """What speaks against a plain statement."""


def decide(statements: Sequence[Statement], *, unnamed: bool = False) -> Outcome:
    """The best statement stands; what speaks against it makes it unclear.

    `unnamed`: no word of the text can be the fact.
    """
    of = {said: [statement for statement in statements if statement.said == said] for said in Said}
    said = next(filter(of.get, Said), None)
    if said is None:
        return Outcome(ABSENT, (), "not stated", "unnamed" if unnamed else "no-words", certain=unnamed)
    best = of[said][0]
    if said == Said.PLAIN:
        rival = next((s for s in (*of[Said.CLASH], *of[Said.DENIED]) if s.sure), None)
        if rival is None:
            return Outcome(RETAINED, best.spans, "", "plain")
        return Outcome(RETAINED, best.spans + rival.spans, f"also: {rival.reason}", "rival", False, rival.spans)
    if said in _WEAK:
        certain = said == Said.OTHER and all(s.said == Said.OTHER and s.sure for s in statements)
        return Outcome(_STATUS.get(said, ABSENT), best.spans, best.reason, _WEAK[said], certain)
    best = max(of[said], key=lambda s: s.sure)
    clear = best.sure and not (said == Said.DENIED and of[Said.PART])
    return Outcome(_STATUS[said], best.spans, best.reason, best.rule, clear)


# ---- essential parts


def hold_to_essential(fact: str, parts: Sequence[str], document: Document, outcome: Outcome) -> Outcome:
    """A statement without an essential part ("methotrexate 15 mg" without "weekly") counts as absent.

    Other words may say most parts, so that is seldom certain. It is where the part is an interval that stands nowhere
    in the text, and no line about the medicine says when or how often it is taken.
    """
    if outcome.status not in (RETAINED, PARTIAL):
        return outcome
    # Sentences that state the fact, and others that name the same thing; a row of a table is one place.
    concepts = {term.concept.id for term in find_terms(fact)}
    by_kind = term_index(document).by_kind
    named = (*by_kind.get(DRUG, ()), *by_kind.get(CONDITION, ()))
    places = [*outcome.spans, *((term.first, term.last) for term in named if term.concept.id in concepts)]
    sentences = {(document.sentence_span(first)[0], document.sentence_span(last)[1]) for first, last in places}
    missing = [part for part in parts if not any(_states(part, fact, document, sentence) for sentence in sentences)]
    if not missing:
        return outcome
    untimed = not any(_timed(document, *sentence) for sentence in sentences) and all(
        _rates(part) and not _states(part, fact, document, (0, len(document))) for part in missing
    )
    rule = "no-interval" if untimed else "essential"
    reason = f"without its essential part: {', '.join(missing)}"
    return replace(outcome, status=ABSENT, reason=reason, rule=rule, certain=untimed, rival=())


def _timed(document: Document, first: int, stop: int) -> bool:
    """Whether the lines of a place say when or how often: "weekly", "on Mondays", "see chart"."""
    first = bisect_left(document.lines, document.lines[first])
    stop = bisect_right(document.lines, document.lines[stop - 1])
    return bool(frequencies_between(document, first, stop)) or not _TIMES.isdisjoint(document.words[first:stop])


def _rates(part: str) -> set[float]:
    wanted = read(part)
    return {rate.per_day for rate in frequencies_between(wanted, 0, len(wanted))}


def _states(part: str, fact: str, document: Document, within: Span) -> bool:
    """Whether the interval, the figure, the named thing or the words of a part stand in a range of a text."""
    wanted = read(part)
    first, stop = within
    rates = _rates(part)
    if rates:
        per_day = [rate.per_day for rate in frequencies_between(document, first, stop)]
        return all(any(same(rate, other, 0.01) for other in per_day) for rate in rates)
    figures = {(amount.value, amount.dimension) for amount in amounts(wanted)}
    stated = {(amount.value, amount.dimension) for amount in amounts(document) if first <= amount.first < stop}
    concepts = _telling(part, fact)
    if (figures and figures <= stated) or (concepts and concepts <= _named(document, within)):
        return True
    if not DENYING.isdisjoint(wanted.words) and _REFUSING.isdisjoint(document.words[first:stop]):
        return False  # "never crushed", "must not be crushed"
    content = [word for word in wanted.words if word not in FUNCTION and word not in DENYING]
    return bool(content) and set(map(loose_stem, content)) <= set(loose_stems(document)[first:stop])


@lru_cache(maxsize=1024)
def _telling(part: str, fact: str) -> frozenset[str]:
    """What a part names, unless the rest of the fact says it as well: a brand, the strength of an insulin."""
    rest = read(re.sub(re.escape(part), " ", fact, flags=re.IGNORECASE))
    concepts = frozenset(term.concept.id for term in find_terms(part))
    return frozenset() if concepts <= _named(rest, (0, len(rest))) else concepts


def _named(document: Document, within: Span) -> frozenset[str]:
    """Things that are named there, and what they are a kind of."""
    terms = chain.from_iterable(term_index(document).by_kind.values())
    concepts = {term.concept for term in terms if within[0] <= term.first < within[1]}
    return frozenset(concept.id for concept in concepts).union(*map(ids_above, concepts))


# ---- whom the words are about


def unsure_of_person(fact: str, document: Document, outcome: Outcome) -> Outcome:
    """What rests on words that may be about somebody else, or only seem to be, is not certain."""
    if not outcome.certain or not outcome.spans:
        return outcome
    if outcome.status in (RETAINED, PARTIAL):
        subjects = [_named_subject(document, first) for first, _ in outcome.spans]
        if not all(subjects):
            return outcome
        told_of = {*_patient(document), *tokenise(fact)}
        if _OTHERS.isdisjoint(told_of) and told_of.isdisjoint(subjects):
            return replace(outcome, reason=f"perhaps of {subjects[0].capitalize()}", rule="named-person", certain=False)
        return outcome
    for place in (document.starts[first] for first, _ in outcome.spans):
        names = [line["name"] for line in _NAMED.finditer(document.raw) if line.start() <= place]
        if names and names[-1] != names[0]:
            return replace(outcome, certain=False)
    # a comma straight before the words, or before the "no": "sister died suddenly at nineteen, no asthma, vegan"
    begins_item = all("," in "".join(document.gaps[max(1, first - 1) : first + 1]) for first, _ in outcome.spans)
    return replace(outcome, certain=False) if outcome.rule == "someone-else" and begins_item else outcome


def _is_name(document: Document, place: int) -> bool:
    """Whether a token looks like the name of a person: a capital, and no word that the vocabulary knows."""
    word = document.words[place]
    spelled = document.spelled(place)
    known = lexicon().knows(fold(word)) or word in words_of("filler") or word in cue_table().no_objects
    title = document.segment_kinds[document.segments[place]] in (HEADING, LABEL)
    return len(word) > 2 and spelled[0].isupper() and spelled[1:].islower() and not (known or title)


def _named_subject(document: Document, place: int) -> str:
    """The name that begins the clause of a token, with a verb behind it: "Jarek stopped smoking"; else ""."""
    first = document.clause_span(place)[0]
    verb = " ".join(document.words[first + 1 : first + 2])
    table = cue_table()
    acts = verb in table.finite or verb in table.denying or verb.endswith("ed")
    told = acts and verb not in table.reporting and not document.gaps[first + 1]
    return document.words[first] if told and _is_name(document, first) else ""


@once
def _patient(document: Document) -> frozenset[str]:
    """The words of the first name in a text, in full or as the subject of a clause: it is the patient's."""
    for place, start in enumerate(document.starts[:-1]):
        if document.raw[start].isupper() and _is_name(document, place):
            if not document.gaps[place + 1] and _is_name(document, place + 1):
                return frozenset(document.words[place : place + 2])
            if _named_subject(document, place) == document.words[place]:
                return frozenset((document.words[place],))
    return frozenset()
