"""The models that a program holds at one moment, and what of them data comes to."""

from __future__ import annotations

import gc
import inspect
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from math import prod
from typing import Any

import paddle

from ... import call_stack
from ...memory.arrays import known_state
from ...memory.ledger import Ledger
from ...undecided.running_code import frames


class Models:
    """Found among all objects of the process, once: to go through them takes as long as a few thousand operations.

    Args:
        ledger: of the run that holds them; what another run of this process left behind is none of its models.
    """

    def __init__(self, ledger: Ledger | None = None) -> None:
        self._ledger = ledger

    @cached_property
    def _all(self) -> list[Any]:
        found = [one for one in gc.get_objects() if _is_model(one)]
        return [one for one in found if self._ledger is None or not _is_of_another(one, self._ledger)]

    @cached_property
    def wrapped(self) -> list[Any]:
        """Each `paddle.Model`."""
        return [one for one in self._all if isinstance(one, paddle.Model)]

    @cached_property
    def outer(self) -> list[Any]:
        """Layers that are part of no other, the largest first."""
        layers = [one for one in self._all if isinstance(one, paddle.nn.Layer)]
        inner = {id(part) for layer in layers for part in layer.sublayers()}
        models = [layer for layer in layers if id(layer) not in inner]
        return sorted(models, key=lambda layer: -sum(prod(one.shape) for one in layer.parameters()))

    @cached_property
    def _leaves(self) -> list[list[Any]]:
        """The layers with weights of each model, in their order; the largest model first."""
        found = []
        for model in self.outer:
            leaves = [one for one in model.sublayers(include_self=True) if not one._sub_layers and one.parameters()]
            leaves += [one for one in model.sublayers(include_self=True) if hasattr(one, "input_size")]
            if leaves:
                found.append(leaves)
        return found

    @cached_property
    def first(self) -> list[Any]:
        """The layers that the data comes to, of the largest models."""
        return [_first(leaves) for leaves in self._leaves[:3]]

    @cached_property
    def by_hand(self) -> list[tuple[int, ...]]:
        """The shape of the first weight that running code trains without a layer, which data comes to: of names that it
        has, of lists and dictionaries under them, of attributes of the program's own objects."""
        held = [value for frame in frames() for value in list(frame.f_locals.values())]
        layers = (one for one in self._all if isinstance(one, paddle.nn.Layer))
        of_layers = {id(weight) for layer in layers for weight in layer.parameters(include_sublayers=False)}
        own = (one for one in _tensors(held) if id(one) not in of_layers)
        trained = (one for one in own if not one.stop_gradient and one.is_leaf)
        return [tuple(map(int, one.shape)) for one in trained if len(one.shape) > 1][:1]

    @cached_property
    def predicted(self) -> tuple[int, ...]:
        """The shape of what a loss is given to compare with what is asked for; empty where no loss runs."""
        frame = call_stack.caller()
        while frame is not None and not call_stack.is_cell(frame.f_code.co_filename):
            given = frame.f_locals.get("input")
            if frame.f_code.co_filename.endswith(_LOSSES) and isinstance(given, paddle.Tensor):
                return tuple(map(int, given.shape))
            frame = frame.f_back
        return ()

    @property
    def takes_ids(self) -> bool:
        """Whether one of them is an embedding."""
        return any(type(layer).__name__ == "Embedding" for layer in self.first)

    @cached_property
    def looks_entries_up(self) -> bool:
        """Whether the largest model takes several things, has a table for each of them, and no layer that wants a
        sequence: a user and a film, each of which is one whole number of a sample."""
        for model in self.outer[:1]:
            kinds = [type(one).__name__ for one in model.sublayers(include_self=True)]
            return (
                1 < len(inspect.signature(model.forward).parameters) <= kinds.count("Embedding")
                and not any(hasattr(one, "input_size") for one in model.sublayers())
                and all(_OF_SEQUENCES.search(kind) is None for kind in kinds)
            )
        return False

    def reads_sequences(self, model: Any) -> bool:
        """Whether a model has a layer that goes along a sequence, which no convolution of pictures is."""
        kinds = [type(one).__name__ for one in model.sublayers(include_self=True)]
        return any(_OF_SEQUENCES.search(kind) and not kind.endswith(("2D", "3D")) for kind in kinds)

    @property
    def last_widths(self) -> list[int]:
        """How wide the linear layers are that the largest models end with."""
        return [int(one.weight.shape[-1]) for one in self._ends if type(one).__name__ == "Linear"]

    @property
    def last_channels(self) -> list[int]:
        """How many channels the convolutions give that the largest models end with."""
        return [int(one._out_channels) for one in self._ends if hasattr(one, "_out_channels")]

    @property
    def _ends(self) -> list[Any]:
        ends = ([leaf for leaf in one if not hasattr(leaf, "input_size")][-1:] for one in self._leaves[:2])
        return [one[0] for one in ends if one]


def _is_model(one: Any) -> bool:
    """Whether it is a layer, or a `paddle.Model` of one: another may be of a network that a library would have made
    which is not here. A layer that was never begun (`__init__` without that of its class) has no parameters.

    `isinstance` asks what an object passes itself off as, and a `weakref.proxy` of what is gone raises then."""
    if not issubclass(type(one), (paddle.nn.Layer, paddle.Model)):
        return False
    layer = one.network if isinstance(one, paddle.Model) else one
    return isinstance(layer, paddle.nn.Layer) and "_parameters" in vars(layer)


def _is_of_another(one: Any, ledger: Ledger) -> bool:
    """Whether parameters of a layer or a model lie in another run's storages."""
    layer = one.network if isinstance(one, paddle.Model) else one
    # Those of a static program are no tensors, and are counted when it runs.
    states = (known_state(one) for one in layer.parameters() if isinstance(one, paddle.Tensor))
    storages = (state.array.storage for state in states if state is not None)
    return any(storage is not None and storage.ledger is not ledger for storage in storages)


def _tensors(held: Iterable[Any], deep: int = 3) -> Iterator[Any]:
    """The tensors among values and in what they hold."""
    for one in held:
        if isinstance(one, paddle.Tensor):
            yield one
        elif deep and not isinstance(one, paddle.nn.Layer):
            inner = one.values() if isinstance(one, dict) else one if isinstance(one, (list, tuple)) else ()
            inner = vars(one).values() if call_stack.is_own(type(one)) and hasattr(one, "__dict__") else inner
            yield from _tensors(list(islice(inner, _LOOKED_AT)), deep - 1)


_OF_SEQUENCES = re.compile(r"RNN|LSTM|GRU|Cell$|Conv|Attention|Transformer|LayerNorm|Encoder|Decoder")
"""What classes of layers are called that go along a sequence."""
_LOOKED_AT = 64
"""Entries of a container that are looked at."""
_LOSSES = "nn/functional/loss.py"
"""Where Paddle's losses stand."""


def _first(leaves: list[Any]) -> Any:
    """The layer that the data comes to: an embedding that was made behind the recurrent layer which it feeds, or the
    one that was made first."""
    width = getattr(leaves[0], "input_size", None)
    feeding = (one for one in leaves if type(one).__name__ == "Embedding" and one.parameters()[0].shape[-1] == width)
    return next(feeding, leaves[0])


def input_width(layer: Any) -> int | None:
    """How many numbers a recurrent layer takes at a time; None for another layer, or where that hangs on data."""
    width = getattr(layer, "input_size", None)
    return int(width) if isinstance(width, int) else None
