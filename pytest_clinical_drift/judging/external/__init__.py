"""Public sets that clinicians labelled: read as published, put to a judge with the same procedure."""
