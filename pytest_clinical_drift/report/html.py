"""The dossier: one self-contained page, from the results and the transcripts; of large sets with a page per case."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from pytest_clinical_drift.cases.entries import UNGRADED
from pytest_clinical_drift.metrics.horizon import SLOPE_TURNS
from pytest_clinical_drift.report import headlines, judge_text, memory, reasons
from pytest_clinical_drift.report.dossier_view import AlarmGroup, Transcripts, alarm_groups, case_view, run_name
from pytest_clinical_drift.report.page import functions_of, page_source
from pytest_clinical_drift.report.sentences import grade_rank, kind_rank
from pytest_clinical_drift.results.folders import CASE_PAGES
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.results.releases import HazardRow, Standing, made_of
from pytest_clinical_drift.scoring.assessment import AlarmState
from pytest_clinical_drift.verdict.bands import MetricLimits
from pytest_clinical_drift.verdict.metric_table import SEVERE
from pytest_clinical_drift.verdict.reasons import WORST_FIRST
from pytest_clinical_drift.verdict.thresholds import Thresholds, load_thresholds

REPORT_FILE = "report.html"
ONE_PAGE = 80
"""Most cases that one page holds with everything."""
MOST_LINES = 1000
"""Groups of alarms of a state that the first page of a large set lists; all are on the pages of their cases."""
_PAGE_LIMIT = 4_000_000
"""Characters of transcript text on one page; beyond it the cases that pass are shown without theirs."""
_MOST = {"findings": 6, "hazards": 12, "charged": 2, "named": 3, "title": 90, "dismissals": 3, "reasons": 4}
"""Entries of each list that fit on the two pages to sign, and characters of a finding beside a hazard; all are in the
annex."""
_CROWDED = {**_MOST, "findings": 4, "hazards": 8, "charged": 1, "named": 1, "title": 70, "dismissals": 2}
"""The same where hazards and long lists of findings come together."""
_LINES = {"findings": 4, "hazards": 3, "dismissals": 3}
"""Printed lines of an entry, at most."""
_ROOM, _JUDGE = 62, 12
"""Printed lines that these lists share, and those that the judge's figures take of them."""


def render_report(result: RunResult, transcripts: Transcripts, thresholds: Thresholds, standing: Standing) -> str:
    """The page's HTML: the two pages to sign, then the annex."""
    groups = alarm_groups(result.cases, transcripts)
    return _page(
        "dossier.html.j2",
        result=result,
        groups={state: [group for group in groups if group.state == state] for state in AlarmState},
        cases=_cases(result, transcripts, groups),
        apart=_has_case_pages(result),
        most=MOST_LINES,
        folder=CASE_PAGES,
        slope_turns=SLOPE_TURNS,
        per_verdict=Counter(case.verdict for case in result.cases),
        gate=_gate_rows(thresholds),
        **_sign_values(result, standing, groups),
    )


def render_case_pages(result: RunResult, transcripts: Transcripts) -> Iterator[tuple[str, str]]:
    """File name and HTML of each case of a large set; nothing where one page holds them all."""
    for case in result.cases if _has_case_pages(result) else ():
        groups = alarm_groups([case], transcripts)
        view = case_view(case, groups, transcripts.get(case.case_id, ()))
        model = result.manifest.model
        page = _page("dossier_case_page.html.j2", view=view, groups=groups, model=model, report=REPORT_FILE)
        yield f"{case.case_id}.html", page


def _page(template: str, **values: Any) -> str:
    tools = functions_of(headlines, judge_text, memory, reasons)
    return page_source(template, styles=("page.css", "dossier.css"), scripts=("dossier.js",), **tools | values)


def _has_case_pages(result: RunResult) -> bool:
    """Whether the set is too large for one page."""
    return len(result.cases) > ONE_PAGE


def _cases(result: RunResult, transcripts: Transcripts, groups: Sequence[AlarmGroup]) -> list[dict[str, Any]]:
    """The cases, the worst first; texts as far as the page holds them."""
    of_case: dict[str, list[AlarmGroup]] = defaultdict(list)
    for group in groups:
        of_case[group.case].append(group)
    left, shown = _PAGE_LIMIT, []
    for case in sorted(result.cases, key=lambda case: (WORST_FIRST.index(case.verdict), case.case_id)):
        talks = None if _has_case_pages(result) else transcripts.get(case.case_id, ())
        left -= sum(len(e.reply.text) + len(e.summary.text) for talk in talks or () for e in talk.exchanges)
        shown.append(case_view(case, of_case[case.case_id], talks if talks is None or left > 0 else ()))
    return shown


