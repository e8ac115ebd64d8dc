"""`python -m benchmarks.refusals.examples [EACH] [SEED] [SECONDS] [--rows=FILE] [--only=WORD]`: Paddle's own examples.

The examples in the docstrings of the installed Paddle's public operators and layers, each in front of a small training,
are run for real and traced; of those that run, EACH changes of one place are compared as well.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from .__main__ import judged, run
from .mutations import mutants
from .running import Answer

MODULES = (
    "", "nn", "nn.functional", "nn.initializer", "nn.utils", "nn.quant", "linalg", "fft", "signal", "vision.ops",
    "vision.transforms", "vision.models", "geometric", "incubate", "incubate.nn", "incubate.nn.functional",
    "incubate.optimizer", "incubate.autograd", "sparse", "sparse.nn", "sparse.nn.functional", "distribution", "metric",
    "optimizer", "optimizer.lr", "amp", "autograd", "text", "audio", "audio.features", "audio.functional", "io", "jit",
    "regularizer", "hub", "tensor",
)  # fmt: skip
LEFT_OUT = re.compile(
    r"enable_static|pretrained=True|download|distributed|fleet|paddle\.static|datasets|\.cuda|set_device|"
    r"paddle\.save|jit\.save|paddle\.load|jit\.load|onnx|to_static|multiprocess|num_workers|tempfile|open\(|"
    r"profiler|launch|cpp_extension|os\.environ|hub\.|CUDAPlace|XPU|device\.|tensorrt|inference"
)
"""What this machine or a trace has not: other devices, downloads, static programs, files."""
TAIL = """
import paddle as tail_paddle
tail_layer = tail_paddle.nn.Linear(3, 2)
tail_optimizer = tail_paddle.optimizer.SGD(0.1, parameters=tail_layer.parameters())
for tail_step in range(4):
    tail_layer(tail_paddle.rand([4, 3])).mean().backward()
    tail_optimizer.step()
    tail_optimizer.clear_grad()
"""
"""The training behind each example."""
ALIKE = frozenset(("refused at one line", "runs in both", "left out"))
"""Verdicts that need no second look."""
_ADDRESS = re.compile(r"0x[0-9a-f]+")


def examples() -> Iterator[tuple[str, str]]:
    """Names of what is public, each with the source of an example; one source once."""
    seen: set[str] = set()
    for name, documented in _public():
        text = inspect.getdoc(documented) or ""
        for number, block in enumerate(re.split(r"code-block::|code::", text)[1:]):
            try:
                found = doctest.DocTestParser().get_examples(inspect.cleandoc(block.partition("\n")[2]))
            except ValueError:
                continue
            source = "".join(one.source for one in found)
            if not source or source in seen or LEFT_OUT.search(source) or not _is_python(source):
                continue
            seen.add(source)
            yield f"{name}#{number}", source


def _is_python(source: str) -> bool:
    try:
        compile(source, "example", "exec")
    except SyntaxError:
        return False
    return True


def _public() -> Iterator[tuple[str, Any]]:
    known: set[int] = set()
    for path in MODULES:
        module = importlib.import_module(f"paddle.{path}".rstrip("."))
        for name in sorted(getattr(module, "__all__", None) or dir(module)):
            value = getattr(module, name, None)
            if name.startswith("_") or isinstance(value, ModuleType) or not callable(value) or id(value) in known:
                continue
            known.add(id(value))
            yield f"{path}.{name}", value
            if inspect.isclass(value):
                for method, member in sorted(vars(value).items()):
                    if not method.startswith("_") and (callable(member) or isinstance(member, property)):
                        yield f"{path}.{name}.{method}", member


def verdict(row: dict[str, Any]) -> str:
    """What the two answers come to; one line and two sentences is a verdict of its own."""
    found = judged(row)
    if found == "refused at one line" and _words(row["real"]) != _words(row["traced"]):
        return "refused by other words"
    return found


def _words(answer: Answer) -> tuple[str, str]:
    return answer["error"], _ADDRESS.sub("", answer["text"])


def main(each: int = 4, seed: int = 0, seconds: int = 3000, *, kept: Path | None = None, only: str = "") -> None:
    """Run the examples, then the changed ones; print all that is unlike, and the two tables."""
    sent = {name: ("example", source + TAIL) for name, source in examples() if only in name}
    rows = run(sent, seconds, kept)
    _print("examples", rows, sent)
    dice, changed = random.Random(seed), dict[str, tuple[str, str]]()
    for row in rows:
        if row["real"]["ended"] == "ran" and row.get("traced", {}).get("ended") == "ran":
            source = sent[row["name"]][1][: -len(TAIL)]
            for number, (kind, broken) in enumerate(mutants(source, each, dice)):
                changed[f"{row['name']}/{number}"] = kind, broken + TAIL
    _print("mutants", run(changed, seconds, kept), changed)


def _print(title: str, rows: list[dict[str, Any]], sent: dict[str, tuple[str, str]]) -> None:
    table: Counter[str] = Counter()
    for row in rows:
        found = verdict(row)
        table[found] += 1
        if found not in ALIKE:
            kind, source = sent[row["name"]]
            lines = source.splitlines()
            line = row["real"].get("line") or row.get("traced", {}).get("line") or 1
            code = lines[line - 1].strip() if line <= len(lines) else ""
            said = {key: value for key, value in row.items() if key != "source"}
            print(json.dumps({"verdict": found, "kind": kind, "code": code, **said}), flush=True)
    print(json.dumps({title: len(rows), **table}, indent=1), flush=True)


if __name__ == "__main__":
    words = sys.argv[1:]
    named = dict(word.partition("=")[::2] for word in words if word.startswith("--"))
    main(
        *(int(word) for word in words if not word.startswith("--")),
        kept=Path(named["--rows"]) if "--rows" in named else None,
        only=named.get("--only", ""),
    )
