"""Seconds a step on cards and models that were not seen, against public measurements.

Measured: Lambda's deep-learning benchmark (github.com/lambdal/deeplearning-benchmark, folder `pytorch`, files
`pytorch-train-throughput-*.csv` and `pytorch-train-bs-*.csv`): samples a second of NVIDIA's training examples on single
cards, in FP32 (TF32 where the card has it) and with mixed precision. `LAMBDA_BENCHMARK` names the folder.

The steps themselves are traced here, from Paddle programs of the same models: FLOPs, bytes and operations of a batch.
"""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Callable
from functools import cache
from math import exp, log
from pathlib import Path
from typing import Any

import msgspec

from jupyter_paddle_gpu.devices.catalogue import find
from jupyter_paddle_gpu.domain.decisions import Need
from jupyter_paddle_gpu.domain.devices import Accelerator
from jupyter_paddle_gpu.domain.notebooks import CodeCell, NotebookFacts
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.estimator.service import EstimateService, EstimateSettings
from jupyter_paddle_gpu.matching.learned.model import StepModel, row_of
from jupyter_paddle_gpu.matching.roofline import bounds, seconds_per_step

VARIABLE = "LAMBDA_BENCHMARK"
CARDS = {
    "Quadro RTX 8000": "Quadro RTX 8000",
    "LambdaCloud V100 16GB": "V100 SXM 16GB",
    "RTX 3090": "RTX 3090",
    "LambdaCloud A10": "A10",
    "LambdaCloud A100 40GB PCIe": "A100 PCIe 40GB",
    "A100 80GB PCIe": "A100 PCIe 80GB",
    "A100 80GB SXM4": "A100 SXM 80GB",
    "RTX 6000 Ada": "RTX 6000 Ada",
    "RTX A6000": "RTX A6000",
    "RTX 4090": "RTX 4090",
    "H100 80GB PCIe Gen5": "H100 PCIe",
    "H100 80GB SXM5": "H100 SXM",
}
_BERT = """
import paddle
from paddle import nn
class Bert(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(30522, {width}), nn.Embedding(512, {width})
        layer = nn.TransformerEncoderLayer({width}, {heads}, 4 * {width}, dropout=0.1, activation="gelu")
        self.encoder, self.span = nn.TransformerEncoder(layer, {depth}), nn.Linear({width}, 2)
    def forward(self, ids):
        return self.span(self.encoder(self.words(ids) + self.places(paddle.arange(ids.shape[1]))))
model = Bert()
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
for step in range(3):
    ids = paddle.randint(0, 30522, [{batch}, 384])
    out = model(ids)
    loss = nn.functional.cross_entropy(out[:, :, 0], paddle.randint(0, 384, [{batch}]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
_RESNET = """
import paddle
model = paddle.vision.models.resnet50()
optimizer = paddle.optimizer.Momentum(parameters=model.parameters())
for step in range(3):
    images, labels = paddle.rand([{batch}, 3, 224, 224]), paddle.randint(0, 1000, [{batch}])
    loss = paddle.nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
