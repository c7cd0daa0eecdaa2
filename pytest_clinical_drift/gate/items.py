"""Cases as pytest items; which of them a session needs; what a project's own tests get, how it gets to workers, and
what the project's scorers give."""

import contextlib
import json
import math
import re
import shutil
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest
from pydantic import TypeAdapter

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.core.files import write_atomically
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.pytest_reports import GateFailure, take_ids
from pytest_clinical_drift.gate.run import GateRun, Scores
from pytest_clinical_drift.gate.set_result import figures_of
from pytest_clinical_drift.report.case_text import case_report
from pytest_clinical_drift.report.headlines import case_headline, unsettled_line
from pytest_clinical_drift.results.models import CaseResult
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.subjects.base import RunStopped
from pytest_clinical_drift.subjects.python import is_foreign
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.reasons import Verdict

STUDY = "study_c"
"""First part of every test id."""
OWN = "own."
"""Before the name of every figure of the project's own, so that it can never be taken for one of ours."""
HandedCase = tuple[tuple[Transcript, ...], CaseResult, str]
"""A case's conversations, its result, and the judge in a line."""
_HANDED = TypeAdapter(HandedCase)
_POLL_SECONDS = 0.02
_SELECTION = ".selection"


class Unfinished(GateFailure):
    """A project's own test asked for a case whose conversation could not be held: an error, never an empty result."""


@dataclass(frozen=True, slots=True, repr=False)
class DriftResult:
    """What a project's own test gets from the `drift_result` fixture."""

    case: Case
    transcripts: tuple[Transcript, ...]
    verdict: CaseResult
    """Verdict, figures and conversations of the case, as the results file has them."""
    judge: str = ""
    """The judge and its limits, in a line."""

    def __repr__(self) -> str:
        """Short: pytest prints it below a failed assertion."""
        return f"<{self.case.id}: {self.verdict.verdict}>"

    @property
    def passed(self) -> bool:
        """Whether the case is a plain PASS."""
        return self.verdict.verdict == Verdict.PASS

    @property
    def assessments(self) -> tuple[CaseAssessment, ...]:
        """The conversations as they were scored, one per repeat."""
        return self.verdict.repeats

    @property
    def assessment(self) -> CaseAssessment:
        """The first (usually the only) repeat."""
        return self.assessments[0]

    @property
    def generation_seconds(self) -> float | None:
        """Time that the subject spent on this case; None when it was not measured."""
        measured = [run.generation_seconds for run in self.assessments if run.generation_seconds is not None]
        return sum(measured) if measured else None

    @property
    def headline(self) -> str:
        """What went wrong, in a line."""
        return case_headline(self.verdict)

    @property
    def undecided(self) -> bool:
        """Whether the test is an error rather than passed or failed: it could not be run, or is not settled."""
        return self.verdict.verdict in (Verdict.INCOMPLETE, Verdict.UNSETTLED)

    @property
    def message(self) -> str:
        """The line that pytest and junit files show of a test that is not passed."""
        return unsettled_line(self.verdict) if self.verdict.verdict == Verdict.UNSETTLED else self.headline

    @property
    def text(self) -> str:
        """All that there is to say of a case that is not a plain PASS."""
        if self.passed:
            return ""
        return "\n".join((case_report(self.verdict, judge=self.judge), *self._tracebacks()))

    def _tracebacks(self) -> list[str]:
        failures = [reply.error for run in self.transcripts for reply in run.replies if reply.error]
        return [failure.trace.lstrip("\n") for failure in failures if failure.trace][:1]

    def finished(self) -> Self:
        """This result; raises Unfinished where the conversation was not held to its end."""
        if self.verdict.verdict == Verdict.INCOMPLETE:
            line = f"{self.case.id}: {self.headline}"
            raise Unfinished("\n".join((line, *self._tracebacks())), line)
        return self


class CaseItem(pytest.Item):
    """The test of one case on one model; its id does not depend on where the case file lies."""

    def __init__(self, *, run: GateRun, results: Callable[[str], DriftResult], case_id: str, **kwargs: Any) -> None:
        """`results` gives the result of a case by its id, and waits for it."""
        super().__init__(name=case_id, nodeid=f"{STUDY}/{case_id}::{run.slug}", **kwargs)
        self.run, self._results = run, results
        self.result: DriftResult | None = None
        self.extra_keyword_matches.add(run.slug)
        for mark in case_marks(run.cases[case_id]):
            self.add_marker(mark)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, 0, f"{self.name} on {self.run.slug}"  # without a line pytest cannot report a skipped test

    def setup(self) -> None:
        """Wait for the conversation and score it; what could not be run or is not settled is an error, no failure."""
        self.result = self._results(self.name)
        if self.config.getini("drift_junit_properties"):
            self.user_properties.extend(figures_of(self.result.verdict, self.run.session.name))
        if self.result.undecided:
            raise GateFailure(self.result.text, self.result.message)

    def runtest(self) -> None:
        if self.result is not None and self.run.inputs.fails(self.result.verdict):
            raise GateFailure(self.result.text, self.result.message)


