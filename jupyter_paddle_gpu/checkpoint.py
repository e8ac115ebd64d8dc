"""Checkpoints for user code: a job that is run again goes on where the last one stopped.

    from jupyter_paddle_gpu import checkpoint

    state = checkpoint.load(model=model, optimizer=optimizer)      # None the first time
    for step in range(state["step"] + 1 if state else 0, STEPS):
        ...
        if step % 100 == 0:
            checkpoint.save(step=step, model=model, optimizer=optimizer, loss=float(loss))

With `paddle.Model`:

    saver = checkpoint.fit_callback(model)
    model.fit(data, epochs=10 - saver.epochs_done, callbacks=[saver])

One file, standard library alone, paddle imported when it is needed: it is mounted into containers that have nothing
else of this package. Everything of a checkpoint is written into a folder of its own that gets its name by a rename at
the end, so that a process that is killed while saving leaves the last whole checkpoint. A list of the files with their
sums is part of it, so that one that a disk has damaged is not taken for a whole one.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import zlib
from pathlib import Path
from typing import Any

VARIABLE = "PADDLE_GPU_CHECKPOINTS"
"""Names the folder that survives a job; the runner sets it."""
KEEP = 2
"""Checkpoints kept: the newest, and one before it."""

_NAME = re.compile(r"^(old-)?step-(\d{12})$")
_MODEL, _OPTIMIZER, _META, _SUMS = "model.pdparams", "optimizer.pdopt", "meta.json", "sums.json"
_CHUNK = 1 << 20


def folder() -> Path:
    """Where checkpoints go: the job's folder for them, or `checkpoints` here where there is no job."""
    return Path(os.environ.get(VARIABLE) or "checkpoints")


def save(
    *,
    step: int,
    model: Any = None,
    optimizer: Any = None,
    path: str | Path | None = None,
    keep: int = KEEP,
    **extra: Any,
) -> Path | None:
    """Save a checkpoint and return its folder; None in every process of a distributed job but the first.

    Args:
        step: the last step (or epoch) that is done; 0 or more.
        model: a `paddle.nn.Layer`. optimizer: a `paddle.optimizer.Optimizer`.
        path: another folder than `folder()`.
        keep: how many checkpoints stay; older ones are removed once this one is whole.
        extra: further values to find again, JSON only.

    Raises:
        ValueError: a negative step. TypeError: something in `extra` is no JSON. OSError: the disk.
    """
    if step < 0:
        raise ValueError("step must not be negative")
    if int(os.environ.get("PADDLE_TRAINER_ID") or 0) != 0:
        return None
    meta = json.dumps({**extra, "step": step})
    root = Path(path) if path is not None else folder()
    root.mkdir(parents=True, exist_ok=True)
    part, whole, old = root / f"part-{os.getpid()}", root / f"step-{step:012d}", root / f"old-step-{step:012d}"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        if model is not None or optimizer is not None:
            import paddle

            if model is not None:
                paddle.save(model.state_dict(), str(part / _MODEL))
            if optimizer is not None:
                paddle.save(optimizer.state_dict(), str(part / _OPTIMIZER))
        (part / _META).write_text(meta, encoding="utf-8")
        (part / _SUMS).write_text(json.dumps({file.name: _sum(file) for file in part.iterdir()}), encoding="utf-8")
        for file in (*part.iterdir(), part):
            _to_disk(file)
        if whole.exists():  # the same step again: a folder is not replaced by a rename, and found aside until then
            shutil.rmtree(old, ignore_errors=True)
            whole.replace(old)
        part.replace(whole)
        _to_disk(root)
    finally:
        for leftover in root.glob("part-*"):
            shutil.rmtree(leftover, ignore_errors=True)
    for aside in root.glob("old-step-*"):
        shutil.rmtree(aside, ignore_errors=True)
    for outdated in _found(root)[: -max(keep, 1)]:
        shutil.rmtree(outdated, ignore_errors=True)
    return whole


def load(*, model: Any = None, optimizer: Any = None, path: str | Path | None = None) -> dict[str, Any] | None:
    """Bring model and optimizer to the newest checkpoint; returns `step` and what else was saved, None without one.

    A checkpoint that is damaged (a disk that lost a part of it) is passed over for the one before it.

    Raises:
        ValueError: the checkpoint is whole, and what is asked for was not saved with it.
    """
    for whole in reversed(_found(Path(path) if path is not None else folder())):
        try:
            meta = _whole(whole)
        except (OSError, ValueError):
            continue
        _restore(whole, model, optimizer)
        return meta
    return None


def _whole(folder: Path) -> dict[str, Any]:
    """The values of a checkpoint. Raises `OSError` or `ValueError` where it is damaged."""
    meta: dict[str, Any] = json.loads((folder / _META).read_text(encoding="utf-8"))
    sums: dict[str, int] = json.loads((folder / _SUMS).read_text(encoding="utf-8"))
    for name, expected in sums.items():
        if _sum(folder / name) != expected:
            raise ValueError(f"{folder / name} is damaged")
    return meta


def _restore(folder: Path, model: Any, optimizer: Any) -> None:
    for name, wanted in ((_MODEL, model), (_OPTIMIZER, optimizer)):
        if wanted is not None and not (folder / name).exists():
            raise ValueError(
                f"{folder} has no {name}: nothing was given to save for it; give it to save, or not to load"
            )
    if model is None and optimizer is None:
        return
    import paddle

    # Both are read before either is set: half a checkpoint would be worse than none.
    weights = paddle.load(str(folder / _MODEL)) if model is not None else None
    moments = paddle.load(str(folder / _OPTIMIZER)) if optimizer is not None else None
    if weights is not None:
        model.set_state_dict(weights)
    if moments is not None:
        optimizer.set_state_dict(moments)


def fit_callback(model: Any, *, every: int = 1, path: str | Path | None = None, keep: int = KEEP) -> Any:
    """A callback for `paddle.Model.fit` that saves after each `every` epochs; the newest checkpoint is loaded at once.

    Its `epochs_done` is what an earlier run has finished: pass `epochs=TOTAL - saver.epochs_done`.

    Args:
        model: a prepared `paddle.Model`.
    """
    import paddle

    class Saver(paddle.callbacks.Callback):  # type: ignore[misc, no-any-unimported, unused-ignore]
        """Saves network and optimizer by epoch."""

        def __init__(self) -> None:
            super().__init__()
            state = load(model=model.network, optimizer=model._optimizer, path=path)
            self.epochs_done = state["step"] if state else 0
            self._before = self.epochs_done

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            """Save, counted from the first run's first epoch."""
            self.epochs_done = self._before + epoch + 1
            if self.epochs_done % every == 0:
                save(step=self.epochs_done, model=model.network, optimizer=model._optimizer, path=path, keep=keep)

        def on_train_end(self, logs: Any = None) -> None:
            """Save what the last whole interval has not."""
            if self.epochs_done % every:
                save(step=self.epochs_done, model=model.network, optimizer=model._optimizer, path=path, keep=keep)

    return Saver()


def _found(root: Path) -> list[Path]:
    """From the oldest step to the newest; of a step that is being replaced the new one comes after the old one."""
    if not root.is_dir():
        return []
    matches = ((_NAME.match(entry.name), entry) for entry in root.iterdir())
    known = sorted((int(match[2]), match[1] is None, entry) for match, entry in matches if match)
    return [entry for *_, entry in known]


def _sum(path: Path) -> int:
    """CRC-32: against damage, not against malice."""
    total = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            total = zlib.crc32(chunk, total)
    return total


def _to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
