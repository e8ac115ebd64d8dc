"""What a program saves by Paddle and loads again: tensors of the same shapes and types, made as Paddle makes them.

No numbers are written. Where what is written stays in the estimate's own folder, a file is made that says which of the
things saved it holds, so that it is found, copied and moved as the real one; else it is known by its path alone.
"""

from __future__ import annotations

import copy
import inspect
import io
import os
import pickle
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import paddle
from paddle.framework.io import _is_state_dict, _parse_every_object, _parse_load_config

from .. import call_stack
from ..eager.tensors import Tensors
from ..memory.dtypes import name_of
from ..memory.values import Value
from ..undecided import unknowns
from ..undecided.absent_data import Unseen
from ..undecided.running_code import assigned

_TABLE = "StructuredToParameterName@@"
"""Where Paddle keeps the names of the tensors of a saved dictionary."""
_NUMBER = "jupyter_paddle_gpu.saved"


class _Held(NamedTuple):
    """A tensor, or an array of numpy's (of no name), in a file."""

    shape: tuple[int, ...]
    dtype: str
    name: str | None
    value: Value | None


class SavedStates:
    """What was saved in this run."""

    def __init__(self) -> None:
        self._saved: list[tuple[bool, Any]] = []
        self._files: dict[str, int] = {}
        self._alike: dict[str, int] = {}
        """The last one of each name, whatever numbers stand in it."""
        self._buffers: WeakKeyDictionary[io.BytesIO, int] = WeakKeyDictionary()

    def save(self, runtime: Tensors, thing: Any, path: Any) -> None:
        """Keep what a file or a buffer would hold."""
        if isinstance(path, io.BytesIO):
            self._buffers[path] = len(self._saved)
        elif isinstance(path, (str, os.PathLike)):
            self._files[os.path.realpath(path)] = self._alike[_alike(path)] = len(self._saved)
            _write(os.fspath(path), len(self._saved))
        is_state, described = _is_state_dict(thing), _described(runtime, thing)
        if not is_state and (problem := _unsaved(described)) is not None:
            raise runtime.refused(problem)
        self._saved.append((is_state, described))

    def holds(self, path: Any) -> bool:
        """Whether a file or a buffer holds what was saved."""
        return self._number(path) is not None

    def holds_alike(self, path: Any) -> bool:
        """Whether there is one whose name has other numbers: a round that was left out would have saved this one."""
        return isinstance(path, (str, os.PathLike)) and _alike(path) in self._alike

    def load(self, runtime: Tensors, path: Any, **configs: Any) -> Any:
        """What Paddle's `load` makes of it, or of the last one alike (`framework/io.py`): of a dictionary of tensors
        these are tensors again; of anything else all tensors are, and only where there are none its arrays become
        some."""
        config = _parse_load_config(configs)
        if runtime.before_call is not None:
            runtime.before_call()
        number = self._number(path)
        is_state, held = self._saved[self._alike[_alike(path)] if number is None else number]
        if is_state:
            names = {key: one.name for key, one in held.items() if isinstance(one, _Held)}
            read = {key: _read(runtime, one, config, lambda held: held.name is not None) for key, one in held.items()}
            return {**read, _TABLE: names} if config.keep_name_table else read
        has_tensors = any(one.name is not None for one in _held(held))
        return _read(runtime, held, config, lambda one: (one.name is not None) is has_tensors)

    def _number(self, path: Any) -> int | None:
        if isinstance(path, io.BytesIO):
            return self._buffers.get(path)
        if not isinstance(path, (str, os.PathLike)):
            return None
        return _written(os.fspath(path)) if _is_private() else self._files.get(os.path.realpath(path))


def _alike(path: str | os.PathLike[str]) -> str:
    """A path with no numbers in its last part."""
    folder, name = os.path.split(os.path.realpath(path))
    return os.path.join(folder, re.sub(r"\d+", "0", name))  # noqa: PTH118


def _is_private() -> bool:
    """Whether what is written stays in the estimate's own folder: functions of `os` by path are none of Python's."""
    return not inspect.isbuiltin(os.rename)


def _write(path: str, number: int) -> None:
    if not _is_private():
        return
    if folder := os.path.dirname(path):  # noqa: PTH120 - as Paddle does it
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103
    with open(path, "wb") as file:  # noqa: PTH123 - the one that is stood for
        pickle.dump({_NUMBER: number}, file)


_SIZE = 100
"""Bytes that no such file reaches."""


