"""What people do: reviews, the verdict with them, agreement, releases that are signed and verified."""

from __future__ import annotations

from benchmarks.golden.judges import ONE, QWEN, RUN, SOME
from benchmarks.golden.parts import (
    ANSWER,
    BY_POINT,
    CASES,
    DAMAGE,
    GATE,
    MODEL,
    SMALL_SET,
    TWELVE,
    calibrate,
    cases,
    gate,
    judged,
)
from benchmarks.golden.scenario import File, Scenario

RESULTS = "results/replay-qwen"
REVIEW = ("clinical-drift", "review", RESULTS)
VERDICT = ("clinical-drift", "verdict", RESULTS)
PAGE = f"{RESULTS}/review.html"
ADA = "ada@clinic.example"
BO = "bo@clinic.example"


def scenarios() -> list[Scenario]:
    return [*reviews(), *releases()]


def answers(out: str, policy: str, *more: str, page: str = PAGE) -> tuple[str, ...]:
    return "python", "answer_page.py", page, out, policy, *more


def verdict(*reviews_: str, out: str = "") -> tuple[str, ...]:
    words = tuple(word for name in reviews_ for word in ("--reviews", name))
    return (*VERDICT, *words, *(("--out", out) if out else ()))


def reviews() -> list[Scenario]:
    """A run with open alarms, the page, its answers, and what they make of the verdict."""
    by_rules = (QWEN, GATE, ANSWER, DAMAGE, *cases(*TWELVE))
    read = (
        QWEN,
        gate(BY_POINT, SMALL_SET),
        ANSWER,
        DAMAGE,
        *cases(*TWELVE[:6]),
        *judged(judge={**SOME, "raise": 0.01}),
    )
    judged_run = (calibrate(), (*RUN, *ONE, "--drift-judge-set", "canaries=0"))
    two_needed = gate(BY_POINT, SMALL_SET, ("    required: false", "    required: false\n    dismiss_severe: 2"))
    split = (
        (*REVIEW, "--split", "2"),
        answers("ann.jsonl", "hash", "Ann", page=f"{RESULTS}/review-1.html"),
        answers("bob.jsonl", "clear", "Bob", page=f"{RESULTS}/review-2.html"),
        ("clinical-drift", "agreement", "ann.jsonl", "bob.jsonl"),
        verdict("ann.jsonl", "bob.jsonl"),
    )
    several = (
        REVIEW,
        answers("ann.jsonl", "hash", "Ann"),
        answers("bob.jsonl", "clear", "Bob"),
        answers("cat.jsonl", "uphold", "Cat"),
        ("clinical-drift", "agreement", "ann.jsonl", "bob.jsonl"),
        ("clinical-drift", "agreement", "ann.jsonl", "bob.jsonl", "cat.jsonl"),
        verdict("ann.jsonl", "bob.jsonl", out="two"),
        verdict("ann.jsonl", "bob.jsonl", "cat.jsonl", out="three"),
    )
    damaged = (
        REVIEW,
        answers("good.jsonl", "clear"),
        answers("terse.jsonl", "terse"),
        verdict("terse.jsonl", out="a"),
        ("python", "damage.py", "copy", "good.jsonl", "swapped.jsonl"),
        ("python", "damage.py", "swap", "swapped.jsonl", "1", "2"),
        verdict("swapped.jsonl", out="b"),
        ("python", "damage.py", "copy", "good.jsonl", "dropped.jsonl"),
        ("python", "damage.py", "drop", "dropped.jsonl", "1"),
        verdict("dropped.jsonl", out="c"),
        ("python", "damage.py", "copy", "good.jsonl", "changed.jsonl"),
        ("python", "damage.py", "replace", "changed.jsonl", "read in the text", "never read"),
        verdict("changed.jsonl", out="d"),
        ("python", "damage.py", "copy", "good.jsonl", "cut.jsonl"),
        ("python", "damage.py", "cut", "cut.jsonl", "3000"),
        verdict("cut.jsonl", out="e"),
        verdict("nowhere.jsonl", out="f"),
        ("clinical-drift", "agreement", "good.jsonl", "swapped.jsonl"),
        ("clinical-drift", "agreement", "good.jsonl", "good.jsonl"),
        verdict("good.jsonl", "good.jsonl", out="g"),
    )
    folders = (
        verdict(out="as-it-was"),
        ("python", "damage.py", "replace", f"{RESULTS}/transcripts/copd*.jsonl", "oxygen", "water"),
        verdict(out="other-words"),
        ("python", "damage.py", "set", f"{RESULTS}/study_c_results.json", "verdict", '"PASS"'),
        verdict(out="other-verdict"),
        ("python", "damage.py", "remove", f"{RESULTS}/run.json"),
        verdict(out="no-inputs"),
        ("python", "damage.py", "remove", f"{RESULTS}/transcripts"),
        verdict(out="no-transcripts"),
        ("clinical-drift", "verdict", "nowhere"),
        ("clinical-drift", "review", "nowhere"),
        ("clinical-drift", "verdict", "glob:results/replay-qwen/runs/*"),
        ("clinical-drift", "review", "glob:results/replay-qwen/runs/*", "--out", "p.html"),
    )
    in_a_run = (
        RUN,
        REVIEW,
        answers("reviews.jsonl", "hash"),
        (*RUN, "--drift-judge", "reviews:reviews.jsonl"),
        (*RUN, "--drift-judge", "reviews:nowhere.jsonl"),
        ("python", "damage.py", "replace", "qwen/copd*.jsonl", "oxygen", "water"),
        (*RUN, "--drift-judge", "reviews:reviews.jsonl"),
    )
    signed_cases = (
        ("clinical-drift", "review", "--cases", "cases"),
        ("clinical-drift", "sign-case", "cases/copd-home-oxygen-baker.yaml", "--by", "Dr A", "--role", "consultant"),
        ("clinical-drift", "sign-case", "cases/copd-home-oxygen-baker.yaml", "--by", "Dr A", "--role", "consultant"),
        ("clinical-drift", "validate", "cases"),
        ("pytest", "--model", "control:steady", *CASES),
        ("python", "damage.py", "replace", "cases/copd*.yaml", "oxygen", "air"),
        ("pytest", "--model", "control:steady", *CASES),
    )
    found = [
        Scenario(
            "review/rules-hash", by_rules, (RUN, REVIEW, answers("r.jsonl", "hash"), verdict("r.jsonl")), pages=True
        ),
        Scenario("review/rules-clear", by_rules, (RUN, REVIEW, answers("r.jsonl", "clear"), verdict("r.jsonl"))),
        Scenario(
            "review/rules-some",
            by_rules,
            (RUN, REVIEW, answers("r.jsonl", "clear", "Ada", "0", "40"), verdict("r.jsonl")),
        ),
        Scenario("review/damaged", by_rules, (RUN, *damaged)),
        Scenario("review/folders", by_rules, (RUN, *folders)),
        Scenario("review/in-a-run", by_rules, in_a_run),
        Scenario("review/cases", (DAMAGE, GATE, *cases(*TWELVE[:4])), signed_cases),
        Scenario("review/split", read, (*judged_run, *split)),
        Scenario("review/several", read, (*judged_run, *several)),
    ]
    for policy in ("clear", "uphold", "hash"):
        commands = (*judged_run, REVIEW, answers("r.jsonl", policy), verdict("r.jsonl"))
        found.append(
            Scenario(f"review/judged-{policy}", read, commands, quick=policy == "clear", pages=policy == "hash")
        )
    strict = tuple(file for file in read if file.path != "thresholds.yaml")
    commands = (*judged_run, REVIEW, answers("a.jsonl", "clear", "Ann"), verdict("a.jsonl", out="one"))
    commands += (answers("b.jsonl", "clear", "Bob"), verdict("a.jsonl", "b.jsonl", out="two"))
    found.append(Scenario("review/two-to-dismiss", (two_needed, *strict), commands))
    return found


