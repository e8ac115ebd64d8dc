"""One operator's peak at several shapes: Paddle's CPU allocator beside the estimate. For whoever writes a rule.

`.venv/bin/python -m benchmarks.accuracy.one_operator "paddle.kron(w, w[:3])" 300,40 200,40`: `w` is a parameter of each
shape, `F` is `paddle.nn.functional`. What is missing is the transient memory that no rule gives yet.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from .estimates import ROOT, peak_of
from .truth import measure

SCRIPT = """
import paddle, paddle.nn.functional as F
paddle.seed(0)
w = paddle.create_parameter([{shape}], "float32")
optimizer = paddle.optimizer.SGD(1e-6, parameters=[w])
for step in range(6):
    loss = ({expression}).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def _answer(kind: str, source: str) -> Any:
    """What a process of its own prints: some allocations are made once a process."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.accuracy.one_operator", kind]
    done = subprocess.run(command, cwd=ROOT, input=source, capture_output=True, text=True, check=False)
    if done.returncode:
        _, _, said = done.stderr.strip().rpartition('File "<case>"')
        said = said.partition("\n    ")[2] or done.stderr.strip()
        sys.exit(f"The {kind} steps ended with {done.returncode}:\n{said[-2000:] or 'nothing was said'}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def _real(source: str) -> dict[str, Any]:
    """The steady peak; what is there before the script is not the step's."""
    return {"peak": measure(source)[0][-1]}


def _traced(source: str) -> dict[str, Any]:
    """The estimate's peak and the operation at it; the kernels of the step, by phase."""
    sys.path.insert(0, str(ROOT / "jupyter_paddle_gpu" / "estimator"))
    import tracer

    found = tracer.trace_notebook({"cells": [{"index": 0, "source": source}], "answers": {}, "target": "cpu"})
    if found["status"] != "ok":
        sys.exit(json.dumps(found["questions"]))
    peak, at = peak_of(found)
    operations = [(name, phase, transient) for name, phase, _, _, _, transient, *_ in found["operations"]]
    return {"peak": peak, "at": operations[at][0], "operations": operations, "notes": found["notes"]}


def main(expression: str, shapes: list[str]) -> None:
    """Print a table, and the kernels of the last shape's step."""
    rows = []
    for shape in shapes:
        source = SCRIPT.format(shape=shape, expression=expression)
        real, traced = _answer("real", source), _answer("traced", source)
        rows.append((shape, real["peak"], traced["peak"], real["peak"] - traced["peak"], traced["at"]))
    print(f"{'shape':>16} {'measured':>14} {'estimated':>14} {'missing':>12}  at the estimate's peak")
    for shape, measured, estimated, missing, at in rows:
        print(f"{shape:>16} {measured:>14,} {estimated:>14,} {missing:>12,}  {at}")
    print("\nkernels of the last shape's step, with the transient bytes that their rules give:")
    for name, phase, transient in traced["operations"]:
        print(f"  {phase:<8} {name} {transient:,}" if transient else f"  {phase:<8} {name}")
    for note in traced["notes"]:
        print(f"  note: {note['code']} {note['params']}")


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] in {"-h", "--help"}:
        sys.exit(__doc__)
    if sys.argv[1] in {"real", "traced"}:
        print(json.dumps({"real": _real, "traced": _traced}[sys.argv[1]](sys.stdin.read())))
    elif len(sys.argv) == 2:
        sys.exit('A shape is missing behind the expression, such as 400,3: one_operator "paddle.cross(w, w * 2)" 400,3')
    else:
        main(sys.argv[1], sys.argv[2:])
