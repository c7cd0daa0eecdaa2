"""Who talks to the subject: one background thread of one process; everyone else waits for finished transcripts."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.conversation.progress import Progress
from pytest_clinical_drift.conversation.scheduler import Plan, run_conversations
from pytest_clinical_drift.conversation.store import Store, StoredRun
from pytest_clinical_drift.errors import DriftError, SubjectError, sentence
from pytest_clinical_drift.subjects.base import BatchedSubject, RunStopped, Subject, remembers
from pytest_clinical_drift.transcript import Transcript, write_transcript

_STOPPED = "the conversation was stopped before its end"
_STOP_SECONDS = 10.0


class BackgroundRunner:
    """Runs all selected conversations in one thread of this process, started by the first who needs one."""

    def __init__(
        self,
        subject: Subject,
        plan: Plan,
        *,
        store: Path | None = None,
        transcripts: Path | None = None,
        progress: Progress | None = None,
        on_finished: Callable[[Transcript], None] | None = None,
    ) -> None:
        """`on_finished` hears of every conversation; `store` is the reply cache, `transcripts` is for people."""
        self._subject, self._plan, self._transcripts = subject, plan, transcripts
        self._store = Store(store) if store is not None else None
        self._progress = progress or Progress()
        self._on_finished = on_finished
        self.cases: Sequence[Case] = ()
        """The conversations that will be asked for."""
        self._finished: dict[tuple[str, int], Transcript] = {}
        self._news = threading.Condition()
        self._stopping = threading.Event()
        self._interrupted = False
        self._thread: threading.Thread | None = None
        self._failure: str | None = None
        self._stored: StoredRun | None = None

    @property
    def replies_ignored(self) -> int:
        """Stored replies that were not used, because a seal does not fit."""
        return self._stored.ignored if self._stored is not None else 0

    def start(self) -> None:
        """Begin, if nobody has yet and it is not over."""
        if self._thread is None and not self._stopping.is_set():
            self._thread = threading.Thread(target=self._run, name="clinical-drift", daemon=True)
            self._thread.start()

    def wait(self, case_id: str, repeat: int) -> Transcript:
        self.start()
        with self._news:
            try:
                while (case_id, repeat) not in self._finished:
                    if self._failure is not None:
                        raise SubjectError(self._failure)
                    if self._thread is None or not self._thread.is_alive():
                        raise RunStopped(_STOPPED) if self._stopping.is_set() else SubjectError(_STOPPED)
                    self._news.wait(0.2)  # a timeout, so that Ctrl-C is heard on every platform
                    self._progress.waiting()
            finally:
                self._progress.arrived()
            return self._finished[case_id, repeat]

    def give_up(self) -> None:
        """Enough is known: what is not over yet will not be asked for any more. Returns at once."""
        self._stopping.set()
        if isinstance(self._subject, BatchedSubject):
            self._subject.cancel()

    def stop(self, *, interrupted: bool = False) -> None:
        """Nobody waits any more. An interrupted run is unfinished: the next one goes on with it."""
        self._interrupted = interrupted
        self.give_up()
        if self._thread is not None:
            self._thread.join(timeout=_STOP_SECONDS)
        self._subject.close()

    def _run(self) -> None:
        stored: StoredRun | None = None
        try:
            if self._store is not None and not remembers(self._subject):
                stored = self._stored = self._store.begin(self._subject.identity())
            if self._transcripts is not None:
                # none of an earlier run may stand beside ours: a replay of the folder would mix two runs
                for file in self._transcripts.glob("*.jsonl"):
                    file.unlink(missing_ok=True)
            run_conversations(
                self.cases,
                self._subject,
                self._plan,
                on_finished=self._keep,
                stop=self._stopping.is_set,
                store=stored,
                progress=self._progress,
            )
            if stored is not None:
                self._stopping.wait()  # whoever scores the replies may be stopped yet, and need them again
        except (DriftError, OSError) as error:
            self._failure = sentence(error)
        except BaseException as error:  # the waiting tests must hear of whatever ended this thread
            self._failure = f"{type(error).__name__}: {error}"
        finally:
            if stored is not None:
                stored.end(finished=self._is_over())
            with self._news:
                self._news.notify_all()

    def _is_over(self) -> bool:
        """Whether the run reached an end that the next run should not go on from: all had, or stopped by a verdict."""
        outage = any(transcript.failure is not None for transcript in self._finished.values())
        complete = len(self._finished) == len(self.cases) * self._plan.repeats
        return not outage and not self._interrupted and (complete or self._stopping.is_set())

    def _keep(self, transcript: Transcript) -> None:
        if self._on_finished is not None:
            self._on_finished(transcript)
        if self._transcripts is not None:
            write_transcript(transcript, self._transcripts)
        with self._news:
            self._finished[transcript.case_id, transcript.repeat] = transcript
            self._news.notify_all()
