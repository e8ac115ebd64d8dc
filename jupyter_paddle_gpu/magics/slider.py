"""A slider and a number for the batch size that move the estimate and the verdict on each card, where widgets are."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from html import escape
from typing import Any

from ..commands.face import View
from ..commands.speech import Speech
from ..domain.errors import PaddleGpuError
from .progress import widgets
from .result import drawn_here


class BatchSlider:
    """Shows the answer of `at(batch)` below a slider and a number; nothing where no front end draws widgets.

    The slider goes through sizes that grow by a third or a half each, so that thousands of samples fit into a few
    hundred pixels; the number beside it is any.

    Args:
        at: the answer for a batch size; a trace each, so that the slider asks only when it is let go.
        batch: where the slider stands at first.
        most: its right end.
    """

    def __init__(self, at: Callable[[int], View], batch: int, most: int, say: Speech) -> None:
        self._at, self._say = at, say
        ipywidgets = widgets()
        if ipywidgets is None:
            return
        from IPython.display import display

        self._answer: Any = ipywidgets.HTML()
        self._sizes = _sizes(batch, max(most, batch))
        self.slider: Any = ipywidgets.SelectionSlider(
            options=self._sizes, value=batch, description=say("Batch size"), continuous_update=False, readout=False
        )
        self.number: Any = ipywidgets.BoundedIntText(
            value=batch, min=1, max=self._sizes[-1], layout=ipywidgets.Layout(width="8em")
        )
        self.slider.observe(self._moved, names="value")
        self.number.observe(self._typed, names="value")
        both = ipywidgets.HBox([self.slider, self.number])
        display(ipywidgets.VBox([both, self._answer]))  # type: ignore[no-untyped-call]

    def _moved(self, change: dict[str, Any]) -> None:
        if change["new"] != self._below(self.number.value):
            self.number.value = change["new"]

    def _typed(self, change: dict[str, Any]) -> None:
        self.slider.value = self._below(change["new"])
        try:
            self._answer.value = drawn_here(self._at(int(change["new"])).html(self._say))
        except PaddleGpuError as error:
            self._answer.value = f"<p>{escape(error.message.render(self._say.translate))}</p>"

    def _below(self, size: int) -> int:
        """Where the slider stands for a size."""
        return self._sizes[bisect_right(self._sizes, size) - 1]


def _sizes(batch: int, most: int) -> list[int]:
    """Powers of two and what lies halfway between them, up to a size, with both sizes that are given.

    >>> _sizes(10, 20)
    [1, 2, 3, 4, 6, 8, 10, 12, 16, 20]
    """
    steps = {size for power in range(most.bit_length()) for size in (2**power, 3 * 2**power // 2)}
    return sorted({size for size in steps if size <= most} | {batch, most})
