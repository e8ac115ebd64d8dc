"""A fault behind the step, within its epoch, is told of beside the figure; what runs there is never taken for one.

Each of the sentences was Paddle's when the program was run for real, and each program that runs ran to its end.
"""

from __future__ import annotations

import pytest

from tests.estimator.tracer.notebook.cells.behind_programs import (
    BETWEEN,
    CELL,
    COUNTED,
    EPOCHS,
    FIT,
    FIT_ALONE,
    FITTED,
    HEAD,
    ONE,
    OTHER,
    RUNS,
    STEP,
    TURNS,
)

pytestmark = pytest.mark.paddle

FAULTS = {
    "a dimension that a shape does not have": (
        ONE + CELL + "found = net(paddle.rand([5, 6]))\nrows, last = found.shape[0], found.shape[2]\n",
        "IndexError: list index out of range",
    ),
    "a loss that is taken for a vector": (
        ONE + "assert loss.shape == [1], loss.shape\n",
        "AssertionError: paddle.Size([])",
    ),
    "a shape of a layer's weight": (ONE + CELL + "assert net.weight.shape == [6, 4]\n", "AssertionError"),
    "a key of an evaluation in each round": (
        "for width in (4, 8):\n    model = paddle.Model(paddle.nn.Linear(6, width))\n"
        "    model.prepare(paddle.optimizer.Adam(parameters=model.parameters()), paddle.nn.CrossEntropyLoss())\n"
        "    model.fit(train, epochs=2, verbose=0)\n    print(model.evaluate(test, verbose=0)['acc'])\n",
        "KeyError: 'acc'",
    ),
    "a name of a function's own between two trainings": (
        FIT_ALONE + "    rate = loss\nfit()\n" + CELL + "print(rate)\n" + CELL + OTHER,
        "NameError: name 'rate' is not defined",
    ),
    "a function that numpy does not have": (
        ONE + CELL + "print(np.concat_all(kept))\n",
        "AttributeError: module 'numpy' has no attribute 'concat_all'",
    ),
    "an index behind a choice that nobody knows": (
        "best, wait = 9.0, 0\n"
        + EPOCHS
        + "    now = net(x).mean().item()\n"
        + "    if now < best:\n        best, wait = now, 0\n"
        "        paddle.save(net.state_dict(), 'best.pdparams')\n"
        "    else:\n        wait += 1\n        if wait > 3: break\n"
        + CELL
        + "net.set_state_dict(paddle.load('best.pdparams'))\nprint(net(paddle.rand([4, 6])).numpy()[:, 3])\n",
        "IndexError: index 3 is out of bounds for axis 1 with size 3",
    ),
    "a place that a tensor does not have": (
        ONE + CELL + "print(F.softmax(net(paddle.rand([4, 6])))[4])\n",
        "IndexError: (OutOfRange) The starting index 4 of slice is out of bounds in tensor 0-th axis, it should be in "
        "the range of [-4, 4).",
    ),
    "labels of another rank": (
        EPOCHS + "    F.cross_entropy(net(x)[:, 0], y)\n",
        "ValueError: Expected input_dims - 1 = label_dims or input_dims == label_dims",
    ),
    "an index in a round with two optimizers": (
        "other = paddle.nn.Linear(3, 1)\nlast = paddle.optimizer.SGD(0.1, parameters=other.parameters())\n"
        "for epoch in range(4):\n    for x, y in train:\n"
        "        other(net(x).detach()).mean().backward()\n        last.step()\n"
        "        last.clear_grad()\n        loss = other(net(x)).mean()\n        loss.backward()\n        opt.step()\n"
        "        opt.clear_grad()\n        last.clear_grad()\n    print(loss.numpy()[0])\n",
        "IndexError: too many indices for array",
    ),
    "a part that was not saved": (
        ONE + CELL + "paddle.save({'net': net.state_dict()}, 'all.pdparams')\nfound = paddle.load('all.pdparams')\n"
        "net.set_state_dict(found['model'])\n",
        "KeyError: 'model'",
    ),
    "a shape behind two trainings": (
        ONE + CELL + OTHER + CELL + "other(paddle.rand([4, 7]))\n",
        "ValueError: (InvalidArgument) In operator matmul",
    ),
    "a shape behind two fits": (
        FITTED + CELL + "model.fit(train, epochs=2, batch_size=8, verbose=0)\n" + CELL + "net(paddle.rand([4, 7]))\n",
        "ValueError: (InvalidArgument) In operator matmul",
    ),
    "an index behind a second call of what trains": (
        FIT_ALONE + "    return loss\nfit()\nloss = fit()\n" + CELL + "print(loss.numpy()[0])\n",
        "IndexError: too many indices for array",
    ),
    "a shape in the second training's evaluation": (
        ONE + CELL + OTHER.partition("for i")[0] + "for epoch in range(3):\n    for i in range(9):\n"
        "        other(paddle.rand([8, 6])).mean().backward()\n        last.step()\n        last.clear_grad()\n"
        "    net(paddle.rand([4, 7]))\n",
        "ValueError: (InvalidArgument) In operator matmul",
    ),
    "a shape behind a loop on a condition": (
        TURNS.format(condition="turn < 40") + CELL + "net(paddle.rand([4, 7]))\n",
        "ValueError: (InvalidArgument) In operator matmul",
    ),
    "a name behind a loop that is left": (
        TURNS.format(condition="True") + "    if turn >= 40: break\nprint(turns)\n",
        "NameError: name 'turns' is not defined. Did you mean: 'turn'?",
    ),
    "a file that nothing has saved": (
        ONE + CELL + "paddle.save(net.state_dict(), 'best.pdparams')\n"
        "net.set_state_dict(paddle.load('bset.pdparams'))\n",
        "ValueError: The ``path`` (bset.pdparams) to load model not exists.",
    ),
    "a file of a name of its own": (
        "PATH = 'out/bset.pdparams'\n"
        + ONE
        + "    paddle.save(net.state_dict(), f'out/at_{i}.pdparams')\n"
        + CELL
        + "net.set_state_dict(paddle.load(PATH))\n",
        "ValueError: The ``path`` (out/bset.pdparams) to load model not exists.",
    ),
    "a model that nothing has saved": (
        FITTED + CELL + "model.save('out/last')\nmodel.load('out/lst')\n",
        "AssertionError: Failed to load parameters, please check path.",
    ),
    "a key that an evaluation does not give": (
        FITTED + CELL + "print(model.evaluate(test, verbose=0)['accuracy'])\n",
        "KeyError: 'accuracy'",
    ),
    "such a key beside what was loaded": (
        FITTED
        + CELL
        + "said, rate = {}, 'rate'\nsaid[rate] = 0.1\npaddle.save(said, 'said.pkl')\n"
        + "print(paddle.load('said.pkl')['rate'], model.evaluate(test, verbose=0)['accuracy'])\n",
        "KeyError: 'accuracy'",
    ),
    "a key of what an evaluation has given": (
        FITTED + CELL + "for n in range(2):\n    found = model.evaluate(test, verbose=0)\n"
        "    print(found['loss'], found['top1'])\n",
        "KeyError: 'top1'",
    ),
    "a key in the cell that fits": (
        FITTED + "print(model.evaluate(test, verbose=0)['accuracy'])\n",
        "KeyError: 'accuracy'",
    ),
    "a width in a function that fits": (
        "def main():\n"
        + "".join(f"    {line}\n" for line in FITTED.splitlines())
        + "    model.predict_batch([paddle.rand([4, 7])])\nif __name__ == '__main__':\n    main()\n",
        "ValueError: (InvalidArgument) In operator matmul",
    ),
    "a file that nothing has saved, behind epochs": (
        EPOCHS + "paddle.save(net.state_dict(), 'best.pdparams')\nnet.set_state_dict(paddle.load('bset.pdparams'))\n",
        "ValueError: The ``path`` (bset.pdparams) to load model not exists.",
    ),
    "a name behind fewer epochs than are looked at": (
        EPOCHS.replace("range(4)", "range(2)") + "    best = copy.deepcopy(net.state_dict())\nprint(beast)\n",
        "NameError: name 'beast' is not defined",
    ),
    "a key of one of two things that are bound at once": (
        "kept, found = [], {'loss': []}\n"
        + EPOCHS
        + "    found['loss'].append(1)\n"
        + CELL
        + "print(found['loss'][-1], found['val_loss'])\n",
        "KeyError: 'val_loss'",
    ),
    "a second output of one": (
        FITTED + CELL + "print(model.predict(test, verbose=0)[1])\n",
        "IndexError: list index out of range",
    ),
    "a batch of a second output": (
        FITTED + CELL + "found = model.predict(test, verbose=0)\nprint(np.argmax(found[1][0], 1))\n",
        "IndexError: list index out of range",
    ),
    "a row too many of an array": (
        ONE + CELL + "p = net(paddle.rand([10, 6])).numpy()\nprint(p[10])\n",
        "IndexError: index 10 is out of bounds for axis 0 with size 10",
    ),
    "a picture without its batch, to a model": (
        FITTED + CELL + "print(model.predict_batch([test.dataset.x[0][:5]]))\n",
        "ValueError: (InvalidArgument) In operator matmul",
    ),
    "behind a model's evaluation": (
        FITTED + CELL + "model.evaluate(test, verbose=0)\n" + CELL + "net(paddle.rand([4, 7]))\n",
        "ValueError: (InvalidArgument) In operator matmul",
    ),
    "an export of no known shape": (
        ONE + CELL + "paddle.jit.save(net, 'out/net')\n",
        "ValueError: No valid transformed program for function: forward(input), input_spec: None.",
    ),
    "an index in the next cell": (ONE + CELL + "print(loss.numpy()[0])\n", "IndexError: too many indices for array"),
    "a shape two cells on": (
        ONE + CELL + "net.eval()\nprint(len(kept))\n" + CELL + "net(paddle.rand([4, 7]))\n",
        "ValueError: (InvalidArgument) In operator matmul",
    ),
    "a name behind a function that trains": (
        FIT_ALONE + CELL + "fit()\n" + CELL + "best(net)\n",
        "NameError: name 'best'",
    ),
    "a file that is not named": (
        ONE + CELL + "paddle.save(net.state_dict())\n",
        "TypeError: save() missing 1 required positional argument",
    ),
    "a shape behind a training that keeps its best parameters": (
        EPOCHS + "    best = copy.deepcopy(net.state_dict())\n" + CELL + "net(paddle.rand([4, 7]))\n",
        "ValueError: (InvalidArgument) In operator matmul",
    ),
    "an index behind a training that keeps what it evaluates": (
        COUNTED
        + "    with paddle.no_grad():\n        for i in range(3):\n            kept.append(net(x))\n"
        + "print(kept[0].mean().numpy()[0])\n",
        "IndexError: too many indices for array",
    ),
    "an index behind the only loop": (ONE + "print(loss.numpy()[0])\n", "IndexError: too many indices for array"),
    "of a function's only loop": (
        FIT_ALONE + "    print(losss)\nfit()\n",
        "NameError: name 'losss'",
    ),
    "a shape behind the last epoch": (
        EPOCHS + "net(paddle.rand([20, 5]))\n",
        "ValueError: (InvalidArgument) In operator matmul",
    ),
    "an index in a round": (
        EPOCHS + "    print(net.bias.sum().numpy()[0])\n",
        "IndexError: too many indices for array",
    ),
    "a name that there is not": (EPOCHS + "    print(avg_loss)\n", "NameError: name 'avg_loss'"),
    "in a function": (
        "def fit(epochs):\n    for epoch in range(epochs):\n        for x, y in train:\n    "
        + STEP
        + "        schedulr.step()\nfit(4)\n",
        "NameError: name 'schedulr'",
    ),
    "a shape in the evaluation": (
        EPOCHS + "    with paddle.no_grad():\n        net(paddle.rand([20, 5]))\n",
        "ValueError: (InvalidArgument) In operator matmul",
    ),
    "labels of a metric": (
        EPOCHS + "    for x, y in test:\n        paddle.metric.accuracy(net(x), y[:, 0])\n",
        "ValueError: (InvalidArgument) ShapeError: label's dimensions of AccuracyOp must be 2",
    ),
    "an attribute of Paddle's": (EPOCHS + "    opt.get_learning_rate()\n", "AttributeError: 'Adam' object has no"),
    "a function of Paddle's": (
        EPOCHS + "    paddle.metric.accuracy_score(1)\n",
        "AttributeError: module",
    ),
    "an argument": (
        EPOCHS + "    paddle.metric.accuracy(net(x), y, topk=1)\n",
        "TypeError: accuracy() got",
    ),
    "a rate by hand beside a scheduler": (
        EPOCHS.replace("for epoch", "opt.set_lr_scheduler(paddle.optimizer.lr.StepDecay(0.1, 3))\nfor epoch", 1)
        + "    opt.set_lr(0.01)\n",
        "RuntimeError: optimizer's learning rate can't be LRScheduler",
    ),
    "of a counted loop": (
        COUNTED + "    net(paddle.rand([20, 5]))\n",
        "ValueError: (InvalidArgument) In operator matmul",
    ),
    "in a callback": (
        FIT.format(said="self.lastt"),
        "AttributeError: 'Report' object has no attribute 'lastt'. Did you mean: 'last'?",
    ),
    "a shape in a callback": (
        FIT.format(said="self.model.network(paddle.rand([20, 5]))"),
        "ValueError: (InvalidArgument) In operator matmul",
    ),
    "names for a batch of the evaluation": (
        EPOCHS + "    for x, y, z in test:\n        net(x)\n",
        "ValueError: not enough values to unpack (expected 3, got 2)",
    ),
    "a picture of no picture's shape": (
        ONE + CELL + "import matplotlib.pyplot as plt\nplt.imshow(np.zeros([3, 8, 8]))\n",
        "TypeError: Invalid shape (3, 8, 8) for image data",
    ),
    "a place to save that is none": (
        ONE + CELL + "paddle.save('net.pdparams', net.state_dict())\n",
        "ValueError: only supports saving objects to file and `BytesIO`, but got",
    ),
    "a number that is written as JSON": (
        ONE + CELL + "import json\nprint(json.dumps({'loss': loss.numpy()}))\n",
        "TypeError: Object of type ndarray is not JSON serializable",
    ),
    "an attribute of a number": (
        ONE + CELL + "print(loss.item().numpy())\n",
        "AttributeError: 'float' object has no attribute 'numpy'",
    ),
    "a name for a class too many": (
        ONE + CELL + "names = ['a', 'b', 'c']\nfor i in range(5):\n    print(i, names[i])\n",
        "IndexError: list index out of range",
    ),
    "a key that is never given": (
        "history = {'loss': [], 'acc': []}\n"
        + ONE.replace("kept.append", "history['loss'].append")
        + CELL
        + "print(history['loss'][-1], history['accuracy'])\n",
        "KeyError: 'accuracy'",
    ),
    "a class for an object": (
        ONE + CELL + "with paddle.no_grad:\n    pass\n",
        "TypeError: 'type' object does not support the context manager protocol",
    ),
    "a format of another type": (ONE + "print(f'{i} {loss.item():d}')\n", "ValueError: Unknown format code 'd'"),
    "a last batch of a fixed size": (
        "h = paddle.zeros([16, 3])\nfor x, y in train:\n    F.cross_entropy(net(x) + h, y).backward()\n"
        "    opt.step()\n    opt.clear_grad()\n",
        "ValueError: (InvalidArgument) Broadcast dimension mismatch. Operands could not be broadcast together with the "
        "shape of X = [6, 3]",
    ),
    "a last batch that is reshaped": (
        EPOCHS.replace("in train:\n", "in train:\n        x = x.reshape([16, 2, 3]).flatten(1)\n")
        + "    print(epoch)\n",
        "ValueError: (InvalidArgument) The 'shape' in ReshapeOp is invalid",
    ),
}
CHILD = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer

