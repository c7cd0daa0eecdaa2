"""Statements that amount to advice: "no ibuprofen", "your apixaban is 5 mg", a remedy one is to ask for."""

from __future__ import annotations

import re

from pytest_clinical_drift.evidence.guidance.amounts import read_amounts
from pytest_clinical_drift.evidence.guidance.draft import Draft, Mood
from pytest_clinical_drift.evidence.guidance.numbers import number
from pytest_clinical_drift.evidence.guidance.objects import Mention
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.words import COLON, listed

_BEFORE_NO = frozenset(["and", "so", "is", "but", "drink", "take", "have", "use", "with"])
_NO_MORE = frozenset(["more", "less", "longer", "need", "change", "interaction", "problem"])
_ASKS = frozenset(["ask", "request", "get", "asking", "book", "arrange", "schedule"])
_ASKS_ABOUT = frozenset(["about", "whether", "if", "non", "without", "instead"])
_ON_MEDICINE = frozenset(("for", "more", "less", "against"))
_REJECTS = frozenset(["no", "not", "avoid", "stop", "never", "unsafe", "don", "unsuitable", "stopped", "paused", "off"])
_WORD = re.compile(r"[a-z]+")
_MAKES = frozenset(["make", "makes"])
_TELLS = frozenset(["is", "are", "was", "were", "can", "may", "has", "have", "will", "causes", "makes", "works", "and"])
_SHORT_CELL, _SHORT_ITEM = 4, 12


