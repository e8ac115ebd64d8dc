"""What errors of Python and Paddle mean for a notebook, in plain words: the next step of whoever meets one first.

Paddle's texts name its own functions and end with places in its C++ code; what is to be changed in the notebook stands
between. Each row names an error by its text, as Paddle 3.3 says it, and says what to do about it.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from ..messages import Message, Param

_TAIL = re.compile(r"\s*(\[Hint: Expected .*|\[operator < \w+ > error\].*|[(\[](?:at )?/\w*paddle/.*)$", re.DOTALL)
"""Where Paddle goes on with its own source: a condition in C++, a file and a line of it."""
_OWN_NAME = re.compile(r"\s*\(<(?:ipython-input|cell)[^>]*>, line \d+\)$")
"""What a shell calls a cell behind a `SyntaxError`, whose place is said already."""


class _Row(NamedTuple):
    """An error by its text, and the next step; groups of the pattern are fields of the step."""

    pattern: re.Pattern[str]
    hint: str


def _row(pattern: str, hint: str) -> _Row:
    return _Row(re.compile(pattern, re.DOTALL), hint)


_ROWS: Final = (
    _row(
        r"label value should less than .*received label value as (?P<label>-?\d+) and shape of axis dimension is "
        r"(?P<classes>\d+)",
        "The last layer has {classes} outputs, so labels go from 0 to one less; {label} is none of them. Give that "
        "layer one output for each class, or number the labels from 0.",
    ),
    _row(
        r"(?:dimension of Input\(X\) is|But received X\[-1\] =) \[(?P<given>\d+)\]"  # the second on a GPU
        r"(?:, and the \[\d+\] dimension of Input\(Y\) is|, Y\[0\] =) \[(?P<taken>\d+)\]",
        "{given} numbers come in for each sample, and this layer was made for {taken}. Make it `Linear({given}, …)`, "
        "or reshape what comes in.",
    ),
    _row(
        r"the input's channels is (?P<given>\d+),.*the filter's channels is (?P<taken>\d+),",
        "What comes in has {given} channels, and this layer was made for {taken}. Make it `Conv2D({given}, …)`; an "
        "image has its channels first: [batch, channels, height, width].",
    ),
    _row(
        r"The input of Op\(Conv\) should be a 4-D or 5-D Tensor.*input's dimension is (?P<given>\d+)",
        "A convolution takes [batch, channels, height, width], and what comes in has {given} dimensions. "
        "`unsqueeze` adds the one that is missing.",
    ),
    _row(
        r"the shape of scale must equal to \[(?P<given>\d+)\].*the shape of scale is \[(?P<taken>\d+)\]",
        "What comes in has {given} channels, and this normalization was made for {taken}. Make it for {given}.",
    ),
    _row(
        r"Type promotion only support.*data type x: (?P<given>u?int\d+), y: (?P<taken>u?int\d+)",
        "Paddle takes {given} and {taken} together no more. Cast one of them, as by `.astype('int64')`.",
    ),
    _row(
        r"retrieve \((?:float\d+)\) does not match the type of data \((?:\w+)\) currently|"
        r"Type promotion only support calculations between floating-point",
        "The numbers are not all of one type: layers hold float32, numpy makes float64, class numbers are int64. "
        "Convert the data first: `.astype('float32')`.",
    ),
    _row(
        r"OP\(embedding\) expected >= 0 and < (?P<rows>\d+), but got (?P<given>-?\d+)",
        "The embedding has {rows} rows, so its numbers go from 0 to one less; {given} is none of them. Make it larger, "
        "or look at how the numbers are made.",
    ),
    _row(
        r"Expected input_dims - 1 = label_dims|axis dimension of Input\(Label\) should be 1",
        "The loss takes one class number for each sample, of type int64 and shape [batch] or [batch, 1]; for labels "
        "with a share for each class ask for `soft_label=True`.",
    ),
    _row(
        r"shape of X = (?P<first>\[[\d, ]*\]) and the shape of Y = (?P<second>\[[\d, ]*\])",
        "The two have the shapes {first} and {second}, which do not go together. Print the shapes before this line; "
        "the one that surprises is the mistake.",
    ),
    _row(
        r"X's size = (?P<given>\d+), 'shape' is (?P<shape>\[[-\d, ]*\])",
        "{given} numbers cannot be put into the shape {shape}. With -1 in place of one size, Paddle computes that one.",
    ),
    _row(
        r"^ValueError: all input arrays must have the same shape",
        "A batch is made of samples of one shape. Resize or pad them in the data set's `__getitem__`.",
    ),
    _row(
        r"must be Tensor, but got (?P<given>numpy\.ndarray|list|tuple|float|int)\b",
        "A tensor is wanted there, and {given} comes in. Make it one first: `paddle.to_tensor(…)`, or "
        "`paddle.stack(…)` of a list of tensors.",
    ),
    _row(
        r"^AttributeError: '(?:numpy\.)?(?:float|int)\d*' object has no attribute 'backward'",
        "The loss has become a plain number on the way, and no gradient flows back through one. Compute it of tensors "
        "by Paddle's functions, without `numpy()`, `item()`, `float()` or numpy's own.",
    ),
    _row(
        r"The TensorWrappers of \w+ do not exist",
        "A loss goes backward once. Compute it anew in each round of the loop; where one is to go backward twice, the "
        "first time is `loss.backward(retain_graph=True)`.",
    ),
    _row(
        r"parameters argument given to the Optimizer should not be None",
        "The optimizer has to know what it trains: `parameters=net.parameters()`.",
    ),
    _row(
        r"got an unexpected keyword argument '(?P<given>lr|dim|dims|in_features|keepdims)'",
        "Paddle has other words there than PyTorch and numpy: `learning_rate` for `lr`, `axis` for `dim`, `keepdim` "
        "for `keepdims`. In place of `{given}`, take the one of its help page.",
    ),
    _row(
        r"^AttributeError: 'Model' object has no attribute 'compile'",
        "What Keras calls `compile` is `model.prepare(optimizer, loss, metrics)` in Paddle.",
    ),
    _row(
        r"^AttributeError: module 'paddle\.nn' has no attribute 'Dense'",
        "What Keras calls `Dense(outputs)` is `Linear(inputs, outputs)` in Paddle.",
    ),
    _row(
        r"\"CrossEntropyWithSoftmax\w*\" is not implemented for data type|embedding input only support int32 and int64",
        "Whole numbers are wanted there: `.astype('int64')`.",
    ),
    _row(
        r"^IndexError: (?:too many indices for array: array is 0-dimensional|invalid index to scalar)",
        "One number without dimensions has no `[0]`. Where it is a loss, which has none in Paddle 3, write "
        "`loss.item()` in place of `loss.numpy()[0]`.",
    ),
    _row(
        r"label's dimensions of AccuracyOp must be 2",
        "`paddle.metric.accuracy` takes labels of shape [batch, 1]: `label.unsqueeze(1)`.",
    ),
    _row(
        r"There is no grad op for inputs|input does not appear in the backward graph",
        "No gradient leads from there to what was asked for. Say it before the model is called: "
        "`x.stop_gradient = False`.",
    ),
    _row(
        r"learning rate can't be LRScheduler when invoke this API",
        "A scheduler sets the rate by itself. Leave `set_lr` out, or give the optimizer a number.",
    ),
    _row(
        r"^NameError: (?:cannot access free variable|name) '(?P<name>\w+)'",
        "Look for a typing error. A job runs the cells from the first one on in a new kernel, so {name} has to be "
        "defined in a cell above.",
    ),
    _row(
        r"^Exception: Process \d+ terminated with exit code 1\.",
        "A process that `spawn` started has ended at once; its own error stands before this one in the log. It finds "
        "no function of a cell: call that one without `spawn`, as a job on several devices runs once for each of "
        "them, or import it from a module beside the notebook.",
    ),
    _row(
        r"^PackageNotFoundError: No package metadata was found for (?P<package>\S+)",
        "Install {package} in the kernel as its own page says, or by `pip install -e .` in the folder of its "
        "repository.",
    ),
    _row(
        r"^FileNotFoundError: .*?'(?P<file>[^']+)'",
        "A job looks for {file} from the notebook's own folder. Put it there, or name the whole path.",
    ),
    _row(
        r"^RuntimeError: Cannot download (?P<address>\S+) within retry",
        "Where the job runs, {address} cannot be reached. Fetch it where there is a network and put it below "
        "`~/.cache/paddle/dataset`, or give the data set the path of your own copy.",
    ),
    _row(
        r"^RuntimeError: Download from (?P<address>\S+) failed",
        "Where the job runs, {address} cannot be reached. Fetch it where there is a network and put it into "
        "`~/.cache/paddle/hapi/weights`, or do without `pretrained=True`.",
    ),
)


def plain(error: str) -> str:
    """An error's text without what Paddle says of its own C++ code, and without a shell's name of the cell."""
    return _OWN_NAME.sub("", _TAIL.sub("", error)).rstrip() or error


def next_step(error: str) -> Message | None:
    """What to do about an error, given as `Type: text`; None where the table does not know it."""
    for pattern, hint in _ROWS:
        if found := pattern.search(error):
            params: dict[str, Param] = {name: value for name, value in found.groupdict().items() if value is not None}
            return Message(code="next_step", text=hint, params=params)
    return None
