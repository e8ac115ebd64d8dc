"""Changed cells into a notebook's file: by rename, so that no reader ever finds half of it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import NamedTemporaryFile

from ...domain.changes import Changes, check_written
from ...domain.errors import PaddleGpuError
from ...domain.notebooks import NotebookSource
from .reading import read_notebook
from .scripts import is_script


def write(source: NotebookSource, changes: Changes) -> None:
    """Write changed cells into the file that `source` was read from; all else in it stays.

    Raises:
        PaddleGpuError: 409, `script_not_written`, `settings_not_written`; `notebook_changed` where the file is not what
            was read any more; `notebook_not_written` where it cannot be written.
    """
    if is_script(source.path):
        raise PaddleGpuError(
            "script_not_written",
            "{path} is a script; changes are written into notebooks only.",
            hint="Change it by hand, or submit it with the change: a job's copy has it.",
            status=409,
            path=str(source.path),
        )
    check_written(changes)
    cells = read_notebook(source.path).content["cells"]
    if [cell["source"] for cell in cells] != [cell["source"] for cell in source.content["cells"]]:
        raise PaddleGpuError(
            "notebook_changed",
            "{path} was changed since it was read.",
            hint="Ask for the change again.",
            status=409,
            path=str(source.path),
        )
    content = {**source.content, "cells": [dict(cell) for cell in source.content["cells"]]}
    for change in sorted(changes.cells, key=lambda one: one.cell, reverse=True):
        if change.before is not None:
            content["cells"][change.cell]["source"] = change.after
        else:
            new = {"cell_type": "code", "id": "-".join(change.tags) or "new", "metadata": {"tags": [*change.tags]}}
            content["cells"].insert(
                change.cell + 1, {**new, "source": change.after, "outputs": [], "execution_count": None}
            )
    lined = [{**cell, "source": cell["source"].splitlines(keepends=True)} for cell in content["cells"]]
    text = json.dumps({**content, "cells": lined}, ensure_ascii=False, indent=1) + "\n"
    try:
        _replace(source.path, text)
    except OSError as error:
        raise PaddleGpuError(
            "notebook_not_written",
            "{path} cannot be written: {why}",
            hint="Check the folder's permissions and free space.",
            status=409,
            path=str(source.path),
            why=error.strerror or str(error),
        ) from error


def _replace(path: Path, text: str) -> None:
    target = path.resolve()
    mode = target.stat().st_mode
    with NamedTemporaryFile("w", dir=target.parent, prefix=f".{target.name}.", delete=False, encoding="utf-8") as file:
        try:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).chmod(mode & 0o7777)
            Path(file.name).replace(target)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
