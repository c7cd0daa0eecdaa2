"""Which extras a test needs: without them it is skipped, and where they are heavy it is none of the fast tests."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

MODELS = {"torch", "transformers", "sentence_transformers"}


def needs(*modules: str) -> list[pytest.MarkDecorator]:
    """Marks of tests that import these modules; nothing is imported to find out."""
    missing = [name for name in modules if find_spec(name) is None]
    kind = pytest.mark.torch if MODELS.intersection(modules) else pytest.mark.slow
    return [kind, pytest.mark.skipif(bool(missing), reason=f"needs {', '.join(missing)}")]
