"""The executors of cells, with IPython and without, and what they show."""
