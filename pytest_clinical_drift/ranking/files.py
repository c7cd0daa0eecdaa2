"""Reads a slate's files: its tables (Parquet, CSV, JSON Lines), where a bad cell gets one sentence that names its row,
and the manifest, which says when it was frozen, from which model, and by which hash it is known to be unchanged."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from pytest_clinical_drift.cases.faults import describe_faults
from pytest_clinical_drift.core.files import read_text
from pytest_clinical_drift.core.parsing import parse_data
from pytest_clinical_drift.core.text import cut
from pytest_clinical_drift.errors import InputError, not_loadable

if TYPE_CHECKING:
    import polars as pl

SUFFIXES = (".parquet", ".csv", ".jsonl")
MANIFEST = "manifest.json"
_PUBLIC_LIST = "slates.json"
_FORMAT = 1
_LABELS = {"approved": 4, "phase4": 4, "phase3": 3, "phase2": 2, "phase1": 1, "negative": 0}
_NOTHING_KNOWN = frozenset(
    {"", "0", "0.0", "false", "no", "none", "null", "nan", "unknown", "unlabeled", "unlabelled", "negative"}
)
_INSTALL = "pip install 'pytest-clinical-drift[ranking]'"
_ROW = "\0row"
"""Our own column: the row's number in the file, from 1, without the header."""

_Cell = TypeVar("_Cell")


@dataclass(frozen=True, slots=True)
class Table:
    """One file, read whole; columns are checked as they are taken."""

    file: Path
    frame: pl.DataFrame

    def __len__(self) -> int:
        return int(self.frame.height)

    def __contains__(self, name: str) -> bool:
        return name in self.frame.columns

    def require(self, *names: str) -> None:
        missing = [name for name in names if name not in self]
        if missing:
            have = ", ".join(name for name in self.frame.columns[:13] if name != _ROW) or "none"
            lacks = f"column {missing[0]} is" if len(missing) == 1 else f"columns {', '.join(missing)} are"
            raise InputError(f"{self.file}: the {lacks} missing; the file has {have}")

    def first_of(self, *names: str) -> str | None:
        """Which of several accepted names this table uses."""
        return next((name for name in names if name in self), None)

    def where(self, keep: pl.Series) -> Table:
        return replace(self, frame=self.frame.filter(keep))

    def text(self, name: str) -> pl.Series:
        series = as_text(self.frame[name])
        empty = (series.is_null() | (series == "")).arg_true()
        if len(empty):
            raise self.fault(empty[0], name, "is empty")
        return series

    def pairs(self) -> pl.DataFrame:
        """Disease and drug of every row in lower case: names match case-insensitively, and exactly otherwise."""
        names = {"disease": "disease_name", "drug": "drug_name"}
        return self.frame.select(**{short: self.text(name).str.to_lowercase() for short, name in names.items()})

    def numbers(self, name: str) -> pl.Series:
        column = self.frame[name]
        readable = column if column.dtype.is_numeric() else as_text(column)
        values = readable.cast(float, strict=False)
        bad = (~values.is_finite().fill_null(False)).arg_true()
        if len(bad):
            raise self.fault(bad[0], name, f"is {_shown(column[bad[0]])}, not a finite number")
        return values

    def cells(self, name: str, read: Callable[[str], _Cell], expected: str, dtype: Any) -> pl.Series:
        """A column read cell by cell; each distinct text is read once, empty cells become null."""
        texts = as_text(self.frame[name])
        known: dict[str, _Cell | None] = {"": None}
        for text in texts.unique(maintain_order=True).drop_nulls().to_list():
            try:
                known.setdefault(text, read(text) if text else None)
            except ValueError:
                raise self.fault((texts == text).arg_true()[0], name, f"is {_shown(text)}, {expected}") from None
        return texts.replace_strict(known, default=None, return_dtype=dtype)

    def moments(self, name: str) -> pl.Series:
        import polars as pl

        def read(text: str) -> datetime.datetime:
            return _as_utc(datetime.datetime.fromisoformat(text.strip()))

        return self.cells(name, read, "not a date such as 2026-02-09", pl.Datetime("us", "UTC"))

    def positions(self, name: str, names: Sequence[str], what: str) -> pl.Series:
        expected = f"not {what}; known ones: {', '.join(names)}"
        return self.cells(name, lambda text: names.index(text.strip().lower()), expected, int)

    def fault(self, row: int, name: str, problem: str) -> InputError:
        return InputError(f"{self.file}, row {self.frame[_ROW][row]}: {name} {problem}")


