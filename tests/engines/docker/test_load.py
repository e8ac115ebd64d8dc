"""Jobs submitted all at once over REST to a real server: in order, each once, no card to two at once, nothing left.

The small, untimed form of `python -m benchmarks.load --engine docker`, whose parts it uses.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from conftest import IMAGE

sys.path.insert(0, str(Path(__file__).parents[3]))

from benchmarks.load import Client, Containers, out_of_order, server, submit_all, wait_for_all

COUNT = 8


def test_eight_jobs_at_once_on_two_cards(daemon, tmp_path):
    docker = {"host": daemon.host, "networks": ["none"], "shm_bytes": 64 << 20}
    containers = Containers(daemon.host)
    with server(tmp_path, docker, "stand-in/*") as (port, token):
        client = Client(port, token)
        options = {"engine": "docker", "image": IMAGE, "resources": {"gpus": 1}}
        submitted = [job for job, _ in submit_all(port, token, COUNT, options)]
        rows = {row["id"]: row for row in wait_for_all(client)}
        assert sorted(submitted) == sorted(rows)
        assert {(row["state"], row["attempts"]) for row in rows.values()} == {("succeeded", 1)}, rows
        for job, row in rows.items():
            said = [line["x"] for line in client.get(f"jobs/{job}/log")["lines"] if line["x"].startswith("device ")]
            assert said == [f"device {row['device_ids'][0]}"], "it ran once, on the card that its row names"
        assert containers.left() == 0
    for card in ("GPU-0", "GPU-1"):
        spans = sorted((row["started"], row["ended"]) for row in rows.values() if row["device_ids"] == [card])
        assert len(spans) > 1
        assert all(earlier[1] <= later[0] for earlier, later in itertools.pairwise(spans)), "one job at a time"
    queue = list(reversed(rows.values()))  # the list has the newest first
    assert all(early["created"] < late["created"] for early, late in itertools.pairwise(queue)), "one order"
    assert all(early["started"] < late["started"] for early, late in itertools.pairwise(queue)), "started in that order"
    assert out_of_order(containers.started(), [row["id"] for row in queue]) == 0, "the daemon says the same"
