"""Batches of signals on the nodes of a graph, as nets for traffic, weather or the grid take them: what was seen at each
node over some steps of time, and what follows there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from .specified import Array

_COUNT = r"(?i)^(num|n|no)?_?(of|for)?_?"
_NODES = re.compile(_COUNT + r"(vertices|vertex|nodes?|stations?|sensors?|roads?|regions?)(_?num)?$")
_SEEN = re.compile(_COUNT + r"(his(tory)?|hist_?len|history_?len(gth)?|seq_?len|input_?len(gth)?|len_?input|p)$")
_AHEAD = re.compile(
    _COUNT + r"(pred(ict(ion)?)?s?|horizons?|pred_?len(gth)?|pre_?len|output_?len(gth)?|len_?output|q)$"
)
_FEATURES = re.compile(_COUNT + r"(features?|in_?dims?|input_?dims?|channels?)$")


def signals(size: int, numbers: Mapping[str, int]) -> Iterator[list[Array]]:
    """Batches of such signals, where the program names nodes and steps: samples, steps, nodes and what is seen of each
    in this order, or nodes before steps; what follows with or without its last side."""
    nodes, seen = (_of(kind, numbers) for kind in (_NODES, _SEEN))
    if not nodes or not seen:
        return
    ahead, features = _of(_AHEAD, numbers) or 1, _of(_FEATURES, numbers) or 1
    for given, wanted in (((seen, nodes), (ahead, nodes)), ((nodes, seen), (nodes, ahead))):
        for label in (wanted, (*wanted, features)):
            yield [("float32", (size, *given, features)), ("float32", (size, *label))]


def _of(kind: re.Pattern[str], numbers: Mapping[str, int]) -> int:
    return next((number for name, number in numbers.items() if kind.match(name) and number > 0), 0)
