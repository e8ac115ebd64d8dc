"""Paddle's trainers on a machine without their data and weights: PaddleDetection, PaddleSeg, PaddleClas, PaddleOCR,
PaddleVideo, PaddleGAN."""
