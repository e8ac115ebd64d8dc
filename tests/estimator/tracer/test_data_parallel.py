"""DataParallel's gradient buffers against two real processes on CPUs; sharding is noted."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys

import pytest

pytestmark = pytest.mark.paddle

SCRIPT = """
import paddle, paddle.distributed as dist
from paddle import nn
dist.init_parallel_env()
paddle.seed(0)
layers = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 1000), nn.ReLU(), nn.Linear(1000, 10))
layers[4].bias.stop_gradient = True
model = paddle.DataParallel(layers, comm_buffer_size=4)
optimizer = paddle.optimizer.Adam(1e-5, parameters=layers.parameters())
x = paddle.rand([16, 1000])
for step in range(5):
    model(x).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
REAL = (
    SCRIPT.replace("for step", "from paddle.base import core\nfor step")
    + "    print('peak', core.host_memory_stat_peak_value('Allocated', 0), flush=True)\n"
    + "    core.host_memory_stat_reset_peak_value('Allocated', 0)\n"
)
SHARDED = SCRIPT.replace(
    "for step",
    "model, optimizer, scaler = dist.sharding.group_sharded_parallel(layers, optimizer, 'os_g')\nfor step",
)


def free_ports(count: int) -> list[int]:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def test_the_fused_buffers_of_two_processes(run_child):
    ends = [f"127.0.0.1:{port}" for port in free_ports(2)]
    common = {**os.environ, "PADDLE_DISTRI_BACKEND": "gloo", "PADDLE_TRAINERS_NUM": "2", "PADDLE_MASTER": ends[0]}
    common["PADDLE_TRAINER_ENDPOINTS"] = ",".join(ends)
    children = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", REAL],
            env={**common, "PADDLE_TRAINER_ID": str(rank), "PADDLE_CURRENT_ENDPOINT": end},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        for rank, end in enumerate(ends)
    ]  # fmt: skip
    try:
        output = [child.communicate(timeout=120)[0] for child in children]
    finally:
        for child in children:
            child.kill()
    peaks = [int(line.split()[1]) for line in output[0].splitlines() if line.startswith("peak ")]
    assert len(peaks) == 5, output[0][-2000:]
    traced = run_child("trace", {"parallel": SCRIPT, "sharded": SHARDED})
    assert traced["parallel"]["peak"] == pytest.approx(peaks[-1], rel=0.001), json.dumps(traced)
    assert traced["parallel"]["notes"] == ["data_parallel"]
    assert traced["sharded"]["notes"] == ["data_parallel", "sharding"]
