"""Answers that every parser of this process takes for what its command line was not given: those of argparse, click and
absl, as the estimate has them (`tracer/patches/processes/command_lines`)."""

import argparse
import sys
from typing import Any, Dict, Set

from .. import imports

_ANSWERS: Dict[str, Any] = {}
_parse = argparse.ArgumentParser.parse_known_args


def reach(values: Dict[str, Any]) -> None:
    """Have every parser take the answers: one may stand in a module, whose source is left as it is."""
    _ANSWERS.clear()
    _ANSWERS.update(values)
    argparse.ArgumentParser.parse_known_args = (  # type: ignore[method-assign]
        _parsing if values else _parse  # type: ignore[assignment]
    )
    for name in (name for name in _LIBRARIES if values and name not in _REACHED):
        _REACHED.add(name)
        if name in sys.modules:
            _LIBRARIES[name](sys.modules[name])
        else:
            imports.watch({name: _LIBRARIES[name]})


def _parsing(parser: Any, *given: Any, **named: Any) -> Any:
    for action in parser._actions:
        if action.dest in _ANSWERS:
            action.default, action.required = _ANSWERS[action.dest], False
            action.nargs = action.nargs if action.option_strings else "?"
    return _parse(parser, *given, **named)


def _click(module: Any) -> None:
    parse = module.Command.parse_args

    def parsing(command: Any, *given: Any, **named: Any) -> Any:
        for one in command.params:
            if one.name in _ANSWERS:
                answer = _ANSWERS[one.name]
                one.default, one.required = [answer] if getattr(one, "multiple", False) else answer, False
                if hasattr(one, "prompt"):
                    one.prompt = None
        return parse(command, *given, **named)

    module.Command.parse_args = parsing


def _absl(module: Any) -> None:
    parse = module.FlagValues.__call__

    def parsing(flags: Any, *given: Any, **named: Any) -> Any:
        for name in [name for name in flags if name in _ANSWERS]:
            flags.set_default(name, _ANSWERS[name])
        return parse(flags, *given, **named)

    module.FlagValues.__call__ = parsing


_LIBRARIES = {"click.core": _click, "absl.flags._flagvalues": _absl}
_REACHED: Set[str] = set()
"""Those that take the answers, or will once they are imported."""
DECLARES = r"add_argument|option|argument|DEFINE_\w+"
"""How calls are named that say of an argument what it is."""
