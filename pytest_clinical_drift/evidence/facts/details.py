"""Details of a stated condition: qualifiers, dates, numbers and words that stand around its mentions."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.intentions import intention
from pytest_clinical_drift.evidence.facts.kits import carries_none
from pytest_clinical_drift.evidence.facts.measurement import assess_measurement, states_goal
from pytest_clinical_drift.evidence.facts.outcome import CONTRADICTED, RETAINED
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.reading.dates import dates
from pytest_clinical_drift.evidence.reading.quantities import Amount, amounts, same
from pytest_clinical_drift.evidence.reading.wording import WordPart
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, DRUG, QUALIFIER, Concept
from pytest_clinical_drift.evidence.text import CELL, Document

_BESIDE = 6  # tokens around a mention in which another value of a qualifier belongs to it
_MOST = 100  # mentions that are looked at, so that endless repetition stays linear
_STATED, _MISSING = "", "missing"
_EYE = ("optic", "retin", "macul", "catar", "glauc", "uveitis", "iritis", "eye")
_FITTED = frozenset(("implanted", "fitted", "inserted", "placed", "situ", "in situ", "implantation", "insertion"))
_SHOWS = frozenset(("showed", "shows", "showing", "revealed", "reveals", "found", "confirmed", "demonstrated"))
_COMPLETE = frozenset(("both", "complete", "completed", "date", "full", "fully"))


class Surroundings:
    """The mentions of a condition, and what stands with them: their sentences, the next ones, their table rows."""

    def __init__(self, document: Document, anchors: Sequence[Term]) -> None:
        self.document = document
        self.anchors = anchors[:_MOST]
        self.sentences = {document.sentences[a.first] for a in self.anchors}
        self.rows = {
            document.lines[a.first] for a in self.anchors if document.segment_kinds[document.segments[a.first]] == CELL
        }
        self.evidence: list[tuple[int, int]] = []
        self.missing: list[str] = []

    def near(self, token: int) -> bool:
        """In the sentence of a mention, one beside it, or the same row."""
        sentence = self.document.sentences[token]
        return not self.sentences.isdisjoint((sentence - 1, sentence, sentence + 1)) or self.in_row(token)

    def in_row(self, token: int) -> bool:
        """In the table row of a mention."""
        return bool(self.rows) and self.document.lines[token] in self.rows

    def check(self, fact: Fact) -> str:
        """A detail that conflicts with the fact, or ""; what is not stated is added to `missing`."""
        for qualifier in fact.qualifiers:
            state = self.qualifier(qualifier)
            if state not in (_STATED, _MISSING):
                return state
            if state == _MISSING:
                self.missing.append(qualifier.name)
        for check in (self._medicines, self._measures, self._dates, self._numbers, self._words):
            conflict = check(fact)
            if conflict:
                return conflict
        return ""

    def qualifier(self, wanted: Concept) -> str:
        """ "" when the qualifier is stated, "missing", or the conflict."""
        others: list[Term] = []
        apart: list[Term] = []
        for term in term_index(self.document).by_kind.get(QUALIFIER, ()):
            if term.concept.group != wanted.group or not self.near(term.first):
                continue
            if term.weak and not self.document.spelled(term.first).isupper():
                continue
            if term.concept is wanted or wanted.name in term.concept.name.split("-"):
                if self._beside(term):
                    self.evidence.append((term.first, term.last))
                    return _STATED
                if self._of_a_mention(term):
                    apart.append(term)
            elif self._beside(term):
                others.append(term)
        # A condition that carries the qualifier in its own name ("severe asthma") states it too.
        if any(wanted.name in a.concept.name for a in self.anchors):
            return _STATED
        if apart and not (others and wanted.group == "side"):
            self.evidence.append((apart[0].first, apart[0].last))
            return _STATED
        if others:
            self.evidence.append((others[0].first, others[0].last))
            return f"{others[0].concept.name} instead of {wanted.name}"
        return _MISSING

    def _of_a_mention(self, term: Term) -> bool:
        """In the sentence or row of a mention, or in a sentence beside it that names no other condition."""
        sentence = self.document.sentences[term.first]
        if sentence in self.sentences or self.in_row(term.first):
            return True
        first, stop = self.document.sentence_span(term.first)
        return not term_index(self.document).between(CONDITION, first, stop)

    def _beside(self, term: Term) -> bool:
        """Within a few words of a mention, in its sentence or row, with no other condition in between."""
        document = self.document
        for anchor in self.anchors:
            same_sentence = document.sentences[anchor.first] == document.sentences[term.first]
            same_row = self.in_row(term.first) and document.lines[anchor.first] == document.lines[term.first]
            before = term.last < anchor.first
            low, high = (term.last + 1, anchor.first) if before else (anchor.last + 1, term.first)
            if not (same_sentence or same_row) or high - low > _BESIDE:
                continue
            conditions = term_index(document).between(CONDITION, low, high)
            between = any(t.concept is not anchor.concept for t in conditions)
            if not between and not any(";" in gap for gap in document.gaps[low : high + 1]):
                return True
        return False

    def _medicines(self, fact: Fact) -> str:
        """ "acute dystonia with haloperidol": the medicine that the finding goes with."""
        index = term_index(self.document)
        for medicine in fact.medicines if fact.kind == "diagnosis" else ():
            own = [*index.exact.get(medicine.id, ()), *index.within.get(medicine.id, ())]
            if any(self.near(t.first) for t in own):
                continue
            others = [
                t
                for anchor in self.anchors
                for t in index.medicines_between(*self.document.sentence_span(anchor.first))
                if t.concept.kind == DRUG and not t.concept.ancestors.isdisjoint(medicine.ancestors)
            ]
            if others and not own:
                self.evidence.append((others[0].first, others[0].last))
                return f"{others[0].concept.name} instead of {medicine.name}"
            self.missing.append(medicine.name)
        return ""

    def _measures(self, fact: Fact) -> str:
        for measure, amount in dict(fact.measures).items():
            outcome = assess_measurement(self.document, measure, amount, goal=states_goal(fact.document, measure))
            if outcome.status == CONTRADICTED:
                self.evidence += outcome.evidence
                return outcome.reason
            if outcome.status == RETAINED:
                self.evidence += outcome.evidence
            else:
                self.missing.append(measure.name)
        return ""

    def _dates(self, fact: Fact) -> str:
        for date in fact.dates:
            agreeing = [d for d in dates(self.document) if date.agrees(d) and self.near(d.first)]
            if agreeing:
                self.evidence.append((agreeing[0].first, agreeing[0].last))
            else:
                self.missing.append("date")
        return ""

    def _numbers(self, fact: Fact) -> str:
        for wanted in fact.numbers:
            near = [a for a in amounts(self.document) if self.near(a.first)]
            alike = [a for a in near if _same_number(a, wanted) and _comparable(a, wanted)]
            rivals = [a for a in near if a.dimension == wanted.dimension and wanted.dimension not in ("", "time")]
            if alike and rivals and alike[0] not in rivals:
                alike = []
            current = [a for a in alike if not self._superseded(a, rivals)]
            if current:
                self.evidence.append((current[0].first, current[0].last))
                continue
            others = [a for a in rivals if a not in alike]
            if others:
                self.evidence.append((others[0].first, others[0].last))
                return f"{others[0].value:g} instead of {wanted.value:g}"
            self.missing.append(f"{wanted.value:g}")
        return ""

    def _superseded(self, amount: Amount, rivals: list[Amount]) -> bool:
        """ "down from 40 units a day": an earlier amount beside the present one."""
        before = self.document.words[max(0, amount.first - 2) : amount.first]
        return "from" in before and len(rivals) > 1

    def _words(self, fact: Fact) -> str:
        for part in fact.words:
            meant = intention(fact, part.text, self.document, self.near)
            if meant is not None:
                self.evidence += meant.evidence
                if meant.status == CONTRADICTED:
                    return meant.reason
                continue
            stated = any(
                self.near(place) for place in (*part.places(self.document), *_spelled_out(self.document, part))
            )
            if "word:carry" in part.ids and self.anchors and carries_none(self.document, self.anchors[0]):
                return "not carried"
            if stated or _implied(part, fact) or (fact.kind == "family" and "word:family" in part.ids):
                continue  # any relative who has it is the family
            if "word:missed" in part.ids and self._is_complete():
                return "stated as complete"
            against = self._against(part) or self._shows_something(fact, part)
            if against:
                return against
            self.missing.append(part.text)
        return ""

    def _against(self, part: WordPart) -> str:
        """What is stated near a mention and cannot hold together with a word of the fact; empty: nothing."""
        exact = term_index(self.document).exact
        rivals = [t for other in sorted(part.excludes) for t in exact.get(other, ()) if self.near(t.first)]
        rivals = [t for t in rivals if reading(self.document, t.first, t.last).affirmed]
        return f"{rivals[0].concept.name} is stated" if rivals else ""

    def _shows_something(self, fact: Fact, part: WordPart) -> str:
        """ "ECG showed atrial fibrillation" for "normal ECG": a finding of the test."""
        if part.text.lower() != "normal" or fact.conditions[0].group != "test":
            return ""
        for anchor in self.anchors:
            stop = min(self.document.sentence_span(anchor.first)[1], anchor.last + 8)
            shows = [i for i in range(anchor.last + 1, stop) if self.document.words[i] in _SHOWS]
            found = term_index(self.document).between(CONDITION, shows[0], stop) if shows else []
            if found and reading(self.document, found[0].first, found[0].last).affirmed:
                return f"{found[0].concept.name} is stated"
        return ""

    def nothing_specific(self, fact: Fact) -> bool:
        """A general symptom without any of the words that make it this one ("anxiety" of "job interview anxiety")."""
        general = all(c.group == "symptom" for c in fact.conditions) and (
            fact.conditions[0].name in ("anxiety", "stress", "pain")
            or not any(a.concept is fact.conditions[0] for a in self.anchors)
        )
        unsaid = bool(fact.words) and all(part.text in self.missing for part in fact.words)
        # "carbamazepine worsened the jerks": the jerks alone say nothing of it.
        without_medicine = bool(fact.medicines) and all(medicine.name in self.missing for medicine in fact.medicines)
        # "self-excluded from betting sites": what is done decides, not what it is done about.
        only_about = fact.words_first and len(fact.words) >= 2 and _is_object(fact)
        return unsaid and ((general and len(fact.words) >= 2) or without_medicine or only_about)

    def _is_complete(self) -> bool:
        """ "both doses", "up to date" beside a mention."""
        spans = {self.document.sentence_span(a.first) for a in self.anchors}
        return any(not _COMPLETE.isdisjoint(self.document.words[first:stop]) for first, stop in spans)


_LEADING = frozenset(("from", "to", "after", "about", "of", "because", "despite", "during", "against"))


def _is_object(fact: Fact) -> bool:
    """Whether a preposition leads to the condition that a fact names: "exposed to chickenpox"."""
    terms = term_index(fact.document).exact.get(fact.conditions[0].id, ())
    return any(fact.document.words[term.first - 1] in _LEADING for term in terms if term.first)


def _same_number(stated: Amount, wanted: Amount) -> bool:
    """The same figure, or the same stretch of time in other units: "three weeks" / "21 days"."""
    both_timed = stated.dimension == wanted.dimension == "time"
    if both_timed:
        return same(stated.base, wanted.base, 0.02 * wanted.base)  # "7 months" is not 7 weeks
    return same(stated.value, wanted.value)


def _comparable(stated: Amount, wanted: Amount) -> bool:
    """The same dimension, none stated, or "28/40" for weeks of pregnancy."""
    if wanted.dimension == "time" and stated.ratio.endswith("/40"):
        return True
    return not stated.dimension or not wanted.dimension or stated.dimension == wanted.dimension


def _implied(part: WordPart, fact: Fact) -> bool:
    """What goes without saying: the organ ("optic neuritis in the left eye"), that a device was fitted."""
    if any(c.group == "device" for c in fact.conditions) and part.text.lower() in _FITTED:
        return True
    return part.text.lower() == "eye" and any(root in c.name for c in fact.conditions for root in _EYE)


def _spelled_out(document: Document, part: WordPart) -> list[int]:
    """An abbreviation of the fact by the first letters of words in the text: "ER" / "oestrogen receptor"."""
    letters = part.text.lower()
    if not part.text.isupper() or not 2 <= len(letters) <= 5:
        return []
    words = document.words
    found = []
    for position in range(len(words) - len(letters) + 1):
        initials = [word[:1] for word in words[position : position + len(letters)]]
        # British "oe-" for American "e-": "oestrogen receptor" is ER as well.
        opens = initials[0] == letters[0] or words[position].startswith("o" + letters[0])
        if opens and initials[1:] == list(letters[1:]):
            found.append(position)
    return found
