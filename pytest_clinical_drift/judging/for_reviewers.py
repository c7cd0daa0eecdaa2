"""What people settle: alarms that they review, and text that addresses a grader or names another patient."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.core.findings import Finding
from pytest_clinical_drift.core.log import Answer
from pytest_clinical_drift.core.words import Kind, State, Why
from pytest_clinical_drift.evidence.findings import Findings, visible
from pytest_clinical_drift.judging.canaries import CanaryResult
from pytest_clinical_drift.judging.due import ByRules, TextRead, all_due, raises_of
from pytest_clinical_drift.judging.entries import unread_entries
from pytest_clinical_drift.judging.labelled import GROUP_OF
from pytest_clinical_drift.judging.opinions import with_people
from pytest_clinical_drift.judging.pdsqi import Rating
from pytest_clinical_drift.judging.procedure import ConversationJudgement
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.readings import messages_of, readings_of, windows_of
from pytest_clinical_drift.judging.reviews import Reviews
from pytest_clinical_drift.transcript import Transcript


@dataclass(frozen=True, slots=True)
class JudgedConversation:
    """A conversation after rules, judge and people."""

    rules: Findings
    """What the rules found."""
    judgement: ConversationJudgement
    """Without a judge: what the rules raised, with nobody's answer."""
    canaries: tuple[CanaryResult, ...] = ()
    ratings: tuple[Rating, ...] = ()
    others_named: bool = False
    """The full name of another patient of the set is known, and was looked for."""
    answers: tuple[Answer, ...] = ()
    """Every answer of the judges, as the log keeps it."""
    canary_answers: tuple[Answer, ...] = ()
    """Those about texts with inserted faults."""


def with_reviews(judged: JudgedConversation, reviews: Reviews) -> JudgedConversation:
    """A conversation once people were heard."""
    judgement = judged.judgement
    findings = dict(judgement.findings)
    for key, finding in judgement.findings.items():
        opinions = reviews.on(finding.question)
        if opinions:
            findings[key] = with_people(finding, opinions)
    return replace(judged, judgement=replace(judgement, findings=findings))


def heard(
    judged: JudgedConversation, reviews: Reviews, severe: Collection[str], *, people_to_dismiss: int
) -> JudgedConversation:
    """A conversation once a run's own reviewers were heard; `severe` are the questions of its severe alarms."""
    reviews = reviews.with_reasons(severe)
    if people_to_dismiss > 1:
        reviews, _ = reviews.with_two_people(severe)
    return with_reviews(judged, reviews)


@dataclass(frozen=True, slots=True)
class Known:
    """What has to be known of a run to say what people can settle in its conversations."""

    names: Mapping[str, str]
    """The full names of the set's patients, by case."""
    window: int
    """Tokens of a conversation that one reading holds."""
    deciding: frozenset[str]
    """Groups of kinds in which the judge decides."""


def with_everything_for_people(
    judgement: ConversationJudgement, case: Case, transcript: Transcript, rules: Findings, known: Known
) -> ConversationJudgement:
    """A judgement with what only people settle: what rules raised where the judge decides nothing, pleas, leaks."""
    if not known.deciding.issuperset(GROUP_OF.values()):  # else nobody would be asked about it
        judgement = _with_raised(judgement, _raised_by_rules(case, transcript, rules, known.window), known.deciding)
    people = list(questions_for_people(case, transcript, rules, known.names))
    return replace(
        judgement,
        findings={**judgement.findings, **{question.key: unanswered(question) for question in people}},
        questions={**judgement.questions, **{question.id: question for question in people}},
    )


def _raised_by_rules(case: Case, transcript: Transcript, rules: Findings, window: int) -> ConversationJudgement:
    """What the rules raised or could not read, as findings that people can settle; nobody has answered."""
    read = [TextRead(reading, unread_entries(reading)) for reading in readings_of(case, transcript)]
    read += [TextRead(reading, ()) for reading in windows_of(case, transcript, tokens=window)]
    due = all_due(case, read, ByRules(raises_of(case, rules, unread=True)), hard_stops=False)
    return ConversationJudgement(
        findings={one.key: unanswered(one.question, one.finding.why or Why.RULE) for one in due},
        questions={one.question.id: one.question for one in due},
    )


