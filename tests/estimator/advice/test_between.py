"""Steps between two that were traced: as they are where allocations grow by as much a sample, else none."""

import msgspec

from jupyter_paddle_gpu.estimator.advice.between import between, expected
from jupyter_paddle_gpu.estimator.advice.search import largest_batch
from jupyter_paddle_gpu.estimator.memory.assemble import cpu_peak
from jupyter_paddle_gpu.estimator.trace import Operation, Storage, Trace

PARAMETERS = 4000


def step(batch, *, op="matmul", extra=None):
    """A step with parameters, an activation and a workspace of some bytes a sample."""
    return Trace(
        status="ok",
        batch_size=batch,
        operations=(Operation(op, "forward", workspace_cpu=8 * batch), Operation("relu", "forward")),
        storages=(
            Storage(PARAMETERS, -1, 2, "parameters", "parameter"),
            Storage(100 * batch + 12, 0, 1, "activations", op),
            Storage(40 * batch, 1, 2, "activations", "relu"),
        ),
        extra=extra or {},
    )


def test_a_step_between_two_is_the_one_that_is_traced_there():
    at = between((8, step(8)), (640, step(640)))
    for batch in (1, 8, 77, 640, 5000):
        assert at(batch) == step(batch)


def test_steps_that_do_not_do_the_same_tell_nothing():
    assert between((8, step(8)), (8, step(8))) is None
    assert between((8, step(8)), (16, step(16, op="conv2d"))) is None
    assert between((8, step(8)), (16, step(16, extra={"extents": {"low": 1, "likely": 2, "high": 3}}))) is None
    later = msgspec.structs.replace(step(16), storages=step(16).storages[:-1])
    assert between((8, step(8)), (16, later)) is None


def test_on_stairs_an_edge_takes_few_traces():
    def mapped(trace):  # a driver that gives memory away in large pieces
        return -(-cpu_peak(trace).allocated // (1 << 20)) << 20

    def sought(limit, *, tells):
        traces = {}

        def high(batch):
            traces[batch] = step(batch)
            return mapped(traces[batch])

        between = expected(traces, mapped) if tells else None
        return largest_batch(high, limit, known={4096: mapped(step(4096))}, between=between), len(traces)

    for limit in (20 << 20, 100 << 20):
        found, traced = sought(limit, tells=True)
        assert mapped(step(found)) <= limit < mapped(step(found + 1))
        assert traced <= 5 and sought(limit, tells=False) >= (found, 10)
