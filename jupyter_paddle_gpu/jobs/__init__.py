"""Jobs: accepted, queued, dispatched, watched, ended, kept. A job's engine and folder are its truth, the store an index."""
