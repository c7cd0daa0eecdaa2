"""The JSON Schema of the run record, made from the models and shipped as `data/study_c_results.schema.json`."""

import json
import sys
from importlib import resources
from pathlib import Path

from pytest_clinical_drift.results.models import SCHEMA_VERSION, RunResult

FILE_NAME = "study_c_results.schema.json"


def make_schema() -> str:
    """The schema as text, from the models."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:pytest-clinical-drift:study-c-results:{SCHEMA_VERSION}",
        **RunResult.model_json_schema(by_alias=True),
    }
    schema["required"] = sorted({*schema["required"], "schema_version"})
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def shipped_schema() -> str:
    """The schema as text, from the installed package."""
    return (resources.files("pytest_clinical_drift") / "data" / FILE_NAME).read_text(encoding="utf-8")


def main() -> None:
    """Write the shipped schema anew; for a checkout."""
    target = Path(__file__).parent.parent / "data" / FILE_NAME
    target.write_text(make_schema(), encoding="utf-8")
    sys.stdout.write(f"{target}\n")


if __name__ == "__main__":
    main()
