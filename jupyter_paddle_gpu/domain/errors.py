"""The one exception that crosses rooms: a refusal with a code, a sentence and a next step."""

from __future__ import annotations

from .messages import Message, Param, Translate, untranslated


class PaddleGpuError(Exception):
    """Something a person asked for cannot be done.

    Attributes:
        message: what to tell them.
        status: the HTTP status that says the same to a REST client (400 bad input, 403 not allowed, 404 not there,
            409 not now, 413 too large, 422 unusable content, 500 our fault, 503 a part is missing).
    """

    def __init__(self, code: str, text: str, *, hint: str = "", status: int = 400, **params: Param) -> None:
        self.message = Message(code=code, text=text, hint=hint, params=params)
        self.status = status
        super().__init__(self.message.render())

    @classmethod
    def of(cls, message: Message, *, status: int = 400) -> PaddleGpuError:
        """The refusal that an existing message says."""
        error = cls(message.code, message.text, hint=message.hint, status=status)
        error.message = message
        error.args = (message.render(),)
        return error

    @property
    def code(self) -> str:
        """The message's stable identifier."""
        return self.message.code

    def describe(self, translate: Translate = untranslated) -> dict[str, str]:
        """The error as the REST contract has it: `code`, `message`, `hint`."""
        return {
            "code": self.message.code,
            "message": self.message.render(translate),
            "hint": self.message.render_hint(translate),
        }
