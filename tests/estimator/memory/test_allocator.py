"""The allocator's replay against a plain model of Paddle's source, and by hand on small cases."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from jupyter_paddle_gpu.estimator.memory.allocator import AutoGrowthBestFit, aligned, driver_bytes
from jupyter_paddle_gpu.estimator.memory.reserved import replay_reserved
from jupyter_paddle_gpu.estimator.trace import Operation, Storage, Trace


class PlainModel:
    """AllocateImpl and FreeImpl written down without any care for speed: chunks as lists of [address, size, free]."""

    def __init__(self):
        self.chunks = []
        self.top = 0

    def allocate(self, size):
        size = -(-size // 256) * 256
        free = [(block[1], block[0], chunk, block) for chunk in self.chunks for block in chunk if block[2]]
        fitting = sorted((one for one in free if one[0] >= size), key=lambda one: one[:2])
        if fitting:
            _, _, chunk, block = fitting[0]
            rest = block[1] - size
            if rest == 0:
                block[2] = False
                return chunk, block
            given = [block[0] + rest, size, False]
            block[1] = rest
            chunk.insert(chunk.index(block) + 1, given)
            return chunk, given
        chunk = [[self.top, size, False]]
        self.top += size + 4096
        self.chunks.append(chunk)
        return chunk, chunk[0]

    def release(self, handle):
        chunk, block = handle
        block[2] = True
        at = chunk.index(block)
        if at + 1 < len(chunk) and chunk[at + 1][2]:
            block[1] += chunk.pop(at + 1)[1]
        if at and chunk[at - 1][2]:
            chunk[at - 1][1] += chunk.pop(at)[1]

    @property
    def reserved(self):
        return sum(block[1] for chunk in self.chunks for block in chunk)


@given(st.lists(st.tuples(st.integers(1, 6000), st.integers(0, 30)), max_size=120))
def test_it_does_what_the_source_says(events):
    fast, plain = AutoGrowthBestFit(), PlainModel()
    alive = []
    for size, choice in events:
        if choice < len(alive):
            one, other = alive.pop(choice)
            fast.release(one)
            plain.release(other)
        else:
            alive.append((fast.allocate(size), plain.allocate(size)))
        assert fast.reserved == plain.reserved
        assert fast.allocated == sum(block.size for block, _ in alive)
        assert [block.size for block, _ in alive] == [block[1] for _, (_, block) in alive]


def test_sizes_are_rounded_up_to_256_bytes():
    assert [aligned(size) for size in (0, 1, 256, 257)] == [0, 256, 256, 512]


def test_blocks_of_two_chunks_do_not_merge():
    allocator = AutoGrowthBestFit()
    for block in [allocator.allocate(256), allocator.allocate(256)]:
        allocator.release(block)
    allocator.allocate(512)
    assert allocator.reserved == 1024


def test_the_driver_maps_whole_pages_and_packs_small_requests():
    mib = 1 << 20
    assert driver_bytes([]) == 0
    assert driver_bytes([256] * 10) == 2 * mib
    assert driver_bytes([3 * mib, 256]) == 6 * mib
    assert driver_bytes([100 * mib]) == 100 * mib


def trace(storages, operations):
    return Trace(
        status="ok",
        storages=tuple(Storage(*one) for one in storages),
        operations=tuple(Operation(f"op{number}", "forward") for number in range(operations)),
    )


def test_what_the_first_update_leaves_in_the_way_is_seen():
    # Parameters, gradients and state stand; an activation comes and goes; a new gradient replaces the old one.
    step = trace(
        [
            (4096, -1, 4, "parameters"),
            (4096, -1, 2, "gradients"),
            (4096, 2, 4, "gradients"),
            (8192, -1, 4, "optimizer_state"),
            (65536, 0, 2, "activations"),
            (1024, -1, 4, "inputs"),
        ],
        4,
    )
    result = replay_reserved(step, lambda operation: 0)

    assert result.allocated == 4096 * 3 + 8192 + 65536 + 1024
    # The state of the first update settles in the chunk that the activation had left, so that the second step's
    # activation needs a chunk of its own; after that nothing is reserved any more.
    assert result.reserved == 4096 + 1024 + 65536 + 4096 + 65536


def test_what_a_startup_program_makes_is_in_nobodys_way():
    # The state stands below the activation from the beginning: each has a chunk of its own, which fits in each step.
    step = trace([(4096, -1, 2, "parameters"), (8192, -1, 2, "optimizer_state"), (65536, 0, 1, "activations")], 2)
    dynamic = replay_reserved(step, lambda operation: 0)
    static = replay_reserved(msgspec.structs.replace(step, begins_whole=True), lambda operation: 0)

    assert static.reserved == static.allocated == dynamic.allocated == 4096 + 8192 + 65536
    assert dynamic.reserved == static.reserved + 65536 - 8192


def test_ten_thousand_storages_are_quick_enough_to_be_exact():
    storages = [
        (1000 * (1 + number % 97), number, min(number + number % 500, 9999), "activations") for number in range(10_000)
    ]
    result = replay_reserved(trace(storages, 10_000), lambda operation: 0)
    assert result.reserved >= result.allocated > 0
