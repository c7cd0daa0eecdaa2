"""A set of cases, judged by the bundled thresholds as a judge that decides every kind has read it."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from made import READ, flat

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.results.manifest import Hashes, Manifest
from pytest_clinical_drift.results.models import RunResult, build_result
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.verdict.case import judge_case
from pytest_clinical_drift.verdict.thresholds import Thresholds, load_thresholds
from pytest_clinical_drift.verdict.values import Deciders, MetricVerdict
from pytest_clinical_drift.verdict.whole_set import judge_set

TODAY = datetime.date(2026, 5, 1)
JUDGED = Deciders("server:strong", deciding=READ)
RULES = Deciders()


def gate(**changes: object) -> Thresholds:
    """The bundled thresholds with some rules of the set, or the policy, changed."""
    bundled = load_thresholds()
    policy = changes.pop("policy", bundled.policy)
    waivers = changes.pop("waivers", ())
    unread = changes.pop("open", bundled.open)
    rules = bundled.set.model_copy(update=changes)
    return bundled.model_copy(update={"set": rules, "policy": policy, "waivers": waivers, "open": unread})


def judge(
    cases: Sequence[Sequence[CaseAssessment]],
    thresholds: Thresholds | None = None,
    total: int | None = None,
    deciders: Deciders | None = None,
    case_set: Sequence[Case] = (),
) -> RunResult:
    """By default every text was read by a judge that decides every kind."""
    thresholds = thresholds or gate()
    deciders = deciders or JUDGED
    verdicts = [judge_case(repeats, thresholds, TODAY, deciders.deciding) for repeats in cases]
    whole = judge_set(verdicts, thresholds, total=total or len(cases), deciders=deciders)
    manifest = Manifest(judge="rules", hashes=Hashes(cases="c", prompts="p"))
    return build_result(verdicts, whole, manifest, thresholds=thresholds, case_set=case_set, today=TODAY)


def figure(verdict: RunResult, metric: str) -> MetricVerdict:
    return next(item for item in verdict.judgements if item.metric == metric)


def steady(count: int = 60) -> list[list[CaseAssessment]]:
    return [[flat(f"c{number}")] for number in range(count)]
