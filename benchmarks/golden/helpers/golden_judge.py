"""A judge for records: it knows what it is told and errs by hash, so that equal questions get equal answers.

`judge.json` beside it holds the settings of each judge by the name of its factory: `calibration` (the labelled texts),
`truth` (what is wrong in the texts of this run), and the shares `raise` (faults seen in a text where none is known),
`uphold` (single questions that uphold one nevertheless), `flip` (known labels answered wrongly), `fail`, `malformed`
and `misquote` (answers that do not come, are none, or quote what nobody wrote; in runs only).
"""

import functools
import hashlib
import json
from pathlib import Path

HERE = Path(__file__).parent
QUIET = {
    "fact": "retained",
    "must": "met",
    "must_not": "kept",
    "forbidden": "kept",
    "conflict": "consistent",
    "invented": "supported",
    "harm": "none",
    "course": "none",
    "misreported": "said",
}
FAULTS = {
    "fact": ("absent", "contradicted", "stale", "both", "partial"),
    "must": ("missing", "late"),
    "must_not": ("violated",),
    "forbidden": ("violated",),
    "conflict": ("contradiction", "severe", "justified"),
    "invented": ("severe", "invented", "harmless"),
    "harm": ("harm",),
    "course": ("risk normalised", "escalation missed", "update not used", "safety advice withdrawn"),
    "misreported": ("misreported",),
}
WORDLESS = {"absent", "missing", "late", "kept", "consistent", "justified", "supported", "harmless", "none", "said"}
RATINGS = (
    "cited",
    "accurate",
    "thorough",
    "useful",
    "organised",
    "comprehensible",
    "succinct",
    "synthesised",
)


def judge():
    return Judge("judge")


def second():
    return Judge("second")


@functools.cache
def calibration_of(path):
    """Labels by the id of the question."""
    found = {}
    for file in sorted(HERE.glob(path)):
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            found[row["question"]["id"]] = row["label"]
    return found


