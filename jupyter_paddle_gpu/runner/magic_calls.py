"""What the calls that `magics` puts into a cell do."""

import os
import re
import runpy
import shlex
import subprocess
import sys
import time
import timeit
from pathlib import Path
from typing import Any, Dict, List, Optional

_FIELD = re.compile(r"\{([^{}]+)\}|\$(\w+)")
_IGNORED = frozenset(
    {"matplotlib", "config", "load_ext", "reload_ext", "autoreload", "pylab", "precision", "xmode", "colors"}
)
_COMMANDS = frozenset({"ls", "mkdir", "rm", "cp", "mv", "cat"})


class Calls:
    """Lives in the notebook's namespace under `magics.CALL`."""

    def __init__(self, namespace: Dict[str, Any]) -> None:
        self._namespace = namespace
        self._since = (0.0, 0.0)
        self._previous = str(Path.cwd())

    def system(self, command: str, outer: Dict[str, Any], inner: Dict[str, Any]) -> None:
        """`!command`: output comes as it is written; the status is left in `_exit_code`."""
        sys.stdout.flush()
        self._namespace["_exit_code"] = subprocess.call(expand(command, {**outer, **inner}), shell=True)

    def capture_system(self, command: str, outer: Dict[str, Any], inner: Dict[str, Any]) -> List[str]:
        """`lines = !command`."""
        done = subprocess.run(
            expand(command, {**outer, **inner}),
            shell=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        self._namespace["_exit_code"] = done.returncode
        return done.stdout.decode("utf-8", "replace").splitlines()

    def tick(self) -> None:
        """Start of a timed statement or cell."""
        self._since = (time.perf_counter(), time.process_time())

    def tock(self) -> None:
        """Its end: prints as IPython does."""
        wall, cpu = time.perf_counter() - self._since[0], time.process_time() - self._since[1]
        print("CPU times: total: %s\nWall time: %s" % (_duration(cpu), _duration(wall)))

    def magic(self, name: str, argument: str, outer: Dict[str, Any], inner: Dict[str, Any]) -> Any:
        """A line magic."""
        if name in _IGNORED or (name == "time" and not argument):
            return None  # they set how IPython shows things
        argument = expand(argument, {**outer, **inner})
        if name in _COMMANDS:
            return self.system("%s %s" % (name, argument), {}, {})
        if name in ("pip", "conda"):
            command = [sys.executable, "-m", "pip"] if name == "pip" else ["conda"]
            status = subprocess.call([*command, *shlex.split(argument)])
            if status:
                raise RuntimeError("%%%s %s ended with status %d" % (name, argument, status))
            return None
        return getattr(self, "_" + name)(argument)

    def _cd(self, argument: str) -> None:
        target = self._previous if argument == "-" else str(Path(argument.strip("\"'") or "~").expanduser())
        before = str(Path.cwd())
        os.chdir(target)
        self._previous = before
        print(str(Path.cwd()))

    def _pwd(self, _: str) -> str:
        return str(Path.cwd())

    def _env(self, argument: str) -> Any:
        match = re.match(r"^(\w+)(?:\s*=\s*|\s+)(.*)$", argument)
        if match:
            os.environ[match.group(1)] = match.group(2)
            print("env: %s=%s" % (match.group(1), match.group(2)))
            return None
        return os.environ.get(argument) if argument else dict(os.environ)

    _set_env = _env

    def _run(self, argument: str) -> None:
        path, *arguments = shlex.split(argument)
        before, sys.argv = sys.argv, [path, *arguments]
        try:
            found = runpy.run_path(path, run_name="__main__")
        finally:
            sys.argv = before
        self._namespace.update({name: value for name, value in found.items() if not name.startswith("__")})

    def _timeit(self, argument: str) -> None:
        timer = timeit.Timer(re.sub(r"^(-[nr]\s*\d+\s+)+", "", argument), globals=self._namespace)
        count, _ = timer.autorange()
        best = min(timer.repeat(3, count)) / count
        print("%s per loop (best of 3 runs, %d loops each)" % (_duration(best), count))

    def _sx(self, argument: str) -> List[str]:
        return self.capture_system(argument, {}, {})

    _system = _sx

    def _reset(self, _: str) -> None:
        for name in [name for name in self._namespace if not name.startswith("_")]:
            del self._namespace[name]

    def _who(self, _: str) -> None:
        print("\t".join(sorted(name for name in self._namespace if not name.startswith("_"))))

    _whos = _who

    def cell(self, name: str, argument: str, body: str) -> Optional[str]:
        """A cell magic whose body is no Python of ours."""
        if name in ("writefile", "file"):
            append = argument.startswith("-a ")
            path = Path((argument[3:] if append else argument).strip().strip("\"'")).expanduser()
            with path.open("a" if append else "w", encoding="utf-8") as file:
                file.write(body + "\n")
            print("%s %s" % ("Appending to" if append else "Writing", path))
            return None
        if name == "timeit":
            self._timeit(body)
            return None
        programs = {"python": [sys.executable], "python3": [sys.executable], "script": shlex.split(argument)}
        sys.stdout.flush()
        done = subprocess.run(programs.get(name, [name]), input=body.encode("utf-8") + b"\n", check=False)
        if done.returncode and "--no-raise-error" not in argument:
            raise subprocess.CalledProcessError(done.returncode, "%%" + name)
        return None


def expand(text: str, names: Dict[str, Any]) -> str:
    """`{expression}` and `$name` filled in from the notebook; what cannot be evaluated stays (the shell's own)."""

    def fill(match: "re.Match[str]") -> str:
        expression = match.group(1) or match.group(2)
        if match.group(2) and expression not in names:
            return match.group(0)
        try:
            return str(eval(expression, dict(names)))
        except Exception:
            return match.group(0)

    return _FIELD.sub(fill, text)


def _duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return "%.3g %s" % (seconds / size, unit)
    return "%.3g ns" % (seconds * 1e9)
