"""What one of several processes holds, against real processes on CPUs: DataParallel and sharding stages 1 to 3."""

from __future__ import annotations

import json
import os
import socket
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.estimator.tracer.measuring import steady
from tests.warm_python import WarmPython

pytestmark = pytest.mark.paddle

CHILD = Path(__file__).parents[2] / "processes.py"
HEAD = """
import paddle, paddle.distributed as dist
import paddle.nn.functional as F
from paddle import nn
from paddle.distributed import fleet
{start}
paddle.seed(0)
{model}
optimizer = paddle.optimizer.{optimizer}
{wrap}
{data}
for step in range(8):
{step}
"""
START = "dist.init_parallel_env()"
FLEET = """
strategy = fleet.DistributedStrategy()
strategy.hybrid_configs = {"dp_degree": 1, "mp_degree": 1, "pp_degree": 1, "sharding_degree": 2}
fleet.init(is_collective=True, strategy=strategy)"""
MLP = "layers = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 1000), nn.ReLU(), nn.Linear(1000, 10))"
DEEP = "layers = nn.Sequential(*[m for i in range(6) for m in (nn.Linear(600, 600), nn.LayerNorm(600), nn.GELU())])"
IMAGES = (
    "layers = nn.Sequential(nn.Conv2D(3, 32, 3), nn.BatchNorm2D(32), nn.ReLU(), nn.Conv2D(32, 64, 3), nn.ReLU(), "
    "nn.AdaptiveAvgPool2D(4), nn.Flatten(), nn.Linear(1024, 500))"
)
BLOCKS = """
class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.up, self.norm, self.down = nn.Linear(300, 900), nn.LayerNorm(900), nn.Linear(900, 300)
    def forward(self, h):
        return h + self.down(F.gelu(self.norm(self.up(h))))
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.blocks, self.last = nn.LayerList([Block() for _ in range(4)]), nn.Linear(300, 600)
    def forward(self, x):
        for block in self.blocks:
            x = {call}
        return self.last(x)
layers = Net()"""
RECOMPUTED = BLOCKS.format(call="fleet.utils.recompute(block, x, use_reentrant=False)")
BLOCKS = BLOCKS.format(call="block(x)")
WORDS = (
    "layers = nn.Sequential(nn.Embedding(5000, 64), nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0), "
    "nn.Linear(64, 5000))"
)
STEP = """
    model(x).mean().backward()
    optimizer.step()
    optimizer.clear_grad()"""
TWICE = """
    model(x).mean().backward()
    model(x * 2).mean().backward()
    optimizer.step()
    optimizer.clear_grad()"""
ACCUMULATED = """
    for micro in range(2):
        (model(x[micro * 128:micro * 128 + 128]).mean() / 2).backward()
    optimizer.step()
    optimizer.clear_grad()"""
NO_SYNC = """
    with model.no_sync():
        (model(x[:128]).mean() / 2).backward()
    (model(x[128:]).mean() / 2).backward()
    optimizer.step()
    optimizer.clear_grad()"""
AVERAGED = (
    STEP
    + """
    with paddle.no_grad():
        for average, parameter in zip(averages, layers.parameters()):
            average.set_value(average * 0.9 + parameter * 0.1)"""
)
AVERAGES = "\naverages = [p.clone().detach() for p in layers.parameters()]"
ADAM = "Adam(1e-5, parameters=layers.parameters())"
CLIPPED = "Adam(1e-5, parameters=layers.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))"
DATA = {MLP: "x = paddle.rand([16, 1000])", DEEP: "x = paddle.rand([64, 600])",
        BLOCKS: "x = paddle.rand([256, 300])", RECOMPUTED: "x = paddle.rand([256, 300])",
        IMAGES: "x = paddle.rand([4, 3, 20, 20])", WORDS: "x = paddle.randint(0, 5000, [4, 12])"}  # fmt: skip


def script(wrap: str, model: str = MLP, *, optimizer: str = ADAM, start: str = START, step: str = STEP) -> str:
    return HEAD.format(
        start=start,
        model=model,
        optimizer=optimizer,
        wrap=wrap,
        data=DATA.get(model) or DATA[model.split("\n")[0]],
        step=step,
    )


def shard(level: str, options: str = "") -> str:
    return f"model, optimizer, _ = dist.sharding.group_sharded_parallel(layers, optimizer, '{level}'{options})"


GROUPED = "model = fleet.distributed_model(layers)\noptimizer = fleet.distributed_optimizer(optimizer)"
FUSED = "strategy.hybrid_configs['sharding_configs'].tensor_fusion = True\n"
FROZEN = "\nlayers[4].bias.stop_gradient = True"
UNUSED = """
layers.spare = nn.Linear(700, 300)
layers.forward = lambda x: layers[4](layers[3](layers[2](layers[1](layers[0](x)))))"""
INITIALIZED = """
for layer in layers:
    if type(layer) is nn.Linear:
        nn.initializer.XavierUniform()(layer.weight)"""
