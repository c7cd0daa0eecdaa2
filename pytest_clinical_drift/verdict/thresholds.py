"""The gate's limits: reads and checks `thresholds.yaml`."""

import datetime
import difflib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, field_validator, model_validator

from pytest_clinical_drift.cases.faults import ReferenceFault, describe_faults, did_you_mean
from pytest_clinical_drift.core.files import read_text
from pytest_clinical_drift.core.packaged import bundled
from pytest_clinical_drift.core.parsing import parse_data
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.verdict.bands import Limit, MetricLimits, Range, SlateRules, Table, idle_limits, slate_range
from pytest_clinical_drift.verdict.metric_table import METRICS, OWN_METRIC, SEVERE, metric_named

TOP_KEY = "clinical_drift"
EXTENDS = "extends"
BUNDLED = "bundled"
CANARIES = 0.75
"""Share of the inserted faults that a judge has to confirm unless a project sets another one."""
_NONE = Limit("<=", 0.0)
_REQUIRED = ("recall_at_t10", "drift_slope")
"""Metrics that every thresholds file has to gate by itself."""
_LIMIT_KEYS = frozenset({"pass", "caution", "worst"})
_PROJECTS_OWN = "Set by this project."


def _known_metric(name: str) -> str:
    if name not in METRICS and not OWN_METRIC.fullmatch(name):
        known = f"; known ones: {', '.join(METRICS)}, own.NAME for a project's own figure, and pdsqi.NAME"
        raise ValueError(f"unknown metric {name!r}{did_you_mean(name, tuple(METRICS)) or known}")
    return name


class Waiver(Table):
    """An accepted failure of one case, signed and dated."""

    case: str
    reason: Annotated[str, Field(min_length=1)]
    signed_by: Annotated[str, Field(min_length=1)]
    expires: datetime.date

    def holds_on(self, day: datetime.date) -> bool:
        """Whether it still counts on that day."""
        return day <= self.expires


class SetRules(Table):
    """How the whole set is decided."""

    decide_by: Literal["interval", "point"] = "interval"
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    min_cases: Annotated[int, Field(ge=1)] = 40
    max_failing_cases: Annotated[int, Field(ge=0)] = 0
    min_coverage: Annotated[float, Field(gt=0, le=1)] = 1.0


class BaselineRules(Table):
    """How a run is compared with an earlier one (`--drift-baseline`)."""

    alpha: Annotated[float, Field(gt=0, lt=0.5)] = 0.025
    """One-sided chance of error."""
    margin: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """Loss of Recall@T10 (and of strict recall) that counts as no loss."""
    slope_margin: Annotated[float, Field(gt=0, lt=1)] = 0.01
    conflict_margin: Annotated[float, Field(gt=0, lt=1)] = 0.03


class JudgeRules(Table):
    """What is asked of the judge."""

    required: bool = False
    """Without a judge at its floor that answered everything, the run is INCOMPLETE."""
    floors: dict[Literal["sensitivity", "subtle", "specificity"], Annotated[float, Field(gt=0, le=1)]] = Field(
        default_factory=dict, validate_default=True
    )
    """Lower 95 % limits that a kind needs for its answers to decide; subtle: sensitivity on subtle faults alone."""
    readings: Literal[1, 2] = 1
    """2: every text is read in both wordings, and either may raise an alarm."""
    calibrate: Literal["auto", "never"] = "auto"
    """never: a judge without a valid calibration file is an error."""
    dismiss_severe: Literal[1, 2] = 1
    """People who have to agree before a severe alarm is dismissed."""
    canaries: Annotated[float, Field(ge=0, le=1)] = CANARIES
    """Share of the inserted faults that the judge has to confirm; below it the run is UNSETTLED."""
    audit_bound: Annotated[float, Field(gt=0, le=1)] = 0.03
    """Most of what the readings cleared that may be wrong, by the audit's upper limit; beyond it: CAUTION."""

    @field_validator("floors")
    @classmethod
    def _all_floors(cls, floors: dict[str, float]) -> dict[str, float]:
        return {"sensitivity": 0.85, "subtle": 0.75, "specificity": 0.98, **floors}


