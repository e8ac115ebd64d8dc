"""Data sets of PaddleOCR whose files are not on this machine: lines of made-up lists, and a store of made-up records.

What reads a file of labels or an LMDB gives what would stand there; transforms, samplers and batches are the trainer's
own. What a label looks like hangs on the transform that reads it. Sources: `ppocr/data`, 2.6 to June 2026.
"""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable, Iterator, Mapping
from itertools import cycle, islice
from typing import Any

from ...session import Session
from ..awaited import Awaited
from ..patch import Patch
from .pictures import COUNT, picture

LINES = 7
"""Lines of text on a page, and rows of a table."""
LETTERS = 10
"""Of a line of a page, and of one whose configuration sets no limit."""
FRAMED = 2
"""Letters fewer than the configuration's longest text that a line has: its first and last are the encoder's
(`NRTRLabelEncode`). A recogniser reads as many letters of every line of a batch as its longest has, so that the step
with the longest line is the largest of a training."""
WORD = 320, 48
"""Width and height of a line's picture: the size that PP-OCRv3 and later train on."""
_WANTS = "_paddle_gpu_wants"
"""The attribute of a data set that holds its part of the configuration and the global one."""

Settings = Mapping[str, Any]


def _page(transform: Settings, common: Settings) -> str:
    """Lines of text on a page, as detection, spotting and the extraction of information read them."""
    rows = [
        {
            "transcription": "".join(_alphabet(common))[:LETTERS],
            "points": [[20, top], [320, top], [320, top + 40], [20, top + 40]],
            "label": "other",
            "id": number,
            "linking": [],
        }
        for number, top in enumerate(range(20, 20 + 60 * LINES, 60))
    ]
    return json.dumps(rows)


def _class(transform: Settings, common: Settings) -> str:
    return str(next(iter(transform.get("label_list") or common.get("label_list") or ["0"])))


def _symbols(transform: Settings, common: Settings) -> str:
    return " ".join(_characters(common)[:LETTERS])


def _letters(common: Settings) -> str:
    """A line as long as the configuration allows."""
    longest, known = common.get("max_text_length"), _alphabet(common)
    count = max(1, longest - FRAMED) if isinstance(longest, int) else LETTERS
    return "".join(islice(cycle(known), count)) if known else ""


def _alphabet(common: Settings) -> list[str]:
    return [one for one in _characters(common) if len(one) == 1]


def _characters(common: Settings) -> list[str]:
    """Those that a recogniser knows; without a file of them PaddleOCR takes digits and small letters."""
    path = common.get("character_dict_path")
    if not path or not os.path.exists(path):  # noqa: PTH110 - as PaddleOCR looks for it
        return list("0123456789abcdefghijklmnopqrstuvwxyz")
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - the guard follows `open`
        return [line for line in file.read().split("\n") if line.strip()]


_PAGES = ("DetLabelEncode", "CTLabelEncode", "E2ELabelEncodeTrain", "E2ELabelEncodeTest", "VQATokenLabelEncode")
_LABELS: dict[str, Callable[[Settings, Settings], str]] = {
    **dict.fromkeys(_PAGES, _page), "ClsLabelEncode": _class, "CANLabelEncode": _symbols,
}  # fmt: skip
"""Labels by the transform that reads them; any other one reads a line of text."""


def _options(own: Settings, name: str) -> Settings | None:
    """What the configuration gives a transform; None where it is not among them."""
    return next((dict(step)[name] or {} for step in own.get("transforms") or () if name in step), None)


def _label(wants: tuple[Settings, Settings]) -> tuple[str, bool]:
    """A label, and whether it is one of a whole page."""
    own, common = wants
    for name, make in _LABELS.items():
        if (options := _options(own, name)) is not None:
            return make(options, common), make is _page
    return _letters(common), False


def _table(own: Settings) -> dict[str, Any]:
    """A table of one column as PubTabNet tells it (Zhong et al., Image-based table recognition, 2020); a cell's place
    is two or four corners."""
    row = ["<tr>", "<td>", "</td>", "</tr>"]
    numbers = int((_options(own, "TableLabelEncode") or {}).get("loc_reg_num", 4))
    tops = range(20, 20 + 60 * LINES, 60)
    left, right, height = 20, 320, 40
    if numbers == 8:
        places = [[left, top, right, top, right, top + height, left, top + height] for top in tops]
    else:
        places = [[left, top, right, top + height] for top in tops]
    cells = [{"tokens": list("abc"), "bbox": place} for place in places]
    return {"cells": cells, "structure": {"tokens": ["<tbody>", *row * LINES, "</tbody>"]}}


