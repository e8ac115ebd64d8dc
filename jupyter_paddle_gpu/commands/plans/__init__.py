"""Commands of schedules and sweeps: plans that make jobs."""
