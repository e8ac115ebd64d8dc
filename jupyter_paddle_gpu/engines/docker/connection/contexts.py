"""The daemon that Docker's own command would take, where `docker context use` has chosen another than the usual one."""

from __future__ import annotations

import json
import os
from pathlib import Path

USUAL = "default"


def current_host() -> str:
    """The address of the current context; empty where it is the usual one, or cannot be read."""
    folder = Path(os.environ.get("DOCKER_CONFIG") or Path.home() / ".docker")
    try:
        if json.loads((folder / "config.json").read_text()).get("currentContext", USUAL) == USUAL:
            return ""
    except (OSError, ValueError, AttributeError):
        return ""  # a broken file must not hide a daemon in its usual place
    import docker  # takes a while, and contexts are rare

    try:
        context = docker.ContextAPI.get_current_context()
        return str(context.Host) if context is not None and context.name != USUAL and context.Host else ""
    except (docker.errors.DockerException, OSError, ValueError):
        return ""
