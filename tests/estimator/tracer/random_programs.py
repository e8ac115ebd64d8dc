# ruff: noqa: E501 - one line of a program a line
"""Small training programs at random from a grammar; each is run for real and traced, and the peaks are compared.

`python -m tests.estimator.tracer.random_programs FIRST COUNT [BATCH]` prints seeds whose peaks differ, and a summary.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.estimator.tracer.random_layers import network

CHILD = Path(__file__).with_name("real_steps.py")
LOSSES = (
    "F.cross_entropy({h}, y)",
    "F.cross_entropy({h}, y, label_smoothing=0.1)",
    "nn.CrossEntropyLoss()({h}, y)",
    "F.mse_loss({h}, t)",
    "F.l1_loss({h}, t)",
    "F.smooth_l1_loss({h}, t)",
    "F.binary_cross_entropy_with_logits({h}, t)",
    "F.nll_loss(F.log_softmax({h}), y)",
    "F.kl_div(F.log_softmax({h}), t, reduction='batchmean')",
    "({h} - t).pow(2).mean()",
    "(({h} - t) ** 2).sum() / 100",
)
OPTIMIZERS = ("SGD", "Momentum", "Adam", "AdamW", "Adamax", "Adagrad", "RMSProp", "Lamb", "NAdam", "RAdam", "Adadelta")
EXTRAS = (
    "",
    "",
    ", grad_clip=nn.ClipGradByGlobalNorm(1.0)",
    ", grad_clip=nn.ClipGradByNorm(1.0)",
    ", grad_clip=nn.ClipGradByValue(1.0)",
    ", weight_decay=0.01",
    ", weight_decay=0.01, grad_clip=nn.ClipGradByGlobalNorm(1.0)",
)
GROUPS = "[{'params': model.parameters()[:1], 'learning_rate': 0.1}, {'params': model.parameters()[1:]}]"
PLAIN = "loss = {loss}\nloss.backward()\noptimizer.step()\noptimizer.clear_grad()"
STEPS = (
    PLAIN,
    PLAIN,
    PLAIN,
    PLAIN.replace("clear_grad()", "clear_grad(set_to_zero=False)"),
    "optimizer.clear_grad()\nloss = {loss}\nloss.backward()\noptimizer.step()",
    "loss = {loss} / 2\nloss.backward()\nif step % 2:\n    optimizer.step()\n    optimizer.clear_grad()",
    "h = model(x)\nkept = [h]\nloss = {loss:h}\nloss.backward()\noptimizer.step()\noptimizer.clear_grad()",
    "h = model(x)\nloss = {loss:h}\nloss.backward()\noptimizer.step()\noptimizer.clear_grad()\nlosses[:] = [loss]",
    "h = model(x)\nloss = {loss:h}\nlosses[:] = [loss.detach()]\nloss.backward()\noptimizer.step()\noptimizer.clear_grad()",
    "h = model(x)\nh.mean().backward(retain_graph=True)\nloss = {loss:h}\nloss.backward()\noptimizer.step()\noptimizer.clear_grad()",
    "loss = {loss} + 0.1 * model(x).abs().mean()\nloss.backward()\noptimizer.step()\noptimizer.clear_grad()",
    PLAIN + "\nwith paddle.no_grad():\n    right = (model(x).argmax(1) == y).astype('float32').mean()",
    PLAIN
    + "\nwith paddle.no_grad():\n    for m, p in zip(mean, model.parameters()):\n        m.set_value(m * 0.9 + p * 0.1)",
    "loss = {loss} + 1e-4 * sum((p ** 2).sum() for p in model.parameters())\nloss.backward()\noptimizer.step()\noptimizer.clear_grad()",
    "with paddle.no_grad():\n    target = F.softmax(model(x))\n" + PLAIN,
    "loss = {loss}\nloss.backward()\noptimizer.step()\noptimizer.clear_grad()\nprint(float(loss))",
)
BROKEN_TWICE = ("Twice", "recompute")
"""What Paddle 3.3.1 itself does not run backward twice: it crashes."""
BEFORE = (
    "",
    "",
    "",
    "model.parameters()[0].stop_gradient = True",
    "model.parameters()[-1].register_hook(lambda g: g * 0.5)",
    "x.stop_gradient = x.dtype != paddle.float32",
)
SCRIPT = """
import numpy as np, paddle, paddle.nn.functional as F
from paddle import nn
from paddle.distributed.fleet.utils import recompute
paddle.seed(0); np.random.seed(0)
{data}
y = paddle.to_tensor(np.random.randint(0, 10, ({count},)).astype('int64'))
t = paddle.to_tensor(np.random.rand({count}, 10).astype('float32'))
class Twice(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, h):
        ctx.save_for_backward(h)
        return h * h
    @staticmethod
    def backward(ctx, g):
        h, = ctx.saved_tensor()
        return g * h * 2
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        {layers}
    def forward(self, h):
        {lines}
