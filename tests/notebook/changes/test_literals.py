"""A hyperparameter that stands in a call is offered by its name; another value is written there and nowhere else."""

from __future__ import annotations

import inspect
import re

import pytest

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.estimates import BatchPlace
from jupyter_paddle_gpu.domain.plans import space
from jupyter_paddle_gpu.domain.variables import differences
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.notebook.changes.table import changes, without
from jupyter_paddle_gpu.notebook.training.hyperparameters import ARGUMENTS
from jupyter_paddle_gpu.services.plans.variables import resolved, settings_of
from tests.notebook.test_variables import notebook

LOOP = """\
for epoch in range(3):
    for x in loader:
        loss = net(x).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
"""
NET = "import paddle\nnet = paddle.nn.Linear(8, 2)\n"


def offered(*cells, parameters=None):
    found = settings_of(notebook(*cells, parameters=parameters)).variables
    return {one.name: (one.value, one.role, one.cell, one.call) for one in found if one.call}


def made(answers, *cells, **request):
    return changes(notebook(*cells), EstimateRequest(answers=answers, **request))


def added(found):
    return [line[1:].strip() for line in found.difference.split("\n") if re.match(r"\+(?!\+\+)", line)]


@pytest.mark.parametrize(
    ("code", "name", "value", "role", "call"),
    [
        ("paddle.optimizer.Adam(learning_rate=1e-3)", "learning_rate", 1e-3, "learning_rate", "Adam"),
        ("paddle.optimizer.SGD(0.1)", "learning_rate", 0.1, "learning_rate", "SGD"),
        (
            "from paddle.optimizer.lr import PolynomialDecay as P\nP(0.1, 20)",
            "learning_rate",
            0.1,
            "learning_rate",
            "PolynomialDecay",
        ),
        (
            "paddle.optimizer.lr.LinearWarmup(0.5, 10, 0, 0.5)",
            "learning_rate",
            0.5,
            "learning_rate",
            "LinearWarmup",
        ),
        ("paddle.optimizer.AdamW(weight_decay=0.01)", "weight_decay", 0.01, "", "AdamW"),
        ("paddle.optimizer.SGD(weight_decay=paddle.regularizer.L2Decay(1e-4))", "weight_decay", 1e-4, "", "L2Decay"),
        ("paddle.optimizer.Momentum(momentum=0.9)", "momentum", 0.9, "", "Momentum"),
        ("paddle.nn.Dropout(0.5)", "dropout", 0.5, "", "Dropout"),
        ("paddle.nn.functional.dropout(net(x), p=0.2)", "dropout", 0.2, "", "dropout"),
        ("paddle.nn.TransformerEncoderLayer(8, 2, 32, dropout=0.1)", "dropout", 0.1, "", "TransformerEncoderLayer"),
        ("model = paddle.Model(net)\nmodel.fit(data, epochs=3)", "epochs", 3, "epochs", "fit"),
        ("opt = paddle.optimizer.SGD()\n" + LOOP, "epochs", 3, "epochs", "for epoch in range(…)"),
        ("def rate(lr=0.02):\n    return paddle.optimizer.SGD(lr)", "learning_rate", 0.02, "learning_rate", "SGD"),
        ("C = {'rate': 0.03}\npaddle.optimizer.SGD(C['rate'])", "learning_rate", 0.03, "learning_rate", "SGD"),
    ],
)
def test_it_is_offered_by_its_name_and_written_where_it_stands(code, name, value, role, call):
    found = offered(NET, code)
    assert found[name] == (value, role, 1, call)
    other = 7 if role == "epochs" else 0.25
    copy, told = made({name: other}, NET, code)
    before, after = code.split("\n"), copy.content["cells"][1]["source"].split("\n")
    changed = [(one, two) for one, two in zip(before, after, strict=True) if one != two]
    assert len(changed) == 1, "one line"
    assert str(other) in changed[0][1]
    assert told.written == (name,)
    assert [one.render() for one in told.says] == [f"with {name} {other}"]
    assert offered(NET, copy.content["cells"][1]["source"])[name][0] == other


@pytest.mark.parametrize(
    "code",
    [
        "paddle.optimizer.SGD(1e-3 * 4)",
        "paddle.optimizer.SGD(rate_of(3))",
        "for rate in (0.1, 0.01):\n    paddle.optimizer.SGD(rate)",
        "Adam(learning_rate=0.1)",  # of nobody knows whom
        "%time paddle.optimizer.SGD(0.1)",
        "rate = 0.1\nopt = paddle.optimizer.SGD(rate)",  # the variable is offered
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--lr', default=0.1)\n"
        "a = p.parse_args()\npaddle.optimizer.SGD(a.lr)",
    ],
)
def test_what_is_computed_unknown_or_a_variable_is_no_number_in_a_call(code):
    assert "learning_rate" not in offered(NET, code)


def test_a_variable_has_the_role_of_what_takes_it():
    found = settings_of(notebook(NET, "rate = 0.1", "paddle.optimizer.SGD(rate)")).variables
    assert (found[0].name, found[0].role) == ("rate", "learning_rate")


TWO = (
    NET,
    "one = paddle.optimizer.Adam(learning_rate=1e-4)\ntwo = paddle.optimizer.Adam(learning_rate=2e-4)",
    "paddle.nn.Sequential(paddle.nn.Dropout(0.1), paddle.nn.Dropout(0.2))\npaddle.optimizer.SGD(0.3)",
)


