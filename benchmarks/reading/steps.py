"""Real steps of notebooks that were read without their data (`benchmarks.reading`), on made-up data of the shapes that
were answered or found (`data`).

`python -m benchmarks.reading.steps FOLDER...` takes the rows of `results/reading.json` that have a figure, runs each
notebook's cells for real on the CPU through updates of its first training, in a process of its own, and prints the
estimate beside the largest real step; `results/reading_steps.json` has every row, those of other folders are kept.
Of a notebook with several trainings the first one is estimated, as by `--training 1`.
`--stops` runs those that would stop instead, and prints what really ends them.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..optimizers import after_updates
from ..report import RESULTS, kept, save, show
from . import data
from .estimates import name_of, with_modules

STEPS, MOST_STEPS = 6, 60
"""Updates that are compared; those that are looked at besides, where threads of loaders may run further ahead and a
second epoch begins."""
SECONDS = 20.0
"""After which no update more than the compared ones is looked at."""
MOST_BYTES = 1 << 30
"""Estimates above this are not run."""
TIMEOUT = 180
_FOLDER = re.compile(r"/\S*/(?:work|site-packages)/")
"""The temporary folder `work` in which a notebook is run, and that of libraries, as errors name them."""
_ARRAY = re.compile(r"(\w+)\[([\d,]*)\]")
_NAMED = re.compile(r"(\w+)=((?:\w+\[[\d,]*\]\s*)+)")


class Enough(BaseException):
    """Ends the program."""


class Left(BaseException):
    """Ends a statement: what trains in it is known."""


def main(folders: list[str]) -> None:
    """Every notebook that has a figure and fits."""
    rows = json.loads((RESULTS / "reading.json").read_text())["rows"]
    paths = {name_of(one): one for folder in folders for one in sorted(Path(folder).rglob("*.ipynb"))}
    here = [one for one in rows if one["notebook"] in paths]
    if "--stops" in folders:
        _stops([one for one in here if one["status"] == "would_stop"], paths)
        return
    found = []
    seen: set[tuple[str, int]] = set()
    with _service() as service:
        for one in sorted((one for one in here if one["status"] == "ok"), key=lambda one: one["peak"]):
            name = one["notebook"].rpartition("/")[2].lower(), one["peak"]  # some stand in both repositories
            if one["peak"] > MOST_BYTES or name in seen:
                continue
            seen.add(name)
            path, is_one = paths[one["notebook"]], "several_trainings" not in one["notes"]
            row = one if is_one else {**one, "training": "1", "peak": _of_first(service, path, one)}
            peaks, problem = _measured(path, row)
            most = max(peaks[1:STEPS], default=None)
            error = None if most is None or not row["peak"] else row["peak"] / most - 1
            told = ("notebook", "repository", "answers", "followed", "assumed", "peak", "training")
            found.append({**{name: row.get(name) for name in told},
                          "real": peaks[:STEPS], "most": most, "updates": len(peaks),
                          "most_of_all": max(peaks[1:], default=None), "error": error,
                          "problem": problem[:400]})  # fmt: skip
            sys.stderr.write(f"{row['notebook']:50} {row['peak'] or 0:>13,} {most or 0:>13,} {error} {problem[:150]}\n")
            others = [one for one in kept("reading_steps").get("rows", ()) if one["notebook"] not in paths]
            save("reading_steps", {"rows": [*others, *found]})
    compared = [one for one in found if one["error"] is not None]
    show(
        f"{len(compared)} of {len(found)} were run",
        ("Notebook", "Estimate", "Largest real step", "Error"),
        [(one["notebook"], f"{one['peak']:,}", f"{one['most']:,}", f"{one['error']:+.4%}") for one in compared],
    )


@contextlib.contextmanager
def _service() -> Iterator[Any]:
    from jupyter_paddle_gpu.estimator.service import EstimateService, EstimateSettings

    with tempfile.TemporaryDirectory() as empty:
        service = EstimateService(EstimateSettings(calibration=Path(empty) / "calibration.json"))
        try:
            yield service
        finally:
            service.close()


def _of_first(service: Any, path: Path, row: dict[str, Any]) -> int | None:
    """The figure of a notebook's first training."""
    from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
    from jupyter_paddle_gpu.notebook.files.reading import read_notebook
    from jupyter_paddle_gpu.notebook.inspection import inspect_notebook

    request = EstimateRequest(answers=row["answers"], target="cpu", training="1")
    with tempfile.TemporaryDirectory() as folder:
        place = with_modules(path, Path(folder) / "work")
        estimate = service.estimate(inspect_notebook(read_notebook(path)), place, request)
    return None if estimate.status != "ok" else int(estimate.allocated_peak_bytes)


