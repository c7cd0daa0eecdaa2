"""Relations that hold over the recorded conversations: what is added, moved or taken away, and what is then found.

Where a relation has exceptions on recorded text, the test states the measured share as a bound; the strict form stands
in test_properties.py, on text made up for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import cycle
from math import isclose

import pytest
from made_summaries import REMARKS, REMARKS_ON_MEDICINES, UNRELATED
from recorded import Talk, recorded

from pytest_clinical_drift.cases.model import FactState
from pytest_clinical_drift.evidence.advice.breach import find_breaches, oppositions
from pytest_clinical_drift.evidence.facts.fact import MEDICATION, parse_fact
from pytest_clinical_drift.evidence.facts.retention import assess_retention
from pytest_clinical_drift.evidence.findings import FactFinding, find_facts
from pytest_clinical_drift.evidence.quantities.amounts import amounts
from pytest_clinical_drift.evidence.reading.text import read

Found = dict[str, tuple[str, bool, bool]]
"""Fact -> status, certain, stale; a fact that ended and is not stated has no entry."""


@lru_cache(maxsize=1)
def talks() -> tuple[Talk, ...]:
    return tuple(recorded("strong", "mixed"))


def found(findings: Iterable[FactFinding]) -> Found:
    return {f.fact_id: (f.status, f.certain, f.stale) for f in findings}


@lru_cache(maxsize=1)
def findings_as_recorded() -> dict[tuple[int, int], tuple[FactFinding, ...]]:
    """By conversation and turn."""
    texts = ((n, turn, text) for n, talk in enumerate(talks()) for turn, text in talk.summaries.items())
    return {(n, turn): tuple(find_facts(text, talks()[n].states(turn))) for n, turn, text in texts}


@lru_cache(maxsize=1)
def as_recorded() -> dict[tuple[int, int], Found]:
    return {place: found(findings) for place, findings in findings_as_recorded().items()}


Pair = tuple[object, object]


def changes(change: Callable[[str], str]) -> tuple[list[Pair], int, int]:
    """Findings that differ once every summary was changed, how many there are, and how many summaries were changed."""
    differing: list[Pair] = []
    total = changed = 0
    for (number, turn), before in as_recorded().items():
        text = talks()[number].summaries[turn]
        other = change(text)
        total += len(before)
        if other != text:
            changed += 1
            after = found(find_facts(other, talks()[number].states(turn)))
            ids = {*before, *after}
            differing += [(before.get(i), after.get(i)) for i in sorted(ids) if before.get(i) != after.get(i)]
    return differing, total, changed


# ---- summaries: what is added


@pytest.mark.slow
def test_an_unrelated_sentence_changes_no_fact() -> None:
    """Before the summary, behind it, and at the end of its last line; each summary gets another sentence."""
    sentences = cycle(UNRELATED)
    for place in ("{sentence}\n\n{text}", "{text}\n\n{sentence}", "{text} {sentence}"):
        differing, total, _ = changes(
            lambda text, place=place: place.format(text=text.rstrip(), sentence=next(sentences))
        )
        assert total > 2_000
        assert differing == []


def plain_facts(turns: tuple[int, ...]) -> Iterator[tuple[str, FactState]]:
    """Summaries of some turns with each fact that they state plainly."""
    for number, talk in enumerate(talks()):
        for turn in turns:
            plain = {i for i, found_ in as_recorded()[number, turn].items() if found_ == ("retained", True, False)}
            for state in talk.states(turn):
                if state.fact.id in plain and not state.ended:
                    yield talk.summaries[turn], state


def remarked(turns: tuple[int, ...], on_medicines: list[str], on_others: list[str]) -> list[FactFinding]:
    """Every plainly stated fact that has a name, after each remark about it."""
    findings = []
    for summary, state in plain_facts(turns):
        core = parse_fact(state.fact.text, state.fact.kind).core
        if core.denied or core.concept is None:
            continue
        for remark in on_medicines if core.concept.kind in ("drug", "class") else on_others:
            [finding] = find_facts(f"{summary}\n\n{remark.format(core.text)}", [state])
            findings.append(finding)
    return findings


@pytest.mark.slow
def test_a_remark_leaves_a_plain_fact_plain() -> None:
    """A question, somebody else's, a level not on file, advice not to stop it: the statement stands."""
    findings = remarked((2, 7), REMARKS_ON_MEDICINES, REMARKS)
    assert len(findings) > 1_500
    assert [f.text for f in findings if not f.plain] == []


