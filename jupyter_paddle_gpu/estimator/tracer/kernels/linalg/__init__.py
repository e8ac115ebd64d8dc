"""Kernels of `paddle.linalg`: products, factors, solutions, singular values."""
