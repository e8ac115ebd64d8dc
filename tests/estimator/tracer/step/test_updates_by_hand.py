"""Trainings without an optimizer, as textbooks begin: parameters are changed and gradients cleared by the program."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

SCRIPT = """
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(0)
if "step_ends" not in globals():
    step_ends = lambda: None
w1 = paddle.randn([200, 300]) * 0.01
b1 = paddle.zeros([300])
w2 = paddle.randn([300, 10]) * 0.01
params = [w1, b1, w2]
for p in params:
    p.stop_gradient = False
def net(x):
    return F.relu(x @ w1 + b1) @ w2
def sgd(lr):
{update}
for step in range(9):
    x, y = paddle.rand([64, 200]), paddle.randint(0, 10, [64])
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    sgd(0.1)
    step_ends()
"""
UPDATES = {
    "set-value": """
    with paddle.no_grad():
        for p in params:
            p.set_value(p - lr * p.grad)
            p.clear_gradient()
""",
    "subtract": """
    with paddle.no_grad():
        for p in params:
            p.subtract_(lr * p.grad)
        for p in params:
            p.clear_grad()
""",
    "dropped": """
    with paddle.no_grad():
        for p in params:
            p.subtract_(lr * p.grad / 64)
            p.clear_gradient(False)
""",
    "minus-equals": """
    with paddle.no_grad():
        for i, p in enumerate(params):
            p -= lr * params[i].grad / 64
            params[i].set_value(p)
            params[i].clear_gradient()
""",
    "never-cleared": """
    with paddle.no_grad():
        for p in params:
            p.set_value(p - lr * p.grad)
""",
    "copied": """
    global w1, b1, w2, params
    w1, b1, w2 = params = [paddle.to_tensor(p - lr * p.grad, stop_gradient=False) for p in params]
""",
    "rebound": """
    global w1, b1, w2, params
    with paddle.no_grad():
        w1 = w1 - lr * w1.grad
        b1 = b1 - lr * b1.grad
        w2 = w2 - lr * w2.grad
    params = [w1, b1, w2]
    for p in params:
        p.stop_gradient = False
""",
    "data": """
    for p in params:
        p.data = p - lr * p.grad
""",
}
SOURCES = {name: SCRIPT.format(update=update) for name, update in UPDATES.items()}
SOURCES["layers"] = """
import paddle
from paddle import nn
paddle.seed(0)
if "step_ends" not in globals():
    step_ends = lambda: None
model = nn.Sequential(nn.Linear(100, 50), nn.ReLU(), nn.Linear(50, 1))
for step in range(9):
    loss = (model(paddle.rand([64, 100])) - 1).square().mean()
    loss.backward()
    with paddle.no_grad():
        for p in model.parameters():
            p.set_value(p - 0.1 * p.grad)
            p.clear_gradient()
    step_ends()
"""
SOURCES["partial"] = SCRIPT.replace("    loss.backward()\n", "").format(
    update="""
    gradients = paddle.grad(loss, params)
    with paddle.no_grad():
        for p, gradient in zip(params, gradients):
            p.set_value(p - lr * gradient)
"""
)
SOURCES["own-optimizer"] = """
import paddle
paddle.seed(0)
if "step_ends" not in globals():
    step_ends = lambda: None
class Model:
    def __init__(self):
        self.params = {"w": paddle.zeros([20, 3]), "b": paddle.zeros([3])}
        self.grads = {}
    def forward(self, x):
        self.x = x
        e = paddle.exp(x @ self.params["w"] + self.params["b"])
        self.y = e / e.sum(axis=1, keepdim=True)
        return self.y
    def backward(self, labels):
        d = paddle.nn.functional.one_hot(labels, 3) - self.y
        self.grads["w"], self.grads["b"] = -self.x.T @ d / 64, -d.sum(axis=0) / 64
class Optimizer:
    def __init__(self, lr, model):
        self.init_lr, self.model = lr, model
class BatchGD(Optimizer):
    def step(self):
        for key in self.model.params:
            self.model.params[key] = self.model.params[key] - self.init_lr * self.model.grads[key]
class Runner:
    def train(self, model, optimizer):
        for epoch in range(9):
            labels = paddle.randint(0, 3, [64])
            loss = -paddle.log(model.forward(paddle.rand([64, 20]))).mean()
            model.backward(labels)
            optimizer.step()
            step_ends()
