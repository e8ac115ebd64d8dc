"""Attention that only a GPU has kernels of, in a static program of one process: as in dynamic mode."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle
SPLIT = "q, k, v = (part.astype('{dtype}') for part in paddle.split(first(x).reshape([4, 96, 8, 96]), 3, axis=-1))"
ENDS = "loss = last(out.astype('float32').reshape([4, 96, 256])).mean()"
DYNAMIC = """
import paddle
from paddle.nn import functional as F
first, last = paddle.nn.Linear(256, 768), paddle.nn.Linear(256, 10)
optimizer = paddle.optimizer.Adam(1e-3, parameters=first.parameters() + last.parameters())
def lost(x):  # names of a loop would hold the step before
    {split}
    out = {call}
    {ends}
    return loss
for step in range(4):
    lost(paddle.zeros([4, 96, 256])).backward()
    optimizer.step()
    optimizer.clear_grad(set_to_zero=False)
"""
STATIC = """
import numpy as np
import paddle
from paddle.nn import functional as F
paddle.enable_static()
main, startup = paddle.static.Program(), paddle.static.Program()
with paddle.static.program_guard(main, startup):
    x = paddle.static.data("x", [4, 96, 256], "float32")
    first, last = paddle.nn.Linear(256, 768), paddle.nn.Linear(256, 10)
    {split}
    out = {call}
    {ends}
    paddle.optimizer.Adam(1e-3).minimize(loss)
executor = paddle.static.Executor()
executor.run(startup)
for step in range(4):
    executor.run(main, feed={{"x": np.zeros([4, 96, 256], "float32")}}, fetch_list=[loss])
"""
DIVIDED = """
import numpy as np
import paddle, paddle.distributed as dist
from paddle.nn import functional as F
from paddle.distributed.auto_parallel.process_mesh import ProcessMesh
def rank_of(mesh, name, process):  # Paddle 3.3's own asks for the number of an array, which numpy 2.4 gives no more
    return int(np.where(mesh._mesh == process)[mesh._dim_names.index(name)][0])
ProcessMesh.get_rank_by_dim_and_process_id = rank_of
class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.last = paddle.nn.Linear(256, 768), paddle.nn.Linear(256, 10)
    def forward(self, x):
        q, k, v = paddle.split(self.first(x).reshape([0, 0, 8, 96]), 3, axis=-1)
        return self.last(F.scaled_dot_product_attention(q, k, v).reshape([0, 0, 256])).mean(1)
class Data(paddle.io.Dataset):
    def __getitem__(self, at):
        return np.zeros([96, 256], "float32"), np.zeros([1], "int64")
    def __len__(self):
        return 64
mesh = dist.ProcessMesh([0, 1], dim_names=["data"])
dist.init_parallel_env()
net = Net()
optimizer = dist.shard_optimizer(paddle.optimizer.AdamW(1e-3, parameters=net.parameters()))
loader = dist.shard_dataloader(paddle.io.DataLoader(Data(), batch_size=4), mesh, shard_dims="data")
model = dist.to_static(net, loader, paddle.nn.CrossEntropyLoss(), optimizer)
model.train()
for x, y in loader:
    model(x, y)
"""
SDPA = "F.scaled_dot_product_attention(q, k, v, is_causal={causal})"
FLASH = "F.flash_attention.flash_attention(q, k, v, causal={causal})[0]"
CASES = {
    "float32": ("float32", SDPA.format(causal=False), "memory_efficient_attention"),
    "float32, causal": ("float32", SDPA.format(causal=True), "memory_efficient_attention"),
    "bfloat16": ("bfloat16", SDPA.format(causal=True), "flash_attn"),
    "float16": ("float16", FLASH.format(causal=False), "flash_attn"),
}
TRACED = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer
def most(found):
    count = len(found["operations"])
    change = [0] * (count + 3)
    for size, start, end, *_ in found["storages"]:
        change[start + 1] += size
        change[end + 2] -= size
    alive, top = change[0], 0
    for now, operation in enumerate(found["operations"]):
        alive += change[now + 1]
        top = max(top, alive + operation[6])
    return top
for name, source in json.load(sys.stdin).items():
    request = {"cells": [{"index": 0, "source": source}], "answers": {}, "target": "gpu"}
    request |= {"devices": 2} if name == "divided" else {}
    found = tracer.trace_notebook(request)
    if found["status"] != "ok":
        print(json.dumps([name, [found["status"], [one["why"] for one in found["questions"]]]]))
        continue
    kernels = [row[0] for row in found["operations"] if "att" in row[0]]
    flops = [row[3] for row in found["operations"] if "att" in row[0]]
    print(json.dumps([name, [found["status"], most(found), kernels, flops]]))
"""


def programs():
    for name, (dtype, call, _) in CASES.items():
        parts = {"split": SPLIT.format(dtype=dtype), "call": call, "ends": ENDS}
        yield f"dynamic {name}", DYNAMIC.format(**parts)
        yield f"static {name}", STATIC.format(**parts)
    refused = {"split": SPLIT.format(dtype="float32"), "call": FLASH.format(causal=True), "ends": ENDS}
    yield "refused", STATIC.format(**refused)
    yield "divided", DIVIDED


@pytest.fixture(scope="module")
def traced(run_code):
    return run_code(TRACED, dict(programs()))


@pytest.mark.parametrize("name", CASES)
def test_a_static_program_takes_what_its_dynamic_twin_takes(traced, name):
    status, peak, kernels, flops = traced[f"static {name}"]
    kernel = CASES[name][2]
    assert (status, kernels) == ("ok", [kernel, f"{kernel}_grad"])
    assert ["ok", peak, kernels, flops] == traced[f"dynamic {name}"]


@pytest.mark.parametrize("name", ["refused", "divided"])
def test_what_is_not_followed_goes_no_further(traced, name):
    # A GPU's kernel takes no float32; CUTLASS's operands are numbers, of which nobody says how they are placed.
    assert traced[name] == ["needs_input", ["operator_of_gpus"]]
