"""Processes that `multiprocessing` begins anew (spawn, forkserver, `paddle.distributed.spawn`): they read the job's own
settings files, and run their script with the answers in it. One that is forked has what this process has.
"""

import ast
import runpy
import types
from pathlib import Path
from typing import Any, Callable, Dict, Optional, Tuple

_MAIN = "__mp_main__"
"""What `multiprocessing` calls the script in such a process."""
_OWN = "own"
"""The attribute of our function that has `multiprocessing`'s."""
_PACKAGE = "paddle_gpu_runner"
"""Under which it finds our modules, as the job's own process does (`__main__`)."""
_MODULES = (".own_settings", ".spawned", ".shells.sets")
_FIRST = (
    "import importlib, sys; from importlib.machinery import ModuleSpec; from importlib.util import module_from_spec; "
    "spec = ModuleSpec(%r, None, is_package=True); spec.submodule_search_locations = [%r]; "
    "sys.modules[spec.name] = module_from_spec(spec); "
    "own_settings, spawned, sets = map(importlib.import_module, map(spec.name.__add__, %r)); "
    "own_settings.install_from_environment(); spawned.begin(sets, %r)"
)


class _Code:
    """Something that is code where it is unpickled: what such a process does before all else."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __reduce__(self) -> "Tuple[Any, ...]":
        return exec, (self._text, {})


def reach(values: Dict[str, Any]) -> None:
    """Have the processes that this one begins anew take the answers and read the copies."""
    from multiprocessing import spawn  # most jobs begin none

    prepared: Callable[[str], Dict[str, Any]] = vars(spawn.get_preparation_data).get(_OWN, spawn.get_preparation_data)
    text = _FIRST % (_PACKAGE, str(Path(__file__).parent), _MODULES, values)

    def preparation(name: str) -> Dict[str, Any]:
        return {"paddle_gpu": _Code(text), **prepared(name)}

    vars(preparation)[_OWN] = prepared
    spawn.get_preparation_data = preparation


def begin(sets: Any, values: Dict[str, Any]) -> None:
    """In such a process: its script gets the answers, and so do those that it begins itself."""
    reach(values)
    if not values:
        return
    sets.reach_parsers(values)
    run_path = runpy.run_path

    def answered(path_name: str, init_globals: Any = None, run_name: Optional[str] = None) -> Dict[str, Any]:
        if run_name != _MAIN:
            return run_path(path_name, init_globals, run_name)
        module = types.ModuleType(run_name)
        module.__file__ = path_name
        tree = sets.bind(ast.parse(Path(path_name).read_bytes(), path_name), values)
        exec(compile(tree, path_name, "exec"), module.__dict__)
        return module.__dict__

    runpy.run_path = answered
