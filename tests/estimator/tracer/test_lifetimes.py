# ruff: noqa: E501 - one script a line reads as a table
"""Each lifetime rule against real steps: the traced peak is what Paddle's CPU allocator reports, to the byte or nearly."""

from __future__ import annotations

import pytest

from tests.estimator.tracer.measuring import steady

pytestmark = pytest.mark.paddle

HEAD = """
import numpy as np, paddle, paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
x = paddle.to_tensor(np.random.rand(64, 200).astype('float32'))
y = paddle.to_tensor(np.random.randint(0, 10, (64,)).astype('int64'))
def mlp(width=300):
    return nn.Sequential(nn.Linear(200, width), nn.ReLU(), nn.Linear(width, 10))
"""
STEP = """
for step in range(6):
    loss = {loss}
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def script(model: str = "mlp()", optimizer: str = "Adam(1e-3, parameters=model.parameters())", before: str = "",
           loss: str = "F.cross_entropy(model(x), y)", loop: str = STEP) -> str:  # fmt: skip
    return f"{HEAD}{before}\nmodel = {model}\noptimizer = paddle.optimizer.{optimizer}\n" + loop.replace("{loss}", loss)


def using(forward: str, layers: str = "self.a, self.b = nn.Linear(200, 300), nn.Linear(300, 10)") -> str:
    body = forward.replace("\n", "\n        ")
    return script(
        "Net()",
        before=f"""
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        {layers}
    def forward(self, x):
        {body}
