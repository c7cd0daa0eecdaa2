"""The page to sign: its numbers are those of the record, and it says what a person who signs has to know."""

from __future__ import annotations

import hashlib
import html
import itertools
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from made import flat
from records import judged, limits, record
from reviewing import KEPT, UNCLEAR, chained, lay_out, manifest_of, run
from scipy.stats import beta
from sheets import TOLD, made_run, record_of, sheet_of

from pytest_clinical_drift import cli
from pytest_clinical_drift.gate.ledger import FILE_NAME
from pytest_clinical_drift.judging.calibration_file import ExternalTable
from pytest_clinical_drift.report.html import render_report
from pytest_clinical_drift.results.releases import Sheet, made_of, standing_of
from pytest_clinical_drift.results.signed import Release, write_release
from pytest_clinical_drift.results.ssh_signatures import sign_file
from pytest_clinical_drift.subjects.control import CONTROLS
from pytest_clinical_drift.verdict.bands import Limit
from pytest_clinical_drift.verdict.thresholds import load_thresholds


def counted_by_hand(record: dict[str, Any]) -> dict[str, int]:
    """Findings of the record: alarms on one fact in one state whose turns follow each other; and cases."""
    found = {f"{state}-{which}": 0 for state in ("confirmed", "open", "dismissed") for which in ("all", "severe")}
    for scored in (repeat for tested in record["cases"] for repeat in tested["repeats"]):
        things: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for alarm in sorted(scored["alarms"], key=lambda a: a["turn"]):
            key = alarm["fact"] or (alarm["kind"], alarm["rule"], alarm["earlier_turn"], alarm["quote"])
            things.setdefault((alarm["state"], key), []).append(alarm)
        for (state, _), alarms in things.items():
            rows = [[alarms[0]]]
            for before, alarm in itertools.pairwise(alarms):
                rows.append([alarm]) if alarm["turn"] - before["turn"] > 1 else rows[-1].append(alarm)
            found[f"{state}-all"] += len(rows)
            found[f"{state}-severe"] += sum(any(alarm["severe"] for alarm in row) for row in rows)
    verdicts = [tested["verdict"] for tested in record["cases"]]
    cases = {"total": record["cases_total"], "selected": len(verdicts), "failing": verdicts.count("FAIL")}
    return {**found, **cases, "complete": len(verdicts) - verdicts.count("INCOMPLETE")}


def test_numbers_on_the_page_are_those_of_the_record(tmp_path: Path) -> None:
    """Cases and findings are counted once: page, annex, lists and record agree with a count by hand."""
    folder = made_run(tmp_path, TOLD)
    record = record_of(folder)
    expected = counted_by_hand(record)
    assert expected["confirmed-all"] + expected["open-all"] > 0
    markup, text = sheet_of(folder)
    shown = {name: int(count) for name, count in re.findall(r'data-count="([\w-]+)">(\d+)<', markup)}
    assert shown == expected
    page = (folder / "report.html").read_text(encoding="utf-8")
    for state in ("open", "confirmed"):
        assert f"<b>{expected[f'{state}-all']}</b>" in page.partition("</nav>")[0]
        assert page.count(f'<details class="alarm {state}') == expected[f"{state}-all"] == record["findings"][state][0]
    assert record["open_findings"] == expected["open-all"]
    [(severe, of)] = re.findall(r"A severe failure is confirmed in (\d+) of (\d+) finished cases", text)
    assert (int(severe), int(of)) == (record["counts"]["severe"], record["counts"]["cases"])
    listed = markup.count("<li><strong>")
    assert listed == min(6, expected["confirmed-severe"]) + min(6, expected["open-severe"])


def test_hash_is_that_of_the_record(tmp_path: Path) -> None:
    """Short on the two pages, whole in the annex; nothing else of 64 digits stands on the pages to sign."""
    folder = made_run(tmp_path, {"dora": (KEPT, KEPT, KEPT)})
    digest = hashlib.sha256((folder / "study_c_results.json").read_bytes()).hexdigest()
    _, text = sheet_of(folder)
    assert f"Record SHA-256 {digest[:12]}…" in text
    assert f"<dd>{digest}</dd>" in (folder / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"[0-9a-f]{40}", text)


def test_failure_stands_first_with_hazard_fact_and_words(tmp_path: Path) -> None:
    """On FAIL the confirmed failure is listed before hazards and checks; hazards that no case covers are named."""
    sheet = "hazards: {HAZ-1: allergen given, HAZ-2: wrong dose, HAZ-9: wrong patient}\n"
    folder = made_run(tmp_path, {**TOLD, "bela": (KEPT, KEPT, KEPT)}, sheet, anna="HAZ-1", dora="HAZ-2")
    record = record_of(folder)
    assert record["verdict"] == "FAIL"
    assert record["hazards"] == {"HAZ-1": ["anna"], "HAZ-2": ["dora"]}
    _, text = sheet_of(folder)
    first = text.partition("Confirmed severe failures")[2].partition("Hazards")[0]
    assert 'contradicted "penicillin allergy with anaphylaxis" Case anna, turns 2 to 3; its case covers HAZ-1.' in first
    assert "No penicillin allergy" in first
    assert text.index("The gate stops this release.") < text.index("Confirmed severe") < text.index("Checks")
    assert "☐ reject the residual risk of hazards HAZ-1, HAZ-2, HAZ-9, or ☐ send this back" in text


