"""Decisions a second by the number of devices: 1,000 waiting jobs that all want something else.

Of the decision alone, and of the queue as the product asks it: everybody's turn, with what is kept for whoever waits.
"""

from __future__ import annotations

import random
import time
from statistics import median

import msgspec

from jupyter_paddle_gpu.domain.decisions import Choice, Need
from jupyter_paddle_gpu.domain.devices import Device, DeviceShare
from jupyter_paddle_gpu.domain.jobs.job import Job, JobSpec, Resources
from jupyter_paddle_gpu.jobs.scheduling import queue
from jupyter_paddle_gpu.jobs.scheduling.pools import Pools
from jupyter_paddle_gpu.jobs.scheduling.room import Supply
from jupyter_paddle_gpu.jobs.settings import JobSettings
from jupyter_paddle_gpu.matching.decision import decide
from jupyter_paddle_gpu.matching.offer import Offer
from jupyter_paddle_gpu.matching.policy import Policy
from jupyter_paddle_gpu.matching.pool import Pool

from ..report import show

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
PASSES = 5
POLICY = Policy(prefer="score", prices={"T4": 0.2, "A10": 0.5})


def curve() -> list[dict[str, float]]:
    """Decisions a second of processor time, by the freest card and by the score; without the index for comparison."""
    rows = []
    for size in SIZES:
        devices, needs = _devices(size), _needs()
        row: dict[str, float] = {"devices": size}
        for name, policy in (("freest", Policy()), ("score", POLICY)):
            pool = Pool(devices, policy)
            row[name] = _rate(lambda need, pool=pool: pool.decide(need, Choice(gpus=1)), needs)  # type: ignore[misc]
            few = needs[: max(3, 20_000 // size)]
            offer = Offer(devices=tuple(devices))
            row[f"{name} without index"] = _rate(
                lambda need, offer=offer, policy=policy: decide(need, offer, policy, Choice(gpus=1)),  # type: ignore[misc]
                few[:JOBS],
            )
        row |= _turns(devices, needs)
        rows.append(row)
    first = "queue, whole, starting"
    names = list(rows[0])
    turns = names[names.index(first) :]
    _table("Decisions a second of processor time, each for another step", names[1 : names.index(first)], rows)
    for title, chosen in (
        (
            "Turns a second of 1,000 waiting jobs, of an index that is kept",
            [one for one in turns if "first" not in one],
        ),
        ("Turns a second of the pass that makes the index", [one for one in turns if "first" in one]),
    ):
        _table(title, chosen, rows)
    return rows


def _table(title: str, names: list[str], rows: list[dict[str, float]]) -> None:
    headings = [name.removeprefix("queue, ").removesuffix(", first") for name in names]
    cells = [[f"{row['devices']:,}", *(f"{row[name]:,.0f}" for name in names)] for row in rows]
    show(title, ("devices", *headings), cells)


def _turns(devices: list[Device], needs: list[Need]) -> dict[str, float]:
    """Turns a second of the queue, pass after pass: on empty devices, and where others have all of them.

    Before each pass every device is read anew, and a hundredth of them (at least one) is used differently than before;
    the median of the passes counts. `first`: the pass that makes the index.
    """
    found: dict[str, float] = {}
    for kind in ("whole", "shares"):
        draw = random.Random(2)
        waiting = [
            _job(f"q{at}", need, float(need.high) if kind == "shares" else None) for at, need in enumerate(needs)
        ]
        seconds = {one.id: draw.uniform(100, 5000) for one in waiting}
        others = [_holder(one, draw, share=kind == "shares") for one in devices]
        for state, active in (("starting", []), ("waiting", others)):
            known = {**seconds, **{one.id: draw.uniform(200, 8000) for one in active}}
            pools, rates = Pools(), list[float]()
            for _ in range(1 + PASSES):
                supply = Supply(devices=_later(devices, draw))
                claims = {one.device_ids[0]: one.id for one in active if not one.shares}
                began = time.process_time()
                queue.turns(
                    waiting,
                    active,
                    claims=claims,
                    supply=lambda engine, supply=supply: supply,  # type: ignore[misc]
                    settings=JobSettings(),
                    now=1000.0,
                    policy=POLICY,
                    known=queue.Known(known),
                    pools=pools,
                )
                rates.append(len(waiting) / (time.process_time() - began))
            found[f"queue, {kind}, {state}"] = median(rates[1:])
            found[f"queue, {kind}, {state}, first"] = rates[0]
    return found


def _later(devices: list[Device], draw: random.Random) -> tuple[Device, ...]:
    """All devices as they are read anew, some of them used differently."""
    found = [msgspec.structs.replace(one) for one in devices]
    for at in draw.sample(range(len(found)), max(1, len(found) // 100)):
        used = draw.randrange(found[at].memory_total or 1)
        found[at] = msgspec.structs.replace(
            found[at], memory_used=used, memory_free=(found[at].memory_total or 0) - used
        )
    return tuple(found)


def _job(name: str, need: Need, share: float | None) -> Job:
    resources = Resources(gpus=1, share=share)
    spec = JobSpec(name=name, notebook="n", output="o", folder="f", engine="local", resources=resources, need=need)
    return Job(id=name, spec=spec, state="queued", created=1.0, updated=1.0, owner=f"u{int(name[1:]) % 6}")


def _holder(device: Device, draw: random.Random, *, share: bool) -> Job:
    total = device.memory_total or 0
    most = Policy().allowed(total)
    parts = (DeviceShare(bytes=int(most * draw.uniform(0.5, 1)), most=most, total=total),) if share else ()
    row = _job(f"r{device.index}", Need(low=0, high=0), None)
    return msgspec.structs.replace(row, state="running", started=900.0, device_ids=(device.id,), shares=parts)


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
