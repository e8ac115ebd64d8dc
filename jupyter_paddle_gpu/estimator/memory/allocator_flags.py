"""Which allocator a training has, and by which rules: what each release of Paddle can be told by flags, and was.

Defaults of 2.6.2, 3.0.0, 3.1.1, 3.2.2, 3.3.0 and 3.3.1 were read in their wheels (`paddle.base.core.globals()`): none
has changed, so that a training that sets no flag has the same chunks in each of them. `tests/estimator/memory/
test_real_allocator.py` holds the installed release's own allocator against the replay; `docs/device-terms.md` has the
figures of the other releases. A release takes no notice of a flag that it does not know.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from ...domain.messages import Message
from ...domain.sizes import human
from .allocator import ALIGNMENT, Allocator, Arena, AutoGrowthBestFit, NaiveBestFit, Rules, aligned

Value = str | int | float | bool


class Release(NamedTuple):
    """What begins with a release: flags that it knows and older ones do not, and bytes that each chunk is asked for
    beyond its size; `source` says where that stands (PaddlePaddle/Paddle, where nothing else is said)."""

    since: tuple[int, int]
    flags: tuple[str, ...]
    padding: int
    source: str


RELEASES = (
    Release(
        (2, 0),
        (
            "allocator_strategy", "fraction_of_gpu_memory_to_use", "initial_gpu_memory_in_mb",
            "reallocate_gpu_memory_in_mb", "gpu_memory_limit_mb", "free_idle_chunk", "free_when_no_cache_hit",
            "use_system_allocator", "eager_delete_tensor_gb",
        ),
        ALIGNMENT,
        "07e721e8d135, paddle/fluid/memory/allocation/auto_growth_best_fit_allocator.cc, lines 43 to 50: an "
        "AlignedAllocator asks for 256 bytes more; messages of 2.2 have them, of 2.3 not",
    ),
    Release(
        (2, 3), ("use_virtual_memory_auto_growth", "use_cuda_managed_memory"), 0,
        "allocator_facade.cc, InitAutoGrowthCUDAAllocator: CUDAAllocator itself, chunk_size is 0 or, by a mistake that "
        "#45806 mends, 1",
    ),
    Release(
        (2, 5), ("auto_growth_chunk_size_in_mb",), 0,
        "#52204; flags.cc says since 2.5.0, and the 2.5.1 wheel for GPUs knows it",
    ),
    Release(
        (3, 0), ("use_cuda_malloc_async_allocator", "use_auto_growth_v2"), 0,
        "flags of the 3.0.0 wheel, 2.6.2 has neither; allocator_facade.cc, InitCUDAAllocator",
    ),
    Release(
        (3, 2),
        (
            "small_pool_size_in_mb", "small_pool_auto_growth_chunk_size_in_mb",
            "large_pool_auto_growth_chunk_size_in_mb", "small_pool_pre_alloc_in_mb", "large_pool_pre_alloc_in_mb",
        ),
        0,
        "flags of the 3.2.2 wheel, 3.1.1 has none; auto_growth_best_fit_allocator.cc, auto_growth_size and PreAlloc, "
        "which PreAllocCUDAAllocator of allocator_facade.cc calls where there is a small pool (05a90fca18b6)",
    ),
)  # fmt: skip
"""Oldest first; each knows the flags of those before it. `alignment_size` (3.2) stands in no row: allocators of CUDA
are made with `GpuMinChunkSize()`, 256 bytes, whatever it says (allocator_facade.cc, InitAutoGrowthCUDAAllocator). Nor
does `use_stream_safe_cuda_allocator`, which alone decides when a block of another stream is free, nor
`use_auto_growth_pinned_allocator`, whose memory is the host's."""

AUTO_GROWTH = "auto_growth"
SHARE = 0.92
"""`fraction_of_gpu_memory_to_use` where nobody sets it."""
USABLE = 0.95
"""Of what is free on a card, what `GpuAvailableMemToAlloc` leaves for it (`fraction_reserve_gpu_memory`)."""

