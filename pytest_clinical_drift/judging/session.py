"""The judge of a run: checked and calibrated before the first case, then every conversation is read as it ends."""

import datetime
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.errors import Failure, InputError
from pytest_clinical_drift.evidence.findings import Findings
from pytest_clinical_drift.judging.answers import Outage
from pytest_clinical_drift.judging.calibration_file import Calibration
from pytest_clinical_drift.judging.canaries import canary_rates
from pytest_clinical_drift.judging.control import NAME as CONTROL
from pytest_clinical_drift.judging.conversation import Method, judge_texts, with_people
from pytest_clinical_drift.judging.due import audit_rates
from pytest_clinical_drift.judging.for_reviewers import JudgedConversation as JudgedConversation
from pytest_clinical_drift.judging.for_reviewers import Known, heard, names_of
from pytest_clinical_drift.judging.judge_options import JudgePolicy, make_judges, procedure_of
from pytest_clinical_drift.judging.labelled import GROUP_OF, GROUPS
from pytest_clinical_drift.judging.make_calibration import Say, calibration_of, known_calibration
from pytest_clinical_drift.judging.procedure import ConversationJudgement, Judges
from pytest_clinical_drift.judging.prompts import prompt_hash, prompt_version
from pytest_clinical_drift.judging.queue import Count, JudgeQueue
from pytest_clinical_drift.judging.reviews import Reviews, read_reviews
from pytest_clinical_drift.subjects.base import Identity
from pytest_clinical_drift.subjects.spec import same_model
from pytest_clinical_drift.transcript import Transcript

Group = tuple[str, int]
"""A case and its repeat."""
Find = Callable[[Case, Transcript], Findings]
"""Reads a conversation by rules."""


_REVIEWS = "reviews:"
"""What a spec of a reviews file begins with."""


def _judge_specs(specs: Sequence[str], *, of_control: bool) -> list[str]:
    """The judges that a run names; a control is judged by the judge of controls unless it names another."""
    chosen = [spec for spec in specs if not spec.startswith(_REVIEWS)]
    return [CONTROL] if of_control and not chosen else chosen


def _reviews_of(specs: Sequence[str]) -> Reviews | None:
    """The reviews files that a run names, pooled; None where it names none."""
    reviews: Reviews | None = None
    for spec in specs:
        if spec.startswith(_REVIEWS):
            reviews = read_reviews(Path(spec.removeprefix(_REVIEWS)), known=reviews)
    return reviews


