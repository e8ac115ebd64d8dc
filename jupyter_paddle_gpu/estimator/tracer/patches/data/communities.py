"""Models of PaddleNLP whose configuration is a download: one that PaddleNLP has stands in, and is marked as assumed.

The family is the class's, or of an `Auto` class the one that PaddleNLP itself reads from a name; of its configurations
the one is taken whose name has most in common, with the same word for its size.
Source: `_get_config_dict` in `paddlenlp/transformers/configuration_utils.py` and `auto/`, 2.8; of Llama, whose sizes
PaddleNLP does not have, Touvron et al. 2023, "LLaMA" (table 2) and "Llama 2".
"""

from __future__ import annotations

import importlib
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ...session import Session
from ..awaited import Awaited
from ..environment import DownloadNeeded
from ..patch import Patch

PACKAGE = "paddlenlp.transformers"
_SIZE = re.compile(r"tiny|mini|micro|nano|small|medium|base|x*large|xl|xxl|huge|\d+(\.\d+)?[bm]")
_SAME = {"zh": "chinese", "cn": "chinese", "ch": "chinese"}
_TESTS = "__internal_testing__"
"""Begins the names of configurations that PaddleNLP has for its own tests."""
_FURTHER: dict[str, dict[str, dict[str, int]]] = {
    "LlamaConfig": {
        f"llama-{name}": {
            "hidden_size": hidden,
            "intermediate_size": between,
            "num_hidden_layers": layers,
            "num_attention_heads": heads,
            **({"num_key_value_heads": 8} if name == "70b" else {}),
        }
        for name, hidden, between, layers, heads in (
            ("7b", 4096, 11_008, 32, 32),
            ("13b", 5120, 13_824, 40, 40),
            ("30b", 6656, 17_920, 60, 52),
            ("33b", 6656, 17_920, 60, 52),
            ("65b", 8192, 22_016, 80, 64),
            ("70b", 8192, 28_672, 80, 64),
        )
    },
}
"""Sizes that were published of families of which PaddleNLP itself has none."""


def likest(name: str, known: Iterable[str]) -> str | None:
    """The one of these names that has most in common with it; an empty one where none has anything, and None where its
    size is none of theirs."""
    own = _words(name)
    size = {word for word in own if _SIZE.fullmatch(word)}
    rows = [one for one in known if not one.startswith(_TESTS) and size <= _words(one)]
    best = max(rows, key=lambda one: len(own & _words(one)), default="")
    if not best and size - {"base"}:
        return None
    return best if own & _words(best) else ""


def _words(name: str) -> set[str]:
    return {_SAME.get(word, word) for word in re.split(r"[-_/]", name.lower()) if word}


def _configuration(
    session: Session, original: Callable[..., Any], kind: Any, name: Any, *args: Any, **kwargs: Any
) -> Any:
    """`PretrainedConfig._get_config_dict`."""
    try:
        return original(kind, name, *args, **kwargs)
    except (Exception, DownloadNeeded):
        further = _FURTHER.get(kind.__name__, {})
        like = likest(str(name), [*kind.pretrained_init_configuration, *further])
        if like is None:
            session.note("configuration_absent", name=str(name))
        if like is None or Path(str(name)).exists():
            raise
    session.note("configuration_assumed", name=str(name), like=like or kind.__name__)
    of_its_own = like in kind.pretrained_init_configuration
    return original(kind, like if of_its_own else str(_file(further.get(like, {})).parent), *args, **kwargs)


def _described(session: Session, original: Callable[..., Any], name: Any, *args: Any, **kwargs: Any) -> Any:
    """What an `Auto` class asks first: the file by which it chooses the class, else it does so by the name."""
    problem: BaseException | None = None
    try:
        if (found := original(name, *args, **kwargs)) is not None:
            return found
    except (Exception, DownloadNeeded) as raised:
        problem = raised
    families = importlib.import_module(f"{PACKAGE}.auto.modeling").MAPPING_NAMES.values()
    if not Path(str(name)).exists() and any(family in str(name).lower() for family in families):
        return str(_file({}))
    if problem is not None:
        raise problem
    return None


def _file(sizes: dict[str, int]) -> Path:
    """A configuration's file that says this much."""
    file = Path(tempfile.mkdtemp()) / "config.json"
    file.write_text(json.dumps(sizes), encoding="utf-8")
    return file


def patches() -> Iterator[Patch]:
    """The configuration, and the files by which classes are chosen; earlier versions read those in another way."""
    yield Patch(Awaited(f"{PACKAGE}.configuration_utils", "PretrainedConfig"), "_get_config_dict", _configuration)
    for module in ("modeling", "tokenizer"):
        yield Patch(Awaited(f"{PACKAGE}.auto.{module}"), "resolve_file_path", _described, optional=True)
