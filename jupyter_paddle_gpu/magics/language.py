"""The language in which cells are answered: that of the JupyterLab around the kernel, else the terminal's."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ..i18n import terminal_language

SETTING = Path("@jupyterlab", "translation-extension", "plugin.jupyterlab-settings")
_COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)
_LOCALE = re.compile(r'"locale"\s*:\s*"([\w-]+)"')


def cell_language() -> str:
    """The language that JupyterLab's menu has set, where a Jupyter server started this kernel on its own machine; else
    the one that the environment asks for.

    The file is the one that JupyterLab itself writes (`jupyterlab.commands.get_user_settings_dir`), JSON with comments.
    """
    if os.environ.get("JPY_SESSION_NAME") and (chosen := _of_jupyterlab()) not in {None, "default"}:
        return str(chosen)
    return terminal_language()


def _of_jupyterlab() -> str | None:
    from jupyter_core.paths import jupyter_config_dir

    folder = os.environ.get("JUPYTERLAB_SETTINGS_DIR") or Path(jupyter_config_dir(), "lab", "user-settings")
    try:
        text = (Path(folder) / SETTING).read_text("utf-8")
    except (OSError, ValueError):
        return None
    found = _LOCALE.search(_COMMENT.sub("", text))
    return None if found is None else found[1]
