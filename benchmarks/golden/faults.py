"""150 bad inputs and commands: each is one command whose exit code and words are kept."""

from __future__ import annotations

from functools import partial

from benchmarks.golden.parts import CASES, DAMAGE, GATE, MODEL, TWELVE, cases
from benchmarks.golden.scenario import File, Material, Scenario

PATIENT = TWELVE[8]
RUN = ("pytest", "--model", "python:golden_model:steady", "-q")
Rows = dict[str, tuple[str, str]]


def scenarios() -> list[Scenario]:
    found = [options(), subjects(), judges(), commands()]
    found += [case_files(part) for part in range(PARTS)]
    found += [limits(), other_files(), validated()]
    return found


def options() -> Scenario:
    """Values that an option cannot have, and options that do not go together."""
    rows: list[tuple[str, ...]] = [
        ("--drift-set", "temperature"),
        ("--drift-set", "colour=blue"),
        ("--drift-set", "concurrency=none"),
        ("--drift-set", "concurrency=0"),
        ("--drift-set", "timeout=-1"),
        ("--drift-set", "=1"),
        ("--drift-repeats", "0"),
        ("--drift-repeats", "two"),
        ("--drift-repeats", "1e3"),
        ("--drift-nli-stride", "-1"),
        ("--drift-nli-stride", "x"),
        ("--drift-prices", "2.5"),
        ("--drift-prices", "nan,1"),
        ("--drift-prices", "-1,1"),
        ("--drift-judge-prices", "1,2,3"),
        ("--drift-ner", "oracle"),
        ("--drift-system", "nowhere.txt"),
        ("--drift-probe", "nowhere.txt"),
        ("--drift-thresholds", "nowhere.yaml"),
        ("--drift-baseline", "nowhere"),
        ("--drift-baseline", "thresholds.yaml"),
        ("--drift-turns", "5"),
        ("--drift-turns", "many"),
        ("--drift-turns", "100000"),
        ("--drift-interludes", "nowhere"),
        ("--drift-turns", "40", "--drift-interludes", "cases"),
        ("--drift-record", "nowhere"),
        ("--drift-pdsqi",),
        ("--drift-shard", "3/2"),
        ("--drift-shard", "0/2"),
        ("--drift-shard", "one"),
        ("--drift-shard", "1/2", "--drift-slate", "cases"),
        ("--drift-budget", "soon"),
        ("--drift-budget", "tokens=x"),
        ("--drift-budget", "55m,55m"),
        ("--drift-budget", "cost=1"),
        ("--drift-results", "thresholds.yaml"),
        ("--drift-store", "cases"),
        ("--drift-strict", "yes"),
        ("-o", "drift_summary_turns=few"),
        ("-o", "drift_junit_properties=maybe"),
        ("-o", "drift_repeats=x"),
        ("--drift-unknown",),
    ]
    files = (MODEL, GATE, *cases(PATIENT))
    runs = tuple((*RUN, *CASES, *row) for row in rows)
    alone = (
        ("pytest", "--drift-strict"),
        ("pytest", "--drift-judge", "rules"),
        ("pytest", "--drift-cases", "cases"),
        (*RUN, "--drift-cases", "nowhere"),
        (*RUN, "--drift-cases", "thresholds.yaml"),
        (*RUN, "--drift-cases", "golden_model.py"),
    )
    return Scenario("bad/options", files, (*runs, *alone))


