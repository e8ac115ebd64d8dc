"""Why a training step takes what it takes, in sentences: for somebody who meets these figures for the first time."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from ...domain.estimates import Breakdown, Estimate
from ...domain.placements import Placement
from .. import markup
from ..options import typed
from ..speech import Speech, count, size
from .changes import unsuited
from .estimate import EstimateView
from .step import layer_name

if TYPE_CHECKING:
    from rich.console import RenderableType

MOST_TENSORS = 3
"""Tensors that are named."""
WORTH_SAVING = 0.02
"""Changes that save less than this part of the peak are not worth a sentence."""


class ExplainView(EstimateView):
    """The estimate told as paragraphs; without a figure, what the estimate says instead."""

    def __init__(self, estimate: Estimate, placement: Placement | None = None, *, how: str = "--set") -> None:
        super().__init__(estimate, placement, how=how)

    def rich(self, say: Speech) -> RenderableType:
        """Paragraphs for a terminal."""
        from rich.console import Group
        from rich.text import Text

        from ..drawing import sentence

        if self.data.breakdown is None:
            return super().rich(say)
        parts: list[RenderableType] = []
        for title, lines in self.paragraphs(say):
            parts += [Text(title, style="bold"), *(sentence(f"  {line}") for line in lines), Text()]
        return Group(*parts[:-1])

    def html(self, say: Speech) -> str:
        """The same for a cell."""
        if self.data.breakdown is None:
            return super().html(say)
        return "".join(
            markup.section(title, "".join(f"<p>{escape(line)}</p>" for line in lines))
            for title, lines in self.paragraphs(say)
        )

    def paragraphs(self, say: Speech) -> Iterator[tuple[str, list[str]]]:
        """Headings with their sentences; a paragraph without a sentence is left out."""
        breakdown = self.data.breakdown
        if breakdown is None:
            return
        parts = (
            (self.headline(say), self._when(say)),
            (say("Whatever the batch"), self._standing(say, breakdown)),
            (say("With the batch"), self._growing(say, breakdown)),
            (say("Beside the tensors"), self._beside(say, breakdown)),
            (say("What would save memory"), self._savings(say)),
        )
        yield from ((title, lines) for title, lines in parts if lines)

    def _when(self, say: Speech) -> list[str]:
        peak = self.data.peak_at
        if peak is None or not peak.op:
            return []
        moment = {
            "forward": say("in the forward pass"),
            "backward": say("in the backward pass"),
            "update": say("while the optimizer updates the parameters"),
        }[peak.phase]
        if not peak.layer:
            return [say("The step is fullest {moment}, at {op}.", moment=moment, op=peak.op)]
        layer = layer_name(self.data, peak.layer)
        return [say("The step is fullest {moment}, at {op} of layer {layer}.", moment=moment, op=peak.op, layer=layer)]

    def _standing(self, say: Speech, breakdown: Breakdown) -> list[str]:
        estimate = self.data
        lines = []
        if estimate.parameters:
            lines.append(
                say(
                    "{count} parameters take {size}, their gradients {gradients}.",
                    count=count(estimate.parameters),
                    size=size(breakdown.parameters),
                    gradients=size(breakdown.gradients),
                )
            )
        if breakdown.optimizer_state:
            lines.append(
                say(
                    "{optimizer} keeps {size} of its own for them.",
                    optimizer=estimate.optimizer or say("The optimizer"),
                    size=size(breakdown.optimizer_state),
                )
            )
        return lines

    def _growing(self, say: Speech, breakdown: Breakdown) -> list[str]:
        estimate = self.data
        grows = breakdown.activations + breakdown.inputs
        if not grows:
            return []
        lines = [
            say(
                "Activations take {size}: what the forward pass keeps until the backward pass has used it.",
                size=size(breakdown.activations),
            )
        ]
        if estimate.batch_size:
            lines.append(
                say(
                    "With the batch itself that is about {each} for each of its {batch} samples.",
                    each=size(grows / estimate.batch_size),
                    batch=count(estimate.batch_size),
                )
            )
        largest = [item for item in estimate.alive_at_peak if item.kind in ("activations", "inputs")][:MOST_TENSORS]
        if largest:
            named = ", ".join(
                f"{size(item.bytes)} {item.dtype}{list(item.shape)} ({layer_name(estimate, item.layer) or item.op})"
                for item in largest
            )
            lines.append(say("The largest: {tensors}.", tensors=named))
        return lines

    def _beside(self, say: Speech, breakdown: Breakdown) -> list[str]:
        lines = []
        if breakdown.workspace:
            lines.append(
                say(
                    "{size} is what kernels use while they run and what the allocator keeps in hand.",
                    size=size(breakdown.workspace),
                )
            )
        if breakdown.context:
            lines.append(say("{size} is the device's context, which every process has.", size=size(breakdown.context)))
        return lines

    def _savings(self, say: Speech) -> list[str]:
        peak = self.data.peak_bytes or 0
        worth = [remedy for remedy in self.data.remedies if remedy.saves_bytes >= WORTH_SAVING * peak]
        lines = [
            say(
                "{change}: {size} less (`{options}`).",
                change=remedy.says.render(say.translate),
                size=size(remedy.saves_bytes),
                options=typed(remedy.request),
            )
            for remedy in worth
            if remedy.refused is None
        ]
        return lines + unsuited(worth, say)
