# ruff: noqa: E501 - one step a line reads as a table
"""Gradients of `Embedding(sparse=True)`: sums with sparse and dense ones, clips, decay, every optimizer.

A large tensor beside the phase that is looked at makes that phase the peak.
"""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

SCRIPT = """
import numpy as np, paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(0)
ids = paddle.to_tensor({ids})
other = paddle.to_tensor(np.arange(30) % 20 + 15)
embedding = nn.Embedding(90, 16, sparse=True{more})
w = embedding.weight
optimizer = paddle.optimizer.{optimizer}, parameters=embedding.parameters(){decay})
for step in range(8):
    {step}
"""
IDS = {"repeated": "np.arange(60) * 7 % 40", "once": "np.arange(30) * 7 % 31", "sorted": "np.arange(5, 35)"}
"""Indices that come twice are merged; Adam and Lamb merge none that ascend."""


def script(step: str, optimizer: str = "SGD(1e-3", ids: str = "repeated", more: str = "", decay: str = "") -> str:
    lines = "\n    ".join(part.strip() for part in step.split(";"))
    return SCRIPT.format(ids=IDS[ids], more=more, optimizer=optimizer, decay=decay, step=lines)


BACKWARD = "big = paddle.zeros([50000]); loss.backward(); del big; optimizer.step(); optimizer.clear_grad()"
UPDATE = "big = paddle.zeros([50000]); optimizer.step(); del big; optimizer.clear_grad()"
LOSSES = {
    "penalty": "loss = embedding(ids).mean() + 0.01 * (w ** 2).sum()",
    "penalty-first": "loss = 0.01 * w.abs().sum() + embedding(ids).mean()",
    "tied": "loss = paddle.matmul(embedding(ids), w, transpose_y=True).mean()",
    "two": "loss = embedding(ids).mean() + embedding(other).mean()",
    "three": "loss = embedding(ids).mean() + embedding(other).mean() + embedding(ids).sum()",
    "twice-backward": "h = embedding(ids); h.mean().backward(retain_graph=True); loss = (h ** 2).mean()",
    "after-dense": "(w ** 2).sum().backward(); loss = embedding(ids).mean()",
    "before-dense": "embedding(ids).mean().backward(); loss = (w ** 2).sum()",
    "third-pass": "embedding(ids).mean().backward(); embedding(other).mean().backward(); loss = embedding(ids).mean()",
}
SOURCES = {
    f"{name}-{phase}-{ids}-{optimizer[:3]}": script(f"{loss}; {rest}", optimizer, ids)
    for name, loss in LOSSES.items()
    for phase, rest in {"backward": BACKWARD, "update": "loss.backward(); " + UPDATE}.items()
    for ids in ("repeated", "once")
    for optimizer in ("SGD(1e-3", "Adam(1e-3")
}
PLAIN = "embedding(ids).mean().backward(); " + UPDATE
RUN = ("SGD(1e-3", "Momentum(1e-3", "Momentum(1e-3, use_nesterov=True", "Adam(1e-3", "Adam(1e-3, lazy_mode=True", "Adam(1e-3, amsgrad=True",
       "Adagrad(1e-3", "RMSProp(1e-3", "RMSProp(1e-3, centered=True", "Lamb(1e-3")  # fmt: skip
