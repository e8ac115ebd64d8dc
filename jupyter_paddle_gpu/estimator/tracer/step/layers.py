"""The model's own tree: which layer each operation belongs to, and what hangs on each node.

A notebook calls more than the model it trains: a block to see its shape, the model on one random image, a model of an
earlier chapter. What is told of a step is therefore told of the layers that were called in that very step.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

import paddle

from ..memory.arrays import elements
from ..memory.dtypes import FLOATING, SIZE, name_of

Meta = tuple[tuple[int, ...], str]
"""Shape and type."""
TreeRow = tuple[str, str, int, int]
"""Path, class name, own parameters, their bytes."""


@dataclass
class Root:
    """A layer with parameters that is called from outside any other.

    The layer itself is not held: the program alone decides how long its memory lives.
    """

    layer: weakref.ref[Any]
    type: str
    rows: list[TreeRow] = field(default_factory=list)
    parameters: dict[int, tuple[int, bool]] = field(default_factory=dict)
    """By identity: elements, and whether it is trained."""

    @property
    def size(self) -> int:
        """Elements of all parameters."""
        return sum(size for size, _ in self.parameters.values())

    def look(self, path_of: Callable[[Any], str | None]) -> None:
        """Note down the tree as it is now, where the layer still is."""
        layer = self.layer()
        if layer is None:
            return
        self.rows = [_row(path_of(one), one) for one in _each_once(layer)]
        self.parameters = {id(p): (elements(p), not p.stop_gradient) for p in layer.parameters()}


@dataclass(frozen=True)
class Call:
    """A layer of a root's tree is called from outside: the root's number, when, and with which tensors."""

    root: int
    at: int
    is_training: bool
    is_composite: bool
    tensors: tuple[Meta, ...]

    @property
    def sample(self) -> tuple[Meta, ...]:
        """Shapes and types without the batch's own dimension."""
        return tuple((shape[1:], dtype) for shape, dtype in self.tensors)


@dataclass(frozen=True)
class StepLayers:
    """The layers of one step.

    Attributes:
        model: class names of the models that are updated, in the order of their calls; of the largest one in training
            mode where none is.
        tree: rows by the paths that `path` gives.
        batch: what the step's first model was called with.
        parameters: elements of the distinct parameters, as `Layer.parameters()` gives them, which includes the running
            mean and variance of a normalisation (as `paddle.summary`'s "Total params" does).
        trainable: those of them with `stop_gradient` False.
    """

    model: str | None
    tree: list[TreeRow]
    batch: tuple[Meta, ...]
    parameters: int
    trainable: int
    names: dict[str, str]

    def path(self, inner: str) -> str:
        """The path to show for one of `LayerPaths`; layers that are not of this step have none."""
        return _renamed(self.names, inner)


class LayerPaths:
    """Dotted paths of layers; the first part is the number of the outermost layer that was called."""

    def __init__(self) -> None:
        self._roots: list[Root] = []
        self._paths: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._calls: list[Call] = []
        self._depth = 0

    @property
    def is_outside(self) -> bool:
        """Whether no layer is being called."""
        return self._depth == 0

    def enter(self, layer: Any) -> str | None:
        """The path of a layer that is called now: empty where nothing outside of it has parameters, None where it
        belongs to no tree (made while another one is called)."""
        path = self._paths.get(layer)
        if path is None:
            if self._depth:
                return None
            path = self._add_root(layer)
        self._depth += 1
        return path

    def leave(self) -> None:
        """The call is over."""
        self._depth -= 1

    def called(self, layer: Any, path: str, at: int, args: tuple[Any, ...]) -> None:
        """A layer with that path is called from outside."""
        tensors = tuple(_meta(layer, one) for one in args if isinstance(one, paddle.Tensor))
        root = int(path.partition(".")[0])
        trains = bool(layer.training) and paddle.is_grad_enabled()  # a policy is also asked what to do
        self._calls.append(Call(root, at, trains, bool(layer._sub_layers), tensors))

    def is_root(self, layer: Any) -> bool:
        """Whether a layer is the outermost one of its tree."""
        return (self._paths.get(layer) or ".").isdigit()

    def look(self, since: int) -> None:
        """Note down the trees of what was called since then, which may be gone once the program is left."""
        for number in {call.root for call in self._calls if call.at >= since}:
            self._roots[number].look(self._paths.get)

    def uses(self, parameters: Iterable[int], since: int) -> bool:
        """Whether a call since then was of a layer with one of these parameters (by identity)."""
        wanted = set(parameters)
        return any(wanted & self._roots[n].parameters.keys() for n in {c.root for c in self._calls if c.at >= since})

    def are_idle(self, parameters: Iterable[Any], since: int) -> bool:
        """Whether no call since then was of a layer with one of these. Of tensors that are no layer's parameters nobody
        can tell."""
        held = list(parameters)
        is_known = all(isinstance(one, paddle.base.framework.EagerParamBase) for one in held)
        return is_known and not self.uses(map(id, held), since)

    def taken(self, window: tuple[int, int]) -> frozenset[tuple[Meta, ...]]:
        """Shapes and types that models in training were called with in that time."""
        first, last = window
        calls = (call for call in reversed(self._calls) if call.is_training and call.tensors)
        recent = takewhile(lambda call: call.at >= first, calls)
        return frozenset(call.tensors for call in recent if call.at < last)

    def of_step(self, window: tuple[int, int], updated: Iterable[int] = ()) -> StepLayers:
        """What was called in that step; what was called at all where the step itself calls no layer.

        Args:
            window: the step's first operation and the one behind its last.
            updated: parameters (by identity) that the step's optimizers update.
        """
        first, last = window
        calls = [call for call in self._calls if first <= call.at < last]
        numbers = list(dict.fromkeys(call.root for call in calls)) or list(range(len(self._roots)))
        for number in numbers:
            self._roots[number].look(self._paths.get)
        roots = {number: self._roots[number] for number in numbers}
        names = _names(roots)
        training = {call.root for call in calls if call.is_training}
        main = max(roots, key=lambda number: (number in training, roots[number].size), default=None)
        changed = set(updated)
        models = [
            roots[number].type for number in numbers if number in training and changed & roots[number].parameters.keys()
        ]
        distinct: dict[int, tuple[int, bool]] = {}
        for root in roots.values():
            distinct.update(root.parameters)
        return StepLayers(
            model=" + ".join(dict.fromkeys(models)) or (None if main is None else roots[main].type),
            tree=_tree(roots, names),
            batch=_batch(calls),
            parameters=sum(size for size, _ in distinct.values()),
            trainable=sum(size for size, is_trained in distinct.values() if is_trained),
            names=names,
        )

    def _add_root(self, layer: Any) -> str:
        try:
            has_any, parts = bool(layer.parameters()), list(layer.named_sublayers())
        except TypeError:  # one that is no text for a name (`Sequential([a, b])`): Paddle says so where it joins them
            has_any = False
        if not has_any:
            self._paths[layer] = ""
            return ""
        number = str(len(self._roots))
        self._roots.append(Root(weakref.ref(layer), type(layer).__name__))
        self._paths[layer] = number
        for name, one in parts:  # what was tried out alone before is now a part of the whole
            self._paths[one] = f"{number}.{name}"
        return number