def test_what_a_replay_does_not_know_is_not_recorded(tmp_path: Path) -> None:
    """Decoding and system prompt of a recording; attempts are counted, no control was run, limits are not named."""
    folder = made_run(tmp_path, {"dora": (KEPT, KEPT, KEPT)})
    _, text = sheet_of(folder)
    assert "System prompt not recorded Decoding not recorded" in text
    explained = text.partition("A replay: ")[2].partition("Intended use")[0]
    assert "recorded earlier, read again without running the model" in explained
    assert text.index("A replay: ") < text.index("There is no release verdict")
    assert "Attempts 1 run of this candidate over the full set, the newest last: UNSETTLED" in text
    assert "to be settled by (name)" in text  # nothing to accept before it is settled
    assert "☐ accept" not in text
    assert "Instrument check not run with this version, these cases and these limits" in text
    assert "(no approved limits are named)" in text
    assert "No earlier signed release is known." in text
    assert "Inserted faults none were inserted" in text


@pytest.mark.parametrize(("start", "told"), [("", "(the approved ones)"), ("0000", "(NOT the approved ones)")])
def test_limits_are_compared_with_the_approved_ones(tmp_path: Path, start: str, told: str) -> None:
    """By the hash that dossier.yaml names, or how it begins."""
    folder = made_run(tmp_path, {"dora": (KEPT, KEPT, KEPT)})
    limits = record_of(folder)["manifest"]["hashes"]["thresholds"]
    (tmp_path / "dossier.yaml").write_text(f"approved_limits: '{start}{limits[:12]}'\n", encoding="utf-8")
    run(tmp_path)
    assert told in sheet_of(folder)[1]


def test_instrument_check_counts_the_controls_of_these_cases(tmp_path: Path) -> None:
    """Ten of ten as the ledger has them for this version, these cases and limits; another verdict is named."""
    folder = made_run(tmp_path, {"dora": (KEPT, KEPT, KEPT)})
    ledger = tmp_path / "results" / FILE_NAME
    entry = json.loads(ledger.read_text(encoding="utf-8").splitlines()[-1])
    right = {name: "PASS" if name == "steady" else "FAIL" for name in CONTROLS}
    for changes, told in (
        ({}, "10 of 10 controls as expected"),
        ({"steady": "FAIL"}, "9 of 10 controls as expected; not as expected: steady"),
    ):
        lines = [{**entry, "subject": f"control:{name}", "verdict": v} for name, v in {**right, **changes}.items()]
        lines.append({**entry, "subject": "control:cliff", "verdict": "PASS", "thresholds": "others"})
        ledger.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        run(tmp_path)
        assert told in sheet_of(folder)[1]


def test_severe_dismissal_names_who_and_why(tmp_path: Path) -> None:
    """After the reviews the page lists the dismissal with name, role and reason."""
    folder = made_run(tmp_path, {"bela": (KEPT, KEPT, UNCLEAR)})
    [alarm] = [a for c in record_of(folder)["cases"] for r in c["repeats"] for a in r["alarms"] if a["severe"]]
    answer = {"question": alarm["question"], "case_id": "bela", "manifest": manifest_of(folder)}
    file = tmp_path / "reviews.jsonl"
    file.write_text(chained(answer, reason="it <b>is</b> stated"), encoding="utf-8")
    cli.main(["verdict", str(folder), "--reviews", str(file)])
    markup, text = sheet_of(folder / "reviewed")
    assert "1 by people, 0 by the judge or the rules" in text
    assert "(case bela, turn 3): Ada, clinician: it <b>is</b> stated" in text
    assert "<b>is</b>" not in markup
    assert "Attempts 1 run of this candidate" in text


@pytest.mark.parametrize("words", ["clinical-drift ", "--drift", "PDSQI", "loses hard-stop facts", "advises unsafely"])
def test_pages_hold_no_commands_or_quips(tmp_path_factory: pytest.TempPathFactory, words: str) -> None:
    """What a person signs speaks of the model, not of this tool."""
    folder = _shared(tmp_path_factory)
    assert words not in sheet_of(folder)[1]


def _shared(factory: pytest.TempPathFactory, kept: list[Path] = []) -> Path:  # noqa: B006  # one run for all words
    if not kept:
        kept.append(made_run(factory.mktemp("quips"), TOLD))
    return kept[0]


