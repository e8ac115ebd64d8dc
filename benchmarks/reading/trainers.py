"""Configurations of Paddle's trainers drawn at random, asked for as a newcomer does: no data, no weights, no reading.

`python -m benchmarks.reading.trainers CLONES --seed 30` takes a folder with clones of the repositories of `SHELVES`
(older versions stand beside the newest as `PaddleOCR-YEAR`), draws configurations or programs of each, types the
command that their documents give and accepts what questions suggest, three times at most. It prints how each ended;
`--only WORD` keeps clones whose name has that word, `--python` names the Python that has what the trainers import
(see `benchmarks.trainers`), `--rows` a file that keeps every row between runs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..gpu_logs.rebuild import CARD
from ..report import show
from ..trainers import NICE, Python

PATIENCE = 180.0
MOST_QUESTIONS = 3
LAUNCH = "-m paddle.distributed.launch --gpus 0,1 "


@dataclass(frozen=True)
class Shelf:
    """Where a repository keeps its configurations, and what its documents have a user type.

    Attributes:
        folder: pattern of its clones.
        files: pattern of configurations or programs in a clone.
        count: how many are drawn.
        command: what is typed; `{}` stands for the drawn file.
        has: what the text of one that trains says.
        lacks: parts of paths of those that are bases of others, or need another program.
        ways: what is added at times, one drawn for each.
        inside: typed in the program's own folder.
    """

    folder: str
    files: str
    count: int
    command: str
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    ways: tuple[str, ...] = ("",)
    inside: bool = False


OCR = ("", "", " -o Global.use_gpu=False", " -o Global.epoch_num=1 Train.loader.batch_size_per_card=4",
       " -o Global.use_amp=True")  # fmt: skip
DETECTION = ("", "", " --eval", " --amp", " -o use_gpu=False", " -o TrainReader.batch_size=2 epoch=1 --eval")
SEG = ("", "", " --do_eval", " --precision fp16", " --batch_size 2 --iters 100", " --device cpu")
CLAS = ("", "", " -o Global.device=cpu", " -o DataLoader.Train.sampler.batch_size=8", " -o Global.epochs=1",
        " -o AMP.scale_loss=128 -o AMP.use_dynamic_loss_scaling=True -o AMP.level=O1")  # fmt: skip
TRAINER = "tools/train.py -c {}"
SHELVES = (
    *(Shelf("PaddleOCR*", f"configs/{kind}/**/*.y*ml", count, TRAINER, ("Train:",), ways=OCR)
      for kind, count in (("det", 4), ("rec", 6), ("cls", 1), ("e2e", 1), ("table", 2), ("kie", 1), ("sr", 1))),
    *(Shelf("PaddleDetection*", files, count, TRAINER, ("weights:",), ("/_base_/", "slim", "deploy", "deepsort"),
            DETECTION)
      for files, count in (("configs/[!km]*/**/*.yml", 10), ("configs/keypoint/**/*.yml", 1),
                           ("configs/mot/**/*.yml", 1))),
    Shelf("PaddleSeg*", "configs/**/*.yml", 9, "tools/train.py --config {}", ("_base_:",), ("/_base_/",), SEG),
    Shelf("PaddleClas*", "ppcls/configs/**/*.yaml", 9, TRAINER, ("Train:",), ("slim",), CLAS),
    Shelf("PaddleX", "paddlex/configs/**/*.yaml", 3, "main.py -c {} -o Global.mode=train", ("Train:",)),
    Shelf("PaddleVideo", "configs/recognition/**/*.yaml", 3, "main.py -c {}", ways=("", " --amp")),
    Shelf("PaddleGAN", "configs/*.yaml", 3, "tools/main.py --config-file {}", ("train",),
          ways=("", " --evaluate-only")),
    Shelf("PaddleYOLO", "configs/**/*.yml", 3, TRAINER, ("_BASE_", "weights:"), ways=("", " --amp", " --eval")),
    Shelf("Paddle3D", "configs/**/*.y*ml", 3, "tools/train.py --config {}", ("train_dataset:",), ("quant",)),
    Shelf("PaddleRec", "models/*/*/config*.yaml", 4, "tools/trainer.py -m {}", ("train_data_dir",)),
    Shelf("PGL", "examples/*/train.py", 3, "{}", ("__main__",), inside=True),
    Shelf("PaddleScience", "examples/*/*.py", 3, "{}", ("hydra", "def train"), inside=True),
    Shelf("PARL", "examples/*/train.py", 2, "{}", ("__main__", "parl"), inside=True),
    Shelf("PaddleSpeech", "examples/*/asr1/conf/*.yaml", 1,
          "paddlespeech/s2t/exps/u2/bin/train.py --config {} --output out --ngpu 1"),
    Shelf("PaddleSpeech", "examples/*/tts3/conf/default.yaml", 1,
          "paddlespeech/t2s/exps/fastspeech2/train.py --config={} --train-metadata=dump/train/norm/metadata.jsonl"
          " --dev-metadata=dump/dev/norm/metadata.jsonl --output-dir=out --ngpu=1 --phones-dict=dump/phone_id_map.txt"),
    Shelf("PaddleNLP", "llm/config/*/*_argument.json", 2, "llm/run_finetune.py {}", ("do_train",), ("gptq", "ptq")),
    Shelf("PaddleNLP", "slm/examples/**/train*.py", 2, "{}", ("__main__", "parse_args"),
          ("static", "torch_"), inside=True),
)  # fmt: skip


@dataclass
class Row:
    """How one ended."""

    clone: str
    folder: str
    command: str
    ended: str = ""
    status: str = ""
    peak: int | None = None
    batch: int | None = None
    answers: dict[str, str] = field(default_factory=dict)
    said: str = ""
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0


def drawn(clones: Path, seed: int) -> Iterator[Row]:
    """What is typed, and where; every fifth one with Paddle's launcher for two cards."""
    draws = random.Random(seed)
    for shelf in SHELVES:
        folders = sorted(clones.glob(shelf.folder))
        for _ in range(shelf.count if folders else 0):
            clone = draws.choice(folders)
            path = draws.choice(list(_files(shelf, clone)))
            way, is_launched = draws.choice(shelf.ways), shelf.count > 2 and draws.random() < 0.2
            name = path.name if shelf.inside else str(path.relative_to(clone))
            folder = str(path.parent.relative_to(clone)) if shelf.inside else "."
            yield Row(clone.name, folder, (LAUNCH if is_launched else "") + shelf.command.format(name) + way)


