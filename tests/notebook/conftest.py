from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_paddle_gpu.domain.notebooks import NotebookFacts
from jupyter_paddle_gpu.notebook.files.reading import parse_notebook
from jupyter_paddle_gpu.notebook.inspection import inspect_notebook


@pytest.fixture
def inspect() -> Callable[..., NotebookFacts]:
    """Facts of a notebook made of these code cells."""

    def _inspect(*sources: str, **metadata: object) -> NotebookFacts:
        cells = [{"cell_type": "code", "source": source, "metadata": {}, "outputs": []} for source in sources]
        content = {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells}
        return inspect_notebook(parse_notebook(content, Path("/lessons/a.ipynb")))

    return _inspect
