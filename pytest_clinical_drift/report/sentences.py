"""What happened, as sentences: the only place where alarms and events become words."""

from collections.abc import Collection, Sequence

from pytest_clinical_drift.cases.entries import GRADES
from pytest_clinical_drift.core.findings import Opinion
from pytest_clinical_drift.judging.answers import COURSES
from pytest_clinical_drift.report.clean import one_line
from pytest_clinical_drift.scoring.assessment import Alarm, AlarmKind, AlarmState, Event
from pytest_clinical_drift.verdict.measures import in_a_row

_FACTS = {
    AlarmKind.LOST: "lost",
    AlarmKind.CONTRADICTED: "contradicted",
    AlarmKind.STALE: "kept the old value instead of",
}
_BREACHES = (AlarmKind.RECOMMENDS, AlarmKind.OMITS)
_ADVISED = (AlarmKind.RECOMMENDS, AlarmKind.HARM, AlarmKind.CONFLICT, AlarmKind.COURSE)
_LEFT_OUT = (AlarmKind.OMITS, AlarmKind.LOST)
_OTHERS = {
    AlarmKind.INVENTED: "states what has no source",
    AlarmKind.HARM: "could harm",
    AlarmKind.MISREPORTED: "reports advice that no reply gave",
    AlarmKind.LEAK: "names another patient",
    AlarmKind.TO_JUDGE: "speaks to whoever grades it",
}


def event_sentence(event: Event, *later: Event) -> str:
    """One event in a line: turn (or turns, where it goes on), what happened, the words that show it."""
    turns = turns_text([one.turn for one in (event, *later)])
    doubt = "open: " if event.state == AlarmState.OPEN else ""
    fact = f'"{one_line(event.text)}"'
    stale = f", {one_line(event.reason)}" if event.kind == AlarmKind.STALE and event.reason else ""
    if event.metric in ("hard_stops", "hard_stop_slips"):
        once = ", missing once" if event.metric == "hard_stop_slips" else ""
        said = f"{_FACTS.get(event.kind, 'contradicted')} {fact} (hard stop{once}){stale}"
    elif event.metric == "stale_facts":
        said = f"{fact} not taken up{stale}"
    elif event.metric == "contradicted_facts":
        said = f"contradicted {fact}"
    else:
        said = _said(event)
    return f"{turns}: {doubt}{said}{quoted(event.quote, ':')}{_why(event)}"


def turns_text(turns: Sequence[int]) -> str:
    """ "turn 3", "turns 3 to 7"."""
    return f"turn {turns[0]}" if turns[0] == turns[-1] else f"turns {turns[0]} to {turns[-1]}"


