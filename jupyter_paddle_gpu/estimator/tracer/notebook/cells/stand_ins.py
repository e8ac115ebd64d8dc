"""What a cell's own `len(...)` and its reading of pictures give where their data is not on this machine.

`len(words)` would have to be a number at once; here it is one of unknown content, asked for only where it is needed.
`Image.open(path)` and `cv2.imread(path)` give a made-up picture while samples are made up (`undecided/variants`).
"""

from __future__ import annotations

import ast
import re
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from ...session import current
from ...undecided import chosen, made_up, settings, variants
from ...undecided.absent_data import AbsentData, Unseen, unseen_length
from ...undecided.needs import NeededError, file_of
from ...undecided.rows import unset
from ...undecided.unknowns import UnknownArray
from . import absorbing

LENGTH, PICTURE, ARRAY = "__length_of__", "__picture_of__", "__pixels_of__"
"""The names under which cells find `length_of` and its like."""
UNNAMED, OPENED, SHAPED = "__unseen_named__", "__opened__", "__shaped__"
"""Those of `named`, `opened` and `shaped`."""
_OPENS = frozenset(("pil_loader", "default_loader", "load_image", "load_img"))
_READS = frozenset(("imread", "imdecode", "image_load"))
"""Functions that give a picture as Pillow has it, and as an array."""


def length_of(value: Any, said: str) -> Any:
    """`len(value)`; of data that is not here a number of unknown content, or the answer for it.

    Args:
        said: what the cell calls the value.
    """
    session = current()
    try:
        length = len(value)
        if session is not None and id(value) in session.of(AbsentData).uncertain and variants.present() is None:
            return _unknown_length(session.of(AbsentData), value, said)
        is_made_up = variants.present() is not None and isinstance(value, (made_up.MadeUpList, Unseen))
        return made_up.MadeUpLength(length) if is_made_up else length
    except (NeededError, TypeError) as problem:
        if session is None or not (isinstance(problem, NeededError) or absorbing.holds_unseen(value)):
            raise
        return _unknown_length(session.of(AbsentData), value, said)


def _unknown_length(data: AbsentData, value: Any, said: str) -> Any:
    own = next((name for name, bound in data.namespace.items() if bound is value and name[0] != "_"), said)
    answer = data.answers.get(f"len_{own}")
    found = unseen_length(f"len_{own}", value)
    found.__dict__["_held_in"] = file_of(getattr(value, "_whole", value))
    return answer if isinstance(answer, int) else found


def picture_of(opens: Callable[[], Any]) -> Any:
    """What opening a picture gives; a made-up one where samples are made up and it is not here."""
    return _made_up(opens, made_up.picture, lambda variant: made_up.picture(variant).convert("L"))


def pixels_of(reads: Callable[[], Any], is_grey: bool = False) -> Any:
    """The same as an array of height, width and colours, if it has any."""
    return _made_up(reads, lambda variant: made_up.pixels(variant)[:, :, 0] if is_grey else made_up.pixels(variant))


_MASK = re.compile(r"(?i)mask|label|annot|segm|trimap|(^|/)gts?/")
"""Where a picture lies whose pixels are classes: it has one number for each."""


def _made_up(
    opens: Callable[[], Any],
    make: Callable[[variants.Variant], Any],
    mask: Callable[[variants.Variant], Any] | None = None,
) -> Any:
    variant = variants.present()
    if variant is None:
        return opens()
    try:
        found = opens()
    except Exception as problem:
        if not absorbing.is_of_data(problem):
            raise
        is_mask = mask is not None and _MASK.search(str(getattr(problem, "filename", None) or ""))
        return mask(variant) if mask is not None and is_mask else make(variant)
    is_here = found is not None and not absorbing.holds_unseen([found])
    return found if is_here else make(variant)


def opened(make: Callable[[], Any], absorbs: Callable[[BaseException], bool]) -> Any:
    """What a function opens; data of unknown content where that is not here.

    Args:
        make: opens it.
        absorbs: whether the program may go on behind an error.
    """
    try:
        return make()
    except Exception as problem:
        if not absorbs(problem):
            raise
        return _unknown(Unseen(), problem)


def _unknown(value: Unseen, problem: BaseException) -> Unseen:
    """What stands for what an error kept from being made, with the setting for want of which it was."""
    value.__dict__["_wants"] = chosen.wanted(problem)
    settings.mark(value, is_one=absorbing.is_of_settings(problem))
    return value


def shaped(make: Callable[[], Any], *said: Callable[[], Any]) -> Any:
    """An array that the program makes of rows and says type and shape of; where the rows are not here, only its numbers
    are not known: `np.array(rows).astype("float32").reshape(8, 1, 28, 28)`.

    Args:
        make: makes it.
        said: give the type, and the sizes.
    """
    try:
        return make()
    except Exception as problem:
        if not absorbing.may_be_passed(problem):
            raise
        with suppress(TypeError, ValueError, MemoryError):
            dtype, sizes = (one() for one in said)
            if shape := made_up.shape_of(sizes):
                return np.zeros(shape, dtype).view(UnknownArray)
        raise


