"""What a Python process of its own begins with: each run of the program does, and each program that it starts.

A process of the tracer's follows a program several times. What the program has set in its first run, it is to find in
the second one as a new Python has it: a module of its own refuses to be initialized twice, a folder to be made twice.
Libraries stay imported; of them that is put back which programs set.
"""

from __future__ import annotations

import builtins
import contextlib
import logging
import multiprocessing
import os
import signal
import sys
import sysconfig
import warnings
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from importlib.machinery import ExtensionFileLoader
from itertools import takewhile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import paddle

from .. import call_stack
from . import assigned

BEGINS_ANEW = "jupyter_paddle_gpu.begins_anew"
"""The audit event of a run: who keeps the files that the program writes forgets them."""
_LIBRARIES = (
    sysconfig.get_path("stdlib") + os.sep,
    os.path.dirname(call_stack.TRACER[:-1]) + os.sep,  # noqa: PTH120 - where this estimator lies
)
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


_Put = Callable[[], None]
"""Puts something back as it was when this was made."""


class Begun:
    """What the program has set of its process is forgotten behind a run of it, and in processes that it starts."""

    def __init__(self, sources: Iterable[str], names: Collection[str]) -> None:
        """A run begins.

        Args:
            sources: the program's.
            names: of built-ins that are not the program's, which its processes find as well.
        """
        self._names = names
        self._imports = _Imports()
        self._places = assigned.places(sources)
        self._puts = self._state()

    @contextlib.contextmanager
    def run(self) -> Iterator[None]:
        """The run itself: it finds nothing of what an earlier one has imported, set or written."""
        sys.audit(BEGINS_ANEW)
        around = _surroundings()
        outer = self._set_aside()
        try:
            with paddle.utils.unique_name.guard():
                yield
        finally:
            self._put_back(outer)
            _all(self._puts)
            around()

    @contextlib.contextmanager
    def process(self, main: ModuleType) -> Iterator[None]:
        """A process that the program starts, with this `__main__`. It has the program's environment and folder; what it
        imports and sets goes with it."""
        now = [*self._state(), _surroundings()]
        outer = self._set_aside()
        _all(self._puts)
        try:
            with as_main(main), warnings.catch_warnings(), paddle.utils.unique_name.guard():
                yield
        finally:
            self._put_back(outer)
            _all(now)

    def _state(self) -> list[_Put]:
        parts = (partial(_interpreter, self._names), _folders, _signals, _start_method, _default_type, _loggers)
        return [*(part() for part in parts), assigned.kept(self._places)]

    def _set_aside(self) -> dict[str, ModuleType]:
        outer = _own(self._imports.since())
        forget(outer)
        return outer

    def _put_back(self, outer: dict[str, ModuleType]) -> None:
        forget(_own(self._imports.since()))
        _unregister()
        sys.modules.update(outer)


class _Imports:
    """What is imported from now on, by a mark among the modules, which stand there in the order of their imports.

    To keep the names of all would be to write into each of thousands of strings how often it is held: of a child that
    shares them with its parent, a fourth of all pages that it has to copy.
    """

    def __init__(self) -> None:
        mark = ModuleType(f"{__name__}.{id(self)}")
        self._mark = mark.__name__
        sys.modules[self._mark] = mark
        weakref.finalize(self, sys.modules.pop, self._mark, None)

    def since(self) -> dict[str, ModuleType]:
        """The modules that were imported since, in their order."""
        while True:
            with contextlib.suppress(RuntimeError, KeyError):  # another thread imports something just then
                names = list(takewhile(lambda name: name != self._mark, reversed(sys.modules)))
                return {name: sys.modules[name] for name in reversed(names)}


def _all(puts: Iterable[_Put]) -> None:
    for put in puts:
        put()


@contextlib.contextmanager
def as_main(main: ModuleType) -> Iterator[None]:
    """A script runs, with a command line and a folder of modules of its own, as `%run` has it."""
    outer, argv, path = sys.modules.get("__main__"), sys.argv, sys.path[:]
    sys.modules["__main__"] = main
    try:
        yield
    finally:
        sys.argv, sys.path[:] = argv, path
        if outer is not None:
            sys.modules["__main__"] = outer


def _own(new: Mapping[str, ModuleType]) -> dict[str, ModuleType]:
    """Those that are the program's own of modules that were imported. A package with compiled modules stays: Python
    makes those once a process."""
    compiled = {
        name.partition(".")[0]
        for name, module in new.items()
        if isinstance(getattr(module, "__loader__", None), ExtensionFileLoader)
    }
    own = {
        name: module for name, module in new.items() if name.partition(".")[0] not in compiled and _is_own(name, module)
    }
    installed = {folder for folder in map(_import_folder, own, own.values()) if _is_of_pip(folder)}
    return {name: module for name, module in own.items() if _import_folder(name, module) not in installed}


def _import_folder(name: str, module: ModuleType) -> Path:
    """The folder from which Python has the outermost package of a module."""
    file, folder = _whereabouts(module)
    found = Path(folder if file is None else file).absolute()
    above = name.count(".") + (file is not None and found.name == "__init__.py")
    return found.parents[min(above, len(found.parents) - 1)]