class StatementReader:
    """Adds the statements of one sentence to its drafts."""

    def __init__(self, sentence: Sentence, drafts: list[Draft]) -> None:
        self._sentence = sentence
        self._words = sentence.view.words
        self._drafts = drafts

    def read(self) -> None:
        """Find "no X", regimens and remedies to ask for."""
        self._nothing_to_eat()
        if not self._sentence.mentions and not self._sentence.label_mentions:
            return
        self._no_thing()
        self._regimen()
        self._served()
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
        if sentence.past or (sentence.cell and self._bare_cell()):
            return
        medicines = [m for m in sentence.mentions if m.medicine and not sentence.limited(m.first) and self._free(m)]
        words = self._words[sentence.first : sentence.end]
        if not medicines and (sentence.cell or not listed("dose_words").isdisjoint(words)) and not self._drafts:
            medicines = [m for m in sentence.label_mentions if m.medicine]
        if not medicines:
            return
        medicine = next((m for m in medicines if m.kind == "drug"), medicines[0])
        first = max(medicine.first, sentence.first)
        end = max(medicine.end, sentence.first + 1)
        if sentence.has_regimen() and self._in_its_clause(medicine):
            own = self._with_own_amount(medicines)
            for each, stretch in own or [(medicine, None)]:
                if not self._talked_about(each):
                    place = (each.first, each.end) if stretch is not None else (first, end)
                    action = "carry" if self._packed() else "take"
                    self._drafts.append(
                        Draft(*place, action, "for", Mood(), (each,), "is", statement=True, stretch=stretch)
                    )
        elif self._lasts(medicine):
            self._drafts.append(Draft(first, end, "take", "for", Mood(), (medicine,), "is", statement=True))
        elif self._offered(medicine):
            # A list item that opens with a medicine offers it: "Paracetamol if it's sore".
            action = "carry" if self._packed() else "take"
            self._drafts.append(Draft(first, end, action, "for", Mood("may"), (medicine,), "is", statement=True))

    def _in_its_clause(self, medicine: Mention) -> bool:
        """Whether the regimen stands in the medicine's clause, not in one before (", and the X won't mind")."""
        sentence = self._sentence
        start = sentence.clause_first(max(medicine.first, sentence.first))
        if start == sentence.first or medicine.first < sentence.first:
            return True
        return read_amounts(self._words[start : sentence.end]).regimen or "food_timing" in sentence.categories

    def _packed(self) -> bool:
        """Whether it stands in a packing list: to be carried, which is not to be taken."""
        labels = self._sentence.view.document.labels_of(self._sentence.view.origin[self._sentence.end - 1])
        return any(not listed("packing").isdisjoint(label.split()) for label in labels)

    def _bare_cell(self) -> bool:
        """A short cell is a heading of its row, unless it prescribes ("X 500 mg") and the row does not reject it."""
        sentence = self._sentence
        if sentence.end - sentence.first > _SHORT_CELL:
            return False
        document = sentence.view.document
        start = document.starts[sentence.view.origin[sentence.first]]
        line = document.raw[document.raw.rfind("\n", 0, start) + 1 :].partition("\n")[0].lower()
        return sentence.amounts().dose is None or not _REJECTS.isdisjoint(_WORD.findall(line))

    def _served(self) -> None:
        """ "Half a grapefruit each morning makes a light start": a food with how often, and nothing against it."""
        sentence = self._sentence
        foods = [m for m in sentence.mentions if m.kind == "food" and not sentence.limited(m.first)]
        if not foods or self._drafts or sentence.past or sentence.cell:
            return
        words = [self._words[at] for at in range(foods[0].first, sentence.end) if not sentence.limited(at)]
        until = next((at for at, word in enumerate(words) if word in ("and", "but")), len(words))
        served = not _MAKES.isdisjoint(words) and not listed("praised").isdisjoint(words)
        if (served or sentence.amounts().per_day is not None) and listed("speaks_against").isdisjoint(
            word for word in words[:until] if word not in _MAKES
        ):
            place = foods[0].first, foods[0].end
            self._drafts.append(Draft(*place, "eat", "for", Mood("may"), (foods[0],), "is", statement=True, weak=True))

    def _offered(self, medicine: Mention) -> bool:
        """Whether it opens a short list item that says no more of it ("Paracetamol if it's sore")."""
        sentence = self._sentence
        if not sentence.item or medicine.first != sentence.first or sentence.end - medicine.end > _SHORT_ITEM:
            return False
        return self._words[medicine.end] not in _TELLS if medicine.end < sentence.end else True

    def _lasts(self, medicine: Mention) -> bool:
        """ "The antibiotics are for five days", "your course of steroids lasts a week"."""
        after = self._words[medicine.end : medicine.end + 3]
        told = not {"is", "are", "lasts", "last", "for"}.isdisjoint(after)
        return told and self._sentence.amounts().lasts is not None and medicine.first - self._sentence.first <= 4

    def _nothing_to_eat(self) -> None:
        """ "Nothing to eat from midnight"."""
        words, sentence = self._words, self._sentence
        for at in range(sentence.first, sentence.end - 2):
            if words[at] == "nothing" and words[at + 1 : at + 3] in (["to", "eat"], ["by", "mouth"], ["to", "drink"]):
                opens = at == sentence.first or sentence.opens(at) or words[at - 1] in ("have", "and", "with")
                if opens and not self._claimed(at) and not self._claimed(at + 2) and not sentence.limited(at):
                    mood = Mood("should", True)
                    self._drafts.append(Draft(at, at + 3, "eat", "for", mood, (), "eat", statement=True))
                    return

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
        """Whether no directive stands in the clause of a medicine, or the medicine is what the sentence opens with."""
        behind = self._words[medicine.end : medicine.end + 2]
        opens = medicine.first - self._sentence.first <= 2 and behind[:1] in (["is"], ["are"])
        if opens and behind[1:] and number(behind[1]) is not None and behind[1] not in ("a", "an"):
            # "The X is 2 mg each evening, so don't exceed it"
            return all(draft.first > medicine.end for draft in self._drafts)
        return not any(
            draft.effect in ("for", "more", "less", "against", "care")
            and self._sentence.same_clause(medicine.first, draft.first)
            for draft in self._drafts
        )

    def _talked_about(self, medicine: Mention) -> bool:
        """ "it's tempting to take 100 mg", "she takes 5 mg": talked about or told, not a regimen to follow."""
        start = self._sentence.clause_first(medicine.first)
        marks = self._sentence.view.marks
        start = max([start, *(at for at in range(start + 1, medicine.first + 1) if marks[at] & COLON)])
        if not listed("describes").isdisjoint(self._words[start : max(start, medicine.first)]):
            return True
        for hit in self._sentence.hits:
            if hit.category != "verb" or hit.effect not in _ON_MEDICINE or not start <= hit.first < medicine.first:
                continue
            gerund = self._words[hit.first].endswith("ing") and self._words[hit.first - 1] not in ("the", "a", "your")
            if self._claimed(hit.first) or not (gerund or self._words[hit.first - 1] == "to"):
                continue
            if self._sentence.same_clause(hit.first, medicine.first):
                return True
        return False
