"""Kernels of `paddle.nn`: activations, convolutions, normalisations, recurrent layers, losses, images."""
