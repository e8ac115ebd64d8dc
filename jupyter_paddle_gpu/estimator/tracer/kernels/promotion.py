"""What eager mode does with operands of two floating types (`type_promotion.h`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Promotion:
    """They are cast to the wider type; float16 and bfloat16 to float32.

    Attributes:
        of_tensor: but a tensor without dimensions is cast to the type of one with some.
        takes_low: but a GPU's kernel takes a second operand of low precision beside a first one in float32 as it is.
    """

    of_tensor: bool = False
    takes_low: bool = False


WIDER = Promotion()
OF_TENSOR = Promotion(of_tensor=True)
OF_SUM = Promotion(of_tensor=True, takes_low=True)
