"""The words of the page to sign: each linked, where it first appears, to its sentence in the annex."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from markupsafe import Markup

from pytest_clinical_drift.report.words import words

_TAG = re.compile(r"(<[^>]*>)")
_NAME = re.compile(r"</?(\w+)")
_LEFT_ALONE = frozenset({"a", "h1", "q", "strong", "svg"})
"""What holds links, names, quotations and findings, in whose words a term may mean something else."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A term of the glossary, or several of a kind."""

    name: str
    lines: Sequence[tuple[str, str, str]]
    """Anchor, word and sentence; the word is empty where the name is the term."""


def linked(page: Markup) -> tuple[Markup, list[Entry]]:
    """The page with its terms linked, and the entries of those that occur."""
    anchors: dict[str, None] = {}

    def link(match: re.Match[str]) -> str:
        anchor = _anchor(next(name for name, text in match.groupdict().items() if text))
        if anchor in anchors:
            return match[0]
        anchors[anchor] = None
        return f'<a class="term" href="#{anchor}">{match[0]}</a>'

    parts, inside = [], 0
    for part in _TAG.split(page):
        if not part.startswith("<"):
            parts.append(part if inside else _terms().sub(link, part))
            continue
        parts.append(part)
        name = _NAME.match(part)
        if name and name[1] in _LEFT_ALONE:
            inside += -1 if part.startswith("</") else 1
    return Markup("".join(parts)), _entries(anchors)


@cache
def _terms() -> re.Pattern[str]:
    """Every term, in a group with the key of its sentence."""
    verdicts, *others = words("glossary")
    patterns = [f"(?P<{word}>{word})" for word in verdicts["words"]]
    patterns += [f"(?P<{_key(entry)}>(?i:{entry['match']}))" for entry in others]
    return re.compile(rf"(?<![\w-])(?:{'|'.join(patterns)})(?![\w-])")


def _entries(anchors: Mapping[str, None]) -> list[Entry]:
    verdicts, *others = words("glossary")
    given = [(_anchor(word), word, text) for word, text in verdicts["words"].items() if _anchor(word) in anchors]
    entries = [Entry(verdicts["name"], given)] if given else []
    terms = [(entry["name"], _anchor(_key(entry)), entry["text"]) for entry in others]
    return entries + [Entry(name, [(anchor, "", text)]) for name, anchor, text in terms if anchor in anchors]


def _key(entry: Mapping[str, str]) -> str:
    return re.sub(r"\W+", "_", entry["name"].lower()).strip("_")


def _anchor(key: str) -> str:
    return f"term-{key}"
