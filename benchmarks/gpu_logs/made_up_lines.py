"""Lines and pages for PaddleOCR as logs in public repositories tell them, each with its own configuration.

Such a log begins with the whole configuration, so that its file is written from the trainer's own one and what the log
has otherwise. How many lines there are is told by its number of steps an epoch; how long they are is told by none, and
the longest that the file takes stands first.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

RECOGNIZER = "rec/PP-OCRv5/PP-OCRv5_mobile_rec.yml"
ENGLISH = "rec/PP-OCRv3/en_PP-OCRv3_rec.yml"
PAGES, FEW_PAGES = "det/PP-OCRv5/PP-OCRv5_mobile_det.yml", "det/det_mv3_db.yml"


class Line(NamedTuple):
    """One training.

    Attributes:
        base: the trainer's own file, in `configs`.
        count: lines or pages of its list.
        letters: of each line.
        characters: of its own list; 0: the file's.
        longest: its `max_text_length`; 0: the file's.
        scales: heights of its sampler, where those are not the file's.
    """

    base: str
    batch: int
    count: int
    letters: int = 0
    characters: int = 0
    longest: int = 0
    scales: Sequence[int] = ()


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
}


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
        has["Train"]["loader"]["batch_size_per_card"] = line.batch
        has["Global"] |= {"pretrained_model": None, "save_model_dir": f"./output/{name}"}
        if line.letters:
            _recognizer(root, name, line, has)
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
        for part in (*has["Architecture"]["Head"]["head_list"], *has["Train"]["dataset"]["transforms"]):
            for one in part.keys() & {"NRTRHead", "SARHead", "RecConAug"}:
                part[one]["max_text_length"] = line.longest
                if name.startswith("digits") and one == "RecConAug":
                    part[one]["ext_data_num"] = 1
