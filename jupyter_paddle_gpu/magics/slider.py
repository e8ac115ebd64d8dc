"""A slider over the batch size that moves the estimate and the verdict on each card, where ipywidgets are."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from ..commands.face import View
from ..commands.speech import Speech
from ..domain.errors import PaddleGpuError
from .progress import widgets


class BatchSlider:
    """Shows the answer of `at(batch)` below a slider; nothing where no front end draws widgets.

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
        self.slider: Any = ipywidgets.IntSlider(
            value=batch, min=1, max=max(most, batch), description=say("Batch size"), continuous_update=False
        )
        self.slider.observe(self._moved, names="value")
        display(ipywidgets.VBox([self.slider, self._answer]))  # type: ignore[no-untyped-call]

    def _moved(self, change: dict[str, Any]) -> None:
        try:
            self._answer.value = self._at(int(change["new"])).html(self._say)
        except PaddleGpuError as error:
            self._answer.value = f"<p>{escape(error.message.render(self._say.translate))}</p>"
