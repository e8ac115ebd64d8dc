"""PaddleNLP's `load_dataset` without its files: sentences of the published number, columns and classes stand in.

What a text says is not known; it has as many words (Chinese: characters) as such texts have on average, so that a
padded batch has the length of the mean and a batch that is cut at `max_seq_length` is no longer than that. Words
differ, as far as a vocabulary commonly has them, and a note says so where a program goes through them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import paddle

from ...session import Session, current
from ..absent_modules import AbsentModule, stands_for
from ..awaited import Awaited
from ..environment import DownloadNeeded
from ..patch import Patch

Splits = dict[str, int]
_BIO = ("B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC", "O")
_NLI = ("entailment", "contradiction", "neutral")


@dataclass(frozen=True)
class Texts:
    """A data set of texts.

    Attributes:
        columns: by name what stands there, filled in by `_sample`.
        splits: samples by the names that `splits=` takes, in the order in which all of them are given.
        length: words or characters of a text.
        labels: the classes; empty where there are none.
        source: where counts are published; which of them were looked up says `docs/questions.md`. Columns, splits and
            classes are those of PaddleNLP 2.8's readers.
    """

    columns: str
    splits: Splits
    length: int
    labels: tuple[str, ...]
    source: str
    is_chinese: bool = True


_TWO = ("0", "1")
_ANSWERED = "id title context question answers answer_starts"
_GLUE = "gluebenchmark.com (Wang and others 2019)"
_CLUE = "cluebenchmarks.com (Xu and others 2020)"


def _three(train: int, dev: int, test: int) -> Splits:
    return {"train": train, "dev": dev, "test": test}


def _english(columns: str, splits: Splits, length: int, labels: tuple[str, ...], source: str) -> Texts:
    return Texts(columns, splits, length, labels, source, is_chinese=False)


_TABLE: dict[str, Texts] = {
    "chnsenticorp": Texts("text label qid", _three(9_600, 1_200, 1_200), 107, _TWO, "Tan Songbo, hotel reviews"),
    "lcqmc": Texts("query title label", _three(238_766, 8_802, 12_500), 11, _TWO, "Liu and others 2018"),
    "bq_corpus": Texts(
        "sentence1 sentence2 label", _three(100_000, 10_000, 10_000), 12, _TWO, "Chen and others 2018"
    ),
    "paws-x": Texts("sentence1 sentence2 label", _three(49_401, 2_000, 2_000), 44, _TWO, "Yang and others 2019"),
    "msra_ner": Texts("tokens labels", {"train": 45_000, "test": 3_442}, 48, _BIO, "Levow 2006"),
    "peoples_daily_ner": Texts(
        "tokens labels", _three(20_864, 2_318, 4_636), 47, _BIO, "github.com/zjy-ucas/ChineseNER, People's Daily"
    ),
    "nlpcc14_sc": Texts("text label qid", {"train": 10_000, "test": 2_500}, 60, _TWO, "NLPCC 2014, shared task 2"),
    "seabsa16/phns": Texts("text text_pair label", {"train": 1_336, "test": 529}, 60, _TWO, "SemEval 2016, task 5"),
    "seabsa16/came": Texts("text text_pair label", {"train": 1_317, "test": 505}, 60, _TWO, "SemEval 2016, task 5"),
    "cmrc2018": Texts(_ANSWERED, {"train": 10_142, "dev": 3_219}, 490, (), "Cui and others 2019"),
    "drcd": Texts(_ANSWERED, _three(26_936, 3_524, 3_493), 436, (), "Shao and others 2018"),
    "dureader_robust": Texts(_ANSWERED, _three(14_520, 1_417, 50_000), 300, (), "Tang and others 2021"),
    "xnli": Texts("premise hypothesis label", _three(392_702, 2_490, 5_010), 30,
                  ("entailment", "neutral", "contradiction"), "Conneau and others 2018, Chinese"),
    "couplet": Texts("first second", _three(770_491, 4_000, 4_000), 10, (), "github.com/wb14123/couplet-dataset"),
    "squad": _english(
        _ANSWERED + " is_impossible",
        {"train_v1": 87_599, "dev_v1": 10_570, "train_v2": 130_319, "dev_v2": 11_873},
        120, (), "rajpurkar.github.io/SQuAD-explorer",
    ),
    "imdb": _english("text label", {"train": 25_000, "test": 25_000}, 231, _TWO, "Maas and others 2011"),
    "iwslt15": _english("en vi", _three(133_317, 1_553, 1_268), 20, (), "Luong and Manning 2015, English-Vietnamese"),
    "wmt14ende": _english("source target", _three(4_508_785, 3_000, 3_003), 28, (), "statmt.org/wmt14"),
    "ptb": _english("sentence", {"train": 42_068, "valid": 3_370, "test": 3_761}, 21, (), "Mikolov's Penn Treebank"),
    "glue/cola": _english("sentence labels", _three(8_551, 1_043, 1_063), 8, _TWO, _GLUE),
    "glue/sst-2": _english("sentence labels", _three(67_349, 872, 1_821), 10, _TWO, _GLUE),
    "glue/mrpc": _english("sentence1 sentence2 labels", _three(3_668, 408, 1_725), 22, _TWO, _GLUE),
    "glue/sts-b": _english("sentence1 sentence2 labels", _three(5_749, 1_500, 1_379), 11, (), _GLUE),
    "glue/qqp": _english("sentence1 sentence2 labels", _three(363_846, 40_430, 390_965), 11, _TWO, _GLUE),
    "glue/mnli": _english(
        "sentence1 sentence2 labels",
        {"train": 392_702, "dev_matched": 9_815, "dev_mismatched": 9_832, "test_matched": 9_796,
         "test_mismatched": 9_847}, 15, ("contradiction", "entailment", "neutral"), _GLUE,
    ),
    "glue/qnli": _english(
        "sentence1 sentence2 labels", _three(104_743, 5_463, 5_463), 18, ("entailment", "not_entailment"), _GLUE
    ),
    "glue/rte": _english(
        "sentence1 sentence2 labels", _three(2_490, 277, 3_000), 26, ("entailment", "not_entailment"), _GLUE
    ),
    "clue/afqmc": Texts("sentence1 sentence2 label", _three(34_334, 4_316, 3_861), 13, _TWO, _CLUE),
    "clue/tnews": Texts("sentence label label_desc keywords", _three(53_360, 10_000, 10_000), 22,
                        tuple(map(str, (100, 101, 102, 103, 104, 106, 107, 108, 109, 110, 112, 113, 114, 115, 116))),
                        _CLUE),
    "clue/iflytek": Texts(
        "sentence label label_des", _three(12_133, 2_599, 2_600), 289, tuple(map(str, range(119))), _CLUE
    ),
    "clue/ocnli": Texts("sentence1 sentence2 label", _three(50_437, 2_950, 3_000), 18, _NLI, _CLUE),
    "clue/cmnli": Texts("sentence1 sentence2 label", _three(391_783, 12_241, 13_880), 25, _NLI, _CLUE),
    "clue/cluewsc2020": Texts("text target label", _three(1_244, 304, 290), 60, ("true", "false"), _CLUE),
    "clue/csl": Texts("abst keyword label", _three(20_000, 3_000, 3_000), 205, _TWO, _CLUE),
}  # fmt: skip
"""Twenty names of `load_dataset`, with the parts of GLUE, CLUE and SE-ABSA16."""
_ALIASES = {"paws_x": "paws-x"}
_BLOCK = 128
"""Samples of which a transformation of whole batches is made once: all of them are alike but for their classes."""


CHARACTERS, WORDS = 5_000, 10_000
"""Of how many different ones Chinese and English texts are made up, as far as a block has so many: a vocabulary that a
program counts in them is as large. Assumed."""


def _text(row: Texts, number: int) -> str:
    places = range(number * row.length, (number + 1) * row.length)
    if row.is_chinese:
        return "".join(chr(0x4E00 + at % CHARACTERS) for at in places)
    return " ".join(f"word{at % WORDS}" for at in places)


_FIXED: dict[str, Callable[[Texts, str], Any]] = {
    "tokens": lambda row, text: list(text),
    "answers": lambda row, text: [text[:4]],
    "answer_starts": lambda row, text: [0],
    "keyword": lambda row, text: [text[:4]] * 4,
    "target": lambda row, text: {"span1_index": 0, "span1_text": text[:2], "span2_index": 4, "span2_text": text[:1]},
    "is_impossible": lambda row, text: False,
    "id": lambda row, text: "0",
    "qid": lambda row, text: "0",
    **dict.fromkeys(
        ("question", "title", "keywords", "label_desc", "label_des"), lambda row, text: text[: max(8, row.length // 8)]
    ),
}
"""What stands in a column that is no whole text."""


def _sample(row: Texts, number: int, *, is_answered: bool) -> dict[str, Any]:
    """One sample; `is_answered`: with its class, as a number where the classes are listed."""
    text, columns = _text(row, number), row.columns.split()
    found = {column: _FIXED[column](row, text) if column in _FIXED else text for column in columns}
    if "tokens" in found:
        return {**found, "labels": [len(row.labels) - 1] * row.length}
    found = {column: value for column, value in found.items() if is_answered or column != "labels"}
    kind = number % len(row.labels) if row.labels else "3.0"
    return {column: value if column not in {"label", "labels"} else kind if is_answered else ""
            for column, value in found.items()}  # fmt: skip


class MapDataset(paddle.io.Dataset):  # type: ignore[misc]
    """The data set as PaddleNLP gives it: `map`, `filter` and `shard` change it in place.

    Args:
        made: samples by their number, as many as differ.
        count: how many there are.
    """

    name = ""
    """By which it is known; empty where the program's own function has read it."""

    def __init__(self, made: Any, count: int | None = None, label_list: Any = None, **_: Any) -> None:
        super().__init__()
        self.new_data = self.data = made
        self._count = len(made) if count is None else count
        self._functions: list[Callable[[Any], Any]] = []
        self.label_list, self.vocab_info = label_list, None

    def __getitem__(self, number: int) -> Any:
        """A sample behind all transformations."""
        if not -self._count <= number < self._count:
            raise IndexError(number)
        found = self.new_data[number % len(self.new_data)]
        found = dict(found) if isinstance(found, dict) else found
        for function in self._functions:
            found = function(found)
        return found

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Any]:
        """A program that goes through all of them may count words."""
        session = current()
        if session is not None and self.name:
            session.note("words_made_up", name=self.name, characters=CHARACTERS, words=WORDS)
        return (self[number] for number in range(self._count))

    def map(self, fn: Callable[[Any], Any], lazy: bool = True, batched: bool = False, num_workers: int = 0) -> Any:
        """Transform every sample; a function of whole batches may make more of them."""
        if batched:
            block = [self[number] for number in range(min(self._count, len(self.new_data)))]
            made = list(fn(block))
            self._count = self._count * len(made) // max(1, len(block))
            self.new_data, self._functions = made, []
        else:
            self._functions.append(fn)
        return self

    def filter(self, fn: Callable[[Any], bool], num_workers: int = 0) -> Any:
        """Keep the samples of which a function says so, in proportion."""
        block = [self[number] for number in range(min(self._count, len(self.new_data)))]
        kept = [one for one in block if fn(one)]
        self._count = self._count * len(kept) // max(1, len(block))
        self.new_data, self._functions = kept, []
        return self

    def shard(self, num_shards: int | None = None, index: int | None = None, contiguous: bool = False) -> Any:
        """One process's part."""
        self._count = -(-self._count // (num_shards or paddle.distributed.get_world_size()))
        return self


def _made(row: Texts, split: str) -> MapDataset:
    is_answered = not (split.startswith("test") and row.labels and "tokens" not in row.columns)
    block = [_sample(row, number, is_answered=is_answered) for number in range(_BLOCK)]
    return MapDataset(block, row.splits[split], list(row.labels) or None)


def stand_in(name: Any, part: Any = None, splits: Any = None) -> Any:
    """What `load_dataset` gives; None for a name that is not in the table.

    Raises:
        ValueError: there is no such split.
    """
    known = _ALIASES.get(str(name), str(name))
    row = _TABLE.get(f"{known}/{part}" if part else known)
    session = current()
    if row is None or session is None:
        return None
    asked = [splits] if isinstance(splits, str) else list(splits or row.splits)
    if wrong := [one for one in asked if one not in row.splits]:
        message = f'Invalid split "{wrong[0]}". Should be one of {list(row.splits)}.'
        raise ValueError(message)
    session.note("dataset_stand_in", name=f"{known} ({part})" if part else known)
    found = [_made(row, one) for one in asked]
    for one in found:
        one.name = known
    return found[0] if len(found) == 1 else found


def _load(session: Session, original: Callable[..., Any], name: Any, *args: Any, **kwargs: Any) -> Any:
    """PaddleNLP's own way where the files are here, or another name is asked for."""
    try:
        return original(name, *args, **kwargs)
    except (Exception, DownloadNeeded):
        part = kwargs.get("name", args[0] if args else None)
        found = None if callable(name) else stand_in(name, part, kwargs.get("splits", (*args, None, None, None)[2]))
        if found is None:
            raise
        return found


@stands_for("paddlenlp")
class Library(AbsentModule):
    """PaddleNLP where it is not there: its data sets are known, anything else is passed by."""

    MapDataset = MapDataset

    @property
    def datasets(self) -> Library:
        """The module of `load_dataset`."""
        return self

    @staticmethod
    def load_dataset(path: Any, name: Any = None, data_files: Any = None, splits: Any = None, **kwargs: Any) -> Any:
        """A data set by its name, or one that the program's own function reads."""
        if callable(path):
            kwargs.pop("lazy", None)
            return MapDataset(list(path(**kwargs)))
        found = stand_in(path, name, splits)
        return AbsentModule("paddlenlp") if found is None else found


def patches() -> Iterator[Patch]:
    """`load_dataset`, under the names by which notebooks import it."""
    for module in ("paddlenlp.datasets.dataset", "paddlenlp.datasets"):
        yield Patch(Awaited(module), "load_dataset", _load)
