"""Sweeps and schedules: their rows, and whoever looks after them beside the queue."""
