"""What makes an opposite directive lawful: a condition, a later stage, a clinician's word, news since then."""

from __future__ import annotations

import re

from pytest_clinical_drift.evidence.advice import advice_of, document_of
from pytest_clinical_drift.evidence.guidance.figures import alike, meet
from pytest_clinical_drift.evidence.guidance.objects import stems
from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.guidance.words import view_of
from pytest_clinical_drift.evidence.judges.news import find_news
from pytest_clinical_drift.evidence.judges.opposition import Opposition

_AFTERWARDS = (
    "then", "next", "afterwards", "subsequently", "once", "after", "as soon as", "by day", "on day", "from",
    "the moment",
    "in week", "at week", "by the time", "by week", "in the", "for the", "the following", "the day after",
    "the week after", "on the",
)  # fmt: skip
_NEW_SIGNS = 2
_WORD = re.compile(r"[a-z]+")
_WHEN = ("when", "the moment", "at the first sign")
_MEDICINE = ("drug:", "class:")


class Excuses:
    """Excuses that hold between two texts; `whole` replies change their subject more often than a few sentences."""

    def __init__(self, earlier: str, later: str, *, whole: bool) -> None:
        self._whole = whole
        self._foretold = [a for a in advice_of(earlier) if a.condition_kind == "stage" and a.stance and a.objects]
        self._news = find_news(document_of(earlier), document_of(later))
        view = view_of(document_of(later))
        sentences = view.document.sentences
        self._elapsed = {sentences[view.origin[hit.first]] for hit in view.hits if hit.category == "elapsed"}

    def excused(self, first: Advice, second: Advice, opposition: Opposition) -> bool:
        """Whether the later directive may differ from the earlier one."""
        if _takes_it_up(first, second):
            return False
        if first.deferred or second.deferred or _one_after_the_other(first, second):
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
        if _time_limited(first) and not self._elapsed.isdisjoint((second.sentence, second.sentence - 1)):
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
        if _staged(second) and not first.lasting:
            return True
        if _staged(first) and not second.lasting and not (first.condition or "").lower().startswith("after"):
            return True
        lasting = (first.lasting and _depends(second)) or (second.lasting and _depends(first))
        if lasting and opposition.kind != "urgency":
            # "at all times" leaves no room for "when you're only popping out"
            return first.temporary or not (first.stance and second.stance)
        return self._conditional(first, second, opposition)

    def _follows_the_plan(self, second: Advice) -> bool:
        """Whether the earlier text said that this would come ("stop it when the pain settles")."""
        return any(
            advice.stance == second.stance and set(advice.objects) & set(second.objects) for advice in self._foretold
        )

    def rests_on_news(self, second: Advice) -> bool:
        """Whether the later text names something new that accounts for the directive; in a short text all of it."""
        return any((not self._whole and not news.polite) or news.concerns(second) for news in self._news)

    def _conditional(self, first: Advice, second: Advice, opposition: Opposition) -> bool:
        """Whether the two apply in different situations."""
        if not _depends(first) and not _depends(second):
            passing = first.temporary and not second.temporary and first.stance < 0
            return passing and (self._whole or first.condition_kind != "until")
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
    if not condition.startswith("unless") or not re.search(r"\b(?:doctor|gp|prescri\w+)", condition):
        return False
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
    if not (first.temporary or first.condition_kind == "until") or first.stance >= 0 or second.stance <= 0:
        return False
    again = second.verb in ("restart", "resume", "reintroduce", "recommence") or "again" in second.said
    return again or (first.condition_kind == "until" and second.amounts.due is not None)


def _other_group(first: Advice, second: Advice) -> bool:
    """What holds for children or "people with …" in general is no advice to somebody else."""
    if first.group and second.group:
        return first.group.isdisjoint(second.group)
    return False


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
    if _depends(second) and (second.condition_topic & _matter(first)) - own:
        return True
    return bool(_depends(first) and (first.condition_topic & _matter(second)) - own)


def _object_words(first: Advice, second: Advice) -> frozenset[str]:
    """Stems that name the medicine both are about: they do not make two situations one."""
    if not (first.object or "").startswith(_MEDICINE):
        return frozenset()
    return stems(_WORD.findall(f"{first.object_text} {second.object_text}".lower()))


def _matter(advice: Advice) -> frozenset[str]:
    """What a directive speaks of, the reason it gives aside."""
    return advice.topic - stems(_WORD.findall(advice.reason.lower())) if advice.reason else advice.topic
