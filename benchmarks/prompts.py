"""Writes the exact prompts of a labelled set to a file, a line per text and wording; nobody is asked.

python -m benchmarks.prompts FILE [SET]
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from pytest_clinical_drift.judging.labelled import Labelled, load_calibration_set
from pytest_clinical_drift.judging.prompts import messages_for


def write_prompts(labelled: Iterable[Labelled], path: Path) -> int:
    rows = [
        {
            "id": row.item.id,
            "kind": row.item.kind,
            "wording": wording,
            "messages": [message.as_dict() for message in messages_for(row.item, wording)],
        }
        for row in labelled
        for wording in (1, 2)
    ]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return len(rows)


def main(arguments: list[str]) -> int:
    if len(arguments) not in (1, 2):
        sys.exit(__doc__)
    target, place = Path(arguments[0]), Path(arguments[1]) if len(arguments) > 1 else None
    print(f"{write_prompts(load_calibration_set(place), target)} prompts written to {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
