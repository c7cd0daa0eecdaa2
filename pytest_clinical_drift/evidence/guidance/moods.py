"""The mood of a verb: whether it advises, how strongly, and whether under negation.

What stands to the left of the verb decides: the start of a clause (an instruction), a modal with a fitting subject, an
opening such as "it's best to" or "there's no point in", or an instruction it is joined to.
"""

from __future__ import annotations

from pytest_clinical_drift.evidence.guidance.completions import opens_with_an_act
from pytest_clinical_drift.evidence.guidance.draft import Draft, Mood
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.words import COLON, COMMA, HARD, Hit, advice_words, listed

_MODALS = frozenset(["can", "may", "could", "might", "will", "would", "should", "must", "shall"])
_GOVERNORS = frozenset(["keep", "continue", "try", "consider"])
_NEGATIONS = frozenset(("not", "never"))
_CONJUNCTIONS = frozenset(["and", "or", "nor", "then", "but", "so", "plus"])
_PASSIVE_MODALS = frozenset(["should", "must", "to", "shall", "can", "may", "could", "will", "might"])
_RECOMMENDS = frozenset(("recommend", "suggest", "prescribe", "propose", "endorse"))
_REJECTS = _RECOMMENDS | {"against", "advise", "support"}
SHOULD = Mood()


