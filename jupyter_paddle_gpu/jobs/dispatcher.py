"""`python -m jupyter_paddle_gpu.jobs.dispatcher FOLDER`: looks after the queue until nothing is queued or active."""

from __future__ import annotations

import argparse
import importlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import cast

from .service import JobService


def _load(name: str) -> Callable[[Path], JobService]:
    module, _, attribute = name.partition(":")
    return cast(Callable[[Path], JobService], getattr(importlib.import_module(module), attribute))


def main(arguments: list[str] | None = None) -> None:
    """Run to the end of the queue; ends at once where another process looks after it."""
    parser = argparse.ArgumentParser(prog="python -m jupyter_paddle_gpu.jobs.dispatcher", description=__doc__)
    parser.add_argument("folder", type=Path, help="the data folder with jobs.sqlite")
    parser.add_argument("--factory", required=True, help="module:function that makes the JobService from the folder")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    _load(options.factory)(options.folder).run_until_idle()


if __name__ == "__main__":
    main()