class Thresholds(Table):
    """The whole gate."""

    version: Literal[1] = 1
    policy: Literal["each-case", "set"] = "each-case"
    metrics: dict[Annotated[str, AfterValidator(_known_metric)], MetricLimits]
    set: SetRules = SetRules()
    baseline: BaselineRules = BaselineRules()
    judge: JudgeRules = JudgeRules()
    open: Literal["unsettled", "caution"] = "unsettled"
    """What a severe alarm is that nobody has settled: no release verdict, or CAUTION."""
    require_signed_cases: bool = False
    """True: CAUTION at best while a case of the set is not signed by a clinician."""
    waivers: tuple[Waiver, ...] = ()
    slate: SlateRules | None = None
    """None: the bundled limits hold for slates."""

    @model_validator(mode="before")
    @classmethod
    def _extended(cls, given: Any) -> Any:
        """The bundled gate with what a file that extends it sets differently; any other file as it is."""
        if not isinstance(given, dict):
            return given
        cls._check_keys(given)
        if EXTENDS not in given:
            return given
        if given[EXTENDS] != BUNDLED:
            meant = f"expected {BUNDLED}, found {given[EXTENDS]!r}"
            told = f"{TOP_KEY}.{EXTENDS}: {meant}; a gate extends the bundled one or is complete by itself"
            raise ReferenceFault(told, (EXTENDS,))
        own = {key: value for key, value in given.items() if key != EXTENDS}
        return _extend_bundled(own)

    @classmethod
    def _check_keys(cls, given: dict[Any, Any]) -> None:
        """A metric that stands at the top, where it is no field, is told where it belongs."""
        known = {EXTENDS, *(field.alias or name for name, field in cls.model_fields.items())}
        for key in given:
            if key in known:
                continue
            near = difflib.get_close_matches(str(key), METRICS, 1, 0.85)
            if near and not did_you_mean(str(key), known):
                told = f"{TOP_KEY}.{key}: unknown field; did you mean metrics.{near[0]}?"
                raise ReferenceFault(told, (key,))

    @field_validator("metrics")
    @classmethod
    def _everything_is_gated(cls, metrics: dict[str, MetricLimits]) -> dict[str, MetricLimits]:
        """What else a file leaves out is gated as in the bundled one."""
        faults = [f"required metric {name} is missing" for name in _REQUIRED if name not in metrics]
        for name, limits in metrics.items():
            faults += _faults_of(name, limits)
        if faults:
            raise ValueError("; ".join(faults))
        missing = [name for name in METRICS if name not in metrics]
        if not missing:
            return metrics
        bundled_limits = load_thresholds().metrics
        implied = {name: bundled_limits[name].model_copy(update={"implied": True}) for name in missing}
        return metrics | implied

    @model_validator(mode="after")
    def _every_limit_decides(self) -> Self:
        for name, limits in self.metrics.items():
            _check_idle(("metrics", name), limits, metric_named(name).possible)
        if self.slate is not None:
            for name, limits in self.slate.metrics.items():
                _check_idle(("slate", "metrics", name), limits, slate_range(name))
        return self

    @property
    def implied_metrics(self) -> list[str]:
        """Metrics that the file leaves out and that are gated all the same."""
        return [name for name, limits in self.metrics.items() if limits.implied]

    def unsettles(self, metric: str) -> bool:
        """Whether an open severe alarm or an unread figure of a metric leaves the verdict open."""
        limits = self.metrics.get(metric)
        of_metric = limits.open if limits else None
        return (of_metric or self.open) == "unsettled"


