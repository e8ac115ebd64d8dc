"""Strides of views against numpy's, which follow the same rules."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

CHECK = """
import itertools, json, random, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from tracer.kernels.layout import reshaped_strides
from tracer.kernels.linalg.einsum import is_copied
random.seed(0)
checked = copies = 0
for _ in range(3000):
    shape = [random.choice([1, 2, 3, 4]) for _ in range(random.randint(1, 4))]
    array = np.zeros(shape, "float32").transpose(random.sample(range(len(shape)), len(shape)))
    sizes = list(array.shape)
    random.shuffle(sizes)
    target = []
    for size in sizes:  # merge and split dimensions at random
        if target and random.random() < 0.4:
            target[-1] *= size
        elif size == 4 and random.random() < 0.5:
            target += [2, 2]
        else:
            target.append(size)
    found = reshaped_strides(array.shape, tuple(s // 4 for s in array.strides), tuple(target))
    reshaped = array.reshape(target)
    shares = np.shares_memory(array, reshaped)
    assert shares == (found is not None), (array.shape, array.strides, target, found)
    if shares:
        wanted = [s // 4 for s, n in zip(reshaped.strides, target) if n != 1]
        assert [s for s, n in zip(found, target) if n != 1] == wanted, (array.shape, array.strides, target)
    else:
        copies += 1
    checked += 1
assert checked == 3000 and copies > 100, copies
assert is_copied("bkd,bjd->bkj", 1) and not is_copied("bkd,bdj->bkj", 1) and is_copied("bqhd,bkhd->bhqk", 0)
print(json.dumps(["checked", checked]))
"""


def test_reshapes_share_memory_exactly_where_numpy_does(run_code):
    assert run_code(CHECK, None) == {"checked": 3000}