def case_marks(case: Case) -> list[pytest.MarkDecorator]:
    """The marks of every test on this case: ours, and its tags."""
    return [pytest.mark.clinical_drift, *(getattr(pytest.mark, mark_name(tag)) for tag in case.tags)]


def mark_name(tag: str) -> str:
    """A case's tag as a pytest mark: `pressure:cost` is chosen by `-m pressure_cost`."""
    return re.sub(r"\W+", "_", tag)


def cases_of(items: Iterable[pytest.Item], cases: Mapping[str, Case]) -> list[Case]:
    """The cases that these tests need: ours, and those of the project that ask for one."""
    wanted = set()
    for item in items:
        if isinstance(item, CaseItem):
            wanted.add(item.name)
        elif isinstance(case := getattr(getattr(item, "callspec", None), "params", {}).get("drift_case"), Case):
            wanted.add(case.id)
    return [case for case in cases.values() if case.id in wanted]


def take_selection(config: pytest.Config, run: GateRun) -> list[str] | None:
    """Ids of the cases to collect, None for all."""

    def ids_in(argument: str) -> list[str] | None:
        head, _, rest = argument.partition("/")
        case_id = rest.partition("::")[0]
        if head != STUDY or Path(argument).exists():
            return None
        if case_id and case_id not in run.cases:
            raise InputError(f"{argument}: no case {case_id!r} in {run.cases_path}")
        return [case_id] if case_id else list(run.cases)

    if named := take_ids(config, "drift_selection", ids_in):
        return [case_id for case_id in dict.fromkeys(named) if case_id in run.chosen]
    return [] if config.args else None


class ScorerError(InputError):
    """A scorer of the project raised, or gave no figures; the run stops, and its replies stay for the next."""


def own_scores(config: pytest.Config, case: Case, transcript: Transcript) -> Scores:
    """Put a conversation to every scorer of the project; what it raises and bad figures are told in a sentence."""
    figures: dict[str, float | None] = {}
    try:
        for given in config.hook.pytest_clinical_drift_score(case=case, transcript=transcript):
            if not isinstance(given, Mapping):
                raise InputError(f"expected a mapping of names to figures, found {type(given).__name__}")
            for name, value in given.items():
                if not isinstance(name, str) or not re.fullmatch(r"\w+", name):
                    raise InputError(f"{name!r} is not a valid name; write letters, digits and underscores")
                if OWN + name in figures:
                    raise InputError(f"two scorers give the figure {name!r}")
                try:
                    figures[OWN + name] = number = None if value is None else float(value)
                except (TypeError, ValueError):
                    number = math.nan
                if number is not None and not math.isfinite(number):
                    sentence = f"{name} is {value!r}; expected a finite number, or None for nothing to measure"
                    raise InputError(sentence)
        return tuple(figures.items())
    except InputError as error:
        message = str(error)
    except Exception as error:  # the project's own code may raise anything
        frames = [f for f in traceback.extract_tb(error.__traceback__) if not is_foreign(Path(f.filename))]
        place = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
        message = f"{type(error).__name__}: {error}{place}"
    raise ScorerError(f"pytest_clinical_drift_score on {case.id}: {message}")


# -- from the process with the model, which alone makes results, through a folder to the workers


def hand_over(folder: Path, case_id: str, result: HandedCase | BaseException) -> None:
    """Hand over a result, or why there is none; whole or not at all.

    Where it cannot be written, the workers are told why; where not even that can be written, the folder is removed,
    which ends their waiting.
    """
    if isinstance(result, BaseException):
        contents: list[object] = [{"stopped": isinstance(result, RunStopped), "why": str(result)}]
    else:
        why = f"{case_id}: the result could not be handed to the test process (is the disk full?)"
        contents = [_HANDED.dump_python(result), {"stopped": False, "why": why}]
    for content in contents:
        if not folder.exists():  # nobody is waiting
            return
        with contextlib.suppress(OSError):
            write_atomically(folder / f"{case_id}.json", json.dumps(content, ensure_ascii=True, default=str))
            return
    shutil.rmtree(folder, ignore_errors=True)


def wait_for(folder: Path, case_id: str) -> HandedCase:
    """The result of a case, once it is there; RunStopped where it is not wanted any more."""
    file = folder / f"{case_id}.json"
    while not file.exists():
        if not folder.exists():
            raise RunStopped("the run was stopped before this conversation was over")
        time.sleep(_POLL_SECONDS)
    content = json.loads(file.read_text(encoding="utf-8"))
    if isinstance(content, dict):
        raise RunStopped(content["why"]) if content["stopped"] else InputError(content["why"])
    return _HANDED.validate_python(content)


def hand_selection(folder: Path, case_ids: Sequence[str]) -> None:
    """Tell the process with the model which cases the collected tests need; every worker collects the same."""
    with contextlib.suppress(OSError):
        write_atomically(folder / _SELECTION, json.dumps(list(case_ids)))


def handed_selection(folder: Path, known: Sequence[str]) -> list[str]:
    """The cases that the workers' tests need; all known ones where they could not say."""
    try:
        wanted = json.loads((folder / _SELECTION).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return list(known)
    return [case_id for case_id in known if case_id in wanted]
