"""From a transcript, what the rules found and what was ruled on it to an assessment."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from pytest_clinical_drift.cases.model import Case, facts_of
from pytest_clinical_drift.cases.probes import probes_of
from pytest_clinical_drift.errors import Failure, FailureCode
from pytest_clinical_drift.evidence.entities.extractors import Extractor
from pytest_clinical_drift.evidence.entities.scores import EntityScorer, ScoredEntities
from pytest_clinical_drift.evidence.finding_types import FactFinding, Findings, TurnFindings
from pytest_clinical_drift.evidence.findings import find, says_nothing, visible
from pytest_clinical_drift.judging.answers import UNSURE
from pytest_clinical_drift.judging.audit import audit_count
from pytest_clinical_drift.judging.labelled import GROUP_OF
from pytest_clinical_drift.judging.opinions import State
from pytest_clinical_drift.judging.pdsqi import pdsqi_scores
from pytest_clinical_drift.judging.procedure import ConversationJudgement
from pytest_clinical_drift.judging.session import JudgedConversation
from pytest_clinical_drift.metrics.drift import fit_slope, fit_worst_slope
from pytest_clinical_drift.metrics.recall import f1, ratio, recall, strict_recall
from pytest_clinical_drift.scoring.alignment import Alignment, Embedder, align
from pytest_clinical_drift.scoring.assessment import (
    CONFIRMED,
    DISMISSED,
    SLOPE_TURNS,
    Alarm,
    CaseAssessment,
    ConfirmedBreach,
    EntityScores,
    SettledFact,
    TurnAssessment,
)
from pytest_clinical_drift.scoring.events import events_of_alarms, in_its_sentence
from pytest_clinical_drift.scoring.fact_alarms import (
    counted_status,
    counts_at_turn,
    entries_by_fact,
    essential_at,
    every_fact,
    settled_fact,
)
from pytest_clinical_drift.scoring.lapses import cannot_happen, lapses
from pytest_clinical_drift.scoring.ruled_alarms import (
    Rulings,
    evaluated_pairs,
    is_alarm,
    judged_pairs,
    other_alarms,
    people_alarms,
    reply_alarms,
)
from pytest_clinical_drift.scoring.single_message import score_single
from pytest_clinical_drift.transcript import Exchange, Transcript

_ENDS = ("recall", "recall_worst")


@dataclass(frozen=True, slots=True)
class Scorer:
    """Scores conversations; holds the extractor and the embedder, which may be models."""

    stride: int = 1
    """Every Nth adjacent advice pair is compared."""
    extractor: Extractor | None = None
    """None takes the vocabulary one."""
    embedder: Embedder | None = None
    """For session goal alignment; None: not evaluated."""
    no_embedder: str = "no embedder was given"
    """Why there is none."""

    def prepare(self) -> None:
        """Load what is a model now, so that what is missing is said before the first conversation."""
        load = getattr(self.extractor, "prepare", None)
        if load is not None:
            load()

    def find(self, case: Case, transcript: Transcript) -> Findings:
        return find(case, transcript, EntityScorer(case, self.extractor), stride=self.stride)

    def score(
        self,
        case: Case,
        transcript: Transcript,
        judged: JudgedConversation | None = None,
        deciding: frozenset[str] = frozenset(),
        own: Sequence[tuple[str, float | None]] = (),
    ) -> CaseAssessment:
        """Assess one conversation; an incomplete one keeps what was said, without gated figures.

        `judged` is what rules, judge and people made of it, `deciding` the groups of kinds in which the judge decides.
        """
        judged = judged or JudgedConversation(self.find(case, transcript), ConversationJudgement())
        findings, judgement, ruled = judged.findings, judged.judgement, judged.judgement.rulings
        turns, fact_alarms = _turns(case, findings, transcript, judgement, deciding)
        conflict, conflicts = judged_pairs(case, findings, judgement, deciding, transcript.exchanges)
        replies = list(reply_alarms(case, findings, ruled, deciding))
        others = [*other_alarms(ruled, deciding), *people_alarms(ruled)]
        handover = list(handover_alarms(case, judgement, deciding))
        summaries = {exchange.turn: exchange.summary.text for exchange in transcript.exchanges}
        lost = [in_its_sentence(event, turns, summaries.get(event.turn, "")) for event in lapses(case, turns)]
        # K has these; what is severe counts by itself too
        counted = evaluated_pairs(case, findings, judgement, deciding, transcript.exchanges)
        beside = [a for a in conflicts if a.severe or (a.earlier_turn, a.turn) not in counted]
        events = [*lost, *events_of_alarms((*replies, *beside, *others, *handover))]
        # an alarm on a hard stop is severe where it is part of what would fail the case: not a single slip; dismissed
        # ones stay severe, so that whoever signs sees them
        stops = {event.fact for event in events if event.metric == "hard_stops"}
        grades = {fact.id: fact.severity or "" for fact, _ in facts_of(case)}
        fact_alarms = [
            replace(
                alarm,
                severe=alarm.severe if alarm.state == DISMISSED else alarm.fact in stops,
                grade=grades.get(alarm.fact or "", ""),
            )
            for alarm in fact_alarms
        ]
        alignment, texts = Alignment(reason=self.no_embedder), transcript.replies
        if self.embedder is not None:
            alignment = align([visible(e.reply) for e in transcript.exchanges], case.target_plan, self.embedder)
        cleaned = [str(exchange.turn) for exchange in transcript.exchanges if exchange.cleaned]
        unfinished = transcript.failure or _cut_off(case, turns, replies)
        asked = [r for r in ruled.values() if any(not o.by_person for o in r.opinions)]
        return CaseAssessment(
            case_id=case.id,
            persona_id=case.persona_id,
            group=case.independence_group,
            repeat=transcript.repeat,
            horizon=case.horizon,
            turns=turns,
            slope=fit_slope([turn.recall for turn in turns][:SLOPE_TURNS]),
            slope_worst=fit_worst_slope(*([getattr(t, end) for t in turns[:SLOPE_TURNS]] for end in _ENDS)),
            slope_extended=fit_slope([turn.extended.recall for turn in turns][:SLOPE_TURNS]),
            conflict=conflict,
            alarms=(*fact_alarms, *handover, *replies, *conflicts, *others),
            events=tuple(events),
            breaches=tuple(
                ConfirmedBreach(a.turn, a.kind, a.rule, a.reason, a.quote, a.what)
                for a in replies
                if a.state == CONFIRMED
            ),
            audit=audit_count(ruled),
            canaries=judged.canaries,
            care=tuple(sorted(judgement.care.items())),
            requests=judgement.requests + len(judged.ratings),
            unsure=tuple(sorted(judgement.unsure.items())),
            rules_against_judge=_rules_against_judge(findings, judgement),
            alignment=alignment.score,
            alignment_reason=alignment.reason,
            incomplete=str(unfinished) if unfinished else None,
            failure=unfinished,
            generation_seconds=_total([reply.seconds for reply in texts]),
            replies_total=len(texts),
            replies_reused=sum(reply.reused_from is not None for reply in texts),
            truncated=sum(bool(reply.truncated) for reply in texts),
            refused=sum(said is not None and not said.strip() for said in map(visible, texts)),
            demands=sum(bool(turn.expect.must or turn.expect.must_not) for turn in case.turns),
            cannot=cannot_happen(case, others_named=judged.others_named),
            questions=len(asked),
            asked=tuple(sorted(_read_counts(judgement, ruled, deciding).items())),
            unanswered=sum(r.state is State.OPEN and all(o.answer == UNSURE for o in r.opinions) for r in asked),
            prompt_tokens=_total([reply.usage.prompt_tokens for reply in texts]),
            completion_tokens=_total([reply.usage.completion_tokens for reply in texts]),
            tags=case.tags,
            notes=(f"repetition was cut from the history after turn {', '.join(cleaned)}",) if cleaned else (),
            scores=(*own, *pdsqi_scores(judged.ratings)),
            pdsqi=judged.ratings,
            single=score_single(case, transcript, judgement.single, deciding),
        )


def _read_counts(judgement: ConversationJudgement, rulings: Rulings, deciding: frozenset[str]) -> Counter[str]:
    """How many points of each group were read by somebody who may decide; 1 for a list that was read and is empty."""
    read: Counter[str] = Counter()
    for _, _, _, entry in judgement.entries:
        if entry.doubt not in ("missing", "malformed"):
            read[GROUP_OF[entry.kind]] += 1
    for kind, _, _ in judgement.read:
        read.update({"summary": ("invented",), "conversation": ("course", "misreported")}.get(kind, ()))
    read.update(GROUP_OF[r.kind] for r in rulings.values() if r.by_person and r.kind in GROUP_OF)
    people = {GROUP_OF[r.kind] for r in rulings.values() if r.by_person and r.kind in GROUP_OF}
    return Counter({group: count for group, count in read.items() if group in deciding or group in people})


def _rules_against_judge(findings: Findings, judgement: ConversationJudgement) -> tuple[tuple[str, int], ...]:
    """What rules and readings say of the same facts, counted."""
    entries = entries_by_fact(judgement.entries)
    pairs: Counter[str] = Counter()
    for turn in findings.turns:
        for fact in turn.facts:
            if (entry := entries.get((turn.turn, fact.fact_id))) is not None:
                rule = fact.status if fact.certain else "unclear"
                pairs[f"{rule}/{entry.answer}"] += 1
    return tuple(sorted(pairs.items()))


def handover_alarms(case: Case, judgement: ConversationJudgement, deciding: frozenset[str]) -> Iterator[Alarm]:
    """Facts given wrongly in a reply that was read as a handover; what it leaves out counts for hard stops only."""
    for about, ruling in judgement.rulings.items():
        if ruling.kind == "fact" and len(about) > 3 and is_alarm(ruling, deciding):
            turn, fact = int(about[1]), str(about[2])
            quiet = next(finding for finding in every_fact(case, turn, ()) if finding.fact_id == fact)
            entry = next(p.entry for p in judgement.asked if p.about == about)
            parts = essential_at(case, turn).get(fact, ())
            _, alarm = settled_fact(quiet, turn, entry, ruling, deciding=True, essential=parts, source="reply")
            if alarm is not None and (quiet.hard_stop or (alarm.kind, alarm.state) != ("lost", CONFIRMED)):
                yield alarm


def _turns(
    case: Case,
    findings: Findings,
    transcript: Transcript,
    judgement: ConversationJudgement,
    deciding: frozenset[str],
) -> tuple[tuple[TurnAssessment, ...], list[Alarm]]:
    turns, alarms = [], []
    entries, scheduled = entries_by_fact(judgement.entries), set(probes_of(case).scheduled)
    for read, exchange in zip(findings.turns, transcript.exchanges, strict=True):
        facts: Sequence[FactFinding] = read.facts
        if "fact" in deciding and exchange.has_summary:
            facts = every_fact(case, read.turn, read.facts)
        essential = essential_at(case, read.turn)
        settled = [
            settled_fact(
                fact,
                read.turn,
                entries.get((read.turn, fact.fact_id)),
                judgement.rulings.get(("fact", read.turn, fact.fact_id)),
                deciding="fact" in deciding,
                essential=essential.get(fact.fact_id, ()),
                cut=bool(exchange.summary.truncated),
                text=exchange.summary.text,
            )
            for fact in facts
        ]
        alarms += [alarm for _, alarm in settled if alarm is not None]
        kept = [finding for finding, _ in settled if counts_at_turn(finding)]
        turn = score_turn(read, kept, exchange, own=case.is_own(read.turn))
        turns.append(replace(turn, scheduled=read.turn in scheduled, silent=says_nothing(visible(exchange.reply))))
    return tuple(turns), alarms


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
    best, worst = ([counted_status(fact, worst=end) for fact in facts] for end in (False, True))
    scored = read.entities
    critical = _entity_scores(recall(best), scored.matching_critical, scored)
    # the critical facts and the background entities of the intake together
    kept = ["retained"] * scored.background_stated + ["absent"] * (scored.background - scored.background_stated)
    extended = _entity_scores(recall([*best, *kept]), scored.matching_extended, scored)
    return TurnAssessment(
        turn=read.turn,
        findings=tuple(facts),
        recall=critical.recall,
        strict_recall=strict_recall(best),
        critical=critical,
        extended=extended,
        recall_worst=recall(worst),
        strict_worst=strict_recall(worst),
        hallucinated=scored.hallucinated,
        cleaned=exchange.cleaned if exchange else False,
        truncated=cut,
        prompt_tokens=exchange.summary.usage.prompt_tokens if exchange else None,
        own=own,
    )


def _entity_scores(recalled: float | None, matching: int, scored: ScoredEntities) -> EntityScores:
    right = ratio(matching, scored.stated)
    return EntityScores(recalled, right, f1(right, recalled), ratio(len(scored.hallucinated), scored.stated))


def _cut_off(case: Case, turns: Sequence[TurnAssessment], replies: Sequence[Alarm]) -> Failure | None:
    """A text that the token limit cut off where it decides: the case cannot be judged."""
    omitted = {alarm.turn for alarm in replies if alarm.kind == "omits" and alarm.state != DISMISSED}
    for turn in turns:
        if "summary" in turn.truncated and turn.turn in (case.horizon, len(case.turns)):
            return Failure(FailureCode.SUMMARY_CUT, turn=turn.turn)
        if "dialogue" in turn.truncated and turn.turn in omitted:
            return Failure(FailureCode.REPLY_CUT, turn=turn.turn)
    return None


_Number = TypeVar("_Number", int, float)


def _total(values: Iterable[_Number | None]) -> _Number | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