SOURCES |= {f"{one}-{ids}": script(PLAIN, one, ids) for one in RUN for ids in IDS}
DENSE = (
    "SGD(1e-3",
    "Momentum(1e-3",
    "Adamax(1e-3",
    "Adagrad(1e-3",
    "Adadelta(1e-3",
    "RMSProp(1e-3",
    "NAdam(1e-3",
    "RAdam(1e-3",
    "ASGD(1e-3",
)
"""With decay, Paddle gives these a dense gradient: also those that take no sparse one."""
DECAYS = {"l2": ", weight_decay=0.01", "l1": ", weight_decay=paddle.regularizer.L1Decay(0.01)"}
SOURCES |= {f"{one}-{name}": script(PLAIN, one, decay=decay) for one in DENSE for name, decay in DECAYS.items()}
SOURCES |= {
    f"parameter-{one}-{kind}": script(
        PLAIN, one, more=f", weight_attr=paddle.ParamAttr(regularizer=paddle.regularizer.{kind}(0.1))"
    )
    for one in ("SGD(1e-3", "Momentum(1e-3", "Adam(1e-3")
    for kind in ("L1Decay", "L2Decay")
}
SOURCES |= {
    f"{clip}-{one}-{ids}": script(PLAIN, f"{one}, grad_clip=nn.{clip}(1.0)", ids)
    for clip in ("ClipGradByNorm", "ClipGradByGlobalNorm")
    for one in ("SGD(1e-3", "Momentum(1e-3", "Adam(1e-3", "Adagrad(1e-3", "RMSProp(1e-3", "Lamb(1e-3")
    for ids in ("repeated", "once")
}
SOURCES |= {
    "lamb-decay": script(PLAIN, "Lamb(1e-3, lamb_weight_decay=0.02"),
    "rprop": script(PLAIN, "Rprop(1e-3"),
    "groups": script(PLAIN, "Adam(1e-3").replace("embedding.parameters()", "[{'params': [w], 'weight_decay': 0.1}]"),
    "dropped": script("loss = embedding(ids).mean(); " + BACKWARD.replace("clear_grad()", "clear_grad(set_to_zero=False)")),
    "dense-dropped": script(LOSSES["after-dense"] + "; " + BACKWARD.replace("clear_grad()", "clear_grad(set_to_zero=False)")),
    "dense-kept": script(LOSSES["penalty"] + "; " + BACKWARD.replace("clear_grad()", "clear_grad(set_to_zero=True)")),
    "function": script(PLAIN.replace("embedding(ids)", "F.embedding(ids, w, sparse=True)"), "Adam(1e-3"),
    "sliced": script(PLAIN.replace("(ids)", "(ids.reshape([6, 10])[:, 1:])"), "Momentum(1e-3"),
    "hook": script("w.register_hook(lambda g: g * 0.5) if step == 0 else None; " + PLAIN, "Adam(1e-3"),
    "assigned": script("g = paddle.grad(embedding(ids).mean() + embedding(other).mean(), [w])[0]; w.grad = g * 2; " + UPDATE, "Adam(1e-3"),
    "not-clipped": script(PLAIN, "Adam(1e-3, grad_clip=nn.ClipGradByValue(1.0)", more=", weight_attr=paddle.ParamAttr(need_clip=False)"),
    "scaler": script("paddle.amp.GradScaler().scale(embedding(ids).mean()).backward(); " + UPDATE, "Adam(1e-3"),
}  # fmt: skip
REFUSED = {
    "adamw": script(PLAIN, "AdamW(1e-3"), "adamw-lazy": script(PLAIN, "AdamW(1e-3, lazy_mode=True"),
    "adamax": script(PLAIN, "Adamax(1e-3"), "adadelta": script(PLAIN, "Adadelta(1e-3"),
    "nadam": script(PLAIN, "NAdam(1e-3"), "radam": script(PLAIN, "RAdam(1e-3"), "asgd": script(PLAIN, "ASGD(1e-3"),
    "clip": script(PLAIN, "SGD(1e-3, grad_clip=nn.ClipGradByValue(1.0)"),
    "p_norm": script("embedding(ids).mean().backward(); nn.utils.clip_grad_norm_([w], 1.0); " + UPDATE),
}  # fmt: skip
"""What Paddle has no kernel for: it fails in ever other ways, or crashes."""
ADAM = {
    "decay": script(PLAIN, "Adam(1e-3", decay=DECAYS["l2"]),
    "decay-l1": script(PLAIN, "Adam(1e-3", decay=DECAYS["l1"]),
}


@pytest.fixture(scope="module")
def measured(measure):
    return measure(SOURCES | ADAM | REFUSED)


@pytest.mark.parametrize("name", SOURCES)
def test_a_sparse_gradient_takes_what_the_allocator_says(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] == pytest.approx(peaks[-1], abs=8), traced["questions"]


@pytest.mark.parametrize("name", ADAM)
def test_what_adam_refuses_is_told_in_its_words(measured, name):
    assert measured.traced[name]["stop"]["error"] == measured.real[name]["failure"]


@pytest.mark.parametrize("name", REFUSED)
def test_what_paddle_has_no_kernel_for_is_told(measured, name):
    row = measured.traced[name]  # asgd counts in numbers that are not computed: then it is a question
    told = row["stop"]["error"].partition(": ")[2] if row["stop"] else row["questions"][0]["params"]["message"]
    assert told.startswith(f"Paddle has no kernel of {name.split('-')[0]} for a sparse gradient")
    assert measured.real[name]["failure"], "Paddle runs it"
