"""Which subcommand of a program is to run, what typer requires, and all words that libraries with a way of their own
read, are asked for, and taken."""

from __future__ import annotations

import sys

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import sys, numpy as np, paddle
sys.argv = ["train.py"]
def train(width, rows=16):
    net = paddle.nn.Linear(13, width)
    optimizer = paddle.optimizer.SGD(parameters=net.parameters())
    for _ in range(4):
        net(paddle.rand([rows, 13])).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
"""
GROUP = """
import click
@click.group({options})
@click.option("--seed", default=3)
def cli(seed):
    assert seed == 3
@cli.command()
def show():
    print("shown")
@cli.command()
@click.option("--width", type=int, required=True)
def fit_model(width):
    train(width)
if __name__ == "__main__":
    cli()
"""
ARGPARSE = """
import argparse
parser = argparse.ArgumentParser()
subs = parser.add_subparsers({options})
shown = subs.add_parser("show")
shown.set_defaults(func=lambda args: print("shown"))
fits = subs.add_parser("fit")
fits.add_argument("--width", type=int, default=8)
fits.set_defaults(func=lambda args: train(args.width))
args = parser.parse_args()
"""
PROGRAMS = {
    "group": GROUP.format(options=""),
    "group_alone": GROUP.format(options="invoke_without_command=True"),
    "group_given": GROUP.format(options="").replace("cli()", "cli(['--seed', '3', 'fit-model', '--width', '8'])"),
    "group_within": """
import click
@click.group()
def cli(): pass
@cli.group()
def model(): pass
@model.command()
def run():
    train(8)
@cli.command()
def data():
    print("made")
cli()
""",
    "argparse": ARGPARSE.format(options="dest='cmd', required=True") + "args.func(args)",
    "argparse_unnamed": ARGPARSE.format(options="required=True") + "args.func(args)",
    "argparse_func": ARGPARSE.format(options="") + "args.func(args)",
    "argparse_help": ARGPARSE.format(options="dest='cmd'")
    + "if args.cmd is None:\n    parser.print_help()\nelse:\n    args.func(args)",
    "argparse_exit": ARGPARSE.format(options="")
    + "if not hasattr(args, 'func'):\n    parser.print_help()\n    sys.exit(1)\nargs.func(args)",
    "argparse_named": """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("rows", metavar="N", type=int)
train(8, parser.parse_args().rows)
""",
    "by_text": """
def show():
    print("shown")
def fit():
    train(8)
if __name__ == "__main__":
    globals()[sys.argv[1]]()
""",
    "file_near": """
import argparse, json
parser = argparse.ArgumentParser()
parser.add_argument("--config", default="small.json")
config = json.load(open(parser.parse_args().config))
train(config["width"])
""",
    "docopt": '''"""Usage: train.py fit <width> [--batch=<n>]"""
from docopt import docopt
args = docopt("""Usage: train.py fit <width> [--batch=<n>]""")
train(int(args["<width>"]))
''',
    "fire": """
import fire
class Trainer:
    def show(self):
        print("shown")
    def fit(self):
        train(8)
fire.Fire(Trainer)
""",
}
TYPER = {
    "typer": """
import typer
from enum import Enum
class Kind(str, Enum):
    deep = "deep"
    wide = "wide"
def main(width: int, kind: Kind = typer.Option(...), part: list[str] = typer.Option(...), seed: int = 3):
    assert isinstance(kind, Kind) and part and seed == 3
    train(width)
typer.run(main)
""",
    "typer_group": """
import typer
app = typer.Typer()
@app.command()
def show():
    print("shown")
@app.command()
def fit(rows: int = 16):
    train(8, rows)
if __name__ == "__main__":
    app()
""",
}
ASKED = {
    "group": {"subcommand": "fit-model", "width": 256},
    "group_alone": {"subcommand": "fit-model", "width": 256},
    "group_within": {"subcommand": "model", "model_subcommand": "run"},
    "argparse": {"cmd": "fit"},
    "argparse_unnamed": {"subcommand": "fit"},
    "argparse_func": {"subcommand": "fit"},
    "argparse_help": {"cmd": "fit"},
    "argparse_exit": {"subcommand": "fit"},
    "argparse_named": {"rows": 1},
    "by_text": {"argv_1": "fit"},
    "file_near": {"config_width": 256},
    "docopt": {"arguments": "fit 256"},
    "fire": {"arguments": "fit"},
}
OF_TYPER = {"typer": {"width": 256, "kind": "deep", "part": "part"}, "typer_group": {"subcommand": "fit"}}
"""Newer typers bring a click of their own."""
DOCOPT = """
import sys
class DocoptExit(SystemExit):
    pass
def docopt(doc):
    if len(sys.argv) != 3 or sys.argv[1] != "fit":
        raise DocoptExit(doc)
    return {"fit": True, "<width>": sys.argv[2]}
"""
FIRE = """
import sys
def Fire(component):
    if len(sys.argv) == 1:
        print("COMMANDS: show fit")
        return
    getattr(component(), sys.argv[1])()
"""
"""Files that stand for the libraries: like the first one, which is a file, they lie beside the program."""


def _found(run_child, folder, programs, asked):
    (folder / "docopt.py").write_text(DOCOPT)
    (folder / "fire.py").write_text(FIRE)
    (folder / "other.yml").write_text("rows: 3")
    whole = {name: HEAD + part for name, part in programs.items()}
    answered = {f"{name}_answered": answers for name, answers in asked.items()}
    again = {name: whole[name.removesuffix("_answered")] for name in answered}
    options = {name: {"folder": str(folder), "answers": answered.get(name, {})} for name in {**whole, **again}}
    return run_child("trace", {**whole, **again}, options)


@pytest.fixture(scope="module")
def found(run_child, tmp_path_factory):
    return _found(run_child, tmp_path_factory.mktemp("program"), PROGRAMS, ASKED)


@pytest.fixture(scope="module")
def of_typer(run_child, tmp_path_factory):
    return _found(run_child, tmp_path_factory.mktemp("program"), TYPER, OF_TYPER)


def _suggestions(one):
    return {question["name"]: question["suggestion"] for question in one["questions"]}


@pytest.mark.parametrize("name", ASKED)
def test_what_the_program_was_not_given_is_asked_for(found, name):
    assert _suggestions(found[name]) == ASKED[name]


@pytest.mark.parametrize("name", ASKED)
def test_the_answer_has_it_train(found, name):
    notes = [one for one in found[f"{name}_answered"]["notes"] if one != "data_absent"]  # it is answered for
    assert (found[f"{name}_answered"]["status"], notes) == ("ok", [])


def test_what_is_given_is_not_asked_for(found):
    assert found["group_given"]["status"] == "ok"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="that typer needs Python 3.11")
@pytest.mark.parametrize("name", OF_TYPER)
def test_what_typer_requires_is_asked_for_and_taken(of_typer, name):
    assert _suggestions(of_typer[name]) == OF_TYPER[name]
    assert of_typer[f"{name}_answered"]["status"] == "ok"
