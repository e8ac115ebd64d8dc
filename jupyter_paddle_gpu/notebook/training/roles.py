"""What each cell holds: imports, data, layers, the model, the optimiser, the loss, training, evaluation."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable

from ...domain.notebooks import Fact, LayerFact
from ..cells import Magic
from ..code import Code
from ..names import Names
from .loop import Training

ORDER = ("environment", "import", "data", "layer", "model", "optimizer", "loss", "train", "evaluate")
_DATA = frozenset(
    {"Dataset", "IterableDataset", "DataLoader", "BatchSampler", "DistributedBatchSampler", "TensorDataset"}
)
_DATA_MODULES = (
    "paddle.io.",
    "paddle.vision.datasets.",
    "paddle.vision.transforms.",
    "paddle.text.",
    "sklearn.datasets.",
)
_EVALUATE = frozenset({"evaluate", "predict", "eval_batch", "predict_batch"})
_ENVIRONMENT = frozenset({"set_device", "set_flags", "seed", "environ"})


def read_roles(
    code: Code,
    names: Names,
    *,
    training: Training,
    layers: Iterable[LayerFact],
    facts: dict[str, Fact | None],
    magics: Iterable[tuple[int, Magic]],
) -> dict[int, tuple[str, ...]]:
    """Cell index -> roles, in the order of `ORDER`; `facts` maps `model`, `optimizer`, `loss` to what was found."""
    found: dict[int, set[str]] = defaultdict(set)
    for layer in layers:
        found[layer.place.cell].add("layer")
    for role, fact in facts.items():
        if fact is not None and fact.place is not None:
            found[fact.place.cell].add(role)
    for place in (training.call, *training.loops):
        if place is not None:
            found[code.cell(place)].add("train")
    for node in code.nodes:
        role = _role(node, names)
        if role:
            found[code.cell(node)].add(role)
    for cell, magic in magics:
        if magic.text.startswith(("!", "%pip", "%conda", "%env", "%set_env", "%%bash", "%%sh")):
            found[cell].add("environment")
    return {cell: tuple(role for role in ORDER if role in found[cell]) for cell in sorted(found)}


def _role(node: ast.AST, names: Names) -> str:  # noqa: PLR0911 - one arm a role
    match node:
        case ast.Import() | ast.ImportFrom():
            return "import"
        case ast.Call(func=func):
            path = names.qualified(func)
            last = path.rsplit(".", 1)[-1]
            if path.startswith(_DATA_MODULES):
                return "data"
            if path.startswith("paddle.") and last in _ENVIRONMENT:
                return "environment"
            if isinstance(func, ast.Attribute) and (func.attr in _EVALUATE or (func.attr == "eval" and not node.args)):
                return "evaluate"
        case ast.ClassDef(bases=bases) if any(names.is_paddle(base, *_DATA) for base in bases):
            return "data"
        case ast.Attribute() if names.qualified(node) == "os.environ":
            return "environment"
    return ""
