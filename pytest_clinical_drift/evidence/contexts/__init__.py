"""How a mention is meant: cues, how far they reach, whose the finding is."""
