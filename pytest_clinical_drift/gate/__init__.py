"""A gated run: hooks and items for pytest, the run itself, its verdict and files, and the commands on finished runs."""
