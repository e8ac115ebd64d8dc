"""Two features of a training at once: each pair of them in a real step, within 8 bytes."""

from __future__ import annotations

from itertools import combinations

import pytest

pytestmark = pytest.mark.paddle

SCRIPT = """
import paddle, copy
from paddle import nn
import paddle.nn.functional as F
from paddle.distributed.fleet.utils import recompute
paddle.seed(0)
class Block(nn.Layer):
    def __init__(self, d):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
    def forward(self, h):
        return h + self.down(F.gelu(self.up(self.norm(h))))
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(500, 48{words})
        self.blocks = nn.LayerList([Block(48) for _ in range(3)])
        self.head = nn.Linear(48, 500)
    def forward(self, x):
        h = self.words(x)
        for block in self.blocks:
            h = {block}
        return self.head(h)
model = Net()
{model}
optimizers = [paddle.optimizer.{optimizer}]
{setup}
data = paddle.randint(0, 500, [16, 20])
for step in range(8):
    for part in range({parts}):
        x = data[part * {size}:part * {size} + {size}]
        out = model(x)
        loss = F.cross_entropy(out.reshape([-1, 500]), x.reshape([-1]))
        {loss}
        loss.backward()
    for one in optimizers:
        one.step()
    {after}
    for one in optimizers:
        one.clear_grad()
"""
PLAIN = {
    "words": "", "block": "block(h)", "model": "", "setup": "", "parts": "1", "size": "16", "loss": "pass",
    "after": "pass", "optimizer": "AdamW(1e-4, parameters=model.parameters())",
}  # fmt: skip
TWO = """Momentum(1e-4, parameters=model.blocks.parameters()),
    paddle.optimizer.Adam(1e-4, parameters=[*model.words.parameters(), *model.head.parameters()])"""
CLIPPED = "AdamW(1e-4, parameters=model.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))"
AVERAGE = """with paddle.no_grad():
        for average, parameter in zip(averages, model.parameters()):
            average.set_value(average * 0.9 + parameter * 0.1)"""
EVALUATION = """model.eval()
    with paddle.no_grad():
        score = F.cross_entropy(model(data).reshape([-1, 500]), data.reshape([-1]))
    model.train()"""
TEACHER = """with paddle.no_grad(): wanted = teacher(x)
        loss = loss + F.mse_loss(out, wanted)"""
PENALTY = "loss = loss + 1e-4 * sum((p * p).sum() for p in model.blocks.parameters())"
FEATURES = {
    "two-optimizers": {"optimizer": TWO}, "clip": {"optimizer": CLIPPED},
    "accumulation": {"parts": "2", "size": "8"},
    "recompute": {"block": "recompute(block, h)"},
    "recompute-by-hooks": {"block": "recompute(block, h, use_reentrant=False)"},
    "average": {"setup": "averages = [p.clone().detach() for p in model.parameters()]", "after": AVERAGE},
    "evaluation": {"after": EVALUATION}, "teacher": {"setup": "teacher = copy.deepcopy(model)", "loss": TEACHER},
    "penalty": {"loss": PENALTY}, "sparse": {"words": ", sparse=True", "optimizer": TWO},
    "frozen": {"model": "for p in model.blocks[0].parameters(): p.stop_gradient = True"},
    "hook": {"setup": "for p in model.head.parameters(): p.register_hook(lambda g: g * 0.5)"},
}  # fmt: skip
INDENTS = {"setup": "\n", "after": "\n    ", "loss": "\n        "}


def combined(first: str, second: str) -> str | None:
    """A script with both features; None where they exclude each other."""
    made = dict(PLAIN)
    for feature in (FEATURES[first], FEATURES[second]):
        for place, text in feature.items():
            if made[place] == PLAIN[place]:
                made[place] = text
            elif place in INDENTS:
                made[place] += INDENTS[place] + text
            else:
                return None
    return SCRIPT.format(**made)


SOURCES = {f"{a}+{b}": made for a, b in combinations(FEATURES, 2) if (made := combined(a, b)) is not None}


@pytest.mark.parametrize("name", SOURCES)
def test_a_step_takes_what_the_allocator_says(measured, name):
    real, traced = measured.real[name], measured.traced[name]
    assert real["failure"] is None
    # the marks between two optimizers' steps split a step: its peak is the largest of them
    assert traced["peak"] == pytest.approx(max(real["peaks"][2:]), abs=8), traced["questions"]
