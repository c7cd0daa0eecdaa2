"""Commands about what was signed or frozen: releases and slates."""

import argparse
import datetime
import shlex
from importlib.util import find_spec

from pytest_clinical_drift.cli.command import Commands, say
from pytest_clinical_drift.errors import InputError


def add_commands(commands: Commands) -> None:
    signers = "who may sign, as ssh-keygen reads it (default: allowed_signers of dossier.yaml)"
    command = commands.add("sign", _sign, "sign a decision on a run with your SSH key; exit 4 where it would not count")
    command.path("results", "RESULTS", "the results folder of a run")
    key = "your private SSH key, or a public one whose private key ssh-agent holds"
    command.path("--key", "FILE", key, required=True)
    name = "your name in the allowed-signers file, such as ada@clinic.example"
    command.text("--as", "NAME", name, required=True, dest="signer")
    decisions = ("accept", "accept-until", "reject")
    command.choice("--decision", "what you decide on the residual risk", *decisions, required=True)
    command.text("--until", "YYYY-MM-DD", "last day of accept-until")
    command.text("--conditions", "TEXT", "conditions of the acceptance, or why it is rejected", default="")
    command.path("--allowed-signers", "FILE", signers)
    command = commands.add("freeze", _freeze, "freeze a ranking model's predictions as a slate")
    command.path("predictions", "PREDICTIONS", "predictions: parquet, CSV or JSONL")
    command.path("--out", "DIR", "the slate's new folder", required=True)
    command.text("--model-version", "V", "version of the ranking model", required=True)
    command.repeated("--param", "K=V", "a parameter to put on record")
    command.path("--candidates", "FILE", "all scored candidates, for the popularity baseline")
    command.path("--labels", "FILE", "pairs known at freeze")
    command.text("--slate-id", "ID", "default: made of model version, date and hash")
    command = commands.add("example", _example, "write the bundled example slate, to try `pytest --slate` on")
    command.choice("what", "the frozen predictions of a ranking model, with outcomes", "slate")
    command.path("--out", "DIR", "its new folder (default: example-slate)", default="example-slate")
    command = commands.add(
        "verify",
        _verify,
        "check a signed run (exit 0 only where it is accepted and unchanged), or prove "
        "that a frozen slate has not changed",
    )
    command.path("folder", "FOLDER", "the results folder of a run, or the slate's folder")
    command.path("--allowed-signers", "FILE", signers)
    command.text("--sha256", "HASH", "the hash that was printed at freezing and kept elsewhere")


def _sign(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.gate.signing import sign

    given = {name: getattr(options, name) for name in ("key", "signer", "decision", "until", "conditions")}
    return sign(options.results, **given, allowed=options.allowed_signers, say=say, today=_today())


def _freeze(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.gate.settings import read_pairs
    from pytest_clinical_drift.ranking.freezing import freeze

    manifest = freeze(
        options.predictions,
        options.out,
        model_version=options.model_version,
        parameters=read_pairs(options.param, "--param"),
        candidates=options.candidates,
        labels=options.labels,
        slate_id=options.slate_id,
    )
    say(f"frozen: {options.out}\nsha256 {manifest.sha256}\nkeep this hash elsewhere: verify --sha256 proves against it")
    return 0


def _example(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.ranking.freezing import write_example

    folder = write_example(options.out)
    needed = "" if find_spec("polars") else "pip install 'pytest-clinical-drift[ranking]' && "
    say(f"written: {folder}\nnext: {needed}pytest --slate {shlex.quote(str(folder))}")
    return 0


def _verify(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.results.files import RESULTS_FILE

    if not options.folder.is_dir():
        raise InputError(f"verify {options.folder}: no such folder")
    if (options.folder / RESULTS_FILE).exists():
        from pytest_clinical_drift.gate.signing import verify_release

        return verify_release(options.folder, options.allowed_signers, say, _today())
    from pytest_clinical_drift.ranking.freezing import verify_slate

    return verify_slate(options.folder, options.sha256, say)


def _today() -> datetime.date:
    return datetime.datetime.now(tz=datetime.UTC).date()
