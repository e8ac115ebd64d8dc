"""Is what was learned worse than the rules on a seed, or is that chance? Each seed with several draws of the noise.

    OPENB_TRACE=… python -m benchmarks.scheduling.chance [DRAWS]

A seed says which tasks come when; a draw says how far each task stays from its foretold seconds, and is the same for
rules and learned. So the pairs of one seed differ by that alone, and the mean of their differences has a confidence
interval (Student's t). Writes `benchmarks/results/scheduling_chance.json`; eight seconds of a processor a place.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from ..report import save, show
from .__main__ import SEEDS
from .simulate import shares, simulate
from .workload import build

DRAWS = 6
PAIR = ("rules", "learned")


def waits(seed: int, draw: int) -> tuple[float, float]:
    """Mean seconds of waiting under rules and under learned. Draw 0 is that of `make bench-scheduling`."""
    noise = seed if not draw else f"{seed}.{draw}"
    rules, learned = (simulate(build(seed), name, noise).waiting for name in PAIR)
    return rules, learned


def compared(pairs: list[tuple[float, float]]) -> dict[str, Any]:
    """Of one seed: the mean of (learned − rules) / rules, and half of its 95 % confidence interval."""
    differences = [learned / rules - 1 for rules, learned in pairs]
    mean, half = shares(differences)
    return {"pairs": pairs, "difference": mean, "half": half, "worse": sum(one > 0 for one in differences)}


def main() -> None:
    """Measure, show, keep."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else DRAWS
    with ProcessPoolExecutor(2) as pool:
        asked = {(seed, draw): pool.submit(waits, seed, draw) for draw in range(draws) for seed in SEEDS}
        found = {seed: compared([asked[seed, draw].result() for draw in range(draws)]) for seed in SEEDS}
    rows = [
        [seed, f"{one['difference']:+.1%} ± {one['half']:.1%}", f"{one['worse']} of {draws}"]
        for seed, one in found.items()
    ]
    show("Waiting under learned beside rules", ("seed", "difference", "draws in which it is longer"), rows)
    save("scheduling_chance", {"draws": draws, "seeds": found})


if __name__ == "__main__":
    main()
