"""K-QA (Manes et al. 2024): question, a model's answer, a claim; three physicians on whether the answer says it."""

import csv
from pathlib import Path

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.external.items import ExternalItem
from pytest_clinical_drift.judging.questions import Question

_COLUMNS = ("Question", "answer", "claim", "label_0", "label_1", "label_2")
_LABELS = {"entailment": False, "neutral": True, "contradiction": True}
"""Whether the claim is missing from the answer."""


def load(path: Path) -> list[ExternalItem]:
    """One question of kind must per pair; InputError with line where the file is not the published one."""
    file = next(iter(sorted(path.glob("**/*annotations*.csv"))), None) if path.is_dir() else path
    if file is None:
        raise InputError(f"{path}: no annotations CSV found; give the file of the published data set")
    items = []
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream)
            if missing := [name for name in _COLUMNS if name not in (reader.fieldnames or ())]:
                raise InputError(f"{file}: the column {missing[0]} is missing; expected {', '.join(_COLUMNS)}")
            for number, row in enumerate(reader, start=2):
                words = [str(row[name] or "").strip().lower() for name in _COLUMNS[3:]]
                if unknown := [word for word in words if word not in _LABELS]:
                    raise InputError(f"{file}, line {number}: unknown label {unknown[0]!r}")
                question = Question(
                    "must", f"kqa-{number}", 1, row["answer"], f"Turn 1: {row['Question']}", demand=row["claim"]
                )
                items.append(ExternalItem(question, labels=tuple(_LABELS[word] for word in words)))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{file}: cannot be read ({error})") from None
    return items
