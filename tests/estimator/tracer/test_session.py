"""Traces one after another in one process share nothing but templates and patches."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytestmark = pytest.mark.paddle

HEAD = (
    "import numpy as np, paddle, paddle.nn.functional as F\nfrom paddle import nn\npaddle.seed(0)\nnp.random.seed(0)\n"
)
PROGRAMS = {
    # a loader with workers, images, evaluation that keeps tensors, a condition on a random number
    "images": HEAD
    + """
import random
class Data(paddle.io.Dataset):
    def __getitem__(self, i):
        return np.zeros([3, 16, 16], 'float32'), i % 3
    def __len__(self):
        return 64
model = nn.Sequential(nn.Conv2D(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2D(2), nn.Flatten(), nn.Linear(16, 3))
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
kept = []
for epoch in range(3):
    for x, y in paddle.io.DataLoader(Data(), batch_size=8, num_workers=2):
        loss = F.cross_entropy(model(x), y)
        if random.random() < 0.5: loss = loss * 2
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    with paddle.no_grad():
        kept.append(model(x))
""",
    # several processes, a module that is not there, mixed precision, sizes that hang on values, L-BFGS-like readings
    "processes": HEAD
    + """
import a_log_that_nobody_has as log
import paddle.distributed as dist
dist.init_parallel_env()
model = paddle.DataParallel(nn.Sequential(nn.Embedding(50, 8, sparse=True), nn.Linear(8, 5)))
optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
ids = paddle.to_tensor(np.arange(12).reshape(3, 4))
for step in range(4):
    with paddle.amp.auto_cast(level='O1'):
        out = model(ids)
    log.write(float(out.mean()))
    chosen = out[out > 0.1]
    loss = chosen.sum() + out.mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
""",
    # hooks on saved tensors that are never taken off, updates by hand
    "hooks": HEAD
    + """
model = nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 2))
paddle.base.core.eager.register_saved_tensors_hooks(lambda x: x.numpy(), lambda x: paddle.to_tensor(x))
for step in range(8):
    out = model(paddle.rand([4, 6]))
    out.mean().backward()
    for p in model.parameters():
        p.set_value(p - 0.1 * p.grad)
        p.clear_grad()
""",
}
REQUESTS = {
    "images": {"target": "cpu"},
    "processes": {"target": "gpu", "devices": 2},
    "hooks": {"target": "cpu"},
    "larger": {"target": "cpu", "batch_size": 16, "image_size": 32, "accumulation": 2, "recompute": True, "amp": "O2"},
}
CODE = """
import hashlib, json, os, sys, types, weakref
sys.path.insert(0, sys.argv[1])
import tracer
tracer.prepare(), tracer.trace_notebook  # which imports the rest
order, programs, requests, looks = json.load(sys.stdin)

def digest(trace):
    # Of the operations that are reached this program draws some; what is found of them is the same.
    trace = {k: v for k, v in trace.items() if k not in {"seconds", "reached"}}
    if "host" in trace:
        trace["host"] = {k: v for k, v in trace["host"].items() if k != "objects"}  # counts Python's blocks
    return hashlib.sha256(json.dumps(trace, sort_keys=True).encode()).hexdigest()

def state():
    '''What the tracer's modules hold that can change, in their names and in what hangs on their classes.'''
    found = {}
    for name, module in sorted(sys.modules.items()):
        if not name.startswith("tracer"):
            continue
        for key, value in vars(module).items():
            if key.startswith("__") or isinstance(value, (types.ModuleType, types.FunctionType)):
                continue
            if isinstance(value, type):
                if value.__module__ == name:
                    found[f"{name}.{key}"] = repr({k: seen(v) for k, v in vars(value).items() if not callable(v)})
            else:
                found[f"{name}.{key}"] = seen(value)
    found["environment"] = repr(sorted(os.environ.items()))
    return found

def seen(value):
    if isinstance(value, (weakref.WeakKeyDictionary, weakref.WeakSet, dict, list, set)):
        return f"{type(value).__name__} of {len(value)}: {sorted(map(str, value))[:200]}"
    own = getattr(value, "__dict__", None)
    return f"{type(value).__name__} {id(value)} {sorted((k, repr(v)) for k, v in own.items()) if own else ''}"

before = state() if looks else None
for place, name in enumerate(order):
    cells = [{"index": 0, "source": programs.get(name, programs["images"])}]
    trace = tracer.trace_notebook({"cells": cells, "answers": {}, **requests[name]})
    assert trace["status"] == "ok", trace
    print(json.dumps([f"{name} {place}", digest(trace)]))
    if looks:
        changed = sorted(key for key, value in state().items() if before.get(key) != value)
        print(json.dumps([f"changed by {name}", changed]))
"""
SHARED = ["tracer.notebook.traces._inference"]
"""Templates of operator calls."""


@pytest.fixture(scope="module")
def traced(run_code: Callable[[str, object], dict]) -> Callable[..., dict[str, str]]:
    def run(*order: str, looks: bool = False) -> dict[str, str]:
        return run_code(CODE, [list(order), PROGRAMS, REQUESTS, looks])

    return run


@pytest.fixture(scope="module")
def fresh(traced: Callable[..., dict[str, str]]) -> dict[str, str]:
    """Each in a process of its own."""
    return {name: traced(name)[f"{name} 0"] for name in REQUESTS}


def test_a_trace_is_the_same_whatever_was_traced_before(fresh, traced) -> None:
    order = ("images", "processes", "hooks", "larger", "images", "hooks", "processes", "images")
    found = traced(*order)
    assert found == {f"{name} {place}": fresh[name] for place, name in enumerate(order)}


def test_a_trace_changes_nothing_in_the_tracers_modules_but_templates(traced) -> None:
    found = traced(*REQUESTS, looks=True)
    changed = {name: keys for name, keys in found.items() if name.startswith("changed")}
    assert changed == {f"changed by {name}": SHARED for name in REQUESTS}
