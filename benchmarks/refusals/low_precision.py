"""`python -m benchmarks.refusals.low_precision [MUTANTS] [FIRST_SEED]`: mutants in float16 for a GPU; no CPU runs them.

A fault of shapes, axes or arguments is one in every number format. So each mutant is traced for a GPU twice, as it is
and with float16 in the place of float32: what is refused must be refused at the same line in both, and a program whose
kernels only a GPU has in float16 must not be refused for that.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from functools import partial

from .mutations import mutants
from .running import ROOT, Answer, in_child, traced

EACH = 6
"""Mutants of one program."""
IMPORT = "from paddle import nn"
HALF = f"{IMPORT}; paddle.set_default_dtype('float16')"


def in_half(source: str) -> str:
    """The program with float16 for float32, in as many lines."""
    return source.replace("float32", "float16").replace(IMPORT, HALF, 1)


def verdict(one: Answer, half: Answer) -> str:
    """What the answers for both formats come to."""
    if {"slow", "crashed"} & {one["ended"], half["ended"]}:
        return "left out"
    if one["ended"] == half["ended"]:
        return f"{one['ended']} in both" if one.get("line") == half.get("line") else "at another line"
    return f"{one['ended']} in float32, {half['ended']} in float16"


def main(count: int = 100, first: int = 5000) -> None:
    """Trace mutants in both formats; print the table, and what is unlike."""
    sys.path.insert(0, str(ROOT / "jupyter_paddle_gpu" / "estimator"))
    import tracer

    from tests.estimator.tracer.random_programs import program

    tracer.prepare()
    dice, table, made = random.Random(first), Counter[str](), 0
    ask = partial(traced, target="gpu")
    for seed in range(first, first + count):
        source = program(seed)
        for kind, broken in [("none", source), *mutants(source, EACH, dice)]:
            if IMPORT not in broken:  # this very line was changed
                continue
            one, half = in_child(ask, broken), in_child(ask, in_half(broken))
            found = verdict(one, half)
            table[found] += 1
            made += kind != "none"
            if found not in {"ran in both", "refused in both", "left out"}:
                print(json.dumps({"seed": seed, "kind": kind, "verdict": found, "one": one, "half": half}), flush=True)
        if made >= count:
            break
    print(json.dumps({"mutants": made, **table}, indent=1))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
