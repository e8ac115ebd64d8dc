"""What an executor of cells gives back, and where it puts what is more than printed text."""

import base64
import linecache
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Protocol

from ..channel import Sender

_FOLDER = Path(__file__).parent.parent
_VALUE_CHARACTERS = 10_000
_TRACEBACK_CHARACTERS = 100_000
"""Errors may carry whole arrays or recursions in their text; every reader has to hold what is kept of it."""


class CellOutcome(NamedTuple):
    """The end of a cell: nothing, or `name`, `value`, `line` and plain `traceback` of what it raised."""

    failure: Optional[Dict[str, Any]] = None
    interrupted: bool = False


class Shell(Protocol):
    """Executes cells in one namespace."""

    title: str

    def run(self, source: str, count: int) -> CellOutcome:
        """Execute a cell; what it shows goes to the publisher."""
        ...

    def close(self) -> None:
        """After the last cell."""
        ...


class Publisher:
    """Sends rich outputs in the form that the notebook file wants: text as it is, bytes in base64."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def display(
        self,
        data: Dict[str, Any],
        metadata: Optional[Dict[str, Any]] = None,
        display_id: Optional[str] = None,
        update: bool = False,
    ) -> None:
        """A figure, a table, anything in several formats."""
        kind = "update" if update else "display"
        self._sender.send(kind, data=encode(data), metadata=metadata or {}, display_id=display_id)

    def result(self, data: Dict[str, Any], metadata: Optional[Dict[str, Any]], count: int) -> None:
        """The value of a cell's last expression."""
        self._sender.send("result", data=encode(data), metadata=metadata or {}, count=count)

    def clear(self, wait: bool) -> None:
        """`clear_output`."""
        self._sender.send("clear", wait=wait)

    def error(self, name: str, value: str, lines: List[str]) -> None:
        """What a cell raised, with its traceback as it is to be shown."""
        text = shortened("\n".join(lines), _TRACEBACK_CHARACTERS)
        self._sender.send("error", ename=name, evalue=shortened(value, _VALUE_CHARACTERS), traceback=text.split("\n"))

    def metric(self, **fields: Any) -> None:
        """Progress."""
        self._sender.send("metric", **fields)


def encode(data: Dict[str, Any]) -> Dict[str, Any]:
    """A MIME bundle as JSON can hold it."""
    out: Dict[str, Any] = {}
    for kind, value in data.items():
        if isinstance(value, (bytes, bytearray)):
            out[kind] = base64.b64encode(value).decode("ascii")
        elif kind == "text/plain" and not isinstance(value, str):
            out[kind] = str(value)
        else:
            out[kind] = value
    return out


def ends_script(error: BaseException, namespace: Mapping[str, Any]) -> bool:
    """Whether a script ends as scripts do, `sys.exit(0)`: only what is run as a script knows its file."""
    return isinstance(error, SystemExit) and not error.code and "__file__" in namespace


def failure_of(error: BaseException, filename: str) -> Dict[str, Any]:
    """An error as `result.json` tells it; `line` is the one in the cell that `filename` stands for."""
    lines = traceback.format_exception(type(error), error, from_cell(error, filename) or error.__traceback__)
    return {
        "name": type(error).__name__,
        "value": shortened(text_of(error), _VALUE_CHARACTERS),
        "line": line_in(error, filename),
        "traceback": shortened("".join(lines), _TRACEBACK_CHARACTERS),
    }


def from_cell(error: BaseException, filename: str) -> Optional[TracebackType]:
    """The error's traceback from the cell on, without the frames of the executor; None where the cell is not in it."""
    step = error.__traceback__
    while step is not None and step.tb_frame.f_code.co_filename != filename:
        step = step.tb_next
    return step


def cut_interrupt(step: Optional[TracebackType]) -> None:
    """Take from a `KeyboardInterrupt`'s traceback what is ours below the user's code: the handler that raised it."""
    user: Optional[TracebackType] = None
    while step is not None:
        ours = _FOLDER in Path(step.tb_frame.f_code.co_filename).parents
        if ours and user is not None:
            user.tb_next = None
            return
        user = None if ours else step
        step = step.tb_next


def shortened(text: str, limit: int) -> str:
    """A text without its middle where it is longer than `limit`; the end, where errors speak, keeps the larger part."""
    if len(text) <= limit:
        return text
    head = limit // 4
    return "%s\n[%d characters left out here]\n%s" % (text[:head], len(text) - limit, text[head - limit :])


def text_of(error: BaseException) -> str:
    """`str(error)`, also where the class's own `__str__` fails."""
    try:
        return str(error)
    except Exception:
        return "<no text: %s.__str__ failed>" % type(error).__name__


def line_in(error: BaseException, filename: str) -> Optional[int]:
    """The line of the cell at which an error passed through it last, from 1."""
    line: Optional[int] = None
    if isinstance(error, SyntaxError) and error.filename == filename:
        line = error.lineno
    step: Optional[TracebackType] = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == filename:
            line = step.tb_lineno
        step = step.tb_next
    return line


def remember_source(filename: str, source: str) -> None:
    """Let tracebacks and `inspect.getsource` (which Paddle's dynamic-to-static uses) find a cell's text."""
    lines = [line + "\n" for line in source.splitlines()]
    linecache.cache[filename] = (len(source), None, lines, filename)