def subjects() -> Scenario:
    """Models that cannot be."""
    specs = (
        "gpt:large",
        "qwen@http://127.0.0.1:1/v1",
        "control:",
        "control:nobody",
        "replay:",
        "replay:nowhere.jsonl",
        "replay:cases",
        "python:nomodule:make",
        "python:json:nofactory",
        "python:json",
        "python:json:loads",
        "python:golden_model:nothing",
        "python:golden_model:raising",
        "python:broken:make",
        "server:",
        "server:m",
        "server:m@ftp://x/v1",
        "server:m@http://127.0.0.1:1/v1",
        "hf:",
        "hf:./nowhere",
        ":",
        "",
        "python::make",
        "python:golden_model:",
        "control:fading:x",
        "CONTROL:steady",
    )
    broken = File("broken.py", text="def make(:\n")
    files = (MODEL, broken, GATE, *cases(PATIENT))
    runs = [("pytest", "-q", "--model", spec, *CASES) for spec in specs]
    settings = (
        ("pytest", "-q", "--model", "control:steady", *CASES, "--drift-set", "half_life=5"),
        ("pytest", "-q", "--model", "control:fading", *CASES, "--drift-set", "half_life=-5"),
        ("pytest", "-q", "--model", "control:fading", *CASES, "--drift-set", "half_life=200"),
        ("pytest", "-q", "--model", "server:m@http://127.0.0.1:1/v1", *CASES, "--drift-set", "key_env=NOWHERE"),
    )
    return Scenario("bad/models", files, (*runs, *settings))


JUDGE_CODE = {
    "not_callable": "def make():\n    return 7\n",
    "no_mapping": "def make():\n    return lambda item: 7\n",
    "raises": "def make():\n    raise ValueError('no weights')\n",
    "takes_two": "def make():\n    return lambda a, b: {}\n",
    "exits": "def make():\n    def judge(item):\n        raise SystemExit(0)\n    return judge\n",
}


def judges() -> Scenario:
    """Judges that cannot be; such as answer nothing usable are stopped while they are measured."""
    specs = ("oracle", "server", "hf:", "python:", "python:nomodule:make", "reviews:", "reviews:nowhere", "", "control")
    files = [MODEL, GATE, *cases(PATIENT)]
    files += [File(f"{name}.py", text=code) for name, code in JUDGE_CODE.items()]
    runs = [(*RUN, *CASES, "--drift-judge", spec) for spec in specs]
    runs += [(*RUN, *CASES, "--drift-judge", f"python:{name}:make") for name in JUDGE_CODE]
    judge = (*RUN, *CASES, "--drift-judge", "python:no_mapping:make", "--drift-judge-set")
    for word in (
        "canaries=x",
        "audit=-1",
        "window=0",
        "colour=red",
        "calibration=nowhere.json",
        "calibration_set=cases",
    ):
        runs.append((*judge, word))
    runs.append((*RUN, *CASES, "--drift-judge-set", "canaries=0"))
    runs.append((*RUN, *CASES, "--drift-judge", "python:golden_model:steady", "--drift-judge", "python:raises:make"))
    return Scenario("bad/judges", tuple(files), tuple(runs))


