"""Flags of Paddle's allocator: what a program sets, or its environment, counts from the moment on that they say."""

from __future__ import annotations

import os

POOLS = frozenset((
    "FLAGS_small_pool_size_in_mb", "FLAGS_small_pool_auto_growth_chunk_size_in_mb",
    "FLAGS_large_pool_auto_growth_chunk_size_in_mb", "FLAGS_use_system_allocator", "FLAGS_eager_delete_tensor_gb",
))  # fmt: skip
"""Of the allocator's, those that it looks at whenever it is asked for memory."""
MAKING = frozenset((
    "FLAGS_allocator_strategy", "FLAGS_fraction_of_gpu_memory_to_use", "FLAGS_initial_gpu_memory_in_mb",
    "FLAGS_reallocate_gpu_memory_in_mb", "FLAGS_gpu_memory_limit_mb", "FLAGS_auto_growth_chunk_size_in_mb",
    "FLAGS_small_pool_pre_alloc_in_mb", "FLAGS_large_pool_pre_alloc_in_mb", "FLAGS_use_virtual_memory_auto_growth",
    "FLAGS_use_cuda_managed_memory", "FLAGS_use_cuda_malloc_async_allocator", "FLAGS_use_auto_growth_v2",
))  # fmt: skip
"""Those by which it is made, with the first tensor: what a program sets later changes nothing."""
READ_ONLY = frozenset(("FLAGS_free_idle_chunk", "FLAGS_free_when_no_cache_hit"))
"""Those that the environment alone sets; `set_flags` refuses them (`PHI_DEFINE_EXPORTED_READONLY_bool`)."""
NAMES = POOLS | MAKING | READ_ONLY


def in_environment() -> dict[str, str]:
    """Those that the environment sets. No other variable is looked at: who reads one by its name has asked for it."""
    return {name: os.environ[name] for name in os.environ if name in NAMES}
