"""From a transcript, what the rules found and what was ruled on it to an assessment."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pytest_clinical_drift.cases.model import Case, facts_of
from pytest_clinical_drift.core.findings import Finding
from pytest_clinical_drift.core.words import Doubt, Kind, State, TextKind
from pytest_clinical_drift.errors import Failure, FailureCode
from pytest_clinical_drift.evidence.entities import EntityScorer, Extractor
from pytest_clinical_drift.evidence.findings import Findings, find, visible
from pytest_clinical_drift.judging.answers import UNSURE
from pytest_clinical_drift.judging.labelled import GROUP_OF
from pytest_clinical_drift.judging.opinions import audit_count
from pytest_clinical_drift.judging.pdsqi import pdsqi_scores
from pytest_clinical_drift.judging.procedure import ConversationJudgement
from pytest_clinical_drift.judging.session import JudgedConversation
from pytest_clinical_drift.metrics.horizon import early_slope
from pytest_clinical_drift.scoring import ruled_alarms
from pytest_clinical_drift.scoring.alignment import Embedder, align
from pytest_clinical_drift.scoring.assessment import (
    CONFIRMED,
    DISMISSED,
    Alarm,
    AlarmKind,
    CaseAssessment,
    ConfirmedBreach,
    Event,
    TurnAssessment,
)
from pytest_clinical_drift.scoring.events import cannot_happen, events_of_alarms, lapses
from pytest_clinical_drift.scoring.summary_facts import entries_by_fact, handover_alarms, score_single, score_turns
from pytest_clinical_drift.transcript import Transcript


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
        rules = judged.rules
        judgement = judged.judgement
        settled = judgement.findings
        turns, fact_alarms = score_turns(case, transcript, judged, deciding)
        pairs = ruled_alarms.evaluated_pairs(case, transcript, judged, deciding)
        replies = list(ruled_alarms.reply_alarms(case, rules, settled, deciding))
        conflicts = list(ruled_alarms.conflict_alarms(rules, settled, deciding))
        others = [*ruled_alarms.other_alarms(settled, deciding), *ruled_alarms.people_alarms(settled)]
        alarms = [*replies, *conflicts, *others]
        # a contradiction that K counts is an event only where it is severe
        beside_k = [alarm for alarm in conflicts if alarm.severe or (alarm.earlier_turn, alarm.turn) not in pairs]
        handover = list(handover_alarms(case, judgement, deciding))
        summaries = {exchange.turn: exchange.summary.text for exchange in transcript.exchanges}
        counted = (*replies, *beside_k, *others, *handover)
        events = (*lapses(case, turns, summaries), *events_of_alarms(counted))
        alignment, no_alignment = self._alignment(case, transcript)
        cleaned = [str(exchange.turn) for exchange in transcript.exchanges if exchange.cleaned]
        unfinished = transcript.failure or _cut_off(case, turns, alarms)
        asked = [finding for finding in settled.values() if any(not said.by_person for said in finding.opinions)]
        recalls = [turn.recall for turn in turns]
        return CaseAssessment(
            case_id=case.id,
            persona_id=case.persona_id,
            group=case.independence_group,
            repeat=transcript.repeat,
            t10_turn=case.t10_turn,
            turns=turns,
            slope=early_slope(recalls),
            slope_worst=early_slope(recalls, [turn.recall_worst for turn in turns]),
            slope_extended=early_slope([turn.extended.recall for turn in turns]),
            conflict=ruled_alarms.conflict_figures(pairs, conflicts, deciding, transcript),
            alarms=(*_with_severity(case, fact_alarms, events), *handover, *alarms),
            events=events,
            breaches=_confirmed_breaches(replies),
            audit=audit_count(settled.values()),
            canaries=judged.canaries,
            care=tuple(sorted(judgement.care.items())),
            requests=judgement.requests + len(judged.ratings),
            unsure=tuple(sorted(judgement.unsure.items())),
            rules_against_judge=_rules_against_judge(rules, judgement),
            alignment=alignment,
            alignment_reason=no_alignment,
            incomplete=str(unfinished) if unfinished else None,
            failure=unfinished,
            **_reply_counts(transcript),
            demands=sum(bool(turn.expect.must or turn.expect.must_not) for turn in case.turns),
            cannot=cannot_happen(case, others_named=judged.others_named),
            questions=len(asked),
            asked=_read_counts(judgement, deciding),
            unanswered=sum(map(_unanswered, asked)),
            tags=case.tags,
            notes=(f"repetition was cut from the history after turn {', '.join(cleaned)}",) if cleaned else (),
            scores=(*own, *pdsqi_scores(judged.ratings)),
            pdsqi=judged.ratings,
            single=score_single(case, transcript, judgement, deciding),
        )

    def _alignment(self, case: Case, transcript: Transcript) -> tuple[float | None, str]:
        """Session goal alignment, or why there is none."""
        if self.embedder is None:
            return None, self.no_embedder
        said = [visible(exchange.reply) for exchange in transcript.exchanges]
        return align(said, case.target_plan, self.embedder)


def _confirmed_breaches(replies: Iterable[Alarm]) -> tuple[ConfirmedBreach, ...]:
    confirmed = [alarm for alarm in replies if alarm.state == CONFIRMED]
    return tuple(ConfirmedBreach(a.turn, a.kind, a.rule, a.reason, a.quote, a.what) for a in confirmed)


def _with_severity(case: Case, alarms: Sequence[Alarm], events: Sequence[Event]) -> Iterator[Alarm]:
    """Alarms on facts with the fact's grade; severe are those that are part of a hard stop, not of a single slip.

    Dismissed ones stay severe, so that whoever signs sees them.
    """
    stops = {event.fact for event in events if event.metric == "hard_stops"}
    grades = {fact.id: fact.severity or "" for fact, _ in facts_of(case)}
    for alarm in alarms:
        severe = alarm.severe if alarm.state == DISMISSED else alarm.fact in stops
        yield replace(alarm, severe=severe, grade=grades.get(alarm.fact or "", ""))


def _reply_counts(transcript: Transcript) -> dict[str, Any]:
    """How many texts there are and what they cost, as fields of an assessment."""
    replies = transcript.replies
    said = [" ".join((visible(exchange.reply) or "").split()) for exchange in transcript.exchanges]
    return {
        "generation_seconds": _total(reply.seconds for reply in replies),
        "replies_total": len(replies),
        "replies_reused": sum(reply.reused_from is not None and not reply.resumed for reply in replies),
        "truncated": sum(bool(reply.truncated) for reply in replies),
        "refused": sum(said is not None and not said.strip() for said in map(visible, replies)),
        "repeated": sum(bool(text) and text in said[:place] for place, text in enumerate(said)),
        "prompt_tokens": _total(reply.usage.prompt_tokens for reply in replies),
        "completion_tokens": _total(reply.usage.completion_tokens for reply in replies),
    }


def _unanswered(finding: Finding) -> bool:
    """Whether the judge could not answer its question."""
    return finding.state is State.OPEN and all(opinion.answer == UNSURE for opinion in finding.opinions)


_LISTS = {TextKind.SUMMARY: (Kind.INVENTED,), TextKind.CONVERSATION: (Kind.COURSE, Kind.MISREPORTED)}
"""What a reading lists: 1 is counted for a list that was read and is empty."""


def _read_counts(judgement: ConversationJudgement, deciding: frozenset[str]) -> tuple[tuple[str, int], ...]:
    """How many entries of each group were read by somebody who may decide."""
    people = Counter(GROUP_OF[f.kind] for f in judgement.findings.values() if f.by_person and f.kind in GROUP_OF)
    read = Counter(people)
    for (kind, _, _), entries in judgement.read:
        read.update(GROUP_OF[entry.kind] for entry in entries if entry.doubt not in (Doubt.MISSING, Doubt.MALFORMED))
        if judgement.by_judge:
            read.update(GROUP_OF[listed] for listed in _LISTS.get(TextKind(kind), ()))
    return tuple(sorted((group, count) for group, count in read.items() if group in deciding or group in people))


def _rules_against_judge(rules: Findings, judgement: ConversationJudgement) -> tuple[tuple[str, int], ...]:
    """What rules and readings say of the same facts, counted."""
    entries = entries_by_fact(judgement)
    pairs: Counter[str] = Counter()
    for turn in rules.turns:
        for fact in turn.facts:
            entry = entries.get((turn.turn, fact.fact_id))
            if entry is not None:
                pairs[f"{fact.status if fact.certain else 'unclear'}/{entry.answer}"] += 1
    return tuple(sorted(pairs.items()))


def _cut_off(case: Case, turns: Sequence[TurnAssessment], alarms: Sequence[Alarm]) -> Failure | None:
    """A text that the token limit cut off where it decides: the case cannot be judged."""
    omitted = {alarm.turn for alarm in alarms if alarm.kind == AlarmKind.OMITS and alarm.state != DISMISSED}
    for turn in turns:
        if "summary" in turn.truncated and turn.turn in (case.t10_turn, len(case.turns)):
            return Failure(FailureCode.SUMMARY_CUT, turn=turn.turn)
        if "dialogue" in turn.truncated and turn.turn in omitted:
            return Failure(FailureCode.REPLY_CUT, turn=turn.turn)
    return None


_Number = TypeVar("_Number", int, float)


def _total(values: Iterable[_Number | None]) -> _Number | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
