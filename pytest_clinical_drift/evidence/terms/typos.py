"""Light typing errors in long words: nearest vocabulary word by shared deletions, never when two are equally near."""

from __future__ import annotations

from collections.abc import Iterable


def _deletions(word: str) -> set[str]:
    return {word[:i] + word[i + 1 :] for i in range(len(word))} | {word}


def distance(left: str, right: str, limit: int = 2) -> int:
    """Edits (insertion, deletion, substitution, swap of neighbours) between two words, `limit` + 1 when more."""
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        following = [i]
        for j, b in enumerate(right, 1):
            best = min(row[j] + 1, following[j - 1] + 1, row[j - 1] + (a != b))
            if before and j > 1 and a == right[j - 2] and left[i - 2] == b:
                best = min(best, before[j - 2] + 1)
            following.append(best)
        before, row = row, following
    return min(row[-1], limit + 1)


class TypoIndex:
    """Vocabulary words by what is left of them when one letter is dropped."""

    def __init__(self, words: Iterable[str], *, never: frozenset[str] = frozenset()) -> None:
        self._words = frozenset(words)
        self._never = never
        self._index: dict[str, tuple[str, ...]] | None = None

    def _build(self) -> dict[str, tuple[str, ...]]:
        # Tuples of strings: the garbage collector leaves them out, where as many lists would slow every full pass.
        index: dict[str, tuple[str, ...]] = {}
        for word in self._words:
            for key in _deletions(word):
                index[key] = (*index.get(key, ()), word)
        return index

    def nearest(self, word: str) -> str | None:
        """The one vocabulary word this can be a mistyping of, or None."""
        if word in self._never or len(word) > 30:
            return None
        if self._index is None:
            self._index = self._build()
        candidates: set[str] = set()
        for key in _deletions(word):
            candidates.update(self._index.get(key, ()))
        best: list[str] = []
        nearest = 3
        for candidate in candidates:
            # A word that only goes on differently at its end is an inflection or another word, not a slip.
            if candidate[0] != word[0] or candidate.startswith(word) or word.startswith(candidate):
                continue
            away = distance(word, candidate)
            allowed = 2 if min(len(word), len(candidate)) >= 10 else 1
            if away <= allowed and away <= nearest:
                best = [candidate] if away < nearest else [*best, candidate]
                nearest = away
        return best[0] if len(best) == 1 else None
