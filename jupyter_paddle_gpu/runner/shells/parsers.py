"""Answers that every parser of this process takes for what its command line was not given: those of argparse, click,
typer and absl, as the estimate has them (`tracer/patches/processes/command_lines`)."""

import argparse
import sys
from functools import partial
from typing import Any, Callable, Dict, Iterable, List, Set

from .. import imports
from . import lookups, options
from .lookups import destination

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


SUBCOMMAND = "subcommand"
"""The name that a subcommand is answered by where the program has none for it, of an outermost parser."""
_reading: List[Any] = []
"""Parsers that hand on to one another."""


def _parsing(parser: Any, args: Any = None, namespace: Any = None, **named: Any) -> Any:
    words = list(sys.argv[1:] if args is None else args)
    for action in parser._actions:
        name = _name_of(action, parser)
        if isinstance(action, argparse._SubParsersAction):
            words = _with_subcommand(words, name, action.choices)
        elif name in _ANSWERS:
            action.default, action.required = _ANSWERS[name], False
            action.nargs = action.nargs if action.option_strings else "?"
    _reading.append(parser)
    try:
        return _parse(parser, words, namespace, **named)
    finally:
        _reading.pop()


def _name_of(action: Any, parser: Any) -> str:
    """The name that an argument is answered by: the program's own, if it has one."""
    if action.dest.isidentifier():
        return str(action.dest)
    if isinstance(action, argparse._SubParsersAction):
        return _subcommand_of(parser.prog.split()[-1:], len(_reading))
    return destination(action.option_strings[-1] if action.option_strings else action.dest)


def _subcommand_of(last: List[str], depth: int) -> str:
    """The name that a subcommand is answered by which belongs to another one, as many of which stand before it."""
    return "_".join([destination(word) for word in last if depth > 0] + [SUBCOMMAND])


def _with_subcommand(words: Iterable[str], name: str, choices: Iterable[Any]) -> List[str]:
    """The words of a command line, with the answer for a subcommand behind them where they have none."""
    found, known, answer = list(words), [str(one) for one in choices], _ANSWERS.get(name)
    return found + ([answer] if answer in known and not any(word in known for word in found) else [])


def _click(module: Any) -> None:
    parse, make = module.Command.parse_args, module.Command.make_context

    def making(command: Any, called: Any, words: Any, parent: Any = None, **named: Any) -> Any:
        name = _subcommand_of([str(called)], int(parent is not None))
        return make(command, called, _with_subcommand(words, name, getattr(command, "commands", ())), parent, **named)

    def parsing(command: Any, *given: Any, **named: Any) -> Any:
        for one in command.params:
            if one.name in _ANSWERS:
                answer = _ANSWERS[one.name]
                one.default, one.required = [answer] if getattr(one, "multiple", False) else answer, False
                if hasattr(one, "prompt"):
                    one.prompt = None
        return parse(command, *given, **named)

    module.Command.parse_args, module.Command.make_context = parsing, making


def _absl(module: Any) -> None:
    parse = module.FlagValues.__call__

    def parsing(flags: Any, *given: Any, **named: Any) -> Any:
        for name in [name for name in flags if name in _ANSWERS]:
            flags.set_default(name, _ANSWERS[name])
        return parse(flags, *given, **named)

    module.FlagValues.__call__ = parsing


_LIBRARIES: Dict[str, Callable[[Any], None]] = {
    "click.core": _click,
    "typer._click.core": _click,
    "absl.flags._flagvalues": _absl,
    "getopt": partial(options.of_getopt, answers=_ANSWERS),
    "optparse": partial(options.of_optparse, answers=_ANSWERS),
    **{name: partial(lookups.reach, name, _ANSWERS) for name in lookups.LIBRARIES},
}
_REACHED: Set[str] = set()
"""Those that take the answers, or will once they are imported."""
DECLARES = r"add_argument|option|argument|DEFINE_\w+"
"""How calls are named that say of an argument what it is."""
COMMANDS = r"add_subparsers|command|group"
"""How those are named that say of subcommands which there are."""
