"""Models of PaddleNLP whose configuration is a download: one that PaddleNLP has stands in, and is marked as assumed.

The family is the class's, or of an `Auto` class the one that PaddleNLP itself reads from a name; of its configurations
the one is taken whose name has most in common, with the same word for its size.
Source: `_get_config_dict` in `paddlenlp/transformers/configuration_utils.py` and `auto/`, 2.8; of Llama, whose sizes
PaddleNLP does not have, its `params.json` as `examples/llama.py` of tinygrad has it (7b to 65b) and `config.json` at
huggingface.co/TheBloke/Llama-2-70B-fp16; the paper calls the model of 30b one of 33b.
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
_SAME = {"zh": "chinese", "cn": "chinese", "ch": "chinese", "3.1": "3", "3.3": "3"}
"""Words of names that say the same; later versions of Llama 3 have its sizes."""
_TESTS = "__internal_testing__"
"""Begins the names of configurations that PaddleNLP has for its own tests."""
_FURTHER: dict[str, dict[str, dict[str, int]]] = {
    "LlamaConfig": {
        f"llama-{name}": {
            "hidden_size": hidden,
            "intermediate_size": between,
            "num_hidden_layers": layers,
            "num_attention_heads": heads,
            "num_key_value_heads": groups,
            "vocab_size": tokens,
        }
        for name, hidden, between, layers, heads, groups, tokens in (
            ("7b", 4096, 11_008, 32, 32, 32, 32_000),
            ("13b", 5120, 13_824, 40, 40, 40, 32_000),
            ("30b", 6656, 17_920, 60, 52, 52, 32_000),
            ("33b", 6656, 17_920, 60, 52, 52, 32_000),
            ("65b", 8192, 22_016, 80, 64, 64, 32_000),
            ("70b", 8192, 28_672, 80, 64, 8, 32_000),
            ("3-8b", 4096, 14_336, 32, 32, 8, 128_256),
            ("3-70b", 8192, 28_672, 80, 64, 8, 128_256),
        )
    },
}
"""Sizes that were published of families of which PaddleNLP itself has none."""


def configurations(kind: Any) -> dict[str, Any]:
    """All that is known of a class of configurations, by name."""
    return {**(getattr(kind, "pretrained_init_configuration", None) or {}), **_FURTHER.get(kind.__name__, {})}


class AbsentConfigurationError(Exception):
    """Nothing tells how large the model of that name is."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the configuration of {name} is not on this machine")
        self.name = name


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
    except (Exception, DownloadNeeded) as raised:
        problem = raised
    if Path(str(name)).exists():
        raise problem
    like, sizes = _stands_for(session, str(name), kind)
    of_its_own = like in kind.pretrained_init_configuration
    return original(kind, like if of_its_own else str(_file(sizes).parent), *args, **kwargs)


def _stands_for(session: Session, name: str, kind: Any) -> tuple[str, dict[str, Any]]:
    """The configuration of a class that is taken for one of that name, and its sizes; an empty name is its defaults.

    Raises:
        AbsentConfigurationError: the name tells a size of which there is none.
    """
    known = configurations(kind)
    if (like := likest(name, known)) is None:
        raise AbsentConfigurationError(name)
    session.note("configuration_assumed", name=name, like=like or kind.__name__)
    return like, known.get(like, {})


def _described(session: Session, original: Callable[..., Any], name: Any, *args: Any, **kwargs: Any) -> Any:
    """What an `Auto` class of tokenizers asks first: the file by which it chooses the class, else it does so by the
    name."""
    return _file_of(original, name, args, kwargs, lambda _: {}, is_needed=False)


def _model(session: Session, original: Callable[..., Any], name: Any, *args: Any, **kwargs: Any) -> Any:
    """The same of models: without a family there is none."""
    return _file_of(original, name, args, kwargs, lambda _: {})


def _configuration_alone(session: Session, original: Callable[..., Any], name: Any, *args: Any, **kwargs: Any) -> Any:
    """What `AutoConfig` asks first: the whole file, whose class it finds by the model that the file names."""

    def described(family: str) -> dict[str, Any]:
        flag, folder = next(row for row in _families() if row[1] == family)
        kind = getattr(importlib.import_module(f"{PACKAGE}.{folder}.modeling"), f"{flag}Model").config_class
        return {**_stands_for(session, str(name), kind)[1], "architectures": [f"{flag}Model"]}

    return _file_of(original, name, args, kwargs, described)


def _families() -> list[tuple[str, str]]:
    """How classes and folders of PaddleNLP's models begin, in the order in which it looks for them in a name."""
    return list(importlib.import_module(f"{PACKAGE}.auto.modeling").MAPPING_NAMES.items())


def _file_of(
    original: Callable[..., Any],
    name: Any,
    args: Any,
    kwargs: Any,
    described: Callable[[str], dict[str, Any]],
    *,
    is_needed: bool = True,
) -> Any:
    """The file that the original finds, or one that is made for the family which the name tells.

    Raises:
        AbsentConfigurationError: it tells none, and a model is made by it.
    """
    problem: BaseException | None = None
    try:
        if (found := original(name, *args, **kwargs)) is not None:
            return found
    except (Exception, DownloadNeeded) as raised:
        problem = raised
    is_path = Path(str(name)).exists()
    family = next((folder for _, folder in _families() if folder in str(name).lower()), None)
    if family is not None and not is_path:
        return str(_file(described(family)))
    if problem is not None:
        if is_needed and not is_path:
            raise AbsentConfigurationError(str(name))
        raise problem
    return None


def _file(sizes: dict[str, Any]) -> Path:
    """A configuration's file that says this much."""
    file = Path(tempfile.mkdtemp()) / "config.json"
    file.write_text(json.dumps(sizes), encoding="utf-8")
    return file


def patches() -> Iterator[Patch]:
    """The configuration, and the files by which classes are chosen; earlier versions read those in another way."""
    yield Patch(Awaited(f"{PACKAGE}.configuration_utils", "PretrainedConfig"), "_get_config_dict", _configuration)
    chosen = {"modeling": _model, "tokenizer": _described, "configuration": _configuration_alone}
    for module, made in chosen.items():
        yield Patch(Awaited(f"{PACKAGE}.auto.{module}"), "resolve_file_path", made, optional=True)
