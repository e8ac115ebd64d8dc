"""Notebooks as faces name them: by a contents path below the server's root, or by a path of the file system."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from .locations import contents_file
from .settings import Settings

if TYPE_CHECKING:
    from ..domain.notebooks import NotebookSource


def open_notebook(
    settings: Settings, path: str | Path, content: dict[str, Any] | str | None = None, arguments: Sequence[str] = ()
) -> NotebookSource:
    """The notebook or the script at `path`, or its unsaved `content` (nbformat 4 JSON, a script's text) as if it lay
    there; `arguments` are those of a script.

    With a root in the settings, `path` is a contents path below it; without, a path of the file system.
    """
    from ..notebook.files import reading, scripts

    root = settings.root
    if root is not None:
        file = contents_file(str(path), root, allow_hidden=settings.allow_hidden)
    else:
        file = Path(path).expanduser().absolute()
    is_script = scripts.is_script(file)
    if isinstance(content, str) and is_script:
        content = scripts.as_notebook(content, file, arguments)
    if content is not None:
        return reading.parse_notebook(content, file)
    limit = settings.max_notebook_bytes
    sizes = {} if limit is None else {"max_bytes": limit}
    source = reading.read_notebook(file, root=root, arguments=arguments, **sizes)
    if root is not None or not is_script:
        return source
    return msgspec.structs.replace(source, runs_in=scripts.started_in(file))


class Started(NamedTuple):
    """What a command starts: a script with its arguments, and the command itself where it is Paddle's launcher's."""

    script: str
    arguments: tuple[str, ...] = ()
    launched: str = ""


def started(words: Sequence[str]) -> Started | None:
    """What `python train.py --lr 1`, `-m paddle.distributed.launch --devices 0,1 train.py` or `fleetrun train.py`
    start; None where that is no script."""
    from ..notebook.shell_lines import Shell

    text = shlex.join(["python", *words] if words[0] == "-m" else words)
    command = next(Shell(Path.cwd()).commands(text, 0, 1), None)
    if command is None or command.kind not in {"python", "launch"}:
        return None
    return Started(command.path, command.arguments, text if command.kind == "launch" else "")
