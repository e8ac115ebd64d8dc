"""What a value of unknown content is while samples are made up (`variants`): numbers, lists, pictures, arrays, and
paths in folders that are not here."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from typing import Any

import numpy as np
from paddle.vision.transforms import functional_pil

from .arithmetic import Arithmetic
from .variants import Variant, may_spend, present, unpacked_into

_MODE = "RGB"
_COLOURS = 3
PICTURE = frozenset(("convert", "resize", "crop"))
"""Methods of Pillow's pictures."""
ARRAY = frozenset(("reshape", "astype", "transpose"))


LISTS = frozenset(("split", "splitlines", "readlines", "tolist", "keys", "values", "items", "namelist"))
"""Methods that give a list."""
COLUMN = "values"
"""What of a table's column is an array, of one number a row: `table["age"].values`."""
_FOLDER = "-made-up-"
_PATH = f"{_FOLDER}/1/1.jpg"
"""A file in a folder; frames of a film are called by numbers, and folders by those of classes."""
_FEWEST = 100
"""Files of a folder: programs leave folders out that hold few."""


class MadeUpList(list[Any]):
    """What `line.split()` gives: as long as the variant says, or as the names are many that it is unpacked into."""

    def __iter__(self) -> Iterator[Any]:
        count = unpacked_into(sys._getframe(1))
        items = list.__iter__(self)
        return items if count is None or not self else islice(cycle(items), count)


_SHORTENS = frozenset(("pop", "popleft"))
"""Methods that take something out of a list: `while len(words) > 64: words.pop()`."""


def of_list(value: Any, name: str, variant: Variant) -> Callable[..., Any] | None:
    """The method of a made-up list, or one that makes such; None where it has none by the name."""
    if name in LISTS:
        return lambda *_, **__: MadeUpList(value)

    def shortened(*_: Any) -> Any:
        held = value.__dict__
        held["_length"] = max((variant.length if held["_length"] is None else held["_length"]) - 1, 0)
        return value._part("")

    return shortened if name in _SHORTENS else None


class MadeUpLength(int):
    """How long a made-up list is: whether that is what the program wants (`len(parts) == 2`) is a condition on data."""

    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        variant = present()
        if variant is None or not isinstance(other, int) or int.__eq__(self, other) or not other:
            return int.__eq__(self, other)
        return variant.holds

    def __ne__(self, other: object) -> bool:
        return not self == other


class OpenShape(np.ndarray):
    """An array of which nobody knows the shape: it has the one that the program makes of it."""

    def reshape(self, *sizes: Any, **_: Any) -> Any:
        """`np.array(row.split()).reshape(96, 96)`."""
        shape = _shape(sizes)
        return np.zeros(shape, self.dtype) if shape else np.ndarray.reshape(self.view(np.ndarray), *sizes)


class OpenRows(np.ndarray):
    """An array of a list's values of unknown content, each of which may be a row: the program's shape says it."""

    def reshape(self, *sizes: Any, **_: Any) -> Any:
        """`np.reshape(np.array(categories), [256, 6])`, `np.array(titles).reshape(-1, 1, 15)`."""
        first, *rest = _shape_of(sizes) or [None]
        row = _shape(tuple(rest))
        if len(row) == len(rest) and first in {-1, len(self)}:
            return np.zeros((len(self), *row), self.dtype)
        return np.ndarray.reshape(self.view(np.ndarray), *sizes)


def of_open_rows(given: list[Any], found: Any) -> Any:
    """What numpy makes of a list of values of unknown content."""
    is_open = isinstance(found, np.ndarray) and found.ndim == 1 and all(isinstance(one, Arithmetic) for one in given)
    return found.view(OpenRows) if is_open else found


def of_open_shape(found: Any) -> Any:
    """What numpy makes of one value of unknown content, which may be a whole row."""
    return found.view(OpenShape) if isinstance(found, np.ndarray) and found.ndim == 0 else found


