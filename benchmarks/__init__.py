"""What the project is measured by; `python -m benchmarks` runs them, `python -m benchmarks.NAME` one with its options.

Each prints its figure last and exits 0 only where its goal holds, 1 where it does not.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("DRIFT_SHARED", ROOT.parent / "shared"))
"""Labelled texts that are not part of the project: beside it, or where DRIFT_SHARED says."""
# models, servers and recorded conversations are those of the tests
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "reliability")]
