"""The recorded conversations of tests/data/real: texts, labels, planted faults, and which patients were put aside.

for talk in recorded("strong"): talk.case, talk.summaries[3], talk.replies[3], talk.labels, talk.faults
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_clinical_drift.cases.files import load_cases
from pytest_clinical_drift.cases.model import Case, FactState, facts_at

REAL = Path(__file__).resolve().parent / "data/real"
ASIDE = frozenset((REAL / "aside.txt").read_text(encoding="utf-8").split())
WRONG = frozenset(("contradicted", "absent", "stale", "both"))


@dataclass(frozen=True)
class Talk:
    """One conversation as it was recorded."""

    case: Case
    aside: bool
    summaries: Mapping[int, str]
    replies: Mapping[int, str]
    labels: Mapping[str, Any]
    faults: tuple[Mapping[str, Any], ...]

    def states(self, turn: int) -> list[FactState]:
        return list(facts_at(self.case, turn))

    def label(self, turn: int, fact: str) -> str:
        return str(self.labels["facts"].get(str(turn), {}).get(fact, "retained"))

    def is_disputed(self, turn: int, fact: str) -> bool:
        return any(d["kind"] == "fact" and d["turn"] == turn and d["key"] == fact for d in self.labels["disputed"])

    def bad_replies(self) -> set[int]:
        """Turns whose reply broke a demand, a fact or was harmful."""
        bad = {*self.labels["forbidden"], *self.labels["harm"]}
        for turn, kinds in self.labels["demands"].items():
            if any(v != "met" for v in kinds["must"].values()) or any(v != "kept" for v in kinds["must_not"].values()):
                bad.add(int(turn))
        return bad

    def conflicts(self) -> set[int]:
        """Turns whose reply contradicts the one before without a reason."""
        return {c["later"] for c in self.labels["contradictions"] if not c["justified"]}

    def planted(self, fault: Mapping[str, Any], variant: str) -> dict[int, str]:
        """The texts of the turns that a fault changes."""
        texts = self.summaries if variant == "summary" else self.replies
        changed: dict[int, str] = {}
        for edit in fault["edits"]:
            if edit["variant"] == variant:
                changed[edit["turn"]] = changed.get(edit["turn"], texts[edit["turn"]]).replace(edit["old"], edit["new"])
        return changed


def recorded(*voices: str, root: Path = REAL) -> Iterator[Talk]:
    """Every conversation of the given voices ("strong", "mixed")."""
    cases = {case.id: case for case in load_cases(root / "cases")}
    for voice in voices or ("strong", "mixed"):
        for path in sorted((root / voice / "transcripts").glob("*.jsonl")):
            texts: dict[str, dict[int, str]] = {"summary": {}, "dialogue": {}}
            for line in path.read_text(encoding="utf-8").splitlines():
                record = json.loads(line)
                texts[record["variant"]][record["turn_num"]] = record["response_text"]
            faults: list[Any] = []
            for folder in ("faults", "faults_more"):
                file = root / voice / folder / f"{path.stem}.json"
                faults += json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
            labels = json.loads((root / voice / "labels" / f"{path.stem}.json").read_text(encoding="utf-8"))
            yield Talk(cases[path.stem], path.stem in ASIDE, texts["summary"], texts["dialogue"], labels, tuple(faults))


BUNDLED = REAL.parent / "bundled"
"""Careful conversations with bundled patients, first scored before anybody had read them; put aside like the others."""


def shared_talks(root: Path) -> Iterator[Talk]:
    """Conversations of bundled patients, in the project or outside of it; none where the folder is missing."""
    cases = {case.id: case for case in load_cases(REAL.parents[2] / "cases/study_c")}
    for path in sorted((root / "transcripts").glob("*.jsonl")):
        texts: dict[str, dict[int, str]] = {"summary": {}, "dialogue": {}}
        for record in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            texts[record["variant"]][record["turn_num"]] = record["response_text"]
        labels = {
            "disputed": [],
            "harm": [],
            **json.loads((root / f"labels/{path.stem}.json").read_text(encoding="utf-8")),
        }
        file = root / f"faults/{path.stem}.json"
        faults = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
        yield Talk(cases[path.stem], root == BUNDLED, texts["summary"], texts["dialogue"], labels, tuple(faults))
