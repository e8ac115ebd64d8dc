from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_paddle_gpu.domain.notebooks import Fact, NotebookFacts, Place
from jupyter_paddle_gpu.notebook.files.reading import parse_notebook, read_notebook
from jupyter_paddle_gpu.notebook.inspection import inspect_notebook
from tests.notebook.facts import Inspect, value

EXAMPLES = Path(__file__).parents[2] / "examples"

NET = """
import paddle
from paddle import nn
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
"""
LOOP = """
for epoch in range(3):
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
"""
SETUP = """
model = Net()
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
criterion = nn.CrossEntropyLoss()
"""

MAKER = "def make(d, batch_size=5):\n    return paddle.io.DataLoader(d, batch_size=batch_size)\n"


def told(fact: Fact | None) -> tuple[object, str, str]:
    assert fact is not None
    return fact.value, fact.how, fact.name


@pytest.mark.parametrize(
    ("name", "loop", "model", "optimizer", "loss", "batch", "epochs"),
    [
        ("digits_fit", "fit", "DigitNet", "Adam", "CrossEntropyLoss", (64, "constant", "BATCH_SIZE"), 3),
        ("digits_loop", "custom", "RowReader", "AdamW", "CrossEntropyLoss", (128, "constant", "batch_size"), 4),
        ("wine_broken", "custom", "Sequential", "Momentum", "cross_entropy", (32, "constant", "batch_size"), 5),
    ],
)
def test_the_examples_are_understood(
    name: str, loop: str, model: str, optimizer: str, loss: str, batch: tuple[object, str, str], epochs: int
) -> None:
    facts = inspect_notebook(read_notebook(EXAMPLES / f"{name}.ipynb"))
    assert facts.loop == loop
    assert facts.imports_paddle
    assert [value(f) for f in (facts.model, facts.optimizer, facts.loss)] == [model, optimizer, loss]
    assert told(facts.batch_size) == batch
    assert value(facts.epochs) == epochs
    assert (value(facts.amp), value(facts.distribution)) == ("off", "none")
    assert facts.problems == ()
    msgspec.json.decode(msgspec.json.encode(facts), type=NotebookFacts)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("loader = paddle.io.DataLoader(data, batch_size=64)", (64, "literal", "")),
        ("B = 2 * 16\nloader = paddle.io.DataLoader(data, batch_size=B)", (32, "constant", "B")),
        ("B = 8\nB = 16\nloader = paddle.io.DataLoader(data, batch_size=B)\nB = 4", (16, "constant", "B")),
        ("a, b = 5, 6\nloader = paddle.io.DataLoader(data, batch_size=b)", (6, "constant", "b")),
        ("class C:\n    bs = 7\nloader = paddle.io.DataLoader(data, batch_size=C.bs)", (7, "constant", "")),
        ("c = {'bs': 9}\nloader = paddle.io.DataLoader(data, batch_size=c['bs'])", (9, "constant", "")),
        ("c = dict(bs=9)\nloader = paddle.io.DataLoader(data, batch_size=c['bs'])", (9, "constant", "")),
        ("o = {'batch_size': 11}\nloader = paddle.io.DataLoader(data, **o)", (11, "literal", "")),
        ("loader = paddle.io.DataLoader(data)", (1, "default", "")),
        ("B = len(data)\nloader = paddle.io.DataLoader(data, batch_size=B)", (None, "computed", "B")),
        ("B = 1\nB += 1\nloader = paddle.io.DataLoader(data, batch_size=B)", (None, "computed", "B")),
        (
            "s = paddle.io.DistributedBatchSampler(data, batch_size=12)\n"
            "loader = paddle.io.DataLoader(data, batch_sampler=s)",
            (12, "literal", ""),
        ),
        (MAKER + "loader = make(data)", (5, "constant", "")),
        (MAKER + "loader = make(data, 6)", (6, "literal", "")),
        (
            "import argparse\np = argparse.ArgumentParser()\np.add_argument('--batch-size', type=int, default=24)\n"
            "args = p.parse_args([])\nloader = paddle.io.DataLoader(data, batch_size=args.batch_size)",
            (24, "constant", ""),
        ),
        (
            "valid_loader = paddle.io.DataLoader(v, batch_size=1)\nloader = paddle.io.DataLoader(data, batch_size=3)",
            (3, "literal", ""),
        ),
    ],
)
def test_the_batch_size_is_followed_to_where_it_is_written(inspect: Inspect, lines: str, expected: object) -> None:
    assert told(inspect(NET, lines, SETUP, LOOP).batch_size) == expected


