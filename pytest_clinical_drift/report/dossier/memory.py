"""How long the model remembers, in the dossier: horizons, every probe, and what is kept at the end."""

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_clinical_drift.metrics.horizon import SLOPE_TURNS
from pytest_clinical_drift.report.meaning import evidence_of
from pytest_clinical_drift.report.memory import end_lines, horizon_lines, probe_cells, single_text
from pytest_clinical_drift.report.words import breaches_read, rounded, span, words
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.verdict.memory import BreachBand, Kept, Memory


@dataclass(frozen=True, slots=True)
class KeptRow:
    """Facts of one group that are not lost at the end."""

    group: str
    kept: int
    facts: int
    with_open: int
    share: str
    interval: str


@dataclass(frozen=True, slots=True)
class BreachRow:
    """Broken demands on a stretch of turns."""

    first: int
    last: int
    severe: str
    lesser: str
    open: int
    replies: int


@dataclass(frozen=True, slots=True)
class GradeRow:
    grade: str
    confirmed: str
    open: int


@dataclass(frozen=True, slots=True)
class MemoryView:
    turns: int
    shortest: int
    long: bool
    """Whether it runs beyond the turns of the slope."""
    horizons: Sequence[str]
    at_end: Sequence[str]
    slope: float | None
    """Change of recall per 1,000 prompt tokens."""
    single: str
    """With the same transcript in one message; empty where it was not requested."""
    heads: Sequence[str]
    probes: Sequence[Sequence[str]]
    by_place: Sequence[KeptRow]
    by_interference: Sequence[KeptRow]
    breaches: Sequence[BreachRow]
    grades: Sequence[GradeRow]


def memory_view(result: RunResult, memory: Memory) -> MemoryView:
    read = breaches_read(result)
    grades = evidence_of(result).grades
    interference = words("interference")
    return MemoryView(
        turns=memory.turns,
        shortest=memory.shortest,
        long=memory.turns > SLOPE_TURNS,
        horizons=horizon_lines(result, memory),
        at_end=end_lines(result, memory),
        slope=memory.slope_per_1000_tokens,
        single=single_text(memory.single) if memory.single else "",
        heads=words("probes"),
        probes=probe_cells(result),
        by_place=[_kept(row, f"last stated in the {row.group}") for row in memory.by_place],
        by_interference=[_kept(row, interference[row.group]) for row in memory.by_interference],
        breaches=[_band(band, read=read) for band in memory.breaches],
        grades=[GradeRow(row.grade, _confirmed(row.confirmed, read=read), row.open) for row in grades],
    )


def _kept(row: Kept, group: str) -> KeptRow:
    interval = ""
    if row.low is not None and row.high is not None:
        interval = span(row.low, row.high)
    return KeptRow(
        group=group,
        kept=row.kept,
        facts=row.facts,
        with_open=row.kept_worst,
        share=rounded(row.share),
        interval=interval,
    )


def _band(band: BreachBand, *, read: bool) -> BreachRow:
    return BreachRow(
        first=band.first,
        last=band.last,
        severe=_confirmed(band.severe, read=read),
        lesser=_confirmed(band.lesser, read=read),
        open=band.open,
        replies=band.replies,
    )


def _confirmed(count: int, *, read: bool) -> str:
    """A count of broken demands: none where nobody who may decide has read for them is no 0."""
    return str(count) if count or read else "unread"
