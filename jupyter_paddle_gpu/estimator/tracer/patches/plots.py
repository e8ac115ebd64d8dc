"""What a program draws by matplotlib, where it is here: nothing is drawn, as where it is not (`absent_modules`).

A plot takes longer than the step beside it, and what it shows of a training that was left early does not fit together
(`plot(range(epochs), losses)`). What it is called with is worked out all the same, and refused where the code itself
says that there will be another number of places along x than along y.
"""

from __future__ import annotations

import sysconfig
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from .. import call_stack
from ..session import Session
from .absent_modules import Watching
from .awaited import Awaited
from .patch import Patch

_LIBRARIES = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))
_DRAW = (
    "scatter", "bar", "barh", "hist", "hist2d", "boxplot", "violinplot", "errorbar", "fill", "fill_between",
    "matshow", "contour", "contourf", "pcolor", "pcolormesh", "pie", "quiver", "stackplot", "stem", "step",
)  # fmt: skip
"""Of pyplot and of axes: what takes data."""
_LINES = ("plot", "semilogx", "semilogy", "loglog")
_OF_FIGURES = ("savefig", "tight_layout", "colorbar")


class Lengths:
    """What the code says of how much the loops have gathered when they end.

    Attributes:
        unlike: the places along x and along y of the call that a frame is at, where they are not as many.
    """

    def __init__(self) -> None:
        self.unlike: Callable[[FrameType], tuple[int, int] | None] = lambda _: None


def _plotted(session: Session, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A line through points, which are as many along x as along y (`_plot_args` of matplotlib's axes/_base.py)."""
    frame = call_stack.caller()
    if frame is not None and (found := session.of(Lengths).unlike(frame)) is not None:
        said = f"x and y must have same first dimension, but have shapes ({found[0]},) and ({found[1]},)"
        raise session.refused(ValueError(said))
    return _nothing(session, original, *args, **kwargs)


def _nothing(session: Session, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Nothing is drawn; a library's own drawing (a table's `plot`) goes its way."""
    frame = call_stack.caller()
    asks_itself = frame is None or frame.f_code.co_filename.startswith(_LIBRARIES)
    return original(*args, **kwargs) if asks_itself else Watching("matplotlib")


def _shown(session: Session, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`imshow(...)`, which refuses what has no picture's shape (`_normalize_image_array` of matplotlib's image.py)."""
    picture = kwargs.get("X", next((one for one in args if hasattr(one, "shape")), None))
    shape = tuple(getattr(picture, "shape", None) or ())
    if shape and all(isinstance(size, int) for size in shape):
        shape = shape[:-1] if len(shape) == 3 and shape[-1] == 1 else shape
        if len(shape) != 2 and not (len(shape) == 3 and shape[-1] in {3, 4}):
            raise session.refused(TypeError(f"Invalid shape {shape} for image data"))
    return _nothing(session, original, *args, **kwargs)


def patches() -> Iterator[Patch]:
    """Of pyplot, its axes and its figures, once it is there: it copies their methods."""
    pyplot = Awaited("matplotlib.pyplot")
    yield from (Patch(owner, "imshow", _shown) for owner in (pyplot, Awaited("matplotlib.pyplot", "Axes")))
    yield from (Patch(pyplot, name, _nothing) for name in (*_DRAW, *_OF_FIGURES, "show"))
    for owner in (pyplot, Awaited("matplotlib.pyplot", "Axes")):
        yield from (Patch(owner, name, _plotted) for name in _LINES)
    yield from (Patch(Awaited("matplotlib.pyplot", "Axes"), name, _nothing) for name in _DRAW)
    yield from (Patch(Awaited("matplotlib.pyplot", "Figure"), name, _nothing) for name in _OF_FIGURES)
