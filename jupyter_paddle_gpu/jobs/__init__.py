"""Jobs: accepted, queued, dispatched, watched, ended, kept. Engine and folder are their truth, the store an index."""
