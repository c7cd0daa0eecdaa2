"""What a case carries beyond its text: grades of its demands, handovers, and a signature that may have become void."""

from pytest_clinical_drift.authoring import Remark, Remarks
from pytest_clinical_drift.cases.case_signatures import signed
from pytest_clinical_drift.cases.mark_checks import demands_in
from pytest_clinical_drift.cases.model import Case, spoken


def grades(case: Case) -> Remarks:
    """A demand without a grade counts as major: one breach fails the run."""
    wishes = [wish for _, _, entry in spoken(case) for _, wish, _ in demands_in(entry.expect)]
    ungraded = sum(wish.severity is None for wish in wishes)
    if ungraded:
        text = f"{ungraded} of {len(wishes)} demands have no `severity` and count as major: one breach fails the run"
        yield Remark("warning", "turns", text)


def handovers(case: Case) -> Remarks:
    """Before anything was said there is nothing to hand over but the intake."""
    if case.turns[0].handover:
        yield Remark("warning", "turn 1", "a handover on the first turn only repeats the intake")


def signature(case: Case) -> Remarks:
    """A changed case is no longer the one that was signed."""
    mark = case.reviewed
    if mark is not None and not signed(case):
        text = f"changed since {mark.by} ({mark.role}) signed it on {mark.when}: no longer signed"
        yield Remark("warning", "reviewed", text)
