"""Paddle's own trainers, estimated without data and weights, beside real steps on made-up data.

`python -m benchmarks.trainers CLONES` takes a folder with clones of PaddleDetection, PaddleSeg, PaddleClas and
PaddleOCR. It empties their folders of data and estimates `tools/train.py` with each of `CASES` (`jupyter paddle-gpu
estimate tools/train.py -- ...`, in the clone). Then it makes data there, runs some steps of each for real on the CPU
and prints both; `results/trainers.json` and the table in `docs/accuracy.md` have every row. `--only WORD` keeps cases
whose name has that word; what no clone has is passed by.

What the trainers import has to be there, and it needs an older numpy than Paddle does; they have an environment of
their own therefore, as a user's kernel has one, and `--python` names it:

    python -m venv TRAINERS && TRAINERS/bin/pip install -r benchmarks/trainers.txt paddlepaddle
    python -m benchmarks.trainers CLONES --python TRAINERS/bin/python

Estimates are asked for here, of a kernel that starts that Python; the real steps are taken in it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .report import kept, save, show
from .trainers_data import DATA, make_data

TIMEOUT = 1500.0
STEPS = 8
"""The first one has no optimizer state, later ones differ where sizes are drawn."""
SECOND_EPOCH = 18
"""Steps up to the second epoch, where the made-up pictures are taken one by one: with its first epoch's snapshot,
PaddleDetection keeps the weights beside their average, and goes on holding them."""
ENOUGH = 3
"""Steps of a case that is ended before all are through; in the others the first three show the largest, but for what
hangs on values."""
TABLE = Path(__file__).parents[1] / "docs" / "accuracy.md"
HEAD = "| trainer | configuration |"
VERSIONS = ("paddlepaddle", "numpy", "opencv-python-headless")
NICE = ("nice", "-n", "10")
CLAS = "-o Global.device=cpu -o DataLoader.Train.sampler.batch_size=2 -o DataLoader.Train.loader.num_workers=0"
SEG = "--device cpu --batch_size"
OCR = "-o Global.use_gpu=False Train.loader.num_workers=0 Train.loader.batch_size_per_card=2"
SHORTER = " Train.dataset.label_file_list=[./train_data/short_list.txt]"
FIRST = f" Train.sampler.first_bs=2{SHORTER}"
DET = "-o use_gpu=False worker_num=0 TrainReader.batch_size="


@dataclass(frozen=True)
class Case:
    """One configuration of a trainer."""

    name: str
    trainer: str
    config: str
    options: str
    steps: int = STEPS

    @property
    def arguments(self) -> list[str]:
        """What `tools/train.py` is given."""
        option = "--config" if self.trainer == "PaddleSeg" else "-c"
        return [option, self.config, *self.options.split()]


def _cases() -> tuple[Case, ...]:
    clas = "ppcls/configs/ImageNet/"
    return (
        Case("ResNet50", "PaddleClas", clas + "ResNet/ResNet50.yaml", CLAS),
        Case("MobileNetV3 large", "PaddleClas", clas + "MobileNetV3/MobileNetV3_large_x1_0.yaml", CLAS),
        Case("PP-LCNet", "PaddleClas", clas + "PPLCNet/PPLCNet_x1_0.yaml", CLAS),
        Case("Swin tiny", "PaddleClas", clas + "SwinTransformer/SwinTransformer_tiny_patch4_window7_224.yaml", CLAS),
        Case("ViT small", "PaddleClas", clas + "VisionTransformer/ViT_small_patch16_224.yaml", CLAS),
        Case(
            "PP-LiteSeg", "PaddleSeg",
            "configs/pp_liteseg/pp_liteseg_stdc1_cityscapes_1024x512_scale0.5_160k.yml", f"{SEG} 2",
        ),
        Case(
            "DeepLabV3P", "PaddleSeg", "configs/deeplabv3p/deeplabv3p_resnet50_os8_voc12aug_512x512_40k.yml",
            f"{SEG} 1",
        ),
        Case("U-Net", "PaddleSeg", "configs/unet/unet_drive_128x128_40k.yml", f"{SEG} 2"),
        Case("BiSeNetV2", "PaddleSeg", "configs/bisenet/bisenet_cityscapes_1024x1024_160k.yml", f"{SEG} 1"),
        Case("SegFormer b0", "PaddleSeg", "configs/segformer/segformer_b0_cityscapes_1024x512_160k.yml", f"{SEG} 1"),
        Case("PP-YOLOE s", "PaddleDetection", "configs/ppyoloe/ppyoloe_crn_s_300e_coco.yml", f"{DET}1"),
        Case("YOLOv3", "PaddleDetection", "configs/yolov3/yolov3_mobilenet_v1_270e_coco.yml", f"{DET}1"),
        Case("PicoDet s", "PaddleDetection", "configs/picodet/picodet_s_320_coco_lcnet.yml", f"{DET}2"),
        Case("Faster R-CNN R50", "PaddleDetection", "configs/faster_rcnn/faster_rcnn_r50_fpn_1x_coco.yml", f"{DET}1"),
        Case("SSD", "PaddleDetection", "configs/ssd/ssd_mobilenet_v1_300_120e_voc.yml", f"{DET}2"),
        # Drawn at random by `benchmarks.gpu_logs.sample` (seeds 21 and 22).
        Case("Res2Net50 vd", "PaddleClas", clas + "Res2Net/Res2Net50_vd_26w_4s.yaml", CLAS),
        Case("DLA46x c", "PaddleClas", clas + "DLA/DLA46x_c.yaml", CLAS),
        Case("PP-LiteSeg stdc2", "PaddleSeg", "configs/smrt/pp_liteseg_stdc2.yml", f"{SEG} 2"),
        Case("Korean CRNN", "PaddleOCR", "configs/rec/multi_language/rec_korean_lite_train.yml", OCR),
        # Of the configurations that are used most, what a CPU can train (seed 24).
        Case("PP-OCRv3 mobile rec", "PaddleOCR", "configs/rec/PP-OCRv3/PP-OCRv3_mobile_rec.yml", OCR + SHORTER),
        Case("PP-OCRv4 mobile rec", "PaddleOCR", "configs/rec/PP-OCRv4/PP-OCRv4_mobile_rec.yml", OCR + FIRST),
        Case("PP-OCRv5 mobile rec", "PaddleOCR", "configs/rec/PP-OCRv5/PP-OCRv5_mobile_rec.yml", OCR + FIRST),
        Case("PP-OCRv5 mobile det", "PaddleOCR", "configs/det/PP-OCRv5/PP-OCRv5_mobile_det.yml", OCR),
        Case("DB MobileNetV3", "PaddleOCR", "configs/det/det_mv3_db.yml", OCR),
        Case("direction of text", "PaddleOCR", "configs/cls/cls_mv3.yml", OCR),
        Case("ResNet50 vd", "PaddleClas", clas + "ResNet/ResNet50_vd.yaml", CLAS),
        Case("PP-HGNetV2 B0", "PaddleClas", clas + "PPHGNetV2/PPHGNetV2_B0.yaml", CLAS),
        Case("EfficientNet B0", "PaddleClas", clas + "EfficientNet/EfficientNetB0.yaml", CLAS),
        Case("OCRNet HRNet-W18", "PaddleSeg", "configs/ocrnet/ocrnet_hrnetw18_voc12aug_512x512_40k.yml", f"{SEG} 1"),
        Case("PP-YOLOE+ s", "PaddleDetection", "configs/ppyoloe/ppyoloe_plus_crn_s_80e_coco.yml", f"{DET}1"),
        Case("Mask R-CNN R50", "PaddleDetection", "configs/mask_rcnn/mask_rcnn_r50_fpn_1x_coco.yml", f"{DET}1"),
        Case("RT-DETR R18", "PaddleDetection", "configs/rtdetr/rtdetr_r18vd_6x_coco.yml", f"{DET}1", SECOND_EPOCH),
        # Of those drawn by `benchmarks.reading.trainers` (seeds 30 and 31), the ones that a CPU trains in minutes.
        Case("ResNet50 CutMix", "PaddleClas", clas + "DataAugment/ResNet50_Cutmix.yaml", CLAS),
        Case("RedNet101", "PaddleClas", clas + "RedNet/RedNet101.yaml", CLAS),
        Case("MixNet M", "PaddleClas", clas + "MixNet/MixNet_M.yaml", CLAS),
        Case("PP-HGNet tiny", "PaddleClas", clas + "PPHGNet/PPHGNet_tiny.yaml", CLAS),
        Case("ReID with center", "PaddleClas", "ppcls/configs/reid/strong_baseline/softmax_triplet_with_center.yaml",
             "-o Global.device=cpu -o DataLoader.Train.sampler.batch_size=8 -o DataLoader.Train.loader.num_workers=0"),
        Case("U-Net STARE", "PaddleSeg", "configs/unet/unet_stare_128x128_40k.yml", f"{SEG} 2"),
        Case("MobileSeg", "PaddleSeg", "configs/mobileseg/mobileseg_mobilenetv3_cityscapes_1024x512_80k.yml",
             f"{SEG} 2"),
        Case("PP-MobileSeg tiny", "PaddleSeg", "configs/pp_mobileseg/pp_mobileseg_tiny_cityscapes_1024x512_80k.yml",
             f"{SEG} 1"),
        Case("YOLOX tiny", "PaddleDetection", "configs/yolox/yolox_cdn_tiny_300e_coco.yml", f"{DET}2"),
        Case("PP-YOLO R18", "PaddleDetection", "configs/ppyolo/ppyolo_r18vd_coco.yml", f"{DET}2"),
        Case("YOLOv5 s", "PaddleYOLO", "configs/yolov5/yolov5_s_300e_coco.yml", f"{DET}1"),
    )  # fmt: skip


CASES = _cases()


@dataclass
class Row:
    """A case beside itself: peaks of Paddle's CPU allocator in bytes."""

    name: str
    trainer: str
    arguments: list[str]
    status: str = ""
    batch: int | None = None
    estimated: int | None = None
    real: list[int] = field(default_factory=list)
    """Of each real step."""
    problem: str = ""
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def error(self) -> float | None:
        """Of the estimate against the largest real step."""
        return None if not self.real or self.estimated is None else self.estimated / max(self.real) - 1


