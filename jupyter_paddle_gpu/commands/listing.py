"""How the commands below another one are listed in its help: by what they are for, each sentence whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from .face import Face

SECTIONS: Mapping[str, Sequence[str]] = {
    "Before a training runs": ("estimate", "fit", "explain", "apply"),
    "Run it": ("submit", "jobs", "logs", "cancel", "rerun", "compare", "delete"),
    "Several runs, later, in a queue": ("sweep", "sweeps", "schedules", "queue"),
    "What is here": ("doctor", "gpus", "images", "prices"),
    "For those who look after it": ("policy", "metrics", "learned", "calibrate", "contribute"),
}
"""Headings of `jupyter paddle-gpu --help`, and whose commands stand below each."""


ALIKE: Sequence[frozenset[str]] = (
    frozenset({"--follow", "--watch", "--wait", "--tail", "--live"}),
    frozenset({"--device-id", "--device", "--gpu", "--card"}),
    frozenset({"--set", "--lr", "--learning-rate", "--epochs", "--parameter", "--value"}),
    frozenset({"--time-limit", "--timeout"}),
    frozenset({"--cron", "--every", "--repeat", "--nightly", "--schedule"}),
    frozenset({"--env", "--environment", "--variable"}),
    frozenset({"--engine", "--host", "--where"}),
    frozenset({"--at-once", "--parallel", "--workers"}),
)
"""Options that mean the same: one command has this one, people or another command that one."""


COMMANDS = "commands"
"""The attribute of a refusal of click's that tells all commands there are."""


class Listing(click.Group):
    """A group that lists the commands below it.

    Attributes:
        sections: heading -> names; what stands in none of them, and all where there are none, is listed as click does.
    """

    def __init__(self, *args: object, sections: Mapping[str, Sequence[str]] | None = None, **settings: object) -> None:
        super().__init__(*args, **settings)  # type: ignore[arg-type]
        self.sections = dict(sections or {})

    def invoke(self, ctx: click.Context) -> object:
        """An option that a command does not have is answered with the one that was meant.

        click looks for the most similar letters, which brings `--at` for `--watch`.
        """
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            has = {name for one in error.ctx.command.params for name in one.opts} if error.ctx else set()
            typed = error.option_name
            alike = {name for words in ALIKE if typed in words for name in words}
            if meant := sorted(name for name in has if name in alike or name.startswith(typed)):
                vars(error)["possibilities"] = meant
            raise

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A notebook, a script or a live model without a command is answered with the command that looks at it, a word
        that is near no command with all of them."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:  # `NoSuchCommand` since click 8.4: an earlier one says no possibilities
            is_looked_at = args[0].endswith((".ipynb", ".py")) or (isinstance(ctx.obj, Face) and ctx.obj.holds(args[0]))
            if is_looked_at and "estimate" in self.commands:
                vars(error)["possibilities"] = [f"estimate {args[0]}"]
            elif not vars(error).get("possibilities"):
                vars(error)[COMMANDS] = ", ".join(self.list_commands(ctx))
            raise

    def list_commands(self, ctx: click.Context) -> list[str]:
        """By section, then by name."""
        sorted_in = [name for names in self.sections.values() for name in names]
        return [*sorted_in, *(name for name in super().list_commands(ctx) if name not in sorted_in)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A heading and rows for each section; a sentence that is too long for its line goes on in the next."""
        known = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        rows = {name: one.get_short_help_str(limit=_WHOLE) for name, one in known.items() if one and not one.hidden}
        told = {name for names in self.sections.values() for name in names}
        sections = {**self.sections, _commands(): [name for name in rows if name not in told]}
        for heading, names in sections.items():
            if names:
                with formatter.section(heading):
                    formatter.write_dl([(name, rows[name]) for name in names])


_WHOLE = 10_000
"""Characters of a command's sentence that are shown: all of them."""


def _commands() -> str:
    """click's own heading, in the reader's language."""
    word: str = vars(click.core)["_"]("Commands")
    return word
