"""Commands about what was signed or frozen: releases and slates."""

from __future__ import annotations

import argparse
import datetime
from pathlib import Path

from pytest_clinical_drift.cli.command import Commands, say


def add_commands(commands: Commands) -> None:
    command = commands.add("sign", _sign, "sign a decision on a run with your SSH key; exit 4 where it would not count")
    command.add_argument("results", type=Path, metavar="RESULTS", help="the results folder of a run")
    command.add_argument(
        "--key",
        type=Path,
        required=True,
        metavar="FILE",
        help="your private SSH key, or a public one whose private key ssh-agent holds",
    )
    command.add_argument(
        "--as",
        required=True,
        metavar="NAME",
        dest="signer",
        help="your name in the allowed-signers file, such as ada@clinic.example",
    )
    command.add_argument(
        "--decision",
        required=True,
        choices=["accept", "accept-until", "reject"],
        help="what you decide on the residual risk",
    )
    command.add_argument("--until", metavar="YYYY-MM-DD", help="last day of accept-until")
    command.add_argument(
        "--conditions", default="", metavar="TEXT", help="conditions of the acceptance, or why it is rejected"
    )
    command.add_argument(
        "--allowed-signers",
        type=Path,
        metavar="FILE",
        help="who may sign, as ssh-keygen reads it (default: allowed_signers of dossier.yaml)",
    )
    command = commands.add("freeze", _freeze, "freeze a ranking model's predictions as a slate")
    command.add_argument("predictions", type=Path, help="predictions: parquet, CSV or JSONL")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="the slate's new folder")
    command.add_argument("--model-version", required=True, metavar="V", help="version of the ranking model")
    command.add_argument("--param", action="append", default=[], metavar="K=V", help="a parameter to put on record")
    command.add_argument(
        "--candidates", type=Path, metavar="FILE", help="all scored candidates, for the popularity baseline"
    )
    command.add_argument("--labels", type=Path, metavar="FILE", help="pairs known at freeze")
    command.add_argument("--slate-id", metavar="ID", help="default: made of model version, date and hash")
    command = commands.add(
        "verify",
        _verify,
        "check a signed run (exit 0 only where it is accepted and unchanged), or prove "
        "that a frozen slate has not changed",
    )
    command.add_argument("folder", type=Path, help="the results folder of a run, or the slate's folder")
    command.add_argument(
        "--allowed-signers",
        type=Path,
        metavar="FILE",
        help="who may sign a run, as ssh-keygen reads it (default: allowed_signers of dossier.yaml)",
    )
    command.add_argument("--sha256", metavar="HASH", help="the hash that was printed at freezing and kept elsewhere")


def _sign(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.gate.signing import sign

    given = {name: getattr(options, name) for name in ("key", "signer", "decision", "until", "conditions")}
    return sign(options.results, **given, allowed=options.allowed_signers, say=say)


def _freeze(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.gate.options import read_pairs
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


def _verify(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.results.files import RESULTS_FILE

    if (options.folder / RESULTS_FILE).exists():
        from pytest_clinical_drift.gate.signing import verify_release

        today = datetime.datetime.now(tz=datetime.UTC).date()
        return verify_release(options.folder, options.allowed_signers, say, today)
    from pytest_clinical_drift.ranking.freezing import verify_slate

    return verify_slate(options.folder, options.sha256, say)
