"""jupyter_paddle_gpu: what a Paddle notebook's training needs, where it fits, and the job that runs it.

This module only carries the version and the hooks by which Jupyter and IPython find the package; each hook imports
what it needs when it is called, so that `import jupyter_paddle_gpu` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .version import __version__ as __version__

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Tell JupyterLab where the built front end lies and under which name it is served."""
    return [{"src": "../labextension", "dest": "jupyter-paddle-gpu"}]


def _jupyter_server_extension_points() -> list[dict[str, object]]:
    """Tell Jupyter Server which application to load."""
    from .app import PaddleGpuApp

    return [{"module": "jupyter_paddle_gpu", "app": PaddleGpuApp}]


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register ``%paddle_gpu`` in an IPython shell (`%load_ext jupyter_paddle_gpu`)."""
    from .magics import completion
    from .magics.magic import PaddleGpuMagics

    shell.register_magics(PaddleGpuMagics)
    completion.load_ipython_extension(shell)
