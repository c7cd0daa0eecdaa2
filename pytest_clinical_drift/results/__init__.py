"""The run record: typed and versioned, written and read by the same models; the folders of runs."""