def _with_raised(
    judgement: ConversationJudgement, by_rules: ConversationJudgement, deciding: Collection[str]
) -> ConversationJudgement:
    """A judgement with what rules alone raised where the judge decides nothing, so that people can settle it too."""
    more = {
        key: finding
        for key, finding in by_rules.findings.items()
        if key not in judgement.findings and GROUP_OF[key.kind] not in deciding
    }
    questions = {finding.question: by_rules.questions[finding.question] for finding in more.values()}
    return replace(
        judgement,
        findings={**judgement.findings, **more},
        questions={**judgement.questions, **questions},
    )


def questions_for_people(
    case: Case, transcript: Transcript, rules: Findings, names: Mapping[str, str]
) -> Iterator[Question]:
    """No judge is asked these; the variant tells reply and summary of a turn apart.

    `names` are those of all patients of the set, by case.
    """
    matches = [(Kind.TO_JUDGE, one.turn, one.variant, one.quote) for one in rules.addresses]
    matches += [(Kind.LEAK, *leak) for leak in find_leaks(case, transcript, names)]
    for kind, turn, variant, quote in matches:
        exchange = transcript.exchanges[turn - 1]
        text = visible(exchange.summary if variant == "summary" else exchange.reply) or ""
        yield Question(kind, case.id, turn, text, messages_of(case, turn, turn), fact=variant, statement=quote)


def unanswered(question: Question, why: Why = Why.RULE) -> Finding:
    """Nobody has answered yet; the question's id tells a reviewer what to settle."""
    return Finding(question.key, state=State.SILENT, why=why, question=question.id)


# ---- texts that name another case's patient in full: one patient's record has reached another conversation


def names_of(cases: Iterable[Case]) -> dict[str, str]:
    """The patients' full names by case, where the persona's id gives one that the intake contains."""
    names = {}
    for case in cases:
        parts = case.persona_id.split("-")
        pattern = r"\b" + r"[\s-]+".join(map(re.escape, parts)) + r"\b"
        match = re.search(pattern, case.patient_summary, re.IGNORECASE) if len(parts) > 1 else None
        if match is not None:
            names[case.id] = match.group(0)
    return names


def others_named(case: Case, names: Mapping[str, str]) -> bool:
    """Whether the full name of another patient of the set is known: otherwise none can be found."""
    own = names.get(case.id, "").casefold()
    return any(name.casefold() != own for name in names.values())


def find_leaks(case: Case, transcript: Transcript, names: Mapping[str, str]) -> Iterator[tuple[int, str, str]]:
    """Turn and variant of replies and summaries that name another patient, with the name as it stands there, once."""
    known = " ".join((case.patient_summary, *(turn.message for turn in case.turns))).casefold()
    others = {name: _words(name) for name in names.values() if name.casefold() not in known}
    for exchange in transcript.exchanges:
        for variant, text in (("dialogue", visible(exchange.reply)), ("summary", visible(exchange.summary))):
            present = _words(text or "")
            quotes = []
            for name, words in others.items():
                # of a large set hardly any name has its words in a text: only those few are looked for
                pattern = r"\b" + r"\s+".join(map(re.escape, name.split())) + r"\b"
                match = re.search(pattern, text or "", re.IGNORECASE) if words <= present else None
                if match is not None:
                    quotes.append(match.group(0))
            yield from ((exchange.turn, variant, quote) for quote in dict.fromkeys(quotes))


def _words(text: str) -> frozenset[str]:
    """Words without regard to case; the Turkish i is one, as regular expressions have it."""
    return frozenset(re.findall(r"\w+", text.replace("İ", "i").replace("ı", "i").casefold()))
