"""Judgements that advise without an advising verb: "isn't suitable", "would do just as well", "needs an ambulance"."""

from __future__ import annotations

from pytest_clinical_drift.evidence.guidance.benefits import read_benefit
from pytest_clinical_drift.evidence.guidance.completions import completed
from pytest_clinical_drift.evidence.guidance.draft import Draft, Mood
from pytest_clinical_drift.evidence.guidance.needs import NeedReader
from pytest_clinical_drift.evidence.guidance.objects import Mention
from pytest_clinical_drift.evidence.guidance.remedies import RemedyReader
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.words import COLON, Hit, advice_words, listed

_PRONOUNS = frozenset(["it", "that", "this", "they", "those", "these", "there"])
_EXPLETIVE = frozenset(["that", "how", "why", "if", "when", "what", "you", "to"])
_NEGATIONS = frozenset(["not", "never", "no", "hardly", "nor"])
_JUDGED = frozenset(("drug", "class", "food", "activity", "treatment", "test"))


class JudgementReader:
    """Adds the judgements of one sentence to its drafts."""

    def __init__(self, sentence: Sentence, drafts: list[Draft], frames: dict[int, Hit]) -> None:
        self._sentence = sentence
        self._words = sentence.view.words
        self._drafts = drafts
        self._frame_starts = {frame.first for frame in frames.values()}
        self._frame_ends = frames.keys()
        self._adverbs = advice_words().adverbs

    def read(self) -> None:
        """Find needs, judgements on things and acts, and "no rush"."""
        NeedReader(self._sentence, self._drafts, self._frame_starts).read()
        RemedyReader(self._sentence, self._drafts).read()
        for hit in self._sentence.hits:
            if hit.category not in ("predicates", "adjectives", "benefits") or self._sentence.limited(hit.first):
                continue
            if self._claimed(hit.first) or (hit.category == "adjectives" and self._opens_phrase(hit)):
                continue
            draft = read_benefit(self._sentence, hit) if hit.category == "benefits" else self._predicate(hit)
            if draft is not None:
                conceded = hit.category == "benefits" and "but" in self._words[hit.end : self._sentence.end]
                draft.weak = draft.weak or conceded or (hit.category == "adjectives" and not self._praises(hit))
                self._drafts.append(draft)

    def _opens_phrase(self, hit: Hit) -> bool:
        """ "good" of "good choice", which is a judgement of its own."""
        return any(h.first == hit.first and h.category == "predicates" and h.end > hit.end for h in self._sentence.hits)

    def _praises(self, hit: Hit) -> bool:
        """ "a quick, filling dinner": offered, not just praised."""
        behind = self._words[hit.end : min(hit.end + 4, self._sentence.end)]
        return hit.value == "may" and not listed("praised").isdisjoint(behind)

    def _claimed(self, at: int) -> bool:
        return any(draft.first <= at < draft.end for draft in self._drafts)

    def _ends_clause(self, at: int) -> bool:
        if at >= self._sentence.end or self._sentence.view.marks[at]:
            return True
        return self._words[at] in ("until", "for", "as", "while", "with")

    def _participle_follows(self, at: int) -> bool:
        while at < self._sentence.end and self._words[at] in self._adverbs:
            at += 1
        return at < self._sentence.end and self._words[at] in advice_words().participles

    def _predicate(self, hit: Hit) -> Draft | None:
        """ "X is (not) suitable": what stands before is the thing judged."""
        words, sentence = self._words, self._sentence
        if hit.end < sentence.end and words[hit.end] == "to" and hit.end + 1 in self._frame_ends:
            return None
        if words[hit.end - 1] in ("best", "better") and self._participle_follows(hit.end):
            # "is best stopped": the participle advises
            return None
        if words[hit.first : hit.end] == ["out"] and not self._ends_clause(hit.end):
            return None
        at = hit.first - 1
        negated = found = False
        while at >= sentence.first and hit.first - at <= 7:
            word = words[at]
            if word in _NEGATIONS:
                negated = not negated
            elif word in ("may", "might", "could") and hit.value == "should" and found:
                # "a lower dose may be needed" says what might come
                return None
            elif word in listed("copulas"):
                found = True
            elif sentence.opens(at + 1) or (word not in self._adverbs and word not in listed("determiners")):
                break
            at -= 1
        labelled = at + 1 == hit.first and bool(sentence.view.marks[hit.first] & COLON or sentence.cell)
        treated_as = at >= sentence.first and words[hit.first - 1] == "as"
        if not found and not labelled and not treated_as:
            return self._inverted(hit)
        subject = sentence.subject(at + 1) or (sentence.label_mentions if labelled else ())
        if subject and not {"neither", "none", "no", "nothing"}.isdisjoint(
            words[sentence.clause_first(at) : subject[-1].first]
        ):
            # "neither X nor Y is for you"
            negated = not negated
        if at >= sentence.first and words[at] in ("neither", "none"):
            # "neither is ruled out" is about two things
            return None
        pronoun = at >= sentence.first and words[at] in _PRONOUNS
        if pronoun and words[hit.end : hit.end + 1] and words[hit.end] in _EXPLETIVE and hit.end < sentence.end:
            # "it makes sense that you feel worn out" judges no thing
            return None
        if not pronoun and all(m.kind not in _JUDGED for m in subject):
            return self._judged_act(hit, at, negated)
        draft = self._judged_thing(hit, negated, subject)
        if draft is not None and not draft.targets:
            draft.pronoun = True
        return draft

    def _judged_act(self, hit: Hit, at: int, negated: bool) -> Draft | None:
        """ "Weighing yourself once a month is enough": a judgement on an act."""
        start = self._sentence.clause_first(max(at, self._sentence.first))
        word = self._words[start]
        if word not in advice_words().gerunds:
            return self._judged_noun(hit, start, at, negated)
        needed = self._means(hit, "need_words")
        mood = Mood(
            "may" if hit.value == "may" else "should",
            (hit.value == "against") != (negated and not needed),
            hit.value == "no_need" or (negated and needed),
        )
        for verb in self._sentence.hits:
            if verb.category == "verb" and verb.first == start:
                one = Hit(start, start + 1, "verb", verb.value, verb.effect)
                action, effect = completed(self._sentence, one) or (verb.value, verb.effect)
                return Draft(start, start + 1 if effect != verb.effect else verb.end, action, effect, mood, None, word)
        return None

    def _judged_noun(self, hit: Hit, start: int, at: int, negated: bool) -> Draft | None:
        """ "A hearing test isn't necessary": a judgement on a thing that no vocabulary entry names."""
        words = self._words
        if words[start] in (
            "think",
            "i",
            "you",
            "we",
            "he",
            "she",
            "they",
            "it",
            "that",
            "this",
            "there",
            "and",
            "so",
            "but",
        ):
            return None
        if not 0 <= at - start <= 9 or hit.category == "adjectives":
            return None
        draft = self._judged_thing(hit, negated, ())
        if draft is not None:
            draft.targets = ()
            draft.stretch = (start, hit.end)
            draft.noun = (start, at + 1)
            if words[hit.end : hit.end + 1] == ["for"] and hit.end + 1 < self._sentence.end:
                # "once a month is plenty for the diary"
                end = hit.end + 2
                while end < min(hit.end + 6, self._sentence.end) and not self._sentence.view.marks[end]:
                    end += 1
                draft.noun = (hit.end + 1, end)
                draft.targets = tuple(m for m in self._sentence.mentions if hit.end < m.first < end)[:1]
            draft.weak = True
        return draft

    def _means(self, hit: Hit, name: str) -> bool:
        return not listed(name).isdisjoint(self._words[hit.first : hit.end])

    def _judged_thing(self, hit: Hit, negated: bool, subject: tuple[Mention, ...]) -> Draft | None:
        useful = tuple(m for m in subject if m.kind in _JUDGED)
        if subject and not useful:
            return None
        if len(useful) > 1 and "together" in self._words[useful[0].first : hit.first]:
            # "X and Y together are dangerous" forbids neither by itself
            return None
        said = self._words[hit.first : hit.end]
        draft = Draft(hit.first, hit.end, "take", "for", Mood(), useful or None, said[0], statement=True)
        leading = self._leading_verb(hit, useful)
        if leading is not None:
            # "steering clear of parties is best": the judgement is on the verb before the thing
            draft.action, draft.effect = leading.value, leading.effect
            draft.mood = Mood("should", negated or hit.value == "against", hit.value == "no_need")
        elif hit.value == "against":
            draft.action, draft.effect = "avoid", "against"
            draft.mood = Mood("should", negated)
        elif hit.value == "no_need":
            draft.mood = Mood("should", False, not negated)
        elif not negated:
            draft.mood = Mood("may" if hit.value == "may" else "should")
        elif "enough" in said or "sufficient" in said:
            return None
        else:
            # "isn't necessary" leaves free, "isn't safe" forbids
            needed = self._means(hit, "need_words")
            draft.mood = Mood("should", not needed, needed)
        return draft

    def _leading_verb(self, hit: Hit, useful: tuple[Mention, ...]) -> Hit | None:
        if not useful:
            return None
        start = useful[0].first
        for h in self._sentence.hits:
            if h.category == "verb" and start - 5 <= h.first and h.end <= start:
                for tail, action, effect in advice_words().splits.get(self._words[h.first], ()):
                    rest = self._words[useful[0].end : hit.first]
                    if tuple(rest[: len(tail)]) == tail and effect == "against":
                        # "leaving the statin off is OK"
                        return Hit(h.first, h.end, "verb", action, effect)
        verbs = [
            h
            for h in self._sentence.hits
            if h.category == "verb" and start - 5 <= h.first < hit.first and (h.end <= start or h.first < start < h.end)
            and h.effect in ("for", "against", "more", "less")
            and not any(self._sentence.view.marks[h.end : start + 1])
        ]  # fmt: skip
        return verbs[-1] if verbs and verbs[-1].effect != "for" else None

    def _inverted(self, hit: Hit) -> Draft | None:
        """ "The best thing for your back is bed rest"."""
        words, sentence = self._words, self._sentence
        if hit.first == sentence.first or words[hit.first - 1] not in ("the", "your", "a", "my"):
            return None
        for at in range(hit.end, min(hit.end + 9, sentence.end)):
            if words[at] in ("is", "are"):
                if words[at + 1 : at + 2] == ["to"]:
                    return None
                targets = tuple(m for m in sentence.mentions if at < m.first <= at + 5 and m.kind in _JUDGED)
                if targets:
                    return self._judged_thing(hit, False, targets)
        return None
