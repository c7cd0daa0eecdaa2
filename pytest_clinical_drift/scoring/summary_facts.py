"""What each summary says of each fact after all opinions, the alarm on it, and the figures of the turn."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from pytest_clinical_drift.cases.model import Case, FactState, facts_at
from pytest_clinical_drift.cases.timeline import scheduled_turns
from pytest_clinical_drift.core.findings import Finding, FindingKey
from pytest_clinical_drift.core.words import Kind, State, TextKind, Word
from pytest_clinical_drift.evidence.entities import ScoredEntities
from pytest_clinical_drift.evidence.facts.retention import Quote
from pytest_clinical_drift.evidence.findings import FactFinding, TurnFindings, find_facts, says_nothing, visible
from pytest_clinical_drift.judging.answers import UNSURE
from pytest_clinical_drift.judging.due import confirming_rules
from pytest_clinical_drift.judging.entries import entry_of
from pytest_clinical_drift.judging.for_reviewers import JudgedConversation
from pytest_clinical_drift.judging.opinions import ALARMING, quote_of, reason_of
from pytest_clinical_drift.judging.procedure import ConversationJudgement
from pytest_clinical_drift.judging.readings import SINGLE
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
from pytest_clinical_drift.scoring.ruled_alarms import Settled, is_alarm, rule_alarm, ruled_alarm
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


@dataclass(frozen=True, slots=True)
class FactOpinions:
    """What readings and questions say of the facts of one conversation's summaries."""

    entries: Mapping[FindingKey, Finding]
    """What the readings say."""
    settled: Settled
    source: str = ""
    """Where the summary is not that of the turn."""


@dataclass(frozen=True, slots=True)
class FactText:
    """The text in which a fact was looked for."""

    turn: int
    text: str = ""
    cut: bool = False
    """The token limit cut it off."""
    essential: tuple[str, ...] = ()
    """The parts without which the fact counts as lost."""
    source: str = ""


def settle_summary(
    case: Case, turn: int, found: Sequence[FactFinding], summary: Reply, opinions: FactOpinions, *, deciding: bool
) -> tuple[list[SettledFact], list[Alarm]]:
    """The facts of a summary as they count, and the alarms on them.

    Rules leave out what has ended and is not stated; a judge reads it too.
    """
    by_rules = {finding.fact_id: finding for finding in found}
    kept: list[SettledFact] = []
    alarms: list[Alarm] = []
    for state in facts_at(case, turn):
        if not deciding and state.fact.id not in by_rules:
            continue
        key = FindingKey.of(Kind.FACT, turn, state.fact.id, source=opinions.source)
        where = FactText(turn, summary.text, bool(summary.truncated), state.fact.essential, opinions.source)
        fact, alarm = settled_fact(
            by_rules.get(state.fact.id) or _quiet(state),
            where,
            opinions.entries.get(key),
            opinions.settled.get(key),
            deciding=deciding,
        )
        if alarm is not None:
            alarms.append(alarm)
        # what has ended counts only where it is stated as if it held
        if fact.text not in fact.replaced or alarm is not None:
            kept.append(fact)
    return kept, alarms


def settled_fact(
    rule: FactFinding, where: FactText, entry: Finding | None, finding: Finding | None, *, deciding: bool
) -> tuple[SettledFact, Alarm | None]:
    """A fact after all opinions, and its alarm; `rule` is what rules say of it.

    With a judge that decides facts the reading counts, and rules are one more reason to ask; without one, or with one
    below its floor, rules decide. What a summary that was cut off does not state stays open.
    """
    read = entry if deciding else None
    if read is not None or (finding is not None and finding.by_person):
        status, alarm = _by_judge(rule, where, entry, finding)
    else:
        status, alarm = _by_rules(rule, where, finding)
    if alarm is not None:
        alarm = replace(alarm, source=where.source)
        if where.cut and _is_confirmed_loss(alarm) and alarm.settled_by != "person":
            alarm = replace(alarm, state=OPEN, settled_by="")
            status = rule.status
    return _as_settled(rule, where, read, status, alarm), alarm


def _is_confirmed_loss(alarm: Alarm) -> bool:
    return (alarm.kind, alarm.state) == (AlarmKind.LOST, CONFIRMED)


def _as_settled(
    rule: FactFinding, where: FactText, read: Finding | None, status: str, alarm: Alarm | None
) -> SettledFact:
    """A fact with its status, and with the reason and the quotation of what counts against it."""
    counted = alarm if alarm is not None and alarm.state != DISMISSED else None
    known = {item.name: getattr(rule, item.name) for item in fields(FactFinding)}
    known |= {"status": status, "stale": counted is not None and counted.kind == AlarmKind.STALE}
    if counted is not None:
        known["reason"] = counted.reason or rule.reason
    elif status == Word.RETAINED:
        known["reason"] = ""
    if read is not None:
        known["quotes"] = _placed(_quote(read) if counted is None else counted.quote, where.text)
    if alarm is None:
        return SettledFact(**known, alarm=None, state="")
    return SettledFact(**known, alarm=alarm.kind, state=alarm.state)


def _quote(entry: Finding) -> str:
    return entry.read.quote if entry.read is not None else ""


def _placed(quote: str, text: str) -> tuple[Quote, ...]:
    """A quotation with its place in the text; without one where it differs in layout."""
    start = text.find(quote)
    return (Quote(quote, start, start + len(quote) if start >= 0 else -1),) if quote else ()