def test_denying_something_of_the_word_never_contradicts() -> None:
    """ "No X level was available" may leave some facts unclear; not one is contradicted for certain."""
    findings = remarked((4, 9), ["No {} level was available."], ["No {} level was available."])
    assert len(findings) > 300
    assert [f.text for f in findings if f.status == "contradicted" and f.certain] == []


# ---- summaries: what is moved


def _reversed_runs(text: str, opening: str, keep: int = 0) -> str:
    """Runs of lines that open alike, in reverse order; the first `keep` of each run stay."""
    out: list[str] = []
    run: list[str] = []
    for line in [*text.split("\n"), ""]:
        if line.startswith(opening):
            run.append(line)
        else:
            out += [*run[:keep], *reversed(run[keep:]), line]
            run = []
    return "\n".join(out[:-1])


def _sections_reversed(text: str) -> str:
    return "\n\n".join(reversed(re.split(r"\n+(?=#{1,6} |\*\*[^*\n]+\*\*:?[ ]*\n)", text.strip())))


def _table_to_lines(text: str) -> str:
    rows = re.sub(r"(?m)^\|[^\n]*\|\n\|[-| :]+\|\n", "", text)
    return re.sub(
        r"(?m)^\|\s*([^|\n]+?)\s*\|\s*([^\n]*?)\s*\|\s*$", lambda m: f"- {m[1]}: {m[2].replace('|', ';')}", rows
    )


def _lines_to_table(text: str) -> str:
    line = r"(?m)^[-*•] \*\*([^*\n]+?):?\*\*:? ([^|\n]*)$"
    rows = re.sub(line, r"| \1 | \2 |", text)
    return re.sub(r"(?m)(?<![|]\n)^(\| )", r"\n| Item | Detail |\n|---|---|\n\1", rows, count=1)


@pytest.mark.parametrize(
    "change",
    [
        _sections_reversed,
        lambda text: _reversed_runs(text, "- "),
        lambda text: _reversed_runs(text, "|", keep=2),
        _table_to_lines,
        _lines_to_table,
    ],
    ids=["sections", "bullets", "rows", "table to lines", "lines to table"],
)
def test_order_and_layout_change_nothing(change: Callable[[str], str]) -> None:
    """At most two findings in a thousand change, and no plain statement becomes a plain contradiction."""
    differing, total, changed = changes(change)
    assert changed >= 30
    assert len(differing) <= 0.002 * total
    plain, wrong = ("retained", True, False), ("contradicted", True, False)
    assert (plain, wrong) not in differing


@pytest.mark.parametrize(
    "change",
    [
        lambda text: f"# Summary of the patient\n\n{text}",
        lambda text: re.sub(r"(?m)^[-*•] ", "", text),
        lambda text: re.sub(r"(?m)^(\s*)[-*•] ", r"\1+ ", text),
        lambda text: re.sub(r"(?<=\d) (?=[a-zµ])", "\u202f", text),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("**", "__"),
    ],
    ids=["a heading above", "no bullets", "other bullets", "thin spaces", "line ends", "other emphasis"],
)
@pytest.mark.slow
def test_typography_changes_nothing(change: Callable[[str], str]) -> None:
    """Not one finding."""
    differing, _, changed = changes(change)
    assert changed >= 30
    assert differing == []


# ---- summaries: what is taken away or replaced


