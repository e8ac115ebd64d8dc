"""What the programs' kernels would ask cuDNN: `python -m benchmarks.device.kernels FILE [held-out]` writes it as JSON.

Each distinct question once: kind, type of the elements, shapes, strides, padding, dilation, groups; and of each program
the trace, in which the transient bytes of a kernel that asks are its question's number.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from .held_out import held_out
from .programs import programs

ROOT = Path(__file__).resolve().parents[2]


class Questions:
    """Distinct questions by their number, and what the operations of a trace ask."""

    def __init__(self) -> None:
        self.asked: dict[str, int] = {}
        self.marks: list[tuple[list[int], int]] = []
        """(numbers of the questions, bytes that the kernel copies first) of each operation with a mark."""

    def number(self, question: dict[str, Any]) -> int:
        """Of this question, the same for the same one."""
        return self.asked.setdefault(json.dumps(question, sort_keys=True), len(self.asked))


def convolution(name: str, attrs: Any, operands: Any, results: Any) -> list[dict[str, Any]]:
    """The questions of a convolution's kernel, as `conv_kernel.cu`, `conv_grad_kernel.cu` and their transposed twins
    put them: a transposed convolution is the gradient of one, with input and output changed over."""
    x, weight = operands[0][0], operands[1][0]
    is_gradient = name.endswith("_grad")
    out = operands[2][0] if is_gradient else results[0][0]
    rank = len(weight.shape) - 2
    pads = list(attrs.get("paddings", ()))
    if attrs.get("padding_algorithm") == "VALID":
        pads = [0] * rank
    common = {
        "dtype": x.dtype,
        "weight": list(weight.shape),
        "strides": list(attrs["strides"]),
        "pads": pads,
        "same": attrs.get("padding_algorithm") == "SAME",
        "dilations": list(attrs["dilations"]),
        "groups": int(attrs.get("groups") or 1),
    }
    transposed = "transpose" in name
    small, large = (list(x.shape), list(out.shape)) if transposed else (list(out.shape), list(x.shape))
    ways = ["data" if transposed else "forward"]
    if is_gradient:
        ways = []
        if results[0]:
            ways.append("forward" if transposed else "data")
        if len(results) > 1 and results[1]:
            ways.append("filter")
    return [{"kind": "convolution", "way": way, "x": large, "y": small, **common} for way in ways]


def recurrence(attrs: Any, operands: Any) -> list[dict[str, Any]]:
    """The question of a recurrent kernel: temporary space and reserve (`rnn_kernel.cu.cc`)."""
    x = operands[0][0]
    return [
        {
            "kind": "recurrence",
            "mode": attrs["mode"],
            "dtype": x.dtype,
            "x": list(x.shape),
            "hidden": int(attrs["hidden_size"]),
            "layers": int(attrs["num_layers"]),
            "both_ways": bool(attrs["is_bidirec"]),
        }
    ]


def main() -> None:
    """Trace all programs and write the questions with the traces."""
    sys.path.insert(0, str(ROOT / "jupyter_paddle_gpu" / "estimator"))
    import tracer
    from tracer.eager import costs
    from tracer.kernels.nn import convolution as convolutions
    from tracer.kernels.nn import recurrent

    questions = Questions()
    account = costs.account

    def marked(ledger: Any, operation: Any, step: Any, operands: Any, results: Any) -> None:
        account(ledger, operation, step, operands, results)
        if operation.workspace_low == operation.workspace_high:
            return  # Paddle's own kernel: it asks nothing
        if step.rule.gpu is convolutions.cudnn:
            asked, besides = convolution(step.name, step.attrs, operands, results), operation.workspace_low
        elif step.rule.gpu is recurrent._cudnn:  # what it asks for is all that it takes
            asked, besides = recurrence(step.attrs, operands), 0
        else:
            return
        numbers = [questions.number(one) for one in asked]
        questions.marks.append((numbers, besides))
        operation.bytes_moved = -len(questions.marks)

    for module in list(sys.modules.values()):
        if getattr(module, "account", None) is account:
            module.account = marked  # type: ignore[attr-defined]
    traces = []
    chosen = held_out() if sys.argv[2:] == ["held-out"] else programs()
    for program in chosen:
        request = {
            "cells": [{"index": 0, "source": program.source}],
            "folder": None,
            "answers": {},
            "target": "gpu",
        }
        trace = tracer.trace_notebook(request)
        sys.stderr.write(f"{program.name}, {program.precision}: {trace['status']}, {len(questions.asked)} questions\n")
        traces.append({"name": program.name, "precision": program.precision, "trace": trace})
    Path(sys.argv[1]).write_text(
        json.dumps(
            {"questions": [json.loads(one) for one in questions.asked], "marks": questions.marks, "traces": traces},
            default=str,
        )
    )


if __name__ == "__main__":
    main()
