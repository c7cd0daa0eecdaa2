"""How a run uses its judges: settings that are not a judge's own, and what the thresholds demand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_clinical_drift.errors import InputError, UnknownSetting
from pytest_clinical_drift.judging import canaries as canary
from pytest_clinical_drift.judging.due import AUDIT_WANTED
from pytest_clinical_drift.judging.procedure import Judges
from pytest_clinical_drift.judging.protocol import Judge, build_judge
from pytest_clinical_drift.judging.readings import READINGS, WINDOW_TOKENS
from pytest_clinical_drift.subjects.base import typed_settings

_OWN = {
    "offline": bool,
    "allow_subject": bool,
    "calibration": Path,
    "calibration_set": Path,
    "canaries": int,
    "audit": int,
    "window": int,
}


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """Settings of a run's judge that are not the judge's own."""

    offline: bool = False
    """Nobody is asked: only stored answers count."""
    allow_subject: bool = False
    """The model under test may judge itself."""
    calibration: Path | None = None
    """A calibration file; None: the project's folder is searched."""
    calibration_set: Path | None = None
    """Labelled texts; None: the bundled ones."""
    canaries: int = canary.WANTED
    audit: int = AUDIT_WANTED
    window: int = WINDOW_TOKENS
    """Tokens of a conversation that one request holds."""


@dataclass(frozen=True, slots=True)
class JudgePolicy:
    """What the thresholds demand of a judge."""

    floors: Mapping[str, float]
    readings: int = 1
    """Wordings in which every text is read."""
    calibrate: bool = True
    """Measure a judge that has no valid calibration; False: that is an error."""
    dismiss_severe: int = 1
    """People who have to agree before a severe alarm is dismissed."""


def procedure_of(judges: Sequence[Judge], policy: JudgePolicy) -> Judges:
    """How judges are used: the first reads, the last answers single questions."""
    reads = not judges[0].kinds.isdisjoint(READINGS)
    return Judges(judges[0].name, judges[-1].name, (1, 2)[: policy.readings], reads, kinds=judges[-1].kinds)


def make_judges(specs: Sequence[str], settings: Mapping[str, str]) -> tuple[list[Judge], JudgeOptions]:
    """The judges, not yet loaded (none: rules), and how a run uses them."""
    if len(specs) > 2:
        raise InputError(f"--drift-judge {specs[2]}: at most two judges: one reads, the second settles")
    own = {key: value for key, value in settings.items() if key in _OWN}
    least = {"canaries": 0, "audit": 0, "window": 2_000}
    options = JudgeOptions(**typed_settings("the judge", own, _OWN, option="--drift-judge-set", least=least))
    theirs = {key: value for key, value in settings.items() if key not in own}
    try:
        built = [build_judge(spec, theirs) for spec in specs or ["rules"]]
    except UnknownSetting as error:
        raise InputError(f"{error}; for any judge: {', '.join(sorted(_OWN))}") from None
    judges = [judge for judge in built if judge is not None]
    if len({judge.name for judge in judges}) < len(judges):
        raise InputError(f"--drift-judge {judges[-1].name}: given twice; a second opinion needs another judge")
    return judges, options
