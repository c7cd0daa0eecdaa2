"""The gate from Python, without pytest: `run_gate` with several arguments, and what it refuses."""

import json
from pathlib import Path

from pytest_clinical_drift import run_gate

ROWS = {
    "control": {"model": "control:cliff", "cases": "cases"},
    "only": {"model": "control:cliff", "cases": "cases", "only": ["copd-home-oxygen-baker"]},
    "repeats": {"model": "python:golden_model:losing", "cases": "cases", "repeats": 2},
    "strict": {"model": "replay:recorded", "cases": "cases", "strict": True},
    "unknown-case": {"model": "control:cliff", "cases": "cases", "only": ["nobody"]},
    "unknown-model": {"model": "control:nobody", "cases": "cases"},
    "no-cases": {"model": "control:cliff", "cases": "nowhere"},
    "setting": {"model": "control:fading", "cases": "cases", "settings": {"half_life": 50}},
}
found = {}
for name, given in ROWS.items():
    try:
        done = run_gate(**given)
    except Exception as error:
        found[name] = {"error": type(error).__name__, "message": str(error)}
        continue
    found[name] = json.loads(done.model_dump_json()) if hasattr(done, "model_dump_json") else dict(vars(done))
Path("gate.json").write_text(json.dumps(found, ensure_ascii=False, default=str), encoding="utf-8")
print({name: told.get("verdict", told.get("error")) for name, told in found.items()})
