"""What a name stands for: followed through imports, assignments, parameters, attributes, dictionaries and argparse."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

from ..domain.notebooks import Fact, FactValue
from .code import UNKNOWN, Code, Function

_MAKING = frozenset({"from_pretrained", "from_config"})
TRAINERS = {
    "paddlemix": "PaddleMIX", "ppdiffusers": "PaddleMIX", "paddle3d": "Paddle3D", "paddlevideo": "PaddleVideo",
    "paddlespeech": "PaddleSpeech", "ppsci": "PaddleScience", "passl": "PASSL", "ppgan": "PaddleGAN",
    "ppocr": "PaddleOCR", "ppdet": "PaddleDetection", "paddleseg": "PaddleSeg", "ppcls": "PaddleClas",
    "paddleclas": "PaddleClas", "paddleformers": "PaddleFormers", "paddlenlp": "PaddleNLP", "paddlex": "PaddleX",
}  # fmt: skip
"""Public trainers by the package that their code imports; those first that are built on others of them."""
LIBRARIES = frozenset(TRAINERS) | {"paddlets", "pgl", "parl", "paddleaudio"}
"""Import names of packages that are built on Paddle and import it."""
MAX_STEPS = 24
"""Names followed from one use before it is taken for computed; also ends circles."""
MAX_SOURCE = 80
"""Characters of an expression shown in a fact."""

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_LARGEST = 2**53
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "int": int,
    "float": float,
    "min": min,
    "max": max,
    "round": round,
    "abs": abs,
}


class Known(NamedTuple):
    """A value that reading alone tells; `literal` when it stands right there."""

    value: FactValue
    literal: bool


class Names:
    """Answers questions about names in a `Code`."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self._known: dict[ast.expr, Known | None] = {}
        self._arguments: dict[tuple[ast.AST, str], list[ast.expr]] = {}

    def qualified(self, expression: ast.expr) -> str:
        """The dotted path behind a name (`nn.Linear` -> `paddle.nn.Linear`), or "" where it is no import."""
        match expression:
            case ast.Name(id=name):
                if name in self.code.imports:
                    return self.code.imports[name]
                bound = name in self.code.functions or name in self.code.classes or (None, name) in self.code.bindings
                star = next((module for module in self.code.stars if module.split(".")[0] == "paddle"), "")
                return f"{star}.{name}" if star and not bound else ""
            case ast.Attribute(value=value, attr=attribute):
                base = self.qualified(value)
                return f"{base}.{attribute}" if base else ""
        return ""

    def is_paddle(self, expression: ast.expr, *last: str) -> bool:
        """Whether the expression names something of Paddle's with one of these last components."""
        path = self.qualified(expression).split(".")
        return path[0] == "paddle" and len(path) > 1 and (not last or path[-1] in last)

    def last(self, expression: ast.expr) -> str:
        """The last component of what a name stands for: `Opt` -> `Adam` after `from … import Adam as Opt`; the class
        where it is one of those methods that make an object of it (`Bert.from_pretrained`)."""
        if isinstance(expression, ast.Attribute) and expression.attr in _MAKING:
            return self.last(expression.value)
        own = expression.id if isinstance(expression, ast.Name) else getattr(expression, "attr", "")
        return self.qualified(expression).rsplit(".", 1)[-1] or own

    def steps(self, expression: ast.expr) -> list[ast.expr]:
        """The expressions that `expression` may stand for, one step back; empty where it stands for itself."""
        match expression:
            case ast.Name():
                return self._name(expression)
            case ast.Attribute():
                return self._attribute(expression)
            case ast.Subscript(slice=ast.Constant(value=key)):
                return self._item(expression, key)
        return []

    def origin(self, expression: ast.expr) -> ast.expr:
        """Follow names back to the expression that makes the value (the first one, where there are several)."""
        for _ in range(MAX_STEPS):
            steps = [step for step in self.steps(expression) if step is not UNKNOWN]
            if not steps:
                break
            expression = steps[0]
        return expression

    def evaluate(self, expression: ast.expr, depth: int = MAX_STEPS) -> Known | None:
        """The value, where literals, names and arithmetic tell it and all ways to it agree."""
        if depth == 0:
            return None
        if expression not in self._known:
            self._known[expression] = None  # what is met again on the way to itself (a = a + 1) is not known
            self._known[expression] = self._evaluate(expression, depth)
        return self._known[expression]

    def _evaluate(self, expression: ast.expr, depth: int) -> Known | None:
        match expression:
            case ast.Constant(value=bool() | int() | float() | str() | None as value):
                return Known(value, literal=True)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._compute(operator.neg, [operand], depth)
            case ast.BinOp(left=left, op=op, right=right):
                return self._compute(_ARITHMETIC.get(type(op)), [left, right], depth)
            case ast.Call(func=ast.Name(id=name), args=[_, *_] as arguments, keywords=[]) if name in _FUNCTIONS:
                return self._compute(_FUNCTIONS[name], arguments, depth)
        ways = [self.evaluate(step, depth - 1) for step in self.steps(expression)]
        values = {(type(way.value), way.value) for way in ways if way is not None}
        if None in ways or len(values) != 1:
            return None
        return Known(values.pop()[1], literal=False)

    def fact(self, expression: ast.expr, value: FactValue | None = None) -> Fact:
        """A fact about the expression's value (or about `value`, where the caller found it otherwise)."""
        known = self.evaluate(expression) if value is None else Known(value, literal=True)
        return Fact(
            value=known.value if known else None,
            source=self.source(expression),
            place=self.code.place(expression),
            how="computed" if known is None else "literal" if known.literal else "constant",
            name=self.variable(expression) if value is None else "",
        )

    def named(self, node: ast.AST, value: str) -> Fact:
        """A fact about a class or function that stands there by its name."""
        source = value if isinstance(node, ast.ClassDef) else self.source(node)
        return Fact(value=value, source=source, place=self.code.place(node), how="literal")

    def variable(self, expression: ast.expr) -> str:
        """The variable of the notebook's own namespace that decides the value: the last one on the way to it."""
        found = ""
        for _ in range(MAX_STEPS):
            if isinstance(expression, ast.Name):
                owned = any((scope, expression.id) in self.code.bindings for scope in self.code.scopes(expression))
                found = expression.id if owned else found
            steps = self.steps(expression)
            if not steps:
                break
            expression = steps[0]
        return found

    def source(self, expression: ast.AST) -> str:
        """The expression as Python writes it, shortened."""
        try:
            text = " ".join(ast.unparse(expression).split())
        except (RecursionError, ValueError):
            return "…"
        return text if len(text) <= MAX_SOURCE else text[: MAX_SOURCE - 1] + "…"

    def argument(self, call: ast.Call, name: str, position: int | None = None) -> ast.expr | None:
        """The expression given for a parameter, by keyword or position; also through `**options` of a literal dict."""
        for keyword in call.keywords:
            if keyword.arg == name:
                return keyword.value
            if keyword.arg is None and (value := self._key(self.origin(keyword.value), name)) is not None:
                return value
        if position is not None and position < len(call.args):
            before = call.args[: position + 1]
            return None if any(isinstance(a, ast.Starred) for a in before) else before[-1]
        return None

    def spread(self, call: ast.Call) -> ast.expr | None:
        """What a call is given by `**`, where nobody knows which arguments that is; None where all are known."""
        given = (keyword.value for keyword in call.keywords if keyword.arg is None)
        return next((one for one in given if not self._is_literal(self.origin(one))), None)

    def _is_literal(self, made: ast.expr, depth: int = MAX_STEPS) -> bool:
        match made:
            case ast.Dict(keys=keys, values=values):
                pairs = list(zip(keys, values, strict=True))
            case ast.Call(func=ast.Name(id="dict"), args=args, keywords=keywords):
                named = [(None if one.arg is None else ast.Constant(one.arg), one.value) for one in keywords]
                pairs = [*((None, one) for one in args), *named]
            case _:
                return False
        return all(
            isinstance(key, ast.Constant)
            or (key is None and depth > 0 and self._is_literal(self.origin(value), depth - 1))
            for key, value in pairs
        )

    # --- one step back

    def _name(self, name: ast.Name) -> list[ast.expr]:
        for scope in self.code.scopes(name):
            bound = self.code.bindings.get((scope, name.id), [])
            if isinstance(scope, Function) and name.id in _parameters(scope):
                if (scope, name.id) not in self._arguments:
                    self._arguments[scope, name.id] = self._given(scope, name.id)
                return self._arguments[scope, name.id] + bound
            if bound:
                return self._before(bound, name) if scope is None and self.code.scope(name) is None else bound
        return []

    def _before(self, bound: list[ast.expr], use: ast.AST) -> list[ast.expr]:
        # At the top level cells run in order, so that the last assignment above the use is the one that counts.
        if any(value is UNKNOWN for value in bound):
            return bound
        here = self.code.position(use)
        above = [value for value in bound if self.code.position(value) < here]
        return above[-1:] or bound

    def _given(self, function: Function, name: str) -> list[ast.expr]:
        """What the calls give for a parameter, else its default."""
        arguments = function.args
        positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        offset = 1 if self.code.is_method(function) else 0
        position = positional.index(name) - offset if name in positional else None
        defaults = dict(zip(reversed(positional), reversed(arguments.defaults), strict=False))
        defaults |= {
            a.arg: d for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None
        }
        default = [defaults[name]] if name in defaults else []
        given: list[ast.expr] = []
        for call in self.code.calls_of(function):
            value = self.argument(call, name, position if position is None or position >= 0 else None)
            given += [value] if value is not None else default
        return given or default

    def _attribute(self, attribute: ast.Attribute) -> list[ast.expr]:
        if isinstance(attribute.value, ast.Name):
            name = attribute.value.id
            owner = self.code.owner(attribute) if name in ("self", "cls") else None
            if bound := self.code.attributes.get((owner.name if owner else name, attribute.attr)):
                return bound
        match self.origin(attribute.value):
            case ast.Call(func=ast.Name(id=made)) if bound := self.code.attributes.get((made, attribute.attr)):
                return bound
            case ast.Call(func=ast.Attribute(attr="parse_args" | "parse_known_args")):
                return self._option(attribute.attr)
            case ast.Call() as call:  # Namespace(batch_size=64), EasyDict({"batch_size": 64})
                value = self.argument(call, attribute.attr)
                if value is None and call.args:
                    value = self._key(call.args[0], attribute.attr)
                return [value] if value is not None else []
        return []

    def _option(self, name: str) -> list[ast.expr]:
        for call in self.code.of_type(ast.Call):
            if isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument":
                flags = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
                if name in [flag.lstrip("-").replace("-", "_") for flag in flags]:
                    default = self.argument(call, "default")
                    return [default] if default is not None else []
        return []

    def _item(self, subscript: ast.Subscript, key: object) -> list[ast.expr]:
        if isinstance(subscript.value, ast.Name) and isinstance(key, str):
            bound = self.code.items.get((subscript.value.id, key))
            if bound:
                return bound
        made = self.origin(subscript.value)
        if isinstance(key, str):
            value = self._key(made, key)
            return [value] if value is not None else []
        if isinstance(made, ast.Call) and isinstance(made.func, ast.Name):
            made = next(iter(self.returned(made.func.id)), made)
        if isinstance(made, (ast.Tuple, ast.List)) and isinstance(key, int) and -len(made.elts) <= key < len(made.elts):
            return [made.elts[key]]
        return []

    def returned(self, function: str) -> list[ast.expr]:
        """What a function of the notebook returns, last statement first."""
        found = self.code.functions.get(function, [])
        returns = [n for f in found[-1:] for n in ast.walk(f) if isinstance(n, ast.Return) and n.value is not None]
        return [r.value for r in reversed(returns) if r.value is not None]

    def _key(self, made: ast.expr, name: str, depth: int = MAX_STEPS) -> ast.expr | None:
        """What a mapping holds by a name: the last that says it, also of one that is spread in it (`{**base, …}`)."""
        pairs: list[tuple[ast.expr | None, ast.expr]] = []
        match made:
            case ast.Dict(keys=keys, values=values):
                pairs = list(zip(keys, values, strict=True))
            case ast.Call(func=ast.Name(id="dict"), args=args, keywords=keywords):
                named = [(None if one.arg is None else ast.Constant(one.arg), one.value) for one in keywords]
                pairs = [*((None, one) for one in args), *named]
        for key, value in reversed(pairs):
            if isinstance(key, ast.Constant) and key.value == name:
                return value
            if key is None and depth and (found := self._key(self.origin(value), name, depth - 1)) is not None:
                return found
        return None

    def _compute(self, function: Callable[..., Any] | None, parts: list[ast.expr], depth: int) -> Known | None:
        known = [self.evaluate(part, depth - 1) for part in parts]
        values = [k.value for k in known if k is not None and isinstance(k.value, (int, float))]
        if function is None or len(values) != len(parts) or any(abs(v) > _LARGEST for v in values):
            return None
        if function is operator.pow and abs(values[1]) > 64:
            return None
        try:
            result = function(*values)
        except (ArithmeticError, ValueError, TypeError):
            return None
        if not isinstance(result, (int, float)) or not abs(result) <= _LARGEST:
            return None
        return Known(result, all(k.literal for k in known if k is not None))


def _parameters(function: Function) -> set[str]:
    a = function.args
    return {p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)}
