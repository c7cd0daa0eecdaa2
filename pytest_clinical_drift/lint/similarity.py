"""How alike texts are: cases that copy one another are not independent evidence."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

_WORD = re.compile(r"[^\W_]+")
_PHRASE = 3
"""Words of the phrases by which two short texts are compared."""
_COMMONPLACE = 20
"""A phrase that stands in more texts than this tells nothing about copying."""


class Pair(NamedTuple):
    """Two texts, by position, and their similarity between 0 and 1."""

    first: int
    second: int
    similarity: float


def similarities(texts: Sequence[str]) -> list[Pair]:
    """Cosine of word vectors weighted by tf-idf, of every pair, the most alike first.

    The weights are smoothed, so that a text and its copy stay alike even when they are the only two.
    """
    if len(texts) < 2:
        return []
    counts = [Counter(word for word in _words(text) if len(word) > 2) for text in texts]
    frequency = Counter(word for count in counts for word in count)
    columns = {word: position for position, word in enumerate(frequency)}
    table = np.zeros((len(texts), len(columns)), dtype=np.float32)
    for row, count in enumerate(counts):
        for word, times in count.items():
            rarity = 1 + np.log((1 + len(texts)) / (1 + frequency[word]))
            table[row, columns[word]] = (1 + np.log(times)) * rarity
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    table /= np.where(lengths == 0, 1, lengths)
    cosine = table @ table.T
    rows, others = np.triu_indices(len(texts), k=1)
    order = np.argsort(-cosine[rows, others], kind="stable")
    return [Pair(int(rows[at]), int(others[at]), float(cosine[rows[at], others[at]])) for at in order]


def shared_phrases(texts: Sequence[str], *, shortest: int = 8) -> list[Pair]:
    """Share of the shorter text's three-word phrases that stand in the other too, the most alike first.

    Only pairs that share a phrase are listed; texts of fewer than `shortest` words are too short to be copies.
    """
    phrases = [_phrases(text) if len(_words(text)) >= shortest else frozenset() for text in texts]
    where: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, found in enumerate(phrases):
        for phrase in found:
            where[phrase].append(index)
    shared: Counter[tuple[int, int]] = Counter()
    for indices in where.values():
        if len(indices) <= _COMMONPLACE:
            shared.update(combinations(indices, 2))
    pairs = [
        Pair(first, second, times / min(len(phrases[first]), len(phrases[second])))
        for (first, second), times in shared.items()
    ]
    return sorted(pairs, key=lambda pair: (-pair.similarity, pair.first, pair.second))


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _phrases(text: str) -> frozenset[tuple[str, ...]]:
    words = _words(text)
    return frozenset(tuple(words[at : at + _PHRASE]) for at in range(len(words) - _PHRASE + 1))
