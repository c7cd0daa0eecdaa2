"""What a directive is about: what follows its verb, its label, or what a pronoun stands for."""

from __future__ import annotations

from pytest_clinical_drift.evidence.guidance.amounts import read_amounts
from pytest_clinical_drift.evidence.guidance.draft import Draft
from pytest_clinical_drift.evidence.guidance.objects import Mention
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.words import COLON, COMMA, HARD, listed

_LISTING = frozenset((",", "(", "/", '"'))
_JOINING = frozenset(["or", "and", "as", "nor", "plus"])
_ANY_OTHER = frozenset(["any", "other", "another", "similar", "all", "such", "the", "your", "like", "related", "some"])
_CONTAINING = frozenset(["with", "containing", "contains", "of"])
_ANYTHING = frozenset(["anything", "something", "nothing", "food", "foods", "products", "drinks", "things", "made"])
_OF_USE = frozenset(("for", "against", "more", "less"))
_THINGS = ("drug", "class", "food", "treatment", "activity", "test")
_BOOKED = {"schedule": ("class",)}
_NO_NOUN = frozenset(["normal", "usual", "even", "before"])


def targets_of(sentence: Sentence, draft: Draft, end: int, salient: tuple[Mention, ...]) -> tuple[Mention, ...]:
    """The mentions a directive is about; `salient` is what the text before was about."""
    if draft.pronoun and not draft.targets and (draft.statement or draft.verb not in listed("bare_use")):
        return _antecedent(sentence, draft, salient)
    if draft.targets:
        return _of_medicine(sentence, draft, draft.targets, salient)
    kinds = ("service", "test", "treatment", *_BOOKED.get(draft.action, ())) if draft.effect == "care" else _THINGS
    inside = tuple(m for m in sentence.mentions if draft.first <= m.first < draft.end and m.kind in kinds)
    if inside:
        return _of_medicine(sentence, draft, inside, salient)
    direct, has_noun = _after_verb(sentence, draft, end, kinds, salient)
    if direct:
        return _of_medicine(sentence, draft, direct, salient)
    return _implied(sentence, draft, end, has_noun, salient)


def _after_verb(
    sentence: Sentence, draft: Draft, end: int, kinds: tuple[str, ...], salient: tuple[Mention, ...]
) -> tuple[tuple[Mention, ...], bool]:
    """Mentions behind the verb, and whether some other noun stands there."""
    view = sentence.view
    words, marks = view.words, view.marks
    by_place = {m.first: m for m in sentence.mentions if m.kind in kinds and m.first >= draft.end}
    little = listed("more") | listed("less") | listed("adjunct") | _NO_NOUN
    direct: list[Mention] = []
    has_noun = plain_noun = False
    # "isn't worth taking in the winter": what follows is no object
    prepositional = draft.end < end and (words[draft.end] in listed("adjunct") or words[draft.end] in ("in", "at"))
    at = draft.end
    while at < end:
        if at > draft.end and (marks[at] & HARD or (direct and marks[at] & COLON)):
            break
        if not direct and marks[at] & COMMA and words[at] in ("and", "but", "so"):
            break
        mention = by_place.get(at)
        if mention is not None:
            if _belongs(sentence, draft, mention, direct, has_noun):
                direct.append(mention)
            at = mention.end
            continue
        word = words[at]
        near = at - draft.end <= 2 and not direct and draft.effect not in ("care", "watch")
        if near and word in listed("object_pronouns"):
            resolved = _antecedent(sentence, draft, salient)
            if draft.action in ("practise", "rest", "drive"):
                resolved = tuple(m for m in resolved if not m.medicine)
            elif draft.action in ("take", "eat"):
                resolved = tuple(m for m in resolved if m.kind != "activity")
            if draft.action == "stop" and draft.mood.negated:
                # "don't just drop it": what one takes
                resolved = tuple(m for m in resolved if m.medicine) or sentence.sole_drug
            if resolved:
                return resolved, True
        prepositional = prepositional or (word in ("with", "on", "after", "before") and at > draft.end)
        if not direct and not prepositional and len(word) > 3 and at - draft.end < 4 and word not in little:
            has_noun = True
            plain_noun = plain_noun or not _is_adverb(word)
        at += 1
    return tuple(direct), plain_noun


def _is_adverb(word: str) -> bool:
    return word.endswith("ly") and len(word) > 4 and word not in ("daily", "weekly", "monthly", "nightly")


def _belongs(sentence: Sentence, draft: Draft, mention: Mention, direct: list[Mention], has_noun: bool) -> bool:
    """Whether a mention is the verb's object: not behind a preposition, and listed with the others if there are any."""
    words = sentence.view.words
    if draft.pronoun and mention.first - draft.end <= 3 and words[draft.end] in listed("beside"):
        # "It is safe to use with your blood pressure tablets"
        return False
    bodily = draft.action in ("rest", "drive") or (draft.action == "practise" and draft.effect == "for")
    if bodily and mention.medicine:
        return False
    if words[mention.first - 1] in _CONTAINING and words[mention.first - 2] in _ANYTHING:
        return True
    if _is_adjunct(words, mention.first, draft.end) and (direct or has_noun or draft.effect == "care"):
        return False
    if not direct or sentence.view.gaps[mention.first] in _LISTING:
        return True
    at = mention.first - 1
    while at > direct[-1].end and words[at] in _ANY_OTHER:
        at -= 1
    return words[at] in _JOINING


