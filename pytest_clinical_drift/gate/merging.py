"""`clinical-drift merge`: one run out of its shards, computed again from what was recorded of each conversation."""

import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pytest_clinical_drift.errors import FailureCode, failure
from pytest_clinical_drift.evidence.entities import load_extractor
from pytest_clinical_drift.gate.manifest import counts_of
from pytest_clinical_drift.gate.publishing import enter_in_ledger, write_run_junit
from pytest_clinical_drift.gate.pytest_reports import Say, shown
from pytest_clinical_drift.gate.rescoring import check_conversations, rescore
from pytest_clinical_drift.gate.set_result import SetResult
from pytest_clinical_drift.judging.answers import Outage
from pytest_clinical_drift.report.case_text import fill
from pytest_clinical_drift.report.headlines import next_step
from pytest_clinical_drift.report.markdown import publish_markdown
from pytest_clinical_drift.report.terminal import render_summary
from pytest_clinical_drift.results.dossier_file import read_sheet
from pytest_clinical_drift.results.folders import TRANSCRIPTS, RunFolder, check_results_place
from pytest_clinical_drift.results.inputs import GateInputs
from pytest_clinical_drift.results.manifest import JudgeRecord, Manifest, TokenCounts
from pytest_clinical_drift.results.shards import ShardRun, Shards, find_shards
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.scoring.scorer import Scorer
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.reasons import Reason, ReasonCode, reason
from pytest_clinical_drift.verdict.states import Verdict
from pytest_clinical_drift.verdict.thresholds import JudgeRules
from pytest_clinical_drift.verdict.values import Deciders


def merge(folders: Sequence[Path], out: Path, junit: Path | None, say: Say) -> int:
    """Merge the shards in these folders into a run in `out`, and end as that run would."""
    check_results_place(out, "--out")
    sheet = read_sheet(Path.cwd())
    shards = find_shards(folders)
    for run in shards.replaced:
        say(f"{run.shard}: a newer run replaces {shown(run.folder)}")
    transcripts = checked_transcripts(shards)
    collected, manifest = judge_shards(shards)
    given = [run.result.reviewed.records for run in shards.used if run.result.reviewed is not None]
    result = collected.result(manifest, collected.reviewed(max(given)) if given else None)
    finished = enter_in_ledger(result, collected.inputs, out)
    folder = RunFolder(out)
    folder.create()
    for run in shards.used:
        if (run.folder / TRANSCRIPTS).is_dir():
            shutil.copytree(run.folder / TRANSCRIPTS, folder.transcripts, dirs_exist_ok=True)
    judged = [stored for run in shards.used for stored in run.inputs.judged]
    judged.sort(key=lambda stored: (stored.case_id, stored.repeat))
    written = finished.publish(folder, transcripts, sheet, judged, shards.used[0].inputs.window)
    if junit is not None:
        write_run_junit(junit, finished, collected, transcripts)
        written.append(junit)
    slug, width = collected.inputs.slug, shutil.get_terminal_size().columns
    for line in (
        *render_summary(result, slug, attempt=finished.attempt, width=width),
        *(f"written: {shown(file)}" for file in written),
        fill(next_step(result, shown(written[0].parent), merged=True), width),
        *publish_markdown(result, slug),
    ):
        say(line)
    return collected.exit_code()


def judge_shards(shards: Shards) -> tuple[SetResult, Manifest]:
    """Every case judged again, then the set over all of them; cases that no shard has are INCOMPLETE."""
    known = shards.used[0].inputs
    inputs = GateInputs(**{name: getattr(known, name) for name in GateInputs.model_fields if name != "shard"})
    collected = SetResult(inputs)
    deciding = known.deciders.deciding
    for run in shards.used:
        for case in run.result.cases:
            collected.judge_case(case.repeats, deciding)
    for case_id, why in shards.lacking.items():
        collected.judge_case((_not_run(inputs, case_id, why),), deciding)
    verdict = collected.judge(_deciders(shards.used, collected.runs, inputs.thresholds.judge))
    if shards.missing:
        missing = reason(ReasonCode.SHARDS_MISSING, shards=list(shards.missing))
        state = verdict.verdict if verdict.verdict == Verdict.FAIL else Verdict.INCOMPLETE
        collected.verdict = replace(verdict, verdict=state, reasons=(missing, *verdict.reasons))
    return collected, _manifest(shards, collected.runs)


