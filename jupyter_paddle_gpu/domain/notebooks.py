"""A notebook, and what a reader finds in it without running it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from .messages import Message

FactValue = str | int | float | bool | None
OTHER_LANGUAGE = "notebook_other_language"
"""The code of the message that a notebook is in a language which nobody reads here."""
OTHER_FRAMEWORK = "notebook_other_framework"
"""The code of the message that a notebook trains with another framework than Paddle."""
CELL_NOT_PYTHON = "cell_not_python"
"""The code of the message that a cell does not parse."""


class NotebookSource(msgspec.Struct, frozen=True):
    """A notebook as text, nothing of it run.

    Attributes:
        path: absolute path of the file (for unsaved content: where it would be saved).
        content: nbformat-4 JSON; the `source` of every cell is one string.
        kernel_name: the kernelspec the notebook asks for.
        runs_in: of a script, the folder in which it is started, where that is not its own.
        launched: of a script, the command of Paddle's launcher that starts its processes; empty where none does.
    """

    path: Path
    content: dict[str, Any]
    kernel_name: str
    runs_in: Path | None = None
    launched: str = ""

    @property
    def folder(self) -> Path:
        """The working folder of its code, which a job is given."""
        return self.runs_in or self.path.parent


_OURS, _FILES, _ANSWERED = "paddle_gpu", "files", "answered"
"""Of a job's copy: under these names its metadata hold what files of settings hold for the job, by path."""


def files_of(content: Mapping[str, Any], *, answered: bool = False) -> dict[str, str]:
    """What files of settings hold for the job whose copy this is, by path.

    Args:
        answered: of those that are read only where there is none, else of those that are read in place of one.
    """
    ours = (content.get("metadata") or {}).get(_OURS)
    found = ours.get(_ANSWERED if answered else _FILES) if isinstance(ours, dict) else None
    return {str(path): str(text) for path, text in found.items()} if isinstance(found, dict) else {}


def with_files(content: dict[str, Any], files: Mapping[str, str], *, answered: bool = False) -> dict[str, Any]:
    """The copy with what files of settings hold for its job (`files_of`)."""
    metadata = content.get("metadata") or {}
    ours = metadata.get(_OURS)
    known = ours if isinstance(ours, dict) else {}
    held = {**files_of(content, answered=answered), **files}
    return {**content, "metadata": {**metadata, _OURS: {**known, _ANSWERED if answered else _FILES: held}}}


class Place(msgspec.Struct, frozen=True):
    """Where in the notebook: cell index among all cells (from 0) and line in that cell (from 1)."""

    cell: int
    line: int = 1


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """One thing read from the code.

    Attributes:
        value: the value; None where the code computes it and reading alone cannot tell.
        source: the expression as written, shortened for display.
        place: where it stands.
        how: `literal` (stands there), `constant` (through names that are bound once to a literal), `default` (the
            library's default, nothing written), `computed` (needs execution).
        name: the variable to answer for with `--set name=value`, where there is one.
    """

    value: FactValue
    source: str
    place: Place | None
    how: Literal["literal", "constant", "default", "computed"]
    name: str = ""


class CodeCell(msgspec.Struct, frozen=True, kw_only=True):
    """A code cell made parseable: `source` has `!`/`%` lines masked line for line, `masked` tells which (from 1).

    Attributes:
        hides: whether what is masked may give names or change files that later code rests on (`%run`, `x = !ls`).
        may_fail: a job goes on behind the cell where it fails (tag `raises-exception`).
        typed: the cell before anything was masked; empty where nothing is.
    """

    index: int
    id: str
    source: str
    masked: tuple[int, ...] = ()
    cell_magic: str = ""
    hides: bool = False
    may_fail: bool = False
    typed: str = ""


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """What a command of a notebook runs or writes.

    Attributes:
        kind: `python` (a script in a process of its own), `module` (the same by `-m`), `launch` (by Paddle's
            launcher), `cell` (the lines of `%%python`, in a process of their own), `run` (in the notebook's own
            process, as `%run`), `write` (`%%writefile`), `folder` (`cd`), `variable` (`%env`).
        path: as written, relative to where the notebook is then; the name of a variable.
        folder: where that one command runs instead (`!cd folder && python …`).
        text: what is written; `appends` to what there is. The value of a variable.
        ends: whether the cell ends with an error where the command does, as a cell of the shell by its last one.
        environment: variables that it is given (`BATCH=8 python train.py`), names and values.
    """

    kind: Literal["python", "module", "launch", "cell", "run", "write", "folder", "variable"]
    cell: int
    line: int
    path: str
    arguments: tuple[str, ...] = ()
    folder: str = ""
    text: str = ""
    appends: bool = False
    ends: bool = False
    environment: tuple[tuple[str, str], ...] = ()


