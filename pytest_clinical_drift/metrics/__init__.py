"""Pure functions from counts and curves to numbers: no text, no thresholds. Undefined is None."""
