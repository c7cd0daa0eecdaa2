"""The content words of a fact: each with the clusters of the same meaning, phrases as one part."""

from __future__ import annotations

from pytest_clinical_drift.evidence.facts.kinds import word_lists
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.reading.wording import WordPart, loose_phrases, loose_stem
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
        if terms and word in fillers and length == 1 and word not in ("carries",):
            position += 1
            continue
        if document.kinds[position] == NUMBER or (not word[:1].isalnum()):
            position += 1
            continue
        # A phrase means what its cluster says, not what its words mean alone: "off work" is not work.
        longest = [t for t in terms if t.last - t.first + 1 == length]
        parts.append(
            WordPart(
                document.quote(position, position + length - 1),
                frozenset(t.concept.id for t in longest),
                frozenset(a for t in longest for a in t.concept.ancestors),
                _stems(word, longest),
                frozenset(e for t in longest for e in t.concept.excludes),
                loose_phrases(tuple(str(w) for t in longest for w in t.concept.data["words"])),
            )
        )
        position += length
    return tuple(dict.fromkeys(parts))


def _stems(word: str, clusters: list[Term]) -> frozenset[str]:
    """The stem of a word that no cluster knows; for a sex the pronoun, which says it too."""
    pronouns = {"word:woman": "she", "word:man": "he"}
    told = [pronouns[t.concept.id] for t in clusters if t.concept.id in pronouns]
    if told:
        return frozenset(told)
    return frozenset() if clusters else frozenset({loose_stem(word)})
