"""The local subject: batches on cached prefixes give the replies that one-by-one generation gives."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from engine_cases import make_cases
from engine_models import PLAIN, STRIPPING, build_model
from engine_runs import answers
from extras import needs

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.conversation.dialogue import PROBE
from pytest_clinical_drift.conversation.runner import BackgroundRunner
from pytest_clinical_drift.conversation.scheduler import Plan, run_conversations
from pytest_clinical_drift.conversation.store import Store, StoredRun
from pytest_clinical_drift.errors import InputError, SubjectError
from pytest_clinical_drift.subjects.base import BatchedSubject, Request, RunStopped
from pytest_clinical_drift.subjects.huggingface import HuggingFaceSubject
from pytest_clinical_drift.transcript import Message, Reply, Transcript

pytestmark = needs("torch", "transformers")

TOKENS = 20
CASES = make_cases(4, 3)
TEXTS = [f"{case.patient_summary} {turn.message}" for case in CASES for turn in case.turns] + [PROBE]
MODELS: dict[str, dict[str, Any]] = {
    "plain": {},
    "strips reasoning": {"template": STRIPPING},
    "sliding window": {"window": 40},
    "short context": {"max_position_embeddings": 200},
}


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Tiny matrices are slower on several threads, most of all on a busy machine."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    return {
        name: build_model(tmp_path_factory.mktemp("model"), TEXTS, stops=24, **options)
        for name, options in MODELS.items()
    }


def subject_of(folder: Path, **settings: object) -> HuggingFaceSubject:
    texts = {
        key: str(value)
        for key, value in {"max_tokens": TOKENS, "dtype": "float32", "device": "cpu", **settings}.items()
    }
    return HuggingFaceSubject(str(folder), texts)


def talk(subject: Any, cases: Sequence[Case] = CASES, **options: Any) -> dict[str, Transcript]:
    done: dict[str, Transcript] = {}
    run_conversations(cases, subject, Plan(), on_finished=lambda t: done.update({t.case_id: t}), **options)
    return done


def said(transcripts: dict[str, Transcript]) -> dict[str, list[tuple[str, str]]]:
    return {
        name: [
            (exchange.reply.text if exchange.reply else "", exchange.summary.text) for exchange in transcript.exchanges
        ]
        for name, transcript in sorted(transcripts.items())
    }


class OneByOne:
    """The reference: `generate` of transformers on the whole prompt, one request at a time."""

    spec = "reference"

    def __init__(self, folder: Path) -> None:
        import torch
        from transformers import AutoModelForCausalLM

        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        self.template = subject_of(folder)._local
        self.stops = self.template.stop_tokens(self.model)

    def respond(self, request: Request) -> Reply:
        import torch

        prompt = self.template.tokens(request.messages)
        inputs = torch.tensor([prompt])
        made = self.model.generate(
            inputs, attention_mask=torch.ones_like(inputs), do_sample=False, max_new_tokens=TOKENS
        )[0, len(prompt) :].tolist()
        ended = bool(made) and made[-1] in self.stops
        return Reply(self.template.text(made[:-1] if ended else made, prompt), truncated=not ended)


@pytest.fixture(scope="module")
def expected(folders: dict[str, Path]) -> dict[str, dict[str, list[tuple[str, str]]]]:
    """What one-by-one generation says, for each kind of model."""
    kinds = ("plain", "strips reasoning", "sliding window")
    return {kind: said(talk(OneByOne(folders[kind]))) for kind in kinds}


@pytest.mark.parametrize("kind", ["plain", "strips reasoning", "sliding window"])
def test_batches_say_what_one_by_one_generation_says(
    kind: str, folders: dict[str, Path], expected: dict[str, dict[str, list[tuple[str, str]]]]
) -> None:
    """In float32 and greedy, word for word; also with batches that do not hold all conversations."""
    for batch_size in (16, 2):
        subject = subject_of(folders[kind], batch_size=batch_size)
        assert said(talk(subject)) == expected[kind]
        generator = subject._load()
        assert generator.reused > generator.prefilled / 2


def test_replies_differ_in_length_and_some_are_cut_off(folders: dict[str, Path]) -> None:
    """Otherwise the test above would not try ragged rows."""
    replies = [
        r for t in talk(subject_of(folders["plain"])).values() for e in t.exchanges for r in (e.reply, e.summary) if r
    ]
    counts = {reply.usage.completion_tokens for reply in replies}
    assert len(counts) > 5
    assert {reply.truncated for reply in replies} == {True, False}
    assert all(reply.seconds and reply.usage.prompt_tokens for reply in replies)


def test_prefixes_are_computed_once(folders: dict[str, Path]) -> None:
    """A second turn computes the new words only: the first prompt of a conversation is never computed again."""
    subject = subject_of(folders["plain"])
    generator = subject._load()
    first = Request("a", 0, 1, "dialogue", (Message("user", "How is the patient today, and what about tomorrow?"),))
    (reply,) = answers(subject, [first])
    prompt = generator.prefilled
    second = (*first.messages, Message("assistant", reply.text), Message("user", "And then?"))
    answers(subject, [Request("a", 0, 2, "dialogue", second)])
    assert generator.reused >= prompt


@pytest.mark.parametrize("kind", ["plain", "strips reasoning"])
def test_prefilled_tokens_grow_with_the_conversation_and_not_with_its_square(
    kind: str, folders: dict[str, Path]
) -> None:
    """Twice the turns compute about twice the prompt tokens, though the prompts together grow faster."""

    def counts(turns: int) -> tuple[int, int]:
        subject = subject_of(folders[kind], batch_size=2)
        talk(subject, make_cases(4, turns))
        generator = subject._load()
        return generator.prefilled, generator.prefilled + generator.reused

    (short, short_prompts), (long, long_prompts) = counts(16), counts(32)
    assert long_prompts > 2.5 * short_prompts
    assert long < 2.1 * short


def test_a_resumed_run_says_the_same(
    folders: dict[str, Path], expected: dict[str, dict[str, list[tuple[str, str]]]], tmp_path: Path
) -> None:
    """Stopped in the middle: stored replies are used, nothing is cached, and the rest comes out the same."""
    subject, delivered = subject_of(folders["plain"], batch_size=3), 0
    stored = Store(tmp_path / "store.sqlite").begin(subject.identity())
    put = stored.put

    def put_and_count(request: Request, reply: Reply) -> None:
        nonlocal delivered
        delivered += 1
        put(request, reply)
        if delivered == 9:
            subject.cancel()

    stored.put = put_and_count  # type: ignore[method-assign]
    assert said(talk(subject, store=stored)) != expected["plain"]
    stored.end(finished=False)
    next_run = subject_of(folders["plain"])
    again = Store(tmp_path / "store.sqlite").begin(next_run.identity())
    resumed = talk(next_run, store=again)
    again.end(finished=True)
    assert said(resumed) == expected["plain"]
    replies = [r for t in resumed.values() for e in t.exchanges for r in (e.reply, e.summary) if r]
    assert sum(reply.reused_from is not None for reply in replies) >= 9


def test_out_of_memory_halves_the_batch_and_goes_on(
    folders: dict[str, Path], expected: dict[str, dict[str, list[tuple[str, str]]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A device that takes three rows at a time still gives every reply, and the same ones."""
    import torch

    subject = subject_of(folders["plain"])
    model = subject._load()._model
    forward, sizes = model.forward, []

    def small(input_ids: Any, **inputs: Any) -> Any:
        sizes.append(len(input_ids))
        if len(input_ids) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 1 GiB")
        return forward(input_ids=input_ids, **inputs)

    monkeypatch.setattr(model, "forward", small)
    assert said(talk(subject)) == expected["plain"]
    assert max(sizes) > 3
    assert subject._load().rows <= 3
    assert sum(size > 3 for size in sizes) <= 3