model = Net()
losses, mean = [], [p.clone().detach() for p in model.parameters()]
{before}
optimizer = paddle.optimizer.{optimizer}
for step in range(14):
    {step}
"""


def program(seed: int) -> str:
    """The source of program number `seed`."""
    dice = random.Random(seed)
    net, data = network(dice)
    loss = dice.choice(LOSSES)
    step = dice.choice(STEPS)
    if "retain_graph" in step and any(word in line for line in (*net.layers, *net.lines) for word in BROKEN_TWICE):
        step = PLAIN
    step = step.replace("{loss}", loss.format(h="model(x)")).replace("{loss:h}", loss.format(h="h"))
    name, extra = dice.choice(OPTIMIZERS), dice.choice(EXTRAS)
    rate = dice.choice(["1e-4", "1e-4", "paddle.optimizer.lr.StepDecay(1e-4, 2)"])
    parameters = dice.choice(["model.parameters()", "model.parameters()", GROUPS])
    if name == "Lamb":
        extra, parameters = extra.replace("weight_decay", "lamb_weight_decay"), "model.parameters()"
    return SCRIPT.format(
        data=data,
        count=net.shape[0],
        layers="\n        ".join(net.layers),
        lines="\n        ".join(net.lines),
        before=dice.choice(BEFORE),
        optimizer=f"{name}({rate}, parameters={parameters}{extra})",
        step=step.replace("\n", "\n    "),
    )


def child(kind: str, sources: dict[str, str]) -> dict[str, dict[str, Any]]:
    command = [sys.executable, "-W", "ignore", str(CHILD), kind]
    done = subprocess.run(
        command, input=json.dumps([sources, {}]), capture_output=True, text=True, check=False, timeout=1200
    )
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {row["name"]: row for row in rows}


def compare(first: int, count: int) -> dict[int, tuple[int | None, int | None, str]]:
    """Real and traced peak in bytes of each seed, with what went wrong where one is missing."""
    sources = {str(seed): program(seed) for seed in range(first, first + count)}
    real, traced = child("real", sources), child("trace", sources)
    found: dict[int, tuple[int | None, int | None, str]] = {}
    for name in sources:
        row, trace = real.get(name, {}), traced.get(name, {})
        peaks = row.get("peaks") or []
        why = row.get("failure") or "" if row else "the child stopped"
        found[int(name)] = (peaks[-1] if len(peaks) > 4 else None, trace.get("peak"), why)
    return found


def main(first: int, count: int, batch: int = 50) -> None:
    found: dict[int, tuple[int | None, int | None, str]] = {}
    for start in range(first, first + count, batch):
        part = compare(start, min(batch, first + count - start))
        for seed, (real, traced, why) in part.items():
            if real is None or traced is None:
                print(seed, real, traced, why.splitlines()[:1] or "no trace", flush=True)
            elif real != traced:
                print(seed, real, traced, traced - real, f"{(traced - real) / real:+.4%}", flush=True)
        found.update(part)
    pairs = [(real, traced) for real, traced, _ in found.values() if real is not None and traced is not None]
    errors = [abs(traced - real) / real for real, traced in pairs]
    near = sum(error <= 0.001 for error in errors)
    print(f"{len(pairs)} compared, {errors.count(0)} equal, {near} within 0.1 %, worst {max(errors):.3%}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