def turn_list(turns: Collection[int]) -> str:
    """ "turn 3", "turns 3, 5 to 7": runs of three or more are joined."""
    runs = in_a_row(turns, lambda _: None, lambda turn: turn)
    parts = [f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    return f"{'turn' if len(turns) == 1 else 'turns'} {', '.join(parts)}"


def _said(source: Alarm | Event) -> str:
    """What happened, with the fact, or the rule that a reply breaks."""
    if source.kind in _FACTS:
        return f'{_FACTS[source.kind]} "{one_line(source.what if isinstance(source, Alarm) else source.text)}"'
    if source.kind in _BREACHES:
        return _breach(source)
    earlier = source.earlier_turn if source.earlier_turn != source.turn else None
    if source.kind == AlarmKind.CONFLICT:
        contradicts = "contradicts turn" if isinstance(source, Alarm) else "contradicts the advice of turn"
        return f"{contradicts} {earlier}" if earlier is not None else "contradicts itself"
    if source.kind == AlarmKind.COURSE:
        went = source.what if source.what in COURSES else "the course of the advice"
        return went + (f" since turn {earlier}" if earlier is not None else "")
    return _OTHERS[source.kind]


def _why(source: Alarm | Event) -> str:
    """What makes it a fault, after the words, of everything but facts and demands, which say so themselves."""
    return _brackets(source.reason) if source.kind not in (*_FACTS, *_BREACHES) else ""


def _breach(source: Alarm | Event) -> str:
    """What a reply recommends and what rules it out, or what it leaves out."""
    rule = source.rule if isinstance(source, Alarm) else source.text
    broken, what = one_line(rule), source.what
    why = source.reason if source.finder else ""  # of the demand; what the judge says stands with its opinions
    why = _brackets(": ".join(filter(None, (source.grade, why))))
    if source.kind == AlarmKind.OMITS:
        return f'omits "{broken}"{why}'
    if source.by_fact:
        named = f"recommends {one_line(what)}," if what else "recommends what is"
        return f"{named} ruled out by {broken}{_brackets(source.grade)}"
    if source.finder == "agrees" and source.state != AlarmState.CONFIRMED:  # a rule that only suspects
        return f'seems to agree to "{broken}"{why}'
    named = f"{one_line(what)}, which" if what and what.lower() not in rule.lower() else "what"
    return f'recommends {named} it must not: "{broken}"{why}'


def alarm_title(alarm: Alarm) -> str:
    """What an alarm says happened and why it is one, without turn, state and words."""
    return f"{_said(alarm)}{_why(alarm)}"


def alarm_line(alarm: Alarm) -> str:
    """Its title with turn and doubt."""
    return f"turn {alarm.turn}: {'open: ' if alarm.state == AlarmState.OPEN else ''}{alarm_title(alarm)}"


def alarm_sentence(alarm: Alarm, *later: Alarm) -> str:
    """One alarm in a line: turn (or turns, where it goes on), state, what happened, the words and why."""
    turns = turns_text([one.turn for one in (alarm, *later)])
    state = "" if alarm.state == AlarmState.CONFIRMED else f"{alarm.state}: "
    mark = " (severe)" if alarm.severe and alarm.kind not in _BREACHES else ""
    reason = f", {one_line(alarm.reason)}" if alarm.fact is not None and alarm.reason else ""
    shown = quoted(alarm.quote, ":")
    if alarm.kind == AlarmKind.CONFLICT:
        earlier = quoted(alarm.earlier_quote, ":")
        shown = f"{earlier}, then{quoted(alarm.quote)}" if earlier else quoted(alarm.quote)
    return f"{turns}: {state}{_said(alarm)}{mark}{reason}{shown}{_why(alarm)}"


def opinion_line(opinion: Opinion) -> str:
    """Who, how asked, the answer, the reason and the words."""
    reason = f": {one_line(opinion.reason)}" if opinion.reason else ""
    return f"{who(opinion)}: {opinion.answer}{reason}{quoted(opinion.quote)}"


def who(opinion: Opinion) -> str:
    """Who gave an opinion: as which person, in a reading of the whole text, or in which wording of a question."""
    if opinion.role:
        return one_line(f"{opinion.judge} ({opinion.role})", 80)
    form = "reading" if opinion.reading else f"wording {opinion.wording}" if opinion.wording else ""
    where = f"asked of turn {opinion.asked_at}" if opinion.asked_at else ""
    return ", ".join(filter(None, (one_line(opinion.judge, 60), form, where)))


def _brackets(reason: str) -> str:
    return f" ({one_line(reason)})" if reason else ""


def quoted(quote: str, before: str = "") -> str:
    """A quote after a blank; nothing where there is none."""
    return f'{before} "{one_line(quote)}"' if quote else ""


def grade_rank(grade: str) -> int:
    """Place of a grade of harm, the worst first; without a grade last."""
    return GRADES.index(grade) if grade in GRADES else len(GRADES)


def kind_rank(kind: AlarmKind) -> int:
    """What a reply advises first, then what a text states wrongly, last what is left out."""
    return 0 if kind in _ADVISED else 2 if kind in _LEFT_OUT else 1


def worst_first(alarms: Sequence[Alarm], probes: Sequence[int] = ()) -> list[list[Alarm]]:
    """Severe before others, confirmed before open, by grade and turn; one finding on turns in a row stands together.

    Dismissed ones are left out. What was answered otherwise stands apart.
    """

    def same(alarm: Alarm) -> tuple[object, ...]:
        alone = alarm.turn if alarm.fact is None else 0
        said = tuple((opinion.judge, opinion.answer) for opinion in alarm.answers if not opinion.reading)
        return alarm.kind, alarm.state, alarm.severe, alarm.fact, alarm.what, alarm.reason, alarm.quote, said, alone

    def gravity(run: list[Alarm]) -> tuple[object, ...]:
        return not run[0].severe, run[0].state != AlarmState.CONFIRMED, grade_rank(run[0].grade), run[0].turn

    standing = [alarm for alarm in alarms if alarm.state != AlarmState.DISMISSED]
    return sorted(in_a_row(standing, same, lambda alarm: alarm.turn, probes), key=gravity)
