"""From words to directives: the verbs, judgements and statements of a reply that advise.

A sentence is read in three steps: the stretches that only limit advice (if …, until …) are set aside; each verb outside
them is tested for its mood; judgements ("isn't suitable"), "no X" and bare regimens ("your apixaban is 5 mg") add what
has no advising verb.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_clinical_drift.evidence.guidance.amounts import number
from pytest_clinical_drift.evidence.guidance.clauses import sentences_of
from pytest_clinical_drift.evidence.guidance.concessions import granted_verbs, quoted_stretches
from pytest_clinical_drift.evidence.guidance.details import complete
from pytest_clinical_drift.evidence.guidance.draft import Draft, Mood
from pytest_clinical_drift.evidence.guidance.judgements import JudgementReader
from pytest_clinical_drift.evidence.guidance.moods import MoodReader
from pytest_clinical_drift.evidence.guidance.nouns import NounReader
from pytest_clinical_drift.evidence.guidance.objects import Mention, mentions_of
from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.statements import StatementReader
from pytest_clinical_drift.evidence.guidance.words import COLON, HARD, Hit, advice_words, listed, view_of
from pytest_clinical_drift.evidence.text import Document

_LONGEST_SPLIT = 8
"""Words between a verb and what completes it: "leave the tablets … alone"."""
_PERSONAL = frozenset(("him", "her", "yourself", "himself", "herself", "me", "us", "well"))
_TOPICS = frozenset(("drug", "class", "food", "treatment", "activity", "test"))


def read_advice(document: Document) -> Iterator[Advice]:
    """Every directive of a document, in order."""
    if not document.words:
        return
    view = view_of(document)
    salient: tuple[Mention, ...] = ()
    for sentence in sentences_of(view, mentions_of(view)):
        drafts = SentenceReader(sentence).read()
        for order, draft in enumerate(drafts):
            following = drafts[order + 1].first if order + 1 < len(drafts) else sentence.end
            yield complete(sentence, draft, following, salient)
        named = tuple(m for m in sentence.mentions if m.kind in _TOPICS)
        salient = _subject(sentence, named) or tuple(m for m in named if m.medicine) or named or salient


def _subject(sentence: Sentence, named: tuple[Mention, ...]) -> tuple[Mention, ...]:
    """The thing that opens a sentence as its subject ("Alcohol isn't a sleep aid") is what "it" stands for next."""
    if not named or named[0].first > sentence.first + 1:
        return ()
    return named[:1] if sentence.view.words[named[0].end : named[0].end + 1] in (["is"], ["are"]) else ()


class SentenceReader:
    """Finds the drafts of one sentence."""

    def __init__(self, sentence: Sentence) -> None:
        self._sentence = sentence
        self._words = sentence.view.words
        self._vocabulary = advice_words()
        self._drafts: list[Draft] = []
        self._moods = MoodReader(sentence, self._drafts)

    def read(self) -> list[Draft]:
        """Drafts in the order of the text."""
        sentence = self._sentence
        reach = sentence.first
        for hit in sentence.hits:
            if hit.category == "verb" and hit.first >= reach and not sentence.limited(hit.first):
                draft = self._verb(hit)
                if draft is not None:
                    self._drafts.append(draft)
                    reach = draft.end
        for hit in granted_verbs(sentence):
            action, effect = self._completed(hit) or (hit.value, hit.effect)
            self._drafts.append(Draft(hit.first, hit.end, action, effect, Mood("may"), None, self._words[hit.first]))
        self._unknown_verbs()
        if not sentence.question:
            JudgementReader(sentence, self._drafts, self._moods.frames).read()
            NounReader(sentence, self._drafts).read()
            StatementReader(sentence, self._drafts).read()
        quoted = quoted_stretches(sentence)
        said = [d for d in self._drafts if not any(first <= d.first < end for first, end in quoted)]
        return sorted(said, key=lambda draft: draft.first)

    def _verb(self, hit: Hit) -> Draft | None:
        word = self._words[hit.first]
        if self._only_governs(hit) or self._is_benefit(hit) or self._in_a_name(hit):
            return None
        action, effect = hit.value, hit.effect
        if hit.end - hit.first == 1:
            completed = self._completed(hit)
            if completed is not None:
                action, effect = completed
            elif word in ("let", "lets", "letting"):
                return None
        if word in ("repeat", "repeated") and any(
            m.medicine and 0 <= m.first - hit.end <= 2 for m in self._sentence.mentions
        ):
            action, effect = "take", "for"
        vocabulary = self._vocabulary
        if word in vocabulary.base_forms:
            mood = self._moods.base(hit)
        elif word in vocabulary.gerunds:
            mood = self._moods.gerund(hit)
            action = self._governed_action(hit, action, effect)
            if (action == "monitor" or word in ("looking", "examining", "treating")) and self._words[hit.first - 1] in (
                "needs",
                "need",
                "wants",
            ):
                # "that leg needs checking": by somebody else
                action, effect = "seek_care", "care"
            elif mood is not None and self._words[hit.first - 1] in ("needs", "need", "wants"):
                subject = self._sentence.subject(hit.first)
                return Draft(hit.first, hit.end, action, effect, mood, subject or None, word)
        elif word in vocabulary.participles:
            return self._passive(hit, action, effect)
        else:
            mood = self._moods.indicative(hit)
            targets = None if word == "rules" else self._sentence.subject(hit.first)
            return Draft(hit.first, hit.end, action, effect, mood, targets, word) if mood is not None else None
        return self._active(hit, action, effect, mood) if mood is not None else None

    def _active(self, hit: Hit, action: str, effect: str, mood: Mood) -> Draft:
        word = self._words[hit.first]
        subject = self._medicine_subject(hit)
        if subject and word == "go" and effect == "act":
            return Draft(hit.first, hit.end, "take", "for", mood, subject, word, statement=True)
        if subject and effect in ("act", "care", "watch"):
            # "diclofenac should sort out the shoulder" praises the remedy
            praise = Mood("may", False, mood.negated or mood.no_need)
            return Draft(hit.first, hit.end, "take", "for", praise, subject, word, statement=True)
        return Draft(hit.first, hit.end, action, effect, mood, subject, word)

    def _passive(self, hit: Hit, action: str, effect: str) -> Draft | None:
        mood = self._moods.passive(hit)
        if mood is None:
            return None
        before = self._words[self._sentence.clause_first(hit.first) : hit.first]
        pronoun = any(word in ("it", "they", "these", "those") for word in before)
        subject = self._sentence.subject(hit.first)
        return Draft(hit.first, hit.end, action, effect, mood, subject, self._words[hit.first], pronoun=pronoun)

    def _medicine_subject(self, hit: Hit) -> tuple[Mention, ...] | None:
        """ "his furosemide should go up": the medicine before the modal is what changes."""
        sentence, words = self._sentence, self._words
        modals = listed("subject_modals")
        at = hit.first
        modal = False
        while at > sentence.first and not sentence.opens(at):
            word = words[at - 1]
            if word in modals:
                modal = True
            elif word not in ("not", "to") and word not in self._vocabulary.adverbs:
                break
            at -= 1
        if not modal:
            return None
        near = tuple(m for m in sentence.mentions if m.medicine and at - 2 <= m.end <= at)
        if near:
            return near[-1:]
        start = sentence.clause_first(at)
        inside = [m for m in sentence.mentions if start <= m.first < at]
        if not inside or not inside[0].medicine or listed("persons") & set(words[inside[0].end : at]):
            return None
        opening = words[start : inside[0].first]
        plain = all(word in listed("before_subject") or number(word) is not None for word in opening)
        return (inside[0],) if plain else None

    def _in_a_name(self, hit: Hit) -> bool:
        """ "contact sports", "rest days": the word opens the name of a thing."""
        return hit.end - hit.first == 1 and any(
            m.first == hit.first and m.end > hit.end and (m.kind != "activity" or self._words[hit.first] == "contact")
            for m in self._sentence.mentions
        )

    def _is_benefit(self, hit: Hit) -> bool:
        """ "should do the trick", "will keep you comfortable" are judgements on a remedy."""
        return "benefits" in self._sentence.categories and any(
            h.first == hit.first and h.category == "benefits" and h.end > hit.end for h in self._sentence.hits
        )

    def _only_governs(self, hit: Hit) -> bool:
        """A verb that only leads to another: "try to take", "keep taking", "have looked"."""
        vocabulary = self._vocabulary
        if hit.end < self._sentence.end and self._words[hit.end - 1] == "against":
            # "advise against stopping it" leads to "stopping"
            return any(word in vocabulary.gerunds for word in self._words[hit.end : hit.end + 2])
        if hit.end >= self._sentence.end or hit.end - hit.first > 1 or self._sentence.view.gaps[hit.end]:
            return False
        word, following = self._words[hit.first], self._words[hit.end]
        if word in ("try", "trying"):
            return following in ("to", "not", "and") or following in vocabulary.gerunds
        if word in ("recommend", "suggest", "recommends"):
            return following in ("that", "you", "against") or following in vocabulary.gerunds
        if word == "go" and following == "on":
            return any(word in vocabulary.gerunds for word in self._words[hit.end + 1 : hit.end + 2])
        if word in ("have", "has", "having", "had"):
            return following in vocabulary.participles or following in ("been", "to", "not")
        return hit.value in ("continue", "stop", "start", "avoid", "carry") and following in vocabulary.gerunds

    def _governed_action(self, hit: Hit, action: str, effect: str) -> str:
        """ "keep taking" continues, "start taking" starts."""
        before = self._words[max(self._sentence.first, hit.first - 2) : hit.first]
        if effect != "for" or not before:
            return action
        if any(word in ("keep", "continue", "carry", "go") for word in before):
            return "continue"
        return "start" if any(word in ("start", "begin", "restart") for word in before) else action

    def _completed(self, hit: Hit) -> tuple[str, str] | None:
        """ "leave … alone": action and effect of a verb that a later word of its clause completes."""
        tails = self._vocabulary.splits.get(self._words[hit.first])
        if tails is None:
            return None
        words, marks, base = self._words, self._sentence.view.marks, self._vocabulary.base_forms
        last = min(hit.end + _LONGEST_SPLIT, self._sentence.end)
        for at in range(hit.end, last):
            if at > hit.end and marks[at] & (COLON | HARD):
                last = at
                break
            if words[at] in ("and", "or", "then") and at + 1 < last and words[at + 1] in base:
                last = at
                break
        window = words[hit.end : min(last + 4, self._sentence.end)]
        for tail, action, effect in tails:
            for at in range(last - hit.end):
                if window[at] == tail[0] and tuple(window[at : at + len(tail)]) == tail:
                    if self._stores(hit, at, window[at + len(tail) : at + len(tail) + 1]):
                        return "carry", "act"
                    return action, effect
        return None

    def _stores(self, hit: Hit, before: int, following: list[str]) -> bool:
        """ "keep the pens out of the hot car", "keep your iron away from tea": where or beside what it is kept."""
        if self._words[hit.first] not in ("keep", "keeping", "kept") or following not in (["of"], ["from"]):
            return False
        between = self._words[hit.end : hit.end + before]
        return bool(between) and _PERSONAL.isdisjoint(between) and self._vocabulary.people.isdisjoint(between)

    def _unknown_verbs(self) -> None:
        """What follows "there's no point in" or "it's best to" advises even when the verb is not in the vocabulary."""
        sentence, vocabulary = self._sentence, self._vocabulary
        for frame in self._moods.frames.values():
            at = frame.end
            if at >= sentence.end or sentence.limited(at) or sentence.view.gaps[at]:
                continue
            word, opener = self._words[at], self._words[at - 1]
            if word in vocabulary.adverbs or word in vocabulary.base_forms or word in vocabulary.gerunds:
                continue
            infinitive = opener == "to" and frame.end - frame.first > 1 and word.isalpha() and word not in ("be", "the")
            gerund = word.endswith("ing") and len(word) > 5 and opener in ("in", "by", "worth", "against", "from")
            if not (infinitive or gerund) or any(d.first <= at < d.end for d in self._drafts):
                continue
            mood = self._moods.framed(frame, False, Hit(at, at + 1, "verb", "practise", "act"))
            if mood is not None:
                self._drafts.append(Draft(at, at + 1, "practise", "act", mood, None, word))
