"""Arguments of a command line that no parser of the program knows: a stop, whatever data and packages are not here."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

TRAINING = """
net = paddle.nn.Linear({width}, 2)
opt = paddle.optimizer.SGD(parameters=net.parameters())
for step in range(4):
    loss = net(paddle.rand([4, {width}])).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
PARSED = """import argparse, paddle
parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, default=4)
{more}
args = parser.parse_args([])
{before}
""" + TRAINING.format(width="args.widht")  # fmt: skip
TOLD = {
    "beside a file": ("", "rows = open('no_such_rows.csv').read()"),
    "beside a package": ("", "import nobody_has_this\nnobody_has_this.log(args.width)"),
}
UNSURE = {
    "a parser that a package has": ("import nobody_has_this\nnobody_has_this.add_to(parser)", ""),
    "a name made at run time": (
        "for line in open('no_such_names.txt'):\n    parser.add_argument('--' + line.strip(), type=int, default=4)", "",
    ),
    "a name of a file": ("", "import json\nargs.__dict__.update(json.load(open('no_such.json')))"),
    "a name that is set": ("", "if open('no_such.txt').read():\n    args.widht = 4"),
}  # fmt: skip


@pytest.fixture(scope="module")
def traced(run_child):
    programs = {name: PARSED.format(more=more, before=before) for name, (more, before) in (TOLD | UNSURE).items()}
    return run_child("trace", programs)


@pytest.mark.parametrize("name", TOLD)
def test_what_no_parser_gives_is_a_stop_at_its_line(traced, name):
    found = traced[name]
    lines = PARSED.format(more=TOLD[name][0], before=TOLD[name][1]).split("\n")
    assert found["status"] == "would_stop"
    assert "'Namespace' object has no attribute 'widht'. Did you mean: 'width'?" in found["stop"]["error"]
    assert lines[found["stop"]["line"] - 1].startswith("net = ")


@pytest.mark.parametrize("name", UNSURE)
def test_what_may_be_given_unseen_is_none(traced, name):
    assert traced[name]["status"] != "would_stop"
