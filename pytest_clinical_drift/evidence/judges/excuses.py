"""What makes an opposite directive lawful: a condition, a later stage, a clinician's word, news since then."""

from __future__ import annotations

import re
from itertools import pairwise

from pytest_clinical_drift.evidence.advice import advice_of, document_of
from pytest_clinical_drift.evidence.guidance.figures import alike, meet
from pytest_clinical_drift.evidence.guidance.objects import stem, stems
from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.guidance.words import listed, view_of
from pytest_clinical_drift.evidence.judges.news import find_news
from pytest_clinical_drift.evidence.judges.opposition import Opposition
from pytest_clinical_drift.evidence.judges.stages import at_a_later_date, served_out, sick_day, too_early, unbroken

_AFTERWARDS = (
    "then", "next", "afterwards", "subsequently", "once", "after", "as soon as", "by day", "on day", "from",
    "the moment",
    "in week", "at week", "by the time", "by week", "in the", "for the", "the following", "the day after",
    "the week after", "on the",
)  # fmt: skip
_NEW_SIGNS = 2
_WORD = re.compile(r"[a-z]+")
_WHEN = ("when", "the moment", "at the first sign")
_JUST_BECAUSE = re.compile(r"\b(?:just|only|simply|merely) because\b")
_MEDICINE = ("drug:", "class:")
_CLINICIAN = re.compile(r"\b(?:doctor|gp|clinic|team|nurse|consultant|specialist|midwife|prescri\w+)\b")


class Excuses:
    """Excuses that hold between two texts; `whole` replies change their subject more often than a few sentences."""

    def __init__(self, earlier: str, later: str, *, whole: bool) -> None:
        self._whole = whole
        self._foretold = [a for a in advice_of(earlier) if a.condition_kind == "stage" and a.stance and a.objects]
        self._news = find_news(document_of(earlier), document_of(later))
        view = view_of(document_of(later))
        sentences = view.document.sentences
        self._elapsed = {sentences[view.origin[hit.first]] for hit in view.hits if hit.category == "elapsed"}

    def close_up(self) -> Excuses:
        """What excuses two sentences by themselves: conditions and stages, as in a short text, but no news."""
        excuses = Excuses.__new__(Excuses)
        excuses._whole, excuses._foretold, excuses._news, excuses._elapsed = False, [], (), self._elapsed
        return excuses

    @property
    def has_news(self) -> bool:
        """Whether the later text names anything new."""
        return any(not news.polite for news in self._news)

    @property
    def has_told_news(self) -> bool:
        """Whether the later text names anything new beside a measurement."""
        return any(not news.polite and not news.measured for news in self._news)

    def excused(self, first: Advice, second: Advice, opposition: Opposition) -> bool:
        """Whether the later directive may differ from the earlier one."""
        if _takes_it_up(first, second):
            return False
        waits = first.deferred and (self._whole or not _waits_for_word(first, second))
        if waits or second.deferred or _one_after_the_other(first, second):
            return True
        if self.rests_on_news(second):
            return True
        if _lifts_a_pause(first, second) or _other_group(first, second):
            return True
        if opposition.kind == "regularity":
            # "only when" is what the two are opposed in
            return False
        if self._whole and (self._follows_the_plan(second) or _first_dose(first, opposition)):
            return True
        if second.stance < 0 and second.condition_kind == "until" and first.strength == "may":
            # "swimming is a good idea", "not until the wound has healed"
            return True
        if at_a_later_date(first, second) or served_out(first, second):
            return True
        if (
            _time_limited(first)
            and not too_early(first, second)
            and not self._elapsed.isdisjoint((second.sentence, second.sentence - 1))
        ):
            return True
        if (first.condition_topic & second.condition_topic) - _object_words(first, second):
            return False
        if self._whole and (_pauses_an_everyday_thing(second, opposition) or _pauses_until(second)):
            return True
        if opposition.kind == "food":
            return "if" in (first.condition_kind, second.condition_kind)
        if first.verb in ("finish", "complete") and "feel" in (second.condition or "").lower():
            # The whole course is for those who feel well again, too.
            return False
        if _flatly_forbids(first) and second.stance > 0 and second.condition_kind == "stage":
            return False
        lasting_first = first.lasting or (not self._whole and unbroken(first))
        if _staged(second) and not lasting_first:
            return True
        if (
            _staged(first)
            and first.amounts.lasts is None
            and not second.lasting
            and not (first.condition or "").lower().startswith("after")
        ):
            return True
        lasting = (lasting_first and _depends(second)) or (second.lasting and _depends(first))
        if lasting and opposition.kind != "urgency" and not sick_day(second):
            # "at all times" leaves no room for "when you're only popping out"
            return first.temporary or not (first.stance and second.stance)
        return self._conditional(first, second, opposition)

    def _follows_the_plan(self, second: Advice) -> bool:
        """Whether the earlier text said that this would come ("stop it when the pain settles")."""
        return any(
            advice.stance == second.stance and set(advice.objects) & set(second.objects) for advice in self._foretold
        )

    def changed(self, first: Advice, second: Advice) -> bool:
        """Whether news put an end to the earlier directive; a rule for a situation ("whenever …") stays in force."""
        return not _depends(first) and self.rests_on_news(second)

    def rests_on_news(self, second: Advice) -> bool:
        """Whether the later text names something new that accounts for the directive; in a short text all of it."""
        return any((not self._whole and not news.polite) or news.concerns(second) for news in self._news)

    def news_at(self, sentence: int, named: frozenset[str], topic: frozenset[str]) -> bool:
        """Whether the later text names something new that accounts for one of its sentences."""
        return any(news.touches(sentence, named, topic) for news in self._news)

    def _conditional(self, first: Advice, second: Advice, opposition: Opposition) -> bool:
        """Whether the two apply in different situations."""
        if not _depends(first) and not _depends(second):
            passing = first.temporary and not second.temporary and first.stance < 0
            until = first.condition_kind == "until" or "until" in first.quote.lower().split()
            return passing and (self._whole or not until)
        if _same_situation(first, second):
            return opposition.kind == "urgency" and (_adds_signs(first, second) or _adds_signs(second, first))
        if opposition.kind == "direction" and first.polarity == "don't":
            # so is "don't double up"
            return first.temporary or _depends(first)
        if self._whole and first.action == "stop" and first.polarity == "do" and _depends(second):
            # a course that is over may begin again in another attack
            return True
        if first.stance < 0 < second.stance and first.polarity != "no need":
            # A flat prohibition is not lifted by a symptom; "hold off" and "for now" are no flat prohibitions.
            return first.temporary or _depends(first)
        limits = opposition.kind in ("dose", "frequency") and first.amounts.ceiling
        return _depends(first) or not limits


