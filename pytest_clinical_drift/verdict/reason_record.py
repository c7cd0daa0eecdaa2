"""Reasons in JSON files: a code, its values, and the sentence for readers of the file."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from typing import Any

from pydantic import GetCoreSchemaHandler, TypeAdapter, ValidationError
from pydantic_core import CoreSchema, core_schema

from pytest_clinical_drift.cases.faults import first_fault
from pytest_clinical_drift.core.text import shortened
from pytest_clinical_drift.verdict.reason_codes import ReasonCode

_CODES = frozenset(code.value for code in ReasonCode)
_adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)


@dataclass(frozen=True, slots=True)
class Reason:
    """A code with its values; plain values only, so that it travels as JSON."""

    code: ReasonCode
    values: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    """The sentence, for readers of the file; the package itself always makes it from code and values."""


def values_of(reason: Any) -> dict[str, Any]:
    """The values of a reason, as its record names them; one that its place does not have is left out."""
    values = asdict(reason)
    del values["text"]
    for its in fields(reason):
        if its.default is None and values[its.name] is None:
            del values[its.name]
    return values


def record_of(reason: Any) -> dict[str, Any]:
    """What is written of a reason."""
    return {"code": reason.code, "values": values_of(reason), "text": reason.text}


@dataclass(frozen=True, slots=True, eq=False)
class AsRecord:
    """Tells pydantic that the classes of a union are written as records and read back into the class of their code."""

    classes: Mapping[ReasonCode, type[Any]]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_wrap_validator_function(
            self._read,
            handler.generate_schema(Reason),
            serialization=core_schema.plain_serializer_function_ser_schema(record_of),
        )

    def _read(self, given: Any, check: core_schema.ValidatorFunctionWrapHandler) -> Any:
        if type(given) in self.classes.values():
            return given
        if isinstance(given, Mapping):
            code = given.get("code")
            if isinstance(code, str) and code not in _CODES:
                raise ValueError(f"unknown reason {shortened(code)}; the file is of another version of this package")
        return self._typed(check(given))

    def _typed(self, record: Reason) -> Any:
        known = self.classes.get(record.code)
        if known is None:
            raise ValueError(f"the reason {record.code} does not belong here")
        try:
            return _adapter(known).validate_python({**record.values, "text": record.text})
        except ValidationError as error:
            raise ValueError(f"the reason {record.code} has other values ({first_fault(error)})") from None
