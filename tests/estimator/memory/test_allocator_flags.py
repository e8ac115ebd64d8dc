"""Which allocator a release of Paddle and a program's flags make, and what an estimate says of it."""

import pytest

from jupyter_paddle_gpu.devices.catalogue import find
from jupyter_paddle_gpu.estimator.memory import allocator_flags
from jupyter_paddle_gpu.estimator.memory.allocator import Rules
from jupyter_paddle_gpu.estimator.memory.allocator_flags import RELEASES, USUAL, known, setup, setup_in
from jupyter_paddle_gpu.estimator.memory.assemble import gpu_peak
from jupyter_paddle_gpu.estimator.memory.calibration import Calibration
from jupyter_paddle_gpu.estimator.trace import Operation, Storage, Trace
from jupyter_paddle_gpu.estimator.tracer.memory.allocator_flags import NAMES

MIB = 1 << 20
POOLS = {"FLAGS_small_pool_size_in_mb": 1, "FLAGS_large_pool_auto_growth_chunk_size_in_mb": 16}


def of(flags, version="3.3.1"):
    return setup({f"FLAGS_{name}": value for name, value in flags.items()}, version)


def test_releases_stand_in_order_and_each_says_where_it_stands():
    assert list(RELEASES) == sorted(RELEASES, key=lambda row: row.since)
    assert all(row.source and (row.flags or row.padding) for row in RELEASES)
    names = [name for row in RELEASES for name in row.flags]
    assert len(names) == len(set(names))


def test_the_tracer_sends_the_flags_that_some_release_knows():
    names = {f"FLAGS_{name}" for row in RELEASES for name in row.flags}
    assert names == NAMES


@pytest.mark.parametrize(
    "version", ["2.3.2", "2.4.2", "2.5.2", "2.6.2", "3.0.0", "3.1.1", "3.2.2", "3.3.1", "0.0.0", ""]
)
def test_without_flags_no_release_from_2_3_on_differs(version):
    assert setup({}, version) == USUAL == allocator_flags.Setup()


@pytest.mark.parametrize("version", ["2.0.0", "2.2.2", "1.8.5"])
def test_chunks_of_2_2_are_asked_for_with_256_bytes_more_which_are_used(version):
    allocator = setup({}, version).new()
    allocator.allocate(1 << 20)
    assert allocator.reserved == (1 << 20) + 256
    allocator.allocate(256)
    assert allocator.chunks == [(1 << 20) + 256]


@pytest.mark.parametrize(
    ("flag", "before", "since"),
    [
        ("auto_growth_chunk_size_in_mb", "2.4.2", "2.5.1"),
        ("use_cuda_malloc_async_allocator", "2.6.2", "3.0.0"),
        ("small_pool_size_in_mb", "3.1.1", "3.2.0"),
        ("large_pool_pre_alloc_in_mb", "3.1.1", "3.2.0"),
    ],
)
def test_a_release_takes_no_notice_of_flags_that_came_later(flag, before, since):
    assert flag not in known(before)[0]
    assert flag in known(since)[0] & known("0.0.0")[0] & known("3.10.0")[0]


def test_a_flag_of_a_later_release_changes_nothing():
    assert of({"auto_growth_chunk_size_in_mb": 8}, "2.4.2").rules == Rules()
    assert of({"auto_growth_chunk_size_in_mb": 8}, "2.5.0").rules == Rules(chunk=8 * MIB)


