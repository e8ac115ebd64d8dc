"""The replay beside Paddle's own allocator, chunk by chunk, under the flags that change it.

Paddle's `AutoGrowthBestFitAllocator` and `BuddyAllocator` serve every device; here one that is the machine's memory and
writes down what it is asked for. On another release: `python test_real_allocator.py LIBRARY` in its environment.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

SEED, EVENTS = 3, 600
CHUNKS = {"FLAGS_auto_growth_chunk_size_in_mb": "8"}
POOLS = {
    "FLAGS_small_pool_size_in_mb": "1",
    "FLAGS_small_pool_auto_growth_chunk_size_in_mb": "2",
    "FLAGS_large_pool_auto_growth_chunk_size_in_mb": "16",
}
AHEAD = {**POOLS, "FLAGS_small_pool_pre_alloc_in_mb": "3", "FLAGS_large_pool_pre_alloc_in_mb": "20"}
ONE_CHUNK = {
    "FLAGS_allocator_strategy": "naive_best_fit",
    "FLAGS_initial_gpu_memory_in_mb": "12",
    "FLAGS_reallocate_gpu_memory_in_mb": "12",
}
CASES = {
    "no flag": {},
    "chunks of 8 MiB": CHUNKS,
    "two pools": POOLS,
    "small pool alone": {"FLAGS_small_pool_size_in_mb": "1", **CHUNKS},
    "first chunks ahead": AHEAD,
    "ahead without a small pool": {"FLAGS_large_pool_pre_alloc_in_mb": "20"},
    "idle chunks go back": {"FLAGS_free_idle_chunk": "1"},
    "idle chunks go back first": {"FLAGS_free_when_no_cache_hit": "1", **CHUNKS},
    "naive best fit": ONE_CHUNK,
    "another alignment": {"FLAGS_alignment_size": "4096"},
}
PLAY = """
import os, sys
import numpy as np, paddle
place = paddle.CustomPlace("stand_in", 0)
held = {}
for line in sys.stdin:
    key, size = map(int, line.split())
    if size:
        held[key] = paddle.to_tensor(np.zeros(size, np.uint8), place=place)
    else:
        del held[key]
print(paddle.__version__, flush=True)
os._exit(0)
"""


def events() -> list[tuple[int, int]]:
    """(number of a tensor, its bytes; 0: it goes), the same every time."""
    drawn, alive, made = random.Random(SEED), [], []
    for number in range(EVENTS):
        if alive and drawn.random() < 0.47:
            made.append((alive.pop(drawn.randrange(len(alive))), 0))
        else:
            alive.append(number)
            made.append((number, int(2 ** drawn.uniform(0, 23))))
    return made


def real(library: Path, flags: dict[str, str]) -> tuple[str, list[int]]:
    """(Paddle's version, chunks as they were asked for and, negative, given back)."""
    with tempfile.TemporaryDirectory() as folder:
        asked = Path(folder, "asked")
        variables = {"CUSTOM_DEVICE_ROOT": str(library.parent), "STAND_IN_ASKED": str(asked)}
        text = "".join(f"{key} {size}\n" for key, size in events())
        command = [sys.executable, "-W", "ignore", "-c", PLAY]
        run = subprocess.run(
            command, input=text, env=os.environ | variables | flags, capture_output=True, text=True, check=True
        )
        return run.stdout.split()[-1], [int(line) for line in asked.read_text().split()]


def replayed(flags: dict[str, str], version: str) -> tuple[list[int], int]:
    """(chunks held when the most was reserved, the most that was reserved) of our replay."""
    from jupyter_paddle_gpu.estimator.memory.allocator_flags import setup

    allocator = setup(flags, version).new()
    held = {}
    for key, size in events():
        if size:
            held[key] = allocator.allocate(size)
        else:
            allocator.release(held.pop(key))
    return allocator.chunks, allocator.peak_reserved


def most(chunks: list[int]) -> tuple[list[int], int]:
    """The same of what was written down."""
    held: list[int] = []
    best: list[int] = []
    for size in chunks:
        if size > 0:
            held.append(size)
        else:
            held.remove(-size)
        if sum(held) > sum(best):
            best = list(held)
    return best, sum(best)


def build(folder: Path) -> Path:
    compiler = shutil.which("gcc") or shutil.which("cc")
    assert compiler, "a C compiler (gcc) is needed to build the stand-in for a device"
    library = folder / "libpaddle-stand-in.so"
    source = Path(__file__).with_name("device_stand_in.c")
    options = ["-shared", "-fPIC", "-O1", "-Wall", "-Wno-cast-function-type", "-Werror"]
    subprocess.run([compiler, *options, "-o", library, source], check=True)
    return library


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("device"))


@pytest.mark.paddle
@pytest.mark.parametrize("case", CASES)
def test_the_replay_asks_for_the_chunks_that_paddle_asks_for(library, case):
    version, chunks = real(library, CASES[case])
    found, reserved = most(chunks)
    expected, replay = replayed(CASES[case], version)

    assert (sorted(found), reserved) == (sorted(expected), replay)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        device = build(Path(place))
        for name, asked_for in CASES.items():
            release, seen = real(device, asked_for)
            print(release, name, most(seen)[1], replayed(asked_for, release)[1], sep=" | ")
