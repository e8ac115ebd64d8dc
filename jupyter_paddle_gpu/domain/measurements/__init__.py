"""What was measured: of this machine, and of GPUs elsewhere."""
