"""What errors of Python and Paddle mean for a notebook, in plain words: the next step of whoever meets one first.

Paddle's texts name its own functions and end with places in its C++ code; what is to be changed in the notebook stands
between. Each row names an error by its text, as Paddle 3.3 says it, and says what to do about it.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from ..messages import Message, Param

_TAIL = re.compile(r"\s*(\[Hint: Expected .*|\[operator < \w+ > error\].*|\(at /\w*paddle/.*)$", re.DOTALL)
"""Where Paddle goes on with its own source: a condition in C++, a file and a line of it."""


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
        r"dimension of Input\(X\) is \[(?P<given>\d+)\], and the \[\d+\] dimension of Input\(Y\) is \[(?P<taken>\d+)\]",
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
    """An error's text without what Paddle says of its own C++ code."""
    return _TAIL.sub("", error).rstrip() or error


def next_step(error: str) -> Message | None:
    """What to do about an error, given as `Type: text`; None where the table does not know it."""
    for pattern, hint in _ROWS:
        if found := pattern.search(error):
            params: dict[str, Param] = {name: value for name, value in found.groupdict().items() if value is not None}
            return Message(code="next_step", text=hint, params=params)
    return None