def _by_judge(
    rule: FactFinding, where: FactText, entry: Finding | None, finding: Finding | None
) -> tuple[str, Alarm | None]:
    """Its status and alarm as readings and questions have it; what nothing confirms counts as stated."""
    said = entry.answer if entry is not None else UNSURE
    if finding is None or finding.state is State.CLEARED:
        return _stated(said), None
    kind = _kind_by_judge(rule, finding.answer if finding.answer in _ALARMS else said)
    alarm = ruled_alarm(
        kind,
        where.turn,
        finding,
        severe=rule.hard_stop,
        quote=quote_of(finding) or quoted(rule),
        reason=reason_of(finding) or _reason_by_rules(rule, where, kind),
        fact=rule.fact_id,
        finder=rule.rule if not rule.plain else "",
        what=rule.text,
    )
    if finding.state is State.CONFIRMED:
        return _status_of(kind), alarm
    if finding.state is State.DISMISSED:
        shown = finding.why in ALARMING or finding.by_person
        return _stated(finding.answer), alarm if shown else None
    return _stated(said), alarm


def _kind_by_judge(rule: FactFinding, answer: str) -> AlarmKind:
    """Kind of the alarm that an answer raises; where it raises none, as rules have it."""
    if answer in _ALARMS:
        return _ALARMS[answer]
    return AlarmKind.STALE if rule.stale else _ALARMS.get(rule.status, AlarmKind.LOST)


def _reason_by_rules(rule: FactFinding, where: FactText, kind: AlarmKind) -> str:
    """Why rules hold a fact to be stated wrongly, or which part of a lost one is essential."""
    reason = rule.reason if rule.status in _ALARMS else ""
    if kind == AlarmKind.LOST and where.essential and (not reason or rule.rule in _NOTHING_FOUND):
        return _missing(where.essential)
    return reason


def _by_rules(rule: FactFinding, where: FactText, finding: Finding | None) -> tuple[str, Alarm | None]:
    raised = AlarmKind.STALE if rule.stale else _ALARMS.get(rule.status)
    if raised is None and rule.certain:
        return rule.status, None
    kind = raised or (AlarmKind.CONTRADICTED if rule.rule == "rival" else AlarmKind.LOST)
    sure = rule.certain and raised is not None and rule.rule in confirming_rules()
    unstated = where.essential and rule.rule == _NO_WORDS
    alarm = rule_alarm(
        kind,
        where.turn,
        finding,
        rule.rule,
        sure=sure,
        severe=rule.hard_stop,
        quote=quoted(rule),
        reason=_missing(where.essential) if unstated else rule.reason or "unclear",
        fact=rule.fact_id,
        what=rule.text,
    )
    return _status_of(kind) if sure else rule.status, alarm


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
    entries = _fact_entries(judgement, source=TextKind.REPLY)
    for key, finding in judgement.findings.items():
        if key.kind is not Kind.FACT or not key.source or not is_alarm(finding, deciding):
            continue
        state = next(state for state in facts_at(case, key.turn) if state.fact.id == key.subject)
        fact = state.fact
        # nobody has read it where rules alone raised it: then it is as if it were stated
        entry = entries.get(key) or entry_of(key, None, Word.RETAINED)
        where = FactText(key.turn, essential=fact.essential, source=TextKind.REPLY)
        _, alarm = settled_fact(_quiet(state), where, entry, finding, deciding=True)
        if alarm is not None and (fact.hard_stop or not _is_confirmed_loss(alarm)):
            yield alarm


# ---- the figures of a turn


def entries_by_fact(judgement: ConversationJudgement) -> Mapping[tuple[int, str], Finding]:
    """What readings of summaries say of facts, by turn and fact."""
    return {(key.turn, key.subject): entry for key, entry in _fact_entries(judgement).items()}


def _fact_entries(judgement: ConversationJudgement, *, source: str = "") -> dict[FindingKey, Finding]:
    entries = {}
    for (kind, _, of), read in judgement.read:
        if kind == TextKind.SUMMARY and of == source:
            entries.update({entry.key: entry for entry in read if entry.kind is Kind.FACT})
    return entries


def score_turns(
    case: Case, transcript: Transcript, judged: JudgedConversation, deciding: frozenset[str]
) -> tuple[tuple[TurnAssessment, ...], list[Alarm]]:
    """The figures of every turn, and the alarms on facts in its summaries."""
    turns: list[TurnAssessment] = []
    alarms: list[Alarm] = []
    scheduled = set(scheduled_turns(len(case.turns)))
    opinions = FactOpinions(_fact_entries(judged.judgement), judged.judgement.findings)
    for found, exchange in zip(judged.rules.turns, transcript.exchanges, strict=True):
        read = "fact" in deciding and exchange.has_summary
        kept, raised = settle_summary(case, found.turn, found.facts, exchange.summary, opinions, deciding=read)
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
    reply = transcript.single
    judged = judgement.single
    if reply is None or reply.error is not None or not transcript.exchanges:
        return None
    turn = transcript.exchanges[-1].turn
    read = judged is not None and "fact" in deciding
    found = find_facts(reply.text, facts_at(case, turn), case.language)
    entries = {entry.key: entry for entry in judged.entries} if judged is not None else {}
    opinions = FactOpinions(entries, judged.findings if judged is not None else {}, source=SINGLE)
    kept, _ = settle_summary(case, turn, found, reply, opinions, deciding=read)
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
