"""`clinical-drift review` and `clinical-drift verdict`: from results to the page, and from reviews to a verdict."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.rejudge import FOLDER, rejudge
from pytest_clinical_drift.gate.reopened import reopen
from pytest_clinical_drift.gate.review_items import review_items
from pytest_clinical_drift.judging.reviews import Reviews, read_reviews
from pytest_clinical_drift.report.figures import counted
from pytest_clinical_drift.report.json_file import write_atomically
from pytest_clinical_drift.report.review_page import FILE_NAME, render_review
from pytest_clinical_drift.verdict.values import MOST_TO_READ


def write_review_page(results: Path, out: Path | None, say: Callable[[str], object]) -> int:
    """Write the page on which a person settles the alarms of a run."""
    run = reopen(results)
    items = review_items(run)
    if not items:
        say("there is nothing to review: no alarm is open or confirmed, and no judge has cleared anything")
        return 0
    page = render_review(items, manifest=run.record.manifest, slug=run.record.slug, headline=run.results.headline)
    groups = len({item.group for item in items})
    say(f"{counted(len(items), 'question')} in {counted(groups, 'group')}")
    if groups > MOST_TO_READ:
        say("too many to read; use a better judge")
    file = out or results / FILE_NAME
    with _writing(file):
        say(f"written: {write_atomically(file, page)}")
    return 0


def judge_with_reviews(results: Path, files: Sequence[Path], out: Path | None, say: Callable[[str], object]) -> int:
    """Judge a run again with what people have answered, say what changed, and end as a run would."""
    reviews = Reviews()
    for file in files:
        reviews = read_reviews(file, known=reviews)
    judged = rejudge(reopen(results), reviews)
    folder = out or results / FOLDER
    with _writing(folder):
        written = judged.write(folder)
    for line in (*judged.lines(), *(f"written: {file}" for file in written)):
        say(line)
    return judged.exit_code


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    """A place that cannot be written to is bad input."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({type(error).__name__})") from None
