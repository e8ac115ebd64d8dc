"""From queued to started: whose turn it is, on which devices, and the start itself."""
