"""Lets user code believe in what it does to files: writing, making, moving, removing change the private folder only.

Many notebooks clear an output folder, make it anew or write a vocabulary before they train; refusing that would end the
estimate before the training. Nothing outside the private folder changes, and every attempt is noted. Followed is what
goes through Python's `open` and the functions of `os` and `shutil` by path; everything else (a descriptor of a folder,
a library's own C code, links) is refused by `guard` and by the kernel.
"""

from __future__ import annotations

import builtins
import contextlib
import errno
import functools
import io
import os
import pathlib
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_LOOKS = ("stat", "statvfs", "scandir", "access", "listxattr", "getxattr")
_TOUCHES = ("utime", "chmod", "setxattr")


class Overlay:
    """Where things are that are not where user code thinks: written files, new folders, what it moved or removed."""

    def __init__(
        self,
        private: str,
        mine: Callable[[Any], bool],
        note: Callable[[Any], object],
        absent: Callable[[Any], object] | None = None,
    ) -> None:
        """`note` is told of what was to be changed, `absent` of folders that are not there and are written into: a
        notebook that makes its own data in one goes on, where there is somebody to tell."""
        self._private = private
        self._mine = mine
        self._note = note
        self._absent = absent
        self._places: dict[str, str] = {}
        self._gone: set[str] = set()
        self._made = 0
        self._open = builtins.open
        self._os_open, self._mkdir, self._listdir, self._rename = os.open, os.mkdir, os.listdir, os.rename
        self._remove, self._rmdir, self._rmtree = os.remove, os.rmdir, shutil.rmtree
        self._chdir, self._getcwd = os.chdir, os.getcwd
        self._here = ""

    def install(self) -> None:
        """Take the place of `open`, and of functions of `os` and `shutil`, for the life of the process."""
        builtins.open = io.open = self.open
        os.open, os.mkdir, os.listdir = self.open_descriptor, self.mkdir, self.listdir
        os.remove = os.unlink = self.remove
        os.rename = os.replace = self.rename  # type: ignore[assignment]
        os.rmdir, os.chdir, os.getcwd = self.rmdir, self.chdir, self.getcwd
        shutil.rmtree = self.rmtree  # type: ignore[assignment]
        for names, kind in ((_LOOKS, self._looking), (_TOUCHES, self._touching)):
            for name in names:
                if hasattr(os, name):  # some are Linux's
                    setattr(os, name, kind(getattr(os, name)))
        accessor = getattr(pathlib, "_NormalAccessor", None)  # of Python 3.10, which keeps the functions themselves
        for name in tuple(vars(accessor)) if accessor else ():
            if name != "__doc__" and hasattr(os, name):
                setattr(accessor, name, staticmethod(self.open if name == "open" else getattr(os, name)))

    def begin_anew(self) -> None:
        """The program is run once more: nothing of what it has written, made, moved or removed is known any more."""
        self._places.clear()
        self._gone.clear()

    def open(self, file: Any, mode: str = "r", *positional: Any, **named: Any) -> Any:
        """`open`, with what would be written outside the private folder kept inside it."""
        writes = isinstance(mode, str) and any(letter in mode for letter in "wax+")
        if not _is_path(file) or not (writes or self._changed()):
            return self._open(file, mode, *positional, **named)
        place = self._for_writing(file, "x" in mode, "r" not in mode, "w" in mode) if writes else self._at(file)[1]
        return _as(file, self._open, place, mode.replace("x", "w"), *positional, **named)

    def open_descriptor(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        """`os.open`, likewise."""
        writes = flags & _WRITING
        if not _is_path(path) or dir_fd is not None or not (writes or self._changed()):
            return self._os_open(path, flags, mode, dir_fd=dir_fd)
        new, made, emptied = (bool(flags & flag) for flag in (os.O_EXCL, os.O_CREAT, os.O_TRUNC))
        place = self._for_writing(path, new, made, emptied) if writes else self._at(path)[1]
        descriptor: int = _as(path, self._os_open, place, flags & ~os.O_EXCL, mode)
        return descriptor

    def mkdir(self, path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        """`os.mkdir`; the folder is made inside the private one."""
        whole, place = self._at(path)
        if dir_fd is not None or (whole == place and self._mine(place)):
            self._mkdir(path, mode, dir_fd=dir_fd)
        elif os.path.lexists(place):
            raise _problem(errno.EEXIST, path)
        else:
            self._check_parent(whole, path)
            self._note(whole)
            if not self._mine(place) or self._is_gone(place):
                place = self._places[whole] = self._new_place()
            self._mkdir(place, 0o777)

    def listdir(self, path: Any = ".") -> list[Any]:
        """`os.listdir` with what was written there and without what was removed."""
        if not _is_path(path) or not self._changed():
            return self._listdir(path)
        whole, place = self._at(path)
        names = set(_as(path, self._listdir, place))
        names -= {Path(one).name for one in self._gone if str(Path(one).parent) == whole}
        names |= {Path(one).name for one in self._places if str(Path(one).parent) == whole}
        return [os.fsencode(name) if isinstance(path, bytes) else name for name in sorted(names)]

    def chdir(self, path: Any) -> None:
        """`os.chdir`."""
        if not _is_path(path):
            self._chdir(path)
            return
        whole, place = self._at(path)
        _as(path, self._chdir, place)
        self._here = "" if whole == place else whole

    def getcwd(self) -> str:
        """`os.getcwd`, as user code knows it; relative paths begin there."""
        return self._here or self._getcwd()

    def remove(self, path: Any, *, dir_fd: int | None = None) -> None:
        """`os.remove`."""
        self._take_away(path, dir_fd, self._remove, of_folders=False)

    def rmdir(self, path: Any, *, dir_fd: int | None = None) -> None:
        """`os.rmdir`."""
        if dir_fd is None and _is_path(path) and self.listdir(path):
            raise _problem(errno.ENOTEMPTY, path)
        self._take_away(path, dir_fd, self._rmdir, of_folders=True)

    def rmtree(self, path: Any, ignore_errors: bool = False, *positional: Any, **named: Any) -> None:
        """`shutil.rmtree`."""
        whole, place = self._at(path)
        if self._mine(place) and not self._is_gone(place):
            self._rmtree(place, ignore_errors, *positional, **named)
        elif not os.path.isdir(place):  # noqa: PTH112 - the real one: a place is no path of user code
            if not ignore_errors:
                raise _problem(errno.ENOTDIR if os.path.lexists(place) else errno.ENOENT, path)
            return
        self._forget(whole)

    def rename(self, source: Any, target: Any, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None) -> None:
        """`os.rename` and `os.replace`."""
        (old, at), (new, to) = self._at(source), self._at(target)
        both_mine = old == at and new == to and self._mine(at) and self._mine(to)
        if both_mine or src_dir_fd is not None or dst_dir_fd is not None:
            self._rename(source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
            return
        if not os.path.lexists(at):
            raise _problem(errno.ENOENT, source)
        self._check_parent(new, target)
        moved = at
        if self._mine(at):
            moved = to if self._mine(to) and not self._is_gone(to) else self._new_place()
            self._rename(at, moved)
        self._forget(old)
        self._forget(new)
        if moved != to:
            self._places[new] = moved

    def _take_away(self, path: Any, dir_fd: int | None, really: Callable[..., None], *, of_folders: bool) -> None:
        if dir_fd is not None or not _is_path(path):
            really(path, dir_fd=dir_fd)
            return
        whole, place = self._at(path)
        if self._mine(place):
            _as(path, really, place)
        elif not os.path.lexists(place):
            raise _problem(errno.ENOENT, path)
        elif os.path.isdir(place) != of_folders:  # noqa: PTH112
            raise _problem(errno.ENOTDIR if of_folders else errno.EISDIR, path)
        self._forget(whole)

    def _forget(self, whole: str) -> None:
        """Nothing is at a path any more, nor below it."""
        for known in [one for one in self._places if one == whole or one.startswith(whole + os.sep)]:
            del self._places[known]
        if os.path.lexists(whole) and not self._mine(whole):
            self._note(whole)
            self._gone.add(whole)

    def _changed(self) -> bool:
        return bool(self._places or self._gone)

    def _at(self, path: Any) -> tuple[str, str]:
        """(the whole path, where it really is)."""
        whole = os.path.realpath(os.fsdecode(path))
        known = whole
        while True:
            if known in self._places:
                return whole, self._places[known] + whole[len(known) :]
            if known in self._gone:
                return whole, f"{self._private}{os.sep}gone{whole}"
            parent = os.path.dirname(known)  # noqa: PTH120 - called for every path, with nothing but strings
            if parent == known:
                return whole, whole
            known = parent

    def _is_gone(self, place: str) -> bool:
        return place.startswith(f"{self._private}{os.sep}gone{os.sep}")

    def _new_place(self) -> str:
        self._made += 1
        return f"{self._private}{os.sep}made-{self._made}"

    def _check_parent(self, whole: str, path: Any) -> None:
        if not os.path.isdir(self._at(os.path.dirname(whole))[1]):  # noqa: PTH112, PTH120
            raise _problem(errno.ENOENT, path)

    def _believe_in_folder(self, folder: str) -> None:
        """Make a folder that was never there; one that the program took away stays away."""
        place = self._at(folder)[1]
        if self._absent is None or os.path.isdir(place) or self._is_gone(place):  # noqa: PTH112
            return
        with contextlib.suppress(OSError):
            os.makedirs(folder)  # noqa: PTH103 - this class's own `mkdir`, folder by folder
            self._absent(folder)

    def _for_writing(self, path: Any, new: bool, made: bool, emptied: bool) -> str:
        """Where a file is written; the errors are those of a real `open`.

        Args:
            new: it must not be there yet.
            made: it is made where it is not there.
            emptied: it begins empty; else as it is.
        """
        whole, place = self._at(path)
        there = os.path.lexists(place)
        if new and there:
            raise _problem(errno.EEXIST, path)
        if whole == place and self._mine(whole):
            return place
        if os.path.isdir(place):  # noqa: PTH112
            raise _problem(errno.EISDIR, path)
        if there and self._mine(place):
            return place
        if not there and not made:
            raise _problem(errno.ENOENT, path)
        self._believe_in_folder(os.path.dirname(whole))  # noqa: PTH120 - as in `_at`
        self._check_parent(whole, path)
        self._note(whole)
        if self._mine(place) and not self._is_gone(place):
            return place
        kept = self._new_place()
        if there and not emptied:
            shutil.copyfile(place, kept)  # what is appended to, or changed in the middle
        self._places[whole] = kept
        return kept

    def _looking(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """A function of `os` that changes nothing, at the place where things really are."""

        @functools.wraps(original)
        def look(path: Any = ".", *positional: Any, **named: Any) -> Any:
            if not self._changed() or not _is_path(path) or named.get("dir_fd") is not None:
                return original(path, *positional, **named)
            whole, place = self._at(path)
            return (
                original(path, *positional, **named)
                if whole == place
                else _as(path, original, place, *positional, **named)
            )

        return look

    def _touching(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """A function of `os` that changes what is known of a file; of real ones nothing changes."""

        @functools.wraps(original)
        def touch(path: Any, *positional: Any, **named: Any) -> None:
            if not _is_path(path) or named.get("dir_fd") is not None:
                original(path, *positional, **named)
                return
            whole, place = self._at(path)
            if self._mine(place) or not os.path.lexists(place):
                _as(path, original, place, *positional, **named)
            else:
                self._note(whole)

        return touch


def _is_path(path: Any) -> bool:
    return isinstance(path, (str, bytes, os.PathLike))


def _problem(number: int, path: Any) -> OSError:
    return OSError(number, os.strerror(number), os.fspath(path))


def _as(path: Any, function: Callable[..., Any], place: str, *positional: Any, **named: Any) -> Any:
    """Call with a place; an error names the path that user code knows."""
    try:
        return function(place, *positional, **named)
    except OSError as problem:
        if problem.filename == place:
            problem.filename = os.fspath(path)
        raise