class Printed(msgspec.Struct, frozen=True, kw_only=True):
    """What a notebook's saved outputs say of its data: shapes in their order, numbers by the words before them."""

    shapes: tuple[tuple[int, ...], ...] = ()
    numbers: dict[str, int] = {}


class Unbound(msgspec.Struct, frozen=True, kw_only=True):
    """A name that surely is looked up at a place and that nothing in the notebook binds."""

    name: str
    place: Place


class LayerFact(msgspec.Struct, frozen=True, kw_only=True):
    """A class that derives from `paddle.nn.Layer`, as far as names tell."""

    name: str
    place: Place


LAUNCHED = frozenset({"data_parallel", "fleet"})
"""Distributions of which each device runs the notebook once. One that launches processes itself gets all devices."""


class NotebookFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What trains in a notebook.

    Attributes:
        loop: `fit` (paddle.Model.fit), `custom` (backward and step by hand), `static` (an executor runs a graph) or
            `none` (nothing trains).
        model: name of the class or constructor that is trained, and where it is built.
        amp: `off`, `O1`, `O2`; `amp_dtype` its `float16` or `bfloat16`.
        distribution: `none`, `data_parallel`, `fleet`, `launch`.
        processes: how many train together, where the code says so (`nprocs=`, the launcher's `--devices`).
        epochs: number of passes over the data, where it can be read.
        roles: for each code cell that takes part, what it holds: any of `import`, `data`, `layer`, `model`,
            `optimizer`, `loss`, `train`, `evaluate`, `environment`.
        commands: programs that the notebook runs and files that it writes.
        requirements: what `!pip install` lines ask for.
        problems: what hinders reading (a cell that does not parse, another language), with a next step each.
        files: of a job's copy what files of settings hold for it, by path.
        printed: what saved outputs say of the data's shapes.
        unbound: of each cell the first name that a job would not find there.
        trainer: which public trainer's packages it imports, such as `PaddleOCR`; empty: none of those known.
        is_script: whether it is a script, which reads modules and configurations below the folder it is started in.
    """

    kernel_name: str
    language: str
    cells: tuple[CodeCell, ...]
    imports_paddle: bool
    loop: Literal["fit", "custom", "static", "none"]
    layers: tuple[LayerFact, ...] = ()
    model: Fact | None = None
    optimizer: Fact | None = None
    loss: Fact | None = None
    batch_size: Fact | None = None
    amp: Fact | None = None
    amp_dtype: Fact | None = None
    distribution: Fact | None = None
    processes: Fact | None = None
    epochs: Fact | None = None
    roles: dict[int, tuple[str, ...]] = {}
    commands: tuple[Command, ...] = ()
    requirements: tuple[str, ...] = ()
    problems: tuple[Message, ...] = ()
    files: dict[str, str] = {}
    printed: Printed = Printed()
    unbound: tuple[Unbound, ...] = ()
    trainer: str = ""
    is_script: bool = False


def own_processes(facts: NotebookFacts) -> int:
    """How many processes the notebook starts by itself, each of which wants a device; 1 where it starts none."""
    starts = facts.distribution is not None and facts.distribution.value == "launch"
    count = facts.processes.value if starts and facts.processes is not None else None
    return count if isinstance(count, int) and count > 0 else 1
