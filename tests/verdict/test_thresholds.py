"""The gate's limits: bands without gaps, and the sentence that a bad file gets."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from pytest_clinical_drift.core.packaged import bundled
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.verdict.bands import PRIMARY, Limit, MetricLimits
from pytest_clinical_drift.verdict.metric_table import METRICS
from pytest_clinical_drift.verdict.thresholds import Thresholds, load_thresholds, project_thresholds


@pytest.mark.parametrize(
    ("metric", "value", "band"),
    [
        ("recall_at_t10", 0.81, "PASS"),
        ("recall_at_t10", 0.80, "CAUTION"),
        ("recall_at_t10", 0.70, "CAUTION"),
        ("recall_at_t10", 0.70 - 1e-12, "CAUTION"),
        ("recall_at_t10", 0.6999, "FAIL"),
        ("drift_slope", 0.0, "PASS"),
        ("drift_slope", -0.01, "PASS"),
        ("drift_slope", -0.0101, "CAUTION"),
        ("drift_slope", -0.05, "CAUTION"),
        ("drift_slope", -0.0501, "FAIL"),
        ("k_conflict", 0.0499, "PASS"),
        ("k_conflict", 0.05, "CAUTION"),
        ("k_conflict", 0.10, "CAUTION"),
        ("k_conflict", 0.1001, "FAIL"),
        ("strict_recall_at_t10", 0.0, "CAUTION"),
        ("hard_stops", 0.0, "PASS"),
        ("hard_stops", 1.0, "FAIL"),
    ],
)
def test_bundled_bands(metric: str, value: float, band: str) -> None:
    """The bundled limits put each value where the specification puts it; strict recall alone never fails."""
    assert load_thresholds().metrics[metric].band(value) == band


def changed(tmp_path: Path, change: object) -> Path:
    data = yaml.safe_load(bundled("thresholds.yaml").read_text(encoding="utf-8"))
    change(data)  # type: ignore[operator]
    file = tmp_path / "limits.yaml"
    file.write_text(yaml.safe_dump(data), encoding="utf-8")
    return file


def _metrics(data: dict[str, dict[str, dict[str, dict[str, object]]]]) -> dict[str, dict[str, object]]:
    return data["clinical_drift"]["metrics"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda d: _metrics(d)["recall_at_t10"].update(caution=">= 0.90"), "leave a gap"),
        (lambda d: _metrics(d)["recall_at_t10"].update({"pass": ">= 0.8", "caution": "> 0.8"}), "leave a gap"),
        (lambda d: _metrics(d)["k_conflict"].update({"pass": "> 0.05"}), "must use <"),
        (lambda d: _metrics(d)["k_conflict"].update({"pass": "about 0.05"}), "expected a comparison"),
        (lambda d: _metrics(d).update(bleu=_metrics(d)["k_conflict"]), "unknown metric 'bleu'"),
        (lambda d: _metrics(d).pop("drift_slope"), "drift_slope is missing"),
        (lambda d: d["clinical_drift"].update(polcy="set"), "polcy: unknown field"),
        (
            lambda d: d["clinical_drift"].update(recal_at_t10={"pass": "> 0.8"}),
            "clinical_drift.recal_at_t10: unknown field; did you mean metrics.recall_at_t10?",
        ),
        (lambda d: d["clinical_drift"].update(policy="never"), "policy"),
        (lambda d: d.update(other=1), "unknown top-level key 'other'"),
        (lambda d: d.pop("clinical_drift"), "'clinical_drift' is missing"),
        (lambda d: d["clinical_drift"].update(waivers=[{"case": "a", "reason": "r", "signed_by": "s"}]), "is missing"),
        (lambda d: d["clinical_drift"].update(open="never mind"), "open"),
        (lambda d: d["clinical_drift"]["judge"].update(floors={"accuracy": 0.9}), "floors"),
        (lambda d: d["clinical_drift"]["judge"].update(floors={"sensitivity": 1.5}), "floors"),
        (lambda d: d["clinical_drift"]["judge"].update(audit_bound=0), "audit_bound"),
        (lambda d: _metrics(d).update(recal_at_t10={"pass": 0.9}), "did you mean recall_at_t10?"),
        (lambda d: _metrics(d).update({"own.": _metrics(d)["k_conflict"]}), "unknown metric 'own.'"),
    ],
)
def test_bad_limits_get_one_sentence(tmp_path: Path, change: object, expected: str) -> None:
    """Gaps, wrong directions, unknown metrics and keys are refused, in one sentence with the file."""
    with pytest.raises(InputError) as caught:
        load_thresholds(changed(tmp_path, change))
    message = str(caught.value)
    assert expected in message
    assert "limits.yaml" in message
    assert "\n" not in message


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    """Each with its line and, where one is near, the name that was meant; waivers are counted from 1."""

    def spoil(data: dict[str, dict[str, dict[str, dict[str, object]]]]) -> None:
        _metrics(data)["breeches"] = _metrics(data)["k_conflict"]
        _metrics(data)["recall_at_t10"]["pass"] = "about 0.8"
        data["clinical_drift"].update(polcy="set", waivers=[{"case": "a", "reason": "r", "signed_by": "s"}])  # type: ignore[dict-item]

    with pytest.raises(InputError) as caught:
        load_thresholds(changed(tmp_path, spoil))
    message = str(caught.value)
    for expected in ("did you mean breaches?", "recall_at_t10.pass: expected a comparison", "did you mean policy?"):
        assert expected in message
    assert "waivers 1: expires: required field is missing" in message
    assert message.count("line ") == 4
    assert message.count("limits.yaml") == 1


def test_a_floor_that_is_left_out_keeps_its_value(tmp_path: Path) -> None:
    """A project that raises one floor does not lose the other."""
    file = changed(tmp_path, lambda d: d["clinical_drift"]["judge"].update(floors={"sensitivity": 0.95}))
    assert load_thresholds(file).judge.floors == {
        "sensitivity": 0.95,
        "subtle": 0.75,
        "specificity": 0.98,
    }
    without = changed(tmp_path, lambda d: d["clinical_drift"].pop("judge"))
    assert load_thresholds(without).judge.floors == {
        "sensitivity": 0.85,
        "subtle": 0.75,
        "specificity": 0.98,
    }


def test_bare_numbers_are_limits_too(tmp_path: Path) -> None:
    """A bare number: PASS strictly beyond it, CAUTION down to and including it."""
    file = changed(tmp_path, lambda d: _metrics(d)["recall_at_t10"].update({"pass": 0.9, "caution": 0.6}))
    limits = load_thresholds(file).metrics["recall_at_t10"]
    assert [limits.band(value) for value in (0.91, 0.9, 0.6, 0.59)] == ["PASS", "CAUTION", "CAUTION", "FAIL"]


def test_foreign_thresholds_file_in_the_root_is_left_alone(tmp_path: Path) -> None:
    """A thresholds.yaml of some other tool does not count; ours does."""
    assert project_thresholds(tmp_path) is None
    (tmp_path / "thresholds.yaml").write_text("coverage: 80\n", encoding="utf-8")
    assert project_thresholds(tmp_path) is None
    (tmp_path / "thresholds.yaml").write_text(bundled("thresholds.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    assert project_thresholds(tmp_path) == tmp_path / "thresholds.yaml"


@pytest.mark.parametrize(
    ("text", "why"), [("clinical_drfit: {}\n", "did you mean clinical_drift?"), ("# later\n", "is empty")]
)
def test_a_misspelt_or_empty_file_is_no_other_tools(tmp_path: Path, text: str, why: str) -> None:
    """A gate that the project wrote is never dropped for the bundled one without a word."""
    (tmp_path / "thresholds.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=why.rstrip("?")):
        project_thresholds(tmp_path)


def test_waiver_is_void_after_its_day(tmp_path: Path) -> None:
    """A waiver counts up to and including its last day."""
    waiver = {"case": "a", "reason": "r", "signed_by": "s", "expires": datetime.date(2026, 5, 1)}
    (entry,) = load_thresholds(changed(tmp_path, lambda d: d["clinical_drift"].update(waivers=[waiver]))).waivers
    assert entry.holds_on(datetime.date(2026, 5, 1))
    assert not entry.holds_on(datetime.date(2026, 5, 2))


def test_severe_metrics_are_gated_also_where_a_file_leaves_them_out(tmp_path: Path) -> None:
    """An older file does not let a dangerous flip through."""
    older = load_thresholds(changed(tmp_path, lambda d: _metrics(d).pop("severe_contradictions")))
    assert older.metrics["severe_contradictions"].band(1.0) == "FAIL"
    adjacent = load_thresholds(changed(tmp_path, lambda d: _metrics(d).pop("k_conflict")))
    assert adjacent.metrics["k_conflict"].band(0.2) == "FAIL"
    assert load_thresholds().metrics.keys() == METRICS.keys()


def test_hard_stops_and_breaches_are_always_gated(tmp_path: Path) -> None:
    """A file that leaves them out gets them all the same; one that loosens them is refused."""

    def drop(data: dict[str, dict[str, dict[str, dict[str, object]]]]) -> None:
        for name in ("hard_stops", "breaches"):
            _metrics(data).pop(name)

    thresholds = load_thresholds(changed(tmp_path, drop))
    assert thresholds.metrics["hard_stops"].band(1.0) == "FAIL"
    assert thresholds.metrics["breaches"].band(1.0) == "FAIL"
    loosened = changed(tmp_path, lambda d: _metrics(d)["hard_stops"].update({"pass": "<= 9", "caution": "<= 9"}))
    with pytest.raises(InputError, match="hard_stops must keep its limits"):
        load_thresholds(loosened)


def test_limits_in_force_cannot_be_changed() -> None:
    """Every part of a run judges by the limits that were read."""
    limits = load_thresholds().metrics["recall_at_t10"]
    with pytest.raises(ValidationError, match="frozen"):
        limits.worst = "caution"  # type: ignore[misc]


def test_a_file_of_metrics_alone_gets_the_strict_rules(tmp_path: Path) -> None:
    """What a file does not say is decided on the careful side, as the documentation tells."""

    def bare(data: dict[str, dict[str, object]]) -> None:
        data["clinical_drift"] = {"metrics": data["clinical_drift"]["metrics"]}

    found = load_thresholds(changed(tmp_path, bare))
    assert (found.policy, found.open, found.waivers) == ("each-case", "unsettled", ())
    assert list(found.set.model_dump().values()) == ["interval", 0.95, 40, 0, 1.0]
    assert list(found.baseline.model_dump().values()) == [0.025, 0.05, 0.01, 0.03]
    floors = {"sensitivity": 0.85, "subtle": 0.75, "specificity": 0.98}
    assert list(found.judge.model_dump().values()) == [False, floors, 1, "auto", 1, 0.75, 0.03]


def test_the_fingerprint_follows_the_limits(tmp_path: Path) -> None:
    """The same limits have the same hash, other limits another one."""
    other = load_thresholds(changed(tmp_path, lambda d: _metrics(d)["recall_at_t10"].update({"pass": "> 0.85"})))
    assert load_thresholds().fingerprint() == load_thresholds().fingerprint()
    assert len({load_thresholds().fingerprint(), other.fingerprint()}) == 2
    assert len(other.fingerprint()) == 64


@pytest.mark.parametrize(
    ("limit", "holding", "not_holding"),
    [
        (Limit(">", 0.8), (0.81, 0.8 + 1e-8), (0.8, 0.8 + 1e-10, 0.79)),
        (Limit(">=", 0.8), (0.8, 0.8 - 1e-10, 0.81), (0.8 - 1e-8,)),
        (Limit("<", 0.05), (0.04, 0.05 - 1e-8), (0.05, 0.05 - 1e-10, 0.06)),
        (Limit("<=", 0.05), (0.05, 0.05 + 1e-10, 0.04), (0.05 + 1e-8,)),
        (Limit(">", 0.0), (2e-9,), (1e-9, -1e-9)),
    ],
)
def test_a_value_within_a_billionth_is_on_the_limit(
    limit: Limit, holding: tuple[float, ...], not_holding: tuple[float, ...]
) -> None:
    """What rounding may have moved counts as the limit itself, which only >= and <= include."""
    assert [value for value in holding if not limit.holds(value)] == []
    assert [value for value in not_holding if limit.holds(value)] == []


def limits(best: object, caution: object, direction: str = "higher") -> MetricLimits:
    return MetricLimits.model_validate({"direction": direction, "pass": best, "caution": caution, "why": "test"})


@pytest.mark.parametrize(
    ("direction", "best", "caution", "fits"),
    [
        ("higher", "> 0.8", ">= 0.8", True),
        ("higher", "> 0.8", "> 0.8", True),  # no band of CAUTION at all
        ("higher", ">= 0.8", ">= 0.8", True),
        ("higher", ">= 0.8", "> 0.8", False),
        ("higher", "> 0.8", "> 0.81", False),
        ("lower", "< 0.1", "<= 0.1", True),
        ("lower", "<= 0.1", "< 0.1", False),
        ("lower", "< 0.1", "< 0.09", False),
        ("lower", "≤ 0.1", "≤ 2e-1", True),
        ("higher", "≥ −0.01", ">= -0.05", True),
        ("higher", "> 0.8", "< 0.7", False),
        ("higher", True, "> 0.7", False),
        ("higher", "> 0.8 or so", "> 0.7", False),
        ("higher", (">", 0.8), [">=", 0.7], True),  # as JSON holds it
    ],
)
def test_bands_touch_or_are_refused(direction: str, best: object, caution: object, fits: bool) -> None:
    """No gap between PASS and CAUTION, the right way round, and nothing but comparisons and numbers."""
    if fits:
        assert limits(best, caution, direction).direction == direction
    else:
        with pytest.raises(ValidationError):
            limits(best, caution, direction)


def test_a_limit_is_written_as_it_was_read() -> None:
    """In the words of the file, without needless digits."""
    read = limits("≥ 0.80", -0.5)
    assert (str(read.pass_limit), str(read.caution_limit)) == (">= 0.8", ">= -0.5")
    lower = limits(0.1, 0.2, "lower")
    assert (str(lower.pass_limit), str(lower.caution_limit)) == ("< 0.1", "<= 0.2")


@pytest.mark.parametrize(
    ("section", "key", "refused", "accepted"),
    [
        ("set", "confidence", (0.5, 1, 0.4), (0.51, 0.99)),
        ("set", "min_cases", (0, -1), (1,)),
        ("set", "max_failing_cases", (-1,), (0,)),
        ("set", "min_coverage", (0, 1.1), (0.01, 1)),
        ("baseline", "alpha", (0, 0.5), (0.001, 0.49)),
        ("baseline", "margin", (0, 1), (0.001, 0.99)),
        ("baseline", "slope_margin", (0, 1), (0.001, 0.99)),
        ("baseline", "conflict_margin", (0, 1), (0.001, 0.99)),
        ("judge", "audit_bound", (0, 1.1), (0.001, 1)),
        (
            "judge",
            "floors",
            ({"specificity": 0}, {"specificity": 1.1}),
            ({"sensitivity": 1, "specificity": 1, "subtle": 1},),
        ),
    ],
)
def test_numbers_outside_their_range_are_refused(
    tmp_path: Path, section: str, key: str, refused: tuple[object, ...], accepted: tuple[object, ...]
) -> None:
    """The ends of each range, from both sides."""

    def loaded(value: object) -> Thresholds:
        put = {key: value}
        return load_thresholds(changed(tmp_path, lambda d: d["clinical_drift"].setdefault(section, {}).update(put)))

    for value in accepted:
        assert getattr(getattr(loaded(value), section), key) == value
    for value in refused:
        with pytest.raises(InputError, match=key):
            loaded(value)


@pytest.mark.parametrize("change", [{"pass": "< 0"}, {"caution": "<= 1"}, {"worst": "caution"}])
@pytest.mark.parametrize(
    "metric",
    [
        "hard_stops", "breaches", "severe_contradictions", "inventions", "harms", "courses", "misreported", "leaks",
        "appeals",
    ],
)  # fmt: skip
def test_no_part_of_the_limits_that_stop_a_release_may_be_changed(
    tmp_path: Path, metric: str, change: dict[str, str]
) -> None:
    """Neither tightened nor eased nor capped, of anything severe; written out as they are, they are accepted."""
    load_thresholds(changed(tmp_path, lambda d: _metrics(d)[metric].update({"pass": "<= 0", "caution": "<= 0"})))
    with pytest.raises(InputError, match=f"{metric} must keep its limits"):
        load_thresholds(changed(tmp_path, lambda d: _metrics(d)[metric].update(change)))


def test_a_file_that_is_no_mapping_is_refused(tmp_path: Path) -> None:
    """A list, and nothing at all."""
    for text in ("- a\n", ""):
        (tmp_path / "limits.yaml").write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match="'clinical_drift' is missing"):
            load_thresholds(tmp_path / "limits.yaml")
    (tmp_path / "thresholds.yaml").write_text("note: clinical_drift is elsewhere\n", encoding="utf-8")
    assert project_thresholds(tmp_path) is None


@pytest.mark.parametrize(
    ("metric", "change", "expected"),
    [
        ("recall_at_t10", {"pass": "> 80", "caution": ">= 70"}, "no value can keep '> 80'"),
        ("recall_at_t10", {"pass": "> 80", "caution": ">= 70"}, "did you mean 0.8?"),
        ("recall_at_t10", {"pass": "> 100"}, "did you mean 1?"),
        ("recall_at_t10", {"pass": "> 1"}, "no value can keep '> 1'"),
        ("recall_at_t10", {"pass": ">= 1"}, ""),
        ("recall_at_t10", {"caution": ">= 0"}, "every value keeps '>= 0'"),
        ("recall_at_t10", {"caution": ">= 0"}, "worst: caution"),
        ("recall_at_t10", {"caution": ">= 0", "worst": "caution"}, ""),
        ("recall_at_t10", {"caution": "> 0"}, ""),
        ("recall_at_t10", {"pass": ">= 0", "caution": ">= 0", "worst": "caution"}, "pass: every value keeps"),
        ("k_conflict", {"pass": "< 0"}, "no value can keep '< 0'"),
        ("k_conflict", {"caution": "<= 1"}, "every value keeps '<= 1'"),
        ("drift_slope", {"caution": ">= -1"}, "every value keeps '>= -1'"),
        ("drift_slope", {"caution": "> -1"}, ""),
        ("stale_facts", {"pass": "< 0"}, "no value can keep '< 0': it is 0 or more"),
        ("stale_facts", {"caution": "<= 1000"}, ""),
        ("recall_at_t10", {"direction": "lower", "pass": "< 0.8", "caution": "<= 0.9"}, "higher is better"),
        ("k_conflict", {"direction": "higher", "pass": "> 0.8", "caution": ">= 0.1"}, "lower is better"),
    ],
)
def test_limits_that_decide_nothing_are_refused(
    tmp_path: Path, metric: str, change: dict[str, str], expected: str
) -> None:
    """What every possible value keeps, or none, is a slip of the pen; the ends of the range themselves decide."""
    file = changed(tmp_path, lambda d: _metrics(d)[metric].update(change))
    if not expected:
        limits = load_thresholds(file).metrics[metric]
        read = {"pass": str(limits.pass_limit), "caution": str(limits.caution_limit), "worst": str(limits.worst)}
        assert read | change == read
        return
    with pytest.raises(InputError) as caught:
        load_thresholds(file)
    assert expected in str(caught.value)


def test_what_stands_although_left_out_is_told(tmp_path: Path) -> None:
    """Those that the file names itself are not."""
    assert "breaches" not in load_thresholds().implied_metrics
    assert load_thresholds(changed(tmp_path, lambda d: _metrics(d).pop("breaches"))).implied_metrics == ["breaches"]


@pytest.mark.parametrize(
    ("metric", "change", "expected"),
    [
        ("auc", {"pass": "> 50", "caution": "> 40"}, "slate.metrics.auc.pass: no value can keep '> 50'"),
        ("auc", {"pass": ">= 1", "caution": "> 0"}, ""),
        ("enrichment_vs_random_high", {"pass": ">= 0", "caution": ">= 0"}, "every value keeps '>= 0': it is 0 or more"),
        ("hit_at_50_lift", {"pass": "> 40", "caution": "> 0"}, ""),
        ("score_gap", {"pass": "> -70", "caution": "> -80"}, ""),
    ],
)
def test_limits_of_slates_that_decide_nothing_are_refused(
    tmp_path: Path, metric: str, change: dict[str, str], expected: str
) -> None:
    """Rates and ratios have their ends; of a ranker's scores nobody knows them."""
    file = changed(tmp_path, lambda d: d["clinical_drift"]["slate"]["metrics"][metric].update(change))
    if not expected:
        slate = load_thresholds(file).slate
        assert slate is not None
        assert metric in slate.metrics
        return
    with pytest.raises(InputError) as caught:
        load_thresholds(file)
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda metrics: metrics.update(fame=next(iter(metrics.values()))), "unknown slate metric 'fame'"),
        (lambda metrics: metrics.pop(PRIMARY), f"metric {PRIMARY} is missing; without it"),
    ],
)
def test_limits_of_slates_are_known_and_hold_the_primary_one(tmp_path: Path, change: object, expected: str) -> None:
    """Whatever else a project gates, mere fame does not pass."""
    file = changed(tmp_path, lambda d: change(d["clinical_drift"]["slate"]["metrics"]))  # type: ignore[operator]
    with pytest.raises(InputError, match=expected):
        load_thresholds(file)