def test_a_step_of_slices_is_a_batch_size(inspect: Inspect) -> None:
    loop = LOOP.replace("for x, y in loader:", "for i in range(0, len(data), bs):\n        x, y = data[i:i+bs]")
    assert told(inspect(NET, "bs = 20", SETUP, loop).batch_size) == (20, "constant", "bs")


def test_circles_and_explosions_of_names_end(inspect: Inspect) -> None:
    lines = ["x0 = 1", *(f"x{i} = x{i - 1} + x{i - 1}" for i in range(1, 60))]
    facts = inspect(NET, "\n".join(lines), "a = b\nb = a\nloader = paddle.io.DataLoader(d, batch_size=a)", SETUP, LOOP)
    assert told(facts.batch_size)[1] == "computed"
    inspect(NET, "x = x ** x ** x\nloader = paddle.io.DataLoader(d, batch_size=9**9**9**9)", SETUP, LOOP)
    inspect(NET, "loader = " + "+".join(["a"] * 3000), SETUP, LOOP)


def test_functions_that_call_each_other_many_times_are_followed_once(inspect: Inspect) -> None:
    calls = [f"def f{i}(a):\n" + f"    f{i - 1}(a)\n" * 10 for i in range(1, 40)]
    facts = inspect(NET, SETUP, "def f0(a):\n    a.backward()\n    optimizer.step()\n    f39(a)", *calls, "f39(model)")
    assert facts.loop == "custom"
    classes = "\n".join(f"class C{i}(C{i + 1}): pass" for i in range(2000))
    assert inspect(NET, classes + "\nclass C2000(nn.Layer): pass").layers


def test_training_inside_functions_is_followed_through_their_calls(inspect: Inspect) -> None:
    facts = inspect(
        NET,
        "def train(net, batches, passes, opt, loss_of):\n"
        "    for epoch in range(passes):\n"
        "        for x, y in batches:\n"
        "            loss = loss_of(net(x), y)\n"
        "            loss.backward()\n"
        "            opt.step()\n",
        "def build():\n    net = Net()\n    return net\n",
        "net = paddle.DataParallel(build())\nadam = paddle.optimizer.AdamW(0.1, parameters=net.parameters())\n"
        "train(net, paddle.io.DataLoader(d, batch_size=6), 9, adam, nn.MSELoss())",
    )
    assert [value(f) for f in (facts.model, facts.optimizer, facts.loss)] == ["Net", "AdamW", "MSELoss"]
    assert (value(facts.batch_size), value(facts.epochs), value(facts.distribution)) == (6, 9, "data_parallel")


def test_a_loss_computed_inside_the_model_is_found(inspect: Inspect) -> None:
    net = (
        NET
        + "    def forward(self, x, y):\n        out = self.fc(x)\n        return out, nn.functional.mse_loss(out, y)\n"
    )
    loop = LOOP.replace("loss = criterion(model(x), y)", "out, loss = model(x, y)")
    assert value(inspect(net, SETUP, loop).loss) == "mse_loss"


def test_import_aliases_are_followed(inspect: Inspect) -> None:
    facts = inspect(
        "import paddle as pd\nimport paddle.nn as N\nfrom paddle.optimizer import SGD as Opt",
        "from paddle.vision.models import resnet18 as r",
        "class A(N.Layer): pass\nclass B(A): pass",
        "m = pd.Model(r(num_classes=10))\nm.prepare(Opt(parameters=m.parameters()), N.CrossEntropyLoss())",
        "m.fit(d, None, 16, 2)",
    )
    assert [layer.name for layer in facts.layers] == ["A", "B"]
    assert [value(f) for f in (facts.model, facts.optimizer, facts.loss)] == ["resnet18", "SGD", "CrossEntropyLoss"]
    assert (value(facts.batch_size), value(facts.epochs)) == (16, 2)


def test_star_imports_are_followed(inspect: Inspect) -> None:
    facts = inspect("from paddle.nn import *\nclass A(Layer): pass")
    assert [layer.name for layer in facts.layers] == ["A"]


