"""Programs that Paddle divides (automatic parallelism, `dist.to_static`), beside real processes on CPUs.

The real steps run in the program's order; the least of them counts, in which nothing was freed late. There are many of
them, and more where need be: beside other work on two cores, sixty in a row have been seen that all freed something
late.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.estimator.tracer.patches.distributed.test_sharding import run_processes

pytestmark = pytest.mark.paddle

NEAR = 2048
"""Bytes by which they may differ."""
TURNS = 6
CHILD = Path(__file__).parents[2] / "divided_programs.py"
HEAD = """
import time
import numpy as np, paddle, paddle.distributed as dist
import paddle.nn.functional as F
from paddle import nn
from paddle.distributed.auto_parallel.process_mesh import ProcessMesh
paddle.set_flags({{"FLAGS_new_executor_serial_run": True}})
if "step_ends" not in globals():
    step_ends = lambda: None
def rank_of(mesh, name, process):  # Paddle 3.3's own asks for the number of an array, which numpy 2.4 gives no more
    return int(np.where(mesh._mesh == process)[mesh._dim_names.index(name)][0])
ProcessMesh.get_rank_by_dim_and_process_id = rank_of
mesh = dist.ProcessMesh({mesh}, dim_names={names})
whole = [dist.Replicate()] * {axes}
{model}
layers = Net()
optimizer = paddle.optimizer.{optimizer}
{wrap}
class Rows(paddle.io.Dataset):
    def __len__(self):
        return 640
    def __getitem__(self, index):
        return np.ones([64], "float32"), np.array(index % 10, "int64")
loader = dist.shard_dataloader(paddle.io.DataLoader(Rows(), batch_size=16, drop_last=True), mesh, shard_dims="data")
{strategy}
model = dist.to_static(layers, loader, nn.CrossEntropyLoss(), optimizer, strategy)
model.train()
x, y = next(iter(loader))
loader.iter = None
for step in range(60):
    loss = model(x, y)
    step_ends()
"""
MLP = """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(64, 256), nn.Linear(256, 10)
        for layer, parts in ((self.up, {up}), (self.down, {down})):
            for name, placed in parts.items():
                setattr(layer, name, dist.shard_tensor(getattr(layer, name), mesh, placed))
    def forward(self, x):
        return self.down(F.relu(self.up(x)))
"""
WHOLE = '{"weight": whole, "bias": whole}'
ADAM = "AdamW(1e-3, parameters=layers.parameters())"


def script(
    *, wrap: str = "", up: str = WHOLE, down: str = WHOLE, mesh: str = "[0, 1]", names: str = '["data"]',
    optimizer: str = ADAM, strategy: str = "strategy = None",
) -> str:  # fmt: skip
    model = MLP.format(up=up, down=down)
    axes = names.count(",") + 1
    return HEAD.format(
        mesh=mesh, names=names, axes=axes, model=model, optimizer=optimizer, wrap=wrap, strategy=strategy
    )


def stage(number: int) -> str:
    return f'optimizer = dist.shard_optimizer(optimizer, dist.ShardingStage{number}("data", mesh))'


ACROSS = '{"weight": [dist.Replicate(), dist.Shard(1)], "bias": [dist.Replicate(), dist.Shard(0)]}'
ALONG = '{"weight": [dist.Replicate(), dist.Shard(0)], "bias": whole}'
BOTH = {"mesh": "[[0, 1]]", "names": '["data", "model"]'}
CLIPPED = "AdamW(1e-3, parameters=layers.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))"
MERGED = """
strategy = dist.Strategy()
strategy.gradient_merge.enable, strategy.gradient_merge.k_steps = True, 2"""
STAGES = """
import time
import paddle, paddle.distributed as dist
from paddle import nn
from paddle.distributed.auto_parallel.static.dist_input_spec import DistributedInputSpec
paddle.set_flags({"FLAGS_new_executor_serial_run": True})
if "step_ends" not in globals():
    step_ends = lambda: None
first, last, whole = dist.ProcessMesh([0], ["data"]), dist.ProcessMesh([1], ["data"]), [dist.Replicate()]
dist.auto_parallel.set_mesh(dist.ProcessMesh([[0], [1]], ["pp", "data"]))
def placed(layer, mesh):
    for name in ("weight", "bias"):
        setattr(layer, name, dist.shard_tensor(getattr(layer, name), mesh, whole))
    return layer
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.front = nn.LayerList([placed(nn.Linear(256, 256), first) for _ in range(3)])
        self.back = nn.LayerList([placed(nn.Linear(256, 256), last) for _ in range(3)])
    def forward(self, x):
        for layer in self.front:
            x = nn.functional.gelu(layer(x))
        x = dist.reshard(x, last, whole)
        for layer in self.back:
            x = nn.functional.gelu(layer(x))
        return x