OTHER_ALLOCATOR = Message(
    code="other_allocator",
    text="FLAGS_{flag} is set: Paddle takes the GPU's memory by another allocator, which is not replayed. What it "
    "reserves and what the driver shows are those of the usual one.",
)
ONE_CHUNK = Message(
    code="naive_best_fit",
    text="FLAGS_allocator_strategy={strategy}: Paddle takes {size} of this card at once, whatever the training needs, "
    "and more only if that is not enough. Other processes cannot have it.",
    hint="FLAGS_allocator_strategy=auto_growth takes what is needed; FLAGS_initial_gpu_memory_in_mb bounds the first "
    "chunk.",
)
ONE_CHUNK_OF = Message(
    code="naive_best_fit",
    text="FLAGS_allocator_strategy={strategy}: Paddle takes a fixed part of the card at once, {percent} % of what is "
    "free on it. Name a card to see how much; the figure here is the least that it would take.",
    hint="FLAGS_allocator_strategy=auto_growth takes what is needed.",
)
LIMITED = Message(
    code="gpu_memory_limit",
    text="FLAGS_gpu_memory_limit_mb allows {limit}: the training is refused memory where it would have {size}.",
    hint="Raise the limit, or take a smaller batch.",
)
KEPT_LONGER = Message(
    code="eager_delete",
    text="FLAGS_eager_delete_tensor_gb={value}: a static graph keeps tensors longer than the figure has them, which "
    "frees each after its last use.",
)
OF_RELEASE = Message(
    code="allocator_of_release",
    text="The job's image has Paddle {release}, whose allocator has other rules than the kernel's ({own}): the figure "
    "follows the image's.",
)
OF_UNKNOWN = Message(
    code="allocator_of_unknown",
    text="Flags of the allocator are set, and it is not known which Paddle the job's image has: the figure follows the "
    "kernel's ({own}).",
    hint="Name an image of Paddle's by its tag, or give yours the label jupyter-paddle-gpu.paddle=VERSION.",
)
OTHERS = (
    "use_virtual_memory_auto_growth", "use_cuda_malloc_async_allocator", "use_auto_growth_v2",
    "use_cuda_managed_memory", "use_system_allocator",
)  # fmt: skip
"""Flags by which another allocator serves, that is not replayed."""


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """A training's allocator: by `rules`, or one chunk by `arena`; `notes` on what is not followed."""

    rules: Rules = Rules()
    arena: Arena | None = None
    notes: tuple[Message, ...] = ()

    def counted(self, size: int) -> int:
        """What `max_memory_allocated` counts for a tensor of `size` bytes."""
        return aligned(size) if self.arena is None else size

    def new(self) -> Allocator:
        """It, with nothing in it."""
        return AutoGrowthBestFit(self.rules) if self.arena is None else NaiveBestFit(self.arena)


USUAL = Setup()
"""Of a release from 2.3 on with no flag set."""


def known(version: str) -> tuple[frozenset[str], int]:
    """(flags that a release knows, bytes that a chunk is asked for beyond its size); of no release those of the newest.

    Args:
        version: as `paddle.__version__` says.
    """
    parts = version.split(".")
    number = (int(parts[0]), int(parts[1])) if len(parts) > 1 and parts[0].isdigit() and parts[1].isdigit() else None
    of_the_day = number in {None, (0, 0)}
    rows = [row for row in RELEASES if of_the_day or row.since <= (number or ())] or [RELEASES[0]]
    return frozenset(name for row in rows for name in row.flags), rows[-1].padding


