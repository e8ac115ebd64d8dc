"""`tensor[index]` and `tensor[index] = value`."""
