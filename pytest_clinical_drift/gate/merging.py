"""`clinical-drift merge`: one run out of its shards, computed again from what was recorded of each conversation."""

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_clinical_drift.errors import FailureCode, failure
from pytest_clinical_drift.evidence.entities import load_extractor
from pytest_clinical_drift.gate.ledger import record_run
from pytest_clinical_drift.gate.publishing import FinishedRun, write_run_junit
from pytest_clinical_drift.gate.pytest_reports import Say, shown
from pytest_clinical_drift.gate.reopened import open_run
from pytest_clinical_drift.gate.set_result import SetResult, counts_of
from pytest_clinical_drift.results.folders import TRANSCRIPTS, RunFolder, check_results_place
from pytest_clinical_drift.results.manifest import JudgeRecord, Manifest, TokenCounts
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.results.releases import read_sheet
from pytest_clinical_drift.results.run_log import ConversationLog, logs_of, read_log
from pytest_clinical_drift.results.shards import ShardRun, Shards, find_shards
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.scoring.scorer import Scorer
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.reasons import QuestionsUnanswered
from pytest_clinical_drift.verdict.values import Deciders


def merge(folders: Sequence[Path], out: Path, junit: Path | None, say: Say) -> int:
    """Merge the shards in these folders into a run in `out`, and end as that run would."""
    check_results_place(out, "--out")
    sheet = read_sheet(Path.cwd())
    shards = find_shards(folders)
    for run in shards.replaced:
        say(f"{run.shard}: a newer run replaces {shown(run.folder)}")
    collected, result = judge_shards(shards, checked_transcripts(shards))
    finished = FinishedRun(collected, result, record_run(out, result))
    folder = RunFolder(out)
    folder.create()
    for run in shards.used:
        if (run.folder / TRANSCRIPTS).is_dir():
            shutil.copytree(run.folder / TRANSCRIPTS, folder.transcripts, dirs_exist_ok=True)
    logs = merged_logs(shards, collected)
    written = finished.publish(folder, sheet, logs, shards.used[0].inputs.judging)
    if junit is not None:
        write_run_junit(junit, finished)
        written.append(junit)
    for line in finished.summary(written, shutil.get_terminal_size().columns, merged=True):
        say(line)
    return collected.exit_code()


def merged_logs(shards: Shards, collected: SetResult) -> list[ConversationLog]:
    """The union of the shards' logs, with a line for each conversation that none of them has."""
    known = {group: log for run in shards.used for group, log in read_log(run.folder).items()}
    lacking = [run for run in collected.runs if (run.case_id, run.repeat) not in known]
    return sorted([*known.values(), *logs_of({}, lacking)], key=lambda log: log.group)


def checked_transcripts(shards: Shards) -> dict[str, list[Transcript]]:
    """The conversations by case; InputError where the results of a shard do not follow from them."""
    transcripts: dict[str, list[Transcript]] = {}
    for run in shards.used:
        for talk in open_run(run.folder, run.inputs, run.result).conversations:
            transcripts.setdefault(talk.case.id, []).append(talk.transcript)
    return transcripts


def judge_shards(
    shards: Shards, transcripts: Mapping[str, Sequence[Transcript]] | None = None
) -> tuple[SetResult, RunResult]:
    """Every case judged again, then the set over all of them; cases that no shard has are INCOMPLETE."""
    inputs = shards.used[0].inputs.model_copy(update={"shard": None})
    collected, deciding = SetResult(inputs), inputs.deciders.deciding
    for run in shards.used:
        for case in run.result.cases:
            talks = (transcripts or {}).get(case.case_id, ())
            collected.add(inputs.judge_case(case.repeats, deciding), talks)
    for case_id, why in shards.lacking.items():
        missing = Transcript(case_id, (), failure=failure(FailureCode.SHARD_MISSING, error=why))
        lacking = next(case for case in inputs.cases if case.id == case_id)
        scored = Scorer(inputs.stride, load_extractor(inputs.ner)).score(lacking, missing)
        collected.add(inputs.judge_case((scored,), deciding))
    manifest = _manifest(shards, collected.runs)
    deciders = _deciders(shards.used, collected.runs, manifest.judged)
    given = [run.result.reviewed.records for run in shards.used if run.result.reviewed is not None]
    return collected, collected.judge(
        deciders, manifest, reviews=max(given, default=None), missing_shards=shards.missing
    )


def _deciders(used: Sequence[ShardRun], runs: Sequence[CaseAssessment], judged: JudgeRecord | None) -> Deciders:
    """Who decided; what the judge left unanswered is counted over all shards, among the requests of all of them."""
    inputs, deciders = used[0].inputs, [run.inputs.deciders for run in used]
    missing = deciders[0].missing
    if missing is None or isinstance(missing, QuestionsUnanswered):
        unanswered = sum(run.unanswered for run in runs) if inputs.thresholds.judge.required else 0
        missing = QuestionsUnanswered(unanswered) if unanswered else None
    outages, outage = [one.outage for one in deciders if one.outage is not None], None
    if outages:
        outage = replace(
            max(outages, key=lambda one: (one.stopped, one.requests)),
            requests=sum(one.requests for one in outages),
            asked=sum(judged.requests.values()) if judged else 0,
            sent=judged.sent if judged else None,
            lost=sum(one.lost for one in outages),
        )
    reviewers = dict.fromkeys(name for one in deciders for name in one.reviewers)
    return replace(deciders[0], reviewers=tuple(reviewers), missing=missing, outage=outage)


# -- what the merged run is made of


def _manifest(shards: Shards, runs: Sequence[CaseAssessment]) -> Manifest:
    """The shards' common manifest, with everything that is counted counted over all of them."""
    manifests = [run.manifest for run in shards.used]
    prices = shards.used[0].record.settings.get("prices")
    since = [manifest.replies_reused_since for manifest in manifests if manifest.replies_reused_since]
    return manifests[0].model_copy(
        update={
            "judged": _judged([manifest.judged for manifest in manifests if manifest.judged is not None]),
            **counts_of(runs, tuple(prices) if prices else None),
            "replies_reused_since": min(since, default=None),
            "replies_resumed": sum(manifest.replies_resumed for manifest in manifests),
            "replies_ignored": sum(manifest.replies_ignored for manifest in manifests),
            "shard": None,
            "merged_from": tuple(run.record for run in shards.used),
            "replaced_shards": tuple(run.record for run in shards.replaced),
        }
    )


def _judged(records: Sequence[JudgeRecord]) -> JudgeRecord | None:
    if not records:
        return None
    sent = [record.sent for record in records if record.sent is not None]
    return records[0].model_copy(
        update={
            "requests": dict(sum((Counter(record.requests) for record in records), Counter[str]())),
            "sent": sum(sent) if len(sent) == len(records) else None,
            "reused": sum(record.reused for record in records),
            "ignored": sum(record.ignored for record in records),
            "tokens": _tokens([record.tokens for record in records]),
            "sent_tokens": _tokens([record.sent_tokens for record in records]),
        }
    )


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