def test_pools_as_paddles_own_test_has_them():
    # test_auto_growth_allocator_gpu.py: test_memory_pool_flags, test_large_pool_growth_override_16mb, test_single_pool.
    ahead = {"small_pool_pre_alloc_in_mb": 2, "large_pool_pre_alloc_in_mb": 20}
    flags = {
        "small_pool_size_in_mb": 1,
        "auto_growth_chunk_size_in_mb": 10,
        "small_pool_auto_growth_chunk_size_in_mb": 2,
        "large_pool_auto_growth_chunk_size_in_mb": 16,
    }
    allocator = of({**flags, **ahead}).new()
    assert allocator.reserved == 22 * MIB
    for _ in range(7):
        allocator.allocate(MIB // 2)
    assert (allocator.allocated, allocator.reserved) == (7 * MIB // 2, 24 * MIB)

    allocator = of({**flags, "small_pool_auto_growth_chunk_size_in_mb": 0, "large_pool_pre_alloc_in_mb": 6}).new()
    begins = allocator.reserved
    allocator.allocate(8 * MIB)
    assert allocator.reserved - begins == 16 * MIB

    allocator = of({**flags, **ahead, "small_pool_size_in_mb": 0}).new()
    seen = []
    for size in (1, MIB // 2, 10 * MIB):
        allocator.allocate(size)
        seen.append(allocator.reserved // MIB)
    assert seen == [10, 10, 20]


def test_idle_chunks_that_go_back_leave_the_peak():
    allocator = of({"free_idle_chunk": "true"}).new()
    for size in (MIB, 2 * MIB, 3 * MIB):
        allocator.release(allocator.allocate(size))
    assert (allocator.reserved, allocator.peak_reserved, allocator.chunks) == (0, 3 * MIB, [3 * MIB])


def test_one_that_is_not_replayed_is_said():
    for flag in allocator_flags.OTHERS:
        assert [note.code for note in of({flag: 1}).notes] == ["other_allocator"]
        assert of({flag: 0}).notes == ()
    assert [note.code for note in of({"eager_delete_tensor_gb": -1.0}).notes] == ["eager_delete"]


def test_what_paddle_could_not_read_counts_as_not_set():
    assert of({"auto_growth_chunk_size_in_mb": "many", "small_pool_size_in_mb": ""}).rules == Rules()


def peak(flags, card="NVIDIA A10"):
    step = Trace(
        status="ok",
        paddle_version="3.3.1",
        allocator_flags={f"FLAGS_{name}": value for name, value in flags.items()},
        storages=tuple(Storage(3 * MIB, start, end, "activations") for start, end in ((0, 3), (1, 2), (2, 3))),
        operations=tuple(Operation(f"op{number}", "forward") for number in range(4)),
    )
    return gpu_peak(step, card and find(card), Calibration(), key=None)


def test_flags_change_what_an_estimate_reserves():
    usual, chunks = peak({}), peak({"auto_growth_chunk_size_in_mb": 64})
    assert (usual.reserved, chunks.reserved) == (9 * MIB, 64 * MIB)
    assert chunks.allocated == usual.allocated == 9 * MIB
    assert usual.notes == chunks.notes == ()


def test_naive_best_fit_takes_its_part_of_the_card_at_once():
    usual, found = peak({}), peak({"allocator_strategy": "naive_best_fit"})
    card = find("NVIDIA A10")
    room = (card.usable_bytes or card.memory_bytes) - usual.terms.context_high
    assert found.reserved == int(0.92 * 0.95 * room)
    assert (
        found.low < found.reserved + usual.terms.context_high <= found.high < (card.usable_bytes or card.memory_bytes)
    )
    assert [note.code for note in found.notes] == ["naive_best_fit"]

    half = peak({"allocator_strategy": "naive_best_fit", "fraction_of_gpu_memory_to_use": 0.5})
    assert half.reserved == int(0.5 * 0.95 * room)
    first = peak({"allocator_strategy": "naive_best_fit", "initial_gpu_memory_in_mb": 7})
    assert first.reserved > room // 2  # 9 MiB do not fit: the second chunk is a part of what is left
    again = peak(
        {"allocator_strategy": "naive_best_fit", "initial_gpu_memory_in_mb": 7, "reallocate_gpu_memory_in_mb": 5}
    )
    assert again.reserved == 12 * MIB


def test_of_a_card_that_is_not_named_the_part_alone_is_known():
    found = peak({"allocator_strategy": "naive_best_fit"}, card=None)
    assert "{percent}" in found.notes[0].text and found.notes[0].params["percent"] == 87
    assert found.reserved >= 9 * MIB


def test_a_limit_refuses_what_is_above_it():
    assert [note.code for note in peak({"gpu_memory_limit_mb": 8}).notes] == ["gpu_memory_limit"]
    assert peak({"gpu_memory_limit_mb": 9}).notes == ()


def test_the_release_of_the_jobs_image_counts_where_a_flag_makes_a_difference():
    pools = setup_in("2.6.2", POOLS, "3.3.1")
    assert pools.new().rules == Rules() and [one.code for one in pools.notes] == ["allocator_of_release"]
    assert pools.notes[0].params == {"release": "2.6.2", "own": "3.3.1"}
    assert setup_in("3.2.2", POOLS, "3.3.1") == setup(POOLS, "3.3.1") == setup_in("", POOLS, "3.3.1")
    assert setup_in("2.6.2", {}, "3.3.1") == setup_in(None, {}, "3.3.1") == USUAL


def test_where_nobody_knows_the_images_release_the_kernels_counts_and_it_is_said():
    found = setup_in(None, POOLS, "3.3.1")
    assert found.rules == setup(POOLS, "3.3.1").rules
    assert [one.code for one in found.notes] == ["allocator_of_unknown"]
    grown = {"FLAGS_free_idle_chunk": 1}
    assert setup_in(None, grown, "3.3.1") == setup(grown, "3.3.1"), "all releases know it"


def test_an_estimate_follows_the_release():
    steps = (Operation(name="a", phase="forward", workspace_cpu=0, workspace_low=0, workspace_high=0, flops=0),)
    held = (Storage(bytes=MIB + 1, kind="parameters", start=-1, end=1),)
    trace = Trace(status="ok", paddle_version="3.3.1", allocator_flags=POOLS, operations=steps, storages=held)
    own, other = (gpu_peak(trace, None, Calibration(), key=None, release=release) for release in ("", "2.6.2"))
    assert (own.reserved, other.reserved) == (16 * MIB, MIB + 256)
