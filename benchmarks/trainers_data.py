"""Made-up data of the shapes that the trainers' configurations read: pictures of noise, boxes, masks."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from PIL import Image

COUNT = 16
WIDTH, HEIGHT = 640, 480
STREET = 2048, 1024
"""Of Cityscapes."""
BOXES = 7
TEXT = "ab1" * 8 + "c"
"""As long as lines may be: what the loss takes hangs on it. Where a second head reads them a mark stands before and
behind each, so that two letters fewer are left."""
DATA = (
    "PaddleClas/dataset/ILSVRC2012",
    "PaddleSeg/data/cityscapes",
    "PaddleSeg/data/VOCdevkit",
    "PaddleSeg/data/DRIVE",
    "PaddleDetection/dataset/coco",
    "PaddleDetection/dataset/voc",
    "PaddleOCR/train_data",
    "PaddleSeg/data/defect_data",
    "PaddleYOLO/dataset/coco",
    "PaddleSeg/data/STARE",
    "PaddleClas/dataset/market1501",
)
"""Folders in the clones that hold data, and no more than data."""


def make_data(clones: Path) -> None:
    """All of it."""
    noise = np.random.default_rng(0)
    _imagenet(clones / DATA[0], noise)
    _cityscapes(clones / DATA[1], noise)
    _voc_masks(clones / DATA[2], noise)
    _pairs(clones / DATA[3], noise, 2)
    for place in (DATA[4], DATA[8]):
        if (clones / place).parent.is_dir():
            _coco(clones / place, noise)
    _voc(clones / DATA[5], noise)
    _lines(clones / DATA[6], noise)
    _pairs(clones / DATA[7], noise, 4)
    _pairs(clones / DATA[9], noise, 2)
    _people(clones / DATA[10] / "Market-1501-v15.09.15", noise)


def _picture(path: Path, noise: np.random.Generator, classes: int = 0, size: tuple[int, int] = (WIDTH, HEIGHT)) -> None:
    """A picture, or a mask of so many classes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    shape = (*size[::-1],) if classes else (*size[::-1], 3)
    Image.fromarray(noise.integers(0, classes or 256, shape, dtype=np.uint8)).save(path)


def _imagenet(folder: Path, noise: np.random.Generator) -> None:
    for mode in ("train", "val"):
        for number in range(COUNT):
            _picture(folder / mode / f"{number}.jpg", noise)
        lines = [f"{mode}/{number}.jpg {number}\n" for number in range(COUNT)]
        (folder / f"{mode}_list.txt").write_text("".join(lines))


def _people(folder: Path, noise: np.random.Generator) -> None:
    """Four pictures each of some people, by two cameras."""
    for mode in ("bounding_box_train", "query", "bounding_box_test"):
        for number in range(4 * COUNT):
            _picture(folder / mode / f"{number % COUNT + 1:04}_c{number // COUNT % 2 + 1}s1_{number:06}_00.jpg", noise)


def _cityscapes(folder: Path, noise: np.random.Generator) -> None:
    for mode in ("train", "val"):
        for number in range(COUNT):
            _picture(folder / "leftImg8bit" / mode / "town" / f"{number}_leftImg8bit.png", noise, size=STREET)
            _picture(folder / "gtFine" / mode / "town" / f"{number}_gtFine_labelTrainIds.png", noise, 19, STREET)


def _voc_masks(folder: Path, noise: np.random.Generator) -> None:
    place = folder / "VOC2012"
    names = [str(number) for number in range(COUNT)]
    for number in names:
        _picture(place / "JPEGImages" / f"{number}.jpg", noise)
        for masks in ("SegmentationClass", "SegmentationClassAug"):
            _picture(place / masks / f"{number}.png", noise, 21)
    lists = place / "ImageSets" / "Segmentation"
    lists.mkdir(parents=True)
    for mode in ("train", "val", "trainval", "aug"):
        (lists / f"{mode}.txt").write_text("".join(f"{number}\n" for number in names))


def _pairs(folder: Path, noise: np.random.Generator, classes: int) -> None:
    """Pictures and their masks, in lists."""
    for mode in ("train", "val"):
        lines = []
        for number in range(COUNT):
            pair = (f"images/{mode}/{number}.png", f"labels/{mode}/{number}.png")
            _picture(folder / pair[0], noise)
            _picture(folder / pair[1], noise, classes)
            lines.append(" ".join(pair) + "\n")
        for name in (f"{mode}_list.txt", f"{mode}.txt"):
            (folder / name).write_text("".join(lines))


