"""The ends that public logs give a range, for the steps that are like theirs, and what drawn sizes reserve."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import pytest

from jupyter_paddle_gpu.estimator.memory import evidence
from jupyter_paddle_gpu.estimator.memory.assemble import cpu_peak, gpu_peak
from jupyter_paddle_gpu.estimator.memory.calibration import Calibration, Key
from jupyter_paddle_gpu.estimator.memory.evidence import ALL, MIXED, SAME_SHAPES, Seen, limits
from jupyter_paddle_gpu.estimator.memory.narrowed import BY_ALL_LOGS, narrowed
from jupyter_paddle_gpu.estimator.memory.reserved import replay_changing, replay_reserved
from jupyter_paddle_gpu.estimator.trace import Operation, Storage, Trace, TracedNote

GIB, MIB = 1 << 30, 1 << 20
PAGES = 16 * MIB
"""More than the ends of pages that the chunks of these steps leave empty."""
DRAWN = (TracedNote("sizes_drawn"),)
NET = Trace(
    status="ok",
    amp="off",
    convolves=True,
    operations=tuple(
        Operation(name, phase, "", 0, 0, 0, 0, high)
        for name, phase, high in (
            ("conv2d", "forward", 512 * MIB), ("relu", "forward", 0), ("conv2d", "forward", 0), ("mean", "forward", 0),
            ("conv2d_grad", "backward", 512 * MIB), ("conv2d_grad", "backward", 0), ("momentum_", "update", 0),
        )
    ),
    storages=(
        Storage(40 * MIB, -1, 7, "parameters"),
        Storage(40 * MIB, 4, 7, "gradients"),
        Storage(100 * MIB, -1, 7, "inputs"),
        Storage(2 * GIB, 0, 5, "activations"),
        Storage(1 * GIB, 1, 5, "activations"),
        Storage(700 * MIB, 2, 4, "activations"),
        Storage(900 * MIB, 4, 5, "activations"),
    ),
)  # fmt: skip

STILL = msgspec.structs.replace(
    NET, operations=tuple(msgspec.structs.replace(one, workspace_high=0) for one in NET.operations)
)


@pytest.fixture
def peak(tmp_path: Path):
    calibration = Calibration(tmp_path / "calibration.json")
    return lambda trace: gpu_peak(trace, None, calibration, key=Key("a card"))


def test_the_interval_is_students():
    logs = [Seen("a/b#4", "", 100, round(100 * math.exp(ratio))) for ratio in (0.1, 0.2, 0.3)]
    width = 2.353 * math.sqrt(sum(one * one for one in evidence.ratios(logs)) / 3)  # t, 95 % on each side, 3 degrees
    assert limits(logs) == pytest.approx([math.exp(-width), math.exp(width)], rel=1e-12)
    assert limits(logs[:2]) is limits(()) is None
    assert limits([Seen("a/b#4", "", 100, 100)] * 3) == (1, 1)


def test_logs_of_nets_with_convolutions_lie_within_what_cards_answered():
    most = 512 * MIB  # a convolution's limit
    for one in SAME_SHAPES:
        assert -evidence.BELOW <= (one.logged - one.estimated) / most <= evidence.ABOVE, one


def test_the_note_says_what_each_log_left_out_shows():
    inside = 0
    for one in ALL:
        factors = limits([other for other in ALL if other is not one])
        inside += factors is not None and factors[0] <= one.logged / one.estimated <= factors[1]
    numbers = {3: "three", 4: "four", 7: "seven", 8: "eight", 9: "nine"}
    assert f"held {numbers[inside]} of {numbers[len(ALL)]}." in BY_ALL_LOGS.text


def test_the_note_says_which_kinds_of_model_were_logged():
    words = {
        "generation": "generated pictures",
        "speech": "speech",
        "text detection": "text in pictures",
        "text recognition": "text in pictures",
        "language": "language",
        "multimodal": "pictures with text",
        "3d": "point clouds",
    }
    assert {one.kind for one in ALL} == words.keys()
    assert all(word in BY_ALL_LOGS.text for word in words.values())


def test_the_range_of_kernels_that_ask_is_as_wide_as_their_workspaces(peak):
    plain = peak(NET)
    assert (plain.terms.answered, plain.terms.logs) == (evidence.ANSWERED, 0)
    pages = plain.terms.mapped_low - replay_reserved(NET, lambda _: 0).reserved
    assert plain.high == plain.reserved + round(evidence.ABOVE * 512 * MIB) + pages + plain.terms.context_high
    assert plain.low == plain.reserved - round(evidence.BELOW * 512 * MIB) + pages + plain.terms.context_low
    assert plain.low <= plain.likely <= plain.high
    assert [note.code for note in narrowed(plain.terms)] == ["narrowed_by_answers"]


def test_the_largest_workspace_is_of_a_kernel_that_asks():
    known = Operation("matmul", "forward", "", 0, 0, 0, 900 * MIB, 900 * MIB)
    asking = Operation("rnn", "forward", "", 0, 0, 0, 300 * MIB, 310 * MIB)
    assert evidence.largest_workspace(Trace(status="ok", operations=(known,))) == 0
    assert evidence.largest_workspace(Trace(status="ok", operations=(known, asking))) == 10 * MIB


def test_a_kind_with_fewer_logs_is_never_narrower_than_all_scatter(peak):
    """What Qwen2.5-0.5B reserved, 5.5 % below its estimate, lay far outside of a range that was the context's alone."""
    factors = limits(ALL)
    assert factors is not None
    outside = [one.thread for one in ALL if not factors[0] <= one.logged / one.estimated <= factors[1]]
    assert outside == []  # Qwen2.5-0.5B, the farthest, by 0.0008
    found = peak(msgspec.structs.replace(STILL, amp="O2"))
    assert (found.terms.logs, found.terms.mixed_logs) == (len(ALL), len(MIXED))
    pages = found.terms.mapped_low - found.reserved
    assert found.low <= round(found.reserved * factors[0]) + pages + found.terms.context_low
    assert found.high >= round(found.reserved * factors[1]) + pages + found.terms.context_high
    assert [note.code for note in narrowed(found.terms)] == ["widened_by_logs"]


