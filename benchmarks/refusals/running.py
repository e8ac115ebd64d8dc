"""Runs programs for real and traces them, each in a child forked from a process that has imported Paddle.

`python -m benchmarks.refusals.running` reads JSON lines {name, source, target} and prints as many {name, real, traced};
a trace is for the CPU where no target is given. Cells of a source are divided by lines `#---`. Both answers have
`ended`: `ran`, `refused` (with `cell` from 0, `line` from 1, `error` and `text`), `crashed` or `slow`; a trace that
cannot tell has `unsure`, one that says of a line that it fails for some draws has that line as `by_chance`.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.optimizers import after_updates

ROOT = Path(__file__).resolve().parents[2]
UPDATES = 3
"""Updates after which a real run has shown what a trace looks at."""
SECONDS = 20
"""Seconds of a processor for each of the two."""
Answer = dict[str, Any]


class Enough(BaseException):
    """Ends a real run."""


def cells(source: str) -> list[str]:
    """The cells of a program."""
    return source.split("#---\n")


def real(source: str) -> Answer:
    """Run a program, up to its third update."""
    from tracer.notebook.cells.stops import meant
    from tracer.notebook.questions.wording import line_of, said

    _stop_behind(UPDATES)
    names: dict[str, Any] = {"__name__": "__main__"}
    for index, cell in enumerate(cells(source)):
        name = f"<cell {index}>"
        try:
            exec(compile(cell, name, "exec"), names)
        except Enough:
            break
        except MemoryError:
            return {"ended": "slow"}
        except Exception as problem:
            found = {"cell": index, "line": line_of(problem, name)}
            text = said(problem) + meant(problem)
            return {"ended": "refused", **found, "error": type(problem).__name__, "text": text}
    return {"ended": "ran"}


def traced(source: str, target: str = "cpu") -> Answer:
    """Trace a program, for the CPU if nothing else is said."""
    import tracer

    asked = [{"index": index, "source": cell} for index, cell in enumerate(cells(source))]
    found = tracer.trace_notebook({"cells": asked, "answers": {}, "target": target})
    if stop := found.get("stop"):
        error, _, text = stop["error"].partition(": ")
        return {"ended": "refused", "cell": stop["cell"], "line": stop["line"], "error": error, "text": text}
    if found["questions"]:
        question = found["questions"][0]
        return {"ended": "unsure", "why": question["why"], "line": question["line"], "text": str(question["params"])}
    chance = next((one["params"]["line"] for one in found["notes"] if one["code"] == "refused_by_chance"), None)
    return {"ended": "ran", "status": found["status"], **({} if chance is None else {"by_chance": chance})}


def _stop_behind(most: int) -> None:
    ended = 0

    def updated() -> None:
        nonlocal ended
        ended += 1
        if ended > most:  # not at once: what follows an update belongs to it
            raise Enough

    after_updates(updated)


def in_child(work: Callable[[str], Answer], source: str) -> Answer:
    """What a function answers in a child of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
            signal.alarm(10 * SECONDS)
            os.write(writing, json.dumps(work(source)).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    if said:
        return json.loads(said)  # type: ignore[no-any-return]
    number = status & 127
    return {"ended": "slow" if number in {signal.SIGXCPU, signal.SIGALRM, signal.SIGKILL} else "crashed", "by": number}


def main() -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.path.insert(0, str(ROOT / "jupyter_paddle_gpu" / "estimator"))
    import tracer

    tracer.prepare()
    with TemporaryDirectory() as folder:
        os.chdir(folder)  # for what programs write
        for line in iter(sys.stdin.readline, ""):
            program = json.loads(line)
            row = {"name": program["name"], "real": in_child(real, program["source"])}
            if row["real"]["ended"] != "slow":
                row["traced"] = in_child(partial(traced, target=program.get("target", "cpu")), program["source"])
            sys.stdout.write(json.dumps(row) + "\n")
            sys.stdout.flush()
        os.chdir(ROOT)


if __name__ == "__main__":
    main()
