"""`from_pretrained` of PaddleNLP: the model that a configuration describes, without its weights.

Weights change no size; those of a language model would be gigabytes to download or to read. The configuration is
PaddleNLP's own business: built in, in the notebook's folder, in its cache, or else a download, which is asked for.
Source: `PretrainedModel.from_pretrained` in `paddlenlp/transformers/model_utils.py`, 2.6 to 3.0.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any

from .environment import WEIGHTS
from .patch import Patch, install

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from importlib.abc import Loader
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    from ..session import Session

MODULE = "paddlenlp.transformers.model_utils"


def _file(
    session: Session, original: Callable[..., Any], name: Any, *args: Any, **kwargs: Any
) -> tuple[str, None, None, bool]:
    """`PretrainedModel._resolve_model_file_path`: one file that is not in shards."""
    return f"{WEIGHTS}{name}/model_state.pdparams", None, None, False


def _state(session: Session, original: Callable[..., Any], path: Any, *args: Any, **kwargs: Any) -> Any:
    """`load_state_dict`: parameters that are not in it stay as they were made."""
    if isinstance(path, str) and path.startswith(WEIGHTS):
        return {}
    return original(path, *args, **kwargs)


def patches(module: ModuleType) -> Iterator[Patch]:
    """Both, in PaddleNLP's module."""
    yield Patch(module.PretrainedModel, "_resolve_model_file_path", _file)
    yield Patch(module, "load_state_dict", _state)


class _Replacing:
    """Runs a module, then puts the patches into it; a version that has other places stays as it is."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        install(patches(module))


class _Finder:
    """Finds PaddleNLP's module as ever and has it run by `_Replacing`."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != MODULE:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Replacing(spec.loader)  # type: ignore[assignment]
        return spec


def await_module() -> None:
    """Replace them now, or when the notebook imports them; once a process."""
    if MODULE in sys.modules:
        install(patches(sys.modules[MODULE]))
    elif _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
