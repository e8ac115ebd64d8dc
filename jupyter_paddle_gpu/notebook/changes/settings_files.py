"""A number in a file of settings that a notebook reads: the job's copy has another one, all else stays as typed."""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ...domain.changes import ChangedFile
from ...domain.estimates import BatchPlace
from ...domain.messages import Message
from ...domain.notebooks import NotebookSource, files_of
from .program import Program, RefusedError

CONTEXT = 2
"""Lines shown on either side of a change, as of a cell."""


def write(program: Program, place: BatchPlace, wanted: int) -> None:
    """Put a number in its place in the job's copy of the file.

    Raises:
        RefusedError: the file is not what it was when the place was found.
    """
    text = program.files.get(place.file)
    if text is None:
        text = _read(place)
    lines = text.split("\n")
    line = lines[place.line - 1].encode()
    lines[place.line - 1] = (line[: place.column] + str(wanted).encode() + line[place.end :]).decode()
    program.files[place.file] = "\n".join(lines)


def _read(place: BatchPlace) -> str:
    try:
        whole = Path(place.file).read_bytes()
        if hashlib.sha256(whole).hexdigest().startswith(place.digest):
            return whole.decode()
    except (OSError, UnicodeDecodeError):
        pass
    raise RefusedError(
        Message(
            code="settings_changed",
            text="The batch size stood in {file}, which was changed since.",
            hint="Estimate again: the number is looked for anew.",
            params={"file": os.path.basename(place.file)},  # noqa: PTH119 - a path of text
        )
    )


def files_between(before: NotebookSource, after: NotebookSource) -> tuple[ChangedFile, ...]:
    """The files of settings that a copy has otherwise."""
    known = files_of(before.content)
    return tuple(_differing(known, files_of(after.content), before.folder))


def _differing(known: Mapping[str, str], files: Mapping[str, str], folder: Path) -> Iterator[ChangedFile]:
    for path, text in sorted(files.items()):
        if known.get(path) != text:
            own = os.path.realpath(folder)
            name = os.path.relpath(path, own) if Path(path).is_relative_to(own) else path
            before = known[path] if path in known else _text(path)
            yield ChangedFile(path=path, name=name, before=before, after=text)


def _text(path: str) -> str:
    with contextlib.suppress(OSError, UnicodeDecodeError):  # gone since a moment
        return Path(path).read_bytes().decode()
    return ""


def unified(files: Iterable[ChangedFile]) -> str:
    """A unified diff of them, by the names that they are shown by."""
    return "\n".join(line for one in files for line in _lines(one))


def _lines(file: ChangedFile) -> Iterator[str]:
    before, after = (text.replace("\r\n", "\n").split("\n") for text in (file.before, file.after))
    yield from difflib.unified_diff(before, after, file.name, file.name, lineterm="", n=CONTEXT)