SOURCES = {
    "parallel-unused": script("model = paddle.DataParallel(layers)", MLP + UNUSED),
    "parallel": script("model = paddle.DataParallel(layers, comm_buffer_size=4)", MLP + FROZEN),
    "parallel-images": script("model = paddle.DataParallel(layers)", IMAGES),
    "parallel-initialized": script("model = paddle.DataParallel(layers)" + INITIALIZED),
    "parallel-accumulated": script("model = paddle.DataParallel(layers)", BLOCKS, step=ACCUMULATED),
    "parallel-no-sync": script("model = paddle.DataParallel(layers)", BLOCKS, step=NO_SYNC),
    "parallel-recomputed": script("model = paddle.DataParallel(layers)", RECOMPUTED),
    "parallel-both": script("model = paddle.DataParallel(layers)", RECOMPUTED, step=ACCUMULATED),
    "parallel-averaged": script("model = paddle.DataParallel(layers)" + AVERAGES, BLOCKS, step=AVERAGED),
    "os_g-both": script(shard("os_g"), RECOMPUTED, step=ACCUMULATED),
    "os_g-averaged": script(shard("os_g") + AVERAGES, BLOCKS, step=AVERAGED),
    "p_g_os-both": script(shard("p_g_os", ", segment_size=2**15"), RECOMPUTED, step=ACCUMULATED),
    "os": script(shard("os")),
    "os_g": script(shard("os_g"), DEEP),
    "os_g-clip": script(shard("os_g"), optimizer=CLIPPED),
    "os_g-small-buffer": script(shard("os_g", ", buffer_max_size=2**16"), DEEP),
    "os_g-images": script(shard("os_g"), IMAGES, optimizer="Momentum(1e-5, parameters=layers.parameters())"),
    "os_g-words": script(shard("os_g"), WORDS),
    "os_g-twice": script(shard("os_g"), DEEP, step=TWICE),
    "p_g_os": script(shard("p_g_os")),
    "p_g_os-segments": script(shard("p_g_os", ", segment_size=2**15"), DEEP),
    "p_g_os-clip": script(shard("p_g_os", ", segment_size=2**10"), DEEP, optimizer=CLIPPED),
    "p_g_os-images": script(shard("p_g_os", ", segment_size=2**10"), IMAGES),
    "p_g_os-words": script(shard("p_g_os", ", segment_size=2**10"), WORDS),
    "p_g_os-sync": script(shard("p_g_os", ", segment_size=2**15, sync_comm=True"), DEEP),
}
FLEETS = {
    "fleet": script(GROUPED, start=FLEET),
    "fleet-clip": script(GROUPED, DEEP, optimizer=CLIPPED, start=FLEET),
    "fleet-images": script(GROUPED, IMAGES, start=FLEET),
    "fleet-sgd": script(GROUPED, WORDS, optimizer="SGD(1e-5, parameters=layers.parameters())", start=FLEET),
}
ALL = {**SOURCES, **FLEETS}


def free_ports(count: int) -> list[int]:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def run_processes(
    paddle_python: WarmPython, sources: dict[str, str], count: int = 2, child: Path = CHILD
) -> list[dict[str, dict]]:
    """What each of the processes measured: {name: row}."""
    ends = [f"127.0.0.1:{port}" for port in free_ports(count)]
    common = {
        **os.environ,
        "PADDLE_DISTRI_BACKEND": "gloo",
        "PADDLE_TRAINERS_NUM": str(count),
        "PADDLE_MASTER": ends[0],
    }
    common["PADDLE_TRAINER_ENDPOINTS"] = ",".join(ends)

    def run(rank: int) -> dict[str, dict]:
        own = {**common, "PADDLE_TRAINER_ID": str(rank), "PADDLE_CURRENT_ENDPOINT": ends[rank]}
        done = paddle_python.run(str(child), sent=json.dumps(sources), environment=own)
        rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        assert {row["name"] for row in rows} == set(sources), done.stderr[-2000:]
        return {row["name"]: row for row in rows}

    with ThreadPoolExecutor(count) as pool, tempfile.TemporaryDirectory() as common["LETTERS"]:
        return list(pool.map(run, range(count)))


@pytest.fixture(scope="module")
def measured(run_child, paddle_python):
    parts = [run_processes(paddle_python, sources) for sources in (SOURCES, FLEETS)]
    real = [{**one, **other} for one, other in zip(*parts, strict=True)]
    traced = run_child("trace", {**ALL, "alone": ALL["parallel"]}, {name: {"devices": 2} for name in ALL})
    return real, traced


@pytest.mark.parametrize("name", ALL)
def test_the_peak_is_that_of_the_process_that_holds_most(measured, name):
    real, traced = measured
    assert [one[name]["failure"] for one in real] == [None, None]
    peaks = [steady(one[name]["peaks"]) for one in real]
    assert traced[name]["peak"] == pytest.approx(max(peaks), rel=0.0005), (peaks, traced[name])


def test_what_is_said(measured):
    traced = measured[1]
    said = {name: (traced[name]["distribution"], traced[name]["devices"], traced[name]["notes"]) for name in traced}
    assert said["parallel"] == ("data_parallel", 2, ["data_parallel"])
    assert said["alone"] == (None, None, ["data_parallel_single"])
    assert said["os"] == said["os_g"] == ("sharding_2", 2, ["sharded"])
    assert said["p_g_os"] == ("sharding_3", 2, ["sharded"])
    assert said["fleet"] == ("sharding_1", 2, ["sharded"])


