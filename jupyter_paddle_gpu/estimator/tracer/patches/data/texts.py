"""PaddleNLP's `load_dataset` without its files: sentences of the published number, columns and classes stand in.

What a text says is not known; it has as many words (Chinese: characters) as such texts have on average, so that a
padded batch has the length of the mean and a batch that is cut at `max_seq_length` is no longer than that. Words
differ, as far as a vocabulary commonly has them, and a note says so where a program goes through them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from math import exp
from pathlib import Path
from statistics import NormalDist
from typing import Any

import paddle

from ...session import Session, current
from ..absent_modules import AbsentModule, stands_for
from ..awaited import Awaited
from ..environment import DownloadNeeded
from ..patch import Patch
from .datasets import Contents
from .published_texts import ALIASES, LENGTH, TABLE, Texts

_BLOCK = 128
"""Samples of which a transformation of whole batches is made once: all of them are alike but for their classes."""
SPREAD = 0.6
"""Of the logarithm of a text's length around its mean, where lengths are made up: with it PaddleNLP#7488, sentences of
WMT14, lies inside (docs/gpu-logs.md). Assumed of all others."""
_STRIDE = 37
"""Prime to the block: in which order lengths come, and another one in each column."""


CHARACTERS, WORDS = 5_000, 10_000
"""Of how many different ones Chinese and English texts are made up, as far as a block has so many: a vocabulary that a
program counts in them is as large. Assumed."""


def _text(row: Texts, number: int, length: int) -> str:
    places = range(number * length, (number + 1) * length)
    return row.between.join(chr(0x4E00 + at % CHARACTERS) if row.is_chinese else f"word{at % WORDS}" for at in places)


_FIXED: dict[str, Callable[[str], Any]] = {
    "tokens": list,
    "answers": lambda text: [text[:4]],
    "answer_starts": lambda text: [0],
    "keyword": lambda text: [text[:4]] * 4,
    "spans": lambda text: {"span1_index": 0, "span1_text": text[:2], "span2_index": 4, "span2_text": text[:1]},
    "is_impossible": lambda text: False,
    "id": lambda text: "0",
    "qid": lambda text: "0",
}
"""What stands in a column that is no whole text, by its name or by what the table says of it."""


def _spread(mean: int, number: int, column: int) -> int:
    """How long one of many texts of this mean is: each part of the distribution comes once in a block."""
    place = ((number + column * 11) * _STRIDE % _BLOCK + 0.5) / _BLOCK
    return max(min(mean, 1), round(mean * exp(SPREAD * NormalDist().inv_cdf(place) - SPREAD * SPREAD / 2)))


def _sample(row: Texts, number: int, *, is_answered: bool, is_spread: bool = False) -> dict[str, Any]:
    """One sample; `is_answered`: with its class, as a number where the classes are listed; `is_spread`: of a length of
    its own."""
    found: dict[str, Any] = {}
    length = row.length
    for at, described in enumerate(row.columns.split()):
        column, _, kind = described.partition("=")
        length = row.lengths.get(column, row.length)
        length = _spread(length, number, at) if is_spread else length
        text = _text(row, number, length)
        fixed = _FIXED.get(kind or column)
        found[column] = text if fixed is None else fixed(text)
    if "tokens" in found:
        return {**found, "labels": [len(row.labels) - 1] * len(found["tokens"])}
    found = {column: value for column, value in found.items() if is_answered or column != "labels"}
    label = number % len(row.labels) if row.labels else "3.0"
    return {column: value if column not in {"label", "labels"} else label if is_answered else ""
            for column, value in found.items()}  # fmt: skip


def _in_all(languages: tuple[str, ...], sample: dict[str, Any]) -> dict[str, Any]:
    """A sample where no language is asked for."""
    return {key: value if key == "label" else dict.fromkeys(languages, value) for key, value in sample.items()}


def _vocabularies(row: Texts) -> dict[str, Any] | None:
    """`vocab_info`, by which `Vocab.load_vocabulary` is called, with files of the published sizes."""
    found: dict[str, Any] = {}
    for name, size in row.vocabularies.items():
        special = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": row.end}
        words = (chr(0x4E00 + at) if row.is_chinese else f"word{at}" for at in range(size - len(special)))
        file = Path(tempfile.mkdtemp()) / f"vocab.{name or 'txt'}"
        file.write_text("\n".join((*special.values(), *words)) + "\n", encoding="utf-8")
        found[name] = {"filepath": str(file), **special}
    return found.get("", found) or None


class Published:
    """The data sets of a trace whose texts have the mean length of published ones."""

    def __init__(self) -> None:
        self.sets: list[MapDataset] = []

    @contextmanager
    def of_other_lengths(self) -> Iterator[None]:
        """While batches that come later are looked at."""
        with ExitStack() as stack:
            for one in self.sets:
                stack.enter_context(one.of_other_lengths())
            yield


class MapDataset(paddle.io.Dataset):  # type: ignore[misc]
    """The data set as PaddleNLP gives it: `map`, `filter` and `shard` change it in place.

    Args:
        made: samples by their number, as many as differ.
        count: how many there are.
    """

    name = ""
    """By which it is known; empty where the program's own function has read it."""
    others: Any = None
    """Samples of other lengths than the mean; None where nobody knows them."""

    def __init__(
        self, made: Any, count: int | None = None, label_list: Any = None, vocab_info: Any = None, **_: Any
    ) -> None:
        super().__init__()
        self.new_data = self.data = made
        self._count = len(made) if count is None else count
        self._functions: list[Callable[[Any], Any]] = []
        self._changes: list[Callable[[], Any]] = []
        self.label_list, self.vocab_info = label_list, vocab_info

    @contextmanager
    def of_other_lengths(self) -> Iterator[None]:
        """While batches that come later are looked at, texts have other lengths, behind the same transformations."""
        before, changes = (self.new_data, self._functions, self._count), self._changes
        self.new_data, self._functions = self.others, []
        try:
            for change in changes:
                change()
            self._count = before[2]
            yield
        finally:
            self.new_data, self._functions, self._count = before
            self._changes = changes

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
        self._changes = [*self._changes, partial(self.map, fn, lazy, batched)]
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
        self._changes = [*self._changes, partial(self.filter, fn)]
        block = [self[number] for number in range(min(self._count, len(self.new_data)))]
        kept = [one for one in block if fn(one)]
        self._count = self._count * len(kept) // max(1, len(block))
        self.new_data, self._functions = kept, []
        return self

    def shard(self, num_shards: int | None = None, index: int | None = None, contiguous: bool = False) -> Any:
        """One process's part."""
        self._count = -(-self._count // (num_shards or paddle.distributed.get_world_size()))
        return self


def _made(row: Texts, split: str, vocab_info: Any = None) -> MapDataset:
    is_answered = not (split.startswith("test") and row.labels and "tokens" not in row.columns)
    block, others = (
        [_sample(row, number, is_answered=is_answered, is_spread=is_spread) for number in range(_BLOCK)]
        for is_spread in (False, True)
    )
    found = MapDataset(block, row.splits[split], list(row.labels) or None, vocab_info)
    found.others = others
    return found


def _refused(message: str) -> ValueError:
    """What the library raises for a name that it does not have, wherever it runs."""
    problem, session = ValueError(message), current()
    return problem if session is None else session.refused(problem)


def stand_in(name: Any, part: Any = None, splits: Any = None) -> Any:
    """What `load_dataset` gives; None for a name that is not in the table.

    Raises:
        ValueError: there is no such split, or no such language.
    """
    known = ALIASES.get(str(name), str(name))
    of_all = TABLE.get(known)
    row = TABLE.get(f"{known}/{part}") if part else of_all
    if row is None and of_all is not None and of_all.languages:
        row = of_all
        if part not in row.languages:
            message = f"Name parameter should be specified. Can be one of {[*row.languages, 'all_languages']}. "
            raise _refused(message)
    session = current()
    if row is None or session is None:
        return None
    asked = [splits] if isinstance(splits, str) else list(splits or row.splits)
    if wrong := [one for one in asked if one not in row.splits]:
        message = f'Invalid split "{wrong[0]}". Should be one of {list(row.splits)}.'
        raise _refused(message)
    told = f"{known} ({part})" if part else known
    session.note("dataset_stand_in", name=told)
    session.of(Contents).are_seen = True  # its functions are the program's
    session.note("text_length_assumed" if LENGTH in row.assumed else "text_length_mean", name=told, length=row.length)
    vocab_info = _vocabularies(row)
    found = [_made(row, one, vocab_info) for one in asked]
    for one in found:
        one.name = known
        if row.languages and not part:
            one.new_data = one.data = [_in_all(row.languages, sample) for sample in one.data]
            one.others = [_in_all(row.languages, sample) for sample in one.others]
        session.of(Published).sets.append(one)
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
