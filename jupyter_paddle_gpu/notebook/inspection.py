"""From a notebook to what trains in it. Reads the code, never runs it."""

from __future__ import annotations

import ast
from pathlib import Path

import msgspec

from ..domain.messages import Message, Param
from ..domain.notebooks import OTHER_FRAMEWORK, Command, Fact, NotebookFacts, NotebookSource, Place, files_of
from . import hidden_imports
from .cells import Magic, ParsedCell, parsed_cells
from .code import Code
from .files.reading import language_of
from .files.scripts import is_script
from .frameworks import OTHERS, PADDLE, other_framework, other_language
from .mentioned import mentioned
from .names import TRAINERS, Names
from .printed import printed_in
from .programs import Beside, absent_scripts, commands_of, launched_otherwise, read_commands
from .requirements import read_requirements
from .started import started_programs
from .training.batches import BatchReader
from .training.loop import TrainingReader
from .training.losses import LossReader
from .training.models import ModelReader
from .training.precision import read_amp, read_distribution, read_processes, spawned_in_a_cell
from .training.roles import read_roles
from .unbound import unbound_names


def inspect_notebook(source: NotebookSource) -> NotebookFacts:
    """The facts of a notebook; what hinders reading is in `problems`, never an exception."""
    language = language_of(source)
    cells = tuple(parsed_cells(source.content["cells"]))
    if (foreign := other_language(source)) is not None:
        return _unread(source, cells, language, foreign)
    try:
        return _read(source, cells, language)
    except RecursionError:
        return _unread(source, cells, language, _TOO_DEEP)


def _place(command: Command) -> tuple[int, int]:
    return command.cell, command.line


def _folders(source: NotebookSource) -> tuple[Path, ...]:
    """Where modules lie that the code imports. A script in `tools/` commonly puts the folder above into its path."""
    own = source.path.parent
    return (own, source.folder, own.parent) if is_script(source.path) else (own,)


def _read(source: NotebookSource, cells: tuple[ParsedCell, ...], language: str) -> NotebookFacts:
    commands = read_commands(cells, source.path.parent)
    started = started_programs(cells)
    modules = Beside(_folders(source), (*commands, *commands_of(started, source.path.parent)))
    beside = mentioned(cells, tuple(modules.cells(cells)))
    code = Code((*cells, *beside))
    foreign = {code.place(node) for one in beside if one.tree is not None for node in ast.walk(one.tree)}
    names = Names(code)
    models = ModelReader(code, names)
    reader = TrainingReader(code, names, models)
    magics = [(cell.cell.index, magic) for cell in cells for magic in cell.magics]
    model, optimizer, loss = reader.model(), reader.optimizer(), LossReader(names, models.layers).loss(reader.training)
    if optimizer is not None and optimizer.place in foreign and len(reader.optimizers()) > 1:
        optimizer = None  # a module of many trainings: which of them the cells call is not read
    launchers = [*magics, *started, *((0, Magic(text, 1)) for text in (source.launched,) if text)]
    trains = reader.training.kind != "none"
    amp, amp_dtype = read_amp(code, names, reader)
    layers = models.layer_facts()
    packages = {path.split(".")[0] for path in (*code.imports.values(), *code.stars)}
    packages |= hidden_imports.in_broken_cells(cells)
    if packages.isdisjoint({*PADDLE, *OTHERS}):
        packages |= hidden_imports.in_modules_by_name(code, source.path.parent)
    imports_paddle = not packages.isdisjoint(PADDLE)
    other = other_framework(packages)
    problems = [cell.problem for cell in cells if cell.problem is not None]
    if other:
        problems.append(msgspec.structs.replace(_OTHER_FRAMEWORK, params={"framework": other}))
    # Those that the code starts are told of where it is run, unless nothing of it says that it is for Paddle.
    run = commands if imports_paddle else [*commands, *commands_of(started, source.path.parent)]
    if not trains and (absent := absent_scripts(sorted(run, key=_place), source.path.parent)):
        first = absent[0]
        told: dict[str, Param] = {"path": first.path, "cell": first.cell + 1, "line": first.line}
        problems.append(msgspec.structs.replace(_SCRIPT_ABSENT, params=told))
    if not trains:
        for started_by, launcher in launched_otherwise([*magics, *started]):
            script = Code(tuple(Beside(_folders(source), (*commands, started_by)).cells(())))
            if any(path.split(".")[0] in PADDLE for path in script.imports.values()):
                told = {"launcher": launcher, "path": started_by.path}
                told |= {"cell": started_by.cell + 1, "line": started_by.line}
                problems.append(msgspec.structs.replace(_OTHER_LAUNCHER, params=told))
                break
    if not is_script(source.path) and (function := spawned_in_a_cell(code, names, foreign)):
        problems.append(msgspec.structs.replace(_SPAWNED_IN_A_CELL, params={"function": function}))
    return NotebookFacts(
        kernel_name=source.kernel_name,
        language=language,
        is_script=is_script(source.path),
        cells=tuple(cell.cell for cell in cells),
        imports_paddle=imports_paddle,
        trainer=next((family for package, family in TRAINERS.items() if package in packages), ""),
        loop="none" if other else reader.training.kind,
        layers=layers,
        model=model,
        optimizer=optimizer,
        loss=loss,
        batch_size=_unbound(BatchReader(code, names, reader).batch_size(), foreign),
        amp=amp,
        amp_dtype=amp_dtype,
        distribution=read_distribution(code, names, reader, launchers),
        processes=read_processes(code, names, launchers),
        epochs=reader.epochs() if trains else None,
        roles=read_roles(
            code,
            names,
            training=reader.training,
            layers=layers,
            facts={"model": model, "optimizer": optimizer, "loss": loss},
            magics=magics,
        ),
        commands=commands,
        requirements=read_requirements(magic for _, magic in magics),
        problems=tuple(problems),
        files=files_of(source.content),
        printed=printed_in(source.content["cells"]),
        unbound=() if commands else unbound_names(cells),
    )


