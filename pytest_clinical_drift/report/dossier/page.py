"""The whole dossier: the pages to sign, then the annex."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_clinical_drift.report.alarm_groups import AlarmGroup, Transcripts, alarm_groups
from pytest_clinical_drift.report.dossier.alarms import AlarmsView, AlarmView, alarms_view, case_alarms
from pytest_clinical_drift.report.dossier.conversation import CaseView, case_view
from pytest_clinical_drift.report.dossier.gate import GateView, LimitsRow, gate_view, limits_rows
from pytest_clinical_drift.report.dossier.judge import JudgeView, judge_view
from pytest_clinical_drift.report.dossier.memory import MemoryView, memory_view
from pytest_clinical_drift.report.dossier.sheet import SheetView, sheet_view
from pytest_clinical_drift.report.meaning import rests_on_lines
from pytest_clinical_drift.report.reasons import reason_text, reason_texts
from pytest_clinical_drift.report.words import rounded, span, words
from pytest_clinical_drift.results.folders import CASE_PAGES
from pytest_clinical_drift.results.manifest import Manifest
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.results.releases import Standing
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.reasons import WORST_FIRST, Verdict
from pytest_clinical_drift.verdict.thresholds import Thresholds
from pytest_clinical_drift.verdict.ungated import AttributeFigures
from pytest_clinical_drift.versions import PACKAGE

MOST_LINES = 1000
"""Groups of alarms of a state that the first page of a large set lists; all are on the pages of their cases."""
_PAGE_LIMIT = 4_000_000
"""Characters of transcript text on one page; beyond it the cases that pass are shown without theirs."""
_FILTERS = (Verdict.FAIL, Verdict.INCOMPLETE, Verdict.UNSETTLED, Verdict.CAUTION, Verdict.PASS)


@dataclass(frozen=True, slots=True)
class GlossaryEntry:
    name: str
    text: str
    words: Mapping[str, str]
    """Where it has several."""


@dataclass(frozen=True, slots=True)
class NamedValue:
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class AnnexView:
    """What the annex begins with."""

    record: str
    diagnosis: str
    scored_by: str
    """Version of this package."""
    replies: int
    reused: int
    extra: Sequence[NamedValue]
    """What else the project's sheet says."""
    rests_on: Sequence[str]
    gated_by_default: Sequence[str]
    glossary: Sequence[GlossaryEntry]


@dataclass(frozen=True, slots=True)
class AttributeRow:
    """An attribute of PDSQI-9."""

    attribute: str
    at_t10: str
    at_end: str
    cases: int
    icc: str
    """Agreement of the wordings; empty where it is undefined."""
    interval: str


@dataclass(frozen=True, slots=True)
class QualityView:
    prompts: str
    """Version of the prompts."""
    rows: Sequence[AttributeRow]


@dataclass(frozen=True, slots=True)
class CasesView:
    """The cases, the worst first."""

    filters: Sequence[tuple[Verdict, int]]
    """Verdicts with how many cases have them."""
    cases: Sequence[CaseView]


@dataclass(frozen=True, slots=True)
class DossierView:
    model: str
    verdict: Verdict
    sheet: SheetView
    annex: AnnexView
    apart: bool
    """Whether each case has a page of its own."""
    folder: str
    """Where these pages are."""
    alarms: AlarmsView
    gate: GateView
    memory: MemoryView | None
    judge: JudgeView
    cases: CasesView
    quality: QualityView | None
    limits: Sequence[LimitsRow]
    manifest: Sequence[NamedValue]


@dataclass(frozen=True, slots=True)
class CasePageView:
    """The page of one case of a large set."""

    model: str
    report: str
    """The dossier's file."""
    case: CaseView
    alarms: Sequence[AlarmView]


