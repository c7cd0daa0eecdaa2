"""Reads the tables of a slate (Parquet, CSV, JSON Lines); a bad cell gets one sentence that names its row."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from pytest_clinical_drift.errors import InputError, MissingDependency
from pytest_clinical_drift.ranking.figure import Flags
from pytest_clinical_drift.verdict.slate_limits import TIERS

if TYPE_CHECKING:
    import polars as pl

SUFFIXES = (".parquet", ".csv", ".jsonl")
_TIER_ENDS = (10, 50)
"""Last rank of the high and of the moderate tier, where the tiers are not given."""

HIGH_SIGNAL = ("first_trial_seen", "phase_advanced", "fda_approved")
OUTCOME_TYPES = (*HIGH_SIGNAL, "status_transition")

LABELS = {"approved": 4, "phase4": 4, "phase3": 3, "phase2": 2, "phase1": 1, "negative": 0}
_NOTHING_KNOWN = frozenset({"", "false", "no", "none", "null", "nan", "unknown", "unlabeled", "unlabelled", "negative"})

_Cell = TypeVar("_Cell")


def load_polars() -> Any:
    """polars, or a sentence that says how to get it."""
    try:
        import polars
    except ImportError:
        raise MissingDependency(
            "slates are read with polars, which is not installed: pip install 'pytest-clinical-drift[ranking]'"
        ) from None
    return polars


class Table:
    """One file, read whole; columns are checked as they are taken."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.frame = _read(file)

    def __len__(self) -> int:
        return int(self.frame.height)

    def __contains__(self, name: str) -> bool:
        return name in self.frame.columns

    def require(self, *names: str) -> None:
        """Refuse a table without these columns."""
        missing = [name for name in names if name not in self]
        if missing:
            have = ", ".join(self.frame.columns[:12]) or "none"
            raise InputError(f"{self.file}: the column {' and '.join(missing)} is missing; the file has {have}")

    def first_of(self, *names: str) -> str | None:
        """Which of several accepted names this table uses."""
        return next((name for name in names if name in self), None)

    def where(self, keep: Any) -> Table:
        """The rows that `keep` marks, as a table of the same file."""
        part = object.__new__(Table)
        part.file, part.frame = self.file, self.frame.filter(keep)
        return part

    def text(self, name: str) -> pl.Series:
        """A column of non-empty text."""
        series = as_text(self.frame[name])
        empty = (series.is_null() | (series == "")).arg_true()
        if len(empty):
            raise self.fault(int(empty[0]), name, "is empty")
        return series

    def names(self, name: str) -> pl.Series:
        """A column of names in lower case: they match case-insensitively, and exactly otherwise."""
        return self.text(name).str.to_lowercase()

    def numbers(self, name: str) -> npt.NDArray[np.float64]:
        """A column of finite numbers."""
        polars = load_polars()
        series = self.frame[name]
        values = series.cast(polars.Float64, strict=False).fill_null(float("nan")).to_numpy()
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            raise self.fault(int(bad[0]), name, f"is {_shown(series[int(bad[0])])}, not a finite number")
        return np.asarray(values, dtype=np.float64)

    def cells(self, name: str, read: Callable[[str], _Cell], expected: str) -> list[_Cell | None]:
        """A column read cell by cell; each distinct text is read once, empty cells become None."""
        known: dict[str | None, _Cell | None] = {None: None, "": None}
        found: list[_Cell | None] = []
        for row, text in enumerate(as_text(self.frame[name]).to_list()):
            if text not in known:
                try:
                    known[text] = read(text)
                except ValueError:
                    raise self.fault(row, name, f"is {_shown(text)}, {expected}") from None
            found.append(known[text])
        return found

    def moments(self, name: str) -> list[datetime.datetime | None]:
        """A column of dates or time stamps, as UTC."""
        return self.cells(name, read_moment, "not a date such as 2026-02-09")

    def fault(self, row: int, name: str, problem: str) -> InputError:
        """The sentence for one bad cell; rows count from 1, without the header."""
        return InputError(f"{self.file}, row {row + 1}: {name} {problem}")


def find_table(folder: Path, stems: Sequence[str]) -> Path | None:
    """The one file of these names in the folder; two would leave open which one counts."""
    found = [file for stem in stems for suffix in SUFFIXES if (file := folder / f"{stem}{suffix}").is_file()]
    if len(found) > 1:
        raise InputError(f"{folder}: both {found[0].name} and {found[1].name} are there; keep one of the two")
    return found[0] if found else None


def read_moment(text: str) -> datetime.datetime:
    """A date or time stamp in ISO form; without a zone it is UTC."""
    moment = datetime.datetime.fromisoformat(text.strip())
    return moment.astimezone(datetime.UTC) if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)


def read_tier(text: str) -> int:
    """Position of a tier's name."""
    return TIERS.index(text.strip().lower())


def tier_of_rank(ranks: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """high up to rank 10, moderate up to 50, exploratory beyond."""
    return np.searchsorted(np.asarray(_TIER_ENDS), ranks, side="left").astype(np.int64)


def read_label(text: str) -> int:
    """A grade 0 to 4, or its name."""
    plain = text.strip().lower().replace(" ", "").replace("_", "")
    if plain in LABELS:
        return LABELS[plain]
    grade = float(plain)
    if grade not in (0, 1, 2, 3, 4):
        raise ValueError(text)
    return int(grade)


def known_flags(series: pl.Series) -> Flags:
    """Which pairs were known at freeze: true, or a record that names a label, a phase or an approval."""
    texts = as_text(series)
    reading = {text: _is_known(text or "") for text in texts.unique().to_list()}
    return np.fromiter((reading[text] for text in texts.to_list()), dtype=bool, count=len(texts))


def as_text(series: pl.Series) -> pl.Series:
    """A column as text, whatever type the file gave it."""
    polars = load_polars()
    kind = series.dtype
    if kind == polars.String:
        return series
    if isinstance(kind, polars.Struct):
        return series.struct.json_encode()
    if isinstance(kind, polars.Datetime):
        if kind.time_zone is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return series.cast(polars.Datetime("us")).dt.to_string("%Y-%m-%dT%H:%M:%S%.6f")
    return series.cast(polars.String, strict=False)


def _is_known(text: str) -> bool:
    plain = text.strip().lower()
    if not plain.startswith("{"):
        return plain not in _NOTHING_KNOWN and plain not in ("0", "0.0")
    try:
        record = json.loads(text)
    except ValueError:
        return True
    stated = [str(record.get(key) or "").strip().lower() for key in ("label", "max_phase", "first_approval")]
    if any(word not in _NOTHING_KNOWN and word not in ("0", "0.0") for word in stated):
        return True
    # in a labelled set without a stated label: known, unless the label is a negative one
    return stated[0] != "negative" and any(value is True for value in record.values())


def _read(file: Path) -> pl.DataFrame:
    polars = load_polars()
    try:
        if file.suffix == ".parquet":
            frame = polars.read_parquet(file)
        elif file.suffix == ".csv":
            frame = polars.read_csv(file, infer_schema=False, encoding="utf8")
        else:
            frame = polars.read_ndjson(file, infer_schema_length=None)
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror or error})") from None
    except polars.exceptions.PolarsError as error:
        raise InputError(f"{file}: not readable as {file.suffix[1:]} ({str(error).splitlines()[0]})") from None
    result: pl.DataFrame = frame.rename({name: name.strip().lstrip("\ufeff") for name in frame.columns})
    return result


def _shown(cell: object) -> str:
    text = "empty" if cell is None else repr(cell)
    return text if len(text) <= 60 else text[:57] + "…"
