"""Lines and pages for PaddleOCR as logs in public repositories tell them, each with its own configuration.

Such a log begins with the whole configuration, so that its file is written from the trainer's own one and what the log
has otherwise. How many lines there are is told by its number of steps an epoch; how long they are is told by none, and
the longest that the file takes stands first.
"""

from __future__ import annotations

import functools
import json
import operator
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

RECOGNIZER = "rec/PP-OCRv5/PP-OCRv5_mobile_rec.yml"
ENGLISH, RENAMED = "rec/PP-OCRv3/en_PP-OCRv3_rec.yml", "rec/PP-OCRv3/en_PP-OCRv3_mobile_rec.yml"
PAGES, FEW_PAGES = "det/PP-OCRv5/PP-OCRv5_mobile_det.yml", "det/det_mv3_db.yml"
DISTILLED, SVTR = "rec/PP-OCRv3/ch_PP-OCRv3_rec_distillation.yml", "rec/rec_svtrnet.yml"


class Line(NamedTuple):
    """One training.

    Attributes:
        base: the trainer's own file, in `configs`.
        count: lines or pages of its list.
        letters: of each line.
        characters: of its own list; 0: the file's.
        longest: its `max_text_length`; 0: the file's.
        scales: heights of its sampler, where those are not the file's.
        steps: what is done with each line, where that is not the file's: in training and in evaluation the same.
        changes: parts of the file, with a dot between key and key, that the log has otherwise.
    """

    base: str
    batch: int
    count: int
    letters: int = 0
    characters: int = 0
    longest: int = 0
    scales: Sequence[int] = ()
    steps: Sequence[Mapping[str, Any]] = ()
    changes: Mapping[str, Any] = {}


def _as_they_are(encode: str, resize: str, keep: str, **size: Any) -> tuple[dict[str, Any], ...]:
    """Read, encoded and resized, and nothing else."""
    read: dict[str, Any] = {"DecodeImage": {"img_mode": "BGR", "channel_first": False}}
    return read, {encode: None}, {resize: size}, {"KeepKeys": {"keep_keys": keep.split()}}


PADDED = "image label_ctc label_sar length valid_ratio"
CYRILLIC = {
    "model_type": "rec", "algorithm": "SVTR", "Transform": None,
    "Backbone": {"name": "PPLCNetV3", "pretrained": False, "scale": 1},
    "Neck": {
        "name": "SequenceEncoder", "encoder_type": "svtr", "dims": 64, "depth": 2, "hidden_dims": 120,
        "use_guide": False,
    },
    "Head": {"name": "CTCHead", "fc_decay": 1e-5},
}  # fmt: skip
"""The recognizer of Azerbaijani and Russian letters: PP-LCNetV3 with one head."""
LINES = {
    "english_20": Line(ENGLISH, 20, 80, 10, characters=63),
    "english_128": Line(ENGLISH, 128, 128, 10),
    "pages_8": Line(FEW_PAGES, 8, 50),
    "plates_128": Line(ENGLISH, 128, 1152, 10, longest=20),
    "pages_16": Line(FEW_PAGES, 16, 567),
    **{f"cards_{batch}": Line(PAGES, batch, 4530) for batch in (4, 5, 6, 10, 20)},
    **{
        f"digits_{letters}": Line(RECOGNIZER, 110, 26718, letters, characters=11, longest=11, scales=(32, 48))
        for letters in (9, 6)
    },
    **{
        f"vietnamese_{letters}": Line(RECOGNIZER, 64, 32844, letters, characters=229, longest=40)
        for letters in (38, 20)
    },
    **{f"thai_{letters}": Line(RECOGNIZER, 128, 50, letters, characters=524) for letters in (84, 40)},
    **{
        f"svtr_{width}_{batch}": Line(
            SVTR, batch, 100 * batch, 10, characters=208, longest=longest, steps=_as_they_are(
                "CTCLabelEncode", "SVTRRecResizeImg", "image label length", image_shape=[3, 32, width], padding=False
            ), changes={
                "Train.loader.num_workers": 0, "Eval.loader.num_workers": 0, "Eval.loader.batch_size_per_card": batch,
                "Optimizer.weight_decay": decay, "Global.use_space_char": width == 320,
            },
        )
        for width, batch, longest, decay in ((480, 1, 120, 0.0), (320, 1, 20, 1e-4), (320, 5, 20, 1e-4))
    },
    "distilled_8": Line(
        DISTILLED, 8, 496, 10, characters=208, longest=120,
        steps=_as_they_are("MultiLabelEncode", "RecResizeImg", PADDED, image_shape=[3, 32, 640]),
        changes={"Global.distributed": False, "Train.loader.num_workers": 0, "Eval.loader.num_workers": 0},
    ),
    "distilled_12": Line(
        DISTILLED, 12, 24, 7, characters=42, longest=16, changes={
            "Global.use_space_char": False, "Global.distributed": False, "Train.loader.drop_last": False,
            "Train.loader.num_workers": 0, "Eval.loader.num_workers": 0, "Eval.loader.batch_size_per_card": 4,
            "Global.eval_batch_step": [0, 100],
        },
    ),
    "cyrillic_64": Line(
        RENAMED, 64, 468, 10, characters=175,
        steps=_as_they_are("CTCLabelEncode", "RecResizeImg", "image label length", image_shape=[3, 48, 320]),
        changes={
            "Architecture": CYRILLIC, "Loss": {"name": "CTCLoss"}, "Global.distributed": False,
            "Eval.loader.batch_size_per_card": 64, "Optimizer.regularizer.factor": 5e-4,
        },
    ),
}  # fmt: skip


