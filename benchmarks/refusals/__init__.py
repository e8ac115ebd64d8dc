"""Broken programs, run for real and traced: what Paddle or Python refuses, and what an estimate says of it."""
