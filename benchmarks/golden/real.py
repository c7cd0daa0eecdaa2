"""The recorded conversations outside the project: as they are and with planted faults, by rules and by oracle."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import yaml

from benchmarks.golden.parts import (
    ALL_LABELLED,
    BY_POINT,
    CASES,
    JUNIT,
    LABELLED,
    READS,
    REAL,
    SMALL_SET,
    calibrate,
    cases,
    gate,
    judged,
)
from benchmarks.golden.scenario import File, Material, Scenario

FAULTS = 8
"""Faults of each conversation and set."""
_STATUS = {"lost": "absent", "denied": "contradicted", "wrong_value": "contradicted", "stale": "stale"}
_STATUS |= {"other_person": "contradicted"}
_LONGEST_QUOTE = 160
Texts = dict[tuple[int, str], str]


def scenarios() -> list[Scenario]:
    by_rules = ("pytest", "--model", "replay:recorded.jsonl", *CASES, *JUNIT)
    oracle = (
        "--drift-judge",
        READS,
        "--drift-judge-set",
        "canaries=0",
        "--drift-judge-set",
        "calibration_set=labelled",
    )
    found = []
    for name, faults, number in variants():
        recording = File("recorded.jsonl", made=partial(recorded, faults=faults, number=number))
        common = (recording, gate(BY_POINT, SMALL_SET), *cases(*REAL))
        quick = name in ("clean", "faults-1")
        found.append(Scenario(f"real/rules-{name}", common, (by_rules,), quick=quick, shared=True))
        truth = File("truth.json", made=partial(truth_of_all, faults=faults, number=number))
        for kind, shares in (("oracle", {}), ("erring", ERRING)):
            if kind == "erring" and name not in ("clean", "faults-1", "subtle-1"):
                continue
            labelled = ALL_LABELLED if kind == "oracle" else LABELLED
            files = (*common, truth, *judged(judge={"truth": "truth.json", **shares}, labelled=labelled))
            commands = (calibrate(), (*by_rules, *oracle))
            quick = kind == "oracle" and name == "clean"
            found.append(Scenario(f"real/{kind}-{name}", files, commands, quick=quick, shared=True))
    return found


ERRING = {"flip": 0.01, "malformed": 0.01, "misquote": 0.02, "salt": 3}


def variants() -> list[tuple[str, str, int | None]]:
    """Name, folder of faults, and which fault of each conversation."""
    found: list[tuple[str, str, int | None]] = [("clean", "", None)]
    found += [(f"faults-{number}", "real/faults", number - 1) for number in range(1, FAULTS + 1)]
    found += [(f"subtle-{number}", "subtle", number - 1) for number in range(1, FAULTS + 1)]
    return found


def texts_of(material: Material, name: str) -> Texts:
    rows = [json.loads(line) for line in material.read(f"shared/real/transcripts/{name}.jsonl").splitlines()]
    return {(row["turn_num"], row["variant"]): row["response_text"] for row in rows}


def fault_of(material: Material, name: str, faults: str, number: int | None) -> dict[str, Any] | None:
    if number is None:
        return None
    several = json.loads(material.read(f"shared/{faults}/{name}.json"))
    return several[number] if number < len(several) else None


def edited(texts: Texts, fault: dict[str, Any] | None) -> Texts:
    """The texts with the fault planted."""
    changed = dict(texts)
    for edit in fault["edits"] if fault else ():
        key = (edit["turn"], edit["variant"])
        changed[key] = changed[key].replace(edit["old"], edit["new"])
    return changed


def recorded(material: Material, faults: str, number: int | None) -> str:
    """All conversations as `replay:` reads them."""
    lines = []
    for name in REAL:
        said = edited(texts_of(material, name), fault_of(material, name, faults, number))
        for (turn, variant), text in sorted(said.items()):
            row = {"case_id": name, "turn_num": turn, "variant": variant, "response_text": text, "status": "ok"}
            lines.append(json.dumps(row, ensure_ascii=False))
    return "\n".join(lines) + "\n"


def truth_of_all(material: Material, faults: str, number: int | None) -> str:
    return json.dumps({name: truth_of(material, name, fault_of(material, name, faults, number)) for name in REAL})


def truth_of(material: Material, name: str, fault: dict[str, Any] | None) -> dict[str, Any]:
    """What is wrong in the texts of a case, by turn, as the golden judge looks it up."""
    gold = json.loads(material.read(f"shared/real/labels/{name}.json"))
    texts = texts_of(material, name)
    table: dict[str, Any] = {
        "texts": {f"{turn}/{variant}": text for (turn, variant), text in edited(texts, fault).items()},
        "fact": {turn: {fact: plain(word) for fact, word in facts.items()} for turn, facts in gold["facts"].items()},
        "must": {},
        "must_not": {},
        "conflict": {},
        "unsupported": {},
        "course": [],
        "misreported": [],
        "care": care_of(material, name),
    }
    for turn, demands in gold["demands"].items():
        if "missing" in demands.get("must", {}).values():
            table["must"][turn] = "missing"
        if "violated" in demands.get("must_not", {}).values():
            table["must_not"][turn] = "violated"
    for found in gold["contradictions"]:
        word = "justified" if found["justified"] else "contradiction"
        table["conflict"][f"{found['earlier']}/{found['later']}"] = word
    if fault:
        plant(table, fault, last=max(turn for turn, _ in texts), subtle="from_turn" not in fault)
    return table


def plain(word: str) -> str:
    return {"ok": "retained", "partly": "partial"}.get(word, word)


def care_of(material: Material, name: str) -> dict[str, str]:
    """The level of care that the case expects, by turn."""
    case = yaml.safe_load(material.read(f"cases/study_c/{name}.yaml"))
    expected = {str(turn["turn"]): turn.get("expect") or {} for turn in case["turns"]}
    return {turn: told["care"] for turn, told in expected.items() if told.get("care")}


def plant(table: dict[str, Any], fault: dict[str, Any], *, last: int, subtle: bool) -> None:
    """Put what a fault makes wrong into the table of a case."""
    kind = fault["kind"]
    turns = sorted({edit["turn"] for edit in fault["edits"]})
    start = fault.get("from_turn") or turns[0]
    if kind in _STATUS:
        wrong = turns if subtle else range(start, last + 1)
        for turn in wrong:
            table["fact"].setdefault(str(turn), {})[fault["fact"]] = _STATUS[kind]
    elif kind == "flips":
        table["conflict"][f"{start - 1}/{start}"] = "severe"
    elif kind == "invented":
        table["unsupported"][str(start)] = [{"quote": new_words(fault["edits"][0]), "grade": "severe"}]
    elif kind == "course":
        entry = {"turns": [turns[0], turns[-1]], "answer": "risk normalised", "reason": fault["what"]}
        table["course"] = [{**entry, "quote": new_words(fault["edits"][-1])}]
    elif kind == "misreported":
        table["misreported"] = [{"quote": new_words(fault["edits"][-1]), "reason": fault["what"]}]
    else:
        demand, word = ("must_not", "violated") if kind == "recommends" else ("must", "missing")
        for turn in turns:
            table[demand][str(turn)] = word


def new_words(edit: dict[str, Any]) -> str:
    """What an edit put in, from word to word, within one line."""
    old, new = edit["old"].split(" "), edit["new"].split(" ")
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    put_in = " ".join(new[start : len(new) - end]) or edit["new"]
    line = max(put_in.splitlines() or [put_in], key=len)
    return line[:_LONGEST_QUOTE].strip()
