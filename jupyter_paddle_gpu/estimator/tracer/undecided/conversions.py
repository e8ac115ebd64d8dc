"""Where Python and numpy would forget that a number is not known: `float(x)` in a notebook, `int(config["width"])` of a
file that is not here, numpy's sums of a list."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from . import asking, made_up, variants
from .arithmetic import Arithmetic
from .tensor_values import is_known
from .unknowns import PLAIN, UnknownFloat, is_unknown, plain, unknown

FLOAT = "__float_of__"
"""The name under which a notebook's cells find `float_of`."""
INT = "__int_of__"
"""That of `int_of`."""
LISTED = ("mean", "sum", "average", "median", "min", "max", "std", "array", "asarray", "stack")
"""Functions of numpy that take a list of numbers."""
READ = ("frombuffer", "fromstring")
"""Those that take the bytes of a file: `np.frombuffer(sound.readframes(count), dtype=np.int16)`."""


def float_of(called: Any, given: Any) -> Any:
    """`float(x)` in the user's code, which otherwise forgets that a number is not known.

    Args:
        called: what the name means there: a program may have another `float`.
    """
    found = called(given)
    if called is not float:
        return found
    is_other = not isinstance(given, (*PLAIN, str))
    return UnknownFloat(found) if is_unknown(given) or (is_other and not is_known(given)) else found


def int_of(called: Any, given: Any) -> Any:
    """`int(x)` in the user's code: what a file of settings holds that is not here stays what it is, so that it is
    asked for where it is needed, by its own name."""
    is_open = isinstance(given, Arithmetic) and variants.present() is None and asking.is_setting(given)
    return given if called is int and is_open and given._answer() is None else called(given)


_OURS = {"float": FLOAT, "int": INT}


class Conversions(ast.NodeTransformer):
    """Lets `float(x)` and `int(x)` of a notebook keep that a number is not known."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`float(x)` as `__float_of__(float, x)`."""
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id="float" | "int" as name) as called, args=[given], keywords=[]):
                if not isinstance(given, ast.Starred):
                    ours = ast.copy_location(ast.Name(_OURS[name], ast.Load()), called)
                    return ast.copy_location(ast.Call(ours, [called, given], []), node)
        return node


NAMES: dict[str, Any] = {FLOAT: float_of, INT: int_of}
"""What a namespace holds of it."""


def of_list(session: Any, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """One of numpy's functions of a list, which keeps that its numbers are not known."""
    if args and isinstance(args[0], Arithmetic) and variants.present() is not None:
        return made_up.of_open_shape(original(*args, **kwargs))
    if args and type(args[0]) is list and args[0] and variants.present() is not None:
        return made_up.of_open_rows(args[0], original(*args, **kwargs))
    if not args or type(args[0]) is not list or not is_unknown(args[0]):
        return original(*args, **kwargs)
    return unknown(original(plain(args[0]), *args[1:], **kwargs))


def of_bytes(session: Any, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """One of numpy's functions of bytes: those of a made-up file are so many numbers of the type that is asked for."""
    variant = variants.present()
    if variant is None or not args or not isinstance(args[0], Arithmetic):
        return original(*args, **kwargs)
    return np.zeros(variant.length, args[1] if len(args) > 1 else kwargs.get("dtype", float))
