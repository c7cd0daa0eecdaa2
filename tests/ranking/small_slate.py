"""A small slate whose figures can be worked out on paper."""

from __future__ import annotations

CREATED = "2025-01-15T09:30:00+00:00"
PREDICTION = ("slate_id", "created_at", "disease_name", "drug_name", "repurposing_score", "rank", "confidence_tier")
OUTCOME = ("slate_id", "disease_name", "drug_name", "outcome_type", "outcome_date", "outcome_source", "observed_at")

ROWS = [
    ("s1", CREATED, "Xanthosis", "Abel", 0.9, 1, "high"),
    ("s1", CREATED, "Xanthosis", "Bruno", 0.4, 2, "moderate"),
    ("s1", CREATED, "Ypsilosis", "Cora", 0.8, 1, "high"),
    ("s1", CREATED, "Ypsilosis", "Abel", 0.6, 2, "moderate"),
]
OUTCOMES = [
    ("s1", "Xanthosis", "Abel", "first_trial_seen", "2025-01-25", "ctgov", "2025-02-01"),
    ("s1", "Ypsilosis", "Abel", "fda_approved", "2025-02-14", "fda", "2025-02-20"),
    ("s1", "Xanthosis", "Cora", "phase_advanced", "2025-03-01", "ctgov", "2025-03-05"),
    ("s1", "Xanthosis", "Bruno", "status_transition", "2025-03-01", "ctgov", "2025-03-05"),
]
CANDIDATES = [(disease, drug) for disease in ("xanthosis", "ypsilosis") for drug in ("abel", "bruno", "cora", "dora")]
LABELS = [("other 1", "abel"), ("other 2", "abel"), ("other 3", "abel"), ("other 1", "bruno")]
"""Breadth: Abel 3, Bruno 1, Cora 0, Dora 0. NTILE(10) over four drugs: Cora, Dora, Bruno, Abel, one tile each."""
