"""What a run will cost, printed before anything is asked of the model or of the judge."""

from collections.abc import Sequence

from pytest_clinical_drift.cases.model import Case, facts_at
from pytest_clinical_drift.cases.timeline import probed_turns
from pytest_clinical_drift.conversation import dialogue
from pytest_clinical_drift.gate.run import GateRun
from pytest_clinical_drift.judging.labelled import load_calibration_set
from pytest_clinical_drift.judging.make_calibration import cost_line
from pytest_clinical_drift.judging.pdsqi import WORDINGS, rated_turns
from pytest_clinical_drift.report.page import text_lines

_CHARACTERS_PER_TOKEN = 4.2
"""English prose under common tokenizers; good enough for an estimate."""
_TEXT_TOKENS = 250
"""Of a reply or summary."""
_READING_TOKENS, _QUESTION_TOKENS = (2_600, 250), (1_500, 60)
"""Of prompt and answer, as on the bundled cases."""
_CAREFUL, _WEAK = 0.25, 2.4
"""Single questions per reading: of a careful strong model, and of recorded weak ones."""


def estimate(cases: Sequence[Case], run: GateRun, *, calibration: bool = True) -> list[str]:
    """Requests and tokens of a run, a line each for the model and for the judge, one for its calibration if due.

    The number of readings is exact; how many questions they raise depends on the model.
    """
    plan, session = run.plan, run.session
    turns, summaries, tokens = sum(len(case.turns) for case in cases), 0, 0.0
    for case in cases:
        before = (plan.system_prompt or "", dialogue.INTAKE, dialogue.PATIENT, case.patient_summary)
        history = sum(map(_tokens, before))
        probed = probed_turns(case, plan.probe_every_turn)
        summaries += len(probed)
        for turn in case.turns:
            history += _tokens(turn.message)
            tokens += history
            history += _TEXT_TOKENS
            tokens += (history + _tokens(dialogue.PROBE)) * (turn.turn in probed)
        tokens += (history + _tokens(dialogue.PROBE)) * plan.single_message
    requests = sum(plan.requests(case) for case in cases)
    used = {"prompt": tokens * plan.repeats, "completion": requests * _TEXT_TOKENS}
    lines = text_lines("run_lines.txt.j2", "estimate", requests=requests, cases=len(cases), turns=turns, **used)
    if not session.judges or session.is_control:
        return lines
    handovers = sum(turn.handover for case in cases for turn in case.turns)
    readings = (turns + summaries + handovers + len(cases)) * plan.repeats
    ratings = sum(len(rated_turns(case)) for case in cases) * len(WORDINGS) * plan.repeats if session.rates else 0
    due = sum(state.fact.hard_stop for case in cases for state in facts_at(case, len(case.turns))) * 2 * plan.repeats
    few, many = (round(readings * rate) + due for rate in (_CAREFUL, _WEAK))
    prompt, answer = (
        [(readings + ratings) * of_reading + questions * of_question for questions in (few, many)]
        for of_reading, of_question in zip(_READING_TOKENS, _QUESTION_TOKENS, strict=True)
    )
    due_now = calibration and session.known_to_decide() is None
    more = cost_line(load_calibration_set(session.options.calibration_set), session.procedure) if due_now else ""
    checks = session.options.audit + 2 * session.options.canaries
    given = {"readings": readings, "few": few, "many": many, "prompt": prompt, "answer": answer, "checks": checks}
    return lines + text_lines("run_lines.txt.j2", "judge_estimate", **given, ratings=ratings, calibration=more)


def _tokens(text: str) -> float:
    return len(text) / _CHARACTERS_PER_TOKEN
