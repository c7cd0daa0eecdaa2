"""What a merged run is made of: the verdict over all shards, who decided, and everything that is counted."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from made import READ, event, flat
from shard_records import gate, judge, shard_run

from pytest_clinical_drift.gate.merging import judge_shards
from pytest_clinical_drift.judging.answers import Outage
from pytest_clinical_drift.results.manifest import TokenCounts
from pytest_clinical_drift.results.shards import ShardRun, Shards
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.verdict.reasons import (
    JudgeRequired,
    QuestionsUnanswered,
    Reason,
    Shard,
    ShardsMissing,
    Verdict,
)
from pytest_clinical_drift.verdict.values import Deciders

PLACE = Path("parts")
READER = Deciders("big", READ, judges=1)


def shards(*used: ShardRun, missing: Sequence[str] = (), replaced: Sequence[ShardRun] = (), **lacking: str) -> Shards:
    return Shards(used, tuple(replaced), tuple(missing), lacking)


def both(first: dict[str, Any], second: dict[str, Any], **common: Any) -> Shards:
    """Two whole shards that differ in this."""
    return shards(shard_run(PLACE / "1", 1, **{**common, **first}), shard_run(PLACE / "2", 2, **{**common, **second}))


def merged_deciders(found: Shards) -> Deciders:
    return judge_shards(found)[1].deciders


# -- the verdict


def test_whole_shards_give_the_verdict_of_one_run() -> None:
    """All three cases in the order of the set; nothing is called partial or missing."""
    collected, result = judge_shards(both({}, {}, deciders=READER))
    assert [case.case_id for case in collected.cases] == ["anna", "bela", "cleo"]
    assert collected.inputs.shard is None
    assert result.manifest.shard is None
    assert result.verdict not in (Verdict.PARTIAL, Verdict.INCOMPLETE)
    assert not [why for why in result.reasons if isinstance(why, Shard | ShardsMissing)]


@pytest.mark.parametrize(
    ("events", "state", "code"), [([], Verdict.INCOMPLETE, 6), ([event("breaches")], Verdict.FAIL, 1)]
)
def test_without_a_shard_there_is_no_verdict_but_a_failure(events: list[Any], state: Verdict, code: int) -> None:
    """What is missing comes first and its cases are INCOMPLETE; a failure stands, whatever they would have shown."""
    first = shard_run(PLACE, 1, [flat("anna", events=events)], deciders=READER)
    sentence = "shard 2 of 2 is missing"
    collected, result = judge_shards(shards(first, missing=[sentence], bela=sentence, cleo=sentence))
    assert result.verdict == state
    assert collected.exit_code() == code
    assert result.reasons[0] == ShardsMissing((sentence,))
    assert [case.verdict for case in collected.cases[1:]] == [Verdict.INCOMPLETE] * 2
    lost = collected.cases[2].repeats[0].failure
    assert lost is not None
    assert lost.values["error"] == sentence


# -- who decided


def unanswered(case_id: str, questions: int) -> CaseAssessment:
    return dataclasses.replace(flat(case_id), unanswered=questions)


LEFT = QuestionsUnanswered(2)
NO_JUDGE = JudgeRequired()


@pytest.mark.parametrize(
    ("required", "questions", "first", "expected"),
    [
        (True, (2, 3), LEFT, QuestionsUnanswered(5)),
        (True, (0, 3), None, QuestionsUnanswered(3)),
        (True, (0, 0), None, None),
        (False, (2, 3), None, None),
        (True, (2, 3), NO_JUDGE, NO_JUDGE),
    ],
)
def test_unanswered_questions_are_counted_over_all_shards(
    required: bool, questions: tuple[int, int], first: Reason | None, expected: Reason | None
) -> None:
    """Where a judge is required; a judge that was not there at all is another reason, which stays."""
    rules = gate().thresholds.judge.model_copy(update={"required": required})
    found = both(
        {"held": [unanswered("anna", questions[0])], "deciders": dataclasses.replace(READER, missing=first)},
        {"held": [unanswered("bela", questions[1]), flat("cleo")]},
        inputs=gate(thresholds=gate().thresholds.model_copy(update={"judge": rules})),
        deciders=READER,
    )
    assert merged_deciders(found).missing == expected


def test_reviewers_of_all_shards_are_named_once() -> None:
    """In the order in which shards name them."""
    named = [dataclasses.replace(READER, reviewers=names) for names in (("Ada", "Bo"), ("Cy", "Ada"))]
    merged = merged_deciders(both({"deciders": named[0]}, {"deciders": named[1]}))
    assert merged == dataclasses.replace(READER, reviewers=("Ada", "Bo", "Cy"))


ASKED = {"deciders": READER, "judged": judge(requests={"summary": 4, "fact": 6})}


def out(outage: Outage, **requests: int) -> dict[str, Any]:
    return {"deciders": dataclasses.replace(READER, outage=outage), "judged": judge(requests=requests)}


def test_outages_are_counted_among_the_requests_of_all_shards() -> None:
    """10 and 20 requests were made; a judge that stopped is worse than one that missed more, else the more count."""
    few, many = Outage(2, 10, "refused"), Outage(3, 20, "timeout")
    stopped = Outage(1, 20, "gone", stopped=True)
    asked, more = {"summary": 4, "fact": 6}, {"summary": 8, "fact": 12}
    assert merged_deciders(both(out(few, **asked), out(many, **more))).outage == Outage(5, 30, "timeout")
    assert merged_deciders(both(out(few, **asked), out(stopped, **more))).outage == Outage(3, 30, "gone", stopped=True)
    assert merged_deciders(both(ASKED, out(many, **more))).outage == Outage(3, 30, "timeout")
    assert merged_deciders(both(ASKED, ASKED)).outage is None


def test_requests_sent_to_the_judge_are_counted_over_all_shards() -> None:
    """4 of 10 and 9 of 20 were sent, 1 and 7 of them lost; unknown where a shard has no record of it."""
    parts = [
        {
            "deciders": dataclasses.replace(READER, outage=Outage(lost + 2, asked, "gone", sent=sent, lost=lost)),
            "judged": judge(
                requests={"fact": asked}, sent=sent, reused=reused, sent_tokens=TokenCounts(prompt=sent, completion=1)
            ),
        }
        for asked, sent, reused, lost in ((10, 4, 5, 1), (20, 9, 2, 7))
    ]
    found = both(*parts)
    assert merged_deciders(found).outage == Outage(12, 30, "gone", sent=13, lost=8)
    merged = judge_shards(found)[1].manifest.judged
    assert merged is not None
    assert (merged.sent, merged.reused, merged.sent_tokens) == (13, 7, TokenCounts(prompt=13, completion=2))
    older = judge_shards(both(parts[0], ASKED))[1].manifest.judged
    assert older is not None
    assert (older.sent, older.sent_tokens) == (None, None)


# -- what is counted


def spent(prompt: int, completion: int, cost: float | None = None, prices: Any = None) -> TokenCounts:
    return TokenCounts(prompt=prompt, completion=completion, cost=cost, prices_per_million=prices)


def merged_tokens(first: TokenCounts | None, second: TokenCounts | None) -> TokenCounts | None:
    """What the judge of both shards has used."""
    manifest = judge_shards(both({"judged": judge(tokens=first)}, {"judged": judge(tokens=second)}))[1].manifest
    assert manifest.judged is not None
    return manifest.judged.tokens


def test_the_judges_tokens_are_added() -> None:
    """Costs to four places, as for a single run: 0.25004 and 0.50003 are 0.75007."""
    prices = (2.0, 8.0)
    assert merged_tokens(spent(100, 10), spent(200, 30)) == spent(300, 40)
    summed = merged_tokens(spent(100, 10, 0.25004, prices), spent(200, 30, 0.50003, prices))
    assert summed == spent(300, 40, 0.7501, prices)


def test_half_of_a_sum_is_not_given() -> None:
    """Neither tokens where one shard was not counted, nor a cost where one had no prices, nor prices that differ."""
    assert merged_tokens(spent(100, 10), None) is None
    assert merged_tokens(spent(100, 10, 0.25, (2.0, 8.0)), spent(200, 30)) == spent(300, 40)
    assert merged_tokens(spent(100, 10), spent(200, 30, 0.5, (2.0, 8.0))) == spent(300, 40)
    differing = merged_tokens(spent(100, 10, 0.25, (2.0, 8.0)), spent(200, 30, 0.5, (1.0, 8.0)))
    assert differing == spent(300, 40, 0.75)


def test_the_judges_requests_are_added_by_kind() -> None:
    """A kind that one shard alone has is counted too; all else is as the shards have it; no judge stays none."""
    first, second = {"fact": 2, "harm": 1}, {"fact": 3, "must": 4}
    named = {"revision": "r1", "offline": True}
    found = both({"judged": judge(requests=first, **named)}, {"judged": judge(requests=second, **named)})
    assert judge_shards(found)[1].manifest.judged == judge(requests={"fact": 5, "harm": 1, "must": 4}, **named)
    assert judge_shards(both({}, {}))[1].manifest.judged is None


def used(case_id: str, prompt: int, completion: int) -> CaseAssessment:
    return dataclasses.replace(
        flat(case_id), prompt_tokens=prompt, completion_tokens=completion, questions=2, replies_total=10,
        replies_reused=4,
    )  # fmt: skip


@pytest.mark.parametrize(("prices", "cost"), [([2.0, 8.0], 5.0), (None, None)])
def test_what_the_model_used_is_counted_over_all_shards(prices: list[float] | None, cost: float | None) -> None:
    """1.5 million prompt tokens at 2 and 0.25 million completion tokens at 8 are 3 and 2: together 5."""
    found = both(
        {"held": [used("anna", 1_000_000, 200_000)], "replies_reused_since": "2026-03-02"},
        {"held": [used("bela", 500_000, 50_000), used("cleo", 0, 0)], "replies_reused_since": "2026-03-01"},
        settings={"prices": prices},
    )
    manifest = judge_shards(found)[1].manifest
    assert manifest.tokens == spent(1_500_000, 250_000, cost, tuple(prices) if prices else None)
    assert (manifest.questions, manifest.replies, manifest.replies_reused) == (6, 30, 12)
    assert manifest.replies_reused_since == "2026-03-01"


def test_a_merged_run_names_its_shards() -> None:
    """Those it is made of and those it left out; replies that nobody reused have no date."""
    first, second = (shard_run(PLACE / str(index), index) for index in (1, 2))
    older = shard_run(PLACE / "older", 2, run="older")
    manifest = judge_shards(shards(first, second, replaced=[older]))[1].manifest
    assert manifest.merged_from == (first.record, second.record)
    assert manifest.replaced_shards == (older.record,)
    assert manifest.replies_reused_since is None
