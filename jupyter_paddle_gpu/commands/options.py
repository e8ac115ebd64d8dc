"""Arguments that several commands share, and what they mean for the services."""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..domain.estimates import EstimateRequest
from ..domain.notebooks import FactValue
from .speech import Speech

if TYPE_CHECKING:
    from ..services import Submission

F = TypeVar("F", bound=Callable[..., Any])

_WORDS: dict[str, FactValue] = {"true": True, "false": False, "none": None}
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def _say(context: click.Context) -> Speech:
    """The language of whoever typed the command."""
    return context.obj.say if context.obj is not None else Speech("en")


def _wish(context: click.Context, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip().isidentifier():
        raise click.BadParameter(_say(context)("“{text}” is not NAME=VALUE.", text=text))
    return name.strip(), value.strip()


def fact_value(text: str) -> FactValue:
    """A value as a person types it: a number, true, false, none, else the text itself (quotes may be left out)."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value if isinstance(value, (str, int, float, bool)) or value is None else text


def parse_sets(context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> dict[str, FactValue]:
    """`--set batch_size=64 --set name=resnet` as a mapping."""
    return {name: fact_value(value) for name, value in (_wish(context, text) for text in texts)}


def parse_environment(context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """`--env NAME=VALUE` as a mapping; values stay text."""
    return dict(_wish(context, text) for text in texts)


def parse_bytes(context: click.Context, _option: click.Parameter, text: str | None) -> int | None:
    """`8g`, `512MiB`, `1000000` in bytes (binary units)."""
    if text is None:
        return None
    plain = text.strip().lower().removesuffix("b").removesuffix("i")
    unit = plain[-1:] if plain[-1:].isalpha() else ""
    try:
        amount = float(plain.removesuffix(unit)) * _UNITS[unit]
    except (ValueError, KeyError):
        amount = math.nan
    if not (math.isfinite(amount) and amount > 0):
        raise click.BadParameter(_say(context)("“{text}” is not a size like 8g or 512m.", text=text))
    return int(amount)


def _stack(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    def apply(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


def _answers(function: F) -> F:
    return _stack(
        click.option(
            "--set", "sets", metavar="NAME=VALUE", multiple=True, callback=parse_sets, help="Answer a question."
        ),
        click.option(
            "--batch-size", type=click.IntRange(min=1), metavar="N", help="Another batch size than the notebook's."
        ),
    )(function)


answers = _answers
"""`--set` and `--batch-size`: what holds for estimates and jobs alike."""


def what_if(function: F) -> F:
    """What only an estimate can be asked."""
    return _stack(
        click.option(
            "--amp",
            type=click.Choice(["off", "O1", "O2"], case_sensitive=False),
            metavar="[off|O1|O2]",
            help="Mixed precision.",
        ),
        click.option("--amp-dtype", type=click.Choice(["float16", "bfloat16"]), help="Its number format."),
        click.option(
            "--accumulation", type=click.IntRange(min=1), metavar="N", help="Steps over which gradients are summed."
        ),
        click.option(
            "--devices", type=click.IntRange(min=1), metavar="N", help="Processes that train together, one a device."
        ),
        click.option(
            "--image-size", type=click.IntRange(min=1), metavar="N", help="Images of this height and width, in pixels."
        ),
        click.option(
            "--sequence-length", type=click.IntRange(min=1), metavar="N", help="Sequences of this many tokens or steps."
        ),
        click.option("--recompute/--no-recompute", default=None, help="Recompute activations in the backward pass."),
        click.option(
            "--device", metavar="NAME", help="An accelerator's name, or a device id or index of this machine."
        ),
        click.option(
            "--target", type=click.Choice(["gpu", "cpu"]), default="gpu", help="GPU, or Paddle's CPU allocator."
        ),
        click.option(
            "--details",
            is_flag=True,
            help="Also remedies, the largest batch that fits, and the step's layers and tensors.",
        ),
    )(function)


def request(
    sets: dict[str, FactValue], batch_size: int | None, *, target: str = "gpu", amp: str | None = None, **rest: Any
) -> EstimateRequest:
    """The request that the options say."""
    import msgspec

    level = {"off": "off", "o1": "O1", "o2": "O2"}[amp.lower()] if amp else None
    return msgspec.convert(
        {"answers": sets, "batch_size": batch_size, "target": target, "amp": level, **rest}, EstimateRequest
    )


def submission(
    sets: dict[str, FactValue],
    batch_size: int | None,
    gpus: int | None,
    device_ids: tuple[str, ...],
    *,
    engine: str,
    image: str,
    name: str,
    token: str,
    environment: dict[str, str],
    estimated: bool,
    **limits: Any,
) -> Submission:
    """The submission that the options say."""
    from ..domain.jobs import Resources
    from ..services import Submission

    asked = gpus is not None or bool(device_ids) or any(limit is not None for limit in limits.values())
    resources = Resources(gpus=gpus if gpus is not None else len(device_ids), device_ids=device_ids, **limits)
    return Submission(
        engine=engine,
        request=EstimateRequest(answers=sets, batch_size=batch_size),
        resources=resources if asked else None,
        image=image,
        name=name,
        token=token,
        environment=environment,
        estimate=estimated,
    )


def localise(command: click.Command, say: Speech) -> None:
    """Put the help texts of a command and of all below it into the reader's language."""
    if command.help:
        command.help = say.translate(inspect.cleandoc(command.help))
    for parameter in command.params:
        if isinstance(parameter, click.Option) and parameter.help:
            parameter.help = say.translate(parameter.help)
    if isinstance(command, click.Group):
        for below in command.commands.values():
            localise(below, say)