def test_the_loader_given_to_fit_decides_over_its_argument(inspect: Inspect) -> None:
    facts = inspect(
        NET,
        "l = paddle.io.DataLoader(d, batch_size=7)\nm = paddle.Model(Net())\nm.prepare(None)\nm.fit(l, batch_size=99)",
    )
    assert value(facts.batch_size) == 7
    assert told(facts.epochs) == (1, "default", "")


@pytest.mark.parametrize(
    ("guard", "expected"),
    [
        ("paddle.amp.auto_cast()", ("O1", "float16")),
        ("paddle.amp.auto_cast(level='O2', dtype='bfloat16')", ("O2", "bfloat16")),
        ("paddle.amp.auto_cast(enable=False)", ("off", None)),
        ("paddle.amp.auto_cast(enable=USE)", ("off", None)),
    ],
)
def test_mixed_precision_in_a_loop(inspect: Inspect, guard: str, expected: tuple[object, object]) -> None:
    loop = f"""
USE = False
for x, y in loader:
    with {guard}:
        loss = criterion(model(x), y)
    scaled = scaler.scale(loss)
    scaled.backward()
    scaler.step(optimizer)
"""
    facts = inspect(NET, SETUP, loop)
    assert (value(facts.amp), facts.amp_dtype and facts.amp_dtype.value) == expected
    assert value(facts.loss) == "CrossEntropyLoss"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("'O1'", ("O1", "float16")),
        ("{'level': 'O2', 'dtype': 'bfloat16'}", ("O2", "bfloat16")),
        ("None", ("off", None)),
    ],
)
def test_mixed_precision_given_to_prepare(inspect: Inspect, given: str, expected: tuple[object, object]) -> None:
    facts = inspect(NET, f"m = paddle.Model(Net())\nm.prepare(None, None, amp_configs={given})\nm.fit(d)")
    assert (value(facts.amp), facts.amp_dtype and facts.amp_dtype.value) == expected


def test_a_decorated_model_is_still_found(inspect: Inspect) -> None:
    setup = SETUP + "model, optimizer = paddle.amp.decorate(models=model, optimizers=optimizer, level='O2')\n"
    facts = inspect(NET, setup, "loader = paddle.io.DataLoader(d, batch_size=4)", LOOP)
    assert [value(f) for f in (facts.model, facts.optimizer, facts.amp)] == ["Net", "Adam", "O2"]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("from paddle.distributed import fleet\nfleet.init(is_collective=True)", "fleet"),
        ("!python -m paddle.distributed.launch --gpus 0,1 train.py", "launch"),
        ("%%bash\nfleetrun train.py", "launch"),
        ("paddle.distributed.spawn(train)", "launch"),
    ],
)
def test_distribution(inspect: Inspect, cell: str, expected: str) -> None:
    assert value(inspect(NET, cell).distribution) == expected


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("N = 4\npaddle.distributed.spawn(train, nprocs=N)", 4),
        ("paddle.distributed.spawn(train, (1,), 2)", 2),
        ("!python -m paddle.distributed.launch --devices=0,1,2 train.py", 3),
        ("!fleetrun --gpus 0,1 train.py", 2),
        ("!python -m paddle.distributed.launch --nproc_per_node 8 train.py", 8),
        ("!python tool.py --devices 0,1", None),
        ("paddle.distributed.spawn(train)", None),
    ],
)
def test_processes(inspect: Inspect, cell: str, expected: int | None) -> None:
    found = inspect(NET, cell).processes
    assert (found.value if found else None) == expected


def test_roles_and_places(inspect: Inspect) -> None:
    facts = inspect(
        "!pip install -q a", NET, "loader = paddle.io.DataLoader(d, batch_size=4)", SETUP, LOOP, "model.eval()"
    )
    assert facts.roles == {
        0: ("environment",),
        1: ("import", "layer"),
        2: ("data",),
        3: ("model", "optimizer", "loss"),
        4: ("train",),
        5: ("evaluate",),
    }
    assert facts.layers[0].place == Place(1, 4)
    assert facts.optimizer is not None
    assert facts.optimizer.place == Place(3, 3)


def test_what_is_installed(inspect: Inspect) -> None:
    facts = inspect(
        "!pip install -q paddlenlp==2.8 'numpy<2' -i https://example.org/simple # mirror\n%pip install einops",
        "!cd x && python -m pip install -r requirements.txt\n!{sys.executable} -m pip install a[b]",
        "%%bash\npip3 install tqdm > /dev/null\n!pip install 'open",
    )
    assert facts.requirements == ("paddlenlp==2.8", "numpy<2", "einops", "-r requirements.txt", "a[b]", "tqdm", "'open")


