"""What a CI server shows: the step summary of GitHub, or a markdown file on request."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .markdown import render_markdown, workflow_commands

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"


def publish_markdown(record: Mapping[str, Any], slug: str, folder: Path) -> list[str]:
    """Append the summary to GitHub's page when running there; returns the annotations to print."""
    text = render_markdown(record, slug)
    target = os.environ.get(SUMMARY_VARIABLE)
    if not target:
        return []
    try:
        with Path(target).open("a", encoding="utf-8") as page:
            page.write(text)
    except OSError as error:
        return [f"{SUMMARY_VARIABLE}: the summary could not be written ({error.strerror})"]
    return workflow_commands(record)
