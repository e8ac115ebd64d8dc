"""How wide the range on a card is with the public logs and without them.

`python -m benchmarks.gpu_logs.widths` estimates vision models at 224 px, BERT, GPT-2 and the examples for one card and
writes `results/gpu_widths.json`. Without the logs is what the same terms give to `calibration.predict`.
"""

from __future__ import annotations

from pathlib import Path

from jupyter_paddle_gpu.devices import catalogue
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.estimator.memory.calibration import predict
from jupyter_paddle_gpu.estimator.service import EstimateService, EstimateSettings
from jupyter_paddle_gpu.notebook.files.reading import read_notebook
from jupyter_paddle_gpu.notebook.inspection import inspect_notebook

from ..estimate_speed import facts
from ..programs import HEAD, LOOP, bert, gpt
from ..report import save, show

ROOT = Path(__file__).resolve().parents[2]
CARD = "V100 PCIe 16GB"
VISION = (
    "resnet18", "resnet50", "mobilenet_v2", "mobilenet_v3_large", "vgg16", "densenet121", "squeezenet1_0",
    "shufflenet_v2_x1_0", "alexnet", "resnext50_32x4d", "googlenet", "inception_v3",
)  # fmt: skip
BATCH = 64
NET = """
model = paddle.vision.models.{name}()
def make_batch():
    return paddle.rand([{batch}, 3, {side}, {side}]), paddle.randint(0, 1000, [{batch}])
def loss_of(scores, y):
    return F.cross_entropy(scores[0] if isinstance(scores, (list, tuple)) else scores, y)
"""


def main() -> None:
    """Print the table and write it."""
    service = EstimateService(EstimateSettings(calibration=ROOT / "no-calibration.json"))
    programs = {
        name: facts(HEAD + NET.format(name=name, batch=BATCH, side=299 if name == "inception_v3" else 224) + LOOP)
        for name in VISION
    }
    programs |= {"BERT base": facts(bert(32)), "GPT-2 small": facts(gpt(8, 12, 768, 12, 512))}
    for path in sorted((ROOT / "examples").glob("digits_*.ipynb")):
        programs[path.stem] = inspect_notebook(read_notebook(path))
    rows = []
    for name, notebook in programs.items():
        found = service.estimate(notebook, ROOT / "examples", EstimateRequest(target="gpu"), catalogue.find(CARD))
        if found.terms is None or found.high is None or found.low is None:
            continue
        plain = predict(found.terms, ())
        rows.append(
            {
                "program": name,
                "reserved_bytes": found.reserved_peak_bytes,
                "before": [plain.low, plain.high],
                "now": [found.low, found.high],
                "logs": found.terms.logs,
                "share": (found.high - found.low) / (plain.high - plain.low),
            }
        )
    service.close()
    show(
        f"Range on a {CARD}",
        ("Program", "Reserved", "Before", "Now", "Logs", "Share"),
        [
            (row["program"], f"{row['reserved_bytes'] / 2**20:,.0f}",
             *(f"{row[key][0] / 2**20:,.0f} to {row[key][1] / 2**20:,.0f}" for key in ("before", "now")),
             str(row["logs"]), f"{row['share']:.0%}")
            for row in rows
        ],
    )  # fmt: skip
    save("gpu_widths", {"card": CARD, "rows": rows})


if __name__ == "__main__":
    main()
