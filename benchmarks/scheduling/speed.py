"""Decisions a second by the number of devices: 1,000 waiting jobs that all want something else."""

from __future__ import annotations

import random
import time

from jupyter_paddle_gpu.domain.decisions import Choice, Need
from jupyter_paddle_gpu.domain.devices import Device
from jupyter_paddle_gpu.matching.decision import decide
from jupyter_paddle_gpu.matching.offer import Offer
from jupyter_paddle_gpu.matching.policy import Policy
from jupyter_paddle_gpu.matching.pool import Pool

GIB = 1 << 30
CARDS = (
    ("Tesla T4", 15),
    ("NVIDIA A100-SXM4-80GB", 80),
    ("NVIDIA GeForce RTX 3090", 24),
    ("Tesla V100-SXM2-32GB", 32),
    ("NVIDIA A10", 22),
    ("NVIDIA H20", 96),
)
SIZES = (8, 64, 512, 2048, 10_000)
JOBS = 1000


def curve() -> list[dict[str, float]]:
    """Decisions a second of processor time, by the freest card and by the score; without the index for comparison."""
    rows = []
    for size in SIZES:
        devices, needs = _devices(size), _needs()
        row: dict[str, float] = {"devices": size}
        for name, policy in (("freest", Policy()), ("score", Policy(prefer="score", prices={"T4": 0.2, "A10": 0.5}))):
            pool = Pool(devices, policy)
            row[name] = _rate(lambda need, pool=pool: pool.decide(need, Choice(gpus=1)), needs)  # type: ignore[misc]
            few = needs[: max(3, 20_000 // size)]
            offer = Offer(devices=tuple(devices))
            row[f"{name} without index"] = _rate(
                lambda need, offer=offer, policy=policy: decide(need, offer, policy, Choice(gpus=1)),  # type: ignore[misc]
                few[:JOBS],
            )
        rows.append(row)
        print("  ".join(f"{key} {value:,.0f}" for key, value in row.items()))
    return rows


def _rate(one, needs) -> float:  # type: ignore[no-untyped-def]
    one(needs[0])
    began = time.process_time()
    for need in needs:
        one(need)
    return len(needs) / (time.process_time() - began)


def _devices(size: int) -> list[Device]:
    draw = random.Random(0)
    found = []
    for index in range(size):
        name, total = draw.choice(CARDS)
        used = draw.choice([0, 0, 2, 5, total]) * GIB
        found.append(
            Device(
                id=f"g{index}",
                index=index,
                vendor="nvidia",
                name=name,
                memory_total=total * GIB,
                memory_used=used,
                memory_free=total * GIB - used,
            )
        )
    return found


def _needs() -> list[Need]:
    draw = random.Random(1)
    return [
        Need(
            low=draw.randint(1, 20) * GIB,
            high=draw.randint(20, 70) * GIB,
            flops=draw.randint(1, 1000) * 10**10,
            bytes_moved=10**10,
        )
        for _ in range(JOBS)
    ]


if __name__ == "__main__":
    curve()
