"""Session goal alignment: how close the advice of a conversation stays to the target plan, as cosine of embeddings."""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from pytest_clinical_drift.errors import MissingDependency
from pytest_clinical_drift.evidence.advice.orders import advice_of

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
_CHUNK_WORDS = 140
_INSTALL = "needs sentence-transformers: pip install 'pytest-clinical-drift[align]'"
_NOT_HERE = "the embedding model {!r} is not on this machine; download it once, or name a local folder"
NO_PLAN = "the case has no target plan"
NO_ADVICE = "no reply gave advice"

Embedder = Callable[[Sequence[str]], Any]
"""Turns texts into vectors, one row per text."""


def embed_sentences(texts: Sequence[str], model: str = DEFAULT_MODEL) -> Any:
    """By a sentence-transformers model, loaded when it is first needed."""
    return np.asarray(_load(model).encode(list(texts), show_progress_bar=False))


@lru_cache(maxsize=4)
def _load(model: str) -> Any:
    try:
        from sentence_transformers import SentenceTransformer

        # A gate talks to nobody but the model under test: weights must be on this machine already.
        return SentenceTransformer(model, device="cpu", local_files_only=True)
    except ImportError as error:
        raise MissingDependency(f"session goal alignment {_INSTALL}") from error
    except (OSError, ValueError) as error:
        raise MissingDependency(_NOT_HERE.format(model)) from error


def find_embedder(model: str | None = None) -> tuple[Embedder | None, str]:
    """An embedder whose library and weights are at hand, without loading them; otherwise None and the reason.

    Who names a model wants it: MissingDependency where its library is not there.
    """
    name = model or DEFAULT_MODEL
    if find_spec("sentence_transformers") is None:
        if model is not None:
            raise MissingDependency(f"drift_embedder {model}: session goal alignment {_INSTALL}")
        return None, _INSTALL
    if Path(name).is_dir() or _is_cached(name):
        return partial(embed_sentences, model=name), ""
    return None, _NOT_HERE.format(name)


def _is_cached(name: str) -> bool:
    """Whether a model of the hub has been downloaded; looking for its files spares an import of 100 ms."""
    from huggingface_hub.constants import HF_HUB_CACHE

    return any(Path(HF_HUB_CACHE, f"models--{name.replace('/', '--')}").glob("snapshots/*/config.json"))


def calculate_alignment_score(actions: str, target_plan: str | None, embedder: Embedder | None = None) -> float | None:
    """Cosine similarity (-1 to 1, higher is closer) of the advice given and the plan; None without advice or plan.

    `actions` is the advice as one text. The embedder defaults to all-MiniLM-L6-v2.
    """
    if not actions.strip() or not (target_plan or "").strip():
        return None
    plan = _chunks(target_plan or "")
    advice = _chunks(actions)
    rows = np.asarray((embedder or embed_sentences)([*plan, *advice]), dtype=np.float64)
    weights = [len(chunk.split()) for chunk in (*plan, *advice)]
    one, other = (
        np.average(rows[part], axis=0, weights=weights[part]) for part in (slice(len(plan)), slice(len(plan), None))
    )
    lengths = np.linalg.norm(one) * np.linalg.norm(other)
    return float(np.clip(one @ other / lengths, -1.0, 1.0)) if lengths > 0 else None


def align(
    replies: Sequence[str | None], target_plan: str | None, embedder: Embedder | None = None
) -> tuple[float | None, str]:
    """Score of a conversation, of the advising sentences of its replies, each once; or why it has none."""
    if not (target_plan or "").strip():
        return None, NO_PLAN
    actions: list[str] = []
    for reply in filter(None, replies):
        actions += dict.fromkeys(item.quote for item in advice_of(reply))
    if not actions:
        return None, NO_ADVICE
    try:
        return calculate_alignment_score(" ".join(actions), target_plan, embedder), ""
    except MissingDependency as error:
        return None, str(error)


def _chunks(text: str) -> list[str]:
    """A text in stretches the model reads whole: it would silently drop what lies beyond its 256 word pieces."""
    words = text.split()
    if len(words) <= _CHUNK_WORDS:
        return [text]
    size = -(-len(words) // -(-len(words) // _CHUNK_WORDS))  # of equal length, as few as will do
    return [" ".join(words[start : start + size]) for start in range(0, len(words), size)]
