"""The versions that figures depend on."""

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

PACKAGE = "pytest-clinical-drift"
_PACKAGES = (PACKAGE, "pytest", "numpy", "scipy", "pydantic", "torch", "transformers", "spacy")


def package_versions() -> dict[str, str]:
    found = {"python": platform.python_version()} | {name: _installed(name) for name in _PACKAGES}
    return {name: number for name, number in found.items() if number}


def own_version() -> str:
    return _installed(PACKAGE) or "unreleased"  # a checkout on the path that was never installed


@cache
def _installed(name: str) -> str:
    """Empty where it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
