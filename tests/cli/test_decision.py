"""A training that fits no card here: the terminal says what the panel says, and what to type."""

from __future__ import annotations

import re

import pytest

GIB = 1 << 30
WIDE = """
import paddle
BATCH_SIZE = 100_000
net = paddle.nn.Sequential(paddle.nn.Linear(1000, 4000), paddle.nn.ReLU(), paddle.nn.Linear(4000, 10))
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for _ in range(3):
    loss = net(paddle.rand([BATCH_SIZE, 1000])).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""


@pytest.fixture
def cards(stand_in, tmp_path):
    """Environment in which the driver tells of two cards of 2 GiB: what fits neither fits this machine's own memory.
    Who insists has it run.
    """
    world = tmp_path / "world"
    world.write_text(f"count 2\ntotal 0 {2 * GIB}\ntotal 1 {2 * GIB}\n")
    return {"NVML_STAND_IN": str(world), "LD_LIBRARY_PATH": str(stand_in / "new")}


@pytest.mark.paddle
def test_the_way_out_stands_beside_the_refusal(cli, notebook, cards):
    name = notebook(WIDE)
    told = cli("estimate", name, **cards)
    assert told.status == 0, told.err
    sentence = re.search(r"^Needs .* GiB; the largest card here offers at most 1\.20 GiB\.$", told.out, re.M)
    assert sentence, told.out
    batch = re.search(r"^Fits with batch size ([\d,]*\d)", told.out, re.M)
    assert batch and f"--batch-size {batch[1].replace(',', '')}" in told.out

    refused = cli("submit", name, **cards)
    assert refused.status == 1
    assert sentence[0] in refused.err and "`--anyway`" in refused.err
    assert re.search(r"^Fits with batch size .*", told.out, re.M)[0] in " ".join(refused.err.split())
    assert f"`--batch-size {batch[1].replace(',', '')}`" in refused.err
    fitting = cli("estimate", name, "--batch-size", batch[1].replace(",", ""), **cards)
    assert re.search(r"GPU 0 .* fits and has the most free memory", fitting.out), fitting.out

    job = cli("submit", name, "--anyway", "--json", **cards).json
    assert job["spec"]["insisted"]["message"] == sentence[0]
    shown = cli("jobs", job["id"], **cards).out
    assert "Submitted anyway" in shown and "Needs " in shown
    cli("cancel", job["id"], "--force", **cards)