DOSSIER = """intended_use: Chat assistant that answers patients between visits
clinical_safety_officer: Dr Ada Bruehl
hazards: {HAZ-01: contraindicated advice, HAZ-02: emergency delayed}
allowed_signers: allowed
"""
SIGNERS = """
from pathlib import Path
lines = ["# developers: dev@clinic.example"]
for name in ("ada", "bo", "dev"):
    lines.append(f'{name}@clinic.example namespaces="clinical-drift" ' + Path(f"{name}.pub").read_text().strip())
Path("allowed").write_text("\\n".join(lines) + "\\n")
"""


def key(name: str) -> tuple[str, ...]:
    return "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", name


def sign(results: str, decision: str, *more: str, name: str = "ada", signer: str = "") -> tuple[str, ...]:
    who = ("--key", name, "--as", signer or f"{name}@clinic.example", "--allowed-signers", "allowed")
    return "clinical-drift", "sign", results, *who, "--decision", decision, *more


def verify(results: str, *more: str) -> tuple[str, ...]:
    return "clinical-drift", "verify", results, "--allowed-signers", "allowed", *more


UNTIL = ("--until", "2999-12-31", "--conditions", "pilot ward only")


def passed(keys: tuple[tuple[str, ...], ...], people: tuple[File, ...]) -> Scenario:
    """A run that passes: what a control said, replayed and read by a judge that finds nothing; then it is changed."""
    files = (*people, gate(BY_POINT, SMALL_SET), *cases(*TWELVE[:4]), *judged(judge={"uphold": 0.0}))
    told = ("python", "damage.py", "copy", "results/control-steady/transcripts", "said")
    replay = ("pytest", "--model", "replay:said", *CASES, *ONE, "--drift-judge-set", "canaries=0")
    run = "results/replay-said"
    results = f"{run}/study_c_results.json"
    return Scenario(
        "release/passed",
        files,
        (
            *keys,
            ("pytest", "--model", "control:steady", *CASES),
            told,
            calibrate(),
            replay,
            sign(run, "accept"),
            verify(run),
            ("python", "damage.py", "set", results, "entity_recall_at_t10", "0.5"),
            verify(run),
            ("pytest", "--model", "replay:said", *CASES),
            sign(run, "accept"),
            sign(run, "accept-until", *UNTIL),
            verify(run),
        ),
        quick=True,
    )