model = Model()
optimizer = BatchGD(0.1, model)
Runner().train(model, optimizer)
"""
"""Gradients that are worked out by hand, for an optimizer of the program's own."""
SOURCES["groups"] = """
import sys
import paddle
if "step_ends" not in globals():
    step_ends = lambda: None
class Optimizer:
    def __init__(self, groups):
        self.param_groups, self.state = groups, {}
class Momentum(Optimizer):
    @paddle.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.name not in self.state:
                    self.state[p.name] = paddle.zeros_like(p)
                velocity = self.state[p.name]
                velocity.scale_(0.9).add_(p.grad)
                p.subtract_(group["lr"] * velocity)
model = paddle.nn.Sequential(paddle.nn.Linear(200, 300), paddle.nn.ReLU(), paddle.nn.Linear(300, 10))
optimizer = Momentum([{"params": model.parameters(), "lr": 0.1}])
for number in range(1000):
    if number == 12:
        sys.exit(0)
    loss = model(paddle.rand([64, 200])).mean()
    loss.backward()
    norm = sum(p.grad.square().sum() for p in model.parameters())
    optimizer.step()
    for p in model.parameters():
        p.clear_gradient()
    step_ends()
"""
"""An optimizer with groups, as PASSL's, whose gradients the program reads before it; the program leaves by itself."""
STEPPING = """
import paddle
if "step_ends" not in globals():
    step_ends = lambda: None
class Optimizer:
    def __init__(self, params):
        self.params, self.lr = params, 0.1
class Sgd(Optimizer):
    @paddle.no_grad()
    def step(self):
        for p in self.params:
            grad = p.grad
            if paddle.norm(p) != 0 and paddle.norm(grad) != 0:
                grad = grad / (paddle.norm(grad) + 1e-6)
            p.subtract_(self.lr * grad)
            p.clear_gradient()
model = paddle.nn.Sequential(*[paddle.nn.Linear(20, 20) for _ in range({layers})])
optimizer = Sgd(model.parameters())
for number in range({steps}):
    x = paddle.rand([64, 20])
    loss = model(x).mean()
    for more in range({more}):
        loss = loss + model(paddle.rand([64, 20])).mean()
    loss.backward()
    optimizer.step()
    step_ends()
"""
SOURCES["conditions-on-norms"] = STEPPING.format(layers=49, more="0", steps=12)
"""More parameters than a decision is visited for before it goes the other way."""
DIFFERING = {
    "a-loss-every-second-step": STEPPING.format(layers=2, more="number % 2", steps=12),
    "no-two-alike": STEPPING.format(layers=2, more="int('21020121012021020'[number])", steps=17),
    "sizes-in-turn": STEPPING.format(layers=2, more="0", steps=12).replace(
        "[64, 20]", "[16 + 24 * (number % 3), 20]", 1
    ),
    "sizes-that-come-once": STEPPING.format(layers=2, more="0", steps=4).replace(
        "[64, 20]", "[16 + 24 * number, 20]", 1
    ),
    "three-steps": STEPPING.format(layers=2, more="number", steps=3),
    "one-step": STEPPING.format(layers=2, more="number", steps=1),
}
ALIKE = [*SOURCES]
SOURCES |= DIFFERING
TOYS = {
    "one": "import paddle\nx = paddle.ones([3], dtype='float32')\nx.stop_gradient = False\n(x * x).sum().backward()",
    "several": """
import paddle
x = paddle.to_tensor([1., 2., 3.], stop_gradient=False)
y = 2 * (x * x).sum()
y.backward()
#---
x.clear_gradient()
y = paddle.sum(x)
y.backward()
x.grad
#---
x.clear_gradient()
y = x * x
u = y.detach()
z = u * x
paddle.sum(z).backward()
x.grad == u
#---
x.clear_gradient()
paddle.sum(y).backward()
""",
    "shown": """
import paddle
x = paddle.to_tensor([1., 2.], stop_gradient=False)
for i in range(8):
    (x * x).sum().backward()
    print(x.grad - 2 * x)
for i in range(8):
    (x * x).sum().backward()
    print(x.grad)
    x.clear_gradient()
for i in range(8):
    y = (x * x).sum()
    print(paddle.grad(y, x)[0])
""",
    "before-a-training": """
import paddle
x = paddle.to_tensor([1., 2.], stop_gradient=False)
for i in range(8):
    (x * x).sum().backward()
    x.clear_gradient()
#---
w = paddle.create_parameter([500, 40], 'float32')
optimizer = paddle.optimizer.SGD(parameters=[w])
for i in range(4):
    w.mean().backward()
    optimizer.step()
    optimizer.clear_grad()
""",
}


@pytest.mark.parametrize("name", ALIKE)
def test_a_step_takes_what_the_allocator_says(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] == peaks[-1], traced["questions"]
    assert "few_steps" not in traced["notes"]


@pytest.mark.parametrize("name", DIFFERING)
def test_of_steps_that_differ_the_largest_counts(measured, name):
    """Or the program ran to its end without a step being seen, as PASSL's SwAV did."""
    peaks, traced = measured.pair(name)
    assert traced["peak"] == max(peaks), traced["questions"]


def test_an_optimizer_of_the_programs_own_is_the_one_that_its_code_speaks_of(toys, measured):
    """Or 200 updates were waited for, and a program that ends before was told to fail."""
    assert toys["own"]["questions"] == []
    assert toys["own"]["peak"] == measured.traced["groups"]["peak"]


def test_what_is_trained_counts_as_parameters(measured):
    assert measured.traced["subtract"]["standing"]["parameters"] == 4 * (200 * 300 + 300 + 300 * 10)


LONG = SOURCES["subtract"].replace("range(9)", "range(100000)") + "#---\noptimizer = paddle.optimizer.Adam"


@pytest.fixture(scope="module")
def toys(run_child):
    own = SOURCES["groups"] + "#---\noptimizer = paddle.optimizer.Adam"
    return run_child("trace", {**TOYS, "long": LONG, "own": own})


@pytest.mark.parametrize("name", ["one", "several", "shown"])
def test_lessons_on_gradients_train_nothing(toys, name):
    assert toys[name]["peak"] is None
    assert toys[name]["questions"] == []


def test_where_there_is_an_optimizer_its_training_counts(toys):
    assert toys["before-a-training"]["peak"] > 500 * 40 * 4


def test_a_long_training_by_hand_is_not_waited_for(toys, measured):
    assert toys["long"]["peak"] == measured.traced["subtract"]["peak"]
