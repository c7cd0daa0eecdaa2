"""A judge behind a chat server: takes each prompt apart again and lets a function of the mapping answer it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from engine_server import Answer, ChatServer, as_json, completion

from pytest_clinical_drift.judging.answers import KINDS
from pytest_clinical_drift.judging.prompts import instructions
from pytest_clinical_drift.judging.readings import READINGS

Judge = Callable[[dict[str, Any]], Any]


def judge_server(judge: Judge, **options: Any) -> ChatServer:
    """A server that answers every question and reading as `judge` does."""

    def answer(body: dict[str, Any]) -> Answer:
        if len(body["messages"]) == 1:
            return as_json(completion("ready"))
        return as_json(completion(json.dumps(judge(mapping_of(body["messages"])))))

    return ChatServer(answer=answer, **options)


@cache
def _kinds() -> dict[str, tuple[str, int]]:
    """Kind and wording by the instructions that open a prompt."""
    return {instructions(kind, wording): (kind, wording) for kind in (*KINDS, *READINGS) for wording in (1, 2)}


def mapping_of(messages: list[dict[str, str]]) -> dict[str, Any]:
    """As much of the mapping as a prompt holds; neither case nor turn is in it."""
    kind, wording = _kinds()[messages[0]["content"]]
    prompt = messages[1]["content"]
    texts = {
        name.lower(): text
        for name, _, text in re.findall(r"\[\[(\w+) (\w+)\]\]\n(.*?)\n\[\[/\1 \2\]\]", prompt, re.DOTALL)
    }
    last = prompt.rpartition("]]\n\n")[2]
    turns = re.findall(
        r"^Turn (\d+)\. The model: (.*?)(?=\n\nTurn |\Z)", texts.get("turns", ""), re.MULTILINE | re.DOTALL
    )
    point = re.search(r"(?:holds now|no longer holds): (.*?)\.(?:\n|$)", last)
    demands = re.findall(r'^- id "(.+?)", (must not|must):', last, re.MULTILINE)
    facts = re.findall(r'^- id "(.+?)": (.*)$', last, re.MULTILINE)
    return {
        "kind": kind, "wording": wording, "case_id": "", "turn": 0, **texts,
        "facts": [{"fact": fact, "statement": statement} for fact, statement in facts],
        "demands": [{"id": name, "kind": of.replace(" ", "_")} for name, of in demands],
        "turns": [{"turn": int(turn), "reply": reply} for turn, reply in turns],
        "statement": texts.get("statement") or (point[1] if point else ""),
    }  # fmt: skip
