"""The versions that figures depend on."""

import platform
from importlib.metadata import PackageNotFoundError, version

_PACKAGES = ("pytest-clinical-drift", "pytest", "numpy", "scipy", "pydantic", "torch", "transformers", "spacy")


def package_versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions
