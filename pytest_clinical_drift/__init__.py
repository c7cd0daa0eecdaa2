"""Gate releases of clinical language models on what they forget and contradict over a conversation."""

from typing import Any

# public name -> module that holds it; resolved at first use, so that importing the plugin stays cheap
_PUBLIC = {
    "load_cases": "cases.files",
    "assess_retention": "evidence.facts.retention",
    "mention_context": "evidence.mentions.context",
    "find_advice": "evidence.advice.orders",
    "judge_conflict": "scoring.study_functions",
    "compute_drift_slope": "metrics.recall",
    "compute_entity_recall_metrics": "scoring.study_functions",
    "calculate_knowledge_conflict_rate_from_responses": "scoring.study_functions",
    "calculate_alignment_score": "scoring.alignment",
    "run_gate": "gate.api",
}
__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{_PUBLIC[name]}", __name__), name)
    globals()[name] = value
    return value