def dossier_view(
    result: RunResult, transcripts: Transcripts, thresholds: Thresholds, standing: Standing, *, apart: bool
) -> DossierView:
    """`apart`: whether each case has a page of its own."""
    groups = alarm_groups(result.cases, transcripts)
    most = MOST_LINES if apart else None
    return DossierView(
        model=result.manifest.model,
        verdict=result.verdict,
        sheet=sheet_view(result, standing, groups),
        annex=_annex(result, standing),
        apart=apart,
        folder=CASE_PAGES,
        alarms=alarms_view(groups, result.cases, complete=result.cases_complete, most=most),
        gate=gate_view(result),
        memory=memory_view(result, result.memory) if result.memory else None,
        judge=judge_view(result),
        cases=_cases(result, transcripts, groups, apart=apart),
        quality=_quality(result) if result.pdsqi else None,
        limits=limits_rows(thresholds),
        manifest=list(_manifest(result.manifest)),
    )


def case_pages(result: RunResult, transcripts: Transcripts, report: str) -> Iterator[CasePageView]:
    """The page of each case; `report` is the dossier's file."""
    for case in result.cases:
        groups = alarm_groups([case], transcripts)
        yield CasePageView(
            model=result.manifest.model,
            report=report,
            case=case_view(case, groups, transcripts.get(case.case_id, ())),
            alarms=case_alarms(groups, case),
        )


def _annex(result: RunResult, standing: Standing) -> AnnexView:
    extra = standing.sheet.model_extra or {}
    return AnnexView(
        record=standing.sha256,
        diagnosis=reason_text(result.diagnosed),
        scored_by=result.manifest.versions.get(PACKAGE, "of unknown version"),
        replies=result.manifest.replies,
        reused=result.manifest.replies_reused,
        extra=[NamedValue(key.replace("_", " ").capitalize(), str(value)) for key, value in extra.items()],
        rests_on=[*reason_texts(result.reasons, result.judgements), *rests_on_lines(result)],
        gated_by_default=result.gated_by_default,
        glossary=[
            GlossaryEntry(entry["name"], entry.get("text", ""), entry.get("words", {})) for entry in words("glossary")
        ],
    )


def _cases(result: RunResult, transcripts: Transcripts, groups: Sequence[AlarmGroup], *, apart: bool) -> CasesView:
    """Texts as far as the page holds them."""
    of_case: dict[str, list[AlarmGroup]] = defaultdict(list)
    for group in groups:
        of_case[group.case].append(group)
    left = _PAGE_LIMIT
    shown = []
    for case in sorted(result.cases, key=lambda case: (WORST_FIRST.index(case.verdict), case.case_id)):
        talks: Sequence[Transcript] | None = None
        if not apart:
            talks = transcripts.get(case.case_id, ())
            left -= _characters(talks)
            talks = talks if left > 0 else ()
        shown.append(case_view(case, of_case[case.case_id], talks))
    per_verdict = Counter(case.verdict for case in result.cases)
    filters = [(verdict, per_verdict[verdict]) for verdict in _FILTERS if per_verdict[verdict]]
    return CasesView(filters=filters, cases=shown)


def _characters(talks: Sequence[Transcript]) -> int:
    total = 0
    for talk in talks:
        total += sum(len(exchange.reply.text) + len(exchange.summary.text) for exchange in talk.exchanges)
    return total


def _quality(result: RunResult) -> QualityView:
    return QualityView(prompts=str(result.manifest.pdsqi), rows=[_attribute(row) for row in result.pdsqi])


def _attribute(row: AttributeFigures) -> AttributeRow:
    interval = ""
    if row.icc_low is not None and row.icc_high is not None:
        interval = span(row.icc_low, row.icc_high)
    return AttributeRow(
        attribute=row.attribute,
        at_t10=rounded(row.at_t10),
        at_end=rounded(row.at_end),
        cases=row.cases,
        icc="" if row.icc is None else rounded(row.icc),
        interval=interval,
    )


def _manifest(manifest: Manifest) -> Iterator[NamedValue]:
    """Everything, in the order of the record; the calibration stands with the judge."""
    plain: dict[str, Any] = manifest.model_dump(mode="json")
    for key, value in plain.items():
        if isinstance(value, Mapping) and key != "judged":
            yield from (NamedValue(f"{key}.{inner}", str(detail)) for inner, detail in value.items())
        elif key != "judged":
            yield NamedValue(key, str(value))
    for key, value in (plain["judged"] or {}).items():
        if key != "calibration":
            yield NamedValue(f"judged.{key}", str(value))
