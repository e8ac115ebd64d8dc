"""The executed notebook: outputs put into the cells as they come, saved by rename, never torn."""

import copy
import json
import time
from pathlib import Path
from typing import Any, Dict, List, Optional

from .. import files
from ..spec import Limits
from .outputs import CellOutputs

Cell = Dict[str, Any]


def source_of(cell: Cell) -> str:
    """A cell's source as one string (the format allows a list of lines)."""
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(source)


def tags_of(cell: Cell) -> List[str]:
    """A cell's tags."""
    tags = cell.get("metadata", {}).get("tags", [])
    return [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []


class Document:
    """A notebook in nbformat 4 that is being executed. Raises `ValueError` where the source is none.

    Attributes:
        settings: what files of settings hold for this job, by path.
        answered: what those hold that are read only where there is none, by path, from the job's folder if not whole.
    """

    def __init__(self, source: Path, target: Path, *, job_id: str, limits: Limits) -> None:
        content = json.loads(source.read_text(encoding="utf-8"))
        if not isinstance(content, dict) or not isinstance(content.get("cells"), list) or content.get("nbformat") != 4:
            raise ValueError("not a notebook in nbformat 4: %s" % source)
        self._content = copy.copy(content)
        self._target = target
        self._limits = limits
        self._displays: Dict[str, List[Dict[str, Any]]] = {}
        self._current: Optional[CellOutputs] = None
        self._dirty = True
        self._saved_at = 0.0
        self._save_took = 0.0
        self.cells: List[Cell] = [cell for cell in content["cells"] if isinstance(cell, dict)]
        for cell in self.cells:
            if cell.get("cell_type") == "code":
                cell["outputs"], cell["execution_count"] = [], None
                cell.setdefault("metadata", {}).pop("execution", None)
        self._content["cells"] = self.cells
        ours = self._content.get("metadata", {}).get("paddle_gpu")
        ours = ours if isinstance(ours, dict) else {}
        self.settings: Dict[str, str] = dict(ours.get("files") or {})
        self.answered: Dict[str, str] = dict(ours.get("answered") or {})
        own = {"job": job_id, "settings": self.answered} if self.answered else {"job": job_id}
        self._content.setdefault("metadata", {})["paddle_gpu"] = own

    @property
    def code_cells(self) -> List[int]:
        """Indices of the cells that are executed."""
        return [
            index
            for index, cell in enumerate(self.cells)
            if cell.get("cell_type") == "code" and source_of(cell).strip() and "skip-execution" not in tags_of(cell)
        ]

    def start_cell(self, index: int, count: int) -> None:
        """Outputs that follow belong to this cell."""
        cell = self.cells[index]
        cell["execution_count"] = count
        times = cell["metadata"]["execution"] = {}
        times["iopub.status.busy"] = times["iopub.execute_input"] = _now()
        if self._current:
            self._current.settle()
        self._current = CellOutputs(cell["outputs"], self._limits)
        self._dirty = True

    def end_cell(self, index: int) -> None:
        """Note the time; late output (threads) goes on into this cell until the next one starts."""
        times = self.cells[index]["metadata"].get("execution", {})
        times["iopub.status.idle"] = times["shell.execute_reply"] = _now()
        self._dirty = True

    def stream(self, name: str, text: str) -> None:
        """Printed text."""
        if self._current and text:
            self._current.stream(name, text)
            self._dirty = True

    def lines(self, name: str, lines: List[str]) -> None:
        """Many complete printed lines."""
        if self._current:
            self._current.lines(name, lines)
            self._dirty = True

    def rich(self, message: Dict[str, Any]) -> None:
        """A message of kind `display`, `result`, `update`, `clear` or `error`."""
        kind, display_id = message["kind"], message.get("display_id")
        self._dirty = True
        if kind == "update":
            for output in self._displays.get(display_id or "", []):
                output["data"], output["metadata"] = _mime(message["data"]), message.get("metadata") or {}
            return
        if self._current is None:
            return
        if kind == "clear":
            self._current.clear(wait=bool(message.get("wait")))
            return
        if kind == "error":
            fields = {key: message[key] for key in ("ename", "evalue", "traceback")}
            self._current.add(dict(fields, output_type="error"))
            return
        output = {"output_type": "display_data", "data": _mime(message["data"])}
        output["metadata"] = message.get("metadata") or {}
        if kind == "result":
            output.update(output_type="execute_result", execution_count=message.get("count"))
        if self._current.add(output) and display_id:
            self._displays.setdefault(display_id, []).append(output)

    def save(self, *, force: bool = True) -> bool:
        """Write the notebook where something changed. Raises `OSError`.

        Without `force` a notebook that takes long to write is written less often: at most a tenth of the time.
        """
        if not self._dirty or (not force and time.monotonic() - self._saved_at < 10 * self._save_took):
            return False
        start = time.monotonic()
        files.replace(self._target, self.encode())
        self._dirty, self._saved_at = False, time.monotonic()
        self._save_took = self._saved_at - start
        return True

    def encode(self) -> bytes:
        """The notebook as nbformat writes it: indent 1, sorted keys, not escaped."""
        if self._current:
            self._current.settle()
        text = json.dumps(self._content, ensure_ascii=False, indent=1, sort_keys=True, separators=(",", ": "))
        return text.encode("utf-8", "replace") + b"\n"


def _mime(data: Dict[str, Any]) -> Dict[str, Any]:
    return {str(kind): value for kind, value in data.items() if value is not None}


def _now() -> str:
    from datetime import datetime, timezone

    return datetime.now(timezone.utc).isoformat().replace("+00:00", "Z")
