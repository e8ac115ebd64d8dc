"""Pictures that are not on this machine, while samples are made up: Paddle's folders and transforms, OpenCV.

What a transform makes of a made-up picture says how large a sample is (`followed`).
"""

from __future__ import annotations

import collections
import errno
import functools
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import paddle
from paddle.vision.transforms import functional_pil

from ... import call_stack
from ...session import Session
from ...undecided import made_up, variants
from ...undecided.absent_data import AbsentData, Unseen, is_unseen
from ...undecided.unseen_data import UnseenData
from ..absent_modules import AbsentModule, stands_for
from ..awaited import Awaited
from ..patch import Patch
from . import followed, loader


def _folder(session: Session, original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> None:
    """A folder of pictures; where it is not here its pictures are made up when a batch is looked for."""
    named = dict(zip(("root", "loader", "extensions", "transform"), args, strict=False)) | kwargs
    try:
        if is_unseen(named.get("root")):  # a folder that a download would have given
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), repr(named["root"]))
        original(self, *args, **kwargs)
    except (OSError, RuntimeError) as problem:  # RuntimeError: no picture is in it
        if not session.of(AbsentData).follows:
            _walked_nothing(named.get("root"), problem)
            raise
        self.transform = named.get("transform")
        self.loader = _opened
        self.samples = collections.defaultdict(_Sample)
        self.targets = self.classes = self.class_to_idx = Unseen()
        cell, line = call_stack.place()
        session.note("data_absent", cell=cell + 1, line=line, wanted=str(named.get("root")))
        self.__class__ = _absent(type(self))
        self.data = Unseen()


def _walked_nothing(root: Any, problem: Exception) -> None:
    """`ImageFolder` walks a folder that is not here as one without pictures, where `DatasetFolder` says that it is not
    here."""
    if isinstance(problem, RuntimeError) and isinstance(root, (str, os.PathLike)) and not os.path.exists(root):  # noqa: PTH110
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(root)) from problem


class _Sample(Unseen):
    """The path of a picture, with its class where that is asked for as well."""

    def __iter__(self) -> Iterator[Any]:
        return iter((Unseen(), 0))


def _opened(_: Any) -> Any:
    variant = variants.present()
    return Unseen() if variant is None else made_up.picture(variant)


def _tensors(session: Session, original: Callable[..., Any], self: Any, tensors: Any) -> None:
    """`TensorDataset` of tensors of unknown content."""
    if not isinstance(tensors, (Iterable, Unseen)) or not is_unseen(list(tensors)):
        original(self, tensors)
        return
    self.tensors = tensors
    self.__class__ = _absent(type(self))
    self.data = Unseen()


def _absent(kind: type) -> type:
    return type(kind.__name__, (UnseenData, kind), {})


def _transformed(session: Session, original: Callable[..., Any], self: Any, data: Any) -> Any:
    """A transform of a picture of unknown content: of a made-up one, where it makes the same of all of them."""
    if not isinstance(data, Unseen):
        return original(self, data)
    if (variant := variants.present()) is not None:
        return original(self, made_up.picture(variant))
    if not session.of(AbsentData).follows:
        return original(self, data)
    found = followed.of_reader(session, lambda: iter([original(self, made_up.picture(_present()))]))
    if found is None or isinstance(found, followed.Partial):
        return original(self, data)
    return loader.fresh(session, followed.as_unknown(found))


def _present() -> variants.Variant:
    variant = variants.present()
    assert variant is not None
    return variant


def _resized(session: Session, original: Callable[..., Any], img: Any, *args: Any, **kwargs: Any) -> Any:
    """`resize` of an array, for which Paddle asks OpenCV: where that is not here, by Pillow."""
    try:
        return original(img, *args, **kwargs)
    except ImportError:
        if variants.present() is None or not isinstance(img, np.ndarray):
            raise
        size = args[0] if args else kwargs["size"]
        found = np.asarray(original(functional_pil.Image.new("L", img.shape[1::-1]), size))
        return np.zeros((*found.shape, *img.shape[2:]), img.dtype)


@stands_for("cv2")
class OpenCV(AbsentModule):
    """OpenCV, which is not here: while samples are made up its functions give pictures of the size that they would."""

    def __getattr__(self, name: str) -> Any:
        if variants.present() is None or name.startswith("__"):
            return super().__getattr__(name)
        if name.isupper() or name.startswith("COLOR_"):
            return name
        return functools.partial(_computed, name)


def _computed(name: str, *args: Any, **kwargs: Any) -> Any:
    """What a function of OpenCV makes of a picture: one of the same size where the function is not one that changes
    it."""
    variant = variants.present()
    assert variant is not None
    picture = args[0] if args else None
    array = picture if isinstance(picture, np.ndarray) else made_up.pixels(variant)
    if name in {"imread", "imdecode"}:
        return made_up.pixels(variant)[:, :, 0] if 0 in args[1:] or "GRAYSCALE" in str(args[1:]) else array
    if name == "resize":
        size = args[1] if len(args) > 1 else kwargs.get("dsize")
        if not isinstance(size, (tuple, list)) or not all(type(one) is int for one in size):
            return Unseen()
        return np.zeros((size[1], size[0], *array.shape[2:]), array.dtype)
    if name == "cvtColor":
        asked = str(args[1:])
        if "2GRAY" in asked:
            return array[:, :, 0]
        return np.repeat(array[:, :, None], 3, 2) if "GRAY2" in asked else array
    return array


def _read(session: Session, original: Callable[..., Any], path: Any, *args: Any, **kwargs: Any) -> Any:
    """`cv2.imread` and Paddle's `image_load` by it: of a picture that is not here OpenCV gives None, with which a
    program fails far from the cause."""
    found = None if made_up.is_path(path) else original(path, *args, **kwargs)
    if found is None and isinstance(path, (str, os.PathLike)) and not os.path.exists(path):  # noqa: PTH110
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
    return found


def patches() -> Iterator[Patch]:
    """Folders of pictures, and what is done with a picture."""
    yield Patch(paddle.vision.datasets.DatasetFolder, "__init__", _folder)
    yield Patch(paddle.vision.datasets.ImageFolder, "__init__", _folder)
    yield Patch(paddle.io.TensorDataset, "__init__", _tensors)
    yield Patch(paddle.vision.transforms.Compose, "__call__", _transformed)
    yield Patch(paddle.vision.transforms.BaseTransform, "__call__", _transformed)
    yield Patch(paddle.vision.transforms.functional, "resize", _resized)
    yield Patch(Awaited("cv2"), "imread", _read)
    for module in (paddle.vision, paddle.vision.image):
        yield Patch(module, "image_load", _read)