class JudgeSession:
    """Judges and reviews of one run, in the process that talks to the model."""

    def __init__(  # noqa: PLR0913  # each choice of a run by name
        self,
        specs: Sequence[str],
        settings: Mapping[str, str],
        cases: Sequence[Case],
        *,
        rules: JudgePolicy,
        subject: str,
        repeats: int = 1,
        pdsqi: bool = False,
        store: Path | None = None,
        root: Path,
        today: datetime.date,
    ) -> None:
        """`cases` is the full set, also where a part of it is run: audit and canaries are drawn as for all of it."""
        of_control = subject.startswith("control:")
        self.judges, self.options = make_judges(_judge_specs(specs, of_control=of_control), settings)
        if not of_control and any(judge.name == CONTROL for judge in self.judges):
            raise InputError("--drift-judge control: it judges controls only; give a model that reads")
        self.name = " + ".join(judge.name for judge in self.judges) or "rules"
        """For headlines and the manifest."""
        self.is_control = bool(self.judges) and self.judges[0].name == CONTROL
        self.reviews = _reviews_of(specs)
        self._rules = rules
        self._root = root
        self._today = today
        self._store = store
        self._subject = subject
        self.names = names_of(cases)
        """Full names of the set's patients by case, as far as they are known."""
        reads = bool(self.judges) and self.procedure.reads
        if pdsqi and (not reads or of_control):
            raise InputError("--drift-pdsqi needs a judge that reads texts; give a chat model with --drift-judge")
        self.rates = pdsqi
        self._audit = audit_rates(cases, repeats, self.options.audit) if self.judges else {}
        self._canaries = canary_rates(cases, repeats, self.options.canaries) if reads else {}
        self.calibration: Calibration | None = None
        self.kept = ""
        """Where a calibration that this run made is kept, for the user; empty where it made none."""
        self.deciding: frozenset[str] = frozenset()
        """Groups of kinds in which the judge decides."""
        self._queue: JudgeQueue | None = None
        self._considered: set[Group] = set()

    # -- who judges

    @property
    def procedure(self) -> Judges:
        return procedure_of(self.judges, self._rules)

    @property
    def method(self) -> Method:
        """How the conversations are judged, once it is known in what the judge decides."""
        known = Known(self.names, self.options.window, self.deciding)
        if not self.judges:
            return Method(known)
        return Method(known, self.procedure, audit=self._audit, canaries=self._canaries, pdsqi=self.rates)

    @property
    def hosts(self) -> list[str]:
        """Servers that judged texts go to."""
        hosts = [getattr(judge, "host", None) for judge in self.judges]
        return list(dict.fromkeys(host for host in hosts if host is not None))

    @property
    def below_floor(self) -> tuple[str, ...]:
        """Groups of kinds that the judge answers and may not decide."""
        answered = self.judges[-1].kinds if self.judges else ()
        able = {GROUP_OF.get(kind) for kind in answered}
        return tuple(group for group in GROUPS if group in able and group not in self.deciding)

    def known_to_decide(self) -> frozenset[str] | None:
        """Groups in which the judges may decide, by what the project has measured; None where it has not."""
        if self.is_control:
            return frozenset(GROUPS)
        known = known_calibration(self._identities(), self._root, self._today, self.options)
        return known.deciding(self._rules.floors) if known is not None else None

    @property
    def count(self) -> Count:
        return self._queue.count if self._queue is not None else Count()

    @property
    def outage(self) -> Outage | None:
        return self._queue.outage() if self._queue is not None else None

    # -- before the first case

    def check(self, say: Say | None = None) -> list[str]:
        """See that the judges answer, are not the subject, and how good they are; remarks for the header."""
        if not self.judges:
            return []
        self.refuse_subject()
        remarks: list[str] = []
        if not self.options.offline:
            for judge in self.judges:
                remarks += judge.check()
        store = None if self.is_control else self._store  # a control judge costs nothing to ask again
        self._queue = JudgeQueue(*self.judges, store=store, offline=self.options.offline)
        if self.is_control:
            self.deciding = frozenset(GROUPS)
            return remarks
        self.calibration, self.kept = calibration_of(
            self.judges,
            self.procedure,
            root=self._root,
            today=self._today,
            options=self.options,
            rules=self._rules,
            say=say,
        )
        self.deciding = self.calibration.deciding(self._rules.floors)
        return remarks

    def refuse_subject(self) -> None:
        """A model does not judge itself unless the project allows it."""
        for judge in self.judges:
            if same_model(judge.identity().spec, self._subject) and not self.options.allow_subject:
                raise InputError(
                    f"--drift-judge {judge.name}: the judge is the model under test; take another one, or allow "
                    "it with --drift-judge-set allow_subject=true"
                )

    # -- as conversations end

    def watch(self, hear: Callable[[int, int, int], object]) -> None:
        """Report requests: answered, asked, and those to which nothing came."""
        if self._queue is not None:
            self._queue.on_progress = lambda count: hear(*count.progress)

    def limit(self, spent: Callable[[], Failure | None]) -> None:
        """Ask nothing more once `spent` says why."""
        if self._queue is not None:
            self._queue.spent = spent

    def consider(self, case: Case, transcript: Transcript, find: Find) -> None:
        """A conversation is over: rules read it, and its texts are put to the judge. Returns at once."""
        group = (case.id, transcript.repeat)
        if self._queue is not None and group not in self._considered:
            self._considered.add(group)
            self._queue.start(group, self._judge(self._queue, case, transcript, find))

    async def _judge(self, queue: JudgeQueue, case: Case, transcript: Transcript, find: Find) -> JudgedConversation:
        return await judge_texts(queue, case, transcript, find(case, transcript), self.method)

    def judged(
        self, case: Case, transcript: Transcript, find: Find, *, waiting: Callable[[], object] | None = None
    ) -> JudgedConversation:
        """What rules and judge make of a conversation; waits for the answers."""
        if self._queue is None:
            judged = JudgedConversation(find(case, transcript), ConversationJudgement())
        else:
            self.consider(case, transcript, find)
            group = (case.id, transcript.repeat)
            self._considered.discard(group)  # who asks after an error begins again
            judged = self._queue.wait(group, waiting=waiting)
        return with_people(judged, case, transcript, self.method)

    def heard(self, judged: JudgedConversation, severe: Collection[str]) -> JudgedConversation:
        """A conversation once the run's reviewers were heard; `severe` are the questions of its severe alarms."""
        if self.reviews is None:
            return judged
        return heard(judged, self.reviews, severe, people_to_dismiss=self._rules.dismiss_severe)

    def stop(self) -> None:
        """Nobody waits any more."""
        if self._queue is not None:
            self._queue.stop()

    # -- for the manifest

    def _identities(self) -> list[Identity]:
        return [judge.identity() for judge in self.judges]

    def manifest(self) -> dict[str, Any] | None:
        """The judge as the run record keeps it, without its tokens; None for rules only."""
        if not self.judges:
            return None
        identities = self._identities()
        return {
            "spec": " + ".join(identity.spec for identity in identities),
            "revision": " + ".join(str(identity.revision) for identity in identities),
            "identity_proven": all(identity.proven for identity in identities),
            "settings": dict(identities[0].settings),
            "prompt_version": prompt_version(),
            "prompts": prompt_hash(),
            "host": ", ".join(self.hosts) or None,
            "offline": self.options.offline,
            "deciding": sorted(self.deciding),
            "below_floor": list(self.below_floor),
            "calibration": self.calibration.model_dump(mode="json") if self.calibration else None,
            "requests": dict(self.count.kinds),
            "sent": self.count.sent,
            "reused": self.count.reused,
            "ignored": self._queue.answers_ignored if self._queue is not None else 0,
        }