def _written(path: str) -> int | None:
    if not os.path.isfile(path) or os.path.getsize(path) > _SIZE:  # noqa: PTH113, PTH202
        return None
    with open(path, "rb") as file:  # noqa: PTH123
        text = file.read()
    found = pickle.loads(text) if _NUMBER.encode() in text else {}
    return found.get(_NUMBER) if isinstance(found, dict) else None


def _described(runtime: Tensors, thing: Any) -> Any:
    if isinstance(thing, paddle.Tensor):
        array = runtime.state(thing).array
        return _Held(tuple(thing.shape), name_of(thing.dtype), thing.name, array.value)
    if isinstance(thing, np.ndarray):
        return _Held(thing.shape, str(thing.dtype), None, None)
    if isinstance(thing, dict):
        return {key: _described(runtime, one) for key, one in thing.items()}
    if type(thing) in {list, tuple, set}:
        return type(thing)(_described(runtime, one) for one in thing)
    return thing


class _Pickler(pickle.Pickler):
    """Pickles what no tensor or array is, and nothing of the trace's."""

    def persistent_id(self, thing: Any) -> Any:
        """What is left out has one."""
        return 0 if _is_left_out(thing) or isinstance(thing, (paddle.Tensor, np.ndarray, np.generic)) else None


_ROOT = __name__.partition(".")[0]
_OF_FUNCTIONS = re.compile(r"<lambda>|<locals>|^cannot pickle ")
"""What Python says of functions without a name of their own, and of what is no data; what it says of the program's own
classes hangs on where they are defined."""


def _is_left_out(thing: Any) -> bool:
    """Whether something is the trace's own: it stands for what a job has."""
    modules = type(thing).__module__, getattr(thing, "__module__", None)
    return isinstance(thing, _Held) or any(str(one).partition(".")[0] == _ROOT for one in modules)


def _unsaved(described: Any) -> Exception | None:
    """What Paddle, and Python, say of what is to be saved and cannot be."""
    try:
        _parse_every_object(copy.copy(described), _is_left_out, lambda one: one)
        _Pickler(io.BytesIO(), 4).dump(described)
    except NotImplementedError as problem:  # what Paddle itself says of an object that it saves in no form
        return problem
    except (pickle.PicklingError, AttributeError, TypeError) as problem:
        said = re.sub(r" at 0x[0-9a-f]+", "", str(problem))
        return type(problem)(said) if _OF_FUNCTIONS.search(said) else None
    except Exception:  # what a program's own object answers
        return None
    return None


def _held(thing: Any) -> Iterator[_Held]:
    if isinstance(thing, _Held):
        yield thing
    elif isinstance(thing, (dict, list, tuple, set)):
        for one in thing.values() if isinstance(thing, dict) else thing:
            yield from _held(one)


def _read(runtime: Tensors, thing: Any, config: Any, becomes: Callable[[_Held], bool]) -> Any:
    if isinstance(thing, _Held):
        if config.return_numpy or not becomes(thing):
            return unknowns.unknown(np.zeros(thing.shape, "float32" if thing.dtype == "bfloat16" else thing.dtype))
        tensor = runtime.create("to_tensor", thing.shape, thing.dtype, thing.value, "inputs")
        tensor.name = thing.name or tensor.name
        return tensor
    if isinstance(thing, dict):
        return {key: _read(runtime, one, config, becomes) for key, one in thing.items()}
    if type(thing) in {list, tuple, set}:
        return type(thing)(_read(runtime, one, config, becomes) for one in thing)
    return copy.copy(thing)


class AbsentWeights(dict[str, Any]):
    """Parameters that are not here: none to go through, and of unknown content where one is asked for, which is known
    by the name that the program gives to all of them.

    Args:
        file: that holds them; empty where it is of no interest.
    """

    def __init__(self, file: str = "") -> None:
        super().__init__()
        self.__dict__["_whole"] = whole = Unseen(name=assigned() or _word(file))
        whole.__dict__["_held_in"] = file

    def __missing__(self, name: str) -> Any:
        return self.__dict__["_whole"][name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.__dict__["_whole"], name)

    def __len__(self) -> int:
        is_asked = not sys._getframe(1).f_code.co_filename.startswith(call_stack.PADDLE)
        return len(self.__dict__["_whole"]) if is_asked else 0

    def __bool__(self) -> bool:
        return False


def _word(file: str) -> str:
    """A file's name as one of Python's."""
    return re.sub(r"\W+", "_", os.path.splitext(os.path.basename(file))[0]).strip("_")  # noqa: PTH119, PTH122
