"""Jobs: their store, queue, logs and results, and how a job is found again after a crash."""
