"""Paddle's GPU allocator, replayed: how much it takes from the driver for a step's allocations.

The rules are those of `AutoGrowthBestFitAllocator`, PaddlePaddle/Paddle at commit 11ef52e560ac,
paddle/phi/core/memory/allocation/auto_growth_best_fit_allocator.cc (AllocateImpl, FreeImpl): sizes rounded up to 256
bytes; the smallest free block that is large enough, the lowest address among equals; its end is given out, its
beginning stays free; free neighbours merge, only inside one chunk. With no flag set a miss asks for a chunk of exactly
the aligned size, and idle chunks are kept until the device is out of memory; `Rules` has what flags change of that.
`tests/estimator/memory/test_real_allocator.py` holds it against Paddle's own.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import Protocol

import msgspec

ALIGNMENT = 256
"""Bytes; `GpuMinChunkSize()` of Paddle."""
DRIVER_PAGE = 2 << 20
"""Bytes; what the CUDA driver maps at once for a request of a page or more."""
SMALL_REQUEST = 1 << 20
"""Bytes; below this the driver cuts several requests from one page."""
HEAD = 64
"""Bytes before each tensor of `naive_best_fit`: `MemoryBlock::Desc`."""


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """How the allocator asks the driver for memory, as flags and releases have it (`allocator_flags`). Bytes.

    Attributes:
        chunk: a chunk's least size, where there is one pool.
        padding: what each chunk is asked for beyond that, for an aligned address; it is used like the rest.
        small: requests of at most so many bytes have a pool of their own; 0: there is one pool.
        small_chunk, large_chunk: least sizes of the two pools' chunks.
        small_ahead, large_ahead: their first chunks, asked for before anything is allocated.
        frees_idle: chunks that nobody uses go back to the driver whenever something is released.
        frees_on_miss: they go back before a new chunk is asked for.
        limit: the process asks the driver for no more; 0: for all there is.
    """

    chunk: int = 0
    padding: int = 0
    small: int = 0
    small_chunk: int = 0
    large_chunk: int = 0
    small_ahead: int = 0
    large_ahead: int = 0
    frees_idle: bool = False
    frees_on_miss: bool = False
    limit: int = 0


def aligned(size: int) -> int:
    """What the allocator counts for a tensor of `size` bytes."""
    return -(-size // ALIGNMENT) * ALIGNMENT


class Block:
    """A piece of a chunk; `address` is unique over all chunks, in the order in which they were made."""

    __slots__ = ("address", "free", "next", "pool", "previous", "size")

    def __init__(self, address: int, size: int, pool: list[tuple[int, int]]) -> None:
        self.address = address
        self.size = size
        self.pool = pool
        self.free = False
        self.previous: Block | None = None
        self.next: Block | None = None


class Allocator(Protocol):
    """What a replay asks of an allocator.

    Attributes:
        peak_allocated, peak_reserved: the most that was in use, and that was taken from the driver.
        chunks: what `peak_reserved` is the sum of.
        refused: what would have been reserved where a limit first refused it; 0: none did.
    """

    peak_allocated: int
    peak_reserved: int
    chunks: list[int]
    refused: int

    def allocate(self, size: int) -> Block:
        """A block for a tensor of `size` bytes."""

    def release(self, block: Block) -> None:
        """Give a block back."""


class AutoGrowthBestFit:
    """The allocator's state. Costs O(log free blocks) a look-up, and a memory move for keeping them sorted."""

    def __init__(self, rules: Rules = Rules()) -> None:  # noqa: B008 - frozen
        self.rules = rules
        self.reserved = 0
        self.peak_reserved = 0
        self.allocated = 0
        self.peak_allocated = 0
        self.refused = 0
        self.chunks: list[int] = []
        self._returns = rules.frees_idle or rules.frees_on_miss or rules.limit > 0
        self._held: dict[int, int] = {}
        """Chunks by their addresses, where some go back (`_returns`)."""
        self._free: list[tuple[int, int]] = []
        self._small: list[tuple[int, int]] = []
        self._by_address: dict[int, Block] = {}
        self._next_address = 0
        for size, pool in ((rules.small_ahead, self._small), (rules.large_ahead, self._free)):
            if size:
                self._put(self._chunk(size, pool))

    def allocate(self, size: int) -> Block:
        """A block for a tensor of `size` bytes."""
        wanted = aligned(size)
        pool = self._small if wanted <= self.rules.small else self._free
        place = bisect_left(pool, (wanted, -1))
        if place < len(pool):
            _, address = pool.pop(place)
            block = self._by_address.pop(address)
        else:
            block = self._chunk(self._growth(wanted), pool)
        block = self._split(block, wanted)
        self.allocated += wanted
        self.peak_allocated = max(self.peak_allocated, self.allocated)
        return block

    def release(self, block: Block) -> None:
        """Give a block back; it merges with free neighbours of its chunk."""
        self.allocated -= block.size
        self._put(self._merged(block))
        if self.rules.frees_idle:
            self._free_idle()

    def _growth(self, wanted: int) -> int:
        """How large a new chunk is (`AllocateImpl`, `auto_growth_size`), and whether it may be."""
        rules = self.rules
        if rules.frees_on_miss:
            self._free_idle()
        least = rules.chunk
        if rules.small:
            least = rules.small_chunk if wanted <= rules.small else rules.large_chunk
        size = max(wanted, least) + rules.padding
        if rules.limit and self.reserved + size > rules.limit:
            self._free_idle()
            if self.reserved + size > rules.limit:
                self.refused = self.refused or self.reserved + size
        return size

    def _chunk(self, size: int, pool: list[tuple[int, int]]) -> Block:
        block = Block(self._next_address, size, pool)
        # A page of nothing between chunks: neighbours in number are not neighbours in memory.
        self._next_address += size + ALIGNMENT
        self.reserved += size
        if self._returns:
            self._held[block.address] = size
        if self.reserved > self.peak_reserved:
            self.peak_reserved = self.reserved
            if self._returns:
                self.chunks = list(self._held.values())
            else:
                self.chunks.append(size)
        return block

    def _free_idle(self) -> None:
        """Chunks of one free block go back (`FreeIdleChunks`)."""
        idle = [one for one in self._by_address.values() if one.previous is None and one.next is None]
        for block in idle:
            self._take(block)
            self.reserved -= self._held.pop(block.address)

    def _merged(self, block: Block) -> Block:
        """The block with its free neighbours, which are taken out of the pool."""
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
        return block

    def _put(self, block: Block) -> None:
        """Into its pool, as free."""
        block.free = True
        insort(block.pool, (block.size, block.address))
        self._by_address[block.address] = block

    def _split(self, block: Block, wanted: int) -> Block:
        """The block's end; its beginning stays free."""
        block.free = False
        if block.size == wanted:
            return block
        given = self._cut(block, block.size - wanted)
        self._put(block)
        return given

    def _cut(self, block: Block, size: int) -> Block:
        """What of a block lies behind its first `size` bytes, as a block of its own."""
        behind = Block(block.address + size, block.size - size, block.pool)
        behind.previous, behind.next = block, block.next
        if block.next is not None:
            block.next.previous = behind
        block.next = behind
        block.size = size
        return behind

    def _take(self, block: Block) -> None:
        del block.pool[bisect_left(block.pool, (block.size, block.address))]
        del self._by_address[block.address]
        block.free = False


