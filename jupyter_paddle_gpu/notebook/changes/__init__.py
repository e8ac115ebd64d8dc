"""What a job's copy of a notebook has otherwise than the notebook: one module a change, behind `table`."""
