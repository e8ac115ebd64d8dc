"""A number in a file of settings that a notebook reads: the job's copy has another one, all else stays as typed."""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from ...domain.changes import ChangedFile, Changes
from ...domain.estimates import AnsweredFile, BatchPlace
from ...domain.messages import Message
from ...domain.notebooks import NotebookSource, files_of, with_files
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
            before = known[path] if path in known else _text(path)
            yield ChangedFile(path=path, name=_name(path, folder), before=before, after=text)


def _name(path: str, folder: Path) -> str:
    """A path as it is shown: from the notebook's folder where it lies below that."""
    own = os.path.realpath(folder)
    return os.path.relpath(path, own) if Path(path).is_relative_to(own) else path


def with_answered(
    copy: NotebookSource, changes: Changes, files: Iterable[AnsweredFile]
) -> tuple[NotebookSource, Changes]:
    """The copy with files that are not here, as far as answers say what stands in them; the job reads each where none
    is there. Nothing of it is the person's to keep: it is in the difference, and among what is written nowhere."""
    absent = [one for one in files if not Path(one.path).exists()]
    if not absent:
        return copy, changes
    texts = {_name(one.path, copy.folder): one.text for one in absent}
    shown = [ChangedFile(path=name, name=name, before="", after=text) for name, text in texts.items()]
    says = [Message(code="answered_file", text="with {name} as answered", params={"name": name}) for name in texts]
    difference = "\n".join(filter(None, (changes.difference, unified(shown))))
    changes = msgspec.structs.replace(changes, says=(*changes.says, *says), difference=difference)
    return msgspec.structs.replace(copy, content=with_files(copy.content, texts, answered=True)), changes


def _text(path: str) -> str:
    with contextlib.suppress(OSError, UnicodeDecodeError):  # gone since a moment
        return Path(path).read_bytes().decode()
    return ""


def unified(files: Iterable[ChangedFile]) -> str:
    """A unified diff of them, by the names that they are shown by."""
    return "\n".join(line for one in files for line in _lines(one))


def _lines(file: ChangedFile) -> Iterator[str]:
    before, after = (text.replace("\r\n", "\n").split("\n") for text in (file.before, file.after))
    if not file.before:
        before, after = [], after[:-1]
    yield from difflib.unified_diff(before, after, file.name, file.name, lineterm="", n=CONTEXT)
