"""Entry: `python <folder> <idle seconds> <tracer folder> [--once] [--plain]`. See the package's own text.

`--plain` imports Paddle as anybody would, without what makes it quicker.
"""

from __future__ import annotations

import gc
import importlib.util
import sys
from pathlib import Path

NAME = "_paddle_gpu_zygote"
"""The name under which this folder is a package: user code imports from its own folder, never from ours."""


def main() -> None:
    """Make this folder a package under a private name and run its loop.

    A notebook that parses a command line finds none, as in a job.
    """
    arguments, sys.argv[1:] = sys.argv[1:], []
    folder = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if not entry or Path(entry).resolve() != folder]
    specification = importlib.util.spec_from_file_location(
        NAME, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert specification is not None and specification.loader is not None
    package = importlib.util.module_from_spec(specification)
    sys.modules[NAME] = package
    specification.loader.exec_module(package)
    if "--plain" not in arguments:
        gc.disable()  # an import makes hundreds of thousands of objects that stay
        importlib.import_module(f"{NAME}.preload").begin()
    importlib.import_module(f"{NAME}.loop").main(arguments)


if __name__ == "__main__":
    main()
