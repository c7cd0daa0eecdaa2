"""What the functions of the package return on fixed texts, as JSON in `functions.json`."""

import dataclasses
import enum
import itertools
import json
import sys
from pathlib import Path

import pytest_clinical_drift as package


def plain(value):
    """Any value as JSON has it."""
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(str(item) for item in value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return plain(vars(value)) if hasattr(value, "__dict__") else str(value)


def rows_of(folder):
    for file in sorted(Path(folder).glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


most = int(sys.argv[1])
cases = {case.id: case for case in package.load_cases("cases")}
retained = {}
advice = {}
replies = {}
summaries = {}
for row in rows_of("recorded"):
    name = f"{row['case_id']}/{row['turn_num']}"
    case = cases.get(row["case_id"])
    if case is None or row["turn_num"] > most:
        continue
    if row["variant"] == "summary":
        facts = [fact.text for fact in case.critical_entities]
        retained[name] = [plain(found) for found in package.assess_retention(row["response_text"], facts)]
        summaries.setdefault(case.id, []).append(row["response_text"])
    else:
        advice[name] = [plain(found) for found in package.find_advice(row["response_text"])]
        replies.setdefault(case.id, []).append(row["response_text"])
texts = (
    "No penicillin allergy. Mother had a stroke. Possibly asthma.",
    "Denies chest pain; family history of diabetes.",
    "Metformin was stopped in 2019, now takes gliclazide 80 mg.",
)
found = {
    "retention": retained,
    "advice": advice,
    "context": {text: plain(package.mention_context(text, 3, 12)) for text in texts},
    "conflict": {
        name: [plain(package.judge_conflict(one, other)) for one, other in itertools.pairwise(said)]
        for name, said in list(replies.items())[:6]
    },
    "rate": package.calculate_knowledge_conflict_rate_from_responses(replies),
    "slope": [
        package.compute_drift_slope(curve) for curve in ([1.0, 0.5, 0.0], [1.0], [], [1.0, None, 0.4], [0.0] * 5)
    ],
    "recall": {
        name: plain(
            package.compute_entity_recall_metrics(some + [None] * (len(cases[name].turns) - len(some)), cases[name])
        )
        for name, some in list(summaries.items())[:4]
    },
}
Path("functions.json").write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
print({key: len(value) if hasattr(value, "__len__") else value for key, value in found.items()})
