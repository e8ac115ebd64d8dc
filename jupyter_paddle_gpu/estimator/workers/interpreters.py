"""From a kernel's name to the Python that runs it, and whether Paddle is there. Paddle is never imported for that."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from ...devices.makers.registry import makers
from ...domain.decoding import decode
from ...domain.errors import PaddleGpuError

PROBE_SECONDS = 30.0
"""How long an interpreter may take to say what it is (a cold conda environment on a network disk takes seconds)."""

_PROBE = """
import importlib.metadata as metadata, importlib.util, json, sys
importlib.invalidate_caches()
version = ""
if importlib.util.find_spec("paddle") is not None:
    for name in packages:
        try:
            version = metadata.version(name)
            break
        except metadata.PackageNotFoundError:
            version = version or "unknown"
said = json.dumps({"python": sys.executable, "version": list(sys.version_info[:3]), "paddle": version})
"""


def _script() -> str:
    """What an interpreter runs to say what it is; `said` is that as JSON."""
    makers_own = (row.name for maker in makers().rows.values() if maker.paddle for row in maker.paddle.packages)
    packages = dict.fromkeys(("paddlepaddle-gpu", "paddlepaddle", *makers_own))
    return f"packages = {tuple(packages)!r}\n{_PROBE}"


class Interpreter(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel's Python.

    Attributes:
        command: what starts it, before any argument (more than one word where a wrapper such as `conda run` is used).
        environment: variables that the kernel's specification adds.
        python: `sys.executable` inside; `version` its (major, minor, micro).
        paddle_version: version of the installed Paddle; None where there is none, `unknown` where it has no metadata.
    """

    kernel_name: str
    display_name: str
    command: tuple[str, ...]
    environment: dict[str, str]
    python: str
    version: tuple[int, int, int]
    paddle_version: str | None

    def environ(self) -> dict[str, str]:
        """The whole environment in which the kernel would run."""
        return {**os.environ, **self.environment}


class _Specification(msgspec.Struct, frozen=True):
    """What is read from a `kernel.json`."""

    argv: tuple[str, ...]
    display_name: str = ""
    language: str = ""
    env: dict[str, str] = {}
    metadata: dict[str, Any] = {}


class _Probed(msgspec.Struct, frozen=True):
    python: str
    version: tuple[int, int, int]
    paddle: str


_lock = threading.Lock()


def find_interpreter(kernel_name: str) -> Interpreter:
    """The interpreter of an installed kernel; `PaddleGpuError` with a next step where there is none to be had."""
    specification = _specification(kernel_name or "python3")
    if specification.language.lower() != "python":
        raise PaddleGpuError(
            "kernel_not_python",
            "The notebook's kernel “{kernel}” runs {language}, not Python.",
            hint="Choose a Python kernel that has Paddle in the notebook's kernel menu.",
            status=422,
            kernel=kernel_name,
            language=specification.language,
        )
    command = _command(list(specification.argv))
    environment = tuple(sorted((str(key), str(value)) for key, value in specification.env.items()))
    with _lock:
        answer = _probe(command, environment, _stamp(command[0]))
    if isinstance(answer, str):
        raise PaddleGpuError(
            "kernel_does_not_start",
            "The Python of the kernel “{kernel}” ({python}) does not start: {reason}",
            hint="Repair that environment, or choose another kernel in the notebook's kernel menu.",
            status=503,
            kernel=kernel_name,
            python=" ".join(command),
            reason=answer,
        )
    return Interpreter(
        kernel_name=kernel_name,
        display_name=specification.display_name or kernel_name,
        command=command,
        environment=dict(environment),
        python=answer.python,
        version=answer.version,
        paddle_version=answer.paddle or None,
    )


def forget_probes() -> None:
    """Ask every interpreter anew, for instance after a person installed Paddle."""
    _probe.cache_clear()


