"""Files that users name: one sentence for each fault; written in one step."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from pytest_clinical_drift.core.files import file_hash, numbered_lines, read_text, write_atomically
from pytest_clinical_drift.errors import InputError


def test_text_is_read_without_its_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"\xef\xbb\xbfone\n\ntwo\n")
    assert read_text(file) == "one\n\ntwo\n"
    assert list(numbered_lines(file)) == [(1, "one"), (3, "two")]


def test_faults_name_the_file(tmp_path: Path) -> None:
    """Not UTF-8, a folder, nothing there."""
    latin = tmp_path / "latin.txt"
    latin.write_bytes(b"caf\xe9")
    with pytest.raises(InputError, match=r"latin\.txt: not readable as UTF-8 text \(byte 3\)"):
        read_text(latin)
    for read in (read_text, file_hash):
        with pytest.raises(InputError, match=r"cannot be read \(Is a directory\)"):
            read(tmp_path)
        with pytest.raises(InputError, match=r"none\.txt: cannot be read \(No such file or directory\)"):
            read(tmp_path / "none.txt")


def test_hash_is_that_of_the_bytes(tmp_path: Path) -> None:
    file = tmp_path / "a.bin"
    file.write_bytes(b"\x00\xff" * 70_000)
    assert file_hash(file) == hashlib.sha256(b"\x00\xff" * 70_000).hexdigest()


def test_writing_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    """The folder is made; a write that fails half-way changes nothing and leaves no draft."""
    file = write_atomically(tmp_path / "new" / "a.json", "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(file, "half\ud800")
    assert file.read_text(encoding="utf-8") == "old"
    assert [path.name for path in file.parent.iterdir()] == ["a.json"]
    assert write_atomically(file, "whole") == file
    assert [path.name for path in file.parent.iterdir()] == ["a.json"]
    assert file.read_text(encoding="utf-8") == "whole"
