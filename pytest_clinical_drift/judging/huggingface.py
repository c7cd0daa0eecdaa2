"""`hf:REPO_OR_PATH`: a chat model in this process, asked in batches by the subject's own engine."""

from collections.abc import Mapping, Sequence

from pytest_clinical_drift.judging.chat import Interview
from pytest_clinical_drift.judging.protocol import EVERYTHING, Feed
from pytest_clinical_drift.subjects.base import Identity, Request, RunStopped
from pytest_clinical_drift.subjects.huggingface import HuggingFaceSubject
from pytest_clinical_drift.transcript import Reply


class HuggingFaceJudge:
    """Batches of questions; those of one kind share the instructions that open their prompts."""

    kinds = EVERYTHING

    def __init__(self, target: str, settings: Mapping[str, str]) -> None:
        self._model = HuggingFaceSubject(target, {"max_tokens": "2048", **settings}, option="--drift-judge")
        self.name = f"hf:{target}"

    def check(self) -> list[str]:
        return self._model.check([])

    def identity(self) -> Identity:
        return self._model.identity()

    def work(self, feed: Feed) -> None:
        interviews: dict[Request, Interview] = {}

        def begin(interview: Interview) -> Request:
            request = interview.request()
            interviews[request] = interview
            return request

        def deliver(request: Request, reply: Reply) -> Sequence[Request]:
            """Asks again, or hands over the answer and takes the next question: the batch stays full."""
            interview = interviews.pop(request)
            answer = interview.take(reply)
            if answer is None:
                return [begin(interview)]
            feed.deliver(interview.asked, answer)
            if feed.stopped:
                self._model.cancel()
            return [begin(Interview(asked)) for asked in feed.take(1)]

        while not feed.stopped:
            requests = [begin(Interview(asked)) for asked in feed.take(self._model.batch_size, wait=0.2)]
            if requests:
                try:
                    self._model.answer(requests, deliver)
                except RunStopped:
                    return

    def close(self) -> None:
        self._model.close()
