"""From a trace to bytes: allocations over time, the allocator, and what a process takes beside them."""