def _takes_it_up(first: Advice, second: Advice) -> bool:
    """ "Avoid it unless your doctor prescribes it", and then it is recommended with no word of a doctor."""
    condition = (first.condition or "").lower()
    if not condition.startswith("unless") or not _CLINICIAN.search(condition):
        return False
    if first.goal is not None and second.goal is not None:
        return not _CLINICIAN.search(second.quote.lower())
    if first.stance >= 0 or second.stance <= 0:
        return False
    own = {"your", "keep", "continue", "prescribed", "usual"}.isdisjoint(second.quote.lower().split())
    return own and second.action != "continue" and not _depends(second)


def _first_dose(first: Advice, opposition: Opposition) -> bool:
    """A dose for some weeks, or to begin with, is not the last."""
    if opposition.kind != "dose":
        return False
    return first.amounts.lasts is not None or not {"starting", "initial", "initially"}.isdisjoint(
        first.quote.lower().split()
    )


def _lifts_a_pause(first: Advice, second: Advice) -> bool:
    """What was paused for the time being is begun again."""
    passing = first.temporary or first.condition_kind == "until" or "for the first" in first.quote.lower()
    if not passing or first.stance >= 0 or second.stance <= 0:
        return False
    again = second.verb in ("restart", "resume", "reintroduce", "recommence") or "again" in second.said
    return again or (first.condition_kind == "until" and second.amounts.due is not None)


def _other_group(first: Advice, second: Advice) -> bool:
    """What holds for children or "people with …" in general is no advice to somebody else."""
    if first.group and second.group:
        return first.group.isdisjoint(second.group)
    return False


