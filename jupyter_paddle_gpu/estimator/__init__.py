"""From what a notebook trains to bytes over time and FLOPs."""
