"""Made-up data for notebooks that are read without theirs: files of the true shape under the names that notebooks look
for, and Paddle's own data sets with samples of their true shapes.

What is counted in a file (its words, its columns) is what the estimate was answered, so that both speak of the same
program.
"""

from __future__ import annotations

import csv
import gzip
import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

_SUBJECTS = ["i", "you", "he", "she", "we", "they"]
CORPORA = {
    "cmn.txt": "\n".join(
        f"{_SUBJECTS[n % 6]} {f'w{n % 97} ' * (n % 7 + 1)}\t{chr(0x4E00 + n % 89) * (n % 8 + 1)}\t-" for n in range(600)
    ),
    "t8.shakespeare.txt": " ".join(f"word{n * n % 3001}" for n in range(12_000)),
}
WEATHER = (
    "Date Time", "p (mbar)", "T (degC)", "Tpot (K)", "Tdew (degC)", "rh (%)", "VPmax (mbar)", "VPact (mbar)",
    "VPdef (mbar)", "sh (g/kg)", "H2OC (mmol/mol)", "rho (g/m**3)", "wv (m/s)", "max. wv (m/s)", "wd (deg)",
)  # fmt: skip
"""Columns of the Max Planck institute's weather station in Jena."""
HOUSES = ("CRIM", "ZN", "INDUS", "CHAS", "NOX", "RM", "AGE", "DIS", "RAD", "TAX", "PTRATIO", "LSTAT", "MEDV")
"""Columns of the houses of Boston, without the one that its editions leave out."""
DIGITS = (5, 10, 15, 20, 25, 30, 35)
REVIEW_WORDS = 5147
"""Words of `paddle.text.Imdb`, published with it (cut at 150)."""


def write(folder: Path) -> None:
    """Write the files into a folder, in its parent folder's `dataset` too."""
    for name, text in CORPORA.items():
        (folder / name).write_text(text, encoding="utf-8")
    rows = [[f"{n % 28 + 1:02}.01.2009 {n % 24:02}:10:00", *([n % 30 + 0.5] * 14)] for n in range(2_000)]
    _table(folder / "jena_climate_2009_2016.csv", WEATHER, rows)
    beside = folder.parent / "dataset"
    for place in (folder, beside):
        place.mkdir(exist_ok=True)
        _table(place / "boston_house_prices.csv", HOUSES, [[n % 7 + 0.25] * len(HOUSES) for n in range(506)])
        _pictures(place / "cifar-10-batches-py")
        _reviews(place / "imdb")
        _reviews(place / "IMDB_Dataset")
        _questions(place / "lcqmc")
    _digits(folder / "RNN_Datasets")


def _table(path: Path, columns: Iterable[str], rows: Iterable[list[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list(columns), *rows])


def _pictures(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in (*(f"data_batch_{n}" for n in range(1, 6)), "test_batch"):
        batch = {"data": np.zeros((1_000, 3_072), np.uint8), "labels": [n % 10 for n in range(1_000)]}
        (folder / name).write_bytes(pickle.dumps(batch))


def _reviews(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    words = ["[PAD]", "[UNK]", *(f"w{n}" for n in range(9_998))]
    lines = [f"{n % 2}\t{' '.join(words[2 + (n + k) % 9_000] for k in range(300))}" for n in range(600)]
    texts = {"train": lines, "dev": lines[:200], "test": lines[:200], "vocab": words}
    for name, rows in texts.items():
        (folder / f"{name}.txt").write_text("\n".join(rows), encoding="utf-8")
        with gzip.open(folder / f"{name}.txt.gz", "wt", encoding="utf-8") as file:
            file.write("\n".join(rows))


def _questions(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [f"{chr(0x4E00 + n % 500) * 11}\t{chr(0x4E00 + n % 400) * 12}\t{n % 2}" for n in range(600)]
    for name in ("train", "dev", "test"):
        for suffix in ("txt", "csv", "tsv"):
            (folder / f"{name}.{suffix}").write_text("\n".join(rows), encoding="utf-8")


def _digits(folder: Path) -> None:
    for length in DIGITS:
        place = folder / str(length)
        place.mkdir(parents=True, exist_ok=True)
        (folder.parent / "datasets" / str(length)).mkdir(parents=True, exist_ok=True)  # a notebook writes into it
        for name, count in (("train", 300), ("dev", 100), ("test", 100)):
            rows = [" ".join(str((n + k) % 10) for k in range(length)) + f"\t{n % 19}" for n in range(count)]
            (place / f"{name}.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")


def in_data_sets() -> None:
    """Have Paddle's own data sets hold made-up samples of their true shapes, and pretrained weights be none."""
    import paddle

    vision, text = paddle.vision.datasets, paddle.text

    def pictures(
        self: Any, *args: Any, mode: str = "train", transform: Any = None, backend: Any = None, **_: Any
    ) -> None:
        self.mode, self.transform, self.backend = mode, transform, backend or paddle.vision.get_image_backend()
        self.dtype = paddle.get_default_dtype()
        count = 60_000 if mode == "train" else 10_000
        self.images = np.broadcast_to(np.zeros((1, 784), "uint8"), (count, 784))
        self.labels = np.broadcast_to(np.zeros((1, 1), "int64"), (count, 1))

    def coloured(
        self: Any, *args: Any, mode: str = "train", transform: Any = None, backend: Any = None, **_: Any
    ) -> None:
        self.mode, self.transform, self.backend = mode, transform, backend or paddle.vision.get_image_backend()
        self.dtype = paddle.get_default_dtype()
        sample = np.zeros(3072, "uint8"), 0
        self.data = [(sample[0], number % 10) for number in range(50_000 if mode == "train" else 10_000)]

    def houses(self: Any, *args: Any, mode: str = "train", **_: Any) -> None:
        self.mode, self.dtype = mode, "float32"
        self.data = np.zeros((404 if mode == "train" else 102, 14), "float32")

    def reviews(self: Any, *args: Any, mode: str = "train", **_: Any) -> None:
        self.mode = mode
        self.word_idx = {f"w{n}".encode(): n for n in range(REVIEW_WORDS - 1)} | {b"<unk>": REVIEW_WORDS - 1}
        self.docs = [[(n + k) % REVIEW_WORDS for k in range(230)] for n in range(25_000 // 25)] * 25
        self.labels = [n % 2 for n in range(len(self.docs))]

    for kind in (vision.MNIST, vision.FashionMNIST):
        kind.__init__ = pictures
    for kind in (vision.Cifar10, vision.Cifar100):
        kind.__init__ = coloured
    text.UCIHousing.__init__ = houses
    text.Imdb.__init__ = reviews
    _without_weights(paddle)


def _without_weights(paddle: Any) -> None:
    """Pretrained weights change no size: models keep those that they begin with."""
    loads, name = paddle.load, "pretrained"
    paddle.utils.download.get_weights_path_from_url = lambda *_, **__: name
    for module in (paddle.vision.models.resnet, paddle.vision.models.vgg, paddle.vision.models.mobilenetv2):
        module.get_weights_path_from_url = lambda *_, **__: name
    paddle.load = lambda path, *args, **kwargs: {} if path == name else loads(path, *args, **kwargs)
    paddle.set_device = lambda *_: paddle.CPUPlace()
