"""Way in: `python <folder or zip> [--detach] [--ranks JSON] spec.json` (supervisor; of several processes the first
one's, which starts the others with `--beside PID`), or `--child` (the process that runs the cells), or
`--answered script.py …` (a script that a cell starts, with the notebook's answers in it).

Run from a folder or a zip these modules have no package. They get one under a name of their own, and the folder leaves
`sys.path`, so that none of them can be mistaken for a module of the user's (`import notebook`, `import log`).
"""

import importlib
import importlib.machinery
import importlib.util
import sys

NAME = "paddle_gpu_runner"
_OPTIONS = {"--detach": "detach", "--ranks": "ranks", "--beside": "beside"}


def _package() -> str:
    """The name under which the sibling modules can be imported."""
    if __package__:
        return __package__
    if NAME not in sys.modules:
        spec = importlib.machinery.ModuleSpec(NAME, None, is_package=True)
        spec.submodule_search_locations = [sys.path.pop(0)]
        sys.modules[NAME] = importlib.util.module_from_spec(spec)
    return NAME


def main() -> int:
    """Dispatch to supervisor or child; the exit status is the job's."""
    package, arguments = _package(), sys.argv[1:]
    if arguments[:1] == ["--child"]:
        return int(importlib.import_module(package + ".child").main(*arguments[1:]))
    if arguments[:1] == ["--answered"]:
        return int(importlib.import_module(package + ".shells.scripts").main(*arguments[1:]))
    options = {}
    while len(arguments) > 1 and arguments[0] in _OPTIONS:
        option = arguments.pop(0)
        options[_OPTIONS[option]] = arguments.pop(0) if option != "--detach" else "yes"
    if len(arguments) != 1:
        sys.stderr.write("usage: python <runner> [--detach] [--ranks JSON] <job folder>/spec.json\n")
        return 64  # EX_USAGE
    return int(importlib.import_module(package + ".supervisor").main(arguments[0], entry=sys.argv[0], **options))


if __name__ == "__main__":
    sys.exit(main())
