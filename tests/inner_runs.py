"""Runs of pytest within this process, which start seconds sooner than a process of their own."""

from __future__ import annotations

import contextlib
import gc
import io
from functools import cache
from pathlib import Path

import pytest

from pytest_clinical_drift.evidence.terms.lexicon import lexicon


@cache
def vocabularies_are_no_garbage() -> None:
    """Every run ends with a search for garbage: through a million objects of ours and of this suite, unless told."""
    lexicon()
    gc.collect()
    gc.freeze()


def run_here(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run pytest in a folder; exit code and output."""
    vocabularies_are_no_garbage()
    alone = ("--rootdir=.", "-s", "-p", "no:cacheprovider", "-p", "no:faulthandler")
    said = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = pytest.main([*alone, *arguments])
    return int(code), said.getvalue()
