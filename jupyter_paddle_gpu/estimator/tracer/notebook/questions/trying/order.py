"""The order in which candidates are tried, by what came of those before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..candidates import Candidate
from .ends import Result, input_of
from .lengths import Fitting

_RANKS_OF = re.compile(r"got input_dims(\d+), label_dims\d+")
"""What it says of labels that have no more, nor one axis less than what they are compared with."""
_NO_IDS = re.compile(
    r"embedding input only support int32 and int64, but get float|Index holds the wrong type, it holds \[float"
)
_PICTURE = 3
"""Commas of a picture's shape: NCHW."""


class Order:
    """The order in which candidates are tried: as they come, but for those of an input that a model seems to refuse
    whatever label stands beside it. Where with two labels the program came as far and ended with the same words, the
    input's other labels are tried last. That holds for pictures: labels of a sequence fail alike in the loss as well,
    and a shorter sequence would fit by chance. Where a layer wants one size of what comes of an input, the sides that
    fit are tried next (`lengths`), and other labels with them. Where what ended it says of which rank labels are, or
    that an input is of ids, all others are tried last."""

    def __init__(self, candidates: list[Candidate]) -> None:
        self._candidates = candidates
        self._ends: dict[str, set[Any]] = {}
        self._refused: set[str] = set()
        self._fitting = Fitting()
        self._found: list[Candidate] = []
        self._axes: set[int] = set()
        self._takes_ids = False

    def __iter__(self) -> Iterator[Candidate]:
        later, tried = [], set()
        for one in self._candidates:
            if input_of(one[0]) in self._refused or not self._suits(str(one[0])):
                later.append(one)
            else:
                yield self._fitting.fitted(one[0]), one[1]
            while new := next((found for found in self._found if found[0] not in tried), None):
                tried.add(new[0])
                yield new
        yield from later

    def _suits(self, answer: str) -> bool:
        """Whether nothing that was said speaks against a description."""
        label = answer.rpartition(" ")[2]
        is_of_rank = not self._axes or label.count(",") + 1 in self._axes
        return is_of_rank and not (self._takes_ids and answer.startswith("float"))

    def told(self, answer: Any, found: Result) -> None:
        """What came of a candidate that was tried."""
        stop, reached, given = found.get("stop"), found.get("reached"), input_of(answer)
        said = " ".join(_said(found))
        if given and (ranks := _RANKS_OF.search(said)) is not None:
            self._axes = {int(ranks[1]) - 1, int(ranks[1])}
        self._takes_ids = self._takes_ids or _NO_IDS.search(said) is not None
        if given.count(",") >= _PICTURE and stop is not None and reached is not None:
            end = reached, stop["cell"], stop["line"], stop["error"]
            ends = self._ends.setdefault(given, set())
            if end in ends:
                self._refused.add(given)
            ends.add(end)
        self._found += self._fitting.told(answer, _said(found), reached or 0)


def _said(found: Result) -> list[str]:
    """What ended the program, or cells of it, in words."""
    stop = found.get("stop") or {}
    told = (str(one["params"].get("message", "")) for one in found["questions"])
    return [str(stop.get("error", "")), *told, str(found.get("failed") or "")]
