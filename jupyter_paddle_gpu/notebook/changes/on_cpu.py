"""The CPU in place of a GPU that the cells ask for by name, for a job that runs where Paddle has none."""

from __future__ import annotations

import ast
import re

from ...domain.messages import Message
from ...domain.what_ifs import EstimateRequest
from .program import Program, RefusedError

_DEVICE = re.compile(r"(gpu|cuda|xpu|npu)(_pinned)?(:.*)?", re.IGNORECASE | re.DOTALL)
"""What a device is called that is not the CPU; behind the colon its number."""
_TAKING = frozenset(("to", "set_device", "disable_static", "to_tensor", "DataLoader", "Executor", "guard"))
"""Functions that take a device by its name."""
_PLACES = ("CUDAPlace", "CUDAPinnedPlace", "XPUPlace", "XPUPinnedPlace", "CustomPlace")


def change(program: Program, request: EstimateRequest) -> None:
    """Write the CPU wherever a call is given another device's name, its place, or moves to it (`.cuda()`)."""
    if request.on_cpu is False:
        raise RefusedError(_AS_IT_IS)
    found = False
    for call in program.code.of_type(ast.Call):
        for node, text in _edits(program, call):
            program.editable(node)
            program.cell_of(node).replace(node, text)
            found = True
    if not found:
        raise RefusedError(_NOWHERE)


def _edits(program: Program, call: ast.Call) -> list[tuple[ast.expr, str]]:
    """What of a call is to be written otherwise."""
    names = program.names
    name = names.last(call.func)
    if name in _PLACES and names.is_paddle(call.func, *_PLACES) and isinstance(call.func, ast.Attribute):
        return [(call, f"{program.text(call.func.value)}.CPUPlace()")]
    if isinstance(call.func, ast.Attribute) and name == "cuda":
        return [(call, f"{program.text(call.func.value)}.cpu()")]
    if name not in _TAKING:
        return []
    given = [*call.args, *(one.value for one in call.keywords)]
    return [(one, repr("cpu")) for one in given if _is_device(program, one)]


def _is_device(program: Program, given: ast.expr) -> bool:
    """Whether an argument is another device's name, or hangs on a condition of which one end is."""
    value = program.names.origin(given)
    match value:
        case ast.Constant(value=str(text)):
            return _DEVICE.fullmatch(text) is not None
        case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
            return _DEVICE.fullmatch(text) is not None
        case ast.IfExp(body=body, orelse=orelse):
            return _is_device(program, body) or _is_device(program, orelse)
    return False


_NOWHERE = Message(
    code="device_nowhere",
    text="No line in the cells names a device other than the CPU, so none can be taken in its place.",
    hint="Change it in the module that asks for the device.",
)
_AS_IT_IS = Message(
    code="device_as_it_is",
    text="The devices that the notebook names stay as they are in any case.",
    hint="Leave this out.",
)
