"""Flags of Paddle's allocator: what a program sets before its first tensor, or its environment, goes with the trace."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

SCRIPT = """
import os, paddle
{before}
net = paddle.nn.Linear(8, 8)
optimizer = paddle.optimizer.SGD(1e-3, parameters=net.parameters())
{behind}
for step in range(4):
    net(paddle.rand([16, 8])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
SET = "paddle.set_flags({'FLAGS_auto_growth_chunk_size_in_mb': 64, 'FLAGS_small_pool_size_in_mb': 1})"
SCRIPTS = {
    "none": SCRIPT.format(before="", behind=""),
    "before": SCRIPT.format(before=SET, behind=""),
    "behind": SCRIPT.format(before="", behind=SET),
    "environment": SCRIPT.format(before="os.environ['FLAGS_allocator_strategy'] = 'naive_best_fit'", behind=""),
    "late environment": SCRIPT.format(before="", behind="os.environ['FLAGS_free_idle_chunk'] = '1'"),
    "refused": SCRIPT.format(before="paddle.set_flags({'FLAGS_free_idle_chunk': True})", behind=""),
}
SENT = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer
for name, source in json.load(sys.stdin).items():
    found = tracer.trace_notebook({"cells": [{"index": 0, "source": source}], "answers": {}, "target": "gpu"})
    print(json.dumps([name, [found["status"], found.get("allocator_flags"), (found.get("stop") or {}).get("line")]]))
"""
OF_JOB = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
import paddle, tracer
from paddle.base import core
request = {"cells": [{"index": 0, "source": json.load(sys.stdin)}], "answers": {}, "target": "gpu"}
given = {"FLAGS_allocator_strategy": "naive_best_fit", "FLAGS_use_stride_kernel": "0", "WIDTH": "24", "FLAGS_none": "x"}
for name, variables in (("plain", {}), ("given", given), ("again", {})):
    found = tracer.trace_notebook({**request, "environment": variables})
    flags = core.globals()["FLAGS_use_stride_kernel"], core.globals()["FLAGS_allocator_strategy"]
    told = found["status"], found["allocator_flags"], found["parameters"]
    print(json.dumps([name, [*told, *flags, "WIDTH" in os.environ]]))
"""
READS = """
import os, paddle
net = paddle.nn.Linear(8, int(os.environ.get('WIDTH', 8)), bias_attr=False)
if not paddle.get_flags('FLAGS_use_stride_kernel')['FLAGS_use_stride_kernel']:
    net = paddle.nn.Sequential(net, paddle.nn.Linear(24, 1, bias_attr=False))
optimizer = paddle.optimizer.SGD(1e-3, parameters=net.parameters())
for step in range(4):
    net(paddle.rand([16, 8])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""


@pytest.fixture(scope="module")
def sent(run_code):
    return run_code(SENT, SCRIPTS)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("none", {}),
        ("before", {"FLAGS_auto_growth_chunk_size_in_mb": 64, "FLAGS_small_pool_size_in_mb": 1}),
        # The allocator is there by then; the pools' bound alone is looked at with every request.
        ("behind", {"FLAGS_small_pool_size_in_mb": 1}),
        ("environment", {"FLAGS_allocator_strategy": "naive_best_fit"}),
        ("late environment", {}),
    ],
)
def test_flags_go_with_the_trace_as_the_allocator_would_see_them(sent, name, found):
    assert sent[name] == ["ok", found, None]


def test_a_flag_that_the_environment_alone_sets_is_refused_as_by_paddle(sent):
    assert sent["refused"] == ["would_stop", None, 3]


def test_a_jobs_environment_is_there_while_its_program_is_read_and_no_longer(run_code):
    found = run_code(OF_JOB, READS)
    assert found["plain"] == found["again"] == ["ok", {}, 64, True, "auto_growth", False]
    assert found["given"] == [
        "ok",
        {"FLAGS_allocator_strategy": "naive_best_fit"},
        8 * 24 + 24,
        True,
        "auto_growth",
        False,
    ]
