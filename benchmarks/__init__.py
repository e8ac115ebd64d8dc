"""Measurements, each printing a table and writing JSON into `results/`: ratios within one run, since machines differ."""
