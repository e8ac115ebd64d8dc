"""What is wrong in a notebook: where it would end, and what an error means for it."""
