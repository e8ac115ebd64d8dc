"""One training step: when it is whole, its layers, what it is called with, what is changed in it, its report."""
