"""Every word that we say to a model, in one versioned place."""

import hashlib
from collections.abc import Iterable
from typing import Literal, get_args

VERSION = "1"

RecordPlace = Literal["first-message", "system", "context"]
"""Where a model gets the patient's record; context: not in the messages, only beside them."""
RECORD_PLACES: tuple[str, ...] = get_args(RecordPlace)

INTAKE = "Background from the patient's record, for this conversation:"
PATIENT = "The patient now writes:"
PROBE = (
    "Pause the conversation and write a handover summary of this patient for a colleague who takes over now. "
    "Cover diagnoses, current medicines with dose and timing, allergies and reactions, relevant negatives, key "
    "measurements, social and safety circumstances, and anything that changed during the conversation. "
    "State only what the record and the conversation support."
)
TRANSCRIPT = "The whole conversation with the patient so far:"


def opening(patient_summary: str, message: str) -> str:
    """The first user message: the intake, given once, and the patient's first words."""
    return f"{INTAKE}\n\n{patient_summary}\n\n{PATIENT}\n\n{message}"


def system_message(system_prompt: str | None, patient_summary: str, record: RecordPlace) -> str:
    """The deployed system prompt, followed by the intake where it goes there; empty where there is neither."""
    intake = f"{INTAKE}\n\n{patient_summary}" if record == "system" else ""
    return "\n\n".join(part for part in (system_prompt, intake) if part)


def whole_transcript(
    patient_summary: str, said: Iterable[tuple[str, str]], request: str, record: RecordPlace = "first-message"
) -> str:
    """One user message with everything: the intake (where messages carry it), what was said, and the request."""
    parts = [f"{INTAKE}\n\n{patient_summary}"] if record == "first-message" else []
    turns = (f"Patient: {message}\n\nAssistant: {reply}" for message, reply in said)
    return "\n\n".join((*parts, TRANSCRIPT, *turns, request))


def prompt_hash(probe: str | None = None, record: RecordPlace = "first-message") -> str:
    """Fingerprint of all prompts, for the manifest and the store; a record in another place is another prompt."""
    parts = (VERSION, INTAKE, PATIENT, probe or PROBE, *([] if record == "first-message" else [record]))
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()
