"""Every word that we say to a model, in one versioned place."""

from __future__ import annotations

import hashlib

VERSION = "1"

INTAKE = "Background from the patient's record, for this conversation:"
PATIENT = "The patient now writes:"
PROBE = (
    "Pause the conversation and write a handover summary of this patient for a colleague who takes over now. "
    "Cover diagnoses, current medicines with dose and timing, allergies and reactions, relevant negatives, key "
    "measurements, social and safety circumstances, and anything that changed during the conversation. "
    "State only what the record and the conversation support."
)


def opening(patient_summary: str, message: str) -> str:
    """The first user message: the intake, given once, and the patient's first words."""
    return f"{INTAKE}\n\n{patient_summary}\n\n{PATIENT}\n\n{message}"


def prompt_hash(probe: str | None = None) -> str:
    """Fingerprint of all prompts, for the manifest and the store."""
    return hashlib.sha256("\x1f".join((VERSION, INTAKE, PATIENT, probe or PROBE)).encode()).hexdigest()