def named(
    problem: BaseException,
    name: str,
    held: Callable[[], Any] | None = None,
    *,
    is_tensor: bool = False,
    is_kept: bool = False,
) -> Any:
    """Data of unknown content that a function has under a name of its own.

    Args:
        problem: kept it from being made.
        held: gives what has the name; of an array of which a part was to be set only the numbers are not known.
        is_tensor: whether it would have been a tensor, which counts as long as anything holds it.
        is_kept: the same of an object's attribute, which counts in any case: the object may be replaced by an answer.
    """
    with suppress(NameError, AttributeError):
        if held is not None and isinstance(value := held(), np.ndarray):
            return unset(value)
    value, session = _unknown(Unseen(name=name), problem), current()
    if is_tensor and session is not None and variants.present() is None:
        session.of(AbsentData).lost.append((weakref.ref(value), name))
    if is_kept and session is not None and variants.present() is None:
        session.of(AbsentData).unmade[name] = None
    return value


NAMES = {LENGTH: length_of, PICTURE: picture_of, ARRAY: pixels_of, UNNAMED: named, OPENED: opened, SHAPED: shaped}


class StandIns(ast.NodeTransformer):
    """Has cells ask here for lengths and pictures, and for arrays of which they say the shape.

    Args:
        shapes_arrays: whether for those.
    """

    def __init__(self, *, shapes_arrays: bool = False) -> None:
        self._shapes_arrays = shapes_arrays

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`len(x)`, `Image.open(path)`, `cv2.imread(path)`."""
        self.generic_visit(node)
        func = node.func
        if isinstance(func, ast.Name) and func.id == "len" and len(node.args) == 1 and not node.keywords:
            said = re.sub(r"\W+", "_", ast.unparse(node.args[0]).removeprefix("self.")).strip("_")
            node.func = ast.copy_location(ast.Name(LENGTH, ast.Load()), func)
            node.args.append(ast.copy_location(ast.Constant(said), func))
            return node
        called = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
        if self._shapes_arrays and called in _FORMS and (form := _form(node)) is not None:
            lazily = [ast.Lambda(ast.arguments([], [], None, [], [], None, []), one) for one in (node, *form)]
            asked = ast.Call(ast.Name(SHAPED, ast.Load()), list(lazily), [])
            return ast.fix_missing_locations(ast.copy_location(asked, node))
        is_opened = called in _OPENS or (called == "open" and _of_pillow(func))
        if not is_opened and called not in _READS:
            return node
        opens = ast.Lambda(ast.arguments([], [], None, [], [], None, []), node)
        asked = ast.Call(ast.Name(PICTURE if is_opened else ARRAY, ast.Load()), [opens], [])
        if not is_opened and any(_says_grey(one) for one in (*node.args[1:], *(word.value for word in node.keywords))):
            asked.args.append(ast.Constant(value=True))
        return ast.fix_missing_locations(ast.copy_location(asked, node))


_FORMS = frozenset(("astype", "reshape"))
_ARRAYS = frozenset(("array", "asarray", "stack", "concatenate", "vstack"))


def _form(node: ast.Call) -> tuple[ast.expr, ast.expr] | None:
    """Type and sizes that a chain of `astype` and `reshape` gives to an array made of rows; None where it does not say
    both."""
    dtype: ast.expr | None = None
    sizes: ast.expr | None = None
    held: ast.expr = node
    while isinstance(held, ast.Call) and isinstance(held.func, ast.Attribute) and held.func.attr in _FORMS:
        if held.func.attr == "astype" and held.args:
            dtype = dtype or held.args[0]
        elif held.func.attr == "reshape":
            sizes = sizes or ast.Tuple(list(held.args), ast.Load())
        held = held.func.value
    is_made = isinstance(held, ast.Call) and getattr(held.func, "attr", "") in _ARRAYS
    return (dtype, sizes) if is_made and dtype is not None and sizes is not None else None


def _says_grey(flag: ast.expr) -> bool:
    """Whether it is OpenCV's flag for pictures without colours: `cv2.IMREAD_GRAYSCALE`, `0`."""
    return getattr(flag, "attr", "").endswith("GRAYSCALE") or (isinstance(flag, ast.Constant) and flag.value == 0)


def _of_pillow(func: ast.expr) -> bool:
    """Whether it is `Image.open`, under whatever name Pillow's module has."""
    if not isinstance(func, ast.Attribute):
        return False
    owner = func.value
    return "image" in (owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", "")).lower()
