"""Beginners' faults behind a training: told beside the figure where they come whatever the model's numbers are.

Each of the sentences was Python's, numpy's or Paddle's when the program was run for real, and each program that runs
ran to its end.
"""

from __future__ import annotations

import pytest

from tests.estimator.tracer.notebook.cells.behind_programs import CELL, EPOCHS, FITTED, HEAD
from tests.estimator.tracer.notebook.cells.test_behind import CHILD

pytestmark = pytest.mark.paddle

MARK = "  # here"
"""Of a program whose last line is not the one that fails."""
LOSSES = "losses = []\n" + EPOCHS + "    losses.append(F.cross_entropy(net(x), y).item())\n" + CELL
COUNTED = (
    LOSSES
    + "right, seen = 0, 0\nwith paddle.no_grad():\n    for x, y in test:\n"
    + "        right += int((net(x).argmax(1, keepdim=True) == y).sum())\n        seen += len(y)\nrate = right / seen\n"
)
MUTE = (
    "def checked(loader):\n    right = 0\n    for x, y in loader:\n"
    "        right += int((net(x).argmax(1, keepdim=True) == y).sum())\n    print(right)\n"
)
SPEC = "paddle.jit.save(net, 'out/net', input_spec=[{specs}])\n"
LAYER = (
    "class Told(paddle.nn.Layer):\n    def __init__(self):\n        super().__init__()\n"
    "        self.lstm, self.conv = paddle.nn.LSTM(6, 4), paddle.nn.Conv2D(3, 4, 3)\n"
    "    def forward(self, x):\n        {forward}\nnet = Told()\nnet.eval()\n"
)
STATE = "state = paddle.zeros([1, {batch}, 4]); return self.lstm(x, (state, state))[0]"
PRE_STATE = "ValueError: (InvalidArgument) The second dimension size (representing for batch size) of Input and"
PREDICTED = FITTED + CELL + "found = model.predict(test, verbose=0)\n"
BATCH = LOSSES + "x, y = next(iter(test))\n"
FAULTS = {
    "a whole number's format behind a count": (
        COUNTED + "print(f'{rate:d}')\n",
        "ValueError: Unknown format code 'd' for object of type 'float'",
    ),
    "three names for two values": (
        LOSSES + "for x, y, at in test:  # here\n    print(net(x).shape)\n",
        "ValueError: not enough values to unpack (expected 3, got 2)",
    ),
    "three names for what an evaluation gives": (
        FITTED + CELL + "loss, rate, more = model.evaluate(test, verbose=0)\n",
        "ValueError: not enough values to unpack (expected 3, got 2)",
    ),
    "two names for one tensor": (
        BATCH + "_, label = paddle.max(net(x), 1)\n",
        "ValueError: too many values to unpack (expected 2)",
    ),
    "a number of a label with a dimension": (
        BATCH + "guessed = net(x).argmax(1).numpy()\nprint(guessed[0], int(y[0]))\n",
        "TypeError: only 0-dimensional arrays can be converted to Python scalars",
    ),
    "a format of many losses": (
        BATCH + "print(f\"{F.cross_entropy(net(x), y, reduction='none'):.4f}\")\n",
        "TypeError: unsupported format string passed to Tensor.__format__",
    ),
    "what fit gives, as Keras does": (
        FITTED.replace("model.fit", "history = model.fit") + CELL + "print(history.history['loss'])\n",
        "AttributeError: 'NoneType' object has no attribute 'history'",
    ),
    "a function without a return": (
        LOSSES + MUTE + "rate = checked(test)\nprint(f'{rate:.3f}')\n",
        "TypeError: unsupported format string passed to NoneType.__format__",
    ),
    "names for what a function does not return": (
        LOSSES + MUTE + "loss, rate = checked(test)\n",
        "TypeError: cannot unpack non-iterable NoneType object",
    ),
    "a text with more places than numbers": (
        COUNTED + "print('{} of {}: {}'.format(right, seen))\n",
        "IndexError: Replacement index 2 out of range for positional args tuple",
    ),
    "a number of numpy's in a file of JSON": (
        "import json\n" + BATCH + "print(json.dumps({'first': net(x).argmax(1).numpy()[0]}))\n",
        "TypeError: Object of type int64 is not JSON serializable",
    ),
    "a whole layer that is saved": (
        LOSSES + "paddle.save({'net': net, 'epoch': 4}, 'last.pdparams')\n",
        "ValueError: paddle do not support saving `paddle.nn.Layer` object.",
    ),
    "a folder as the file to save to": (
        LOSSES + "paddle.save(net.state_dict(), 'out/')\n",
        "ValueError: The input path MUST be format of dirname/filename",
    ),
    "a file in a folder that nothing makes": (
        LOSSES + "np.save('nowhere/losses.npy', np.array(losses))\n",
        "FileNotFoundError: [Errno 2] No such file or directory: 'nowhere/losses.npy'",
    ),
    "a function of static graphs": (
        LOSSES + "paddle.static.save_inference_model('out/net', [x], [loss], None)\n".replace("loss", "x"),
        "AssertionError: In PaddlePaddle 2.x, we turn on dynamic graph mode by default",
    ),
    "an export of another width": (
        LOSSES + SPEC.format(specs="paddle.static.InputSpec([None, 7], 'float32')"),
        "ValueError: (InvalidArgument) In operator matmul, the [1] dimension of Input(X)",
    ),
    "an export of a state of one batch": (
        LOSSES
        + LAYER.format(forward=STATE.format(batch=4))
        + SPEC.format(specs="paddle.static.InputSpec([None, 5, 6], 'float32')"),
        PRE_STATE,
    ),
    "an export of a state of another batch": (
        LOSSES
        + LAYER.format(forward=STATE.format(batch=4))
        + SPEC.format(specs="paddle.static.InputSpec([3, 5, 6], 'float32')"),
        PRE_STATE,
    ),
    "an export of a layer that `to_static` was given the inputs of": (
        LOSSES
        + LAYER.format(forward=STATE.format(batch=4))
        + "spec = [paddle.static.InputSpec([None, 5, 6], 'float32')]\n"
        + "net = paddle.jit.to_static(net, input_spec=spec)\npaddle.jit.save(net, 'out/net')\n",
        PRE_STATE,
    ),
    "an export of shapes that do not go together": (
        LOSSES
        + LAYER.format(forward="return x + paddle.zeros([3, 6])")
        + SPEC.format(specs="paddle.static.InputSpec([2, 6], 'float32')"),
        "ValueError: (InvalidArgument) Broadcast dimension mismatch.",
    ),
    "an export of a normalization of another width": (
        LOSSES
        + LAYER.format(forward="return F.layer_norm(x, [5])")
        + SPEC.format(specs="paddle.static.InputSpec([None, 6], 'float32')"),
        "ValueError: Given normalized_shape is [5], expected input with shape [*, 5], but got input shape [-1, 6]",
    ),
    "an export of a layer that has no such part": (
        LOSSES
        + LAYER.format(forward="return self.nothing(x)")
        + SPEC.format(specs="paddle.static.InputSpec([None, 6], 'float32')"),
        "AttributeError: 'Told' object has no attribute 'nothing'",
    ),
    "an export of more inputs": (
        LOSSES + SPEC.format(specs="paddle.static.InputSpec([None, 6]), paddle.static.InputSpec([None, 1])"),
        "ValueError: The decorated function `forward` requires 1 arguments: ['input'], but received 2",
    ),
    "an export that is loaded by another name": (
        LOSSES + SPEC.format(specs="paddle.static.InputSpec([None, 6])") + "back = paddle.jit.load('out/model')\n",
        "ValueError: The ``path`` (out/model) to load model not exists.",
    ),
    "outputs joined as if they were one": (
        PREDICTED + "print(np.concatenate(found).shape)\n",
        "ValueError: setting an array element with a sequence. The requested array has an inhomogeneous shape after 1 "
        "dimensions. The detected shape was (3,) + inhomogeneous part.",
    ),
    "fewer labels than were predicted": (
        PREDICTED + "print((np.concatenate(found[0]).argmax(1) == np.zeros(40)).mean())\n",
        "ValueError: operands could not be broadcast together with shapes (44,) (40,)",
    ),
    "a method that is called as a function of Python's": (
        BATCH + "rate = paddle.metric.Accuracy()\nrate.update(rate.compute(net(x), y))\nprint(rate.eval())\n",
        "AttributeError: 'Accuracy' object has no attribute 'eval'",
    ),
}
RUNS = {
    "formats of numbers": COUNTED + "print(f'{rate:.4f} {rate:.1%} {right:d}/{seen}', f'{losses[-1]:.3f}')\n",
    "what is predicted": PREDICTED
    + "print(np.concatenate(found[0]).argmax(1) == np.zeros(44), found[0][-1].shape, np.vstack(found[0]).shape)\n"
    + "print(model.predict(test, stack_outputs=True, verbose=0)[0].argmax(1) == np.zeros(44))\n",
    "what a function gives": LOSSES
    + MUTE
    + "    return right / 44\nrate = print('so far')\nrate = checked(test)\nprint(f'{rate:.3f}')\n",
    "what fit gives, looked at": FITTED.replace("model.fit", "history = model.fit")
    + CELL
    + "print(history)\nif history is not None:\n    print(history['loss'])\n",
    "exports": LOSSES
    + SPEC.format(specs="paddle.static.InputSpec([None, 6], 'float32', 'x')")
    + "back = paddle.jit.load('out/net')\nback.eval()\nprint(back(paddle.rand([2, 6])).shape)\n"
    + SPEC.format(specs="paddle.static.InputSpec([2, 6])")
    + SPEC.format(specs="paddle.rand([2, 6])"),
    "exports of states": LOSSES
    + LAYER.format(forward=STATE.format(batch=4))
    + SPEC.format(specs="paddle.static.InputSpec([4, 5, 6], 'float32')")
    + LAYER.format(forward=STATE.format(batch="x.shape[0]"))
    + SPEC.format(specs="paddle.static.InputSpec([None, 5, 6], 'float32')"),
    "exports of what only kernels refuse": LOSSES
    + LAYER.format(forward="return self.conv(x)")
    + SPEC.format(specs="paddle.static.InputSpec([None, 4, 8, 8], 'float32')")
    + LAYER.format(forward="return paddle.topk(x, 20)")
    + SPEC.format(specs="paddle.static.InputSpec([2, 8], 'float32')")
    + LAYER.format(forward="return paddle.gather(x, paddle.to_tensor([9]))")
    + SPEC.format(specs="paddle.static.InputSpec([2, 8], 'float32')")
    + LAYER.format(forward="return self.lstm(x)[0]")
    + SPEC.format(specs="paddle.static.InputSpec([None, 5, 7], 'float32')"),
    "files": "import json, tempfile\n"
    + BATCH
    + "found = tempfile.mkdtemp()\nnp.save(f'{found}/losses.npy', np.array(losses))\n"
    + "label = net(x).argmax(1)\nprint(json.dumps([int(label[0]), label.tolist(), losses]))\n"
    + "paddle.save([net.state_dict(), list(net.parameters())], 'new/last.pdparams')\n",
    "names for what there is": BATCH
    + "top, at = paddle.topk(net(x), 2)\nguessed = net(x).argmax(1).numpy()\n"
    + "names = ['a', 'b', 'c']\nprint(names[guessed[0]], int(y[0, 0]), f'{top[0, 0]:.3f}')\n",
    "what a choice of numbers leaves": BATCH
    + "sure = net(x).max(1).numpy()\nkept = sure[sure > 0.5]\nprint(kept.shape, (kept - kept.mean()).std())\n"
    + "wrong = np.where(net(x).argmax(1).numpy() != y.numpy()[:, 0])[0]\nfor at in wrong[:3]:\n    print(at, y[at])\n",
    "what needs no wrong answers": BATCH
    + "guessed = net(x).argmax(1).numpy()\nwrong = x.numpy()[guessed != y.numpy()[:, 0]]\n"
    + "if len(wrong) > 3:\n    first, second, *_ = wrong\n",
}


@pytest.fixture(scope="module")
def traced(run_code):
    """Each program."""
    faults = [(name, HEAD + source) for name, (source, _) in FAULTS.items()]
    return run_code(CHILD, [*faults, *((f"runs: {name}", HEAD + source) for name, source in RUNS.items())])


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_told_at_its_line(traced, name):
    source, sentence = FAULTS[name]
    found = traced[name]
    assert found["status"] == "ok"
    assert found["stop"]["error"].startswith(sentence)
    lines = source.split(CELL)[-1].splitlines()
    line = next((number for number, text in enumerate(lines, 1) if text.endswith(MARK)), len(lines))
    assert (found["stop"]["cell"], found["stop"]["line"]) == (1, line)


@pytest.mark.parametrize("name", RUNS)
def test_what_runs_is_no_fault(traced, name):
    assert (traced[f"runs: {name}"]["status"], traced[f"runs: {name}"]["stop"]) == ("ok", None)
