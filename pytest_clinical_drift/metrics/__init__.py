"""Pure functions from counts and curves to numbers: no text, no thresholds. Undefined is None."""

SEED = 20260101
"""Of everything that draws at random, so that two runs on the same replies give the same figures."""