def _constructed(
    session: Session, original: Callable[..., Any], self: Any, config: Any, mode: str, *args: Any, **kwargs: Any
) -> None:
    vars(self)[_WANTS] = config[mode]["dataset"], config["Global"]
    original(self, config, mode, *args, **kwargs)


def wanted_characters(problem: BaseException) -> bool:
    """Whether the list of a recogniser's characters is what is not here: the model has an output for each, so that it
    is asked for, while pictures and labels stand in."""
    if not isinstance(problem, FileNotFoundError) or problem.filename is None:
        return False
    step = problem.__traceback__
    while step is not None:
        if step.tb_frame.f_locals.get("character_dict_path") == problem.filename:
            return True
        step = step.tb_next
    return False


def _are_here(paths: Any) -> bool:
    return all(os.path.exists(path) for path in ([paths] if isinstance(paths, str) else paths))  # noqa: PTH110


def _lines(session: Session, original: Callable[..., Any], self: Any, file_list: Any, ratio_list: Any) -> Any:
    """`get_image_info_list`: a line a picture, with its label and its size where batches go by that."""
    return original(self, file_list, ratio_list) if _are_here(file_list) else _made_up(session, self)


def _all_lines(session: Session, original: Callable[..., Any], self: Any, file_list: Any) -> Any:
    """`_load_all_lines`, which reads them since 2026 where only a share is taken: of all files, with the place where
    each one begins and the last ends."""
    if _are_here(file_list):
        return original(self, file_list)
    files = 1 if isinstance(file_list, str) else len(file_list)
    return _made_up(session, self) * files, list(range(0, COUNT * files + 1, COUNT))


def _made_up(session: Session, self: Any) -> list[bytes]:
    session.note("texts_made_up", name=type(self).__name__)
    label, is_page = _label(vars(self)[_WANTS])
    path = picture() if is_page else picture(3, *WORD)
    line = getattr(self, "delimiter", "\t").join((path, label, *map(str, WORD)))
    return [f"{line}\n".encode()] * COUNT


def _tables(session: Session, original: Callable[..., Any], self: Any, file_list: Any, ratio_list: Any) -> Any:
    if _are_here(file_list):
        return original(self, file_list, ratio_list)
    session.note("texts_made_up", name=type(self).__name__)
    line = json.dumps({"filename": picture(), "html": _table(vars(self)[_WANTS][0])})
    return [f"{line}\n".encode()] * COUNT


class _Store:
    """A transaction of an LMDB, whose records are all alike."""

    def __init__(self, wants: tuple[Settings, Settings]) -> None:
        self._label, self._own = _label(wants)[0], wants[0]

    def get(self, key: bytes) -> bytes:
        """A label, a picture, or a table with its picture."""
        kind = key.partition(b"-")[0]
        if kind == b"label":
            return self._label.encode()
        with open(picture() if kind.isdigit() else picture(3, *WORD), "rb") as file:  # noqa: PTH123
            image = file.read()
        if not kind.isdigit():
            return image
        table = _table(self._own)
        boxes = [",".join(map(str, cell["bbox"])) for cell in table["cells"]]
        return pickle.dumps(("table", image, "\n".join(("table", ",".join(table["structure"]["tokens"]), *boxes))))


def _stored(session: Session, original: Callable[..., Any], self: Any, data_dir: str) -> Any:
    """`load_hierarchical_lmdb_dataset`."""
    if os.path.exists(data_dir):  # noqa: PTH110 - as PaddleOCR looks for it
        return original(self, data_dir)
    session.note("texts_made_up", name=type(self).__name__)
    store = _Store(vars(self)[_WANTS])
    return {0: {"dirpath": data_dir, "env": None, "txn": store, "num_samples": COUNT}}


_READS = (
    ("simple_dataset", "SimpleDataSet", "get_image_info_list", _lines),
    ("simple_dataset", "SimpleDataSet", "_load_all_lines", _all_lines),
    ("pgnet_dataset", "PGDataSet", "get_image_info_list", _lines),
    ("pubtab_dataset", "PubTabDataSet", "get_image_info_list", _tables),
    ("lmdb_dataset", "LMDBDataSet", "load_hierarchical_lmdb_dataset", _stored),
    ("lmdb_dataset", "LMDBDataSetTableMaster", "load_hierarchical_lmdb_dataset", _stored),
)

_SINCE_2026 = frozenset(("_load_all_lines",))


def patches() -> Iterator[Patch]:
    """What makes these data sets, and what reads their files."""
    made = set()
    for module, kind, method, reads in _READS:
        owner = Awaited(f"ppocr.data.{module}", kind)
        yield Patch(owner, method, reads, optional=method in _SINCE_2026)
        if kind != "LMDBDataSetTableMaster" and kind not in made:
            made.add(kind)
            yield Patch(owner, "__init__", _constructed)