""",
    )


def adam(extra: str) -> str:
    return f"Adam(1e-3, parameters=model.parameters(), {extra})"


IMAGES = """
x = paddle.to_tensor(np.random.rand(8, 3, 24, 24).astype('float32'))
y = paddle.to_tensor(np.random.randint(0, 10, (8,)).astype('int64'))
"""
TAIL = "nn.AdaptiveAvgPool2D(1), nn.Flatten()"


def image(*layers: str, channels: int = 16) -> str:
    return script(f"nn.Sequential({', '.join(layers)}, {TAIL}, nn.Linear({channels}, 10))", before=IMAGES)


def loop(body: str) -> str:
    return "for step in range(12):\n" + "\n".join("    " + line for line in body.strip().splitlines())


SOURCES = {
    # optimizers and their state
    **{
        name.lower(): script(optimizer=f"{name}(1e-3, parameters=model.parameters())")
        for name in ("SGD", "Momentum", "Adam", "AdamW", "Adamax", "Adagrad", "Adadelta", "RMSProp", "Lamb", "NAdam", "RAdam")
    },
    "l2": script(optimizer=adam("weight_decay=1e-4")),
    "l1": script(optimizer=adam("weight_decay=paddle.regularizer.L1Decay(1e-4)")),
    "sgd-l2": script(optimizer="SGD(1e-3, parameters=model.parameters(), weight_decay=1e-4)"),
    "clip-value": script(optimizer=adam("grad_clip=nn.ClipGradByValue(1.0)")),
    "clip-norm": script(optimizer=adam("grad_clip=nn.ClipGradByNorm(1.0)")),
    "clip-global": script(optimizer=adam("grad_clip=nn.ClipGradByGlobalNorm(1.0)")),
    "lamb-clip": script(optimizer="Lamb(1e-3, parameters=model.parameters(), grad_clip=nn.ClipGradByValue(1.0))"),
    "amsgrad": script(optimizer=adam("amsgrad=True")),
    "groups": script(optimizer="AdamW(1e-3, parameters=[{'params': model[0].parameters()}, {'params': model[2].parameters(), 'learning_rate': 0.1}])"),
    "schedule": script(optimizer="Adam(paddle.optimizer.lr.StepDecay(1e-3, 2), parameters=model.parameters())"),
    # the step's shape
    "set-to-zero-false": script(loop=STEP.replace("clear_grad()", "clear_grad(set_to_zero=False)")),
    "clear-before": script(loop=loop("optimizer.clear_grad()\nloss = {loss}\nloss.backward()\noptimizer.step()")),
    "minimize": script(loop=loop("loss = {loss}\nloss.backward()\noptimizer.minimize(loss)\nmodel.clear_gradients()")),
    "accumulation": script(loop=loop("loss = {loss} / 2\nloss.backward()\nif step % 2:\n    optimizer.step()\n    optimizer.clear_grad()")),
    "summed-losses": script(loop=loop("loss = {loss} + 0.1 * (model(x) ** 2).mean()\nloss.backward()\noptimizer.step()\noptimizer.clear_grad()")),
    "two-backwards": script(loop=loop("a = {loss}\nb = model(x).mean()\na.backward()\nb.backward()\noptimizer.step()\noptimizer.clear_grad()")),
    "of-many-numbers": script("nn.Linear(200, 200)", loop=loop("h = F.relu(x + F.relu(model(x))) + model(x)\nh.backward()\noptimizer.step()\noptimizer.clear_grad()")),
    "given-gradients": script("nn.Linear(200, 200)", loop=loop("h = F.relu(model(x))\nw = h + x * model(x)\npaddle.autograd.backward([h, w], [paddle.ones_like(h), paddle.ones_like(w)])\noptimizer.step()\noptimizer.clear_grad()")),
    "retain-graph": script(loop=loop("h = model(x)\nh.sum().backward(retain_graph=True)\nF.cross_entropy(h, y).backward()\noptimizer.step()\noptimizer.clear_grad()")),
    "kept-logits": script(before="kept = []", loop=loop("h = model(x)\nkept = [h]\nF.cross_entropy(h, y).backward()\noptimizer.step()\noptimizer.clear_grad()")),
    "kept-graph": script(loop=loop("F.cross_entropy(model(x), y).backward()\noptimizer.step()\noptimizer.clear_grad()\nunused = model(x)")),
    "no-grad": script(loop=STEP + "    with paddle.no_grad():\n        right = (model(x).argmax(1) == y).sum()\n"),
    "reads": script(loop=STEP + "    print(float(loss), loss.item(), loss.numpy())\n"),
    "gradient-of-an-input": script("nn.Linear(200, 200)", loop=loop("data = x * 1.0\ndata = data.detach()\ndata.stop_gradient = False\nh = data + F.relu(model(data))\ng = paddle.grad([h], [data])[0]\n(model(data) * g).mean().backward()\noptimizer.step()\noptimizer.clear_grad()")),
    "partial-grad": script(loop=loop("x.stop_gradient = False\nh = model(x)\ng = paddle.grad(h.sum(), x, retain_graph=True)[0]\nF.cross_entropy(h, y).backward()\noptimizer.step()\noptimizer.clear_grad()\nx.clear_gradient(False)")),
    "hook": script(before="", loop="model[0].weight.register_hook(lambda g: g * 2)\n" + STEP),
    "hook-that-saves": script(before="", loop="model[0].weight.register_hook(lambda g: g.clip(-1, 1))\n" + STEP),
    "hook-in-the-middle": using("h = self.a(x)\nh.register_hook(lambda g: g.clip(-1, 1))\nreturn self.b(F.relu(h))"),
    "best-of-rows": script(loop=STEP + "    best = paddle.topk(model(x) * 2, 3)[1]\n"),
    "classes-in-order": script(loop=STEP + "    order = paddle.kthvalue(model(x) * 2, 3)[1]\n"),
    "rounded": using("h = self.a(x)\nk = h.astype('int64').astype('float32')\nreturn self.b(F.relu(h * k))"),
    "chosen-places": using("h = self.a(x)\nv, k = h.topk(300)\nreturn self.b(v * (k * 2).astype('float32'))"),
    "assigned": script(loop=loop("h = paddle.empty([64, 10])\npaddle.assign(model(x), h)\nF.cross_entropy(h, y).backward()\noptimizer.step()\noptimizer.clear_grad()")),
    "look-ahead": script(loop="optimizer = paddle.incubate.LookAhead(optimizer, alpha=0.5, k=2)\n" + STEP),
    "frozen": script(loop="model[0].weight.stop_gradient = True\n" + STEP),
    "slices": script(loop=loop("for start in range(0, 64, 16):\n    F.cross_entropy(model(x[start:start + 16]), y[start:start + 16]).backward()\n    optimizer.step()\n    optimizer.clear_grad()")),
    "ema": script(loop="mean = [p.clone().detach() for p in model.parameters()]\n" + STEP + "    with paddle.no_grad():\n        for m, p in zip(mean, model.parameters()):\n            m.set_value(m * 0.9 + p * 0.1)\n"),
    "deepcopy": script(loop="import copy\nother = copy.deepcopy(model)\n" + STEP),
    "numpy-batches": script(loop=loop("rows = np.random.rand(64, 200).astype('float32')\nloss = F.cross_entropy(model(paddle.to_tensor(rows)), y)\nloss.backward()\noptimizer.step()\noptimizer.clear_grad()")),
    "hapi": script(loop="fitted = paddle.Model(model)\nfitted.prepare(optimizer, nn.CrossEntropyLoss(), paddle.metric.Accuracy())\nfor step in range(6):\n    fitted.train_batch([x], [y.unsqueeze(1)])\n"),
    # what is saved, views, copies, temporaries
    "locals": using("h = self.a(x)\nk = F.relu(h)\nm = k * 2\nreturn self.b(m)"),
    "reshape-transpose": using("h = self.a(x).reshape([64, 3, 100]).transpose([0, 2, 1])\nh = h * 2\nreturn self.b(h.reshape([64, 300]))"),
    "split-concat": using("u, v, w = paddle.split(self.a(x), 3, axis=1)\nreturn self.b(paddle.concat([v, u, w], axis=1))"),
    "chunk-unbind": using("h = self.a(x).reshape([64, 3, 100])\nu, v, w = h.unbind(1)\nreturn self.b(paddle.concat([w * u, v, u + v], axis=1))"),
    "index": using("h = self.a(x)\nh = paddle.concat([h[:, 100:], h[:, :100]], axis=1)\nreturn self.b(h)"),
    "residual": using("h = self.a(x)\nh = h + F.tanh(h)\nh = h * F.sigmoid(h)\nreturn self.b(h)"),
    "numbers": using("h = self.a(x)\nh = (1 - h) * 2 / 3 + h ** 2 - 0.5\nreturn self.b(h)"),
    "reverse-divide": using("h = F.softplus(self.a(x))\nreturn self.b(1.0 / (h + 1.0))"),
    "softmax-mask": using("h = self.a(x)\nh = paddle.where(h > 0, h, paddle.zeros_like(h))\nreturn self.b(F.softmax(h))"),
    "dropout-norm": using("h = F.dropout(F.layer_norm(self.a(x), 300), 0.3)\nreturn self.b(F.gelu(h))"),
    "expand": using("h = self.a(x).unsqueeze(1).expand([64, 2, 300])\nreturn self.b(h.mean(1))"),
    "inplace": using("h = self.a(x)\nh = F.relu_(h)\nreturn self.b(h)"),
    "attention": using("q = self.a(x).reshape([8, 8, 3, 100]).transpose([0, 2, 1, 3])\ns = paddle.matmul(q, q, transpose_y=True) / 10\nh = paddle.matmul(F.softmax(s), q).transpose([0, 2, 1, 3]).reshape([64, 300])\nreturn self.b(h)"),
    "einsum": using("q = self.a(x).reshape([8, 8, 300])\nreturn self.b(paddle.einsum('bid,bjd->bij', q, q).matmul(q).reshape([64, 300]))"),
    "detached": using("h = self.a(x)\nreturn self.b(h + h.detach())"),
    "cast": using("h = self.a(x).astype('float64')\nreturn self.b((h * h).astype('float32'))"),
    "bfloat16": using("h = self.a(x).astype('bfloat16')\nreturn self.b((h * h).astype('float32'))"),
    "reductions": using("h = self.a(x)\nh = (h - h.mean(axis=1, keepdim=True)) / (h.std(axis=1, keepdim=True) + 1e-5)\nreturn self.b(h)"),
    # convolutions
    "conv": image("nn.Conv2D(3, 16, 3, padding=1)", "nn.ReLU()"),
    "conv-bn": image("nn.Conv2D(3, 16, 3, stride=2, padding=1, bias_attr=False)", "nn.BatchNorm2D(16)", "nn.ReLU()"),
    "conv-pool": image("nn.Conv2D(3, 16, 5)", "nn.LeakyReLU()", "nn.MaxPool2D(2)", "nn.Conv2D(16, 16, 1)", "nn.AvgPool2D(2)"),
    "conv-groups": image("nn.Conv2D(3, 12, 3, padding=1)", "nn.Conv2D(12, 16, 3, padding=1, groups=4)", "nn.Hardswish()"),
    "conv-depthwise": image("nn.Conv2D(3, 16, 1)", "nn.Conv2D(16, 16, 3, padding=1, groups=16)", "nn.ReLU6()"),
    "conv-transpose": image("nn.Conv2D(3, 8, 3)", "nn.Conv2DTranspose(8, 16, 4, 2, 1)", "nn.Tanh()"),
    "conv-dilated": image("nn.Conv2D(3, 16, 3, padding=2, dilation=2)", "nn.Silu()"),
    "upsample": image("nn.Conv2D(3, 16, 3)", "nn.Upsample(scale_factor=2)", "nn.ReLU()"),
    "group-norm": image("nn.Conv2D(3, 16, 3)", "nn.GroupNorm(4, 16)", "nn.ReLU()"),
    "pad": image("nn.Pad2D(2)", "nn.Conv2D(3, 16, 3)", "nn.PReLU()"),
    # graphs of their own
    "gan": HEAD + """
