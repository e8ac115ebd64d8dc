"""Sweeps and schedules: what makes jobs by itself."""
