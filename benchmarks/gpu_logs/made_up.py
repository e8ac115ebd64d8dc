"""Data of the right shapes for trainers that need files: pictures of one colour, silence, one word.

`python -m benchmarks.gpu_logs.made_up CLONES` puts them where the configurations of the collection look for them.
PaddleDetection, PaddleYOLO, PaddleSeg and PaddleClas need none: the estimate stands in for theirs; of two trainings
whose configuration a log tells in words it is written here.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from PIL import Image

FRAMES, UTTERANCES, PICTURES = 100, 600, 400
FEATURES, HOP = 400, 300
"""Frames of spectrum of an utterance, and samples of sound a frame: CSMSC at 24 kHz."""


def frames(root: Path) -> None:
    """REDS: frames of 320 x 180 and of 1280 x 720 in a folder a video; PaddleGAN trains on all but `000`."""
    for part, size in (("train_sharp_bicubic", (320, 180)), ("train_sharp", (1280, 720))):
        for video in ("000", "001"):
            folder = root / "data" / "REDS" / part / "X4" / video
            folder.mkdir(parents=True, exist_ok=True)
            first = folder / "00000000.png"
            Image.new("RGB", size).save(first)
            for number in range(1, FRAMES):
                (folder / f"{number:08d}.png").unlink(missing_ok=True)
                (folder / f"{number:08d}.png").symlink_to(first)
    (root / "data" / "REDS" / "meta_info_REDS_GT.txt").write_text("000/00000000.png\n001/00000000.png\n")


def sounds(root: Path) -> None:
    """What PaddleSpeech's preprocessing of CSMSC leaves: a spectrum and a wave an utterance."""
    for part in ("train", "dev"):
        folder = root / "dump" / part / "norm"
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "feats.npy", np.zeros((FEATURES, 80), "float32"))
        np.save(folder / "wave.npy", np.zeros(FEATURES * HOP, "float32"))
        files = {"wave": str(folder / "wave.npy"), "feats": str(folder / "feats.npy")}
        rows = [json.dumps({"utt_id": f"u{number}", **files}) for number in range(UTTERANCES)]
        (folder / "metadata.jsonl").write_text("\n".join(rows) + "\n")


def texts(root: Path) -> None:
    """PaddleOCR: a line of text to read, and a page of one line to find."""
    folder = root / "train_data"
    (folder / "det").mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (320, 48), "white").save(folder / "word.png")
    Image.new("RGB", (640, 640), "white").save(folder / "det" / "page.png")
    corners = [[100, 100], [400, 100], [400, 200], [100, 200]]
    line = json.dumps([{"transcription": "abc", "points": corners}])
    for name, row in (("list", "word.png\tabc123\n"), ("det", f"det/page.png\t{line}\n")):
        for part in ("train", "val"):
            (folder / f"{part}_{name}.txt").write_text(row * PICTURES)


def segmentation(root: Path) -> None:
    """What PaddleSeg#1568 says of its configuration."""
    parts = {part: {"type": "Dataset", "dataset_root": "data", "num_classes": 2} for part in ("train", "val")}
    told = {
        "_base_": "deeplabv3p/deeplabv3p_resnet50_os8_voc12aug_512x512_40k.yml",
        "batch_size": 2,
        "model": {"num_classes": 2},
        **{f"{part}_dataset": {**own, f"{part}_path": f"data/{part}.txt"} for part, own in parts.items()},
    }
    (root / "configs" / "gpu_logs_1568.yml").write_text(json.dumps(told))


def detection(root: Path) -> None:
    """PicoDet of one size, as one of the four variants of a public comparison has it."""
    mean, std = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
    sizes = {"target_size": [320], "random_size": True, "random_interp": True, "keep_ratio": False}
    steps = [{"BatchRandomResize": sizes}, {"NormalizeImage": {"is_scale": True, "mean": mean, "std": std}}]
    told = {
        "_BASE_": ["picodet/picodet_l_320_coco_lcnet.yml"],
        "num_classes": 17,
        "TrainReader": {"batch_transforms": [*steps, {"Permute": {}}, {"PadGT": {}}], "batch_size": 24},
    }
    (root / "configs" / "gpu_logs_picodet.yml").write_text(json.dumps(told))


MADE = {
    "PaddleGAN": frames, "PaddleSpeech": sounds, "PaddleOCR": texts, "PaddleSeg": segmentation,
    "PaddleDetection": detection,
}  # fmt: skip

if __name__ == "__main__":
    for name, make in MADE.items():
        if (clone := Path(sys.argv[1]).absolute() / name).is_dir():
            make(clone)