def test_a_single_conversation_that_does_not_fit_is_incomplete(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Out of memory is the cause, not an empty reply."""
    import torch

    subject = subject_of(folders["plain"])

    def never(input_ids: Any, **inputs: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(subject._load()._model, "forward", never)
    transcripts = talk(subject, CASES[:2])
    assert all("out of memory" in str(transcript.failure) for transcript in transcripts.values())


def test_a_reply_that_outgrows_the_memory_is_incomplete(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its prompt fits, and what is generated does not: it is tried again with nothing else cached, not for ever."""
    import torch

    subject = subject_of(folders["plain"])
    model = subject._load()._model
    forward, calls = model.forward, []

    def grown(input_ids: Any, **inputs: Any) -> Any:
        calls.append(1)
        if len(calls) > 500:
            raise ValueError("asked for ever")
        if input_ids.shape[1] == 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(input_ids=input_ids, **inputs)

    monkeypatch.setattr(model, "forward", grown)
    transcripts = talk(subject, CASES[:2])
    assert all("out of memory" in str(transcript.failure) for transcript in transcripts.values())


def test_a_conversation_that_outgrows_the_context_is_incomplete(folders: dict[str, Path]) -> None:
    """Context length exceeded, with the numbers."""
    transcripts = talk(subject_of(folders["short context"]), CASES[:2])
    assert all("context length exceeded" in str(transcript.failure) for transcript in transcripts.values())


def test_a_running_generation_obeys_cancellation(folders: dict[str, Path]) -> None:
    """A reply of thousands of tokens ends at once, without being delivered."""
    subject = subject_of(folders["plain"], max_tokens=3900)
    subject._load()._stop_tokens = frozenset()
    delivered: list[Reply] = []
    threading.Timer(0.3, subject.cancel).start()
    started = time.monotonic()
    request = Request("a", 0, 1, "dialogue", (Message("user", "Hello"),))
    with pytest.raises(RunStopped):
        subject.answer([request], lambda _, reply: delivered.append(reply) or ())  # type: ignore[func-returns-value]
    assert time.monotonic() - started < 50
    assert delivered == []


def test_an_interrupted_run_on_a_local_model_goes_on(
    folders: dict[str, Path], expected: dict[str, dict[str, list[tuple[str, str]]]], tmp_path: Path
) -> None:
    """Stopped from outside in the middle of the batches; the next run generates the rest and says the same."""

    def runner() -> BackgroundRunner:
        made = BackgroundRunner(subject_of(folders["plain"]), Plan(), store=tmp_path / "store.sqlite")
        made.cases = CASES
        return made

    first = runner()
    put, kept = StoredRun.put, list[Request]()

    def put_and_interrupt(run: StoredRun, request: Request, reply: Reply) -> None:
        put(run, request, reply)
        kept.append(request)
        if len(kept) == 5:
            first.give_up()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StoredRun, "put", put_and_interrupt)
        with pytest.raises(RunStopped):
            first.wait(CASES[-1].id, 0)
        first.stop(interrupted=True)
    assert 5 <= len(kept) < 24
    second = runner()
    transcripts = {case.id: second.wait(case.id, 0) for case in CASES}
    second.stop()
    assert said(transcripts) == expected["plain"]
    replies = [r for t in transcripts.values() for e in t.exchanges for r in (e.reply, e.summary) if r]
    assert sum(reply.reused_from is not None for reply in replies) == len(kept)


