"""Paddle's GPU allocator, replayed: how much it takes from the driver for a step's allocations.

The rules are those of `AutoGrowthBestFitAllocator`, PaddlePaddle/Paddle at commit 11ef52e560ac,
paddle/phi/core/memory/allocation/auto_growth_best_fit_allocator.cc (AllocateImpl, FreeImpl), with the defaults of
FLAGS_allocator_strategy=auto_growth: sizes rounded up to 256 bytes; the smallest free block that is large enough,
the lowest address among equals; its end is given out, its beginning stays free; on a miss a new chunk of exactly the
aligned size (FLAGS_auto_growth_chunk_size_in_mb is 0); free neighbours merge, only inside one chunk; idle chunks are
kept until the device is out of memory.
"""

from __future__ import annotations

from bisect import bisect_left, insort

ALIGNMENT = 256
"""Bytes; `GpuMinChunkSize()` of Paddle."""
DRIVER_PAGE = 2 << 20
"""Bytes; what the CUDA driver maps at once for a request of a page or more."""
SMALL_REQUEST = 1 << 20
"""Bytes; below this the driver cuts several requests from one page."""


def aligned(size: int) -> int:
    """What the allocator counts for a tensor of `size` bytes."""
    return -(-size // ALIGNMENT) * ALIGNMENT


class Block:
    """A piece of a chunk; `address` is unique over all chunks, in the order in which they were made."""

    __slots__ = ("address", "free", "next", "previous", "size")

    def __init__(self, address: int, size: int) -> None:
        self.address = address
        self.size = size
        self.free = False
        self.previous: Block | None = None
        self.next: Block | None = None


class AutoGrowthBestFit:
    """The allocator's state. Costs O(log free blocks) a look-up, and a memory move for keeping them sorted."""

    def __init__(self) -> None:
        self.reserved = 0
        self.allocated = 0
        self.peak_allocated = 0
        self.chunks: list[int] = []
        self._free: list[tuple[int, int]] = []
        self._by_address: dict[int, Block] = {}
        self._next_address = 0

    def allocate(self, size: int) -> Block:
        """A block for a tensor of `size` bytes."""
        wanted = aligned(size)
        place = bisect_left(self._free, (wanted, -1))
        if place < len(self._free):
            _, address = self._free.pop(place)
            block = self._split(self._by_address.pop(address), wanted)
        else:
            block = Block(self._next_address, wanted)
            # A page of nothing between chunks: neighbours in number are not neighbours in memory.
            self._next_address += wanted + ALIGNMENT
            self.reserved += wanted
            self.chunks.append(wanted)
        self.allocated += wanted
        self.peak_allocated = max(self.peak_allocated, self.allocated)
        return block

    def release(self, block: Block) -> None:
        """Give a block back; it merges with free neighbours of its chunk."""
        self.allocated -= block.size
        previous, following = block.previous, block.next
        if previous is not None and previous.free:
            self._take(previous)
            previous.size += block.size
            previous.next = following
            if following is not None:
                following.previous = previous
            block = previous
        if following is not None and following.free:
            self._take(following)
            block.size += following.size
            block.next = following.next
            if following.next is not None:
                following.next.previous = block
        block.free = True
        insort(self._free, (block.size, block.address))
        self._by_address[block.address] = block

    def _split(self, block: Block, wanted: int) -> Block:
        block.free = False
        rest = block.size - wanted
        if rest == 0:
            return block
        given = Block(block.address + rest, wanted)
        given.previous, given.next = block, block.next
        if block.next is not None:
            block.next.previous = given
        block.next = given
        block.size = rest
        block.free = True
        insort(self._free, (rest, block.address))
        self._by_address[block.address] = block
        return given

    def _take(self, block: Block) -> None:
        del self._free[bisect_left(self._free, (block.size, block.address))]
        del self._by_address[block.address]
        block.free = False


def driver_bytes(chunks: list[int]) -> int:
    """What the driver maps for the chunks: whole pages, small requests packed together.

    Read on an H200 with driver 580: sixty-four chunks of each of nineteen sizes from 256 bytes to 33 MiB. Two of
    exactly 1 MiB share a page; a larger one does not (`benchmarks/results/device_reading.json`).
    """
    pages = sum(-(-chunk // DRIVER_PAGE) for chunk in chunks if chunk > SMALL_REQUEST)
    small = sum(chunk for chunk in chunks if chunk <= SMALL_REQUEST)
    return (pages + -(-small // DRIVER_PAGE)) * DRIVER_PAGE