@dataclass(frozen=True)
class Python:
    """The Python that has what the trainers import."""

    path: Path
    kernels: Path
    """A folder in which Jupyter finds it as the kernel of scripts."""

    def __post_init__(self) -> None:
        kernel = self.kernels / "kernels" / "python3"
        kernel.mkdir(parents=True)
        argv = [str(self.path), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        said = {"argv": argv, "display_name": "Trainers", "language": "python"}
        (kernel / "kernel.json").write_text(json.dumps(said), encoding="utf-8")

    def versions(self) -> dict[str, str]:
        """Of what decides about sizes there."""
        code = (
            "import importlib.metadata as all, json, platform\n"
            f"print(json.dumps({{'python': platform.python_version(), **{{n: all.version(n) for n in {VERSIONS}}}}}))"
        )
        done = subprocess.run([self.path, "-c", code], capture_output=True, text=True, check=True)
        return dict(json.loads(done.stdout))


def estimated(case: Case, clones: Path, python: Python) -> Row:
    """The case as a user asks for it."""
    row = Row(case.name, case.trainer, case.arguments)
    command = [str(Path(sys.executable).with_name("jupyter")), "paddle-gpu", "estimate", "--target", "cpu", "--json"]
    started = time.monotonic()
    done = subprocess.run(
        [*NICE, *command, "tools/train.py", "--", *case.arguments],
        cwd=clones / case.trainer, capture_output=True, text=True, check=False,
        env={**os.environ, "JUPYTER_PATH": str(python.kernels)},
    )  # fmt: skip
    row.seconds = round(time.monotonic() - started, 1)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        row.problem = (done.stderr.strip().splitlines() or ["no answer"])[-1]
        return row
    row.status, row.batch, row.estimated = answer["status"], answer["batch_size"], answer["allocated_peak_bytes"]
    row.notes = [note["code"] for note in answer["notes"]]
    asked = [f"{one['name']}: {one['why']}" for one in answer["questions"]]
    why = answer["notes"][-1]["message"] if answer["status"] != "ok" and answer["notes"] else ""
    row.problem = " | ".join(asked) or str((answer.get("stop") or {}).get("error", why))
    return row


def measured(row: Row, case: Case, clones: Path, python: Python, patience: float) -> None:
    """Real steps of the case, in a process of its own."""
    command = [*NICE, str(python.path), "-m", "benchmarks.trainers_steps", str(case.steps), *case.arguments]
    found = os.pathsep.join(filter(None, [str(Path(__file__).resolve().parents[1]), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": found, "PYTHONWARNINGS": "ignore"}
    with subprocess.Popen(
        command, cwd=clones / case.trainer, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            said, told = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:  # the steps that are through count
            process.kill()
            said, told = process.communicate()
    lines = [line for line in said.splitlines() if line.startswith("[")]
    row.real = json.loads(lines[-1]) if len(lines) >= ENOUGH else []
    if not row.real:
        row.problem += " real: " + " / ".join(told.strip().splitlines()[-3:])


def main() -> None:
    """Estimate all, then run all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trainers", description=__doc__)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="that has what the trainers import")
    parser.add_argument("--only", default="")
    parser.add_argument("--no-real", action="store_true")
    parser.add_argument("--patience", type=float, default=TIMEOUT, help="seconds for the real steps of a case")
    parser.add_argument("--keep", type=Path, help="a file that keeps what real steps took between runs")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as kernels:
        compare(asked, Python(asked.python.absolute(), Path(kernels)))


def compare(asked: argparse.Namespace, python: Python) -> None:
    """Estimate and run what was asked for, print and save it."""
    clones = asked.clones.absolute()
    cases = [case for case in CASES if asked.only.lower() in f"{case.trainer} {case.name}".lower()]
    cases = [case for case in cases if (clones / case.trainer / case.config).exists()]
    for place in DATA:
        shutil.rmtree(clones / place, ignore_errors=True)
    rows = []
    for case in cases:
        rows.append(row := estimated(case, clones, python))
        sys.stderr.write(
            f"{row.name:18} {row.status:12} {row.estimated or 0:>14,} {row.seconds:6} {row.problem[:300]}\n"
        )
    if not asked.no_real:
        make_data(clones)
        steps = json.loads(asked.keep.read_text()) if asked.keep and asked.keep.exists() else {}
        for row, case in zip(rows, cases, strict=True):
            row.real = steps.get(case.name) or []
            if not row.real:
                measured(row, case, clones, python, asked.patience)
            steps[case.name] = row.real
            if asked.keep:
                asked.keep.write_text(json.dumps(steps))
            if row.real:
                keep_row(row, python)
            sys.stderr.write(f"{row.name:18} {row.real} {row.problem[-300:] if not row.real else ''}\n")
    show(
        "Trainers: estimated without data and weights, and really run",
        ("Trainer", "Configuration", "Batch", "Estimated", "Real", "Error"),
        [
            (row.trainer, row.name, row.batch or "", f"{row.estimated or 0:,}", f"{max(row.real, default=0):,}",
             "" if row.error is None else f"{row.error:+.3%}")
            for row in rows
        ],
    )  # fmt: skip


def keep_row(row: Row, python: Python) -> None:
    """Write the row, beside those of before, into the results and the documentation."""
    before = {one["name"]: one for one in kept("trainers").get("rows", [])}
    found = {**before, row.name: asdict(row)}
    rows = [found[case.name] for case in CASES if case.name in found]
    save("trainers", {"trainers": python.versions(), "rows": rows})
    table(rows)


def table(rows: list[dict[str, Any]]) -> None:
    """Write the rows into the table of `docs/accuracy.md`."""
    before, head, behind = TABLE.read_text(encoding="utf-8").partition(HEAD)
    lines = behind.split("\n")
    end = next(number for number, line in enumerate(lines) if number and not line.startswith("|"))
    TABLE.write_text("\n".join([before + head + lines[0], lines[1], *map(_line, rows), *lines[end:]]), encoding="utf-8")


def _line(row: dict[str, Any]) -> str:
    estimated, most = row["estimated"], max(row["real"], default=None)
    if estimated is None or most is None:
        differs = "-"
    elif abs(estimated - most) < most / 10_000:
        differs = f"{estimated - most:+,} bytes" if estimated != most else "0"
    else:
        differs = f"{estimated / most - 1:+.1%}".replace("%", " %")
    figures = ("-" if one is None else f"{one:,}" for one in (row["batch"], estimated, most))
    return f"| {' | '.join((row['trainer'], row['name'], *figures, differs))} |"


if __name__ == "__main__":
    main()
