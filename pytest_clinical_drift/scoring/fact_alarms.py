"""What each summary says of each fact once everybody was heard, and the alarm on it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace

from pytest_clinical_drift.cases.model import Case, facts_at
from pytest_clinical_drift.evidence.facts.retention import Quote
from pytest_clinical_drift.evidence.findings import FactFinding
from pytest_clinical_drift.judging.answers import UNSURE
from pytest_clinical_drift.judging.entries import Entry
from pytest_clinical_drift.judging.procedure import ConversationJudgement
from pytest_clinical_drift.judging.raised_points import confirming_rules
from pytest_clinical_drift.judging.rulings import ALARMING, Ruling, State
from pytest_clinical_drift.scoring.assessment import CONFIRMED, DISMISSED, OPEN, Alarm, AlarmKind, SettledFact
from pytest_clinical_drift.scoring.ruled_alarms import Rulings, is_alarm, rule_alarm, ruled_alarm
from pytest_clinical_drift.transcript import Reply

_ALARMS = {
    "absent": AlarmKind.LOST,
    "contradicted": AlarmKind.CONTRADICTED,
    "both": AlarmKind.CONTRADICTED,
    "stale": AlarmKind.STALE,
}
"""Kind of the alarm that a status or an answer raises."""
_NO_WORDS = "no-words"
"""The rule that finds no word of a fact, and leaves it open whether others state it."""
_NOTHING_FOUND = (_NO_WORDS, "unnamed", "emptied")


def settle_summary(
    case: Case,
    turn: int,
    facts: Sequence[FactFinding],
    summary: Reply,
    entries: Mapping[str, Entry],
    rulings: Rulings,
    *,
    deciding: bool,
    source: str = "",
) -> tuple[list[SettledFact], list[Alarm]]:
    """The facts of a summary as they count, and the alarms on them; `source` where it is not that of the turn."""
    essential = {state.fact.id: state.fact.essential for state in facts_at(case, turn)}
    settled = [
        settled_fact(
            fact,
            turn,
            entries.get(fact.fact_id),
            rulings.get(("fact", turn, fact.fact_id, *filter(None, [source]))),
            deciding=deciding,
            essential=essential.get(fact.fact_id, ()),
            cut=bool(summary.truncated),
            text=summary.text,
            source=source,
        )
        for fact in facts
    ]
    # what has ended counts only where it is stated as if it held
    kept = [fact for fact, _ in settled if fact.text not in fact.replaced or fact.alarm is not None]
    return kept, [alarm for _, alarm in settled if alarm is not None]


def settled_fact(
    finding: FactFinding,
    turn: int,
    entry: Entry | None,
    ruling: Ruling | None,
    *,
    deciding: bool,
    essential: Sequence[str] = (),
    cut: bool = False,
    text: str = "",
    source: str = "",
) -> tuple[SettledFact, Alarm | None]:
    """A fact's finding after all opinions, and its alarm.

    With a judge that decides facts the reading counts, and rules are one more reason to ask; without one, or with one
    below its floor, rules decide. What a summary that was cut off does not state stays open. `essential` are the parts
    without which the fact counts as lost.
    """
    read = entry if deciding else None
    if read is not None or (ruling is not None and ruling.by_person):
        status, alarm = _by_judge(finding, turn, entry, ruling, essential)
    else:
        status, alarm = _by_rules(finding, turn, ruling, essential)
    if alarm is not None:
        alarm = replace(alarm, source=source)
        if cut and (alarm.kind, alarm.state) == (AlarmKind.LOST, CONFIRMED) and alarm.settled_by != "person":
            alarm, status = replace(alarm, state=OPEN, settled_by=""), finding.status
    counted = alarm if alarm is not None and alarm.state != DISMISSED else None
    known = {item.name: getattr(finding, item.name) for item in fields(FactFinding)}
    known |= {"status": status, "stale": counted is not None and counted.kind == AlarmKind.STALE}
    if counted is not None:
        known["reason"] = counted.reason or finding.reason
    elif status == "retained":
        known["reason"] = ""
    if read is not None:
        quote = read.quote if counted is None else counted.quote
        start = text.find(quote)  # not found where it differs in layout
        known["quotes"] = (Quote(quote, start, start + len(quote) if start >= 0 else -1),) if quote else ()
    return SettledFact(**known, alarm=alarm.kind if alarm else None, state=alarm.state if alarm else ""), alarm


def _by_judge(
    finding: FactFinding, turn: int, entry: Entry | None, ruling: Ruling | None, essential: Sequence[str]
) -> tuple[str, Alarm | None]:
    """Its status and alarm as the readings and rulings have it; what nobody confirms counts as stated."""
    said = entry.answer if entry is not None else UNSURE
    if ruling is None or ruling.state is State.CLEARED:
        return _stated(said), None
    answer = ruling.answer if ruling.answer in _ALARMS else said
    kind = _ALARMS.get(answer) or (AlarmKind.STALE if finding.stale else _ALARMS.get(finding.status, AlarmKind.LOST))
    reason = finding.reason if finding.status in _ALARMS else ""
    if kind == AlarmKind.LOST and essential and (not reason or finding.rule in _NOTHING_FOUND):
        reason = _missing(essential)
    alarm = ruled_alarm(
        kind, turn, ruling, severe=finding.hard_stop, quote=ruling.quote or quoted(finding),
        reason=ruling.reason or reason, fact=finding.fact_id, finder=finding.rule if not finding.plain else "",
        what=finding.text,
    )  # fmt: skip
    if ruling.state is State.CONFIRMED:
        return _status_of(kind), alarm
    if ruling.state is State.DISMISSED:
        return _stated(ruling.answer), alarm if ruling.raised in ALARMING or ruling.by_person else None
    return _stated(said), alarm


def _by_rules(
    finding: FactFinding, turn: int, ruling: Ruling | None, essential: Sequence[str]
) -> tuple[str, Alarm | None]:
    raised = AlarmKind.STALE if finding.stale else _ALARMS.get(finding.status)
    if raised is None and finding.certain:
        return finding.status, None
    kind = raised or (AlarmKind.CONTRADICTED if finding.rule == "rival" else AlarmKind.LOST)
    sure = finding.certain and raised is not None and finding.rule in confirming_rules()
    alarm = rule_alarm(
        kind, turn, ruling, finding.rule, sure=sure, severe=finding.hard_stop, quote=quoted(finding),
        reason=_missing(essential) if essential and finding.rule == _NO_WORDS else finding.reason or "unclear",
        fact=finding.fact_id, what=finding.text,
    )  # fmt: skip
    return _status_of(kind) if sure else finding.status, alarm


def _stated(word: str) -> str:
    """The status of a fact without a confirmed alarm, from an answer or an earlier status."""
    return "partial" if word == "partial" else "retained"


def _status_of(kind: AlarmKind) -> str:
    """The status of a fact with a confirmed alarm."""
    return "absent" if kind == AlarmKind.LOST else "contradicted"


def quoted(finding: FactFinding) -> str:
    return " … ".join(quote.quote for quote in finding.quotes)


def _missing(essential: Sequence[str]) -> str:
    """Of a lost fact that may be there without an essential part; where rules saw that it is, their reason says so."""
    return f"not stated with its essential part{'s' if len(essential) > 1 else ''} ({', '.join(essential)})"


def every_fact(case: Case, turn: int, known: Sequence[FactFinding]) -> list[FactFinding]:
    """Every fact of a turn: rules leave out those that have ended and are not stated, a judge reads them too."""
    by_id = {fact.fact_id: fact for fact in known}
    facts = [(state.fact, state.superseded) for state in facts_at(case, turn)]
    return [
        by_id.get(fact.id) or FactFinding(fact.id, fact.text, "retained", "", (), fact.hard_stop, replaced=before)
        for fact, before in facts
    ]


def handover_alarms(case: Case, judgement: ConversationJudgement, deciding: frozenset[str]) -> Iterator[Alarm]:
    """Facts given wrongly in a reply that was read as a handover; what it leaves out counts for hard stops only."""
    for about, ruling in judgement.rulings.items():
        if ruling.kind == "fact" and len(about) > 3 and is_alarm(ruling, deciding):
            turn = int(about[1])
            fact = next(state.fact for state in facts_at(case, turn) if state.fact.id == about[2])
            (quiet,) = (finding for finding in every_fact(case, turn, ()) if finding.fact_id == fact.id)
            entry = next(point.entry for point in judgement.asked if point.about == about)
            _, alarm = settled_fact(quiet, turn, entry, ruling, deciding=True, essential=fact.essential, source="reply")
            if alarm is not None and (fact.hard_stop or (alarm.kind, alarm.state) != (AlarmKind.LOST, CONFIRMED)):
                yield alarm


def counted_status(fact: SettledFact, *, worst: bool) -> str:
    """The status that counts at an end: an open alarm counts for the model at the better one."""
    counted = fact.counts(worst=worst)
    return _stated(fact.status) if counted is None else _status_of(AlarmKind(counted))