def _implied(
    sentence: Sentence, draft: Draft, end: int, has_noun: bool, salient: tuple[Mention, ...]
) -> tuple[Mention, ...]:
    """The object of a verb that names none: its label's, or what the text was about."""
    words = sentence.view.words
    behind = words[draft.end : end]
    while behind and _is_adverb(behind[0]):
        behind = behind[1:]
    amounts = read_amounts(behind)
    moved = draft.effect == "act" and amounts.changed_from is not None
    if moved or (draft.effect in _OF_USE and not has_noun):
        label = _label_targets(sentence, draft)
        if label:
            return label
        if draft.pronoun:
            return _antecedent(sentence, draft, salient)
        bare = not behind or behind[0] in listed("adjunct") or behind[0] in ("at", "in", "if", "when", "once")
        if bare or amounts:
            return _antecedent(sentence, draft, salient, inside_only=bare and not moved)
        if behind[:2] == ["any", "more"] and sentence.sole_drug:
            return sentence.sole_drug
        if draft.effect in ("more", "less") or behind[0] in listed("more") or behind[0] in listed("less"):
            return _antecedent(sentence, draft, (), inside_only=True)
    if draft.action == "eat" and draft.effect == "for":
        return tuple(m for m in sentence.mentions if m.end <= draft.first and m.kind == "food")[-1:]
    if draft.effect in _OF_USE:
        return tuple(m for m in sentence.label_mentions if m.medicine)[:1]
    return ()


def _of_medicine(
    sentence: Sentence, draft: Draft, targets: tuple[Mention, ...], salient: tuple[Mention, ...]
) -> tuple[Mention, ...]:
    """ "the 5 mg tablet", "the pack" is of the medicine the sentence or the one before speaks of."""
    if len(targets) != 1 or targets[0].id != "treatment:tablets":
        return targets
    if sentence.view.words[targets[0].end : targets[0].end + 1] in (["of"], ["on"]):
        named = tuple(m for m in sentence.mentions if m.medicine and 0 < m.first - targets[0].end <= 3)
        if named:
            return named[:1]
    inside = tuple(m for m in sentence.mentions if m.medicine and m.end <= draft.first)[:1]
    if inside:
        return inside
    if sentence.sole_drug:
        return sentence.sole_drug
    definite = sentence.view.words[targets[0].first] in ("the", "those", "these") or sentence.view.words[
        targets[0].first - 1
    ] in ("the", "those", "these")
    one = len({m.id for m in salient}) == 1 and salient[0].medicine
    return salient[:1] if definite and one else targets


def _is_adjunct(words: list[str], at: int, start: int) -> bool:
    """Whether a mention hangs on a preposition ("while on warfarin") rather than on the verb."""
    for index in range(at - 1, max(start, at - 3) - 1, -1):
        if words[index] in listed("adjunct"):
            return not (words[index] == "as" and words[index - 1] == "such")
        if words[index] not in listed("articles"):
            return False
    return False


def _label_targets(sentence: Sentence, draft: Draft) -> tuple[Mention, ...]:
    """ "**Lisinopril:** stay off": the label of the sentence names the object."""
    marks = sentence.view.marks
    inside = tuple(
        m
        for m in sentence.mentions
        if m.end <= draft.first and m.kind in ("drug", "class", "food", "treatment")
        and any(mark & COLON for mark in marks[m.end : draft.first + 1])
    )  # fmt: skip
    return inside or tuple(m for m in sentence.label_mentions if m.medicine)


def _of_people(sentence: Sentence, at: int) -> bool:
    """ "people who take lamotrigine", "women on the pill": says who is meant."""
    before = sentence.view.words[max(sentence.first, at - 3) : at]
    return "who" in before


def _antecedent(
    sentence: Sentence, draft: Draft, salient: tuple[Mention, ...], *, inside_only: bool = False
) -> tuple[Mention, ...]:
    """What a pronoun stands for: a medicine before it in the sentence, else what the text was about."""
    before = [
        m
        for m in sentence.mentions
        if m.end <= draft.first and m.kind in _THINGS[:5] and not _of_people(sentence, m.first)
    ]
    medicines = [m for m in before if m.medicine]
    if medicines or before:
        return ((medicines or before)[0],)
    if sentence.label_mentions:
        return sentence.label_mentions[:1]
    earlier = sentence.view.marks[sentence.first + 1 : draft.first + 1]
    if inside_only or not salient or any(mark & HARD for mark in earlier):
        return ()
    distinct = len({m.id for m in salient})
    return salient[:1] if distinct <= 2 or not salient[0].medicine else ()