def _not_run(inputs: GateInputs, case_id: str, why: str) -> CaseAssessment:
    case = next(case for case in inputs.cases if case.id == case_id)
    missing = Transcript(case_id, (), failure=failure(FailureCode.SHARD_MISSING, error=why))
    return Scorer(inputs.stride, load_extractor(inputs.ner)).score(case, missing)


def _deciders(used: Sequence[ShardRun], runs: Sequence[CaseAssessment], rules: JudgeRules) -> Deciders:
    """Who decided; what a required judge left unanswered is counted over all shards."""
    first = used[0].inputs.deciders
    reviewers = dict.fromkeys(name for run in used for name in run.inputs.deciders.reviewers)
    missing: Reason | None = first.missing
    if missing is None or missing.code is ReasonCode.QUESTIONS_UNANSWERED:
        unanswered = sum(run.unanswered for run in runs)
        counts = rules.required and unanswered
        missing = reason(ReasonCode.QUESTIONS_UNANSWERED, questions=unanswered) if counts else None
    return replace(first, reviewers=tuple(reviewers), missing=missing, outage=_outage(used))


def _outage(used: Sequence[ShardRun]) -> Outage | None:
    """That of all shards, among the requests of all of them."""
    known = [outage for run in used if (outage := run.inputs.deciders.outage) is not None]
    if not known:
        return None
    worst = max(known, key=lambda outage: (outage.stopped, outage.requests))
    asked = sum(sum(run.manifest.judged.requests.values()) for run in used if run.manifest.judged is not None)
    sent = _sent([run.manifest.judged for run in used if run.manifest.judged is not None])
    lost = sum(outage.lost for outage in known)
    return replace(worst, requests=sum(outage.requests for outage in known), asked=asked, sent=sent, lost=lost)


def _sent(records: Sequence[JudgeRecord]) -> int | None:
    """Over all shards; None where one has no record of it."""
    known = [record.sent for record in records if record.sent is not None]
    return sum(known) if len(known) == len(records) else None


# -- what the merged run is made of


def _manifest(shards: Shards, runs: Sequence[CaseAssessment]) -> Manifest:
    """The shards' common manifest, with everything that is counted counted over all of them."""
    manifests = [run.manifest for run in shards.used]
    settings = shards.used[0].record.settings
    prices = settings.get("prices")
    since = [manifest.replies_reused_since for manifest in manifests if manifest.replies_reused_since]
    return manifests[0].model_copy(
        update={
            "judged": _judged([manifest.judged for manifest in manifests]),
            **counts_of(runs, (prices[0], prices[1]) if prices else None),
            "replies_reused_since": min(since, default=None),
            "shard": None,
            "merged_from": tuple(run.record for run in shards.used),
            "replaced_shards": tuple(run.record for run in shards.replaced),
        }
    )


def _judged(records: Sequence[JudgeRecord | None]) -> JudgeRecord | None:
    known = [record for record in records if record is not None]
    if not known:
        return None
    requests = sum((Counter(record.requests) for record in known), Counter[str]())
    counted = {
        "requests": dict(requests),
        "sent": _sent(known),
        "reused": sum(record.reused for record in known),
        "tokens": _tokens([record.tokens for record in known]),
        "sent_tokens": _tokens([record.sent_tokens for record in known]),
    }
    return known[0].model_copy(update=counted)


def _tokens(counts: Sequence[TokenCounts | None]) -> TokenCounts | None:
    """Their sum; None where some were not counted. It has no cost where some have none."""
    known = [count for count in counts if count is not None]
    if len(known) < len(counts):
        return None
    costs = [count.cost for count in known if count.cost is not None]
    prices = {count.prices_per_million for count in known}
    return TokenCounts(
        prompt=sum(count.prompt for count in known),
        completion=sum(count.completion for count in known),
        prices_per_million=prices.pop() if len(prices) == 1 else None,
        cost=round(sum(costs), 4) if len(costs) == len(known) else None,
    )


def checked_transcripts(shards: Shards) -> dict[str, list[Transcript]]:
    """The conversations by case; InputError where the scores of a shard do not follow from them."""
    transcripts: dict[str, list[Transcript]] = {}
    for run in shards.used:
        check_conversations(run.folder, run.inputs, run.result)
        scorer = Scorer(run.inputs.stride, load_extractor(run.inputs.ner))
        for talk in rescore(run.folder, run.inputs, run.result, scorer):
            transcripts.setdefault(talk.case.id, []).append(talk.transcript)
    return transcripts