def setup(flags: Mapping[str, Value], version: str, *, room: int = 0) -> Setup:
    """The allocator that a program's flags and its release make.

    Args:
        flags: what was set, with `FLAGS_` before the names.
        version: of Paddle.
        room: bytes that are free on the card before the allocator takes any; 0: not known.
    """
    names, padding = known(version)
    if not flags:
        return USUAL if not padding else Setup(rules=Rules(padding=padding))
    asked = _Asked({name.removeprefix("FLAGS_"): value for name, value in flags.items()}, names)
    notes: list[Message] = []
    if asked.number("eager_delete_tensor_gb"):
        notes.append(KEPT_LONGER.filled(value=f"{asked.number('eager_delete_tensor_gb'):g}"))
    strategy = asked.text("allocator_strategy") or AUTO_GROWTH
    if strategy != AUTO_GROWTH:
        return _one_chunk(asked, strategy, room, notes)
    other = next((name for name in OTHERS if asked.true(name)), None)
    if other is not None:
        notes.append(OTHER_ALLOCATOR.filled(flag=other))
    small = asked.mebibytes("small_pool_size_in_mb")
    rules = Rules(
        chunk=asked.mebibytes("auto_growth_chunk_size_in_mb"),
        padding=padding,
        small=small,
        small_chunk=asked.mebibytes("small_pool_auto_growth_chunk_size_in_mb"),
        large_chunk=asked.mebibytes("large_pool_auto_growth_chunk_size_in_mb"),
        small_ahead=asked.mebibytes("small_pool_pre_alloc_in_mb") if small else 0,
        large_ahead=asked.mebibytes("large_pool_pre_alloc_in_mb") if small else 0,
        frees_idle=asked.true("free_idle_chunk"),
        frees_on_miss=asked.true("free_when_no_cache_hit"),
        limit=asked.mebibytes("gpu_memory_limit_mb"),
    )
    return Setup(rules=rules, notes=tuple(notes))


def setup_in(release: str | None, flags: Mapping[str, Value], version: str, *, room: int = 0) -> Setup:
    """The same for a job whose Paddle may be another one than the program was traced with, and that it is.

    Args:
        release: of the job's Paddle; empty: `version`, None: nobody knows it.
    """
    own = setup(flags, version, room=room)
    others = [row.since for row in RELEASES if not row.padding] if release is None and flags else []
    names = [release] if release else [f"{major}.{minor}" for major, minor in others]
    differing = [found for name in names if (found := setup(flags, name, room=room)) != own]
    if not differing:
        return own
    note = OF_UNKNOWN.filled(own=version) if release is None else OF_RELEASE.filled(release=release, own=version)
    found = own if release is None else differing[0]
    return msgspec.structs.replace(found, notes=(*found.notes, note))


def _one_chunk(asked: _Asked, strategy: str, room: int, notes: list[Message]) -> Setup:
    """`naive_best_fit`, and `thread_local`, which has one such allocator for each thread."""
    limit = asked.mebibytes("gpu_memory_limit_mb")
    fraction = asked.number("fraction_of_gpu_memory_to_use")
    share = SHARE if fraction is None else fraction
    arena = Arena(
        first=asked.mebibytes("initial_gpu_memory_in_mb"),
        again=asked.mebibytes("reallocate_gpu_memory_in_mb"),
        share=share * USABLE,
        room=min(room, limit) if limit else room,
    )
    if arena.first or room:
        taken = arena.first or int(arena.share * arena.room)
        notes.append(ONE_CHUNK.filled(strategy=strategy, size=human(taken)))
    else:
        notes.append(ONE_CHUNK_OF.filled(strategy=strategy, percent=round(100 * arena.share)))
    return Setup(arena=arena, notes=tuple(notes))


class _Asked:
    """Flags as Paddle reads their values; those that the release does not know are not there."""

    def __init__(self, flags: Mapping[str, Value], names: frozenset[str]) -> None:
        self._flags = {name: value for name, value in flags.items() if name in names}

    def text(self, name: str) -> str:
        return str(self._flags.get(name, "")).strip()

    def number(self, name: str) -> float | None:
        try:
            return float(self.text(name))
        except ValueError:
            return None

    def mebibytes(self, name: str) -> int:
        return max(int(self.number(name) or 0), 0) << 20

    def true(self, name: str) -> bool:
        return self.text(name).lower() in {"1", "true", "t", "yes", "y"}


def refusal(setup: Setup, wanted: int) -> tuple[Message, ...]:
    """That a limit refuses what the training would reserve, in bytes; nothing where none does."""
    limit = setup.rules.limit
    return (LIMITED.filled(limit=human(limit), size=human(wanted)),) if 0 < limit < wanted else ()
