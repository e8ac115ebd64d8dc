"""The largest batch that fits, for ten models and three limits, its neighbours verified by real steps.

`python -m benchmarks largest_batch`. The limit is on Paddle's CPU allocator, where any machine can check it: with the
answer b, a real training's steady peak at b must stay within the limit and the one at b + 1 must not.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.estimator.service import EstimateService

from .accuracy.cases import PERPLEXITY, Case, floats, integers, plain
from .estimate_speed import facts
from .report import save, show

ROOT = Path(__file__).parents[1]
LIMITS = (1.7, 3.1, 5.3)
"""Limits as multiples of the step with two samples: odd numbers, so that no batch lies on them by construction."""
START = "batch_size = 2"
TRUTH = """
import json, sys
from benchmarks.accuracy.truth import measure
print(json.dumps(measure(sys.stdin.read())[0]))
"""


def case(name: str, model: str, x: str, y: str, **more: str) -> Case:
    return plain(name, "rules", model, 2, x, y, head=START, **more)


def images(name: str, model: str, size: int, channels: int = 3) -> Case:
    return case(name, model, floats("batch_size", channels, size, size), integers(10, "batch_size"))  # type: ignore[arg-type]


def words(name: str, model: str, length: int) -> Case:
    return case(name, model, integers(2000, "batch_size", length), integers(2, "batch_size"))  # type: ignore[arg-type]


CASES = (
    case("mlp", "MLP(256)", floats("batch_size", 784), integers(10, "batch_size")),  # type: ignore[arg-type]
    images("small cnn", "SmallCNN()", 32),
    images("LeNet", "VISION['LeNet']()", 28, 1),
    images("resnet18", "VISION['resnet18']()", 64),
    images("mobilenet_v2", "VISION['mobilenet_v2']()", 64),
    images("shufflenet", "VISION['shufflenet_v2_x1_0']()", 64),
    words("encoder", "Encoder(128)", 128),
    case("gpt", "GPT()", integers(2000, "batch_size", 128), integers(2000, "batch_size", 128), loss=PERPLEXITY),  # type: ignore[arg-type]
    images("vit", "ViT()", 64),
    images("resnext50", "VISION['resnext50_32x4d']()", 64),
)


def real_peak(source: str) -> int:
    """Steady peak of real steps, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", TRUTH], input=source, capture_output=True, text=True, check=True, cwd=ROOT
    )
    return int(max(json.loads(done.stdout.splitlines()[-1])[2:]))


def main() -> None:
    """Print the table and write `results/largest_batch.json`."""
    service = EstimateService()
    on_cpu = EstimateRequest(target="cpu")
    rows = []
    for one in CASES:
        notebook = facts(one.source)
        base = service.estimate(notebook, ROOT, on_cpu).peak_bytes
        for multiple in LIMITS:
            if base is None:
                continue
            limit = round(base * multiple)
            start = time.perf_counter()
            batch = service.largest_batch(notebook, ROOT, on_cpu, limit)
            seconds = time.perf_counter() - start
            under, over = (
                real_peak(one.source.replace(START, f"batch_size = {size}")) for size in (batch or 1, (batch or 0) + 1)
            )
            rows.append(
                {
                    "model": one.name,
                    "limit_bytes": limit,
                    "largest_batch": batch,
                    "seconds": seconds,
                    "real_peak_at_batch": under,
                    "real_peak_at_next": over,
                    "right": (batch is None or under <= limit) and over > limit,
                }
            )
    service.close()
    show(
        "Largest batch under a limit, neighbours by real steps",
        ["model", "limit MB", "batch", "search s", "real at b", "real at b + 1", ""],
        [
            [
                row["model"],
                f"{row['limit_bytes'] / 1e6:.1f}",
                str(row["largest_batch"]),
                row["seconds"],
                f"{row['real_peak_at_batch'] / 1e6:.1f}",
                f"{row['real_peak_at_next'] / 1e6:.1f}",
                "right" if row["right"] else "WRONG",
            ]
            for row in rows
        ],
    )
    save("largest_batch", {"cases": rows, "right": sum(bool(row["right"]) for row in rows), "of": len(rows)})
