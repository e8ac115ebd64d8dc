"""Tasks and cards of a simulated place: from Alibaba's openb trace, or drawn from stated distributions.

The trace (github.com/alibaba/clusterdata, folder cluster-trace-gpu-v2023; Weng and others, ATC 2023) tells of each task
when it came, how long it ran, how many cards it asked for, which share of one it used and sometimes which cards. It
names no memory, no model and no user: these are drawn as stated here, and so is a whole synthetic trace where the file
is absent (`OPENB_TRACE` names its folder).
"""

from __future__ import annotations

import csv
import itertools
import os
import random
from dataclasses import dataclass, field
from math import exp, log
from pathlib import Path

from jupyter_paddle_gpu.devices.catalogue import find
from jupyter_paddle_gpu.domain.decisions import Need
from jupyter_paddle_gpu.domain.devices import Accelerator, Device
from jupyter_paddle_gpu.matching.roofline import seconds_per_step

GIB = 1 << 30
VARIABLE = "OPENB_TRACE"
TASKS_FILE = "openb_pod_list_gpuspec33.csv"
CARDS = {
    "G2": ("NVIDIA A10", 24),
    "T4": ("Tesla T4", 10),
    "P100": ("Tesla P100-PCIE-16GB", 4),
    "G3": ("NVIDIA A100-SXM4-80GB", 4),
    "V100M16": ("Tesla V100-SXM2-16GB", 3),
    "V100M32": ("Tesla V100-SXM2-32GB", 3),
}
"""The trace's models in about their proportions. G2 and G3 are not told there: an A10 and an A100 stand for them."""
SMALLEST = 1 << 30
"""Bytes of the smallest peak."""
REFERENCE = "Tesla V100-SXM2-16GB"
"""The card on which a task takes as long as the trace says."""
TASKS = 400
LOAD = 3.0
"""Card-seconds that people ask for, over those that there are until the last task has come."""
SHORTEST, LONGEST = 120.0, 2 * 3600.0
MODELS, USERS = 30, 12
MEMORY_MEDIAN, MEMORY_SPREAD = 6.0, 0.9
"""GiB of a task's peak and the spread of its logarithm; between 1 and 60."""
CARD_SPREAD, MODEL_SPREAD, PAIR_SPREAD, NOISE = 0.20, 0.45, 0.15, 0.08
"""Of the logarithm of true seconds over the roofline; in the public measurements of `prediction.py`, which are of tuned
examples on well-kept machines, all together spread by 0.2 around the same mean."""
SLOWER = log(2.2)


@dataclass
class Task:
    """One task. `asked`: trace models that people ask for; `milli`: thousandths of each card that it keeps busy."""

    id: str
    user: str
    arrival: float
    count: int
    milli: int
    asked: frozenset[str]
    model: int
    steps: int
    limit: float
    need: Need
    peak: int


@dataclass
class Place:
    """Cards, tasks, and the truth that no scheduler is told."""

    devices: list[Device]
    tasks: list[Task]
    source: str
    kinds: dict[str, str] = field(default_factory=dict)
    truth: dict[tuple[int, str], float] = field(default_factory=dict)
    horizon: float = 0.0

    def seconds(self, task: Task, card: str) -> float:
        """How long a task really runs on a card."""
        return task.steps * self.truth[(task.model, card)]


def build(seed: int) -> Place:
    """A place with its tasks; everything drawn from this seed."""
    draw = random.Random(seed)
    devices: list[Device] = []
    kinds: dict[str, str] = {}
    for kind, (name, count) in CARDS.items():
        for _ in range(count):
            row, place = _row(name), len(devices)
            total = row.usable_bytes or row.memory_bytes
            devices.append(
                Device(
                    id=f"g{place}",
                    index=place,
                    vendor="nvidia",
                    name=name,
                    memory_total=total,
                    memory_used=0,
                    memory_free=total,
                )
            )
            kinds[f"g{place}"] = kind
    models = [_model(draw) for _ in range(MODELS)]
    names = [name for name, _ in CARDS.values()]
    own = {name: draw.gauss(0, CARD_SPREAD) for name in names}
    truth = {}
    for at, need in enumerate(models):
        harder = draw.gauss(0, MODEL_SPREAD)
        for name in names:
            least = seconds_per_step(need, _row(name)) or 0.0
            truth[(at, name)] = least * exp(SLOWER + own[name] + harder + draw.gauss(0, PAIR_SPREAD))
    rows, source = _rows(draw)
    place = Place(devices, [], source, kinds, truth)
    card_seconds = sum(row[2] * row[4] for row in rows)
    span = card_seconds / (LOAD * len(devices))
    gaps = [row[0] for row in rows]
    scale, now = span / sum(gaps), 0.0
    for at, (gap, _, count, milli, seconds, asked) in enumerate(rows):
        now += gap * scale
        model = min(int(draw.expovariate(0.12)), MODELS - 1)
        peak = int(min(60.0, max(1.0, MEMORY_MEDIAN * exp(draw.gauss(0, MEMORY_SPREAD)))) * GIB)
        if asked and not any((_row(CARDS[kind][0]).memory_bytes) > 1.2 * peak for kind in asked):
            peak = int(0.6 * max(_row(CARDS[kind][0]).memory_bytes for kind in asked))
        steps = max(10, round(seconds / truth[(model, REFERENCE)]))
        need = _sized(models[model], peak, draw, steps)
        user = f"u{min(int(draw.expovariate(0.35)), USERS - 1)}"
        limit = seconds * draw.choice([1.5, 2, 3, 5])
        place.tasks.append(Task(f"t{at}", user, now, count, milli, asked, model, steps, limit, need, peak))
    place.horizon = now
    return place


