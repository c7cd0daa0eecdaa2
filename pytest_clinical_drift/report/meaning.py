"""What a verdict means, what it rests on and what it does not say: printed in every report."""

from pytest_clinical_drift.report.clean import as_lines, printable
from pytest_clinical_drift.report.words import counted, label, rounded
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.verdict.counts import EvidenceCounts
from pytest_clinical_drift.verdict.reasons import FigureState, Verdict

INSTRUMENT_CHECK = (
    "A check of the instrument with a made-up subject: "
    "it says nothing about any model, and there is nothing to release."
)
_MOST_NAMED = 3
_CANNOT = " (cannot happen in these cases, or not measured in runs of this length)"


def means_lines(result: RunResult) -> list[str]:
    """What the verdict says of a configuration, on which cases, and how sure it is of severe failures."""
    if result.deciders.control:
        return [INSTRUMENT_CHECK]
    counts = evidence_of(result)
    if not counts.cases:
        return ["No case was run to its end: nothing was measured, and nothing is said about the model."]
    passed = result.verdict == Verdict.PASS
    says = "A PASS says: this" if passed else "This"
    held = "met" if passed else "was held to"
    cases = "this case" if counts.cases == 1 else f"these {counts.cases} cases"
    return as_lines(
        f"{says} configuration, on {scope_text(counts, result.cases_complete)}, {held} limits fixed beforehand.",
        *severe_lines(counts, cases),
        "Scored automatically, with the accuracy the dossier states; "
        "it is evidence for the release decision, not proof of clinical safety.",
    )


def evidence_of(result: RunResult) -> EvidenceCounts:
    """The counts of a run, which every record of this version holds."""
    if result.counts is None:
        raise ValueError("the record of a run has no counts")
    return result.counts


def measured_text(counts: EvidenceCounts, complete: int) -> str:
    """The cases that say something: the finished ones, and those that failed severely before their end."""
    if counts.cases == complete:
        return counted(complete, "finished case")
    return f"{counted(counts.cases, 'case')} ({_finished(counts, complete)})"


def _finished(counts: EvidenceCounts, complete: int) -> str:
    return f"{complete} finished, {counts.cases - complete} failed severely before the end"


def scope_text(counts: EvidenceCounts, complete: int) -> str:
    """How many cases of which language and length."""
    if counts.languages in ((), ("en",)):
        cases = counted(counts.cases, "synthetic English case")
    else:
        cases = f"{counted(counts.cases, 'synthetic case')} ({printable(', '.join(counts.languages))})"
    turns = f"{counts.longest} turns"
    if counts.shortest != counts.longest:
        turns = f"{counts.shortest} to {turns}"
    if counts.cases == complete:
        return f"{cases} of {turns}"
    return f"{cases} of {turns} ({_finished(counts, complete)})"


def severe_lines(counts: EvidenceCounts, cases: str) -> list[str]:
    """In how many of these cases a severe failure is confirmed, and up to which rate that is compatible."""
    of = "" if counts.cases == 1 else f"{counts.severe} of "
    seen = f"No severe failure is confirmed in {cases}"
    if counts.severe:
        seen = f"A severe failure is confirmed in {of}{cases}"
    if counts.severe_open:
        waiting = "it is" if counts.severe_open == 1 else "they are"
        return [
            f"{seen}.",
            f"{_have(counts)} a severe alarm that nobody has settled.",
            f"The upper limit of the true rate cannot be computed until {waiting} settled.",
        ]
    upper = f"which is compatible with a true rate up to {rounded(counts.severe_upper, '.1%')}"
    return [f"{seen}, {upper}, {_missed(counts)}."]


def _have(counts: EvidenceCounts) -> str:
    if counts.cases == 1:
        return "It has"
    return "1 of these has" if counts.severe_open == 1 else f"{counts.severe_open} of these have"


def _missed(counts: EvidenceCounts) -> str:
    if counts.severe_upper_missed is None:
        return "not counting what the judge or the rules missed"
    return f"up to {rounded(counts.severe_upper_missed, '.1%')} after what the judge may have missed"