def test_a_graph_that_an_executor_runs_is_a_training(inspect: Inspect) -> None:
    graph = "from paddle import static\nloss = build()\npaddle.optimizer.Adam().minimize(loss)"
    facts = inspect("import paddle\npaddle.enable_static()", graph, "exe = static.Executor()")
    assert (facts.loop, value(facts.optimizer)) == ("static", "Adam")
    assert inspect("import paddle", graph).loop == "none", "nothing runs it"


def test_a_broken_cell_leaves_the_rest_readable(inspect: Inspect) -> None:
    facts = inspect(
        NET, "def broken(:", "l = paddle.io.DataLoader(d, batch_size=4)", SETUP, LOOP.replace("loader", "l")
    )
    assert value(facts.batch_size) == 4
    assert [p.code for p in facts.problems] == ["cell_not_python"]


def test_a_cell_full_of_data_is_left_unread(inspect: Inspect) -> None:
    facts = inspect(NET, "data = '" + "x" * 500_000 + "'", SETUP, "l = paddle.io.DataLoader(d, batch_size=4)", LOOP)
    assert [p.code for p in facts.problems] == ["cell_too_long"]
    assert value(facts.batch_size) == 4
    assert len(facts.cells) == 5


def test_another_language_is_a_problem_and_no_error(inspect: Inspect) -> None:
    facts = inspect("x <- 1", kernelspec={"name": "ir", "language": "R"})
    assert facts.loop == "none"
    assert [p.code for p in facts.problems] == ["notebook_other_language"]
    assert facts.kernel_name == "ir"


def test_a_function_of_a_cell_that_spawn_is_to_run_is_a_problem(inspect: Inspect, subtests) -> None:
    made = "import paddle.distributed as dist\nfrom paddle.distributed import spawn\ndef train(): pass"
    for line, found in {
        "dist.spawn(train, nprocs=2)": True,
        "if __name__ == '__main__':\n    spawn(func=train, args=(1,))": True,
        "spawn(train, start_method='fork')": False,
        "from trainer import fit\nspawn(fit)": False,
        "train()": False,
    }.items():
        with subtests.test(line=line):
            codes = [problem.code for problem in inspect(made, line).problems]
            assert codes == (["spawned_in_a_cell"] if found else [])


def test_an_empty_notebook_trains_nothing(inspect: Inspect) -> None:
    facts = inspect()
    assert (facts.loop, facts.model, facts.problems) == ("none", None, ())


PIECES = st.sampled_from(
    [
        "import paddle",
        "from paddle import nn",
        "!ls",
        "%time x",
        "x = (",
        ")",
        "def f(a, b=1):",
        "    return f",
        "class N(nn.Layer):",
        "    pass",
        "  pass",
        "\tpass",
        "for i in range(3):",
        "    loss.backward()",
        "o.step()",
        "m = paddle.Model(m)",
        "m.fit(m)",
        "m = m.m",
        "f(*f, **f)",
        "a, *b = c",
        "x['a'] = x",
        "o = paddle.optimizer.Adam(parameters=o)",
        "with f() as (a, b): pass",
        "m.prepare(o, m)",
        "f = f",
        "self.x = self.x",
        "lambda: f",
        "l = paddle.io.DataLoader(l, batch_sampler=l)",
        "for a in l(): a.backward()",
        "'''",
        "\\",
    ]
)


@given(st.lists(st.lists(PIECES, max_size=12), max_size=6))
def test_nothing_in_a_cell_makes_the_reader_fail(cells: list[list[str]]) -> None:
    sources = [{"cell_type": "code", "source": "\n".join(lines)} for lines in cells]
    content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": sources}
    msgspec.json.encode(inspect_notebook(parse_notebook(json.dumps(content), Path("/a.ipynb"))))


@pytest.mark.parametrize(
    ("source", "trainer"),
    [
        ("from ppocr.modeling.architectures import build_model", "PaddleOCR"),
        ("import paddlenlp\nfrom paddlemix import models", "PaddleMIX"),
        ("from paddleseg.models import *", "PaddleSeg"),
        ("import paddle\nimport my_ppdet", ""),
    ],
)
def test_the_public_trainer_behind_the_code_is_told_by_its_package(inspect, source: str, trainer: str) -> None:
    assert inspect(source).trainer == trainer
