"""Measurements: each prints a table and writes JSON into `results/`; ratios within one run, since machines differ."""