class Judge:
    def __init__(self, name):
        settings = json.loads((HERE / "judge.json").read_text(encoding="utf-8"))[name]
        self.salt = f"{name}/{settings.get('salt', 0)}"
        self.shares = settings
        self.labels = calibration_of(settings["calibration"]) if "calibration" in settings else {}
        truth = settings.get("truth")
        self.truth = json.loads((HERE / truth).read_text(encoding="utf-8")) if truth else {}

    def __call__(self, item):
        label = self.labels.get(item.get("id")) or self.labels.get(item.get("reading"))
        known = label is not None
        key = (known, item["kind"], item.get("case_id"), item.get("turn"), item.get("wording"), item.get("id"))
        if item["kind"] == "pdsqi":
            return self.rating(item, key)
        if self.misbehaves("fail", *key):
            raise ConnectionError("no route to the judge")
        if self.misbehaves("malformed", *key):
            return "I would call this retained." if self.share("form", *key) < 0.5 else {"verdict": "fine"}
        if label is None and item.get("case_id") in self.truth:
            label = label_of(item, self.truth[item["case_id"]])
            known = True
        answer = {"summary": self.summary, "reply": self.reply, "conversation": self.conversation}.get(item["kind"])
        if answer is not None:
            return answer(item, label or {}, key, known)
        return self.single(item, label or {}, key, known)

    # ---- chance

    def share(self, *of):
        """A number from 0 to 1 that depends on nothing but its arguments and the judge."""
        digest = hashlib.sha256(repr((self.salt, *of)).encode()).digest()
        return int.from_bytes(digest[:6], "big") / 2**48

    def happens(self, name, *of):
        return self.share(name, *of) < self.shares.get(name, 0)

    def misbehaves(self, name, measured, *of):
        """Only in runs: while it is measured it is sound, else it would decide nothing in any of them."""
        return not measured and self.happens(name, *of)

    def word(self, kind, told, key, known):
        """An answer of a kind: the one that is known, or by chance another."""
        quiet = QUIET[kind]
        word = told or quiet
        if known:
            if not self.happens("flip", *key):
                return word
            return FAULTS[kind][0] if word == quiet else quiet
        if not self.happens("raise", *key):
            return word
        faults = FAULTS[kind]
        return faults[int(self.share("which", *key) * len(faults))]

    def quoted(self, word, text, about, key):
        if word in WORDLESS:
            return ""
        if self.misbehaves("misquote", *key):
            return "words that nobody wrote"
        return closest(text, about)

    # ---- readings

    def summary(self, item, label, key, known):
        facts = {}
        for fact in item["facts"]:
            name = fact["fact"]
            word = self.word("fact", label.get("facts", {}).get(name), (*key, name), known)
            about = " ".join((fact["statement"], *(fact.get("replaced") or ())))
            facts[name] = {"answer": word, "quote": self.quoted(word, item["text"], about, (*key, name))}
        listed = [entry if isinstance(entry, dict) else {"quote": entry} for entry in label.get("unsupported", [])]
        if not known and self.happens("raise", *key, "invented"):
            listed = [{"quote": line_of(item["text"], self.share("line", *key)), "grade": "minor"}]
        return {"facts": facts, "unsupported": [{"grade": "severe", "reason": "hash", **entry} for entry in listed]}

    def reply(self, item, label, key, known):
        demands = {}
        for demand in item.get("demands", []):
            told = label.get("demands", {})
            wanted = told.get(demand["id"]) or told.get(f"*{demand['kind']}")
            word = self.word(demand["kind"], wanted, (*key, demand["id"]), known)
            quote = self.quoted(word, item["text"], demand["demand"], (*key, demand["id"]))
            demands[demand["id"]] = {"answer": word, "quote": quote}
        given = {"demands": demands, "care": label.get("care") or "routine"}
        for kind in ("forbidden", "harm"):
            word = self.word(kind, label.get(kind), (*key, kind), known)
            given[kind] = {"answer": word, "quote": self.quoted(word, item["text"], "", (*key, kind))}
        if item.get("earlier"):
            word = self.word("conflict", label.get("conflict"), (*key, "conflict"), known)
            earlier = "" if word in WORDLESS else closest(item["earlier"], item["text"])
            quote = self.quoted(word, item["text"], earlier, (*key, "conflict"))
            given["conflict"] = {"answer": word, "quote": quote, "earlier_quote": earlier}
        return given

    def conversation(self, item, label, key, known):
        said = {line["turn"]: line["reply"] for line in item["turns"]}
        pairs = [
            {
                "reason": "label",
                "earlier_quote": closest(said[c["earlier"]], ""),
                "quote": closest(said[c["later"]], ""),
                **c,
            }
            for c in label.get("contradictions", [])
            if c["earlier"] in said and c["later"] in said
        ]
        course = [entry for entry in label.get("course", []) if set(entry["turns"]) <= set(said)]
        misreported = label.get("misreported", []) if item.get("summary") else []
        turns = sorted(turn for turn, reply in said.items() if reply)
        if not known and len(turns) > 2 and self.happens("raise", *key, "conflict"):
            pair = {"earlier": turns[0], "later": turns[-1], "answer": "contradiction", "reason": "hash"}
            pairs = [{**pair, **quotes_of(said[turns[0]], said[turns[-1]])}]
        if not known and len(turns) > 2 and self.happens("raise", *key, "course"):
            entry = {"turns": [turns[0], turns[1]], "answer": "risk normalised", "reason": "hash"}
            course = [{**entry, "quote": closest(said[turns[1]], "")}]
        if not known and item.get("summary") and self.happens("raise", *key, "misreported"):
            misreported = [{"quote": closest(item["summary"], ""), "reason": "hash"}]
        return {"contradictions": pairs, "course": course, "misreported": misreported, "standing": []}

    # ---- single questions

    def single(self, item, label, key, known):
        kind = item["kind"]
        about = f"{item.get('statement') or ''} {item.get('demand') or ''}"
        told = told_of(item, label)
        if known:
            word = self.word(kind, told, key, known)
        elif self.share("uphold", *key) < self.shares.get("uphold", 0.5):
            word = FAULTS[kind][int(self.share("which", *key) * len(FAULTS[kind]))]
        else:
            word = QUIET[kind]
        earlier = closest(item["earlier"], "") if item.get("earlier") else ""
        quote = self.quoted(word, item["text"], about, key)
        return {"answer": word, "quote": quote, "earlier_quote": earlier, "reason": "label" if known else "hash"}

    def rating(self, item, key):
        def score(name):
            return 1 + int(self.share("score", *key, name) * 5)

        ratings = {name: {"reason": "hash", "score": score(name)} for name in RATINGS}
        ratings["stigmatising"] = {"reason": "hash", "score": int(self.share("stigma", *key) < 0.2)}
        return {"ratings": ratings}


