"""Speed of scoring one summary: python -m benchmarks.scoring [BATCHES]

Summaries of 150 words with 5 facts, against the original tiered matcher (exact, substring, Jaccard, negation window,
with its precision loop) written anew from its description; growth of cost from 100 to 10,000 words; a 100 kB text of
near-matches.

On every turn the original records recall, precision, F1 and invented entities for two gold sets: the critical facts,
and these with the entities of the intake. A whole turn of ours answers the same questions, and finds invented doses,
allergies and denials besides. So the whole turns are compared with each other, and the goal of 30 times is judged
there. Facts alone against the critical set alone is printed too, though it is not the same work: their precision
against ours without any.

Exits 0 only when whole turns are scored at least 30 times as fast as by the tiered matcher, `assess_retention` alone
takes 1,200 summaries per second and whole turns 1,000, and cost grows linearly.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Collection, Sequence

from pytest_clinical_drift.cases.model import Case, facts_at
from pytest_clinical_drift.evidence.entities import EntityScorer
from pytest_clinical_drift.evidence.facts.retention import assess_retention
from pytest_clinical_drift.evidence.findings import TurnFindings, find_facts
from pytest_clinical_drift.evidence.reading.text import read
from pytest_clinical_drift.scoring.summary_facts import FactText, score_turn, settled_fact

FACTS_GOAL, TURNS_GOAL = 1_200, 1_000
"""Summaries per second and core."""
BATCHES = 40
"""Times that the summaries are scored; the fastest counts."""
FACTS = [
    "panic disorder",
    "sertraline 50 mg once daily",
    "penicillin allergy",
    "lives with her parents",
    "no suicidal ideation",
]
SENTENCES = [
    "The patient is a 24-year-old woman who came for a review of her mood and her sleep over the past weeks.",
    "She has panic disorder with attacks about twice a week, mostly on the train to work.",
    "She takes sertraline 50 mg once daily and has noticed some nausea in the mornings since starting it.",
    "There is a documented penicillin allergy with a rash in childhood, and no other reaction is known.",
    "She lives with her parents and her younger brother in a quiet part of the town.",
    "She denies suicidal ideation, and there were no plans or intent at any time in the conversation.",
    "Work has been demanding, with long shifts, a new manager and little time to meet her friends.",
    "We talked about breathing exercises, regular meals, less coffee and a short walk every evening.",
    "Her mother is supportive and has offered to come along to the next appointment in two weeks.",
    "The plan is to keep the present treatment, to start therapy and to review progress next month.",
]
INTAKE = (
    "A 24-year-old woman with panic disorder takes sertraline 50 mg once daily. She has a penicillin allergy, lives "
    "with her parents and has no suicidal ideation. Since the start of treatment she has had nausea, headaches and "
    "palpitations, and tension at work has grown. She has tried breathing exercises and less coffee, had asthma as a "
    "child and a broken wrist in 2019, and reports irregular periods and hay fever."
)
MESSAGES = [
    "I still feel sick in the mornings. Is that the sertraline?",
    "Work is hard.",
    "My mother came with me.",
    "I had a panic attack on the train.",
    "I sleep badly.",
    "Can I have amoxicillin for my cough?",
    "I drink less coffee now.",
    "My manager shouted.",
    "I walked every evening.",
    "Should I see you in two weeks?",
]
STOPWORDS = [
    "a",
    "an",
    "and",
    "are",
    "at",
    "be",
    "by",
    "for",
    "from",
    "has",
    "have",
    "he",
    "her",
    "his",
    "in",
    "is",
    "it",
    "of",
    "on",
    "or",
    "she",
    "so",
    "some",
    "that",
    "the",
    "there",
    "this",
    "to",
    "was",
    "we",
    "were",
    "who",
    "with",
]
NEGATIONS = ("no", "not", "denies", "without", "never", "none")


def summary_of(words: int, variant: int = 0) -> str:
    """Ordinary prose of about so many words."""
    text: list[str] = []
    count, index = 0, variant
    while count < words:
        sentence = SENTENCES[index % len(SENTENCES)]
        text.append(sentence)
        count += len(sentence.split())
        index += 1
    return " ".join(text)


def _tiered_match(gold: str, spans: Collection[str], text: str) -> bool:
    """The original tiers: a gold entity is among the spans, shares a substring with one, or 60 % of the words."""
    text = text.lower()
    if gold in spans and gold in text:
        return True
    for span in spans:
        if (span in gold and (gold in text or span in text)) or (gold in span and gold in text):
            return True
    wanted = {word for word in gold.split() if len(word) > 3}
    if len(wanted) < 2:
        return False
    for span in spans:
        words = {word for word in span.split() if len(word) > 3}
        if len(wanted & words) / len(wanted | words) >= 0.6 and any(word in text for word in wanted):
            return True
    return False


def _tiered_negated(entity: str, text: str) -> bool:
    """Whether a negation stands within five tokens before a mention."""
    tokens = re.findall(r"\w+", text.lower())
    wanted = re.findall(r"\w+", entity.lower())
    for start in range(len(tokens) - len(wanted) + 1):
        if tokens[start : start + len(wanted)] == wanted and any(
            t in NEGATIONS for t in tokens[max(0, start - 5) : start]
        ):
            return True
    return False


def tiered(summary: str, entities: Sequence[str]) -> tuple[float, float]:
    """Recall and precision in the original's loops: negation is looked up once per gold entity for recall, and anew
    for every pair of span and gold entity, up to the first match, for precision.

    Its entity extractor needs downloaded weights; runs of content words, about as many, stand in for its spans and
    cost next to nothing.
    """
    spans = _content_runs(summary)
    gold = {entity.lower().strip() for entity in entities}
    recalled = sum(not _tiered_negated(entity, summary) and _tiered_match(entity, spans, summary) for entity in gold)
    matched = sum(
        any(not _tiered_negated(entity, summary) and _tiered_match(entity, {span}, summary) for entity in gold)
        for span in spans
    )
    return recalled / len(gold), matched / max(1, len(spans))


def _content_runs(summary: str) -> set[str]:
    runs = re.split(r"[^\w -]|\b(?:" + "|".join(STOPWORDS) + r")\b", summary.lower())
    return {" ".join(run.split()[:3]) for run in runs if len(run.strip()) > 3}


def tiered_turn(summary: str, extended: Sequence[str]) -> tuple[tuple[float, float], tuple[float, float]]:
    """All that the original records of one turn: the same loops for the critical and for the extended gold set."""
    return tiered(summary, FACTS), tiered(summary, extended)


def extended_gold() -> list[str]:
    """The critical facts and the spans of the intake, found and filtered as those of a summary."""
    return [*FACTS, *sorted(_content_runs(INTAKE))]


def whole_turn() -> Callable[[str], object]:
    """Our scoring of the summary after the tenth message, as `Scorer` does it."""
    turns = [{"turn": number, "message": message} for number, message in enumerate(MESSAGES, start=1)]
    case = Case.model_validate(
        {"id": "benchmark", "patient_summary": INTAKE, "critical_entities": FACTS, "turns": turns}
    )
    entities, states = EntityScorer(case), facts_at(case, len(turns))

    def score(summary: str) -> object:
        document = read(summary)
        found = find_facts(document, states)
        scored = entities.score(document, len(turns))
        document.cache.clear()
        settled = [settled_fact(fact, FactText(len(turns)), None, None, deciding=False)[0] for fact in found]
        return score_turn(TurnFindings(len(turns), found, scored), settled)

    return score


def per_second(function: Callable[[str], object], summaries: Sequence[str], batches: int) -> float:
    """Calls per second of processor time, in the best of several batches: other work only ever slows one down."""
    best = 0.0
    for _ in range(batches):
        start = time.process_time()
        for summary in summaries:
            function(summary)
        best = max(best, len(summaries) / (time.process_time() - start))
    return best


def seconds(text: str) -> float:
    start = time.process_time()
    assess_retention(text, FACTS)
    return time.process_time() - start


def main() -> int:
    batches = int(sys.argv[1]) if len(sys.argv) > 1 else BATCHES
    summaries = [summary_of(150, variant) + f" Reference {variant}." for variant in range(40)]
    turn, extended = whole_turn(), extended_gold()
    turn(summaries[0])
    facts_alone = per_second(lambda summary: assess_retention(summary, FACTS), summaries, batches)
    whole_turns = per_second(turn, summaries, batches)
    theirs_alone = per_second(lambda summary: tiered(summary, FACTS), summaries[:10], max(1, batches // 4))
    their_turns = per_second(lambda summary: tiered_turn(summary, extended), summaries[:10], max(1, batches // 8))
    ratio = whole_turns / their_turns
    print("summaries of 150 words, 5 facts")
    print(
        f"facts alone {facts_alone:,.0f}/s; tiered matcher, critical set alone {theirs_alone:,.1f}/s; "
        f"ratio {facts_alone / theirs_alone:,.0f}"
    )
    print(
        f"whole turns {whole_turns:,.0f}/s; tiered matcher, critical and extended set ({len(extended)} entries) "
        f"{their_turns:,.1f}/s; ratio {ratio:,.0f}"
    )
    small = min(seconds(summary_of(100, variant)) for variant in range(5))
    large = min(seconds(summary_of(10_000, variant)) for variant in range(3))
    growth = large / small
    print(
        f"100 words {small * 1e3:.2f} ms, 10,000 words {large * 1e3:.1f} ms: {growth:.0f} times for 100 times the words"
    )
    near = "She has panic and disorder, no penicillin, sertralin 50 of mg, lives parents; " * 1_300
    half = min(seconds(near[: len(near) // 2]) for _ in range(5))
    whole = min(seconds(near) for _ in range(5))
    print(f"near-matches: 50 kB {half:.2f} s, 100 kB {whole:.2f} s, ratio {whole / half:.2f}")
    good = (
        facts_alone >= FACTS_GOAL
        and whole_turns >= TURNS_GOAL
        and ratio >= 30
        and growth <= 200
        and whole / half <= 3.0
    )
    verdict = "goal met" if good else "goal missed"
    print(
        f"{verdict}: facts alone {facts_alone:,.0f}/s ({facts_alone / theirs_alone:,.0f} times the tiered matcher's "
        f"critical set alone); whole turns {whole_turns:,.0f}/s, {ratio:,.0f} times its whole turns"
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
