"""Several processes of a `paddle.Model`: what its `fit` and its `predict` lack for that.

A data set given to `fit` is divided by Paddle itself, a loader is not: each process would train on all of it. What
`predict` has found in each process is put together by Paddle on GPUs alone (`paddle/hapi/model.py`, `predict_batch`).
"""

from __future__ import annotations

import ast

from ...domain.messages import Message
from . import sampling
from .program import Program, RefusedError

_HELPER = '''\
def {name}(model, data, batch_size=1, num_workers=0, **options):
    """Predict all of the data in each process: on a CPU Paddle would leave each with its own part of the answers."""
    if isinstance(data, {paddle}.io.Dataset) and {paddle}.device.get_device() == "cpu":
        data = {paddle}.io.DataLoader(data, batch_size=batch_size, num_workers=num_workers)
    return model.predict(data, batch_size, num_workers, **options)
'''
_POSITIONAL = 3
"""Parameters of `predict` that the helper takes by their place."""


def change(program: Program) -> None:
    """Divide the loaders that `fit` and `evaluate` go over, and have `predict` answer for all of the data."""
    fits, predicted = program.of_high_level("fit"), program.of_high_level("predict")
    checked = [(one, "eval_data", 1) for one in fits]
    checked += [(one, "eval_data", 0) for one in program.of_high_level("evaluate")]
    trains = [made for one in fits if (made := _loader(program, one, "train_data", 0)) is not None]
    checks = [made for one in checked if (made := _loader(program, *one)) is not None]
    whole = [_loader(program, one, "test_data", 0) for one in predicted]
    if any(one in whole for one in trains):
        raise RefusedError(_PREDICTED)
    for made in dict.fromkeys((*trains, *(one for one in checks if one not in whole))):
        if not _is_divided(program, made):
            sampling.divide(program, made, program.paddle(program.top(made)))
    calls = [one for one, made in zip(predicted, whole, strict=True) if made is None and _is_plain(one)]
    if calls:
        _predict_all(program, calls)


def _predict_all(program: Program, calls: list[ast.Call]) -> None:
    """Put the helper above the first of the calls, and have all of them go through it."""
    program.editable(*calls)
    first = program.top(calls[0])
    program.lines_alone(first)
    name = program.fresh("predict_all")
    helper = _HELPER.format(name=name, paddle=program.paddle(first))
    program.cell_of(first).insert_before(first, ["", *helper.split("\n"), ""])
    for call in calls:
        if isinstance(call.func, ast.Attribute):
            cell = program.cell_of(call)
            start, end = cell.span(call.func)
            model = program.text(call.func.value)
            cell.put(start, cell.source.index("(", end) + 1, f"{name}({model}, ")


def _is_plain(call: ast.Call) -> bool:
    """Whether the helper can be called as `predict` is."""
    return bool(call.args or call.keywords) and len(call.args) <= _POSITIONAL


def _is_divided(program: Program, loader: ast.Call) -> bool:
    sampler = program.names.argument(loader, "batch_sampler")
    made = program.names.origin(sampler) if sampler is not None else None
    return isinstance(made, ast.Call) and program.names.last(made.func) == "DistributedBatchSampler"


def _loader(program: Program, call: ast.Call, name: str, position: int) -> ast.Call | None:
    """The `DataLoader` that a call is given; None where it is a data set, or cannot be read."""
    data = program.names.argument(call, name, position)
    made = program.names.origin(data) if data is not None else None
    if isinstance(made, ast.Call) and isinstance(made.func, ast.Name):  # a function that makes it
        made = program.names.origin(next(iter(program.names.returned(made.func.id)), made))
    if isinstance(made, ast.Call) and program.names.last(made.func) == "DataLoader":
        return made
    return None


_PREDICTED = Message(
    code="devices_predicted",
    text="The loader that fit trains on is given to predict as well, and divided among the processes it would leave "
    "each of them with a part of the answers.",
    hint="Give predict a loader of its own, or the data set.",
)
