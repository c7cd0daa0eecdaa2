"""What differs from run to run or from place to place is replaced: times, run ids, paths, hashes of code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_RULES = (
    (re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{6}"), "<run>"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00)?"), "<time>"),
    (re.compile(r"\b20(2[6-9]|3\d)-\d\d-\d\d\b"), "<date>"),
    (re.compile(r"\b\d+(\.\d+)? ?s(econds)?\b(?= =|$| \(|\)| for| on)"), "<seconds>"),
    (re.compile(r"\bin \d+(\.\d+)?s\b( \(\d+:\d\d:\d\d\))?"), "in <seconds>"),
    (re.compile(r"127\.0\.0\.1:\d{4,5}"), "127.0.0.1:<port>"),
    (re.compile(r"\b(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{10,}\b"), "<hash>"),
    (re.compile(r"SHA256:[A-Za-z0-9+/]{43}"), "<key>"),
    (re.compile(r"\[gw\d+\]"), "[gw]"),
    (re.compile(r"(platform \w+ -- ).*"), r"\1<versions>"),
    (re.compile(r"0x[0-9a-f]{6,}"), "<address>"),
)
_DROPPED_LINES = re.compile(
    r"^(plugins: |cachedir: |clinical-drift: \d+/\d+ (cases|texts)\b|calibrating: |study_c/\S+$)"
)
"""Lines of progress, the name of a case that one of them interrupted, and lines of the machine."""
_LAST_LINE = re.compile(r"^=+ (.*) =+$")
_DATED = frozenset({"made", "time", "signed", "date", "since", "replies_reused_since", "ended", "on"})
_DROPPED_KEYS = frozenset({"versions", "generation_seconds", "seconds", "hostname", "timestamp"})
_HASH_KEYS = frozenset(
    {
        "code",
        "cases",
        "thresholds",
        "options",
        "interludes",
        "system_prompt",
        "settings",
        "identity",
        "manifest",
        "previous",
        "hash",
        "fingerprint",
        "results_sha256",
        "sha256",
        "results",
    }
)
_HASH = re.compile(r"^[0-9a-f]{12,}$")


class Normaliser:
    """Replaces by fixed rules, and the paths of one scenario by names."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = sorted(places.items(), key=lambda item: -len(item[0]))

    def text(self, text: str, *, hashes: bool = True) -> str:
        for place, name in self._places:
            text = text.replace(place, name)
        for pattern, name in _RULES:
            if hashes or name != "<hash>":
                text = pattern.sub(name, text)
        return text

    def terminal(self, text: str) -> str:
        """What a command printed, without progress, rules of equals signs of varying length, and spaces at the end."""
        kept = []
        for line in self.text(text).splitlines():
            line = line.rpartition("\r")[2].rstrip()
            line = _LAST_LINE.sub(r"== \1 ==", line)
            if not _DROPPED_LINES.match(line):
                kept.append(line)
        return "\n".join(kept)

    def data(self, value: Any, key: str = "") -> Any:
        """A JSON value; ids of questions are kept, hashes of code and of whole files are not."""
        if isinstance(value, dict):
            items = {self.text(name, hashes=False): self.data(item, name) for name, item in value.items()}
            return {name: item for name, item in items.items() if name not in _DROPPED_KEYS}
        if isinstance(value, list):
            return [self.data(item, key) for item in value]
        if not isinstance(value, str):
            return value
        if key in _HASH_KEYS and _HASH.match(value):
            return "<hash>"
        if key in _DATED and re.match(r"\d{4}-", value):
            return "<time>"
        return self.text(value, hashes=False)