def _specification(kernel_name: str) -> _Specification:
    return _plainly_read(kernel_name) or _as_jupyter_finds_it(kernel_name)


def _plainly_read(kernel_name: str) -> _Specification | None:
    """The `kernel.json` of that name in the first folder that has it, None where it takes more to find or read it.

    `jupyter_client` would find the same one, but importing it takes as long as all else that a command imports.
    """
    from jupyter_core.paths import jupyter_path

    if Path(kernel_name).name != kernel_name:
        return None
    for folder in jupyter_path("kernels"):
        file = Path(folder, kernel_name.lower(), "kernel.json")
        if file.is_file():
            try:
                found = decode(file.read_bytes(), _Specification)
            except (OSError, msgspec.DecodeError):
                return None
            return None if "kernel_provisioner" in found.metadata else found
    return None


def _as_jupyter_finds_it(kernel_name: str) -> _Specification:
    with contextlib.suppress(ImportError):
        # The manager begins with a part of it, and a thread that reads a notebook with another one: whoever comes
        # second would meet half a module.
        import IPython  # noqa: F401
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    manager = KernelSpecManager()
    try:
        found = manager.get_kernel_spec(kernel_name)
        return _Specification(tuple(found.argv), found.display_name, found.language, dict(found.env))
    except NoSuchKernel:
        known = ", ".join(sorted(manager.find_kernel_specs())) or "-"
        raise PaddleGpuError(
            "no_such_kernel",
            "There is no kernel named “{kernel}” here (there are: {known}).",
            hint="Choose a kernel in the notebook's kernel menu, or install that one, for Python by: "
            "`python -m ipykernel install --user --name {kernel}`",
            status=422,
            kernel=kernel_name,
            known=known,
        ) from None
    except (OSError, ValueError) as error:
        raise PaddleGpuError(
            "kernel_unreadable",
            "The specification of the kernel “{kernel}” cannot be read: {reason}",
            hint="See `jupyter kernelspec list` for the folder that holds it.",
            status=422,
            kernel=kernel_name,
            reason=str(error),
        ) from error


def _command(argv: list[str]) -> tuple[str, ...]:
    """The words before `-m ipykernel_launcher` (or a script): what starts Python itself."""
    words: list[str] = []
    for word in argv:
        if word == "-m" or word.endswith((".py", "ipykernel_launcher")) or "{connection_file}" in word:
            break
        words.append(word)
    if not words:
        words = [sys.executable]
    # What jupyter_client itself does: a bare `python` in a specification means the Python of the server.
    own = {"python", f"python{sys.version_info[0]}", "python{}.{}".format(*sys.version_info[:2])}
    if words[0] in own:
        words[0] = sys.executable
    return tuple(words)


def _stamp(program: str) -> tuple[float, ...]:
    """Changes when something is installed beside the interpreter, so that an old probe is not trusted."""
    root = Path(program).parent.parent if os.sep in program else Path(sys.prefix)
    folders = (root / "lib" / "site-packages", *sorted(root.glob("lib/python*/site-packages")))
    return tuple(folder.stat().st_mtime for folder in folders if folder.is_dir())


@lru_cache(maxsize=64)
def _probe(
    command: tuple[str, ...], environment: tuple[tuple[str, str], ...], stamp: tuple[float, ...]
) -> _Probed | str:
    if command == (sys.executable,) and not any(name.startswith("PYTHON") for name, _ in environment):
        said: dict[str, Any] = {}
        exec(_script(), said)  # this very Python: another process of it would say the same, later
        return decode(said["said"], _Probed)
    try:
        done = subprocess.run(
            [*command, "-c", _script() + "print(said)"],
            capture_output=True,
            text=True,
            timeout=PROBE_SECONDS,
            env={**os.environ, **dict(environment)},
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    try:
        return decode(done.stdout.strip().splitlines()[-1], _Probed)
    except (IndexError, msgspec.DecodeError):
        return (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
