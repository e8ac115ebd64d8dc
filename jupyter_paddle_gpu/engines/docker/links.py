"""What a job may not leave behind: links that would make the server read or write elsewhere on its behalf."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from .folders import is_below


def remove_links(folder: Path) -> tuple[Path, ...]:
    """Remove every symbolic link below a job's folder that leads out of it; returns those that went.

    A job can write its own folder, and the server reads it afterwards (to publish the notebook, to copy checkpoints)
    with rights over the whole host: a link named `notebook.ipynb` must not become a window to `~/.ssh`.
    """
    root = os.path.realpath(folder)
    gone = []
    for parent, folders, files in os.walk(root, followlinks=False):
        for name in (*folders, *files):
            path = Path(parent, name)
            if path.is_symlink() and not is_below(os.path.realpath(path), root):
                with contextlib.suppress(OSError):
                    path.unlink()
                    gone.append(path)
    return tuple(gone)
