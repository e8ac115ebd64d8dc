"""What the calls that `magics` puts into a cell do."""

import os
import re
import runpy
import shlex
import statistics
import subprocess
import sys
import time
import timeit
import types
from pathlib import Path
from typing import Any, Dict, List, Optional

from . import programs, scripts

_FIELD = re.compile(r"\{([^{}]+)\}|\$(\w+)")
_IGNORED = frozenset(
    {"matplotlib", "config", "load_ext", "reload_ext", "autoreload", "pylab", "precision", "xmode", "colors"}
)
_TIMEIT_OPTION = re.compile(r"-(?:([nrp])\s*(\d+)|([tcqov]))(?:\s+|$)")
_TIMEIT_SECONDS = 0.2
"""How long one run of `%timeit` takes at least, as in IPython."""
_COMMANDS = frozenset({"ls", "mkdir", "rm", "cp", "mv", "cat"})


class Calls:
    """Lives in the notebook's namespace under `magics.CALL`."""

    def __init__(self, namespace: Dict[str, Any], values: Dict[str, Any]) -> None:
        self._namespace, self._values = namespace, values
        self._since = (0.0, 0.0, 0.0)
        self._previous = str(Path.cwd())

    def system(self, command: str, outer: Dict[str, Any], inner: Dict[str, Any]) -> None:
        """`!command`: output comes as it is written; the status is left in `_exit_code`."""
        sys.stdout.flush()
        expanded = expand(command, {**outer, **inner})
        status = subprocess.call(scripts.command(expanded, self._values), shell=True)
        self._namespace["_exit_code"] = status
        programs.ended(expanded, status)

    def capture_system(self, command: str, outer: Dict[str, Any], inner: Dict[str, Any]) -> List[str]:
        """`lines = !command`."""
        done = subprocess.run(
            scripts.command(expand(command, {**outer, **inner}), self._values),
            shell=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        self._namespace["_exit_code"] = done.returncode
        return done.stdout.decode("utf-8", "replace").splitlines()

    def tick(self) -> None:
        """Start of a timed statement or cell."""
        used = os.times()
        self._since = (time.perf_counter(), used.user, used.system)

    def tock(self, _started: None = None, value: Any = None) -> Any:
        """Its end: prints as IPython does and gives `value` back."""
        wall, used = time.perf_counter(), os.times()
        user, system = used.user - self._since[1], used.system - self._since[2]
        times = (_duration(user), _duration(system), _duration(user + system))
        print("CPU times: user %s, sys: %s, total: %s" % times)
        print("Wall time: %s" % _duration(wall - self._since[0]))
        return value

    def time_statement(self, source: str, outer: Dict[str, Any], inner: Dict[str, Any]) -> None:
        """`%time for …:`: a statement that cannot share its line with another one."""
        code = compile(source, "<%time>", "exec")
        self.tick()
        exec(code, outer, inner)
        self.tock()

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

    def _timeit(self, argument: str, setup: str = "pass") -> Any:
        options = {"n": 0, "r": 7}
        flags = set()
        match = _TIMEIT_OPTION.match(argument)
        while match:
            flags.add(match.group(1) or match.group(3))
            options[match.group(1)] = int(match.group(2) or 0)
            argument = argument[match.end() :]
            match = _TIMEIT_OPTION.match(argument)
        timer = timeit.Timer(argument, setup, globals=self._namespace)
        loops = options["n"] or next(n for n in (10**power for power in range(10)) if _long_enough(timer, n))
        runs = [seconds / loops for seconds in timer.repeat(max(1, options["r"]), loops)]
        mean, deviation = statistics.mean(runs), statistics.pstdev(runs)
        if "q" not in flags:
            counts = (len(runs), "s" * (len(runs) > 1), format(loops, ","), "s" * (loops > 1))
            spread = "%s ± %s per loop" % (_duration(mean), _duration(deviation))
            print(spread + " (mean ± std. dev. of %d run%s, %s loop%s each)" % counts)
        if "o" not in flags:
            return None
        return types.SimpleNamespace(
            loops=loops, repeat=len(runs), all_runs=runs, best=min(runs), worst=max(runs), average=mean, stdev=deviation
        )

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
            options = re.match(r"(?:-\w+(?:\s+\d+)?\s*)*", argument)
            end = options.end() if options else 0
            self._timeit(argument[:end].rstrip() + " " * bool(end) + body, argument[end:] or "pass")
            return None
        if name in scripts.SHELLS:
            body = scripts.command(body, self._values)
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


def _long_enough(timer: timeit.Timer, loops: int) -> bool:
    return loops >= 10**9 or timer.timeit(loops) >= _TIMEIT_SECONDS


def _duration(seconds: float) -> str:
    if seconds >= 60:
        minutes, rest = divmod(seconds, 60)
        hours, minutes = divmod(minutes, 60)
        return ("%dh " % hours if hours else "") + "%dmin %ds" % (minutes, rest)
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return "%.3g %s" % (seconds / size, unit)
    return "%.3g ns" % (seconds * 1e9)
