"""HealthBench's meta-evaluation (OpenAI 2025): a completion, a criterion, and physicians on whether it is met."""

import json
from pathlib import Path

from pytest_clinical_drift.cases.files import numbered_lines
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.external.items import ExternalItem
from pytest_clinical_drift.judging.questions import Question


def load(path: Path) -> list[ExternalItem]:
    """One question of kind must per row of the JSONL file; InputError with line where it is not the published one."""
    file = next(iter(sorted(path.glob("**/*meta_eval*.jsonl"))), None) if path.is_dir() else path
    if file is None:
        raise InputError(f"{path}: no *meta_eval*.jsonl found; give the file of the published data set")
    items = []
    for number, line in numbered_lines(file):
        try:
            row = json.loads(line)
            talk = "\n\n".join(f"{message['role'].capitalize()}: {message['content']}" for message in row["prompt"])
            labels = tuple(not bool(met) for met in row["binary_labels"])
            name = f"healthbench-{row['completion_id']}"
            question = Question("must", name, 1, str(row["completion"]), talk, demand=str(row["rubric"]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{file}, line {number}: not a row of the meta-evaluation ({error})") from None
        if labels:
            items.append(ExternalItem(question, labels=labels))
    return items
