"""Commands about judges and reviewers."""

import argparse
from pathlib import Path

from pytest_clinical_drift.cli.command import Commands, say
from pytest_clinical_drift.errors import InputError


def add_commands(commands: Commands) -> None:
    command = commands.add("calibrate", _calibrate, "measure a judge on labelled texts; exit 7 if it decides nothing")
    command.repeated(
        "--drift-judge", "SPEC", "the judge, as for pytest; repeat to add a second judge that settles alarms"
    )
    command.repeated("--drift-judge-set", "K=V", "a setting of the judge")
    command.path("--set", "PATH", "labelled texts; default: the bundled ones")
    command.number("--limit", "N", "at most N texts of each kind of reading: a try, since few texts decide nothing")
    command.repeated("--external", "NAME=PATH", "a public set: primock57, kqa or healthbench")
    command.path("--out", "PATH", "the calibration file, or the folder it goes to")
    command = commands.add("agreement", _agreement, "how far two reviewers agree")
    command.path("first", "FIRST", "reviews of one person, as the review page saves them")
    command.path("second", "SECOND", "reviews of another person")
    command.path("third", "THIRD", "reviews of somebody else, who decides where the two differ", nargs="?")


def _calibrate(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.gate.calibrate import calibrate, labelled_set
    from pytest_clinical_drift.gate.settings import read_pairs

    if not options.drift_judge or not options.out:
        raise InputError(
            "calibrate: name the judge with --drift-judge SPEC and where to write with --out FILE_OR_FOLDER"
        )
    settings = read_pairs(options.drift_judge_set, "--drift-judge-set")
    labelled = labelled_set(options.set, options.limit)
    given = {"external": options.external, "out": options.out, "root": Path.cwd()}
    decides = calibrate(options.drift_judge, settings, labelled=labelled, say=say, **given)
    return 0 if decides else 7  # as UNSETTLED: this judge settles nothing


def _agreement(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.judging.agreement import compare_reviews
    from pytest_clinical_drift.judging.reviews import read_reviews
    from pytest_clinical_drift.report.agreement import render_agreement

    files = [read_reviews(file) for file in (options.first, options.second, options.third) if file is not None]
    say(render_agreement(*compare_reviews(*files)))
    return 0
