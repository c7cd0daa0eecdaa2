"""The page to sign of a small recorded run, as markup and as a reader sees it."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import yaml
from reviewing import KEPT, UNCLEAR, case, lay_out, results_of, run

ABSENT = "Takes metformin 500 mg twice daily."
DENIED = "No penicillin allergy. Takes metformin 500 mg twice daily."


def sheet_of(folder: Path) -> tuple[str, str]:
    """The two pages as markup and as a reader sees them."""
    page = (folder / "report.html").read_text(encoding="utf-8")
    markup = page.partition('<section class="sheet"')[2].partition("</section>")[0]
    return markup, " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def record_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "study_c_results.json").read_text(encoding="utf-8"))
    return found


def made_run(folder: Path, told: dict[str, tuple[str, ...]], sheet: str = "", **hazards: str) -> Path:
    """A recorded run by rules alone; `hazards` are what cases name."""
    lay_out(folder, told)
    for name, hazard in hazards.items():
        text = yaml.safe_dump({**case(name), "hazards": [hazard]})
        (folder / "cases" / f"{name}.yaml").write_text(text, encoding="utf-8")
    (folder / "dossier.yaml").write_text(sheet, encoding="utf-8")
    run(folder)
    return results_of(folder)


TOLD = {
    "anna": (KEPT, DENIED, DENIED),
    "bela": (KEPT, KEPT, UNCLEAR),
    "cleo": (KEPT, ABSENT, KEPT),
    "dora": (KEPT, KEPT, KEPT),
}
