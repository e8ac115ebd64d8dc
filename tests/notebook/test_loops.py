"""What is a training: updates by hand and by an optimizer, and what only looks like one."""

from __future__ import annotations

import pytest

from tests.notebook.facts import Inspect, value

BY_HAND = """
import paddle
w = paddle.zeros([3, 1])
w.stop_gradient = False
def sgd(params, lr):
    with paddle.no_grad():
        for p in params:
            p.set_value(p - lr * p.grad)
            p.clear_gradient()
"""


def test_an_update_by_hand_is_a_training(inspect: Inspect) -> None:
    facts = inspect(
        BY_HAND, "for epoch in range(7):\n    loss = (x @ w).mean()\n    loss.backward()\n    sgd([w], 0.1)"
    )
    assert (facts.loop, facts.optimizer, value(facts.epochs)) == ("custom", None, 7)


@pytest.mark.parametrize(
    "update",
    [
        "loss.backward()\n    w = paddle.to_tensor(w - 0.1 * w.grad, stop_gradient=False)",
        "loss.backward()\n    with paddle.no_grad():\n        w.set_value(w - 0.1 * w.grad)",
        "loss.backward()\n    w.data -= 0.1 * w.grad",
        "(slope,) = paddle.grad(loss, [w])\n    w = w - 0.1 * slope",
    ],
)
def test_an_update_whose_gradient_is_never_cleared_is_a_training(inspect: Inspect, update: str) -> None:
    facts = inspect("import paddle", f"for epoch in range(7):\n    loss = (x @ w).mean()\n    {update}")
    assert (facts.loop, facts.optimizer, value(facts.epochs)) == ("custom", None, 7)


def test_a_gradient_that_is_shown_in_a_loop_is_no_training(inspect: Inspect) -> None:
    facts = inspect("import paddle", "for _ in range(7):\n    (x * x).sum().backward()\n    print(x.grad - 2 * x)")
    assert facts.loop == "none"


def test_a_tensor_that_is_trained_is_no_model(inspect: Inspect) -> None:
    facts = inspect(
        "import paddle\nw = paddle.randn([4, 1])\nb = paddle.zeros([1])",
        "opt = paddle.optimizer.SGD(parameters=[w, b])",
        "for e in range(3):\n    (x @ w + b).mean().backward()\n    opt.step()",
    )
    assert facts.loop == "custom"
    assert value(facts.model) is None


def test_a_lesson_on_gradients_is_no_training(inspect: Inspect) -> None:
    facts = inspect(BY_HAND, "y = (w * w).sum()\ny.backward()\nw.grad", "w.clear_gradient()\nw.sum().backward()")
    assert facts.loop == "none"


def test_fit_of_another_library_is_no_training(inspect: Inspect) -> None:
    facts = inspect("import paddle\nfrom sklearn.svm import SVC\nclf = SVC()\nclf.fit(x, y)")
    assert facts.loop == "none"
    assert facts.amp is None
    assert facts.batch_size is None