def _stops(rows: list[dict[str, Any]], paths: dict[str, Path]) -> None:
    """What the estimate says that a notebook ends with, beside what ends it."""
    found = []
    for row in rows:
        _, problem = _measured(paths[row["notebook"]], {**row, "stops": True})
        found.append(
            {"notebook": row["notebook"], "said": " ".join(row["open"]), "real": _FOLDER.sub("", problem)[:600]}
        )
        sys.stderr.write(f"{row['notebook']}\n  said {found[-1]['said'][:200]}\n  real {problem[:300]}\n")
    others = [one for one in kept("reading_stops").get("rows", ()) if one["notebook"] not in paths]
    save("reading_stops", {"rows": [*others, *found]})


def _measured(path: Path, row: dict[str, Any]) -> tuple[list[int], str]:
    with tempfile.TemporaryDirectory() as outer:
        folder = with_modules(path, Path(outer) / "work")
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2]), "PYTHONWARNINGS": "ignore"}
        command = [sys.executable, "-m", "benchmarks.reading.steps", "--real", str(path), json.dumps(row)]
        try:
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True,
                                  timeout=TIMEOUT, check=False)  # fmt: skip
        except subprocess.TimeoutExpired:
            return [], "took too long"
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"peaks"')]
    if not lines:
        return [], (done.stderr.strip().splitlines() or ["nothing"])[-1]
    found = json.loads(lines[-1])
    return found["peaks"], found["problem"]