def told_of(item, label):
    """What a label says of the point that a single question is about; None where it says nothing."""
    kind = item["kind"]
    said = item.get("statement") or ""
    if kind == "fact":
        return label.get("facts", {}).get(item["fact"])
    if kind in ("must", "must_not"):
        demands = label.get("demands", {})
        return demands.get(item.get("demand_id")) or demands.get(f"*{kind}")
    if kind in ("forbidden", "harm"):
        return label.get(kind)
    if kind == "invented":
        listed = [entry if isinstance(entry, dict) else {"quote": entry} for entry in label.get("unsupported", [])]
        grades = (entry.get("grade", "severe") for entry in listed if alike(entry["quote"], said))
        grade = next(grades, None)
        return "invented" if grade == "minor" else grade
    if kind == "misreported":
        return "misreported" if any(alike(entry["quote"], said) for entry in label.get("misreported", [])) else None
    if kind == "course":
        first, last = item["turns"] or (item["turn"], item["turn"])
        found = (c["answer"] for c in label.get("course", []) if c["turns"][0] <= last and first <= c["turns"][1])
        return next(found, None)
    for entry in label.get("contradictions", []):
        if entry["earlier"] == item["earlier_turn"] and entry["later"] == item["turn"]:
            return entry["answer"]
    return label.get("conflict")


def label_of(item, table):
    """What is known of the text of a reading or question, in the form of a label; the text has to be the right one."""
    kind, turn = item["kind"], item["turn"]
    shown = item.get("text") or ""
    side = "summary" if kind in ("summary", "fact", "invented", "misreported") else "dialogue"
    if item.get("source") == "reply":
        return {}
    text = table["texts"].get(f"{turn}/{side}", "")
    if kind not in ("conversation", "course") and shown.strip() not in text and text not in shown:
        raise ValueError(f"{kind} of {item['case_id']} turn {turn} does not carry the text that it is about")
    demands = {f"*{one}": table[one].get(str(turn)) for one in ("must", "must_not")}
    conflict = table["conflict"].get(f"{item.get('earlier_turn')}/{turn}")
    shown_turns = {line["turn"] for line in item["turns"]} if kind == "conversation" else set()
    pairs = [
        {"earlier": int(pair.split("/")[0]), "later": int(pair.split("/")[1]), "answer": word}
        for pair, word in table["conflict"].items()
        if word != "justified"
    ]
    distant = [p for p in pairs if p["later"] - p["earlier"] > 1 and {p["earlier"], p["later"]} <= shown_turns]
    return {
        "facts": table["fact"].get(str(turn), {}),
        "unsupported": table["unsupported"].get(str(turn), []),
        "demands": {name: word for name, word in demands.items() if word},
        "forbidden": demands["*must_not"],
        "conflict": conflict,
        "care": table["care"].get(str(turn)),
        "contradictions": distant,
        "course": table["course"],
        "misreported": table["misreported"],
    }


# ---- words


def words_in(text):
    return {word.strip(".,;:()*-").lower() for word in text.split()} - {""}


def alike(one, other):
    a, b = words_in(one), words_in(other)
    return bool(a and b) and len(a & b) >= 0.6 * min(len(a), len(b))


def lines_of(text):
    return [line.strip() for line in text.splitlines() if line.strip()] or [text.strip()]


def closest(text, about):
    """At most 160 characters of the line that has most words of what it is about."""
    wanted = words_in(about)
    return max(lines_of(text), key=lambda line: len(words_in(line) & wanted))[:160].strip()


def quotes_of(earlier, later):
    return {"earlier_quote": closest(earlier, ""), "quote": closest(later, "")}


def line_of(text, share):
    lines = lines_of(text)
    return lines[int(share * len(lines))][:160].strip()
