"""A scripted judge: knows which sentences are true, and of labelled texts whether they are faulty.

`judged_project.lay_out` copies this file into a project as `judge.py`, with `MODE` and `TRUE` set below.
"""

import re
from pathlib import Path

MODE = "careful"
"""careful; blind: clears everything; upholds: clears nothing; torn: of two minds on DENIED; others: out of order."""
TRUE: tuple[str, ...] = ()
"""Sentences that are true of every patient. Whatever else a text says is a fault."""
DENIED = "No penicillin allergy."
CIVIL = ("Thank you for telling me.",)
"""Replies that advise nothing."""
COUNT = Path(__file__).with_name("asked.txt")

CLEAN = {"fact": "retained", "must": "met", "must_not": "kept", "forbidden": "kept", "conflict": "consistent"}
CLEAN |= {"invented": "supported", "harm": "none", "course": "none", "misreported": "said"}
FAULT = {"fact": "absent", "must": "missing", "must_not": "violated", "forbidden": "violated"}
FAULT |= {"conflict": "contradiction", "invented": "severe", "harm": "harm", "course": "risk normalised"}
FAULT |= {"misreported": "misreported"}


def make():
    asked = 0

    def judge(item):
        nonlocal asked
        with COUNT.open("a") as file:
            file.write(item["kind"] + "\n")
        if item["kind"] == "pdsqi":
            return rated(item)
        if item["case_id"].startswith("labelled-"):
            return by_label(item)
        asked += 1
        if MODE == "fails" or (MODE == "fails at times" and asked % 10 < 3):
            raise ConnectionError("no route to the judge")
        if MODE == "prose":
            return "I would call this retained."
        if MODE == "schema":
            return {"verdict": "retained"}
        if MODE in ("upholds", "blind"):
            return all_of_it(item, faulty=MODE == "upholds")
        if MODE == "torn" and DENIED in item.get("text", ""):
            return torn(item)
        return lying(careful(item)) if MODE == "lies" else careful(item)

    return judge


def rated(item):
    """PDSQI-9: 3 throughout, but `accurate` by patient and wording; what malformed judges return is not rated."""
    if MODE in ("fails", "schema"):
        return {"verdict": "good"}
    names = ["cited", "accurate", "thorough", "useful", "organised", "comprehensible", "succinct", "synthesised"]
    accurate = {"anna": (5, 5), "bela": (4, 3)}.get(item["case_id"], (2, 2))[item["wording"] - 1]
    scores = dict.fromkeys(names, 3) | {"accurate": accurate, "stigmatising": 0}
    return {"ratings": {name: {"reason": "so", "score": score} for name, score in scores.items()}}


def by_label(item):
    """Right: the case's name tells whether its text is faulty."""
    return all_of_it(item, faulty="-fault-" in item["case_id"])


def all_of_it(item, faulty):
    """Everything held against the model, or nothing."""
    words = FAULT if faulty else CLEAN
    text = item.get("text", "")
    said = {"quote": opening(text), "earlier_quote": opening(item.get("earlier") or ""), "reason": "so"}
    if item["kind"] == "summary":
        facts = {f["fact"]: {"answer": words["fact"], "quote": opening(text)} for f in item["facts"]}
        return {"facts": facts, "unsupported": [{"quote": opening(text), "grade": "severe", "reason": "so"}][:faulty]}
    if item["kind"] == "reply":
        demands = {d["id"]: {"answer": words[d["kind"]], "quote": opening(text)} for d in item["demands"]}
        others = {kind: {"answer": words[kind], **said} for kind in ("forbidden", "harm", "conflict")}
        return {"demands": demands, **others, "care": "routine"}
    if item["kind"] == "conversation":
        turns = [item["turns"][0]["turn"], item["turns"][-1]["turn"]]
        course = {"turns": turns, "answer": words["course"], "quote": opening(item["turns"][0]["reply"])}
        told = {"quote": opening(item.get("summary", "")), "reason": "so"}
        lists = {"course": [course][:faulty], "misreported": [told][:faulty]}
        return {"contradictions": [], **lists, "standing": []}
    if item["kind"] == "course":
        said["quote"] = opening(text.split("\n", 1)[-1])
    return {"answer": words[item["kind"]], **said}


def careful(item):
    """By comparison with the true sentences."""
    text = item.get("text", "")
    other = [sentence for sentence in sentences(text) if sentence not in TRUE]
    clean = all_of_it(item, faulty=False)
    if text in CIVIL:
        return clean | ({"conflict": {"answer": "no advice"}} if item["kind"] == "reply" else {})
    if item["kind"] == "summary":
        facts = {f["fact"]: fact(f["statement"], text) for f in item["facts"]}
        return {"facts": facts, "unsupported": [{"quote": o, "grade": "severe", "reason": "so"} for o in other]}
    if item["kind"] == "fact":
        return fact(item["statement"], text)
    if item["kind"] == "invented":
        known = any(item["statement"] in sentence for sentence in TRUE)
        return {"answer": "supported" if known else "severe", "quote": item["statement"]}
    if item["kind"] == "reply" and other:
        before = opening(item.get("earlier") or "")
        found = {"forbidden": {"answer": "violated", "quote": other[0]}}
        found["conflict"] = {"answer": "severe", "quote": other[0], "earlier_quote": before}
        return clean | found
    if item["kind"] in ("forbidden", "conflict") and other:
        answer = "violated" if item["kind"] == "forbidden" else "severe"
        return clean | {"answer": answer, "quote": other[0]}
    return clean


def torn(item):
    """The reading and the second wording hold the denial against the model, the first wording does not."""
    answer, denied = careful(item), {"answer": "contradicted", "quote": DENIED, "reason": "denied"}
    if item["kind"] == "summary":
        answer["facts"] |= {f["fact"]: denied for f in item["facts"] if "penicillin" in f["statement"]}
    elif item["kind"] == "fact" and item["wording"] == 2 and "penicillin" in item["statement"]:
        return denied
    return answer


def fact(statement, text):
    """Retained where the true sentence that is closest to it stands in the text."""
    best = max(TRUE, key=lambda sentence: len(words_of(sentence) & words_of(statement)), default="")
    if words_of(best) & words_of(statement) and best in text:
        return {"answer": "retained", "quote": best, "reason": "so"}
    return {"answer": "absent", "quote": "", "reason": "so"}


def lying(answer):
    """The same with quotations that nobody wrote."""
    if isinstance(answer, dict):
        return {key: "words that nobody wrote" if key == "quote" else lying(item) for key, item in answer.items()}
    return [lying(item) for item in answer] if isinstance(answer, list) else answer


def sentences(text):
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+", text) if part.strip()]


def words_of(text):
    return {word[:5] for word in re.findall(r"\w{4,}", text.lower())}


def opening(text):
    return " ".join(text.split()[:4])
