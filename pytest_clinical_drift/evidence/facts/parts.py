"""The content words of a fact: each with the clusters of the same meaning, phrases as one part."""

from __future__ import annotations

from dataclasses import replace

from pytest_clinical_drift.evidence.facts.kinds import word_lists
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.reading.wording import DENIALS, WordPart, empty_words, loose_phrases, loose_stem
from pytest_clinical_drift.evidence.terms.index import TermIndex
from pytest_clinical_drift.evidence.terms.vocabulary import WORD
from pytest_clinical_drift.evidence.text import NUMBER, Document


def word_parts(document: Document, index: TermIndex, used: set[int]) -> tuple[WordPart, ...]:
    """Content words in order; words of one cluster phrase form one part."""
    clusters: dict[int, list[Term]] = {}
    for term in index.by_kind.get(WORD, ()):
        if not term.weak:
            clusters.setdefault(term.first, []).append(term)
    fillers = word_lists()["filler"]
    parts: list[WordPart] = []
    position = 0
    while position < len(document):
        terms = clusters.get(position, [])
        word = document.words[position]
        length = max((t.last - t.first + 1 for t in terms), default=1)
        if position in used or (word in fillers and length == 1 and not terms):
            position += 1
            continue
        denies = not DENIALS.isdisjoint(document.words[position : position + length])
        if length > 1 and word in empty_words() and not denies and _runs_on(clusters, position, position + length - 1):
            position += 1
            continue
        if terms and word in fillers and length == 1 and word not in ("carries",):
            position += 1
            continue
        if document.kinds[position] == NUMBER or (not word[:1].isalnum()):
            position += 1
            continue
        # A phrase means what its cluster says, not what its words mean alone: "off work" is not work.
        longest = [t for t in terms if t.last - t.first + 1 == length]
        longest += _same_content(document, clusters, position, position + length - 1, longest)
        inner = _inner(document, clusters, position, position + length - 1)
        parts.append(_part(document.quote(position, position + length - 1), word, longest, inner))
        position += length
    return _distinct(parts)


def _runs_on(clusters: dict[int, list[Term]], first: int, last: int) -> bool:
    """ "on disability" in "on disability benefits": another phrase begins inside and reaches further."""
    return any(t.last > last for start in range(first + 1, last + 1) for t in clusters.get(start, ()))


def _distinct(parts: list[WordPart]) -> tuple[WordPart, ...]:
    """Parts that say different things: "final exams" is one."""
    found: list[WordPart] = []
    for part in parts:
        if part not in found and not (part.ids and any(part.ids == other.ids for other in found)):
            found.append(part)
    named = frozenset().union(*(part.ids for part in found))
    # "abstinent from alcohol" names both sides: they do not exclude each other here.
    return tuple(replace(part, excludes=part.excludes - named) if part.excludes & named else part for part in found)


def _same_content(
    document: Document, clusters: dict[int, list[Term]], first: int, last: int, known: list[Term]
) -> list[Term]:
    """Clusters of the phrase without its light words: "worthless" in "feels worthless"."""
    if document.words[last] == "for":
        return []  # "carer for her husband" is not the carer who comes
    content = {i for i in range(first, last + 1) if document.words[i] not in empty_words()}
    ids = {t.concept.id for t in known}
    inside = [t for start in range(first, last + 1) for t in clusters.get(start, ()) if t.last <= last]
    return [
        t
        for t in inside
        if content <= set(range(t.first, t.last + 1))
        and t.concept.id not in ids
        and not any(t.concept.id in k.concept.excludes or k.concept.id in t.concept.excludes for k in known)
    ]  # the last: "non-smoker" holds "smoker", and means its opposite


def _part(text: str, word: str, clusters: list[Term], inner: tuple[WordPart, ...] = ()) -> WordPart:
    return WordPart(
        text,
        frozenset(t.concept.id for t in clusters),
        frozenset(a for t in clusters for a in t.concept.ancestors),
        _stems(word, clusters),
        frozenset(e for t in clusters for e in t.concept.excludes),
        loose_phrases(
            tuple(str(w) for t in clusters for w in t.concept.data["words"]),
            tuple(str(w) for t in clusters for w in t.concept.data.get("loose", ())),
        ),
        inner,
    )


def _inner(document: Document, clusters: dict[int, list[Term]], first: int, last: int) -> tuple[WordPart, ...]:
    """The content words of a phrase, each with its own clusters; nothing where a denial or a light word is one."""
    fillers = word_lists()["filler"]
    words = [i for i in range(first, last + 1) if document.words[i] not in fillers]
    if len(words) < 2 or any(document.words[i] in DENIALS for i in range(first, last + 1)):
        return ()
    found: list[WordPart] = []
    position = first
    while position <= last:
        terms = [t for t in clusters.get(position, ()) if t.last <= last and t.last - t.first < last - first]
        end = max((t.last for t in terms), default=position)
        if position in words or end > position:
            longest = [t for t in terms if t.last == end]
            found.append(_part(document.quote(position, end), document.words[position], longest))
        position = end + 1
    return tuple(found) if len(found) > 1 else ()


def _stems(word: str, clusters: list[Term]) -> frozenset[str]:
    """The stem of a word that no cluster knows; for a sex the pronoun, which says it too."""
    pronouns = {"word:woman": "she", "word:man": "he"}
    told = [pronouns[t.concept.id] for t in clusters if t.concept.id in pronouns]
    if told:
        return frozenset(told)
    return frozenset() if clusters else frozenset({loose_stem(word)})
