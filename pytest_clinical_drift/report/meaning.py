"""What a verdict means, what it rests on and what it does not say: printed in every report."""

from pytest_clinical_drift.metrics.horizon import SLOPE_TURNS
from pytest_clinical_drift.report.page import text_lines
from pytest_clinical_drift.report.reasons import reason_texts
from pytest_clinical_drift.results.models import RunResult

_TEMPLATE = "meaning.txt.j2"


def what_this_means(result: RunResult) -> str:
    values = {"verdict": result.verdict, "complete": result.cases_complete, "control": result.deciders.control}
    return " ".join(text_lines(_TEMPLATE, "means", counts=result.counts, **values))


def rests_on_lines(result: RunResult) -> list[str]:
    return text_lines(_TEMPLATE, "rests_on", result=result, counts=result.counts)


def cut_lines(result: RunResult) -> list[str]:
    """Texts that the token limit cut off, and empty ones."""
    return text_lines(_TEMPLATE, "cut", counts=result.counts, replay=result.manifest.model.startswith("replay:"))


def cost_lines(result: RunResult) -> list[str]:
    """Tokens of the model and of the judge, with their cost."""
    return text_lines("terminal.txt.j2", "costs", result=result)


def ungated_lines(result: RunResult) -> list[str]:
    """What is shown beside the verdict and never gated, a line each, details indented: the mean curve, repeats, the
    baseline, the sanity band."""
    notes = reason_texts(result.baseline.notes) if result.baseline else []
    return text_lines("ungated.txt.j2", "lines", result=result, notes=notes, slope_turns=SLOPE_TURNS)
