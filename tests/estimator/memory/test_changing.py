"""Steps of batches with other shapes, from two that were traced, and what they leave in the allocator."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from jupyter_paddle_gpu.estimator.memory import changing
from jupyter_paddle_gpu.estimator.memory.allocator import AutoGrowthBestFit
from jupyter_paddle_gpu.estimator.memory.assemble import _likely_workspace, cpu_peak, gpu_peak
from jupyter_paddle_gpu.estimator.memory.calibration import Calibration, Key
from jupyter_paddle_gpu.estimator.memory.narrowed import narrowed
from jupyter_paddle_gpu.estimator.memory.reserved import replay_reserved
from jupyter_paddle_gpu.estimator.trace import Batches, Operation, OtherStep, Storage, Trace

MIB = 1 << 20
HEADS = 4


def workspace(operation: Operation) -> int:
    return operation.workspace_low


def step(count: int, length: int) -> Trace:
    """A step with so many sentences of that length: words, states, states in one row, scores, labels, a reserve that no
    shape tells, and a weight."""

    def storage(start, end, kind, element, *shape):
        size = element
        for side in shape:
            size *= side
        return Storage(size, start, end, kind, "op", "", shape, "float32")

    return Trace(
        status="ok",
        operations=tuple(
            Operation(f"op{number}", phase, "", 0, 0, 0, *2 * (length * count * 512 * (number == 2),))
            for number, phase in enumerate(("forward",) * 4 + ("backward",) * 2 + ("update",))
        ),
        storages=(
            storage(-1, 7, "parameters", 4, 300, 512),
            storage(4, 7, "gradients", 4, 300, 512),
            storage(-1, 7, "inputs", 8, count, length),
            storage(0, 5, "activations", 4, count, length, 512),
            storage(1, 5, "activations", 4, count * length, 2048),
            storage(1, 5, "activations", 4, count, HEADS, length, length),
            storage(2, 5, "activations", 4, count * HEADS, length - 1, 128),
            Storage(4096 + 24 * count * length, 2, 5, "activations", "rnn", "", (1,), "uint8"),
            storage(3, 4, "activations", 4, 512, 64),
        ),
    )


def sides(count: int, length: int):
    return ((count, length),)


def trace_of(batches, traced=(32, 100), other=(24, 40), *, is_known: bool = True) -> Trace:
    second = step(*other)
    told = OtherStep(sides(*other), second.operations, second.storages) if is_known else None
    return msgspec.structs.replace(
        step(*traced), batches=Batches(tuple(sides(*one) for one in batches), sides(*traced), told)
    )


@pytest.mark.parametrize("batch", [(32, 100), (24, 40), (7, 200), (40, 11)])
def test_a_step_of_other_shapes_is_as_it_would_be_traced(batch):
    """Both sides change, and their products, squares and neighbours with them."""
    trace = trace_of([batch])
    found, transients = changing._sized(trace, trace.batches, workspace)(sides(*batch))
    truth = step(*batch)
    opaque = [number for number, one in enumerate(truth.storages) if one.op == "rnn"]
    for number, (one, two) in enumerate(zip(found.storages, truth.storages, strict=True)):
        if number not in opaque or batch in {(32, 100), (24, 40)}:
            assert one.bytes == two.bytes, number
        else:
            assert one.bytes == pytest.approx(two.bytes, rel=0.02)
    assert transients == pytest.approx([workspace(one) for one in truth.operations], rel=0.02)


def test_which_batch_comes_first_decides_what_is_reserved():
    """Behind the longest nothing new is asked for; each that is longer than all before leaves what they took."""
    lengths = [40, 55, 62, 70, 81, 88, 93, 100]
    trace = trace_of([(32, length) for length in lengths])
    orders = changing.replay_orders(trace, trace.batches, workspace)
    assert len(orders) == changing.MOST_ORDERS
    assert [one.mapped for one in orders] == sorted(one.mapped for one in orders)
    single = replay_reserved(trace, workspace)
    assert orders[0].reserved < orders[-1].reserved > 1.5 * single.reserved
    assert {one.allocated for one in orders} == {single.allocated}
    backwards = trace_of([(32, length) for length in reversed(lengths)])
    steps = changing._sized(trace, backwards.batches, workspace)
    ran = [changing.Steps(*steps(one)) for one in backwards.batches.sides]
    assert changing._replayed(trace, ran, AutoGrowthBestFit()).reserved <= 1.02 * single.reserved
    assert changing._replayed(trace, ran[::-1], AutoGrowthBestFit()) in orders  # as they come


def test_the_traced_batch_comes_though_it_is_none_of_those_that_were_looked_at():
    """Of a sampler with several shapes the one with most samples is shown, wherever it comes: 12,477 MB were reserved
    for 12,547 that the step allocates (PaddleOCR's English recognizer)."""
    trace = trace_of([(24, 40), (32, 60)])
    single = replay_reserved(trace, workspace)
    orders = changing.replay_orders(trace, trace.batches, workspace)
    assert {one.allocated for one in orders} == {single.allocated}
    assert all(one.reserved >= single.allocated for one in orders)
    told = [*trace.batches.sides, trace.batches.traced]
    assert orders == changing.replay_orders(trace, msgspec.structs.replace(trace.batches, sides=tuple(told)), workspace)
    made_up = msgspec.structs.replace(trace.batches, assumed="texts")
    assert max(one.allocated for one in changing.replay_orders(trace, made_up, workspace)) < single.allocated


def test_the_batch_that_takes_most_is_not_the_one_with_most_words():
    """As many words in fewer sentences take more, by the scores of attention."""
    trace = trace_of([(64, 50), (32, 100), (8, 400)])
    assert changing.largest(trace, workspace) == sides(8, 400)
    assert changing.largest(trace_of([(24, 40), (32, 100)]), workspace) is None
    assert changing.largest(trace_of([(8, 400)], is_known=False), workspace) is None


def test_lengths_alone_go_about_evenly_and_other_shapes_are_not_guessed():
    padded = trace_of([(32, 50), (32, 100)], is_known=False)
    assert changing.replay_orders(padded, padded.batches, workspace)
    mixed = trace_of([(64, 50), (32, 100)], is_known=False)
    assert changing.replay_orders(mixed, mixed.batches, workspace) == ()


def test_work_bounds_the_orders(monkeypatch):
    trace = trace_of([(32, 50), (32, 100)])
    monkeypatch.setattr(changing, "WORK", 1)
    assert len(changing.replay_orders(trace, trace.batches, workspace)) == changing.LEAST_ORDERS


def test_the_range_goes_to_the_largest_order_and_the_middle_one_is_likely(tmp_path: Path):
    def peak(trace):
        return gpu_peak(trace, None, Calibration(tmp_path / "none.json"), key=Key("a card"))

    trace = trace_of([(32, length) for length in (40, 55, 62, 70, 81, 88, 93, 100)])
    still, found = peak(step(32, 100)), peak(trace)
    orders = changing.replay_orders(trace, trace.batches, _likely_workspace)
    assert found.reserved == orders[len(orders) // 2].reserved > still.reserved
    assert found.allocated == still.allocated
    assert found.terms.mapped_low == still.terms.mapped_low
    assert found.terms.mapped_high == orders[-1].mapped
    assert found.high >= orders[-1].mapped + found.terms.context_high
    assert still.low <= found.low < found.likely < found.high
    assert [note.code for note in narrowed(found.terms)] == ["range_of_orders"]
    assert narrowed(still.terms) == ()


def test_other_batches_make_it_no_less_than_the_largest_alone(tmp_path: Path):
    """Smaller ones in its memory: 25,515 MB were told for batches of three shapes, for 25,893 of the largest alone."""

    def moved(trace):
        operations = [msgspec.structs.replace(one, workspace_high=32 * MIB) for one in trace.operations]
        return msgspec.structs.replace(trace, operations=tuple(operations))

    def peak(trace):
        return gpu_peak(trace, None, Calibration(tmp_path / "none.json"), key=Key("a card"))

    trace = moved(trace_of([(32, 100), (4, 20)]))
    still, found = peak(moved(step(32, 100))), peak(trace)
    orders = changing.replay_orders(trace, trace.batches, _likely_workspace)
    assert orders[len(orders) // 2].reserved < still.reserved
    assert (found.reserved, found.likely) == (still.reserved, still.likely)


def test_batches_that_are_made_up_widen_the_range_and_leave_what_is_likely(tmp_path: Path):
    def peak(trace):
        return gpu_peak(trace, None, Calibration(tmp_path / "none.json"), key=Key("a card"))

    trace = trace_of([(32, length) for length in (40, 55, 62, 70, 81, 88, 93, 150)])
    made_up = msgspec.structs.replace(trace, batches=msgspec.structs.replace(trace.batches, assumed="texts"))
    still, found = peak(step(32, 100)), peak(made_up)
    orders = changing.replay_orders(trace, trace.batches, _likely_workspace)
    assert (found.reserved, found.likely) == (still.reserved, still.likely) and found.low <= still.low
    assert found.high >= orders[-1].mapped + found.terms.context_high > still.high
    assert narrowed(found.terms) == (), "none of them was measured"
    assert changing.largest(made_up, workspace) is None, "the batch that was described stays the figure"
    longest, usual = cpu_peak(step(32, 150)), cpu_peak(made_up)
    assert usual.likely == usual.low == cpu_peak(step(32, 100)).likely
    assert usual.high == pytest.approx(longest.likely, rel=0.02)
    assert cpu_peak(trace).high == cpu_peak(trace).likely, "of data that is here the largest is traced"
