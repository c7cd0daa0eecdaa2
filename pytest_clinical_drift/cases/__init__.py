"""Study C cases: what they are, and how they are read from files."""
