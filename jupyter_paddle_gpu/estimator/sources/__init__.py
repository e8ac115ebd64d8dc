"""Where traces come from: memory, a warm worker, or real tiny steps."""
