"""Advice, applied by the product and really run: the promised peak beside the measured one, and what was learned.

`python -m benchmarks.advice [NAME...]` takes the programs of the accuracy benchmark that users would write (`fresh` and
`unseen`), has each remedy written into the cells as a job has it, and runs both on the CPU for ten updates.
`results/advice.json` has every row; those of programs that are named are written beside the others. A CPU shows batch,
accumulation, recompute and freed gradients; mixed precision is ignored there by Paddle itself.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from jupyter_paddle_gpu.domain.notebooks import NotebookSource
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.engines.base import RUNNER
from jupyter_paddle_gpu.notebook.files.reading import parse_notebook
from jupyter_paddle_gpu.services import Services, Settings

from .loaded import loaded
from .optimizers import after_updates
from .report import kept as figures_of_before
from .report import save, show

PROGRAMS = Path(__file__).with_name("accuracy")
CHOSEN = [
    "text_cnn_fit",
    "bilstm_crf",
    "deepfm_sparse",
    "llama_gqa",
    "recompute_blocks",
    "neural_cf",
    "lstm_forecast",
    "mixture_density",
    "two_tower",
    "hapi_two_inputs",
    "capsules",
    "conv_vae",
    "dqn_replay",
    "fnet_mixer",
    "gcn_dense",
    "gat_segments",
    "lora_finetune",
    "moe_topk",
    "multi_task",
    "series_decomposition",
    "masked_language",
    "perceiver",
    "seq2seq_attention",
    "transformer_xl",
    "pointnet_tnet",
    "arcface_margin",
    "alibi_parallel",
    "pointer_network",
    "graph_send_recv",
    "fourier_operator",
    "bert_pretraining",
    "ctc_speech",
    "dino_teacher",
    "mobilenet_fit",
    "efficientnet_se",
    "convnext_droppath",
]
"""Programs that a CPU runs in seconds; those whose batch has fewer than four samples are passed by."""
ON_TWO_ALSO = [
    "wavenet",
    "triplet_mining",
    "t5_relative",
    "weight_norm_tcn",
    "wide_deep_tables",
    "simclr_views",
    "resnext_soft_labels",
    "realnvp",
    "edsr_perceptual",
    "sinkhorn_transport",
    "swin_windows",
]
"""Further ones for two processes, which not every program can be divided among."""
UPDATES = 10
PATIENCE = 300.0
"""Seconds for the ten updates of one program."""
TOLERANCE = 1e-3
"""Relative difference of what was learned that float32 may make in ten updates, summed in another order."""
REMEDIES: dict[str, Callable[[int], dict[str, Any]]] = {
    "batch_size": lambda batch: {"batch_size": batch // 2},
    "accumulation": lambda batch: {"accumulation": 4, "batch_size": batch},
    "recompute": lambda batch: {"recompute": True},
    "set_to_zero": lambda batch: {"set_to_zero": False},
}
MIXES_SAMPLES = re.compile(r"BatchNorm|Dropout|dropout|resnet|mobilenet|rand|bernoulli|drop_path")
"""What makes samples depend on their batch, or on chance drawn batch by batch: smaller ones learn otherwise."""


@dataclass
class Row:
    """One remedy on one program. Bytes; `promised` is None where it is refused, `refused` says why."""

    program: str
    remedy: str
    refused: str = ""
    before: int | None = None
    promised: int | None = None
    measured: int | None = None
    learned: float | None = None
    """Relative difference of the loss after ten updates (of two processes: of the parameters' norms between them); None
    where the remedy promises no equality."""
    problem: str = ""


def run(source: str) -> dict[str, Any]:
    """Ten updates in a forked child: the steady peak of the allocator, and the norms of what was learned."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            answer = _really(source)
        except BaseException as error:
            answer = {"problem": f"{type(error).__name__}: {error}"[:300]}
        os.write(writing, json.dumps(answer).encode())
        os._exit(0)
    os.close(writing)
    try:
        ready, _, _ = select.select([reading], [], [], PATIENCE)
        text = os.read(reading, 1 << 20) if ready else b""
    finally:
        os.close(reading)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return dict(json.loads(text)) if text else {"problem": "no answer in time"}


class Enough(BaseException):
    """Ends the program."""


def _really(source: str) -> dict[str, Any]:
    import random

    import numpy as np
    import paddle
    from paddle.base import core

    paddle.seed(0)
    np.random.seed(0)
    random.seed(0)
    peaks: list[int] = []
    losses: list[float] = []
    since: list[float] = []
    backward = paddle.Tensor.backward

    def noted(self: Any, *args: Any, **kwargs: Any) -> Any:
        since.append(float(self))
        return backward(self, *args, **kwargs)

    paddle.Tensor.backward = noted

    def updated() -> None:
        peaks.append(core.host_memory_stat_peak_value("Allocated", 0))
        losses.append(sum(since))
        since.clear()
        core.host_memory_stat_reset_peak_value("Allocated", 0)
        if len(peaks) >= UPDATES:
            raise Enough

    after_updates(updated)
    quiet = io.StringIO()
    with contextlib.suppress(Enough), contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
        exec(compile(source, "<program>", "exec"), {"__name__": "__main__"})
    counted = sorted(peaks[2:], key=lambda peak: (-peaks[2:].count(peak), -peak))
    return {"peak": counted[0] if counted else None, "learned": losses, "peaks": peaks}


ON_TWO = """
import json, os
import paddle
from paddle_gpu_runner import paddle_hooks  # the runner's own measurement, a peak an update
depth, updates = [0], [0]
def watched(original):
    def update(self, *args, **kwargs):
        depth[0] += 1
        try:
            return original(self, *args, **kwargs)
        finally:
            depth[0] -= 1
            if depth[0] == 0:
                updates[0] += 1
                if updates[0] in (4, 10):
                    peaks = [peak for one in paddle_hooks._steps.chapters for peak in one.peaks]
                    # What is not trained is each process's own: the running statistics of a batch norm.
                    groups = [one["params"] if isinstance(one, dict) else [one] for one in self._parameter_list]
                    trained = [p for group in groups for p in group if not p.stop_gradient]
                    norms = [float((p.astype("float64") ** 2).sum()) for p in trained]
                    with open(os.environ["ADVICE"] + os.environ["PADDLE_TRAINER_ID"], "w") as file:
                        json.dump({"peak": max(peaks[2:]), "learned": norms, "updates": updates[0]}, file)
                    paddle.base.core.host_memory_stat_reset_peak_value("Allocated", 0)  # the norms' own
                if updates[0] == 10:
                    os._exit(0)
    return update
kinds = [paddle.optimizer.Optimizer]
while kinds:
    kind = kinds.pop()
    kinds.extend(kind.__subclasses__())
    for name in ("step", "minimize"):
        if name in vars(kind):
            setattr(kind, name, watched(vars(kind)[name]))
"""
SHORT = re.compile(r"(for \w+ in range\()[3-9](\):)")
"""Loops of a few steps, which would end before gradients of several steps are summed twice."""


def on_two(cells: list[dict[str, Any]], folder: Path) -> dict[str, Any]:
    """Ten updates by two processes, started as a local job starts them; what is learned must be the same in both."""
    first = {"cell_type": "code", "id": "first", "metadata": {}, "outputs": [], "execution_count": None}
    content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{**first, "source": ON_TWO}, *cells]}
    (folder / "source.ipynb").write_text(json.dumps(content), encoding="utf-8")
    spec = folder / "spec.json"
    spec.write_text(json.dumps({"id": "advice", "folder": str(folder), "shell": "plain"}), encoding="utf-8")
    gloo = [{"PADDLE_DISTRI_BACKEND": "gloo"}] * 2
    command = [sys.executable, "-W", "ignore", str(RUNNER), "--ranks", json.dumps(gloo), str(spec)]
    environment = {**os.environ, "ADVICE": str(folder / "learned-")}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()  # all that it has started go with it
        process.wait()
    found = [json.loads(file.read_text()) for file in sorted(folder.glob("learned-*"))]
    if len(found) != 2:
        logs = (folder / "log.jsonl", folder / "rank-1" / "log.jsonl")
        said = " | ".join(log.read_text(errors="replace")[-300:] for log in logs if log.exists())
        return {"problem": f"two processes did not come to ten updates: {said}"}
    same = found[0]["updates"] == found[1]["updates"]
    pairs = zip(found[0]["learned"], found[1]["learned"], strict=True)
    different = max(abs(a - b) / max(abs(a), 1e-6) for a, b in pairs) if same else None
    return {"peak": max(one["peak"] for one in found), "different": different}


