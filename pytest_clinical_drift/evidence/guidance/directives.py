"""From words to directives: the verbs, judgements and statements of a reply that advise.

A sentence is read in three steps: the stretches that only limit advice (if …, until …) are set aside; each verb outside
them is tested for its mood; judgements ("isn't suitable"), "no X" and bare regimens ("your apixaban is 5 mg") add what
has no advising verb.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_clinical_drift.evidence.guidance.clauses import sentences_of
from pytest_clinical_drift.evidence.guidance.completions import completed
from pytest_clinical_drift.evidence.guidance.concessions import granted_verbs, quoted_stretches
from pytest_clinical_drift.evidence.guidance.details import complete, setting_of
from pytest_clinical_drift.evidence.guidance.draft import Draft, Mood
from pytest_clinical_drift.evidence.guidance.goals import states_a_goal
from pytest_clinical_drift.evidence.guidance.judgements import JudgementReader
from pytest_clinical_drift.evidence.guidance.moods import MoodReader
from pytest_clinical_drift.evidence.guidance.nouns import NounReader
from pytest_clinical_drift.evidence.guidance.objects import Mention, mentions_of
from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.statements import StatementReader
from pytest_clinical_drift.evidence.guidance.subjects import medicine_subject
from pytest_clinical_drift.evidence.guidance.words import COLON, Hit, advice_words, listed, view_of
from pytest_clinical_drift.evidence.text import Document

_FORGOTTEN_AFTER = 3
"""Sentences that name nothing, after which "it" no longer stands for what was named before."""
_SWALLOWED = (["with"], ["before"], ["after"], ["without"], ["on"], ["at"], ["between"], ["easily"], ["best"])
"""What follows "go down" where a medicine is swallowed, not lowered."""
_NONE = frozenset(("nothing", "none", "neither"))
_TOPICS = frozenset(("drug", "class", "food", "treatment", "activity", "test"))


def read_advice(document: Document) -> Iterator[Advice]:
    """Every directive of a document, in order."""
    if not document.words:
        return
    view = view_of(document)
    mentions = mentions_of(view)
    salient: tuple[Mention, ...] = ()
    silent = 0
    drugs = {m.id: m for m in mentions if m.kind == "drug"}
    # "take two doses together" in a text about one drug
    sole = tuple(drugs.values()) if len(drugs) == 1 else ()
    for sentence in sentences_of(view, mentions):
        sentence.sole_drug = sole
        drafts = SentenceReader(sentence).read()
        setting = setting_of(sentence) if drafts else None
        for order, draft in enumerate(drafts):
            following = drafts[order + 1].first if order + 1 < len(drafts) else sentence.end
            if setting is not None:
                yield from complete(sentence, draft, following, salient, setting)
        named = tuple(m for m in sentence.mentions if m.kind in _TOPICS)
        fresh = _subject(sentence, named) or tuple(m for m in named if m.medicine) or named
        silent = 0 if fresh else silent + 1
        salient = fresh or (salient if silent < _FORGOTTEN_AFTER else ())


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
            action, effect = completed(self._sentence, hit) or (hit.value, hit.effect)
            self._drafts.append(Draft(hit.first, hit.end, action, effect, Mood("may"), None, self._words[hit.first]))
        self._unknown_verbs()
        if sentence.called is not None:
            place = sentence.first, sentence.first + 1
            self._drafts = [Draft(*place, "seek_care", "care", Mood(), (), "listed", statement=True)]
            return self._drafts
        if not sentence.question:
            JudgementReader(sentence, self._drafts, self._moods.frames).read()
            NounReader(sentence, self._drafts).read()
            StatementReader(sentence, self._drafts).read()
            self._goal()
        quoted = quoted_stretches(sentence)
        said = [d for d in self._drafts if not any(first <= d.first < end for first, end in quoted)]
        return sorted(said, key=lambda draft: draft.first)

    def _goal(self) -> None:
        """ "Six thousand steps a day is the target": a figure to reach, with or without an advising verb."""
        sentence = self._sentence
        sentence.goal = sentence.read_goal()
        if sentence.goal is None or self._drafts or sentence.past:
            return
        labelled = any(mark & COLON for mark in sentence.view.marks[sentence.first + 1 : sentence.first + 4])
        if labelled or states_a_goal(self._words[sentence.first : sentence.end]):
            place = sentence.first, sentence.first + 1
            self._drafts.append(Draft(*place, "practise", "act", Mood(), (), "goal", statement=True))

    def _verb(self, hit: Hit) -> Draft | None:
        word = self._words[hit.first]
        if word == "do" and "harm" in self._words[hit.end : hit.end + 4]:
            # "shouldn't do any harm" judges a remedy
            return None
        if self._only_governs(hit) or self._is_benefit(hit) or self._in_a_name(hit):
            return None
        action, effect = hit.value, hit.effect
        pronoun = hit.end - hit.first == 2 and self._words[hit.end - 1] in ("it", "them", "that", "this")
        if pronoun and self._words[hit.end : hit.end + 1] in (["off"], ["out"], ["alone"]):
            # "leave it off from tomorrow"
            hit = Hit(hit.first, hit.first + 1, "verb", hit.value, hit.effect)
        if hit.end - hit.first == 1:
            meaning = completed(self._sentence, hit)
            if meaning is not None:
                action, effect = meaning
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
                tested = tuple(m for m in self._sentence.subject(hit.first) if m.kind == "test")
                return Draft(hit.first, hit.end, "seek_care", "care", mood, tested or None, word) if mood else None
            if mood is not None and self._words[hit.first - 1] in ("needs", "need", "wants"):
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
        subject = medicine_subject(self._sentence, hit)
        if self._words[hit.first : hit.end] == ["go", "in"] and self._pronoun_before(hit):
            # "it needs to go in every day"
            return Draft(hit.first, hit.end, "take", "for", mood, None, word, statement=True, pronoun=True)
        things = self._sentence.subject(hit.first) if word == "stay" and effect == "against" else ()
        if things and listed("persons").isdisjoint(self._words[self._sentence.clause_first(hit.first) : hit.first]):
            # "anything with X has to stay off the plate"
            return Draft(hit.first, hit.end, action, effect, mood, things[:1], word, statement=True)
        place = self._goes_to(hit) if effect == "care" else None
        if place is not None:
            return Draft(hit.first, hit.end, "practise", "for", mood, (place,), word)
        swallowed = (
            self._words[hit.first : hit.end] == ["go", "down"] and self._words[hit.end : hit.end + 1] in _SWALLOWED
        )
        if subject and word == "go" and (effect == "act" or swallowed):
            return Draft(hit.first, hit.end, "take", "for", mood, subject, word, statement=True)
        if subject and effect in ("act", "care", "watch"):
            # "diclofenac should sort out the shoulder" praises the remedy
            praise = Mood("may", False, mood.negated or mood.no_need)
            return Draft(hit.first, hit.end, "take", "for", praise, subject, word, statement=True)
        return Draft(hit.first, hit.end, action, effect, mood, subject, word, pronoun=self._is_judged(hit))

    def _is_judged(self, hit: Hit) -> bool:
        """ "It is safe to use": the pronoun before is what the verb acts on."""
        after = self._words[hit.end : hit.end + 1]
        if self._words[hit.first] not in listed("bare_use") or not (
            hit.end >= self._sentence.end or after[0] in listed("beside") or self._sentence.view.marks[hit.end]
        ):
            return False
        before = self._words[max(self._sentence.first, hit.first - 5) : hit.first]
        return (
            before[-1:] == ["to"]
            and before[:1] != []
            and any(
                before[at] in ("it", "they", "these", "that", "this") and before[at + 1] in ("is", "are")
                for at in range(len(before) - 1)
            )
        )

    def _goes_to(self, hit: Hit) -> Mention | None:
        """ "Go to the party": an activity rather than a service."""
        if self._words[hit.first] not in ("go", "going", "head", "attend", "visit"):
            return None
        near = [m for m in self._sentence.mentions if hit.end <= m.first <= hit.end + 3]
        return near[0] if near and near[0].kind == "activity" else None

    def _pronoun_before(self, hit: Hit) -> bool:
        first = self._sentence.clause_first(hit.first)
        return self._words[first] in ("it", "they", "this", "these")

    def _passive(self, hit: Hit, action: str, effect: str) -> Draft | None:
        mood = self._moods.passive(hit)
        if mood is None:
            return None
        before = self._words[self._sentence.clause_first(hit.first) : hit.first]
        pronoun = any(word in ("it", "they", "these", "those") for word in before)
        subject = self._sentence.subject(hit.first)
        none = next((at for at in range(hit.first - 1, self._sentence.first - 1, -1) if self._words[at] in _NONE), None)
        named = tuple(m for m in subject if none is not None and m.first > none)
        if named and not any(self._sentence.view.marks[(none or 0) + 1 : hit.first]):
            # "nothing containing X should be given"
            subject, mood = named, Mood(mood.strength, not mood.negated, mood.no_need)
        return Draft(hit.first, hit.end, action, effect, mood, subject, self._words[hit.first], pronoun=pronoun)

    def _in_a_name(self, hit: Hit) -> bool:
        """ "contact sports", "rest days": the word opens the name of a thing."""
        return (
            hit.end - hit.first == 1
            and self._words[hit.first] != "double"
            and any(
                m.first == hit.first
                and m.end > hit.end
                and (m.kind != "activity" or self._words[hit.first] == "contact")
                for m in self._sentence.mentions
            )
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
            named = any(m.first == hit.end for m in self._sentence.mentions)  # "suggest sleeping tablets"
            return following in ("that", "you", "against") or (following in vocabulary.gerunds and not named)
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
            invited = self._words[frame.first : frame.end] in (["by", "all", "means"], ["go", "ahead", "and"])
            infinitive = infinitive or (invited and word.isalpha() and word not in listed("articles"))
            gerund = word.endswith("ing") and len(word) > 5 and opener in ("in", "by", "worth", "against", "from")
            if not (infinitive or gerund) or any(d.first <= at < d.end for d in self._drafts):
                continue
            mood = self._moods.framed(frame, False, Hit(at, at + 1, "verb", "practise", "act"))
            if mood is not None:
                effect = "for" if invited else "act"
                self._drafts.append(Draft(at, at + 1, "practise", effect, mood, None, word))