_SSD = """
import paddle
from paddle import nn
body = paddle.vision.models.resnet50(num_classes=0, with_pool=False)
body.layer4 = nn.Sequential()
body.layer3[0].conv2._stride = body.layer3[0].downsample[0]._stride = [1, 1]
plan = [(1024, 256, 512, 2, 1), (512, 256, 512, 2, 1), (512, 128, 256, 2, 1), *[(256, 128, 256, 1, 0)] * 2]
extra = nn.LayerList([
    nn.Sequential(nn.Conv2D(a, b, 1, bias_attr=False), nn.BatchNorm2D(b), nn.ReLU(),
                  nn.Conv2D(b, c, 3, stride=s, padding=p, bias_attr=False), nn.BatchNorm2D(c), nn.ReLU())
    for a, b, c, s, p in plan])
sizes = zip((1024, 512, 512, 256, 256, 256), (4, 6, 6, 6, 4, 4))
heads = nn.LayerList([nn.Conv2D(c, n * 85, 3, padding=1) for c, n in sizes])
parameters = [*body.parameters(), *extra.parameters(), *heads.parameters()]
optimizer = paddle.optimizer.Momentum(parameters=parameters)
for step in range(3):
    x = body(paddle.rand([{batch}, 3, 300, 300]))
    maps = [x]
    for layer in extra:
        maps.append(layer(maps[-1]))
    loss = sum(head(one).abs().mean() for head, one in zip(heads, maps))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
MODELS: dict[str, Callable[[int], str]] = {
    "resnet50": lambda batch: _RESNET.format(batch=batch),
    "bert_base_squad": lambda batch: _BERT.format(batch=batch, width=768, heads=12, depth=12),
    "bert_large_squad": lambda batch: _BERT.format(batch=batch, width=1024, heads=16, depth=24),
    "ssd": lambda batch: _SSD.format(batch=batch),
}
TRACED = (8, 16)
"""Batches that are traced; the work of others lies on the straight line through them."""
Point = tuple[str, str, Need, Accelerator, float]
"""Model with precision, card as measured, step, card of the catalogue, measured seconds."""


def points(folder: Path, steps: Callable[[str, int, str | None], Need]) -> list[Point]:
    """What was measured on one card, beside the step that our tracer sees."""
    found: list[Point] = []
    for file, amp in (("fp32", None), ("fp16", "O1")):
        rates, batches = (_rows(folder / f"pytorch-train-{kind}-{file}.csv") for kind in ("throughput", "bs"))
        for name, card in CARDS.items():
            row = find(card)
            if row is None or name not in rates or name not in batches:
                continue
            for model in MODELS:
                rate, batch = float(rates[name][model]), int(float(batches[name][model]))
                if rate > 0 and batch > 0:
                    found.append((f"{model} {file}", card, steps(model, batch, amp), row, batch / rate))
    return found


def _rows(path: Path) -> dict[str, dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return {row["name_gpu"]: row for row in csv.DictReader(file)}


def tracer(service: EstimateService, folder: Path) -> Callable[[str, int, str | None], Need]:
    """Gives the step of a model at a batch."""

    @cache
    def traced(model: str, batch: int) -> Any:
        source = MODELS[model](batch)
        cells = (CodeCell(index=0, id="a", source=source),)
        facts = NotebookFacts(kernel_name="python3", language="python", cells=cells, imports_paddle=True, loop="custom")
        found = service.estimate(facts, folder, EstimateRequest())
        assert found.status == "ok", (model, found.questions, found.stop)
        return found

    def step(model: str, batch: int, amp: str | None) -> Need:
        one, other = (traced(model, size) for size in TRACED)

        def at(name: str) -> int:
            low, high = getattr(one, name), getattr(other, name)
            return round(low + (high - low) * (batch - TRACED[0]) / (TRACED[1] - TRACED[0]))

        moved = at("bytes_moved")
        return Need(
            low=0,
            high=0,
            flops=at("flops_per_step"),
            bytes_moved=moved if amp is None else moved // 2,
            matrix_flops=at("matrix_flops"),
            operations=one.operations,
            batch=batch,
            amp=amp,  # type: ignore[arg-type]
        )

    return step


def held_out(found: list[Point], key: Callable[[Point], str]) -> dict[str, float]:
    """Mean |ln(foretold / measured)| where each group in turn is not seen: of the roofline, of the roofline times the
    mean factor of the others, of both its sides one after the other times theirs, and of the model; and the share of
    measurements in the model's 90 % range."""
    roofline = constant = in_turn = model = 0.0
    inside = 0
    for group in sorted({key(one) for one in found}):
        seen = [one for one in found if key(one) != group]
        rows = [row for one in seen if (row := row_of(one[2], one[3], one[4])) is not None]
        fitted = StepModel([row._replace(model=one[0]) for row, one in zip(rows, seen, strict=True)])
        mean = sum(log(one[4] / (seconds_per_step(one[2], one[3]) or 0.0)) for one in seen) / len(seen)
        mean_in_turn = sum(row.y for row in rows) / len(rows)
        for point in found:
            if key(point) != group:
                continue
            _, _, step, card, seconds = point
            least = seconds_per_step(step, card) or 0.0
            expected = fitted.expect(step, card)
            assert expected is not None
            roofline += abs(log(least / seconds))
            constant += abs(log(least * exp(mean) / seconds))
            in_turn += abs(log((bounds(step, card).in_turn or 0.0) * exp(mean_in_turn) / seconds))
            model += abs(log(expected.likely / seconds))
            inside += expected.low <= seconds <= expected.high
    count = len(found)
    return {
        "measurements": count,
        "roofline": roofline / count,
        "roofline_times_constant": constant / count,
        "in_turn_times_constant": in_turn / count,
        "learned": model / count,
        "covered": inside / count,
    }


def main() -> None:
    """Print the errors and write them beside the other results."""
    folder = Path(os.environ.get(VARIABLE, ""))
    if not (folder / "pytorch-train-bs-fp32.csv").exists():
        sys.exit(f"{VARIABLE} must name the folder `pytorch` of github.com/lambdal/deeplearning-benchmark.")
    service = EstimateService(EstimateSettings())
    try:
        found = points(folder, tracer(service, folder))
    finally:
        service.close()
    result = {
        "source": "github.com/lambdal/deeplearning-benchmark, aa5addb",
        "unseen cards": held_out(found, lambda one: one[1]),
        "unseen models": held_out(found, lambda one: one[0].split()[0]),
        "factors": {
            f"{one[0]} on {one[1]}": round(one[4] / (seconds_per_step(one[2], one[3]) or 1), 2) for one in found
        },
    }
    print(json.dumps(result, indent=1))
    target = Path(__file__).parents[1] / "results" / "step_prediction.json"
    target.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n")


if __name__ == "__main__":
    main()