_SIGNS = frozenset("_-#*^$~|@")
"""Signs that stand for no text in a vocabulary of characters: `table["_"]`."""


def is_token(key: Any) -> bool:
    """Whether a vocabulary is asked for one of its own tokens (`vocabulary["<pad>"]`): a number that sizes nothing.
    While samples are made up it is as unknown as what stands beside it."""
    if present() is not None:
        return False
    return isinstance(key, str) and len(key) > 2 and key[0] + key[-1] in {"<>", "[]"}


def is_sign(key: Any) -> bool:
    """The same of a vocabulary of characters."""
    return present() is None and isinstance(key, str) and key in _SIGNS


def picture(variant: Variant) -> Any:
    """A picture as Pillow opens one."""
    return functional_pil.Image.new(_MODE, variant.side[::-1])


def pixels(variant: Variant) -> Any:
    """A picture as OpenCV reads one."""
    return np.zeros((*variant.side, _COLOURS), np.uint8)


def method(variant: Variant, name: str, other: Callable[..., Any], dtype: Any = None) -> Callable[..., Any]:
    """A method that tells what the value is: `convert("RGB")` has a picture, `reshape([1, 28, 28])` an array.

    Args:
        other: what is called where it does not tell.
        dtype: the type of its numbers, where that is known.
    """

    def called(*args: Any, **kwargs: Any) -> Any:
        if name in PICTURE and not (name == "resize" and not _is_size(args, kwargs)):
            return getattr(picture(variant), name)(*args, **kwargs)
        if name == "transpose" and _shape_of(args) == [2, 0, 1]:
            return np.zeros((_COLOURS, *variant.side), dtype or np.float32)
        if name == "reshape" and (shape := _shape(args)):
            return np.zeros(shape, np.float32)
        if name == "reshape" and (row := _row(args)):
            return np.zeros((variant.length, *row), dtype or _numbers(variant))
        return other(*args, **kwargs)

    return called


