"""What a real NVIDIA card says of the terms that an estimate adds to the tensors: docs/device-terms.md has the tables.

Two halves, since a machine with a card need not have Paddle: `python -m benchmarks.device.kernels FILE` traces the
programs and writes what their kernels would ask cuDNN; `python benchmarks/device/reading.py FILE RESULT` asks it on the
card, with nothing but the driver, cuBLAS and cuDNN; `python -m benchmarks.device RESULT` puts the answers into the
traces.
"""
