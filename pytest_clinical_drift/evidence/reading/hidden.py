"""Hidden reasoning and markup: blanked out so that no token ever comes from there, offsets unchanged."""

import re

from pytest_clinical_drift.conversation.hygiene import hidden_spans

_MARKUP = re.compile(
    r"</?(?:a|b|i|u|p|em|li|ul|ol|td|tr|th|hr|div|span|sup|sub|code|pre|small|strong|table|thead|tbody|h[1-6])"
    r"(?:\s[^<>]{0,200})?/?>|<\|[a-z_]{1,30}\|>|&nbsp;",
    re.IGNORECASE,
)
_BREAK = re.compile(r"<br\s{0,3}/?>", re.IGNORECASE)


def _blank_comments(text: str) -> str:
    """Blank `<!-- … -->`; by searching, because a lazy pattern is quadratic on unclosed ones."""
    pieces: list[str] = []
    done = 0
    opened = text.find("<!--")
    while opened >= 0:
        closed = text.find("-->", opened + 4)
        if closed < 0:
            break
        pieces += (text[done:opened], " " * (closed + 3 - opened))
        done = closed + 3
        opened = text.find("<!--", done)
    return "".join(pieces) + text[done:]


def blank_hidden(text: str) -> str:
    """The text with reasoning and markup replaced by blanks of the same length."""
    if "<" not in text and "[/" not in text and "[T" not in text and "◁" not in text and "&n" not in text:
        return text
    spans = hidden_spans(text)
    if spans:
        pieces: list[str] = []
        done = 0
        for start, end in spans:
            # A newline at both ends: what stands before and after a block never forms one sentence.
            pieces += (text[done:start], "\n", " " * (end - start - 2), "\n")
            done = end
        pieces.append(text[done:])
        text = "".join(pieces)
    if "<" in text or "&n" in text:
        text = _blank_comments(text) if "<!--" in text else text
        text = _MARKUP.sub(lambda found: " " * len(found.group()), text)
        text = _BREAK.sub(lambda found: "\n" + " " * (len(found.group()) - 1), text)
    return text
