"""What sizes a batch that no loader gives is found, and the step at another size is that of the edited program."""

from __future__ import annotations

import ast

import pytest

pytestmark = pytest.mark.paddle

NET = """
import paddle
model = paddle.nn.Linear(13, 4)
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
"""
STEP = """
    loss = model(x).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
LOOP = "for step in range(5):\n    x = paddle.rand([{rows}, 13])" + STEP
SOURCES = {
    "default": NET
    + "def train(steps=5, batch=8):\n  for step in range(steps):\n"
    + "    rows = [paddle.rand([13]) for _ in range(batch)]\n"
    + "    x = paddle.stack(rows)"
    + STEP
    + "train()",
    "field": NET
    + "from dataclasses import dataclass\n@dataclass\nclass Config:\n    rate: float = .1\n    batch: int = 8\n"
    + LOOP.format(rows="Config().batch"),
    "parser": NET
    + "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--bsz', type=int, default=8)\n"
    + LOOP.format(rows="parser.parse_args([]).bsz"),
    "argument": NET + "def made(rows, wide):\n    return paddle.rand([rows, wide])\nfor step in range(5):\n"
    "    x = made(8, 13)" + STEP,
    "drawn": NET
    + "import numpy as np\nrows = np.ones([100, 13], 'float32')\nclass Memory:\n    def sample(self, count):\n"
    "        return paddle.to_tensor(rows[np.random.choice(100, count)])\nmemory = Memory()\nfor step in range(5):\n"
    "    x = memory.sample(8)" + STEP,
    "drawn by Python": NET + "import random\nrows = [paddle.rand([13]) for _ in range(20)]\nfor step in range(5):\n"
    "    x = paddle.stack(random.sample(rows, 8))" + STEP,
    "literal": NET + LOOP.format(rows="8"),
    "name": NET + "pictures = 8\nepochs = 8\n" + LOOP.format(rows="pictures"),
}

WORDED = {
    "a variable of the environment": "import os\nrows = int(os.environ.get('BATCH', '8'))\n",
    "a text of settings": "import json\nrows = json.loads('{\"rate\": 0.1, \"batch\": 8}')['batch']\n",
    "pairs of key and value": "given = ['rate', 0.1, 'SOLVER.BATCH', 8]\nrows = dict(zip(given[::2], given[1::2]))"
    "['SOLVER.BATCH']\n",
    "a short option": "import argparse\nparser = argparse.ArgumentParser()\n"
    "parser.add_argument('-b', '--batch', type=int, default=3)\nrows = parser.parse_args(['-b', '8']).batch\n",
    "a field with a default": "from dataclasses import dataclass, field\n@dataclass\nclass Config:\n"
    "    batch: int = field(default=8)\nrows = Config().batch\n",
    "a dataclass by place": "from dataclasses import dataclass\n@dataclass\nclass Config:\n    rate: float = 0.1\n"
    "    batch: int = 3\nrows = Config(0.1, 8).batch\n",
    "a part of a function": "from functools import partial\ndef made(batch, wide):\n"
    "    return paddle.rand([batch, wide])\nrows = partial(made, 8)(13).shape[0]\n",
    "what a function returns": "def sized():\n    return 8\nrows = sized()\n",
}
"""How a program may come to its batch that no name of it is bound to as a number."""
LIBRARIES = {
    "an option of click": "import click\n@click.command()\n@click.option('--rate', default=3)\n"
    "@click.option('-n', default=8)\ndef given(rate, n):\n    return n\nother = 8\n"
    "rows = given([], standalone_mode=False)\n",
    "a flag of absl": "from absl import flags\nflags.DEFINE_integer('num_samples', 8, 'of a step')\nother = 8\n"
    "rows = flags.FLAGS(['train.py']) and flags.FLAGS.num_samples\nflags.FLAGS.remove_flag_values(['num_samples'])\n",
    "a usage": '"""Usage: train.py\n\n  --rate=<r>  [default: 3]\n  --batch=<n>  of a step [default: 8]\n"""\n'
    "import re\nother = 8\nrows = int(re.findall(r'--batch.*: (.*)]', __doc__)[0])\n",
}
"""What a command line is by default, beside another number of that size."""
WORDED |= {"a default of typer's": "class typer:\n    Option = staticmethod(lambda default, *_, **__: default)\n"
           "def given(batch: int = typer.Option(8, '--batch')):\n    return batch\nrows = given()\n"}  # fmt: skip
SOURCES |= {how: text + NET + LOOP.format(rows="rows") for how, text in LIBRARIES.items()}
SOURCES |= {how: NET + text + LOOP.format(rows="rows") for how, text in WORDED.items()}
HOW = {"drawn": "argument", "drawn by Python": "literal"} | dict.fromkeys(WORDED, "field")
HOW |= {"what a function returns": "literal", "a dataclass by place": "argument", "a part of a function": "argument"}
HOW |= {
    "an option of click": "parser",
    "a flag of absl": "parser",
    "a usage": "field",
    "a default of typer's": "default",
}


def _edited(source):
    return source.replace("other = 8", "other = 9").replace("8", "2")


@pytest.fixture(scope="module")
def asked(run_child):
    return run_child("trace", SOURCES, {name: {"batch_size": 2} for name in SOURCES})


@pytest.fixture(scope="module")
def edited(run_child):
    return run_child("trace", {name: _edited(source) for name, source in SOURCES.items()})


@pytest.mark.parametrize("how", SOURCES)
def test_the_step_follows(asked, edited, how):
    assert asked[how]["notes"] == edited[how]["notes"]
    assert (asked[how]["peak"], asked[how]["batch_size"]) == (edited[how]["peak"], 2)
    (place,) = asked[how]["batch_from"]
    line = SOURCES[how].split("\n")[place["line"] - 1]
    assert (line[place["column"] : place["end"]], place["how"]) == ("8", HOW.get(how, how))


OVER_CELLS = {
    "a function of another cell": ["def train(m):\n    x = paddle.rand([m, 13])", "train(32)"],
    "a method": ["class Runner:\n    def train(self, bs):\n        pass", "Runner().train(32)"],
    "a class": ["class Runner:\n    def __init__(self, batch_size):\n        pass", "Runner(32)"],
}


@pytest.mark.parametrize("how", OVER_CELLS)
def test_an_argument_is_called_what_the_function_calls_it_wherever_that_stands(how):
    batch_places = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.notebook.questions.batch_places")
    loader = "loader = paddle.io.DataLoader(data, batch_size=20)"
    cells = [
        {"index": i, "source": source} for i, source in enumerate((OVER_CELLS[how][0], loader, OVER_CELLS[how][1]))
    ]
    (place,) = batch_places.places(cells, 32)
    assert (place.cell, place.how) == (2, "argument")
    assert batch_places.places(cells[1:], 32, [ast.parse(cells[0]["source"])]) == [place]


LEFT = {
    "def make(data, bs=32): pass": ("make(data)", "make(data, bs=64)"),
    "def make(*, batch_size=32): pass": ("x = make()", "x = make(batch_size=64)"),
    "def make(data, bs=32, shuffle=True): pass": ("make(data, shuffle=False)", "make(data, shuffle=False, bs=64)"),
    "def make(data, bs=32,  late=1): pass": ("make(data, 32, 2)", None),
    "def make(data, width=32): pass": ("make(data)", None),
    "def make(data, bs=32, **more): pass": ("make(data, **more)", None),
    "def make(data, bs=16): pass": ("make(data)", None),
}


@pytest.mark.parametrize("module", LEFT)
def test_a_call_is_given_what_it_leaves_to_an_imported_default(module):
    batch_places = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.notebook.questions.batch_places")
    source, wanted = LEFT[module]
    cells = [{"index": 0, "source": source}]
    found = [one for one in batch_places.places(cells, 32, [ast.parse(module)] * 2) if one.how == "keyword"]
    changed = batch_places.changed({"cells": cells}, found, [], (32, 64), {})["cells"][0]["source"]
    assert changed == (wanted or source)
    assert [(one.default, one.column == one.end) for one in found] == [(32, True)] * (wanted is not None)


ROWS = NET + "rows = paddle.rand([{rows}, 13])\n"
IN_SLICES = {
    "a step and the ends of slices": ROWS.format(rows=40) + "for i in range(0, 40, 8):\n    x = rows[i : i + 8]" + STEP,
    "multiples": ROWS.format(rows=40) + "for i in range(len(rows) // 8):\n    x = rows[i * 8 : (i + 1) * 8]" + STEP,
    "a list of slices": ROWS.format(rows=40) + "for x in [rows[i : i + 8, :] for i in range(0, 40, 8)]:" + STEP,
    "a reader": ROWS.format(rows=40)
    + "def reader():\n    held = []\n    for row in rows:\n        held.append(row)\n        if len(held) == 8:\n"
    + "            yield paddle.stack(held)\n            held = []\nfor x in reader():"
    + STEP,
    "as many epochs as samples": ROWS.format(rows=40)
    + "for epoch in range(8):\n  for i in range(0, 40, 8):\n    x = rows[i : i + 8]"
    + STEP,
}
EPOCHS = "for epoch in range(8)"


def test_slices_of_samples_end_where_the_batch_does(run_child):
    found = run_child("trace", IN_SLICES, {name: {"batch_size": 2} for name in IN_SLICES})
    edited = {
        name: source.replace("8", "2").replace(EPOCHS.replace("8", "2"), EPOCHS) for name, source in IN_SLICES.items()
    }
    expected = run_child("trace", edited)
    for name, source in IN_SLICES.items():
        assert (found[name]["batch_size"], found[name]["peak"]) == (2, expected[name]["peak"]), name
        assert len(found[name]["batch_from"]) == source.replace(EPOCHS, "").count("8"), name


def test_a_window_as_long_as_the_batch_is_not_made_shorter(run_child):
    """Its length stands in slices as well, and the step would have other inputs."""
    source = (
        NET.replace("13", "8")
        + "rows = paddle.rand([48])\nwindows = paddle.stack([rows[i : i + 8] for i in range(0, 40)])\n"
        + "for i in range(0, 40, 8):\n    x = windows[i : i + 8]"
        + STEP
    )
    (found,) = run_child("trace", {"windows": source}, {"windows": {"batch_size": 2}}).values()
    assert found["batch_size"] == 8
    assert "batch_size_kept" in found["notes"]


CONTRAST = (
    NET
    + """for step in range(5):
    logits = model(paddle.rand([8, 13])) @ model(paddle.rand([8, 13])).T
    loss = paddle.nn.functional.cross_entropy(logits, paddle.arange(8))
