"""What a value from outside of a program is suggested to be: by documents, by the code, by its name."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

STEPS = """
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for step in range(6):
    loss = net(paddle.rand([batch, 4])).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
NET = "net = paddle.nn.Linear(4, 2)\nbatch = 8\n" + STEPS
ARGUMENT = """
import argparse, paddle
parser = argparse.ArgumentParser()
parser.add_argument({declared}, required=True)
args = parser.parse_args([])
"""
PROGRAMS = {
    "a comparison": ARGUMENT.format(declared="'--model'") + """
if args.model == 'narrow':
    net = paddle.nn.Linear(4, 2)
elif args.model == 'wide':
    net = paddle.nn.Linear(4, 200)
else:
    raise ValueError(args.model)
batch = 8
""" + STEPS,
    "a table": ARGUMENT.format(declared="'--model'") + """
KINDS = {'first': paddle.nn.Linear, 'second': None}
net = KINDS[args.model](4, 2)
batch = 8
""" + STEPS,
    "a class": ARGUMENT.format(declared="'--kind'") + """
class NetOfTwo(paddle.nn.Linear):
    pass
net = eval('Net' + args.kind)(4, 2)
batch = 8
""" + STEPS,
    "a help": ARGUMENT.format(declared="'--city', help='the city (e.g. Shenzhen)'") + NET,
    "a number": ARGUMENT.format(declared="'--batch', type=int")
    + "net = paddle.nn.Linear(4, 2)\nbatch = args.batch\n" + STEPS,
    "a text": ARGUMENT.format(declared="'--run_name'") + NET,
    "a folder": ARGUMENT.format(declared="'--data_dir'") + NET,
    "a variable": "import os, paddle\nbatch = int(os.environ['ROW_BATCH'])\nnet = paddle.nn.Linear(4, 2)\n" + STEPS,
    "a variable beside others": "import os, paddle\nrate, batch = float(os.environ.get('RATE', 1)), "
    "int(os.environ['ROW_BATCH'])\nnet = paddle.nn.Linear(4, 2)\n" + STEPS,
    "an input": "import paddle\nkind = input('kind? ')\nif kind not in ('narrow', 'wide'):\n    raise SystemExit(2)\n"
    + NET,
    "a class that nobody has": ARGUMENT.format(declared="'--kind'") + "net = eval('Net' + args.kind)(4, 2)\n" + NET,
}  # fmt: skip
EXPECTED = {
    "a comparison": ("model", "narrow", "code"),
    "a table": ("model", "first", "code"),
    "a class": ("kind", "OfTwo", "code"),
    "a help": ("city", "Shenzhen", "code"),
    "a number": ("batch", 32, "any"),
    "a text": ("run_name", "run_name", "any"),
    "a folder": ("data_dir", "data", "any"),
    "a variable": ("ROW_BATCH", "32", "any"),
    "a variable beside others": ("ROW_BATCH", "32", "any"),
    "an input": ("kind", "narrow", "code"),
}


@pytest.fixture(scope="module")
def asked(run_child):
    """With the last program also as it goes on with what is suggested for it."""
    absent = "a class that nobody has"
    return run_child("trace", {**PROGRAMS, "answered": PROGRAMS[absent]}, {"answered": {"answers": {"kind": "kind"}}})


@pytest.mark.parametrize("program", EXPECTED)
def test_an_outer_value_is_suggested_with_its_reason(asked, program):
    (question,) = asked[program]["questions"]
    assert (question["name"], question["suggestion"], question["params"]["source"]) == EXPECTED[program]


def test_what_the_program_cannot_take_stops_it(asked):
    """No class of any such name is there: the suggestion shows it."""
    (question,) = asked["a class that nobody has"]["questions"]
    assert question["suggestion"] == "kind"
    assert asked["answered"]["stop"]["error"] == "NameError: name 'Netkind' is not defined"


def test_documents_give_variables_of_the_environment(tmp_path, monkeypatch):
    documented = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.notebook.questions.documented")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "README.md").write_text("Run `BATCH=48 DATA=/path/to/data python train.py`.\n")
    assert documented.variables("BATCH") == [("48", "documented")]
    assert documented.variables("DATA") == documented.variables("ATCH") == []
