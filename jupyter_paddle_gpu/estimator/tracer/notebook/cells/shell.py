"""What a notebook's cells find of IPython while they are traced: it accepts everything and does nothing."""

from __future__ import annotations

from typing import Any


def ignore(*args: Any, **kwargs: Any) -> None:
    """`display(...)`, and whatever else only shows."""
    return


class Shell:
    """What `get_ipython()` gives: magics and commands are accepted and do nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return ignore
