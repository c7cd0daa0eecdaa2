"""The judge in the dossier: its calibration, audit and canaries, rules against readings, and external labels."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_clinical_drift.judging.calibration_file import ExternalTable, KindLimits
from pytest_clinical_drift.report.evidence_text import cost_lines
from pytest_clinical_drift.report.judge_text import against_answers, external_rows, judge_line, role, share_text
from pytest_clinical_drift.report.meaning import canaries_text, evidence_of
from pytest_clinical_drift.report.words import kind_name, words
from pytest_clinical_drift.results.manifest import JudgeRecord
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.verdict.counts import Audit, EvidenceCounts


@dataclass(frozen=True, slots=True)
class KindRow:
    """What calibration measured of a kind of question."""

    kind: str
    shares: Sequence[str]
    """In the order of the words "shares"."""
    role: str
    """What the judge's answers of it do in this run."""


@dataclass(frozen=True, slots=True)
class RuleRow:
    """What the readings say of the facts of which the rules say one thing."""

    rule: str
    counts: Sequence[int]
    """In the order of the answers."""


@dataclass(frozen=True, slots=True)
class ExternalView:
    """The judge against a public set."""

    name: str
    made: datetime.date
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class JudgeView:
    line: str
    present: bool
    """Whether a judge has read."""
    shares: Sequence[str]
    """Names of what calibration measures."""
    kinds: Sequence[KindRow]
    audit: Audit | None
    canaries: str
    """Empty where none were inserted."""
    costs: str
    answers: Sequence[str]
    """Answers of the readings; empty where nobody has read."""
    rules: Sequence[RuleRow]
    external: Sequence[ExternalView]
    accuracy: Sequence[str]
    """How accurate the rules are, a sentence each."""


def judge_view(result: RunResult) -> JudgeView:
    judge = result.manifest.judged
    counts = evidence_of(result)
    answers = against_answers(counts)
    deciding = judge.deciding if judge else ()
    return JudgeView(
        line=judge_line(judge, counts),
        present=judge is not None,
        shares=list(words("shares").values()),
        kinds=[_kind(kind, limits, deciding) for kind, limits in kinds_of(judge).items()],
        audit=counts.audit,
        canaries=canaries_text(result),
        costs="; ".join(cost_lines(result)),
        answers=answers,
        rules=_rules(counts, answers),
        external=[_external(table) for table in external_of(judge)],
        accuracy=words("measured", "accuracy"),
    )


def kinds_of(judge: JudgeRecord | None) -> Mapping[str, KindLimits]:
    """What its calibration measured, by kind; nothing where it has none."""
    return judge.calibration.kinds if judge is not None and judge.calibration is not None else {}


def external_of(judge: JudgeRecord | None) -> Sequence[ExternalTable]:
    return judge.calibration.external if judge is not None and judge.calibration is not None else ()


def _kind(kind: str, limits: KindLimits, deciding: Sequence[str]) -> KindRow:
    shares = [share_text(getattr(limits, name)) for name in words("shares")]
    return KindRow(kind=kind_name(kind), shares=shares, role=role(kind, deciding))


def _rules(counts: EvidenceCounts, answers: Sequence[str]) -> list[RuleRow]:
    found = counts.rules_against_judge
    return [RuleRow(rule, [said.get(answer, 0) for answer in answers]) for rule, said in found.items()]


def _external(table: ExternalTable) -> ExternalView:
    rows = [[str(cell) for cell in row] for row in external_rows(table)]
    return ExternalView(name=table.name, made=table.made, heads=[table.name, *words("external")], rows=rows)
