"""What makes an opposite directive lawful: a condition, a later stage, a clinician's word, news since then."""

from __future__ import annotations

from pytest_clinical_drift.evidence.advice import document_of
from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.guidance.words import view_of
from pytest_clinical_drift.evidence.judges.news import has_news
from pytest_clinical_drift.evidence.judges.opposition import Opposition

_AFTERWARDS = (
    "then", "next", "afterwards", "subsequently", "once", "after", "as soon as", "by day", "on day", "from",
    "the moment",
    "in week", "at week", "by the time", "by week", "in the", "for the", "the following", "the day after",
    "the week after", "on the",
)  # fmt: skip
_NEW_SIGNS = 2
_WHEN = ("when", "the moment", "at the first sign")
_MEDICINE = ("drug:", "class:")


class Excuses:
    """Excuses that hold between two texts; `whole` replies change their subject more often than a few sentences."""

    def __init__(self, earlier: str, later: str, *, whole: bool) -> None:
        self._whole = whole
        self._news = has_news(document_of(earlier), document_of(later))
        view = view_of(document_of(later))
        sentences = view.document.sentences
        self._elapsed = {sentences[view.origin[hit.first]] for hit in view.hits if hit.category == "elapsed"}

    def excused(self, first: Advice, second: Advice, opposition: Opposition) -> bool:
        """Whether the later directive may differ from the earlier one."""
        if self._news or first.deferred or second.deferred or _one_after_the_other(first, second):
            return True
        if opposition.kind == "regularity":
            # "only when" is what the two are opposed in
            return False
        if _time_limited(first) and not self._elapsed.isdisjoint((second.sentence, second.sentence - 1)):
            return True
        if first.condition_topic & second.condition_topic:
            return False
        if self._whole and _pauses_an_everyday_thing(second, opposition):
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
        if (first.lasting and _depends(second)) or (second.lasting and _depends(first)):
            # "at all times" leaves no room for "when you're only popping out"
            return first.temporary or not (first.stance and second.stance)
        return self._conditional(first, second, opposition)

    def _conditional(self, first: Advice, second: Advice, opposition: Opposition) -> bool:
        """Whether the two apply in different situations."""
        if not _depends(first) and not _depends(second):
            passing = first.temporary and not second.temporary and first.stance < 0
            return passing and (self._whole or first.condition_kind != "until")
        if _same_situation(first, second):
            return opposition.kind == "urgency" and (_adds_signs(first, second) or _adds_signs(second, first))
        if first.stance < 0 < second.stance and first.polarity != "no need":
            # A flat prohibition is not lifted by a symptom; "hold off" and "for now" are no flat prohibitions.
            return first.temporary or _depends(first)
        limits = opposition.kind == "dose" and first.amounts.ceiling
        return _depends(first) or not limits


def _time_limited(advice: Advice) -> bool:
    """Whether it was given for a time or until something ("for four weeks", "until week 12")."""
    return advice.condition_kind in ("until", "stage") or advice.amounts.lasts is not None


def _pauses_an_everyday_thing(later: Advice, opposition: Opposition) -> bool:
    """Everyday things are often left for a while; in long replies that is no change of mind."""
    everyday = opposition.object is not None and not opposition.object.startswith(_MEDICINE)
    return everyday and (later.bounded or later.temporary)


def _staged(advice: Advice) -> bool:
    """ "Once the five days are up": another phase of the same plan."""
    return advice.condition_kind == "stage" and (advice.condition or "").lower().startswith(_AFTERWARDS)


def _one_after_the_other(first: Advice, second: Advice) -> bool:
    """ "Before the test … once the test is done …": two phases around one event."""
    before, after = (first.condition or "").lower(), (second.condition or "").lower()
    return before.startswith(("before", "until", "till")) and after.startswith(_AFTERWARDS)


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
    if _depends(second) and second.condition_topic & first.topic:
        return True
    return bool(_depends(first) and first.condition_topic & second.topic)
