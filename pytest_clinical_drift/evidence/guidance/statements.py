"""Statements that amount to advice: "no ibuprofen", "your apixaban is 5 mg", a remedy one is to ask for."""

from __future__ import annotations

from pytest_clinical_drift.evidence.guidance.amounts import read_amounts
from pytest_clinical_drift.evidence.guidance.draft import Draft, Mood
from pytest_clinical_drift.evidence.guidance.objects import Mention
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.words import listed

_BEFORE_NO = frozenset(["and", "so", "is", "but", "drink", "take", "have", "use", "with"])
_NO_MORE = frozenset(["more", "less", "longer", "need", "change", "interaction", "problem"])
_ASKS = frozenset(["ask", "request", "get", "asking", "book", "arrange", "schedule"])
_ASKS_ABOUT = frozenset(["about", "whether", "if", "non", "without", "instead"])
_ON_MEDICINE = frozenset(("for", "more", "less", "against"))
_SHORT_CELL, _SHORT_ITEM = 4, 12


class StatementReader:
    """Adds the statements of one sentence to its drafts."""

    def __init__(self, sentence: Sentence, drafts: list[Draft]) -> None:
        self._sentence = sentence
        self._words = sentence.view.words
        self._drafts = drafts

    def read(self) -> None:
        """Find "no X", regimens and remedies to ask for."""
        if not self._sentence.mentions and not self._sentence.label_mentions:
            return
        self._no_thing()
        self._regimen()
        self._asked_for()

    def _claimed(self, at: int) -> bool:
        return any(draft.first <= at < draft.end for draft in self._drafts)

    def _no_thing(self) -> None:
        """ "No ibuprofen", "no alcohol during the course"."""
        words, sentence = self._words, self._sentence
        for at in range(sentence.first, sentence.end - 1):
            if words[at] != "no" or words[at + 1] in _NO_MORE or sentence.limited(at) or self._claimed(at):
                continue
            before = words[at - 1] if at > sentence.first else ""
            if before in ("is", "are") and words[at - 2 : at - 1] == ["there"]:
                continue
            if not (at == sentence.first or sentence.opens(at) or before in _BEFORE_NO):
                continue
            targets = self._listed_from(at)
            if targets:
                # "drink no alcohol": the verb's own directive would read as its opposite
                self._drafts[:] = [
                    d
                    for d in self._drafts
                    if not (d.end <= at <= d.end + 1 and not d.mood.negated and d.effect == "for")
                ]
                self._drafts.append(Draft(at, targets[0].end, "avoid", "against", Mood(), targets, "no"))

    def _listed_from(self, at: int) -> tuple[Mention, ...]:
        """The things behind "no": the first one and those listed with it."""
        listed: list[Mention] = []
        for mention in self._sentence.mentions:
            if mention.kind not in ("drug", "class", "food", "activity") or mention.first <= at:
                continue
            if not listed:
                if mention.first > at + 3:
                    return ()
                listed.append(mention)
            elif mention.first - listed[-1].end <= 2 and mention.kind == listed[-1].kind:
                joined = self._sentence.view.gaps[mention.first] in (",", "(")
                if joined or self._words[mention.first - 1] in ("or", "and"):
                    listed.append(mention)
        return tuple(listed)

    def _asked_for(self) -> None:
        """ "Ask your GP for Augmentin": a remedy that one is to ask for is recommended."""
        for draft in list(self._drafts):
            if draft.verb in _ASKS and draft.effect == "care" and not draft.mood.negated and not draft.mood.no_need:
                remedy = self._remedy(draft)
                if remedy is not None:
                    mood = Mood("may")
                    self._drafts.append(Draft(remedy.first, remedy.end, "take", "for", mood, (remedy,), "ask"))

    def _remedy(self, draft: Draft) -> Mention | None:
        for mention in self._sentence.mentions:
            if not mention.medicine or not draft.end <= mention.first <= draft.end + 7:
                continue
            between = self._words[draft.end : mention.first]
            wanted = draft.verb == "request" or ("for" in between and _ASKS_ABOUT.isdisjoint(between))
            if wanted and self._sentence.same_clause(draft.first, mention.first):
                return mention
        return None

    def _regimen(self) -> None:
        """A medicine with its amount or frequency, and nothing that advises about it yet."""
        sentence = self._sentence
        if sentence.past or (sentence.cell and sentence.end - sentence.first <= _SHORT_CELL):
            return
        medicines = [m for m in sentence.mentions if m.medicine and not sentence.limited(m.first) and self._free(m)]
        if not medicines and sentence.cell:
            medicines = [m for m in sentence.label_mentions if m.medicine]
        if not medicines:
            return
        medicine = next((m for m in medicines if m.kind == "drug"), medicines[0])
        first = max(medicine.first, sentence.first)
        end = max(medicine.end, sentence.first + 1)
        if sentence.has_regimen():
            own = self._with_own_amount(medicines)
            for each, stretch in own or [(medicine, None)]:
                if not self._talked_about(each):
                    place = (each.first, each.end) if stretch is not None else (first, end)
                    self._drafts.append(
                        Draft(*place, "take", "for", Mood(), (each,), "is", statement=True, stretch=stretch)
                    )
        elif sentence.item and medicine.first == sentence.first and sentence.end - medicine.end <= _SHORT_ITEM:
            # A list item that opens with a medicine offers it: "Paracetamol if it's sore".
            self._drafts.append(Draft(first, end, "take", "for", Mood("may"), (medicine,), "is", statement=True))

    def _with_own_amount(self, medicines: list[Mention]) -> list[tuple[Mention, tuple[int, int] | None]]:
        """Several medicines, each with its amount behind it: "bisoprolol 2.5 mg daily and atorvastatin 20 mg"."""
        if len(medicines) < 2 or medicines[0].first < self._sentence.first:
            return []
        ends = [medicine.first for medicine in medicines[1:]] + [self._sentence.end]
        found: list[tuple[Mention, tuple[int, int] | None]] = []
        for medicine, end in zip(medicines, ends, strict=True):
            if read_amounts(self._words[medicine.end : end]).regimen:
                found.append((medicine, (medicine.first, end)))
        return found

    def _free(self, medicine: Mention) -> bool:
        """Whether no directive stands in the clause of a medicine."""
        return not any(
            draft.effect in ("for", "more", "less", "against", "care")
            and self._sentence.same_clause(medicine.first, draft.first)
            for draft in self._drafts
        )

    def _talked_about(self, medicine: Mention) -> bool:
        """ "it's tempting to take 100 mg", "she takes 5 mg": talked about or told, not a regimen to follow."""
        start = self._sentence.clause_first(medicine.first)
        if not listed("describes").isdisjoint(self._words[start : max(start, medicine.first)]):
            return True
        for hit in self._sentence.hits:
            if hit.category != "verb" or hit.effect not in _ON_MEDICINE or hit.end > medicine.first:
                continue
            gerund = self._words[hit.first].endswith("ing") and self._words[hit.first - 1] not in ("the", "a", "your")
            if self._claimed(hit.first) or not (gerund or self._words[hit.first - 1] == "to"):
                continue
            if self._sentence.same_clause(hit.first, medicine.first):
                return True
        return False
