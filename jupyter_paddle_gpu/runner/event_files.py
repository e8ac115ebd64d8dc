"""Where the notebook keeps curves for VisualDL or TensorBoard: told when it opens such a file to write it.

What a program that the notebook starts writes is not seen.
"""

import functools
from pathlib import Path
from typing import Any, Callable, Dict

from . import imports
from .channel import Sender

WRITERS = {
    "visualdl.writer.record_writer": ("RecordFileWriter", "visualdl"),
    "tensorboardX.event_file_writer": ("EventFileWriter", "tensorboard"),
    "tensorboard.summary.writer.event_file_writer": ("EventFileWriter", "tensorboard"),
}
"""Module -> its class whose first argument is the folder, and the viewer that shows it. PyTorch's is TensorBoard's."""


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
