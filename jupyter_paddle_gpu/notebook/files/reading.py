"""From a path or unsaved content to a notebook in today's format, or a refusal that says what is wrong with it."""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...domain.errors import PaddleGpuError
from ...domain.notebooks import NotebookSource
from .scripts import as_notebook, is_script

MAX_NOTEBOOK_BYTES = 40_000_000
"""Larger files are refused: a notebook of this size holds pictures, not code, and would be parsed in memory."""

_MAJOR = 4
_DEFAULT_KERNEL = "python3"


def read_notebook(
    path: Path, *, root: Path | None = None, max_bytes: int = MAX_NOTEBOOK_BYTES, arguments: Sequence[str] = ()
) -> NotebookSource:
    """Read the file at `path`, a notebook or a script.

    Args:
        path: absolute, or relative to `root` (without a root: to the current folder).
        root: folder that the file must lie in, links followed; None allows any.
        max_bytes: limit on the file's size.
        arguments: of the script.

    Raises:
        PaddleGpuError: with a `notebook_…` code when it is missing, not to be read, or no notebook.
    """
    absolute = Path(os.path.abspath((root or Path()) / path))  # noqa: PTH100 - resolve() would follow links
    if root is not None:
        _check_inside(absolute, root)
    data = _read_bytes(absolute, max_bytes)
    if is_script(absolute):
        return parse_notebook(as_notebook(_text(data, absolute), absolute, arguments), absolute)
    return parse_notebook(data, absolute)


def parse_notebook(content: str | bytes | dict[str, Any], path: Path) -> NotebookSource:
    """Take the content of a notebook, saved or not; `path` says where it belongs.

    Raises:
        PaddleGpuError: `notebook_empty`, `notebook_binary`, `notebook_not_json`, `notebook_other_file`,
            `notebook_not_a_notebook` or `notebook_newer` (all 422).
    """
    loaded = content if isinstance(content, dict) else _load_json(content, path)
    notebook = _upgrade(_check_format(loaded, path), path)
    for cell in notebook["cells"]:
        cell["source"] = _one_string(cell.get("source", ""))
    kernelspec = _mapping(_mapping(notebook.get("metadata")).get("kernelspec"))
    kernel_name = kernelspec.get("name")
    return NotebookSource(
        path=Path(os.path.abspath(path)),  # noqa: PTH100
        content=notebook,
        kernel_name=kernel_name if isinstance(kernel_name, str) and kernel_name else _DEFAULT_KERNEL,
    )


def language_of(source: NotebookSource) -> str:
    """The language that the notebook's own metadata names, in lower case; `python` where it names none."""
    metadata = _mapping(source.content.get("metadata"))
    named = (_mapping(metadata.get("kernelspec")).get("language"), _mapping(metadata.get("language_info")).get("name"))
    return next((name.lower() for name in named if isinstance(name, str) and name), "python")


def _check_inside(path: Path, root: Path) -> None:
    if not path.is_relative_to(os.path.abspath(root)) and not path.is_relative_to(root.resolve()):  # noqa: PTH100
        raise PaddleGpuError(
            "notebook_outside",
            "{path} lies outside the folder that Jupyter serves.",
            hint="Open a notebook from the file browser, or start Jupyter in a folder above it.",
            status=403,
            path=str(path),
        )
    if not path.resolve().is_relative_to(root.resolve()):
        raise PaddleGpuError(
            "notebook_link_outside",
            "{path} is a link to a place outside the folder that Jupyter serves.",
            hint="Copy the notebook into the folder instead of linking to it.",
            status=403,
            path=str(path),
        )


def _read_bytes(path: Path, max_bytes: int) -> bytes:
    try:
        # Without O_NONBLOCK, opening a named pipe would wait for a writer forever.
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:  # noqa: PTH123
            status = os.fstat(file.fileno())
            if stat.S_ISDIR(status.st_mode):
                raise IsADirectoryError  # noqa: TRY301 - as open() itself would for other modes
            if not stat.S_ISREG(status.st_mode):
                raise PaddleGpuError(
                    "notebook_not_a_file",
                    "{path} is not an ordinary file.",
                    hint="Choose an .ipynb file.",
                    path=str(path),
                )
            data = file.read(max_bytes + 1) if status.st_size <= max_bytes else b""
            if status.st_size > max_bytes or len(data) > max_bytes:
                raise PaddleGpuError(
                    "notebook_too_large",
                    "{path} has {size}; notebooks up to {limit} are read.",
                    hint="Clear the outputs of the notebook (Edit, Clear Outputs of All Cells) and save it.",
                    status=413,
                    path=str(path),
                    size=_megabytes(max(status.st_size, len(data))),
                    limit=_megabytes(max_bytes),
                )
            return data
    except IsADirectoryError:
        raise PaddleGpuError(
            "notebook_is_folder",
            "{path} is a folder.",
            hint="Choose an .ipynb file in it.",
            path=str(path),
        ) from None
    except PermissionError:
        raise PaddleGpuError(
            "notebook_no_permission",
            "{path} cannot be read: permission denied.",
            hint="Ask the file's owner to let you read it, or copy it to your own folder.",
            status=403,
            path=str(path),
        ) from None
    except (OSError, ValueError):  # ValueError: a NUL in the name
        raise _missing(path) from None


