"""A subject in a package of its own: `pytest --model parrot:loud` answers with the last message, in capitals."""

from pytest_clinical_drift.subjects.base import Identity
from pytest_clinical_drift.transcript import Reply


class ParrotSubject:
    def __init__(self, target, settings):
        self.spec, self._settings = f"parrot:{target}", dict(settings)

    def check(self, cases):
        return [f"{len(cases)} cases will be repeated back"]

    def identity(self):
        return Identity(self.spec, "0.1.0", proven=True, settings=self._settings)

    def respond(self, request):
        return Reply(request.messages[-1].content.upper())

    def close(self):
        pass
