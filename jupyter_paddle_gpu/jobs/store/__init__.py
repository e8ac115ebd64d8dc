"""The index of jobs that several processes share: its rows, its lock, and who is told of changes."""
