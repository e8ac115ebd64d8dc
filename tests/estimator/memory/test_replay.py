"""The curve, its peak and what stands there."""

import pytest

from jupyter_paddle_gpu.estimator.memory.allocator import aligned
from jupyter_paddle_gpu.estimator.memory.assemble import answer, cpu_peak, gpu_peak
from jupyter_paddle_gpu.estimator.memory.calibration import Calibration
from jupyter_paddle_gpu.estimator.memory.replay import by_layer, largest_alive, replay, timeline
from jupyter_paddle_gpu.estimator.trace import Operation, Storage, Trace, TracedLayer

STEP = Trace(
    status="ok",
    batch_size=8,
    operations=(
        Operation("conv2d", "forward", "net.conv", 100, 10, 5000, 0, 1 << 20),
        Operation("relu", "forward", "net.act", 10, 20),
        Operation("cross_entropy", "forward", "", 1, 5),
        Operation("relu_grad", "backward", "net.act", 10, 20),
        Operation("conv2d_grad", "backward", "net.conv", 200, 10, 700, 0, 2 << 20),
        Operation("adam_", "update", "", 7, 40),
    ),
    storages=(
        Storage(300, -1, 6, "parameters", "", "net.conv"),
        Storage(300, -1, 4, "gradients"),
        Storage(300, 4, 6, "gradients"),
        Storage(600, -1, 6, "optimizer_state"),
        Storage(1000, -1, 4, "inputs"),
        Storage(2000, 0, 4, "activations", "conv2d", "net.conv", (8, 250), "uint8"),
        Storage(2001, 1, 3, "activations", "relu", "net.act"),
        Storage(10, 2, 2, "activations", "cross_entropy"),
    ),
    layers=(
        TracedLayer("", "Net", 0, 0),
        TracedLayer("net", "Sequential", 0, 0),
        TracedLayer("net.conv", "Conv2D", 75, 300),
        TracedLayer("net.act", "ReLU", 0, 0),
    ),
    parameters=75,
    trainable_parameters=75,
)


def test_the_curve_counts_both_ends_and_transients():
    result = replay(STEP, workspace=lambda operation: operation.workspace_cpu)

    standing = 300 + 300 + 600 + 1000
    assert result.curve == (
        standing + 2000 + 5000,
        standing + 4001,
        standing + 4011,
        standing + 4001,
        standing + 2000 + 300 + 700,
        300 + 300 + 600,
    )
    assert (result.peak, result.at, result.workspace) == (9200, 0, 5000)


def test_the_breakdown_sums_to_the_peak_on_both_targets(tmp_path):
    calibration = Calibration(tmp_path / "none.json")
    for peak in (cpu_peak(STEP), gpu_peak(STEP, None, calibration, key=None)):
        estimate = answer(STEP, peak)
        assert estimate.breakdown.total == estimate.peak_bytes
        assert all(getattr(estimate.breakdown, name) >= 0 for name in estimate.breakdown.__struct_fields__)
        assert estimate.low <= estimate.peak_bytes <= estimate.high
        assert (
            estimate.allocated_peak_bytes == estimate.peak_at.bytes == max(point.bytes for point in estimate.timeline)
        )


def test_the_cpu_target_is_the_allocators_peak_and_no_range():
    estimate = answer(STEP, cpu_peak(STEP))

    assert estimate.allocated_peak_bytes == estimate.peak_bytes == estimate.low == estimate.high == 9200
    assert estimate.breakdown.context == 0
    assert estimate.reserved_peak_bytes is None


def test_the_gpu_target_counts_aligned_sizes_and_has_a_range(tmp_path):
    estimate = answer(STEP, gpu_peak(STEP, None, Calibration(tmp_path / "none.json"), key=None))

    assert estimate.reserved_peak_bytes >= estimate.allocated_peak_bytes
    assert estimate.low < estimate.peak_bytes < estimate.high
    assert estimate.breakdown.parameters == aligned(300)


def test_each_point_tells_what_stands_there():
    result = replay(STEP, workspace=lambda operation: operation.workspace_cpu)
    points = timeline(STEP, result)

    for point in points:
        assert sum(point.kinds.values()) == point.bytes == result.curve[point.index]
    # Kinds by hand: at the second operation both activations stand, at the last one the first gradients are gone.
    assert points[1].kinds == {
        "parameters": 300, "gradients": 300, "optimizer_state": 600, "inputs": 1000, "activations": 4001
    }  # fmt: skip
    assert points[1].layers == {"net.act": 2001, "net.conv": 2000}
    assert points[0].kinds["workspace"] == 5000
    assert points[5].kinds == {"parameters": 300, "gradients": 300, "optimizer_state": 600}
    assert points[5].layers == {}


def test_flops_and_bytes_are_sums():
    estimate = answer(STEP, cpu_peak(STEP))

    assert (estimate.flops_forward, estimate.flops_per_step, estimate.bytes_moved) == (111, 328, 105)
    assert estimate.arithmetic_intensity == 328 / 105
    update = sum(operation.flops for operation in STEP.operations if operation.phase == "update")
    assert estimate.flops_backward == 328 - 111 - update


def test_layers_include_what_is_below_them():
    rows = {row.path: row for row in by_layer(STEP, 2)}

    assert rows["net.conv"].activation_bytes == 2000 and rows["net.act"].activation_bytes == 2001
    assert rows["net"].activation_bytes == 4001 and rows["net"].parameters == 75 and rows["net"].flops == 110
    assert rows[""].activation_bytes == 4011 and rows[""].flops == 111
    assert list(rows) == ["", "net", "net.conv", "net.act"]


def test_the_largest_stand_first():
    largest = largest_alive(STEP, 2, most=2)

    assert [tensor.bytes for tensor in largest] == [2001, 2000]
    assert largest[1].shape == (8, 250)


@pytest.mark.parametrize("count", [1, 299, 301, 5000])
def test_a_thinned_timeline_keeps_every_extreme(count):
    storages = tuple(
        Storage(1 + (number * 7919) % 1009, number, min(number + 3, count), "activations") for number in range(count)
    )
    trace = Trace(
        status="ok", operations=tuple(Operation(str(number), "forward") for number in range(count)), storages=storages
    )
    result = replay(trace, workspace=lambda operation: 0)
    points = timeline(trace, result)

    assert len(points) <= 300
    assert max(point.bytes for point in points) == result.peak == max(result.curve)
    assert min(point.bytes for point in points) == min(result.curve)
    assert points[0].index == 0 and points[-1].index == count - 1
    assert [point.index for point in points] == sorted({point.index for point in points})


def test_a_step_without_operations_is_what_stands():
    trace = Trace(status="ok", storages=(Storage(100, -1, 0, "parameters"),))
    estimate = answer(trace, cpu_peak(trace))

    assert estimate.peak_bytes == 100 and estimate.timeline == () and estimate.peak_at is None
