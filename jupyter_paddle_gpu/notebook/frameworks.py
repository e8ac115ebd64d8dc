"""Whose training it is: notebooks of other languages and frameworks look like Paddle's."""

from __future__ import annotations

from collections.abc import Container

from ..domain.messages import Message
from ..domain.notebooks import OTHER_LANGUAGE, NotebookSource
from .files.reading import language_of
from .names import LIBRARIES

PADDLE = LIBRARIES | {"paddle"}
"""Packages of Paddle's trainings."""
OTHERS = {"torch": "PyTorch", "tensorflow": "TensorFlow", "jax": "JAX", "mxnet": "MXNet", "mindspore": "MindSpore"}
"""Frameworks whose trainings look like Paddle's, by the package that is imported."""


def other_framework(packages: Container[str]) -> str:
    """The framework of a training that is not Paddle's; empty where it is, or none is imported.

    Args:
        packages: what the code imports, without modules.
    """
    if any(package in packages for package in PADDLE):
        return ""
    return next((name for package, name in OTHERS.items() if package in packages), "")


def other_language(source: NotebookSource) -> Message | None:
    """What is told of a notebook whose cells are not Python."""
    language = language_of(source)
    if language.startswith("python") or language == "ipython":
        return None
    return Message(
        code=OTHER_LANGUAGE,
        text="This notebook is written in {language}; only Python is read.",
        hint="Choose a Python kernel for the notebook, or open another one.",
        params={"language": language},
    )