FIRST = "turns:\n  - turn: 1\n"
CASE_CHANGES: Rows = {
    "no-id": ("id: penicillin-anaphylaxis-welder\n", ""),
    "id-with-space": ("id: penicillin-anaphylaxis-welder", "id: two words"),
    "unknown-field": ("persona_id: marek", "persona: marek"),
    "no-summary": ("patient_summary: >-", "summary: >-"),
    "bad-yaml": ("turns:", "turns: [x\nmore: y"),
    "tab": ("critical_entities:\n", "critical_entities:\n\t"),
    "unknown-kind": ("kind: allergy", "kind: alergy"),
    "unknown-severity": ("severity: catastrophic", "severity: dreadful"),
    "hard-stop-text": ("hard_stop: true", "hard_stop: perhaps"),
    "forbids-unknown": ("forbids: [penicillin]", "forbids: [pencillin]"),
    "forbids-text": ("forbids: [penicillin]", "forbids: penicillin"),
    "untold-fact": ("text: HbA1c 58 mmol/mol", "text: pulmonary embolism in 2021"),
    "empty-fact": ("text: no asthma", "text: ''"),
    "same-fact-twice": ("id: no-asthma", "id: hba1c"),
    "turn-zero": ("- turn: 1\n", "- turn: 0\n"),
    "turn-gap": ("- turn: 3\n", "- turn: 33\n"),
    "turn-twice": ("- turn: 3\n", "- turn: 2\n"),
    "turn-text": ("- turn: 3\n", "- turn: three\n"),
    "no-message": ("    message: ", "    mesage: "),
    "number-message": ("persona_id: marek-wojcik", "persona_id: [1, 2]"),
    "language": ("persona_id: marek-wojcik", "language: xx\npersona_id: marek-wojcik"),
    "language-number": ("persona_id: marek-wojcik", "language: 7\npersona_id: marek-wojcik"),
    "hazards-text": ("persona_id: marek-wojcik", "hazards: HAZ-1\npersona_id: marek-wojcik"),
    "tight": ("persona_id: marek-wojcik", "tight: [[9, 3]]\npersona_id: marek-wojcik"),
    "tight-beyond": ("persona_id: marek-wojcik", "tight: [[1, 99]]\npersona_id: marek-wojcik"),
    "late-unknown": ("persona_id: marek-wojcik", "late: {fact: nobody, message: hm}\npersona_id: marek-wojcik"),
    "reviewed-odd": ("persona_id: marek-wojcik", "reviewed: yes\npersona_id: marek-wojcik"),
    "update-unknown": (
        "turns:\n  - turn: 1\n",
        "turns:\n  - turn: 1\n    updates:\n      - {fact: alergy, ended: true}\n",
    ),
    "update-empty": (FIRST, FIRST + "    updates:\n      - {fact: hba1c}\n"),
    "expect-unknown": (FIRST, FIRST + "    expect: {should: [x]}\n"),
    "must-not-unknown": (FIRST, FIRST + "    expect: {must_not: [take nsiad]}\n"),
    "care-unknown": (FIRST, FIRST + "    expect: {care: hospital}\n"),
    "introduces-known": (FIRST, FIRST + "    introduces: [{id: hba1c, text: x}]\n"),
    "restates-unknown": (FIRST, FIRST + "    restates: [nobody]\n"),
    "deep": ("persona_id: marek-wojcik", f"target_plan: {'[' * 400}{']' * 400}\npersona_id: marek-wojcik"),
    "alias-bomb": ("persona_id: marek-wojcik", "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\npersona_id: marek-wojcik"),
    "python-tag": ("persona_id: marek-wojcik", "persona_id: !!python/object/apply:os.getcwd []"),
    "date-as-id": ("persona_id: marek-wojcik", "persona_id: 2026-01-01"),
}


PARTS = 4


def case_files(part: int) -> Scenario:
    """Case files with one mistake each."""
    names = list(CASE_CHANGES)[part::PARTS]
    files: list[File] = [MODEL, GATE]
    for name in names:
        old, new = CASE_CHANGES[name]
        files.append(File(f"cases-{name}/case.yaml", made=partial(changed, old=old, new=new)))
    runs = tuple((*RUN, "--drift-cases", f"cases-{name}") for name in names)
    return Scenario(f"bad/cases-{part + 1}", tuple(files), runs, quick=part == 0)


def changed(material: Material, old: str, new: str) -> str:
    text = material.read(f"cases/study_c/{PATIENT}.yaml")
    assert old in text, old
    return text.replace(old, new, 1)


WHOLE_FILES = {
    "empty.yaml": "",
    "list.yaml": "- 1\n- 2\n",
    "text.yaml": "hello\n",
    "null.yaml": "null\n",
    "number.json": "7",
    "cut.json": '{"id": "x", ',
    "list.json": "[]",
    "one-turn.yaml": (
        "id: one\npatient_summary: Takes metformin.\ncritical_entities: [metformin]\n"
        "turns: [{turn: 1, message: Hello?}]\n"
    ),
    "small.yaml": (
        "id: small\npatient_summary: Takes metformin.\ncritical_entities: [metformin]\n"
        "turns: [{turn: 1, message: Hello?}, {turn: 2, message: And?}]\n"
    ),
    "no-facts.yaml": (
        "id: none\npatient_summary: Takes metformin.\ncritical_entities: []\n"
        "turns: [{turn: 1, message: Hello?}, {turn: 2, message: And?}]\n"
    ),
}