class MoodReader:
    """Reads the mood of the verbs of one sentence; `drafts` are the directives found so far."""

    def __init__(self, sentence: Sentence, drafts: list[Draft]) -> None:
        self._sentence = sentence
        self._words = sentence.view.words
        self._marks = sentence.view.marks
        self._drafts = drafts
        vocabulary = advice_words()
        self._adverbs = vocabulary.adverbs
        self._gerunds = vocabulary.gerunds
        self._base_forms = vocabulary.base_forms
        self._people = vocabulary.people
        self.frames: dict[int, Hit] = {}
        """The longest opening of advice that ends before a word."""
        for hit in sentence.hits:
            if hit.category != "frames" or (hit.end in self.frames and hit.first >= self.frames[hit.end].first):
                continue
            if sentence.limits and sentence.limited(hit.end - 1) and not sentence.limited(hit.end):
                # "if they slow down or stop, ring …": a word of the condition opens nothing
                continue
            self.frames[hit.end] = hit

    def base(self, hit: Hit) -> Mood | None:
        """Mood of a verb in its base form."""
        words, sentence = self._words, self._sentence
        following = words[hit.end] if hit.end < sentence.end else ""
        if following in listed("after_noun") and not self._marks[hit.end] and words[hit.end - 1] != "out":
            return None
        if following and self._sentence.view.gaps[hit.end] == "-":
            return None
        if words[hit.first] == "do" and following == "not":
            return None
        within = self.frames.get(hit.end)
        if within is not None and within.value == "against" and within.first < hit.first:
            # the opening ends with the verb: "I can't recommend …", "I'd advise against …"
            return Mood("should", words[hit.end - 1] != "against") if words[hit.end - 1] in _REJECTS else None
        over = next((f for f in self.frames.values() if f.first < hit.first < f.end <= hit.end), None)
        if over is not None and over.value == "no_need":
            # "I wouldn't bother with it"; "you can do without it" gives it up
            return self.framed(over, False, hit) if hit.effect != "against" else Mood("may")
        negated = False
        at = hit.first
        while True:
            frame = self.frames.get(at)
            if frame is not None:
                return self.framed(frame, negated, hit)
            if at == sentence.first or sentence.opens(at):
                return self._imperative(at, negated, hit)
            before = words[at - 1]
            if before in ("i", "we") and words[hit.first] in _RECOMMENDS:
                return Mood("should", negated)
            if before == "time" and words[at - 2] in ("another", "next", "this") and not sentence.question:
                # "another time carry on with it"
                return Mood("should", negated)
            if before in _NEGATIONS:
                negated = not negated
            elif before in _CONJUNCTIONS:
                return self._coordinated(at - 1, before, negated)
            elif before not in self._adverbs:
                return None
            at -= 1

    def framed(self, frame: Hit, negated: bool, hit: Hit) -> Mood | None:
        """Mood of a verb behind an opening such as "you should", "no need to"."""
        words = self._words
        opener = words[frame.first]
        before = words[frame.first - 1] if frame.first > self._sentence.first else ""
        single = frame.end - frame.first == 1
        if opener == "let" and frame.end - frame.first == 2:
            governing = self.base(Hit(frame.first, frame.first + 1, "verb", "practise", "act"))
            return governing and Mood(governing.strength, governing.negated != negated, governing.no_need)
        if single and opener in ("please", "always", "do"):
            return self._encouraged(frame, opener, before, negated, words[hit.first])
        if single and opener in _MODALS and before in ("i", "we") and words[hit.first] in _RECOMMENDS:
            return Mood("should", negated) if negated or opener != "might" else None
        if single and opener in _MODALS and not self._subject_allows(frame.first, opener, hit):
            return None
        if opener in ("i", "we") and not negated and self._speaks_of_itself(frame, hit):
            return None
        if before == "to" and opener in _GOVERNORS and frame.first not in self.frames:
            return None
        if (before in _NEGATIONS or before == "nobody") and frame.value in ("should", "may"):
            negated = not negated
        if words[max(self._sentence.first, frame.first - 3) : frame.first][-2:] == ["no", "longer"] or (
            words[max(self._sentence.first, frame.first - 3) : frame.first - 1][-2:] == ["no", "longer"]
        ):
            return Mood("should", False, True)
        if frame.value == "perhaps" or (frame.value == "may" and not negated and self._sentence.purpose(frame.first)):
            # "you may need to stop it", "so that you can stop it": what might come, not what to do
            return None
        if frame.value == "no_need":
            return Mood("should", False, not negated)
        if frame.value == "against":
            return Mood("should", not negated)
        return Mood("may" if frame.value == "may" and not negated else "should", negated)

    def _encouraged(self, frame: Hit, opener: str, before: str, negated: bool, hit_word: str) -> Mood | None:
        """ "please take", "don't take", "do take"."""
        if before in ("i", "we") and hit_word in _RECOMMENDS:
            return Mood("should", negated)
        if opener == "do" and not negated:
            return None if before in ("you", "i", "we", "they") else SHOULD
        at = frame.first
        while at > self._sentence.first and not self._sentence.opens(at) and self._words[at - 1] in self._adverbs:
            at -= 1
        opens = at == self._sentence.first or self._sentence.opens(at) or self._words[at - 1] in _CONJUNCTIONS
        return Mood("should", negated) if opens else None

    def _speaks_of_itself(self, frame: Hit, hit: Hit) -> bool:
        if self._words[frame.first + 1 : frame.first + 2] == ["will"]:
            return self._words[frame.first] == "i" or hit.effect not in ("for", "more", "less")
        return frame.end - frame.first == 2 and self._words[hit.first] in listed("own_verbs")

    def _subject_allows(self, at: int, modal: str, hit: Hit) -> bool:
        """Whether the subject before a bare modal makes advice of it: "you can take", not "sertraline can make"."""
        before = self._words[at - 1] if at > self._sentence.first else ""
        if modal in ("should", "must"):
            return before not in ("it", "that", "which") or hit.effect in ("for", "against", "more", "less")
        if before in self._people or (self._words[hit.first] == "be" and hit.effect == "care"):
            return True
        if modal == "can":
            return before in ("you", "he", "she", "we") or (before == "they" and hit.effect in ("for", "care"))
        return modal in ("could", "may", "might") and before in ("you", "we")

    def _imperative(self, at: int, negated: bool, hit: Hit) -> Mood | None:
        """An instruction at the start of a clause; a list of bare nouns ("sleep, mood, energy") is none."""
        if self._sentence.question:
            return None
        if at != self._sentence.first and self._marks[at] & COMMA:
            last = self._drafts[-1] if self._drafts else None
            if last is None and not self._sentence.limited(at - 1) and not self._only_opening(at):
                return None
            if last is not None and last.mood.negated and self._list_ends_with_or(hit.end):
                negated = True
        return Mood("should", negated)

    def _only_opening(self, at: int) -> bool:
        """Whether the words before a comma are an adverbial opening ("For the pain, take …") or a name."""
        start = at - 1
        while start > self._sentence.first and not self._marks[start]:
            start -= 1
        if start > self._sentence.first and self._gives_way(start):
            return True
        if start > self._sentence.first and listed("openers").issuperset(self._words[start:at]):
            # "If you feel that strongly, then yes, send it": openers in a row
            return self._sentence.limited(start - 1) or self._only_opening(start)
        while start > self._sentence.first and not self._marks[start] & (COLON | HARD):
            start -= 1
        return self._words[start] in listed("openers") or at - start <= 2

    def _gives_way(self, at: int) -> bool:
        """ "Fair enough, since you insist, take …"."""
        return any(hit.first == at and hit.category in ("pressure", "concessions") for hit in self._sentence.hits)

    def _list_ends_with_or(self, at: int) -> bool:
        for index in range(at, min(at + 8, self._sentence.end)):
            if self._words[index] in ("or", "nor"):
                return True
            if self._marks[index] & (COLON | HARD):
                return False
        return False

    def _coordinated(self, at: int, conjunction: str, negated: bool) -> Mood | None:
        """Mood of a verb joined to what stands before it: "don't skip or halve it", "rest and drink"."""
        if conjunction in ("but", "so", "then", "plus") or at == self._sentence.first:
            return None if self._sentence.question else Mood("should", negated)
        last = self._drafts[-1] if self._drafts else None
        if last is None and conjunction == "and" and opens_with_an_act(self._sentence, at):
            return Mood("should", negated)
        if last is None or last.statement:
            return Mood("should", negated) if self._sentence.opens(at) and not self._sentence.question else None
        carried = last.mood.negated or last.mood.no_need
        if conjunction in ("or", "nor") and carried and not negated:
            return last.mood
        if conjunction == "and" and last.mood.no_need and not self._sentence.opens(at):
            return last.mood
        return Mood("should" if last.mood.negated else last.mood.strength, negated)

    def gerund(self, hit: Hit) -> Mood | None:
        """Mood of "taking" behind "keep", "avoid", "worth", "no point in"."""
        words = self._words
        at = hit.first
        negated = False
        while at > self._sentence.first:
            frame = self.frames.get(at)
            if frame is not None:
                return self._governed(frame, negated, hit)
            before = words[at - 1]
            if before in ("needs", "need", "wants"):
                return Mood("should", False, words[max(self._sentence.first, at - 2)] in _NEGATIONS)
            if before == "be":
                return self._progressive(at - 1)
            if before in ("and", "or") and self._drafts and self._drafts[-1].verb in self._gerunds:
                return self._drafts[-1].mood
            if before == "not":
                negated = True
            elif before not in self._adverbs and before not in ("suggest", "recommend", "advise"):
                return None
            at -= 1
        return None

    def _progressive(self, at: int) -> Mood | None:
        """ "you shouldn't be stopping it"."""
        negated = self._words[at - 1] in _NEGATIONS
        place = at - 2 if negated else at - 1
        nobody = self._words[place - 1] == "nobody" or self._words[place - 2 : place] == ["no", "one"]
        return Mood("should", negated or nobody) if self._words[place] in ("should", "must", "ought") else None

    def _governed(self, frame: Hit, negated: bool, hit: Hit) -> Mood | None:
        if frame.end - frame.first == 1 and self._words[frame.first] in self._base_forms:
            governing = self.base(Hit(frame.first, frame.end, "verb", "practise", "act"))
            if governing is None or frame.value != "against":
                return governing
            # "no need to avoid": free to have it
            return Mood(governing.strength, not governing.negated and not governing.no_need)
        if frame.value == "against" and self._words[frame.first] in ("rather", "instead"):
            return None
        return self.framed(frame, negated, hit)

    def passive(self, hit: Hit) -> Mood | None:
        """ "should be taken", "is best avoided", "can be used"."""
        words = self._words
        negated = seen_be = False
        for at in range(hit.first - 1, self._sentence.first - 1, -1):
            word = words[at]
            if word in ("be", "get", "being", "gets", "getting"):
                seen_be = True
            elif word in _NEGATIONS:
                negated = not negated
            elif seen_be and word in _PASSIVE_MODALS:
                return self._passive_modal(at, word, negated, hit)
            elif word in ("is", "are") and (words[hit.first - 1] in ("best", "better") or self._says_when(at, hit)):
                return Mood("should", negated)
            elif word not in self._adverbs:
                return None
        return None

    def _says_when(self, at: int, hit: Hit) -> bool:
        """ "Warfarin is taken at 6 pm": a medicine with how or when to take it."""
        sentence = self._sentence
        if hit.effect != "for" or not any(m.medicine and m.end == at for m in sentence.mentions):
            return False
        clock = not {"am", "pm"}.isdisjoint(self._words[hit.end : sentence.end])
        return clock or "times_of_day" in sentence.categories or sentence.has_regimen()

    def _passive_modal(self, at: int, word: str, negated: bool, hit: Hit) -> Mood | None:
        words = self._words
        if word == "to":
            frame = self.frames.get(at + 1)
            if frame is not None:
                return self.framed(frame, negated, hit)
            never_to = words[at - 1] in _NEGATIONS and words[at - 2] in ("is", "are")
            return Mood("should", not negated) if never_to else None
        if word in ("will", "might") or (word in ("could", "may") and not negated and hit.effect != "for"):
            return None
        return Mood("may" if word in ("can", "may", "could") and not negated else "should", negated)

    def indicative(self, hit: Hit) -> Mood | None:
        """ "Clenil carries on as before": a medicine as the subject of what happens to it; "that rules out X"."""
        if self._words[hit.first : hit.end] == ["rules", "out"]:
            return SHOULD
        if hit.value not in ("continue", "stop", "start", "increase", "decrease"):
            return None
        if (
            hit.end < self._sentence.end
            and not self._marks[hit.end]
            and self._words[hit.end] not in listed("after_change")
        ):
            # "metformin lowers the sugar" tells what it does
            return None
        return SHOULD if any(m.medicine and m.end == hit.first for m in self._sentence.mentions) else None
