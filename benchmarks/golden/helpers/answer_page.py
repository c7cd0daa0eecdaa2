"""Answers every question of a review page as a person would: PAGE OUT POLICY [REVIEWER] [FIRST LAST].

Policies: clear (all for the model), uphold (all against it), hash (by hash, some unsure), terse (clear, no reasons).
The records are chained as the page chains them.
"""

import hashlib
import json
import re
import sys
from pathlib import Path


def canonical(record):
    return hashlib.sha256(json.dumps(record, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def chosen(policy, item, answers):
    """The answer that the policy gives to a question."""
    clearing = [one["answer"] for one in answers if one["effect"] == "for"]
    upholding = [one["answer"] for one in answers if one["effect"] == "against"]
    if policy in ("clear", "terse"):
        return clearing[0]
    if policy == "uphold":
        return (upholding or clearing)[0]
    drawn = int(hashlib.sha256(item["question"].encode()).hexdigest(), 16)
    if drawn % 10 == 0:
        return "unsure"
    return clearing[0] if drawn % 3 or not upholding else upholding[drawn % len(upholding)]


page, out, policy, *rest = sys.argv[1:]
reviewer = rest[0] if rest else "Ada Brühl"
first, last = (int(rest[1]), int(rest[2])) if len(rest) > 2 else (0, 100_000)
found = re.search(r'(?s)<script type="application/json" id="data">(.*?)</script>', Path(page).read_text("utf-8"))
data = json.loads(found[1])
effects = sorted({one["effect"] for some in data["answers"].values() for one in some})
previous = ""
lines = []
for item in data["items"][first:last]:
    record = {
        "reviewer": reviewer,
        "role": "clinician",
        "time": "2026-01-02T03:04:05.000Z",
        "question": item["question"],
        "kind": item["kind"],
        "case_id": item["case_id"],
        "answer": chosen(policy, item, data["answers"][item["kind"]]),
        "reason": "" if policy == "terse" else "read in the text",
        "severe": item["severe"],
        "manifest": data["manifest"],
        "previous": previous,
    }
    previous = record["hash"] = canonical(record)
    lines.append(json.dumps(record, ensure_ascii=False))
Path(out).write_text("\n".join(lines) + "\n", encoding="utf-8")
kinds = sorted({(item["kind"], item["severe"]) for item in data["items"]})
asked = hashlib.sha256("".join(item["question"] for item in data["items"]).encode()).hexdigest()[:8]
print(f"{len(lines)} of {len(data['items'])} answered; questions {asked}; effects {effects}; kinds {kinds}")
