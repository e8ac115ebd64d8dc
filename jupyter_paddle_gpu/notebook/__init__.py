"""From an .ipynb (or the unsaved content of an open one) to what trains in it, without running it."""
