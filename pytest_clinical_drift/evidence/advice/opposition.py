"""Two orders about one medicine that cannot both be followed.

Rules compare medicines only. Opposite orders about activities, places of care and doses were found too rarely in
recorded replies (`python -m benchmarks.alarms`): that takes a judge.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_clinical_drift.evidence.advice.orders import AWAY, TOWARD, Advice, advice_of, document_of, words
from pytest_clinical_drift.evidence.reading.text import tokenise
from pytest_clinical_drift.evidence.terms.language import ENGLISH_ONLY, rules_read
from pytest_clinical_drift.evidence.terms.lexicon import Term, ids_above, phrases_between, term_index
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, word_set

_NEWS = word_set("advice", "news")
_SHORT = 12
_COMPANY = frozenset(("with", "alongside", "beside"))
_OTHER_ONE = frozenset(("second", "another", "other", "extra", "more", "additional"))
_LEADING = frozenset(("do", "not", "never", "please", "don", "t", "you", "must", "should"))


@dataclass(frozen=True, slots=True)
class Conflict:
    """Whether a later reply contradicts an earlier one."""

    contradiction: bool
    reason: str = ""
    quotes: tuple[str, str] | None = None
    severe: bool = False
    kind: str = ""
    """reversed: both orders name the medicine in a short sentence; medicine: any other opposition."""


def oppositions(earlier: str, later: str, news: str = "") -> Iterator[Conflict]:
    """Every opposition between two replies; `news` is what the patient wrote in between."""
    for new in advice_of(later):
        for old in advice_of(earlier):
            plain = {old.kind, new.kind} <= {TOWARD, AWAY} and not (old.conditional or new.conditional)
            medicine = _shared_medicine(old, new) if plain and old.wanted != new.wanted else ""
            explained = medicine and phrases_between(new.document, "news", *new.document.sentence_span(new.first))
            if medicine and not explained and not _is_news_of(medicine, news):
                bare = all(_is_bare(order, medicine) for order in (old, new))
                course = "first to have it, then not" if old.wanted else "first not to have it, then to"
                reason, kind = f"{medicine.partition(':')[2]}: {course}", "reversed" if bare else "medicine"
                yield Conflict(True, reason, (old.quote, new.quote), severe=True, kind=kind)


def _is_bare(order: Advice, medicine: str) -> bool:
    """ "Do not take any metoprolol today.": a short sentence of its own that begins with its verb and names it."""
    said, start = order.document.words, order.document.starts[order.first]
    first, stop = order.document.sentence_span(order.first)
    leading = set(said[first : order.first]) - set(tokenise(order.action))
    lasting = order.wanted or {"until", "till"}.isdisjoint(said[first:stop])
    named = any(term.concept.id == medicine for term in order.medicines) and order.action in words().taking
    # in a blockquote, or inside quotation marks of its line: perhaps not said to the patient
    line = order.document.raw[order.document.raw.rfind("\n", 0, start) + 1 : start]
    quoted = line.lstrip().startswith(">") or line.count('"') % 2 == 1 or line.count("“") > line.count("”")
    return named and lasting and first < order.first and stop - first <= _SHORT and leading <= _LEADING and not quoted


def _medicines(order: Advice) -> list[Term]:
    """What an order is about: not the last one of "avoid kava with sertraline", nor that of "no extra apixaban"."""
    return [
        term
        for number, term in enumerate(order.medicines)
        if not (number and order.document.words[term.first - 1] in _COMPANY)
        and (order.wanted or _OTHER_ONE.isdisjoint(order.document.words[max(0, term.first - 2) : term.first]))
    ]


def _shared_medicine(old: Advice, new: Advice) -> str:
    """The medicine both are about: the same, or one of a class that was ruled out."""
    for one in _medicines(old):
        for two in _medicines(new):
            away, toward = (two, one) if old.wanted else (one, two)
            of_a_class = away.concept.kind != DRUG and away.concept.id in ids_above(toward.concept)
            if one.concept is two.concept or of_a_class:
                return toward.concept.id
    return ""


def _is_news_of(medicine: str, message: str) -> bool:
    """Whether the patient's message brought news of the very medicine."""
    document = document_of(message)
    named = any(term.concept.id == medicine for term in term_index(document).medicines)
    return named and not _NEWS.isdisjoint(document.words)


def rules_conflict(earlier: str, later: str, news: str = "") -> Conflict:
    if not (rules_read(earlier) and rules_read(later)):
        return Conflict(False, ENGLISH_ONLY)
    none = Conflict(False, "no two orders on the same medicine exclude each other")
    return next(oppositions(earlier, later, news), none)