def _gate_rows(thresholds: Thresholds) -> list[tuple[str, MetricLimits | None, str]]:
    """Each metric with its limits, and how they differ from the bundled ones."""
    bundled, gated = load_thresholds().metrics, thresholds.metrics
    return [(name, gated.get(name), _against(gated.get(name), bundled.get(name))) for name in (gated | bundled)]


def _against(limits: MetricLimits | None, bundled: MetricLimits | None) -> str:
    if limits is None:
        return "not gated here, gated by the bundled file"
    if bundled is None:
        return "not in the bundled file"
    if bundled == limits.model_copy(update={"why": bundled.why}):
        return "as bundled"
    return f"differs: bundled PASS {bundled.pass_limit}, CAUTION {bundled.caution_limit}"


# -- the two pages to sign: what a person who accepts or rejects a release has to know, and nothing else


def _sign_values(result: RunResult, standing: Standing, groups: Sequence[AlarmGroup]) -> dict[str, Any]:
    severe = [group for group in groups if group.severe]
    stops = {(run_name(run), event.fact) for run in result.runs for event in run.events_of("hard_stops")}
    # confirmed losses that do not fail their case by themselves: only with what is open on the same fact
    losses = [group for group in severe if group.first.fact is not None and group.state == AlarmState.CONFIRMED]
    slips = {group.id for group in losses if (group.place, group.first.fact) not in stops}
    patients = {run.case_id: run.persona_id for run in result.runs}
    states = {
        state: _one_of_each_patient([group for group in severe if group.state == state], patients, slips)
        for state in AlarmState
    }
    hazards_of = {
        case.case_id: [hazard for hazard, cases in result.hazards.items() if case.case_id in cases]
        for case in result.cases
    }
    lists = [("findings", len(states[state])) for state in (AlarmState.CONFIRMED, AlarmState.OPEN)]
    lists += [("hazards", len(standing.hazards)), ("dismissals", len(states[AlarmState.DISMISSED]))]
    lines = sum(_LINES[name] * min(_MOST[name], count) for name, count in lists)
    room = _ROOM - (_JUDGE if result.manifest.judged else 0)
    fits = _CROWDED if standing.hazards and lines > room else _MOST
    charged = [group for group in severe if group.state != AlarmState.DISMISSED]
    # failed first, then what no case covers or was not run, then the other verdicts
    hazards = sorted(standing.hazards, key=lambda row: WORST_FIRST.index(row.verdict) if row.verdict else 0.5)
    return {
        "standing": standing,
        "fits": fits,
        "severe": severe,
        "severe_groups": states,
        "slips": slips,
        "hazards_of": hazards_of,
        "hazard_rows": [_hazard(row, charged, hazards_of, fits["charged"]) for row in hazards],
        # the words of a finding among those around them
        "shown_words": {
            (run_name(run), event.fact, event.turn): event.around.replace("**", "")
            for run in result.runs
            for event in run.events
            if event.around
        },
        "severe_figures": [item for item in result.judgements if item.metric in SEVERE],
        "tested": made_of(result.manifest),
    }


def _one_of_each_patient(
    groups: Sequence[AlarmGroup], patients: Mapping[str, str], slips: Collection[str]
) -> list[AlarmGroup]:
    """The gravest first, advice before what is left out; no patient's second finding before the first of every other.

    What does not fail its case by itself comes after what does. A finding without a grade counts as major, as a demand
    without one does.
    """

    def gravity(group: AlarmGroup) -> tuple[object, ...]:
        first = group.first
        rank = grade_rank(first.grade or UNGRADED)
        return group.id in slips, rank, kind_rank(first.kind), group.case, group.turns[0]

    listed: Counter[str] = Counter()
    rounds = []
    for group in sorted(groups, key=gravity):
        rounds.append((listed[patients[group.case]], group))
        listed[patients[group.case]] += 1
    return [group for _, group in sorted(rounds, key=lambda pair: pair[0])]


def _hazard(
    row: HazardRow, severe: Sequence[AlarmGroup], hazards_of: Mapping[str, Sequence[str]], most: int
) -> dict[str, Any]:
    """A hazard with every severe finding in its cases: cases name hazards, findings do not.

    Of each thing in a case and state the first, the worst before others; what only this hazard can own first.
    """
    found = [group for group in severe if group.case in row.cases]
    things: dict[tuple[str, str, str], list[AlarmGroup]] = defaultdict(list)
    for group in found:
        things[group.case, group.state, group.title].append(group)
    also = {case: [name for name in hazards_of.get(case, ()) if name != row.hazard] for case in row.cases}
    shown = sorted(things.values(), key=lambda groups: bool(also[groups[0].case]))[:most]
    charges = [(min(groups, key=lambda group: group.turns[0]), also[groups[0].case]) for groups in shown]
    return {"row": row, "findings": charges, "more": len(found) - sum(map(len, shown))}
