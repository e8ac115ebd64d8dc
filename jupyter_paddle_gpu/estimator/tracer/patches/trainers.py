"""Paddle's trainers (PaddleDetection, PaddleSeg, PaddleClas) on a machine without their data and weights.

Their data sets are filled with records of pictures that stand in, in the form in which their own code reads the files;
transforms, samplers and batches are the trainer's own. Pretrained weights change no size: without them the model keeps
what it was initialised with.
"""

from __future__ import annotations

import os
import struct
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ..session import Session
from .awaited import Awaited
from .patch import Patch

COUNT = 1 << 14
"""Samples of a data set that stands in: so many that an epoch has whole batches. All are the same picture."""
WIDTH, HEIGHT = 640, 480
"""The commonest size of COCO's pictures (https://cocodataset.org)."""
BOXES = 7
"""Objects of a picture: COCO has 7.3 on average (Lin et al., Microsoft COCO, 2014, section 5)."""


@dataclass(frozen=True)
class Format:
    """How a trainer keeps what it has read.

    Attributes:
        kind: module and name of the class of data sets, as `module.Class`.
        fill: gives a data set its records.
    """

    kind: str
    fill: Callable[[Any], None]


def filled(data_set: Any) -> bool:
    """Whether the format of a data set is known; it has samples then."""
    names = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(data_set).__mro__}
    row = next((one for one in FORMATS if one.kind in names), None)
    if row is not None:
        row.fill(data_set)
    return row is not None


def _detection(data_set: Any) -> None:
    """Records as `COCODataSet.parse_dataset` makes them (`ppdet/data/source/coco.py`)."""
    edges = np.arange(BOXES, dtype="float32")[:, None] * 16
    polygon = [[10.0, 10.0, 60.0, 10.0, 60.0, 70.0, 10.0, 70.0]]
    record = {
        "im_file": picture(),
        "im_id": np.array([1]),
        "h": float(HEIGHT),
        "w": float(WIDTH),
        "is_crowd": np.zeros((BOXES, 1), "int32"),
        "difficult": np.zeros((BOXES, 1), "int32"),
        "gt_class": np.zeros((BOXES, 1), "int32"),
        "gt_score": np.ones((BOXES, 1), "float32"),
        "gt_bbox": np.concatenate([edges, edges, edges + 128, edges + 160], 1),
        "gt_poly": [polygon] * BOXES,
    }
    always = {"im_file", "im_id", "h", "w"}
    wanted = {*getattr(data_set, "data_fields", ()), *always}
    data_set.roidbs = [{name: value for name, value in record.items() if name in wanted}] * COUNT


def _segmentation(data_set: Any) -> None:
    """`file_list` of `paddleseg/datasets/dataset.py`: a picture and its labels."""
    data_set.file_list = [[picture(getattr(data_set, "img_channels", 3)), picture(1)]] * COUNT


def _classification(data_set: Any) -> None:
    """Pictures and labels of `ppcls/data/dataloader/common_dataset.py`."""
    data_set.images, data_set.labels = [picture()] * COUNT, [np.int64(0)] * COUNT


FORMATS = (
    Format("ppdet.data.source.dataset.DetDataset", _detection),
    Format("paddleseg.datasets.dataset.Dataset", _segmentation),
    Format("ppcls.data.dataloader.common_dataset.CommonDataset", _classification),
)


def picture(channels: int = 3) -> str:
    """The path of a black picture, in the folder for temporary files that an estimate has to itself."""
    return _picture(channels, tempfile.gettempdir())


@cache
def _picture(channels: int, folder: str) -> str:
    path = os.path.join(folder, f"stand-in-{channels}.png")  # noqa: PTH118 - the programs take strings
    kind = 0 if channels == 1 else 2
    rows = zlib.compress((b"\0" + bytes(WIDTH * channels)) * HEIGHT)
    header = struct.pack(">2I5B", WIDTH, HEIGHT, 8, kind, 0, 0, 0)
    parts = [b"\x89PNG\r\n\x1a\n", *(_chunk(*one) for one in ((b"IHDR", header), (b"IDAT", rows), (b"IEND", b"")))]
    with open(path, "wb") as file:  # noqa: PTH123 - the guard follows `open`
        file.write(b"".join(parts))
    return path


def _chunk(name: bytes, data: bytes) -> bytes:
    """A part of a picture in Portable Network Graphics (ISO/IEC 15948, 5.3)."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _weights(session: Session, original: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """What loads pretrained weights into a model: it keeps its own."""
    session.note("weights_absent")


LOADS = (
    ("ppcls.utils.save_load", "load_dygraph_pretrain"),
    ("ppdet.utils.checkpoint", "load_pretrain_weight"),
    ("paddleseg.utils.utils", "load_pretrained_model"),
)
"""Functions that give a model its pretrained weights."""


def patches() -> Iterator[Patch]:
    """Of modules that these programs import."""
    for module, name in LOADS:
        yield Patch(Awaited(module), name, _weights)
