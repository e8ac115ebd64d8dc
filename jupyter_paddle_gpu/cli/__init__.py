"""`jupyter paddle-gpu …`: the terminal's face. `main` is the installed command."""

from __future__ import annotations


def main() -> None:
    """Run the command line and end the process with its status."""
    import sys

    from . import interrupts

    interrupts.leave_at_once()
    try:
        from .terminal import run

        status = run(sys.argv[1:])
    except KeyboardInterrupt:  # on the last metres
        status = interrupts.STATUS
    if status == interrupts.STATUS:
        interrupts.end_now()
    sys.exit(status)