def _lines(folder: Path, noise: np.random.Generator) -> None:
    """Lines of text, as large as those that stand in."""
    folder.mkdir(parents=True)
    for mode in ("train", "eval"):
        for number in range(COUNT):
            picture = Image.fromarray(noise.integers(0, 256, (48, 320, 3), dtype=np.uint8))
            picture.save(folder / f"{mode}{number}.png")
        for names, text in (((mode, "val"), TEXT), (("short",), TEXT[:-2])):
            lines = "".join(f"{mode}{number}.png\t{text}\n" for number in range(COUNT))
            for name in names:
                (folder / f"{name}_list.txt").write_text(lines)
    _directions(folder / "cls", noise)
    _pages(folder / "icdar2015" / "text_localization", noise)


def _directions(folder: Path, noise: np.random.Generator) -> None:
    """Lines of text, every second upside down."""
    for mode in ("train", "test"):
        for number in range(COUNT):
            _picture(folder / f"{mode}{number}.png", noise)
        lines = [f"{mode}{number}.png\t{number % 2 * 180}\n" for number in range(COUNT)]
        (folder / f"{mode}.txt").write_text("".join(lines))


def _pages(folder: Path, noise: np.random.Generator) -> None:
    """Pages with lines of text, as many as a picture has objects."""
    for mode in ("train", "test"):
        lines = []
        for number in range(COUNT):
            _picture(folder / f"{mode}{number}.png", noise)
            found = [
                {"transcription": TEXT, "points": [[x, y], [x + wide, y], [x + wide, y + high], [x, y + high]]}
                for x, y, wide, high in _boxes(noise)
            ]
            lines.append(f"{mode}{number}.png\t{json.dumps(found)}\n")
        (folder / f"{mode}_icdar2015_label.txt").write_text("".join(lines))


def _boxes(noise: np.random.Generator) -> list[list[int]]:
    """Left, top, width and height of the objects of a picture."""
    return [[*map(int, noise.integers(0, 200, 2)), *map(int, noise.integers(40, 240, 2))] for _ in range(BOXES)]


def _coco(folder: Path, noise: np.random.Generator) -> None:
    for mode in ("train2017", "val2017"):
        images, objects = [], []
        for number in range(COUNT):
            _picture(folder / mode / f"{number}.jpg", noise)
            images.append({"id": number + 1, "file_name": f"{number}.jpg", "width": WIDTH, "height": HEIGHT})
            for x, y, wide, high in _boxes(noise):
                outline = [x, y, x + wide, y, x + wide, y + high, x, y + high]
                objects.append(
                    {"id": len(objects) + 1, "image_id": number + 1, "category_id": len(objects) % 80 + 1, "iscrowd": 0,
                     "bbox": [x, y, wide, high], "area": wide * high, "segmentation": [outline]}
                )  # fmt: skip
        kinds = [{"id": number + 1, "name": f"kind {number}"} for number in range(80)]
        place = folder / "annotations" / f"instances_{mode}.json"
        place.parent.mkdir(exist_ok=True)
        place.write_text(json.dumps({"images": images, "annotations": objects, "categories": kinds}))


def _voc(folder: Path, noise: np.random.Generator) -> None:
    lines = []
    for number in range(COUNT):
        picture, outlines = f"images/{number}.jpg", f"annotations/{number}.xml"
        _picture(folder / picture, noise)
        things = "".join(
            f"<object><name>person</name><difficult>0</difficult><bndbox><xmin>{x + 1}</xmin><ymin>{y + 1}</ymin>"
            f"<xmax>{x + wide}</xmax><ymax>{y + high}</ymax></bndbox></object>"
            for x, y, wide, high in _boxes(noise)
        )
        size = f"<size><width>{WIDTH}</width><height>{HEIGHT}</height><depth>3</depth></size>"
        (folder / outlines).parent.mkdir(parents=True, exist_ok=True)
        (folder / outlines).write_text(f"<annotation>{size}{things}</annotation>")
        lines.append(f"{picture} {outlines}\n")
    for name in ("trainval.txt", "test.txt"):
        (folder / name).write_text("".join(lines))
    (folder / "label_list.txt").write_text("".join(f"{name}\n" for name in ("person", *map(str, range(19)))))
