"""Answers for what libraries look up and do not find: settings that a configuration of OmegaConf's leaves open
(`batch: ???`), groups of which Hydra is to be told one, and a file of variables that python-dotenv reads and that is
not there; as the estimate has them (`tracer/patches/processes/open_settings`, `variables`)."""

import os
import re
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

OPEN = "???"


def destination(flag: str) -> str:
    """The name under which an argument, or a setting, is answered."""
    return re.sub(r"\W", "_", flag.strip().lstrip("-"))


_LOOKS: List[Any] = []
"""The setting that the way to is being looked for."""


class _Answering:
    """Gives open settings their answers before OmegaConf looks at them."""

    def __init__(self, answers: Dict[str, Any]) -> None:
        self._answers = answers

    def fill(self, container: Any, key: Any) -> None:
        """One setting of a mapping or a list."""
        content = container.__dict__.get("_content")
        if isinstance(content, dict):
            node = content.get(key)
        else:
            is_place = isinstance(content, list) and isinstance(key, int)
            node = next(iter(content[key : key + 1]), None) if content and is_place else None
        if _LOOKS or node is None or not node._is_missing() or hasattr(node, "_get_node"):
            return
        _LOOKS.append(node)  # OmegaConf finds the way to a setting by going it
        try:
            answer = self._answers.get(destination(str(container._get_full_key(key))))
        finally:
            _LOOKS.clear()
        if answer is not None:
            node._set_value(answer)

    def one(self, owner: Any, name: str) -> None:
        """Have a function take the answer that is given a mapping and a key."""
        function = getattr(owner, name)

        def filled(*given: Any, **named: Any) -> Any:
            container, key = (*given, *(named[one] for one in ("c", "cfg", "key") if one in named))[:2]
            if hasattr(container, "_get_full_key") and not _composes():
                self.fill(container, key)
            return function(*given, **named)

        own = vars(owner).get(name)
        setattr(owner, name, staticmethod(filled) if isinstance(own, staticmethod) else filled)

    def all(self, owner: Any, name: str) -> None:
        """Have a function take all answers that is given a mapping."""
        function = getattr(owner, name)

        def filled(container: Any, *given: Any, **named: Any) -> Any:
            content = container.__dict__.get("_content")
            for key in list(content) if isinstance(content, dict) else range(len(content or ())):
                self.fill(container, key)
            return function(container, *given, **named)

        own = vars(owner).get(name)
        setattr(owner, name, staticmethod(filled) if isinstance(own, staticmethod) else filled)


def _composes() -> bool:
    """Whether Hydra puts a configuration together: a part of it has its place in the whole only then."""
    frame: Optional[Any] = sys._getframe(2)
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("omegaconf"):
        frame = frame.f_back
    return frame is not None and str(frame.f_globals.get("__name__")).startswith("hydra._internal")


def _container(module: Any, answers: Dict[str, Any]) -> None:
    _Answering(answers).one(module.BaseContainer, "_resolve_with_default")
    _Answering(answers).all(module.BaseContainer, "_to_content")


def _mapping(module: Any, answers: Dict[str, Any]) -> None:
    if hasattr(module.DictConfig, "_to_object"):
        _Answering(answers).all(module.DictConfig, "_to_object")


def _omegaconf(module: Any, answers: Dict[str, Any]) -> None:
    _Answering(answers).one(module.OmegaConf, "is_missing")
    _Answering(answers).one(module, "_select_one")


def _hydra(module: Any, answers: Dict[str, Any]) -> None:
    check = module._check_not_missing

    def checked(*given: Any, **named: Any) -> Any:
        default = named["default"] if "default" in named else given[1]
        if default.get_config_path().endswith(OPEN) and hasattr(default, "get_override_key"):
            answer = answers.get(destination(str(default.get_override_key())))
            default.value = default.value if answer is None else str(answer)
        return check(*given, **named)

    module._check_not_missing = checked


def _dotenv(module: Any, answers: Dict[str, Any]) -> None:
    read = module.DotEnv.dict

    def filled(file: Any) -> Any:
        found = read(file)
        if file.stream is None and not (file.dotenv_path and Path(file.dotenv_path).exists()):
            found.update((name, os.environ[name]) for name in answers if name in os.environ and name not in found)
        return found

    module.DotEnv.dict = filled


LIBRARIES: Dict[str, Callable[[Any, Dict[str, Any]], None]] = {
    "omegaconf.basecontainer": _container,
    "omegaconf.dictconfig": _mapping,
    "omegaconf.omegaconf": _omegaconf,
    "hydra._internal.defaults_list": _hydra,
    "dotenv.main": _dotenv,
}
"""What has each module take the answers, once it is imported."""


def reach(name: str, answers: Dict[str, Any], module: Any) -> None:
    """Have a module take the answers."""
    LIBRARIES[name](module, answers)


READS = re.compile(r"\b(omegaconf|hydra|dotenv|getopt|optparse)\b")
"""What stands in code that has one of them look settings up, whose names may stand elsewhere."""
