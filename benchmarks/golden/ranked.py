"""Slates of ranking models: frozen, gated, proved, and damaged."""

from __future__ import annotations

from benchmarks.golden.parts import DAMAGE, GATE, JUNIT
from benchmarks.golden.scenario import File, Scenario

RANKER = '''"""Rankers to be tested retrospectively."""


class Counting:
    """Ranks drugs by how many diseases they are labelled for."""

    def fit(self, pairs):
        self.counts = {}
        for pair in pairs:
            self.counts[pair.drug] = self.counts.get(pair.drug, 0) + (pair.label > 0)

    def score(self, disease, drugs):
        return [float(self.counts.get(drug, 0)) for drug in drugs]


class Flat(Counting):
    def score(self, disease, drugs):
        return [0.5] * len(drugs)


class Broken(Counting):
    def score(self, disease, drugs):
        raise RuntimeError("out of memory")


class Short(Counting):
    def score(self, disease, drugs):
        return [1.0]


class NotANumber(Counting):
    def score(self, disease, drugs):
        return [float("nan") for _ in drugs]
'''
SLATE = File("mine", source="slate")
SOUND = File("sound", source="slate")
RUN = ("pytest", "--slate", "mine", *JUNIT)


def damage(*words: str) -> tuple[str, ...]:
    return "python", "damage.py", *words


def scenarios() -> list[Scenario]:
    files = (SLATE, GATE, DAMAGE, File("my_ranker.py", text=RANKER))
    found = [
        Scenario(
            "slate/good", files, (RUN, (*RUN, "--drift-strict"), (*RUN, "-k", "enrichment")), quick=True, pages=True
        ),
        Scenario("slate/verify", files, _proofs()),
        Scenario("slate/example", (GATE,), _example()),
        Scenario("slate/freeze", files, _freezing()),
    ]
    for name in ("Counting", "Flat", "Broken", "Short", "NotANumber", "Missing"):
        model = ("--drift-model", f"python:my_ranker:{name}")
        found.append(Scenario(f"slate/ranker-{name}", files, ((*RUN, *model),), quick=name == "Counting"))
    found += [Scenario(f"slate/damaged-{name}", files, (*steps, RUN)) for name, steps in _damages().items()]
    several: list[tuple[str, ...]] = []
    for name in ("rank", "no-manifest", "outcomes-of-another", "outcome-date"):
        several += [damage("copy", "sound", "mine"), *_damages()[name], RUN]
    found.append(Scenario("slate/damaged-quick", (*files, SOUND), tuple(several), quick=True))
    return found


def _damages() -> dict[str, tuple[tuple[str, ...], ...]]:
    """What is done to a slate before it is gated."""
    outcomes, predictions = "mine/outcomes.csv", "mine/predictions.csv"
    refreeze = damage("remove", "mine/manifest.json")
    return {
        "rank": (damage("replace", predictions, ",25,moderate", ",26,moderate"),),
        "score": (damage("replace", predictions, "0.9955", "0.1955"),),
        "hash": (damage("set", "mine/manifest.json", "sha256", '"00"'),),
        "no-manifest": (refreeze,),
        "manifest-cut": (damage("cut", "mine/manifest.json", "40"),),
        "manifest-format": (damage("set", "mine/manifest.json", "format", "9"),),
        "no-predictions": (damage("remove", predictions),),
        "no-candidates": (damage("remove", "mine/candidates.csv"),),
        "no-labels": (damage("remove", "mine/labels.csv"),),
        "no-outcomes": (damage("remove", outcomes),),
        "outcomes-cut": (damage("cut", outcomes, "700"),),
        "outcomes-of-another": (damage("replace", outcomes, "example,", "other,"),),
        "outcome-date": (damage("replace", outcomes, "2021-07-30", "2025-07-30"),),
        "outcome-bad-date": (damage("replace", outcomes, "2021-07-30", "someday"),),
        "outcome-type": (damage("replace", outcomes, "phase_advanced", "sun_shines"),),
        "outcome-column": (damage("replace", outcomes, "outcome_type", "type"),),
        "outcomes-binary": (damage("binary", outcomes),),
        "outcomes-brackets": (damage("append", outcomes, "example," + "[" * 50_000 + ",x,y,z,w,v\n"),),
        "outcomes-twice": (
            damage(
                "append", outcomes, "example,Coastal fever,belexine,phase_advanced,2021-07-30,registry,2025-01-15\n"
            ),
        ),
        "another-file": (damage("copy", outcomes, "mine/more.csv"),),
    }


def _proofs() -> tuple[tuple[str, ...], ...]:
    return (
        ("clinical-drift", "verify", "mine"),
        (
            "clinical-drift",
            "verify",
            "mine",
            "--sha256",
            "5b459864eba91174664f07fa94eb7af19031c1bbb813e616cc0d5bbac98a5d62",
        ),
        ("clinical-drift", "verify", "mine", "--sha256", "00"),
        damage("replace", "mine/predictions.csv", "0.9955", "0.1955"),
        ("clinical-drift", "verify", "mine"),
        damage("remove", "mine/predictions.csv"),
        ("clinical-drift", "verify", "mine"),
        ("clinical-drift", "verify", "nowhere"),
    )


def _example() -> tuple[tuple[str, ...], ...]:
    return (
        ("clinical-drift", "example", "slate"),
        ("clinical-drift", "example", "slate"),
        ("pytest", "--slate", "example-slate", *JUNIT),
        ("clinical-drift", "example", "nothing"),
    )


def _freezing() -> tuple[tuple[str, ...], ...]:
    freeze = ("clinical-drift", "freeze")
    known = ("--model-version", "v5", "--slate-id", "q1")
    return (
        (*freeze, "mine/predictions.csv", "--out", "new", *known, "--candidates", "mine/candidates.csv"),
        (*freeze, "mine/predictions.csv", "--out", "new", *known),
        (*freeze, "mine/predictions.csv", "--out", "full", *known, "--labels", "mine/labels.csv", "--param", "a=b"),
        (*freeze, "mine/labels.csv", "--out", "odd", *known),
        (*freeze, "nowhere.csv", "--out", "none", *known),
        (*freeze, "mine/predictions.csv", "--out", "none", *known, "--param", "a"),
        ("pytest", "--slate", "new", "--junitxml", "new.xml"),
        ("pytest", "--slate", "nowhere"),
        ("pytest", "--slate", "mine/outcomes.csv"),
    )