def _is_size(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    size = args[0] if args else kwargs.get("size")
    return isinstance(size, (tuple, list)) and len(size) == 2 and all(type(one) is int for one in size)


def _shape_of(args: tuple[Any, ...]) -> list[Any]:
    return list(args[0] if args and isinstance(args[0], (tuple, list)) else args)


def _shape(args: tuple[Any, ...]) -> tuple[int, ...]:
    sizes = _shape_of(args)
    known = tuple(one for one in sizes if type(one) is int and one > 0)
    return known if len(known) == len(sizes) else ()


def shape_of(sizes: tuple[Any, ...]) -> tuple[int, ...]:
    """The shape that `reshape` is told; empty where a size is left open or hangs on data."""
    return _shape(sizes)


def _row(args: tuple[Any, ...]) -> tuple[int, ...]:
    """The shape of a row of `reshape(-1, 1, 28, 28)`; empty where it says none, or that of one number."""
    first, *rest = _shape_of(args) or [None]
    return _shape(tuple(rest)) if first == -1 and any(one != 1 for one in rest) else ()


def _numbers(variant: Variant) -> Any:
    """The type of numbers that are likely no labels; another one, where it is asked whether anything hangs on that."""
    return np.float32 if variant.numbers == "int64" else variant.numbers


def indexed(variant: Variant, index: Any) -> Any | None:
    """What an index tells of: `image[:, :, None]` is grey, `image[:, :, ::-1]` has colours, `table[["age", "fare"]]`
    has two columns."""
    if isinstance(index, list) and index and all(isinstance(one, str) for one in index) and "pandas" in sys.modules:
        numbers = np.zeros((variant.length, len(index)), _numbers(variant))
        return sys.modules["pandas"].DataFrame(numbers, columns=index)
    if not isinstance(index, tuple) or not all(isinstance(one, (slice, type(None), type(Ellipsis))) for one in index):
        return None
    full, turned = slice(None), slice(None, None, -1)
    if index == (full, full, None):
        return np.zeros((*variant.side, 1), np.uint8)
    if index in ((full, full, turned), (Ellipsis, turned)):
        return pixels(variant)
    return _cropped(index)


def _cropped(index: tuple[Any, ...]) -> Any | None:
    """`image[:, :320, :480]` and `image[:320, :480, :]`."""
    stops = [one.stop - (one.start or 0) if isinstance(one, slice) and type(one.stop) is int else None for one in index]
    is_plain = all(isinstance(one, slice) and one.step is None for one in index)
    if not is_plain or len(stops) != 3 or any(one is not None and one <= 0 for one in stops):
        return None
    sizes = [_COLOURS if one is None else one for one in stops]
    return np.zeros(sizes, np.float32) if stops.count(None) == 1 and stops[1] is not None else None


_OF_SOUND = re.compile(
    r"(?i)\b(librosa|soundfile|torchaudio|paddleaudio|paddlespeech|pydub|wavfile|audioread)\b|paddle\.audio|\.wav\b|"
    r"mel_?spectrogram|\bmfcc|\bfbank|n_mels\b"
)
_CLIP = 1_000
"""Numbers from which on a row of such a program is a clip, and no text."""


def is_of_sound(text: str) -> bool:
    """Whether a program reads sound."""
    return _OF_SOUND.search(text) is not None


def is_clip(shape: tuple[int | None, ...], code: str) -> bool:
    """Whether an array of numbers of which nobody knows the type is of clips: those are no whole ones."""
    return len(shape) > 1 and (shape[-1] or 0) >= _CLIP and is_of_sound(code)


_STORES = re.compile(r"\b(h5py|zarr|tables)\b")
"""Libraries of files that hold arrays of any number of axes."""


def extents(variant: Variant, value: Any, code: str) -> tuple[int, ...]:
    """The shape of an array that is made of a value of unknown content: of one number, or a list of them. How many axes
    a slice of an array in a file has (`file["images"][0:32]`) nobody knows."""
    length: int | None = value.__dict__["_length"]
    if length is None:
        return ()
    is_open = variant.has_more_axes and _STORES.search(code) is not None and _is_entry(value)
    return (length, variant.length) if is_open else (length,)


def _is_entry(value: Any) -> bool:
    """Whether a value is, or was cut out of, something that has a name in what it was taken from."""
    while value is not None and not value.__dict__["_label"].isidentifier():
        value = value.__dict__["_of"]
    return value is not None


_ENTRIES = 16
"""Of an index that is kept."""


def is_plain(index: Any) -> bool:
    """Whether an index holds no tensor, which would count as the program's for as long as it is kept."""
    if type(index) in {tuple, list}:
        return len(index) <= _ENTRIES and all(map(is_plain, index))
    if type(index) is slice:
        return all(map(is_plain, (index.start, index.stop, index.step)))
    return index is None or index is Ellipsis or type(index) in {bool, int, str} or _is_open(index)


def plain_slice(index: slice) -> slice:
    """A slice whose ends are numbers."""
    return slice(*(None if _is_open(one) else one for one in (index.start, index.stop, index.step)))


def _is_open(value: Any) -> bool:
    """Whether it is a number of unknown content."""
    return isinstance(value, Arithmetic)


def path() -> str:
    """`os.path.join(root, name)` of a name in a list that is not here; empty where none is made up."""
    return _PATH if present() is not None and may_spend() else ""


def is_path(path: Any) -> bool:
    """Whether a path is made up."""
    return present() is not None and isinstance(path, (str, os.PathLike)) and _FOLDER in str(os.fspath(path))


def listed(pattern: str) -> list[str] | None:
    """The files that a pattern of a made-up folder finds; None where it is none, or no more is made up."""
    variant = present()
    if variant is None or not is_path(pattern) or not may_spend(_FEWEST):
        return None
    return [pattern.replace("**", "1").replace("*", str(number)) for number in range(1, _FEWEST + variant.length + 1)]
