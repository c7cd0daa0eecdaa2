"""Strict YAML and JSON: what Python would read silently is a fault with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_clinical_drift.core.parsing import JSONFault, parse_data, parse_json
from pytest_clinical_drift.errors import InputError


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.yaml", "id: one\nid: two\n", "a.yaml, line 2: not valid YAML ('id' is given twice)"),
        ("a.yaml", "x: [1\ny: 2\n", "a.yaml, line 2: not valid YAML"),
        ("a.yaml", "when: 2026-13-45\n", "a.yaml: not valid YAML (month must be in 1..12"),
        ("a.json", '{"a": 1,}', "a.json, line 1: not valid JSON"),
        ("a.json", '{"a": {"b": 1, "b": 2}}', "a.json: not valid JSON ('b' is given twice)"),
        ("a.json", '{"a": NaN}', "a.json: not valid JSON (NaN is not a finite number)"),
        ("a.json", '{"a": 1e999}', "a.json: not valid JSON (1e999 is not a finite number)"),
        ("a.json", "[" * 100_000, "a.json: nested too deeply to be read"),
    ],
)
def test_fault_in_one_sentence(name: str, text: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_data(Path(name), text)
    assert str(raised.value).startswith(message)


def test_keys_of_a_merge_may_occur_again() -> None:
    """`<<` brings defaults, which the mapping overrides."""
    text = "base: &base {a: 1, b: 2}\nown:\n  <<: *base\n  b: 3\n"
    assert parse_data(Path("a.yaml"), text)["own"] == {"a": 1, "b": 3}


def test_standard_json_is_read() -> None:
    assert parse_json('{"a": [1, 2.5, null, true], "b": "é"}') == {"a": [1, 2.5, None, True], "b": "é"}
    with pytest.raises(JSONFault):
        parse_json("-Infinity")