def find_table(folder: Path, stems: Sequence[str]) -> Table | None:
    """The one file of these names in the folder; two would leave open which one counts."""
    places = [folder / f"{stem}{suffix}" for stem, suffix in product(stems, SUFFIXES)]
    files = [file for file in places if file.is_file()]
    if len(files) > 1:
        raise InputError(f"{folder}: both {files[0].name} and {files[1].name} are there; keep one of the two")
    return read_table(files[0]) if files else None


def read_table(file: Path) -> Table:
    """The whole file; CSV as text, so that nothing is guessed."""
    try:
        import polars as pl
    except Exception as error:
        missing = f"slates are read with polars, which is not installed: {_INSTALL}"
        raise not_loadable("polars", error, missing, f"{_INSTALL} in an environment without scispacy") from error
    try:
        if file.suffix == ".parquet":
            frame = pl.read_parquet(file)
        elif file.suffix == ".csv":
            frame = pl.read_csv(file, infer_schema=False, encoding="utf8")
        else:
            frame = pl.read_ndjson(file, infer_schema_length=None)
        frame = frame.rename({name: name.strip().lstrip("\ufeff") for name in frame.columns})  # may make two alike
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror or error})") from None
    except pl.exceptions.PolarsError as error:
        raise InputError(f"{file}: not readable as {file.suffix[1:]} ({str(error).splitlines()[0]})") from None
    return Table(file, frame.with_row_index(_ROW, offset=1))


def read_label(text: str) -> int:
    plain = text.strip().lower().replace(" ", "").replace("_", "")
    grade = float(_LABELS.get(plain, plain))
    if grade not in _LABELS.values():
        raise ValueError(text)
    return int(grade)


def is_known(text: str) -> bool:
    """Whether a pair was known at freeze: true, or a record that names a label, a phase or an approval.

    What cannot be read counts as known, the careful side.
    """
    if not text.strip().startswith("{"):
        return text.strip().lower() not in _NOTHING_KNOWN
    try:
        record = json.loads(text)
    except ValueError:
        return True
    stated = [str(record.get(key) or "").strip().lower() for key in ("label", "max_phase", "first_approval")]
    if not _NOTHING_KNOWN.issuperset(stated):
        return True
    # in a labelled set without a stated label: known, unless the label is a negative one
    return stated[0] != "negative" and any(value is True for value in record.values())


def as_text(series: pl.Series) -> pl.Series:
    import polars as pl

    if isinstance(series.dtype, pl.Struct):
        return series.struct.json_encode()
    if isinstance(series.dtype, pl.Datetime):
        return series.dt.to_string("iso:strict")
    if series.dtype.is_nested():
        cells = [None if cell is None else str(cell) for cell in series.to_list()]
        return pl.Series(series.name, cells, dtype=pl.String)
    return series.cast(pl.String, strict=False)


def _shown(cell: object) -> str:
    return "empty" if cell is None else cut(repr(cell))


def _as_utc(moment: datetime.datetime) -> datetime.datetime:
    """A time in UTC, which it also is without a zone."""
    return moment.astimezone(datetime.UTC) if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)


class SlateManifest(BaseModel, frozen=True, coerce_numbers_to_str=True):
    """One slate's record; what others have added to it is left aside."""

    file: Annotated[Path, Field(exclude=True)]
    slate_id: Annotated[str, Field(min_length=1)]
    created_at: Annotated[datetime.datetime, AfterValidator(_as_utc)]
    model_version: str = ""
    parameters: dict[str, Any] = {}
    n_predictions: int | None = None
    """How many predictions there were, where it is told."""
    files: dict[str, str] = {}
    """Name to SHA-256 of every file that was frozen; empty for registries of others, which carry no such hash."""
    sha256: str | None = None
    """Hash of all of the above."""

    def as_json(self) -> dict[str, Any]:
        return {"format": _FORMAT, **self.model_dump(), "created_at": self.created_at.isoformat()}

    def content_hash(self) -> str:
        """SHA-256 over id, time, model, parameters and the hashes of the files."""
        content = {name: value for name, value in self.as_json().items() if name != "sha256"}
        canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(canonical.encode()).hexdigest()


def read_manifests(folder: Path) -> dict[str, SlateManifest]:
    """Slate id to its record: our manifest, or the public registry's list; empty when the folder has neither."""
    places = (folder / MANIFEST, folder / _PUBLIC_LIST)
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        return {}
    text = read_text(file)
    data = parse_data(file, text)
    manifests: dict[str, SlateManifest] = {}
    for entry in data if isinstance(data, list) else [data]:
        if not isinstance(entry, dict):
            raise InputError(f"{file}: expected a record with slate_id and created_at, found {type(entry).__name__}")
        try:
            manifest = SlateManifest.model_validate({**entry, "file": file})
        except ValidationError as error:
            raise InputError(describe_faults(file, text, error, SlateManifest)[0]) from None
        manifests[manifest.slate_id] = manifest
    return manifests
