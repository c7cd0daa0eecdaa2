"""From figures and limits to PASS, CAUTION, FAIL: one case, the set, the baseline."""
