"""Settings that a configuration of OmegaConf's leaves open (`batch: ???`), and groups of which Hydra is to be told one
(`defaults: [model: ???]`): answers stand for them, as in a job (`runner/shells/lookups`)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from ...session import Session
from ...undecided.absent_data import AbsentData
from ..awaited import Awaited
from ..patch import Patch
from .command_lines import destination

_OPEN = "???"
_COMPOSES = "hydra._internal"
"""Where Hydra puts a configuration together: a part of it has its place in the whole only then."""


class OpenSettings:
    """What was looked for and is left open, by the way to it in the configuration, with those of which it is one;
    none where that is not known."""

    def __init__(self) -> None:
        self.choices: dict[str, tuple[str, ...]] = {}
        self.looks = False


def _fill(session: Session, container: Any, key: Any) -> None:
    """Give an open setting its answer."""
    node = container.__dict__["_content"].get(key) if isinstance(container.__dict__["_content"], dict) else None
    if isinstance(container.__dict__["_content"], list) and isinstance(key, int):
        node = next(iter(container.__dict__["_content"][key : key + 1]), None)
    known = session.of(OpenSettings)
    if known.looks or node is None or not node._is_missing():
        return
    known.looks = True  # OmegaConf finds the way to a setting by going it
    try:
        way = str(container._get_full_key(key))
    finally:
        known.looks = False
    answer = session.of(AbsentData).answers.get(destination(way))
    if answer is not None and not hasattr(node, "_get_node"):  # a whole mapping is no value
        node._set_value(answer)
    else:
        known.choices.setdefault(way, _choices(node))


def _choices(node: Any) -> tuple[str, ...]:
    return tuple(getattr(getattr(node, "enum_type", None), "__members__", ()))


def _fill_all(session: Session, container: Any) -> None:
    content = container.__dict__["_content"]
    for key in list(content) if isinstance(content, dict) else range(len(content) if isinstance(content, list) else 0):
        _fill(session, container, key)


def _read(session: Session, original: Callable[..., Any], container: Any, key: Any, *given: Any, **named: Any) -> Any:
    """`config.batch`, `config["batch"]`."""
    _fill(session, container, key)
    return original(container, key, *given, **named)


def _is_missing(session: Session, original: Callable[..., Any], container: Any, key: Any) -> Any:
    """`OmegaConf.is_missing(config, "batch")`, also for all keys that are left open."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith(("omegaconf", __package__)):
        frame = frame.f_back
    if hasattr(container, "_get_full_key") and not str(frame.f_globals.get("__name__")).startswith(_COMPOSES):
        _fill(session, container, key)
    return original(container, key)


def _select(session: Session, original: Callable[..., Any], c: Any, key: Any, *given: Any, **named: Any) -> Any:
    """`${batch}`, `OmegaConf.select(config, "model.width")`: a step of the way."""
    _fill(session, c, key)
    return original(c, key, *given, **named)


def _whole(session: Session, original: Callable[..., Any], container: Any, *given: Any, **named: Any) -> Any:
    """`OmegaConf.to_container(config)`, `to_object`: mapping by mapping."""
    if isinstance(container.__dict__.get("_content"), (dict, list)):
        _fill_all(session, container)
    return original(container, *given, **named)


def _chosen(session: Session, original: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """Where Hydra looks whether it was told which of a group it is to take."""
    repository = named.get("repo", *given[:1])
    default = named["default"] if "default" in named else given[1]
    if default.get_config_path().endswith(_OPEN) and hasattr(default, "get_override_key"):
        way = str(default.get_override_key())
        answer = session.of(AbsentData).answers.get(destination(way))
        if answer is not None:
            default.value = str(answer)
        else:
            known = repository.get_group_options(default.get_group_path())
            session.of(OpenSettings).choices[way] = tuple(map(str, known))
    return original(*given, **named)


def patches() -> Iterator[Patch]:
    """Where OmegaConf gives a setting, and where Hydra chooses."""
    container = Awaited("omegaconf.basecontainer", "BaseContainer")
    yield Patch(container, "_resolve_with_default", _read)
    yield Patch(container, "_to_content", _whole)
    yield Patch(Awaited("omegaconf.dictconfig", "DictConfig"), "_to_object", _whole, optional=True)
    yield Patch(Awaited("omegaconf.omegaconf", "OmegaConf"), "is_missing", _is_missing)
    yield Patch(Awaited("omegaconf.omegaconf"), "_select_one", _select)
    yield Patch(Awaited("hydra._internal.defaults_list"), "_check_not_missing", _chosen)
