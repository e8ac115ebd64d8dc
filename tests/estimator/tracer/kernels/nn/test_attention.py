"""Attention on a GPU keeps no scores, as Paddle's kernels there; the sizes are those of their sources."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.paddle

CODE = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer
for name, (source, target) in json.load(sys.stdin).items():
    request = {"cells": [{"index": 0, "source": source}], "folder": None, "answers": {}, "target": target}
    found = tracer.trace_notebook(request)
    kept = [found.get(part) for part in ("status", "stop", "operations", "storages", "notes")]
    print(json.dumps([name, kept]), flush=True)
"""
STEP = """
import paddle
import paddle.nn.functional as F
from paddle.distributed.fleet.utils import recompute
from paddle.nn.functional.flash_attention import flash_attention, flash_attn_unpadded, sdp_kernel
class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.q, self.kv = paddle.nn.Linear(64, 64), paddle.nn.Linear(64, {width})
    def forward(self, x):
        q = self.q(x).reshape([2, 200, 4, 16])
        k, v = self.kv(x).reshape([2, 200, 2, -1, 16]).unbind(2)
        {attention}
        return out.reshape([2, 200, 64])
net = Net()
opt = paddle.optimizer.SGD(parameters=net.parameters())
for step in range(3):
    x = paddle.rand([2, 200, 64])
    with paddle.amp.auto_cast(enable={amp}, level="O1", dtype="bfloat16"):
        loss = net(x).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
PLAIN = "out = F.scaled_dot_product_attention(q, k, v, is_causal=True)"


def step(attention: str = PLAIN, *, amp: bool = True, width: int = 128) -> str:
    return STEP.format(attention=attention, amp=amp, width=width)


PROGRAMS = {
    "flash": (step(), "gpu"),
    "float32": (step(amp=False), "gpu"),
    "on a CPU": (step(), "cpu"),
    "shared": (step(width=64), "gpu"),
    "masked": (step("out = F.scaled_dot_product_attention(q, k, v, paddle.zeros([2, 1, 200, 200], q.dtype))"), "gpu"),
    "by name": (step("out, _ = flash_attention(q, k, v, causal=True)"), "gpu"),
    "cut": (
        step(
            "cuts = paddle.to_tensor([0, 100, 400], 'int32'); "
            "q, k, v = (one.reshape([400, 4, 16]) for one in (q, k, v)); "
            "out, _ = flash_attn_unpadded(q, k, v, cuts, cuts, 300, 300, 0.25)"
        ),
        "gpu",
    ),
    "recomputed": (step().replace("net(x).mean()", "recompute(net, x, use_reentrant=False).mean()"), "gpu"),
    "no kernel": (step("out, _ = flash_attention(q, k, v)", amp=False), "gpu"),
    "scores wanted": (
        step("with sdp_kernel(enable_math=True, enable_flash=False, enable_mem_efficient=False): " + PLAIN),
        "gpu",
    ),
}


class Found(NamedTuple):
    status: str
    stop: dict | None
    operations: list
    storages: list
    notes: list

    def operation(self, name: str) -> list:
        return next(one for one in self.operations if one[0] == name)

    def made(self, name: str) -> list[tuple[list[int], str]]:
        return sorted(((one[6], one[7]) for one in self.storages if one[4] == name), key=str)

    @property
    def scores(self) -> list:
        return [one for one in self.storages if one[6] == [2, 4, 200, 200] and one[7] != "bool"]


@pytest.fixture(scope="module")
def found(run_code: Callable[[str, object], dict]) -> dict[str, Found]:
    return {name: Found(*kept) for name, kept in run_code(CODE, PROGRAMS).items()}


def test_flash_attention_keeps_a_number_for_each_head_and_query(found: dict[str, Found]) -> None:
    one = found["flash"]
    assert one.scores == []
    # 200 queries are rounded up to 256
    assert one.made("flash_attn") == [([2, 200, 4, 16], "bfloat16"), ([2, 4, 256], "float32")]
    assert one.made("flash_attn_grad") == [([2, 200, 4, 16], "bfloat16")] * 3
    sums = 4 * 2 * 4 * 256
    assert one.operation("flash_attn")[6:] == [0, 0]
    assert one.operation("flash_attn_grad")[6:] == [sums + 32 * sums] * 2  # 16 numbers a head are rounded up to 32
    # two products of 2 x 4 heads, 200 queries, 200 keys, 16 numbers, half of them masked
    assert one.operation("flash_attn")[3] == 2 * 2 * 2 * 4 * 200 * 200 * 16 // 2


def test_what_the_kernel_saves_goes_through_hooks_that_recompute(found: dict[str, Found]) -> None:
    one = found["recomputed"]
    backward = next(index for index, operation in enumerate(one.operations) if operation[1] == "backward")
    sums = [
        (start, end) for _, start, end, _, op, _, shape, _ in one.storages if (op, shape) == ("flash_attn", [2, 4, 256])
    ]
    assert [(start < backward, end < backward) for start, end in sums] == [(True, True), (False, False)]
    assert min(start for start, _ in sums) >= 0  # nothing of the steps before


def test_operands_that_are_views_are_laid_out_and_kept(found: dict[str, Found]) -> None:
    one = found["flash"]
    kernel = one.operations.index(one.operation("flash_attn_grad"))
    kept = [row for row in one.storages if row[4] == "contiguous" and row[6] == [2, 200, 4, 16]]
    assert len(kept) == 2  # keys and values, which are taken out of one tensor
    assert all(row[2] >= kernel for row in kept)


def test_float32_goes_to_the_kernel_of_cutlass(found: dict[str, Found]) -> None:
    one = found["float32"]
    assert one.scores == []
    name = "memory_efficient_attention"
    assert one.made(name) == [([2, 200, 4, 16], "float32"), ([2, 4, 224], "float32")]
    delta = 4 * 2 * 4 * 200
    assert one.operation(f"{name}_grad")[6:] == [delta, delta]  # what logs say of such nets is not cuDNN's to answer


def test_a_cpu_has_the_scores(found: dict[str, Found]) -> None:
    assert len(found["on a CPU"].scores) >= 2
    assert not any("attn" in one[0] for one in found["on a CPU"].operations)


def test_shared_keys_have_a_gradient_for_each_head_first(found: dict[str, Found]) -> None:
    one = found["shared"]
    assert one.made("flash_attn_grad") == [([2, 200, 2, 16], "bfloat16")] * 2 + [([2, 200, 4, 16], "bfloat16")]
    sums, each = 4 * 2 * 4 * 256, 2 * 2 * 200 * 4 * 16
    assert one.operation("flash_attn_grad")[6] == 33 * sums + 2 * each


@pytest.mark.parametrize("name", ["masked", "by name", "cut"])
def test_other_ways_to_call_it_keep_no_scores(found: dict[str, Found], name: str) -> None:
    one = found[name]
    assert (one.status, one.scores) == ("ok", [])
    assert any(row[0].startswith("flash_attn") and row[0].endswith("_grad") for row in one.operations)


def test_of_samples_in_one_row_the_longest_counts(found: dict[str, Found]) -> None:
    assert found["cut"].made("flash_attn_unpadded") == [([2, 4, 384], "float32"), ([400, 4, 16], "bfloat16")]


def test_what_no_kernel_of_a_gpu_takes_is_refused(found: dict[str, Found]) -> None:
    one = found["no kernel"]
    assert one.status == "would_stop" and one.stop is not None
    assert "float32) of kernel `flash_attn` is not registered" in one.stop["error"]


def test_bfloat16_is_noted_where_cards_may_lack_it(found: dict[str, Found]) -> None:
    noted = {name: any(note["code"] == "bfloat16" for note in one.notes) for name, one in found.items()}
    assert noted["flash"] and not noted["float32"] and not noted["on a CPU"]


def test_a_program_may_ask_for_the_scores(found: dict[str, Found]) -> None:
    assert found["scores wanted"].scores
