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
from typing import Any

from jupyter_paddle_gpu.estimator.service import EstimateService

from .accuracy.cases import PERPLEXITY, Case, floats, integers, plain
from .estimate_speed import ON_CPU, facts
from .report import save, show

ROOT = Path(__file__).parents[1]
LIMITS = ((1.7, 11.4), (3.1, 23.7), (5.3, 47.3))
"""Limits as multiples of the step with two samples, and samples that none goes beyond but `FAR`: real steps of hundreds
of images take minutes. Odd numbers, so that no batch lies on them by construction."""
FAR = {"mlp", "LeNet"}
"""Models whose steps are cheap enough for any batch."""
START = "batch_size = 2"
TRUTH = """
import json, os, sys
import paddle
from benchmarks.accuracy.truth import measure
for source in json.load(sys.stdin):
    if os.fork() == 0:
        print(json.dumps(measure(source)[0]), flush=True)
        os._exit(0)
    os.wait()
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


def with_batch(source: str, size: int) -> str:
    """The program at another batch size."""
    return source.replace(START, f"batch_size = {size}")


def real_peaks(sources: list[str]) -> list[int]:
    """Steady peaks of real steps: each program in a process of its own, forked where Paddle is imported already."""
    done = subprocess.run(
        [sys.executable, "-c", TRUTH], input=json.dumps(sources), capture_output=True, text=True, check=True, cwd=ROOT
    )
    peaks = [int(max(json.loads(line)[2:])) for line in done.stdout.splitlines()]
    if len(peaks) != len(sources):
        raise RuntimeError(done.stderr)
    return peaks


def limits(service: EstimateService, one: Case) -> list[int]:
    """The limits of a model, in bytes."""
    base, more = (
        service.estimate(facts(with_batch(one.source, size)), ROOT, ON_CPU).peak_bytes or 0 for size in (2, 12)
    )
    if one.name in FAR:
        return [round(base * multiple) for multiple, _ in LIMITS]
    sample = (more - base) / 10
    return [round(min(base * multiple, base + (samples - 2) * sample)) for multiple, samples in LIMITS]


def searched(service: EstimateService, one: Case) -> list[dict[str, Any]]:
    """A row for each limit of a model, without the real steps."""
    rows = []
    for limit in limits(service, one):
        start = time.perf_counter()
        batch = service.largest_batch(facts(one.source), ROOT, ON_CPU, limit)
        seconds = time.perf_counter() - start
        rows.append({"model": one.name, "limit_bytes": limit, "largest_batch": batch, "seconds": seconds})
    return rows


def verified(one: Case, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with real steps at the batch and at the next one."""
    sizes = [size for row in rows for size in (row["largest_batch"] or 1, (row["largest_batch"] or 0) + 1)]
    peaks = iter(real_peaks([with_batch(one.source, size) for size in sizes]))
    out = []
    for row, under, over in zip(rows, peaks, peaks, strict=True):
        right = (row["largest_batch"] is None or under <= row["limit_bytes"]) and over > row["limit_bytes"]
        out.append({**row, "real_peak_at_batch": under, "real_peak_at_next": over, "right": right})
    return out


def main() -> None:
    """Print the table, say of each model when it is done, and write `results/largest_batch.json` after each."""
    service = EstimateService()
    rows: list[dict[str, Any]] = []
    for one in CASES:
        rows += verified(one, searched(service, one))
        batches = ", ".join(f"{row['largest_batch']}{'' if row['right'] else ' WRONG'}" for row in rows[-len(LIMITS) :])
        print(f"{one.name}: {batches}", flush=True)
        save("largest_batch", {"cases": rows, "right": sum(bool(row["right"]) for row in rows), "of": len(rows)})
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


if __name__ == "__main__":
    main()