g, d = nn.Linear(50, 200), mlp()
go, do = (paddle.optimizer.Adam(1e-3, parameters=m.parameters()) for m in (g, d))
for step in range(6):
    fake = g(paddle.randn([64, 50]))
    loss = d(x).mean() - d(fake.detach()).mean()
    loss.backward()
    do.step()
    do.clear_grad()
    loss = d(fake).mean()
    loss.backward()
    go.step()
    go.clear_grad()
""",
    "pylayer": script("Net()", before="""
class Square(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensor()
        return grad * 2 * x
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(200, 300), nn.Linear(300, 10)
    def forward(self, x):
        return self.b(Square.apply(self.a(x)))
"""),
    "recompute": script("Net()", before="""
from paddle.distributed.fleet.utils import recompute
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(200, 300), nn.Linear(300, 10)
        self.m = nn.LayerList([nn.Sequential(nn.Linear(300, 300), nn.GELU(), nn.Linear(300, 300)) for _ in range(3)])
    def forward(self, x):
        h = self.a(x)
        for m in self.m:
            h = h + recompute(m, h)
        return self.b(h)
"""),
    "weight-tying": script("Net()", before="""
x = paddle.to_tensor(np.random.randint(0, 500, (8, 20)).astype('int64'))
y = x
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(500, 64)
    def forward(self, x):
        return paddle.matmul(F.relu(self.e(x)), self.e.weight, transpose_y=True)
""", loss="F.cross_entropy(model(x).reshape([-1, 500]), y.reshape([-1]))"),
    "caught-refusal": script(before="def refused():\n    large = paddle.rand([1000, 1000])\n    return large.reshape([7])\ntry:\n    refused()\nexcept ValueError:\n    pass"),
    "branch-on-data": using("h = self.a(x)\nif float(x.sum()) < 0:\n    h = h * 2\nreturn self.b(h)"),
    "loop-on-data": using("h = self.a(x)\nfor _ in range(int((x > 2).sum()) + 2):\n    h = F.relu(h * 1.1)\nreturn self.b(h)"),
    **{
        f"{cell}-{layers}-{direction}-{'time' if major else 'batch'}": script(
            "Net()",
            before=f"""
x = paddle.to_tensor(np.random.rand(8, 12, 20).astype('float32'))
y = paddle.to_tensor(np.random.randint(0, 10, ({12 if major else 8},)).astype('int64'))
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.r = nn.{cell}(20, 32, {layers}, '{direction}', time_major={major})
        self.b = nn.Linear({64 if direction != 'forward' else 32}, 10)
    def forward(self, x):
        return self.b(self.r(x)[0].mean({0 if major else 1}))
""",
        )
        for cell in ("LSTM", "GRU", "SimpleRNN")
        for layers, direction, major in ((1, "forward", False), (2, "bidirect", False), (3, "forward", True))
    },
}  # fmt: skip

TOLERANCE = 0.001
"""Relative; what scalars and the allocator's odd bytes make of a peak of some hundred kB."""


@pytest.mark.parametrize("name", SOURCES)
def test_traced_peak_is_the_allocators(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] is not None, traced["questions"]
    assert traced["peak"] == pytest.approx(steady(peaks), rel=TOLERANCE)
