"""What a CI server shows: the step summary of GitHub, and annotations."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_clinical_drift.report.markdown import render_markdown, workflow_commands

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"


def publish_markdown(record: Mapping[str, Any], slug: str) -> list[str]:
    """Append the summary to GitHub's page when running there; returns the annotations to print."""
    target = os.environ.get(SUMMARY_VARIABLE)
    if not target:
        return []
    try:
        with Path(target).open("a", encoding="utf-8") as page:
            page.write(render_markdown(record, slug))
    except OSError as error:
        return [f"{SUMMARY_VARIABLE}: the summary could not be written ({error.strerror})"]
    return workflow_commands(record)
