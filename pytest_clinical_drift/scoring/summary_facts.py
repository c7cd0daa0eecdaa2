"""What each summary says of each fact once everybody was heard, the alarm on it, and the figures of the turn."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace

from pytest_clinical_drift.cases.model import Case, FactState, facts_at
from pytest_clinical_drift.cases.timeline import scheduled_turns
from pytest_clinical_drift.evidence.entities import ScoredEntities
from pytest_clinical_drift.evidence.facts.retention import Quote
from pytest_clinical_drift.evidence.findings import FactFinding, TurnFindings, find_facts, says_nothing, visible
from pytest_clinical_drift.judging.answers import UNSURE
from pytest_clinical_drift.judging.entries import Entry
from pytest_clinical_drift.judging.for_reviewers import JudgedConversation
from pytest_clinical_drift.judging.procedure import ConversationJudgement
from pytest_clinical_drift.judging.raised_points import confirming_rules
from pytest_clinical_drift.judging.readings import SINGLE
from pytest_clinical_drift.judging.rulings import ALARMING, Ruling, State
from pytest_clinical_drift.metrics.recall import f1, ratio, recall, strict_recall
from pytest_clinical_drift.scoring.assessment import (
    CONFIRMED,
    DISMISSED,
    OPEN,
    Alarm,
    AlarmKind,
    EntityScores,
    SettledFact,
    SingleFigures,
    TurnAssessment,
)
from pytest_clinical_drift.scoring.ruled_alarms import Rulings, is_alarm, rule_alarm, ruled_alarm
from pytest_clinical_drift.transcript import Exchange, Reply, Transcript

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
    found: Sequence[FactFinding],
    summary: Reply,
    entries: Mapping[tuple[int, str], Entry],
    rulings: Rulings,
    *,
    deciding: bool,
    source: str = "",
) -> tuple[list[SettledFact], list[Alarm]]:
    """The facts of a summary as they count, and the alarms on them; `source` where it is not that of the turn.

    Rules leave out what has ended and is not stated; a judge reads it too.
    """
    by_rules = {finding.fact_id: finding for finding in found}
    settled = [
        settled_fact(
            by_rules.get(state.fact.id) or _quiet(state),
            turn,
            entries.get((turn, state.fact.id)),
            rulings.get(("fact", turn, state.fact.id, *filter(None, [source]))),
            deciding=deciding,
            essential=state.fact.essential,
            cut=bool(summary.truncated),
            text=summary.text,
            source=source,
        )
        for state in facts_at(case, turn)
        if deciding or state.fact.id in by_rules
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


def _quiet(state: FactState) -> FactFinding:
    """A fact of which rules say nothing."""
    fact = state.fact
    return FactFinding(fact.id, fact.text, "retained", "", (), fact.hard_stop, replaced=state.superseded)


def handover_alarms(case: Case, judgement: ConversationJudgement, deciding: frozenset[str]) -> Iterator[Alarm]:
    """Facts given wrongly in a reply that was read as a handover; what it leaves out counts for hard stops only."""
    for about, ruling in judgement.rulings.items():
        if ruling.kind == "fact" and len(about) > 3 and is_alarm(ruling, deciding):
            turn = int(about[1])
            state = next(state for state in facts_at(case, turn) if state.fact.id == about[2])
            entry = next(point.entry for point in judgement.asked if point.about == about)
            quiet, fact = _quiet(state), state.fact
            _, alarm = settled_fact(quiet, turn, entry, ruling, deciding=True, essential=fact.essential, source="reply")
            if alarm is not None and (fact.hard_stop or (alarm.kind, alarm.state) != (AlarmKind.LOST, CONFIRMED)):
                yield alarm


# ---- the figures of a turn


def entries_by_fact(judgement: ConversationJudgement) -> Mapping[tuple[int, str], Entry]:
    """What readings of summaries say of facts, by turn and fact."""
    wanted = ("summary", "fact", "")
    return {(turn, e.key): e for kind, turn, of, e in judgement.entries if (kind, e.kind, of) == wanted}


def score_turns(
    case: Case, transcript: Transcript, judged: JudgedConversation, deciding: frozenset[str]
) -> tuple[tuple[TurnAssessment, ...], list[Alarm]]:
    """The figures of every turn, and the alarms on facts in its summaries."""
    turns: list[TurnAssessment] = []
    alarms: list[Alarm] = []
    scheduled, rulings = set(scheduled_turns(len(case.turns))), judged.judgement.rulings
    entries = entries_by_fact(judged.judgement)
    for found, exchange in zip(judged.findings.turns, transcript.exchanges, strict=True):
        read = "fact" in deciding and exchange.has_summary
        kept, raised = settle_summary(case, found.turn, found.facts, exchange.summary, entries, rulings, deciding=read)
        alarms += raised
        turn = score_turn(found, kept, exchange, own=case.is_own(found.turn))
        turns.append(replace(turn, scheduled=found.turn in scheduled, silent=says_nothing(visible(exchange.reply))))
    return tuple(turns), alarms


def score_single(
    case: Case, transcript: Transcript, judgement: ConversationJudgement, deciding: frozenset[str]
) -> SingleFigures | None:
    """Recall, at both ends, of the summary of the same transcript given in one message.

    By rules where no judge that decides on facts has read it.
    """
    reply, judged = transcript.single, judgement.single
    if reply is None or reply.error is not None or not transcript.exchanges:
        return None
    turn, read = transcript.exchanges[-1].turn, judged is not None and "fact" in deciding
    found = find_facts(reply.text, facts_at(case, turn), case.language)
    entries = {(turn, entry.key): entry for entry in judged.entries} if judged is not None else {}
    rulings = dict(judged.rulings) if judged is not None else {}
    kept, _ = settle_summary(case, turn, found, reply, entries, rulings, deciding=read, source=SINGLE)
    best, worst = _at_both_ends(kept)
    return SingleFigures(turn, recall(best), recall(worst), read)


def score_turn(
    read: TurnFindings, facts: Sequence[SettledFact], exchange: Exchange | None = None, *, own: bool = True
) -> TurnAssessment:
    """The figures of one turn; a turn whose summary could not be had keeps its place, with nothing evaluated."""
    texts = (("dialogue", exchange.reply), ("summary", exchange.summary)) if exchange else ()
    cut = tuple(name for name, reply in texts if reply.truncated)
    if read.entities is None:
        nothing = EntityScores(None, None, None, None)
        probed = exchange is None or exchange.summary.asked
        return TurnAssessment(read.turn, (), None, None, nothing, nothing, truncated=cut, probed=probed, own=own)
    best, worst = _at_both_ends(facts)
    scored = read.entities
    critical = _entity_scores(recall(best), scored.matching_critical, scored)
    # the critical facts and the background entities of the intake together
    kept = ["retained"] * scored.background_stated + ["absent"] * (scored.background - scored.background_stated)
    return TurnAssessment(
        turn=read.turn,
        findings=tuple(facts),
        recall=critical.recall,
        strict_recall=strict_recall(best),
        critical=critical,
        extended=_entity_scores(recall([*best, *kept]), scored.matching_extended, scored),
        recall_worst=recall(worst),
        strict_worst=strict_recall(worst),
        hallucinated=scored.hallucinated,
        cleaned=exchange.cleaned if exchange else False,
        truncated=cut,
        prompt_tokens=exchange.summary.usage.prompt_tokens if exchange else None,
        own=own,
    )


def _at_both_ends(facts: Sequence[SettledFact]) -> tuple[list[str], list[str]]:
    """The statuses that count at the better end, where open alarms count for the model, and at the worse one."""

    def status(fact: SettledFact, *, worst: bool) -> str:
        counted = fact.counts(worst=worst)
        return _stated(fact.status) if counted is None else _status_of(AlarmKind(counted))

    return [status(fact, worst=False) for fact in facts], [status(fact, worst=True) for fact in facts]


def _entity_scores(recalled: float | None, matching: int, scored: ScoredEntities) -> EntityScores:
    right = ratio(matching, scored.stated)
    return EntityScores(recalled, right, f1(right, recalled), ratio(len(scored.hallucinated), scored.stated))
