"""What several commands take: the notebook or script, a job by its id; what a shell completes of them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click
import msgspec
from click.shell_completion import CompletionItem

from ..domain.containers.references import parse_reference
from ..domain.notebooks import NotebookSource
from . import options
from .face import Face, View
from .listing import Listing

F = TypeVar("F", bound=Callable[..., Any])
_READS_ARGUMENTS = re.compile(r"\b(?:arg|fire\b|click\b|typer\b|hydra\b|runpy\b|FLAGS\b|opts?\b\.|options?\b)")
"""Words of which one stands in a script that reads what stands behind its name."""
_IMPORTED = re.compile(r"^\s*(?:from|import)\s+(\.|\w+)", re.MULTILINE)
_FIRST = "first_argument"
"""The name in a command's `meta` of the option that was taken to be a script's own."""
_PROGRAM = re.compile(r"(?:\S*/)?(?:python[\d.]*|fleetrun)$")
"""What a command begins with that starts a training."""


def _known_jobs(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The jobs for a shell that completes what is typed, by their ids, their names or the short end of the ids."""
    jobs = context.find_root().obj.services.jobs.list()
    shown = [CompletionItem(job.id, help=job.spec.name) for job in jobs if job.id.startswith(incomplete)]
    if incomplete:
        names = dict.fromkeys((*(["last"] if jobs else []), *(job.spec.name for job in jobs)))
        shown += [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return shown or [CompletionItem(job.id.rsplit("-", 1)[-1]) for job in jobs if f"-{incomplete}" in job.id]


def _files(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type="file")]


def engines_known(context: click.Context, _option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The engines that begin with what is typed."""
    return [CompletionItem(one) for one in context.find_root().obj.services.engines if one.startswith(incomplete)]


ENGINE = click.option(
    "--engine",
    default="",
    metavar="NAME",
    shell_complete=engines_known,
    help="Where the job runs; doctor lists the engines.",
)


def _image(_context: click.Context, _option: click.Parameter, value: str) -> str:
    """Refuse what cannot be the name of an image where nothing else would: an estimate starts no container."""
    if value:
        parse_reference(value)
    return value


def _images_known(context: click.Context, _option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The images that jobs may have here which begin with what is typed."""
    names = context.find_root().obj.services.image_names()
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


IMAGE = click.option(
    "--image",
    default="",
    metavar="REFERENCE",
    callback=_image,
    shell_complete=_images_known,
    help="Container image, for engines that have containers.",
)


def _files_and_jobs(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [*_files(context, parameter, incomplete), *_known_jobs(context, parameter, incomplete)]


WHAT = click.argument("what", metavar="[NOTEBOOK | SCRIPT.py -- ARGUMENTS]", nargs=-1, shell_complete=_files)
WHAT_OR_JOB = click.argument(
    "what", metavar="[NOTEBOOK | SCRIPT.py -- ARGUMENTS | JOB]", nargs=-1, shell_complete=_files_and_jobs
)
NOTEBOOK = click.argument("notebook", required=False, shell_complete=_files)


def job_argument(metavar: str = "JOB", **settings: Any) -> Callable[[F], F]:
    """A job by its id, which a shell completes."""
    return click.argument("job_id", metavar=metavar, shell_complete=_known_jobs, **settings)


def about_one(group: click.Group, argument: Callable[[Any], Any]) -> Callable[[Callable[..., View]], click.Command]:
    """A command of a group that asks or does something of one of its rows."""
    return lambda function: group.command()(argument(options.json_option(click.pass_obj(function))))


def about_all(function: Callable[[Face], View]) -> click.Group:
    """A group of commands that answers for all of its rows where none of them is typed."""

    @click.group(cls=Listing, invoke_without_command=True)
    @options.json_option
    @click.pass_obj
    @wraps(function)
    def group(face: Face, /) -> View | None:
        return None if click.get_current_context().invoked_subcommand is not None else function(face)

    return group


def wants_json() -> bool:
    """Whether the running command is to print JSON."""
    return bool(click.get_current_context().meta.get(options.JSON))


class AsTyped(click.Command):
    """A command before which a training's own may stand as it is typed.

    All behind `python` or `-m` is that one's, and so is all from the first option on that stands behind a script and
    is not the command's own: `train.py -c config.yml --amp`.
    """

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        """Put the `--` that click wants before it."""
        at = self._begins(context, arguments)
        if at is not None:
            arguments = [*arguments[:at], "--", *arguments[at:]]
        return super().parse_args(context, arguments)

    def _begins(self, context: click.Context, arguments: list[str]) -> int | None:
        taking = {name for one in self.params if not getattr(one, "is_flag", True) for name in one.opts}
        own = {name for one in self.get_params(context) for name in (*one.opts, *one.secondary_opts)}
        is_script = False
        for at, word in enumerate(arguments):
            if at and arguments[at - 1] in taking:
                continue
            if word == "--":
                return None
            if word == "-m" or _PROGRAM.match(word):
                return at
            if is_script and word.startswith("-") and word.partition("=")[0] not in own:
                context.meta[_FIRST] = word.partition("=")[0], sorted(own)
                return at
            is_script = is_script or word.endswith(".py")
        return None


def meant(face: Face, words: tuple[str, ...]) -> NotebookSource:
    """The notebook, or the script with its arguments, also as a command that starts it."""
    if not words or not (words[0] == "-m" or _PROGRAM.match(words[0])):
        source = face.source(*one(face, words))
        _check_option(source)
        return source
    from ..services.notebooks import started  # the use cases take longer than a shell that completes may wait

    program = started(words)
    if program is None:
        text = "“{command}” names no script. Name one, as in {example}, or put the command into a cell of a notebook."
        example = "python -m paddle.distributed.launch --devices 0,1 train.py"
        raise click.UsageError(face.say(text, command=" ".join(words), example=example))
    source = face.source(program.script, program.arguments)
    return msgspec.structs.replace(source, launched=program.launched)


def _check_option(source: NotebookSource) -> None:
    """Refuse an option that is nearly one of the command's behind a script that reads none: it was mistyped.

    Behind `--`, and behind `python`, all is the script's.
    """
    context = click.get_current_context()
    typed, own = context.meta.get(_FIRST, ("", []))
    near = difflib.get_close_matches(typed, own, 3, 0.75) if typed else []
    if not near:
        return
    # The first cell is ours: it hands the arguments over.
    text = "\n".join(str(cell.get("source", "")) for cell in source.content["cells"][1:])
    beside = (source.folder / name for name in _IMPORTED.findall(text))
    if _READS_ARGUMENTS.search(text) or any(one.exists() or one.with_suffix(".py").exists() for one in beside):
        return
    raise click.NoSuchOption(typed, possibilities=near, ctx=context)


def one(face: Face, words: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
    """The notebook, or the script with the arguments behind it."""
    if words and words[0].endswith(".py"):
        return words[0], words[1:]
    if len(words) > 1:
        text = "One notebook at a time, not {count}: {names}"
        raise click.UsageError(face.say(text, count=len(words), names=" ".join(words)))
    return (words[0] if words else None), ()


def runs_already(face: Face, path: str | None) -> bool:
    """Whether a job is what asks to run its own notebook once more; the reader is told, and the job goes on."""
    if path is not None or not face.is_job():
        return False
    click.echo(face.say("This is the notebook's job itself: it is not submitted once more."))
    return True
