"""`jupyter paddle-gpu …`: the terminal's face. `main` is the installed command."""

from __future__ import annotations


def main() -> None:
    """Run the command line and end the process with its status."""
    import sys

    from .terminal import run

    sys.exit(run(sys.argv[1:]))