for name, source in json.load(sys.stdin):
    cells = [{"index": index, "source": cell} for index, cell in enumerate(source.split("#---\\n"))]
    found = tracer.trace_notebook({"cells": cells, "answers": {}, "target": "cpu"})
    rows = [[row[0], row[1], row[2]] for row in found.get("storages", [])]
    notes = [note["code"] for note in found["notes"]]
    trainings = 1 + len(found.get("others", []))
    told = {"status": found["status"], "stop": found.get("stop"), "rows": rows, "notes": notes}
    print(json.dumps([name, {"trainings": trainings, **told}]))
"""


@pytest.fixture(scope="module")
def traced(run_code):
    """Each program, and the epochs alone."""
    faults = [(name, HEAD + source) for name, (source, _) in FAULTS.items()]
    between = [(f"runs: {name}", f"{HEAD}{source}{CELL}{OTHER}") for name, source in BETWEEN.items()]
    return run_code(CHILD, [*faults, *between, *((f"runs: {name}", HEAD + source) for name, source in RUNS.items())])


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_told_beside_the_figure(traced, name):
    _, sentence = FAULTS[name]
    found = traced[name]
    assert (found["status"], found["notes"]) == ("ok", [])
    assert found["stop"]["error"].startswith(sentence)
    assert found["stop"]["line"] > HEAD.count("\n") or found["stop"]["cell"] > 0


@pytest.mark.parametrize("name", RUNS)
def test_what_runs_is_no_fault(traced, name):
    assert (traced[f"runs: {name}"]["status"], traced[f"runs: {name}"]["stop"]) == ("ok", None)


@pytest.mark.parametrize("name", BETWEEN)
def test_what_runs_between_two_trainings_hides_none(traced, name):
    found = traced[f"runs: {name}"]
    assert (found["status"], found["stop"], found["trainings"]) == ("ok", None, 2)


def test_the_figure_is_that_of_the_step_alone(traced):
    alone = traced["runs: nothing"]
    for name in ("a name that there is not", "a shape in the evaluation", "labels of a metric"):
        assert traced[name]["rows"] == alone["rows"]


TOO_LONG = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer
from tracer.notebook import requests

json.load(sys.stdin)
found = {"status": "ok", "operations": [["matmul"]], "notes": [], "stop": {"error": "NameError: name 'rate'"}}
requests.stages.fullest = lambda request, trace: {**found, "is_between": True}
requests._traced = lambda request, asked: {"status": "unsupported", "operations": [], "notes": [], "stop": None}
print(json.dumps(["kept", tracer.trace_notebook({"cells": [], "answers": {}})["operations"]]))
"""


def test_a_figure_stays_where_the_look_behind_an_error_has_none(run_code):
    """A chapter on recurrent nets trains three times and has an error between: a look that forgives it ran out of time,
    and there was no figure at all."""
    assert run_code(TOO_LONG, {})["kept"] == [["matmul"]]