class Arena(msgspec.Struct, frozen=True, kw_only=True):
    """What `naive_best_fit` asks the driver for (`GpuInitAllocSize`, `GpuReallocSize`). Bytes.

    Attributes:
        first, again: of the first chunk and of each further one; 0: `share` of what is free on the card then.
        room: what is free on the card before the first one.
    """

    first: int = 0
    again: int = 0
    share: float = 0.0
    room: int = 0


class NaiveBestFit(AutoGrowthBestFit):
    """`BuddyAllocator`: one large chunk at once, cut from its beginning; each tensor has a head of its own.

    PaddlePaddle/Paddle at commit 02a5e4e062d7, paddle/phi/core/memory/allocation/buddy_allocator.cc (`Alloc`, `Free`,
    `RefillPool`). Tensors are counted without their heads, as they are.
    """

    def __init__(self, arena: Arena) -> None:
        super().__init__()
        self._arena = arena
        self._returns = True
        begins = self._part(arena.first), self._part(arena.again)
        self._largest = max(begins)
        self._sizes: dict[int, int] = {}

    def allocate(self, size: int) -> Block:
        """A block for a tensor; one that no chunk could hold is asked for by itself."""
        wanted = aligned(size + HEAD)
        place = bisect_left(self._free, (wanted, -1))
        if wanted > self._largest:
            block = self._chunk(wanted, self._free)
        elif place < len(self._free):
            block = self._by_address.pop(self._free.pop(place)[1])
        else:
            part = self._part(self._arena.again if self.reserved else self._arena.first)
            block = self._chunk(max(part, wanted), self._free)
        block = self._split(block, wanted)
        self._sizes[block.address] = size
        self.allocated += size
        self.peak_allocated = max(self.peak_allocated, self.allocated)
        return block

    def release(self, block: Block) -> None:
        """Give it back: to the driver, if it was asked for by itself."""
        self.allocated -= self._sizes.pop(block.address)
        if block.size > self._largest:
            self.reserved -= self._held.pop(block.address)
        else:
            self._put(self._merged(block))

    def _part(self, fixed: int) -> int:
        return fixed or int(self._arena.share * max(self._arena.room - self.reserved, 0))

    def _split(self, block: Block, wanted: int) -> Block:
        """The block's beginning; its end stays free."""
        block.free = False
        if block.size > wanted:
            self._put(self._cut(block, wanted))
        return block


def driver_bytes(chunks: list[int]) -> int:
    """What the driver maps for the chunks: whole pages, small requests packed together.

    Read on an H200 with driver 580: sixty-four chunks of each of nineteen sizes from 256 bytes to 33 MiB. Two of
    exactly 1 MiB share a page; a larger one does not (`benchmarks/results/device_reading.json`).
    """
    pages = sum(-(-chunk // DRIVER_PAGE) for chunk in chunks if chunk > SMALL_REQUEST)
    small = sum(chunk for chunk in chunks if chunk <= SMALL_REQUEST)
    return (pages + -(-small // DRIVER_PAGE)) * DRIVER_PAGE