def _missing(path: Path) -> PaddleGpuError:
    """There is no such file: the one beside it that may be meant, or what else helps."""
    near: list[str] = []
    with contextlib.suppress(OSError, ValueError):
        # Their endings are alike in any case, and say nothing of what was meant.
        files = sorted(path.parent.iterdir(), key=lambda one: (one.suffix == path.suffix, one.name))
        beside = {one.stem: one.name for one in files if one.suffix in (".ipynb", ".py")}
        near = [beside[stem] for stem in difflib.get_close_matches(path.stem, beside, 1)]
    hint = "Check the name; a notebook that was never saved has to be saved first."
    if near:
        hint = "Did you mean {name}?"
    elif path.suffix == ".py":
        hint = "Check the name and the folder."
    text = "There is no script at {path}." if path.suffix == ".py" else "There is no notebook at {path}."
    return PaddleGpuError("notebook_missing", text, hint=hint, status=404, path=str(path), name="".join(near))


def _load_json(content: str | bytes, path: Path) -> Any:
    if not content.strip():
        raise PaddleGpuError(
            "notebook_empty",
            "{path} is empty.",
            hint="Open it in JupyterLab and save it, or choose another file.",
            status=422,
            path=str(path),
        )
    text = content if isinstance(content, str) else _text(content, path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        if _is_neither(path):
            raise _neither(path) from None
        raise PaddleGpuError(
            "notebook_not_json",
            "{path} is not valid JSON, so it is damaged or no notebook.",
            hint="Look for conflict marks of a version control system in it, or take an older copy.",
            status=422,
            path=str(path),
        ) from None


def _text(content: bytes, path: Path) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        if path.suffix == ".py":
            raise PaddleGpuError(
                "script_not_utf8",
                "{path} is not written in UTF-8.",
                hint="Save it in UTF-8 with your editor, and take a line that names another encoding out of it.",
                status=422,
                path=str(path),
            ) from None
        if _is_neither(path):
            raise _neither(path) from None
        raise PaddleGpuError(
            "notebook_binary",
            "{path} is not text: no notebook, whatever its name says.",
            hint="Choose a file that was saved by Jupyter.",
            status=422,
            path=str(path),
        ) from None


def _is_neither(path: Path) -> bool:
    """Whether a name is none of a notebook, nor of a script."""
    return path.suffix.lower() not in ("", ".ipynb", ".json", ".py")


def _neither(path: Path) -> PaddleGpuError:
    return PaddleGpuError(
        "notebook_other_file",
        "{path} is neither a notebook nor a Python script.",
        hint="Choose a file whose name ends in .ipynb or .py.",
        status=422,
        path=str(path),
    )


def _check_format(loaded: Any, path: Path) -> dict[str, Any]:
    major = loaded.get("nbformat") if isinstance(loaded, dict) else None
    if not isinstance(loaded, dict) or not isinstance(major, int) or isinstance(major, bool) or major < 1:
        raise _no_notebook(path)
    if major > _MAJOR:
        raise PaddleGpuError(
            "notebook_newer",
            "{path} is in notebook format {major}; this version reads up to format {known}.",
            hint="Update jupyter_paddle_gpu, or save the notebook in format {known}.",
            status=422,
            path=str(path),
            major=major,
            known=_MAJOR,
        )
    return loaded


def _upgrade(loaded: dict[str, Any], path: Path) -> dict[str, Any]:
    if loaded["nbformat"] < _MAJOR:
        import nbformat  # only old notebooks pay for it

        try:
            loaded = json.loads(json.dumps(nbformat.reads(json.dumps(loaded), as_version=_MAJOR)))
        except Exception:  # nbformat lets KeyError, AttributeError and others of a damaged file through
            raise _no_notebook(path) from None
    cells = loaded.get("cells")
    if not isinstance(cells, list) or not all(isinstance(cell, dict) and "cell_type" in cell for cell in cells):
        raise _no_notebook(path)
    return {**loaded, "cells": [dict(cell) for cell in cells]}


def _no_notebook(path: Path) -> PaddleGpuError:
    return PaddleGpuError(
        "notebook_not_a_notebook",
        "{path} is JSON, but not a notebook.",
        hint="Choose a file that was saved by Jupyter.",
        status=422,
        path=str(path),
    )


def _one_string(source: Any) -> str:
    text = source if isinstance(source, str) else "".join(s for s in source if isinstance(s, str)) if source else ""
    # JSON can carry half a surrogate pair, which no encoder after us would take.
    return text.encode("utf-8", "replace").decode("utf-8")


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
