"""What a kernel holds answers an estimate's questions, and the kernel is afterwards as it was before."""

from __future__ import annotations

import json

import numpy as np
import pytest

from jupyter_paddle_gpu.magics.held import held

from .test_panel import PANEL, STATE, ask

HEAD = "import numpy as np, paddle\nnp.random.seed(1)\n"
NET = """
net = paddle.nn.Sequential(paddle.nn.Linear(13, 8), paddle.nn.Linear(8, 1))
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
"""
LOOP = """
for x, y in loader:
    loss = (net(x) - y).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
ABSENT = "rows = np.load('absent.npy')\nloader = paddle.io.DataLoader(Rows(rows), batch_size=24)"


class Silent:
    """Raises whatever is asked of it."""

    def __getattr__(self, name):
        raise AssertionError(name)

    def __len__(self):
        raise AssertionError

    def __iter__(self):
        raise AssertionError


class Loader:
    def __init__(self, *tensors, batch_size=4):
        self.dataset, self.batch_size, self.batch_sampler = type("Tensors", (), {})(), batch_size, None
        self.dataset.tensors = tensors


def array(*shape, dtype="float32"):
    return np.zeros(shape, dtype)


class Inherits(Loader):
    pass


class Own:
    """Whose attributes are code of its own."""

    @property
    def __dict__(self):
        raise AssertionError


@pytest.mark.parametrize(
    ("names", "question", "answer"),
    [
        ({"x": array(4, 3), "y": array(4, dtype="int64")}, ("loader", "batch", ["x", "y"]), "float32[4,3] int64[4]"),
        ({"batch": [array(4, 3), array(4, 1)]}, ("loader", "batch", ["batch"]), "float32[4,3] float32[4,1]"),
        ({"batch": {"ids": array(4, 3, dtype="int64")}}, ("loader", "batch", ["batch"]), "ids: int64[4,3]"),
        ({"x": array(4, 3), "loader": array(9, 2)}, ("loader", "batch", ["x", "y"]), "float32[9,2]"),
        ({"loader": Loader(array(64, 3), array(64, 1))}, ("loader", "batch", []), "float32[4,3] float32[4,1]"),
        ({"table": array(404, 13)}, ("table", "batch", []), "float32[404,13]"),
        ({"table": array(404, 13)}, ("table_shape_1", "value", []), 13),
        ({"table": array(404, 13)}, ("table_shape_2", "value", []), None),
        ({"table": Silent()}, ("table_shape_1", "value", []), None),
        ({"loader": Inherits(array(9, 3))}, ("loader", "batch", []), "float32[4,3]"),
        ({"config": Own()}, ("config_size", "value", []), None),
        ({"width": 7}, ("width", "value", []), 7),
        ({"words": {"a": 0, "b": 1}}, ("len_words", "value", []), 2),
        ({"table": array(404, 13)}, ("len_table", "value", []), 404),
        ({"config": {"size": 5}}, ("config_size", "value", []), 5),
        ({"DATA": "/"}, ("DATA", "path", []), "/"),
        ({"DATA": "/nowhere/at/all"}, ("DATA", "path", []), None),
        ({"loader": Silent(), "x": Silent()}, ("loader", "batch", ["x"]), None),
        ({"words": Silent()}, ("len_words", "value", []), None),
        ({"width": Silent()}, ("width", "value", []), None),
        ({"config": Silent()}, ("config_size", "value", []), None),
        ({"names": ["a"]}, ("names", "batch", []), None),
        ({}, ("loader", "batch", ["x"]), None),
    ],
)
def test_what_is_held_is_an_answer_and_what_would_run_something_is_none(names, question, answer):
    name, kind, holders = question
    found = held(names, [{"name": name, "kind": kind, "holders": holders}])
    assert found == ({} if answer is None else {name: answer})


@pytest.mark.paddle
def test_the_kernel_is_asked_first_and_nothing_of_it_changes(kernel, tmp_path):
    running = kernel()
    running.run(HEAD + "from paddle.io import Dataset\nclass Rows(Dataset):\n    def __init__(self, rows):\n"
                "        self.rows = rows\n    def __len__(self):\n        return len(self.rows)\n"
                "    def __getitem__(self, i):\n        return self.rows[i, :-1], self.rows[i, -1:]")  # fmt: skip
    running.run(NET)
    # The file is here while the cell runs, and gone when the estimate is made.
    np.save(tmp_path / "absent.npy", array(96, 14))
    running.run(ABSENT)
    running.run(LOOP)
    (tmp_path / "absent.npy").unlink()
    running.run("_random = paddle.get_rng_state(); _drawn = paddle.rand([4]).numpy(); paddle.set_rng_state(_random)")
    before, _, _ = running.run(STATE)
    asked = [{"name": "loader", "kind": "batch", "holders": ["x", "y"]}]
    answer, count = ask(running, f"{PANEL}.held({json.dumps(json.dumps(asked))!s})")
    assert answer == {"held": {"loader": "float32[24,13] float32[24,1]"}}
    again, same = ask(running, f"{PANEL}.held({json.dumps(json.dumps(asked))!s})")
    assert (again, same) == (answer, count)
    after, _, _ = running.run(STATE)
    assert json.loads(after) == json.loads(before)
    text, _, _ = running.run("print((paddle.rand([4]).numpy() == _drawn).all())")
    assert text.split() == ["True"]
    text, _, _ = running.run("%paddle_gpu estimate --target cpu --json")
    found = json.loads(text)
    (question,) = [one for one in found["questions"] if one["kind"] == "batch"]
    assert question["name"] == "loader"
    assert question["suggestion"] == "float32[24,13] float32[24,1]"
    assert "kernel holds" in question["why"]["hint"]
    text, _, _ = running.run("%paddle_gpu estimate --target cpu --json --set loader='float32[24,13] float32[24,1]'")
    assert (json.loads(text)["status"], json.loads(text)["batch_size"]) == ("ok", 24)


@pytest.mark.paddle
def test_a_loader_of_tensors_is_described():
    import paddle

    data = paddle.io.TensorDataset([paddle.zeros([20, 3, 8]), paddle.zeros([20, 1], "int64")])
    loader = paddle.io.DataLoader(data, batch_size=10)
    asked = [{"name": "loader", "kind": "batch", "holders": []}]
    assert held({"loader": loader}, asked) == {"loader": "float32[10,3,8] int64[10,1]"}
