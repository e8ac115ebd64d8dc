"""Names of a notebook that hold the size of its images or the length of its sequences, as a person would find them."""

from __future__ import annotations

import ast
import re
from typing import Any

from ..step.model_inputs import are_neighbours
from ..step.resizing import Change

_IMAGE_WORDS = frozenset(["img", "imgs", "image", "images", "im", "picture", "crop", "resize", "resolution", "imgsz"])
_PLAIN = frozenset(
    ["size", "shape", "input_size", "target_size", "train_size", "input_shape", "input_dim", "output_size"]
)
"""Names that tell an image's size only because they hold it."""
_SIDES = {"h": 0, "height": 0, "rows": 0, "w": 1, "width": 1, "cols": 1}
_PARTNERS = {"h": "w", "w": "h", "height": "width", "width": "height", "rows": "cols", "cols": "rows"}
_OTHERS = frozenset(
    [
        "channel",
        "channels",
        "patch",
        "patches",
        "num",
        "n",
        "batch",
        "count",
        "classes",
        "epochs",
        "hidden",
        "embed",
        "filters",
    ]
)
_SEQUENCE = re.compile(
    r"(max_?)?((seq|sequence|sentence|sent|text|context|ctx|src|tgt|source|target|input|pad|padded|token|history)s?_?"
    r"(len|length)|len|length|time_?steps?|num_?steps|n_?steps|window|window_?(size|len|length)|look_?back|n_?ctx|"
    r"context_?(size|window)|block_?size|seq_?size|position_embeddings|positions|n_?lags|lags|t)",
    re.IGNORECASE,
)


class Sizes(ast.NodeTransformer):
    """Binds those names wherever the notebook gives them the present size: assignments, arguments, keys, defaults.

    Args:
        change: the present sizes and those asked for.
        source: the whole notebook; a `width` tells an image's size where there is a `height` as well.
    """

    def __init__(self, change: Change, source: str) -> None:
        self._change = change
        self._words = {word.lower() for word in re.findall(r"\w+", source)}

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """`name = 224`, `self.name = 224`, `config["name"] = 224`, `height, width = 224, 224`."""
        self.generic_visit(node)
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = zip(target.elts, node.value.elts, strict=False)
                node.value.elts = [self._bound(_name(name), value) for name, value in pairs]
            else:
                node.value = self._bound(_name(target), node.value)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """`name: int = 224`."""
        self.generic_visit(node)
        if node.value is not None:
            node.value = self._bound(_name(node.target), node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`Model(name=224)`, `parser.add_argument("--name", default=224)`."""
        self.generic_visit(node)
        if self._change.is_flat and _name(node.func) in {"reshape", "view"}:
            node.args = [self._bound("shape", argument) for argument in node.args]
            node.keywords = [ast.keyword(word.arg, self._bound("shape", word.value)) for word in node.keywords]
        flag = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
        for keyword in node.keywords:
            name = keyword.arg or ""
            if name == "default" and isinstance(flag, str):
                name = flag.lstrip("-").replace("-", "_")
            keyword.value = self._bound(name, keyword.value)
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        """`{"name": 224}`."""
        self.generic_visit(node)
        node.values = [self._bound(_name(key), value) for key, value in zip(node.keys, node.values, strict=True)]
        return node

    def visit_arguments(self, node: ast.arguments) -> ast.AST:
        """`def model(name=224)`."""
        self.generic_visit(node)
        names = [argument.arg for argument in (*node.posonlyargs, *node.args)]
        first = len(names) - len(node.defaults)
        node.defaults = [self._bound(name, value) for name, value in zip(names[first:], node.defaults, strict=True)]
        node.kw_defaults = [
            None if value is None else self._bound(argument.arg, value)
            for argument, value in zip(node.kwonlyargs, node.kw_defaults, strict=True)
        ]
        return node

    def _bound(self, name: str, value: ast.expr) -> ast.expr:
        wanted = None
        partner = _PARTNERS.get(name.lower())
        if self._change.image is not None and (partner is None or partner in self._words):
            wanted = _image(name, _literal(value), *self._change.image)
        if wanted is None and self._change.sequence is not None and _SEQUENCE.fullmatch(name):
            sequence, length = self._change.sequence
            held = _literal(value)
            if isinstance(held, int) and (held == sequence.length or are_neighbours(held, sequence.length)):
                wanted = length + held - sequence.length
        if wanted is None:
            return value
        return ast.copy_location(ast.parse(repr(wanted), mode="eval").body, value)


def numbers(cells: list[dict[str, Any]], names: tuple[str, ...]) -> list[int]:
    """The whole numbers that a notebook assigns to any of some names, in its order."""
    found = []
    for cell in cells:
        try:
            nodes = list(ast.walk(ast.parse(cell["source"])))
        except SyntaxError:
            continue
        for node in nodes:
            if isinstance(node, ast.Assign) and any(_name(target) in names for target in node.targets):
                value = _literal(node.value)
                found += [value] if isinstance(value, int) else []
    return found


def _image(name: str, value: Any, sides: tuple[int, int], wanted: int) -> Any:
    """What a name of an image's size is to hold; None where it is none."""
    words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}
    if words & _OTHERS or not (words & _IMAGE_WORDS or name.lower() in _PLAIN or name.lower() in _SIDES):
        return None
    if isinstance(value, int):
        side = next((_SIDES[word] for word in words if word in _SIDES), None)
        if side is None and sides[0] != sides[1]:
            return None
        return wanted if value == sides[side or 0] else None
    if isinstance(value, (list, tuple)):
        for place in range(len(value) - 1):
            if tuple(value[place : place + 2]) == sides:
                return type(value)((*value[:place], wanted, wanted, *value[place + 2 :]))
    return None


def _name(node: ast.expr | None) -> str:
    if isinstance(node, ast.Subscript):
        node = node.slice
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _literal(node: ast.expr) -> Any:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None
    return None if isinstance(value, bool) else value