@pytest.mark.parametrize(
    ("changes", "logs"),
    [
        ({"evidence": "measured"}, ()),
        ({"storages": NET.storages[:3]}, ()),
        ({"devices": 2}, ALL),
        ({"notes": DRAWN}, ALL),
        ({"notes": (TracedNote("shapes_alternate"),)}, ALL),
        ({"extra": {"extents": {"low": 0, "likely": 1, "high": 1}}}, ALL),
        ({"convolves": False}, ALL),
    ],
    ids=["measured", "small", "two cards", "drawn", "alternating", "masks", "no convolution"],
)
def test_another_kind_has_the_scatter_of_all_logs_or_none(peak, changes, logs):
    """Paddle3D#426, where masks select rows, reserved 1 % less than the low end of a range without the others."""
    found = peak(msgspec.structs.replace(STILL, **changes))
    assert found.terms.logs == len(logs)
    if logs:
        low, high = (round(found.reserved * factor) for factor in limits(logs))
        assert found.low <= low + PAGES + found.terms.context_low
        assert found.high >= high + found.terms.context_high


def test_the_low_end_has_no_batch_ahead(peak):
    ahead = msgspec.structs.replace(NET, batches_ahead=60 * MIB)
    assert 0 < peak(NET).low - peak(ahead).low <= 60 * MIB
    assert peak(ahead).terms.batches_ahead == 60 * MIB
    small = msgspec.structs.replace(NET, storages=NET.storages[:3])
    fewer = msgspec.structs.replace(small, batches_ahead=60 * MIB)
    assert peak(small).low - peak(fewer).low == 60 * MIB
    assert (peak(ahead).likely, peak(ahead).high, peak(ahead).allocated) == (
        peak(NET).likely, peak(NET).high, peak(NET).allocated
    )  # fmt: skip


def test_a_machines_own_measurements_count_for_more(peak, tmp_path):
    terms, key = peak(NET).terms, Key("a card", "12.6", "3.3.1")
    assert Calibration(tmp_path / "calibration.json").observe(key, terms, 5 * GIB)
    assert peak(NET).terms.logs == 0


def test_drawn_sizes_leave_gaps(peak):
    def none(operation: Operation) -> int:
        return 0

    assert replay_changing(NET, none).reserved > replay_reserved(NET, none).reserved
    assert replay_changing(NET, none).allocated == replay_reserved(NET, none).allocated
    standing = msgspec.structs.replace(NET, storages=NET.storages[:2])
    assert replay_changing(standing, none) == replay_reserved(standing, none)
    drawn, still = peak(msgspec.structs.replace(NET, notes=DRAWN)), peak(NET)
    assert drawn.terms.changing_shapes and not still.terms.changing_shapes
    assert drawn.high > still.high
    assert drawn.allocated == still.allocated
    assert [note.code for note in narrowed(drawn.terms)] == ["widened_by_logs", "range_of_changing_shapes"]


def test_the_cpus_figure_knows_no_logs():
    drawn = msgspec.structs.replace(NET, notes=DRAWN)
    assert (cpu_peak(drawn).likely, cpu_peak(drawn).high) == (cpu_peak(NET).likely, cpu_peak(NET).high)
    assert cpu_peak(msgspec.structs.replace(NET, batches_ahead=60 * MIB)) == cpu_peak(NET)
