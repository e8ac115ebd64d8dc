"""LSTM, GRU and SimpleRNN: one fused operator whose program shapes say nothing about its memory.

Sizes of `reserve` from AllocateReserveData (paddle/phi/kernels/cpu/rnn_functor.h, rnn_grad_kernel.cc of 3.3); the
transients were fitted exactly to measurements of 39 configurations (cell x time x batch x sizes x layers x directions).
With T steps, B samples, D directions, L layers, H hidden: `block` = D*T*B*H elements, `state` = B*H elements.
"""

from __future__ import annotations

from typing import Any

from ..memory.arrays import Array, Shape
from ..memory.dtypes import SIZE

Arrays = list[list[Array]]

_RESERVED_GATES = {"LSTM": 6, "GRU": 4, "RNN_TANH": 1, "RNN_RELU": 1}
_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_GRAD_BLOCKS = {"LSTM": 3, "GRU": 2, "RNN_TANH": 0, "RNN_RELU": 0}
_GRAD_STATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 2, "RNN_RELU": 2}
_DISTINCT_LAYERS = 3
"""More layers than these take turns with their buffers (measured with four and five)."""
_LAID_OUT_LAYERS = 2
"""Up to so many layers the gradient kernel holds, at another moment, one more tensor of the input's size: the larger
amount where the input is wide (measured on 42 configurations; with three layers it does not)."""


def _dimensions(attrs: dict[str, Any], x: Array) -> tuple[int, int, int, int]:
    """(block elements, state elements, layers, directions)."""
    steps, batch = x.shape[:2]
    directions = 2 if attrs["is_bidirec"] else 1
    hidden = int(attrs["hidden_size"])
    return directions * steps * batch * hidden, batch * hidden, int(attrs["num_layers"]), directions


def result_meta(result: str, attrs: dict[str, Any], x: Array) -> tuple[Shape, str] | None:
    """Shape and type of the results that the program leaves open; None for the others."""
    block, _, layers, _ = _dimensions(attrs, x)
    if attrs.get("is_test"):
        return ((0,), "uint8") if result in {"reserve", "dropout_state_out"} else None
    if result == "reserve":
        rows = (layers - 1) + _RESERVED_GATES[attrs["mode"]] * layers
        return (rows * block * SIZE[x.dtype],), "uint8"
    if result == "dropout_state_out":  # one byte an element, allocated whether or not there is dropout
        return (block,), "uint8"
    return None


def gpu_workspace(attrs: dict[str, Any], operands: Arrays) -> tuple[int, int]:
    """Range of cuDNN's temporary space in bytes: nothing, up to what each gate of every layer is before its activation,
    computed for all steps at once. Only `cudnnGetRNNTempSpaceSizes` and a handle could tell more."""
    x = operands[0][0]
    block, _, layers, _ = _dimensions(attrs, x)
    return 0, _GATES[attrs["mode"]] * layers * block * SIZE[x.dtype]


def forward_workspace(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """Transient bytes of the forward kernel on a CPU."""
    x = operands[0][0]
    block, state, layers, directions = _dimensions(attrs, x)
    elements = state + block * ((layers > 1) + (directions == 2))
    if attrs["mode"] == "GRU":  # a copy of the recurrent weights
        elements += 3 * int(attrs["hidden_size"]) ** 2
    return elements * SIZE[x.dtype]


def backward_workspace(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """Transient bytes of the gradient kernel on a CPU; the input's gradient is computed even if nobody wants it."""
    x = operands[0][0]
    block, state, layers, directions = _dimensions(attrs, x)
    mode = attrs["mode"]
    blocks = _GRAD_BLOCKS[mode] + min(layers, _DISTINCT_LAYERS) + (layers > 1) + 2 * (directions == 2)
    unwanted = 0 if results and results[0] else x.numel
    wide = x.numel + (layers > 1) * block if layers <= _LAID_OUT_LAYERS else 0
    masks = 0
    if len(operands) > 3 and operands[3]:  # sequence_length: a mask of [T, B], the states before it
        masks = x.shape[0] * x.shape[1] + state * (2 if mode == "LSTM" else 1)
    return (max(blocks * block + _GRAD_STATES[mode] * state + masks, wide) + unwanted) * SIZE[x.dtype]