def test_several_of_one_name_are_told_apart_by_their_places():
    assert {name: one[0] for name, one in offered(*TWO).items()} == {
        "learning_rate@2:1": 1e-4,
        "learning_rate@2:2": 2e-4,
        "learning_rate@3": 0.3,
        "dropout@3:1:40": 0.1,
        "dropout@3:1:64": 0.2,
    }
    _, told = made({"learning_rate@2:2": 0.5, "dropout@3:1:64": 0.75}, *TWO)
    assert added(told) == [
        "two = paddle.optimizer.Adam(learning_rate=0.5)",
        "paddle.nn.Sequential(paddle.nn.Dropout(0.1), paddle.nn.Dropout(0.75))",
    ]


@pytest.mark.parametrize("name", ["learning_rate", "lr", "dropout"])
def test_a_name_that_several_have_is_refused_with_theirs(name):
    _, told = made({name: 0.5}, *TWO)
    assert [one.why.code for one in told.refused] == ["literal_several"]
    assert f"{'dropout' if name == 'dropout' else 'learning_rate'}@3" in told.refused[0].why.render()
    assert not told.cells
    with pytest.raises(PaddleGpuError, match="several places"):
        resolved(space.parse(name, "0.1,0.2"), settings_of(notebook(*TWO)))


def test_what_people_call_it_is_understood_and_a_variable_comes_first():
    copy, told = made({"lr": 0.5}, NET, "paddle.optimizer.SGD(0.1)")
    assert added(told) == ["paddle.optimizer.SGD(0.5)"]
    assert told.written == ("lr",)
    found = resolved(space.parse("lr", "0.1,0.2"), settings_of(copy))
    assert (found.name, found.role, found.what_if) == ("learning_rate", "learning_rate", False)
    both = (NET, "learning_rate = 0.1\npaddle.optimizer.SGD(learning_rate)", "paddle.optimizer.Adam(0.2)")
    assert list(offered(*both)) == ["learning_rate@3"]
    assert not made({"learning_rate": 0.5}, *both)[1].cells


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ({"epochs": 2.5}, "literal_count"),
        ({"epochs": 0}, "literal_count"),
        ({"epochs": True}, "literal_count"),
        ({"learning_rate": "fast"}, "literal_number"),
        ({"learning_rate": float("inf")}, "literal_number"),
    ],
)
def test_a_value_of_another_kind_is_refused(answers, code):
    _, told = made(answers, NET, "opt = paddle.optimizer.SGD(0.1)\n" + LOOP)
    assert [one.why.code for one in told.refused] == [code]


def test_the_batch_that_a_trace_has_found_in_the_same_line_is_found_again():
    code = "run(paddle.optimizer.SGD(0.1), 64)"
    place = BatchPlace(cell=1, line=1, column=31, end=33, how="literal")
    request = EstimateRequest(answers={"learning_rate": 0.00125}, batch_size=32)
    _, told = changes(notebook(NET, code), request, (place,))
    assert added(told) == ["run(paddle.optimizer.SGD(0.00125), 32)"]


def test_two_runs_differ_by_the_value_and_not_by_their_code():
    before = notebook(NET, "opt = paddle.optimizer.SGD(0.1)\n" + LOOP)
    after, _ = changes(before, EstimateRequest(answers={"learning_rate": 0.2, "epochs": 9}))
    found = differences(settings_of(before), settings_of(after))
    assert [(one.name, one.role, one.before, one.after) for one in found] == [
        ("learning_rate", "learning_rate", 0.1, 0.2),
        ("epochs", "epochs", 3, 9),
    ]


def test_what_stands_in_the_cells_is_not_asked_of_the_tracer():
    request = EstimateRequest(answers={"learning_rate": 0.2, "seed": 1})
    _, told = changes(notebook(NET, "seed = 3\npaddle.optimizer.SGD(0.1)"), request)
    assert without(request, (), told.written).answers == {"seed": 1}


def _calls(path):
    """What a row's path means in Paddle."""
    import paddle

    module = paddle
    for part in path.rstrip(".").split(".")[1:]:
        module = getattr(module, part)
    if not path.endswith("."):
        return [module]
    return (
        [getattr(module, name) for name in module.__all__]
        if hasattr(module, "__all__")
        else [
            one for one in vars(module).values() if inspect.isclass(one) and one.__name__.endswith(("Decay", "Warmup"))
        ]
    )


@pytest.mark.parametrize("row", [one for one in ARGUMENTS if not one.paths[0].startswith(".")])
def test_a_position_is_that_of_paddles_own_signature(row):
    for path in row.paths:
        found = 0
        for call in _calls(path):
            names = [one for one in inspect.signature(call).parameters if one != "self"]
            if row.keyword in names:
                found += 1
                assert row.position in (None, names.index(row.keyword)), (call, names)
        assert found, f"nothing in {path} has {row.keyword}"


@pytest.mark.parametrize(
    ("call", "wanted"), [("make_loader(data)", "make_loader(data, bs=64)"), ("make_loader()", "make_loader(bs=64)")]
)
def test_a_batch_size_that_a_call_leaves_to_an_imported_default_is_given_to_it(call, wanted):
    cell = "from train_utils import make_loader\nloader = " + call
    at = len("loader = " + call) - 1
    place = BatchPlace(cell=1, line=2, column=at, end=at, how="keyword", name="bs", default=32)
    _, told = changes(notebook(NET, cell), EstimateRequest(batch_size=64), (place,))
    assert (told.refused, added(told)) == ((), ["loader = " + wanted])