def test_a_gpus_buffers_go_with_the_pass(run_child):
    """NCCL's tasks hold nothing of them, so that a forward pass finds none; gloo's hold them to the next pass."""
    fullest = "\n    large = paddle.ones([8000, 1000]).exp()\n    del large"
    source = script("model = paddle.DataParallel(layers)", step=fullest + STEP)
    asked = {name: {"devices": devices, "target": name[:3]} for name, devices in CARDS.items()}
    rows = run_child("trace", dict.fromkeys(asked, source), asked)
    assert rows["gpu two"]["peak"] == rows["gpu one"]["peak"]
    assert rows["cpu two"]["peak"] > rows["cpu one"]["peak"]


CARDS = {"gpu one": 1, "gpu two": 2, "cpu one": 1, "cpu two": 2}
WIDE = """
from paddle.distributed.fleet.utils import mix_precision_utils
layers = paddle.amp.decorate(layers, level="O2", dtype="bfloat16")
mix_precision_utils.MixPrecisionLayer(layers, dtype="bfloat16")
optimizer._multi_precision = True
optimizer = mix_precision_utils.MixPrecisionOptimizer(optimizer)
"""
"""Gradients in float32 beside the parameters, as PaddleNLP's trainer asks for them."""


def test_a_step_that_is_taken_by_the_name_that_paddlenlps_trainer_calls(run_child):
    step = """
    with paddle.amp.auto_cast(level="O2", dtype="bfloat16"):
        loss = model(paddle.ones([32, 1000])).astype("float32").mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()"""
    plain = script(WIDE + GROUPED, start=FLEET, step=step)
    sources = {"step": plain, "_step": plain.replace("optimizer.step()", "optimizer._step(layers.parameters())")}
    rows = run_child("trace", sources, {name: {"devices": 2, "target": "gpu"} for name in sources})
    assert {row["status"] for row in rows.values()} == {"ok"}, rows
    assert rows["_step"]["peak"] == rows["step"]["peak"]


def test_a_single_process_gathers_no_gradients(measured, run_child):
    plain = ALL["parallel"].replace("paddle.DataParallel(layers, comm_buffer_size=4)", "layers").replace(START, "")
    assert measured[1]["alone"]["peak"] == run_child("real", {"plain": plain})["plain"]["peaks"][-1]


def test_what_the_notebook_says_of_its_processes(run_child):
    groups = "\nassert fleet.get_hybrid_communicate_group().get_data_parallel_rank() == 0"
    alone = script(GROUPED, start=FLEET.replace('degree": 2', 'degree": 1') + groups)
    launched = "\nimport os\nassert os.environ['PADDLE_RANK_IN_NODE'] == '0'  # what a launch sets"
    train = "def train():\n  global model\n  dist.init_parallel_env()\n  model = paddle.DataParallel(layers)\n"
    sources = {
        "degrees": FLEETS["fleet"],
        "eight": script(GROUPED, start=FLEET + launched),
        "one": alone,
        "told": SOURCES["os_g"],
        "nobody": SOURCES["os_g"],
        "auto": script("model = layers\noptimizer = dist.shard_optimizer(optimizer)"),
        "before": script("model = layers\noptimizer = fleet.distributed_optimizer(optimizer)"),
        "fused": script(GROUPED, start=FLEET.replace("fleet.init", FUSED + "fleet.init")),
        "tensors": script(
            GROUPED, start=FLEET.replace('g_degree": 2', 'g_degree": 1').replace('mp_degree": 1', 'mp_degree": 2')
        ),
        "spawned": script(train + "dist.spawn(train, nprocs=4)", start=""),
    }
    traced = run_child("trace", sources, {"eight": {"devices": 8}, "told": {"processes": 4}})
    assert {name: row["devices"] for name, row in traced.items()} == {
        "degrees": 2, "eight": 8, "one": None, "told": 4, "nobody": None, "auto": None, "spawned": 4,
        "fused": None, "tensors": 2, "before": None,
    }  # fmt: skip
    assert [traced[name]["notes"] for name in ("nobody", "auto")] == [["sharding_single"], ["auto_parallel"]]
    assert traced["fused"]["notes"] == ["distribution_left_out"]
    assert traced["tensors"]["notes"] == ["tensor_parallel"]
    assert traced["eight"]["peak"] < traced["degrees"]["peak"]
    # Alone, Paddle's fleet takes a `PipelineLayer` and nothing else.
    stop = traced["one"]["stop"]
    assert (traced["one"]["status"], traced["one"]["notes"]) == ("would_stop", ["fleet_alone"])
    assert "AssertionError" in str(stop)
    # Before `fleet.init` it takes no optimizer, whatever another program of this process has begun.
    begun = traced["before"]
    assert (begun["status"], begun["notes"]) == ("would_stop", ["fleet_not_begun"])
    assert "AttributeError" in str(begun["stop"])