def test_without_the_lines_that_speak_of_it_a_fact_is_absent() -> None:
    """Line by line, whatever is quoted for a fact is taken out; then nothing states it any more."""
    count = 0
    for summary, state in plain_facts((3, 8)):
        text = summary
        [retention] = assess_retention(text, [state.fact])
        while retention.evidence:
            offsets = [span.start for span in retention.evidence]
            starts = [match.start() for match in re.finditer("^", text, re.MULTILINE)]
            lines = text.split("\n")
            ends = [start + len(line) for start, line in zip(starts, lines, strict=True)]
            kept = [
                line
                for line, start, end in zip(lines, starts, ends, strict=True)
                if not any(start <= offset <= end for offset in offsets)
            ]
            text = "\n".join(kept)
            [retention] = assess_retention(text, [state.fact])
        count += 1
        assert retention.status == "absent"
    assert count > 350


def test_another_dose_contradicts() -> None:
    """Every figure of the dose, wherever it stands, made three times as large: 99 of 100 contradict."""
    statuses = []
    for summary, state in plain_facts(tuple(range(1, 11))):
        fact = parse_fact(state.fact.text, state.fact.kind)
        if fact.frame != MEDICATION or fact.core.denied or fact.regimen is None or len(fact.regimen.strengths) != 1:
            continue
        wanted, document, text = fact.regimen.strengths[0], read(summary), summary
        for amount in reversed(amounts(document)):
            if amount.unit is not None and amount.dimension == wanted.dimension and isclose(amount.base, wanted.base):
                start, end = document.starts[amount.first], document.ends[amount.first]
                text = f"{text[:start]}{amount.value * 3:g}{text[end:]}"
        statuses.append(assess_retention(text, [state.fact])[0].status)
    assert len(statuses) > 400
    assert statuses.count("contradicted") >= 0.99 * len(statuses)
    assert statuses.count("retained") <= 0.005 * len(statuses)


def test_quotations_index_the_raw_text() -> None:
    """Every quotation of every finding, on every turn."""
    for (number, turn), findings in findings_as_recorded().items():
        summary = talks()[number].summaries[turn]
        quotes = [quote for finding in findings for quote in finding.quotes]
        assert all(summary[quote.start : quote.end] == quote.quote for quote in quotes)


# ---- replies


def breaches(talk: Talk, turn: int, reply: str) -> list[tuple[str, str, str]]:
    facts = [state.fact for state in talk.states(turn) if not state.ended]
    return sorted((b.kind, b.rule, b.finder) for b in find_breaches(reply, facts, talk.case.turns[turn - 1].expect))


@pytest.mark.slow
def test_an_unrelated_sentence_changes_no_breach_and_no_conflict() -> None:
    """Behind a reply; every third one."""
    for number, talk in enumerate(talks()):
        sentence = UNRELATED[number % len(UNRELATED)]
        for turn, reply in list(talk.replies.items())[number % 3 :: 3]:
            longer = f"{reply}\n\n{sentence}"
            assert breaches(talk, turn, longer) == breaches(talk, turn, reply)
            if turn > 1:
                news = talk.case.turns[turn - 1].message
                pairs = [list(oppositions(talk.replies[turn - 1], later, news)) for later in (reply, longer)]
                assert [c.kind for c in pairs[0]] == [c.kind for c in pairs[1]]


def test_a_courtesy_before_a_reply_changes_few_suspicions() -> None:
    """What is only suspected from the opening sentences changes in 3 of 100 replies at most; omissions never."""
    differing = total = 0
    for talk in talks():
        for turn, reply in list(talk.replies.items())[::2]:
            before, after = breaches(talk, turn, reply), breaches(talk, turn, f"Thank you for your message.\n\n{reply}")
            assert [b for b in before if b[2] == "no-wording"] == [b for b in after if b[2] == "no-wording"]
            differing += before != after
            total += 1
    assert differing <= 0.03 * total