def real(path: Path, row: dict[str, Any]) -> None:
    """Run the cells of a notebook for some updates and print the peak of each, as JSON."""
    from paddle.base import core

    from jupyter_paddle_gpu.notebook.files.reading import read_notebook
    from jupyter_paddle_gpu.notebook.inspection import inspect_notebook

    peaks: list[int] = []

    began = time.monotonic()

    def updated() -> None:
        peaks.append(core.host_memory_stat_peak_value("Allocated", 0))
        core.host_memory_stat_reset_peak_value("Allocated", 0)
        is_enough = len(peaks) >= STEPS and time.monotonic() - began > SECONDS
        if is_enough or len(peaks) == MOST_STEPS:
            raise Enough

    def looked_at() -> None:
        peaks.append(0)
        if len(peaks) % STEPS == 0:
            raise Left

    act = looked_at if row.get("stops") else updated
    after_updates(act)
    _after_own_updates(act)
    sys.path.insert(0, str(Path.cwd()))
    made = {**row["answers"], **dict(_NAMED.findall(row["followed"]))}
    if row.get("stops"):  # nothing but the files stands in: what ends the notebook is to be its own
        made = {}
    data.in_data_sets()
    data.write(Path.cwd())
    if described := [one for one in map(_shapes, made.values()) if one]:
        _with_own_data_sets(described[0])
    cells = [cell.source for cell in inspect_notebook(read_notebook(path)).cells]
    problem = ""
    with (
        contextlib.suppress(Enough),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        problem = _run(cells, made, said=_said(row) if row.get("stops") else "")
    sys.stdout.write(json.dumps({"peaks": peaks, "problem": problem}) + "\n")
    sys.stdout.flush()
    os._exit(0)


def _run(cells: list[str], made: dict[str, Any], *, said: str = "") -> str:
    """Execute statement by statement; one that its data keeps from running binds what was answered for it.

    Args:
        said: the type of the error that is looked for; the first of it ends the program.
    """
    names: dict[str, Any] = {"__name__": "__main__", "display": lambda *_: None}
    sys.modules["__main__"].__dict__.update(names)
    names = sys.modules["__main__"].__dict__
    problem = ""
    for number, source in enumerate(cells):
        try:
            tree = ast.parse(source)
        except SyntaxError:
            continue
        for statement in tree.body:
            try:
                exec(compile(ast.Module([statement], []), "<cell>", "exec"), names)
            except Left:
                pass
            except Exception as error:  # the data is not here: what was answered stands for it
                if said == type(error).__name__:
                    return f"code cell {number + 1}, line {statement.lineno}: {type(error).__name__}: {error}"
                problem += f"{error!r:.120} | "
            for name in {one.id for one in ast.walk(statement) if isinstance(one, ast.Name)
                         and isinstance(one.ctx, ast.Store)} & made.keys():  # fmt: skip
                names[name] = _made(name, made[name])
        if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
            pyplot.close("all")  # as a kernel does behind each cell: what a figure shows is let go of
    return f"no {said}: {problem}" if said else problem


def _said(row: dict[str, Any]) -> str:
    """The type of the error that a notebook was said to stop with."""
    return "".join(re.findall(r"stops: (\w+)", " ".join(row["open"]))[:1])


def _made(name: str, answer: Any) -> Any:
    if not isinstance(answer, str) or not _ARRAY.search(answer):
        return answer
    shapes = _shapes(answer)
    if re.search(r"(?i)load|iter|reader", name):
        return _Loader(shapes)
    return _samples(shapes) if re.search(r"(?i)data|train", name) else np.zeros(shapes[0][1], shapes[0][0])


def _samples(shapes: list[tuple[str, tuple[int, ...]]]) -> Any:
    from paddle.io import Dataset

    class Samples(Dataset):  # type: ignore[misc]
        """As many as sixteen batches have."""

        def __getitem__(self, index: int) -> Any:
            return tuple(np.zeros(shape[1:], dtype) for dtype, shape in shapes)

        def __len__(self) -> int:
            return 16 * shapes[0][1][0]

    return Samples()


class _Loader:
    """A loader as Paddle's over made-up samples, which a reader's name is called for too."""

    def __init__(self, shapes: list[tuple[str, tuple[int, ...]]]) -> None:
        from paddle.io import DataLoader

        self._loader = DataLoader(_samples(shapes), batch_size=shapes[0][1][0])

    def __iter__(self) -> Any:
        return iter(self._loader)

    def __len__(self) -> int:
        return len(self._loader)

    def __call__(self, *_: Any, **__: Any) -> Any:
        return iter(self._loader)


def _shapes(answer: Any) -> list[tuple[str, tuple[int, ...]]]:
    found = _ARRAY.findall(answer) if isinstance(answer, str) else []
    return [(dtype, tuple(int(one) for one in sizes.split(",") if one)) for dtype, sizes in found]


def _with_own_data_sets(shapes: list[tuple[str, tuple[int, ...]]]) -> None:
    """A data set of the notebook's own whose files are not here holds made-up samples."""
    import paddle

    def defined(kind: Any, **_: Any) -> None:
        original = vars(kind).get("__init__")
        if original is None:
            return

        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            try:
                original(self, *args, **kwargs)
            except Exception:  # its files are not here
                self.__class__ = type(_samples(shapes))

        kind.__init__ = init

    paddle.io.Dataset.__init_subclass__ = classmethod(defined)


def _after_own_updates(act: Callable[[], None]) -> None:
    """Call `act` behind each step of an optimizer that the notebook has written itself."""
    define = builtins.__build_class__

    def defined(*args: Any, **kwargs: Any) -> Any:
        kind = define(*args, **kwargs)
        names = [base.__name__ for base in kind.__mro__] if isinstance(kind, type) else []
        step = (
            vars(kind).get("step") if "Optimizer" in names and kind.__module__.partition(".")[0] != "paddle" else None
        )
        if step is not None:

            def stepped(self: Any, *given: Any, **named: Any) -> Any:
                result = step(self, *given, **named)
                act()
                return result

            kind.step = stepped
        return kind

    builtins.__build_class__ = defined


if __name__ == "__main__":
    if sys.argv[1] == "--real":
        real(Path(sys.argv[2]), json.loads(sys.argv[3]))
    else:
        main(sys.argv[1:])