def _row(name: str) -> Accelerator:
    found = find(name)
    assert found is not None, name
    return found


def _model(draw: random.Random) -> Need:
    flops = 10 ** draw.uniform(10.5, 13)
    intensity = 10 ** draw.uniform(0.7, 2.3)  # FLOPs a byte: from normalisation to large products
    return Need(
        low=0,
        high=0,
        flops=int(flops),
        bytes_moved=int(flops / intensity),
        matrix_flops=int(flops * draw.uniform(0.7, 0.99)),
        operations=draw.randint(100, 2000),
        batch=2 ** draw.randint(3, 8),
        amp=draw.choice([None, None, "O1"]),
    )


def _sized(need: Need, peak: int, draw: random.Random, steps: int) -> Need:
    """The step with its memory: an estimate whose range holds the peak."""
    import msgspec

    return msgspec.structs.replace(
        need, low=int(peak * draw.uniform(0.9, 1.0)), high=int(peak * draw.uniform(1.0, 1.12)), steps=steps
    )


_Row = tuple[float, float, int, int, float, frozenset[str]]
"""Gap to the task before, arrival, cards, share in thousandths, seconds, models asked for."""


def _rows(draw: random.Random) -> tuple[list[_Row], str]:
    folder = os.environ.get(VARIABLE, "")
    path = Path(folder) / TASKS_FILE
    if folder and path.exists():
        return _traced(path, draw), "openb"
    return _synthetic(draw), "synthetic"


def _traced(path: Path, draw: random.Random) -> list[_Row]:
    found = []
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if int(row["num_gpu"]) < 1 or not row["scheduled_time"]:
                continue
            seconds = float(row["deletion_time"]) - float(row["scheduled_time"])
            asked = frozenset(row["gpu_spec"].split("|")) & set(CARDS) if row["gpu_spec"] else frozenset()
            found.append(
                (float(row["creation_time"]), min(4, int(row["num_gpu"])), int(row["gpu_milli"]), seconds, asked)
            )
    found.sort(key=lambda row: row[0])
    begin = draw.randrange(len(found) // 10, len(found) - TASKS)  # the first tenth came over months
    part = found[begin : begin + TASKS]
    gaps = [max(0.0, one[0] - other[0]) for other, one in itertools.pairwise(part)]
    most = 20 * max(1.0, sorted(gaps)[len(gaps) // 2])
    rows: list[_Row] = []
    for at, (time, count, milli, seconds, asked) in enumerate(part):
        gap = min(most, gaps[at - 1]) if at else 0.0
        rows.append((gap, time, count, milli, min(LONGEST, max(SHORTEST, seconds)), frozenset(asked)))
    return rows


def _synthetic(draw: random.Random) -> list[_Row]:
    """Poisson arrivals; cards, shares and wishes in the trace's proportions; log-normal seconds (median 8 minutes)."""
    rows: list[_Row] = []
    for _ in range(TASKS):
        count = draw.choices([1, 2, 4], [96, 2, 2])[0]
        milli = 1000 if count > 1 or draw.random() < 0.56 else draw.choice([230, 320, 460, 470, 590, 650, 810, 810])
        asked = (
            frozenset([draw.choices(["T4", "G2", "P100", "V100M16"], [13, 4, 3, 3])[0]])
            if draw.random() < 0.2
            else frozenset()
        )
        seconds = min(LONGEST, max(SHORTEST, 480 * exp(draw.gauss(0, 1.5))))
        rows.append((draw.expovariate(1.0), 0.0, count, milli, seconds, asked))
    return rows
