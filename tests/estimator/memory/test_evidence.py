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
from jupyter_paddle_gpu.estimator.memory.narrowed import BY_ALL_LOGS, BY_LOGS, narrowed
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


def test_every_log_lies_within_the_interval():
    factors = limits(SAME_SHAPES)
    assert factors is not None and 0.94 < factors[0] < 1 < factors[1] < 1.06
    assert all(factors[0] <= one.logged / one.estimated <= factors[1] for one in SAME_SHAPES)
    widest = limits(ALL)
    assert widest is not None and widest[0] < factors[0] and factors[1] < widest[1]


@pytest.mark.parametrize(
    ("logs", "note", "held"), [(SAME_SHAPES, BY_LOGS, "three of four"), (ALL, BY_ALL_LOGS, "eight of nine")]
)
def test_the_notes_say_what_each_log_left_out_shows(logs, note, held):
    inside = 0
    for one in logs:
        factors = limits([other for other in logs if other is not one])
        inside += factors is not None and factors[0] <= one.logged / one.estimated <= factors[1]
    numbers = {3: "three", 4: "four", 7: "seven", 8: "eight", 9: "nine"}
    assert f"{numbers[inside]} of {numbers[len(logs)]}" == held
    assert f"held {held}." in note.text


def test_the_range_of_a_logged_kind_is_cut_and_nothing_else(peak):
    assert (plain := peak(NET)).terms.logs == len(SAME_SHAPES)
    other = peak(msgspec.structs.replace(NET, extra={"extents": {"low": 0, "likely": 1, "high": 1}}))
    assert other.terms.logs == len(ALL)
    assert plain.high < other.high
    assert plain.low >= other.low
    assert (plain.likely, plain.reserved, plain.allocated) == (other.likely, other.reserved, other.allocated)
    assert plain.low <= plain.likely <= plain.high
    assert [note.code for note in narrowed(plain.terms)] == ["narrowed_by_logs"]


def test_a_kind_with_fewer_logs_is_never_narrower_than_all_scatter(peak):
    """What Qwen2.5-0.5B reserved, 5.5 % below its estimate, lay far outside of a range that was the context's alone."""
    factors = limits(ALL)
    assert factors is not None
    outside = [one.thread for one in ALL if not factors[0] <= one.logged / one.estimated <= factors[1]]
    assert outside == ["PaddleNLP Qwen2.5-0.5B"]  # one of nine, by 0.003
    found = peak(msgspec.structs.replace(STILL, amp="O2"))
    assert (found.terms.logs, found.terms.mixed_logs) == (len(ALL), len(MIXED))
    pages = found.terms.mapped_low - found.reserved
    assert found.low <= round(found.reserved * factors[0]) + pages + found.terms.context_low
    assert found.high >= round(found.reserved * factors[1]) + pages + found.terms.context_high
    assert [note.code for note in narrowed(found.terms)] == ["widened_by_logs"]
    worked = peak(msgspec.structs.replace(NET, amp="O2"))
    assert worked.high > peak(NET).high  # workspaces that no log of this kind speaks against


def test_few_workspaces_leave_the_whole_interval(peak):
    """The seal detector of 2025-08-30 reserved 4.6 % more than its estimate, whose workspaces are next to nothing."""
    found, factors = peak(STILL), limits(SAME_SHAPES)
    assert factors is not None
    assert found.terms.mapped_low == found.terms.mapped_high
    pages = found.terms.mapped_low - found.reserved
    assert found.high == round(found.reserved * factors[1]) + pages + found.terms.context_high


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
