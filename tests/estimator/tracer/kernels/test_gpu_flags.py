"""Flags that only a Paddle for GPUs has: what a program sets, or its environment, bounds a convolution's workspace."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

SCRIPT = """
import os, paddle
from paddle import nn
{before}
net = nn.Conv2D(8, 8, 3, padding=1)
optimizer = paddle.optimizer.SGD(1e-3, parameters=net.parameters())
for step in range(4):
    loss = net(paddle.rand([16, 8, 128, 128])).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
SET = "paddle.set_flags({'FLAGS_conv_workspace_size_limit': %d})"
BEFORE = {
    "begins": "assert paddle.get_flags('FLAGS_conv_workspace_size_limit')['FLAGS_conv_workspace_size_limit'] == 512",
    "less": SET % 2,
    "none": SET % -1,
    "environment": "os.environ['FLAGS_conv_workspace_size_limit'] = '3'",
    "behind": "",
    "search": "paddle.set_flags({'FLAGS_cudnn_exhaustive_search': 1, 'FLAGS_conv_workspace_size_limit': 99})",
    "no search": "paddle.set_flags({'FLAGS_cudnn_exhaustive_search': 0})",
    "read": "paddle.set_flags({'FLAGS_cudnn_deterministic': True})\n"
    "assert paddle.get_flags(['FLAGS_cudnn_deterministic'])['FLAGS_cudnn_deterministic']",
}
LARGEST = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer
for name, source in json.load(sys.stdin).items():
    found = tracer.trace_notebook({"cells": [{"index": 0, "source": source}], "answers": {}, "target": "gpu"})
    print(json.dumps([name, [found["status"], max((row[7] for row in found.get("operations", [])), default=0)]]))
"""
TOUCHED = 2 * 16 * 8 * 128 * 128 * 4 + 2 * 8 * 8 * 9 * 4
"""Bytes of input, incoming gradient, filter and its gradient, which are most."""


@pytest.fixture(scope="module")
def largest(run_code):
    return run_code(LARGEST, {name: SCRIPT.format(before=before) for name, before in BEFORE.items()})


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("begins", TOUCHED), ("less", 2 << 20), ("none", TOUCHED), ("environment", 3 << 20), ("behind", TOUCHED),
        ("read", TOUCHED), ("search", 99 << 20), ("no search", TOUCHED),
    ],
)  # fmt: skip
def test_a_workspace_ends_at_the_limit(largest, name, most):
    assert largest[name] == ["ok", most]


COMPILED = """
import paddle
from paddle import nn
{before}
net = paddle.jit.to_static(nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8)))
optimizer = paddle.optimizer.SGD(1e-3, parameters=net.parameters())
for step in range(4):
    net(paddle.rand([16, 8])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
NOTES = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer
for name, (source, target, variables) in json.load(sys.stdin).items():
    request = {"cells": [{"index": 0, "source": source}], "answers": {}, "target": target, "environment": variables}
    print(json.dumps([name, [note["code"] for note in tracer.trace_notebook(request)["notes"]]]))
"""


def test_what_cinn_makes_of_a_compiled_program_is_not_followed_and_said(run_code):
    on = {"FLAGS_use_cinn": "1"}
    found = run_code(
        NOTES,
        {
            "job": (COMPILED.format(before=""), "gpu", on),
            "program": (COMPILED.format(before="paddle.set_flags({'FLAGS_use_cinn': True})"), "gpu", {}),
            "cpu": (COMPILED.format(before=""), "cpu", on),
            "plain": (COMPILED.format(before=""), "gpu", {}),
            "not compiled": (COMPILED.format(before="paddle.jit.to_static = lambda net: net"), "gpu", on),
        },
    )
    said = {name for name, notes in found.items() if "cinn" in notes}
    assert said == {"job", "program"}
