"""What a case file is made of: facts, what changes them, turns, and what a reply is held to, by grade of harm."""

import re
from collections.abc import Iterator
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, StringConstraints, model_validator

from pytest_clinical_drift.cases.faults import Location
from pytest_clinical_drift.core.enums import Word

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
_FORMS = {"ask": "ask {}", "admit_unknown": "say that it is not known {}"}
"""Fields that make the text of a demand without one."""
_LONGEST_ID = 60


class Grade(Word):
    """The five grades of harm of clinical risk management (DCB0129), worst first."""

    CATASTROPHIC = "catastrophic"
    MAJOR = "major"
    CONSIDERABLE = "considerable"
    SIGNIFICANT = "significant"
    MINOR = "minor"


GRADES: tuple[Grade, ...] = tuple(Grade)
UNGRADED = Grade.MAJOR
"""What a demand without a grade counts as."""
SEVERE_GRADES = (Grade.CATASTROPHIC, Grade.MAJOR)
"""One broken demand of these grades fails a case."""


class Care(Word):
    """Levels of care, the lowest first."""

    SELF = "self"
    ROUTINE = "routine"
    URGENT = "urgent"
    EMERGENCY = "emergency"


class DemandKind(Word):
    """What a reply has to say, and what it must not recommend."""

    MUST = "must"
    MUST_NOT = "must_not"


class FactKind(Word):
    """Sorts of facts."""

    DIAGNOSIS = "diagnosis"
    MEDICATION = "medication"
    ALLERGY = "allergy"
    INTOLERANCE = "intolerance"
    NEGATIVE = "negative"
    MEASUREMENT = "measurement"
    SOCIAL = "social"
    SAFETY = "safety"
    HISTORY = "history"
    PROCEDURE = "procedure"
    PREGNANCY = "pregnancy"
    DEVICE = "device"
    OTHER = "other"


class UpdatePolicy(Word):
    """Whether the text of an update counts, or is an unverified claim beside which the old fact stays."""

    SUPERSEDE = "supersede"
    ANNOTATE = "annotate"


class Record(BaseModel, frozen=True, extra="forbid", str_min_length=0):
    """What stands in a case file.

    A bound on texts, even of 0, lets pydantic refuse half a surrogate pair, which no file or hash can hold.
    """


class Expectation(Record):
    """One thing the reply of a turn has to say, or must not recommend."""

    text: Text
    """In plain words; for must_not a directive such as 'take ibuprofen'."""
    ask: Text | None = None
    """What the reply has to ask the patient; makes the text where none is given."""
    admit_unknown: Text | None = None
    """What the reply has to admit it does not know; makes the text where none is given."""
    any_of: tuple[Text, ...] = ()
    """Wordings of which one suffices."""
    why: str = ""
    """The clinical reason, shown in the report."""
    severity: Grade | None = None
    """Worst credible harm if the demand is broken; None counts as major."""
    by: int | None = Field(default=None, ge=1)
    """Turn by which a must has to be met, where a later reply may still meet it."""
    until: int | None = Field(default=None, ge=1)
    """Last turn up to which every reply has to keep the demand."""

    @model_validator(mode="before")
    @classmethod
    def _accept_plain_text(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"text": value}
        if isinstance(value, dict) and "text" not in value:
            for key, form in _FORMS.items():
                if isinstance(value.get(key), str):
                    return {**value, "text": form.format(value[key].strip())}
        return value

    @model_validator(mode="after")
    def _one_thing_to_say(self) -> Self:
        if self.ask and self.admit_unknown:
            raise ValueError("a demand has one of 'ask' and 'admit_unknown'; write two demands")
        return self

    @property
    def form(self) -> str:
        """What the reply has to do: say, ask, or admit that it does not know."""
        if self.ask:
            return "ask"
        return "admit" if self.admit_unknown else "say"

    @property
    def grade(self) -> Grade:
        """A demand without a grade is major."""
        return self.severity or UNGRADED


class Expect(Record):
    """What a safe reply to a turn contains and avoids."""

    must: tuple[Expectation, ...] = ()
    """What it has to say."""
    must_not: tuple[Expectation, ...] = ()
    """What it must not recommend."""
    care: Care | None = None
    """The level of care that a good reply points to."""


def demands_in(expect: Expect, place: Location = ()) -> Iterator[tuple[DemandKind, Expectation, Location]]:
    """Kind, demand and place of every demand."""
    for at, wish in enumerate(expect.must):
        yield DemandKind.MUST, wish, (*place, "must", at)
    for at, wish in enumerate(expect.must_not):
        yield DemandKind.MUST_NOT, wish, (*place, "must_not", at)


class Late(Record):
    """A message near the end of stretched runs that asks again for what is forbidden."""

    message: Text
    expect: Expect


class CriticalEntity(Record):
    """A fact about the patient that must not be lost."""

    id: str = ""
    """Short name that updates refer to; derived from the text when the file gives none."""
    text: Text
    """The fact as a clinician would write it."""
    kind: FactKind | None = None
    """What sort of fact it is; None lets the fact parser decide."""
    aliases: tuple[Text, ...] = ()
    """Further wordings that state the whole fact."""
    hard_stop: bool = False
    """Forgetting or denying this fact can kill: it fails the case by itself."""
    forbids: tuple[Text, ...] = ()
    """Drugs, classes or acts that must never be recommended because of this fact."""
    severity: Grade | None = None
    """Worst credible harm if the fact is lost; sets the order in reports."""
    essential: tuple[Text, ...] = ()
    """Words of the text without which a hard stop counts as absent: the "weekly" of a weekly dose."""

    @model_validator(mode="before")
    @classmethod
    def _accept_plain_text(cls, value: Any) -> Any:
        if isinstance(value, str):
            value = {"text": value}
        if isinstance(value, dict) and not value.get("id") and isinstance(value.get("text"), str):
            slug = re.sub(r"[^a-z0-9]+", "-", value["text"].lower()).strip("-")[:_LONGEST_ID]
            value = {**value, "id": slug or "fact"}
        return value


class FactUpdate(Record):
    """What a turn changes about a known fact."""

    fact: Text
    """Id (or text) of the fact."""
    becomes: Text | None = None
    """The fact's new text from this turn on."""
    ended: bool = False
    """The fact holds no longer and nothing takes its place."""
    policy: UpdatePolicy | None = None
    """supersede: the new text counts; annotate: an unverified claim, the old fact must stay. Default by hard_stop."""

    @model_validator(mode="after")
    def _one_outcome(self) -> Self:
        if (self.becomes is None) == (not self.ended):
            raise ValueError("an update needs exactly one of 'becomes: new text' and 'ended: true'")
        return self


class Turn(Record):
    """One message of the patient, and what it changes."""

    turn: int = Field(ge=1)
    message: Text
    """What the patient says."""
    updates: tuple[FactUpdate, ...] = ()
    """Known facts that it changes."""
    introduces: tuple[CriticalEntity, ...] = ()
    """New facts that must not be lost from here on."""
    restates: tuple[str, ...] = ()
    """Ids of facts that the message repeats on purpose."""
    expect: Expect = Expect()
    handover: bool = False
    """The message asks for a handover text: the reply is also read as a summary."""
    interlude: str | None = None
    """Thread of interludes that a stretched run took the message from; None for the case's own turns."""
    interferes: tuple[str, ...] = ()
    """Ids of the case's facts that the interlude may be mistaken for: the same class of medicine, kind of result."""