def releases() -> list[Scenario]:
    """Decisions on runs of several verdicts, with throw-away keys."""
    people = (File("signers.py", text=SIGNERS), File("dossier.yaml", text=DOSSIER), DAMAGE, ANSWER, MODEL)
    keys = (key("ada"), key("bo"), key("dev"), ("python", "signers.py"))
    steady = ("pytest", "--model", "python:golden_model:steady", *CASES)
    failing = ("pytest", "--model", "python:golden_model:losing", *CASES)
    files = (*people, gate(BY_POINT, SMALL_SET), *cases(*TWELVE[:3]))
    unsettled = "results/python-golden_model-steady"
    failed = "results/python-golden_model-losing"
    control = "results/control-steady"
    good = (
        sign(unsettled, "accept"),
        verify(unsettled),
        sign(unsettled, "accept-until", *UNTIL),
        verify(unsettled),
        ("clinical-drift", "verify", unsettled),
        sign(unsettled, "reject", "--conditions", "not yet"),
        verify(unsettled),
        sign(unsettled, "accept-until", *UNTIL, name="bo"),
        verify(unsettled),
        steady,
        verify(unsettled),
        sign(failed, "accept"),
        sign(failed, "accept-until", *UNTIL),
        verify(failed),
        sign(control, "accept"),
        sign(control, "accept-until", *UNTIL),
    )
    bad = (
        verify(unsettled),
        sign(unsettled, "accept-until", "--until", "2020-01-01", "--conditions", "x"),
        sign(unsettled, "accept-until"),
        sign(unsettled, "accept-until", "--until", "someday", "--conditions", "x"),
        sign(unsettled, "accept-until", *UNTIL, name="dev"),
        sign(unsettled, "accept-until", *UNTIL, signer="stranger@clinic.example"),
        sign(unsettled, "accept-until", *UNTIL, name="ada", signer=BO),
        sign(unsettled, "accept-until", *UNTIL, name="nokey"),
        sign(unsettled, "perhaps"),
        sign("nowhere", "reject"),
        sign(unsettled, "accept-until", *UNTIL),
        ("python", "damage.py", "set", f"{unsettled}/study_c_results.json", "headline", '"fine"'),
        verify(unsettled),
        sign(unsettled, "accept-until", *UNTIL),
        verify(unsettled),
        ("python", "damage.py", "set", f"{unsettled}/study_c_results.json", "verdict", '"PASS"'),
        sign(unsettled, "accept"),
        verify(unsettled),
        ("python", "damage.py", "set", f"{unsettled}/release.json", "decision", '"accept"'),
        verify(unsettled),
        ("python", "damage.py", "remove", f"{unsettled}/release.json.sig"),
        verify(unsettled),
        ("python", "damage.py", "remove", "allowed"),
        verify(unsettled),
        ("clinical-drift", "verify", "nowhere"),
    )
    reviewed = (
        RUN,
        REVIEW,
        answers("r.jsonl", "clear", "dev"),
        verdict("r.jsonl", out="reviewed"),
        sign("reviewed", "accept-until", *UNTIL),
        verify("reviewed"),
    )
    runs = (steady, failing, ("pytest", "--model", "control:steady", *CASES))
    one_run = (*keys, steady)
    review_files = (*people, GATE, QWEN, *cases(*TWELVE[:6]))
    return [
        Scenario("release/decisions", files, (*keys, *runs, *good), pages=True),
        Scenario("release/refused", files, (*one_run, *bad)),
        Scenario("release/reviewed", review_files, (*keys, *reviewed)),
        passed(keys, people),
    ]
