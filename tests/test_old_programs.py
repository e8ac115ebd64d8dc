"""The replay of programs of Paddle's old kind, on a small one; and the page has the rows that were kept."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.gpu_logs.old_programs import CASES, replayed
from benchmarks.report import RESULTS
from jupyter_paddle_gpu.domain.measurements.gpu_logs import MIB

PAGE = Path(__file__).resolve().parents[1] / "docs" / "gpu-logs.md"


def operator(name: str, takes: list[str], gives: list[str], **more: object) -> dict[str, object]:
    return {"name": name, "takes": takes, "gives": gives, **more}


LARGE, SMALL, MERGED = 4 * MIB, MIB, "weight@GRAD@MERGE"
PROGRAM = {
    "variables": {
        "weight": [LARGE, True, True],
        MERGED: [LARGE, True, False],
        "unread": [LARGE, True, False],
        "x": [SMALL, False, False],
        "h": [LARGE, False, False],
        "y": [LARGE, False, False],
        "weight@GRAD": [LARGE, False, False],
    },
    "starts": [operator("fill_constant", [], [name]) for name in ("weight", MERGED, "unread")],
    "parts": {
        "forward": [
            operator("matmul", ["x", "weight"], ["h"]),
            operator("share_buffer", ["h"], ["y", "h"]),
            operator("scale", ["h"], ["y"]),
        ],
        "backward": [
            operator("matmul_grad", ["x", "y"], ["weight@GRAD"]),
            operator("sum", ["weight@GRAD", MERGED], [MERGED]),
        ],
        "optimizer": [operator("conditional_block", [], [], inner=[operator("sgd", [MERGED], ["weight"])])],
    },
    "jobs": [
        ["forward", 0, ["x", "y"]], ["forward", 1, ["x", "y"]],
        ["backward", 0, []], ["backward", 1, []], ["optimizer", 0, []],
    ],
}  # fmt: skip


def test_a_variable_is_there_from_its_first_operator_to_its_last() -> None:
    """Two micro-batches wait, each with its input and what was written over `h`, while the first gradient is made."""
    found = replayed(PROGRAM)
    assert found.stays == 2 * LARGE
    assert found.terms == {
        "parameters": LARGE, "summed gradients": LARGE, "activations": 2 * (SMALL + LARGE), "gradients": LARGE,
    }  # fmt: skip
    assert found.allocated == sum(found.terms.values()) == found.reserved


def test_the_page_has_the_rows_that_were_kept() -> None:
    page = PAGE.read_text(encoding="utf-8")
    rows = json.loads((RESULTS / "gpu_logs_old_programs.json").read_text())["rows"]
    assert [row["case"] for row in rows] == list(CASES)
    for row in rows:
        error = f"{row['error']:+.1%}".replace("-", "−").replace("%", " %")
        figures = " | ".join(f"{row[name] / MIB:,.0f}" for name in ("stays", "allocated", "reserved"))
        assert f"| {row['case']} | {figures} | {row['logged_mib']:,.1f} | {error} |" in page
