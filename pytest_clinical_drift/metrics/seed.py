"""The one seed of everything that draws at random, so that two runs on the same replies give the same figures."""

from __future__ import annotations

SEED = 20260101
