"""`make bench`: every benchmark that takes minutes at most; accuracy and Docker have targets of their own."""

from __future__ import annotations

import importlib
import sys

QUICK = ("sizes", "startup", "estimate_speed")


def main() -> None:
    """Run the benchmarks named on the command line, or all of `QUICK`."""
    for name in sys.argv[1:] or QUICK:
        importlib.import_module(f"{__package__}.{name}").main()


if __name__ == "__main__":
    main()
