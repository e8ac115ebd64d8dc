"""Paddle's trainers (PaddleDetection, PaddleSeg, PaddleClas, PaddleOCR) on a machine without their data and weights."""