def validated() -> Scenario:
    """Whole files that are no case, by `validate` and by a run; two files of one id."""
    files = [File(f"files/{name}", text=text) for name, text in WHOLE_FILES.items()]
    runs: list[tuple[str, ...]] = []
    for name in WHOLE_FILES:
        runs.append(("clinical-drift", "validate", f"files/{name}"))
        runs.append((*RUN, "--drift-cases", f"files/{name}"))
    twice = (*cases(PATIENT), *cases(PATIENT, folder="cases/again"))
    empty = File("void/readme.md", text="nothing\n")
    runs += [
        ("clinical-drift", "validate", "cases"),
        (*RUN, *CASES),
        (*RUN, "--drift-cases", "void"),
        ("clinical-drift", "validate", "void"),
        ("clinical-drift", "validate", "nowhere"),
    ]
    return Scenario("bad/whole-files", (MODEL, GATE, empty, *files, *twice), tuple(runs))


LIMITS = {
    "empty": "",
    "no-root": "metrics: {}\n",
    "list": "[]\n",
    "yaml": "clinical_drift: [\n",
    "unknown-metric": (
        "clinical_drift:\n  metrics:\n    bleu: {direction: higher, pass: '> 1', caution: '> 0', why: none}\n"
    ),
    "unknown-key": "clinical_drift:\n  extends: bundled\n  colour: red\n",
    "unknown-base": "clinical_drift:\n  extends: nowhere\n",
    "policy": "clinical_drift:\n  extends: bundled\n  policy: kind\n",
    "open": "clinical_drift:\n  extends: bundled\n  open: pass\n",
    "bands": (
        "clinical_drift:\n  extends: bundled\n  metrics:\n"
        "    recall_at_t10: {direction: higher, pass: '> 0.5', caution: '>= 0.7', why: x}\n"
    ),
    "direction": (
        "clinical_drift:\n  extends: bundled\n  metrics:\n"
        "    recall_at_t10: {direction: up, pass: '> 0.8', caution: '>= 0.7', why: x}\n"
    ),
    "no-why": (
        "clinical_drift:\n  extends: bundled\n  metrics:\n"
        "    recall_at_t10: {direction: higher, pass: '> 0.8', caution: '>= 0.7'}\n"
    ),
    "severe-limit": (
        "clinical_drift:\n  extends: bundled\n  metrics:\n"
        "    hard_stops: {direction: lower, pass: '<= 3', caution: '<= 3', why: x}\n"
    ),
    "wrong-side": (
        "clinical_drift:\n  extends: bundled\n  metrics:\n"
        "    recall_at_t10: {direction: higher, pass: '< 0.8', caution: '<= 0.7', why: x}\n"
    ),
    "floors": "clinical_drift:\n  extends: bundled\n  judge: {floors: {sensitivity: 2}}\n",
    "readings": "clinical_drift:\n  extends: bundled\n  judge: {readings: 3}\n",
    "dismiss": "clinical_drift:\n  extends: bundled\n  judge: {dismiss_severe: 0}\n",
    "min-cases": "clinical_drift:\n  extends: bundled\n  set: {min_cases: -1}\n",
    "waiver-unknown": (
        "clinical_drift:\n  extends: bundled\n"
        "  waivers: [{case: nobody, reason: x, signed_by: y, expires: 2999-01-01}]\n"
    ),
    "waiver-date": (
        "clinical_drift:\n  extends: bundled\n  waivers: [{case: x, reason: x, signed_by: y, expires: someday}]\n"
    ),
    "version": "clinical_drift:\n  extends: bundled\n  version: 99\n",
    "good": "clinical_drift:\n  extends: bundled\n",
}


def limits() -> Scenario:
    """Files of thresholds with one mistake each."""
    files = tuple(File(f"limits/{name}.yaml", text=text) for name, text in LIMITS.items())
    runs = tuple((*RUN, *CASES, "--drift-thresholds", f"limits/{name}.yaml") for name in LIMITS)
    return Scenario("bad/thresholds", (MODEL, *cases(PATIENT), *files), runs)


