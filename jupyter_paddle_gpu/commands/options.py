"""Arguments that several commands share, and what they mean for the services."""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from ..domain.declarations import WhatIf
from ..domain.decoding import convert
from ..domain.notebooks import FactValue
from ..domain.what_ifs import BY_NAME, WHAT_IFS, EstimateRequest
from .listing import Listing
from .numbers import Whole, Word
from .speech import Speech

if TYPE_CHECKING:
    from ..services import Submission

F = TypeVar("F", bound=Callable[..., Any])

_WORDS: dict[str, FactValue] = {"true": True, "false": False, "none": None}
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def _say(context: click.Context) -> Speech:
    """The language of whoever typed the command."""
    return context.obj.say if context.obj is not None else Speech("en")


def _pair(context: click.Context, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip().isidentifier():
        raise click.BadParameter(_say(context)("“{text}” is not NAME=VALUE.", text=text))
    return name.strip(), value.strip()


def _pairs(context: click.Context, texts: tuple[str, ...]) -> dict[str, str]:
    """Each name with its value; one that is given two of them is refused."""
    pairs: dict[str, str] = {}
    for name, value in (_pair(context, text) for text in texts):
        if pairs.setdefault(name, value) != value:
            raise click.BadParameter(_say(context)("“{name}” is given two values.", name=name))
    return pairs


def fact_value(text: str) -> FactValue:
    """A value as a person types it: a number, true, false, none, else the text itself (quotes may be left out)."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value if isinstance(value, (str, int, float, bool)) or value is None else text


def parse_texts(context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """`--set lr=0.1,0.01` as a mapping; what stands behind the sign is read elsewhere."""
    return _pairs(context, texts)


def parse_sets(context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> dict[str, FactValue]:
    """`--set batch_size=64 --set name=resnet` as a mapping."""
    return {name: fact_value(value) for name, value in _pairs(context, texts).items()}


def parse_environment(context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """`--env NAME=VALUE` as a mapping; values stay text."""
    return dict(_pair(context, text) for text in texts)


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


def parse_share(context: click.Context, option: click.Parameter, text: str | None) -> float | None:
    """`0.5`, `50%`, `12GiB` as `Resources.share`."""
    if text is None or text.strip()[-1:].lower() in "kmgtb":
        size = parse_bytes(context, option, text)
        return None if size is None else float(size)
    plain = text.strip()
    try:
        share = float(plain.removesuffix("%")) / (100 if plain.endswith("%") else 1)
    except ValueError:
        share = math.nan
    if not 0 < share <= 1:
        raise click.BadParameter(_say(context)("“{text}” is no share of a device like 0.5, 50% or 12GiB.", text=text))
    return share


def _option(row: WhatIf) -> Callable[[F], F]:
    """A what-if's option: `--batch-size N`, `--recompute/--no-recompute`, `--amp [off|O1|O2]`, `--device NAME`."""
    flag = flag_of(row)
    if row.kind in ("switch", "flag"):
        both = f"{flag}/{_negated(flag)}" if row.kind == "switch" else flag
        return click.option(both, row.name, is_flag=True, default=row.default, help=row.help)
    kind, metavar = _TYPES[row.kind](row)
    known = _accelerators if row.name == "device" else None
    return click.option(
        flag, row.name, type=kind, metavar=metavar, default=row.default, help=row.help, shell_complete=known
    )


def _accelerators(context: click.Context, _option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of accelerators as one word each."""
    names = (one.name.replace(" ", "-") for one in context.find_root().obj.services.accelerators())
    return [CompletionItem(name) for name in names if name.lower().startswith(incomplete.lower())]


_TYPES: dict[str, Callable[[WhatIf], tuple[click.ParamType[Any], str]]] = {
    "count": lambda row: (Whole(min=row.least), "N"),
    "choice": lambda row: (
        Word([str(choice) for choice in row.choices]),
        f"[{'|'.join(map(str, row.choices))}]",
    ),
    "text": lambda row: (click.STRING, "NAME"),
}


def flag_of(row: WhatIf) -> str:
    """The long option of a what-if."""
    return "--" + row.name.replace("_", "-")


def _negated(flag: str) -> str:
    return "--no-" + flag.removeprefix("--")


def typed(request: Mapping[str, FactValue]) -> str:
    """What to type to ask for something: `--batch-size 64 --no-set-to-zero`."""
    words = []
    for name, value in request.items():
        flag = flag_of(BY_NAME[name])
        words.append(flag if value is True else _negated(flag) if value is False else f"{flag} {value}")
    return " ".join(words)


def _stack(decorators: Iterable[Callable[[F], F]]) -> Callable[[F], F]:
    def apply(function: F) -> F:
        for decorator in reversed(list(decorators)):
            function = decorator(function)
        return function

    return apply


SET = click.option(
    "--set",
    "sets",
    metavar="NAME=VALUE",
    multiple=True,
    callback=parse_sets,
    help="Another value of a variable or of a number in a call (learning_rate, epochs), or the answer to a question.",
)

ENVIRONMENT = click.option(
    "--env",
    "environment",
    multiple=True,
    metavar="NAME=VALUE",
    callback=parse_environment,
    help="Environment variable of the job.",
)


_devices = click.option(
    "--device",
    "accelerators",
    multiple=True,
    metavar="NAME",
    help="An accelerator's name, or a device id or index of this machine; may be given several times.",
    shell_complete=_accelerators,
)


def for_estimates(function: F) -> F:
    """`--set`, the job's environment, and every what-if."""
    return _stack([SET, ENVIRONMENT, *map(_option, WHAT_IFS)])(function)


def for_fits(function: F) -> F:
    """`--set`, devices by name, and every what-if but those that a search for the largest batch answers itself."""
    rows = (row for row in WHAT_IFS if not row.sought)
    return _stack([SET, ENVIRONMENT, _devices, *map(_option, rows)])(function)


def for_devices(function: F) -> F:
    """Which devices a job is to have, and how much of each."""
    gpus = click.option("--gpus", type=Whole(min=0), metavar="N", help="Number of devices; 0 runs on the CPU.")
    ids = click.option(
        "--device-id", "device_ids", multiple=True, metavar="ID", help="These devices and no others: id, 0, npu:0."
    )
    share = click.option(
        "--share",
        callback=parse_share,
        metavar="SHARE",
        help="Share of each device's memory (0.5, 50%, 12GiB) instead of whole devices; 1 is all of it, alone.",
    )
    return _stack([gpus, ids, share])(function)


def for_jobs(function: F) -> F:
    """`--set` and the what-ifs that a job is run with."""
    return _stack([SET, *(_option(row) for row in WHAT_IFS if row.in_jobs or row.picks)])(function)


def request(sets: dict[str, FactValue], **asked: Any) -> EstimateRequest:
    """The request that the options say."""

    return convert({"answers": sets, **asked}, EstimateRequest)


def submission(
    sets: dict[str, FactValue],
    gpus: int | None,
    device_ids: tuple[str, ...],
    *,
    engine: str,
    image: str,
    name: str,
    token: str,
    environment: dict[str, str],
    priority: int,
    estimated: bool,
    anyway: bool,
    notify: tuple[str, ...],
    **rest: Any,
) -> Submission:
    """The submission that the options say."""
    from ..domain.jobs.job import WantedResources
    from ..services import Submission

    what_ifs = {name: rest.pop(name) for name in list(rest) if name in BY_NAME}
    limits = rest
    asked = gpus is not None or bool(device_ids) or any(limit is not None for limit in limits.values())
    if gpus is None and device_ids:
        gpus = len(device_ids)
    resources = WantedResources(gpus=gpus, device_ids=device_ids, **limits)
    return Submission(
        engine=engine,
        request=request(sets, **what_ifs),
        resources=resources if asked else None,
        image=image,
        name=name,
        token=token,
        environment=environment,
        priority=priority,
        estimate=estimated,
        anyway=anyway,
        notify=None if not notify else () if notify == ("none",) else notify,
    )


def localise(command: click.Command, say: Speech) -> None:
    """Put the help texts of a command and of all below it into the reader's language."""
    if command.help:
        command.help = say.translate(inspect.cleandoc(command.help))
    if command.epilog:
        command.epilog = say.translate(command.epilog)
    for parameter in command.params:
        if isinstance(parameter, click.Option) and parameter.help:
            parameter.help = say.translate(parameter.help)
    if isinstance(command, Listing):
        command.sections = {say.translate(heading): names for heading, names in command.sections.items()}
    if isinstance(command, click.Group):
        for below in command.commands.values():
            localise(below, say)


NAMES_A_JOB = "JOB is its name, its id or one end of that, or “last” for the newest."
"""What stands below the help of a command that takes a job."""
JSON = "json"
"""Key in the context's `meta`: JSON is wanted."""


def _set_json(context: click.Context, _option: click.Parameter, value: bool) -> None:
    context.meta[JSON] = value


json_option = click.option(
    "--json", is_flag=True, expose_value=False, callback=_set_json, help="Print JSON, as REST answers it."
)
