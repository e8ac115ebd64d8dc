"""Eager mode without data: operator calls, the graph, backward passes, mixed precision."""
