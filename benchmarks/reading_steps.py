"""Real steps of notebooks that were read without their data (`benchmarks.reading`), on made-up data of the shapes that
were answered or found.

`python -m benchmarks.reading_steps FOLDER...` takes the rows of `results/reading.json` that have a figure, runs each
notebook's cells for real on the CPU up to some updates of its optimizers, in a process of its own, and prints the
estimate beside the largest real step; `results/reading_steps.json` has every row.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from .optimizers import after_updates
from .report import RESULTS, save, show

STEPS = 6
MOST_BYTES = 1 << 30
"""Estimates above this are not run."""
TIMEOUT = 60
_ARRAY = re.compile(r"(\w+)\[([\d,]*)\]")
_NAMED = re.compile(r"(\w+)=((?:\w+\[[\d,]*\]\s*)+)")


_SUBJECTS = ["i", "you", "he", "she", "we", "they"]
FILES = {
    "cmn.txt": "\n".join(
        f"{_SUBJECTS[n % 6]} {f'w{n % 97} ' * (n % 7 + 1)}\t{chr(0x4E00 + n % 89) * (n % 8 + 1)}\t-" for n in range(600)
    ),
    "t8.shakespeare.txt": " ".join(f"word{n * n % 3001}" for n in range(12_000)),
}
"""Made-up corpora, by the name under which notebooks look for them: what is counted in them is answered for."""


class Enough(BaseException):
    """Ends the program."""


def main(folders: list[str]) -> None:
    """Every notebook that has a figure and fits."""
    rows = json.loads((RESULTS / "reading.json").read_text())["rows"]
    paths = {f"{one.parent.name}/{one.stem}": one for folder in folders for one in Path(folder).rglob("*.ipynb")}
    found = []
    seen: set[tuple[str, int]] = set()
    for row in sorted((one for one in rows if one["status"] == "ok"), key=lambda one: one["peak"]):
        name = row["notebook"].rpartition("/")[2].lower(), row["peak"]  # some stand in both repositories
        is_alone = "several_trainings" not in row["notes"]  # the figure is that of the one that needs most
        if row["peak"] > MOST_BYTES or row["notebook"] not in paths or name in seen or not is_alone:
            continue
        seen.add(name)
        peaks, problem = _measured(paths[row["notebook"]], row)
        most = max(peaks[1:], default=None)
        error = None if most is None else row["peak"] / most - 1
        found.append({**{name: row[name] for name in ("notebook", "answers", "followed", "assumed", "peak")},
                      "real": peaks, "error": error, "problem": problem})  # fmt: skip
        sys.stderr.write(f"{row['notebook']:50} {row['peak']:>13,} {most or 0:>13,} {error} {problem[:150]}\n")
        save("reading_steps", {"rows": found})
    compared = [one for one in found if one["error"] is not None]
    show(
        f"{len(compared)} of {len(found)} were run",
        ("Notebook", "Estimate", "Largest real step", "Error"),
        [
            (one["notebook"], f"{one['peak']:,}", f"{max(one['real'][1:]):,}", f"{one['error']:+.4%}")
            for one in compared
        ],
    )


def _measured(path: Path, row: dict[str, Any]) -> tuple[list[int], str]:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1]), "PYTHONWARNINGS": "ignore"}
        command = [sys.executable, "-m", "benchmarks.reading_steps", "--real", str(path), json.dumps(row)]
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

    peaks: list[int] = []

    def updated() -> None:
        peaks.append(core.host_memory_stat_peak_value("Allocated", 0))
        core.host_memory_stat_reset_peak_value("Allocated", 0)
        if len(peaks) == STEPS:
            raise Enough

    after_updates(updated)
    sys.path.insert(0, str(path.parent))
    made = {**row["answers"], **dict(_NAMED.findall(row["followed"]))}
    _with_data_sets(made)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    problem = ""
    with (
        contextlib.suppress(Enough),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        problem = _run(["".join(cell["source"]) for cell in cells], made)
    sys.stdout.write(json.dumps({"peaks": peaks, "problem": problem}) + "\n")
    sys.stdout.flush()
    os._exit(0)


def _run(cells: list[str], made: dict[str, Any]) -> str:
    """Execute statement by statement; one that its data keeps from running binds what was answered for it."""
    names: dict[str, Any] = {"__name__": "__main__", "display": lambda *_: None}
    sys.modules["__main__"].__dict__.update(names)
    names = sys.modules["__main__"].__dict__
    problem = ""
    for source in cells:
        lines = ["pass" if line.lstrip().startswith(("!", "%")) else line for line in source.splitlines()]
        try:
            tree = ast.parse("\n".join(lines))
        except SyntaxError:
            continue
        for statement in tree.body:
            try:
                exec(compile(ast.Module([statement], []), "<cell>", "exec"), names)
            except Exception as error:  # the data is not here: what was answered stands for it
                problem += f"{error!r:.120} | "
            for name in {one.id for one in ast.walk(statement) if isinstance(one, ast.Name)
                         and isinstance(one.ctx, ast.Store)} & made.keys():  # fmt: skip
                names[name] = _made(name, made[name])
    return problem


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


def _with_data_sets(made: dict[str, Any]) -> None:
    """Paddle's own data sets, with samples of their true shapes and made-up content."""
    import paddle

    vision, text = paddle.vision.datasets, paddle.text
    described = [one for one in map(_shapes, made.values()) if one]
    if described:
        _with_own_data_sets(described[0])

    def pictures(
        self: Any, *args: Any, mode: str = "train", transform: Any = None, backend: Any = None, **_: Any
    ) -> None:
        self.mode, self.transform, self.backend = mode, transform, backend or paddle.vision.get_image_backend()
        self.dtype = paddle.get_default_dtype()
        count = 60_000 if mode == "train" else 10_000
        self.images = np.broadcast_to(np.zeros((1, 784), "uint8"), (count, 784))
        self.labels = np.broadcast_to(np.zeros((1, 1), "int64"), (count, 1))

    def coloured(
        self: Any, *args: Any, mode: str = "train", transform: Any = None, backend: Any = None, **_: Any
    ) -> None:
        self.mode, self.transform, self.backend = mode, transform, backend or paddle.vision.get_image_backend()
        self.dtype = paddle.get_default_dtype()
        sample = np.zeros(3072, "uint8"), 0
        self.data = [(sample[0], number % 10) for number in range(50_000 if mode == "train" else 10_000)]

    def houses(self: Any, *args: Any, mode: str = "train", **_: Any) -> None:
        self.mode, self.dtype = mode, "float32"
        self.data = np.zeros((404 if mode == "train" else 102, 14), "float32")

    for kind in (vision.MNIST, vision.FashionMNIST):
        kind.__init__ = pictures
    for kind in (vision.Cifar10, vision.Cifar100):
        kind.__init__ = coloured
    text.UCIHousing.__init__ = houses


if __name__ == "__main__":
    if sys.argv[1] == "--real":
        real(Path(sys.argv[2]), json.loads(sys.argv[3]))
    else:
        main(sys.argv[1:])