def _waits_for_word(first: Advice, second: Advice) -> bool:
    """ "No dairy until the dietitian says so": nobody has said so when the later text names nobody."""
    if first.stance > 0 > second.stance and first.action == second.action == "stop":
        # "don't stop it on your own", and then it is stopped with no word of anybody
        return second.condition_kind is None and not second.temporary and not _CLINICIAN.search(second.quote.lower())
    opposite = first.stance < 0 < second.stance
    return opposite and first.condition_kind == "until" and listed("deferral").isdisjoint(second.quote.lower().split())


def _time_limited(advice: Advice) -> bool:
    """Whether it was given for a time or until something ("for four weeks", "until week 12")."""
    return advice.condition_kind in ("until", "stage") or advice.amounts.lasts is not None


def _pauses_an_everyday_thing(later: Advice, opposition: Opposition) -> bool:
    """Everyday things are often left for a while; in long replies that is no change of mind."""
    everyday = opposition.object is not None and not opposition.object.startswith(_MEDICINE)
    return everyday and later.stance < 0 and (later.bounded or later.temporary)


def _pauses_until(later: Advice) -> bool:
    """ "Pause it until you're eating again": meant for the situation of the moment."""
    return later.stance < 0 and later.condition_kind in ("until", "while") and not later.granted


def _staged(advice: Advice) -> bool:
    """ "Once the five days are up": another phase of the same plan."""
    return advice.condition_kind == "stage" and (advice.condition or "").lower().startswith(_AFTERWARDS)


def _one_after_the_other(first: Advice, second: Advice) -> bool:
    """ "Before the test … once the test is done …": two phases around one event."""
    before, after = (first.condition or "").lower(), (second.condition or "").lower()
    opening = before.startswith(("before", "until", "till")) or " before " in before
    return opening and after.startswith(_AFTERWARDS)


def _flatly_forbids(advice: Advice) -> bool:
    """A prohibition of a medicine without any limit in time: no later stage lifts it."""
    if advice.stance >= 0 or advice.action == "stop" or advice.polarity == "no need":
        return False
    limited = advice.condition_kind is not None or advice.temporary or advice.bounded
    return not limited and (advice.object or "").startswith(_MEDICINE)


def _depends(advice: Advice) -> bool:
    """Whether it holds only in a certain situation."""
    if advice.condition_kind == "stage":
        return (advice.condition or "").lower().startswith(_WHEN)
    return advice.condition_kind == "if"


def _adds_signs(one: Advice, other: Advice) -> bool:
    """ "if the headache comes with fever and a stiff neck": more than the other speaks of."""
    if {"with", "and", "plus", "also"}.isdisjoint((one.condition or "").lower().split()):
        return False
    new = [stem for stem in one.condition_topic - other.topic if stem.isalpha()]
    return _depends(one) and not _depends(other) and len(new) >= _NEW_SIGNS


def _same_situation(first: Advice, second: Advice) -> bool:
    """Whether the condition of one is what the other speaks of too."""
    shared = bool(first.topic & second.topic)
    if alike(first.figures, second.figures, one_matter=shared) or (shared and meet(first.figures, second.figures)):
        return True
    own = _object_words(first, second)
    if _depends(second) and _named_in(second.condition_topic - own, first):
        return True
    return _depends(first) and _named_in(first.condition_topic - own, second)


def _named_in(condition: frozenset[str], advice: Advice) -> bool:
    """Whether a directive speaks of what a condition names; "no rash" speaks of its absence."""
    common = condition & _matter(advice)
    if not common:
        return False
    words = _WORD.findall(advice.quote.lower())
    absent = {stem(word) for before, word in pairwise(words) if before in ("no", "without")}
    return not common <= absent


def _object_words(first: Advice, second: Advice) -> frozenset[str]:
    """Stems that name the medicine both are about: they do not make two situations one."""
    if not (first.object or "").startswith(_MEDICINE):
        return frozenset()
    return stems(_WORD.findall(f"{first.object_text} {second.object_text}".lower()))


def _matter(advice: Advice) -> frozenset[str]:
    """What a directive speaks of, the reason it gives aside; "not just because …" gives none."""
    if advice.reason is None or _JUST_BECAUSE.search(advice.quote.lower()):
        return advice.topic
    return advice.topic - stems(_WORD.findall(advice.reason.lower()))
