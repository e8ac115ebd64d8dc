"""What needs further traces: the largest batch, and what each remedy would save."""
