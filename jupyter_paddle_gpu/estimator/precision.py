"""What a card makes of a number format that a program asks for."""

from __future__ import annotations

from collections.abc import Iterable

from ..devices.makers.registry import has_bfloat16
from ..domain.devices import Accelerator
from ..domain.messages import Message
from .trace import TracedNote
from .translate import note

BFLOAT16 = "bfloat16"
"""The tracer's note that the program asks for mixed precision in it."""
OLDER = Message(
    code="bfloat16_cards",
    text="Cards of compute capability below 8.0 (T4, V100, RTX 20 series) have no bfloat16: Paddle computes in float32 "
    "there and only warns, which takes more than this.",
    hint="Take float16 with its scaler there, or estimate with mixed precision off.",
)
LACKING = Message(
    code="bfloat16_lacking",
    text="{card} has no bfloat16: Paddle computes in float32 there and only warns, which takes more than this.",
    hint="Take float16 with its scaler, or estimate with mixed precision off.",
)


def told(notes: Iterable[TracedNote], accelerator: Accelerator | None) -> tuple[Message, ...]:
    """A trace's notes as sentences, for the card that is meant; None: for any."""
    found: list[Message] = []
    for one in notes:
        if one.code != BFLOAT16:
            found.append(note(one))
        elif accelerator is None:
            found.append(OLDER)
        elif not has_bfloat16(accelerator):
            found.append(
                Message(code=LACKING.code, text=LACKING.text, hint=LACKING.hint, params={"card": accelerator.name})
            )
    return tuple(found)