def test_two_cases_that_begin_alike_share_their_first_replies(folders: dict[str, Path], tmp_path: Path) -> None:
    """Sampled, too: the seed of a reply is that of its words, so that a stored reply is the one that would come."""
    twin = CASES[0].model_copy(update={"id": "twin", "turns": (CASES[0].turns[0], *CASES[1].turns[1:])})
    subject = subject_of(folders["plain"], temperature=0.8)
    stored = Store(tmp_path / "store.sqlite").begin(subject.identity())
    together = said(talk(subject, [CASES[0], twin], store=stored))
    stored.end(finished=True)
    apart = said(talk(subject_of(folders["plain"], temperature=0.8), [CASES[0], twin]))
    assert together == apart
    assert together["twin"][0] == together[CASES[0].id][0]
    assert together["twin"][1] != together[CASES[0].id][1]


def test_a_near_tie_is_decided_as_it_would_be_alone(
    folders: dict[str, Path], expected: dict[str, dict[str, list[tuple[str, str]]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a tolerance that refuses most choices, nearly every reply is generated alone: the words stay the same."""
    monkeypatch.setattr("pytest_clinical_drift.subjects.generation._TIE", 0.2)
    subject = subject_of(folders["plain"])
    assert said(talk(subject)) == expected["plain"]
    assert subject._load().redone > 12


def test_sampling_depends_on_the_seed_and_not_on_the_batch(folders: dict[str, Path]) -> None:
    """The same seed gives the same replies in batches of any size; another seed gives others."""
    settings = {"temperature": 0.8, "top_p": 0.9, "top_k": 50}
    once, smaller, other = (
        said(talk(subject_of(folders["plain"], seed=seed, batch_size=size, **settings)))
        for seed, size in ((1, 16), (1, 2), (2, 16))
    )
    assert once == smaller
    assert once != other


def test_a_repetition_penalty_is_honoured_as_transformers_does_it(folders: dict[str, Path]) -> None:
    """Same words as `generate` with the same penalty."""
    folder = folders["plain"]
    reference = OneByOne(folder)
    reference.model.generation_config.repetition_penalty = 1.3
    cases = CASES[:2]
    assert said(talk(subject_of(folder, repetition_penalty=1.3), cases)) == said(talk(reference, cases))


def test_identity_is_a_hash_of_the_files(folders: dict[str, Path], tmp_path: Path) -> None:
    """Proven; two models differ, and so do two settings."""
    plain = subject_of(folders["plain"]).identity()
    assert plain.proven
    assert plain == subject_of(folders["plain"]).identity()
    assert plain.revision != subject_of(folders["sliding window"]).identity().revision
    assert plain.settings != subject_of(folders["plain"], max_tokens=5).identity().settings


def test_identity_tells_what_the_arithmetic_depends_on(folders: dict[str, Path]) -> None:
    """Device, attention and library versions: a stored reply of another one is not reused."""
    plain = subject_of(folders["plain"]).identity()
    assert plain.settings["device"] == "cpu"
    assert plain.settings["torch"] == metadata.version("torch")
    assert {"attn_implementation", "transformers", "dtype"} <= plain.settings.keys()
    eager = subject_of(folders["plain"], attn_implementation="eager").identity()
    assert eager.fingerprint("p") != plain.fingerprint("p")


def test_an_adapter_does_not_prove_what_it_adapts(folders: dict[str, Path], tmp_path: Path) -> None:
    """Its base model lies elsewhere and may change: stored replies then only resume a run."""
    folder = tmp_path / "adapter"
    shutil.copytree(folders["plain"], folder)
    (folder / "adapter_config.json").write_text("{}")
    identity = subject_of(folder).identity()
    assert (identity.proven, identity.revision) == (False, None)


def test_reasoning_that_the_prompt_opens_is_told_from_the_answer(tmp_path: Path) -> None:
    """Templates that end in <think>: the reply starts with it, so that stripping finds it."""
    template = PLAIN.replace("<|assistant|>{% endif %}", "<|assistant|><think>\n{% endif %}")
    folder = build_model(tmp_path, TEXTS, template=template)
    (reply,) = answers(subject_of(folder), [Request("a", 0, 1, "dialogue", (Message("user", "Hello"),))])
    assert reply.text.startswith("<think>\n")


def test_a_template_without_a_system_role_gets_it_before_the_first_message(tmp_path: Path) -> None:
    """Its words are part of the tested item and must not be lost."""
    template = (
        "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}" + PLAIN
    )
    subject = subject_of(build_model(tmp_path, TEXTS, template=template))
    chat = subject._local
    both = chat.tokens((Message("system", "You are a nurse."), Message("user", "Hello")))
    assert both == chat.tokens((Message("user", "You are a nurse.\n\nHello"),))


def test_a_model_that_is_not_there_is_bad_input(tmp_path: Path) -> None:
    """One sentence, before anything is loaded."""
    with pytest.raises(InputError, match="no such folder"):
        HuggingFaceSubject(str(tmp_path / "nothing"), {}).check([])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no weights") as caught:
        HuggingFaceSubject(str(tmp_path / "empty"), {}).check([])
    assert "\n" not in str(caught.value)


def test_a_model_without_a_chat_template_is_bad_input(folders: dict[str, Path], tmp_path: Path) -> None:
    """A base model cannot hold a conversation."""
    folder = build_model(tmp_path, TEXTS, template="")
    with pytest.raises(InputError, match="no chat template"):
        subject_of(folder).check([])


def test_weights_that_cannot_be_loaded_are_an_outage(folders: dict[str, Path], tmp_path: Path) -> None:
    """Cut-off weights: the run is INCOMPLETE with the cause."""
    folder = build_model(tmp_path, TEXTS)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(SubjectError, match="could not be loaded"):
        answers(subject_of(folder), [Request("a", 0, 1, "dialogue", (Message("user", "Hello"),))])


@pytest.mark.parametrize(
    ("settings", "passed_on"),
    [
        ({}, {"trust_remote_code": False, "dtype": "auto"}),
        (
            {"trust_remote_code": "yes", "dtype": "float32", "device_map": "cpu", "revision": "abc"},
            {"trust_remote_code": True, "dtype": "float32", "device_map": "cpu", "revision": "abc"},
        ),
    ],
)
def test_how_the_weights_are_loaded(
    folders: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch,
    settings: dict[str, str],
    passed_on: dict[str, object],
) -> None:
    """Remote code stays off and the type is the model's own, unless asked otherwise."""
    from transformers import AutoModelForCausalLM

    load, seen = AutoModelForCausalLM.from_pretrained, dict[str, object]()

    def record(target: str, **options: Any) -> Any:
        seen.update(options)
        return load(target, dtype=options["dtype"])

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", record)
    HuggingFaceSubject(str(folders["plain"]), settings)._load()
    assert seen == passed_on


def test_a_branch_is_resolved_and_everything_loaded_from_its_commit(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The branch may move between two downloads; the commit is what is tested, recorded and proven."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    commit, place = "c0ffee00" * 5, str(folders["plain"])
    config = AutoConfig.from_pretrained(place)
    config._commit_hash = commit
    parts = {AutoConfig: config, AutoTokenizer: AutoTokenizer.from_pretrained(place)}
    parts[AutoModelForCausalLM] = torch.nn.Identity()
    asked: list[tuple[type, str]] = []
    for loader, part in parts.items():

        def load(target: str, *, kind: type = loader, found: Any = part, revision: str, **options: Any) -> Any:
            asked.append((kind, revision))
            return found

        monkeypatch.setattr(loader, "from_pretrained", load)
    subject = HuggingFaceSubject("org/model", {"revision": "main"})
    identity = subject.identity()
    subject._local.load("cpu")
    assert (identity.revision, identity.proven) == (commit, True)
    assert asked == [(AutoConfig, "main"), (AutoTokenizer, commit), (AutoModelForCausalLM, commit)]


def test_settings_are_checked() -> None:
    """Unknown keys and values are told with the valid ones."""
    with pytest.raises(InputError, match="dtype: expected one of auto, float32"):
        HuggingFaceSubject("x/y", {"dtype": "int3"})
    with pytest.raises(InputError, match=r"timeout: .*valid settings: .*trust_remote_code"):
        HuggingFaceSubject("x/y", {"timeout": "3"})


def test_the_subject_offers_the_batched_interface() -> None:
    """Requests are asked together."""
    assert isinstance(HuggingFaceSubject("x/y", {}), BatchedSubject)