def _meta(layer: Any, tensor: Any) -> Meta:
    """Shape and type of what a layer is called with; the features of a single sample as a batch of one."""
    shape, dtype = tuple(tensor.shape), name_of(tensor.dtype)
    if len(shape) == 1 and dtype in FLOATING:
        linear = (one for one in (layer, *layer.sublayers()) if isinstance(one, paddle.nn.Linear))
        if any(tuple(one.weight.shape)[:1] == shape for one in linear):
            return (1, *shape), dtype
    return shape, dtype


def _each_once(root: Any) -> list[Any]:
    return list({id(layer): layer for layer in (root, *root.sublayers())}.values())


def _row(path: str | None, layer: Any) -> TreeRow:
    own = [p for p in layer._parameters.values() if p is not None]
    size = sum(elements(p) * SIZE[name_of(p.dtype)] for p in own)
    return (path or "", type(layer).__name__, sum(elements(p) for p in own), size)


def _names(roots: dict[int, Root]) -> dict[str, str]:
    """By a root's number, the first part of its paths: none for an only one, else its class, numbered if need be."""
    if len(roots) == 1:
        return {str(number): "" for number in roots}
    total = Counter(root.type.lower() for root in roots.values())
    seen: Counter[str] = Counter()
    names = {}
    for number, root in roots.items():
        kind = root.type.lower()
        names[str(number)] = f"{kind}_{seen[kind]}" if total[kind] > 1 else kind
        seen[kind] += 1
    return names


def _renamed(names: dict[str, str], inner: str) -> str:
    number, _, rest = inner.partition(".")
    if number not in names:
        return ""
    return ".".join(part for part in (names[number], rest) if part)


def _tree(roots: dict[int, Root], names: dict[str, str]) -> list[TreeRow]:
    """Every layer once; above several models a row that stands for the step."""
    rows: dict[str, TreeRow] = {}
    if len(roots) > 1:
        rows[""] = ("", ", ".join(dict.fromkeys(root.type for root in roots.values())), 0, 0)
    for root in roots.values():
        for inner, kind, count, size in root.rows:
            path = _renamed(names, inner)
            if path or len(roots) == 1:
                rows.setdefault(path, (path, kind, count, size))
    return list(rows.values())


def _batch(calls: list[Call]) -> tuple[Meta, ...]:
    """What the first model that is trained was called with, of its calls with such samples that with the most: a policy
    acts on one and learns from many. A bare layer counts where there is no model."""
    given = [call for call in calls if call.is_training and call.tensors]
    given.sort(key=lambda call: not call.is_composite)
    alike = [call for call in given if (call.root, call.sample) == (given[0].root, given[0].sample)]
    return max((call.tensors for call in alike), key=lambda tensors: tensors[0][0][:1], default=())