def _extend_bundled(own: dict[str, Any]) -> Any:
    """The bundled gate with what a project sets differently; the bundled reason is for other limits than its own."""
    file = bundled("thresholds.yaml")
    whole = _merged(parse_data(file, read_text(file))[TOP_KEY], own)
    metrics = own.get("metrics")
    if not isinstance(metrics, dict):
        return whole
    for name, limits in metrics.items():
        changed = isinstance(limits, dict) and "why" not in limits and not _LIMIT_KEYS.isdisjoint(limits)
        if changed and isinstance(whole["metrics"].get(name), dict):
            whole["metrics"][name]["why"] = _PROJECTS_OWN
    return whole


def _faults_of(name: str, limits: MetricLimits) -> list[str]:
    """What limits may not set: another direction than the metric's, or more than no severe event."""
    faults: list[str] = []
    metric = METRICS.get(name)
    if metric is not None and limits.direction != metric.direction:
        better = metric.direction
        faults.append(f"{name}: {better} is better; set direction: {better}")
    if name in SEVERE and (limits.pass_limit, limits.caution_limit, limits.worst) != (_NONE, _NONE, "fail"):
        faults.append(f"{name} must keep its limits '<= 0': one such event stops a release")
    return faults


def _check_idle(place: tuple[str, ...], limits: MetricLimits, possible: Range | None) -> None:
    """ReferenceFault for a limit that every possible value keeps, or none."""
    if possible is None:
        return
    for key, fault in idle_limits(limits, possible):
        raise ReferenceFault(f"{'.'.join((TOP_KEY, *place, key))}: {fault}", (*place, key))


def load_thresholds(path: Path | None = None) -> Thresholds:
    """Read a thresholds file, the bundled one by default; InputError in one sentence when it cannot be used."""
    file = path or bundled("thresholds.yaml")
    text = read_text(file)
    data = parse_data(file, text)
    if not isinstance(data, dict) or TOP_KEY not in data:
        raise InputError(f"{file}: the top-level key '{TOP_KEY}' is missing; put the limits under it")
    extra = [key for key in data if key != TOP_KEY]
    if extra:
        raise InputError(f"{file}: unknown top-level key {extra[0]!r}; only '{TOP_KEY}' belongs here")
    try:
        return Thresholds.model_validate(data[TOP_KEY])
    except ValidationError as error:
        first, *others = describe_faults(file, text, error, Thresholds, (TOP_KEY,))
        raise InputError(first, *(fault.removeprefix(f"{file}, ") for fault in others)) from None


def _merged(below: Any, above: Any) -> Any:
    """Tables key by key, whatever their depth; everything else, lists too, is replaced."""
    if not isinstance(below, dict) or not isinstance(above, dict):
        return above
    return {**below, **{key: _merged(below.get(key), value) for key, value in above.items()}}


def project_thresholds(root: Path) -> Path | None:
    """The root folder's thresholds.yaml, if it is one of ours; InputError where ours has another ending."""
    file = root / "thresholds.yaml"
    misnamed = root / "thresholds.yml"
    if misnamed.is_file():
        text = read_text(misnamed)
        if TOP_KEY in text and TOP_KEY in _keys(misnamed, text):
            raise InputError(f"{misnamed}: not read; rename it to thresholds.yaml, or give it with --drift-thresholds")
    if not file.is_file():
        return None
    keys = _keys(file, read_text(file))
    if keys == []:
        raise InputError(f"{file}: is empty; write {TOP_KEY}: into it, or remove it")
    if TOP_KEY in keys:
        return file
    for key in keys:
        meant = did_you_mean(key, (TOP_KEY,))
        if meant:
            raise InputError(f"{file}: unknown top-level key {key!r}{meant}")
    return None  # of another tool


def _keys(file: Path, text: str) -> list[str]:
    """The top-level keys of a file; of one that holds no mapping, one that says so."""
    data = parse_data(file, text) or {}
    return list(map(str, data)) if isinstance(data, dict) else ["(no mapping)"]