def judge_on_two(services: Services, name: str, source: str) -> Row:
    """“On 2 cards” for one program, which loads what it drew."""
    source = loaded(source) or source
    book, request = notebook(name, source), EstimateRequest(target="cpu", devices=2)
    row = Row(name, "devices")
    changed, made = services.estimates.copy(book, request)
    if made.refused:
        row.refused = made.refused[0].why.code
        return row
    row.before = services.estimate(book, EstimateRequest(target="cpu")).allocated_peak_bytes
    row.promised = services.estimate(book, request).allocated_peak_bytes
    with tempfile.TemporaryDirectory() as folder:
        found = on_two(changed.content["cells"], Path(folder))
    row.measured, row.problem, row.learned = found.get("peak"), found.get("problem", ""), found.get("different")
    return row


def programs(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Name and source of programs."""
    for name in names:
        file = next(file for folder in ("fresh", "unseen") for file in (PROGRAMS / folder).rglob(f"{name}.py"))
        yield name, SHORT.sub(r"\g<1>60\g<2>", file.read_text(encoding="utf-8"))


def notebook(name: str, source: str) -> NotebookSource:
    """A program as a notebook of one cell."""
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "source": source, "outputs": [], "execution_count": None}
    content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    return parse_notebook(content, Path(tempfile.gettempdir()) / f"{name}.ipynb")


def judge(services: Services, name: str, source: str) -> Iterator[Row]:
    """The remedies of one program."""
    book = notebook(name, source)
    plain = services.estimate(book, EstimateRequest(target="cpu"))
    if plain.status != "ok" or (plain.batch_size or 1) < 4 or len(plain.trainings) > 1:
        return
    own = run(source)
    for remedy, asked in REMEDIES.items():
        request = EstimateRequest(target="cpu", **asked(plain.batch_size or 1))
        row = Row(name, remedy, before=own.get("peak"), problem=own.get("problem", ""))
        promised = services.estimate(book, request).allocated_peak_bytes
        changed, made = services.estimates.copy(book, request)
        if made.refused:
            row.refused = made.refused[0].why.code
        elif not row.problem:
            row.promised = promised
            text = "\n".join(cell["source"] for cell in changed.content["cells"])
            found = run(text) if made.cells else own
            row.measured, row.problem = found.get("peak"), found.get("problem", "")
            if remedy != "batch_size" and not (remedy == "accumulation" and MIXES_SAMPLES.search(source)):
                row.learned = _difference(own.get("learned", []), found.get("learned", []))
        yield row


def _difference(one: list[float], other: list[float]) -> float | None:
    """The relative difference of the loss at the last update that both made (a program may have fewer than ten)."""
    updates = min(len(one), len(other))
    if not updates:
        return None
    return abs(one[updates - 1] - other[updates - 1]) / max(abs(one[updates - 1]), 1e-6)


def main(names: list[str]) -> None:
    """Run all, print, write. What `ADVICE_ROWS` (a file) holds of an earlier slice is not run again."""
    import paddle  # noqa: F401  # once, for all children

    kept = Path(os.environ.get("ADVICE_ROWS") or os.devnull)
    rows = [Row(**json.loads(line)) for line in kept.read_text().splitlines()] if kept.is_file() else []
    done = {row.program for row in rows}
    with tempfile.TemporaryDirectory() as folder:
        services = Services(Settings(data_folder=Path(folder)))
        try:
            for name, source in programs([one for one in names or [*CHOSEN, *ON_TWO_ALSO] if one not in done]):
                for row in judge(services, name, source) if name not in ON_TWO_ALSO else ():
                    rows.append(row)
                    print(_line(row), flush=True)
                rows.append(judge_on_two(services, name, source))
                print(_line(rows[-1]), flush=True)
                if kept.is_file():
                    with kept.open("a", encoding="utf-8") as file:
                        of = [row for row in rows if row.program == name]
                        file.writelines(json.dumps(asdict(row)) + "\n" for row in of)
        finally:
            services.close()
    if names:
        again = {(row.program, row.remedy): row for row in rows if row.program in names}
        before = (Row(**row) for row in figures_of_before("advice")["rows"])
        rows = [again.pop((row.program, row.remedy), row) for row in before] + list(again.values())
    save("advice", {"summary": summary(rows), "rows": [asdict(row) for row in rows]})
    columns = ("remedy", *next(iter(summary(rows).values())))
    table = [(remedy, *map(str, found.values())) for remedy, found in summary(rows).items()]
    show("Advice, applied and run", columns, table)


def _line(row: Row) -> str:
    if row.refused or row.problem or row.measured is None or row.promised is None:
        return f"{row.program:24s} {row.remedy:12s} {row.refused or row.problem or 'no figure'}"
    error = row.promised / row.measured - 1
    learned = "-" if row.learned is None else f"{row.learned:.1e}"
    sizes = f"{row.before or 0:>12,} {row.promised:>12,} {row.measured:>12,}"
    return f"{row.program:24s} {row.remedy:12s} {sizes} {error:+8.3%} {learned}"


def summary(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    """By remedy: how many were refused, ran, were promised to the byte, and taught the same."""
    found = {}
    for remedy in (*REMEDIES, "devices"):
        of = [row for row in rows if row.remedy == remedy]
        ran = [(row, row.promised / row.measured - 1) for row in of if row.measured and row.promised]
        learned = [row.learned for row, _ in ran if row.learned is not None]
        found[remedy] = {
            "programs": len(of),
            "refused": sum(bool(row.refused) for row in of),
            "failed": sum(bool(row.problem) for row in of),
            "ran": len(ran),
            "exact": sum(error == 0 for _, error in ran),
            "largest_error": max((abs(error) for _, error in ran), default=None),
            "equality_promised": len(learned),
            "equal": sum(one <= TOLERANCE for one in learned),
        }
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