def with_lines(root: Path) -> None:
    """A configuration and a list for each whose own file the trainer has at this version."""
    import yaml
    from PIL import Image

    folder = root / "train_data"
    (folder / "det").mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (320, 48), "white").save(folder / "word.png")
    Image.new("RGB", (640, 640), "white").save(folder / "det" / "page.png")
    corners = [[100, 100], [400, 100], [400, 200], [100, 200]]
    page = f"det/page.png\t{json.dumps([{'transcription': 'abc', 'points': corners}])}\n"
    for name, line in LINES.items():
        if not (root / "configs" / line.base).exists():
            continue
        rows = f"word.png\t{'1' * line.letters}\n" if line.letters else page
        (folder / f"{name}.txt").write_text(rows * line.count)
        has = yaml.safe_load((root / "configs" / line.base).read_text())
        for part in ("Train", "Eval"):
            data = has[part]["dataset"]
            data |= {"data_dir": "./train_data/", "label_file_list": [f"./train_data/{name}.txt"]}
            if line.steps:
                data |= {"name": "SimpleDataSet", "transforms": [dict(step) for step in line.steps]}
        has["Train"]["loader"]["batch_size_per_card"] = line.batch
        has["Global"] |= {"pretrained_model": None, "save_model_dir": f"./output/{name}"}
        if line.letters:
            _recognizer(root, name, line, has)
        for key, value in line.changes.items():
            *parts, last = key.split(".")
            functools.reduce(operator.getitem, parts, has)[last] = value
        (root / "configs" / f"gpu_logs_{name}.yml").write_text(yaml.safe_dump(has, sort_keys=False))


def _recognizer(root: Path, name: str, line: Line, has: dict[str, Any]) -> None:
    """Its list of characters, its longest text and its sampler."""
    has["Global"] |= {"use_space_char": line.characters != 11}
    if line.characters:
        letters = [chr(0x4E00 + number) for number in range(line.characters - 1)]
        (root / "train_data" / f"{name}_letters.txt").write_text("\n".join(["1", *letters]) + "\n", encoding="utf-8")
        has["Global"]["character_dict_path"] = f"./train_data/{name}_letters.txt"
    if sampler := has["Train"].get("sampler"):
        sampler["first_bs"] = line.batch
        if line.scales:
            sampler["scales"] = [[320, height] for height in line.scales]
    if name.startswith("thai"):  # it is the file's text in all but the longest line that is read
        has["Global"]["max_text_length"] = 89
    if name.startswith("plates"):
        has["Architecture"]["Backbone"].pop("last_pool_kernel_size", None)
        has["Architecture"]["algorithm"] = "SVTR"
    if line.longest:
        has["Global"]["max_text_length"] = line.longest
        networks = has["Architecture"].get("Models", {"": has["Architecture"]}).values()
        heads = [head for network in networks for head in network["Head"].get("head_list", ())]
        for part in (*heads, *has["Train"]["dataset"]["transforms"]):
            for one in part.keys() & {"NRTRHead", "SARHead", "RecConAug"}:
                part[one]["max_text_length"] = line.longest
                if name.startswith("digits") and one == "RecConAug":
                    part[one]["ext_data_num"] = 1