"""
    + STEP.split("\n", 2)[2]
)
POSITIONS = NET.replace("Linear(13, 4)", "Embedding(8, 4)") + LOOP.format(rows="8").replace(
    "paddle.rand([8, 13])", "paddle.arange(8) + paddle.zeros([8, 8], 'int64')"
)


COUNTING = {
    "labels": (CONTRAST, 3),
    "labels made once": (
        CONTRAST.replace("paddle.arange(8))", "labels)").replace("for step", "labels = paddle.arange(8)\nfor step"),
        3,
    ),
    "labels over several lines": (CONTRAST.replace("paddle.arange(8))", "paddle.arange(\n        8,\n    ))"), 3),
    "labels that are cast": (CONTRAST.replace("arange(8)", "arange(8).astype('int32').unsqueeze(-1)"), 3),
    "a mask beside labels": (CONTRAST.replace("(logits,", "(logits - paddle.eye(8) * 9,"), 4),
    "positions": (POSITIONS, 1),
}
"""Programs, and how many of their numbers are the batch's."""


def test_what_counts_a_batch_follows_where_the_step_needs_it(run_child):
    """Labels of a contrast within the batch are as many as its samples; positions are not."""
    sources = {name: source for name, (source, _) in COUNTING.items()}
    found = run_child("trace", sources, {name: {"batch_size": 2} for name in sources})
    copies = {}
    for name, (source, count) in COUNTING.items():
        assert (found[name]["batch_size"], len(found[name]["batch_from"])) == (2, count), name
        lines = [line.encode() for line in source.split("\n")]
        for place in sorted(found[name]["batch_from"], key=lambda one: (one["line"], -one["column"])):
            line = lines[place["line"] - 1]
            lines[place["line"] - 1] = line[: place["column"]] + b"2" + line[place["end"] :]
        copies[name] = b"\n".join(lines).decode()
    edited = run_child("trace", copies)
    assert {name: found[name]["peak"] for name in sources} == {name: edited[name]["peak"] for name in sources}


COUNTED = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer
tracer.trace_notebook  # which imports the rest
from tracer.notebook import requests
counted, traced = [], requests.traced
requests.traced = lambda *given, **named: counted.append(0) or traced(*given, **named)
for name, source in json.load(sys.stdin).items():
    taken = []
    for asked in ({"batch_size": 2}, {"seeks_batch": True}):
        counted.clear()
        tracer.trace_notebook({"cells": [{"index": 0, "source": source}], "answers": {}, **asked})
        taken.append(len(counted))
    print(json.dumps([name, taken]))
"""


def test_what_sizes_the_batch_is_found_by_one_trace_more(run_code):
    """Also where labels count the batch: they follow where the step needs it."""
    named = "batch_size = 8\n" + NET + LOOP.format(rows="batch_size")
    counting = {name: source for name, (source, _) in COUNTING.items()}
    taken = run_code(COUNTED, {**SOURCES, **counting, "a usual name": named})
    assert taken == {**{name: [2, 1] for name in (*SOURCES, *counting)}, "a usual name": [1, 1]}