def _whereabouts(module: ModuleType) -> tuple[str | None, str]:
    """A module's file, None for a folder without one (a namespace package), and the first folder of a package."""
    held = vars(module)  # a module with a `__getattr__` of its own may answer for any name, with None as well
    file, folders = held.get("__file__"), held.get("__path__")
    try:
        folder = next(iter(folders or ()), "")
    except KeyError:  # a namespace asks its package, which is gone where its own import failed
        folder = next(iter(getattr(folders, "_path", ())), "")
    return file if isinstance(file, str) else None, folder


def _is_of_pip(folder: Path) -> bool:
    """Whether pip has installed libraries into a folder beside the program's (`pip install --target`)."""
    return folder != Path.cwd() and any(folder.glob("*.dist-info"))


def _is_own(name: str, module: Any) -> bool:
    """Whether a module stands in a file of the program's, or is a folder of such."""
    if name == "__main__" or not isinstance(module, ModuleType):
        return False
    file, folder = _whereabouts(module)
    place = os.path.abspath(file or folder or os.devnull)  # noqa: PTH100 - text; a program may be long
    is_source = place != os.devnull if file is None else file.endswith(".py")
    return is_source and not place.startswith(_LIBRARIES) and not any(part in place for part in _INSTALLED)


def forget(names: Iterable[str]) -> None:
    """Let modules be imported anew: `from package import module` takes what the package has, where it has it."""
    gone = {name: sys.modules.pop(name, None) for name in names}
    for name, module in gone.items():
        package, _, own = name.rpartition(".")
        holder = sys.modules.get(package)
        if module is not None and holder is not None and vars(holder).get(own) is module:
            delattr(holder, own)


def _unregister() -> None:
    """Take back the flags of absl that forgotten modules define, which it refuses of one that is imported twice."""
    flags: Any = getattr(sys.modules.get("absl.flags"), "FLAGS", None)
    present = {id(module) for module in sys.modules.values()} if flags else set()
    for name in list(flags or ()):
        if flags.find_module_id_defining_flag(name) not in present:
            delattr(flags, name)


def _surroundings() -> _Put:
    """Environment and folder, which the processes that a program starts begin with as well."""
    environment, here = dict(os.environ), os.getcwd()  # noqa: PTH109 - the guard follows it

    def put() -> None:
        if os.environ != environment:
            for name in set(os.environ) - set(environment):
                del os.environ[name]
            os.environ.update({name: value for name, value in environment.items() if os.environ.get(name) != value})
        with contextlib.suppress(OSError):
            os.chdir(here)

    return put


def _folders() -> _Put:
    """The command line, and where modules are looked for."""
    argv, given, path, folders = sys.argv, sys.argv[:], sys.path, sys.path[:]

    def put() -> None:
        sys.argv, sys.path = argv, path
        argv[:], path[:] = given, folders

    return put


def _interpreter(stay: Collection[str]) -> _Put:
    """Names of all modules but those that stay, what Python calls at an error, and how numpy prints."""
    names = {name: value for name, value in vars(builtins).items() if name not in stay}
    hook, limit = sys.excepthook, sys.getrecursionlimit()
    printed, faults = np.get_printoptions(), np.geterr()

    def put() -> None:
        for name in vars(builtins).keys() - names.keys() - set(stay):
            delattr(builtins, name)
        vars(builtins).update(names)
        sys.excepthook = hook
        with contextlib.suppress(RecursionError):
            sys.setrecursionlimit(limit)
        np.set_printoptions(**printed)
        np.seterr(**faults)

    return put


_SIGNALS = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGCHLD", "SIGQUIT")
    if hasattr(signal, name)
)


def _signals() -> _Put:
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}

    def put() -> None:
        for number, handler in handlers.items():
            if handler is not None and signal.getsignal(number) is not handler:
                with contextlib.suppress(ValueError):  # of the main thread alone
                    signal.signal(number, handler)

    return put


def _start_method() -> _Put:
    """How `multiprocessing` starts processes, which can be said once a process."""
    before = multiprocessing.get_start_method(allow_none=True)

    def put() -> None:
        if multiprocessing.get_start_method(allow_none=True) != before:
            multiprocessing.set_start_method(before, force=True)

    return put


def _default_type() -> _Put:
    """The type of Paddle's tensors where none is said."""
    return partial(paddle.set_default_dtype, paddle.get_default_dtype())


def _loggers() -> _Put:
    """Handlers, filters and levels of loggers; those that the program makes are forgotten."""
    manager = logging.root.manager
    names, least = dict(manager.loggerDict), manager.disable
    before = [(one, _settings(one)) for one in _all_loggers()]

    def put() -> None:
        for name in manager.loggerDict.keys() - names.keys():
            if name.partition(".")[0] not in sys.modules:
                del manager.loggerDict[name]
        manager.loggerDict.update(names)
        for one, settings in before:
            if _settings(one) != settings:
                vars(one).update(_copied(settings))
                one.setLevel(one.level)  # what loggers below it have worked out goes
        if manager.disable != least:
            logging.disable(least)

    return put


def _all_loggers() -> list[logging.Logger]:
    return [logging.root, *(one for one in logging.root.manager.loggerDict.values() if isinstance(one, logging.Logger))]


def _settings(logger: logging.Logger) -> dict[str, Any]:
    return _copied({name: getattr(logger, name) for name in ("level", "propagate", "disabled", "handlers", "filters")})


def _copied(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: value[:] if isinstance(value, list) else value for name, value in settings.items()}