def _files(shelf: Shelf, clone: Path) -> Iterator[Path]:
    for path in sorted(clone.glob(shelf.files)):
        text, name = path.read_text(errors="replace"), f"/{path.relative_to(clone)}"
        if all(one in text for one in shelf.has) and not any(one in name for one in shelf.lacks):
            yield path


def ask(row: Row, clones: Path, python: Python) -> None:
    """Estimate it, and again with what was suggested."""
    started = time.monotonic()
    while True:
        answer, said = _answer(row, clones, python)
        questions = answer.get("questions", [])
        new = {one["name"]: _typed(one["suggestion"]) for one in questions
               if one["name"] and one["suggestion"] is not None and one["name"] not in row.answers}  # fmt: skip
        if answer.get("status") != "needs_input" or not new or len(row.answers) + len(new) > MOST_QUESTIONS:
            break
        row.answers |= new
    row.seconds = round(time.monotonic() - started, 1)
    row.status, row.peak, row.batch = (answer.get(one) for one in ("status", "allocated_peak_bytes", "batch_size"))
    row.status = row.status or ("time up" if said == "time up" else "no answer")
    row.notes = [note["code"] for note in answer.get("notes", [])]
    stop = answer.get("stop") or {}
    asked = [f"{one['kind']} {one['name']}: {one['why']['message']}" for one in questions]
    lacks = [one["module"] for one in answer.get("packages", [])] if row.status == "no_package" else []
    row.said = said or " | ".join(asked) or ", ".join(lacks) or str(stop.get("error", ""))
    if row.status == "needs_input":
        row.ended = "more than three questions" if new else "question without a suggestion"
    else:
        row.ended = row.status


def _typed(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _answer(row: Row, clones: Path, python: Python) -> tuple[dict[str, Any], str]:
    command = [str(Path(sys.executable).with_name("jupyter")), "paddle-gpu", "estimate", "--json", "--device", CARD]
    for name, value in row.answers.items():
        command += ["--set", f"{name}={value}"]
    found = os.pathsep.join((str(clones / row.clone), ".", os.environ.get("PYTHONPATH", "")))
    with subprocess.Popen(
        [*NICE, *command, *row.command.split()], cwd=clones / row.clone / row.folder, text=True, start_new_session=True,
        env={**os.environ, "JUPYTER_PATH": str(python.kernels), "PYTHONPATH": found},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            printed, told = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            return {}, "time up"
    try:
        return dict(json.loads(printed)), ""
    except ValueError:
        return {}, " / ".join((told or printed).strip().splitlines()[-3:])


def main() -> None:
    """Draw, ask, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reading.trainers", description=__doc__)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--seed", type=int, default=30)
    parser.add_argument("--only", default="")
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="that has what the trainers import")
    parser.add_argument("--rows", type=Path, help="a file of rows, one a line: those that it has are not asked again")
    parser.add_argument("--list", action="store_true", help="print what is drawn, and ask nothing")
    asked = parser.parse_args()
    clones = asked.clones.absolute()
    rows = [row for row in drawn(clones, asked.seed) if asked.only in row.clone]
    if asked.list:
        sys.stdout.writelines(f"{row.clone} {row.folder}: {row.command}\n" for row in rows)
        return
    lines = asked.rows.read_text().splitlines() if asked.rows and asked.rows.exists() else []
    known = {(one["clone"], one["folder"], one["command"]): Row(**one) for one in map(json.loads, lines)}
    with tempfile.TemporaryDirectory() as kernels:
        python = Python(asked.python.absolute(), Path(kernels))
        for number, row in enumerate(rows):
            if (before := known.get((row.clone, row.folder, row.command))) is not None:
                rows[number] = before
                continue
            ask(row, clones, python)
            if asked.rows:
                with asked.rows.open("a") as file:
                    file.write(json.dumps(asdict(row)) + "\n")
            sys.stderr.write(f"{row.ended:30} {row.seconds:6} {row.clone} {row.command} {row.said[:300]}\n")
    show(
        f"{len(rows)} drawn with seed {asked.seed}: {dict(Counter(row.ended for row in rows))}",
        ("Clone", "Command", "Ended", "Questions", "Seconds", "Said"),
        [(row.clone, row.command, row.ended, len(row.answers), row.seconds, row.said[:80]) for row in rows],
    )


if __name__ == "__main__":
    main()
