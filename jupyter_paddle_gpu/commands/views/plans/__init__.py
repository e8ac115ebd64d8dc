"""Schedules and sweeps for people."""
