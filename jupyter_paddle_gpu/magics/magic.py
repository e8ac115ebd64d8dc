"""The magic itself: a line in, a drawn answer or one clear sentence out."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click
import msgspec
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class

from ..commands.click_words import problem_of, spoken
from ..commands.face import View
from ..commands.group import JSON, paddle_gpu
from ..commands.listing import COMMANDS
from ..commands.options import localise
from ..commands.speech import Speech
from ..commands.views.job import JobView
from ..domain.errors import PaddleGpuError
from ..domain.messages import Message, Param
from .cell import CellFace
from .following import JobResult
from .language import cell_language
from .result import Result, typed_here

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


class CellError(Exception):
    """Ends the cell with a sentence and a next step; IPython shows that instead of a traceback."""

    def __init__(self, message: Message, say: Speech) -> None:
        self.code = message.code
        lines = (message.render(say.translate), message.render_hint(say.translate))
        self._lines = [typed_here(line) for line in lines if line]
        super().__init__("\n".join(self._lines))

    def _render_traceback_(self) -> list[str]:
        return self._lines


class Interrupted(KeyboardInterrupt):
    """The person's own wish: to draw where in our code it came takes longer than what was interrupted."""

    def __init__(self, say: Speech) -> None:
        self._line = say("Interrupted.")
        super().__init__(self._line)

    def _render_traceback_(self) -> list[str]:
        return [self._line]


@magics_class
class PaddleGpuMagics(Magics):
    """Holds one face for the kernel's life, so that a second estimate finds its worker warm."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._face = CellFace(shell)
        self._speaks: str | None = None

    @line_magic
    def paddle_gpu(self, line: str) -> Result | None:
        """What a Paddle notebook's training takes, where it fits, and the jobs that run it.

        `%paddle_gpu estimate` looks at this notebook, `%paddle_gpu estimate model --batch-size 64` at a live model;
        `%paddle_gpu --help` lists the commands.
        """
        return self._answer(line, None)

    @cell_magic("paddle_gpu")  # type: ignore[arg-type]
    def paddle_gpu_cell(self, line: str, cell: str) -> Result | None:
        """The same for this cell, before it runs: it is taken together with the cells that were executed, not executed.

        `%%paddle_gpu estimate` says what the cell's training takes, `%%paddle_gpu submit` runs it all as a job.
        """
        return self._answer(line, cell)

    def _answer(self, line: str, cell: str | None) -> Result | None:
        # Whoever chooses another language in JupyterLab's menu reloads the page, and the kernel goes on.
        language = cell_language()
        if language != self._speaks:
            self._speaks, self._face.say = language, Speech(language)
            localise(paddle_gpu, self._face.say)
        say = self._face.say
        try:
            with spoken(say), self._face.looking_at(cell):
                return self._run(shlex.split(line) or ["--help"])
        except PaddleGpuError as error:
            raise CellError(error.message, say) from None
        except KeyboardInterrupt:
            raise Interrupted(say) from None
        except (click.ClickException, ValueError) as error:  # ValueError: a quotation mark without its other half
            with spoken(say):
                text = problem_of(error) if isinstance(error, click.ClickException) else str(error)
            commands = vars(error).get(COMMANDS, "")
            context = getattr(error, "ctx", None)
            command = "%paddle_gpu" if context is None else context.command_path
            hint = "The commands are {commands}. See `{command} --help`." if commands else "See `{command} --help`."
            told: dict[str, Param] = {"problem": text, "commands": commands, "command": command}
            raise CellError(Message(code="usage", text="{problem}", hint=hint, params=told), say) from None

    def _run(self, words: list[str]) -> Result | None:
        try:
            with paddle_gpu.make_context("%paddle_gpu", words, obj=self._face) as context:
                view = paddle_gpu.invoke(context)
                if not isinstance(view, View):
                    return None
                if context.meta.get(JSON):
                    print(msgspec.json.format(msgspec.json.encode(view.json(self._face.say))).decode())
                    return None
                if isinstance(view, JobView):
                    return JobResult(view, self._face.say, self._face.services)
                return Result(view, self._face.say)
        except click.exceptions.Exit:  # --help
            return None
