"""`from_pretrained` of PaddleNLP: the model that a configuration describes, without its weights.

Weights change no size; those of a language model would be gigabytes to download or to read. The configuration is
PaddleNLP's own business: built in, in the notebook's folder, in its cache, or else a download, which is asked for.
Source: `PretrainedModel.from_pretrained` in `paddlenlp/transformers/model_utils.py`, 2.6 to 3.0.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from ...session import Session
from ..awaited import Awaited
from ..environment import WEIGHTS
from ..patch import Patch

MODULE = "paddlenlp.transformers.model_utils"
SHARDS = "resolved_sharded_files"


def _file(
    session: Session, original: Callable[..., Any], kind: Any, name: Any, *args: Any, **kwargs: Any
) -> tuple[Any, ...]:
    """`PretrainedModel._resolve_model_file_path`: one file that is not in shards. The files of shards are a result of
    their own from 3.0 on."""
    code = inspect.unwrap(original).__code__
    shards = () if "sharded_metadata" in code.co_varnames and SHARDS not in code.co_varnames else (None,)
    return f"{WEIGHTS}{name}/model_state.pdparams", *shards, None, False


def _state(session: Session, original: Callable[..., Any], path: Any, *args: Any, **kwargs: Any) -> Any:
    """`load_state_dict`: parameters that are not in it stay as they were made."""
    if isinstance(path, str) and path.startswith(WEIGHTS):
        return {}
    return original(path, *args, **kwargs)


def patches() -> Iterator[Patch]:
    """Both, in PaddleNLP's module."""
    yield Patch(Awaited(MODULE, "PretrainedModel"), "_resolve_model_file_path", _file)
    yield Patch(Awaited(MODULE), "load_state_dict", _state)
