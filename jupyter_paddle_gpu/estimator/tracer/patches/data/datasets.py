"""Paddle's own data sets when their files are not on this machine: their shapes are facts, nothing is downloaded.

What a data set holds is filled in as its files would; its own code does the rest (transforms, windows, features).
"""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import paddle

from ... import call_stack
from ...session import Session
from ...step.host_memory import HostMemory
from .. import patch
from ..environment import DownloadNeeded
from ..patch import Patch


class Contents:
    """Whether the program itself was handed samples that stand in: what it decides by them says nothing of true ones.

    A loader's batches are tensors, of which a trace knows by itself what nobody computed.
    """

    def __init__(self) -> None:
        self.are_seen = False


STAND_IN = "data-not-needed:"
"""Begins the path of a picture or a clip that stands in."""


@dataclass(frozen=True)
class StandIn:
    """What stands for a data set.

    Attributes:
        owner: where its class is.
        name: of the class.
        fill: gives it what its files hold, for a mode; classes are equally frequent, since programs draw pairs of each
            class or balance them.
        source: where counts, shapes and classes are published.
    """

    owner: Any
    name: str
    fill: Callable[[Any, str], None]
    source: str


def _mnist(dataset: Any, mode: str) -> None:
    count = 60000 if mode == "train" else 10000
    dataset.images = np.broadcast_to(np.zeros((1, 784), "float32"), (count, 784))
    dataset.labels = (np.arange(count) % 10)[:, None]


def _cifar(classes: int) -> Callable[[Any, str], None]:
    def fill(dataset: Any, mode: str) -> None:
        image = np.zeros(3072, "uint8")
        dataset.data = [(image, label % classes) for label in range(50000 if mode == "train" else 10000)]

    return fill


def _flowers(dataset: Any, mode: str) -> None:
    dataset.data_path = STAND_IN
    dataset.labels = np.arange(8189) % 102 + 1
    dataset.indexes = np.arange(1, {"train": 6149}.get(mode, 1020) + 1)


class _Archive:
    """A tar file whose members are pictures: photographs by the one ending, their classes by the other."""

    def __init__(self, **pictures: bytes) -> None:
        self._pictures = pictures

    def extractfile(self, member: str) -> io.BytesIO:
        """A member's content."""
        return io.BytesIO(self._pictures[member.rpartition(".")[2]])

    def close(self) -> None:
        """There is nothing to close."""


def _encoded(kind: str) -> bytes:
    content = io.BytesIO()
    paddle.vision.datasets.voc2012.Image.new(kind, (500, 375)).save(content, "PNG")
    return content.getvalue()


def _voc(dataset: Any, mode: str) -> None:
    count = {"train": 2913, "test": 1464}.get(mode, 1449)
    dataset.data, dataset.labels = [f"{n}.jpg" for n in range(count)], [f"{n}.png" for n in range(count)]
    dataset.name2mem = {name: name for name in (*dataset.data, *dataset.labels)}
    dataset.data_tar = _Archive(jpg=_encoded("RGB"), png=_encoded("L"))


def _housing(dataset: Any, mode: str) -> None:
    dataset.data = np.zeros((404 if mode == "train" else 102, 14), "float32")


def _words(count: int, unknown: str = "<unk>") -> dict[str, int]:
    """A dictionary of so many words, the one for all others at its end."""
    return {**{f"w{n}": n for n in range(count - 1)}, unknown: count - 1}


def _imdb(dataset: Any, mode: str) -> None:
    words = _words(5148)
    dataset.word_idx = {word if word == "<unk>" else word.encode(): number for word, number in words.items()}
    document = [0] * 233
    dataset.docs, dataset.labels = [document] * 25000, [n % 2 for n in range(25000)]