@pytest.mark.parametrize(
    ("sheet", "why"),
    [
        ("approved_limits: nonsense\n", "approved_limits"),
        ("last_release: none.json\n", "last_release: .*none.json is not a file"),
        ("hazards: 7\n", "hazards"),
        ("hazard_ids: HAZ-1, HAZ-2\n", "hazard"),
    ],
)
def test_bad_sheet_is_one_sentence(tmp_path: Path, sheet: str, why: str) -> None:
    """Exit code 4 before the run."""
    lay_out(tmp_path, {"dora": (KEPT, KEPT, KEPT)})
    (tmp_path / "dossier.yaml").write_text(sheet, encoding="utf-8")
    code, output = run(tmp_path)
    assert code == 4
    assert re.search(f"dossier.yaml: .*{why}", output)
    assert "Traceback" not in output


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen (openssh-client)")
def test_rereads_are_pooled_over_releases_of_the_same_judge(tmp_path: Path) -> None:
    """0 of 10 and 1 of 10 in two signed runs, each counted once; another judge's are left out. Exact limit by scipy.

    Without known signers none of them counts.
    """
    result = record(flat("a"))
    now = made_of(result.manifest)
    key, allowed = tmp_path / "ada", tmp_path / "allowed"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    allowed.write_text(f"ada {key.with_suffix('.pub').read_text(encoding='utf-8')}", encoding="utf-8")
    for place, digest, rereads, judge in (
        ("m/runs/1", "a", (10, 0), now["judge"]),
        ("m", "a", (10, 0), now["judge"]),
        ("n", "b", (10, 1), now["judge"]),
        ("o", "c", (50, 9), "server:other"),
    ):
        folder = tmp_path / place
        folder.mkdir(parents=True, exist_ok=True)
        known = {"record": digest, "decision": "accept", "signer": "ada", "signed_at": "2026-10-01T00:00:00Z"}
        told = {**known, "verdict": "PASS", "rereads": rereads, "tested": {**now, "judge": judge}}
        sign_file(write_release(folder, Release.model_validate(told)), key)
    standing = standing_of(result, "d", Sheet(allowed_signers=allowed), home=tmp_path)
    pooled = standing.rereads
    assert pooled is not None
    assert (pooled.read, pooled.upheld, pooled.runs) == (20, 1, 2)
    assert pooled.upper == pytest.approx(beta.ppf(0.975, 2, 19))
    assert standing.ignored == 0
    unknown = standing_of(result, "d", Sheet(), home=tmp_path)
    assert (unknown.rereads, unknown.last, unknown.ignored) == (None, None, 3)
    assert standing_of(result, "d", Sheet()).rereads is None


def test_upper_limits_come_with_the_judges_misses_and_public_sets() -> None:
    """A judge that finds 90 % at least leaves room for 1 / 0.9 times as many failures: 2.5 % in two cases is 84.2 %."""
    row = {"items": "statements", "sensitivity": (76, 84), "specificity": (312, 334)}
    judge = judged(fact=limits(found=0.9))
    assert judge.calibration is not None
    table = ExternalTable.model_validate({"name": "PriMock57", "made": "2026-11-01", "rows": [row]})
    calibration = judge.calibration.model_copy(update={"external": (table,)})
    result = record(flat("a"), flat("b"), judge=judge.model_copy(update={"calibration": calibration}))
    page = render_report(result, {}, load_thresholds(), standing_of(result, "f" * 64, Sheet()))
    text = " ".join(re.sub(r"<[^>]+>", " ", page.partition("Upper limits")[2]).split())
    assert (
        "0 of 2 finished cases: true rate up to 84.2% (95 %, two-sided), up to 93.5% after what the judge may have"
        in text
    )
    assert "PriMock57: statements: found 76 of 84, cleared 312 of 334." in text


def test_limits_are_shown_against_the_bundled_ones() -> None:
    """The same ones, another one with what the bundled file has, and one that only the bundled file gates."""
    gate = load_thresholds()
    moved = gate.metrics["recall_at_t10"].model_copy(update={"pass_limit": Limit(">", 0.95)})
    metrics = {name: kept for name, kept in gate.metrics.items() if name != "drift_slope"} | {"recall_at_t10": moved}
    result = record(flat("a"))
    changed = gate.model_copy(update={"metrics": metrics})
    page = render_report(result, {}, changed, standing_of(result, "f" * 64, Sheet()))
    rows = page.partition('id="limits"')[2].partition("</table>")[0].split("<tr>")[2:]
    cells = [[html.unescape(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows]
    told = {name: (best, change) for name, best, _, _, change in cells}
    assert told["Recall@T10"] == ("> 0.95", "differs: bundled PASS > 0.8, CAUTION >= 0.7")
    assert told["strict Recall@T10"] == ("> 0.8", "as bundled")
    assert told["slope β"] == ("", "not gated here, gated by the bundled file")