def _unbound(fact: Fact | None, foreign: set[Place]) -> Fact | None:
    """A fact without its name where it stands in a file: a job binds names of the notebook's cells alone."""
    if fact is None or fact.place not in foreign:
        return fact
    return msgspec.structs.replace(fact, name="")


_OTHER_FRAMEWORK = Message(
    code=OTHER_FRAMEWORK,
    text="This notebook trains with {framework}; only trainings of Paddle are estimated.",
    hint="It can be submitted all the same, and runs as it is.",
)
_SPAWNED_IN_A_CELL = Message(
    code="spawned_in_a_cell",
    text="The processes that `spawn` starts do not find {function}: it stands in a cell, which they do not have.",
    hint="Call {function} without `spawn`: a job on several devices runs once for each of them. Or write it into a "
    "module beside the notebook, as by `%%writefile`, and import it from there.",
)
_SCRIPT_ABSENT = Message(
    code="script_absent",
    text="The script {path} that cell {cell}, line {line} runs is not on this machine: what trains in it is not seen.",
    hint="Put it where the notebook looks for it (clone the repository, correct the name), and estimate again.",
)
_OTHER_LAUNCHER = Message(
    code="other_launcher",
    text="`{launcher}` in cell {cell}, line {line} is a launcher of PyTorch's, and {path} trains with Paddle, whose "
    "processes do not find each other by it.",
    hint="Start it by Paddle's: `python -m paddle.distributed.launch {path}`, and estimate again.",
)
_TOO_DEEP = Message(
    code="notebook_too_deep",
    text="The code of this notebook is nested too deeply to be read.",
    hint="Split the longest expression of the notebook.",
)


def _unread(source: NotebookSource, cells: tuple[ParsedCell, ...], language: str, problem: Message) -> NotebookFacts:
    return NotebookFacts(
        kernel_name=source.kernel_name,
        language=language,
        cells=tuple(cell.cell for cell in cells),
        imports_paddle=False,
        loop="none",
        problems=(problem,),
    )
