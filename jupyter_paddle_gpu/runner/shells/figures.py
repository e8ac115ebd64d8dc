"""matplotlib without a screen: figures become PNG outputs at the end of a cell, or at `plt.show()`."""

import functools
import importlib.util
import io
import os
import sys
from typing import Any

from .. import imports
from .base import Publisher


def choose_backend(*, inline: bool) -> None:
    """Tell matplotlib, before anybody imports it, where figures go; the user's own choice stands."""
    if "MPLBACKEND" in os.environ:
        return
    if inline and importlib.util.find_spec("matplotlib_inline") is not None:
        os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    else:
        os.environ["MPLBACKEND"] = "agg"


def watch_show(publisher: Publisher) -> None:
    """Without matplotlib's inline backend: let `plt.show()` publish."""
    import_hook = functools.partial(_replace_show, publisher)
    imports.watch({"matplotlib.pyplot": import_hook})


def _replace_show(publisher: Publisher, pyplot: Any) -> None:
    pyplot.show = functools.partial(publish_open, publisher)


def publish_open(publisher: Publisher, *_: Any, **__: Any) -> None:
    """Show and close every open figure, in the order in which they were made."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return
    for number in pyplot.get_fignums():
        figure = pyplot.figure(number)
        publisher.display({"image/png": png(figure), "text/plain": repr(figure)})
    pyplot.close("all")


def png(figure: Any) -> bytes:
    """A figure as a notebook shows it."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", bbox_inches="tight")
    return buffer.getvalue()
