"""The cells of a notebook, and the programs they start, run one after the other."""