def _ptb(dataset: Any, mode: str) -> None:
    dataset.word_idx = {**_words(2074), "<s>": 0, "<e>": 1}
    words, sentences = (929_589 - 42_068, 42_068) if mode == "train" else (82_430 - 3_761, 3_761)
    if dataset.data_type == "SEQ":
        line = [0] * (words // sentences)
        dataset.data = [(line, line)] * sentences
    else:
        window = dataset.window_size
        dataset.data = [(0,) * window] * (words + sentences * (3 - window))


def _movielens(dataset: Any, mode: str) -> None:
    dataset.movie_info, dataset.user_info = {}, {}
    dataset.movie_title_dict, dataset.categories_dict = _words(5175), _words(18)
    row = [[1], [0], [3], [12], [1], [0], [0, 1, 2, 3], [1.0]]
    count = round(1_000_209 * (dataset.test_ratio if mode == "test" else 1 - dataset.test_ratio))
    dataset.data = [row] * count


def _marked(count: int) -> dict[str, int]:
    """A dictionary of so many words of a translation, its marks before them."""
    return {word: n for n, word in enumerate(("<s>", "<e>", "<unk>", *(f"w{n}" for n in range(3, count))))}


def _translation(source: str, target: str, counts: dict[str, int], length: int) -> Callable[[Any, str], None]:
    def fill(dataset: Any, mode: str) -> None:
        dataset.src_dict, dataset.trg_dict = _marked(getattr(dataset, source)), _marked(getattr(dataset, target))
        line, count = [0] * length, counts.get(mode, min(counts.values()))
        dataset.src_ids, dataset.trg_ids, dataset.trg_ids_next = [line] * count, [line] * count, [line] * count

    return fill


def _multi30k(dataset: Any, mode: str) -> None:
    _translation("src_dict_size", "trg_dict_size", {"train": 29_000, "val": 1_014, "test": 1_000}, 14)(dataset, mode)
    dataset.get_dict = partial(_dictionary, {dataset.lang: dataset.src_dict}, dataset.trg_dict)


def _dictionary(of_source: dict[str, Any], of_target: dict[str, int], lang: str, reverse: bool = False) -> Any:
    """`WMT16.get_dict`, which reads a file that the data set writes."""
    words: dict[str, int] = of_source.get(lang, of_target)
    return {number: word for word, number in words.items()} if reverse else words


def _roles(dataset: Any, mode: str) -> None:
    dataset.word_dict, dataset.predicate_dict = _words(44_068), _words(3_162, "verb")
    dataset.label_dict = {**{f"{side}-{n}": 2 * n for n in range(29) for side in "BI"}, "O": 58}
    length = 24
    dataset.sentences = [["w0"] * length] * 5_267
    dataset.predicates = ["w0"] * 5_267
    dataset.labels = [["B-V", *["O"] * (length - 1)]] * 5_267
    dataset.label_dict["B-V"] = 0
    dataset.emb_file = STAND_IN


_TABLE: tuple[StandIn, ...] = (
    StandIn(paddle.vision.datasets, "MNIST", _mnist, "yann.lecun.com/exdb/mnist: 60,000 and 10,000 of 28 x 28"),
    StandIn(paddle.vision.datasets, "FashionMNIST", _mnist, "github.com/zalandoresearch/fashion-mnist: as MNIST"),
    StandIn(
        paddle.vision.datasets, "Cifar100", _cifar(100), "cs.toronto.edu/~kriz/cifar.html: 50,000 and 10,000 of 32 x 32"
    ),
    StandIn(paddle.vision.datasets, "Cifar10", _cifar(10), "the same page"),
    StandIn(
        paddle.vision.datasets, "Flowers", _flowers,
        "robots.ox.ac.uk/~vgg/data/flowers/102: 8,189 pictures with a shorter side of 500; 6,149, 1,020 and 1,020 here",
    ),
    StandIn(
        paddle.vision.datasets, "VOC2012", _voc,
        "host.robots.ox.ac.uk/pascal/VOC/voc2012, segmentation: 1,464 + 1,449 pictures, mostly 500 x 375",
    ),
    StandIn(paddle.text, "UCIHousing", _housing, "archive.ics.uci.edu, 506 rows of 13 + 1; four fifths to train"),
    StandIn(
        paddle.text, "Imdb", _imdb,
        "ai.stanford.edu/~amaas/data/sentiment: 25,000 and 25,000 reviews; those to train have 233 words on average, "
        "as Paddle divides them; words above a frequency of 150 as `imdb_bow_classification` of its docs prints them",
    ),
    StandIn(
        paddle.text, "Imikolov", _ptb,
        "Mikolov's Penn Treebank and Paddle's own tests: 929,589 and 82,430 words with ends in 42,068 and 3,761 "
        "sentences; how many words have a frequency above 50 was not found",
    ),
    StandIn(
        paddle.text, "Movielens", _movielens,
        "grouplens.org/datasets/movielens/1m: 1,000,209 ratings, 18 categories; copies without their accents have "
        "5,172 and 5,173 words in their titles",
    ),
    StandIn(
        paddle.text, "WMT14",
        _translation("dict_size", "dict_size", {"train": 191_155, "test": 5_957, "gen": 3_001}, 28),
        "Paddle's own tests: 191,155, 5,957 and 3,001 pairs, those of more than 80 words left out",
    ),
    StandIn(
        paddle.text, "WMT16", _multi30k,
        "Multi30K (Elliott and others 2016): 29,000, 1,014 and 1,000 pairs of 12 words and two marks",
    ),
    StandIn(
        paddle.text, "Conll05st", _roles,
        "Paddle's book, semantic roles: 44,068 words, 3,162 verbs, 59 labels; 5,267 sentences of CoNLL-2005's WSJ test",
    ),
)  # fmt: skip
"""Paddle's data sets. Those of folders (DatasetFolder, ImageFolder) have no shapes of their own."""
_STAND_INS = {row.name: row for row in _TABLE}

_CLIPS: dict[str, tuple[int, int, int, int, str]] = {
    "ESC50": (2000, 50, 44_100, 220_500, "github.com/karolpiczak/ESC-50: 2,000 clips of 5 s at 44.1 kHz, five folds"),
    "TESS": (2800, 7, 24_414, 50_000, "doi.org/10.5683/SP2/E8H2MF: 2,800 clips of about 2 s at 24,414 Hz"),
}
"""Data sets of sound: clips, classes, samples a second, samples a clip, source; a fifth is to check."""


def _size(value: Any) -> int:
    """Bytes of the arrays in it, as if none of them shared its data with another."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    return sum(map(_size, value)) if isinstance(value, (list, tuple)) else 0


def _init(session: Session, original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> None:
    try:
        original(self, *args, **kwargs)
    except (DownloadNeeded, FileNotFoundError) as problem:
        name = next((base.__name__ for base in type(self).__mro__ if base.__name__ in _STAND_INS), None)
        if name is None:
            raise
        if isinstance(problem, FileNotFoundError):  # the program names a file of its own that is not here
            cell, line = call_stack.place()
            session.note("data_absent", cell=cell + 1, line=line, wanted=str(problem.filename))
        given = inspect.signature(original).bind(self, *args, **kwargs)
        given.apply_defaults()
        asked = {key: value for key, value in given.arguments.items() if key not in vars(self) and value is not self}
        vars(self).update(asked, dtype=paddle.get_default_dtype())
        _STAND_INS[name].fill(self, str(self.mode).lower() if hasattr(self, "mode") else "train")
        session.of(HostMemory).stands_in(sum(map(_size, vars(self).values())))
        session.note("dataset_stand_in", name=name)
        contents = session.of(Contents)
        contents.are_seen = contents.are_seen or not _is_of_paddle(getattr(self, "transform", None))


def _is_of_paddle(transform: Any) -> bool:
    """Whether no code of the program's own changes samples."""
    steps = getattr(transform, "transforms", None)
    if isinstance(steps, (list, tuple)):
        return all(map(_is_of_paddle, steps))
    return transform is None or type(transform).__module__.startswith("paddle.")


def _given(session: Session, original: Callable[..., Any], self: Any, index: Any) -> Any:
    """A sample, and whether the program is handed it."""
    sample = original(self, index)
    asks = call_stack.caller((__file__, patch.__file__))
    if asks is not None and not asks.f_code.co_filename.startswith((call_stack.PADDLE, call_stack.TRACER)):
        session.of(Contents).are_seen = True  # no loader of Paddle's or of the trace
    return sample


def _clips(session: Session, original: Callable[..., Any], self: Any, mode: str, *args: Any) -> Any:
    """Files and labels of a data set of sound."""
    try:
        return original(self, mode, *args)
    except DownloadNeeded:
        name = next(base.__name__ for base in type(self).__mro__ if base.__name__ in _CLIPS)
        count, classes = _CLIPS[name][:2]
        taken = count * 4 // 5 if mode == "train" else count // 5
        session.note("dataset_stand_in", name=name)
        return [f"{STAND_IN}{name}"] * taken, [n % classes for n in range(taken)]


def _sound(session: Session, original: Callable[..., Any], filepath: Any, *args: Any, **kwargs: Any) -> Any:
    if isinstance(filepath, str) and filepath.startswith(STAND_IN):
        rate, samples = _CLIPS[filepath.removeprefix(STAND_IN)][2:4]
        return paddle.zeros([1, samples]), rate
    return original(filepath, *args, **kwargs)


def _picture(session: Session, original: Callable[..., Any], file: Any, *args: Any, **kwargs: Any) -> Any:
    if isinstance(file, str) and file.startswith(STAND_IN):
        return paddle.vision.datasets.flowers.Image.new("RGB", (667, 500))
    return original(file, *args, **kwargs)


def patches() -> Iterator[Patch]:
    """The data sets' constructors (some have that of another), and what reads their pictures and clips."""
    for row in _TABLE:
        kind = getattr(row.owner, row.name, None)
        if kind is None:
            yield Patch(row.owner, row.name, _init)  # which is missing
            continue
        for name, replacement in (("__init__", _init), ("__getitem__", _given)):
            if name in vars(kind):
                yield Patch(kind, name, replacement)
    for name in _CLIPS:
        yield Patch(getattr(paddle.audio.datasets, name), "_get_data", _clips)
    yield Patch(paddle.audio, "load", _sound)
    flowers = paddle.vision.datasets.flowers
    if hasattr(flowers, "Image"):
        yield Patch(flowers.Image, "open", _picture)
