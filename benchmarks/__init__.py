"""What the project is measured by; `python -m benchmarks` runs them, `python -m benchmarks.NAME` one with its options.

Each prints its figure last and exits 0 only where its goal holds.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# models, servers and recorded conversations are those of the tests
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "reliability")]
