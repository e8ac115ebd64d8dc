"""With summed gradients a loop that counts its own steps goes round as often more; one over data does by itself."""

import pytest

from .test_table import made

BODY = """    x = paddle.rand([batch_size, 8])
    loss = net(x).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
HEAD = """import paddle
batch_size = 64
steps = 100
net = paddle.nn.Linear(8, 1)
opt = paddle.optimizer.SGD(parameters=net.parameters())
"""
FUNCTION = "def train(count):\n    for step in range(count):\n" + BODY.replace("    ", "        ") + "\ntrain(30)\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("for step in range(20):\n" + BODY, "range(20 * 4)"),
        ("for step in range(0, steps):\n" + BODY, "range(0, steps * 4)"),
        ("for step in range(steps + 1):\n" + BODY, "range((steps + 1) * 4)"),
        ("step = 0\nwhile step < steps:\n" + BODY + "    step += 1\n", "while step < steps * 4:"),
        (FUNCTION, "range(count * 4)"),
    ],
)
def test_a_count_of_its_own_is_multiplied(before, after):
    copy, found = made({"batch_size": 64, "accumulation": 4}, HEAD + before)
    assert not found.refused
    assert after in copy.content["cells"][0]["source"]


@pytest.mark.parametrize(
    "loop",
    [
        "for step in range(6400 // batch_size):\n" + BODY,  # as the batch is smaller, it is larger
        "for step in range(len(data)):\n" + BODY,
        "for step in range(1, 20):\n" + BODY,
        "while True:\n" + BODY,
        "for step in range(20):\n    if step % 4:\n        continue\n" + BODY,
        "for x in loader:\n" + BODY.split("\n", 1)[1],
        "step = 0\nwhile step < steps:\n" + BODY + "    step += batch_size\n",
    ],
)
def test_other_loops_stay(loop):
    copy, _ = made({"batch_size": 64, "accumulation": 4}, HEAD + loop)
    assert loop.split("\n")[0] in copy.content["cells"][0]["source"]
