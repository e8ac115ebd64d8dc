"""Configurations of Paddle's trainers drawn at random, estimated without data and weights.

`python -m benchmarks.gpu_logs.sample CLONES --seed 14` takes a folder with clones of the repositories below (several
versions stand side by side as `PaddleOCR-VERSION`), draws forty configurations and estimates each as a user does,
within the minute that an estimate has. `results/trainers_read.json` keeps every row, by seed. Modules that the trainers
import have to be there.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..report import RESULTS, save, show
from .rebuild import CARD, NICE


@dataclass(frozen=True)
class Shelf:
    """Where a repository keeps its configurations.

    Attributes:
        folder: of the clone, a pattern where several versions stand side by side.
        files: pattern of the configurations.
        has: what one that trains says.
        lacks: parts of paths of those that are bases of others, or need another program.
        count: how many are drawn.
        script: the trainer; empty where the drawn file is the program itself.
        option: how it is given a configuration.
        rest: what else its documents have a user type.
    """

    folder: str
    files: str
    has: tuple[str, ...]
    count: int
    lacks: tuple[str, ...] = ()
    script: str = "tools/train.py"
    option: str = "-c"
    rest: tuple[str, ...] = ()


OCR = (("det", 2), ("rec", 4), ("cls", 1), ("e2e", 1), ("table", 1), ("kie", 1), ("sr", 1))
DETECTION = (("configs/[!km]*/**/*.yml", 4), ("configs/keypoint/**/*.yml", 1), ("configs/mot/**/*.yml", 1))
SPEECH = "paddlespeech/t2s/exps/gan_vocoder"
METADATA = ("--train-metadata", "dump/train.jsonl", "--dev-metadata", "dump/dev.jsonl", "--output-dir", "out")
SHELVES = (
    *(Shelf("PaddleOCR-*", f"configs/{kind}/**/*.y*ml", ("Train:",), count) for kind, count in OCR),
    *(Shelf("PaddleDetection*", files, ("weights:",), count, ("/_base_/", "slim", "deploy", "deepsort"))
      for files, count in DETECTION),
    Shelf("PaddleSeg*", "configs/**/*.yml", ("_base_:",), 5, option="--config"),
    Shelf("PaddleClas*", "ppcls/configs/**/*.yaml", ("Train:",), 5, ("slim",)),
    Shelf("PaddleGAN*", "configs/*.yaml", ("train",), 2, script="tools/main.py", option="--config-file"),
    Shelf("PaddleVideo*", "configs/recognition/**/*.yaml", (), 2, script="main.py"),
    Shelf("PaddleYOLO*", "configs/**/*.yml", ("_BASE_", "weights:"), 1),
    Shelf("Paddle3D*", "configs/**/*.y*ml", ("train_dataset:",), 3, ("quant",), option="--config"),
    Shelf("PaddleX*", "paddlex/configs/**/*.yaml", ("Train:",), 2, script="main.py", rest=("-o", "Global.mode=train")),
    Shelf("PaddleSpeech*", "examples/*/voc1/conf/default.yaml", (), 1, script=f"{SPEECH}/parallelwave_gan/train.py",
          option="--config", rest=METADATA),
    Shelf("PaddleSpeech*", "examples/*/voc5/conf/default.yaml", (), 1, script=f"{SPEECH}/hifigan/train.py",
          option="--config", rest=METADATA),
    Shelf("PaddleNLP*", "**/examples/**/train*.py", ("__main__", "parse_args"), 2,
          ("/static/", "required=True", "torch_", "Trainer"), script=""),
)  # fmt: skip


def drawn(clones: Path, seed: int) -> Iterator[tuple[Shelf, Path, str]]:
    """Some forty: shelf, clone and configuration."""
    draws = random.Random(seed)
    for shelf in SHELVES:
        folders = sorted(clones.glob(shelf.folder))
        for _ in range(shelf.count if folders else 0):
            clone = draws.choice(folders)
            yield shelf, clone, draws.choice(list(_configurations(shelf, clone)))


def _configurations(shelf: Shelf, clone: Path) -> Iterator[str]:
    for path in sorted(clone.glob(shelf.files)):
        name = str(path.relative_to(clone))
        text = path.read_text(errors="replace")
        if all(one in text for one in shelf.has) and not any(one in f"/{name}" for one in shelf.lacks):
            yield name


def estimated(shelf: Shelf, clone: Path, name: str) -> dict[str, Any]:
    """A row: how the estimate ended, and after how many seconds."""
    command = [str(Path(sys.executable).with_name("jupyter")), "paddle-gpu", "estimate", "--json", "--device", CARD]
    paths = os.pathsep.join((".", os.environ.get("PYTHONPATH", "")))
    environment = {**os.environ, "PYTHONPATH": paths, "SETUPTOOLS_USE_DISTUTILS": "stdlib"}
    started = time.monotonic()
    done = subprocess.run(
        [*NICE, *command, *(_given(shelf, name))],
        cwd=clone, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    row: dict[str, Any] = {"clone": clone.name, "configuration": name, "seconds": round(time.monotonic() - started, 1)}
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return {**row, "status": "no answer", "problem": done.stderr.strip().splitlines()[-1:]}
    asked = [f"{one['name']}: {one['why']['message']}" for one in answer["questions"]]
    problem = asked or [str((answer.get("stop") or {}).get("error", ""))]
    wanted = ("status", "batch_size", "amp", "allocated_peak_bytes", "reserved_peak_bytes", "low", "high")
    return {**row, **{key: answer.get(key) for key in wanted}, "problem": problem}


def _given(shelf: Shelf, name: str) -> tuple[str, ...]:
    """The program and its arguments."""
    return (shelf.script, "--", shelf.option, name, *shelf.rest) if shelf.script else (name,)


def main() -> None:
    """Draw, estimate, print and keep."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu_logs.sample", description=__doc__)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--seed", type=int, default=14)
    asked = parser.parse_args()
    rows = []
    for shelf, clone, name in drawn(asked.clones.absolute(), asked.seed):
        rows.append(estimated(shelf, clone, name))
        sys.stderr.write(f"{rows[-1]}\n")
    show(
        f"Forty configurations, seed {asked.seed}",
        ("Trainer", "Configuration", "Status", "Seconds", "Problem"),
        [(row["clone"], row["configuration"], row["status"], row["seconds"], *row["problem"][:1]) for row in rows],
    )
    file = RESULTS / "trainers_read.json"
    kept = json.loads(file.read_text())["seeds"] if file.exists() else {}
    save("trainers_read", {"seeds": {**kept, str(asked.seed): rows}})


if __name__ == "__main__":
    main()
