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
the end, so that a process that is killed while saving leaves the last whole checkpoint.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

VARIABLE = "PADDLE_GPU_CHECKPOINTS"
"""Names the folder that survives a job; the runner sets it."""
KEEP = 2
"""Checkpoints kept: the newest, and one before it."""

_NAME = re.compile(r"^step-(\d{12})$")


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
    part, whole = root / f"part-{os.getpid()}", root / f"step-{step:012d}"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        if model is not None or optimizer is not None:
            import paddle

            if model is not None:
                paddle.save(model.state_dict(), str(part / "model.pdparams"))
            if optimizer is not None:
                paddle.save(optimizer.state_dict(), str(part / "optimizer.pdopt"))
        (part / "meta.json").write_text(meta, encoding="utf-8")
        for file in part.iterdir():
            _to_disk(file)
        if whole.exists():  # the same step again: a folder is not replaced by a rename
            whole.replace(root / f"part-old-{os.getpid()}")
        part.replace(whole)
        _to_disk(root)
    finally:
        for leftover in root.glob("part-*"):
            shutil.rmtree(leftover, ignore_errors=True)
    for _, old in _found(root)[: -max(keep, 1)]:
        shutil.rmtree(old, ignore_errors=True)
    return whole


def load(*, model: Any = None, optimizer: Any = None, path: str | Path | None = None) -> dict[str, Any] | None:
    """Bring model and optimizer to the newest checkpoint; returns `step` and what else was saved, None without one.

    A checkpoint that cannot be read (a disk that lost it) is passed over for the one before it.
    """
    for _, whole in reversed(_found(Path(path) if path is not None else folder())):
        with contextlib.suppress(OSError, ValueError, KeyError, EOFError):
            return _load(whole, model, optimizer)
    return None


def _load(whole: Path, model: Any, optimizer: Any) -> dict[str, Any]:
    meta: dict[str, Any] = json.loads((whole / "meta.json").read_text(encoding="utf-8"))
    if model is not None or optimizer is not None:
        import paddle

        # Both are read before either is set: half a checkpoint would be worse than none.
        weights = paddle.load(str(whole / "model.pdparams")) if model is not None else None
        moments = paddle.load(str(whole / "optimizer.pdopt")) if optimizer is not None else None
        if weights is not None:
            model.set_state_dict(weights)
        if moments is not None:
            optimizer.set_state_dict(moments)
    return meta


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


def _found(root: Path) -> list[tuple[int, Path]]:
    if not root.is_dir():
        return []
    matches = ((_NAME.match(entry.name), entry) for entry in root.iterdir())
    return sorted((int(match[1]), entry) for match, entry in matches if match)


def _to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