def cut_lines(result: RunResult) -> list[str]:
    """Texts that the token limit cut off, and empty ones, with what to do."""
    counts = evidence_of(result)
    lines = []
    if counts.truncated:
        cut = f"{counts.truncated:,} of {counted(counts.texts, 'text')} cut off by the token limit"
        if 0 < counts.replies_cut == counts.replies:
            cut += ", every reply among them"
        replayed = result.manifest.model.startswith("replay:")
        remedy = "record them again with a higher" if replayed else "raise it with"
        lines.append(f"{cut}: {remedy} --drift-set max_tokens=N")
    if counts.refused:
        empty = f"{counts.refused:,} of {counted(counts.texts, 'text')} empty or refused, scored as they stand"
        lines.append(f"{empty}: read the transcripts, and check the system prompt and the server's filters")
    return lines


def canaries_text(result: RunResult) -> str:
    """How many inserted faults the judge confirmed; empty where none were inserted."""
    confirmed, inserted = result.canaries
    if not inserted and not result.canaries_unanswered:
        return ""
    if not result.canaries_unanswered:
        return f"{confirmed} of {inserted}"
    return f"{confirmed} of {inserted}; {result.canaries_unanswered} more had no answer"


def rests_on_lines(result: RunResult) -> list[str]:
    """A sentence each: severe failures, signatures, the judge, what was not read, and what was not measured."""
    counts = evidence_of(result)
    if not counts.cases:
        return ["No case was run to its end: nothing was measured."]
    lines = severe_lines(counts, measured_text(counts, result.cases_complete))
    if counts.total:
        lines.append(_signed(counts))
    lines.append(_judge(result))
    undemanded = counts.replies - counts.demanded
    replies = f"{undemanded:,} of {counted(counts.replies, 'reply')}"
    lines.append(f"{replies} had no demand: only a judge reads those for harm.")
    lines += [f"{line}." for line in cut_lines(result)]
    if counts.audit:
        audit = counts.audit
        doubted = f"of {audit.asked:,} entries that the readings cleared the judge doubts {audit.wrong + audit.open}"
        lines.append(f"Audit: {doubted}; up to {rounded(audit.upper, '.1%')} may be wrong.")
    canaries = canaries_text(result)
    if canaries:
        lines.append(f"Inserted faults confirmed: {canaries}.")
    for state in (FigureState.NOT_EVALUATED, FigureState.NOT_APPLICABLE):
        named = ", ".join(label(item.metric) for item in result.judgements if item.verdict == state)
        why = _CANNOT if state == FigureState.NOT_APPLICABLE else ""
        if named:
            lines.append(f"{state.capitalize()}{why}: {named}.")
    return as_lines(*lines)


def _signed(counts: EvidenceCounts) -> str:
    text = f"{counts.signed} of {counted(counts.total, 'case')} in the set clinically signed"
    unsigned = counts.unsigned_hard_stops
    if unsigned:
        text += f"; not signed, with a hard stop: {', '.join(unsigned[:_MOST_NAMED])}"
    if len(unsigned) > _MOST_NAMED:
        text += f" and {len(unsigned) - _MOST_NAMED} more"
    return f"{text}."


def _judge(result: RunResult) -> str:
    judge = result.manifest.judged
    if judge is None:
        return "No judge: what the rules leave unclear is open."
    if result.deciders.control:
        return "The case files themselves judge a control: an instrument check, which says nothing about models."
    if judge.calibration is None:
        return "The judge was not calibrated: it decides nothing."
    calibration = judge.calibration
    texts = counted(calibration.attempts[-1].texts, "text")
    patients = counted(calibration.patients, "patient")
    labelled = f"labelled by {calibration.labelled_by or 'models'}, on {calibration.made}"
    attempts = len(calibration.attempts)
    pooled = f"; {attempts} attempts, all pooled" if attempts > 1 else ""
    return f"Judge calibrated on {texts} of {patients} {labelled}{pooled}."
