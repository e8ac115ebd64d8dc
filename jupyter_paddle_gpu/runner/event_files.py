"""Where the notebook keeps curves for VisualDL or TensorBoard: told when it opens such a file to write it.

What a program that the notebook starts writes (`!python train.py`) is seen while that program has it open.
"""

import contextlib
import functools
import os
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, Set, Tuple

from . import imports
from .channel import Sender

WRITERS = {
    "visualdl.writer.record_writer": ("RecordFileWriter", "visualdl"),
    "tensorboardX.event_file_writer": ("EventFileWriter", "tensorboard"),
    "tensorboard.summary.writer.event_file_writer": ("EventFileWriter", "tensorboard"),
}
"""Module -> its class whose first argument is the folder, and the viewer that shows it. PyTorch's is TensorBoard's."""

FILES = {"vdlrecords.": "visualdl", "events.out.tfevents.": "tensorboard"}
"""How the names of their files begin, and the viewer."""


class OpenFiles:
    """Event files that other processes have open, each folder told once. Linux's /proc; elsewhere nothing is seen."""

    def __init__(self) -> None:
        self._told: Set[Tuple[str, str]] = set()

    def told(self, viewer: str, folder: str) -> None:
        """The notebook's own process has said so itself."""
        self._told.add((viewer, os.path.realpath(folder)))

    def look(self, pids: Iterable[int]) -> Iterator[Dict[str, Any]]:
        """What these processes have open and was not told before, as messages of the notebook's process."""
        for pid in pids:
            for path in _open_files(pid):
                folder, name = os.path.split(path)
                viewer = next((viewer for start, viewer in FILES.items() if name.startswith(start)), None)
                if viewer is not None and (viewer, folder) not in self._told:
                    self._told.add((viewer, folder))
                    yield {"kind": "event_files", "viewer": viewer, "folder": folder}


def _open_files(pid: int) -> Iterator[str]:
    """Paths of what a process has open; nothing of one that is gone or another user's."""
    with contextlib.suppress(OSError):
        for entry in os.scandir("/proc/%d/fd" % pid):
            with contextlib.suppress(OSError):
                yield os.readlink(entry.path)  # noqa: PTH115  # Path has it from 3.9 on


def install(sender: Sender) -> None:
    """Watch for the writers' modules."""
    hooks: Dict[str, Callable[[Any], None]] = {
        module: functools.partial(_watch, name=name, viewer=viewer, sender=sender)
        for module, (name, viewer) in WRITERS.items()
    }
    imports.watch(hooks)


def _watch(module: Any, name: str, viewer: str, sender: Sender) -> None:
    writer = getattr(module, name)
    original = writer.__init__

    @functools.wraps(original)
    def init(self: Any, logdir: Any, *arguments: Any, **options: Any) -> None:
        original(self, logdir, *arguments, **options)
        if "://" not in str(logdir):  # elsewhere: nothing that this machine could show
            sender.send("event_files", viewer=viewer, folder=str(Path(str(logdir)).absolute()))

    writer.__init__ = init
