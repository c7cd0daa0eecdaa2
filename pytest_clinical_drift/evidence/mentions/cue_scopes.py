"""Every cue of a document with the tokens it affects."""

from itertools import compress

from pytest_clinical_drift.evidence.mentions.cues import HISTORICAL, HYPOTHETICAL, NEGATED, OTHER_PERSON, PSEUDO, Rule
from pytest_clinical_drift.evidence.mentions.people import PersonFinder
from pytest_clinical_drift.evidence.mentions.scopes import LIMIT, Scope, answered_by
from pytest_clinical_drift.evidence.reading.text import NUMBER, Document
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.lexicon import Term
from pytest_clinical_drift.evidence.terms.vocabulary import CUE


class ScopeBuilder(PersonFinder):
    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._scopes: list[Scope] = []

    def of_document(self) -> list[Scope]:
        document, table, words, gaps = self._document, self._table, self._words, self._gaps
        for cue in term_index(document).by_kind.get(CUE, ()):
            rule = table.rules[cue.concept.id]
            if rule.roles[0] != PSEUDO:
                self._apply(cue, rule)
        for person in compress(range(len(words)), map(table.kin.__contains__, words)):
            self._add(self.person(person), person, person, (OTHER_PERSON,))
        for index, gap in enumerate(gaps):
            if gap:
                self._at_gap(index, words[index], gap)
        if words:
            self._question(len(document) - 1)  # the last sentence has no gap after it
        return self._without_denied_cues()

    def _without_denied_cues(self) -> list[Scope]:
        """ "no history of X", "no X planned": a cue that is itself denied says nothing more."""
        denied: set[int] = set()
        for scope in self._scopes:
            if scope.role == NEGATED and scope.cue_last < scope.first:
                denied.update(range(scope.first, scope.last + 1))
        if not denied:
            return self._scopes
        return [
            scope
            for scope in self._scopes
            if scope.role not in (HISTORICAL, HYPOTHETICAL) or scope.cue_first not in denied
        ]

    def _add(self, span: tuple[int, int] | None, cue_first: int, cue_last: int, roles: tuple[str, ...]) -> None:
        if span is not None:
            for role in roles:
                self._scopes.append(Scope(span[0], span[1], cue_first, cue_last, role))

    def _apply(self, cue: Term, rule: Rule) -> None:
        first, last = cue.first, cue.last
        ahead = not self._table.not_yet.isdisjoint(self._words[max(0, first - 2) : first])
        if ahead and HISTORICAL in rule.roles and NEGATED not in rule.roles:
            return  # "will be stopped": nothing has ended
        direction = rule.direction
        if direction in ("auto", "object", "subject"):
            has_object = self._has_object(last)
            if direction == "object" and not has_object:
                if first and self._words[first - 1] in self._table.offers:  # "X offered, declined"
                    self._add(self.backward(first - 2, "phrase"), first, last, rule.roles)
                return
            if direction == "subject" and has_object:
                return
            direction = "forward" if has_object else "backward"
        if direction in ("forward", "both"):
            after = last + 1
            if rule.verb:
                span = self._verb_scope(after)
            elif self._words[last] == "without" and self._is_cancelled(first, after):
                return
            else:
                span = self.forward(after, rule.reach)
            self._add(span, first, last, rule.roles)
        if direction in ("backward", "both"):
            span = self.backward(first - 1, rule.reach)
            if span and span[0] > 0 and self._words[span[0] - 1] in self._table.not_yet:
                return  # "once the rash has resolved"
            self._add(span, first, last, rule.roles)

    def _has_object(self, last: int) -> bool:
        """Whether a participle acts on what follows ("stopped X") and not on what stands before ("X was stopped")."""
        document, table = self._document, self._table
        after = last + 1
        if after >= len(document) or document.gaps[after] not in ("", "/"):
            return False
        return document.words[after] not in table.no_objects and document.kinds[after] != NUMBER

    def _is_cancelled(self, first: int, after: int) -> bool:
        """ "without her inhaler" presupposes it, "never goes out without" affirms it."""
        words = self._words
        if after < len(words) and words[after] in self._table.possessives:
            return True
        before = words[max(self._document.clause_span(first)[0], first - 5) : first]
        return "never" in before or "not" in before

    def _verb_scope(self, after: int) -> tuple[int, int] | None:
        """What "not" and "never" deny: it depends on the verb."""
        words, gaps, table = self._words, self._gaps, self._table
        if after >= len(words):
            return None
        stop = self._document.sentence_span(after - 1)[1]
        verb = after
        while verb + 1 < stop and words[verb] in table.adverbs and gaps[verb + 1] == "":
            if words[verb + 1] in table.definite or words[verb + 1] == "any":
                break
            verb += 1
        if verb >= stop or gaps[verb] not in ("", "-"):
            return None
        word = words[verb]
        if word in table.neutral:
            return None
        if word not in table.denying and verb + 1 < stop and words[verb + 1] in table.definite:
            return verb, verb
        span = self.forward(verb, "list")
        if span is None:
            return None
        # "does not drive (hypo unawareness)": what stands in brackets after a denied act explains it
        bracket = next((i for i in range(verb + 1, span[1] + 1) if "(" in gaps[i]), None)
        return (span[0], bracket - 1) if bracket is not None else span

    def _at_gap(self, index: int, word: str, gap: str) -> None:
        """Cues that are punctuation or stand right after it: "?PE", "Fever: no", "Fever | none"."""
        document, table = self._document, self._table
        if "?" in document.raw[document.starts[index] - 1 : document.starts[index]]:
            phrase = self.forward(index + 1, "phrase")
            self._scopes.append(Scope(index, phrase[1] if phrase else index, -1, -1, HYPOTHETICAL))
        if index and "?" in gap and document.sentences[index] != document.sentences[index - 1]:
            self._question(index - 1)
        if word in table.answer_heads and (gap in ("\n", ":", "–") or gap.endswith((":", '"'))):
            answered = answered_by(document, table, index)
            if answered is not None:
                self._scopes.append(answered)

    def _question(self, last: int) -> None:
        """A whole sentence that ends in a question mark."""
        document = self._document
        first = document.sentence_span(last)[0]
        if "?" in document.raw[document.ends[last] : document.ends[last] + 20] and last - first < LIMIT:
            self._scopes.append(Scope(first, last, -1, -1, HYPOTHETICAL))