layers = Net()
optimizer = dist.shard_optimizer(paddle.optimizer.AdamW(1e-3, parameters=layers.parameters()))
strategy = dist.Strategy()
strategy.pipeline.enable, strategy.pipeline.schedule_mode = True, "FThenB"
strategy.pipeline.accumulate_steps, strategy.pipeline.pp_degree = 4, 2
specs = [
    [DistributedInputSpec([512, 256], "float32", "x", mesh=first, placements=whole, local_shape=[512, 256])],
    [DistributedInputSpec([512], "int64", "y", mesh=last, placements=whole, local_shape=[512])],
]
model = dist.to_static(layers, None, nn.CrossEntropyLoss(), optimizer, strategy, input_spec=specs)
model.train()
x = dist.auto_parallel.api.dtensor_from_local(paddle.ones([2048, 256]), first, whole)
y = dist.auto_parallel.api.dtensor_from_local(paddle.zeros([2048], "int64"), last, whole)
for step in range(60):
    loss = model(x, y)
    step_ends()
"""
READ = "paddle.io.DataLoader(Rows(), batch_size=16, drop_last=True)"
AT_ONCE = "paddle.io.DataLoader(Rows(), batch_sampler=sampler)"
SAMPLER = "sampler = paddle.io.BatchSampler(Rows(), batch_size=16)\nsampler._acc_steps = 2\nloader ="
REAL = {
    "merged": script(strategy=MERGED).replace(READ, AT_ONCE).replace("loader =", SAMPLER, 1),
    "data": script(),
    "clipped": script(optimizer=CLIPPED),
    "model": script(up=ACROSS, down=ALONG, **BOTH),
    "stage-1": script(wrap=stage(1)),
    "stage-2": script(wrap=stage(2)),
    "stage-3": script(wrap=stage(3)),
    "stages": STAGES,
    "stages-by-turns": STAGES.replace('"FThenB"', '"1F1B"'),
}
HALF = script(
    strategy="""
strategy = dist.Strategy()
strategy.amp.enable, strategy.amp.level, strategy.amp.dtype = True, "O2", "float16"
"""
)
DYNAMIC = (
    script(wrap="optimizer = dist.shard_optimizer(optimizer)").partition("loader =")[0]
    + """
for step in range(8):
    loss = F.cross_entropy(layers(paddle.ones([16, 64])), paddle.zeros([16], "int64"))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
)


@pytest.fixture(scope="module")
def measured(run_child, paddle_python):
    """What the real processes and the trace say. Where no step of a program was as the trace says, it runs again: a
    machine that is busy may let go of something late in all of them."""
    traced = run_child("trace", {**REAL, "dynamic": DYNAMIC, "half": HALF})
    real: list[dict[str, dict]] = [{}, {}]
    left = list(REAL)
    for _ in range(TURNS):
        for name in left:
            for rank, part in enumerate(run_processes(paddle_python, {name: REAL[name]}, child=CHILD)):
                peaks = real[rank].get(name, {}).get("peaks", [])
                real[rank][name] = {**part[name], "peaks": [*peaks, *part[name]["peaks"][2:]]}
        left = [name for name in left if least(real, name) > (traced[name]["peak"] or 0) + NEAR]
    return real, traced


def least(real: list[dict[str, dict]], name: str) -> int:
    """The largest of what the processes held in the best of their steps; of stages the first one's, which is told."""
    held = real[:1] if name.startswith("stages") else real
    return max(min(one[name]["peaks"], default=0) for one in held)


@pytest.mark.parametrize("name", REAL)
def test_the_peak_is_that_of_paddles_own_divided_program(measured, name):
    real, traced = measured
    assert [one[name]["failure"] for one in real] == [None, None]
    assert traced[name]["status"] == "ok", traced[name]
    assert traced[name]["peak"] == pytest.approx(least(real, name), abs=NEAR), (real[0][name]["peaks"], traced[name])


def test_what_is_said(measured):
    said = {name: (row["distribution"], row["devices"], row["notes"]) for name, row in measured[1].items()}
    for name in REAL:
        assert said[name] == ("auto_parallel", 2, ["auto_parallel_program", "static_graph_on_cpu"])
    assert said["dynamic"] == (None, None, ["auto_parallel"])


def test_types_that_a_build_for_cpus_has_no_kernels_of_are_told(measured):
    half = measured[1]["half"]
    assert (half["status"], half["stop"]) == ("static_graph", None), half
    assert half["notes"][-2:] == ["auto_parallel_types", "static_graph"]
