"""Interludes: threads of messages on other matters, and the files that hold them."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, ValidationError, model_validator

from pytest_clinical_drift.cases.entries import Record, Text
from pytest_clinical_drift.cases.faults import describe_faults, placed
from pytest_clinical_drift.cases.files import case_files
from pytest_clinical_drift.core.enums import Word
from pytest_clinical_drift.core.files import read_text
from pytest_clinical_drift.core.packaged import bundled
from pytest_clinical_drift.core.parsing import parse_data
from pytest_clinical_drift.core.text import listed
from pytest_clinical_drift.errors import InputError


class ThreadType(Word):
    """What a thread is about."""

    NEUTRAL = "neutral"
    """An everyday matter."""
    PASTED = "pasted"
    """A long text."""
    INTERFERENCE = "interference"
    """Another person's medicines, results or allergies."""


class Thread(Record):
    """A few messages in a row on one matter that has nothing to do with the patient's own."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=120)]
    type: ThreadType
    about: Text
    """The matter in a few words, for those who choose."""
    person: Text | None = None
    """Whom an interference is about: a name, and who that is."""
    entries: tuple[Text, ...] = ()
    """What an interference says of that person: medicines with dose, results, allergies, conditions."""
    messages: Annotated[tuple[Text, ...], Field(min_length=3, max_length=8)]

    @model_validator(mode="after")
    def _about_another_person(self) -> Self:
        lacking = [name for name in ("person", "entries") if not getattr(self, name)]
        if self.type == ThreadType.INTERFERENCE and lacking:
            raise ValueError(f"an interference needs {listed(lacking)}")
        if self.type != ThreadType.INTERFERENCE and len(lacking) < 2:
            raise ValueError("person and entries belong to threads of type interference")
        return self


class _Bank(Record):
    threads: tuple[Thread, ...]


def load_interludes(path: Path | None = None) -> tuple[Thread, ...]:
    """All threads below a path, the bundled ones unless given; InputError with every fault of its first bad file."""
    threads: dict[str, tuple[Thread, Path]] = {}
    for file in case_files(path or bundled("cases", "interludes")):
        text = read_text(file)
        data = parse_data(file, text)
        if not isinstance(data, dict) or not isinstance(data.get("threads"), list):
            raise InputError(f"{file}: expected a list of threads under the key 'threads'")
        try:
            bank = _Bank.model_validate(data)
        except ValidationError as error:
            raise InputError(*describe_faults(file, text, error, _Bank)) from None
        for at, thread in enumerate(bank.threads):
            if thread.id in threads:
                again = f"the thread {thread.id!r} is also in {threads[thread.id][1]}; give it another id"
                raise InputError(f"{placed(file, text, ('threads', at))}: {again}")
            threads[thread.id] = (thread, file)
    return tuple(thread for thread, _ in threads.values())


def hash_interludes(bank: Iterable[Thread]) -> str:
    """A fingerprint of a bank's content, independent of file names and formatting."""
    digest = hashlib.sha256()
    for thread in sorted(bank, key=lambda thread: thread.id):
        digest.update(thread.model_dump_json().encode())
    return digest.hexdigest()