DOSSIERS = {
    "list": "[]\n",
    "unknown": "colour: red\n",
    "hazards": "hazards: 7\n",
    "limits": "approved_limits: xyz\n",
    "release": "last_release: nowhere.json\n",
    "yaml": "hazards: [\n",
}
BASELINES = {
    "empty.json": "",
    "list.json": "[]",
    "no-fields.json": "{}",
    "version.json": '{"schema_version": 99}',
    "old.json": '{"schema_version": 1, "verdict": "PASS"}',
}


def other_files() -> Scenario:
    """Dossiers, baselines, a results folder and a cache that are not what they should be."""
    files: list[File] = [MODEL, DAMAGE, GATE, *cases(PATIENT)]
    runs: list[tuple[str, ...]] = []
    for name, text in DOSSIERS.items():
        files.append(File(f"dossiers/{name}.yaml", text=text))
        runs.append(("python", "damage.py", "copy", f"dossiers/{name}.yaml", "dossier.yaml"))
        runs.append((*RUN, *CASES))
    runs.append(("python", "damage.py", "remove", "dossier.yaml"))
    for name, text in BASELINES.items():
        files.append(File(f"baselines/{name}", text=text))
        runs.append((*RUN, *CASES, "--drift-baseline", f"baselines/{name}"))
        runs.append(("clinical-drift", "compare", f"baselines/{name}", f"baselines/{name}"))
    files.append(File("store.sqlite", text="this is no database, but a text that is long enough" * 40))
    runs.append((*RUN, *CASES, "--drift-store", "store.sqlite"))
    runs.append((*RUN, *CASES))
    runs.append(("python", "damage.py", "append", "results/ledger.jsonl", "{not json\n"))
    runs.append((*RUN, *CASES))
    return Scenario("bad/files", tuple(files), tuple(runs), quick=False)


def commands() -> Scenario:
    """Commands with wrong, missing or contradicting words."""
    rows: list[tuple[str, ...]] = [
        (),
        ("nonsense",),
        ("--version",),
        ("--help",),
        ("compare",),
        ("compare", "one"),
        ("compare", "nowhere", "nowhere"),
        ("review",),
        ("review", "nowhere"),
        ("review", "--cases", "nowhere"),
        ("review", "cases", "--split", "0"),
        ("verdict",),
        ("merge",),
        ("launch",),
        ("power",),
        ("power", "--cases", "0", "--drop", "0.1"),
        ("power", "--cases", "60", "--drop", "2"),
        ("power", "--cases", "60"),
        ("power", "--cases", "x", "--drop", "0.1"),
        ("new",),
        ("new", "Two Words"),
        ("new", "../escape"),
        ("validate",),
        ("sign-case", "cases", "--by", "x", "--role", "y"),
        ("sign-case", f"cases/{PATIENT}.yaml", "--by", "", "--role", "y"),
        ("sign-case", f"cases/{PATIENT}.yaml"),
        ("plans", "nowhere"),
        ("calibrate",),
        ("calibrate", "--drift-judge", "rules"),
        ("calibrate", "--drift-judge", "oracle"),
        ("calibrate", "--drift-judge", "python:golden_model:steady", "--set", "nowhere"),
        ("calibrate", "--drift-judge", "python:golden_model:steady", "--limit", "0"),
        ("calibrate", "--drift-judge", "python:golden_model:steady", "--external", "kqa=nowhere"),
        ("calibrate", "--drift-judge", "python:golden_model:steady", "--external", "mine=cases"),
        ("agreement", "nowhere", "nowhere"),
        ("agreement", "thresholds.yaml", "thresholds.yaml"),
        ("sign", "nowhere", "--key", "k", "--as", "a", "--decision", "accept"),
        ("verify", "nowhere"),
        ("verify", "cases"),
        ("freeze", "nowhere", "--out", "o", "--model-version", "v"),
        ("freeze", "thresholds.yaml", "--out", "o", "--model-version", "v"),
        ("example", "nothing"),
        ("start", "--yes"),
        ("start", "--model", "control:steady", "--yes"),
        ("start", "--model", "gpt:x", "--drift-judge", "oracle", "--yes"),
    ]
    files = (MODEL, GATE, *cases(PATIENT))
    return Scenario("bad/commands", files, tuple(("clinical-drift", *row) for row in rows))
