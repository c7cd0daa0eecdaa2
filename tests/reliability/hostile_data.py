"""What strangers may put into a file or an answer: hostile values, damaged documents, damaged bytes."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import yaml
from hypothesis import strategies as st

WORDS = [
    "",
    " ",
    "\x00",
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "\u202egnp.exe",
    "\ud800",
    "<script>alert(1)</script>",
    "]]>",
    "&lt;b&gt;",
    "::error::run this",
    "%0A::set-output name=x::y",
    "| a | b |\n| --- | --- |",
    "../../etc/passwd",
    "/etc/passwd",
    "C:\\windows",
    "nan",
    "-1",
    "1e999",
    "9" * 5000,
    "a" * 3000,
    "no " * 300,
    "{{ 7 * 7 }}",
    "${HOME}",
    "2026-13-45",
    "9999-12-31T23:59:59+14:00",
    "0001-01-01T00:00:00+14:00",
    "<think>",
    "</think>",
    "retained",
    "PASS",
    "penicillin allergy",
    "take ibuprofen 400 mg three times daily",
    "\n",
    "ﬁ²№İ",
    "🤰🏽",
]
TEXT = st.one_of(st.sampled_from(WORDS), st.text(max_size=30))
NUMBERS = st.one_of(
    st.integers(-3, 40),
    st.sampled_from([2**31, 2**63, 2**64, -(2**63) - 1, 10**400]),
    st.floats(allow_nan=True, allow_infinity=True),
)
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXT)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXT, inner, max_size=4)),
    max_leaves=6,
)


def paths(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield here
    if isinstance(value, dict):
        for key in value:
            yield from paths(value[key], (*here, key))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from paths(value[index], (*here, index))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        value = value[part]
    return value


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    at(value, path[:-1])[path[-1]] = new
    return value


@st.composite
def changed(draw: st.DrawFn, *originals: Any) -> Any:
    """A sound document with other words, or with a few of its parts replaced, taken out, doubled or renamed."""
    value = copy.deepcopy(draw(st.sampled_from(originals)))
    if draw(st.booleans()):
        for path in [path for path in paths(value) if isinstance(at(value, path), str)]:
            if draw(st.integers(0, 4)) == 0:
                value = put(value, path, draw(TEXT))
        return value
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(list(paths(value))))
        way = draw(st.sampled_from(("replace", "replace", "remove", "double", "rename", "add")))
        holder = at(value, path[:-1])
        if way == "replace" or not path:
            value = put(value, path, draw(VALUES))
        elif way == "remove":
            del holder[path[-1]]
        elif way == "double" and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[path[-1]]))
        elif way == "rename" and isinstance(holder, dict):
            holder[draw(TEXT)] = holder.pop(path[-1])
        elif way == "add" and isinstance(holder, dict):
            holder[draw(TEXT)] = draw(VALUES)
    return value


BOMB = b"a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + b"".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n".encode() for n in range(1, 12)
)
"""A few hundred bytes that stand for 9 to the 12th words."""
YAML_TRICKS = [
    b"id: x\npatient_summary: y\n" + BOMB + b"critical_entities: *a11\nturns: *a11\n",
    b"clinical_drift:\n  metrics: {recall_at_t10: *a11}\n" + BOMB,
    BOMB + b"clinical_drift: *a11\n",
    b"!!python/object/apply:os.system ['true']\n",
    b"!!python/name:os.system\n",
    b"!unknown {a: 1}\n",
    b"&a [*a]\n",
    b"a: &a {b: 1}\n<<: *a\n",
    b"? [1, 2]\n: x\n",
    b"? {a: b}\n: x\n",
    b"{1: a, null: b, true: c}\n",
    b"id: x\nid: y\n",
    b"a: 2026-13-45\n",
    b"a: 2026-02-30 25:61:61\n",
    b"a: " + b"9" * 5000 + b"\n",
    b"a: 0x\n",
    b"a: 190:20:30\n",
    b"\tid: x\n",
    b"%YAML 3.0\n---\nid: x\n",
    b"--- a\n--- b\n",
    b"a: |\n  \x00\n",
    b"!!binary nonsense\n",
    b"!!timestamp x\n",
    b"!!float x\n",
    b"!!bool x\n",
    b"!!int ''\n",
    b"!!str {a: b}\n",
    b"!!map x\n",
    b"!!int x\n",
    b"!!set {a, b}\n",
    b"!!omap [a: 1]\n",
    b"[" * 3000,
    b"{a: " * 3000,
    b"- " * 3000 + b"x",
    b"\xff\xfe\x00",
    b"\xef\xbb\xbfid: x\n",
    b"",
    b"null",
    b"[]",
    b"{}",
    b'"',
    b"NaN",
    b"1e999",
    b'{"a": NaN, "b": -Infinity}',
    b'{"a": 1, "a": 2}',
    b'["\\ud800"]',
    b'{"a":' * 3000,
]


@st.composite
def damaged(draw: st.DrawFn, text: st.SearchStrategy[bytes]) -> bytes:
    """Bytes of a file after an accident: cut, doubled, overwritten; or none of it."""
    content = draw(text)
    way = draw(st.sampled_from(("", "", "", "", "", "cut", "insert", "overwrite", "double", "encode")))
    if not content or not way:
        return content
    place = draw(st.integers(0, len(content)))
    if way == "cut":
        return content[:place]
    if way == "double":
        return content + content[place:]
    if way == "encode":
        return content.decode("utf-8", "replace").encode(draw(st.sampled_from(("utf-16", "latin-1"))), "replace")
    piece = draw(st.one_of(st.binary(max_size=6), st.sampled_from(YAML_TRICKS[3:20])))
    return content[:place] + piece + content[place if way == "insert" else place + len(piece) :]


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def as_yaml(value: Any) -> bytes:
    try:
        return yaml.safe_dump(value, sort_keys=False, allow_unicode=True).encode("utf-8", "surrogatepass")
    except (yaml.YAMLError, ValueError):
        return as_json(value)


def documents(*originals: Any, yaml_too: bool = False) -> st.SearchStrategy[bytes]:
    """Files that should have been one of these."""
    value = st.one_of(changed(*originals), changed(*originals), VALUES)
    text = value.map(as_json)
    if yaml_too:
        text = st.one_of(text, value.map(as_yaml), st.sampled_from(YAML_TRICKS))
    return damaged(text) | st.binary(max_size=60)


def lines(*originals: Any) -> st.SearchStrategy[bytes]:
    """JSON Lines files that should have consisted of these."""
    line = st.one_of(st.sampled_from(originals), changed(*originals), VALUES).map(as_json)
    text = st.lists(line, max_size=6).map(b"\n".join)
    return damaged(text) | st.sampled_from(YAML_TRICKS) | st.binary(max_size=60)
