"""LSTM, GRU and SimpleRNN: one fused operator whose program shapes say nothing about its memory.

With T steps, B samples, D directions, L layers, H hidden: `block` = D*T*B*H elements, `state` = B*H elements.
"""

from __future__ import annotations

from ...memory.arrays import Array
from ...memory.dtypes import SIZE
from ...session import running
from .. import shapes
from ..rules import Arrays, Asked, Attributes, Meta, Operator, Place, Rule

_RESULTS = ("out", "dropout_state_out", "state", "reserve")
_RESERVED_GATES = {"LSTM": 6, "GRU": 4, "RNN_TANH": 1, "RNN_RELU": 1}
_CUDNN_GATES = {"LSTM": 5, "GRU": 6, "RNN_TANH": 1, "RNN_RELU": 1}
"""The same of cuDNN's reserve, which has `_CUDNN_HEAD` bytes more."""
_CUDNN_HEAD = 256
_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_DROPOUT_STATES = 132 * 2048 * 24
"""`cudnnDropoutGetStatesSize` on an H200: 24 bytes for each of 2,048 threads of its 132 multiprocessors."""
_CUDNN_EACH, _CUDNN_STATES, _CUDNN_REST = 8 << 20, 12, 1 << 20
"""Beside weights and gates, for each layer and direction: bytes; states and bytes at most. Read on an H200."""
_GRAD_BLOCKS = {"LSTM": 3, "GRU": 2, "RNN_TANH": 0, "RNN_RELU": 0}
_GRAD_STATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 2, "RNN_RELU": 2}
_DISTINCT_LAYERS = 3
"""More layers than these take turns with their buffers (measured with four and five)."""
_LAID_OUT_LAYERS = 2
"""Up to so many layers the gradient kernel holds, at another moment, one more tensor of the input's size: the larger
amount where the input is wide (measured on 42 configurations; with three layers it does not)."""


def _dimensions(attrs: Attributes, x: Array) -> tuple[int, int, int, int]:
    """(block elements, state elements, layers, directions)."""
    steps, batch = x.shape[:2]
    directions = 2 if attrs["is_bidirec"] else 1
    hidden = int(attrs["hidden_size"])
    return directions * steps * batch * hidden, batch * hidden, int(attrs["num_layers"]), directions


def _reserve(attrs: Attributes, operands: Arrays, place: Place) -> Meta | None:
    """`reserve` holds the activations of all gates and layers, `dropout_state_out` a byte an element, on a GPU what its
    random numbers come from."""
    result, x = _RESULTS[place.result], operands[0][0]
    block, _, layers, _ = _dimensions(attrs, x)
    if attrs.get("is_test"):
        return ((0,), "uint8") if result in {"reserve", "dropout_state_out"} else None
    on_gpu = running().target == "gpu"
    if result == "reserve":
        gates, head = (_CUDNN_GATES, _CUDNN_HEAD) if on_gpu else (_RESERVED_GATES, 0)
        rows = (layers - 1) + gates[attrs["mode"]] * layers
        return (rows * block * SIZE[x.dtype] + head,), "uint8"
    if result == "dropout_state_out":  # allocated whether or not there is dropout
        return (_DROPOUT_STATES if on_gpu else block,), "uint8"
    return None


def _cudnn(attrs: Attributes, operands: Arrays, results: Arrays) -> tuple[int, int]:
    """What `cudnnGetRNNTempSpaceSizes` asks for: the weights, what every gate is before its activation, two blocks more
    in both directions, and `_CUDNN_EACH` for each layer and direction (a simple cell up to a block and a quarter more).

    Holds 160 answers of cuDNN 9.19 on an H200, as `cudnnSetRNNDescriptor_v8` was called by Paddle's `rnn_functor.h`.
    """
    x = operands[0][0]
    block, state, layers, directions = _dimensions(attrs, x)
    blocks = _GATES[attrs["mode"]] + 2 * (directions == 2)
    cells = layers * directions
    low = sum(array.nbytes for array in operands[2]) + blocks * block * SIZE[x.dtype] + cells * _CUDNN_EACH
    simple = 5 * block // 4 * SIZE[x.dtype] if attrs["mode"].startswith("RNN") else 0
    return low, low + cells * (_CUDNN_STATES * state * SIZE[x.dtype] + _CUDNN_REST) + simple


def _forward(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """A state, blocks for further layers and the second direction, a GRU's recurrent weights once more."""
    x = operands[0][0]
    block, state, layers, directions = _dimensions(attrs, x)
    elements = state + block * ((layers > 1) + (directions == 2))
    if attrs["mode"] == "GRU":  # a copy of the recurrent weights
        elements += 3 * int(attrs["hidden_size"]) ** 2
    return elements * SIZE[x.dtype]


def _gradient(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Blocks and states by cell, layers and directions, a mask of the lengths, the input's gradient even if nobody
    wants it."""
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


def _flops(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Two for each sample, step and weight of a matrix."""
    steps, batch = operands[0][0].shape[:2]
    weights = sum(array.numel for array in operands[2] if len(array.shape) == 2)
    return 2 * steps * batch * weights


def _gradient_flops(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Twice those of the forward kernel."""
    return 2 * _flops(attrs, operands, results)


OPERATORS = (
    Operator(
        "rnn",
        "AllocateReserveData (`phi/kernels/cpu/rnn_functor.h`), `rnn_grad_kernel.cc`; fitted exactly to 39 "
        "configurations (cell, time, batch, sizes, layers, directions) and to 42 with inputs wider than the state",
        Rule(
            result=_reserve,
            sized_here=True,
            flops=_flops,
            workspace=_forward,
            gpu=_cudnn,
            reads_as={1: 0, 2: 0},
            refuses=shapes.cells,
            asked=Asked.FIRST_ENTRY,
        ),
        gradient=Rule(flops=_gradient_flops, workspace=_gradient, gpu=_cudnn, only_wanted=True, fills_zeros=True),
    ),
)
